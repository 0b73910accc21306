// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Events and their records. A milestone is one record: a point in a stream's work. The event, the operation that
// reaches the point and all waiting operations share it. An event refers to the milestone of its latest record. An
// event can therefore be recorded again or destroyed while work waits for an earlier record, as cuda.h specifies for
// cuStreamWaitEvent and cuEventDestroy.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_STREAMS_EVENT_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_STREAMS_EVENT_HPP

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "hostdriver/objects/base/ref.hpp"
#include "hostdriver/objects/streams/shared_records.hpp"
#include "hostdriver/objects/streams/stream.hpp"

namespace cgh {

struct CapturedPoint;
class Context;

class Milestone : public RefCounted {
  public:
    static void dispose(Milestone* milestone) { delete milestone; }

    bool done() const {
        return done_.load(std::memory_order_acquire) || (is_foreign_ && records_->is_reached(record_));
    }
    std::int64_t nanoseconds() const { return nanoseconds_; }  // valid once done
    // Marks the milestone as done. Called once, when the work before it is complete.
    void reach();
    // Sets the stream position that reaches the milestone. Called under Event's lock or before another thread can see
    // the milestone.
    void set_target(Stream& stream, std::uint64_t position) { target_ = {Ref<Stream>(&stream), position}; }
    const Target& target() const { return target_; }
    // Makes this a record of an event that processes share. reach() then notifies the other processes.
    void share(std::shared_ptr<SharedRecords> records);
    // Returns a milestone for a record of another process. It has no target, because this process cannot run its work.
    static Ref<Milestone> foreign(std::shared_ptr<SharedRecords> records, std::uint64_t record);
    std::uint64_t record() const { return record_; }  // number in the shared records
    // The point in the capture for a record in a capture, which is never done. Null for a point in a stream's work.
    const CapturedPoint* captured() const { return captured_.get(); }
    void set_captured(CapturedPoint point);
    // Waits until the milestone is done. Runs the work before it if no other thread does. Returns false if the limit
    // passed earlier.
    bool wait(WaitLimit* limit = nullptr);

  private:
    std::atomic<bool> done_{false};
    std::int64_t nanoseconds_ = 0;
    Target target_;
    std::shared_ptr<const CapturedPoint> captured_;
    std::shared_ptr<SharedRecords> records_;
    std::uint64_t record_ = 0;
    bool is_foreign_ = false;
};

class Event : public RefCounted {
  public:
    // `records` is set for an event that processes share (CU_EVENT_INTERPROCESS).
    Event(Context& context, unsigned flags, std::shared_ptr<SharedRecords> records = nullptr)
        : context_(context), flags_(flags), records_(std::move(records)) {}
    static void dispose(Event* event);

    CUevent handle() { return reinterpret_cast<CUevent>(this); }
    Context& context() const { return context_; }
    bool timed() const { return (flags_ & CU_EVENT_DISABLE_TIMING) == 0; }
    const SharedRecords* records() const { return records_.get(); }

    // Pushes an operation that records a new milestone, which becomes the latest.
    CUresult record(Stream& stream);
    // Adds a record that another operation reaches (a graph's record node). announce() comes before the operation can
    // run, set_latest() after it was pushed.
    void announce(Milestone& milestone) const;
    void set_latest(Ref<Milestone> milestone);
    // Adds a record in a capture.
    void set_captured(CapturedPoint point);
    // Returns the latest record of any process. It is empty if the event was never recorded.
    Ref<Milestone> latest() const;
    // Returns the latest record. It is also empty if that record was in a capture.
    Ref<Milestone> latest_work() const;

    CUresult query() const;
    CUresult synchronize(WaitLimit* limit) const;  // limit: null for none
    static CUresult elapsed(const Event& start, const Event& end, float* milliseconds);
    // Orders later work of `stream` after a milestone.
    static void wait_for(const Ref<Milestone>& milestone, Stream& stream);
    // Implements cuStreamWaitEvent: orders later work of `stream` after the latest record.
    CUresult wait_on(Stream& stream) const;

  private:
    CUresult query_work(const Ref<Milestone>& milestone) const;

    Context& context_;
    const unsigned flags_;
    const std::shared_ptr<SharedRecords> records_;
    mutable SpinLock lock_;  // guards latest_
    Ref<Milestone> latest_;
};

}  // namespace cgh

#endif
