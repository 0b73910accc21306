// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Queries about pointers.
#include "hostdriver/entry.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/memory/memory.hpp"
#include "hostdriver/objects/memory/pool.hpp"

using namespace cgh;

namespace {

template <class T, class V>
CUresult put(void* data, V value) {
    *static_cast<T*>(data) = static_cast<T>(value);
    return CUDA_SUCCESS;
}

CUresult known_attribute(CUpointer_attribute which, CUdeviceptr address, const Allocation& a, void* data) {
    const bool has_host_pointer = a.on_host() || a.is_managed();
    switch (which) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            // Memory of a pool and mapped memory belong to a device, not to a context.
            *static_cast<CUcontext*>(data) = a.context != nullptr && a.pool == nullptr && a.kind != MemoryKind::kMapped
                                                 ? a.context->handle()
                                                 : nullptr;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            return put<CUmemorytype>(data, a.type());
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            return put<CUdeviceptr>(data, address);
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            if (!has_host_pointer) return CUDA_ERROR_INVALID_VALUE;
            *static_cast<void**>(data) = reinterpret_cast<void*>(address);
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
            return put<int>(data, a.is_synchronous);
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
            return put<unsigned long long>(data, a.id);
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            return put<unsigned int>(data, a.is_managed());
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return put<int>(data, a.context != nullptr ? a.context->device() : 0);
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
            return put<unsigned int>(data, a.kind == MemoryKind::kDevice);
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            return put<CUdeviceptr>(data, a.base);
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            return put<std::size_t>(data, a.size);
        case CU_POINTER_ATTRIBUTE_MAPPED:
            return put<unsigned int>(data, 1);
        case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
            return put<unsigned long long>(
                data, a.sharing == Sharing::kExported ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0);
        case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
            return put<unsigned int>(data, 0);
        case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
            return put<int>(data, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
            *static_cast<CUmemoryPool*>(data) = a.pool != nullptr ? a.pool->handle() : nullptr;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
            return put<std::size_t>(data, a.size);
        case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
            return put<CUdeviceptr>(data, a.base);
        case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
            return put<unsigned long long>(data, a.id);
        case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
            return put<unsigned int>(data, 0);
        case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
            return CUDA_ERROR_NOT_SUPPORTED;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

// Sets the default value of an attribute, for unknown memory and for memory without this attribute.
CUresult default_attribute(CUpointer_attribute which, void* data) {
    switch (which) {
        case CU_POINTER_ATTRIBUTE_CONTEXT:
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
            return put<unsigned long long>(data, 0);
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        case CU_POINTER_ATTRIBUTE_MAPPED:
        case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
            return put<unsigned int>(data, 0);
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return put<int>(data, CU_DEVICE_INVALID);
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
}

}  // namespace

// cuda.h: "CUDA_ERROR_INVALID_VALUE" when "ptr was not allocated by, mapped by, or registered with a CUcontext which
// uses unified virtual addressing".
CGH_API CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    return entry("cuPointerGetAttribute", [&]() -> CUresult {
        REQUIRE(data != nullptr, CUDA_ERROR_INVALID_VALUE);
        const auto found = AddressMap::get().find(ptr);
        REQUIRE(found, CUDA_ERROR_INVALID_VALUE);
        return known_attribute(attribute, ptr, *found, data);
    });
}

// cuda.h: "Unlike cuPointerGetAttribute, this function will not return an error when the ptr encountered is not a valid
// CUDA pointer. Instead, the attributes are assigned default NULL values and CUDA_SUCCESS is returned."
CGH_API CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute* attributes, void** data,
                                        CUdeviceptr ptr) {
    return entry("cuPointerGetAttributes", [&]() -> CUresult {
        REQUIRE(numAttributes != 0 && attributes != nullptr && data != nullptr, CUDA_ERROR_INVALID_VALUE);
        const auto found = AddressMap::get().find(ptr);
        for (unsigned i = 0; i < numAttributes; ++i) {
            REQUIRE(data[i] != nullptr, CUDA_ERROR_INVALID_VALUE);
            TRY(default_attribute(attributes[i], data[i]));
            if (found) known_attribute(attributes[i], ptr, *found, data[i]);  // else the default stays
        }
        return CUDA_SUCCESS;
    });
}

// cuda.h: only CU_POINTER_ATTRIBUTE_SYNC_MEMOPS can be set. An H200 accepts host memory as well.
CGH_API CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr ptr) {
    return entry("cuPointerSetAttribute", [&]() -> CUresult {
        REQUIRE(value != nullptr && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, CUDA_ERROR_INVALID_VALUE);
        const auto found = AddressMap::get().find(ptr);
        REQUIRE(found, CUDA_ERROR_INVALID_VALUE);
        const bool set = AddressMap::get().set_synchronous(found->base, *static_cast<const unsigned*>(value) != 0);
        return set ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
}
