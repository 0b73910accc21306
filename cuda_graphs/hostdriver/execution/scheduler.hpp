// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Chooses the threads that run work. One thread at a time runs a stream: the thread that synchronises it, if there is
// one, otherwise a worker.
//
// A launch must not pay for waking a worker. So one worker polls. While there was recent activity, it naps for tens
// of microseconds and then looks for streams that no thread runs. It takes a stream only if its last look already saw
// the work, so it does not disturb a thread that launches and synchronises at once. If no worker polls (after some
// milliseconds of silence), the next launch wakes a worker with a system call.
//
// Work of one stream that several threads can share (the blocks of a kernel, the ready nodes of a graph) is a Job,
// published in a help slot for its lifetime. Publishing is a store, and idle threads look through the slots.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_SCHEDULER_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_SCHEDULER_HPP

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "spin.hpp"

namespace cgh {

class Stream;

// A piece of work that several threads can share.
class Job {
  public:
    virtual ~Job() = default;
    virtual bool wanted() const = 0;  // cheap: returns true if a helper could take a piece now
    virtual void help() = 0;          // takes pieces until none is left; callable by any number of threads
    virtual bool may_wait() const { return false; }  // returns true if a piece can wait for an event outside the job
};

class Scheduler {
  public:
    // Returns the process's scheduler. Its threads start with the first work; it is never destroyed.
    static Scheduler& get();

    // Returns the number of workers, from CUDA_GRAPHS_HOST_THREADS. With 0, work runs in the threads that synchronise
    // or query.
    unsigned workers() const { return workers_; }
    // Returns the number of threads that may work on one job, including its owner.
    unsigned concurrency() const { return workers_ == 0 ? 1 : workers_; }

    // Ensures that a thread finds the work of `stream`. Called when work was added, or when its runner left some.
    void notify(Stream& stream);

    // Keeps a stream that was destroyed while it waits for a value in memory, until its work is done.
    void keep(Stream& stream);

    // Wakes up to `count` sleeping workers, with one system call each. Only large work is worth this cost.
    void wake_workers(unsigned count);
    // Returns true if workers can run the work that a thread with a limited wait leaves to them. One worker is too few:
    // a kernel may wait for the work of another stream.
    bool can_take_over() const { return workers_ >= 2; }
    // Wakes a worker for such work.
    void take_over() {
        wake_workers(1);
        demand_worker();
    }
    // Called while a thread waits for a stream that no thread runs. If all workers have been busy for a while, perhaps
    // with kernels that never end, another worker starts.
    void demand_worker();
    // Returns true on a worker once the process exits: it leaves the rest of a stream to threads that wait for the
    // stream.
    static bool stops_this_thread();
    // Ensures that a worker looks for shared work within a nap. Needs a system call only if no worker polls.
    void ensure_poller();

    // Helps the published jobs of `stream`, or of any stream if it is nullptr. Returns false if no job wanted help. A
    // thread with unfinished work below it on its stack passes `prompt`, to take only pieces that wait for nothing.
    bool help(const Stream* stream, bool prompt = false);
    bool help_wanted(const Stream* stream, bool prompt = false);

    // Notified after every event that a thread may wait for: an operation completes, a stream is released, a helper
    // leaves.
    Signal progress;

  private:
    friend class SharedJob;
    static constexpr unsigned kSlots = 64;
    struct alignas(64) Slot {
        std::atomic<Job*> job{nullptr};
        std::atomic<const Stream*> stream{nullptr};
        std::atomic<std::uint32_t> helpers{0};
        std::atomic<std::uint32_t> generation{0};  // number of jobs published in this slot so far
    };

    Scheduler();
    void start_threads();
    void list(Stream& stream);
    void worker_main();
    bool poll();  // naps and looks; returns false after a long silence
    void sleep_until_woken();
    bool run_one();  // runs one stream or one job; returns false if there was none
    bool anything_runnable();
    bool anything_overdue();  // work that has waited since the last look
    bool anything_pending();  // includes work that is blocked or that another thread runs
    void wake_one();
    bool nap(std::uint32_t microseconds);
    bool job_wanted(unsigned slot, const Stream* stream, bool prompt = false);

    const unsigned workers_;
    std::atomic<bool> started_{false};
    std::atomic<bool> polling_{false};
    std::atomic<bool> active_{false};              // set by notify(), cleared by the poller
    std::atomic<std::uint32_t> sleeping_{0};       // workers in sleep_until_woken()
    std::atomic<std::uint32_t> taken_streams_{0};  // how often a worker has begun to run a stream

    std::atomic<std::uint64_t> taken_{0};  // bit i is set while slots_[i] is in use
    std::array<Slot, kSlots> slots_;
    std::array<std::uint32_t, kSlots> seen_{};  // slot generations at the poller's last look; used by the poller only

    std::mutex list_mutex_;        // guards listed_
    std::vector<Stream*> listed_;  // streams that may have work, one reference each

    std::mutex sleep_mutex_;    // guards tokens_
    std::uint32_t tokens_ = 0;  // granted wake-ups that no worker has taken yet
    std::condition_variable woken_;
    std::mutex start_mutex_;            // guards the start of threads, and what follows
    unsigned more_workers_ = 0;         // workers that demand_worker() has started
    std::uint32_t demanded_after_ = 0;  // taken_streams_ at the first demand that is not met,
    std::int64_t demanded_at_ = 0;      // and its time
};

// Publishes a job for the lifetime of this object. The destructor waits until no helper is inside the job.
class SharedJob {
  public:
    SharedJob(Job& job, const Stream* stream);
    ~SharedJob();
    SharedJob(const SharedJob&) = delete;
    SharedJob& operator=(const SharedJob&) = delete;

  private:
    Scheduler& scheduler_;
    int slot_;  // index of the help slot; -1 if all slots were taken and the owner works alone
};

}  // namespace cgh

#endif
