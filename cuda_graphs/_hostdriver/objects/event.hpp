// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// An event names the milestone of its latest record. A milestone is one record: a point in a stream's work, shared
// by the event, the operation that reaches it and everybody who waits. So an event can be recorded again or destroyed
// while work still waits for an earlier record, as cuda.h says of cuStreamWaitEvent and cuEventDestroy.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_EVENT_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_EVENT_HPP

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "ref.hpp"
#include "shared_records.hpp"
#include "stream.hpp"

namespace cgh {

struct CapturedPoint;
class Context;

class Milestone : public Counted {
  public:
    static void dispose(Milestone* milestone) { delete milestone; }

    bool done() const {
        return done_.load(std::memory_order_acquire) || (is_foreign_ && records_->is_reached(record_));
    }
    std::int64_t nanoseconds() const { return nanoseconds_; }  // once done
    // The work before it is complete. Called once.
    void reach();
    // The stream position by which it is reached at the latest; to be set before anybody else sees the milestone,
    // or under Event's lock.
    void set_target(Stream& stream, std::uint64_t position) { target_ = {Ref<Stream>(&stream), position}; }
    const Target& target() const { return target_; }
    // A record of an event that processes share: the others are told when it is reached.
    void tell(std::shared_ptr<SharedRecords> records);
    // One that another process has made. It has no target: there is nothing that this process could run.
    static Ref<Milestone> foreign(std::shared_ptr<SharedRecords> records, std::uint64_t record);
    std::uint64_t record() const { return record_; }  // its number there
    // Of a record in a capture, which is never done: where in the capture it was. Null for a point in a stream's work.
    const CapturedPoint* captured() const { return captured_.get(); }
    void set_captured(CapturedPoint point);
    // Returns when it is done; runs the work that it waits for where nobody does.
    void wait();

  private:
    std::atomic<bool> done_{false};
    std::int64_t nanoseconds_ = 0;
    Target target_;
    std::shared_ptr<const CapturedPoint> captured_;
    std::shared_ptr<SharedRecords> records_;
    std::uint64_t record_ = 0;
    bool is_foreign_ = false;
};

class Event : public Counted {
  public:
    // `records`: of an event that processes share (CU_EVENT_INTERPROCESS).
    Event(Context& context, unsigned flags, std::shared_ptr<SharedRecords> records = nullptr)
        : context_(context), flags_(flags), records_(std::move(records)) {}
    static void dispose(Event* event);

    CUevent handle() { return reinterpret_cast<CUevent>(this); }
    Context& context() const { return context_; }
    bool timed() const { return (flags_ & CU_EVENT_DISABLE_TIMING) == 0; }
    const SharedRecords* records() const { return records_.get(); }

    // Pushes the record of a new milestone.
    CUresult record(Stream& stream);
    // A further record that something else reaches (a graph's record node): first it is announced, before anybody can
    // reach it, then it is the latest.
    void announce(Milestone& milestone) const;
    void set_latest(Ref<Milestone> milestone);
    // A further record, in a capture.
    void set_captured(CapturedPoint point);
    // The latest record, of whichever process, or empty when it was never recorded.
    Ref<Milestone> latest() const;
    // The same, empty also when that was in a capture.
    Ref<Milestone> latest_work() const;

    CUresult query() const;
    CUresult synchronize() const;
    static CUresult elapsed(const Event& start, const Event& end, float* milliseconds);
    // Later work of `stream` comes after a milestone.
    static void wait_for(const Ref<Milestone>& milestone, Stream& stream);
    // cuStreamWaitEvent: later work of `stream` waits for the latest record.
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
