// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies. The synchronous forms are copies in the legacy default stream that the caller waits for.
#include "../objects/arena.hpp"
#include "../objects/context.hpp"
#include "../objects/intake.hpp"
#include "../objects/stream.hpp"
#include "entry.hpp"

using namespace cgh;

namespace {

template <class... Args>
CUresult copy_now(const Args&... args) {
    Context* context = nullptr;
    TRY(current_context(&context));
    Stream& stream = context->legacy_stream();
    return stream.intake().copy(stream, CopyRequest(args...), Wait::kYes);
}

template <class... Args>
CUresult copy_later(CUstream handle, const Args&... args) {
    Stream* stream = nullptr;
    TRY(find_stream(handle, &stream));
    return stream->intake().copy(*stream, CopyRequest(args...), Wait::kNo);
}

void* pointer(CUdeviceptr address) {
    return reinterpret_cast<void*>(address);
}

constexpr CUmemorytype kHost = CU_MEMORYTYPE_HOST, kDevice = CU_MEMORYTYPE_DEVICE, kAny = CU_MEMORYTYPE_UNIFIED;

CUresult check_peers(CUcontext one, CUcontext other) {
    REQUIRE(cast<Context>(one) != nullptr && cast<Context>(other) != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    return CUDA_SUCCESS;
}

}  // namespace

CGH_API CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
    return entry("cuMemcpy", [&]() -> CUresult { return copy_now(kAny, pointer(dst), kAny, pointer(src), ByteCount); });
}

CGH_API CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream) {
    return entry("cuMemcpyAsync",
                 [&]() -> CUresult { return copy_later(hStream, kAny, pointer(dst), kAny, pointer(src), ByteCount); });
}

CGH_API CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                              size_t ByteCount) {
    return entry("cuMemcpyPeer", [&]() -> CUresult {
        TRY(check_peers(dstContext, srcContext));
        return copy_now(kDevice, pointer(dstDevice), kDevice, pointer(srcDevice), ByteCount);
    });
}

CGH_API CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                                   CUcontext srcContext, size_t ByteCount, CUstream hStream) {
    return entry("cuMemcpyPeerAsync", [&]() -> CUresult {
        TRY(check_peers(dstContext, srcContext));
        return copy_later(hStream, dstDevice, dstContext, srcDevice, srcContext, ByteCount);
    });
}

CGH_API CUresult cuMemcpyHtoD_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount) {
    return entry("cuMemcpyHtoD",
                 [&]() -> CUresult { return copy_now(kDevice, pointer(dstDevice), kHost, srcHost, ByteCount); });
}

CGH_API CUresult cuMemcpyDtoH_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    return entry("cuMemcpyDtoH",
                 [&]() -> CUresult { return copy_now(kHost, dstHost, kDevice, pointer(srcDevice), ByteCount); });
}

// "API synchronization behavior": copies from device memory to device memory are not waited for by the host.
CGH_API CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
    return entry("cuMemcpyDtoD", [&]() -> CUresult {
        return copy_later(CU_STREAM_LEGACY, kDevice, pointer(dstDevice), kDevice, pointer(srcDevice), ByteCount);
    });
}

CGH_API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount, CUstream hStream) {
    return entry("cuMemcpyHtoDAsync", [&]() -> CUresult {
        return copy_later(hStream, kDevice, pointer(dstDevice), kHost, srcHost, ByteCount);
    });
}

CGH_API CUresult cuMemcpyDtoHAsync_v2(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream) {
    return entry("cuMemcpyDtoHAsync", [&]() -> CUresult {
        return copy_later(hStream, kHost, dstHost, kDevice, pointer(srcDevice), ByteCount);
    });
}

CGH_API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                                      CUstream hStream) {
    return entry("cuMemcpyDtoDAsync", [&]() -> CUresult {
        return copy_later(hStream, kDevice, pointer(dstDevice), kDevice, pointer(srcDevice), ByteCount);
    });
}

CGH_API CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* pCopy) {
    return entry("cuMemcpy2D", [&]() -> CUresult {
        REQUIRE(pCopy != nullptr, CUDA_ERROR_INVALID_VALUE);
        return copy_now(*pCopy);
    });
}

CGH_API CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* pCopy) {
    return entry("cuMemcpy2DUnaligned", [&]() -> CUresult {
        REQUIRE(pCopy != nullptr, CUDA_ERROR_INVALID_VALUE);
        return copy_now(*pCopy);
    });
}

CGH_API CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* pCopy, CUstream hStream) {
    return entry("cuMemcpy2DAsync", [&]() -> CUresult {
        return pCopy != nullptr ? copy_later(hStream, *pCopy) : refuse_work(hStream, CUDA_ERROR_INVALID_VALUE);
    });
}

CGH_API CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* pCopy) {
    return entry("cuMemcpy3D", [&]() -> CUresult {
        REQUIRE(pCopy != nullptr, CUDA_ERROR_INVALID_VALUE);
        return copy_now(*pCopy);
    });
}

CGH_API CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* pCopy, CUstream hStream) {
    return entry("cuMemcpy3DAsync", [&]() -> CUresult {
        return pCopy != nullptr ? copy_later(hStream, *pCopy) : refuse_work(hStream, CUDA_ERROR_INVALID_VALUE);
    });
}
