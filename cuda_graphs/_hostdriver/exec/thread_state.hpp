// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What the driver remembers of each OS thread. Plain data, so that reading it is one instruction.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXEC_THREAD_STATE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXEC_THREAD_STATE_HPP

#include <cuda.h>
#include <setjmp.h>

#include <cstddef>
#include <cstdint>

namespace cgh {

class Context;
struct KernelRun;
struct Task;
struct ThreadStore;

// Where trap and assert of a running kernel jump to.
struct FaultFrame {
    jmp_buf target;
    CUresult code = CUDA_SUCCESS;
};

struct ThreadState {
    Context* current;         // top of the context stack; nullptr when it is empty
    FaultFrame* fault;        // of the innermost kernel entry, or nullptr
    void* run_context;        // what BlockRunner was given for the kernel that runs here (graph runs use it)
    Context* kernel_context;  // of the kernel that runs here
    std::byte* shared;        // scratch for shared memory, kept between launches
    std::size_t shared_bytes;
    std::uint32_t callback_depth;  // > 0 inside a host function or a user object's destructor
    CUstreamCaptureMode capture_mode;
    bool is_of_driver;         // a thread that the driver made: a worker, or one for host functions
    bool stream_zero_is_own;   // in a per-thread default stream form of a function (api/per_thread.hpp)
    std::uint64_t number;      // see this_thread_number()
    std::uint64_t moves_seen;  // see was_of_a_move()
    Task* task;                // what runs here, and the kernel that it runs, where bugs are looked for (check/)
    KernelRun* kernel_run;
    ThreadStore* store;  // everything that needs a destructor; made on first use
};

#if defined(__GNUC__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CGH_FAST_TLS __attribute__((tls_model("initial-exec")))
#else
#define CGH_FAST_TLS
#endif

extern thread_local CGH_FAST_TLS ThreadState thread_state;

// Tells threads apart, also those that have ended: never used again.
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
