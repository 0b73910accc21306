// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A node of a graph definition: its kind, its parameters and its edges. A node belongs to one graph from creation to
// destruction. graph.hpp has the functions that change nodes and edges together.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_NODE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_NODE_HPP

#include <cuda.h>

#include <cstdint>
#include <memory>

#include "hostdriver/objects/base/small_vector.hpp"
#include "hostdriver/objects/graphs/node_params.hpp"

namespace cgh {

class Graph;
struct NodeKind;
struct Node;

// One end of a dependency, stored at both nodes.
struct Edge {
    Node* node;
    CUgraphEdgeData data;
};

inline bool is_default(const CUgraphEdgeData& data) {
    return data.from_port == 0 && data.to_port == 0 && data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT;
}

inline bool operator==(const CUgraphEdgeData& a, const CUgraphEdgeData& b) {
    return a.from_port == b.from_port && a.to_port == b.to_port && a.type == b.type;
}

using Edges = SmallVector<Edge, 2>;

struct Node {
    Node(Graph& owner, const NodeKind& its_kind, uint32_t id) : graph(&owner), kind(&its_kind), local_id(id) {}

    static constexpr uint32_t kNoOriginal = UINT32_MAX;

    Graph* const graph;
    const NodeKind* const kind;
    const uint32_t local_id;   // number in creation order, never reused in the graph
    Node* previous = nullptr;  // neighbours in creation order
    Node* next = nullptr;
    uint64_t mark = 0;  // number of the last test for duplicates that visited the node (Graph::last_mark_)
    uint32_t original_id = kNoOriginal;  // local id of the node that this one was cloned from
    Edges dependencies;
    Edges dependents;
    NodeParams params;

    // The array that the last get-params call returned: "owned by the node. This memory remains valid until the node is
    // destroyed or its parameters are modified" (cuda.h, cuGraphKernelNodeGetParams).
    std::unique_ptr<void*[]> reported;
};

// Returns whether an edge connects the nodes. Searches the shorter of their two lists.
bool has_edge(const Node& from, const Node& to);

}  // namespace cgh

#endif
