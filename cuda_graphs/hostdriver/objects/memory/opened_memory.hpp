// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of cuMemAlloc that other processes open through a 64-byte handle. The handle contains the file, which the
// allocating process has open, and the offset in it (DeviceRange::share).
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_OPENED_MEMORY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_OPENED_MEMORY_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "hostdriver/objects/memory/device_range.hpp"

namespace cgh {

class Context;

struct MemoryHandle {
    std::uint64_t magic;
    DeviceRange::Shared place;  // its number distinguishes it from later memory at the same address
    std::uint64_t size;
};
static_assert(sizeof(MemoryHandle) <= sizeof(CUipcMemHandle));

// Writes the handle of the cuMemAlloc memory that contains `address`.
CUresult get_memory_handle(CUdeviceptr address, CUipcMemHandle* out);

// The memory that this process has opened.
class OpenedMemory {
  public:
    static OpenedMemory& get();

    // Opens memory, or increments the count of memory that the context has opened before. Returns
    // CUDA_ERROR_INVALID_CONTEXT for memory of this process and CUDA_ERROR_INVALID_VALUE for freed memory.
    CUresult open(const CUipcMemHandle& handle, Context& context, CUdeviceptr* out);
    CUresult close(CUdeviceptr address);
    // Closes the memory that a context has opened, when the context is destroyed.
    void close_all_of(const Context& context);

  private:
    struct Opened {
        MemoryHandle handle;
        Context* context;
        void* pages;
        std::size_t bytes;
        unsigned count;
    };
    using ByAddress = std::map<CUdeviceptr, Opened>;

    ByAddress::iterator find(const MemoryHandle& handle, const Context& context);
    void unmap(ByAddress::iterator at);

    std::mutex mutex_;  // guards by_address_
    ByAddress by_address_;
};

}  // namespace cgh

#endif
