// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The worker threads, and the rules for waking them (see scheduler.hpp).
//
// Two orders keep work from being forgotten. Both are between a store and a later load of another variable, so these
// accesses use the single total order of seq_cst:
//   push:     Stream::pushed_ is stored, then listed_, claimed_, polling_ and sleeping_ are read (notify)
//   runner:   claimed_ is cleared, then pushed_ is read again (Stream::advance)
//   poller:   polling_ is cleared, then the streams are looked through again (sleep_until_woken)
#include "scheduler.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

#include "clock.hpp"
#include "hostdriver/entry.hpp"
#include "hostdriver/image_loader.h"
#include "hostdriver/objects/streams/stream.hpp"
#include "hostdriver/sanitizer/random_order.hpp"
#include "thread_state.hpp"

namespace cgh {
namespace {

constexpr std::uint32_t kShortNap = 20;        // microseconds; the kernel adds about 20
constexpr std::uint32_t kLongNap = 200;        // microseconds, if other threads run all the work
constexpr std::uint32_t kPollTime = 5'000;     // microseconds of silence before the poller sleeps
constexpr std::int64_t kPatience = 5'000'000;  // nanoseconds that all workers may be busy before one more is started
constexpr unsigned kMostMoreWorkers = 256;

unsigned cores() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
    return std::max(1u, std::thread::hardware_concurrency());
}

unsigned configured_workers() {
    if (order_is_random()) return 0;  // one thread draws all orders, so they are the same each time
    const char* text = std::getenv("CUDA_GRAPHS_HOST_THREADS");
    // At least two: a kernel of one stream may wait for work of another stream.
    const unsigned usual = std::max(2u, cores());
    if (text == nullptr || *text == '\0') return usual;
    char* end = nullptr;
    const unsigned long count = std::strtoul(text, &end, 10);
    return *end == '\0' ? static_cast<unsigned>(std::min(count, 1024ul)) : usual;
}

// Set at process exit. Workers then begin no work, so none runs while libraries are unloaded.
std::atomic<bool> process_exits{false};

}  // namespace

Scheduler& Scheduler::get() {
    static auto* scheduler = new Scheduler;
    return *scheduler;
}

Scheduler::Scheduler() : workers_(configured_workers()) {}

void Scheduler::start_threads() {
    std::lock_guard<std::mutex> lock(start_mutex_);
    if (started_.load(std::memory_order_relaxed)) return;
    std::atexit([] { process_exits.store(true, std::memory_order_relaxed); });
    for (unsigned i = 0; i < workers_; ++i) std::thread([this] { worker_main(); }).detach();
    started_.store(true, std::memory_order_release);
}

bool Scheduler::stops_this_thread() {
    return process_exits.load(std::memory_order_relaxed) && thread_state.is_of_driver;
}

void Scheduler::demand_worker() {
    if (!started_.load(std::memory_order_acquire) || polling_.load() || sleeping_.load() != 0) return;
    std::lock_guard<std::mutex> lock(start_mutex_);
    const std::uint32_t taken = taken_streams_.load(std::memory_order_relaxed);
    const std::int64_t now = steady_nanoseconds();
    if (demanded_at_ == 0 || demanded_after_ != taken) {
        demanded_after_ = taken;
        demanded_at_ = now;
    } else if (now - demanded_at_ >= kPatience && more_workers_ < kMostMoreWorkers) {
        demanded_at_ = now;
        try {
            std::thread([this] { worker_main(); }).detach();
            ++more_workers_;
        } catch (const std::system_error&) {  // the process can start no thread: a worker may still become free
        }
    }
}

void Scheduler::list(Stream& stream) {
    if (stream.listed_.load(std::memory_order_seq_cst) || stream.listed_.exchange(true, std::memory_order_seq_cst))
        return;
    stream.retain();
    std::lock_guard<std::mutex> lock(list_mutex_);
    listed_.push_back(&stream);
}

void Scheduler::keep(Stream& stream) {
    anything_pending();  // drops kept streams that are idle now
    list(stream);
}

void Scheduler::notify(Stream& stream) {
    if (workers_ == 0) return;
    list(stream);
    if (!active_.load(std::memory_order_relaxed)) active_.store(true, std::memory_order_relaxed);
    if (stream.claimed()) return;  // its runner looks again when it releases the stream
    ensure_poller();
}

void Scheduler::ensure_poller() {
    if (workers_ == 0 || polling_.load(std::memory_order_seq_cst)) return;
    if (!started_.load(std::memory_order_acquire)) return start_threads();
    if (sleeping_.load(std::memory_order_seq_cst) != 0) wake_one();
}

