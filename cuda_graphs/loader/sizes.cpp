// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "sizes.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "core/driver/table.hpp"
#include "device.hpp"

namespace cgr {

namespace {

constexpr std::int64_t kMostThreads = 1024, kMostShared = 1 << 20, kMostStep = std::int64_t{1} << 31;
constexpr std::size_t kMostSteps = 64;                  // operations of a bound
constexpr int kWarp = 32, kLarge = 1024, kHeavy = 256;  // threads of a block
constexpr std::int64_t kLoneBytes = 80 << 10;           // accesses for which one block of a GPU is fastest (shapes.py)
constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();

// The same as a CUfunction: cuda.h lets a kernel take its place.
CUfunction function_of(const cg::KernelHandle& kernel) {
    return reinterpret_cast<CUfunction>(*kernel);
}

int attribute_of(const cg::KernelHandle& kernel, CUfunction_attribute attribute) {
    int value = 0;
    CUdevice device = 0;
    check(cg::driver().cuCtxGetDevice(&device), "find the current device");
    check(cg::driver().cuKernelGetAttribute(&value, attribute, *kernel, device), "ask for an attribute of a kernel");
    return value;
}

int resident_blocks(const cg::KernelHandle& kernel, int threads, std::size_t shared) {
    int blocks = 0;
    check(cg::driver().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function_of(kernel), threads, shared),
          "ask how many blocks of a kernel fit on a multiprocessor");
    return blocks;
}

}  // namespace

// The size of launches on a kind of driver, from measurements (kernels/targets.py).
struct TaskSize::Shape {
    std::int64_t block, share, waves;

    static Shape of(const Loop& loop, bool is_on_host) {
        if (is_on_host) return {1, 128, 2};
        if (loop.has_sums) return {512, 2048, 1};
        const bool is_known = loop.iterations || loop.axes;
        return loop.heavy && is_known ? Shape{128, 128, 8} : Shape{128, 128, 2};
    }
};

TaskSize::TaskSize(const Row& row, std::size_t count, bool is_on_host)
    : is_on_host_(is_on_host), loop_(read_loop(row, count)) {
    const std::vector<Json>& tasks = row.items("tasks");
    for (std::size_t i = 0; i < tasks.size(); ++i)
        inner_.push_back(read_loop({&tasks[i], {"task", i, &row.where}}, count));
}

TaskSize::Loop TaskSize::read_loop(const Row& row, std::size_t count) {
    Loop found{row.flag("parallel"),
               row.flag("fixed_block_dim"),
               row.flag("has_sums"),
               row.flag("heavy"),
               {},
               {},
               {},
               0,
               0,
               {}};
    if (row.get("block_dim") != nullptr) found.block = row.number("block_dim", 1, kMostThreads);
    if (row.get("threads") != nullptr) found.threads = row.number("threads");
    if (row.get("iterations") != nullptr) found.iterations = row.number("iterations");
    found.shared = static_cast<std::size_t>(row.number("shared_bytes", 0, kMostShared));
    row.number("line");
    if (row.get("traffic") != nullptr) found.traffic = row.number("traffic");
    if (found.fixed_block && !found.block) fail(row.where, "has blocks of a fixed size without the size");
    if (row.get("axes") == nullptr) return found;
    const Where where{"the axes", Where::kNone, &row.where};
    found.axes.emplace();
    for (const Json& axis : row.items("axes")) {
        const std::vector<Json>& parts = check_list(&axis, where, 3);
        const std::int64_t step = check_int(&parts[2], where, -kMostStep, kMostStep);
        if (step == 0) fail(where, "have a step of 0");
        std::size_t first = 0, second = 0;
        found.axes->push_back(
            {read_bound(parts[0], count, where, &first), read_bound(parts[1], count, where, &second), step});
    }
    return found;
}

