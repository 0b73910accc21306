// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A memory pool for stream-ordered allocation. The pool keeps freed memory up to its release threshold. An allocation
// returns its address at once. Stream order determines when the memory may be used and when its free takes effect.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_POOL_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_POOL_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "hostdriver/objects/base/ref.hpp"
#include "hostdriver/objects/memory/memory.hpp"
#include "hostdriver/objects/memory/shared_heap.hpp"

namespace cgh {

class Context;
class Stream;

class MemoryPool : public RefCounted {
  public:
    // `heap` is set for a pool that processes share. A pool of another process cannot allocate.
    MemoryPool(Context& context, bool is_default, std::size_t max_size = 0, Residence residence = Residence::kDevice,
               std::unique_ptr<SharedHeap> heap = nullptr);
    ~MemoryPool();
    static void dispose(MemoryPool* pool);

    CUmemoryPool handle() { return reinterpret_cast<CUmemoryPool>(this); }
    Context& context() const { return context_; }
    bool is_default() const { return is_default_; }
    Residence residence() const { return residence_; }
    SharedHeap* heap() const { return heap_.get(); }
    bool is_imported() const { return heap_ != nullptr && heap_->is_imported(); }

    // Allocates memory (address 0 for 0 bytes) and adds it to the address map. Every allocation keeps the pool alive.
    CUresult allocate(std::size_t bytes, CUdeviceptr* out);
    // Imports memory that the process which created the pool has allocated. It is freed like memory of this process.
    CUresult import(const CUmemPoolPtrExportData& data, CUdeviceptr* out);
    // Frees memory of allocate() or import() that the caller has removed from the address map.
    void give_back(const Allocation& allocation);
    // Frees unused memory until at most `keep` bytes are reserved.
    void trim(std::size_t keep);

    CUresult attribute(CUmemPool_attribute which, void* out) const;
    CUresult set_attribute(CUmemPool_attribute which, const void* value);

    // Sets the access of a device. The value for devices other than the pool's own is stored for queries only, because
    // every device can access the memory. All devices have access to managed memory.
    CUresult set_access(CUdevice device, CUmemAccess_flags flags);
    CUmemAccess_flags access(CUdevice device) const;

  private:
    void* reserve(std::size_t size);
    void unreserve(void* memory, std::size_t size);
    Allocation described(CUdeviceptr base, std::size_t bytes);
    void trim_locked(std::size_t keep);

    Context& context_;
    const bool is_default_;
    const std::size_t max_size_;  // bytes; 0 for the machine's memory
    const Residence residence_;
    const std::unique_ptr<SharedHeap> heap_;
    bool leaves_ = false;                             // true after the last reference was dropped; for dispose()
    mutable std::mutex mutex_;                        // guards the fields below
    std::map<std::size_t, std::vector<void*>> kept_;  // free blocks by size in bytes
    std::uint64_t release_threshold_ = 0;
    std::uint64_t reserved_ = 0, reserved_high_ = 0, used_ = 0, used_high_ = 0;
    std::map<CUdevice, CUmemAccess_flags> access_;
    int reuse_[3] = {1, 1, 1};  // follow events, opportunistic, internal dependencies: no effect
};

// Returns the pool of a handle, or nullptr if the handle is invalid or dead.
MemoryPool* find_pool(CUmemoryPool handle);

// Returns the default pool of host memory, or of managed memory without a preferred location. The first call creates
// it. Its memory belongs to the context of device 0. Returns nullptr if memory is exhausted.
MemoryPool* default_pool_of(Residence residence);
MemoryPool* current_pool_of(Residence residence);
void set_current_pool_of(Residence residence, MemoryPool& pool);
// Restores the default pool where `pool`, which is about to be destroyed, is current.
void forget_current_pool(const MemoryPool& pool);

// Implements cuMemFreeAsync: removes the allocation from the address map now and frees its memory in stream order.
CUresult free_in_stream_order(CUdeviceptr address, Stream& stream);

}  // namespace cgh

#endif
