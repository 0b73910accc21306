// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A stream is a first-in first-out queue of operations. Whoever claims it runs them one after another; nobody waits
// for a lock that is held while an operation runs. Positions count operations: the stream has reached position p when
// its first p operations are complete.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_STREAM_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_STREAM_HPP

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "../exec/spin.hpp"
#include "ref.hpp"

namespace cgh {

struct Branch;
class Context;
class GreenContext;
class Intake;
class Scheduler;
class Stream;

// A position in another stream's work that something waits for.
struct Target {
    Ref<Stream> stream;
    std::uint64_t position = 0;
};

// One piece of a stream's work.
class Operation {
  public:
    virtual ~Operation() = default;
    // Runs in stream order, on one thread, with no lock held, once ready() holds. A failure is reported with
    // Context::fail.
    virtual void run(Stream& stream) = 0;
    // After run(): false where it is not complete, and is to be run again once ready() holds again.
    virtual bool complete() const { return true; }
    // May it run now? Cheap, may be asked from any thread. False: it waits for the work before blocked_on(), or, where
    // that names no stream, for a value in memory.
    virtual bool ready() const { return true; }
    virtual Target blocked_on() const { return {}; }
    // All that it comes after, besides the work before it in its stream.
    virtual std::vector<Target> awaits() const { return {blocked_on()}; }
    // True for operations that run although the context has failed (they free, record, wait). The others are dropped.
    virtual bool runs_after_failure() const { return false; }
    // The operation is done or dropped.
    virtual void finish() { delete this; }

  private:
    friend class Stream;
    Operation* next_ = nullptr;
};

// What a program may set on a stream (api/stream_attributes.cpp); nothing here depends on it.
struct StreamAttributes {
    CUsynchronizationPolicy policy = CU_SYNC_POLICY_AUTO;
    CUlaunchMemSyncDomain domain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
    CUlaunchMemSyncDomainMap domain_map{0, 1};
    CUaccessPolicyWindow window{};
};

class Stream : public Counted {
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
    bool is_created() const { return kind_ == Kind::kCreated; }  // by the program
    GreenContext* green() const { return green_; }               // that it belongs to, or nullptr
    // Blocking streams and the legacy default stream wait for each other.
    bool is_legacy() const { return kind_ == Kind::kLegacy; }
    bool is_blocking() const { return kind_ != Kind::kLegacy && (flags_ & CU_STREAM_NON_BLOCKING) == 0; }

    // Where work goes that callers hand in.
    const Intake& intake() const { return *intake_.load(std::memory_order_acquire); }
    void set_intake(const Intake& intake) { intake_.store(&intake, std::memory_order_release); }
    Branch* branch = nullptr;  // the stream's part of a capture; guarded by Capture::mutex()

    // Appends an operation, with the waits that the default-stream rules ask for. Takes it over. Returns at once.
    // Returns the position at which the operation is complete.
    std::uint64_t push(Operation* operation);
    // Appends it as it is.
    std::uint64_t append(Operation* operation);
    // Later work comes after all that was pushed to another stream.
    void wait_behind(Stream& other);

    std::uint64_t pushed() const { return pushed_.load(std::memory_order_seq_cst); }
    bool reached(std::uint64_t position) const { return completed_.load(std::memory_order_seq_cst) >= position; }
    bool idle() const { return reached(pushed()); }

    // Runs or waits for everything up to `position`.
    void wait_for(std::uint64_t position);
    // Waits for all work pushed so far; then the context's status.
    CUresult synchronize();
    // CUDA_SUCCESS, CUDA_ERROR_NOT_READY or the context's error. Without workers, runs the work.
    CUresult query();

    // How far one attempt to run the stream came.
    struct Advance {
        enum Kind { kReached, kEmpty, kBusy, kBlocked } kind;
        Target blocked_on;  // of kBlocked
    };
    // Runs operations until `position` is reached, the queue is empty, the first one is blocked, or (kBusy) nothing
    // because another thread runs the stream.
    Advance advance(std::uint64_t position);

    // Does somebody run it just now?
    bool claimed() const { return claimed_.load(std::memory_order_seq_cst); }
    // Is there an operation that a thread could run now?
    bool runnable();

  private:
    friend class Scheduler;
    void run(Operation& operation);
    void wait_until_reached(std::uint64_t position);
    Operation* first();  // of the queue, or nullptr; by the claimer only
    void complete(Operation* operation);

    Context& context_;
    const Kind kind_;
    const unsigned flags_;
    const int priority_;
    const std::uint64_t id_;
    GreenContext* const green_;
    std::atomic<const Intake*> intake_;

    alignas(64) SpinLock queue_lock_;  // guards the three below
    Operation* incoming_ = nullptr;
    Operation* incoming_last_ = nullptr;
    Operation* parked_ = nullptr;  // the first operation, when it was not ready and nobody runs the stream
    std::atomic<std::uint64_t> pushed_{0};
    std::atomic<bool> listed_{false};  // in the scheduler's list
    std::uint64_t seen_ = UINT64_MAX;  // completed_ when the watcher last saw it wait; guarded by the scheduler's list

    alignas(64) std::atomic<bool> claimed_{false};
    Operation* batch_ = nullptr;  // taken from incoming_; by the claimer only
    std::atomic<std::uint64_t> completed_{0};

  public:
    StreamAttributes attributes;  // guarded by api/stream_attributes.cpp
};

// Waits until `done(argument)`, which becomes true by the work of `stream` before `position`. Runs that work if nobody
// else does.
void wait_helping(Stream& stream, std::uint64_t position, bool (*done)(const void*), const void* argument);
// Runs a stream that can run, of any context. False: there is none.
bool run_any_stream();
// The same without waiting for other threads: runs what it can. For queries of a driver without workers.
void run_what_is_ready(Stream& stream, std::uint64_t position);

// A CUstream argument: 0 and 1 are the current context's legacy default stream, 2 is the calling thread's own, others
// are checked handles. CUDA_ERROR_INVALID_HANDLE, or the error of the context.
CUresult find_stream(CUstream handle, Stream** out);

}  // namespace cgh

#endif
