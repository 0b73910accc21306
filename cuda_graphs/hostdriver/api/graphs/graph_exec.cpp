// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Executable graphs: instantiate, launch, update. Also the memory that graphs have reserved on a device.
#include "hostdriver/objects/graphs/graph_exec.hpp"

#include <cuda.h>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/device.hpp"
#include "hostdriver/objects/graphs/graph.hpp"
#include "hostdriver/objects/graphs/node_arguments.hpp"
#include "hostdriver/objects/graphs/node_kinds.hpp"
#include "hostdriver/objects/memory/graph_memory.hpp"
#include "hostdriver/objects/streams/capture.hpp"
#include "hostdriver/objects/streams/intake.hpp"
#include "hostdriver/objects/streams/stream.hpp"

namespace cgh {
namespace {

CUresult set(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams& params) {
    GraphExec* const exec = cast<GraphExec>(hGraphExec);
    const Node* const node = cast<Node>(hNode);
    REQUIRE(exec != nullptr && node != nullptr, CUDA_ERROR_INVALID_VALUE);
    return exec->set_params(*node, params);
}

CUresult instantiate(CUgraphExec* out, CUgraph hGraph, cuuint64_t flags, Refusal* why) {
    Graph* const graph = cast<Graph>(hGraph);
    REQUIRE(out != nullptr && graph != nullptr, CUDA_ERROR_INVALID_VALUE);
    TRY(Capture::check_unsafe_call());
    GraphExec* exec = nullptr;
    TRY(GraphExec::instantiate(*graph, flags, &exec, why));
    *out = to_handle(exec);
    return CUDA_SUCCESS;
}

// "In the event of an error, the result_out and hErrNode_out fields will contain more information [...]
// CUDA_GRAPH_INSTANTIATE_ERROR, if passed an invalid value or if an unexpected error occurred which is described by the
// return value of the function. hErrNode_out will be set to NULL" (cuda.h, cuGraphInstantiateWithParams).
CUresult instantiate_and_explain(CUgraphExec* out, CUgraph hGraph, CUDA_GRAPH_INSTANTIATE_PARAMS& params) {
    Refusal why;
    const CUresult result = instantiate(out, hGraph, params.flags, &why);
    const bool unexplained = result != CUDA_SUCCESS && why.result == CUDA_GRAPH_INSTANTIATE_SUCCESS;
    params.result_out = unexplained ? CUDA_GRAPH_INSTANTIATE_ERROR : why.result;
    params.hErrNode_out = why.node;
    return result;
}

}  // namespace

// ---- life -----------------------------------------------------------------------------------------------------------

CGH_API CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph, unsigned long long flags) {
    return entry("cuGraphInstantiateWithFlags", [&]() -> CUresult {
        // "CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD: [...] Only supported by cuGraphInstantiateWithParams" (cuda.h).
        REQUIRE((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0, CUDA_ERROR_INVALID_VALUE);
        Refusal why;
        return instantiate(phGraphExec, hGraph, flags, &why);
    });
}

// The form up to CUDA 11. It returns the node that prevents the instantiation, if there is one.
CGH_API CUresult cuGraphInstantiate_v2(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode,
                                       char* logBuffer, size_t bufferSize) {
    return entry("cuGraphInstantiate", [&]() -> CUresult {
        Refusal why;
        const CUresult result = instantiate(phGraphExec, hGraph, 0, &why);
        if (phErrorNode != nullptr) *phErrorNode = why.node;
        if (logBuffer != nullptr && bufferSize != 0) *logBuffer = '\0';
        return result;
    });
}

CGH_API CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                              CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
    return entry("cuGraphInstantiateWithParams", [&]() -> CUresult {
        REQUIRE(instantiateParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        const bool upload = (instantiateParams->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0;
        instantiateParams->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
        instantiateParams->hErrNode_out = nullptr;
        Stream* stream = nullptr;
        if (upload) {
            TRY(find_stream(instantiateParams->hUploadStream, &stream));
            TRY(stream->intake().inspect(*stream, Inspection::kForbidden));
        }
        TRY(instantiate_and_explain(phGraphExec, hGraph, *instantiateParams));
        return upload ? cast<GraphExec>(*phGraphExec)->upload() : CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
    return entry("cuGraphExecDestroy", [&]() -> CUresult {
        GraphExec* const exec = cast<GraphExec>(hGraphExec);
        REQUIRE(exec != nullptr, CUDA_ERROR_INVALID_VALUE);
        TRY(Capture::check_unsafe_call());
        exec->destroy();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) {
    return entry("cuGraphExecGetFlags", [&]() -> CUresult {
        const GraphExec* const exec = cast<GraphExec>(hGraphExec);
        REQUIRE(exec != nullptr && flags != nullptr, CUDA_ERROR_INVALID_VALUE);
        *flags = exec->reported_flags();
        return CUDA_SUCCESS;
    });
}

CGH_API CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
    return entry("cuGraphUpload", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        return stream->intake().upload(*stream, cast<GraphExec>(hGraphExec));
    });
}

CGH_API CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
    return entry("cuGraphLaunch", [&]() -> CUresult {
        Stream* stream = nullptr;
        TRY(find_stream(hStream, &stream));
        return stream->intake().graph(*stream, cast<GraphExec>(hGraphExec));
    });
}

// ---- changes --------------------------------------------------------------------------------------------------------

CGH_API CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo* resultInfo) {
    return entry("cuGraphExecUpdate", [&]() -> CUresult {
        GraphExec* const exec = cast<GraphExec>(hGraphExec);
        const Graph* const graph = cast<Graph>(hGraph);
        REQUIRE(exec != nullptr && graph != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphExecUpdateResultInfo unwanted;
        return exec->update(*graph, resultInfo != nullptr ? resultInfo : &unwanted);
    });
}

CGH_API CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
    return entry("cuGraphExecNodeSetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr && has_zero_padding(*nodeParams), CUDA_ERROR_INVALID_VALUE);
        return set(hGraphExec, hNode, *nodeParams);
    });
}

CGH_API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                   const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
    return entry("cuGraphExecKernelNodeSetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_kernel(*nodeParams);
        return set(hGraphExec, hNode, params);
    });
}

