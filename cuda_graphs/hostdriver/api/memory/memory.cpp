// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocation and release of memory, synchronous forms.
#include "hostdriver/objects/memory/memory.hpp"

#include <sys/sysinfo.h>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/memory/pool.hpp"
#include "hostdriver/objects/streams/capture.hpp"
#include "hostdriver/sanitizer/accesses.hpp"

using namespace cgh;

namespace {

CUresult allocate(MemoryKind kind, std::size_t bytes, unsigned flags, CUdeviceptr* out) {
    // cuda.h, cuMemAlloc: "If bytesize is 0, cuMemAlloc() returns CUDA_ERROR_INVALID_VALUE."
    REQUIRE(out != nullptr && bytes != 0, CUDA_ERROR_INVALID_VALUE);
    Context* context = nullptr;
    TRY(current_context(&context));
    void* memory = kind == MemoryKind::kDevice ? reserve_memory_of(context->device(), bytes) : reserve_memory(bytes);
    REQUIRE(memory != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
    Allocation allocation;
    allocation.base = *out = reinterpret_cast<CUdeviceptr>(memory);
    allocation.size = bytes;
    allocation.kind = kind;
    allocation.context = context;
    allocation.flags = flags;
    AddressMap::get().add(allocation);
    return CUDA_SUCCESS;
}

CUresult allocate_host(std::size_t bytes, unsigned flags, void** out) {
    REQUIRE(out != nullptr, CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr address = 0;
    if (bytes == 0) {  // a difference from cuMemAlloc
        *out = nullptr;
        return CUDA_SUCCESS;
    }
    TRY(allocate(MemoryKind::kPinned, bytes, flags, &address));
    *out = reinterpret_cast<void*>(address);
    return CUDA_SUCCESS;
}

// Waits for the work that may still use the memory, as libcuda does, then frees it.
CUresult release(const Allocation& found) {
    const CUresult status = found.context != nullptr ? found.context->synchronize() : CUDA_SUCCESS;
    if (found.owner != nullptr) {
        TRY(found.owner->check_free(found.base));
        if (settings.any()) untrack_memory(found.base);
        found.owner->free(found.base);
        return status;
    }
    const auto removed = AddressMap::get().remove(found.base);
    REQUIRE(removed, CUDA_ERROR_INVALID_VALUE);  // another thread has freed it meanwhile
    if (settings.any()) untrack_memory(removed->base);
    if (removed->kind == MemoryKind::kPool)
        removed->pool->give_back(*removed);
    else
        return_memory(reinterpret_cast<void*>(removed->base), removed->size);
    return status;
}

constexpr unsigned kHostAllocFlags =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
constexpr unsigned kHostRegisterFlags = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
                                        CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;

}  // namespace

CGH_API CUresult cuMemAlloc_v2(CUdeviceptr* dptr, size_t bytesize) {
    return entry("cuMemAlloc", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        return allocate(MemoryKind::kDevice, bytesize, 0, dptr);
    });
}

CGH_API CUresult cuMemAllocManaged(CUdeviceptr* dptr, size_t bytesize, unsigned int flags) {
    return entry("cuMemAllocManaged", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        // cuda.h: "flags must be one of CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST".
        REQUIRE(flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST, CUDA_ERROR_INVALID_VALUE);
        return allocate(MemoryKind::kManaged, bytesize, flags, dptr);
    });
}

// Freeing 0 does nothing. cuMemFreeHost frees pinned memory; a variable of a module cannot be freed.
CGH_API CUresult cuMemFree_v2(CUdeviceptr dptr) {
    return entry("cuMemFree", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        if (dptr == 0) return CUDA_SUCCESS;
        const auto found = AddressMap::get().find(dptr);
        REQUIRE(found && found->base == dptr && (!found->on_host() || found->kind == MemoryKind::kPool) &&
                    found->kind != MemoryKind::kGlobal && found->kind != MemoryKind::kMapped &&
                    found->kind != MemoryKind::kOpened,
                CUDA_ERROR_INVALID_VALUE);
        return release(*found);
    });
}

CGH_API CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
    return entry("cuMemGetInfo", [&]() -> CUresult {
        Context* context = nullptr;
        TRY(current_context(&context));
        struct sysinfo info{};
        REQUIRE(sysinfo(&info) == 0, CUDA_ERROR_OPERATING_SYSTEM);
        if (free != nullptr) *free = (info.freeram + info.bufferram) * info.mem_unit;
        if (total != nullptr) *total = machine_memory();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemAllocHost_v2(void** pp, size_t bytesize) {
    return entry("cuMemAllocHost", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        return allocate_host(bytesize, 0, pp);
    });
}

CGH_API CUresult cuMemHostAlloc(void** pp, size_t bytesize, unsigned int Flags) {
    return entry("cuMemHostAlloc", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        REQUIRE((Flags & ~kHostAllocFlags) == 0, CUDA_ERROR_INVALID_VALUE);
        return allocate_host(bytesize, Flags, pp);
    });
}

