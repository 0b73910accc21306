// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/graphs/graph_update.hpp"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "hostdriver/objects/graphs/graph.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"
#include "hostdriver/objects/memory/graph_memory.hpp"

namespace cgh {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

bool is_flat(const CUDA_MEMCPY3D& copy) {
    return copy.Height <= 1 && copy.Depth <= 1;
}

// Returns the fields that distinguish copies with the same memory types.
auto fields(const CUDA_MEMCPY3D& copy) {
    return std::make_tuple(copy.srcHost, copy.srcDevice, copy.srcXInBytes, copy.srcY, copy.srcZ, copy.srcPitch,
                           copy.srcHeight, copy.dstHost, copy.dstDevice, copy.dstXInBytes, copy.dstY, copy.dstZ,
                           copy.dstPitch, copy.dstHeight, copy.WidthInBytes, copy.Height, copy.Depth);
}

// Returns whether one memory operation may replace the other.
bool alike(const CUstreamBatchMemOpParams& a, const CUstreamBatchMemOpParams& b) {
    if (a.operation != b.operation) return false;
    if (a.operation == CU_STREAM_MEM_OP_BARRIER) return a.memoryBarrier.flags == b.memoryBarrier.flags;
    const bool writes =
        a.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 || a.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    return !writes || a.writeValue.flags == b.writeValue.flags;
}

// Compares parameters, with one overload per kind. Both arguments have the same type.
struct Compare {
    cuuint64_t flags;

    CUgraphExecUpdateResult operator()(const KernelParams& before, const KernelParams& after) const {
        // "A cooperative node cannot be updated to a non-cooperative node, and vice-versa. If the graph was
        // instantiated with CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY, the priority attribute cannot change. [...]
        // The owning context of the function cannot change" (cuda.h, cuGraphExecUpdate).
        if (before.context != after.context) return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
        if (before.launch.shape().cooperative != after.launch.shape().cooperative) {
            return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
        }
        const bool by_priority = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0;
        if (by_priority && get_attribute(before, CU_LAUNCH_ATTRIBUTE_PRIORITY).priority !=
                               get_attribute(after, CU_LAUNCH_ATTRIBUTE_PRIORITY).priority) {
            return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
        }
        return CU_GRAPH_EXEC_UPDATE_SUCCESS;
    }

    CUgraphExecUpdateResult operator()(const MemcpyParams& before, const MemcpyParams& after) const {
        const CUDA_MEMCPY3D& a = *before.described;
        const CUDA_MEMCPY3D& b = *after.described;
        // "The source/destination memory must be allocated from the same contexts as the original [...] memory. [...]
        // Changing either the source or destination memory type [...] is not supported" (cuda.h, cuGraphExecUpdate).
        const bool same_places = before.context == after.context && before.source == after.source &&
                                 before.destination == after.destination && a.srcMemoryType == b.srcMemoryType &&
                                 a.dstMemoryType == b.dstMemoryType;
        // "Both the instantiation-time memory operands and the memory operands in copyParams must be 1-dimensional.
        // Zero-length operations are not supported" (cuda.h, cuGraphExecMemcpyNodeSetParams). An H200 also accepts a 2D
        // or 3D copy that equals the current one, in a whole-graph update too.
        const bool flat = is_flat(a) && is_flat(b) && (b.WidthInBytes != 0 || (flags & kOneNode) == 0);
        const bool allowed = flat || fields(a) == fields(b);
        return same_places && allowed ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }

    CUgraphExecUpdateResult operator()(const MemsetParams& before, const MemsetParams& after) const {
        const CUDA_MEMSET_NODE_PARAMS_v2& a = before.described;
        const CUDA_MEMSET_NODE_PARAMS_v2& b = after.described;
        // "For 2d memsets, only address and assigned value may be updated. For 1d memsets, updating dimensions is also
        // allowed" (cuda.h, cuGraphExecUpdate); "changes in height are explicitly rejected"; "Zero sized operations are
        // not supported" (cuGraphExecMemsetNodeSetParams).
        const bool flat = a.height <= 1;
        const bool same_extent = a.width == b.width && a.elementSize == b.elementSize && a.pitch == b.pitch;
        const bool allowed = a.height == b.height && (flat || same_extent) && (b.width != 0 || (flags & kOneNode) == 0);
        const bool same_place = a.ctx == b.ctx && before.destination == after.destination;
        return same_place && allowed ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }

    // "Other fields, such as the context, count or type of operations, and other types of operations such as membars,
    // may not be modified" (cuda.h, cuGraphExecBatchMemOpNodeSetParams).
    CUgraphExecUpdateResult operator()(const BatchRun& before, const BatchRun& after) const {
        const auto &a = before.batch.described(), &b = after.batch.described();
        const bool same = before.context == after.context && std::equal(a.begin(), a.end(), b.begin(), b.end(), alike);
        return same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }

    CUgraphExecUpdateResult operator()(const AllocRun& before, const AllocRun& after) const {
        return before.memory->device() == after.memory->device() ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                                                 : CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }

    template <class T>
    CUgraphExecUpdateResult operator()(const T&, const T&) const {
        return CU_GRAPH_EXEC_UPDATE_SUCCESS;  // no restrictions
    }

    template <class T, class U>
    CUgraphExecUpdateResult operator()(const T&, const U&) const {
        return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    }
};

}  // namespace

CUgraphExecUpdateResult compare_params(const ExecParams& before, const ExecParams& after, cuuint64_t flags) {
    return std::visit(Compare{flags}, before, after);
}

