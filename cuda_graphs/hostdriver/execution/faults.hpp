// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns memory faults of work into CUDA_ERROR_ILLEGAL_ADDRESS. A kernel, copy or fill that accesses an invalid address
// fails, and the process continues, as on a GPU. A SIGSEGV or SIGBUS of a thread that runs such work returns to the
// driver. Any other SIGSEGV or SIGBUS goes to the previous handler.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXECUTION_FAULTS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXECUTION_FAULTS_HPP

#include <cuda.h>

#include <atomic>

namespace cgh {

extern std::atomic<bool> faults_are_caught;
// Installs the handlers, also on top of handlers of the program that were installed since the last call. The program's
// handlers receive the signals that do not belong to the driver.
void put_fault_handlers_on_top();

// Installs the handlers once, before the first guarded work runs. CUDA_GRAPHS_HOST_FAULTS=0 leaves the signals alone,
// for debuggers.
inline void catch_memory_faults() {
    if (!faults_are_caught.load(std::memory_order_acquire)) put_fault_handlers_on_top();
}

// Calls body(argument). Returns CUDA_SUCCESS, or the code of the fault, trap or assert that ended the body. The
// destructors of an ended body's objects do not run. The caller calls catch_memory_faults() first.
CUresult run_guarded(void (*body)(const void*), const void* argument);

// Calls value.run() of a copy or a fill, and returns the same codes as run_guarded().
template <class Value>
CUresult run_value_guarded(const Value& value) {
    catch_memory_faults();
    return run_guarded([](const void* argument) { static_cast<const Value*>(argument)->run(); }, &value);
}

}  // namespace cgh

#endif
