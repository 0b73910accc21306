// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "graph_runner.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

#include "clock.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/memory/graph_memory.hpp"
#include "hostdriver/objects/streams/stream.hpp"
#include "hostdriver/sanitizer/accesses.hpp"
#include "hostdriver/sanitizer/random_order.hpp"
#include "operations.hpp"
#include "scheduler.hpp"
#include "spin.hpp"
#include "thread_state.hpp"
#include "timeline.hpp"

namespace cgh {
namespace {

// ---- run functions of the kinds -------------------------------------------------------------------------------------

template <class T>
const T& params_of(const ExecNode& node) {
    return *std::get_if<T>(&node.params);  // no check: the run function was chosen by the kind
}

CUresult run_kernel(const ExecNode& node, LaunchState& launch) {
    return params_of<KernelParams>(node).launch.run(launch.stream, &launch);
}

CUresult run_memcpy(const ExecNode& node, LaunchState&) {
    return run_checked(params_of<MemcpyParams>(node).copy);
}

CUresult run_memset(const ExecNode& node, LaunchState&) {
    return run_checked(params_of<MemsetParams>(node).fill);
}

// The launch itself transfers the memory (hostdriver/objects/memory/graph_memory.hpp). This node only tells the checks
// when the memory may be used.
CUresult run_allocation(const ExecNode& node, LaunchState&) {
    const GraphAllocation& memory = *params_of<AllocRun>(node).memory;
    if (settings.any()) track_graph_memory(memory.address(), memory.bytes());
    return CUDA_SUCCESS;
}

CUresult run_free(const ExecNode& node, LaunchState&) {
    if (settings.any()) untrack_memory(params_of<FreeRun>(node).memory->address());
    return CUDA_SUCCESS;
}

CUresult run_host(const ExecNode& node, LaunchState&) {
    const auto& host = params_of<HostParams>(node);
    if (settings.any()) check_host_function(host.data);
    run_host_function([&host] { host.function(host.data); });
    return CUDA_SUCCESS;
}

CUresult run_record(const ExecNode& node, LaunchState& launch) {
    launch.records[params_of<RecordRun>(node).slot]->reach();
    return CUDA_SUCCESS;
}

CUresult run_wait(const ExecNode& node, LaunchState& launch) {
    const Ref<Milestone>& milestone = launch.waits[params_of<WaitRun>(node).slot];
    if (milestone) milestone->wait();
    return CUDA_SUCCESS;
}

CUresult run_batch(const ExecNode& node, LaunchState& launch) {
    const auto& batch = params_of<BatchRun>(node);
    return batch.batch.run(&launch.batches[batch.slot]);
}

CUresult run_body(const Section& body, LaunchState& launch);

CUresult run_recorded_body(const ConditionalRun& conditional, uint32_t branch, uint64_t iteration,
                           LaunchState& launch) {
    const BodyScope recorded(branch, iteration, launch);
    return run_body(conditional.bodies[branch], launch);
}

// cuda.h, CUDA_CONDITIONAL_NODE_PARAMS: "phGraph_out[0] is executed when the condition is non-zero. If size == 2,
// phGraph_out[1] will be executed when the condition is zero"; "phGraph_out[0] is executed as long as the condition is
// non-zero"; "phGraph_out[n] is executed when the condition is equal to n. If the condition >= size, no body graph is
// executed".
CUresult run_conditional(const ExecNode& node, LaunchState& launch) {
    const auto& conditional = params_of<ConditionalRun>(node);
    const Condition& condition = *conditional.condition;
    if (conditional.type == CU_GRAPH_COND_TYPE_WHILE) {
        CUresult fault = CUDA_SUCCESS;
        for (uint64_t iteration = 0; condition.value() != 0 && fault == CUDA_SUCCESS; ++iteration)
            fault = run_recorded_body(conditional, 0, iteration, launch);
        return fault;
    }
    uint32_t chosen = condition.value();
    if (conditional.type == CU_GRAPH_COND_TYPE_IF) chosen = chosen != 0 ? 0 : 1;
    return chosen < conditional.bodies.size() ? run_recorded_body(conditional, chosen, 0, launch) : CUDA_SUCCESS;
}

// ---- one after another ----------------------------------------------------------------------------------------------

CUresult run_sequentially(const Section& section, LaunchState& launch) {
    const SectionRun run = begin_section();
    for (const ExecNode& node : section.nodes) {
        if (const CUresult fault = run_node_of(section, node, launch, run); fault != CUDA_SUCCESS) return fault;
    }
    return CUDA_SUCCESS;
}

// ---- in parallel ----------------------------------------------------------------------------------------------------

bool node_may_wait(const ExecNode& node) {
    return std::holds_alternative<HostParams>(node.params) || std::holds_alternative<WaitRun>(node.params);
}

class ParallelRun final : public Job, public SectionInProgress {
  public:
    ParallelRun(const Section& section, LaunchState& launch)
        : section_(section),
          structure_(*section.structure),
          launch_(launch),
          waiting_(new std::atomic<uint32_t>[section.nodes.size()]),
          left_(static_cast<uint32_t>(section.nodes.size())) {
        for (uint32_t i = 0; i < section.nodes.size(); ++i) {
            waiting_[i].store(structure_.dependency_count[i], std::memory_order_relaxed);
            if (structure_.dependency_count[i] == 0) make_ready(i);
        }
    }

