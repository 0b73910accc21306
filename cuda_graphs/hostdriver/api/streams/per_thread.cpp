// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/api/streams/per_thread.hpp"

#include <cuda.h>

#include <map>

#include "hostdriver/api/process/first_versions.hpp"
#include "hostdriver/execution/thread_state.hpp"

namespace cgh {
namespace {

class PerThreadScope {
  public:
    PerThreadScope() { thread_state.stream_zero_is_own = true; }
    ~PerThreadScope() { thread_state.stream_zero_is_own = false; }
    PerThreadScope(const PerThreadScope&) = delete;
    PerThreadScope& operator=(const PerThreadScope&) = delete;
};

template <auto function>
struct PerThreadForm;
template <class... Args, CUresult (*function)(Args...)>
struct PerThreadForm<function> {
    static CUresult call(Args... args) {
        const PerThreadScope scope;
        return function(args...);
    }
};

template <auto function>
std::pair<void* const, void*> form() {
    return {reinterpret_cast<void*>(function), reinterpret_cast<void*>(&PerThreadForm<function>::call)};
}

// The per-thread forms of the functions that cuda.h renames if CUDA_API_PER_THREAD_DEFAULT_STREAM is defined, except
// those for graphics.
const std::map<void*, void*> kForms = {
    form<&cuMemPrefetchAsync>(),
    form<&cuMemPrefetchBatchAsync>(),
    form<&cuMemDiscardBatchAsync>(),
    form<&cuMemDiscardAndPrefetchBatchAsync>(),
    form<&cuMemcpyHtoD>(),
    form<&cuMemcpyDtoH>(),
    form<&cuMemcpyDtoD>(),
    form<&cuMemcpyDtoA>(),
    form<&cuMemcpyAtoD>(),
    form<&cuMemcpyHtoA>(),
    form<&cuMemcpyAtoH>(),
    form<&cuMemcpyAtoA>(),
    form<&cuMemcpyHtoAAsync>(),
    form<&cuMemcpyAtoHAsync>(),
    form<&cuMemcpy2D>(),
    form<&cuMemcpy2DUnaligned>(),
    form<&cuMemcpy3D>(),
    form<&cuMemcpyHtoDAsync>(),
    form<&cuMemcpyDtoHAsync>(),
    form<&cuMemcpyDtoDAsync>(),
    form<&cuMemcpy2DAsync>(),
    form<&cuMemcpy3DAsync>(),
    form<&cuMemcpyBatchAsync>(),
    form<&cuMemcpy3DBatchAsync>(),
    form<&cuMemsetD8>(),
    form<&cuMemsetD16>(),
    form<&cuMemsetD32>(),
    form<&cuMemsetD2D8>(),
    form<&cuMemsetD2D16>(),
    form<&cuMemsetD2D32>(),
    form<&cuStreamBeginCapture>(),
    form<&cuStreamWriteValue32>(),
    form<&cuStreamWaitValue32>(),
    form<&cuStreamWriteValue64>(),
    form<&cuStreamWaitValue64>(),
    form<&cuStreamBatchMemOp>(),
    form<&cuStreamGetCaptureInfo>(),
    form<&cuStreamUpdateCaptureDependencies>(),
    form<&cuMemcpy>(),
    form<&cuMemcpyAsync>(),
    form<&cuMemcpyPeer>(),
    form<&cuMemcpyPeerAsync>(),
    form<&cuMemcpy3DPeer>(),
    form<&cuMemcpy3DPeerAsync>(),
    form<&cuMemsetD8Async>(),
    form<&cuMemsetD16Async>(),
    form<&cuMemsetD32Async>(),
    form<&cuMemsetD2D8Async>(),
    form<&cuMemsetD2D16Async>(),
    form<&cuMemsetD2D32Async>(),
    form<&cuStreamGetPriority>(),
    form<&cuStreamGetId>(),
    form<&cuStreamGetFlags>(),
    form<&cuStreamGetDevice>(),
    form<&cuStreamGetCtx>(),
    form<&cuStreamWaitEvent>(),
    form<&cuStreamEndCapture>(),
    form<&cuStreamIsCapturing>(),
    form<&cuStreamAddCallback>(),
    form<&cuStreamAttachMemAsync>(),
    form<&cuStreamQuery>(),
    form<&cuStreamSynchronize>(),
    form<&cuEventRecord>(),
    form<&cuEventRecordWithFlags>(),
    form<&cuLaunchKernel>(),
    form<&cuLaunchKernelEx>(),
    form<&cuLaunchHostFunc>(),
    form<&cuLaunchCooperativeKernel>(),
    form<&cuSignalExternalSemaphoresAsync>(),
    form<&cuWaitExternalSemaphoresAsync>(),
    form<&cuGraphInstantiateWithParams>(),
    form<&cuGraphUpload>(),
    form<&cuGraphLaunch>(),
    form<&cuStreamCopyAttributes>(),
    form<&cuStreamGetAttribute>(),
    form<&cuStreamSetAttribute>(),
    form<&cuMemMapArrayAsync>(),
    form<&cuMemFreeAsync>(),
    form<&cuMemAllocAsync>(),
    form<&cuMemAllocFromPoolAsync>(),
    form<&cuStreamBeginCaptureToGraph>(),
    form<&cuMemBatchDecompressAsync>(),
    form<&cgh_first_cuMemPrefetchAsync>(),
    form<&cgh_first_cuMemcpyBatchAsync>(),
    form<&cgh_first_cuMemcpy3DBatchAsync>(),
    form<&cgh_first_cuStreamBeginCapture>(),
    form<&cgh_first_cuStreamGetCaptureInfo>(),
    form<&cuStreamGetCaptureInfo_v2>(),
    form<&cgh_first_cuStreamUpdateCaptureDependencies>(),
};

}  // namespace

void* per_thread_form(void* function) {
    const auto found = kForms.find(function);
    return found != kForms.end() ? found->second : function;
}

}  // namespace cgh

