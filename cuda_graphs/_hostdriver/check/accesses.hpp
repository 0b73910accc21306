// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the driver tells of what happens to memory, when bugs are looked for (CUDA_GRAPHS_HOST_CHECK). Without that
// nothing here is called but by code that asks `settings` first.
#ifndef CUDA_GRAPHS_HOSTDRIVER_CHECK_ACCESSES_HPP
#define CUDA_GRAPHS_HOSTDRIVER_CHECK_ACCESSES_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "../exec/thread_state.hpp"
#include "../image_loader.h"
#include "order.hpp"
#include "races.hpp"
#include "settings.hpp"

namespace cgh {

class Copy;
class Fill;
class Kernel;
class MemoryOperation;
struct Allocation;

// Memory comes and goes. `goes`: when the free takes effect; in an operation of a stream, by that.
void watch_memory(const Allocation& allocation);
void watch_graph_memory(CUdeviceptr address, std::size_t bytes);
void unwatch_memory(CUdeviceptr address);
// malloc and free of device code; neither counts as an access.
void watch_heap_memory(CUdeviceptr address, std::size_t bytes);
void unwatch_heap_memory(CUdeviceptr address);
void unwatch_range(CUdeviceptr address, std::size_t bytes);
// Other processes may write it from now on, and nobody sees them do so.
void note_shared(CUdeviceptr address);
// Takes memory that is given back, and gives back what it took long ago.
void hold_back(void* address, std::size_t bytes);

// What runs in the calling thread, while it lives.
class TaskScope {
  public:
    explicit TaskScope(Task* task) : before_(thread_state.task) { thread_state.task = task; }
    ~TaskScope() { thread_state.task = before_; }
    TaskScope(const TaskScope&) = delete;
    TaskScope& operator=(const TaskScope&) = delete;

  private:
    Task* const before_;
};

// A call of a kernel's entry: whose accesses are told by check_access().
struct KernelRun {
    Task* task = nullptr;
    const Kernel* kernel = nullptr;
    const cgh_launch* dims = nullptr;
    const void* params = nullptr;
    // The block's own, and that of all blocks that run together, in which others' may lie.
    const void* shared = nullptr;
    std::size_t shared_bytes = 0;
    const void* shared_around = nullptr;
    std::size_t shared_around_bytes = 0;
    Block block;
    std::uint64_t block_index = UINT64_MAX;
    std::uint32_t block_axes = 0;  // of the loop whose iteration the block is
    std::uint32_t phase = 0;
};

// The service: ends the kernel at a bad address.
void check_access(const void* address, std::uint64_t bytes, const cgh_site* site, std::uint32_t thread_x,
                  std::uint32_t thread_y, std::uint32_t thread_z, std::uint32_t block_x, std::uint32_t block_y,
                  std::uint32_t block_z);

// Of the operation or node that runs in the calling thread. CUDA_ERROR_ILLEGAL_ADDRESS: it is not to be done.
CUresult check_copy(const Copy& copy);
CUresult check_fill(const Fill& fill);
CUresult check_memory_operation(const MemoryOperation& operation);
void check_host_function(const void* data);  // it reads what its argument points to
void check_kernel(const Kernel& kernel);     // names the task

}  // namespace cgh

#endif
