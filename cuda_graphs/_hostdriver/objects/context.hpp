// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A context: the primary one of a virtual device, or one that a program made for itself. It knows its streams, and the
// error that ended it: after a kernel fault every later call returns that error, as cuda.h says of
// CUDA_ERROR_LAUNCH_FAILED ("This leaves the process in an inconsistent state and any further CUDA work will return the
// same error").
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_CONTEXT_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_CONTEXT_HPP

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "coredump.hpp"
#include "device_heap.hpp"
#include "ref.hpp"

namespace cgh {

class GreenContext;
class Milestone;
class Stream;

class Context {
  public:
    explicit Context(CUdevice device);
    static std::vector<Context*> all();  // that ever were: they stay in memory

    CUcontext handle() { return reinterpret_cast<CUcontext>(this); }
    CUdevice device() const { return device_; }
    std::uint64_t id() const { return id_; }
    Stream& legacy_stream() { return *legacy_stream_; }
    Stream& per_thread_stream();  // the calling thread's own; CUDA_ERROR_OUT_OF_MEMORY throws std::bad_alloc

    // CUDA_SUCCESS, or the error that ended the context.
    CUresult status() const { return status_.load(std::memory_order_acquire); }
    void fail(CUresult error);  // the first error stays
    void invalidate();          // no call with it works any more

    // Of cuCtxCreate. Such a context stays in memory when it is destroyed, as threads, streams and events may name it:
    // their calls then answer CUDA_ERROR_CONTEXT_IS_DESTROYED.
    void make_own(unsigned flags);
    bool is_own() const { return own_; }
    unsigned flags() const { return flags_.load(std::memory_order_relaxed); }
    void set_flags(unsigned flags) { flags_.store(flags, std::memory_order_relaxed); }
    void destroy();

    // What is current where a green context is (objects/green_context.hpp); everything else is the primary context's.
    void make_green(GreenContext& green) { green_ = &green; }
    GreenContext* green() const { return green_; }
    Context& root();

    // Sizes that programs may ask for: kept as they were set. Only CU_LIMIT_MALLOC_HEAP_SIZE has an effect.
    CUresult limit(CUlimit which, std::size_t* out);
    CUresult set_limit(CUlimit which, std::size_t value);
    // malloc of device code: nullptr beyond CU_LIMIT_MALLOC_HEAP_SIZE.
    void* allocate_in_kernel(std::size_t bytes);
    DeviceHeap& heap() { return heap_; }

    CoredumpSettings& coredump() { return coredump_; }

    // Waits for all work of all streams, or of those of a green context; the calling thread runs it where nobody else
    // does.
    CUresult synchronize(const GreenContext* green = nullptr);

    // A stream behind all that was pushed to all streams, or those of a green context.
    Stream& gathering_stream(const GreenContext* green);
    // Whatever is pushed from now on, to any stream or those of a green context, comes after a milestone.
    void await(const Ref<Milestone>& milestone, const GreenContext* green);
    bool awaits_events() const { return awaited_count_.load(std::memory_order_acquire) != 0; }
    void push_awaited(Stream& stream);

    CUresult enable_peer(Context& peer);   // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
    CUresult disable_peer(Context& peer);  // CUDA_ERROR_PEER_ACCESS_NOT_ENABLED

    void add_stream(Stream* stream);
    void remove_stream(Stream* stream);
    // Streams with unfinished work; only those that the legacy default stream waits for and that wait for it.
    std::vector<Ref<Stream>> busy_streams(bool blocking_only, bool idle_too = false);
    bool has_blocking_streams() const { return blocking_streams_.load(std::memory_order_relaxed) != 0; }

    // While a blocking stream is in a capture the legacy default stream is barred. With Capture::mutex() held.
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
    std::mutex mutex_;                     // guards what is below
    std::vector<Stream*> streams_;         // not owned: a stream takes itself out
    std::vector<Context*> peers_;          // enabled ones
    std::map<CUlimit, std::size_t> limits_;
    std::once_flag gathering_once_;
    Stream* gathering_stream_ = nullptr;  // made when it is first wanted
    struct Awaited {
        Ref<Milestone> milestone;
        const GreenContext* green;
    };
    std::vector<Awaited> awaited_;  // not done when last looked at
    std::atomic<std::size_t> awaited_count_{0};
};

// The calling thread's current context. CUDA_ERROR_INVALID_CONTEXT when there is none; the context's own error when
// it has failed.
CUresult current_context(Context** out);
// The same without looking at its error: for calls that work on a failed context too.
CUresult any_current_context(Context** out);
// The green context that is current to the calling thread, or nullptr.
GreenContext* current_green();

}  // namespace cgh

#endif
