// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The hammer. Threads build, capture, instantiate, launch, set, update and drop shared objects at random, through the
// handle layer on the host driver. There is no Python, only its lock (fake_python.cpp), which is held and released
// where Cython code holds and releases it. Run it under the sanitizers: `make hammer MODE=tsan`.
//
// Laws: The objects that a launch uses are alive; its host functions check the payloads that their owners keep. No two
// threads use one executable at a time, or one definition while it is changed. At the end every owner was destroyed
// once, no box is left, and the driver has only the objects that it had at the start.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string>

#include "check.hpp"
#include "core/capture/captured_call.hpp"
#include "core/driver/table.hpp"
#include "core/graphs/executable.hpp"
#include "core/handles/error.hpp"
#include "core/resources/context.hpp"
#include "core/resources/event.hpp"
#include "core/resources/memory.hpp"
#include "fake_driver.hpp"

using namespace cg;

namespace {

constexpr int kThreads = 8;
constexpr int kSteps = 1500;        // steps of each thread
constexpr std::size_t kShared = 4;  // number of definitions, executables, streams, captures
constexpr std::size_t kMostNodes = 12;

// ---- owners, and host functions that check them ---------------------------------------------------------------------

std::atomic<long> made{0}, gone{0}, runs{0};

struct Payload {
    static constexpr std::uint64_t kAlive = 0x5AFE5AFE5AFE5AFE;
    std::uint64_t sign = kAlive;
    Payload() { ++made; }
    ~Payload() {
        CHECK(sign == kAlive);
        sign = 0;
        ++gone;
    }
};

void CUDA_CB look(void* payload) {
    CHECK(static_cast<const Payload*>(payload)->sign == Payload::kAlive);
    ++runs;
}

void fill(NodeSpec& spec) {
    auto payload = std::make_shared<Payload>();
    spec.begin(NodeKind::kHost);
    spec.params.host.fn = look;
    spec.params.host.userData = payload.get();
    spec.owners.first = std::move(payload);
}

// ---- one call at a time for an executable: CUDA requires it, and the handle layer ensures it ------------------------

// Wraps entries of the driver table. Two simultaneous calls for one executable end the program.
std::mutex busy_mutex;
std::vector<const void*> busy;  // guarded by busy_mutex

class Alone {
  public:
    explicit Alone(const void* thing) : thing_(thing) {
        const std::lock_guard lock(busy_mutex);
        for (const void* other : busy) CHECK(other != thing);
        busy.push_back(thing);
    }
    ~Alone() {
        const std::lock_guard lock(busy_mutex);
        for (auto& other : busy)
            if (other == thing_) {
                other = busy.back();
                busy.pop_back();
                return;
            }
    }
    Alone(const Alone&) = delete;

  private:
    const void* thing_;
};

DriverTable real;

void watch_executables() {
    real = cg::detail::table;
    DriverTable& table = cg::detail::table;
    table.cuGraphLaunch = [](CUgraphExec exec, CUstream stream) {
        const Alone alone(exec);
        return real.cuGraphLaunch(exec, stream);
    };
    table.cuGraphUpload = [](CUgraphExec exec, CUstream stream) {
        const Alone alone(exec);
        return real.cuGraphUpload(exec, stream);
    };
    table.cuGraphExecUpdate = [](CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
        const Alone alone(exec), at_graph(graph);
        return real.cuGraphExecUpdate(exec, graph, info);
    };
    table.cuGraphExecNodeSetParams = [](CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
        const Alone alone(exec);
        return real.cuGraphExecNodeSetParams(exec, node, params);
    };
    table.cuGraphInstantiateWithParams = [](CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
        const Alone alone(graph);
        return real.cuGraphInstantiateWithParams(exec, graph, params);
    };
    table.cuGraphReleaseUserObject = [](CUgraph graph, CUuserObject object, unsigned int count) {
        const Alone alone(graph);
        return real.cuGraphReleaseUserObject(graph, object, count);
    };
    table.cuGraphRetainUserObject = [](CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags) {
        const Alone alone(graph);
        return real.cuGraphRetainUserObject(graph, object, count, flags);
    };
}

// ---- shared objects, under the lock of Python as attributes of Python objects are -----------------------------------

struct Definition {
    std::shared_mutex edits;  // held by the thread that changes the definition; waits for it release the GIL
    NodeHandle entry;
    std::vector<NodeHandle> nodes;
};

struct Executable {
    GraphExecHandle exec;
    std::shared_ptr<Definition> of;
    NodeHandle node;  // a node of that definition
};

// The result of GraphBuilder.split.
struct Branch {
    CaptureHandle capture;
    StreamHandle stream;

