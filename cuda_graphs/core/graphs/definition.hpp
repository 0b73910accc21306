// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Graph definitions. A definition and its inner graphs (bodies of conditional nodes, embedded graphs) form one
// hierarchy. All handles of a hierarchy share one control block, so a handle of any graph or node keeps the whole
// hierarchy alive. This library destroys only the root. The driver destroys an inner graph with the node that holds it.
// The box of a destroyed inner graph stays, empty, for its remaining handles.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_DEFINITION_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_DEFINITION_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/handles/box.hpp"
#include "definition_shape.hpp"
#include "node.hpp"
#include "node_spec.hpp"
#include "user_object.hpp"

namespace cg {

struct Hierarchy;
struct CaptureBox;

// A condition that was created for a graph. The driver does not list conditions.
struct ConditionRecord {
    CUgraphConditionalHandle handle = 0;
    bool has_default = false;
    std::uint32_t default_value = 0;
    SourceLocation source;
};

// The references of Python objects to one hierarchy. They share the handle, which is empty while there are none.
struct ObjectReferences {
    std::size_t count = 0;
    NodeHandle any;
};

struct GraphBox {
    CUgraph raw = nullptr;  // null after the node that holds it was destroyed
    Hierarchy* hierarchy = nullptr;
    SourceTable* sources = nullptr;          // the hierarchy's
    ObjectReferences* references = nullptr;  // the hierarchy's
    NodeRecord* holder = nullptr;            // the node whose body or embedded graph this is; null for a root
    std::uint32_t depth = 0;                 // number of graphs around it
    NodeRecord entry;                        // virtual node before all others
    NodeRecord* test = nullptr;  // kernel that sets the condition of the loop whose body this is (loop_test.hpp)
    NodeTable nodes;
    OwnerPages owners;
    std::vector<ConditionRecord> conditions;
    CaptureBox* capture = nullptr;  // capture that adds nodes to it now
    bool is_abandoned = false;      // a capture into it was abandoned
    std::size_t counted_nodes = 0;  // number of nodes when nodes without a record were last looked up
    bool edited = false;            // an edge was edited or a node destroyed (node_order.hpp)
    bool changed = false;           // changed since the last snapshot of its shape (definition_shape.hpp)
    Counted<Kind::kGraph> counted;
    Counted<Kind::kGraphNode> counted_entry;
};

// Maximum number of graphs around a graph. Drivers and the walks of this library recurse into inner graphs: 1024 levels
// fit on the stack of any thread.
constexpr std::uint32_t kMaxDepth = 1024;

// Returns the maximum number of nested levels of graphs inside this graph, or inside a node.
std::uint32_t levels_inside(GraphBox& graph) noexcept;
std::uint32_t levels_inside(const NodeRecord& node) noexcept;

// Creates an empty definition and returns its entry node; returns an empty handle with a noted error on failure.
NodeHandle create_graph();

// Returns the entry node of a definition that a capture is about to create. The driver owns the graph until own_root.
NodeHandle create_graph_to_capture();
void own_root(GraphBox& graph) noexcept;

// Marks a hierarchy as never to be destroyed, and leaks it on purpose. The driver destroyed a body that its node still
// refers to, so destroying the node or a graph around it would crash the process.
void poison(GraphBox& graph) noexcept;
bool is_poisoned(const GraphBox& graph) noexcept;

// Records a graph that the driver created inside `holder`.
GraphBox& add_inner_graph(NodeRecord& holder, CUgraph raw);

// Returns the graph inside a child graph node, and asks the driver for it at first use. Returns null with a noted error
// on failure.
GraphBox* child_box(NodeRecord& holder);

// Returns the named parameters of the graph's hierarchy.
ParameterTable& parameters_of(GraphBox& graph) noexcept;

// Records that `free` frees the memory at an address, for the last alloc node with this address. note_allocation()
// records the alloc node. Alloc and free nodes are never destroyed before their hierarchy.
void note_allocation(NodeRecord& alloc, CUdeviceptr address);
void note_free(NodeRecord& free, CUdeviceptr address);
// Returns true if a free node of the graph's hierarchy names the place.
bool frees_place(const GraphBox& graph, const GraphMemory& place) noexcept;

// Called before nodes or edges of the graph are added or removed.
void about_to_change(GraphBox& graph) noexcept;

// Returns the snapshot of the hierarchy's shape; expired when no executable uses it.
std::weak_ptr<ShapeSnapshot>& shape_of(GraphBox& graph) noexcept;

// memset_version() identifies the present memset nodes and their parameters, across all hierarchies.
// advance_memset_version() gives the hierarchy a new version. The caller holds the GIL.
std::uint64_t memset_version(const GraphBox& graph) noexcept;
void advance_memset_version(GraphBox& graph) noexcept;

// Returns the handle of a node (for an entry node: of a graph), given any handle of its hierarchy.
template <class AnyHandle>
NodeHandle node_handle(const AnyHandle& any, NodeRecord& node) noexcept {
    return NodeHandle(any, &node.raw);
}

// The reference of a Python object to a node, or to a graph by its entry node. It keeps the hierarchy alive, as a
// handle does, but without atomic operations: all references to a hierarchy are counted under the GIL, and share one
// handle.
class NodeReference {
  public:
    NodeReference() noexcept = default;
    ~NodeReference() {
        if (node_ != nullptr) leave();
    }
    NodeReference(const NodeReference&) = delete;
    NodeReference& operator=(const NodeReference&) = delete;

