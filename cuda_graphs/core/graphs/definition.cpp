// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "definition.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/driver/table.hpp"
#include "core/handles/deferred.hpp"
#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"
#include "core/handles/leak_report.hpp"

namespace cg {

namespace {

std::uint64_t next_version() noexcept {
    static std::uint64_t last = 0;
    return ++last;
}

}  // namespace

struct Hierarchy {
    CUgraph root = nullptr;
    bool poisoned = false;
    std::list<GraphBox> graphs;  // a list keeps their addresses
    SourceTable sources;
    ObjectReferences references;
    ParameterTable parameters;
    std::unordered_map<CUdeviceptr, NodeRecord*> allocations;  // the last alloc node of each address
    std::unordered_set<CUdeviceptr> freed_places;              // the starts of the places that free nodes name
    std::weak_ptr<ShapeSnapshot> shape;
    std::uint64_t memset_version = next_version();
    const std::uint64_t number = next_version();
    bool is_shared = false;          // see OwnerPages::share
    bool is_handed_out = false;      // see note_handed_out
    bool has_place_nodes = false;    // see has_place_nodes
    std::vector<CUuserObject> kept;  // references that could not be given to the graphs
    std::recursive_mutex mutex;

    bool finish() noexcept;
    GraphBox& add(CUgraph raw, NodeRecord* holder);
};

bool Hierarchy::finish() noexcept {
    if (root != nullptr) {
        const GilRelease released;
        if (!has_ended(driver().cuGraphDestroy(root), "cuGraphDestroy")) return false;
        for (GraphBox& graph : graphs) graph.owners.drop_all();
        for (CUuserObject object : kept) release_object(object);
    }
    drain_deferred();
    return true;
}

GraphBox& Hierarchy::add(CUgraph raw, NodeRecord* holder) {
    GraphBox& graph = graphs.emplace_back();
    graph.raw = raw;
    graph.hierarchy = this;
    graph.sources = &sources;
    graph.references = &references;
    graph.holder = holder;
    if (holder != nullptr) graph.depth = holder->graph->depth + 1;
    graph.entry.graph = &graph;
    graph.entry.kind = NodeKind::kEntry;
    if (is_shared) graph.owners.share(raw);  // it has no pages yet
    return graph;
}

NodeHandle create_graph() {
    const auto hierarchy = make_box<Hierarchy>();
    GraphBox& graph = hierarchy->add(nullptr, nullptr);
    const GilRelease released;
    CU_TRY(driver().cuGraphCreate(&hierarchy->root, 0));
    graph.raw = hierarchy->root;
    return node_handle(hierarchy, graph.entry);
}

NodeHandle create_graph_to_capture() {
    const auto hierarchy = make_box<Hierarchy>();
    return node_handle(hierarchy, hierarchy->add(nullptr, nullptr).entry);
}

void own_root(GraphBox& graph) noexcept {
    graph.hierarchy->root = graph.raw;
}

void poison(GraphBox& graph) noexcept {
    graph.hierarchy->poisoned = true;
    graph.hierarchy->root = nullptr;
}

bool is_poisoned(const GraphBox& graph) noexcept {
    return graph.hierarchy->poisoned;
}

GraphBox& add_inner_graph(NodeRecord& holder, CUgraph raw) {
    GraphBox& graph = holder.graph->hierarchy->add(raw, &holder);
    holder.make_metadata().inner.push_back(&graph);
    return graph;
}

GraphBox* child_box(NodeRecord& holder) {
    if (!holder.metadata || holder.metadata->inner.empty()) {
        CUgraph raw = nullptr;
        {
            const GilRelease released;
            CU_TRY(driver().cuGraphChildGraphNodeGetGraph(holder.raw, &raw));
        }
        if (!holder.metadata || holder.metadata->inner.empty())
            add_inner_graph(holder, raw);  // else another thread was faster
    }
    GraphBox* const inner = holder.metadata->inner.front();
    if (const auto labels = holder.metadata->inner_labels) {
        CU_TRY(give_labels(*inner, labels));  // on failure the next call tries again
        holder.metadata->inner_labels.reset();
    }
    return inner;
}

std::uint32_t levels_inside(const NodeRecord& node) noexcept {
    std::uint32_t levels = 0;
    if (node.raw == nullptr || !node.metadata) return levels;
    for (GraphBox* inner : node.metadata->inner) levels = std::max(levels, 1 + levels_inside(*inner));
    if (const auto& labels = node.metadata->inner_labels) levels = std::max(levels, 1 + levels_inside(*labels));
    return levels;
}

std::uint32_t levels_inside(GraphBox& graph) noexcept {
    std::uint32_t levels = 0;
    graph.nodes.for_each([&](const NodeRecord& node) { levels = std::max(levels, levels_inside(node)); });
    return levels;
}

ParameterTable& parameters_of(GraphBox& graph) noexcept {
    return graph.hierarchy->parameters;
}

void note_allocation(NodeRecord& alloc, CUdeviceptr address) {
    alloc.graph->hierarchy->allocations[address] = &alloc;
}

void note_free(NodeRecord& free, CUdeviceptr address) {
    Hierarchy& all = *free.graph->hierarchy;
    const auto found = all.allocations.find(address);
    if (found != all.allocations.end()) found->second->make_metadata().freed_by = &free;
    if (free.metadata && free.metadata->place) all.freed_places.insert(address);
}

bool frees_place(const GraphBox& graph, const GraphMemory& place) noexcept {
    return graph.hierarchy->freed_places.count(place.start()) != 0;
}

std::weak_ptr<ShapeSnapshot>& shape_of(GraphBox& graph) noexcept {
    return graph.hierarchy->shape;
}

std::uint64_t memset_version(const GraphBox& graph) noexcept {
    return graph.hierarchy->memset_version;
}

void advance_memset_version(GraphBox& graph) noexcept {
    graph.hierarchy->memset_version = next_version();
}

void about_to_change(GraphBox& graph) noexcept {
    graph.changed = true;
    advance_memset_version(graph);
    if (!graph.hierarchy->shape.expired()) fill_snapshot(graph);
}

bool prepare_node(GraphBox& graph, NodeSpec& spec, OwnerSlot& owners) noexcept {
    if (spec.lent != nullptr || spec.owners) {
        owners = spec.lent != nullptr ? graph.owners.prepare(graph.raw, *spec.lent)
                                      : graph.owners.prepare(graph.raw, std::move(spec.owners));
        if (owners.page == nullptr) return false;
    }
    about_to_change(graph);
    return true;
}

NodeRecord* record_node(GraphBox& graph, NodeSpec& spec, OwnerSlot owners, CUresult status, CUgraphNode raw) {
    if (status != CUDA_SUCCESS) return graph.owners.rollback(owners), nullptr;
    NodeRecord& node = add_node(graph, raw, spec.kind, owners);
    if (spec.place) {
        node.make_metadata().place = spec.place;
        graph.hierarchy->has_place_nodes = true;
    }
    if (spec.declared) node.make_metadata().labels.accesses = spec.declared;
    return &node;
}

void NodeReference::leave() noexcept {
    GraphBox& graph = *node_->graph;
    // Otherwise this was the object of a graph, or a callback of a weak reference has made another object of the node.
    if (object_ != nullptr && node_->object == object_) {
        node_->object = nullptr;
        if (!node_->is_alive() && graph.raw != nullptr) graph.nodes.recycle(*node_);
    }
    if (--graph.references->count == 0) const NodeHandle last = std::move(graph.references->any);
}

namespace {

template <class Visit>
void for_each_inner(GraphBox& graph, Visit visit) {
    graph.nodes.for_each([&](NodeRecord& node) {
        if (!node.metadata) return;
        for (GraphBox* inner : node.metadata->inner) visit(*inner);
    });
}

// Returns true when `inner` is `graph` or a body in it.
bool is_body_in(const GraphBox* inner, const GraphBox& graph) noexcept {
    while (inner != &graph) {
        if (inner->holder == nullptr || inner->holder->kind == NodeKind::kChild) return false;
        inner = inner->holder->graph;
    }
    return true;
}

}  // namespace

void seal_owners(GraphBox& graph) noexcept {
    // Seals the whole hierarchy. That is more than the copy will share, but costs at most a page that is less full.
    for (GraphBox& each : graph.hierarchy->graphs) each.owners.seal();
}

GraphLock::GraphLock(GraphBox& graph, GraphBox* other) {
    if (is_forked_child()) return;  // a forked child might wait for ever, and its driver refuses every call
    first_ = std::unique_lock(graph.hierarchy->mutex, std::defer_lock);
    if (other == nullptr || other->hierarchy == graph.hierarchy) {
        if (first_.try_lock()) return;
        const GilRelease released;
        first_.lock();
        return;
    }
    second_ = std::unique_lock(other->hierarchy->mutex, std::defer_lock);
    constexpr int kBothLocked = -1;
    if (std::try_lock(first_, second_) == kBothLocked) return;
    const GilRelease released;
    std::lock(first_, second_);
}

CUresult share_owners(GraphBox& graph) noexcept {
    Hierarchy& all = *graph.hierarchy;
    if (all.is_shared || is_forked_child()) return CUDA_SUCCESS;  // a forked child makes no copies
    for (GraphBox& each : all.graphs) {
        const CUresult status = each.owners.share(each.raw);
        if (status != CUDA_SUCCESS) return status;
    }
    all.is_shared = true;
    return CUDA_SUCCESS;
}

void note_handed_out(GraphBox& graph) noexcept {
    graph.hierarchy->is_handed_out = true;
}

bool is_handed_out(const GraphBox& graph) noexcept {
    return graph.hierarchy->is_handed_out;
}

bool has_place_nodes(const GraphBox& graph) noexcept {
    return graph.holder == nullptr && graph.hierarchy->has_place_nodes;
}

std::vector<HeldObject> list_owners(const GraphBox& graph) {
    std::vector<HeldObject> found;
    for (const GraphBox& each : graph.hierarchy->graphs) {
        // The null check comes first: a destroyed graph has no holder.
        if (each.raw == nullptr || !is_body_in(&each, graph)) continue;
        each.owners.for_each(
            [&](const OwnerPage& page) { found.push_back({page.is_loose() ? nullptr : each.raw, page.object()}); });
    }
    return found;
}

void keep_owners(GraphBox& graph, CUuserObject object) noexcept {
    try {
        graph.hierarchy->kept.push_back(object);
    } catch (const std::bad_alloc&) {
        return;  // leaked: the nodes need the owners
    }
}

GraphBox* find_unfinished(GraphBox& graph) noexcept {
    for (GraphBox& each : graph.hierarchy->graphs)
        if (each.raw != nullptr && (each.capture != nullptr || each.is_abandoned) && is_body_in(&each, graph))
            return &each;
    return nullptr;
}

NodeRecord* find_user(const GraphBox& graph, CUgraphConditionalHandle condition) noexcept {
    NodeRecord* user = nullptr;
    for (GraphBox& each : graph.hierarchy->graphs)
        each.nodes.for_each([&](NodeRecord& node) {
            if (node.raw != nullptr && node.metadata && node.metadata->condition == condition) user = &node;
        });
    return user;
}

std::vector<NodeRecord*> list_loops(const GraphBox& graph) {
    std::vector<NodeRecord*> found;
    for (GraphBox& each : graph.hierarchy->graphs)
        each.nodes.for_each([&](NodeRecord& node) {
            if (node.raw != nullptr && node.kind == NodeKind::kWhile) found.push_back(&node);
        });
    return found;
}

std::uint64_t hierarchy_number(const GraphBox& graph) noexcept {
    return graph.hierarchy->number;
}

std::vector<GraphBox*> list_living(const GraphBox& graph) {
    std::vector<GraphBox*> found;
    for (GraphBox& each : graph.hierarchy->graphs)
        if (each.raw != nullptr) found.push_back(&each);
    return found;
}

std::vector<GraphBox*> list_edited(const GraphBox& graph) {
    std::vector<GraphBox*> found;
    for (GraphBox& each : graph.hierarchy->graphs)
        if (each.raw != nullptr && each.edited && each.capture == nullptr) found.push_back(&each);
    return found;
}

std::vector<CaptureBox*> list_inner_captures(const GraphBox& graph) {
    std::vector<CaptureBox*> found;
    for (const GraphBox& each : graph.hierarchy->graphs)
        if (&each != &graph && each.raw != nullptr && each.capture != nullptr && is_body_in(&each, graph))
            found.push_back(each.capture);
    return found;
}

void mark_graph_destroyed(GraphBox& graph) noexcept {
    for_each_inner(graph, [](GraphBox& inner) { mark_graph_destroyed(inner); });
    graph.nodes.mark_all_destroyed();
    graph.owners.drop_all();
    graph.raw = nullptr;
}

void mark_inner_destroyed(NodeRecord& node) noexcept {
    if (!node.metadata) return;
    for (GraphBox* inner : node.metadata->inner) mark_graph_destroyed(*inner);
    node.metadata->inner.clear();
}

}  // namespace cg
