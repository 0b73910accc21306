// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "named_parameter.hpp"

#include <algorithm>
#include <cstring>

#include "core/driver/table.hpp"
#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"
#include "core/resources/context.hpp"
#include "core/resources/memory.hpp"
#include "definition.hpp"
#include "graph_memory.hpp"
#include "node_spec.hpp"

namespace cg {

std::atomic<int> size_functions_running{0};

ParameterRef ParameterTable::find(const std::string& name) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const ParameterRef& p) { return p->name == name; });
    return found == all_.end() ? ParameterRef() : *found;
}

ParameterRef ParameterTable::find(const GraphMemory& place) const {
    const auto found =
        std::find_if(all_.begin(), all_.end(), [&](const ParameterRef& p) { return p->place.get() == &place; });
    return found == all_.end() ? ParameterRef() : *found;
}

std::size_t ParameterType::item_size() const noexcept {
    std::size_t size = scalar->size;
    for (const std::int32_t extent : inner) size *= static_cast<std::size_t>(extent);
    return size;
}

std::size_t bytes_of(const ParameterType& type, const ParameterValue& value) noexcept {
    std::size_t size = type.item_size();
    bool is_empty = false;
    bool is_large = false;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(type.ndim); ++axis) {
        is_empty |= value.extents[axis] == 0;
        is_large |= __builtin_mul_overflow(size, static_cast<std::size_t>(value.extents[axis]), &size);
    }
    return is_empty ? 0 : is_large ? kUnbounded : size;
}

namespace {

// Operands of a copy that are parameters are declared as unified memory. libcuda then lets device, pinned and managed
// memory replace each other in an executable (tests/conformance/driver, patch/memory_behind_a_copy).
void write_copy(CUDA_MEMCPY3D& copy, const ParameterUse& use, const ParameterValue& value) noexcept {
    if (use.field == Field::kDestination)
        set_destination(copy, value.bits + use.offset, CU_MEMORYTYPE_UNIFIED);
    else if (use.field == Field::kSource)
        set_source(copy, value.bits + use.offset, CU_MEMORYTYPE_UNIFIED);
    else if (use.field == Field::kBytes)
        copy.WidthInBytes = bytes_of(use.parameter->type, value);
    else
        copy.WidthInBytes = as_extent(*use.parameter->type.scalar, value.bits);
}

void write_fill(CUDA_MEMSET_NODE_PARAMS_v2& fill, const ParameterUse& use, const ParameterValue& value) noexcept {
    if (use.field == Field::kDestination)
        fill.dst = value.bits + use.offset;
    else if (use.field == Field::kValue)
        fill.value = static_cast<unsigned int>(value.bits);
    else if (use.field == Field::kBytes)
        fill.width = bytes_of(use.parameter->type, value) / fill.elementSize;
    else
        fill.width = as_extent(*use.parameter->type.scalar, value.bits);
}

// The bytes of a kernel argument that a use provides: the low ones of `bits`.
struct Word {
    std::uint64_t bits;
    std::size_t size;
};

Word word_of(const ParameterUse& use, const ParameterValue& value) noexcept {
    if (use.word != 0) return {static_cast<std::uint32_t>(value.extents[use.word - 1U]), sizeof(std::int32_t)};
    return {value.bits + use.offset,
            use.parameter->type.is_array() ? sizeof value.bits : use.parameter->type.scalar->size};
}

char* argument_of(const CUgraphNodeParams& params, const ParameterUse& use) noexcept {
    return static_cast<char*>(params.kernel.kernelParams[use.argument]) + use.byte;
}

}  // namespace

void write_value(CUgraphNodeParams& params, const ParameterUse& use, const ParameterValue& value) noexcept {
    if (use.field == Field::kSize) return;
    if (params.type == CU_GRAPH_NODE_TYPE_MEMCPY) return write_copy(params.memcpy.copyParams, use, value);
    if (params.type == CU_GRAPH_NODE_TYPE_MEMSET) return write_fill(params.memset, use, value);
    const Word word = word_of(use, value);
    std::memcpy(argument_of(params, use), &word.bits, word.size);
}

bool has_value(const CUgraphNodeParams& params, const ParameterUse& use, const ParameterValue& value) noexcept {
    if (use.field == Field::kSize) return use.parameter->initial.has_words_of(value);
    if (params.type == CU_GRAPH_NODE_TYPE_KERNEL) {
        const Word word = word_of(use, value);
        return std::memcmp(argument_of(params, use), &word.bits, word.size) == 0;
    }
    CUgraphNodeParams written = params;
    write_value(written, use, value);
    return std::memcmp(&written, &params, sizeof written) == 0;
}

