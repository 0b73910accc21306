// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory management: address ranges, physical memory, and mappings.
#include "hostdriver/objects/memory/virtual_memory.hpp"

#include <fcntl.h>

#include <cstdint>
#include <vector>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/devices/device.hpp"

using namespace cgh;

namespace {

CUresult find_current_device(Device** out) {
    Context* context = nullptr;
    return find_device(any_current_context(&context) == CUDA_SUCCESS ? context->device() : 0, out);
}

// Checks the properties of memory of devices or of the host, which can be exported as a file descriptor. Sets `device`
// to the device whose context waits for work on the memory.
CUresult check_properties(const CUmemAllocationProp* properties, Device** device) {
    REQUIRE(properties != nullptr && properties->type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(properties->allocFlags.compressionType == 0, CUDA_ERROR_NOT_SUPPORTED);
    switch (properties->location.type) {
        case CU_MEM_LOCATION_TYPE_DEVICE:
            REQUIRE(find_device(properties->location.id, device) == CUDA_SUCCESS, CUDA_ERROR_INVALID_DEVICE);
            return CUDA_SUCCESS;
        case CU_MEM_LOCATION_TYPE_HOST_NUMA:
            REQUIRE(properties->location.id == 0, CUDA_ERROR_INVALID_VALUE);  // the only NUMA node
            return find_current_device(device);
        case CU_MEM_LOCATION_TYPE_HOST:
        case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
            return find_current_device(device);
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

// Refuses properties that are valid in queries but not for new memory.
CUresult check_makeable(const CUmemAllocationProp& properties) {
    const auto handles = properties.requestedHandleTypes;
    REQUIRE(properties.location.type != CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(handles != CU_MEM_HANDLE_TYPE_FABRIC, CUDA_ERROR_NOT_PERMITTED);
    REQUIRE((handles & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0, CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

CUresult find_memory(CUmemGenericAllocationHandle handle, PhysicalMemory** out) {
    *out = cast<PhysicalMemory>(reinterpret_cast<void*>(handle));
    return *out != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Finds the accessor of a location: a device, or kHostAccess.
CUresult find_accessor(const CUmemLocation& location, CUresult unknown, CUdevice* out) {
    Device* device = nullptr;
    switch (location.type) {
        case CU_MEM_LOCATION_TYPE_DEVICE:
            *out = location.id;
            return find_device(location.id, &device);
        case CU_MEM_LOCATION_TYPE_HOST:
        case CU_MEM_LOCATION_TYPE_HOST_NUMA:
            *out = kHostAccess;
            return CUDA_SUCCESS;
        default:
            return unknown;
    }
}

}  // namespace

CGH_API CUresult cuMemAddressReserve(CUdeviceptr* ptr, size_t size, size_t alignment, CUdeviceptr addr,
                                     unsigned long long flags) {
    return entry("cuMemAddressReserve", [&]() -> CUresult {
        REQUIRE(ptr != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
        return VirtualSpace::get().reserve(size, alignment, addr, ptr);
    });
}

CGH_API CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
    return entry("cuMemAddressFree", [&]() -> CUresult { return VirtualSpace::get().free(ptr, size); });
}

CGH_API CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* prop,
                             unsigned long long flags) {
    return entry("cuMemCreate", [&]() -> CUresult {
        REQUIRE(handle != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(check_properties(prop, &device));
        TRY(check_makeable(*prop));
        PhysicalMemory* memory = nullptr;
        TRY(PhysicalMemory::make(size, *prop, device->context(), &memory));
        *handle = reinterpret_cast<CUmemGenericAllocationHandle>(memory);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    return entry("cuMemRelease", [&]() -> CUresult { return VirtualSpace::get().release(handle); });
}

CGH_API CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                          unsigned long long flags) {
    return entry("cuMemMap", [&]() -> CUresult {
        // cuda.h: "offset ... currently must be zero", "flags ... currently must be zero".
        REQUIRE(offset == 0 && flags == 0, CUDA_ERROR_INVALID_VALUE);
        PhysicalMemory* memory = nullptr;
        TRY(find_memory(handle, &memory));
        return VirtualSpace::get().map(ptr, size, *memory);
    });
}

CGH_API CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
    return entry("cuMemUnmap", [&]() -> CUresult { return VirtualSpace::get().unmap(ptr, size); });
}

CGH_API CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc* desc, size_t count) {
    return entry("cuMemSetAccess", [&]() -> CUresult {
        REQUIRE(desc != nullptr && count != 0, CUDA_ERROR_INVALID_VALUE);
        std::vector<CUdevice> who(count);
        for (std::size_t i = 0; i < count; ++i) TRY(find_accessor(desc[i].location, CUDA_ERROR_INVALID_VALUE, &who[i]));
        for (std::size_t i = 0; i < count; ++i) TRY(VirtualSpace::get().set_access(ptr, size, who[i], desc[i].flags));
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr ptr) {
    return entry("cuMemGetAccess", [&]() -> CUresult {
        REQUIRE(flags != nullptr && location != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUdevice who = 0;
        TRY(find_accessor(*location, CUDA_ERROR_INVALID_DEVICE, &who));
        CUmemAccess_flags found{};
        TRY(VirtualSpace::get().access(ptr, who, &found));
        *flags = found;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                               CUmemAllocationGranularity_flags option) {
    return entry("cuMemGetAllocationGranularity", [&]() -> CUresult {
        REQUIRE(granularity != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(option == CU_MEM_ALLOC_GRANULARITY_MINIMUM || option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED,
                CUDA_ERROR_INVALID_VALUE);
        Device* device = nullptr;
        TRY(check_properties(prop, &device));
        *granularity = kVirtualGranularity;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop,
                                                        CUmemGenericAllocationHandle handle) {
    return entry("cuMemGetAllocationPropertiesFromHandle", [&]() -> CUresult {
        REQUIRE(prop != nullptr, CUDA_ERROR_INVALID_VALUE);
        PhysicalMemory* memory = nullptr;
        TRY(find_memory(handle, &memory));
        *prop = memory->properties;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* addr) {
    return entry("cuMemRetainAllocationHandle", [&]() -> CUresult {
        REQUIRE(handle != nullptr, CUDA_ERROR_INVALID_VALUE);
        return VirtualSpace::get().retain(reinterpret_cast<CUdeviceptr>(addr), handle);
    });
}

// cuda.h: the memory must have been created with the requested type of handle.
CGH_API CUresult cuMemExportToShareableHandle(void* shareableHandle, CUmemGenericAllocationHandle handle,
                                              CUmemAllocationHandleType handleType, unsigned long long flags) {
    return entry("cuMemExportToShareableHandle", [&]() -> CUresult {
        REQUIRE(shareableHandle != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED);
        PhysicalMemory* memory = nullptr;
        TRY(find_memory(handle, &memory));
        REQUIRE(memory->properties.requestedHandleTypes == handleType, CUDA_ERROR_INVALID_VALUE);
        const int file = fcntl(memory->file, F_DUPFD_CLOEXEC, 0);
        REQUIRE(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
        *static_cast<int*>(shareableHandle) = file;
        return CUDA_SUCCESS;
    });
}

// A file does not name the device that it was made for. The memory belongs to the current device, or to the first.
CGH_API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* osHandle,
                                                CUmemAllocationHandleType shHandleType) {
    return entry("cuMemImportFromShareableHandle", [&]() -> CUresult {
        REQUIRE(handle != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(shHandleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_NOT_SUPPORTED);
        Device* device = nullptr;
        TRY(find_current_device(&device));
        CUmemAllocationProp properties{};
        properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device->ordinal()};
        properties.requestedHandleTypes = shHandleType;
        PhysicalMemory* memory = nullptr;
        TRY(PhysicalMemory::from_file(static_cast<int>(reinterpret_cast<std::intptr_t>(osHandle)), properties,
                                      device->context(), &memory));
        *handle = reinterpret_cast<CUmemGenericAllocationHandle>(memory);
        return CUDA_SUCCESS;
    });
}
