// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "executable_owners.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <utility>

#include "core/driver/table.hpp"
#include "core/handles/box.hpp"
#include "core/handles/deferred.hpp"
#include "core/handles/error.hpp"
#include "core/handles/gil.hpp"
#include "core/handles/leak_report.hpp"

namespace cg {

namespace {

using Objects = std::vector<CUuserObject>;

constexpr std::uint32_t kPageSize = 32;  // slots of a page for owners of single nodes

// Launches an empty graph that has references to the owners, so that the driver keeps them until the launch is
// complete.
CUresult launch_carrier(const StreamHandle& stream, const Objects& kept) {
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
    if (exec != nullptr) report_leak(driver().cuGraphExecDestroy(exec), "cuGraphExecDestroy");
    report_leak(driver().cuGraphDestroy(graph), "cuGraphDestroy");
    return status;
}

// Returns a LastUse for the end of the work that is in the stream now, regardless of later work.
LastUse mark_now(const LastUse& last) {
    LastUse now = last;
    if (!last.stream) return now;
    EventHandle event = create_event(last.context, false, false);
    if (event && driver().cuEventRecord(*event, *last.stream) == CUDA_SUCCESS) now.event = std::move(event);
    return now;
}

bool is_legacy(CUstream raw) noexcept {
    return raw == nullptr || raw == CU_STREAM_LEGACY;
}

CUresult query(const LastUse& use) {
    if (use.event) return driver().cuEventQuery(*use.event);  // may complete before later work
    // A query would spoil a capture.
    CUstreamCaptureStatus capture{};
    const CUresult status = driver().cuStreamIsCapturing(*use.stream, &capture);
    if (status != CUDA_SUCCESS) return status;
    if (capture != CU_STREAM_CAPTURE_STATUS_NONE) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return driver().cuStreamQuery(*use.stream);
}

// Returns CUDA_SUCCESS when the use is complete, or when the driver keeps the owners until it is.
CUresult outlive_use(const LastUse& use, const Objects& kept) {
    if (!use.stream && !use.event) return CUDA_SUCCESS;
    const ContextScope scope(use.context);
    if (scope.status() != CUDA_SUCCESS) return scope.status();
    const CUresult status = query(use);
    if (status != CUDA_ERROR_NOT_READY) return status;
    if (use.stream && !is_legacy(*use.stream)) return launch_carrier(use.stream, kept);
    // No graph is launched into the legacy default stream, since other streams would wait for it.
    const LastUse end = use.event ? use : mark_now(use);
    if (!end.event) return CUDA_ERROR_NOT_READY;
    const StreamHandle behind = create_stream(use.context, CU_STREAM_NON_BLOCKING, 0);
    if (!behind) return take_noted_error().status;
    const CUresult waits = driver().cuStreamWaitEvent(*behind, *end.event, 0);
    return waits == CUDA_SUCCESS ? launch_carrier(behind, kept) : waits;
}

}  // namespace

bool LastUse::is_of(CUstream raw) const noexcept {
    if (!stream || *stream != raw) return false;
    CUcontext now = nullptr;  // the legacy stream belongs to the current context
    return !is_legacy(raw) || (driver().cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == raw_of(context));
}

bool is_passing(CUresult status) noexcept {
    return is_refused_here(status) || status == CUDA_ERROR_OUT_OF_MEMORY ||
           status == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED || status == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
           status == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

void ExecOwners::add(Objects&& objects) {
    objects_.insert(objects_.end(), objects.begin(), objects.end());
    open_ = nullptr;
}

bool ExecOwners::are(const std::vector<HeldObject>& held) const noexcept {
    const auto same = [](CUuserObject mine, const HeldObject& theirs) { return mine == theirs.object; };
    return std::equal(objects_.begin(), objects_.end(), held.begin(), held.end(), same);
}

void ExecOwners::exchange(ExecOwners& fresh) {
    objects_.swap(fresh.objects_);
    open_ = fresh.open_ = nullptr;
    fresh.uses_ = uses_;
}

CUresult ExecOwners::prepare(const Owners& owners, OwnerSlot* slot) {
    if (!owners || (open_ != nullptr && open_->holds(owners))) return CUDA_SUCCESS;
    if (open_ == nullptr || open_->is_full()) {
        objects_.reserve(objects_.size() + 1);
        OwnerPage* page = OwnerPage::create(nullptr, kPageSize);
        if (page == nullptr) return take_noted_error().status;
        objects_.push_back(page->object());
        open_ = page;
    }
    *slot = {open_, open_->add_pending(Owners(owners))};
    return CUDA_SUCCESS;
}

void ExecOwners::commit(OwnerSlot slot) noexcept {
    if (slot.page != nullptr) slot.page->keep(slot.index);
}

Owners ExecOwners::rollback(OwnerSlot slot) noexcept {
    return slot.page == nullptr ? Owners{} : slot.page->take_back(slot.index);
}

namespace {

CUresult find_end(const LastUse& use) {
    if (use.is_end_unknown) return CUDA_ERROR_UNKNOWN;
    if (!use.stream && !use.event) return CUDA_SUCCESS;
    const ContextScope scope(use.context);
    return scope.status() == CUDA_SUCCESS ? query(use) : scope.status();
}

// The payload of a user object that holds owners.
struct OwnerBundle final : public Deferred {
    std::vector<Opaque> owners;
    Counted<Kind::kUserObject> counted;
};

void CUDA_CB defer_bundle(void* bundle) {
    defer(static_cast<OwnerBundle*>(bundle));
}

}  // namespace

namespace {

constexpr int kLaunchesBetweenMarks = 64;
constexpr std::size_t kBytesBetweenMarks = std::size_t{64} << 20U;

void append(std::vector<Opaque>& all, std::vector<Opaque>& some) {
    all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
    some.clear();
}

}  // namespace

void ExecOwners::park(Opaque owner, std::size_t bytes) {
    unmarked_.owners.push_back(std::move(owner));
    unmarked_.bytes += std::min(bytes, kBytesBetweenMarks);
}

void ExecOwners::release_parked(std::vector<Opaque>& gone) {
    const bool is_due = ++unmarked_.launches >= kLaunchesBetweenMarks || unmarked_.bytes >= kBytesBetweenMarks;
    if (!unmarked_.owners.empty() && !is_due) return;
    for (; !parked_.empty() && find_end(parked_.front().end) == CUDA_SUCCESS; parked_.pop_front())
        append(gone, parked_.front().owners);
    if (!unmarked_.owners.empty()) mark_parked(gone);
    unmarked_ = {};
}

// The end of the last launch is the end of all launches, so of all uses of the replaced values.
void ExecOwners::mark_parked(std::vector<Opaque>& gone) {
    LastUse& use = last(Use::kLaunch);
    const CUresult end = find_end(use);
    if (end == CUDA_SUCCESS) return append(gone, unmarked_.owners);
    const ContextScope scope(use.context);
    parked_.push_back({end == CUDA_ERROR_NOT_READY ? mark_now(use) : use, std::move(unmarked_.owners)});
    use.is_shared = true;
}

CUresult ExecOwners::hold_values(std::vector<Opaque> present) {
    auto bundle = std::make_unique<OwnerBundle>();
    bundle->owners = std::move(present);
    bundle->owners.insert(bundle->owners.end(), unmarked_.owners.begin(), unmarked_.owners.end());
    for (const ParkedValues& parked : parked_)
        bundle->owners.insert(bundle->owners.end(), parked.owners.begin(), parked.owners.end());
    if (!bundle->owners.empty()) {
        objects_.reserve(objects_.size() + 1);
        CUuserObject object = nullptr;
        const CUresult status =
            driver().cuUserObjectCreate(&object, bundle.get(), defer_bundle, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
        if (must_retry(status)) return status;
        static_cast<void>(bundle.release());  // owned by the user object now, or leaked on purpose
        if (status == CUDA_SUCCESS) objects_.push_back(object);
    }
    unmarked_ = {};
    parked_.clear();
    return CUDA_SUCCESS;
}

CUresult ExecOwners::outlive_uses() const noexcept {
    try {
        for (const LastUse& use : uses_)
            if (const CUresult status = outlive_use(use, objects_); status != CUDA_SUCCESS) return status;
        return CUDA_SUCCESS;
    } catch (const std::bad_alloc&) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
}

bool ExecOwners::outlive() noexcept {
    if (is_outlived_ || objects_.empty()) return true;
    const bool is_seen = python_is_open() && !uses_[0].is_end_unknown && !uses_[1].is_end_unknown;
    const CUresult status = is_seen ? outlive_uses() : CUDA_SUCCESS;
    if (must_retry(status)) return false;
    if (!is_seen) objects_.clear();
    return is_outlived_ = true;
}

void ExecOwners::release() noexcept {
    if (!python_is_open()) return;
    for (CUuserObject object : objects_) release_object(object);
    objects_.clear();
}

namespace {

struct FormerOwners {
    ExecOwners owners;

    bool finish() noexcept {
        const GilRelease released;
        const RelaxedCapture relaxed;
        if (must_retry(relaxed.status()) || !owners.outlive()) return false;
        owners.release();
        drain_deferred();
        return true;
    }
};

}  // namespace

void release_after_uses(ExecOwners&& owners) {
    if (!owners.empty()) make_box<FormerOwners>()->owners = std::move(owners);
}

DetachedOwners::DetachedOwners(GraphBox& graph) : graph_(graph), all_(list_owners(graph)) {
    for (const HeldObject& each : all_)
        if (each.graph != nullptr) detached_.push_back(each);
    if (detached_.empty()) return;
    const GilRelease released;
    for (HeldObject& each : detached_) {
        // Takes a reference, to be given back later. If that fails, the executable gets its own from the graph.
        const bool retained = driver().cuUserObjectRetain(each.object, 1) == CUDA_SUCCESS;
        if (retained && driver().cuGraphReleaseUserObject(each.graph, each.object, 1) == CUDA_SUCCESS) continue;
        if (retained) release_object(each.object);
        each.object = nullptr;
    }
}

DetachedOwners::~DetachedOwners() {
    if (detached_.empty()) return;
    {
        const GilRelease released;
        for (HeldObject& each : detached_)
            if (each.object != nullptr &&
                driver().cuGraphRetainUserObject(each.graph, each.object, 1, CU_GRAPH_USER_OBJECT_MOVE) == CUDA_SUCCESS)
                each.object = nullptr;
    }
    for (const HeldObject& each : detached_)
        if (each.object != nullptr) keep_owners(graph_, each.object);  // the definition needs the owners
}

CUresult DetachedOwners::keep(Objects& kept) const {
    const std::size_t before = kept.size();
    kept.reserve(before + all_.size());
    for (const HeldObject& each : all_) {
        const CUresult status = driver().cuUserObjectRetain(each.object, 1);
        if (status == CUDA_SUCCESS) {
            kept.push_back(each.object);
            continue;
        }
        for (; kept.size() > before; kept.pop_back()) release_object(kept.back());
        return status;
    }
    return CUDA_SUCCESS;
}

CUresult prepare_use(const LastUse& last, const StreamHandle& stream, LastUse* next) {
    const StreamBox& box = *box_of<StreamBox>(stream);
    next->context = box.context;
    if (box.context && (box.owned || box.owner)) {
        next->stream = stream;
        return CUDA_SUCCESS;
    }
    if (!next->context) next->context = current_context();
    if (!next->context) return why_no_context();
    if (is_legacy(box.raw)) {
        next->stream = stream;
        return CUDA_SUCCESS;
    }
    if (last.event && !last.is_shared && raw_of(last.context) == raw_of(next->context))
        next->event = last.event;
    else
        next->event = create_event(next->context, false, false);
    return next->event ? CUDA_SUCCESS : take_noted_error().status;
}

void mark_end(LastUse& use, const StreamHandle& stream) {
    if (!use.event || driver().cuEventRecord(*use.event, *stream) == CUDA_SUCCESS) return;
    use.event.reset();  // the end is not marked, so wait for it
    use.is_end_unknown = driver().cuStreamSynchronize(*stream) != CUDA_SUCCESS;
}

}  // namespace cg