    void leave() {
        if (capture) untie_stream(stream, *capture);
        *this = {};
    }
};

struct Shared {
    std::vector<std::shared_ptr<Definition>> definitions{kShared};
    std::vector<Executable> executables{kShared};
    std::vector<StreamHandle> streams{kShared};  // captured at times
    std::vector<CaptureHandle> captures{kShared};
    std::vector<Branch> branches{kShared};
} shared;

PointerHandle memory;  // target of memset nodes

template <class Mutex>
Mutex lock_without_gil(std::shared_mutex& mutex) {
    const GilRelease released;
    return Mutex(mutex);
}
using Editing = std::unique_lock<std::shared_mutex>;
using Reading = std::shared_lock<std::shared_mutex>;

bool add_host_node(Definition& definition) {
    GraphBox& graph = *box_of<NodeRecord>(definition.entry)->graph;
    NodeSpec spec;
    fill(spec);
    const Dependencies place =
        dependencies_on(*box_of<NodeRecord>(definition.nodes.empty() ? definition.entry : definition.nodes.back()));
    OwnerSlot slot;
    CHECK(prepare_node(graph, spec, slot));
    CUgraphNode raw = nullptr;
    CUresult status = CUDA_SUCCESS;
    {
        const GilRelease released;
        status = make_node(place, spec, &raw);
    }
    NodeRecord* const node = record_node(graph, spec, slot, status, raw);
    if (node != nullptr) definition.nodes.push_back(node_handle(definition.entry, *node));
    return node != nullptr;
}

// Adds a memset whose value is a named parameter.
void add_memset(Definition& definition) {
    GraphBox& graph = *box_of<NodeRecord>(definition.entry)->graph;
    const auto parameter = std::make_shared<NamedParameter>();
    parameter->name = "value";
    parameter->type.scalar = find_value_type("u32");
    parameter->initial.bits = 1;
    parameter->initial.known = true;
    parameters_of(graph).add(parameter);
    NodeSpec spec;
    spec.begin(NodeKind::kMemset);
    spec.params.memset = {*memory, 0, 1, 4, 1, 1, *primary_context(0)};
    spec.uses.push_back({parameter, Field::kValue});
    auto uses = std::make_unique<NodeParameters>();
    uses->uses = spec.uses;
    CUgraphNode raw = nullptr;
    {
        const GilRelease released;
        CHECK(use_placeholders(spec, *uses) == CUDA_SUCCESS);
        CHECK(make_node(dependencies_on(*box_of<NodeRecord>(definition.entry)), spec, &raw) == CUDA_SUCCESS);
    }
    add_node(graph, raw, spec.kind, {}).make_metadata().parameters = std::move(uses);
}

// Returns a new value for the memset's parameter.
ParameterChange new_value(std::uint64_t bits) {
    static const ParameterRef like = [] {
        auto parameter = std::make_shared<NamedParameter>();
        parameter->name = "value";
        parameter->type.scalar = find_value_type("u32");
        return parameter;
    }();
    return {0, &like, {bits, true, {}, std::make_shared<Payload>()}, true};
}

std::shared_ptr<Definition> make_definition() {
    auto definition = std::make_shared<Definition>();
    definition->entry = create_graph();
    CHECK(definition->entry);
    add_memset(*definition);
    for (int i = 0; i < 2; ++i) CHECK(add_host_node(*definition));
    return definition;
}

// ---- actions of a thread: one step each, with the GIL ---------------------------------------------------------------

struct Actor {
    std::mt19937 random;

