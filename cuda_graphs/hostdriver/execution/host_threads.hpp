// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs host functions on the driver's own threads only, as libcuda does. A waiting thread of the program may hold state
// that must not affect a host function: a pending Python exception, or signals. Python's signal handlers run on the
// main thread, and inside a host function all their driver calls would fail.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_HOST_THREADS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_HOST_THREADS_HPP

#include "thread_state.hpp"

namespace cgh {

// Calls `call(argument)` and returns when it has returned. A thread of the driver runs the call itself. For any other
// caller an idle thread of the pool for host functions runs it. If all are busy, a new thread is started, because host
// functions may wait for each other.
void call_on_host_thread(void (*call)(void*), void* argument);

// Runs a host function: any callable without parameters.
template <class Function>
void run_host_function(Function function) {
    call_on_host_thread(
        [](void* argument) {
            CallbackScope no_cuda_calls;
            (*static_cast<Function*>(argument))();
        },
        &function);
}

}  // namespace cgh

#endif
