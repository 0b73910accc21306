// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory pools that processes share through file descriptors.
#include <cstdint>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/memory/imported_pools.hpp"
#include "hostdriver/objects/memory/pool.hpp"
#include "hostdriver/objects/streams/capture.hpp"

using namespace cgh;

CGH_API CUresult cuMemPoolExportToShareableHandle(void* handle_out, CUmemoryPool pool,
                                                  CUmemAllocationHandleType handleType, unsigned long long flags) {
    return entry("cuMemPoolExportToShareableHandle", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        MemoryPool* const found = find_pool(pool);
        REQUIRE(handle_out != nullptr && found != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(found->heap() != nullptr && !found->is_imported(), CUDA_ERROR_INVALID_VALUE);
        return found->heap()->export_descriptor(static_cast<int*>(handle_out));
    });
}

CGH_API CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool_out, void* handle,
                                                    CUmemAllocationHandleType handleType, unsigned long long flags) {
    return entry("cuMemPoolImportFromShareableHandle", [&]() -> CUresult {
        REQUIRE(pool_out != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(handleType != CU_MEM_HANDLE_TYPE_WIN32, CUDA_ERROR_NOT_SUPPORTED);
        REQUIRE(handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_INVALID_VALUE);
        MemoryPool* found = nullptr;
        TRY(ImportedPools::get().open(static_cast<int>(reinterpret_cast<std::intptr_t>(handle)), &found));
        *pool_out = found->handle();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* shareData_out, CUdeviceptr ptr) {
    return entry("cuMemPoolExportPointer", [&]() -> CUresult {
        TRY(Capture::check_unsafe_call());
        REQUIRE(shareData_out != nullptr, CUDA_ERROR_INVALID_VALUE);
        const auto found = AddressMap::get().find(ptr);
        REQUIRE(found && found->pool != nullptr && found->sharing == Sharing::kExported, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(found->pool->heap()->is_exported(), CUDA_ERROR_INVALID_VALUE);
        *shareData_out = found->pool->heap()->describe(*found);
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuMemPoolImportPointer(CUdeviceptr* ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData* shareData) {
    return entry("cuMemPoolImportPointer", [&]() -> CUresult {
        MemoryPool* const found = find_pool(pool);
        REQUIRE(ptr_out != nullptr && found != nullptr && shareData != nullptr, CUDA_ERROR_INVALID_VALUE);
        return found->import(*shareData, ptr_out);
    });
}
