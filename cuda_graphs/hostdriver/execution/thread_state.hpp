// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver's state of each OS thread. It is plain data, so a read is one instruction.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_THREAD_STATE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_THREAD_STATE_HPP

#include <cuda.h>
#include <setjmp.h>

#include <cstddef>
#include <cstdint>

namespace cgh {

class Context;
struct BlockLaunch;
struct KernelRun;
struct Share;
struct Task;
struct ThreadStore;

// The target of the jump when a running kernel traps, asserts or faults.
struct FaultFrame {
    jmp_buf target;
    CUresult code = CUDA_SUCCESS;
};

struct ThreadState {
    Context* current;   // top of the context stack; nullptr if it is empty
    FaultFrame* fault;  // frame of the innermost guarded work, or nullptr
    void* run_context;  // the `run_context` argument of run_blocks() for the kernel that runs here (graph runs use it)
    Context* kernel_context;    // context of the kernel that runs here
    const BlockLaunch* launch;  // launch of that kernel (block_runner.cpp)
    Share* share;               // what this thread does of that launch, if several calls run its blocks; or nullptr
    std::byte* shared;          // scratch for shared memory, kept between launches
    std::size_t shared_bytes;
    std::uint32_t callback_depth;  // above 0 inside a host function or a user object's destructor
    CUstreamCaptureMode capture_mode;
    bool is_of_driver;         // true for workers and for threads of host functions
    bool stream_zero_is_own;   // true inside the per-thread default stream form of a function
                               // (hostdriver/api/streams/per_thread.hpp)
    std::uint64_t number;      // value of this_thread_number(), 0 before its first call
    std::uint64_t moves_seen;  // moves that is_move_fault() has counted for this thread
    Task* task;                // task and kernel call of this thread while the checks are on (check/)
    KernelRun* kernel_run;
    std::uint64_t recorded_run;  // while nodes are recorded: the launch or body run of the work of this thread,
    CUgraphNode recorded_node;   // and the node that runs here (timeline.hpp)
    ThreadStore* store;          // the parts that need a destructor; made on first use
};

#if defined(__GNUC__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CGH_FAST_TLS __attribute__((tls_model("initial-exec")))
#else
#define CGH_FAST_TLS
#endif

extern thread_local CGH_FAST_TLS ThreadState thread_state;

// Returns a number for the calling thread. It is never reused, not even after the thread has ended.
std::uint64_t this_thread_number();

// Marks the calling thread as inside a host function, where cuda.h forbids calls of the driver.
class CallbackScope {
  public:
    CallbackScope() { ++thread_state.callback_depth; }
    ~CallbackScope() { --thread_state.callback_depth; }
    CallbackScope(const CallbackScope&) = delete;
    CallbackScope& operator=(const CallbackScope&) = delete;
};

}  // namespace cgh

#endif
