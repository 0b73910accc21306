// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory pools and stream-ordered allocation.
#include "hostdriver/objects/memory/pool.hpp"

#include <memory>
#include <utility>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/memory/imported_pools.hpp"
#include "hostdriver/objects/streams/capture.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/objects/streams/stream.hpp"

using namespace cgh;

namespace {

// The location of a pool. The host has only one NUMA node.
struct PoolLocation {
    Residence residence;
    Device* device;  // the device of device memory; for other memory device 0, whose context owns the pool
};

CUresult find_location(const CUmemLocation& location, CUmemAllocationType type, PoolLocation* out) {
    const bool managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
    REQUIRE(managed || type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
    TRY(find_device(0, &out->device));
    switch (location.type) {
        case CU_MEM_LOCATION_TYPE_DEVICE:
            REQUIRE(find_device(location.id, &out->device) == CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE);
            out->residence = managed ? Residence::kManaged : Residence::kDevice;
            return CUDA_SUCCESS;
        case CU_MEM_LOCATION_TYPE_HOST_NUMA:
            REQUIRE(location.id == 0, CUDA_ERROR_INVALID_VALUE);
            [[fallthrough]];
        case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        case CU_MEM_LOCATION_TYPE_HOST:
            out->residence = managed ? Residence::kManaged : Residence::kHost;
            return CUDA_SUCCESS;
        default:
            REQUIRE(managed && location.type == CU_MEM_LOCATION_TYPE_NONE, CUDA_ERROR_INVALID_VALUE);
            out->residence = Residence::kManaged;
            return CUDA_SUCCESS;
    }
}

// The handle types of an H200. CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES reports no fabric to other machines
// here.
constexpr int kHandleTypesOfPools = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;

CUresult check_props(const CUmemPoolProps& props, PoolLocation* found_at) {
    TRY(find_location(props.location, props.allocType, found_at));
    if (props.handleTypes == CU_MEM_HANDLE_TYPE_NONE) return CUDA_SUCCESS;
    REQUIRE((props.handleTypes & ~kHandleTypesOfPools) == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE((props.handleTypes & CU_MEM_HANDLE_TYPE_FABRIC) == 0, CUDA_ERROR_NOT_SUPPORTED);
    // The location must be specific: the host is specified by its node.
    const bool is_placed =
        props.location.type == CU_MEM_LOCATION_TYPE_DEVICE || props.location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    REQUIRE(is_placed && found_at->residence != Residence::kManaged, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

CUresult find_location_of(CUmemLocation* location, CUmemAllocationType type, PoolLocation* out) {
    REQUIRE(location != nullptr, CUDA_ERROR_INVALID_VALUE);
    return find_location(*location, type, out);
}

// Checks that a location may get access to the pool: any device may, and the host if the memory is not device memory.
CUresult check_accessor(const MemoryPool& pool, const CUmemLocation& location) {
    if (location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        Device* device = nullptr;
        return find_device(location.id, &device);
    }
    const bool host = location.type == CU_MEM_LOCATION_TYPE_HOST || location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA;
    return host && pool.residence() != Residence::kDevice ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult allocate_async(CUdeviceptr* dptr, std::size_t bytes, MemoryPool& pool, Stream& stream) {
    if (dptr == nullptr) return stream.intake().refuse(stream, CUDA_ERROR_INVALID_VALUE);
    return stream.intake().allocate(stream, pool, bytes, dptr);
}

}  // namespace

CGH_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice dev) {
    return entry("cuDeviceGetDefaultMemPool", [&]() -> CUresult {
        REQUIRE(pool_out != nullptr, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        *pool_out = device->default_pool().handle();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev) {
    return entry("cuDeviceGetMemPool", [&]() -> CUresult {
        REQUIRE(pool != nullptr, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        *pool = device->pool().handle();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
    return entry("cuDeviceSetMemPool", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        Device* device = nullptr;
        TRY(find_device(dev, &device));
        MemoryPool* found = find_pool(pool);
        // cuda.h: "The memory pool must be local to the specified device."
        REQUIRE(found != nullptr && found->residence() == Residence::kDevice && found->context().device() == dev &&
                    !found->is_imported(),
                CUDA_ERROR_INVALID_VALUE);
        device->set_pool(*found);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* poolProps) {
    return entry("cuMemPoolCreate", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        REQUIRE(pool != nullptr && poolProps != nullptr, CUDA_ERROR_INVALID_VALUE);
        PoolLocation found_at{};
        TRY(check_props(*poolProps, &found_at));
        std::unique_ptr<SharedHeap> heap;
        if (poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
            TRY(SharedHeap::make(found_at.device->ordinal(), found_at.residence, &heap));
        MemoryPool* made = arena<MemoryPool>.create(found_at.device->context(), false, poolProps->maxSize,
                                                    found_at.residence, std::move(heap));
        REQUIRE(made != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
        *pool = made->handle();
        return CUDA_SUCCESS;
    });
}

// cuda.h: "If any pointers obtained from this pool haven't been freed ... the function will return immediately and the
// resources associated with the pool will be released automatically once there are no more outstanding allocations.
// Destroying the current mempool of a device sets the default mempool of that device as the current mempool for that
// device." "A device's default memory pool cannot be destroyed."
CGH_API CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    return entry("cuMemPoolDestroy", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        MemoryPool* found = find_pool(pool);
        REQUIRE(found != nullptr && !found->is_default(), CUDA_ERROR_INVALID_VALUE);
        if (found->is_imported())
            TRY(ImportedPools::get().close(*found));
        else
            REQUIRE(arena<MemoryPool>.kill(found), CUDA_ERROR_INVALID_VALUE);
        forget_current_pool(*found);
        Ref<MemoryPool>::adopt(found);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
    return entry("cuMemPoolGetAttribute", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        MemoryPool* found = find_pool(pool);
        REQUIRE(found != nullptr && value != nullptr, CUDA_ERROR_INVALID_VALUE);
        return found->attribute(attr, value);
    });
}

CGH_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
    return entry("cuMemPoolSetAttribute", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        MemoryPool* found = find_pool(pool);
        REQUIRE(found != nullptr && value != nullptr, CUDA_ERROR_INVALID_VALUE);
        return found->set_attribute(attr, value);
    });
}

CGH_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
    return entry("cuMemPoolTrimTo", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        MemoryPool* found = find_pool(pool);
        REQUIRE(found != nullptr && !found->is_imported(), CUDA_ERROR_INVALID_VALUE);
        found->trim(minBytesToKeep);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count) {
    return entry("cuMemPoolSetAccess", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        MemoryPool* found = find_pool(pool);
        REQUIRE(found != nullptr && (map != nullptr || count == 0), CUDA_ERROR_INVALID_VALUE);
        for (std::size_t i = 0; i < count; ++i) {
            TRY(check_accessor(*found, map[i].location));
            if (map[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE)
                TRY(found->set_access(map[i].location.id, map[i].flags));
        }
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool memPool, CUmemLocation* location) {
    return entry("cuMemPoolGetAccess", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        MemoryPool* found = find_pool(memPool);
        REQUIRE(flags != nullptr && found != nullptr && location != nullptr, CUDA_ERROR_INVALID_VALUE);
        TRY(check_accessor(*found, *location));
        *flags = location->type == CU_MEM_LOCATION_TYPE_DEVICE ? found->access(location->id)
                                                               : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return CUDA_SUCCESS;
    });
}

// cuda.h: "The allocation comes from the memory pool current to the stream's device."
CGH_API CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream hStream) {
    return entry("cuMemAllocAsync", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        return allocate_async(dptr, bytesize, device_of(stream->context()).pool(), *stream);
    });
}

CGH_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream) {
    return entry("cuMemAllocFromPoolAsync", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        MemoryPool* found = find_pool(pool);
        if (found == nullptr) return stream->intake().refuse(*stream, CUDA_ERROR_INVALID_VALUE);
        return allocate_async(dptr, bytesize, *found, *stream);
    });
}

CGH_API CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    return entry("cuMemFreeAsync", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        return stream->intake().free(*stream, dptr);
    });
}

// Returns the default pool by location and type. For device memory it equals that of cuDeviceGetDefaultMemPool.
CGH_API CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool_out, CUmemLocation* location, CUmemAllocationType type) {
    return entry("cuMemGetDefaultMemPool", [&]() -> CUresult {
        REQUIRE(pool_out != nullptr, CUDA_ERROR_INVALID_VALUE);
        PoolLocation found_at{};
        TRY(find_location_of(location, type, &found_at));
        MemoryPool* found = found_at.residence == Residence::kDevice ? &found_at.device->default_pool()
                                                                     : default_pool_of(found_at.residence);
        REQUIRE(found != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
        *pool_out = found->handle();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
    return entry("cuMemGetMemPool", [&]() -> CUresult {
        REQUIRE(pool != nullptr, CUDA_ERROR_INVALID_VALUE);
        PoolLocation found_at{};
        TRY(find_location_of(location, type, &found_at));
        MemoryPool* found =
            found_at.residence == Residence::kDevice ? &found_at.device->pool() : current_pool_of(found_at.residence);
        REQUIRE(found != nullptr, CUDA_ERROR_OUT_OF_MEMORY);
        *pool = found->handle();
        return CUDA_SUCCESS;
    });
}

// cuda.h: "The location and allocation type specified must match those of the pool otherwise CUDA_ERROR_INVALID_VALUE
// is returned."
CGH_API CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
    return entry("cuMemSetMemPool", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        PoolLocation found_at{};
        TRY(find_location_of(location, type, &found_at));
        MemoryPool* found = find_pool(pool);
        REQUIRE(found != nullptr && found->residence() == found_at.residence && !found->is_imported(),
                CUDA_ERROR_INVALID_VALUE);
        if (found_at.residence != Residence::kDevice)
            return set_current_pool_of(found_at.residence, *found), CUDA_SUCCESS;
        REQUIRE(found->context().device() == found_at.device->ordinal(), CUDA_ERROR_INVALID_VALUE);
        found_at.device->set_pool(*found);
        return CUDA_SUCCESS;
    });
}
