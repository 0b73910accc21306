// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts the arguments of the typed node functions to the CUgraphNodeParams that all kinds share.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_NODE_ARGUMENTS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_NODE_ARGUMENTS_HPP

#include <cuda.h>

namespace cgh {

inline CUgraphNodeParams of_type(CUgraphNodeType type) {
    CUgraphNodeParams params = {};
    params.type = type;
    return params;
}

inline CUgraphNodeParams of_kernel(const CUDA_KERNEL_NODE_PARAMS& k) {
    CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_KERNEL);
    params.kernel = {k.func,      k.gridDimX,       k.gridDimY,     k.gridDimZ, k.blockDimX, k.blockDimY,
                     k.blockDimZ, k.sharedMemBytes, k.kernelParams, k.extra,    k.kern,      k.ctx};
    return params;
}

inline CUgraphNodeParams of_memcpy(const CUDA_MEMCPY3D& copy, CUcontext context) {
    CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_MEMCPY);
    params.memcpy.copyCtx = context;
    params.memcpy.copyParams = copy;
    return params;
}

inline CUgraphNodeParams of_memset(const CUDA_MEMSET_NODE_PARAMS& m, CUcontext context) {
    CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_MEMSET);
    params.memset = {m.dst, m.pitch, m.value, m.elementSize, m.width, m.height, context};
    return params;
}

inline CUgraphNodeParams of_host(const CUDA_HOST_NODE_PARAMS& host) {
    CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_HOST);
    params.host.fn = host.fn;
    params.host.userData = host.userData;
    return params;
}

inline CUgraphNodeParams of_child(CUgraph graph) {
    CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_GRAPH);
    params.graph.graph = graph;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE;
    return params;
}

inline CUgraphNodeParams of_record(CUevent event) {
    CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
    params.eventRecord.event = event;
    return params;
}

inline CUgraphNodeParams of_wait(CUevent event) {
    CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
    params.eventWait.event = event;
    return params;
}

inline CUgraphNodeParams of_batch(const CUDA_BATCH_MEM_OP_NODE_PARAMS& b) {
    CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
    params.memOp = {b.ctx, b.count, b.paramArray, b.flags};
    return params;
}

inline CUgraphNodeParams of_alloc(const CUDA_MEM_ALLOC_NODE_PARAMS& a) {
    CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
    params.alloc = {a.poolProps, a.accessDescs, a.accessDescCount, a.bytesize, a.dptr};
    return params;
}

}  // namespace cgh

#endif
