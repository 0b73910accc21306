// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions by which the driver reports memory events to the checks (CUDA_GRAPHS_HOST_CHECK). When the checks are
// off, only code that tests `settings` first calls them.
#ifndef CUDA_GRAPHS_HOSTDRIVER_SANITIZER_ACCESSES_HPP
#define CUDA_GRAPHS_HOSTDRIVER_SANITIZER_ACCESSES_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "hostdriver/execution/thread_state.hpp"
#include "hostdriver/image_loader.h"
#include "order.hpp"
#include "races.hpp"
#include "settings.hpp"

namespace cgh {

class Copy;
class Fill;
class Kernel;
class MemoryOperation;
struct Allocation;

// Register and unregister memory. untrack_memory() is called when the free takes effect: a free that is an operation of
// a stream counts as an action of that operation.
void track_memory(const Allocation& allocation);
void track_graph_memory(CUdeviceptr address, std::size_t bytes);
void untrack_memory(CUdeviceptr address);
// Register and unregister memory of malloc and free in device code. Neither call counts as an access.
void track_heap_memory(CUdeviceptr address, std::size_t bytes);
void untrack_heap_memory(CUdeviceptr address);
void untrack_range(CUdeviceptr address, std::size_t bytes);
// Marks memory as shared: from now on other processes may write it, and the checks do not see these writes.
void note_shared(CUdeviceptr address);
// Holds freed memory back, and frees memory that was held back long ago.
void hold_back(void* address, std::size_t bytes);

// Sets the task of the calling thread for the lifetime of this object.
class TaskScope {
  public:
    explicit TaskScope(Task* task) : before_(thread_state.task) { thread_state.task = task; }
    ~TaskScope() { thread_state.task = before_; }
    TaskScope(const TaskScope&) = delete;
    TaskScope& operator=(const TaskScope&) = delete;

  private:
    Task* const before_;
};

// A call of a kernel's entry, whose accesses check_access() receives.
struct KernelRun {
    Task* task = nullptr;
    const Kernel* kernel = nullptr;
    const cgh_launch* dims = nullptr;
    const void* params = nullptr;
    // The block's own shared memory, and that of all blocks that run together, which contains it.
    const void* shared = nullptr;
    std::size_t shared_bytes = 0;
    const void* shared_around = nullptr;
    std::size_t shared_around_bytes = 0;
    Block block;
    std::uint64_t block_index = UINT64_MAX;
    std::uint32_t block_axes = 0;  // `axes` of the last site: the loop axes if blocks are iterations of a loop, else 0
    std::uint32_t phase = 0;
};

// Checks one access; a service for kernels. Ends the kernel if the address is invalid.
void check_access(const void* address, std::uint64_t bytes, const cgh_site* site, std::uint32_t thread_x,
                  std::uint32_t thread_y, std::uint32_t thread_z, std::uint32_t block_x, std::uint32_t block_y,
                  std::uint32_t block_z);

// Check the operation or node that runs in the calling thread. Return CUDA_ERROR_ILLEGAL_ADDRESS if it must not run.
CUresult check_copy(const Copy& copy);
CUresult check_fill(const Fill& fill);
CUresult check_memory_operation(const MemoryOperation& operation);
void check_host_function(const void* data);  // reads the memory at its argument
void check_kernel(const Kernel& kernel);     // names the task

}  // namespace cgh

#endif