    CUresult continue_run() override { return run(false); }
    bool can_resume() override {
        std::lock_guard<SpinLock> lock(lock_);
        return std::any_of(stalled_.begin(), stalled_.end(), [this](uint32_t node) { return can_resume(node); });
    }

    CUresult run(bool nested) {
        Scheduler& scheduler = Scheduler::get();
        SharedJob shared(*this, launch_.stream);
        if (wanted_count() > 1) scheduler.ensure_poller();
        for (;;) {
            take_all();
            if (left_.load() == 0) return fault_.load();
            if (structure_.may_suspend) {
                if (resume()) continue;
                if (only_stalled()) return kSuspended;
            }
            // Other threads run the remaining nodes, or run nodes that these wait for. This thread can share the blocks
            // of their kernels. Inside a body it must not take a host node of the outer graph, because that graph waits
            // for this thread.
            if (scheduler.help(launch_.stream, nested)) continue;
            scheduler.progress.wait([&] {
                return left_.load() == 0 || wanted() || scheduler.help_wanted(launch_.stream, nested) ||
                       (structure_.may_suspend && (can_resume() || only_stalled()));
            });
        }
    }

    bool wanted() const override { return wanted_count() != 0; }
    bool may_wait() const override { return structure_.may_wait; }

    void help() override {
        if (wanted_count() > 1) Scheduler::get().ensure_poller();  // this thread may be busy for a long time
        take_all();
    }

  private:
    uint32_t wanted_count() const { return ready_count_.load(); }

    void make_ready(uint32_t node) {
        std::lock_guard<SpinLock> lock(lock_);
        (node_may_wait(section_.nodes[node]) ? ready_waiters_ : ready_).push_back(node);
        ready_count_.fetch_add(1);
    }

    // Takes a ready node. Nodes that may wait come last, because they may wait for one of the other nodes.
    bool take(uint32_t* node) {
        if (ready_count_.load() == 0) return false;
        std::lock_guard<SpinLock> lock(lock_);
        std::vector<uint32_t>& from = ready_.empty() ? ready_waiters_ : ready_;
        if (from.empty()) return false;
        if (order_is_random()) std::swap(from[draw_below(from.size())], from.back());
        *node = from.back();
        from.pop_back();
        ready_count_.fetch_sub(1);
        running_.fetch_add(1);
        return true;
    }

    // Sets a node aside that waits for a value.
    void stall(uint32_t node) {
        std::lock_guard<SpinLock> lock(lock_);
        stalled_.push_back(node);
    }

    bool can_resume(uint32_t node) const {
        const auto& batch = params_of<BatchRun>(section_.nodes[node]);
        return fault_.load(std::memory_order_relaxed) != CUDA_SUCCESS ||
               batch.batch.can_resume(launch_.batches[batch.slot]);
    }

    // Makes every stalled node ready that can proceed. Returns true if there was one.
    bool resume() {
        std::lock_guard<SpinLock> lock(lock_);
        const auto able =
            std::partition(stalled_.begin(), stalled_.end(), [this](uint32_t n) { return !can_resume(n); });
        const auto count = static_cast<uint32_t>(stalled_.end() - able);
        ready_.insert(ready_.end(), able, stalled_.end());
        stalled_.erase(able, stalled_.end());
        ready_count_.fetch_add(count);
        return count != 0;
    }

