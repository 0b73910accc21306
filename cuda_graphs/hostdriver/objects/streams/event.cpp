// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Event records and the operations that wait for them.
#include "hostdriver/objects/streams/event.hpp"

#include "hostdriver/execution/clock.hpp"
#include "hostdriver/execution/scheduler.hpp"
#include "hostdriver/execution/wait_limit.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/streams/capture.hpp"
#include "hostdriver/sanitizer/accesses.hpp"

namespace cgh {
namespace {

class Record final : public Operation {
  public:
    explicit Record(Ref<Milestone> milestone) : milestone_(std::move(milestone)) {}
    void run(Stream&) override { milestone_->reach(); }
    bool runs_after_failure() const override { return true; }

  private:
    Ref<Milestone> milestone_;
};

class MilestoneWait final : public Operation {
  public:
    explicit MilestoneWait(Ref<Milestone> milestone) : milestone_(std::move(milestone)) {}
    void run(Stream&) override {}
    bool ready() const override { return milestone_->done(); }
    Target blocked_on() const override { return milestone_->target(); }
    bool runs_after_failure() const override { return true; }

  private:
    Ref<Milestone> milestone_;
};

}  // namespace

void Milestone::reach() {
    nanoseconds_ = steady_nanoseconds();
    done_.store(true, std::memory_order_seq_cst);
    if (records_) records_->reach(record_);
    Scheduler::get().progress.notify();
}

void Milestone::set_captured(CapturedPoint point) {
    captured_ = std::make_shared<const CapturedPoint>(std::move(point));
}

void Milestone::share(std::shared_ptr<SharedRecords> records) {
    record_ = records->begin();
    records_ = std::move(records);
}

Ref<Milestone> Milestone::foreign(std::shared_ptr<SharedRecords> records, std::uint64_t record) {
    auto milestone = Ref<Milestone>::adopt(new Milestone);
    milestone->records_ = std::move(records);
    milestone->record_ = record;
    milestone->is_foreign_ = true;
    return milestone;
}

bool Milestone::wait(WaitLimit* limit) {
    if (done()) return true;
    if (is_foreign_) {
        // The other process may wait for work of this process. Without workers the waiting thread must run that work.
        const auto has_passed = [limit] { return limit != nullptr && limit->has_passed(); };
        while (Scheduler::get().workers() == 0 && !done() && !has_passed() && run_any_stream()) {
        }
        return Scheduler::get().progress.wait([this] { return done(); }, has_passed);
    }
    return wait_helping(
        *target_.stream, target_.position,
        [](const void* argument) { return static_cast<const Milestone*>(argument)->done(); }, this, limit);
}

void Event::dispose(Event* event) {
    arena<Event>.recycle(event);
}

CUresult Event::record(Stream& stream) {
    auto milestone = Ref<Milestone>::adopt(new Milestone);
    auto* record = new Record(milestone);
    {
        // The push is under the lock. If two threads record one event, the later operation is then the latest record.
        std::lock_guard<SpinLock> lock(lock_);
        announce(*milestone);
        milestone->set_target(stream, stream.push(record));
        std::swap(latest_, milestone);
    }
    return CUDA_SUCCESS;  // the earlier record is destroyed here, outside the lock
}

void Event::announce(Milestone& milestone) const {
    if (records_) milestone.share(records_);
}

void Event::set_latest(Ref<Milestone> milestone) {
    std::lock_guard<SpinLock> lock(lock_);
    std::swap(latest_, milestone);  // the parameter now holds the earlier record and is destroyed after unlocking
}

Ref<Milestone> Event::latest() const {
    Ref<Milestone> ours;
    {
        std::lock_guard<SpinLock> lock(lock_);
        ours = latest_;
    }
    if (!records_ || (ours && ours->captured() != nullptr)) return ours;
    const std::uint64_t record = records_->latest();
    return record == (ours ? ours->record() : 0) ? ours : Milestone::foreign(records_, record);
}

void Event::set_captured(CapturedPoint point) {
    auto milestone = Ref<Milestone>::adopt(new Milestone);
    milestone->set_captured(std::move(point));
    set_latest(std::move(milestone));
}

Ref<Milestone> Event::latest_work() const {
    const Ref<Milestone> milestone = latest();
    return milestone && milestone->captured() != nullptr ? Ref<Milestone>() : milestone;
}

namespace {
// Checks a wait for or query of a record. A record in a capture forbids both; otherwise the rules for unsafe calls
// apply.
CUresult check_awaited(const Ref<Milestone>& milestone) {
    if (milestone && milestone->captured() != nullptr) return Capture::refuse_captured_event(*milestone->captured());
    return Capture::check_unsafe_call();
}
}  // namespace

namespace {
// Tells the checks that the host has waited for the milestone, and so for all work before it.
void note_waited(const Ref<Milestone>& milestone) {
    if (settings.any() && milestone && milestone->target().stream)
        note_host_waited(*milestone->target().stream, milestone->target().position);
}
}  // namespace

CUresult Event::query() const {
    const Ref<Milestone> milestone = latest();
    if (const CUresult refused = check_awaited(milestone); refused != CUDA_SUCCESS) return refused;
    return query_work(milestone);
}

CUresult Event::query_work(const Ref<Milestone>& milestone) const {
    if (context_.status() != CUDA_SUCCESS) return context_.status();
    // An event that was never recorded counts as complete.
    if (!milestone || milestone->done()) {
        note_waited(milestone);
        return CUDA_SUCCESS;
    }
    if (Scheduler::get().workers() == 0 && milestone->target().stream)
        run_ready_operations(*milestone->target().stream, milestone->target().position);
    if (milestone->done()) return context_.status();
    if (milestone->target().stream) milestone->target().stream->demand_runner();
    return CUDA_ERROR_NOT_READY;
}

CUresult Event::synchronize(WaitLimit* limit) const {
    const Ref<Milestone> milestone = latest();
    if (const CUresult refused = check_awaited(milestone); refused != CUDA_SUCCESS) return refused;
    if (milestone && !milestone->wait(limit)) return CUDA_ERROR_NOT_READY;
    note_waited(milestone);
    return context_.status();
}

CUresult Event::elapsed(const Event& start, const Event& end, float* milliseconds) {
    const Ref<Milestone> from = start.latest(), to = end.latest();
    for (const Ref<Milestone>& record : {from, to})
        if (record && record->captured() != nullptr) return Capture::refuse_elapsed_time(*record->captured());
    // cuda.h, cuEventElapsedTime: "If cuEventRecord() has not been called on either event then
    // CUDA_ERROR_INVALID_HANDLE is returned"; "If either event was created with the CU_EVENT_DISABLE_TIMING flag, then
    // this function will return CUDA_ERROR_INVALID_HANDLE."
    if (!from || !to || !start.timed() || !end.timed()) return CUDA_ERROR_INVALID_HANDLE;
    if (start.context().device() != end.context().device()) return CUDA_ERROR_INVALID_HANDLE;
    if (milliseconds == nullptr) return CUDA_ERROR_INVALID_HANDLE;  // as in libcuda
    // "if ... either of them has not yet completed ... CUDA_ERROR_NOT_READY is returned".
    if (const CUresult state = start.query_work(from); state != CUDA_SUCCESS) return state;
    if (const CUresult state = end.query_work(to); state != CUDA_SUCCESS) return state;
    *milliseconds = static_cast<float>(static_cast<double>(to->nanoseconds() - from->nanoseconds()) * 1e-6);
    return CUDA_SUCCESS;
}

void Event::wait_for(const Ref<Milestone>& milestone, Stream& stream) {
    stream.append(new MilestoneWait(milestone));
}

CUresult Event::wait_on(Stream& stream) const {
    // An event that was never recorded causes no wait.
    Ref<Milestone> milestone = latest_work();
    if (milestone && (settings.race || !milestone->done())) stream.push(new MilestoneWait(std::move(milestone)));
    return CUDA_SUCCESS;
}

}  // namespace cgh
