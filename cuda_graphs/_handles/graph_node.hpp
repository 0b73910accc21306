// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Nodes. Each node that was made or seen has a record in its graph: its kind, what the driver forgets about it, where
// its owners are, and the Python object that stands for it while one lives, so that the same node is the same object.
// A NodeHandle points into the record and shares the control block of the graph's hierarchy: holding a node keeps its
// graph and all graphs around it. Records live as long as their hierarchy, or until the object of a destroyed node
// goes.
//
// Not locked: the GIL is held, except where a driver call is made.
#ifndef CUDA_GRAPHS_HANDLES_GRAPH_NODE_HPP
#define CUDA_GRAPHS_HANDLES_GRAPH_NODE_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "box.hpp"
#include "named_parameter.hpp"
#include "node_labels.hpp"
#include "user_object.hpp"

namespace cg {

struct GraphBox;

// The classes of nodes that we tell apart, in the order of graph/node_kinds.pyx.
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
    kConditional,  // of unknown conditional type: not made by us, and below CUDA 13.2 the driver does not tell
    kOther,        // a type that has no class here
};

// What no driver call of CUDA 13.0 gives back.
struct NodeFacts {
    NodeLabels labels;
    std::vector<GraphBox*> inner;                     // bodies of a conditional node, or the one embedded graph
    std::shared_ptr<const GraphLabels> inner_labels;  // for the embedded graph, until it is asked for
    CUgraphConditionalHandle condition = 0;           // of a conditional node
    int device = -1;                                  // of an alloc node: as asked for
    std::unique_ptr<NodeParameters> parameters;       // of a node that uses some
    Opaque values;                                    // of a destroyed node: a dict of its last property values
};

struct NodeRecord {
    CUgraphNode raw = nullptr;  // null for the entry node, and once destroyed
    GraphBox* graph = nullptr;
    NodeKind kind = NodeKind::kOther;
    void* object = nullptr;  // the living Python object, borrowed; it clears this in its __dealloc__
    OwnerSlot owners;
    SourcePlace source;
    std::unique_ptr<NodeFacts> facts;
    std::uint32_t deaths = 0;  // tells the nodes apart that this was the record of, one after the other
    Counted<Kind::kGraphNode> counted;

    bool is_alive() const noexcept { return raw != nullptr || kind == NodeKind::kEntry; }
    NodeFacts& make_facts();
};

using NodeHandle = HandleTo<NodeRecord>;

// The records of one graph. Adding one costs no look-up and no allocation besides: the index is brought up to date when
// it is next asked.
class NodeTable {
  public:
    NodeRecord& add(GraphBox& graph, CUgraphNode raw, NodeKind kind);
    NodeRecord* find(CUgraphNode raw);
    // The node was destroyed: its raw value is free for another.
    void forget(NodeRecord& record) noexcept;
    // All were destroyed with the graph.
    void forget_all() noexcept;
    // The object of a destroyed node went; the record may serve another node.
    void recycle(NodeRecord& record) noexcept;

    template <class Visit>
    void for_each(Visit visit) {
        for (NodeRecord& record : records_) visit(record);
    }
    // By index, for visits that may add records.
    std::size_t size() const noexcept { return records_.size(); }
    // How many stand for nodes that are there.
    std::size_t alive() const noexcept { return alive_; }
    // False: no memset node and nothing with a graph inside ever was among them.
    bool with_more() const noexcept { return with_more_; }
    NodeRecord& operator[](std::size_t index) noexcept { return records_[index]; }

  private:
    void update_index();
    void index(NodeRecord& record);

    std::deque<NodeRecord> records_;  // addresses stay
    std::size_t indexed_ = 0;         // so many of them the index knows, but for those in `reused_`
    std::vector<NodeRecord*> free_;
    std::vector<NodeRecord*> reused_;
    std::unordered_map<CUgraphNode, NodeRecord*> index_;
    std::size_t alive_ = 0;
    bool with_more_ = false;
};

enum class Direction { kPredecessors, kSuccessors };

// What is reserved is 0, as the driver wants it.
inline CUgraphEdgeData edge_data(unsigned char from_port, unsigned char to_port, unsigned char type) noexcept {
    CUgraphEdgeData data{};
    data.from_port = from_port;
    data.to_port = to_port;
    data.type = type;
    return data;
}

// Edges side by side. Their data is always asked for: without it, a query fails as soon as one edge has some.
struct Edges {
    std::vector<CUgraphNode> from;
    std::vector<CUgraphNode> to;
    std::vector<CUgraphEdgeData> data;

    std::size_t size() const noexcept { return data.size(); }
    void add(CUgraphNode source, CUgraphNode target, CUgraphEdgeData what);
    void copy(const Edges& edges, std::size_t i) { add(edges.from[i], edges.to[i], edges.data[i]); }
};

// Queries and edits of the driver's graph, without the GIL.
CUresult list_nodes(CUgraph graph, std::vector<CUgraphNode>& nodes);
CUresult list_edges(CUgraph graph, Edges& edges);
// The edges that end at the node, or those that begin there.
CUresult list_edges_of(CUgraphNode node, Direction direction, Edges& edges);
CUresult add_edges(CUgraph graph, const Edges& edges);
CUresult remove_edges(CUgraph graph, const Edges& edges);

// The kind of a node that is not on record. Asks the driver.
CUresult find_kind(CUgraphNode node, NodeKind* kind);

// Destroys the node with all that is inside it. On success the records of it are dead and its owners released.
CUresult destroy_node(NodeRecord& record);

}  // namespace cg

#endif