// Returns kNumber for a name that is no operation.
TaskSize::Bound::Kind TaskSize::kind_of(const std::string& name) {
    static const std::map<std::string, Bound::Kind> kinds{
        {"add", Bound::Kind::kAdd}, {"sub", Bound::Kind::kSub},
        {"mul", Bound::Kind::kMul}, {"floor_div", Bound::Kind::kFloorDiv},
        {"min", Bound::Kind::kMin}, {"max", Bound::Kind::kMax},
    };
    const auto found = kinds.find(name);
    return found == kinds.end() ? Bound::Kind::kNumber : found->second;
}

TaskSize::Bound TaskSize::read_bound(const Json& value, std::size_t count, const Where& where, std::size_t* steps) {
    if (++*steps > kMostSteps) fail(where, "have too many operations");
    Bound found;
    if (!value.is_list()) {
        found.number = check_int(&value, where, std::numeric_limits<std::int64_t>::min());
        return found;
    }
    const std::vector<Json>& parts = value.items();
    const std::string name = !parts.empty() && parts[0].is_text() ? parts[0].text() : "";
    if (name == "argument" && parts.size() == 2) {
        found.kind = Bound::Kind::kArgument;
        const std::size_t argument = check_index(&parts[1], where, count);
        found.number = static_cast<std::int64_t>(argument);
        arguments_.insert(argument);
        return found;
    }
    found.kind = kind_of(name);
    if (found.kind == Bound::Kind::kNumber || parts.size() != 3) fail(where, "have a bound that is no expression");
    for (std::size_t i = 1; i < parts.size(); ++i) found.operands.push_back(read_bound(parts[i], count, where, steps));
    return found;
}

// None for a result beyond the range in which it can be computed.
std::optional<__int128> TaskSize::apply(Bound::Kind kind, __int128 a, __int128 b) noexcept {
    __int128 found = 0;
    bool is_large = false;
    if (kind == Bound::Kind::kMin) return std::min(a, b);
    if (kind == Bound::Kind::kMax) return std::max(a, b);
    if (kind == Bound::Kind::kAdd)
        is_large = __builtin_add_overflow(a, b, &found);
    else if (kind == Bound::Kind::kSub)
        is_large = __builtin_sub_overflow(a, b, &found);
    else if (kind == Bound::Kind::kMul || b == -1)  // the least number has no quotient by -1
        is_large = __builtin_mul_overflow(a, b, &found);
    else if (b != 0)  // the quotient by 0 is 0: the grid does not decide what a loop does
        found = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return is_large ? std::optional<__int128>() : found;
}

// None if a value is unknown, or beyond that range.
std::optional<__int128> TaskSize::evaluate(const Bound& bound, const Values& values) {
    if (bound.kind == Bound::Kind::kNumber) return bound.number;
    if (bound.kind == Bound::Kind::kArgument) {
        const auto known = values.find(static_cast<std::size_t>(bound.number));
        return known == values.end() ? std::optional<__int128>() : known->second;
    }
    const auto a = evaluate(bound.operands[0], values), b = evaluate(bound.operands[1], values);
    if (!a || !b) return {};
    return apply(bound.kind, *a, *b);
}

std::optional<__int128> TaskSize::count_iterations(const Loop& loop, const Values& values) {
    if (loop.iterations) return *loop.iterations;
    if (!loop.axes) return {};
    __int128 total = 1;
    for (const Axis& axis : *loop.axes) {
        const auto begin = evaluate(axis.begin, values), end = evaluate(axis.end, values);
        __int128 length = 0;
        if (!begin || !end || __builtin_sub_overflow(*end, *begin, &length)) return {};
        // The length of a range of Python.
        const __int128 step = axis.step < 0 ? -axis.step : axis.step;
        if (axis.step < 0) length = -length;
        length = length <= 0 ? 0 : (length - 1) / step + 1;
        if (length > cgr::kLargest || __builtin_mul_overflow(total, length, &total)) return {};
    }
    return total;
}

unsigned TaskSize::count_blocks(const Loop& loop, std::int64_t share, const Values& values, std::int64_t most) {
    const auto count = count_iterations(loop, values);
    const __int128 wanted = count ? (*count + share - 1) / share : most;
    return static_cast<unsigned>(std::min<__int128>(std::max<__int128>(wanted, 1), most));
}

