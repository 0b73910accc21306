// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Host functions run on threads of the driver only, as those of libcuda do. A thread of the program that waits may have
// state that a host function must not meet: an exception of Python on its way, and signals, whose Python handlers run
// on the main thread and would be refused every call of the driver inside a host function.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXEC_HOST_THREADS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXEC_HOST_THREADS_HPP

#include "thread_state.hpp"

namespace cgh {

// Calls `call(argument)` and returns when it has returned: on this thread if it belongs to the driver, else on an idle
// thread that the driver keeps for host functions. A new one is made where all are busy, since host functions may wait
// for each other.
void call_on_host_thread(void (*call)(void*), void* argument);

// Runs a host function: anything that can be called without arguments.
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
