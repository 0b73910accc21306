// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/graphs/graph_exec.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "hostdriver/entry.hpp"
#include "hostdriver/execution/clock.hpp"
#include "hostdriver/execution/graph_runner.hpp"
#include "hostdriver/execution/timeline.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/graphs/graph.hpp"
#include "hostdriver/objects/graphs/graph_update.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"
#include "hostdriver/objects/memory/graph_memory.hpp"
#include "hostdriver/objects/streams/event.hpp"

namespace cgh {
namespace {

// A launch in flight. It holds a reference to the program.
class LaunchOperation final : public Operation {
  public:
    LaunchOperation(std::shared_ptr<Program> program, Stream& stream, Target after)
        : program_(std::move(program)),
          state_{&stream, {}, {}, std::vector<std::size_t>(program_->main.structure->batches), 0},
          after_(std::move(after)) {
        program_->in_flight.count.fetch_add(1, std::memory_order_relaxed);
    }

    LaunchState& state() { return state_; }

    void run(Stream& stream) override {
        if (progress_ == nullptr)
            for (const ConditionPtr& condition : program_->conditions) condition->assign_default();
        Program::LastRun& last = program_->last_run;
        const bool is_measured = last.is_measured_now();
        const std::uint64_t from = is_measured ? ticks() : 0;
        const CUresult fault = run_nodes();
        if (is_measured) last.ticks.store(std::max<std::uint64_t>(ticks() - from, 1), std::memory_order_relaxed);
        complete_ = fault != kSuspended;
        if (complete_ && fault != CUDA_SUCCESS) stream.context().fail(fault);
    }
    bool complete() const override { return complete_; }
    bool is_brief() const override { return program_->is_brief(); }

    // Waits for "any previous launches of hGraphExec" (cuda.h, cuGraphLaunch) if the last one was on another stream.
    bool ready() const override {
        if (progress_ != nullptr) return state_.stream->context().status() != CUDA_SUCCESS || progress_->can_resume();
        return !after_.stream || after_.stream->reached(after_.position);
    }
    Target blocked_on() const override { return progress_ != nullptr ? Target{} : after_; }
    std::vector<Target> awaits() const override {
        std::vector<Target> all{after_};
        for (const Ref<Milestone>& wait : state_.waits)
            if (wait) all.push_back(wait->target());
        return all;
    }

    void finish() override {
        // Records that the nodes did not reach: the launch failed, or it was dropped because the context had failed.
        for (const Ref<Milestone>& record : state_.records) {
            if (!record->done()) record->reach();
        }
        for (const auto& memory : program_->memory) memory->end_use();
        for (const auto& memory : program_->taken_over) memory->free(memory->address());
        program_->in_flight.count.fetch_sub(1, std::memory_order_release);
        delete this;  // also destroys the program and its user objects if the executable is gone
    }

  private:
    CUresult run_nodes() {
        const Section& section = program_->main;
        if (progress_ == nullptr) state_.recorded = next_recorded_launch();
        const RunScope recorded(state_.recorded);
        if (!section.structure->may_suspend) return run_section(section, state_);
        if (progress_ == nullptr) progress_ = begin_section_in_progress(section, state_);
        return progress_->continue_run();
    }

