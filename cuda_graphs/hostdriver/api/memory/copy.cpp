// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies. The synchronous forms queue a copy in stream 0 and wait for it.
#include <cstdint>
#include <vector>

#include "hostdriver/api/process/first_versions.hpp"
#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/memory/memory.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/objects/streams/stream.hpp"

using namespace cgh;

namespace {

template <class... Args>
CUresult copy_now(const Args&... args) {
    Stream* stream = nullptr;
    TRY(find_stream(nullptr, &stream));
    return stream->intake().copy(*stream, CopyRequest(args...), Wait::kYes);
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

bool is_synchronous(CUdeviceptr address) {
    const auto found = AddressMap::get().find(address);
    return found && found->is_synchronous;
}

constexpr CUmemorytype kHost = CU_MEMORYTYPE_HOST, kDevice = CU_MEMORYTYPE_DEVICE, kAny = CU_MEMORYTYPE_UNIFIED;

// Checks the contexts of a peer copy. All devices share one address space, and NULL is accepted, as on H200s.
CUresult check_peers(CUcontext one, CUcontext other) {
    for (CUcontext peer : {one, other})
        REQUIRE(peer == nullptr || cast<Context>(peer) != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    return CUDA_SUCCESS;
}

// Converts a peer copy to the same copy without contexts, because all devices share one address space.
CUresult solid_of(const CUDA_MEMCPY3D_PEER& peer, CUDA_MEMCPY3D* out) {
    const bool of_contexts = (peer.srcMemoryType == CU_MEMORYTYPE_HOST || cast<Context>(peer.srcContext) != nullptr) &&
                             (peer.dstMemoryType == CU_MEMORYTYPE_HOST || cast<Context>(peer.dstContext) != nullptr);
    REQUIRE(of_contexts, CUDA_ERROR_INVALID_CONTEXT);
    *out = {};
    out->srcXInBytes = peer.srcXInBytes, out->srcY = peer.srcY, out->srcZ = peer.srcZ, out->srcLOD = peer.srcLOD;
    out->srcMemoryType = peer.srcMemoryType, out->srcHost = peer.srcHost, out->srcDevice = peer.srcDevice;
    out->srcArray = peer.srcArray, out->srcPitch = peer.srcPitch, out->srcHeight = peer.srcHeight;
    out->dstXInBytes = peer.dstXInBytes, out->dstY = peer.dstY, out->dstZ = peer.dstZ, out->dstLOD = peer.dstLOD;
    out->dstMemoryType = peer.dstMemoryType, out->dstHost = peer.dstHost, out->dstDevice = peer.dstDevice;
    out->dstArray = peer.dstArray, out->dstPitch = peer.dstPitch, out->dstHeight = peer.dstHeight;
    out->WidthInBytes = peer.WidthInBytes, out->Height = peer.Height, out->Depth = peer.Depth;
    return CUDA_SUCCESS;
}

CUresult check_batch_attributes(const CUmemcpyAttributes* attributes, const std::size_t* first, std::size_t count,
                                std::size_t copies) {
    // cuda.h: "attrsIdxs ... the first entry must be 0". Each entry must be larger than the one before it.
    REQUIRE(attributes != nullptr && first != nullptr && count != 0 && count <= copies && first[0] == 0,
            CUDA_ERROR_INVALID_VALUE);
    for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(first[i] < copies && (i == 0 || first[i] > first[i - 1]), CUDA_ERROR_INVALID_VALUE);
        REQUIRE(attributes[i].srcAccessOrder >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM &&
                    attributes[i].srcAccessOrder <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY,
                CUDA_ERROR_INVALID_VALUE);
    }
    return CUDA_SUCCESS;
}

constexpr unsigned kCopyFlags = CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;  // a hint

// cuda.h, cuMemcpy3DBatchAsync: rowLength and layerHeight "must either be zero or be greater than or equal to" the
// width and the height of the copy. For pointers "the element size is considered to be 1".
CUresult solid_of(const CUDA_MEMCPY3D_BATCH_OP& op, CUDA_MEMCPY3D* out) {
    REQUIRE(op.srcAccessOrder >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM &&
                op.srcAccessOrder <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY && (op.flags & ~kCopyFlags) == 0,
            CUDA_ERROR_INVALID_VALUE);
    for (const CUmemcpy3DOperand* side : {&op.src, &op.dst}) {
        REQUIRE(side->type != CU_MEMCPY_OPERAND_TYPE_ARRAY, CUDA_ERROR_NOT_SUPPORTED);
        REQUIRE(side->type == CU_MEMCPY_OPERAND_TYPE_POINTER && side->op.ptr.ptr != 0, CUDA_ERROR_INVALID_VALUE);
    }
    REQUIRE(op.extent.width != 0 && op.extent.height != 0 && op.extent.depth != 0, CUDA_ERROR_INVALID_VALUE);
    *out = {};
    out->srcMemoryType = out->dstMemoryType = kAny;
    out->srcDevice = op.src.op.ptr.ptr, out->srcPitch = op.src.op.ptr.rowLength;
    out->srcHeight = op.src.op.ptr.layerHeight;
    out->dstDevice = op.dst.op.ptr.ptr, out->dstPitch = op.dst.op.ptr.rowLength;
    out->dstHeight = op.dst.op.ptr.layerHeight;
    out->WidthInBytes = op.extent.width, out->Height = op.extent.height, out->Depth = op.extent.depth;
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
        return copy_now(
            CopyRequest(kDevice, pointer(dstDevice), kDevice, pointer(srcDevice), ByteCount).between_devices());
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

// The driver API page "API synchronization behavior" says that the host does not wait for copies between device memory.
// CU_POINTER_ATTRIBUTE_SYNC_MEMOPS makes it wait.
CGH_API CUresult cuMemcpyDtoD_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
    return entry("cuMemcpyDtoD", [&]() -> CUresult {
        if (is_synchronous(dstDevice) || is_synchronous(srcDevice))
            return copy_now(kDevice, pointer(dstDevice), kDevice, pointer(srcDevice), ByteCount);
        return copy_later(nullptr, kDevice, pointer(dstDevice), kDevice, pointer(srcDevice), ByteCount);
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

CGH_API CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* pCopy) {
    return entry("cuMemcpy3DPeer", [&]() -> CUresult {
        REQUIRE(pCopy != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUDA_MEMCPY3D solid;
        TRY(solid_of(*pCopy, &solid));
        return copy_now(CopyRequest(solid).between_devices());
    });
}

CGH_API CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream) {
    return entry("cuMemcpy3DPeerAsync", [&]() -> CUresult {
        if (pCopy == nullptr) return refuse_work(hStream, CUDA_ERROR_INVALID_VALUE);
        CUDA_MEMCPY3D solid;
        TRY(solid_of(*pCopy, &solid));
        return copy_later(hStream, CopyRequest(solid).between_devices());
    });
}

namespace {

struct Batch {
    CUdeviceptr *to, *from;
    std::size_t *sizes, count;
    CUmemcpyAttributes* attributes;
    std::size_t *first, attribute_count;
};

constexpr std::size_t kNoCopy = SIZE_MAX;  // index of an error that belongs to no copy

// cuda.h: "Performs a batch of memory copies asynchronously. ... hStream - The stream to enqueue the operations in.
// Must not be legacy NULL stream." "the copies within a batch are not guaranteed to be ordered"; here they are ordered.
// Location hints have no effect. Sources are read in stream order or earlier.
CUresult copy_batch(const Batch& batch, CUstream handle, std::size_t* failed) {
    *failed = kNoCopy;
    Stream* stream = nullptr;
    TRY(find_stream(handle, &stream));
    REQUIRE(!stream->is_legacy(), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(batch.to != nullptr && batch.from != nullptr && batch.sizes != nullptr && batch.count != 0,
            CUDA_ERROR_INVALID_VALUE);
    TRY(check_batch_attributes(batch.attributes, batch.first, batch.attribute_count, batch.count));
    TRY(stream->intake().inspect(*stream, Inspection::kForbidden));
    const auto request = [&](std::size_t i) {
        return CopyRequest(kAny, pointer(batch.to[i]), kAny, pointer(batch.from[i]), batch.sizes[i]);
    };
    for (*failed = 0; *failed < batch.count; ++*failed) {
        Copy checked;
        REQUIRE(batch.sizes[*failed] != 0, CUDA_ERROR_INVALID_VALUE);
        TRY(request(*failed).make(stream->context().device(), &checked));
    }
    for (*failed = 0; *failed < batch.count; ++*failed)
        TRY(stream->intake().copy(*stream, request(*failed), Wait::kNo));
    *failed = kNoCopy;
    return CUDA_SUCCESS;
}

CUresult copy_batch(const CUDA_MEMCPY3D_BATCH_OP* operations, std::size_t count, unsigned long long flags,
                    CUstream handle, std::size_t* failed) {
    *failed = kNoCopy;
    Stream* stream = nullptr;
    TRY(find_stream(handle, &stream));
    REQUIRE(!stream->is_legacy() && count != 0 && operations != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(stream->intake().inspect(*stream, Inspection::kForbidden));
    std::vector<CUDA_MEMCPY3D> solids(count);
    for (*failed = 0; *failed < count; ++*failed) {
        Copy checked;
        TRY(solid_of(operations[*failed], &solids[*failed]));
        TRY(CopyRequest(solids[*failed]).make(stream->context().device(), &checked));
    }
    for (*failed = 0; *failed < count; ++*failed)
        TRY(stream->intake().copy(*stream, CopyRequest(solids[*failed]), Wait::kNo));
    *failed = kNoCopy;
    return CUDA_SUCCESS;
}

}  // namespace

CGH_API CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                                       CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs,
                                       CUstream hStream) {
    return cgh_first_cuMemcpyBatchAsync(dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, nullptr, hStream);
}

CGH_API CUresult cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList, unsigned long long flags,
                                         CUstream hStream) {
    return cgh_first_cuMemcpy3DBatchAsync(numOps, opList, nullptr, flags, hStream);
}

// cuda.h of CUDA 12.8: "failIdx - Pointer to a location to return the index of the copy where a failure was
// encountered. The value will be SIZE_MAX if the error doesn't pertain to any specific copy."
CUresult cgh_first_cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes, std::size_t count,
                                      CUmemcpyAttributes* attributes, std::size_t* first, std::size_t attribute_count,
                                      std::size_t* failed, CUstream stream) {
    return entry("cuMemcpyBatchAsync", [&]() -> CUresult {
        std::size_t unwanted = 0;
        const Batch batch{to, from, sizes, count, attributes, first, attribute_count};
        return copy_batch(batch, stream, failed != nullptr ? failed : &unwanted);
    });
}

CUresult cgh_first_cuMemcpy3DBatchAsync(std::size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, std::size_t* failed,
                                        unsigned long long flags, CUstream stream) {
    return entry("cuMemcpy3DBatchAsync", [&]() -> CUresult {
        std::size_t unwanted = 0;
        return copy_batch(operations, count, flags, stream, failed != nullptr ? failed : &unwanted);
    });
}