void Scheduler::wake_one() {
    {
        std::lock_guard<std::mutex> lock(sleep_mutex_);
        if (tokens_ < workers_) ++tokens_;
    }
    woken_.notify_one();
}

void Scheduler::wake_workers(unsigned count) {
    if (workers_ == 0) return;
    if (!started_.load(std::memory_order_acquire)) start_threads();
    const unsigned idle =
        sleeping_.load(std::memory_order_seq_cst) + (polling_.load(std::memory_order_seq_cst) ? 1 : 0);
    for (unsigned i = 0; i < std::min(count, idle); ++i) wake_one();
}

bool Scheduler::help(const Stream* stream, bool prompt) {
    for (auto mask = taken_.load(std::memory_order_seq_cst); mask != 0; mask &= mask - 1) {
        Slot& slot = slots_[static_cast<unsigned>(__builtin_ctzll(mask))];
        if (slot.job.load(std::memory_order_seq_cst) == nullptr) continue;
        slot.helpers.fetch_add(1, std::memory_order_seq_cst);
        // The job is read again. From here on the owner waits for this helper before it destroys the job.
        Job* job = slot.job.load(std::memory_order_seq_cst);
        const bool ours = stream == nullptr || slot.stream.load(std::memory_order_relaxed) == stream;
        const bool helped = job != nullptr && ours && job->wanted() && !(prompt && job->may_wait());
        if (helped) job->help();
        slot.helpers.fetch_sub(1, std::memory_order_seq_cst);
        progress.notify();
        if (helped) return true;
    }
    return false;
}

bool Scheduler::job_wanted(unsigned index, const Stream* stream, bool prompt) {
    Slot& slot = slots_[index];
    if (slot.job.load(std::memory_order_seq_cst) == nullptr) return false;
    slot.helpers.fetch_add(1, std::memory_order_seq_cst);
    Job* job = slot.job.load(std::memory_order_seq_cst);
    const bool ours = stream == nullptr || slot.stream.load(std::memory_order_relaxed) == stream;
    const bool wanted = job != nullptr && ours && job->wanted() && !(prompt && job->may_wait());
    slot.helpers.fetch_sub(1, std::memory_order_seq_cst);
    return wanted;
}

bool Scheduler::help_wanted(const Stream* stream, bool prompt) {
    for (auto mask = taken_.load(std::memory_order_seq_cst); mask != 0; mask &= mask - 1)
        if (job_wanted(static_cast<unsigned>(__builtin_ctzll(mask)), stream, prompt)) return true;
    return false;
}

// Called by the poller only.
bool Scheduler::anything_overdue() {
    if (process_exits.load(std::memory_order_relaxed)) return false;
    bool overdue = false;
    for (auto mask = taken_.load(std::memory_order_seq_cst); mask != 0; mask &= mask - 1) {
        const auto index = static_cast<unsigned>(__builtin_ctzll(mask));
        const std::uint32_t generation = slots_[index].generation.load(std::memory_order_relaxed);
        overdue = overdue || (seen_[index] == generation && job_wanted(index, nullptr));
        seen_[index] = generation;
    }
    std::lock_guard<std::mutex> lock(list_mutex_);
    for (Stream* stream : listed_) {
        const std::uint64_t completed = stream->completed_.load(std::memory_order_relaxed);
        const bool waits = stream->runnable();
        overdue = overdue || (waits && stream->seen_ == completed);
        stream->seen_ = waits ? completed : UINT64_MAX;
    }
    return overdue;
}

SharedJob::SharedJob(Job& job, const Stream* stream) : scheduler_(Scheduler::get()), slot_(-1) {
    auto taken = scheduler_.taken_.load(std::memory_order_relaxed);
    while (~taken != 0) {
        const int free = __builtin_ctzll(~taken);
        if (!scheduler_.taken_.compare_exchange_weak(taken, taken | std::uint64_t{1} << free)) continue;
        slot_ = free;
        auto& slot = scheduler_.slots_[static_cast<unsigned>(free)];
        slot.stream.store(stream, std::memory_order_relaxed);
        slot.generation.fetch_add(1, std::memory_order_relaxed);
        slot.job.store(&job, std::memory_order_seq_cst);
        return;
    }
}

