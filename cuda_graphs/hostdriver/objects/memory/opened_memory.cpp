// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/memory/opened_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/memory/memory.hpp"
#include "hostdriver/sanitizer/accesses.hpp"

namespace cgh {
namespace {

constexpr std::uint64_t kMagic = 0x7263706d2d686763;  // "cgh-mpcr"
constexpr std::size_t kPage = 4096;

}  // namespace

CUresult get_memory_handle(CUdeviceptr address, CUipcMemHandle* out) {
    const auto found = AddressMap::get().find(address);
    REQUIRE(found && found->kind == MemoryKind::kDevice, CUDA_ERROR_INVALID_VALUE);
    MemoryHandle handle{};
    handle.magic = kMagic;
    handle.size = found->size;
    void* const memory = reinterpret_cast<void*>(found->base);
    DeviceRange* const range = DeviceRange::holding(memory);
    REQUIRE(range != nullptr, CUDA_ERROR_INVALID_VALUE);
    TRY(range->share(memory, found->size, &handle.place));
    if (settings.any()) note_shared(found->base);
    *out = {};
    std::memcpy(out, &handle, sizeof handle);
    return CUDA_SUCCESS;
}

OpenedMemory& OpenedMemory::get() {
    static auto* const opened = new OpenedMemory;  // never destroyed; memory is used until the process ends
    return *opened;
}

OpenedMemory::ByAddress::iterator OpenedMemory::find(const MemoryHandle& handle, const Context& context) {
    return std::find_if(by_address_.begin(), by_address_.end(), [&](const auto& one) {
        return one.second.context == &context && std::memcmp(&one.second.handle, &handle, sizeof handle) == 0;
    });
}

CUresult OpenedMemory::open(const CUipcMemHandle& data, Context& context, CUdeviceptr* out) {
    MemoryHandle handle{};
    std::memcpy(&handle, &data, sizeof handle);
    REQUIRE(handle.magic == kMagic, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(handle.place.file.process != getpid(), CUDA_ERROR_INVALID_CONTEXT);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = find(handle, context); found != by_address_.end()) {
        ++found->second.count;
        *out = found->first;
        return CUDA_SUCCESS;
    }
    SharedFile file;
    TRY(SharedFile::at(handle.place.file, &file));
    const std::uint64_t offset = handle.place.offset;
    REQUIRE(handle.size != 0 && offset < file.size() && handle.size <= file.size() - offset, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(DeviceRange::is_still_shared(file, handle.place.number, handle.place.slot), CUDA_ERROR_INVALID_VALUE);
    const std::size_t first = offset / kPage * kPage;
    const std::size_t bytes = rounded_up(offset + handle.size, kPage) - first;
    void* const pages = file.map(first, bytes);
    REQUIRE(pages != nullptr, CUDA_ERROR_MAP_FAILED);
    Allocation allocation;
    allocation.base = reinterpret_cast<CUdeviceptr>(pages) + (offset - first);
    allocation.size = handle.size;
    allocation.kind = MemoryKind::kOpened;
    allocation.context = &context;
    allocation.sharing = Sharing::kImported;
    AddressMap::get().add(allocation);
    by_address_[allocation.base] = {handle, &context, pages, bytes, 1};
    *out = allocation.base;
    return CUDA_SUCCESS;
}

CUresult OpenedMemory::close(CUdeviceptr address) {
    Context* user = nullptr;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = by_address_.find(address);
        REQUIRE(found != by_address_.end(), CUDA_ERROR_INVALID_VALUE);
        if (found->second.count > 1) return --found->second.count, CUDA_SUCCESS;
        user = found->second.context;
    }
    const CUresult status = user->synchronize();  // without a lock, because waiting may run work
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = by_address_.find(address);
    REQUIRE(found != by_address_.end(), CUDA_ERROR_INVALID_VALUE);  // false if another thread closed it first
    if (--found->second.count == 0) unmap(found);
    return status;
}

void OpenedMemory::close_all_of(const Context& context) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto at = by_address_.begin(); at != by_address_.end();) {
        const auto here = at++;
        if (here->second.context == &context) unmap(here);
    }
}

void OpenedMemory::unmap(ByAddress::iterator at) {
    if (settings.any()) untrack_range(at->first, at->second.handle.size);
    AddressMap::get().remove(at->first);
    munmap(at->second.pages, at->second.bytes);
    by_address_.erase(at);
}

}  // namespace cgh
