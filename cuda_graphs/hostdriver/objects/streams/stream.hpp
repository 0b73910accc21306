// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A stream is a first-in first-out queue of operations. The thread that claims the stream runs them one after another,
// and no lock is held while an operation runs. Positions count operations: the stream has reached position p when its
// first p operations are complete.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_STREAMS_STREAM_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_STREAMS_STREAM_HPP

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "hostdriver/execution/spin.hpp"
#include "hostdriver/objects/base/ref.hpp"

namespace cgh {

struct Branch;
class Context;
class GreenContext;
class Intake;
class Scheduler;
class Stream;
class WaitLimit;

// A position in a stream's work for which an operation waits.
struct Target {
    Ref<Stream> stream;
    std::uint64_t position = 0;
};

// An operation in a stream's queue.
class Operation {
  public:
    virtual ~Operation() = default;
    // Runs the operation, in stream order, on one thread, without a lock, after ready() has returned true. A failure is
    // reported with Context::fail.
    virtual void run(Stream& stream) = 0;
    // Called after run(). Returns false if the operation must run again once ready() returns true.
    virtual bool complete() const { return true; }
    // Returns whether the operation may run now. Cheap; any thread may call it. If false, the operation waits for the
    // position blocked_on(), or for a value in memory if blocked_on() has no stream.
    virtual bool ready() const { return true; }
    virtual Target blocked_on() const { return {}; }
    // Returns the positions in other streams that the operation waits for.
    virtual std::vector<Target> awaits() const { return {blocked_on()}; }
    // Returns true for operations that run even after the context has failed (frees, records, waits). Other operations
    // are dropped then.
    virtual bool runs_after_failure() const { return false; }
    // Returns true if the operation is known to take at most about kBrief (wait_limit.hpp), so that a thread whose wait
    // is limited may run it.
    virtual bool is_brief() const { return true; }
    // Called when the operation is done or dropped.
    virtual void finish() { delete this; }

  private:
    friend class Stream;
    Operation* next_ = nullptr;
};

// Attributes that a program may set on a stream (hostdriver/api/streams/stream_attributes.cpp). They have no effect on
// execution.
struct StreamAttributes {
    CUsynchronizationPolicy policy = CU_SYNC_POLICY_AUTO;
    CUlaunchMemSyncDomain domain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
    CUlaunchMemSyncDomainMap domain_map{0, 1};
    CUaccessPolicyWindow window{};
};

class Stream : public RefCounted {
  public:
    enum class Kind { kCreated, kLegacy, kPerThread };

    Stream(Context& context, Kind kind, unsigned flags, int priority, GreenContext* green = nullptr);
    ~Stream();
    static void dispose(Stream* stream);

    CUstream handle() { return reinterpret_cast<CUstream>(this); }
    Context& context() const { return context_; }
    unsigned flags() const { return flags_; }
    int priority() const { return priority_; }
    std::uint64_t id() const { return id_; }
    bool is_created() const { return kind_ == Kind::kCreated; }  // created by the program
    GreenContext* green() const { return green_; }               // the stream's green context, or nullptr
    // The legacy default stream and the blocking streams of a context wait for each other's earlier work.
    bool is_legacy() const { return kind_ == Kind::kLegacy; }
    bool is_blocking() const { return kind_ != Kind::kLegacy && (flags_ & CU_STREAM_NON_BLOCKING) == 0; }

    // The intake that receives the callers' work.
    const Intake& intake() const { return *intake_.load(std::memory_order_acquire); }
    void set_intake(const Intake& intake) { intake_.store(&intake, std::memory_order_release); }
    Branch* branch = nullptr;  // the stream's part of a capture; guarded by Capture::mutex()

    // Appends an operation, which the stream then owns, and the waits that the default-stream rules require. Does not
    // block. Returns the position at which the operation is complete.
    std::uint64_t push(Operation* operation);
    // Appends an operation without these waits.
    std::uint64_t append(Operation* operation);
    // Orders later work after all work pushed to another stream so far.
    void wait_behind(Stream& other);

