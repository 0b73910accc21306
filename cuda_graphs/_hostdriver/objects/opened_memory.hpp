// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of cuMemAlloc that other processes open by a handle of 64 bytes. A handle says where the memory is: in which
// file, which the process that allocated it has open, and where there (DeviceRange::share).
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_OPENED_MEMORY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_OPENED_MEMORY_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "device_range.hpp"

namespace cgh {

class Context;

struct MemoryHandle {
    std::uint64_t magic;
    DeviceRange::Shared place;  // its number is not that of other memory at the same address
    std::uint64_t size;
};
static_assert(sizeof(MemoryHandle) <= sizeof(CUipcMemHandle));

// Of memory of cuMemAlloc that begins at, or holds, `address`.
CUresult get_memory_handle(CUdeviceptr address, CUipcMemHandle* out);

// What this process has opened.
class OpenedMemory {
  public:
    static OpenedMemory& get();

    // What the context has opened already is counted. CUDA_ERROR_INVALID_CONTEXT: it is memory of this process.
    // CUDA_ERROR_INVALID_VALUE: it was freed.
    CUresult open(const CUipcMemHandle& handle, Context& context, CUdeviceptr* out);
    CUresult close(CUdeviceptr address);
    // A context goes, and with it what it has opened.
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

    std::mutex mutex_;  // guards the one below
    ByAddress by_address_;
};

}  // namespace cgh

#endif
