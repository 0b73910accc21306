// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Pools, and the stream operation that frees their memory.
#include "hostdriver/objects/memory/pool.hpp"

#include <algorithm>
#include <utility>

#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/base/free_ranges.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/memory/memory.hpp"
#include "hostdriver/objects/streams/stream.hpp"
#include "hostdriver/sanitizer/accesses.hpp"

namespace cgh {
namespace {

constexpr std::size_t kGranularity = 512;

std::size_t rounded(std::size_t bytes) {
    return rounded_up(bytes, kGranularity);
}

// Rounds a size limit up to 32 MiB, the unit in which an H200 allocates memory for pools.
std::size_t whole_chunks(std::size_t bytes) {
    constexpr std::size_t kChunk = std::size_t{32} << 20;
    return bytes > SIZE_MAX - kChunk ? bytes : rounded_up(bytes, kChunk);
}

// Frees memory when the stream reaches the operation. It also runs in a failed context, so no memory leaks.
class Free final : public Operation {
  public:
    explicit Free(const Allocation& allocation) : allocation_(allocation) {}
    void run(Stream&) override {
        if (settings.any()) untrack_memory(allocation_.base);
        if (allocation_.owner != nullptr)
            allocation_.owner->free(allocation_.base);
        else if (allocation_.kind == MemoryKind::kPool)
            allocation_.pool->give_back(allocation_);
        else
            return_memory(reinterpret_cast<void*>(allocation_.base), allocation_.size);
    }
    bool runs_after_failure() const override { return true; }

  private:
    Allocation allocation_;
};

// Keeps a pool alive until the earlier operations of a stream are done.
class PoolHold final : public Operation {
  public:
    explicit PoolHold(MemoryPool& pool) : pool_(&pool) {}
    void run(Stream&) override {}