    // `any` is a handle of the node's hierarchy. A reference to another node ends: GraphDef.__init__ may run again.
    void refer(const NodeHandle& any, NodeRecord& node) noexcept {
        ObjectReferences& all = *node.graph->references;
        if (all.count++ == 0) all.any = any;  // first, since `any` may be what the former reference holds
        const NodeReference former(std::exchange(node_, &node));
    }
    // Makes `object` the Python object of the node, as long as this reference lives.
    void enter(void* object) noexcept { node_->object = object_ = object; }

    NodeRecord* node() const noexcept { return node_; }  // null before refer()
    // A handle of the hierarchy; valid as long as this reference.
    const NodeHandle& any() const noexcept { return node_->graph->references->any; }
    NodeHandle handle() const noexcept { return node_handle(any(), *node_); }

  private:
    explicit NodeReference(NodeRecord* node) noexcept : node_(node) {}
    void leave() noexcept;

    NodeRecord* node_ = nullptr;
    void* object_ = nullptr;  // null for the object of a graph
};

// Returns the graph of a node that is not destroyed; null for others, and without a node.
inline GraphBox* living_graph(const NodeReference& reference) noexcept {
    const NodeRecord* node = reference.node();
    return node != nullptr && node->is_alive() && node->graph->raw != nullptr ? node->graph : nullptr;
}

inline Dependencies dependencies_on(const NodeRecord& node) noexcept {
    return {node.graph->raw, &node.raw, node.raw == nullptr ? std::size_t{0} : 1};
}

// Puts a node that the driver just made on record, with the owners that were prepared for it.
inline NodeRecord& add_node(GraphBox& graph, CUgraphNode raw, NodeKind kind, OwnerSlot owners) {
    NodeRecord& node = graph.nodes.add(graph, raw, kind);
    if (owners.page != nullptr) owners.page->commit(owners.index, node);
    node.owners = owners;  // a new record has no previous owners
    return node;
}

// The steps before and after make_node, which adds the node of a spec and runs without the GIL. prepare_node moves the
// owners of the spec to the graph; it returns false with a noted error on failure. record_node returns null when the
// driver has refused the node: then the graph has not changed.
bool prepare_node(GraphBox& graph, NodeSpec& spec, OwnerSlot& owners) noexcept;
NodeRecord* record_node(GraphBox& graph, NodeSpec& spec, OwnerSlot owners, CUresult status, CUgraphNode raw);

// Called before a clone, an executable or an embedding of this graph is made: see OwnerPages::seal.
void seal_owners(GraphBox& graph) noexcept;

// Locks the hierarchies of one graph or two while a clone or an executable is made or updated from them. Such a call
// changes the graph temporarily (node_order.hpp, DetachedOwners), and CUDA allows one thread at a time per graph.
// Python may run under the lock and take it again. If it waits, it does so without the GIL.
class GraphLock {
  public:
    explicit GraphLock(GraphBox& graph, GraphBox* other = nullptr);
    GraphLock(const GraphLock&) = delete;
    GraphLock& operator=(const GraphLock&) = delete;

  private:
    std::unique_lock<std::recursive_mutex> first_, second_;
};

// Attaches the pages of owners to all graphs of the hierarchy, because foreign code may copy them from now on. Call
// again after a failure.
CUresult share_owners(GraphBox& graph) noexcept;

// note_handed_out() records that other code was given the raw handle of a graph or node of the hierarchy, by the caller
// or by a capturing stream. From then on is_handed_out() returns true, and the driver must be asked for parameters of
// nodes.
void note_handed_out(GraphBox& graph) noexcept;
bool is_handed_out(const GraphBox& graph) noexcept;

// Returns true for the graph of a definition with alloc or free nodes of places. The driver takes them for empty nodes,
// so copies of the graph would lose them.
bool has_place_nodes(const GraphBox& graph) noexcept;

// A user object, and the graph that has a reference to it; `graph` is null when this library holds the reference.
struct HeldObject {
    CUgraph graph;
    CUuserObject object;
};

// Lists the user objects of this graph and of all bodies in it. Omits embedded graphs, which share the user objects of
// their sources.
std::vector<HeldObject> list_owners(const GraphBox& graph);

// Keeps a reference to a user object as long as the whole hierarchy lives.
void keep_owners(GraphBox& graph, CUuserObject object) noexcept;

// Returns this graph or a body in it that cannot be instantiated now, since it is being captured or its capture was
// abandoned; null when all can.
GraphBox* find_unfinished(GraphBox& graph) noexcept;

// Returns the living conditional node of the hierarchy that uses the condition; null if none is known.
NodeRecord* find_user(const GraphBox& graph, CUgraphConditionalHandle condition) noexcept;

// Returns the living while nodes of the hierarchy.
std::vector<NodeRecord*> list_loops(const GraphBox& graph);

// Returns the number of the hierarchy, which no other hierarchy of the process gets. libcuda numbers the conditions of
// each graph from 1, so a condition is known by this number and its handle.
std::uint64_t hierarchy_number(const GraphBox& graph) noexcept;

// Returns all graphs of the hierarchy that were not destroyed.
std::vector<GraphBox*> list_living(const GraphBox& graph);

// Returns the living graphs that were edited and that no capture adds to now.
std::vector<GraphBox*> list_edited(const GraphBox& graph);

// Returns the captures into bodies of this graph, at any depth.
std::vector<CaptureBox*> list_inner_captures(const GraphBox& graph);

// Marks all graphs inside the node as destroyed by the driver.
void mark_inner_destroyed(NodeRecord& node) noexcept;

// Marks this graph as destroyed by the driver: its records and those of its inner graphs are dead.
void mark_graph_destroyed(GraphBox& graph) noexcept;

}  // namespace cg

#endif