// The per-thread forms of older versions, which cuda.h declares by name.
#define OWN_FORM(symbol, function, params, ...)                  \
    CGH_API CUresult cgh_own_##symbol params __asm__(#symbol);   \
    CUresult cgh_own_##symbol params {                           \
        return cgh::PerThreadForm<&function>::call(__VA_ARGS__); \
    }

OWN_FORM(cuMemPrefetchAsync_ptsz, cgh_first_cuMemPrefetchAsync,
         (CUdeviceptr address, std::size_t bytes, CUdevice device, CUstream stream), address, bytes, device, stream)
OWN_FORM(cuMemcpyBatchAsync_ptsz, cgh_first_cuMemcpyBatchAsync,
         (CUdeviceptr * to, CUdeviceptr* from, std::size_t* sizes, std::size_t count, CUmemcpyAttributes* attributes,
          std::size_t* first, std::size_t attribute_count, std::size_t* failed, CUstream stream),
         to, from, sizes, count, attributes, first, attribute_count, failed, stream)
OWN_FORM(cuMemcpy3DBatchAsync_ptsz, cgh_first_cuMemcpy3DBatchAsync,
         (std::size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, std::size_t* failed, unsigned long long flags,
          CUstream stream),
         count, operations, failed, flags, stream)
OWN_FORM(cuStreamBeginCapture_ptsz, cgh_first_cuStreamBeginCapture, (CUstream stream), stream)
OWN_FORM(cuStreamGetCaptureInfo_ptsz, cgh_first_cuStreamGetCaptureInfo,
         (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id), stream, status, id)
OWN_FORM(cuStreamGetCaptureInfo_v2_ptsz, cuStreamGetCaptureInfo_v2,
         (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
          std::size_t* count),
         stream, status, id, graph, nodes, count)
OWN_FORM(cuStreamUpdateCaptureDependencies_ptsz, cgh_first_cuStreamUpdateCaptureDependencies,
         (CUstream stream, CUgraphNode* nodes, std::size_t count, unsigned flags), stream, nodes, count, flags)

#undef OWN_FORM
