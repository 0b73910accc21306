// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "accesses.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "findings.hpp"
#include "hostdriver/execution/copy.hpp"
#include "hostdriver/execution/memory_operation.hpp"
#include "hostdriver/execution/thread_store.hpp"
#include "hostdriver/loader/services.hpp"
#include "hostdriver/objects/code/kernel.hpp"
#include "hostdriver/objects/memory/memory.hpp"
#include "shadow_memory.hpp"

namespace cgh {
namespace {

// ---- texts ----------------------------------------------------------------------------------------------------------

std::string hex(std::uintptr_t address) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%" PRIxPTR, address);
    return text;
}

std::string bytes_text(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

using Place = std::array<std::uint32_t, 3>;

std::string triple(const Place& place) {
    return "(" + std::to_string(place[0]) + ", " + std::to_string(place[1]) + ", " + std::to_string(place[2]) + ")";
}

// The thread or task that makes an access, for reports: a kernel's thread, or a task without threads.
struct Accessor {
    const Task* task;
    const KernelRun* run = nullptr;
    Place thread{}, block{};
};

// Returns the indices that identify a stored access: those of the loop iteration, or those of the block.
const Place& stored_indices(const cgh_site& site, const Accessor& accessor) {
    return site.axes != 0 ? accessor.thread : accessor.block;
}

// Returns "thread of iteration (3, -1)", with the indices of the loop.
std::string iteration_text(const cgh_site& site, const Place& place) {
    std::string text;
    for (std::size_t i = 0; i < site.axes; ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(static_cast<std::int32_t>(place[i]));
    return "thread of iteration " + (site.axes > 1 ? "(" + text + ")" : text);
}

std::string name_of(const Accessor& accessor, const cgh_site& site) {
    const std::string name = accessor.task != nullptr ? accessor.task->name() : "a kernel";
    if (accessor.run == nullptr) return name;
    if (site.axes != 0) return name + ", " + iteration_text(site, accessor.thread);
    return name + ", block " + triple(accessor.block) + ", thread " + triple(accessor.thread);
}

// Returns " at saxpy.cu:12 (st.global.f32, line 40 of the PTX)", or "" for a copy.
std::string location_text(const cgh_site& site) {
    if (site.instruction == nullptr) return "";
    const std::string ptx = site.ptx_line != 0 ? ", line " + std::to_string(site.ptx_line) + " of the PTX" : "";
    if (site.file == nullptr) return std::string(" at ") + site.instruction + ptx;
    return std::string(" at ") + site.file + ":" + std::to_string(site.line) + " (" + site.instruction + ptx + ")";
}

std::string memory_text(const ShadowMemory& memory) {
    return "memory of " + bytes_text(memory.size) + " at " + hex(memory.base) + " (" + memory.origin + ")";
}

const char* verb_of(const cgh_site& site) {
    const bool reads = (site.flags & CGH_SITE_READ) != 0, writes = (site.flags & CGH_SITE_WRITE) != 0;
    return reads && writes ? "reads and writes" : writes ? "writes" : "reads";
}

constexpr const char* kPrefix = "CUDA_GRAPHS_HOST_CHECK=";

// ---- bad addresses --------------------------------------------------------------------------------------------------

constexpr std::size_t kFar = std::size_t{1} << 20;  // bytes: an address farther behind a memory is unrelated to it

std::string where_is(std::uintptr_t address, std::size_t bytes, const ShadowMemory* near) {
    if (near == nullptr) return "which is outside device memory";
    if (near->holds(address, 1) && near->live)
        return "which ends " + bytes_text(address + bytes - near->base - near->size) + " behind the " +
               memory_text(*near);
    if (near->holds(address, 1) && !near->live)
        return "byte " + std::to_string(address - near->base) + " of freed " + memory_text(*near) + ", freed by " +
               near->freed_by;
    const std::size_t distance = address - near->base - near->size;
    if (distance > std::max(near->size, kFar)) return "which is outside device memory";
    return "which is " + (distance == 0 ? "right" : bytes_text(distance)) + " behind the " +
           (near->live ? "" : "freed ") + memory_text(*near);
}

// Returns the memory that contains all bytes. Otherwise reports the address, if addresses are checked, and returns
// nullptr.
ShadowMemory* memory_at(std::uintptr_t address, std::size_t bytes, const cgh_site& site, const Accessor& accessor,
                        bool* bad) {
    ShadowMemory* const memory = ShadowMap::get().at_or_before(address);
    const bool is_there = memory != nullptr && memory->holds(address, bytes);
    if (is_there && (memory->live || !settings.memory)) return memory;  // an access may race with the free
    *bad = settings.memory;
    if (settings.memory)
        report_invalid_address(*accessor.task->context,
                               std::string(kPrefix) + "memory: " + name_of(accessor, site) + " " + verb_of(site) + " " +
                                   bytes_text(bytes) + " at " + hex(address) + ", " + where_is(address, bytes, memory) +
                                   (site.instruction != nullptr ? "," : "") + location_text(site));
    return nullptr;
}

// ---- reads of unwritten bytes ---------------------------------------------------------------------------------------

void check_written(ShadowMemory& memory, std::uintptr_t address, std::size_t bytes, const cgh_site& site,
                   const Accessor& accessor) {
    bool* const written = memory.written.as<bool>();
    if (written == nullptr || memory.may_be_written) return;
    const std::size_t first = address - memory.base;
    if ((site.flags & CGH_SITE_READ) != 0) {
        std::size_t i = first;
        while (i < first + bytes && memory.is_written(i)) ++i;
        // A copy may include unwritten bytes, such as padding, if at least one of its bytes was written.
        const bool is_copy = site.instruction == nullptr;
        if (i < first + bytes && !(is_copy && memory.any_written(first, bytes)))
            report(*accessor.task->context, "init " + accessor.task->name() + location_text(site),
                   std::string(kPrefix) + "init: " + name_of(accessor, site) + " " + verb_of(site) + " " +
                       bytes_text(bytes) + " at " + hex(address) + " before any write to byte " + std::to_string(i) +
                       " of the " + memory_text(memory) + location_text(site));
    }
    if ((site.flags & CGH_SITE_WRITE) != 0) std::fill(written + first, written + first + bytes, true);
}

// ---- races ----------------------------------------------------------------------------------------------------------

std::string earlier_text(const Access& access) {
    const cgh_site& site = *access.site;
    const std::string indices = site.axes != 0                ? ", " + iteration_text(site, access.place)
                                : site.instruction != nullptr ? ", block " + triple(access.place)
                                                              : "";
    return access.task->name() + indices + ", " + verb_of(site) + " it" + location_text(site);
}

void check_race(ShadowMemory& memory, std::uintptr_t address, std::size_t bytes, const cgh_site& site,
                const Accessor& accessor, Block& block) {
    if (!settings.race) return;
    std::uintptr_t at = 0;
    const Access* const earlier = note_access(memory, address, bytes, site, block, &at);
    if (earlier == nullptr) return;
    const char* const remedy =
        earlier->task == accessor.task && site.axes != 0
            ? "Iterations of a parallel loop run in any order: use atomics, or another loop."
        : earlier->task == accessor.task
            ? "Blocks of a kernel run in any order: use atomics, or another kernel."
            : "No dependency orders them: add an edge between the nodes, or an event between the streams.";
    report(
        *accessor.task->context,
        "race " + earlier->task->name() + location_text(*earlier->site) + accessor.task->name() + location_text(site),
        std::string(kPrefix) + "race: two accesses to byte " + std::to_string(at - memory.base) + " of the " +
            memory_text(memory) + " race: " + name_of(accessor, site) + ", " + verb_of(site) + " it" +
            location_text(site) + "; " + earlier_text(*earlier) + ". " + remedy);
}

// ---- kernels --------------------------------------------------------------------------------------------------------

bool in_range(std::uintptr_t address, const void* start, std::size_t bytes) {
    return start != nullptr && address - reinterpret_cast<std::uintptr_t>(start) < bytes;
}

constexpr std::size_t kGridBytes = 64;

// Returns true for shared and local memory and for parameters: the stack of the OS thread, the saved state of resumable
// threads, and the parameter block.
bool is_own(std::uintptr_t address, const KernelRun& run) {
    static thread_local void* stack = nullptr;
    static thread_local std::size_t stack_bytes = 0;
    if (stack == nullptr) {
        pthread_attr_t attributes;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstack(&attributes, &stack, &stack_bytes);
        pthread_attr_destroy(&attributes);
    }
    const ThreadStore& store = thread_store();
    // The state of a grid that cooperative_groups.h stores.
    const cgh_together* const together = run.dims->together;
    const void* const grid = together != nullptr ? together->grid : nullptr;
    return in_range(address, stack, stack_bytes) || in_range(address, store.scratch.get(), store.scratch_bytes) ||
           in_range(address, run.params, run.kernel->code().param_bytes) ||
           in_range(address, run.shared, run.shared_bytes) || in_range(address, grid, kGridBytes) ||
           in_range(address, run.shared_around, run.shared_around_bytes);
}

// Returns false if the access is invalid; the kernel then ends.
bool shared_is_fine(std::uintptr_t address, std::size_t bytes, const cgh_site& site, const Accessor& accessor) {
    const auto start = reinterpret_cast<std::uintptr_t>(accessor.run->shared);
    const std::size_t size = accessor.run->shared_bytes, offset = address - start;
    if ((offset <= size && bytes <= size - offset) || !settings.memory) return true;
    if (in_range(address, accessor.run->shared_around, accessor.run->shared_around_bytes))
        return true;  // of the cluster
    report_invalid_address(*accessor.task->context,
                           std::string(kPrefix) + "memory: " + name_of(accessor, site) + " " + verb_of(site) + " " +
                               bytes_text(bytes) + " at " + std::to_string(static_cast<std::int64_t>(offset)) +
                               " of shared memory; the block has " + bytes_text(size) + "," + location_text(site));
    return false;
}

std::uint64_t number_of_block(const KernelRun& run, const cgh_site& site, const Place& block) {
    if (site.axes != 0) return std::uint64_t{block[1]} << 32 | block[0];
    const std::uint32_t* const grid = run.dims->grid;
    return (std::uint64_t{block[2]} * grid[1] + block[1]) * grid[0] + block[0];
}

void enter_block(KernelRun& run, const cgh_site& site, const Accessor& accessor) {
    const std::uint64_t index = number_of_block(run, site, accessor.block);
    const bool known = index == run.block_index && run.phase == run.block.phase;
    if (known && run.block_axes == site.axes) return;
    run.block_index = index;
    run.block_axes = site.axes;
    run.block.task = run.task;
    run.block.become(index, stored_indices(site, accessor), run.phase);
}

bool access_is_fine(std::uintptr_t address, std::size_t bytes, const cgh_site& site, const Accessor& accessor,
                    KernelRun& run) {
    if ((site.flags & CGH_SITE_SHARED) != 0) return shared_is_fine(address, bytes, site, accessor);
    const std::lock_guard<std::mutex> lock(check_mutex());
    if ((site.flags & CGH_SITE_JOIN) != 0) ++run.phase;
    enter_block(run, site, accessor);
    const bool strong = (site.flags & CGH_SITE_STRONG) != 0, after = (site.flags & CGH_SITE_AFTER) != 0;
    if (settings.race && strong && after) note_acquire(address, run.block);
    if (settings.race && !after && (strong || (site.flags & CGH_SITE_FENCE) != 0))
        note_release(address, site, run.block);
    if (after || (site.flags & (CGH_SITE_FENCE | CGH_SITE_JOIN)) != 0) return true;
    if (bytes == 0 || is_own(address, run)) return true;
    bool bad = false;
    ShadowMemory* const memory = memory_at(address, bytes, site, accessor, &bad);
    if (memory == nullptr) return !bad;
    check_written(*memory, address, bytes, site, accessor);
    if ((site.flags & CGH_SITE_UNORDERED) == 0) check_race(*memory, address, bytes, site, accessor, run.block);
    return true;
}

constexpr std::uint64_t kMostAligned = 16;  // bytes: larger accesses are bulk copies, which need this alignment

// Reports an access of PTX whose address is no multiple of its size ("Addresses as Operands" in the PTX ISA), and
// returns false: the kernel then ends. Elements of kernels of the language are read in parts of their own alignment.
bool is_aligned(std::uintptr_t address, std::uint64_t bytes, const cgh_site& site, const Accessor& accessor) {
    const bool is_power_of_2 = bytes != 0 && (bytes & (bytes - 1)) == 0;
    if (!settings.memory || site.ptx_line == 0 || !is_power_of_2 || bytes > kMostAligned) return true;
    const KernelRun& run = *accessor.run;
    const bool in_shared = (site.flags & CGH_SITE_SHARED) != 0;
    const std::uintptr_t at = in_shared ? address - reinterpret_cast<std::uintptr_t>(run.shared) : address;
    if (at % bytes == 0 || (!in_shared && is_own(address, run))) return true;
    report_invalid_address(*accessor.task->context,
                           std::string(kPrefix) + "memory: " + name_of(accessor, site) + " " + verb_of(site) + " " +
                               bytes_text(bytes) + " at " +
                               (in_shared ? std::to_string(at) + " of shared memory" : hex(address)) +
                               ", which is no multiple of " + std::to_string(bytes) + "," + location_text(site));
    return false;
}

// ---- copies and fills -----------------------------------------------------------------------------------------------

constexpr cgh_site kReads{nullptr, nullptr, 0, 0, CGH_SITE_READ, 0};
constexpr cgh_site kWrites{nullptr, nullptr, 0, 0, CGH_SITE_WRITE, 0};

// Checks one piece of a copy or fill. A piece outside device memory belongs to the host and is not checked.
CUresult check_piece(const void* start, std::size_t bytes, const cgh_site& site, const Accessor& accessor,
                     Block& block) {
    const auto address = reinterpret_cast<std::uintptr_t>(start);
    ShadowMemory* const near = ShadowMap::get().at_or_before(address);
    if (bytes == 0 || near == nullptr || !near->holds(address, 1)) return CUDA_SUCCESS;
    bool bad = false;
    ShadowMemory* const memory = memory_at(address, bytes, site, accessor, &bad);
    if (memory == nullptr) return bad ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS;
    check_written(*memory, address, bytes, site, accessor);
    check_race(*memory, address, bytes, site, accessor, block);
    return CUDA_SUCCESS;
}

// Copies the written marks of the source to the destination.
void copy_written(const void* to, const void* from, std::size_t bytes) {
    const auto source = reinterpret_cast<std::uintptr_t>(from), target = reinterpret_cast<std::uintptr_t>(to);
    ShadowMap& map = ShadowMap::get();
    ShadowMemory *const in = map.holding(source), *const out = map.holding(target);
    bool* const kept = out != nullptr ? out->written.as<bool>() : nullptr;
    if (in == nullptr || kept == nullptr) return;
    std::vector<bool> known(bytes);  // a copy of the marks, because the two may overlap
    for (std::size_t i = 0; i < bytes; ++i) known[i] = in->is_written(source - in->base + i);
    std::copy(known.begin(), known.end(), kept + (target - out->base));
}

Block block_of(const Task* task) {
    Block block;
    block.task = task;
    return block;
}

}  // namespace

CUresult check_copy(const Copy& copy) {
    Task* const task = thread_state.task;
    const std::lock_guard<std::mutex> lock(check_mutex());
    task->what = "a copy";
    const Accessor accessor{task};
    Block block = block_of(task);
    CUresult result = CUDA_SUCCESS;
    copy.each_piece([&](const std::byte* to, const std::byte* from, std::size_t bytes) {
        if (result == CUDA_SUCCESS) result = check_piece(from, bytes, kReads, accessor, block);
        if (result == CUDA_SUCCESS) result = check_piece(to, bytes, kWrites, accessor, block);
        if (result == CUDA_SUCCESS) copy_written(to, from, bytes);
    });
    return result;
}

CUresult check_fill(const Fill& fill) {
    Task* const task = thread_state.task;
    const std::lock_guard<std::mutex> lock(check_mutex());
    task->what = "a fill";
    const Accessor accessor{task};
    Block block = block_of(task);
    CUresult result = CUDA_SUCCESS;
    fill.each_piece([&](const std::byte* to, std::size_t bytes) {
        if (result == CUDA_SUCCESS) result = check_piece(to, bytes, kWrites, accessor, block);
    });
    return result;
}

// Waits and writes of values are strong accesses, which do not race with each other. A task that waited for a value
// comes after all work before its write.
CUresult check_memory_operation(const MemoryOperation& operation) {
    static constexpr cgh_site kStrongWrite{nullptr, nullptr, 0, 0, 0, CGH_SITE_WRITE | CGH_SITE_STRONG};
    static constexpr cgh_site kStrongRead{nullptr, nullptr, 0, 0, 0, CGH_SITE_READ | CGH_SITE_STRONG};
    Task* const task = thread_state.task;
    const std::lock_guard<std::mutex> lock(check_mutex());
    task->what = operation.writes() ? "a write of a value" : "a wait for a value";
    const auto address = static_cast<std::uintptr_t>(operation.address());
    if (operation.writes())
        note_value_written(address, *task);
    else
        note_value_seen(address, *task);
    Block block = block_of(task);
    return check_piece(reinterpret_cast<const void*>(address), operation.bytes(),
                       operation.writes() ? kStrongWrite : kStrongRead, Accessor{task}, block);
}

void check_host_function(const void* data) {
    Task* const task = thread_state.task;
    const std::lock_guard<std::mutex> lock(check_mutex());
    task->what = "a host function";
    const auto address = reinterpret_cast<std::uintptr_t>(data);
    ShadowMemory* const memory = ShadowMap::get().holding(address);
    if (memory == nullptr) return;
    Block block = block_of(task);
    check_race(*memory, address, memory->base + memory->size - address, kReads, Accessor{task}, block);
}

void check_kernel(const Kernel& kernel) {
    Task* const task = thread_state.task;
    const std::lock_guard<std::mutex> lock(check_mutex());
    task->what = std::string("kernel `") + kernel.code().name + "`";
    task->image = Ref<Image>(&kernel.image());
    if (kernel.code().is_instrumented == 0) ShadowMap::get().mark_all_written();
}

void check_access(const void* address, std::uint64_t bytes, const cgh_site* site, std::uint32_t thread_x,
                  std::uint32_t thread_y, std::uint32_t thread_z, std::uint32_t block_x, std::uint32_t block_y,
                  std::uint32_t block_z) {
    KernelRun* const run = thread_state.kernel_run;
    if (run == nullptr) return;
    const Accessor accessor{run->task, run, {thread_x, thread_y, thread_z}, {block_x, block_y, block_z}};
    const auto start = reinterpret_cast<std::uintptr_t>(address);
    if (!access_is_fine(start, bytes, *site, accessor, *run)) raise_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
    if (!is_aligned(start, bytes, *site, accessor)) raise_fault(CUDA_ERROR_MISALIGNED_ADDRESS);
}

// ---- memory ---------------------------------------------------------------------------------------------------------

void hold_back(void* address, std::size_t bytes) {
    std::vector<ShadowMap::Block> too_much;
    {
        const std::lock_guard<std::mutex> lock(check_mutex());
        ShadowMap::get().hold_back({address, bytes}, &too_much);
        for (const auto& block : too_much)
            ShadowMap::get().remove(reinterpret_cast<std::uintptr_t>(block.address), block.bytes);
    }
    for (const auto& block : too_much) return_memory_at_once(block.address, block.bytes);
}

void track_memory(const Allocation& allocation) {
    if (allocation.kind == MemoryKind::kGraph) return;  // registered when its node runs
    const std::lock_guard<std::mutex> lock(check_mutex());
    ShadowMap::get().add(allocation);
}

namespace {

constexpr std::size_t kSmall = std::size_t{1} << 20;  // bytes

// Treats an allocation or a free as a write of the whole memory. For large memory only the accessed range is checked.
void race_with_all_of(CUdeviceptr address) {
    Task* const task = thread_state.task;
    ShadowMemory* const memory = ShadowMap::get().holding(address);
    if (!settings.race || task == nullptr || memory == nullptr) return;
    const bool whole = memory->size <= kSmall;
    const std::size_t first = whole ? 0 : memory->first_touched, end = whole ? memory->size : memory->end_touched;
    if (first >= end) return;
    Block block = block_of(task);
    check_race(*memory, memory->base + first, end - first, kWrites, Accessor{task}, block);
}

}  // namespace

void track_graph_memory(CUdeviceptr address, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(check_mutex());
    thread_state.task->what = "an allocation";
    race_with_all_of(address);
    ShadowMap::get().add(address, bytes, "a graph's allocation node", false, true);
    race_with_all_of(address);
}

void untrack_memory(CUdeviceptr address) {
    const std::lock_guard<std::mutex> lock(check_mutex());
    Task* const task = thread_state.task;
    if (task != nullptr) task->what = "a free";
    race_with_all_of(address);
    ShadowMap::get().mark_freed(address, task != nullptr ? task->name() : "the host");
}

void track_heap_memory(CUdeviceptr address, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(check_mutex());
    ShadowMap::get().add(address, bytes, "malloc of a kernel", false, true);
}

void untrack_heap_memory(CUdeviceptr address) {
    const std::lock_guard<std::mutex> lock(check_mutex());
    const Task* const task = thread_state.task;
    ShadowMap::get().mark_freed(address, task != nullptr ? task->name() : "the end of its context");
}

void untrack_range(CUdeviceptr address, std::size_t bytes) {
    const std::lock_guard<std::mutex> lock(check_mutex());
    ShadowMap::get().remove(address, bytes);
}

void note_shared(CUdeviceptr address) {
    const std::lock_guard<std::mutex> lock(check_mutex());
    ShadowMemory* const memory = ShadowMap::get().holding(address);
    if (memory != nullptr) memory->may_be_written = true;
}

}  // namespace cgh