    // Returns true if no node runs and none is ready: all remaining nodes follow nodes that wait for values.
    bool only_stalled() {
        std::lock_guard<SpinLock> lock(lock_);
        return running_.load() == 0 && ready_.empty() && ready_waiters_.empty() && !stalled_.empty();
    }

    void take_all() {
        for (uint32_t node; take(&node);) {
            while (run_node(node, &node)) {
            }
            running_.fetch_sub(1);
        }
    }

    // Runs a node. Returns true if this made `next` ready, which this thread runs next.
    bool run_node(uint32_t index, uint32_t* next) {
        const ExecNode& node = section_.nodes[index];
        if (fault_.load(std::memory_order_relaxed) == CUDA_SUCCESS) {
            const CUresult fault = run_node_of(section_, node, launch_, run_);
            if (fault == kSuspended) {
                stall(index);
                return false;
            }
            if (fault != CUDA_SUCCESS) {
                CUresult none = CUDA_SUCCESS;
                fault_.compare_exchange_strong(none, fault);
            }
        }
        bool kept = false;
        uint32_t given_away = 0;
        for (uint32_t i = structure_.first_successor[index]; i < structure_.first_successor[index + 1]; ++i) {
            const uint32_t successor = structure_.successors[i];
            if (waiting_[successor].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
            if (!kept && !order_is_random() && !node_may_wait(section_.nodes[successor])) {
                *next = successor;
                kept = true;
            } else {
                make_ready(successor);
                ++given_away;
            }
        }
        Scheduler& scheduler = Scheduler::get();
        if (given_away > 1 || (given_away != 0 && kept)) scheduler.ensure_poller();
        // After the last node sets `left_` to zero, the owner may return, which destroys this object.
        const bool last = left_.fetch_sub(1) == 1;
        if (last || given_away != 0) scheduler.progress.notify();
        return kept;
    }

    const Section& section_;
    const Structure& structure_;
    LaunchState& launch_;
    const SectionRun run_ = begin_section();
    const std::unique_ptr<std::atomic<uint32_t>[]> waiting_;  // unfinished dependencies, by node
    std::atomic<uint32_t> left_;                              // unfinished nodes
    std::atomic<uint32_t> ready_count_{0};
    std::atomic<uint32_t> running_{0};  // threads that run a node; incremented with lock_ held
    std::atomic<CUresult> fault_{CUDA_SUCCESS};
    SpinLock lock_;                        // guards the three lists below
    std::vector<uint32_t> ready_;          // ready nodes that no thread runs yet
    std::vector<uint32_t> ready_waiters_;  // ready nodes that may wait
    std::vector<uint32_t> stalled_;        // nodes that wait for values in memory
};

// ---- in an order drawn at random ------------------------------------------------------------------------------------

// Runs the nodes in random order. A node that waits for an event runs only if no other node can, because the event may
// depend on one of the others.
CUresult run_at_random(const Section& section, LaunchState& launch) {
    const Structure& structure = *section.structure;
    const SectionRun run = begin_section();
    std::vector<uint32_t> waiting = structure.dependency_count, ready, ready_waits;
    const auto make_ready = [&](uint32_t node) {
        (std::holds_alternative<WaitRun>(section.nodes[node].params) ? ready_waits : ready).push_back(node);
    };
    for (uint32_t node = 0; node < section.nodes.size(); ++node) {
        if (waiting[node] == 0) make_ready(node);
    }
    while (!ready.empty() || !ready_waits.empty()) {
        std::vector<uint32_t>& from = ready.empty() ? ready_waits : ready;
        std::swap(from[draw_below(from.size())], from.back());
        const uint32_t node = from.back();
        from.pop_back();
        if (const CUresult fault = run_node_of(section, section.nodes[node], launch, run); fault != CUDA_SUCCESS)
            return fault;
        for (uint32_t i = structure.first_successor[node]; i < structure.first_successor[node + 1]; ++i) {
            if (--waiting[structure.successors[i]] == 0) make_ready(structure.successors[i]);
        }
    }
    return CUDA_SUCCESS;
}

// ---- choice of the way to run ---------------------------------------------------------------------------------------

constexpr double kWorthSharing = 20;   // microseconds of a run that justify the use of other threads
constexpr uint64_t kSmallWork = 4096;  // first estimate: threads of kernels, or 64-byte pieces of memory

uint64_t first_guess(const Section& section) {
    uint64_t work = 0;
    for (const ExecNode& node : section.nodes) {
        if (const auto* const kernel = std::get_if<KernelParams>(&node.params)) {
            const cgh_launch& dims = kernel->launch.shape().dims;
            work +=
                uint64_t{dims.grid[0]} * dims.grid[1] * dims.grid[2] * dims.block[0] * dims.block[1] * dims.block[2];
        } else if (const auto* const memcpy = std::get_if<MemcpyParams>(&node.params)) {
            const CUDA_MEMCPY3D& copy = *memcpy->described;
            work += copy.WidthInBytes * std::max<size_t>(copy.Height, 1) * std::max<size_t>(copy.Depth, 1) / 64;
        } else if (const auto* const memset = std::get_if<MemsetParams>(&node.params)) {
            const CUDA_MEMSET_NODE_PARAMS_v2& fill = memset->described;
            work += fill.width * fill.elementSize * std::max<size_t>(fill.height, 1) / 64;
        } else if (std::holds_alternative<ConditionalRun>(node.params)) {
            work += kSmallWork;  // a loop has no known length
        }
    }
    return work;
}

// Runs a section in parallel. A fast parallel run lowers the stored serial time, so that a section that was slow once,
// with cold memory, is soon measured again.
CUresult run_shared(const Section& section, LaunchState& launch, bool nested) {
    const uint64_t from = ticks();
    const CUresult fault = ParallelRun(section, launch).run(nested);
    const auto spent = static_cast<double>(ticks() - from);
    std::atomic<uint64_t>& known = section.structure->serial_ticks;
    if (spent < kWorthSharing * ticks_per_microsecond()) {
        known.store(known.load(std::memory_order_relaxed) / 8 * 7, std::memory_order_relaxed);
    }
    return fault;
}

CUresult run_measured(const Section& section, LaunchState& launch) {
    const uint64_t from = ticks();
    const CUresult fault = run_sequentially(section, launch);
    const uint64_t spent = ticks() - from;
    section.structure->serial_ticks.store(std::max<uint64_t>(spent, 1), std::memory_order_relaxed);
    return fault;
}

bool is_small(const Section& section) {
    if (Scheduler::get().workers() == 0) return true;
    const uint64_t known = section.structure->serial_ticks.load(std::memory_order_relaxed);
    if (known != 0) return static_cast<double>(known) < kWorthSharing * ticks_per_microsecond();
    return first_guess(section) < kSmallWork;
}

}  // namespace

CUresult run_nothing(const ExecNode&, LaunchState&) {
    return CUDA_SUCCESS;
}

RunNode run_function(CUgraphNodeType type) {
    switch (type) {
        case CU_GRAPH_NODE_TYPE_KERNEL:
            return run_kernel;
        case CU_GRAPH_NODE_TYPE_MEMCPY:
            return run_memcpy;
        case CU_GRAPH_NODE_TYPE_MEMSET:
            return run_memset;
        case CU_GRAPH_NODE_TYPE_HOST:
            return run_host;
        case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
            return run_wait;
        case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
            return run_record;
        case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
            return run_batch;
        case CU_GRAPH_NODE_TYPE_CONDITIONAL:
            return run_conditional;
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
            return run_allocation;
        case CU_GRAPH_NODE_TYPE_MEM_FREE:
            return run_free;
        default:
            return run_nothing;
    }
}

namespace {

CUresult run_body(const Section& body, LaunchState& launch) {
    // Bodies contain no node that waits (Program::compile).
    if (body.structure->is_sequential) return run_sequentially(body, launch);
    if (order_is_random()) return run_at_random(body, launch);
    return is_small(body) ? run_measured(body, launch) : run_shared(body, launch, true);
}

}  // namespace

std::unique_ptr<SectionInProgress> begin_section_in_progress(const Section& section, LaunchState& launch) {
    return std::make_unique<ParallelRun>(section, launch);
}

CUresult run_section(const Section& section, LaunchState& launch) {
    if (section.structure->is_sequential) return run_sequentially(section, launch);
    if (order_is_random()) return run_at_random(section, launch);
    if (section.structure->may_wait) return ParallelRun(section, launch).run(false);
    return is_small(section) ? run_measured(section, launch) : run_shared(section, launch, false);
}

}  // namespace cgh
