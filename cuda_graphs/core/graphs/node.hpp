// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Nodes. Each node that this library created or looked up has a record in its graph: its kind, properties that the
// driver does not report, the slot of its owners, and its living Python object, so that one node is always one object.
// A NodeHandle points into the record and shares the control block of the graph's hierarchy. It therefore keeps its
// graph and all graphs around it alive. A record lives as long as its hierarchy. After its node was destroyed, it lives
// until the node's object is deleted.
//
// There is no lock: callers hold the GIL, except during driver calls.
#ifndef CUDA_GRAPHS_CORE_GRAPHS_NODE_HPP
#define CUDA_GRAPHS_CORE_GRAPHS_NODE_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <unordered_map>
#include <vector>

#include "core/handles/box.hpp"
#include "named_parameter.hpp"
#include "node_labels.hpp"
#include "record_memory.hpp"
#include "user_object.hpp"

namespace cg {

struct GraphBox;
struct NodeRecord;
struct NodeSpec;

// The kinds of nodes that have classes, in the order of graph/nodes/node_kinds.pyx.
enum class NodeKind : int {
    kEntry,
    kEmpty,
    kKernel,
    kAlloc,
    kFree,
    kMemset,
    kMemcpy,
    kChild,
    kHost,
    kEventRecord,
    kEventWait,
    kIf,
    kIfElse,
    kWhile,
    kSwitch,
    kConditional,  // unknown conditional type: created elsewhere, and the driver does not report it before CUDA 13.2
    kOther,        // a type without a class
};

// Properties of a node that no driver call of CUDA 13.0 reports, and the parameters that the driver has reported.
struct NodeMetadata {
    NodeLabels labels;
    std::vector<GraphBox*> inner;                     // bodies of a conditional node, or the one embedded graph
    std::shared_ptr<const GraphLabels> inner_labels;  // labels for the embedded graph, until its first use
    CUgraphConditionalHandle condition = 0;           // condition of a conditional node
    Opaque counter;                                   // the LoopCounter of a loop; a Python object
    int device = -1;                                  // requested device of an alloc node
    Opaque array_form;                                // type and shape of an alloc node's array; a Python object
    NodeRecord* freed_by = nullptr;                   // free node of an alloc node; null without one
    GraphMemoryRef place;                             // memory of an alloc or free node, if it is a place
    std::unique_ptr<NodeParameters> parameters;       // null for a node without named parameters
    Opaque call;                                      // the NodeCall of a node that compiled code made; a Python object
    std::shared_ptr<NodeSpec> loaded;                 // parameters, without owners, until they change; null if not read
    unsigned changes = 0;                             // of the parameters; may overflow
};

struct NodeRecord {
    CUgraphNode raw = nullptr;  // null for the entry node and for a destroyed node
    GraphBox* graph = nullptr;
    NodeKind kind = NodeKind::kOther;
    void* object = nullptr;  // the living Python object, borrowed; its __dealloc__ clears this
    OwnerSlot owners;
    SourceLocation source;
    std::unique_ptr<NodeMetadata> metadata;
    std::uint32_t generation = 0;  // number of destroyed nodes of this record, which tells its successive nodes apart

    bool is_alive() const noexcept { return raw != nullptr || kind == NodeKind::kEntry; }
    NodeMetadata& make_metadata();
};

using NodeHandle = HandleTo<NodeRecord>;

// Returns true for a node that is a memset, or that may hold one inside.
constexpr bool may_hold_memset(NodeKind kind) noexcept {
    return kind == NodeKind::kMemset || kind == NodeKind::kChild ||
           (kind >= NodeKind::kIf && kind <= NodeKind::kConditional);
}

// The records of one graph. Adding a record needs no look-up and no extra allocation: the index is brought up to date
// at the next find.
class NodeTable {
  public:
    NodeRecord& add(GraphBox& graph, CUgraphNode raw, NodeKind kind) {
        NodeRecord& record = free_.empty() ? create() : reuse();
        record.raw = raw;
        record.graph = &graph;
        record.kind = kind;
        ++alive_;
        may_hold_memsets_ |= may_hold_memset(kind);
        if (journal_ != nullptr) journal_->push_back(&record);
        return record;
    }
    NodeRecord* find(CUgraphNode raw);
    // Marks the node as destroyed: its raw value may be reused.
    void mark_destroyed(NodeRecord& record) noexcept;
    // Marks all nodes as destroyed with the graph.
    void mark_all_destroyed() noexcept;
    // Allows reuse of the record, after the object of its destroyed node was deleted.
    void recycle(NodeRecord& record) noexcept;

