// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Graph definitions: creation and destruction, structure, clones, conditional handles, DOT. The nodes of each kind are
// in graph_nodes.cpp.
#include "hostdriver/objects/graphs/graph.hpp"

#include <cuda.h>

#include <algorithm>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/graphs/dot.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"

namespace cgh {
namespace {

// Fills the caller's array of entries. "nodes may be NULL, in which case this function will return the number of nodes
// in numNodes. Otherwise, numNodes entries will be filled in. If numNodes is higher than the actual number of nodes,
// the remaining entries in nodes will be set to NULL, and the number of nodes actually obtained will be returned in
// numNodes" (cuda.h, cuGraphGetNodes; the other queries say the same).
class Listing {
  public:
    explicit Listing(size_t* count) : count_(count), capacity_(*count) {}

    // Sets `index` to the index of the next entry. Returns false if the array is full.
    bool next(size_t* index) {
        *index = found_++;
        return *index < capacity_;
    }
    void add(CUgraphNode* entries, CUgraphNode node) {
        size_t i;
        if (next(&i) && entries != nullptr) entries[i] = node;
    }

    template <class T>
    void clear_rest(T* entries) const {
        if (entries != nullptr) std::fill(entries + std::min(found_, capacity_), entries + capacity_, T{});
    }
    CUresult finish(CUgraphNode* entries) const {
        clear_rest(entries);
        *count_ = entries == nullptr ? found_ : std::min(found_, capacity_);
        return CUDA_SUCCESS;
    }