    std::uint64_t pushed() const { return pushed_.load(std::memory_order_seq_cst); }
    bool reached(std::uint64_t position) const { return completed_.load(std::memory_order_seq_cst) >= position; }
    bool idle() const { return reached(pushed()); }

    // Waits until the stream has reached `position`; the calling thread may run the work itself. Returns false if the
    // limit passed earlier.
    bool wait_for(std::uint64_t position, WaitLimit* limit = nullptr);
    // Waits for all work pushed so far and returns the context's status, or CUDA_ERROR_NOT_READY after the limit.
    CUresult synchronize(WaitLimit* limit = nullptr);
    // Returns CUDA_SUCCESS, CUDA_ERROR_NOT_READY or the context's error. Without workers it runs the work.
    CUresult query();

    // The result of one attempt to run the stream.
    struct Advance {
        enum Kind { kReached, kEmpty, kBusy, kBlocked, kLeft } kind;
        Target blocked_on;  // set for kBlocked
    };
    // Runs operations until `position` is reached, the queue is empty or the first operation is blocked. Returns kBusy
    // at once if another thread runs the stream. With a limit, returns kLeft if the first operation is left to a worker
    // or the limit has passed.
    Advance advance(std::uint64_t position, WaitLimit* limit = nullptr);

    // Returns whether a thread runs the stream now.
    bool claimed() const { return claimed_.load(std::memory_order_seq_cst); }
    // Called by a thread that asks whether work is done: demands a worker if no thread runs the stream.
    void demand_runner() const;
    // Returns whether a thread could run an operation of the stream now.
    bool runnable();

  private:
    friend class Scheduler;
    void run(Operation& operation);
    bool wait_until_reached(std::uint64_t position, WaitLimit* limit);
    Operation* first();  // first operation of the queue, or nullptr; only for the claiming thread
    void complete(Operation* operation);

    Context& context_;
    const Kind kind_;
    const unsigned flags_;
    const int priority_;
    const std::uint64_t id_;
    GreenContext* const green_;
    std::atomic<const Intake*> intake_;

    alignas(64) SpinLock queue_lock_;  // guards incoming_, incoming_last_ and parked_
    Operation* incoming_ = nullptr;
    Operation* incoming_last_ = nullptr;
    Operation* parked_ = nullptr;  // first operation, if it was not ready and no thread runs the stream
    std::atomic<std::uint64_t> pushed_{0};
    std::atomic<bool> listed_{false};  // true while in the scheduler's list
    // completed_ when the poller last saw the stream wait; guarded by the lock of the scheduler's list
    std::uint64_t seen_ = UINT64_MAX;

    alignas(64) std::atomic<bool> claimed_{false};
    Operation* batch_ = nullptr;  // operations taken from incoming_; only for the claiming thread
    std::atomic<std::uint64_t> completed_{0};

  public:
    StreamAttributes attributes;  // guarded by hostdriver/api/streams/stream_attributes.cpp
};

// Waits until `done(argument)` is true, which the work of `stream` before `position` causes. Runs that work if no other
// thread does. Returns false if the limit passed earlier.
bool wait_helping(Stream& stream, std::uint64_t position, bool (*done)(const void*), const void* argument,
                  WaitLimit* limit);
// Runs a runnable stream of any context. Returns false if no stream is runnable.
bool run_any_stream();
// Runs the work of `stream` up to `position` as far as possible without waiting for other threads. For queries of a
// driver without workers.
void run_ready_operations(Stream& stream, std::uint64_t position);

// Writes the stream of a CUstream argument. 0 and 1 are the legacy default stream of the current context, and 2 is the
// calling thread's own stream. Returns CUDA_ERROR_INVALID_HANDLE for an invalid handle, or the error of the context.
CUresult find_stream(CUstream handle, Stream** out);

}  // namespace cgh

#endif
