// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies, fills, allocations and frees.
#include <algorithm>
#include <limits>
#include <string>

#include "core/graphs/definition.hpp"
#include "device.hpp"
#include "specs.hpp"

namespace cgr {

namespace {

using Wide = __int128;

// An operand of a copy or fill.
struct Operand {
    Reference reference;
    CUdeviceptr address = 0;
    Wide size = kUnlimited;  // bytes behind the address, as far as they are known

    static constexpr Wide kUnlimited = Wide{1} << 100;

    bool is_parameter() const noexcept { return reference.is_parameter(); }
    bool is_array() const noexcept { return is_parameter() && reference.parameter->type.is_array(); }
    const cg::NamedParameter& parameter() const noexcept { return *reference.parameter; }
};

Operand read_operand(const Adding& adding, cg::NodeSpec& spec, const char* name, cg::Field field, cg::Opaque* owner) {
    const Where where{name, Where::kNone, &adding.row.where};
    Operand found;
    found.reference = adding.references.resolve(adding.row.get(name), where);
    if (found.reference.kind == Reference::Kind::kPlace) {
        found.address = found.reference.place.address;
        found.size = found.reference.place.size;
        *owner = found.reference.place.owner;
        return found;
    }
    if (!found.is_parameter() || !found.parameter().type.is_memory()) fail(where, "is no memory");
    found.address = found.parameter().initial.bits;
    *owner = found.parameter().initial.owner;
    if (found.is_array() && found.parameter().initial.known)
        found.size = static_cast<Wide>(cg::bytes_of(found.parameter().type, found.parameter().initial));
    cg::ParameterUse use;
    use.parameter = found.reference.parameter;
    use.field = field;
    use.is_fixed = found.is_array() && !found.reference.is_direct;  // inputs and outputs keep their shapes
    spec.uses.push_back(use);
    return found;
}

// Adds a product to a sum, and fails if a number leaves the range.
Wide multiply_add(Wide a, Wide b, Wide c, const Where& where) {
    Wide found = 0;
    if (__builtin_mul_overflow(a, b, &found) || __builtin_add_overflow(found, c, &found)) fail(where, "is too large");
    return found;
}

std::string text_of(Wide bytes) {
    return bytes > std::numeric_limits<std::int64_t>::max() ? "more than 2**63"
                                                            : std::to_string(static_cast<std::int64_t>(bytes));
}

// Checks that a node stays in the memory of an operand.
void check_reach(Wide reach, Wide size, const char* verb, const Where& where) {
    if (reach > size) fail(where, verb + (" " + text_of(reach)) + " bytes of memory of " + text_of(size));
}

CUmemorytype type_of(const Operand& operand, const Where& where) {
    int type = cg::kUnknownMemory;
    const bool is_known = !operand.is_parameter() || operand.parameter().initial.known;
    if (is_known) {
        check(without_lock([&] { return cg::find_memory_type(operand.address, &type); }),
              "ask for the type of memory of a copy");
        if (type == cg::kUnknownMemory) fail(where, "copies memory that the driver does not know");
    }
    return operand.is_parameter() ? CU_MEMORYTYPE_UNIFIED : static_cast<CUmemorytype>(type);
}

// Sizes that change later may not go beyond the end of an operand that is no parameter.
void limit_reach(cg::NodeSpec& spec, const Operand& operand) {
    if (spec.uses.empty() || operand.is_parameter()) return;
    spec.rules.most = std::min(spec.rules.most, static_cast<std::size_t>(operand.size));
}

void add_use(cg::NodeSpec& spec, const cg::ParameterRef& parameter, cg::Field field) {
    cg::ParameterUse use;
    use.parameter = parameter;
    use.field = field;
    spec.uses.push_back(use);
}

// Returns the size of a copy or the count of a fill: `count`, or that of the parameter `size` of the row. Sets `whole`
// to true for all bytes of an array parameter.
std::size_t read_size(const Adding& adding, cg::NodeSpec& spec, std::int64_t count, bool* whole) {
    const Json* const size = adding.row.get("size");
    const Where where{"the size", Where::kNone, &adding.row.where};
    *whole = size != nullptr && size->is_text() && size->text() == "bytes";
    if (size == nullptr || *whole) return static_cast<std::size_t>(count);
    const Reference reference = adding.references.resolve(size, where);
    const auto is_count = [](const cg::ParameterType& type) {
        return !type.is_array() &&
               (type.scalar->kind == cg::ValueKind::kInt || type.scalar->kind == cg::ValueKind::kUint);
    };
    if (!reference.is_parameter() || !is_count(reference.parameter->type)) fail(where, "is no count");
    const cg::NamedParameter& parameter = *reference.parameter;
    const std::size_t extent = cg::as_extent(*parameter.type.scalar, parameter.initial.bits);
    if (parameter.initial.known && (extent == 0 || extent > static_cast<std::size_t>(kLargest)))
        fail(where, "has a default below 1");
    add_use(spec, reference.parameter, cg::Field::kExtent);
    return extent;
}

std::size_t use_bytes(cg::NodeSpec& spec, const Operand& array) {
    add_use(spec, array.reference.parameter, cg::Field::kBytes);
    return cg::bytes_of(array.parameter().type, array.parameter().initial);
}

CUcontext context_now() {
    CUcontext context = nullptr;
    check(cg::current_context(&context), "find the current context");
    return context;
}

// ---- fills

// NumPy's types of the value of a fill, by the bytes of an element; none for 3.
// Returns the letter of the type.
char check_value_type(const Row& row, std::int64_t element) {
    if (element == 1)
        row.choice("type", {"u1", "i1"});
    else if (element == 2)
        row.choice("type", {"u2", "i2", "f2"});
    else if (element == 4)
        row.choice("type", {"u4", "i4", "f4"});
    else
        fail(row.where, "fills elements of 3 bytes");
    return row.text("type")[0];
}

void read_value(Adding& adding, cg::NodeSpec& spec, const Operand& target) {
    constexpr std::int64_t kMostValue = 0xffffffff;
    CUDA_MEMSET_NODE_PARAMS_v2& fill = spec.params.memset;
    const Row& row = adding.row;
    const auto element = row.number("element", 1, 4);
    const Where where{"the value", Where::kNone, &row.where};
    if (row.get("value") == nullptr || !row.get("value")->is_list()) {
        const auto bits = static_cast<std::uint64_t>(row.number("value", 0, kMostValue));
        const char kind = check_value_type(row, element);
        if (kind != 'u') adding.form = adding.tables.program.value_form(kind);
        fill.elementSize = static_cast<unsigned>(element);
        fill.value = static_cast<unsigned>(bits & ((std::uint64_t{1} << (8 * element)) - 1));
        return;
    }
    const Reference reference = adding.references.resolve(row.get("value"), where);
    if (!reference.is_parameter()) fail(where, "is no number");
    const cg::ParameterType& type = reference.parameter->type;
    if (type.is_memory() || type.scalar->size > 4) fail(where, "must have 1, 2 or 4 bytes");
    if (target.is_array() && target.parameter().type.scalar->size != type.scalar->size)
        fail(where, "has another size than the elements of the array");
    add_use(spec, reference.parameter, cg::Field::kValue);
    fill.elementSize = static_cast<unsigned>(type.scalar->size);
    fill.value = static_cast<unsigned>(reference.parameter->initial.bits);
}

}  // namespace

void read_memset(Adding& adding, cg::NodeSpec& spec) {
    const Row& row = adding.row;
    CUDA_MEMSET_NODE_PARAMS_v2& fill = spec.params.memset;
    const Operand target = read_operand(adding, spec, "dst", cg::Field::kDestination, &spec.owners.first);
    const std::vector<std::int64_t> shape = row.numbers("shape", 3);
    const std::int64_t width = shape[0], height = shape[1], pitch = shape[2];
    read_value(adding, spec, target);
    fill.dst = target.address;
    fill.ctx = context_now();
    fill.height = static_cast<std::size_t>(height);
    fill.pitch = static_cast<std::size_t>(pitch);
    bool whole = false;
    fill.width = read_size(adding, spec, width, &whole);
    if (whole && (!target.is_array() || height != 1)) fail(row.where, "has the size of an array, and no array");
    if (whole) fill.width = use_bytes(spec, target) / fill.elementSize;
    const bool is_variable = whole || row.get("size") != nullptr;
    if (height > 1 && is_variable) fail(row.where, "fills rows of a width that is a parameter");
    const Wide rows = multiply_add(height > 1 ? height - 1 : 0, pitch, 0, row.where);
    const Wide reach = multiply_add(whole ? static_cast<Wide>(fill.width) : width, fill.elementSize, rows, row.where);
    const bool is_place = !target.is_parameter();
    if (is_place && height < 1) fail(row.where, "fills no rows");
    check_reach(reach, target.size, "fills", row.where);
    limit_reach(spec, target);
}

void read_memcpy(Adding& adding, cg::NodeSpec& spec) {
    const Row& row = adding.row;
    CUDA_MEMCPY3D& copy = spec.params.memcpy.copyParams;
    const Operand dst = read_operand(adding, spec, "dst", cg::Field::kDestination, &spec.owners.first);
    const Operand src = read_operand(adding, spec, "src", cg::Field::kSource, &spec.owners.second);
    const std::vector<std::int64_t> shape = row.numbers("shape", 3, 1), pitches = row.numbers("pitches", 4);
    const Wide width = shape[0], height = shape[1], depth = shape[2];
    const auto reach = [&](Wide pitch, Wide rows) {
        const Wide lines = multiply_add(depth - 1, std::max(rows, height), height - 1, row.where);
        return multiply_add(lines, pitch, width, row.where);
    };
    const bool is_flat = height == 1 && depth == 1;
    if (!is_flat && !spec.uses.empty()) fail(row.where, "copies rows of a parameter");
    bool whole = false;
    std::size_t count = static_cast<std::size_t>(shape[0]);
    if (is_flat) count = read_size(adding, spec, shape[0], &whole);
    if (whole && !src.is_array() && !dst.is_array()) fail(row.where, "has the size of an array, and no array");
    if (whole) count = use_bytes(spec, src.is_array() ? src : dst);
    const bool is_fixed = is_flat && spec.uses.empty();
    const Wide to = is_flat && !is_fixed ? static_cast<Wide>(count) : reach(pitches[0], pitches[2]);
    const Wide from = is_flat && !is_fixed ? static_cast<Wide>(count) : reach(pitches[1], pitches[3]);
    check_reach(dst.is_parameter() ? to : std::max(to, reach(pitches[0], pitches[2])), dst.size, "copies", row.where);
    check_reach(src.is_parameter() ? from : std::max(from, reach(pitches[1], pitches[3])), src.size, "copies",
                row.where);
    copy.WidthInBytes = count;
    copy.Height = static_cast<std::size_t>(shape[1]), copy.Depth = static_cast<std::size_t>(shape[2]);
    if (!is_flat) {
        copy.dstPitch = static_cast<std::size_t>(pitches[0]), copy.srcPitch = static_cast<std::size_t>(pitches[1]);
        copy.dstHeight = static_cast<std::size_t>(pitches[2]), copy.srcHeight = static_cast<std::size_t>(pitches[3]);
    }
    limit_reach(spec, dst);
    limit_reach(spec, src);
    spec.params.memcpy.copyCtx = context_now();
    cg::set_destination(copy, dst.address, type_of(dst, row.where));
    cg::set_source(copy, src.address, type_of(src, row.where));
}

void read_alloc(Adding& adding, cg::NodeSpec& spec) {
    constexpr std::int64_t kMostDevice = 1 << 16;
    const Row& row = adding.row;
    const std::int64_t size = row.number("bytes", 1);
    std::vector<int> peers;
    for (const Json& peer : row.items("peers"))
        peers.push_back(static_cast<int>(check_int(&peer, {"a peer", Where::kNone, &row.where}, 0, kMostDevice)));
    const auto device = static_cast<int>(row.number("device", 0, kMostDevice));
    const auto kind = static_cast<cg::AllocKind>(row.choice("memory", {"device", "host", "managed"}));
    if (row.get("array") != nullptr) {
        const std::vector<Json>& array = row.items("array", 2);
        const Where where{"the type", Where::kNone, &row.where};
        const cg::ParameterType type = check_type(&array[0], where);
        if (type.ndim < 0) fail(where, "is no type of arrays");
        std::vector<std::int64_t> shape;
        for (const Json& extent : check_list(&array[1], where, static_cast<std::size_t>(type.ndim)))
            shape.push_back(check_int(&extent, where, 1));
        const auto bytes = bytes_of_array(type, shape);
        if (!bytes || *bytes != static_cast<std::size_t>(size)) fail(row.where, "has other bytes than its array");
        adding.form = adding.tables.program.array_form(type, shape);
    }
    cg::set_allocation(spec, kind, device, static_cast<std::size_t>(size), peers);
}

void read_free(Adding& adding, cg::NodeSpec& spec) {
    spec.params.free.dptr = adding.tables.allocs[adding.row.index("alloc", adding.tables.allocs.size())].address;
}

}  // namespace cgr