    std::size_t any(std::size_t count) { return random() % count; }
    template <class T>
    T& any_of(std::vector<T>& all) {
        return all[any(all.size())];
    }

    void replace_definition() {
        auto fresh = make_definition();
        any_of(shared.definitions).swap(fresh);
    }

    void edit() {
        const auto definition = any_of(shared.definitions);
        if (!definition) return;
        const auto editing = lock_without_gil<Editing>(definition->edits);
        if (definition->nodes.size() < kMostNodes && any(2) == 0) {
            add_host_node(*definition);
        } else if (definition->nodes.size() > 1) {
            CHECK(destroy_node(*box_of<NodeRecord>(definition->nodes.back())) == CUDA_SUCCESS);
            definition->nodes.pop_back();
        }
    }

    void instantiate_one() {
        const auto definition = any_of(shared.definitions);
        if (!definition) return;
        const auto reading = lock_without_gil<Reading>(definition->edits);
        CUDA_GRAPH_INSTANTIATE_PARAMS params{};
        CUresult status = CUDA_SUCCESS;
        Executable fresh{instantiate(definition->entry, &params, {}, &status), definition, definition->nodes.front()};
        CHECK(status == CUDA_SUCCESS && fresh.exec);
        std::swap(any_of(shared.executables), fresh);
    }

