// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Hands the blocks of a kernel to the threads that run it (see block_runner.hpp).
#include "block_runner.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "faults.hpp"
#include "hostdriver/loader/services.hpp"
#include "hostdriver/objects/code/kernel.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/streams/stream.hpp"
#include "hostdriver/sanitizer/accesses.hpp"
#include "hostdriver/sanitizer/random_order.hpp"
#include "scheduler.hpp"
#include "thread_state.hpp"
#include "thread_store.hpp"

namespace cgh {
namespace {

constexpr double kSmall = 15;        // microseconds: cheaper launches stay on one thread
constexpr double kChunk = 10;        // microseconds of blocks that a thread takes at least at a time
constexpr double kChunks = 16;       // for each thread, if they are longer: memory is read in long runs
constexpr double kWorthWaking = 25;  // microseconds of remaining work that justify waking a sleeping worker

}  // namespace

struct BlockLaunch {
    Kernel& kernel;
    cgh_entry entry;  // of the kernel, or of a loop that it shares
    const cgh_launch& dims;
    const void* params;
    void* run_context;
    Context* context;
    const Stream* stream;
    Task* task = thread_state.task;  // set while the checks are on
};

namespace {

using Launch = BlockLaunch;

std::size_t shared_bytes(const Launch& launch) {
    return (launch.kernel.code().static_shared_bytes + 15u) / 16 * 16 + launch.dims.dynamic_shared_bytes;
}

// Calls the kernel's entry for a range of blocks.
struct Entry {
    const Launch& launch;
    const cgh_launch& dims;
    void* shared;
    std::uint64_t first, end;
};

void call_entry(const void* argument) {
    const Entry& entry = *static_cast<const Entry*>(argument);
    entry.launch.entry(&entry.dims, entry.launch.params, entry.shared, entry.first, entry.end);
}

CUresult enter_unchecked(const Launch& launch, const cgh_launch& dims, void* shared, std::uint64_t first,
                         std::uint64_t end) {
    const Entry entry{launch, dims, shared, first, end};
    void* const outer_run = std::exchange(thread_state.run_context, launch.run_context);
    Context* const outer_context = std::exchange(thread_state.kernel_context, launch.context);
    const BlockLaunch* const outer_launch = std::exchange(thread_state.launch, &launch);
    const CUresult fault = run_guarded(call_entry, &entry);
    thread_state.launch = outer_launch;
    thread_state.run_context = outer_run;
    thread_state.kernel_context = outer_context;
    return fault;
}

// The shared memory of a block (`own`), and that of all blocks that run together (`around`), which contains it.
struct SharedMemory {
    std::byte* own;
    std::byte* around;
    std::size_t around_bytes;
};

// The checks need a KernelRun, which launches without them do not have in their frames.
CUresult enter_checked(const Launch& launch, const cgh_launch& dims, const SharedMemory& shared, std::uint64_t first,
                       std::uint64_t end) {
    KernelRun run;
    run.task = launch.task;
    run.kernel = &launch.kernel;
    run.dims = &dims;
    run.params = launch.params;
    run.shared = shared.own;
    run.shared_bytes = shared_bytes(launch);
    run.shared_around = shared.around;
    run.shared_around_bytes = shared.around_bytes;
    const TaskScope task(launch.task);
    KernelRun* const outer = std::exchange(thread_state.kernel_run, &run);
    const CUresult fault = enter_unchecked(launch, dims, shared.own, first, end);
    thread_state.kernel_run = outer;
    return fault;
}

CUresult enter(const Launch& launch, const cgh_launch& dims, const SharedMemory& shared, std::uint64_t first,
               std::uint64_t end) {
    if (launch.task == nullptr) return enter_unchecked(launch, dims, shared.own, first, end);
    return enter_checked(launch, dims, shared, first, end);
}

CUresult enter(const Launch& launch, std::uint64_t first, std::uint64_t end) {
    return enter(launch, launch.dims, {thread_state.shared, nullptr, 0}, first, end);
}

}  // namespace

// The blocks of a launch that one thread runs, in several calls of the entry. `end` must be the last of them.
struct Share {
    Share(const Launch& launch, std::uint64_t blocks, std::uint64_t threads)
        : launch(launch), blocks(blocks), threads(threads) {}
    ~Share() { thread_state.share = outer; }
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // Calls the entry for what this thread has collected.
    CUresult end() const { return has_collected ? enter(launch, blocks, blocks) : CUDA_SUCCESS; }

    const Launch& launch;
    const std::uint64_t blocks, threads;
    bool has_collected = false;
    Share* const outer = std::exchange(thread_state.share, this);
};

namespace {

class BlockJob final : public Job {
  public:
    BlockJob(const Launch& launch, std::uint64_t blocks, std::uint64_t chunk, std::uint64_t last_chunk,
             unsigned threads)
        : launch_(launch), blocks_(blocks), last_chunk_(last_chunk), threads_(threads), chunk_(chunk) {}

