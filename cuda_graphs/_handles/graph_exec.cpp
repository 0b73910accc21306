// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "graph_exec.hpp"

#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include "_driver/table.hpp"
#include "deferred.hpp"
#include "error.hpp"
#include "gil.hpp"

namespace cg {

namespace {

using Owners = std::vector<CUuserObject>;

bool has_owners(const GraphExecBox& box) noexcept {
    return !box.kept.empty() || box.parameters;
}

void release_owners(const Owners& kept) {
    for (CUuserObject object : kept) driver().cuUserObjectRelease(object, 1);
}

// Launches an empty graph that has references to the owners: the driver keeps them until the launch is over.
CUresult launch_carrier(const StreamHandle& stream, const Owners& kept) {
    CUgraph graph = nullptr;
    CUgraphExec exec = nullptr;
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    CUresult status = driver().cuGraphCreate(&graph, 0);
    if (status != CUDA_SUCCESS) return status;
    for (CUuserObject object : kept)
        if (status == CUDA_SUCCESS) status = driver().cuGraphRetainUserObject(graph, object, 1, 0);
    if (status == CUDA_SUCCESS) status = driver().cuGraphInstantiateWithParams(&exec, graph, &params);
    if (status == CUDA_SUCCESS && params.result_out != CUDA_GRAPH_INSTANTIATE_SUCCESS) status = CUDA_ERROR_UNKNOWN;
    if (status == CUDA_SUCCESS) status = driver().cuGraphLaunch(exec, *stream);
    if (exec != nullptr) driver().cuGraphExecDestroy(exec);
    driver().cuGraphDestroy(graph);
    return status;
}

CUresult query(const LastUse& use) {
    if (use.event) return driver().cuEventQuery(*use.event);  // first: it may be nearer than the stream's end
    // A query would spoil a capture.
    CUstreamCaptureStatus capture{};
    const CUresult status = driver().cuStreamIsCapturing(*use.stream, &capture);
    if (status != CUDA_SUCCESS) return status;
    if (capture != CU_STREAM_CAPTURE_STATUS_NONE) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return driver().cuStreamQuery(*use.stream);
}

// Success: the use is over, or the driver keeps the owners until it is.
CUresult outlive(const LastUse& use, const Owners& kept) {
    if (use.lost) return CUDA_ERROR_UNKNOWN;
    if (!use.stream && !use.event) return CUDA_SUCCESS;
    const ContextScope scope(use.context);
    if (scope.status() != CUDA_SUCCESS) return scope.status();
    const CUresult status = query(use);
    if (status != CUDA_ERROR_NOT_READY) return status;
    if (use.stream) return launch_carrier(use.stream, kept);
    const StreamHandle behind = create_stream(use.context, CU_STREAM_NON_BLOCKING, 0);
    if (!behind) return take_noted_error().status;
    const CUresult waits = driver().cuStreamWaitEvent(*behind, *use.event, 0);
    return waits == CUDA_SUCCESS ? launch_carrier(behind, kept) : waits;
}

// May go well another time: inside a host function, or during a capture.
bool is_passing(CUresult status) noexcept {
    return is_refused_here(status) || status == CUDA_ERROR_OUT_OF_MEMORY ||
           status == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED || status == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
           status == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

// The payload of a user object that holds owners.
struct OwnerBundle final : public Deferred {
    std::vector<Opaque> owners;
    Counted<Kind::kUserObject> counted;
};

void CUDA_CB defer_bundle(void* bundle) {
    defer(static_cast<OwnerBundle*>(bundle));
}

// Has a user object hold the owners of values, present and parked, as `kept` holds all others. Once.
CUresult keep_values(GraphExecBox& box) {
    auto bundle = std::make_unique<OwnerBundle>();
    if (box.parameters) box.parameters->list_owners(bundle->owners);
    for (const ParkedOwners& parked : box.parked)
        bundle->owners.insert(bundle->owners.end(), parked.owners.begin(), parked.owners.end());
    if (!bundle->owners.empty()) {
        box.kept.reserve(box.kept.size() + 1);
        CUuserObject object = nullptr;
        const CUresult status =
            driver().cuUserObjectCreate(&object, bundle.get(), defer_bundle, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
        if (is_passing(status)) return status;
        static_cast<void>(bundle.release());  // the user object's, or leaked on purpose
        if (status == CUDA_SUCCESS) box.kept.push_back(object);
    }
    box.parked.clear();
    box.parameters.reset();
    return CUDA_SUCCESS;
}

// The owners outlive both of the last uses.
CUresult outlive_all(GraphExecBox& box) noexcept {
    try {
        CUresult status = keep_values(box);
        if (box.kept.empty()) return status;
        if (status == CUDA_SUCCESS) status = outlive(box.launched, box.kept);
        return status == CUDA_SUCCESS ? outlive(box.uploaded, box.kept) : status;
    } catch (const std::bad_alloc&) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
}

// Takes the graph's references away for a scope, so that what is instantiated meanwhile gets none.
class DetachedOwners {
  public:
    // `kept` gets a reference to each.
    DetachedOwners(std::vector<AttachedObject> attached, Owners& kept) : attached_(std::move(attached)) {
        kept.reserve(attached_.size());
        const GilRelease released;
        for (AttachedObject& each : attached_) {
            // One to keep, one to give back. Where that fails the executable gets its own from the graph.
            const bool retained = driver().cuUserObjectRetain(each.object, 2) == CUDA_SUCCESS;
            if (retained) kept.push_back(each.object);
            if (retained && driver().cuGraphReleaseUserObject(each.graph, each.object, 1) == CUDA_SUCCESS) continue;
            if (retained) driver().cuUserObjectRelease(each.object, 1);
            each.object = nullptr;
        }
    }
    ~DetachedOwners() {
        const GilRelease released;
        // A reference that cannot be given back is leaked on purpose: the definition needs the owners.
        for (const AttachedObject& each : attached_)
            if (each.object != nullptr)
                driver().cuGraphRetainUserObject(each.graph, each.object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    }
    DetachedOwners(const DetachedOwners&) = delete;
    DetachedOwners& operator=(const DetachedOwners&) = delete;

  private:
    std::vector<AttachedObject> attached_;
};

// Where the end of what is in the stream now can be seen, however much comes behind it.
LastUse mark_now(const LastUse& last) {
    LastUse now = last;
    if (!last.stream) return now;
    EventHandle event = create_event(last.context, false, false);
    if (event && driver().cuEventRecord(*event, *last.stream) == CUDA_SUCCESS) now.event = std::move(event);
    return now;
}

CUresult find_end(const LastUse& use) {
    if (use.lost) return CUDA_ERROR_UNKNOWN;
    const ContextScope scope(use.context);
    return scope.status() == CUDA_SUCCESS ? query(use) : scope.status();
}

// Keeps owners until the launches that there were so far are over. `gone` gets those that may go, to be dropped without
// the lock, since Python may run.
void park(GraphExecBox& box, std::vector<Opaque> owners, std::vector<Opaque>& gone) {
    const auto drop = [&](std::vector<Opaque>& some) {
        gone.insert(gone.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    };
    for (; !box.parked.empty() && find_end(box.parked.front().end) == CUDA_SUCCESS; box.parked.pop_front())
        drop(box.parked.front().owners);
    LastUse& last = box.launched;
    if (owners.empty()) return;
    const CUresult end = last.stream || last.event ? find_end(last) : CUDA_SUCCESS;
    if (end == CUDA_SUCCESS) return drop(owners);
    const ContextScope scope(last.context);
    box.parked.push_back({end == CUDA_ERROR_NOT_READY ? mark_now(last) : last, std::move(owners)});
    last.is_shared = true;
}

// How to see the end of a use of `stream` that is about to be made.
CUresult prepare(const LastUse& last, const StreamHandle& stream, LastUse* next) {
    const StreamBox& box = *box_of<StreamBox>(stream);
    next->context = box.context;
    if (box.context && (box.owned || box.owner)) {
        next->stream = stream;
        return CUDA_SUCCESS;
    }
    if (!next->context) next->context = current_context();
    if (!next->context) return CUDA_ERROR_INVALID_CONTEXT;
    if (last.event && !last.is_shared && raw_of(last.context) == raw_of(next->context))
        next->event = last.event;
    else
        next->event = create_event(next->context, false, false);
    return next->event ? CUDA_SUCCESS : take_noted_error().status;
}

void mark_end(LastUse& use, const StreamHandle& stream) {
    if (use.event) use.lost = driver().cuEventRecord(*use.event, *stream) != CUDA_SUCCESS;
}

// Makes `call`, if `allow` says so, and notes where its end can be seen.
template <class Allow, class Call>
CUresult use(const GraphExecHandle& exec, const StreamHandle& stream, LastUse GraphExecBox::* which, Allow allow,
             Call call) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    if (!has_owners(box)) return call(box.raw, *stream);
    CUstreamCaptureStatus capture{};
    CUresult status = driver().cuStreamIsCapturing(*stream, &capture);
    if (status != CUDA_SUCCESS) return status;
    // As the driver answers (580, on an H200). One that captured the launch would not see the owners.
    if (capture != CU_STREAM_CAPTURE_STATUS_NONE) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;

    LastUse next;  // and later what was before: to be dropped without the lock, since Python may run
    const std::lock_guard lock(box.mutex);
    if (!allow(box)) return CUDA_ERROR_UNKNOWN;
    LastUse& last = box.*which;
    if (last.stream && *last.stream == *stream) return call(box.raw, *stream);
    status = prepare(last, stream, &next);
    if (status == CUDA_SUCCESS) status = call(box.raw, *stream);
    if (status != CUDA_SUCCESS) return status;
    mark_end(next, stream);
    std::swap(last, next);
    return CUDA_SUCCESS;
}

}  // namespace

bool GraphExecBox::finish() noexcept {
    const GilRelease released;
    const RelaxedCapture relaxed;
    // At the interpreter's end the owners stay: they could not be destroyed any more. Where their uses cannot be seen
    // to end, they are leaked on purpose.
    const bool releases = has_owners(*this) && python_is_open();
    const CUresult status = releases ? outlive_all(*this) : CUDA_SUCCESS;
    if (is_passing(status)) return false;
    if (raw != nullptr && is_passing(driver().cuGraphExecDestroy(raw))) return false;
    if (releases && status == CUDA_SUCCESS) release_owners(kept);
    drain_deferred();
    return true;
}

GraphExecHandle instantiate(const NodeHandle& definition, CUDA_GRAPH_INSTANTIATE_PARAMS* params,
                            const StreamHandle& upload_stream, CUresult* status) {
    auto exec = make_box<GraphExecBox>();
    GraphBox& graph = *box_of<NodeRecord>(definition)->graph;
    if (!parameters_of(graph).all().empty()) {
        exec->parameters = ExecParameters::create(definition, graph, nullptr);
        *status = exec->parameters ? CUDA_SUCCESS : take_noted_error().status;
        if (*status != CUDA_SUCCESS) return {};
    }
    seal_owners(graph);
    {
        const DetachedOwners detached(list_owners(graph), exec->kept);
        const GilRelease released;
        params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;  // where the driver is not even asked
        if (upload_stream && has_owners(*exec)) {
            *status = prepare({}, upload_stream, &exec->uploaded);
            if (*status != CUDA_SUCCESS) return {};
        }
        *status = driver().cuGraphInstantiateWithParams(&exec->raw, graph.raw, params);
        if (upload_stream && *status == CUDA_SUCCESS) mark_end(exec->uploaded, upload_stream);
        // Some failures are told by the result alone.
        if (*status != CUDA_SUCCESS || params->result_out != CUDA_GRAPH_INSTANTIATE_SUCCESS) return {};
        ParameterProblem problem;
        if (exec->parameters && !exec->parameters->settle(exec->raw, &problem)) *status = problem.status;
    }
    return *status == CUDA_SUCCESS ? handle_of(std::move(exec)) : GraphExecHandle();
}

namespace {

bool set_values(GraphExecBox& box, ParameterChanges& changes, std::vector<Opaque>& gone, ParameterProblem* problem) {
    if (!changes.empty() && !box.parameters->set(box.raw, changes.data(), changes.size(), problem)) return false;
    std::vector<Opaque> replaced;
    for (ParameterChange& change : changes)
        if (change.value.owner) replaced.push_back(std::move(change.value.owner));
    if (!replaced.empty() || !box.parked.empty()) park(box, std::move(replaced), gone);
    return true;
}

}  // namespace

CUresult launch(const GraphExecHandle& exec, const StreamHandle& stream, ParameterChanges& changes,
                ParameterProblem* problem) {
    std::vector<Opaque> gone;
    const auto set = [&](GraphExecBox& box) {
        return !box.parameters || (box.parameters->is_complete(changes.data(), changes.size(), problem) &&
                                   set_values(box, changes, gone, problem));
    };
    return use(exec, stream, &GraphExecBox::launched, set, driver().cuGraphLaunch);
}

CUresult upload(const GraphExecHandle& exec, const StreamHandle& stream) {
    const auto always = [](GraphExecBox&) { return true; };
    return use(exec, stream, &GraphExecBox::uploaded, always, driver().cuGraphUpload);
}

bool set_parameters(const GraphExecHandle& exec, ParameterChanges& changes, ParameterProblem* problem) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    std::vector<Opaque> gone;
    const std::lock_guard lock(box.mutex);
    return set_values(box, changes, gone, problem);
}

void list_parameters(const GraphExecHandle& exec, std::vector<PresentParameter>& values) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    const std::lock_guard lock(box.mutex);
    if (box.parameters) box.parameters->list(values);
}

}  // namespace cg
