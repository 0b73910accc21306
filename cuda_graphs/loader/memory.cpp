// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "memory.hpp"

#include "core/driver/table.hpp"
#include "device.hpp"

namespace cgr {

namespace {

constexpr std::int64_t kCounterBytes = 16, kMostWords = 1 << 24, kMostExtent = 0x7fffffff;

using Load = LoadedMemory (*)(const Archive&, const Row&, Program&, std::string*);

LoadedMemory load_array(const Archive& archive, const Row& row, Program&, std::string* contents) {
    LoadedMemory found;
    found.type = check_type(row.get("type"), {"the type", Where::kNone, &row.where});
    const auto ndim = static_cast<std::size_t>(found.type->ndim < 0 ? 0 : found.type->ndim);
    const std::vector<std::int64_t> shape = row.numbers("shape", ndim, 1, kMostExtent);
    found.size = static_cast<std::size_t>(row.number("bytes", 1));
    if (found.type->ndim < 0 || bytes_of_array(*found.type, shape) != found.size)
        fail(row.where, "has other bytes than its type and shape");
    found.shape.assign(shape.begin(), shape.end());
    if (row.get("data") != nullptr) {
        *contents = archive.blob(row.index("data", archive.table("blobs").size()));
        if (contents->size() != found.size) fail(row.where, "has contents of another size");
    }
    if (row.get("parameter") != nullptr) found.parameter = row.index("parameter", archive.table("parameters").size());
    found.memory = allocate(static_cast<Space>(row.choice("place", {"device", "host", "managed"})), found.size);
    return found;
}

LoadedMemory load_words(const Archive&, const Row& row, Program&, std::string*) {
    LoadedMemory found;
    found.size = static_cast<std::size_t>(row.number("bytes", 1, kMostWords));
    found.memory = allocate(Space::kDevice, found.size);
    return found;
}

LoadedMemory load_counter(const Archive&, const Row& row, Program& program, std::string*) {
    LoadedMemory found;
    if (row.number("bytes") != kCounterBytes) fail(row.where, "must have 16 bytes");
    found.size = kCounterBytes;
    found.is_counter = true;
    Counter made = program.make_counter(row.number("limit", 1));
    found.memory = std::move(made.memory);
    found.counter = std::move(made.object);
    return found;
}

constexpr Load kLoaders[] = {load_array, load_words, load_counter};

std::size_t kind_of(const Row& row) {
    return row.choice("kind", {"array", "words", "counter"});
}

// Memory that cg.ndarray allocates: managed memory where the host reaches that directly, else memory of the pool.
cg::PointerHandle allocate_on_device(const cg::ContextHandle& context, std::size_t size) {
    if (device_attribute(CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST) != 0)
        return cg::allocate_managed(context, size);
    const cg::PoolHandle pool = cg::current_device_pool(cg::box_of<cg::ContextBox>(context)->device);
    return pool ? cg::allocate_from_pool(pool, size, cg::create_stream_ref(CU_STREAM_LEGACY)) : cg::PointerHandle();
}

}  // namespace

Place LoadedMemory::place(const Json* offset, const Where& where) const {
    const auto at = static_cast<std::size_t>(
        check_int(offset, {"the offset", Where::kNone, &where}, 0, static_cast<std::int64_t>(size) - 1));
    return {*memory + at, size - at, memory};
}

cg::ParameterValue LoadedMemory::value() const {
    cg::ParameterValue found;
    found.bits = *memory;
    found.known = true;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) found.extents[axis] = shape[axis];
    found.owner = memory;
    return found;
}

cg::PointerHandle allocate(Space space, std::size_t size) {
    const cg::ContextHandle context = cg::current_context();
    cg::PointerHandle made = without_lock([&] {
        return space == Space::kHost      ? cg::allocate_pinned(context, size)
               : space == Space::kManaged ? cg::allocate_managed(context, size)
                                          : allocate_on_device(context, size);
    });
    const std::string attempt = "allocate " + std::to_string(size) + " bytes";
    if (!made) fail_noted(attempt);
    check(without_lock(cg::driver().cuMemsetD8, *made, 0, size), attempt);
    return made;
}

std::optional<std::size_t> bytes_of_array(const cg::ParameterType& type, const std::vector<std::int64_t>& shape) {
    std::int64_t bytes = static_cast<std::int64_t>(type.item_size());
    for (const std::int64_t extent : shape)
        if (__builtin_mul_overflow(bytes, extent, &bytes)) return {};
    return static_cast<std::size_t>(bytes);
}

std::vector<LoadedMemory> load_memory(const Archive& archive, std::size_t parameters, Program& program) {
    const std::vector<Json>& table = archive.table("memory");
    const auto row_at = [&](std::size_t number) { return Row(&table[number], {"memory", number}); };
    for (std::size_t number = 0; number < table.size(); ++number) {
        const Row row = row_at(number);
        kind_of(row);
        row.number("bytes", 1);
        if (row.get("parameter") != nullptr) row.index("parameter", parameters);
    }
    std::vector<LoadedMemory> found;
    for (std::size_t number = 0; number < table.size(); ++number) {
        const Row row = row_at(number);
        std::string contents;
        found.push_back(kLoaders[kind_of(row)](archive, row, program, &contents));
        if (!contents.empty())
            check(without_lock(cg::driver().cuMemcpyHtoD, *found.back().memory, contents.data(), contents.size()),
                  "write the contents of " + row.where.text());
    }
    // Nodes use the memory on any stream.
    if (!table.empty()) check(without_lock(cg::driver().cuCtxSynchronize), "fill the memory of the graph");
    return found;
}

}  // namespace cgr
