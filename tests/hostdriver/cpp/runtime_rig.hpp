// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared parts of the runtime tests: a current context, streams, events and memory that destroy themselves, and a few
// kernels. `affine` does not commute with itself, so a wrong order gives a wrong number.
#ifndef HOSTDRIVER_TESTS_RUNTIME_RIG_HPP
#define HOSTDRIVER_TESTS_RUNTIME_RIG_HPP

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "check.hpp"
#include "native_loader.hpp"

namespace rig {

using native::Args;

// *p = *p * a + b, by every thread of the grid in turn
inline void affine(const cgh_launch* launch, const void* params, void*, std::uint64_t first, std::uint64_t end) {
    Args args(params);
    auto* p = args.next<std::uint64_t*>();
    const auto a = args.next<std::uint64_t>(), b = args.next<std::uint64_t>();
    for (std::uint64_t i = 0; i < (end - first) * native::threads_of(launch); ++i) *p = *p * a + b;
}

// p[i] += v for the global index i of every thread
inline void add(const cgh_launch* launch, const void* params, void*, std::uint64_t first, std::uint64_t end) {
    Args args(params);
    auto* p = args.next<std::uint32_t*>();
    const auto v = args.next<std::uint32_t>();
    for (std::uint64_t i = first * native::threads_of(launch); i < end * native::threads_of(launch); ++i) p[i] += v;
}

// Every block waits until *flag is not 0.
inline void spin(const cgh_launch*, const void* params, void*, std::uint64_t first, std::uint64_t end) {
    auto* flag = Args(params).next<std::atomic<std::uint32_t>*>();
    for (std::uint64_t block = first; block < end; ++block)
        while (flag->load(std::memory_order_acquire) == 0) std::this_thread::yield();
}

// *p = 1 after some microseconds
inline void slow(const cgh_launch*, const void* params, void*, std::uint64_t, std::uint64_t) {
    Args args(params);
    auto* p = args.next<std::atomic<std::uint32_t>*>();
    const auto microseconds = args.next<std::uint32_t>();
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    p->store(1, std::memory_order_release);
}

// Fills its dynamic shared memory and sums it: p[block] = the sum.
inline void shared_sum(const cgh_launch* launch, const void* params, void* shared, std::uint64_t first,
                       std::uint64_t end) {
    auto* p = Args(params).next<std::uint64_t*>();
    auto* words = static_cast<std::uint32_t*>(shared);
    const std::uint32_t count = launch->dynamic_shared_bytes / 4;
    for (std::uint64_t block = first; block < end; ++block) {
        for (std::uint32_t i = 0; i < count; ++i) words[i] = i + static_cast<std::uint32_t>(block);
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < count; ++i) sum += words[i];
        p[block] = sum;
    }
}

// A barrier over all blocks of the grid, for cooperative launches.
inline void meet(const cgh_launch* launch, const void* params, void*, std::uint64_t first, std::uint64_t end) {
    auto* arrived = Args(params).next<std::atomic<std::uint32_t>*>();
    arrived->fetch_add(static_cast<std::uint32_t>(end - first));
    while (arrived->load() < launch->grid[0]) std::this_thread::yield();
}

inline void trap(const cgh_launch*, const void*, void*, std::uint64_t, std::uint64_t) {
    cghGetServices()->trap();
}

inline void assert_false(const cgh_launch*, const void*, void*, std::uint64_t, std::uint64_t) {
    const std::uint32_t zero[3] = {0, 0, 0};
    cghGetServices()->assert_fail("false", "rig.cu", 1, "assert_false", zero, zero);
}

inline void wild(const cgh_launch*, const void*, void*, std::uint64_t, std::uint64_t) {
    *reinterpret_cast<volatile int*>(16) = 1;
}

inline void nothing(const cgh_launch*, const void*, void*, std::uint64_t, std::uint64_t) {}

inline const native::Kernels kernels{
    {"affine", affine, {8, 8, 8}},
    {"add", add, {8, 4}},
    {"spin", spin, {8}},
    {"slow", slow, {8, 4}},
    {"shared_sum", shared_sum, {8}},
    {"meet", meet, {8}},
    {"trap", trap, {}},
    {"assert_false", assert_false, {}},
    {"static_shared", nothing, {}, 1024},
    {"wild", wild, {}},
    {"nothing", nothing, {}},
    {"at_most_64", nothing, {}, 0, 64},
    {"exactly_32", nothing, {}, 0, 32, {32, 1, 1}},
};

// Calls cuInit and sets the primary context of device 0, once per thread.
inline void context() {
    OK(cuInit(0));
    CUcontext current = nullptr;
    OK(cuCtxGetCurrent(&current));
    if (current != nullptr) return;
    OK(cuDevicePrimaryCtxRetain(&current, 0));
    OK(cuCtxSetCurrent(current));
}

inline const native::Library& library() {
    context();
    static auto* all = new native::Library(
        "affine add spin slow shared_sum meet trap assert_false static_shared wild nothing at_most_64 exactly_32");
    return *all;
}

inline CUfunction function(const char* name) {
    return library().function(name);
}

template <class... Arguments>
CUresult launch(const char* name, unsigned grid, unsigned block, CUstream stream, Arguments... arguments) {
    void* params[] = {static_cast<void*>(&arguments)..., nullptr};
    return cuLaunchKernel(function(name), grid, 1, 1, block, 1, 1, 0, stream, params, nullptr);
}

class Stream {
  public:
    explicit Stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
        context();
        OK(cuStreamCreate(&handle_, flags));
    }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() { destroy(); }
    operator CUstream() const { return handle_; }
    void destroy() {
        if (handle_ != nullptr) cuStreamDestroy(handle_);
        handle_ = nullptr;
    }

  private:
    CUstream handle_ = nullptr;
};

class Event {
  public:
    explicit Event(unsigned flags = CU_EVENT_DEFAULT) {
        context();
        OK(cuEventCreate(&handle_, flags));
    }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    ~Event() { destroy(); }
    operator CUevent() const { return handle_; }
    void destroy() {
        if (handle_ != nullptr) cuEventDestroy(handle_);
        handle_ = nullptr;
    }

  private:
    CUevent handle_ = nullptr;
};

// Device memory of `count` elements, filled with 0.
template <class T>
class Buffer {
  public:
    explicit Buffer(std::size_t count) : count_(count) {
        context();
        OK(cuMemAlloc(&address_, count * sizeof(T)));
        OK(cuMemsetD8(address_, 0, count * sizeof(T)));
        OK(cuStreamSynchronize(CU_STREAM_LEGACY));
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() { cuMemFree(address_); }
    operator CUdeviceptr() const { return address_; }
    T* data() const { return reinterpret_cast<T*>(address_); }
    std::vector<T> read() const {
        std::vector<T> values(count_);
        OK(cuMemcpyDtoH(values.data(), address_, count_ * sizeof(T)));
        return values;
    }

  private:
    CUdeviceptr address_ = 0;
    std::size_t count_;
};

// A host flag that kernels poll.
class Gate {
  public:
    void open() { flag_.store(1, std::memory_order_release); }
    ~Gate() { open(); }
    std::atomic<std::uint32_t>* flag() { return &flag_; }

  private:
    std::atomic<std::uint32_t> flag_{0};
};

// Waits, for a limited time, until another thread makes the condition true. Returns false after 20 s.
template <class Condition>
bool soon(Condition&& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition())
        if (std::chrono::steady_clock::now() > end)
            return false;
        else
            std::this_thread::yield();
    return true;
}

}  // namespace rig

#endif
