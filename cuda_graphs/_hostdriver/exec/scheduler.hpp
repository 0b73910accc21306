// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Who runs the work. A stream with work is run by one thread at a time: by the thread that synchronises, if there is
// one, else by a worker.
//
// A launch must not pay for waking a worker. So one worker watches: as long as there was activity lately it sleeps in
// naps of some tens of microseconds and looks for work that nobody runs. It takes what it saw at its last look, too:
// who launches and synchronises at once is not disturbed. Only when nobody watches (silence for some milliseconds) does
// the next launch wake a worker by a system call.
//
// Work of one stream that several threads can share (the blocks of a kernel, the ready nodes of a graph) is a Job,
// published in a help slot for as long as it lasts. Publishing is a store; whoever has nothing to do finds it there.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXEC_SCHEDULER_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXEC_SCHEDULER_HPP

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "spin.hpp"

namespace cgh {

class Stream;

// Work that several threads can share.
class Job {
  public:
    virtual ~Job() = default;
    virtual bool wanted() const = 0;  // cheap: is there a piece that a helper could take now?
    virtual void help() = 0;          // takes pieces until there is none to take; called by any number of threads
    virtual bool may_wait() const { return false; }  // can a piece wait for something outside of the job?
};

class Scheduler {
  public:
    // The process's scheduler. Threads start with the first work; it is never destroyed.
    static Scheduler& get();

    // CUDA_GRAPHS_HOST_THREADS. With 0 work runs in whoever synchronises or queries.
    unsigned workers() const { return workers_; }
    // How many threads may work on one job, its owner included.
    unsigned concurrency() const { return workers_ == 0 ? 1 : workers_; }

    // Work was added to `stream`, or its runner left some of it: makes sure that somebody will see it.
    void notify(Stream& stream);

    // Keeps a stream that was destroyed while it waits for a value in memory, until its work is done.
    void keep(Stream& stream);

    // Wakes up to `count` sleeping workers, with a system call each. For work that is worth it.
    void call_help(unsigned count);
    // Makes sure that a worker looks for shared work within a nap; a system call only when nobody watches.
    void ensure_watcher();

    // Helps the published jobs of `stream` (of any stream when nullptr). False when none wanted help. A thread with
    // unfinished work below it on its stack takes only what is `prompt`: pieces that wait for nothing.
    bool help(const Stream* stream, bool prompt = false);
    bool help_wanted(const Stream* stream, bool prompt = false);

    // Told after everything that a waiting thread may wait for: an operation done, a stream let go, a helper gone.
    Signal progress;

  private:
    friend class SharedJob;
    static constexpr unsigned kSlots = 64;
    struct alignas(64) Slot {
        std::atomic<Job*> job{nullptr};
        std::atomic<const Stream*> stream{nullptr};
        std::atomic<std::uint32_t> helpers{0};
        std::atomic<std::uint32_t> generation{0};  // counts the jobs that were published here
    };

    Scheduler();
    void start_threads();
    void list(Stream& stream);
    void worker_main();
    bool watch();  // naps and looks; false when it gave up the watch after a long silence
    void sleep_deeply();
    bool run_something();  // one stream or one job; false when there was nothing
    bool anything_runnable();
    bool anything_overdue();  // has waited since the last look: nobody else is about to run it
    bool anything_pending();  // also work that is blocked or that another thread runs
    void wake_one();
    bool nap(std::uint32_t microseconds);
    bool job_wanted(unsigned slot, const Stream* stream, bool prompt = false);

    const unsigned workers_;
    std::atomic<bool> started_{false};
    std::atomic<bool> watching_{false};
    std::atomic<bool> active_{false};         // set by notify(), cleared by the watcher
    std::atomic<std::uint32_t> sleeping_{0};  // workers in sleep_deeply()

    std::atomic<std::uint64_t> taken_{0};  // bit i: slots_[i] is in use
    std::array<Slot, kSlots> slots_;
    std::array<std::uint32_t, kSlots> seen_{};  // their generations when the watcher last looked; the watcher's own

    std::mutex list_mutex_;        // guards listed_
    std::vector<Stream*> listed_;  // streams that may have work; holds a reference to each

    std::mutex sleep_mutex_;    // guards tokens_
    std::uint32_t tokens_ = 0;  // wake-ups granted and not yet taken
    std::condition_variable woken_;
    std::mutex start_mutex_;
};

// Publishes a job for as long as it lives. The destructor waits until no helper is inside the job.
class SharedJob {
  public:
    SharedJob(Job& job, const Stream* stream);
    ~SharedJob();
    SharedJob(const SharedJob&) = delete;
    SharedJob& operator=(const SharedJob&) = delete;

  private:
    Scheduler& scheduler_;
    int slot_;  // -1: all slots were taken, the owner works alone
};

}  // namespace cgh

#endif