    template <class Visit>
    void for_each(Visit visit) {
        for (NodeRecord& record : records_) visit(record);
    }
    // Number of records, for loops that may add records.
    std::size_t size() const noexcept { return records_.size(); }
    // Number of records of nodes that are not destroyed.
    std::size_t alive() const noexcept { return alive_; }
    // Appends every record that is added from now on to a journal, until the journal is null.
    void keep_journal(std::vector<NodeRecord*>* journal) noexcept { journal_ = journal; }
    bool has_journal() const noexcept { return journal_ != nullptr; }
    // Returns false when the graph has never had a memset node, nor a node with inner graphs.
    bool may_hold_memsets() const noexcept { return may_hold_memsets_; }
    NodeRecord& operator[](std::size_t index) noexcept { return records_[index]; }

  private:
    NodeRecord& create() {
        NodeRecord& record = records_.emplace_back();
        counted_.add();
        return record;
    }
    NodeRecord& reuse();
    void update_index();
    void index(NodeRecord& record);

    std::pmr::monotonic_buffer_resource memory_{&record_memory()};  // of the records: few allocations
    std::pmr::deque<NodeRecord> records_{&memory_};                 // a deque keeps their addresses
    std::size_t indexed_ = 0;  // number of records that were indexed, apart from those in `reused_`
    std::vector<NodeRecord*> free_;
    std::vector<NodeRecord*> reused_;
    std::unordered_map<CUgraphNode, NodeRecord*> index_;
    std::size_t alive_ = 0;
    bool may_hold_memsets_ = false;
    std::vector<NodeRecord*>* journal_ = nullptr;  // of an open task flow
    CountedTogether<Kind::kGraphNode> counted_;
};

enum class Direction { kPredecessors, kSuccessors };

// Returns edge data whose reserved bytes are 0, as the driver requires.
inline CUgraphEdgeData edge_data(unsigned char from_port, unsigned char to_port, unsigned char type) noexcept {
    CUgraphEdgeData data{};
    data.from_port = from_port;
    data.to_port = to_port;
    data.type = type;
    return data;
}

// Edges as parallel arrays. Edge data is always requested: a query without it fails when any edge has data.
struct Edges {
    std::vector<CUgraphNode> from;
    std::vector<CUgraphNode> to;
    std::vector<CUgraphEdgeData> data;

    std::size_t size() const noexcept { return data.size(); }
    void add(CUgraphNode source, CUgraphNode target, CUgraphEdgeData what);
    void copy(const Edges& edges, std::size_t i) { add(edges.from[i], edges.to[i], edges.data[i]); }
};

// Queries and edits of the driver's graph, called without the GIL.
CUresult list_nodes(CUgraph graph, std::vector<CUgraphNode>& nodes);
CUresult list_edges(CUgraph graph, Edges& edges);
// Lists the edges that end at the node, or those that begin there.
CUresult list_edges_of(CUgraphNode node, Direction direction, Edges& edges);
CUresult add_edges(CUgraph graph, const Edges& edges);
CUresult remove_edges(CUgraph graph, const Edges& edges);
// Removes edges and adds others. If the driver refuses these, the removed edges are added again.
CUresult replace_edges(CUgraph graph, const Edges& before, const Edges& after);

// Finds the kind of a node that has no record. Asks the driver.
CUresult find_kind(CUgraphNode node, NodeKind* kind);

// Destroys the node with its inner graphs. On success their records are dead and their owners released.
CUresult destroy_node(NodeRecord& record);

}  // namespace cg

#endif