std::size_t reach_of(const CUgraphNodeParams& params) noexcept {
    if (params.type == CU_GRAPH_NODE_TYPE_MEMCPY) return params.memcpy.copyParams.WidthInBytes;
    const CUDA_MEMSET_NODE_PARAMS_v2& fill = params.memset;
    std::size_t row = 0;
    if (__builtin_mul_overflow(fill.width, static_cast<std::size_t>(fill.elementSize), &row)) return kUnbounded;
    return fill.height > 1 ? (fill.height - 1) * fill.pitch + row : row;
}

namespace {

constexpr std::size_t kPlaceSize = 16;  // bytes; at least one element of any size

// Returns true when the node needs a placeholder for the value. The fill value of a memset needs none.
bool is_missing(const ParameterUse& use) noexcept {
    return !use.parameter->initial.known && use.field != Field::kValue;
}

// Returns the size of placeholder memory. A memset of several rows keeps them: an executable cannot change several rows
// into one row or back.
std::size_t place_size(const CUgraphNodeParams& params) noexcept {
    const CUDA_MEMSET_NODE_PARAMS_v2& fill = params.memset;
    return params.type == CU_GRAPH_NODE_TYPE_MEMSET && fill.height > 1 ? fill.pitch * fill.height : kPlaceSize;
}

void shrink(CUgraphNodeParams& params) noexcept {
    if (params.type == CU_GRAPH_NODE_TYPE_MEMCPY)
        params.memcpy.copyParams.WidthInBytes = 1;
    else if (params.memset.height <= 1)
        params.memset.width = 1;
}

}  // namespace

namespace {

// Sets `host` to true when the other operand of a copy is known to be host memory.
CUresult faces_host(const CUgraphNodeParams& wanted, const ParameterUse& use, bool* host) {
    if (wanted.type != CU_GRAPH_NODE_TYPE_MEMCPY) return CUDA_SUCCESS;
    const CUDA_MEMCPY3D& copy = wanted.memcpy.copyParams;
    const CUdeviceptr other = use.field == Field::kSource ? destination_of(copy) : source_of(copy);
    int type = kUnknownMemory;
    const CUresult status = other != 0 ? find_memory_type(other, &type) : CUDA_SUCCESS;
    *host = type == CU_MEMORYTYPE_HOST;
    return status;
}

PointerHandle allocate_pooled(int device, std::size_t size) {
    const PoolHandle pool = current_device_pool(device);
    return pool ? allocate_from_pool(pool, size, create_stream_ref(CU_STREAM_LEGACY)) : PointerHandle();
}

// Sets `pooled` to true when arrays of the device are pool memory: cg.ndarray has managed memory where the host reaches
// it directly.
CUresult are_arrays_pooled(const ContextHandle& context, bool* pooled) {
    int is_managed = 0;
    const CUresult status = driver().cuDeviceGetAttribute(
        &is_managed, CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, box_of<ContextBox>(context)->device);
    *pooled = is_managed == 0;
    return status;
}

// Allocates placeholder memory. In an executable the operand of a copy keeps its family of memory: pool memory, or all
// other (tests/conformance/driver, patch/kinds_of_memory_beside_host). An array most likely comes from cg.ndarray, as a
// temporary always does. Other memory that is the counterpart of host memory is most likely pool memory, as
// Device.allocate returns it.
PointerHandle allocate_place(const CUgraphNodeParams& wanted, const ParameterUse& use) {
    const std::size_t size = place_size(wanted);
    // The memory of a place is that of alloc nodes: each executable has pool memory of the same device for it.
    if (use.is_place()) return allocate_pooled(use.parameter->place->device(), size);
    const ContextHandle context = current_context();
    if (!context) CU_TRY(why_no_context());
    bool pooled = false;
    CU_TRY(use.parameter->type.is_array() ? are_arrays_pooled(context, &pooled) : faces_host(wanted, use, &pooled));
    return pooled ? allocate_pooled(box_of<ContextBox>(context)->device, size) : allocate_device(context, size);
}

}  // namespace

