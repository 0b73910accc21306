// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/memory/imported_pools.hpp"

#include <memory>
#include <utility>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/memory/pool.hpp"

namespace cgh {

ImportedPools& ImportedPools::get() {
    static auto* const pools = new ImportedPools;  // never destroyed; pools are used until the process ends
    return *pools;
}

CUresult ImportedPools::open(int descriptor, MemoryPool** out) {
    std::unique_ptr<SharedHeap> heap;
    TRY(SharedHeap::open(descriptor, &heap));
    Device* device = nullptr;
    REQUIRE(find_device(heap->device(), &device) == CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE);
    const std::uint64_t token = heap->file().token();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = by_file_.find(token); found != by_file_.end()) return *out = found->second, CUDA_SUCCESS;
    const Residence residence = heap->residence();
    MemoryPool* const made =
        arena<MemoryPool>.create(device->context(), false, std::size_t{0}, residence, std::move(heap));
    REQUIRE(made != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    by_file_[token] = *out = made;
    return CUDA_SUCCESS;
}

CUresult ImportedPools::close(MemoryPool& pool) {
    const std::lock_guard<std::mutex> lock(mutex_);
    REQUIRE(!AddressMap::get().has_memory_of(pool), CUDA_ERROR_INVALID_VALUE);
    const std::uint64_t token = pool.heap()->file().token();
    REQUIRE(arena<MemoryPool>.kill(&pool), CUDA_ERROR_INVALID_VALUE);
    by_file_.erase(token);
    return CUDA_SUCCESS;
}

}  // namespace cgh