    bool wanted() const override { return cursor_.load(std::memory_order_relaxed) < blocks_; }
    void help() override {
        grow_shared(shared_bytes(launch_));
        Share mine = share();
        while (step(nullptr)) {
        }
        end(mine);
    }
    Share share() const { return {launch_, blocks_, std::min<std::uint64_t>(threads_, blocks_)}; }
    void end(const Share& mine) {
        if (fault() == CUDA_SUCCESS) note(mine.end());
    }

    // Takes a chunk and runs it. Adds the measured ticks and blocks to `done`. Returns false if no chunk was left.
    struct Measured {
        std::uint64_t ticks = 0, blocks = 0;
    };
    bool step(Measured* done) {
        const std::uint64_t chunk = chunk_.load(std::memory_order_relaxed);
        const std::uint64_t size = std::min(chunk, std::max(last_chunk_, left() / (2 * threads_)));
        const std::uint64_t first = cursor_.fetch_add(size, std::memory_order_relaxed);
        if (first >= blocks_) return false;
        const std::uint64_t end = std::min(first + size, blocks_);
        const std::uint64_t from = ticks();
        const CUresult fault = enter(launch_, first, end);
        const std::uint64_t spent = ticks() - from;
        if (!note(fault)) return false;
        if (done != nullptr) {
            done->ticks += spent;
            done->blocks += end - first;
        }
        // Chunks grow until one takes long enough.
        if (size == chunk && static_cast<double>(spent) < kChunk / 2 * ticks_per_microsecond())
            chunk_.store(chunk * 2, std::memory_order_relaxed);
        return true;
    }
    std::uint64_t left() const { return blocks_ - std::min(blocks_, cursor_.load(std::memory_order_relaxed)); }
    CUresult fault() const { return fault_.load(std::memory_order_relaxed); }

  private:
    // Returns false if it is a fault, which ends the launch.
    bool note(CUresult fault) {
        if (fault == CUDA_SUCCESS) return true;
        fault_.store(fault, std::memory_order_relaxed);
        cursor_.store(blocks_, std::memory_order_relaxed);  // skips the rest of the grid
        return false;
    }

    const Launch& launch_;
    const std::uint64_t blocks_;
    const std::uint64_t last_chunk_;  // chunks become so small that all threads end at about the same time
    const unsigned threads_;
    alignas(64) std::atomic<std::uint64_t> cursor_{0};
    std::atomic<std::uint64_t> chunk_;
    std::atomic<CUresult> fault_{CUDA_SUCCESS};
};

// Shares the blocks with other threads. `cost` is what all blocks are known to cost, in ticks, or 0; the measured cost
// replaces it.
CUresult run_shared(const Launch& launch, std::uint64_t blocks, double* cost) {
    Scheduler& scheduler = Scheduler::get();
    const unsigned threads = scheduler.concurrency();
    const double microsecond = ticks_per_microsecond();
    const double ticks_per_block = *cost / static_cast<double>(blocks);
    std::uint64_t chunk = 1, last_chunk = 1;
    if (ticks_per_block > 0) {
        const double least = kChunk * microsecond / ticks_per_block;
        const double wish = std::max(least, static_cast<double>(blocks) / (kChunks * threads));
        const std::uint64_t most = std::max<std::uint64_t>(1, blocks / (4 * threads));
        chunk = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wish), 1, most);
        last_chunk = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(least), 1, chunk);
    }
    BlockJob job(launch, blocks, chunk, last_chunk, threads);
    BlockJob::Measured mine;
    {
        SharedJob shared(job, launch.stream);
        Share share = job.share();
        bool called = threads == 1;
        for (double known = ticks_per_block;;) {
            // Helpers are called once enough work is known to be left: before the first chunk, or after it.
            const double left = known * static_cast<double>(job.left()) / microsecond;
            if (!called && left > kWorthWaking) {
                scheduler.wake_workers(std::min(threads - 1, static_cast<unsigned>(left / kChunk)));
                called = true;
            }
            if (!job.step(&mine)) break;
            known = static_cast<double>(mine.ticks) / static_cast<double>(mine.blocks);
        }
        job.end(share);
    }
    const double part = static_cast<double>(mine.blocks) / static_cast<double>(blocks);
    *cost = mine.blocks != 0 ? static_cast<double>(mine.ticks) / part : 0;
    return job.fault();
}

// Threads that run blocks at the same time. In each turn every thread runs the piece of its number.
class ThreadGroup {
  public:
    explicit ThreadGroup(std::uint64_t size) : size_(size) {}

