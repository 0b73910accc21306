// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// A memory pool: memory for stream-ordered allocation, kept after a free up to the release threshold. An address is
// handed out at once; stream order says only when it may be used, and when its free takes effect.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_POOL_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_POOL_HPP

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "memory.hpp"
#include "ref.hpp"
#include "shared_heap.hpp"

namespace cgh {

class Context;
class Stream;

class MemoryPool : public Counted {
  public:
    // `heap`: of a pool that processes share. One of another process allocates nothing.
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

    // Memory (address 0 for 0 bytes), registered in the address map as the pool's. Every allocation keeps the pool
    // alive.
    CUresult allocate(std::size_t bytes, CUdeviceptr* out);
    // Memory that the process which made the pool has allocated. It is freed like memory of this one.
    CUresult import(const CUmemPoolPtrExportData& data, CUdeviceptr* out);
    // Gives back what allocate() or import() returned. It is not in the address map any more.
    void give_back(const Allocation& allocation);
    // Releases kept memory until at most `keep` bytes are reserved.
    void trim(std::size_t keep);

    CUresult attribute(CUmemPool_attribute which, void* out) const;
    CUresult set_attribute(CUmemPool_attribute which, const void* value);

    // Access of devices other than the pool's own is kept for queries; every device can read this memory. Managed
    // memory is everybody's.
    CUresult set_access(CUdevice device, CUmemAccess_flags flags);
    CUmemAccess_flags access(CUdevice device) const;

  private:
    void* reserve(std::size_t size);
    void unreserve(void* memory, std::size_t size);
    Allocation described(CUdeviceptr base, std::size_t bytes);
    void trim_locked(std::size_t keep);

    Context& context_;
    const bool is_default_;
    const std::size_t max_size_;  // 0: the machine's memory
    const Residence residence_;
    const std::unique_ptr<SharedHeap> heap_;
    bool leaves_ = false;                             // its last user is gone; only dispose() looks
    mutable std::mutex mutex_;                        // guards everything below
    std::map<std::size_t, std::vector<void*>> kept_;  // by size in bytes
    std::uint64_t release_threshold_ = 0;
    std::uint64_t reserved_ = 0, reserved_high_ = 0, used_ = 0, used_high_ = 0;
    std::map<CUdevice, CUmemAccess_flags> access_;
    int reuse_[3] = {1, 1, 1};  // follow events, opportunistic, internal dependencies: accepted, nothing to choose here
};

// A pool argument; nullptr when dead or foreign.
MemoryPool* find_pool(CUmemoryPool handle);

// The default pool of host memory, or of managed memory without a preferred location; made when it is first asked for.
// Contexts of memory that is on no device are that of device 0. nullptr: no memory for it.
MemoryPool* default_pool_of(Residence residence);
MemoryPool* current_pool_of(Residence residence);
void set_current_pool_of(Residence residence, MemoryPool& pool);
// The pool is going: back to the default where it is the current one.
void forget_current_pool(const MemoryPool& pool);

// cuMemFreeAsync: takes the allocation out of the address map now and gives its memory back in stream order.
CUresult free_in_stream_order(CUdeviceptr address, Stream& stream);

}  // namespace cgh

#endif