CUresult use_placeholders(NodeSpec& spec, NodeParameters& parameters) {
    parameters.wanted = spec.params;
    if (spec.kind == NodeKind::kKernel) return CUDA_SUCCESS;
    const std::vector<ParameterUse>& uses = parameters.uses;
    if (std::none_of(uses.begin(), uses.end(), is_missing)) return CUDA_SUCCESS;
    shrink(spec.params);
    for (const ParameterUse& use : uses) {
        if (!is_missing(use) || !is_operand(use)) continue;
        const PointerHandle place = allocate_place(parameters.wanted, use);
        if (!place) return take_noted_error().status;
        ParameterValue value;
        value.bits = *place - use.offset;  // which write_value adds
        write_value(spec.params, use, value);
        (use.field == Field::kSource ? spec.owners.second : spec.owners.first) = as_owner(place);
    }
    return CUDA_SUCCESS;
}

namespace {

// Visits the parameters of the nodes of `source` and of its embedded graphs. A graph that can be embedded has no
// conditional nodes.
template <class Visit>
void for_each_user(GraphBox& source, Visit visit) {
    source.nodes.for_each([&](NodeRecord& node) {
        if (node.raw == nullptr || !node.metadata) return;
        if (node.metadata->parameters) visit(*node.metadata->parameters);
        for (GraphBox* inner : node.metadata->inner) for_each_user(*inner, visit);
    });
}

ParameterRef take_over(const ParameterRef& parameter, ParameterTable& table) {
    ParameterRef known = table.find(parameter->name);
    if (known) return known;
    known = std::make_shared<NamedParameter>();
    known->name = parameter->name;
    known->type = parameter->type;
    known->initial = parameter->initial;
    table.add(known);
    return known;
}

std::unique_ptr<NodeParameters> translate(const NodeParameters& parameters, ParameterTable& table) {
    auto copy = std::make_unique<NodeParameters>(parameters);
    for (ParameterUse& use : copy->uses) use.parameter = take_over(use.parameter, table);
    return copy;
}

// Returns the copy of a node in a clone of its graph.
NodeRecord* find_copy(const NodeRecord& node, GraphBox& clone) {
    CUgraphNode raw = nullptr;
    {
        const GilRelease released;
        CU_TRY(driver().cuGraphNodeFindInClone(&raw, node.raw, clone.raw));
    }
    NodeRecord* record = clone.nodes.find(raw);
    return record != nullptr ? record : &add_node(clone, raw, node.kind, OwnerSlot());
}

}  // namespace

bool uses_parameters(GraphBox& graph) {
    bool found = false;
    for_each_user(graph, [&](const NodeParameters&) { found = true; });
    return found;
}

std::vector<ParameterRef> unused_parameters(GraphBox& graph) {
    std::vector<ParameterRef> unused = parameters_of(graph).all();
    const auto note_uses = [&](const NodeRecord& node) {
        if (node.raw == nullptr || !node.metadata || !node.metadata->parameters) return;
        for (const ParameterUse& use : node.metadata->parameters->uses)
            unused.erase(std::remove(unused.begin(), unused.end(), use.parameter), unused.end());
    };
    for (GraphBox* each : list_living(graph)) each->nodes.for_each(note_uses);
    return unused;
}

ParameterRef find_clash(GraphBox& source, GraphBox& target) {
    ParameterRef clash;
    for_each_user(source, [&](const NodeParameters& parameters) {
        for (const ParameterUse& use : parameters.uses) {
            const ParameterRef known = parameters_of(target).find(use.parameter->name);
            if (known && !(known->type == use.parameter->type)) clash = use.parameter;
        }
    });
    return clash;
}

CUresult copy_uses(GraphBox& source, NodeRecord& holder) {
    if (!uses_parameters(source)) return CUDA_SUCCESS;
    GraphBox* const clone = child_box(holder);
    if (clone == nullptr) return take_noted_error().status;
    for (std::size_t i = 0; i < source.nodes.size(); ++i) {
        const NodeRecord& node = source.nodes[i];
        if (node.raw == nullptr || !node.metadata) continue;
        if (!node.metadata->parameters && node.metadata->inner.empty()) continue;
        NodeRecord* const copy = find_copy(node, *clone);
        if (copy == nullptr) return take_noted_error().status;
        if (node.metadata->parameters)
            copy->make_metadata().parameters = translate(*node.metadata->parameters, parameters_of(*clone));
        for (GraphBox* inner : node.metadata->inner) {
            const CUresult status = copy_uses(*inner, *copy);
            if (status != CUDA_SUCCESS) return status;
        }
    }
    return CUDA_SUCCESS;
}

}  // namespace cg