    template <class Body>
    void run(const Body& body) {
        std::vector<std::thread> others;
        for (std::uint64_t number = 1; number < size_; ++number) others.emplace_back(body, number);
        body(std::uint64_t{0});
        for (std::thread& other : others) other.join();
    }

    // Waits until all threads have arrived. The last thread calls `between` first.
    template <class Between>
    void synchronize(const Between& between) {
        std::unique_lock<std::mutex> lock(mutex_);
        if (++arrived_ == size_) {
            between();
            arrived_ = 0;
            ++turn_;
            changed_.notify_all();
            return;
        }
        changed_.wait(lock, [this, turn = turn_] { return turn_ != turn; });
    }

  private:
    const std::uint64_t size_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::uint64_t arrived_ = 0;  // guarded by mutex_, like turn_
    std::uint64_t turn_ = 0;
};

std::uint64_t blocks_of(const std::uint32_t extents[3]) {
    return std::uint64_t{extents[0]} * extents[1] * extents[2];
}

// Returns the linear index of a block of a cluster. Clusters are boxes of blocks; both are counted with x first.
std::uint64_t block_index(const cgh_launch& dims, std::uint64_t cluster, std::uint64_t rank) {
    std::uint64_t place[3];
    for (int axis = 0; axis < 3; ++axis) {
        const std::uint64_t clusters = dims.grid[axis] / dims.cluster[axis];
        place[axis] = cluster % clusters * dims.cluster[axis] + rank % dims.cluster[axis];
        cluster /= clusters;
        rank /= dims.cluster[axis];
    }
    return (place[2] * dims.grid[1] + place[1]) * dims.grid[0] + place[0];
}

// Runs every block on its own thread, so that blocks can wait for each other. A cooperative launch runs all blocks at
// once (validate() has checked that there are not too many). Any other launch runs one cluster after the other.
CUresult run_together(const Launch& launch, std::uint64_t blocks, bool cooperative) {
    const std::uint64_t ranks = blocks_of(launch.dims.cluster);
    const std::uint64_t clusters = cooperative ? blocks / ranks : 1;  // at the same time
    const std::uint64_t turns = blocks / ranks / clusters;
    std::uint32_t grid[16] = {sizeof grid};  // cooperative_groups.h reads the first two words
    std::uint32_t ended = 0;
    std::atomic<CUresult> fault{CUDA_SUCCESS};
    const std::size_t step = (shared_bytes(launch) + 255) / 128 * 128;
    const std::size_t all = step * ranks * clusters;
    const AlignedBytes shared = allocate_aligned(all);
    std::vector<cgh_together> together(clusters);
    const auto threads = static_cast<std::uint32_t>(blocks_of(launch.dims.block) * ranks);
    const auto begin = [&] {
        for (std::uint64_t i = 0; i < clusters; ++i)
            together[i] = {cooperative ? grid : nullptr, shared.get() + i * ranks * step, step, 0, &ended, threads};
    };
    begin();
    ThreadGroup group(ranks * clusters);
    group.run([&](std::uint64_t number) {
        cgh_launch dims = launch.dims;
        dims.together = &together[number / ranks];
        for (std::uint64_t turn = 0; turn < turns; ++turn) {
            const std::uint64_t block = block_index(dims, turn * clusters + number / ranks, number % ranks);
            const CUresult error =
                enter(launch, dims, {shared.get() + number * step, shared.get(), all}, block, block + 1);
            if (error != CUDA_SUCCESS) {
                CUresult none = CUDA_SUCCESS;
                fault.compare_exchange_strong(none, error);
                __atomic_store_n(&ended, 1u, __ATOMIC_RELEASE);
            }
            group.synchronize(begin);
            if (fault.load() != CUDA_SUCCESS) return;
        }
    });
    return fault.load();
}

// Runs all blocks on this thread, and measures their cost.
CUresult run_measured(const Launch& launch, std::uint64_t blocks, double* cost) {
    const std::uint64_t from = ticks();
    const CUresult fault = enter(launch, 0, blocks);
    *cost = static_cast<double>(ticks() - from);
    return fault;
}

// Runs all blocks on this thread if that takes little time, otherwise on several threads, and measures their cost.
CUresult run_small_or_shared(const Launch& launch, std::uint64_t blocks, double* cost) {
    const bool is_small = *cost > 0 && *cost < kSmall * ticks_per_microsecond();
    return is_small ? run_measured(launch, blocks, cost) : run_shared(launch, blocks, cost);
}

// Runs the blocks in random order. Very large grids are divided into pieces of adjacent blocks.
CUresult run_at_random(const Launch& launch, std::uint64_t blocks) {
    constexpr std::uint64_t kMostPieces = 1 << 20;
    const std::uint64_t piece = (blocks + kMostPieces - 1) / kMostPieces;
    std::vector<std::uint32_t> order;
    draw_order(static_cast<std::uint32_t>((blocks + piece - 1) / piece), &order);
    Share share(launch, blocks, 1);
    for (const std::uint64_t place : order) {
        const std::uint64_t first = place * piece;
        if (const CUresult fault = enter(launch, first, std::min(first + piece, blocks)); fault != CUDA_SUCCESS)
            return fault;
    }
    return share.end();
}

}  // namespace