SharedJob::~SharedJob() {
    if (slot_ < 0) return;
    auto& slot = scheduler_.slots_[static_cast<unsigned>(slot_)];
    slot.job.store(nullptr, std::memory_order_seq_cst);
    if (slot.helpers.load(std::memory_order_seq_cst) != 0)
        scheduler_.progress.wait([&] { return slot.helpers.load(std::memory_order_seq_cst) == 0; });
    scheduler_.taken_.fetch_and(~(std::uint64_t{1} << slot_), std::memory_order_seq_cst);
}

void Scheduler::worker_main() {
    pthread_setname_np(pthread_self(), "cgh-worker");
    thread_state.is_of_driver = true;
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);  // makes naps of some microseconds possible
    for (;;) {
        if (run_one()) continue;
        if (!polling_.exchange(true, std::memory_order_seq_cst) && poll()) continue;
        sleep_until_woken();
    }
}

// Returns true when there is work to run, false after a long silence.
bool Scheduler::poll() {
    for (std::uint32_t silence = 0;;) {
        active_.store(false, std::memory_order_relaxed);
        const std::uint32_t length = silence < kPollTime ? kShortNap : kLongNap;
        const bool woken = nap(length);
        if (woken || anything_overdue()) {
            polling_.store(false, std::memory_order_seq_cst);
            return true;
        }
        silence = active_.load(std::memory_order_relaxed) ? 0 : std::min(silence + length, kPollTime);
        if (silence == kPollTime && !anything_pending()) {
            polling_.store(false, std::memory_order_seq_cst);
            return false;
        }
    }
}

bool Scheduler::nap(std::uint32_t microseconds) {
    std::unique_lock<std::mutex> lock(sleep_mutex_);
    if (tokens_ == 0) woken_.wait_for(lock, std::chrono::microseconds(microseconds));
    if (tokens_ == 0) return false;
    --tokens_;
    return true;
}

void Scheduler::sleep_until_woken() {
    sleeping_.fetch_add(1, std::memory_order_seq_cst);
    // From here on a push wakes this worker. Work that was pushed before is found by this check.
    if (!anything_runnable() && (polling_.load(std::memory_order_seq_cst) || !anything_pending())) {
        std::unique_lock<std::mutex> lock(sleep_mutex_);
        woken_.wait(lock, [this] { return tokens_ != 0; });
        --tokens_;
    }
    sleeping_.fetch_sub(1, std::memory_order_seq_cst);
}

bool Scheduler::anything_runnable() {
    if (process_exits.load(std::memory_order_relaxed)) return false;
    if (help_wanted(nullptr)) return true;
    std::lock_guard<std::mutex> lock(list_mutex_);
    return std::any_of(listed_.begin(), listed_.end(), [](Stream* stream) { return stream->runnable(); });
}

// Returns true if a stream has work, and takes idle streams off the list.
bool Scheduler::anything_pending() {
    if (process_exits.load(std::memory_order_relaxed)) return false;
    bool pending = taken_.load(std::memory_order_seq_cst) != 0;
    std::vector<Stream*> gone;
    {
        std::lock_guard<std::mutex> lock(list_mutex_);
        for (std::size_t i = 0; i < listed_.size();) {
            Stream* stream = listed_[i];
            if (stream->idle()) {
                stream->listed_.exchange(false, std::memory_order_seq_cst);
                // A stream that is still idle leaves the list. Otherwise a push has listed it again, and this entry is
                // removed, or the push found it still listed, and the entry stays.
                if (stream->idle() || stream->listed_.exchange(true, std::memory_order_seq_cst)) {
                    gone.push_back(stream);
                    listed_[i] = listed_.back();
                    listed_.pop_back();
                    continue;
                }
            }
            pending = pending || !stream->claimed();
            ++i;
        }
    }
    for (Stream* stream : gone) Ref<Stream>::adopt(stream);  // without the lock, because this may destroy the stream
    return pending;
}

bool Scheduler::run_one() {
    if (process_exits.load(std::memory_order_relaxed)) return false;
    if (help(nullptr)) return true;
    Ref<Stream> chosen;
    bool more = false;
    {
        std::lock_guard<std::mutex> lock(list_mutex_);
        for (Stream* stream : listed_) {
            if (stream->claimed() || stream->idle()) continue;
            if (!chosen && stream->runnable())
                chosen = Ref<Stream>(stream);
            else
                more = true;
        }
    }
    if (!chosen) return false;
    taken_streams_.fetch_add(1, std::memory_order_relaxed);
    // This thread may be busy for a long time, so another worker must poll for the rest.
    if (more) ensure_poller();
    chosen->advance(UINT64_MAX);
    return true;
}

}  // namespace cgh

CGH_API uint32_t cghConcurrency(void) {
    return cgh::Scheduler::get().concurrency();
}
