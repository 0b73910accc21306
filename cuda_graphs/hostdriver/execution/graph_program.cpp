// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "graph_program.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

#include "clock.hpp"
#include "graph_runner.hpp"
#include "hostdriver/entry.hpp"
#include "hostdriver/objects/graphs/graph.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"
#include "hostdriver/objects/memory/graph_memory.hpp"
#include "wait_limit.hpp"

namespace cgh {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Compiles one section in two steps. The first step numbers every node in the order of the definition, with children
// inside their parents, and notes the edges between numbers. The second step sorts the nodes into an order in which
// they can run.
class SectionCompiler {
  public:
    CUresult compile(const Graph& graph, Section* out, Refusal* why) {
        flatten(graph);
        TRY(sort(why));
        return emit(out, why);
    }

  private:
    struct PlannedNode {
        const Node* node;  // null for the end of a child graph
        uint32_t shape;    // for a child graph node: the index of its graph's shape
    };
    struct Span {
        uint32_t start, end;
    };

    uint32_t add(const Node* node) {
        planned_.push_back({node, 0});
        return static_cast<uint32_t>(planned_.size() - 1);
    }

    // Adds the nodes of `graph` and returns the index of its shape.
    uint32_t flatten(const Graph& graph) {
        const auto index = static_cast<uint32_t>(structure_->shapes.size());
        structure_->shapes.emplace_back();
        GraphShape shape;
        shape.graph_uid = graph.uid();
        shape.position_of_id.assign(graph.id_limit(), kNone);
        shape.entries.reserve(graph.node_count());
        shape.dependencies.reserve(graph.edge_count());
        if (index == 0) {
            planned_.reserve(graph.node_count());
            edges_.reserve(graph.edge_count());
        }

        std::vector<Span> spans;
        spans.reserve(graph.node_count());
        for (const Node* node = graph.first_node(); node != nullptr; node = node->next) {
            shape.position_of_id[node->local_id] = static_cast<uint32_t>(spans.size());
            spans.push_back(flatten_node(*node));
            shape.entries.push_back({spans.back().start, 0, 0});
        }
        uint32_t position = 0;
        for (const Node* node = graph.first_node(); node != nullptr; node = node->next, ++position) {
            shape.entries[position].first_dependency = static_cast<uint32_t>(shape.dependencies.size());
            shape.entries[position].dependency_count = node->dependencies.size();
            for (const Edge& edge : node->dependencies) {
                const uint32_t from = shape.position_of_id[edge.node->local_id];
                shape.dependencies.push_back({from, edge.data});
                edges_.emplace_back(spans[from].end, spans[position].start);
            }
        }
        structure_->shapes[index] = std::move(shape);
        last_spans_ = std::move(spans);
        return index;
    }

    Span flatten_node(const Node& node) {
        const uint32_t start = add(&node);
        const auto* const child = std::get_if<ChildParams>(&node.params);
        if (child == nullptr) return {start, start};

        const uint32_t inner = flatten(*child->graph);
        planned_[start].shape = inner;
        const std::vector<Span> spans = std::move(last_spans_);
        const uint32_t end = add(nullptr);
        edges_.emplace_back(start, end);
        uint32_t position = 0;
        for (const Node* inside = child->graph->first_node(); inside != nullptr; inside = inside->next, ++position) {
            if (inside->dependencies.empty()) edges_.emplace_back(start, spans[position].start);
            if (inside->dependents.empty()) edges_.emplace_back(spans[position].end, end);
        }
        return {start, end};
    }

    // Computes the successors of each planned node, by number: those of node i are the targets from first_[i] on.
    void group_edges() {
        first_.assign(planned_.size() + 1, 0);
        for (const auto& edge : edges_) ++first_[edge.first + 1];
        for (size_t i = 0; i < planned_.size(); ++i) first_[i + 1] += first_[i];
        targets_.resize(edges_.size());
        std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
        for (const auto& edge : edges_) targets_[next[edge.first]++] = edge.second;
    }

    CUresult sort(Refusal* why) {
        std::vector<uint32_t> waiting(planned_.size(), 0);
        group_edges();
        for (const auto& edge : edges_) ++waiting[edge.second];
        order_.reserve(planned_.size());
        for (uint32_t i = 0; i < planned_.size(); ++i) {
            if (waiting[i] == 0) order_.push_back(i);
        }
        for (size_t done = 0; done < order_.size(); ++done) {
            for (uint32_t i = first_[order_[done]]; i < first_[order_[done] + 1]; ++i) {
                if (--waiting[targets_[i]] == 0) order_.push_back(targets_[i]);
            }
        }
        if (order_.size() == planned_.size()) return CUDA_SUCCESS;
        // "CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE, if the graph structure is invalid. hErrNode_out will be set to one
        // of the offending nodes" (cuda.h).
        why->result = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        for (uint32_t i = 0; i < planned_.size() && why->node == nullptr; ++i) {
            if (waiting[i] != 0) why->node = to_handle(const_cast<Node*>(planned_[i].node));
        }
        return CUDA_ERROR_INVALID_VALUE;
    }