bool fills_memory_of_others(const ExecParams& params, const Allocations& own) {
    const auto* const fill = std::get_if<MemsetParams>(&params);
    if (fill == nullptr || !AddressMap::get().is_freed_inside(fill->described.dst)) return false;
    const auto holds = [at = fill->described.dst](const std::shared_ptr<GraphAllocation>& memory) {
        return at >= memory->address() && at - memory->address() < memory->bytes();
    };
    return std::none_of(own.begin(), own.end(), holds);
}

bool GraphUpdate::refuse(CUgraphExecUpdateResult result, Node* node, Node* from) {
    info_->result = result;
    info_->errorNode = node == nullptr ? nullptr : to_handle(node);
    info_->errorFromNode = from == nullptr ? nullptr : to_handle(from);
    return false;
}

// cuda.h, cuGraphExecUpdate, says when the topology counts as changed: "The count of nodes directly in hGraphExec and
// hGraph differ, in which case resultInfo->errorNode is set to NULL"; more exit nodes in the graph, "errorNode is set
// to one of the exit nodes in hGraph"; "a different number of dependencies than the node from hGraphExec it is paired
// with"; "The dependencies are paired based on edge order and a dependency does not match when the nodes are already
// paired based on other edges". The host driver therefore pairs exit nodes in creation order and all other nodes
// through the edges that lead to them.
bool GraphUpdate::pair_nodes(const GraphShape& shape, const Graph& graph, std::vector<Node*>* partners) {
    const CUgraphExecUpdateResult changed = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    const auto count = static_cast<uint32_t>(shape.entries.size());
    if (graph.node_count() != count) return refuse(changed);

    std::vector<bool> has_dependents(count, false);
    for (const GraphShape::Dependency& each : shape.dependencies) has_dependents[each.position] = true;
    std::vector<uint32_t> partner_of_id(graph.id_limit(), kNone);
    std::vector<uint32_t> to_visit;
    partners->assign(count, nullptr);
    const auto pair = [&](uint32_t position, Node* node) {
        (*partners)[position] = node;
        partner_of_id[node->local_id] = position;
        to_visit.push_back(position);
    };

    uint32_t exit = 0;
    Node* first_exit = nullptr;
    for (Node* node = graph.first_node(); node != nullptr; node = node->next) {
        if (!node->dependents.empty()) continue;
        if (first_exit == nullptr) first_exit = node;
        while (exit < count && has_dependents[exit]) ++exit;
        if (exit == count) return refuse(changed, first_exit);
        pair(exit++, node);
    }
    while (exit < count && has_dependents[exit]) ++exit;
    if (exit != count) return refuse(changed);

    while (!to_visit.empty()) {
        const uint32_t position = to_visit.back();
        to_visit.pop_back();
        Node* const node = (*partners)[position];
        const GraphShape::Entry& entry = shape.entries[position];
        if (node->dependencies.size() != entry.dependency_count) return refuse(changed, node);
        for (uint32_t i = 0; i < entry.dependency_count; ++i) {
            const auto& [ours, data] = shape.dependencies[entry.first_dependency + i];
            Node* const theirs = node->dependencies[i].node;
            if (!(data == node->dependencies[i].data)) return refuse(changed, node, theirs);
            const uint32_t known = partner_of_id[theirs->local_id];
            if (known == kNone && (*partners)[ours] == nullptr) {
                pair(ours, theirs);
            } else if (known != ours) {
                return refuse(changed, node, theirs);
            }
        }
    }
    // Without a cycle, every node leads to an exit node.
    for (const Node* partner : *partners) {
        if (partner == nullptr) return refuse(changed);
    }
    return true;
}

bool GraphUpdate::apply(Section& section, uint32_t shape_index, const Graph& graph) {
    const GraphShape& shape = section.structure->shapes[shape_index];
    std::vector<Node*> partners;
    if (!pair_nodes(shape, graph, &partners)) return false;
    for (uint32_t position = 0; position < partners.size(); ++position) {
        if (!apply_node(section, section.nodes[shape.entries[position].node], *partners[position])) return false;
    }
    return true;
}

bool GraphUpdate::apply_node(Section& section, ExecNode& target, Node& source) {
    if (target.kind != source.kind) return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, &source);
    if (const auto* const child = std::get_if<ChildRun>(&target.params)) {
        return apply(section, child->shape, *std::get<ChildParams>(source.params).graph);
    }
    if (auto* const conditional = std::get_if<ConditionalRun>(&target.params)) {
        const auto& after = std::get<ConditionalParams>(source.params);
        // "Conditional nodes: Changing node parameters is not supported. [...] Conditional handle flags and default
        // values are updated as part of the graph update" (cuda.h). The kernels of `graph` set the handle of `graph`,
        // so the executable node reads that handle from now on.
        if (conditional->type != after.type || conditional->bodies.size() != after.bodies.size()) {
            return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, &source);
        }
        conditional->condition = after.condition;
        for (size_t i = 0; i < after.bodies.size(); ++i) {
            if (!apply(conditional->bodies[i], 0, *after.bodies[i])) return false;
        }
        return true;
    }
    ExecParams after = to_exec_params(source.params, target.params);
    const CUgraphExecUpdateResult result = compare_params(target.params, after, flags_);
    if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return refuse(result, &source);
    if (fills_memory_of_others(after, own_)) return refuse(CU_GRAPH_EXEC_UPDATE_ERROR, &source);
    target.params = std::move(after);
    return true;
}

}  // namespace cgh