CUresult run_blocks(Kernel& kernel, const cgh_launch& dims, const void* params, bool cooperative, const Stream* stream,
                    void* run_context) {
    const Launch launch{kernel, kernel.code().entry, dims, params, run_context, &stream->context().root(), stream};
    if (launch.task != nullptr) check_kernel(kernel);
    catch_memory_faults();
    const std::uint64_t blocks = blocks_of(dims.grid);
    if (const std::size_t need = std::max<std::size_t>(shared_bytes(launch), 128); need > thread_state.shared_bytes)
        grow_shared(need);
    const bool meets = kernel.code().uses_cluster != 0 && blocks_of(dims.cluster) > 1;
    if (cooperative || meets) return run_together(launch, blocks, cooperative);
    if (blocks == 1 && !kernel.is_measured_now()) return enter(launch, 0, 1);
    if (blocks > 1 && order_is_random()) return run_at_random(launch, blocks);
    if (blocks > 1 && Scheduler::get().concurrency() == 1) return enter(launch, 0, blocks);
    const float threads = static_cast<float>(blocks) * static_cast<float>(blocks_of(dims.block));
    double cost = kernel.ticks_per_thread() * threads;
    const CUresult fault =
        blocks == 1 ? run_measured(launch, blocks, &cost) : run_small_or_shared(launch, blocks, &cost);
    if (cost > 0) kernel.note_cost(static_cast<float>(cost), threads);
    return fault;
}

namespace {

// Racing threads may lose an update of a cost. Each value that they leave is sound.
template <class T>
T relaxed(const T& value) {
    T found;
    __atomic_load(&value, &found, __ATOMIC_RELAXED);
    return found;
}
template <class T>
void store(T& place, T value) {
    __atomic_store(&place, &value, __ATOMIC_RELAXED);
}

void note_cost(cgh_loop_cost& cost, double ticks_per_block) {
    const float counted = average_cost(relaxed(cost.ticks_per_block), static_cast<float>(ticks_per_block));
    const double small = kSmall * ticks_per_microsecond() / std::max(counted, 1e-3f);
    store(cost.ticks_per_block, counted);
    store(cost.small_blocks, static_cast<std::uint32_t>(std::min<double>(small, UINT32_MAX)));
}

CUresult run_loop(cgh_entry loop, const cgh_launch& of, const void* params, std::uint32_t blocks, cgh_loop_cost& cost) {
    cgh_launch dims = of;
    dims.grid[0] = blocks;
    const Launch& outer = *thread_state.launch;
    const Launch launch{outer.kernel, loop, dims, params, outer.run_context, outer.context, outer.stream};
    if (order_is_random()) return run_at_random(launch, blocks);
    double whole = static_cast<double>(relaxed(cost.ticks_per_block)) * blocks;
    const CUresult fault = run_small_or_shared(launch, blocks, &whole);
    if (whole > 0) note_cost(cost, whole / blocks);
    return fault;
}

bool grow_collection(ThreadStore& store, std::size_t bytes) {
    if (bytes <= store.collection_bytes) return true;
    store.collection.reset();
    store.collection_bytes = 0;
    try {
        store.collection = allocate_aligned(bytes);
    } catch (const std::bad_alloc&) {
        return false;
    }
    store.collection_bytes = bytes;
    return true;
}

}  // namespace

std::int32_t share_loop(cgh_entry loop, const cgh_launch* launch, const void* params, std::uint32_t blocks,
                        cgh_loop_cost* cost) {
    if (Scheduler::get().concurrency() == 1 && !order_is_random()) {
        store(cost->small_blocks, UINT32_MAX);
        return 0;
    }
    if (const CUresult fault = run_loop(loop, *launch, params, blocks, *cost); fault != CUDA_SUCCESS)
        raise_fault(fault);
    return 1;
}

void* collect(std::size_t bytes, std::uint64_t most_threads, std::uint32_t whole, std::uint32_t* is_new) {
    Share* const share = whole ? nullptr : thread_state.share;
    if (!whole && share == nullptr) return nullptr;
    ThreadStore& store = thread_store();
    *is_new = share != nullptr && share->has_collected ? 0 : 1;
    if (*is_new == 0) return store.collection.get();
    if ((whole ? 1 : share->threads) > most_threads || !grow_collection(store, bytes)) return nullptr;
    if (share != nullptr) share->has_collected = true;
    return store.collection.get();
}

}  // namespace cgh