  private:
    size_t* count_;
    size_t capacity_;
    size_t found_ = 0;
};

// Returns false for an array without entries, as on an H200.
bool has_capacity(const CUgraphNode* entries, const size_t* count) {
    return count != nullptr && (entries == nullptr || *count != 0);
}

// "if an edge has non-zero (non-default) edge data and edgeData is NULL, this API will return CUDA_ERROR_LOSSY_QUERY.
// If edgeData is non-NULL, then dependencies must be as well" (cuda.h, cuGraphNodeGetDependencies).
CUresult list_ends(const Edges& edges, CUgraphNode* out, CUgraphEdgeData* data, size_t* count) {
    REQUIRE(data == nullptr || out != nullptr, CUDA_ERROR_INVALID_VALUE);
    const bool lossy = std::any_of(edges.begin(), edges.end(), [](const Edge& edge) { return !is_default(edge.data); });
    REQUIRE(!lossy || out == nullptr || data != nullptr, CUDA_ERROR_LOSSY_QUERY);
    Listing listing(count);
    for (const Edge& edge : edges) {
        size_t i;
        if (!listing.next(&i)) continue;
        if (out != nullptr) out[i] = to_handle(edge.node);
        if (data != nullptr) data[i] = edge.data;
    }
    listing.clear_rest(data);
    return listing.finish(out);
}

CUresult list_edges(const Graph& graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
    REQUIRE((from == nullptr) == (to == nullptr), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(data == nullptr || from != nullptr, CUDA_ERROR_INVALID_VALUE);
    Listing listing(count);
    for (Node* node = graph.first_node(); node != nullptr; node = node->next) {
        for (const Edge& edge : node->dependents) {
            size_t i;
            REQUIRE(is_default(edge.data) || from == nullptr || data != nullptr, CUDA_ERROR_LOSSY_QUERY);
            if (!listing.next(&i) || from == nullptr) continue;
            from[i] = to_handle(node);
            to[i] = to_handle(edge.node);
            if (data != nullptr) data[i] = edge.data;
        }
    }
    listing.clear_rest(to);
    listing.clear_rest(data);
    return listing.finish(from);
}

}  // namespace

CGH_API CUresult cuGraphCreate(CUgraph* phGraph, unsigned int flags) {
    return entry("cuGraphCreate", [&]() -> CUresult {
        REQUIRE(phGraph != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
        *phGraph = to_handle(Graph::create(nullptr, GraphOwner::kUser).release());
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphDestroy(CUgraph hGraph) {
    return entry("cuGraphDestroy", [&]() -> CUresult {
        Graph* const graph = cast<Graph>(hGraph);
        // Any other graph is destroyed with the node that owns it.
        REQUIRE(graph != nullptr && graph->owner() == GraphOwner::kUser, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(!graph->in_capture, CUDA_ERROR_ILLEGAL_STATE);
        GraphDeleter()(graph);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphClone(CUgraph* phGraphClone, CUgraph originalGraph) {
    return entry("cuGraphClone", [&]() -> CUresult {
        const Graph* const original = cast<Graph>(originalGraph);
        REQUIRE(phGraphClone != nullptr && original != nullptr, CUDA_ERROR_INVALID_VALUE);
        GraphPtr copy;
        TRY(original->clone(&copy, nullptr, GraphOwner::kUser));
        *phGraphClone = to_handle(copy.release());
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphNodeFindInClone(CUgraphNode* phNode, CUgraphNode hOriginalNode, CUgraph hClonedGraph) {
    return entry("cuGraphNodeFindInClone", [&]() -> CUresult {
        const Node* const original = cast<Node>(hOriginalNode);
        const Graph* const copy = cast<Graph>(hClonedGraph);
        REQUIRE(phNode != nullptr && original != nullptr && copy != nullptr, CUDA_ERROR_INVALID_VALUE);
        Node* const found = copy->find_copy_of(*original);
        REQUIRE(found != nullptr, CUDA_ERROR_INVALID_VALUE);
        *phNode = to_handle(found);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode* nodes, size_t* numNodes) {
    return entry("cuGraphGetNodes", [&]() -> CUresult {
        const Graph* const graph = cast<Graph>(hGraph);
        REQUIRE(graph != nullptr && has_capacity(nodes, numNodes), CUDA_ERROR_INVALID_VALUE);
        if (nodes == nullptr) return *numNodes = graph->node_count(), CUDA_SUCCESS;
        Listing listing(numNodes);
        for (Node* node = graph->first_node(); node != nullptr; node = node->next) listing.add(nodes, to_handle(node));
        return listing.finish(nodes);
    });
}

CGH_API CUresult cuGraphGetRootNodes(CUgraph hGraph, CUgraphNode* rootNodes, size_t* numRootNodes) {
    return entry("cuGraphGetRootNodes", [&]() -> CUresult {
        const Graph* const graph = cast<Graph>(hGraph);
        REQUIRE(graph != nullptr && has_capacity(rootNodes, numRootNodes), CUDA_ERROR_INVALID_VALUE);
        Listing listing(numRootNodes);
        // Latest node first, as on an H200.
        for (Node* node = graph->last_node(); node != nullptr; node = node->previous) {
            if (node->dependencies.empty()) listing.add(rootNodes, to_handle(node));
        }
        return listing.finish(rootNodes);
    });
}

CGH_API CUresult cuGraphGetEdges_v2(CUgraph hGraph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edgeData,
                                    size_t* numEdges) {
    return entry("cuGraphGetEdges", [&]() -> CUresult {
        const Graph* const graph = cast<Graph>(hGraph);
        REQUIRE(graph != nullptr && has_capacity(from, numEdges), CUDA_ERROR_INVALID_VALUE);
        return list_edges(*graph, from, to, edgeData, numEdges);
    });
}

CGH_API CUresult cuGraphNodeGetDependencies_v2(CUgraphNode hNode, CUgraphNode* dependencies, CUgraphEdgeData* edgeData,
                                               size_t* numDependencies) {
    return entry("cuGraphNodeGetDependencies", [&]() -> CUresult {
        const Node* const node = cast<Node>(hNode);
        REQUIRE(node != nullptr && has_capacity(dependencies, numDependencies), CUDA_ERROR_INVALID_VALUE);
        return list_ends(node->dependencies, dependencies, edgeData, numDependencies);
    });
}

CGH_API CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode hNode, CUgraphNode* dependentNodes,
                                                 CUgraphEdgeData* edgeData, size_t* numDependentNodes) {
    return entry("cuGraphNodeGetDependentNodes", [&]() -> CUresult {
        const Node* const node = cast<Node>(hNode);
        REQUIRE(node != nullptr && has_capacity(dependentNodes, numDependentNodes), CUDA_ERROR_INVALID_VALUE);
        return list_ends(node->dependents, dependentNodes, edgeData, numDependentNodes);
    });
}

CGH_API CUresult cuGraphAddDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                           const CUgraphEdgeData* edgeData, size_t numDependencies) {
    return entry("cuGraphAddDependencies", [&]() -> CUresult {
        Graph* const graph = cast<Graph>(hGraph);
        REQUIRE(graph != nullptr, CUDA_ERROR_INVALID_VALUE);
        return graph->add_dependencies(from, to, edgeData, numDependencies);
    });
}

CGH_API CUresult cuGraphRemoveDependencies_v2(CUgraph hGraph, const CUgraphNode* from, const CUgraphNode* to,
                                              const CUgraphEdgeData*, size_t numDependencies) {
    return entry("cuGraphRemoveDependencies", [&]() -> CUresult {
        Graph* const graph = cast<Graph>(hGraph);
        REQUIRE(graph != nullptr, CUDA_ERROR_INVALID_VALUE);
        return graph->remove_dependencies(from, to, numDependencies);
    });
}

CGH_API CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType* type) {
    return entry("cuGraphNodeGetType", [&]() -> CUresult {
        const Node* const node = cast<Node>(hNode);
        REQUIRE(node != nullptr && type != nullptr, CUDA_ERROR_INVALID_VALUE);
        *type = node->kind->type;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphDestroyNode(CUgraphNode hNode) {
    return entry("cuGraphDestroyNode", [&]() -> CUresult {
        Node* const node = cast<Node>(hNode);
        REQUIRE(node != nullptr, CUDA_ERROR_INVALID_VALUE);
        return node->graph->destroy_node(*node);
    });
}

CGH_API CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* pHandle_out, CUgraph hGraph, CUcontext ctx,
                                                unsigned int defaultLaunchValue, unsigned int flags) {
    return entry("cuGraphConditionalHandleCreate", [&]() -> CUresult {
        Graph* const graph = cast<Graph>(hGraph);
        REQUIRE(pHandle_out != nullptr && graph != nullptr, CUDA_ERROR_INVALID_VALUE);
        // "flags: Currently must be CU_GRAPH_COND_ASSIGN_DEFAULT or 0" (cuda.h).
        REQUIRE((flags & ~unsigned{CU_GRAPH_COND_ASSIGN_DEFAULT}) == 0, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(cast<Context>(ctx) != nullptr, CUDA_ERROR_INVALID_CONTEXT);
        return graph->root().create_condition(ctx, defaultLaunchValue, flags != 0, pHandle_out);
    });
}

CGH_API CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned int flags) {
    return entry("cuGraphDebugDotPrint", [&]() -> CUresult {
        const Graph* const graph = cast<Graph>(hGraph);
        REQUIRE(graph != nullptr && path != nullptr, CUDA_ERROR_INVALID_VALUE);
        return print_dot(*graph, path, flags);
    });
}

}  // namespace cgh