    std::shared_ptr<Program> program_;
    LaunchState state_;
    const Target after_;
    bool complete_ = true;
    std::unique_ptr<SectionInProgress> progress_;
};

// "Only one instantiation of the graph may exist at any point in time" if the graph contains memory or conditional
// nodes (cuda.h, CU_GRAPH_NODE_TYPE_CONDITIONAL, cuGraphAddMemAllocNode).
CUresult count_executable(const Graph& graph) {
    std::atomic<int>& live = *graph.live_executables();
    if (!graph.has_memory_nodes() && !graph.has_conditional_nodes()) {
        live.fetch_add(1);
        return CUDA_SUCCESS;
    }
    int none = 0;
    return live.compare_exchange_strong(none, 1) ? CUDA_SUCCESS : kSecondExecRefused;
}

constexpr cuuint64_t kInstantiateFlags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

// Checks the addresses of memory operations at a launch. An H200 rejects the launch if one has no memory.
CUresult check_batches(const Section& section) {
    if (section.structure->batches == 0) return CUDA_SUCCESS;
    for (const ExecNode& node : section.nodes) {
        const auto* const run = std::get_if<BatchRun>(&node.params);
        REQUIRE(run == nullptr || run->batch.is_possible(), CUDA_ERROR_INVALID_VALUE);
    }
    return CUDA_SUCCESS;
}

}  // namespace

CUresult GraphExec::instantiate(Graph& graph, cuuint64_t flags, GraphExec** out, Refusal* why) {
    REQUIRE((flags & ~kInstantiateFlags) == 0, CUDA_ERROR_INVALID_VALUE);
    // "This flag cannot be used in conjunction with CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH" (cuda.h).
    REQUIRE((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) == 0 ||
                (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) == 0,
            CUDA_ERROR_INVALID_VALUE);
    // cuda.h forbids this for a moved child (CUgraphChildGraphNodeOwnership). An H200 rejects every graph inside
    // another one.
    REQUIRE(graph.owner() == GraphOwner::kUser, kInnerExecRefused);
    Context* context = nullptr;
    TRY(current_context(&context));

    std::shared_ptr<Program> program;
    TRY(Program::compile(graph, flags, &program, why));
    TRY(count_executable(graph));
    GraphExec* const exec = arena<GraphExec>.create(program, flags, graph.live_executables());
    if (exec == nullptr) graph.live_executables()->fetch_sub(1);
    REQUIRE(exec != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    *out = exec;
    return CUDA_SUCCESS;
}

GraphExec::~GraphExec() {
    live_executables_->fetch_sub(1);
}

void GraphExec::destroy() {
    arena<GraphExec>.recycle(this);
}

// "If any allocations created by hGraphExec remain unfreed (from a previous launch) and hGraphExec was not instantiated
// with CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, the launch will fail with CUDA_ERROR_INVALID_VALUE" (cuda.h).
CUresult GraphExec::claim_memory(const Program& program) {
    if ((flags_ & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) == 0) {
        for (const auto& memory : program.left_behind) REQUIRE(!memory->is_allocated(), CUDA_ERROR_INVALID_VALUE);
    }
    for (const auto& memory : program.taken_over) REQUIRE(memory->is_allocated(), CUDA_ERROR_INVALID_VALUE);
    for (const auto& memory : program.taken_over) TRY(memory->check_free(memory->address()));
    for (const auto& memory : program.left_behind) memory->allocate();
    for (const auto& memory : program.memory) memory->begin_use();
    return CUDA_SUCCESS;
}

CUresult GraphExec::launch(Stream& stream) {
    std::lock_guard<std::mutex> lock(mutex_);
    const Program& program = *program_;
    const Structure& structure = *program.main.structure;
    TRY(check_batches(program.main));
    TRY(claim_memory(program));
    const bool other_stream = last_launch_.stream.get() != &stream;
    auto* const operation = new LaunchOperation(program_, stream, other_stream ? last_launch_ : Target{});

    // A wait node waits for the latest record of its event before this launch. A record node for the same event in this
    // graph therefore has no effect on the wait node; only edges order the two.
    for (uint32_t node : structure.wait_nodes) {
        operation->state().waits.push_back(std::get<WaitRun>(program.main.nodes[node].params).event->latest_work());
    }
    std::vector<Ref<Milestone>> records;
    for (uint32_t node : structure.record_nodes) {
        records.push_back(Ref<Milestone>::adopt(new Milestone));
        std::get<RecordRun>(program.main.nodes[node].params).event->announce(*records.back());
    }
    operation->state().records = records;

    const uint64_t position = stream.push(operation);
    if (other_stream) last_launch_.stream = Ref<Stream>(&stream);
    last_launch_.position = position;
    for (size_t i = 0; i < records.size(); ++i) {
        records[i]->set_target(stream, position);
        std::get<RecordRun>(program.main.nodes[structure.record_nodes[i]].params).event->set_latest(records[i]);
    }
    return CUDA_SUCCESS;
}

// The host driver has nothing to transfer. The visible effect of an upload is the memory that it reserves.
CUresult GraphExec::upload() {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& memory : program_->memory) memory->reserve();
    return CUDA_SUCCESS;
}

// ---- changes --------------------------------------------------------------------------------------------------------

Program& GraphExec::writable(std::shared_ptr<Program>* retired) {
    if (program_->in_flight.count.load(std::memory_order_acquire) != 0) {
        auto copy = std::make_shared<Program>(*program_);
        *retired = std::exchange(program_, std::move(copy));
    }
    return *program_;
}

namespace {
bool runs_other_kernel(const ExecParams& before, const ExecParams& after) {
    const auto* const from = std::get_if<KernelParams>(&before);
    const auto* const to = std::get_if<KernelParams>(&after);
    return from != nullptr && to != nullptr && from->launch.kernel() != to->launch.kernel();
}
}  // namespace

CUresult GraphExec::set_params(const Node& node, CUgraphNodeParams& params) {
    REQUIRE(node.kind->type == params.type, CUDA_ERROR_INVALID_VALUE);
    if (params.type == CU_GRAPH_NODE_TYPE_GRAPH) return set_child_params(node, params);
    TRY(node.kind->exec_set_refused);

    std::shared_ptr<Program> retired;
    std::lock_guard<std::mutex> lock(mutex_);
    const ExecNode* const before = program_->find(node);
    REQUIRE(before != nullptr, CUDA_ERROR_INVALID_VALUE);
    NodeParams parsed;
    TRY(node.kind->parse(params, std::get_if<KernelParams>(&before->params), &parsed));
    ExecParams after = to_exec_params(std::move(parsed), before->params);
    REQUIRE(compare_params(before->params, after, flags_ | kOneNode) == CU_GRAPH_EXEC_UPDATE_SUCCESS &&
                !fills_memory_of_others(after, program_->memory),
            CUDA_ERROR_INVALID_VALUE);
    const bool is_other_kernel = runs_other_kernel(before->params, after);
    Program& program = writable(&retired);
    program.find(node)->params = std::move(after);
    if (is_other_kernel) program.find_open_ends();
    return CUDA_SUCCESS;
}

CUresult GraphExec::set_child_params(const Node& node, CUgraphNodeParams& params) {
    const Graph* const child = cast<Graph>(params.graph.graph);
    REQUIRE(child != nullptr, CUDA_ERROR_INVALID_VALUE);
    std::shared_ptr<Program> changed;  // the new program; after the swap, the earlier one
    std::lock_guard<std::mutex> lock(mutex_);
    REQUIRE(program_->find(node) != nullptr, CUDA_ERROR_INVALID_VALUE);
    changed = std::make_shared<Program>(*program_);
    Section* section = nullptr;
    const uint32_t shape = std::get<ChildRun>(changed->find(node, &section)->params).shape;
    CUgraphExecUpdateResultInfo info{};
    REQUIRE(GraphUpdate(flags_, program_->memory, &info).apply(*section, shape, *child),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    changed->find_open_ends();
    changed->add_user_objects(*child);
    changed->index_memory();
    std::swap(program_, changed);
    return CUDA_SUCCESS;
}

CUresult GraphExec::update(const Graph& graph, CUgraphExecUpdateResultInfo* info) {
    *info = {};
    // A moved child "cannot be used as an argument to cuGraphExecUpdate" (cuda.h, CUgraphChildGraphNodeOwnership); on
    // an H200 neither can any other graph inside another one. The result is then CU_GRAPH_EXEC_UPDATE_SUCCESS.
    info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    REQUIRE(graph.owner() == GraphOwner::kUser, CUDA_ERROR_INVALID_VALUE);
    std::shared_ptr<Program> changed;  // the new program; after the swap, the earlier one
    std::lock_guard<std::mutex> lock(mutex_);
    changed = std::make_shared<Program>(*program_);
    REQUIRE(GraphUpdate(flags_, program_->memory, info).apply(changed->main, 0, graph),
            CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    changed->find_open_ends();
    changed->adopt_owned(graph);
    changed->index_memory();
    std::swap(program_, changed);
    return CUDA_SUCCESS;
}

CUresult GraphExec::set_enabled(const Node& node, bool enabled) {
    REQUIRE(node.kind->can_be_disabled, CUDA_ERROR_INVALID_VALUE);
    std::shared_ptr<Program> retired;
    std::lock_guard<std::mutex> lock(mutex_);
    const ExecNode* const before = program_->find(node);
    REQUIRE(before != nullptr, CUDA_ERROR_INVALID_VALUE);
    if (before->enabled == enabled) return CUDA_SUCCESS;
    ExecNode& target = *writable(&retired).find(node);
    target.enabled = enabled;
    target.run = enabled ? run_function(node.kind->type) : run_nothing;
    return CUDA_SUCCESS;
}

CUresult GraphExec::get_enabled(const Node& node, bool* enabled) {
    REQUIRE(node.kind->can_be_disabled, CUDA_ERROR_INVALID_VALUE);
    std::lock_guard<std::mutex> lock(mutex_);
    const ExecNode* const target = program_->find(node);
    REQUIRE(target != nullptr, CUDA_ERROR_INVALID_VALUE);
    *enabled = target->enabled;
    return CUDA_SUCCESS;
}

}  // namespace cgh
