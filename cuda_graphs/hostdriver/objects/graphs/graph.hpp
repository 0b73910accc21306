// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph definition: nodes in creation order, the graphs embedded in them, conditional handles and user objects.
//
// Graphs form a hierarchy: a child graph node owns a graph, and a conditional node owns its bodies. The user may
// destroy only a root. Graphs have no locks: "Graph objects are not threadsafe" (cuda.h, note_graph_thread_safety).
// Different threads may use different hierarchies at the same time.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_GRAPH_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_GRAPH_HPP

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/graphs/condition.hpp"
#include "hostdriver/objects/graphs/node.hpp"
#include "hostdriver/objects/graphs/user_object.hpp"

namespace cgh {

struct DependencySet;
struct NodeKind;

// The owner of a graph, which destroys it.
enum class GraphOwner : uint8_t {
    kUser,         // a root
    kChildNode,    // cloned into a child graph node
    kMovedToNode,  // moved into a child graph node (CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE)
    kConditional,  // a body
};

// The errors of an H200 in cases for which cuda.h only says that a call "will return an error"
// (tests/conformance/driver/h200.json).
constexpr CUresult kMemoryGraphRefused = CUDA_ERROR_NOT_SUPPORTED;  // change of a graph with allocation or free nodes
// clone of a graph with allocation, free or conditional nodes, or of a conditional body
constexpr CUresult kCloneRefused = CUDA_ERROR_NOT_SUPPORTED;
constexpr CUresult kKindRefused = CUDA_ERROR_NOT_SUPPORTED;        // a node kind that is not allowed in this graph
constexpr CUresult kInnerExecRefused = CUDA_ERROR_NOT_SUPPORTED;   // an executable of an embedded graph
constexpr CUresult kSecondExecRefused = CUDA_ERROR_NOT_SUPPORTED;  // a second live executable

class Graph {
  public:
    static GraphPtr create(Node* owner_node, GraphOwner owner);

    // Adds a node that depends on `dependencies`. Writes the out parameters of its kind into `params`.
    CUresult add_node(Node** out, const CUgraphNode* dependencies, const CUgraphEdgeData* data, size_t count,
                      CUgraphNodeParams& params);
    // Adds a node in a capture. A capture sets dependencies before it knows the kind of the next node. Their edges may
    // therefore be of types that are valid only between kernels.
    CUresult add_captured_node(Node** out, const DependencySet& dependencies, CUgraphNodeParams& params);
    // Adds a kernel node in a capture from parsed parameters.
    CUresult add_captured_kernel(Node** out, const DependencySet& dependencies, NodeParams parsed);
    CUresult destroy_node(Node& node);

    CUresult add_dependencies(const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data,
                              size_t count);
    CUresult remove_dependencies(const CUgraphNode* from, const CUgraphNode* to, size_t count);

    // Makes a deep copy, or returns an error if the graph may not be cloned. Nodes of the copy store the id of the
    // original node.
    CUresult clone(GraphPtr* out, Node* owner_node, GraphOwner owner) const;
    // Returns the node of this clone that is the copy of `original`, or null.
    Node* find_copy_of(const Node& original) const;

    // Makes a root the graph of a child graph node.
    void adopt_into(Node& owner_node);

    Node* first_node() const { return first_; }
    Node* last_node() const { return last_; }
    size_t node_count() const { return node_count_; }
    size_t edge_count() const { return edge_count_; }
    uint32_t id_limit() const { return next_local_id_; }  // upper bound of local ids, exclusive
    uint64_t uid() const { return uid_; }
    GraphOwner owner() const { return owner_; }
    Node* owner_node() const { return owner_node_; }
    const Graph& root() const;
    Graph& root() { return const_cast<Graph&>(static_cast<const Graph*>(this)->root()); }

    // These include the graphs embedded in this one.
    bool has_memory_nodes() const { return memory_nodes_ != 0; }
    bool has_conditional_nodes() const {
        return conditional_nodes_ != 0 || !conditions_.empty();
    }  // also true if the graph has conditional handles
    bool embeds_graphs() const { return embedding_nodes_ != 0; }
    bool inside_conditional_body() const;
    bool is_or_is_inside(const Graph& other) const;

    // The number of live executables, shared with the executables, which may outlive the graph. "Only one instantiation
    // of the graph may exist at any point in time" if it has memory or conditional nodes.
    const std::shared_ptr<std::atomic<int>>& live_executables() const { return live_executables_; }

    // For a root: the conditional handles of the hierarchy. Any graph of the hierarchy may use them.
    const std::vector<ConditionPtr>& conditions() const { return conditions_; }
    CUresult create_condition(CUcontext context, uint32_t default_value, bool assigns_default,
                              CUgraphConditionalHandle* out);
    // Returns the live condition of this hierarchy, or null for any other handle.
    ConditionPtr find_condition(CUgraphConditionalHandle handle) const;

    uint32_t body_index = 0;  // index among the bodies of its conditional node
    bool in_capture = false;  // true while a capture adds nodes; guarded by Capture::mutex()

    UserObjectRefs& user_objects() { return user_objects_; }
    const UserObjectRefs& user_objects() const { return user_objects_; }

  private:
    friend class Arena<Graph>;
    Graph(Node* owner_node, GraphOwner owner);
    ~Graph();

    CUresult check_dependencies(const CUgraphNode* dependencies, const CUgraphEdgeData* data, size_t count,
                                CUgraphNodeType type);
    CUresult check_allowed_here(const NodeKind& kind) const;
    CUresult check_ends(CUgraphNode from, CUgraphNode to) const;
    template <class Create>
    CUresult add(Node** out, const NodeKind& kind, const CUgraphNode* dependencies, const CUgraphEdgeData* data,
                 size_t count, Create&& create);
    Node* append_node(const NodeKind& kind);
    void remove_node(Node& node);
    void connect(Node& from, Node& to, const CUgraphEdgeData& data);
    void disconnect(Node& from, Node& to);
    void disconnect_all(Node& node);
    void count_node(const Node& node, int64_t sign);
    void add_counts(int64_t memory_nodes, int64_t conditional_nodes);

    const uint64_t uid_;
    GraphOwner owner_;
    Node* owner_node_;
    Node* first_ = nullptr;
    Node* last_ = nullptr;
    size_t node_count_ = 0;
    size_t edge_count_ = 0;
    uint32_t next_local_id_ = 0;
    uint64_t last_mark_ = 0;      // last mark; each test for duplicates marks nodes with a new number
    size_t embedding_nodes_ = 0;  // nodes of this graph that contain graphs
    int64_t memory_nodes_ = 0;
    int64_t conditional_nodes_ = 0;
    std::shared_ptr<std::atomic<int>> live_executables_;
    std::vector<ConditionPtr> conditions_;
    UserObjectRefs user_objects_;
    uint64_t cloned_from_ = 0;      // uid of the original
    std::vector<Node*> copies_of_;  // copies by the original's local id
};

// Returns whether an edge with this data may connect a node of type `from` to a node of type `to`.
bool is_valid_edge(const CUgraphEdgeData& data, CUgraphNodeType from, CUgraphNodeType to);

inline CUgraph to_handle(Graph* graph) {
    return reinterpret_cast<CUgraph>(graph);
}
inline CUgraphNode to_handle(Node* node) {
    return reinterpret_cast<CUgraphNode>(node);
}

}  // namespace cgh

#endif