CGH_API CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                const CUDA_MEMCPY3D* copyParams, CUcontext ctx) {
    return entry("cuGraphExecMemcpyNodeSetParams", [&]() -> CUresult {
        REQUIRE(copyParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_memcpy(*copyParams, ctx);
        return set(hGraphExec, hNode, params);
    });
}

CGH_API CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext ctx) {
    return entry("cuGraphExecMemsetNodeSetParams", [&]() -> CUresult {
        REQUIRE(memsetParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_memset(*memsetParams, ctx);
        return set(hGraphExec, hNode, params);
    });
}

CGH_API CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                              const CUDA_HOST_NODE_PARAMS* nodeParams) {
    return entry("cuGraphExecHostNodeSetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_host(*nodeParams);
        return set(hGraphExec, hNode, params);
    });
}

CGH_API CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph) {
    return entry("cuGraphExecChildGraphNodeSetParams", [&]() -> CUresult {
        CUgraphNodeParams params = of_child(childGraph);
        return set(hGraphExec, hNode, params);
    });
}

CGH_API CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
    return entry("cuGraphExecEventRecordNodeSetEvent", [&]() -> CUresult {
        CUgraphNodeParams params = of_record(event);
        return set(hGraphExec, hNode, params);
    });
}

CGH_API CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
    return entry("cuGraphExecEventWaitNodeSetEvent", [&]() -> CUresult {
        CUgraphNodeParams params = of_wait(event);
        return set(hGraphExec, hNode, params);
    });
}

CGH_API CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                                    const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
    return entry("cuGraphExecBatchMemOpNodeSetParams", [&]() -> CUresult {
        REQUIRE(nodeParams != nullptr, CUDA_ERROR_INVALID_VALUE);
        CUgraphNodeParams params = of_batch(*nodeParams);
        return set(hGraphExec, hNode, params);
    });
}

CGH_API CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled) {
    return entry("cuGraphNodeSetEnabled", [&]() -> CUresult {
        GraphExec* const exec = cast<GraphExec>(hGraphExec);
        const Node* const node = cast<Node>(hNode);
        REQUIRE(exec != nullptr && node != nullptr, CUDA_ERROR_INVALID_VALUE);
        return exec->set_enabled(*node, isEnabled != 0);
    });
}

CGH_API CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int* isEnabled) {
    return entry("cuGraphNodeGetEnabled", [&]() -> CUresult {
        GraphExec* const exec = cast<GraphExec>(hGraphExec);
        const Node* const node = cast<Node>(hNode);
        REQUIRE(exec != nullptr && node != nullptr && isEnabled != nullptr, CUDA_ERROR_INVALID_VALUE);
        bool enabled = false;
        TRY(exec->get_enabled(*node, &enabled));
        *isEnabled = enabled ? 1 : 0;
        return CUDA_SUCCESS;
    });
}

// ---- graph memory ---------------------------------------------------------------------------------------------------

CGH_API CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
    return entry("cuDeviceGetGraphMemAttribute", [&]() -> CUresult {
        Device* found = nullptr;
        TRY(find_device(device, &found));
        REQUIRE(value != nullptr, CUDA_ERROR_INVALID_VALUE);
        return GraphAllocation::get_attribute(device, attr, static_cast<cuuint64_t*>(value));
    });
}

CGH_API CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
    return entry("cuDeviceSetGraphMemAttribute", [&]() -> CUresult {
        Device* found = nullptr;
        TRY(find_device(device, &found));
        // "High watermark can only be reset to zero" (cuda.h).
        REQUIRE(value != nullptr && *static_cast<cuuint64_t*>(value) == 0, CUDA_ERROR_INVALID_VALUE);
        return GraphAllocation::reset_attribute(device, attr);
    });
}

CGH_API CUresult cuDeviceGraphMemTrim(CUdevice device) {
    return entry("cuDeviceGraphMemTrim", [&]() -> CUresult {
        Device* found = nullptr;
        TRY(find_device(device, &found));
        GraphAllocation::trim(device);
        return CUDA_SUCCESS;
    });
}

}  // namespace cgh
