// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel, copy or fill that touches an address without memory must not end the process: as on a GPU the work fails
// with CUDA_ERROR_ILLEGAL_ADDRESS. So SIGSEGV and SIGBUS of a thread that runs such work go back to the driver; every
// other one goes to whoever handled the signal before.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXEC_FAULTS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXEC_FAULTS_HPP

#include <cuda.h>

#include <atomic>

namespace cgh {

extern std::atomic<bool> faults_are_caught;
// Also where another handler has been installed since: that one gets what is not the driver's.
void put_fault_handlers_on_top();

// Before the first guarded work runs. CUDA_GRAPHS_HOST_FAULTS=0 leaves the signals alone, for debuggers.
inline void catch_memory_faults() {
    if (!faults_are_caught.load(std::memory_order_acquire)) put_fault_handlers_on_top();
}

// Calls body(argument). Returns CUDA_SUCCESS, or the code of the fault, trap or assert that ended the body, whose
// objects are then not destroyed. Follows catch_memory_faults().
CUresult run_guarded(void (*body)(const void*), const void* argument);

// Calls value.run() of a copy or a fill in the same way.
template <class Value>
CUresult run_value_guarded(const Value& value) {
    catch_memory_faults();
    return run_guarded([](const void* argument) { static_cast<const Value*>(argument)->run(); }, &value);
}

}  // namespace cgh

#endif
