// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A context: the primary context of a virtual device, or one that the program created. It holds its streams and the
// error that ended it. After a kernel fault every later call returns that error, as cuda.h specifies for
// CUDA_ERROR_LAUNCH_FAILED ("This leaves the process in an inconsistent state and any further CUDA work will return the
// same error").
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICES_CONTEXT_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_DEVICES_CONTEXT_HPP

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "hostdriver/objects/base/coredump.hpp"
#include "hostdriver/objects/base/ref.hpp"
#include "hostdriver/objects/devices/device_heap.hpp"

namespace cgh {

class GreenContext;
class Milestone;
class Stream;
class WaitLimit;

class Context {
  public:
    explicit Context(CUdevice device);
    static std::vector<Context*> all();  // all contexts ever created; they stay in memory

    CUcontext handle() { return reinterpret_cast<CUcontext>(this); }
    CUdevice device() const { return device_; }
    std::uint64_t id() const { return id_; }
    Stream& legacy_stream() { return *legacy_stream_; }
    Stream& per_thread_stream();  // the calling thread's own stream; throws std::bad_alloc

    // Returns CUDA_SUCCESS or the error that ended the context.
    CUresult status() const { return status_.load(std::memory_order_acquire); }
    void fail(CUresult error);  // keeps the first error
    void invalidate();          // later calls return CUDA_ERROR_INVALID_CONTEXT

    // Marks the context as created by cuCtxCreate. Such a context stays in memory after it is destroyed, because
    // threads, streams and events may refer to it. Calls with them then return CUDA_ERROR_CONTEXT_IS_DESTROYED.
    void make_own(unsigned flags);
    bool is_own() const { return own_; }
    unsigned flags() const { return flags_.load(std::memory_order_relaxed); }
    void set_flags(unsigned flags) { flags_.store(flags, std::memory_order_relaxed); }
    void destroy();

    // Makes this context the CUcontext of a green context (hostdriver/objects/devices/green_context.hpp), which
    // forwards to the primary context, its root().
    void make_green(GreenContext& green) { green_ = &green; }
    GreenContext* green() const { return green_; }
    Context& root();

    // Limits that programs set. Only CU_LIMIT_MALLOC_HEAP_SIZE has an effect; the others are stored for queries.
    CUresult limit(CUlimit which, std::size_t* out);
    CUresult set_limit(CUlimit which, std::size_t value);
    // Implements malloc of device code. Returns nullptr beyond CU_LIMIT_MALLOC_HEAP_SIZE.
    void* allocate_in_kernel(std::size_t bytes);
    DeviceHeap& heap() { return heap_; }

    CoredumpSettings& coredump() { return coredump_; }

    // Waits for all work of all streams, or of the streams of a green context. The calling thread runs work that no
    // worker runs. Returns CUDA_ERROR_NOT_READY if the limit passed earlier.
    CUresult synchronize(const GreenContext* green = nullptr, WaitLimit* limit = nullptr);

    // Returns a stream that waits for all work pushed so far to all streams, or to the streams of a green context.
    Stream& gathering_stream(const GreenContext* green);
    // Orders all later work, in all streams or in the streams of a green context, after a milestone.
    void await(const Ref<Milestone>& milestone, const GreenContext* green);
    bool awaits_events() const { return awaited_count_.load(std::memory_order_acquire) != 0; }
    void push_awaited(Stream& stream);

    CUresult enable_peer(Context& peer);   // may return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
    CUresult disable_peer(Context& peer);  // may return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED

    void add_stream(Stream* stream);
    void remove_stream(Stream* stream);
    // Returns the streams with unfinished work, or all streams with `idle_too`. `blocking_only` limits the result to
    // streams that synchronise with the legacy default stream.
    std::vector<Ref<Stream>> busy_streams(bool blocking_only, bool idle_too = false);
    bool has_blocking_streams() const { return blocking_streams_.load(std::memory_order_relaxed) != 0; }

    // The legacy default stream rejects work while a blocking stream is in a capture. The caller holds
    // Capture::mutex().
    void begin_blocking_capture();
    void end_blocking_capture();
    bool has_blocking_captures() const { return blocking_captures_ != 0; }

  private:
    const CUdevice device_;
    const std::uint64_t id_;
    Stream* legacy_stream_;
    bool own_ = false;
    GreenContext* green_ = nullptr;
    DeviceHeap heap_;
    CoredumpSettings coredump_ = CoredumpSettings::global();
    std::atomic<unsigned> flags_{0};
    std::atomic<CUresult> status_{CUDA_SUCCESS};
    std::atomic<std::uint32_t> blocking_streams_{0};
    std::uint32_t blocking_captures_ = 0;  // guarded by Capture::mutex()
    std::mutex mutex_;                     // guards the fields below
    std::vector<Stream*> streams_;         // not owned; a stream removes itself
    std::vector<Context*> peers_;          // contexts with peer access enabled
    std::map<CUlimit, std::size_t> limits_;
    std::once_flag gathering_once_;
    Stream* gathering_stream_ = nullptr;  // created on first use
    struct AwaitedEvent {
        Ref<Milestone> milestone;
        const GreenContext* green;
    };
    std::vector<AwaitedEvent> awaited_;  // milestones that were not done at the last check
    std::atomic<std::size_t> awaited_count_{0};
};

// Writes the calling thread's current context. Returns CUDA_ERROR_INVALID_CONTEXT without a current context, and the
// context's own error if it has failed.
CUresult current_context(Context** out);
// Does the same without checking the context's error, for calls that also work on a failed context.
CUresult any_current_context(Context** out);
// Returns the green context that is current to the calling thread, or nullptr.
GreenContext* current_green();

}  // namespace cgh

#endif
