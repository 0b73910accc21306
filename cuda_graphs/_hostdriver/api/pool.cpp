// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory pools and stream-ordered allocation.
#include "../objects/pool.hpp"

#include "../objects/arena.hpp"
#include "../objects/capture.hpp"
#include "../objects/context.hpp"
#include "../objects/device.hpp"
#include "../objects/intake.hpp"
#include "../objects/stream.hpp"
#include "entry.hpp"

using namespace cgh;

namespace {

// cuda.h, cuMemPoolCreate: pinned memory of a device; pools of host memory and shared ones are not offered
// (CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED and _MEMPOOL_SUPPORTED_HANDLE_TYPES are 0).
CUresult check_props(const CUmemPoolProps& props, Device** device) {
    REQUIRE(props.allocType == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(props.handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(props.location.type != CU_MEM_LOCATION_TYPE_INVALID, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(props.location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(find_device(props.location.id, device) == CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
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
        REQUIRE(found != nullptr && found->context().device() == dev, CUDA_ERROR_INVALID_VALUE);
        device->set_pool(*found);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* poolProps) {
    return entry("cuMemPoolCreate", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        REQUIRE(pool != nullptr && poolProps != nullptr, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(check_props(*poolProps, &device));
        MemoryPool* made = arena<MemoryPool>.create(device->context(), false, poolProps->maxSize);
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
        REQUIRE(arena<MemoryPool>.kill(found), CUDA_ERROR_INVALID_VALUE);
        device_of(found->context()).forget_pool(*found);
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
        REQUIRE(found != nullptr, CUDA_ERROR_INVALID_VALUE);
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
            Device* device = nullptr;
            REQUIRE(map[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE);
            TRY(find_device(map[i].location.id, &device));
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
        REQUIRE(location->type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(find_device(location->id, &device));
        *flags = found->access(location->id);
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