    void launch_one() {
        const GraphExecHandle exec = any_of(shared.executables).exec;
        const StreamHandle stream = any_of(shared.streams);
        if (!exec) return;
        ParameterChanges changes;
        ParameterProblem problem;
        if (any(2) == 0) changes.push_back(new_value(random()));
        const GilRelease released;
        const CUresult status = launch(exec, stream, changes, &problem);
        CHECK(status == CUDA_SUCCESS || status == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }

    void upload_one() {
        const GraphExecHandle exec = any_of(shared.executables).exec;
        const StreamHandle stream = any_of(shared.streams);
        const GilRelease released;
        if (!exec) return;
        const CUresult status = upload(exec, stream);
        CHECK(status == CUDA_SUCCESS || status == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }

    void set_one() {
        const GraphExecHandle exec = any_of(shared.executables).exec;
        if (!exec) return;
        ParameterChanges changes;
        ParameterProblem problem;
        changes.push_back(new_value(random()));
        std::vector<PresentParameter> values;
        const GilRelease released;
        CHECK(set_parameters(exec, changes, &problem));
        list_parameters(exec, values);
        CHECK(values.size() == 1 && values[0].value.known);
    }

    void set_node() {
        const Executable target = any_of(shared.executables);
        if (!target.exec) return;
        const auto reading = lock_without_gil<Reading>(target.of->edits);
        NodeRecord& node = *box_of<NodeRecord>(target.node);
        NodeSpec spec;
        fill(spec);
        ParameterProblem problem;
        const GilRelease released;
        if (node.is_alive()) CHECK(set_exec_node(target.exec, node, spec, &problem) == CUDA_SUCCESS);
    }

    void update_one() {
        const Executable target = any_of(shared.executables);
        const auto source = any_of(shared.definitions);
        if (!target.exec || !source) return;
        // With named parameters the definition of the executable is read too.
        const auto reading = lock_without_gil<Reading>(source->edits);
        const Reading reading_first(target.of->edits, std::try_to_lock);
        if (!reading_first) return;
        CUgraphExecUpdateResultInfo info{};
        ParameterProblem problem;
        const CUresult status = update(target.exec, *box_of<NodeRecord>(source->entry)->graph, &info, &problem);
        CHECK(status == CUDA_SUCCESS || status == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE ||
              problem.fault == ParameterFault::kDestroyed);
        take_noted_error();
    }

    void drop_executable() { Executable().exec.swap(any_of(shared.executables).exec); }

    void begin_one() {
        const StreamHandle stream = any_of(shared.streams);
        const auto mode = static_cast<CUstreamCaptureMode>(any(3));
        CaptureHandle fresh = create_capture(stream, {});
        if (begin_capture(*fresh, mode) != CUDA_SUCCESS) return;
        any_of(shared.captures).swap(fresh);  // drops the previous capture
    }

    void capture_into_one() {
        const StreamHandle stream = any_of(shared.streams);
        CapturedCall call;
        if (!may_be_captured(stream) || !call.find_capture(stream)) return;
        NodeSpec spec;
        fill(spec);
        CHECK(call.keep_owners(spec.owners.first, spec.owners.second));
        {
            const GilRelease released;
            call.run(driver().cuLaunchHostFunc, *stream, spec.params.host.fn, spec.params.host.userData);
        }
        // After another thread has ended the capture, the function must not run: its owner goes with `spec`.
        call.record_node(NodeKind::kHost);
    }

    // Another thread may end the capture at any time, as a Python thread may close a GraphBuilder.
    void split_one() {
        Branch fresh{any_of(shared.captures), {}};
        if (!fresh.capture) return;
        CUresult status = CUDA_SUCCESS;
        {
            const GilRelease released;
            fresh.stream = create_stream(primary_context(0), CU_STREAM_NON_BLOCKING, 0);
            if (fresh.stream) status = order_within(*fresh.capture, fresh.stream, fresh.capture->origin);
        }
        if (!fresh.stream || status != CUDA_SUCCESS || !fresh.capture->active) return;
        fresh.capture->forks.push_back({{}, fresh.stream, false});
        tie_stream(fresh.stream, *fresh.capture);
        std::swap(any_of(shared.branches), fresh);
        fresh.leave();
    }

    void leave_one() {
        Branch branch;
        std::swap(any_of(shared.branches), branch);
        branch.leave();
    }

    void add_conditional_one() {
        const CaptureHandle capture = any_of(shared.captures);
        CapturedCall call;
        if (!capture || !call.find_capture(capture->origin)) return;
        NodeSpec spec;
        spec.begin(NodeKind::kIf);
        CUDA_CONDITIONAL_NODE_PARAMS& params = spec.params.conditional;
        params.type = CU_GRAPH_COND_TYPE_IF;
        params.size = 1;
        params.ctx = *primary_context(0);
        {
            const GilRelease released;
            if (capture_condition(*capture, params.ctx, 0, CU_GRAPH_COND_ASSIGN_DEFAULT, &params.handle) !=
                CUDA_SUCCESS)
                return;
            call.run_add(spec);
        }
        const NodeRecord* const node = call.record_node(NodeKind::kIf);
        if (node != nullptr) CHECK(node->metadata->inner.size() == 1 && node->metadata->condition == params.handle);
    }

    void abandon_one() {
        const CaptureHandle capture = any_of(shared.captures);  // other threads can still find it
        if (capture) abandon_capture(*capture);
    }

    void end_one() {
        CaptureHandle capture;
        capture.swap(any_of(shared.captures));
        if (!capture || end_capture(*capture) != CUDA_SUCCESS || capture->box().raw == nullptr) return;
        CUDA_GRAPH_INSTANTIATE_PARAMS params{};
        CUresult status = CUDA_SUCCESS;
        const GraphExecHandle exec = instantiate(capture->graph, &params, {}, &status);
        CHECK(exec ? status == CUDA_SUCCESS : status == CUDA_ERROR_INVALID_VALUE);
        if (!exec) return;  // a condition that no node uses: its capture had ended
        ParameterChanges changes;
        ParameterProblem problem;
        const StreamHandle stream = any_of(shared.streams);
        const GilRelease released;
        status = launch(exec, stream, changes, &problem);
        CHECK(status == CUDA_SUCCESS || status == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    }

    void tidy() {
        drain_deferred();
        fake::run_pending_calls();
    }

    void step() {
        struct Choice {
            int weight;
            void (Actor::*act)();
        };
        static constexpr Choice kChoices[] = {
            {2, &Actor::replace_definition},
            {4, &Actor::edit},
            {5, &Actor::instantiate_one},
            {9, &Actor::launch_one},
            {2, &Actor::upload_one},
            {4, &Actor::set_one},
            {4, &Actor::set_node},
            {5, &Actor::update_one},
            {2, &Actor::drop_executable},
            {3, &Actor::begin_one},
            {8, &Actor::capture_into_one},
            {2, &Actor::split_one},
            {1, &Actor::leave_one},
            {2, &Actor::add_conditional_one},
            {1, &Actor::abandon_one},
            {3, &Actor::end_one},
            {1, &Actor::tidy},
        };
        int total = 0;
        for (const Choice& choice : kChoices) total += choice.weight;
        int at = static_cast<int>(any(static_cast<std::size_t>(total)));
        for (const Choice& choice : kChoices)
            if ((at -= choice.weight) < 0) return (this->*choice.act)();
    }
};

}  // namespace

// Executables that fill the same word at the same time race for its value. This test allows that.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
    return "race:cgh::Fill::run";
}

namespace {

long boxes_left() {
    long sum = 0;
    for (int kind = 0; kind < static_cast<int>(Kind::kCount); ++kind)
        if (kind != static_cast<int>(Kind::kContext)) sum += live_boxes(static_cast<Kind>(kind));
    return sum;
}

using LiveObjects = CUresult (*)(std::uint32_t, const char**, std::uint64_t*);

std::vector<std::uint64_t> driver_objects() {
    const auto ask = reinterpret_cast<LiveObjects>(driver_symbol("cghLiveObjects"));
    std::vector<std::uint64_t> counts;
    const char* kind = nullptr;
    std::uint64_t count = 0;
    for (std::uint32_t i = 0; ask(i, &kind, &count) == CUDA_SUCCESS; ++i) counts.push_back(count);
    return counts;
}

void wait_for_the_device() {
    const GilRelease released;
    CHECK(driver().cuCtxSynchronize() == CUDA_SUCCESS);
}

void hammer(unsigned seed) {
    {
        const GilAcquire python;
        memory = allocate_pinned(primary_context(0), 64);
        for (auto& stream : shared.streams) stream = create_stream(primary_context(0), CU_STREAM_NON_BLOCKING, 0);
        for (auto& definition : shared.definitions) definition = make_definition();
    }
    parallelize(kThreads, [&](int thread) {
        CHECK(driver().cuCtxSetCurrent(*primary_context(0)) == CUDA_SUCCESS);
        Actor actor{std::mt19937(seed * 1000 + static_cast<unsigned>(thread))};
        for (int i = 0; i < kSteps; ++i) {
            const GilAcquire python;
            actor.step();
        }
        // Only the thread that began a capture may end it, unless it is relaxed.
        const GilAcquire python;
        for (auto& capture : shared.captures)
            if (capture && capture->thread == std::this_thread::get_id()) CaptureHandle().swap(capture);
    });
    const GilAcquire python;
    for (auto& branch : shared.branches) branch.leave();
    for (auto& capture : shared.captures) capture.reset();
    wait_for_the_device();
    for (auto& executable : shared.executables) executable = {};
    for (auto& definition : shared.definitions) definition.reset();
    for (auto& stream : shared.streams) stream.reset();
    memory.reset();
    for (int i = 0; i < 1000 && (boxes_left() != 0 || made != gone); ++i) {
        wait_for_the_device();
        drain_deferred();
        fake::run_pending_calls();
    }
    CHECK(boxes_left() == 0);
    CHECK(made == gone);
    CHECK(runs > 0);
}

}  // namespace

int main(int count, char** words) {
    CHECK(count > 1);
    const std::string problem = load_driver(words[1]);
    if (!problem.empty()) std::fprintf(stderr, "%s: %s\n", words[1], problem.c_str());
    CHECK(problem.empty());
    CHECK(driver().cuCtxSetCurrent(*primary_context(0)) == CUDA_SUCCESS);
    watch_executables();
    const std::vector<std::uint64_t> before = driver_objects();
    for (unsigned seed = 1; seed <= 4; ++seed) {
        hammer(seed);
        CHECK(driver_objects() == before);
        std::printf("seed %u: %d threads of %d steps, %ld owners made and gone, %ld host functions run\n", seed,
                    kThreads, kSteps, made.load(), runs.load());
        std::fflush(stdout);
    }
    return 0;
}