CGH_API CUresult cuMemFreeHost(void* p) {
    return entry("cuMemFreeHost", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        if (p == nullptr) return CUDA_SUCCESS;
        const auto found = AddressMap::get().find(p);
        REQUIRE(found && found->base == reinterpret_cast<CUdeviceptr>(p) && found->kind == MemoryKind::kPinned,
                CUDA_ERROR_INVALID_VALUE);
        return release(*found);
    });
}

CGH_API CUresult cuMemHostRegister_v2(void* p, size_t bytesize, unsigned int Flags) {
    return entry("cuMemHostRegister", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        REQUIRE(p != nullptr && bytesize != 0 && (Flags & ~kHostRegisterFlags) == 0, CUDA_ERROR_INVALID_VALUE);
        REQUIRE((Flags & CU_MEMHOSTREGISTER_IOMEMORY) == 0, CUDA_ERROR_NOT_SUPPORTED);
        Context* context = nullptr;
        TRY(current_context(&context));
        Allocation range;
        range.base = reinterpret_cast<CUdeviceptr>(p);
        range.size = bytesize;
        range.kind = MemoryKind::kRegistered;
        range.context = context;
        range.flags = Flags;
        return AddressMap::get().add_disjoint(range) ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    });
}

CGH_API CUresult cuMemHostUnregister(void* p) {
    return entry("cuMemHostUnregister", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        REQUIRE(p != nullptr, CUDA_ERROR_INVALID_VALUE);
        const auto found = AddressMap::get().find(p);
        REQUIRE(found && found->base == reinterpret_cast<CUdeviceptr>(p) && found->kind == MemoryKind::kRegistered,
                CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
        const CUresult status = found->context->synchronize();
        REQUIRE(AddressMap::get().remove(found->base), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
        if (settings.any()) untrack_range(found->base, found->size);
        return status;
    });
}

CGH_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* pdptr, void* p, unsigned int Flags) {
    return entry("cuMemHostGetDevicePointer", [&]() -> CUresult {
        REQUIRE(pdptr != nullptr && Flags == 0, CUDA_ERROR_INVALID_VALUE);  // cuda.h: "For now, it must be set to 0."
        const auto found = AddressMap::get().find(p);
        REQUIRE(found && found->on_host(), CUDA_ERROR_INVALID_VALUE);
        *pdptr = reinterpret_cast<CUdeviceptr>(p);  // one address space
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemHostGetFlags(unsigned int* pFlags, void* p) {
    return entry("cuMemHostGetFlags", [&]() -> CUresult {
        REQUIRE(pFlags != nullptr, CUDA_ERROR_INVALID_VALUE);
        const auto found = AddressMap::get().find(p);
        REQUIRE(found && found->on_host(), CUDA_ERROR_INVALID_VALUE);
        *pFlags = found->flags | CU_MEMHOSTALLOC_DEVICEMAP;  // unified addressing maps all memory
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemGetAddressRange_v2(CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr) {
    return entry("cuMemGetAddressRange", [&]() -> CUresult {
        const auto found = AddressMap::get().find(dptr);
        // cuda.h: "Both parameters pbase and psize are optional."
        REQUIRE(found, CUDA_ERROR_NOT_FOUND);
        if (pbase != nullptr) *pbase = found->base;
        if (psize != nullptr) *psize = found->size;
        return CUDA_SUCCESS;
    });
}

// cuda.h: "ElementSizeBytes must be 4, 8, or 16 bytes". The pitch is a multiple of the alignment of allocations.
CGH_API CUresult cuMemAllocPitch_v2(CUdeviceptr* dptr, size_t* pPitch, size_t WidthInBytes, size_t Height,
                                    unsigned int ElementSizeBytes) {
    return entry("cuMemAllocPitch", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        REQUIRE(pPitch != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(ElementSizeBytes == 4 || ElementSizeBytes == 8 || ElementSizeBytes == 16, CUDA_ERROR_INVALID_VALUE);
        std::size_t pitch = 0, bytes = 0;
        REQUIRE(!__builtin_add_overflow(WidthInBytes, kMemoryAlignment - 1, &pitch), CUDA_ERROR_INVALID_VALUE);
        pitch = pitch / kMemoryAlignment * kMemoryAlignment;
        REQUIRE(!__builtin_mul_overflow(pitch, Height, &bytes), CUDA_ERROR_INVALID_VALUE);
        TRY(allocate(MemoryKind::kDevice, bytes, 0, dptr));
        *pPitch = pitch;
        return CUDA_SUCCESS;
    });
}
