// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "graph_exec.hpp"

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
    if (use.event) return driver().cuEventQuery(*use.event);
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

// The same for both of the last uses.
CUresult outlive_all(const GraphExecBox& box) noexcept {
    try {
        const CUresult status = outlive(box.launched, box.kept);
        return status == CUDA_SUCCESS ? outlive(box.uploaded, box.kept) : status;
    } catch (const std::bad_alloc&) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
}

// May go well another time: inside a host function, or during a capture.
bool is_passing(CUresult status) noexcept {
    return is_refused_here(status) || status == CUDA_ERROR_OUT_OF_MEMORY ||
           status == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED || status == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
           status == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
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
    if (last.event && raw_of(last.context) == raw_of(next->context))
        next->event = last.event;
    else
        next->event = create_event(next->context, false, false);
    return next->event ? CUDA_SUCCESS : take_noted_error().status;
}

void mark_end(LastUse& use, const StreamHandle& stream) {
    if (use.event) use.lost = driver().cuEventRecord(*use.event, *stream) != CUDA_SUCCESS;
}

// Makes `call`, and notes where its end can be seen.
template <class Call>
CUresult use(const GraphExecHandle& exec, const StreamHandle& stream, LastUse GraphExecBox::* which, Call call) {
    GraphExecBox& box = *box_of<GraphExecBox>(exec);
    if (box.kept.empty()) return call(box.raw, *stream);
    CUstreamCaptureStatus capture{};
    CUresult status = driver().cuStreamIsCapturing(*stream, &capture);
    if (status != CUDA_SUCCESS) return status;
    // As the driver answers (580, on an H200). One that captured the launch would not see the owners.
    if (capture != CU_STREAM_CAPTURE_STATUS_NONE) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;

    LastUse next;  // and later what was before: to be dropped without the lock, since Python may run
    const std::lock_guard lock(box.mutex);
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
    const bool releases = !kept.empty() && python_is_open();
    const CUresult status = releases ? outlive_all(*this) : CUDA_SUCCESS;
    if (is_passing(status)) return false;
    if (raw != nullptr && is_passing(driver().cuGraphExecDestroy(raw))) return false;
    if (releases && status == CUDA_SUCCESS) release_owners(kept);
    drain_deferred();
    return true;
}

GraphExecHandle instantiate(GraphBox& graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params, const StreamHandle& upload_stream,
                            CUresult* status) {
    auto exec = make_box<GraphExecBox>();
    seal_owners(graph);
    {
        const DetachedOwners detached(list_owners(graph), exec->kept);
        const GilRelease released;
        params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;  // where the driver is not even asked
        if (upload_stream && !exec->kept.empty()) {
            *status = prepare({}, upload_stream, &exec->uploaded);
            if (*status != CUDA_SUCCESS) return {};
        }
        *status = driver().cuGraphInstantiateWithParams(&exec->raw, graph.raw, params);
        if (upload_stream && *status == CUDA_SUCCESS) mark_end(exec->uploaded, upload_stream);
    }
    // Some failures are told by the result alone.
    if (*status != CUDA_SUCCESS || params->result_out != CUDA_GRAPH_INSTANTIATE_SUCCESS) return {};
    return handle_of(std::move(exec));
}

CUresult launch(const GraphExecHandle& exec, const StreamHandle& stream) {
    return use(exec, stream, &GraphExecBox::launched, driver().cuGraphLaunch);
}

CUresult upload(const GraphExecHandle& exec, const StreamHandle& stream) {
    return use(exec, stream, &GraphExecBox::uploaded, driver().cuGraphUpload);
}

}  // namespace cg
