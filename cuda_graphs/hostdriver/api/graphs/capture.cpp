// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream capture.
#include "hostdriver/objects/streams/capture.hpp"

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/objects/streams/stream.hpp"

using namespace cgh;

namespace {

DependencySet set_of(const CUgraphNode* nodes, const CUgraphEdgeData* data, std::size_t count) {
    DependencySet set;
    for (std::size_t i = 0; i < count; ++i) set.add(nodes[i], data != nullptr ? data[i] : CUgraphEdgeData{});
    return set;
}

}  // namespace

CGH_API CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
    return entry("cuStreamBeginCapture", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        return Capture::begin(*stream, mode);
    });
}

CGH_API CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode* dependencies,
                                             const CUgraphEdgeData* dependencyData, size_t numDependencies,
                                             CUstreamCaptureMode mode) {
    return entry("cuStreamBeginCaptureToGraph", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        REQUIRE(numDependencies == 0 || dependencies != nullptr, CUDA_ERROR_INVALID_VALUE);
        return Capture::begin_to(*stream, hGraph, set_of(dependencies, dependencyData, numDependencies), mode);
    });
}

CGH_API CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) {
    return entry("cuStreamEndCapture", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        return Capture::end(*stream, phGraph);
    });
}

CGH_API CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
    return entry("cuStreamIsCapturing", [&]() -> CUresult {
        REQUIRE(captureStatus != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        CaptureInfo info;
        TRY(Capture::info(*stream, &info));
        *captureStatus = info.status;
        return CUDA_SUCCESS;
    });
}

// cuda.h: the other outputs are set only when the stream is capturing. "If dependencies_out is non-NULL and
// edgeData_out is NULL, but there is non-zero edge data for one or more of the current stream dependencies, the call
// will return CUDA_ERROR_LOSSY_QUERY."
CGH_API CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                           cuuint64_t* id_out, CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                           const CUgraphEdgeData** edgeData_out, size_t* numDependencies_out) {
    return entry("cuStreamGetCaptureInfo", [&]() -> CUresult {
        REQUIRE(captureStatus_out != nullptr, CUDA_ERROR_INVALID_VALUE);
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        CaptureInfo info;
        TRY(Capture::info(*stream, &info));
        *captureStatus_out = info.status;
        if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
        REQUIRE(edgeData_out == nullptr || dependencies_out != nullptr, CUDA_ERROR_INVALID_VALUE);
        REQUIRE(dependencies_out == nullptr || edgeData_out != nullptr || !info.has_edge_data, CUDA_ERROR_LOSSY_QUERY);
        if (id_out != nullptr) *id_out = info.id;
        if (graph_out != nullptr) *graph_out = info.graph;
        if (dependencies_out != nullptr) *dependencies_out = info.nodes;
        if (edgeData_out != nullptr) *edgeData_out = info.edges;
        if (numDependencies_out != nullptr) *numDependencies_out = info.count;
        return CUDA_SUCCESS;
    });
}

// The form before edges had data. It returns CUDA_ERROR_LOSSY_QUERY if an edge of the capture has data.
CGH_API CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out,
                                           cuuint64_t* id_out, CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                           size_t* numDependencies_out) {
    return cuStreamGetCaptureInfo_v3(hStream, captureStatus_out, id_out, graph_out, dependencies_out, nullptr,
                                     numDependencies_out);
}

CGH_API CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode* dependencies,
                                                      const CUgraphEdgeData* dependencyData, size_t numDependencies,
                                                      unsigned int flags) {
    return entry("cuStreamUpdateCaptureDependencies", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        const bool flags_known =
            flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES || flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES;
        if (!flags_known || (numDependencies != 0 && dependencies == nullptr))
            return stream->intake().refuse(*stream, CUDA_ERROR_INVALID_VALUE);
        return Capture::update(*stream, set_of(dependencies, dependencyData, numDependencies),
                               flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    });
}

CGH_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
    return entry("cuThreadExchangeStreamCaptureMode", [&]() -> CUresult {
        REQUIRE(mode != nullptr, CUDA_ERROR_INVALID_VALUE);
        std::swap(thread_state.capture_mode, *mode);  // accepts any value, as on an H200
        return CUDA_SUCCESS;
    });
}