    CUresult emit(Section* out, Refusal* why) {
        Structure& structure = *structure_;
        std::vector<uint32_t> index_of(planned_.size());
        for (uint32_t i = 0; i < order_.size(); ++i) index_of[order_[i]] = i;

        structure.dependency_count.assign(planned_.size(), 0);
        structure.first_successor.reserve(planned_.size() + 1);
        structure.successors.reserve(targets_.size());
        for (uint32_t i = 0; i < order_.size(); ++i) {
            structure.first_successor.push_back(static_cast<uint32_t>(structure.successors.size()));
            bool leads_to_next = false;
            for (uint32_t k = first_[order_[i]]; k < first_[order_[i] + 1]; ++k) {
                const uint32_t target = index_of[targets_[k]];
                structure.successors.push_back(target);
                ++structure.dependency_count[target];
                leads_to_next |= target == i + 1;
            }
            // If each node leads to the next, there is only one order.
            if (i + 1 < order_.size() && !leads_to_next) structure.is_sequential = false;
        }
        structure.first_successor.push_back(static_cast<uint32_t>(structure.successors.size()));
        for (GraphShape& shape : structure.shapes) {
            for (GraphShape::Entry& entry : shape.entries) entry.node = index_of[entry.node];
        }
        out->nodes.reserve(order_.size());
        structure.sources.reserve(order_.size());
        for (uint32_t number : order_) {
            out->nodes.emplace_back();
            structure.sources.push_back(to_handle(const_cast<Node*>(planned_[number].node)));
            TRY(emit_node(planned_[number], &out->nodes.back(), why));
        }
        out->structure = std::move(structure_);
        return CUDA_SUCCESS;
    }

    CUresult emit_node(const PlannedNode& planned, ExecNode* out, Refusal* why) {
        const CUgraphNodeType type = planned.node == nullptr ? CU_GRAPH_NODE_TYPE_EMPTY : planned.node->kind->type;
        const auto index = static_cast<uint32_t>(order_position_++);
        out->kind = find_kind(type);
        out->run = run_function(type);
        if (planned.node == nullptr) return CUDA_SUCCESS;

        Structure& structure = *structure_;
        switch (type) {
            case CU_GRAPH_NODE_TYPE_GRAPH:
                out->params = ChildRun{planned.shape};
                return CUDA_SUCCESS;
            case CU_GRAPH_NODE_TYPE_CONDITIONAL:
                return emit_conditional(*planned.node, out, why);
            case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
                out->params = RecordRun{{}, static_cast<uint32_t>(structure.record_nodes.size())};
                structure.record_nodes.push_back(index);
                break;
            case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
                out->params = WaitRun{{}, static_cast<uint32_t>(structure.wait_nodes.size())};
                structure.wait_nodes.push_back(index);
                structure.may_wait = true;
                break;
            case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
                structure.alloc_nodes.push_back(index);
                break;
            case CU_GRAPH_NODE_TYPE_MEM_FREE:
                structure.free_nodes.push_back(index);
                break;
            case CU_GRAPH_NODE_TYPE_HOST:
                structure.may_wait = true;
                break;
            case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
                out->params = BatchRun{{}, nullptr, structure.batches++};
                structure.may_suspend |= std::get<BatchParams>(planned.node->params).batch.waits();
                break;
            default:
                break;
        }
        out->params = to_exec_params(planned.node->params, out->params);
        return CUDA_SUCCESS;
    }

    CUresult emit_conditional(const Node& node, ExecNode* out, Refusal* why) {
        const auto& conditional = std::get<ConditionalParams>(node.params);
        ConditionalRun run{conditional.condition, conditional.type, {}};
        run.bodies.resize(conditional.bodies.size());
        for (size_t i = 0; i < run.bodies.size(); ++i) {
            TRY(SectionCompiler().compile(*conditional.bodies[i], &run.bodies[i], why));
        }
        out->params = std::move(run);
        return CUDA_SUCCESS;
    }

