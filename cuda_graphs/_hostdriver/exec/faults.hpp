// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel that reads or writes where there is no memory must not end the process: as on a GPU its launch fails with
// CUDA_ERROR_ILLEGAL_ADDRESS. So SIGSEGV and SIGBUS of a thread that runs a kernel go back to the driver; every other
// one goes to whoever handled the signal before.
#ifndef CUDA_GRAPHS_HOSTDRIVER_EXEC_FAULTS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_EXEC_FAULTS_HPP

#include <atomic>

namespace cgh {

extern std::atomic<bool> faults_are_caught;
// Also where another handler has been installed since: that one gets what is not the driver's.
void put_fault_handlers_on_top();

// Before the first kernel runs. CUDA_GRAPHS_HOST_FAULTS=0 leaves the signals alone, for debuggers.
inline void catch_memory_faults() {
    if (!faults_are_caught.load(std::memory_order_acquire)) put_fault_handlers_on_top();
}

}  // namespace cgh

#endif