  private:
    Ref<MemoryPool> pool_;
};

}  // namespace

MemoryPool::MemoryPool(Context& context, bool is_default, std::size_t max_size, Residence residence,
                       std::unique_ptr<SharedHeap> heap)
    : context_(context),
      is_default_(is_default),
      max_size_(whole_chunks(max_size)),
      residence_(residence),
      heap_(std::move(heap)) {}

MemoryPool::~MemoryPool() {
    trim_locked(0);
}

// Copies and kernels of one stream may still use memory that was freed in the order of another stream. The addresses of
// the heap could be reused meanwhile. Every busy stream therefore holds the pool until the stream's current work is
// done.
void MemoryPool::dispose(MemoryPool* pool) {
    if (pool->heap_ == nullptr || std::exchange(pool->leaves_, true)) return arena<MemoryPool>.recycle(pool);
    pool->retain();
    const Ref<MemoryPool> here = Ref<MemoryPool>::adopt(pool);
    for (Context* const context : Context::all())
        for (const Ref<Stream>& stream : context->busy_streams(/*blocking_only=*/false))
            stream->append(new PoolHold(*pool));
}

void* MemoryPool::reserve(std::size_t size) {
    if (heap_ != nullptr) return heap_->take(with_gap(size));
    return residence_ == Residence::kDevice ? reserve_memory_of(context_.device(), size) : reserve_memory(size);
}

void MemoryPool::unreserve(void* memory, std::size_t size) {
    heap_ != nullptr ? heap_->give_back(memory, with_gap(size)) : return_memory(memory, size);
}

Allocation MemoryPool::described(CUdeviceptr base, std::size_t bytes) {
    Allocation allocation;
    allocation.base = base;
    allocation.size = bytes;
    allocation.kind = MemoryKind::kPool;
    allocation.context = &context_;
    allocation.pool = this;
    allocation.residence = residence_;
    if (heap_ != nullptr) allocation.sharing = is_imported() ? Sharing::kImported : Sharing::kExported;
    return allocation;
}

CUresult MemoryPool::allocate(std::size_t bytes, CUdeviceptr* out) {
    // cuda.h, cuMemPoolImportFromShareableHandle: "Imported memory pools do not support creating new allocations."
    if (is_imported()) return CUDA_ERROR_INVALID_VALUE;
    if (bytes == 0) {
        *out = 0;
        return CUDA_SUCCESS;
    }
    if (bytes > machine_memory()) return CUDA_ERROR_OUT_OF_MEMORY;
    const std::size_t size = rounded(bytes);
    void* memory = nullptr;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (max_size_ != 0 && used_ + bytes > max_size_) return CUDA_ERROR_OUT_OF_MEMORY;
        const auto kept = kept_.find(size);
        // With checks enabled, freed memory is reused only when the pool has no other memory.
        const bool reuses = !settings.any() || (max_size_ != 0 && reserved_ + size > max_size_);
        if (reuses && kept != kept_.end() && !kept->second.empty()) {
            memory = kept->second.back();
            kept->second.pop_back();
        } else {
            memory = reserve(size);
            if (memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
            reserved_ += size;
            reserved_high_ = std::max(reserved_high_, reserved_);
        }
        used_ += bytes;
        used_high_ = std::max(used_high_, used_);
    }
    retain();
    *out = reinterpret_cast<CUdeviceptr>(memory);
    AddressMap::get().add(described(*out, bytes));
    return CUDA_SUCCESS;
}

CUresult MemoryPool::import(const CUmemPoolPtrExportData& data, CUdeviceptr* out) {
    if (!is_imported()) return CUDA_ERROR_INVALID_VALUE;
    Allocation found;
    if (const CUresult wrong = heap_->locate(data, &found); wrong != CUDA_SUCCESS) return wrong;
    *out = found.base;
    // Importing the same memory again has no effect, and one free is enough, as on an H200.
    if (AddressMap::get().add_disjoint(described(found.base, found.size))) retain();
    return CUDA_SUCCESS;
}

void MemoryPool::give_back(const Allocation& allocation) {
    const std::size_t size = rounded(allocation.size);
    if (!is_imported()) {
        std::lock_guard<std::mutex> lock(mutex_);
        kept_[size].push_back(reinterpret_cast<void*>(allocation.base));
        used_ -= allocation.size;
        if (reserved_ > release_threshold_) trim_locked(release_threshold_);
    }
    if (release()) dispose(this);
}

void MemoryPool::trim(std::size_t keep) {
    std::lock_guard<std::mutex> lock(mutex_);
    trim_locked(keep);
}

void MemoryPool::trim_locked(std::size_t keep) {
    for (auto& [size, blocks] : kept_) {
        while (!blocks.empty() && reserved_ > keep) {
            unreserve(blocks.back(), size);
            blocks.pop_back();
            reserved_ -= size;
        }
    }
}

CUresult MemoryPool::attribute(CUmemPool_attribute which, void* out) const {
    if (is_imported()) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard<std::mutex> lock(mutex_);
    switch (which) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
            *static_cast<int*>(out) = reuse_[which - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
            *static_cast<cuuint64_t*>(out) = release_threshold_;
            break;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
            *static_cast<cuuint64_t*>(out) = reserved_;
            break;
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
            *static_cast<cuuint64_t*>(out) = reserved_high_;
            break;
        case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
            *static_cast<cuuint64_t*>(out) = used_;
            break;
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
            *static_cast<cuuint64_t*>(out) = used_high_;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult MemoryPool::set_attribute(CUmemPool_attribute which, const void* value) {
    if (is_imported()) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard<std::mutex> lock(mutex_);
    switch (which) {
        case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
        case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
            reuse_[which - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = *static_cast<const int*>(value);
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
            release_threshold_ = *static_cast<const cuuint64_t*>(value);
            return CUDA_SUCCESS;
        // cuda.h, cuMemPoolSetAttribute: "Reset the high watermark ... It is illegal to set this attribute to a
        // non-zero value."
        case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
            if (*static_cast<const cuuint64_t*>(value) != 0) return CUDA_ERROR_INVALID_VALUE;
            reserved_high_ = reserved_;
            return CUDA_SUCCESS;
        case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
            if (*static_cast<const cuuint64_t*>(value) != 0) return CUDA_ERROR_INVALID_VALUE;
            used_high_ = used_;
            return CUDA_SUCCESS;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult MemoryPool::set_access(CUdevice device, CUmemAccess_flags flags) {
    if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return CUDA_ERROR_INVALID_VALUE;
    // The device that holds the memory always has access.
    if (residence_ == Residence::kDevice && device == context_.device())
        return flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? CUDA_SUCCESS
               : flags == CU_MEM_ACCESS_FLAGS_PROT_READ    ? CUDA_ERROR_NOT_SUPPORTED
                                                           : CUDA_ERROR_INVALID_DEVICE;
    std::lock_guard<std::mutex> lock(mutex_);
    access_[device] = flags;
    return CUDA_SUCCESS;
}

CUmemAccess_flags MemoryPool::access(CUdevice device) const {
    if (residence_ == Residence::kManaged || (residence_ == Residence::kDevice && device == context_.device()))
        return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = access_.find(device);
    return found != access_.end() ? found->second : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

namespace {

struct LocationPools {
    MemoryPool* default_pool = nullptr;
    MemoryPool* current = nullptr;
};
std::mutex location_pools_mutex;  // guards `location_pools`
LocationPools location_pools[3];  // indexed by Residence; the entry of kDevice is not used

// Returns the pools of a residence. The caller holds location_pools_mutex.
LocationPools& pools_of(Residence residence) {
    LocationPools& pools = location_pools[static_cast<std::size_t>(residence)];
    Device* device = nullptr;
    if (pools.default_pool == nullptr && find_device(0, &device) == CUDA_SUCCESS)
        pools.default_pool =
            arena<MemoryPool>.create(device->context(), /*is_default=*/true, std::size_t{0}, residence);
    if (pools.current == nullptr) pools.current = pools.default_pool;
    return pools;
}

}  // namespace

MemoryPool* default_pool_of(Residence residence) {
    const std::lock_guard<std::mutex> lock(location_pools_mutex);
    return pools_of(residence).default_pool;
}

MemoryPool* current_pool_of(Residence residence) {
    const std::lock_guard<std::mutex> lock(location_pools_mutex);
    return pools_of(residence).current;
}

void set_current_pool_of(Residence residence, MemoryPool& pool) {
    const std::lock_guard<std::mutex> lock(location_pools_mutex);
    pools_of(residence).current = &pool;
}

void forget_current_pool(const MemoryPool& pool) {
    if (pool.residence() == Residence::kDevice) return device_of(pool.context()).forget_pool(pool);
    const std::lock_guard<std::mutex> lock(location_pools_mutex);
    LocationPools& pools = pools_of(pool.residence());
    if (pools.current == &pool) pools.current = pools.default_pool;
}

MemoryPool* find_pool(CUmemoryPool handle) {
    return cast<MemoryPool>(handle);
}

CUresult free_in_stream_order(CUdeviceptr address, Stream& stream) {
    if (address == 0) return CUDA_SUCCESS;
    const auto found = AddressMap::get().find(address);
    if (!found || found->base != address) return CUDA_ERROR_INVALID_VALUE;
    if (found->kind == MemoryKind::kGraph) {
        if (const CUresult refused = found->owner->check_free(address); refused != CUDA_SUCCESS) return refused;
        stream.push(new Free(*found));
        return CUDA_SUCCESS;
    }
    // cuMemFreeAsync also accepts memory of cuMemAlloc.
    if (found->kind != MemoryKind::kPool && found->kind != MemoryKind::kDevice) return CUDA_ERROR_INVALID_VALUE;
    // If two threads free one address, only one of them removes it from the map.
    const auto removed = AddressMap::get().remove(address);
    if (!removed) return CUDA_ERROR_INVALID_VALUE;
    stream.push(new Free(*removed));
    return CUDA_SUCCESS;
}

}  // namespace cgh
