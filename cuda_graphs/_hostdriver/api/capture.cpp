// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream capture is not offered yet: beginning, ending and steering one are refused, and no stream is capturing.
#include "../objects/stream.hpp"
#include "entry.hpp"

using namespace cgh;

CGH_API CUresult cuStreamBeginCapture_v2(CUstream, CUstreamCaptureMode) {
    return entry("cuStreamBeginCapture", [&]() -> CUresult { return CUDA_ERROR_NOT_SUPPORTED; });
}

CGH_API CUresult cuStreamBeginCaptureToGraph(CUstream, CUgraph, const CUgraphNode*, const CUgraphEdgeData*, size_t,
                                             CUstreamCaptureMode) {
    return entry("cuStreamBeginCaptureToGraph", [&]() -> CUresult { return CUDA_ERROR_NOT_SUPPORTED; });
}

CGH_API CUresult cuStreamEndCapture(CUstream, CUgraph*) {
    return entry("cuStreamEndCapture", [&]() -> CUresult { return CUDA_ERROR_NOT_SUPPORTED; });
}

CGH_API CUresult cuStreamUpdateCaptureDependencies_v2(CUstream, CUgraphNode*, const CUgraphEdgeData*, size_t,
                                                      unsigned int) {
    return entry("cuStreamUpdateCaptureDependencies", [&]() -> CUresult { return CUDA_ERROR_NOT_SUPPORTED; });
}

CGH_API CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
    return entry("cuStreamIsCapturing", [&]() -> CUresult {
        REQUIRE(captureStatus != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        *captureStatus = CU_STREAM_CAPTURE_STATUS_NONE;
        return CUDA_SUCCESS;
    });
}

// cuda.h: the other outputs are set only when the stream is capturing.
CGH_API CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t*,
                                           CUgraph*, const CUgraphNode**, const CUgraphEdgeData**, size_t*) {
    return entry("cuStreamGetCaptureInfo", [&]() -> CUresult {
        REQUIRE(captureStatus_out != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        *captureStatus_out = CU_STREAM_CAPTURE_STATUS_NONE;
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    return entry("cuThreadExchangeStreamCaptureMode", [&]() -> CUresult {
        REQUIRE(mode != nullptr && *mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && *mode <= CU_STREAM_CAPTURE_MODE_RELAXED,
                CUDA_ERROR_INVALID_VALUE);
        const CUstreamCaptureMode before = thread_state.capture_mode;
        thread_state.capture_mode = *mode;
        *mode = before;
        return CUDA_SUCCESS;
    });
}
