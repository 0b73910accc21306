// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/graphs/graph.hpp"

#include <algorithm>
#include <utility>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"
#include "hostdriver/objects/memory/memory.hpp"
#include "hostdriver/objects/streams/capture.hpp"

namespace cgh {
namespace {

std::atomic<uint64_t> last_uid{0};

bool is_memory_kind(CUgraphNodeType type) {
    return type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

bool contains_graphs(CUgraphNodeType type) {
    return type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

constexpr CUgraphEdgeData kDefaultEdge = {};

bool is_freed_inside(const void* address) {
    return AddressMap::get().is_freed_inside(reinterpret_cast<CUdeviceptr>(address));
}

// Checks the memory of a new node. An H200 rejects a fill or copy of an alloc node's memory if the graph of the alloc
// node also frees it. The order of the three nodes does not matter. It does not check kernels, nodes of captures or
// parameters that are set later.
CUresult check_unfreed(const NodeParams& params) {
    if (const auto* const memset = std::get_if<MemsetParams>(&params)) {
        REQUIRE(!is_freed_inside(memset->fill.destination()), CUDA_ERROR_INVALID_VALUE);
    } else if (const auto* const memcpy = std::get_if<MemcpyParams>(&params)) {
        REQUIRE(!is_freed_inside(memcpy->copy.source()), CUDA_ERROR_INVALID_VALUE);
        REQUIRE(!is_freed_inside(memcpy->copy.destination()), CUDA_ERROR_INVALID_VALUE);
    }
    return CUDA_SUCCESS;
}

}  // namespace

// cuda.h, CUgraphEdgeData: "Currently no node types define non-zero [incoming] ports. Accordingly, this field must be
// set to zero"; "reserved: These bytes are unused and must be zeroed". CUgraphDependencyType: programmatic edges "may
// only be used between kernel nodes, and must be used with either the ..._PORT_PROGRAMMATIC or ..._PORT_LAUNCH_ORDER
// outgoing port".
bool is_valid_edge(const CUgraphEdgeData& data, CUgraphNodeType from, CUgraphNodeType to) {
    if (data.to_port != 0) return false;
    if (std::any_of(std::begin(data.reserved), std::end(data.reserved), [](unsigned char c) { return c != 0; })) {
        return false;
    }
    if (data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT && data.from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT)
        return true;
    if (from != CU_GRAPH_NODE_TYPE_KERNEL) return false;
    // An H200 also accepts the launch-order port with a default dependency, to any kind of node.
    const bool launch_order = data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
    if (data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT) return launch_order;
    return data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC && to == CU_GRAPH_NODE_TYPE_KERNEL &&
           (launch_order || data.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
}

Graph::Graph(Node* owner_node, GraphOwner owner)
    : uid_(last_uid.fetch_add(1, std::memory_order_relaxed) + 1),
      owner_(owner),
      owner_node_(owner_node),
      live_executables_(std::make_shared<std::atomic<int>>(0)) {}

Graph::~Graph() {
    for (Node* node = first_; node != nullptr;) {
        Node* const next = node->next;
        arena<Node>.recycle(node);
        node = next;
    }
}

GraphPtr Graph::create(Node* owner_node, GraphOwner owner) {
    GraphPtr graph(arena<Graph>.create(owner_node, owner));
    if (graph == nullptr) throw std::bad_alloc();
    return graph;
}

void GraphDeleter::operator()(Graph* graph) const {
    arena<Graph>.recycle(graph);
}

const Graph& Graph::root() const {
    const Graph* graph = this;
    while (graph->owner_node_ != nullptr) graph = graph->owner_node_->graph;
    return *graph;
}

bool Graph::is_or_is_inside(const Graph& other) const {
    for (const Graph* graph = this;; graph = graph->owner_node_->graph) {
        if (graph == &other) return true;
        if (graph->owner_node_ == nullptr) return false;
    }
}

bool Graph::inside_conditional_body() const {
    for (const Graph* graph = this;; graph = graph->owner_node_->graph) {
        if (graph->owner_ == GraphOwner::kConditional) return true;
        if (graph->owner_node_ == nullptr) return false;
    }
}

CUresult Graph::create_condition(CUcontext context, uint32_t default_value, bool assigns_default,
                                 CUgraphConditionalHandle* out) {
    ConditionPtr condition = Condition::create(context, default_value, assigns_default, uid_);
    REQUIRE(condition != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    conditions_.push_back(condition);
    *out = condition->handle();
    return CUDA_SUCCESS;
}

ConditionPtr Graph::find_condition(CUgraphConditionalHandle handle) const {
    ConditionPtr condition = Condition::find(handle);
    return condition != nullptr && condition->graph_uid() == root().uid() ? condition : nullptr;
}

void Graph::add_counts(int64_t memory_nodes, int64_t conditional_nodes) {
    for (Graph* graph = this;; graph = graph->owner_node_->graph) {
        graph->memory_nodes_ += memory_nodes;
        graph->conditional_nodes_ += conditional_nodes;
        if (graph->owner_node_ == nullptr) return;
    }
}

void Graph::count_node(const Node& node, int64_t sign) {
    const CUgraphNodeType type = node.kind->type;
    if (is_memory_kind(type)) add_counts(sign, 0);
    if (type == CU_GRAPH_NODE_TYPE_CONDITIONAL) add_counts(0, sign);
    // Nodes of embedded graphs were counted when they were added. They are removed with the node.
    if (sign > 0) return;
    for (const Graph* inner : node.kind->embedded(node)) add_counts(-inner->memory_nodes_, -inner->conditional_nodes_);
}

void Graph::adopt_into(Node& owner_node) {
    owner_ = GraphOwner::kMovedToNode;
    owner_node_ = &owner_node;
    owner_node.graph->add_counts(memory_nodes_, conditional_nodes_);
}

// ---- nodes ----------------------------------------------------------------------------------------------------------

CUresult Graph::check_dependencies(const CUgraphNode* dependencies, const CUgraphEdgeData* data, size_t count,
                                   CUgraphNodeType type) {
    REQUIRE(count == 0 || dependencies != nullptr, CUDA_ERROR_INVALID_VALUE);
    const uint64_t mark = ++last_mark_;
    for (size_t i = 0; i < count; ++i) {
        Node* const from = cast<Node>(dependencies[i]);
        REQUIRE(from != nullptr && from->graph == this, CUDA_ERROR_INVALID_VALUE);
        // "dependencies may not have any duplicate entries" (cuda.h, cuGraphAddNode).
        REQUIRE(from->mark != mark, CUDA_ERROR_INVALID_VALUE);
        from->mark = mark;
        REQUIRE(data == nullptr || is_valid_edge(data[i], from->kind->type, type), CUDA_ERROR_INVALID_VALUE);
    }
    return CUDA_SUCCESS;
}

Node* Graph::append_node(const NodeKind& kind) {
    Node* const node = arena<Node>.create(*this, kind, next_local_id_);
    if (node == nullptr) throw std::bad_alloc();
    ++next_local_id_;
    node->previous = last_;
    (last_ != nullptr ? last_->next : first_) = node;
    last_ = node;
    ++node_count_;
    if (contains_graphs(kind.type)) ++embedding_nodes_;
    return node;
}

void Graph::remove_node(Node& node) {
    (node.previous != nullptr ? node.previous->next : first_) = node.next;
    (node.next != nullptr ? node.next->previous : last_) = node.previous;
    --node_count_;
    if (contains_graphs(node.kind->type)) --embedding_nodes_;
    if (node.original_id != Node::kNoOriginal) copies_of_[node.original_id] = nullptr;
    arena<Node>.recycle(&node);
}

template <class Create>
CUresult Graph::add(Node** out, const NodeKind& kind, const CUgraphNode* dependencies, const CUgraphEdgeData* data,
                    size_t count, Create&& create) {
    TRY(check_allowed_here(kind));

    // Removes the node again if its parameters are rejected or memory is exhausted.
    struct NewNode {
        Graph& graph;
        Node* node;
        ~NewNode() {
            if (node == nullptr) return;
            graph.disconnect_all(*node);
            graph.remove_node(*node);
        }
    } fresh{*this, append_node(kind)};

    TRY(create(*fresh.node));
    for (size_t i = 0; i < count; ++i) {
        connect(*cast<Node>(dependencies[i]), *fresh.node, data == nullptr ? kDefaultEdge : data[i]);
    }
    count_node(*fresh.node, 1);
    *out = std::exchange(fresh.node, nullptr);
    return CUDA_SUCCESS;
}

CUresult Graph::add_node(Node** out, const CUgraphNode* dependencies, const CUgraphEdgeData* data, size_t count,
                         CUgraphNodeParams& params) {
    const NodeKind* const kind = find_kind(params);
    REQUIRE(kind != nullptr, CUDA_ERROR_INVALID_VALUE);
    TRY(check_dependencies(dependencies, data, count, kind->type));
    return add(out, *kind, dependencies, data, count, [&](Node& node) -> CUresult {
        TRY(kind->create(node, params));
        return check_unfreed(node.params);
    });
}

CUresult Graph::add_captured_node(Node** out, const DependencySet& after, CUgraphNodeParams& params) {
    const NodeKind& kind = *find_kind(params);
    return add(out, kind, after.nodes.data(), after.edges.data(), after.nodes.size(),
               [&](Node& node) { return kind.create(node, params); });
}

CUresult Graph::add_captured_kernel(Node** out, const DependencySet& after, NodeParams parsed) {
    return add(out, *find_kind(CU_GRAPH_NODE_TYPE_KERNEL), after.nodes.data(), after.edges.data(), after.nodes.size(),
               [&](Node& node) {
                   node.params = std::move(parsed);
                   return CUDA_SUCCESS;
               });
}

CUresult Graph::check_allowed_here(const NodeKind& kind) const {
    for (const Graph* graph = this; graph->owner_node_ != nullptr; graph = graph->owner_node_->graph) {
        if (graph->owner_ == GraphOwner::kConditional) continue;
        // "Allocation and free nodes cannot be added to the returned graph" (cuGraphChildGraphNodeGetGraph); "The graph
        // cannot be used in a child node" if it has conditional nodes (CU_GRAPH_NODE_TYPE_CONDITIONAL).
        if (is_memory_kind(kind.type) || kind.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) return kKindRefused;
    }
    return CUDA_SUCCESS;
}

CUresult Graph::destroy_node(Node& node) {
    // "Nodes which belong to a graph which contains allocation or free nodes cannot be destroyed" (cuda.h).
    REQUIRE(!has_memory_nodes(), kMemoryGraphRefused);
    // "All operations other than destroy and node removal are permitted on the graph while the capture sequence is in
    // progress" (cuda.h, cuStreamGetCaptureInfo).
    REQUIRE(!in_capture, CUDA_ERROR_ILLEGAL_STATE);
    count_node(node, -1);
    disconnect_all(node);
    remove_node(node);
    return CUDA_SUCCESS;
}

// ---- edges ----------------------------------------------------------------------------------------------------------

void Graph::connect(Node& from, Node& to, const CUgraphEdgeData& data) {
    from.dependents.reserve_one();
    to.dependencies.reserve_one();
    from.dependents.push_back({&to, data});
    to.dependencies.push_back({&from, data});
    ++edge_count_;
}

void Graph::disconnect_all(Node& node) {
    while (!node.dependencies.empty()) disconnect(*node.dependencies[node.dependencies.size() - 1].node, node);
    while (!node.dependents.empty()) disconnect(node, *node.dependents[node.dependents.size() - 1].node);
}

void Graph::disconnect(Node& from, Node& to) {
    const auto remove = [](Edges& edges, const Node* node) {
        // The search starts at the back, so removing the latest edge takes constant time.
        for (Edge* edge = edges.end(); edge-- != edges.begin();) {
            if (edge->node == node) return edges.erase(edge);
        }
    };
    remove(from.dependents, &to);
    remove(to.dependencies, &from);
    --edge_count_;
}

CUresult Graph::check_ends(CUgraphNode from, CUgraphNode to) const {
    const Node* const a = cast<Node>(from);
    const Node* const b = cast<Node>(to);
    // "Each node in from and to must belong to hGraph" (cuda.h, cuGraphAddDependencies).
    REQUIRE(a != nullptr && b != nullptr && a->graph == this && b->graph == this, CUDA_ERROR_INVALID_VALUE);
    return a == b ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult Graph::add_dependencies(const CUgraphNode* from, const CUgraphNode* to, const CUgraphEdgeData* data,
                                 size_t count) {
    // "If numDependencies is 0, elements in from and to will be ignored" (cuda.h).
    if (count == 0) return CUDA_SUCCESS;
    REQUIRE(from != nullptr && to != nullptr, CUDA_ERROR_INVALID_VALUE);
    const auto add = [&](size_t i) -> CUresult {
        TRY(check_ends(from[i], to[i]));
        Node& a = *cast<Node>(from[i]);
        Node& b = *cast<Node>(to[i]);
        REQUIRE(data == nullptr || is_valid_edge(data[i], a.kind->type, b.kind->type), CUDA_ERROR_INVALID_VALUE);
        // "Specifying an existing dependency will return an error" (cuda.h).
        REQUIRE(!has_edge(a, b), CUDA_ERROR_INVALID_VALUE);
        connect(a, b, data == nullptr ? kDefaultEdge : data[i]);
        return CUDA_SUCCESS;
    };
    // Edges before a rejected one are kept, as on an H200.
    for (size_t i = 0; i < count; ++i) TRY(add(i));
    return CUDA_SUCCESS;
}

CUresult Graph::remove_dependencies(const CUgraphNode* from, const CUgraphNode* to, size_t count) {
    if (count == 0) return CUDA_SUCCESS;
    REQUIRE(from != nullptr && to != nullptr, CUDA_ERROR_INVALID_VALUE);
    // "Dependencies cannot be removed from graphs which contain allocation or free nodes" (cuda.h).
    REQUIRE(!has_memory_nodes(), kMemoryGraphRefused);

    std::vector<std::pair<CUgraphNode, CUgraphNode>> edges;
    edges.reserve(count);
    for (size_t i = 0; i < count; ++i) {
        TRY(check_ends(from[i], to[i]));
        // "Specifying an edge that does not exist in the graph, with data matching edgeData, results in an error"
        // (cuda.h). An H200 does not check the data.
        REQUIRE(has_edge(*cast<Node>(from[i]), *cast<Node>(to[i])), CUDA_ERROR_INVALID_VALUE);
        edges.emplace_back(from[i], to[i]);
    }
    std::sort(edges.begin(), edges.end());
    REQUIRE(std::adjacent_find(edges.begin(), edges.end()) == edges.end(), CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; ++i) disconnect(*cast<Node>(from[i]), *cast<Node>(to[i]));
    return CUDA_SUCCESS;
}

// ---- clones ---------------------------------------------------------------------------------------------------------

CUresult Graph::clone(GraphPtr* out, Node* owner_node, GraphOwner owner) const {
    // "Cloning is not supported for graphs which contain memory allocation nodes, memory free nodes, or conditional
    // nodes" (cuda.h, cuGraphClone).
    REQUIRE(!has_memory_nodes() && !has_conditional_nodes() && !inside_conditional_body(), kCloneRefused);

    GraphPtr copy = create(owner_node, owner);
    copy->cloned_from_ = uid_;
    copy->copies_of_.assign(next_local_id_, nullptr);
    for (const Node* node = first_; node != nullptr; node = node->next) {
        Node* const twin = copy->append_node(*node->kind);
        twin->original_id = node->local_id;
        copy->copies_of_[node->local_id] = twin;
        TRY(node->kind->copy(*node, *twin));
    }
    for (const Node* node = first_; node != nullptr; node = node->next) {
        for (const Edge& edge : node->dependencies) {
            copy->connect(*copy->copies_of_[edge.node->local_id], *copy->copies_of_[node->local_id], edge.data);
        }
    }
    copy->user_objects_ = user_objects_;
    *out = std::move(copy);
    return CUDA_SUCCESS;
}

Node* Graph::find_copy_of(const Node& original) const {
    if (original.graph->uid_ != cloned_from_ || original.local_id >= copies_of_.size()) return nullptr;
    return copies_of_[original.local_id];
}

}  // namespace cgh
