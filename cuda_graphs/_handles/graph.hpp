// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Graph definitions. A definition and the graphs inside it (bodies of conditional nodes, embedded graphs) form one
// hierarchy. All handles of a hierarchy share one control block: whoever holds any graph or node of it keeps the
// whole. Only the root is ours to destroy; the driver destroys an inner graph with the node that holds it, after which
// its box stays, empty, for the handles that are still around.
#ifndef CUDA_GRAPHS_HANDLES_GRAPH_HPP
#define CUDA_GRAPHS_HANDLES_GRAPH_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "box.hpp"
#include "graph_node.hpp"
#include "graph_shape.hpp"
#include "node_spec.hpp"
#include "user_object.hpp"

namespace cg {

struct Hierarchy;
struct CaptureBox;

// A condition that was created for a graph, which the driver does not list.
struct ConditionRecord {
    CUgraphConditionalHandle handle = 0;
    bool has_default = false;
    SourcePlace source;
};

struct GraphBox {
    CUgraph raw = nullptr;  // null once destroyed with the node that held it
    Hierarchy* hierarchy = nullptr;
    SourceTable* sources = nullptr;  // of the hierarchy
    NodeRecord* holder = nullptr;    // the node whose body or embedded graph this is; null for a root
    std::uint32_t depth = 0;         // graphs around it
    NodeRecord entry;                // the virtual node before all others
    NodeTable nodes;
    OwnerPages owners;
    std::vector<ConditionRecord> conditions;
    CaptureBox* capture = nullptr;  // that adds nodes to it now
    bool half_done = false;         // a capture into it was given up
    std::size_t looked_at = 0;      // how many nodes it had when those that are not on record were last looked at
    bool edited = false;            // its edges were, or a node destroyed: see graph_order.hpp
    bool changed = false;           // something came or went since it is known: see graph_shape.hpp
    Counted<Kind::kGraph> counted;
};

// Graphs that may be around a graph. Drivers and the walks over definitions here call themselves for each: 1024 calls
// fit on the stack of any thread.
constexpr std::uint32_t kMaxDepth = 1024;

// Graphs inside one another that are inside this graph, or inside a node, at most.
std::uint32_t levels_inside(GraphBox& graph) noexcept;
std::uint32_t levels_inside(const NodeRecord& node) noexcept;

// The entry node of an empty definition; no handle and a noted error on failure.
NodeHandle create_graph();

// The entry node of a definition that a capture is about to make: the driver owns the graph until own_root.
NodeHandle create_graph_to_capture();
void own_root(GraphBox& graph) noexcept;

// The driver destroyed a body that its node still refers to: nothing of this hierarchy may ever be destroyed, or the
// process goes with it. Leaked on purpose.
void poison(GraphBox& graph) noexcept;
bool is_poisoned(const GraphBox& graph) noexcept;

// Takes on a graph that the driver made inside `holder`.
GraphBox& add_inner_graph(NodeRecord& holder, CUgraph raw);

// The graph inside a child graph node. Asks the driver when it was not taken on yet; null with an error noted.
GraphBox* child_box(NodeRecord& holder);

// The named parameters of the hierarchy that the graph is in.
ParameterTable& parameters_of(GraphBox& graph) noexcept;

// The shape of the hierarchy, if an executable goes by it.
std::weak_ptr<ShapeNote>& shape_of(GraphBox& graph) noexcept;

// A number that no other state of what memsets there are and what they do has, in any hierarchy. With the GIL.
std::uint64_t memsets_of(const GraphBox& graph) noexcept;
void note_memset_change(GraphBox& graph) noexcept;

// The handle of a node (so, with an entry node, of a graph) from any handle of its hierarchy.
template <class AnyHandle>
NodeHandle node_handle(const AnyHandle& any, NodeRecord& node) noexcept {
    return NodeHandle(any, &node.raw);
}
inline void point_to(NodeHandle& handle, const NodeHandle& any, NodeRecord& node) noexcept {
    handle = NodeHandle(any, &node.raw);  // moved, not copied: this is on the way of every node that is added
}

inline NodePlace place_after(const NodeHandle& node) noexcept {
    return {box_of<NodeRecord>(node)->graph->raw, node.get(), *node == nullptr ? std::size_t{0} : 1};
}

// Puts a node that the driver just made on record, with the owners that were prepared for it.
NodeRecord& add_node(GraphBox& graph, CUgraphNode raw, NodeKind kind, OwnerSlot owners);

// A clone, an executable or an embedding of this graph is about to be made: see OwnerPages::seal.
void seal_owners(GraphBox& graph) noexcept;

// A scope in which something is made of a graph, or of two: one thread at a time, since that changes the graph for a
// while (graph_order.hpp, DetachedOwners), and a graph is for one thread at a time (a rule of CUDA). Python may run in
// it, and come here again. Waits without the GIL.
class Making {
  public:
    explicit Making(GraphBox& graph, GraphBox* other = nullptr);
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

  private:
    std::unique_lock<std::recursive_mutex> first_, second_;
};

// From now on somebody else may copy the hierarchy: its graphs take what their nodes need. Again on failure.
CUresult share_owners(GraphBox& graph) noexcept;

// A user object that a graph has a reference to, or, where that is null, our records.
struct HeldObject {
    CUgraph graph;
    CUuserObject object;
};

// Those of this graph and of all bodies in it. What an embedded graph has is left out: it got it from its source.
std::vector<HeldObject> list_owners(const GraphBox& graph);

// Keeps a reference to owners as long as the whole hierarchy lives.
void keep_owners(GraphBox& graph, CUuserObject object) noexcept;

// This graph or a body in it that cannot be made into an executable now, since it is being captured or was left half
// done; null when there is none.
GraphBox* find_unfinished(GraphBox& graph) noexcept;

// All graphs of the hierarchy that were not destroyed.
std::vector<GraphBox*> list_living(const GraphBox& graph);

// Those of them that were edited, and that no capture adds to now.
std::vector<GraphBox*> list_edited(const GraphBox& graph);

// What captures into bodies of this graph, at any depth.
std::vector<CaptureBox*> list_inner_captures(const GraphBox& graph);

// The driver destroyed all that was inside this node.
void forget_inner(NodeRecord& node) noexcept;

// The driver destroyed this graph: its records and those of all graphs within are dead.
void forget_graph(GraphBox& graph) noexcept;

}  // namespace cg

#endif