// Returns the dynamic shared memory of a task, and lets the kernel have it.
unsigned TaskSize::shared_bytes(const cg::KernelHandle& kernel, const Loop& loop) {
    if (loop.shared == 0) return 0;
    const int available = device_attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) -
                          attribute_of(kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    if (static_cast<std::int64_t>(loop.shared) > available)
        throw Failure(CG_ERROR_DAMAGED, "a kernel needs " + std::to_string(loop.shared) +
                                            " bytes of shared memory, but the device has " + std::to_string(available));
    CUdevice device = 0;
    check(cg::driver().cuCtxGetDevice(&device), "find the current device");
    check(cg::driver().cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                            static_cast<int>(loop.shared), *kernel, device),
          "give a kernel its shared memory");
    return static_cast<unsigned>(loop.shared);
}

// Returns true if the loops of a resident launch are so short that one block, which waits for no other, is faster than
// several. Two blocks stay two: their sums have fixed bits, which may not depend on the work of other tasks.
bool TaskSize::runs_in_one_block(std::int64_t block, const Values& values) const {
    bool has_sums = false;
    unsigned blocks = 1;
    for (const Loop& loop : inner_) {
        has_sums |= loop.has_sums;
        if (!loop.parallel) continue;
        const auto count = count_iterations(loop, values);
        if (!count || *count > (loop.traffic == 0 ? block : std::max(block, kLoneBytes / loop.traffic))) return false;
        blocks = std::max(blocks, count_blocks(loop, block, values, kMostBlocks));
    }
    return !(has_sums && blocks == 2);
}

cg::LaunchSize TaskSize::compute_resident(const cg::KernelHandle& kernel, const Values& values) const {
    std::int64_t block = 1, most = 1;  // on the host driver one thread runs all iterations
    if (!is_on_host_) {
        const bool heavy = std::any_of(inner_.begin(), inner_.end(), [](const Loop& loop) { return loop.heavy; });
        block = loop_.block.value_or(heavy ? kHeavy : kLarge);
        int each = resident_blocks(kernel, static_cast<int>(block), 0);
        while (each == 0 && !loop_.fixed_block && block > kWarp) {
            block = (block - 1) / kWarp * kWarp;
            each = resident_blocks(kernel, static_cast<int>(block), 0);
        }
        if (each == 0) throw Failure(CG_ERROR_DRIVER, "a kernel of the file fits no block of this device");
        most = std::int64_t{each} * device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    }
    cg::LaunchSize size{{1, 1, 1}, {static_cast<unsigned>(block), 1, 1}, shared_bytes(kernel, loop_)};
    for (const Loop& loop : inner_)
        if (loop.parallel)
            size.grid[0] =
                std::max(size.grid[0], count_blocks(loop, loop.fixed_block && block == 1 ? 1 : block, values, most));
    if (!is_on_host_ && runs_in_one_block(block, values)) size.grid[0] = 1;
    return size;
}

cg::LaunchSize TaskSize::compute(const cg::KernelHandle& kernel, const Values& values) const {
    if (is_resident()) return compute_resident(kernel, values);
    const unsigned shared = shared_bytes(kernel, loop_);
    if (!loop_.parallel) return {{1, 1, 1}, {1, 1, 1}, shared};
    const Shape shape = Shape::of(loop_, is_on_host_);
    std::int64_t block = loop_.block.value_or(shape.block);
    if (const int most = attribute_of(kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
        !loop_.fixed_block && block > most)
        block = most / kWarp * kWarp;
    std::int64_t most = shape.waves * resident_blocks(kernel, static_cast<int>(block), shared) *
                        std::int64_t{device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)};
    most = std::max<std::int64_t>(most, 1);
    if (loop_.threads && shape.block == 1) most = std::min(most, *loop_.threads);  // one thread runs a block on the CPU
    const std::int64_t share =
        loop_.fixed_block ? *loop_.block : std::max<std::int64_t>(1, shape.share * block / shape.block);
    return {{count_blocks(loop_, share, values, most), 1, 1}, {static_cast<unsigned>(block), 1, 1}, shared};
}

}  // namespace cgr