    std::shared_ptr<Structure> structure_ = std::make_shared<Structure>();
    std::vector<PlannedNode> planned_;
    std::vector<std::pair<uint32_t, uint32_t>> edges_;
    std::vector<uint32_t> order_;
    std::vector<uint32_t> first_, targets_;
    std::vector<Span> last_spans_;  // of the graph that the last flatten() call added
    size_t order_position_ = 0;
};

template <class Visit>
CUresult for_each_graph(const Graph& graph, Visit&& visit) {
    TRY(visit(graph));
    if (!graph.embeds_graphs()) return CUDA_SUCCESS;
    for (const Node* node = graph.first_node(); node != nullptr; node = node->next) {
        for (const Graph* inner : node->kind->embedded(*node)) TRY(for_each_graph(*inner, visit));
    }
    return CUDA_SUCCESS;
}

CUcontext context_of(const Node& node) {
    if (const auto* const kernel = std::get_if<KernelParams>(&node.params)) return kernel->context;
    if (const auto* const memcpy = std::get_if<MemcpyParams>(&node.params)) return memcpy->context;
    if (const auto* const memset = std::get_if<MemsetParams>(&node.params)) return memset->described.ctx;
    if (const auto* const batch = std::get_if<BatchParams>(&node.params)) return batch->context;
    return nullptr;
}

// cuda.h, cuGraphInstantiate: "The graph's nodes must reside on a single context. The graph can only contain kernel
// nodes, memcpy nodes, memset nodes, and child graph nodes. The graph cannot be empty and must contain at least one
// kernel, memcpy, or memset node."
CUresult check_device_launch(const Graph& graph, Refusal* why) {
    CUcontext context = nullptr;
    TRY(for_each_graph(graph, [&](const Graph& inner) -> CUresult {
        for (Node* node = inner.first_node(); node != nullptr; node = node->next) {
            why->node = to_handle(node);
            why->result = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
            REQUIRE(node->kind->device_launch, CUDA_ERROR_INVALID_VALUE);
            const CUcontext its_context = context_of(*node);
            if (its_context == nullptr) continue;
            why->result = CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED;
            REQUIRE(context == nullptr || context == its_context, CUDA_ERROR_INVALID_VALUE);
            context = its_context;
        }
        return CUDA_SUCCESS;
    }));
    *why = {};
    return context != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// "Handles not associated with a conditional node may cause graph instantiation to fail" (cuda.h).
CUresult check_conditions(const Graph& graph, Refusal* why) {
    for (const ConditionPtr& condition : graph.root().conditions()) {
        if (condition->attached) continue;
        why->result = CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED;
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

// cuda.h about a graph inside a conditional node: "Allowed node types are kernel nodes, empty nodes, child graphs,
// memsets, memcopies, and conditionals. This applies recursively to child graphs and conditional bodies". Pageable
// memory belongs to no context.
CUresult check_bodies(const Graph& graph, bool inside_body, Refusal* why) {
    for (Node* node = graph.first_node(); node != nullptr; node = node->next) {
        if (inside_body) {
            why->node = to_handle(node);
            why->result = CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED;
            REQUIRE(node->kind->allowed_in_body, CUDA_ERROR_INVALID_VALUE);
            const auto* const memcpy = std::get_if<MemcpyParams>(&node->params);
            why->result = CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED;
            REQUIRE(memcpy == nullptr || (!memcpy->copy.from_pageable() && !memcpy->copy.to_pageable()),
                    CUDA_ERROR_INVALID_VALUE);
        }
        const bool conditional = node->kind->type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
        for (const Graph* inner : node->kind->embedded(*node))
            TRY(check_bodies(*inner, inside_body || conditional, why));
    }
    *why = {};
    return CUDA_SUCCESS;
}

}  // namespace

namespace {

struct ToExec {
    const ExecParams& before;

    template <class T>
    ExecParams operator()(T&& value) const {
        using Kind = std::decay_t<T>;
        if constexpr (std::is_same_v<Kind, EventParams>) {
            if (const auto* const record = std::get_if<RecordRun>(&before)) return RecordRun{value.event, record->slot};
            return WaitRun{value.event, std::get<WaitRun>(before).slot};
        } else if constexpr (std::is_same_v<Kind, BatchParams>) {
            return BatchRun{std::forward<T>(value).batch, value.context, std::get<BatchRun>(before).slot};
        } else if constexpr (std::is_same_v<Kind, AllocParams>) {
            return AllocRun{value.allocation.get()};
        } else if constexpr (std::is_same_v<Kind, FreeParams>) {
            return FreeRun{value.claim.allocation()};
        } else if constexpr (std::is_same_v<Kind, ChildParams> || std::is_same_v<Kind, ConditionalParams>) {
            return EmptyParams{};
        } else {
            return ExecParams(std::forward<T>(value));
        }
    }
};

}  // namespace

ExecParams to_exec_params(const NodeParams& params, const ExecParams& before) {
    return std::visit(ToExec{before}, params);
}

ExecParams to_exec_params(NodeParams&& params, const ExecParams& before) {
    return std::visit(ToExec{before}, std::move(params));
}

namespace {

bool is_open_ended_section(const Section& section);

bool is_open_ended_node(const ExecParams& params) {
    if (const auto* const kernel = std::get_if<KernelParams>(&params))
        return kernel->launch.kernel()->code().is_open_ended != 0;
    const auto* const conditional = std::get_if<ConditionalRun>(&params);
    return conditional != nullptr &&
           (conditional->type == CU_GRAPH_COND_TYPE_WHILE ||
            std::any_of(conditional->bodies.begin(), conditional->bodies.end(), is_open_ended_section));
}

bool is_open_ended_section(const Section& section) {
    return section.structure->may_wait || section.structure->may_suspend ||
           std::any_of(section.nodes.begin(), section.nodes.end(),
                       [](const ExecNode& node) { return is_open_ended_node(node.params); });
}

}  // namespace

CUresult Program::compile(const Graph& graph, cuuint64_t flags, std::shared_ptr<Program>* out, Refusal* why) {
    TRY(check_conditions(graph, why));
    if (graph.has_conditional_nodes()) TRY(check_bodies(graph, false, why));
    if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) TRY(check_device_launch(graph, why));
    auto program = std::make_shared<Program>();
    TRY(SectionCompiler().compile(graph, &program->main, why));
    program->graph_uid = graph.uid();
    program->adopt_owned(graph);
    program->index_memory();
    program->find_open_ends();
    *out = std::move(program);
    return CUDA_SUCCESS;
}

bool Program::is_brief() const {
    const uint64_t known = last_run.ticks.load(std::memory_order_relaxed);
    return !is_open_ended && known != 0 && static_cast<double>(known) < kBrief * ticks_per_microsecond();
}

void Program::find_open_ends() {
    is_open_ended = is_open_ended_section(main);
    last_run.ticks.store(0, std::memory_order_relaxed);
}

void Program::adopt_owned(const Graph& graph) {
    conditions = graph.root().conditions();
    user_objects = UserObjectRefs();
    add_user_objects(graph);
}

void Program::add_user_objects(const Graph& graph) {
    for_each_graph(graph, [&](const Graph& inner) {
        user_objects.add(inner.user_objects());
        return CUDA_SUCCESS;
    });
}

void Program::index_memory() {
    std::vector<std::shared_ptr<GraphAllocation>> freed;
    memory.clear();
    for (uint32_t i : main.structure->alloc_nodes) memory.push_back(std::get<AllocRun>(main.nodes[i].params).memory);
    for (uint32_t i : main.structure->free_nodes) freed.push_back(std::get<FreeRun>(main.nodes[i].params).memory);
    std::sort(memory.begin(), memory.end());
    std::sort(freed.begin(), freed.end());
    left_behind.clear();
    taken_over.clear();
    std::set_difference(memory.begin(), memory.end(), freed.begin(), freed.end(), std::back_inserter(left_behind));
    std::set_difference(freed.begin(), freed.end(), memory.begin(), memory.end(), std::back_inserter(taken_over));
}

ExecNode* Program::find(const Node& node, Section** section) {
    const Graph& graph = *node.graph;
    Section* inside = &main;
    const GraphShape* shape = nullptr;
    if (graph.owner_node() == nullptr || graph.uid() == graph_uid) {
        shape = &main.structure->shapes[0];
    } else {
        ExecNode* const owner = find(*graph.owner_node(), &inside);
        if (owner == nullptr) return nullptr;
        if (auto* const conditional = std::get_if<ConditionalRun>(&owner->params)) {
            inside = &conditional->bodies[graph.body_index];
            shape = &inside->structure->shapes[0];
        } else {
            shape = &inside->structure->shapes[std::get<ChildRun>(owner->params).shape];
        }
    }
    if (shape->graph_uid != graph.uid() || node.local_id >= shape->position_of_id.size()) return nullptr;
    const uint32_t position = shape->position_of_id[node.local_id];
    if (position == kNone) return nullptr;
    if (section != nullptr) *section = inside;
    return &inside->nodes[shape->entries[position].node];
}

}  // namespace cgh
