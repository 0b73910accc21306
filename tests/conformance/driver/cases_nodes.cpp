// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The parameters of each node kind: the returned parameters, and the refusals.
#include "cases.hpp"

namespace conf {

namespace {

void host_nothing(void*) {}

CUresult add_kernel(CUgraph graph, const CUDA_KERNEL_NODE_PARAMS& params) {
    CUgraphNode node = nullptr;
    return drv.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params);
}

void add_kernel_cases(Cases& cases) {
    cases.add("kernel_node/params_come_back", [](Record& r) {
        const Graph graph = new_graph();
        Ints target(64);
        CUdeviceptr address = target;
        int value = 42;
        void* arguments[] = {&address, &value};
        CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("set_int"), arguments, 3, 64);
        params.gridDimY = 2;
        params.blockDimZ = 2;
        params.sharedMemBytes = 128;
        CUgraphNode node = nullptr;
        r("add", drv.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
        value = 7;  // the node keeps its own copy
        CUDA_KERNEL_NODE_PARAMS back{};
        r("get", drv.cuGraphKernelNodeGetParams(node, &back));
        r("grid",
          std::to_string(back.gridDimX) + " " + std::to_string(back.gridDimY) + " " + std::to_string(back.gridDimZ));
        r("block",
          std::to_string(back.blockDimX) + " " + std::to_string(back.blockDimY) + " " + std::to_string(back.blockDimZ));
        r("shared", back.sharedMemBytes);
        r("func is set", back.func != nullptr);
        r("func is the CUkernel", reinterpret_cast<CUkernel>(back.func) == params.kern);
        r("kern is the CUkernel", back.kern == params.kern);
        r("ctx is set", back.ctx != nullptr);
        r("extra is null", back.extra == nullptr);
        r("kernelParams is set", back.kernelParams != nullptr);
        r("argument 1", back.kernelParams != nullptr ? *static_cast<int*>(back.kernelParams[1]) : -1);
        r("get null", drv.cuGraphKernelNodeGetParams(node, nullptr));
    });
    cases.add("kernel_node/kernel_as_func", [](Record& r) {
        const Graph graph = new_graph();
        CUDA_KERNEL_NODE_PARAMS params = kernel_params(nullptr);
        params.func = kernel("empty");
        r("add", add_kernel(graph, params));
        CUgraphNodeParams any{};
        any.type = CU_GRAPH_NODE_TYPE_KERNEL;
        any.kernel.func = kernel("empty");
        any.kernel.gridDimX = any.kernel.gridDimY = any.kernel.gridDimZ = 1;
        any.kernel.blockDimX = any.kernel.blockDimY = any.kernel.blockDimZ = 1;
        CUgraphNode node = nullptr;
        r("generic add", drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &any));
    });
    cases.add("kernel_node/kern_field_comes_back", [](Record& r) {
        const Graph graph = new_graph();
        const CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("empty"));
        CUgraphNode node = nullptr;
        r("add", drv.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
        CUDA_KERNEL_NODE_PARAMS back{};
        r("get", drv.cuGraphKernelNodeGetParams(node, &back));
        r("func is set", back.func != nullptr);
        r("kern is same", back.kern == params.kern);
        r("ctx is set", back.ctx != nullptr);
    });
    cases.add("kernel_node/function_of_a_context_comes_back", [](Record& r) {
        const Graph graph = new_graph();
        CUfunction function = nullptr;
        must(drv.cuKernelGetFunction(&function, reinterpret_cast<CUkernel>(kernel("empty"))), "cuKernelGetFunction");
        CUDA_KERNEL_NODE_PARAMS params = kernel_params(nullptr);
        params.func = function;
        CUgraphNode node = nullptr;
        r("add", drv.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
        CUDA_KERNEL_NODE_PARAMS back{};
        r("get", drv.cuGraphKernelNodeGetParams(node, &back));
        r("func is same", back.func == function);
        r("kern is set", back.kern != nullptr);
        r("ctx is set", back.ctx != nullptr);
    });
    cases.add("kernel_node/bad_shape", [](Record& r) {
        const Graph graph = new_graph();
        const CUfunction f = kernel("empty");
        r("grid 0", add_kernel(graph, kernel_params(f, nullptr, 0, 1)));
        r("block 0", add_kernel(graph, kernel_params(f, nullptr, 1, 0)));
        r("block 1025", add_kernel(graph, kernel_params(f, nullptr, 1, 1025)));
        r("block 2048", add_kernel(graph, kernel_params(f, nullptr, 1, 2048)));
        CUDA_KERNEL_NODE_PARAMS params = kernel_params(f);
        params.blockDimY = 2048;
        r("block y 2048", add_kernel(graph, params));
        params = kernel_params(f);
        params.blockDimZ = 65;
        r("block z 65", add_kernel(graph, params));
        params = kernel_params(f, nullptr, 1, 32);
        params.blockDimY = 64;
        r("block 32x64", add_kernel(graph, params));
        params = kernel_params(f);
        params.gridDimY = 65536;
        r("grid y 65536", add_kernel(graph, params));
        params = kernel_params(f);
        params.gridDimX = 0x80000000u;
        r("grid x 2^31", add_kernel(graph, params));
        params = kernel_params(f);
        params.sharedMemBytes = 49153;
        r("shared 48K+1", add_kernel(graph, params));
        params.sharedMemBytes = 400000;
        r("shared 400000", add_kernel(graph, params));
        params = kernel_params(kernel("shared_user"));
        r("arguments missing", add_kernel(graph, params));
        r("nodes", node_count(graph));
    });
    cases.add("kernel_node/shared_with_static", [](Record& r) {
        const Graph graph = new_graph();
        Ints target;
        CUdeviceptr address = target;
        void* arguments[] = {&address};
        CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("shared_user"), arguments);
        params.sharedMemBytes = 48 * 1024 - 1024;
        r("fills up 48K", add_kernel(graph, params));
        params.sharedMemBytes += 1;
        r("one more", add_kernel(graph, params));
    });
    cases.add("kernel_node/bad_shape_at_instantiate", [](Record& r) {
        const Graph graph = new_graph();
        CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("at_most_64"), nullptr, 1, 128);
        r("128 threads of at most 64", add_kernel(graph, params));
        ask_instantiate(r, "instantiate", graph);
        const Graph two = new_graph();
        params = kernel_params(kernel("exactly_32"), nullptr, 1, 16);
        r("16 threads of exactly 32", add_kernel(two, params));
        ask_instantiate(r, "instantiate two", two);
    });
    cases.add("kernel_node/null_things", [](Record& r) {
        const Graph graph = new_graph();
        CUgraphNode node = nullptr;
        const CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("empty"));
        r("null func", add_kernel(graph, kernel_params(nullptr)));
        r("null params", drv.cuGraphAddKernelNode(&node, graph, nullptr, 0, nullptr));
        r("null output", drv.cuGraphAddKernelNode(nullptr, graph, nullptr, 0, &params));
    });
    cases.add("kernel_node/both_params_and_extra", [](Record& r) {
        const Graph graph = new_graph();
        Ints target;
        struct {
            CUdeviceptr p;
            int v;
        } packed = {target, 5};
        size_t size = 12;
        void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                         CU_LAUNCH_PARAM_END};
        void* arguments[] = {&packed.p, &packed.v};
        CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("set_int"), arguments);
        params.extra = extra;
        r("both", add_kernel(graph, params));
        params.kernelParams = nullptr;
        CUgraphNode node = nullptr;
        r("extra only", drv.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
        if (node != nullptr) {
            run_graph(graph);
            r("ran", target.get());
            CUDA_KERNEL_NODE_PARAMS back{};
            r("get", drv.cuGraphKernelNodeGetParams(node, &back));
            r("kernelParams is set", back.kernelParams != nullptr);
            r("extra is set", back.extra != nullptr);
        }
    });
    cases.add("kernel_node/set_params", [](Record& r) {
        const Graph graph = new_graph();
        Ints target;
        const CUgraphNode node = set_int_node(graph, target, 1);
        CUdeviceptr address = target;
        int value = 2;
        void* arguments[] = {&address, &value};
        CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("set_int"), arguments);
        r("set", drv.cuGraphKernelNodeSetParams(node, &params));
        run_graph(graph);
        r("value", target.get());
        params.gridDimX = 0;
        r("set grid 0", drv.cuGraphKernelNodeSetParams(node, &params));
        params = kernel_params(kernel("empty"));
        r("another kernel", drv.cuGraphKernelNodeSetParams(node, &params));
        r("null params", drv.cuGraphKernelNodeSetParams(node, nullptr));
        r("null node", drv.cuGraphKernelNodeSetParams(nullptr, &params));
        r("of an empty node", drv.cuGraphKernelNodeSetParams(empty_node(graph), &params));
    });
    cases.add("kernel_node/attributes_that_do_not_fit", [](Record& r) {
        const Graph graph = new_graph();
        CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("empty"), nullptr, 8);
        CUgraphNode node = nullptr;
        must(drv.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params), "add");
        const auto cluster = [&](unsigned size) {
            CUkernelNodeAttrValue value{};
            value.clusterDim.x = size;
            value.clusterDim.y = value.clusterDim.z = 1;
            return drv.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value);
        };
        r("cluster 2", cluster(2));
        ask_instantiate(r, "instantiate 2", graph);
        r("cluster 3 of grid 8", cluster(3));
        r("cluster 16", cluster(16));
        r("cluster 0", cluster(0));
        CUkernelNodeAttrValue back{};
        must(drv.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &back), "get");
        r("cluster now", back.clusterDim.x);
        ask_instantiate(r, "instantiate at last", graph);
        const Graph large = new_graph();
        params = kernel_params(kernel("empty"), nullptr, 1u << 20, 1024);
        must(drv.cuGraphAddKernelNode(&node, large, nullptr, 0, &params), "add");
        CUkernelNodeAttrValue value{};
        value.cooperative = 1;
        r("cooperative too large", drv.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
        ask_instantiate(r, "instantiate too large", large);
    });
    cases.add("kernel_node/attributes", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode node = plain_kernel_node(graph), other = plain_kernel_node(graph);
        CUkernelNodeAttrValue value{};
        r("get priority", drv.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
        r("priority", value.priority);
        value.priority = -3;
        r("set priority", drv.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
        value.priority = 0;
        r("get priority again", drv.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
        r("priority again", value.priority);
        value.priority = -100;
        r("set priority -100", drv.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
        r("get after -100", drv.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
        r("priority after -100", value.priority);
        value = {};
        r("get cooperative", drv.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
        r("cooperative", value.cooperative);
        value.cooperative = 1;
        r("set cooperative", drv.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
        value = {};
        r("get cluster", drv.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
        r("cluster x", value.clusterDim.x);
        r("unknown attribute", drv.cuGraphKernelNodeGetAttribute(node, static_cast<CUkernelNodeAttrID>(999), &value));
        r("of an empty node",
          drv.cuGraphKernelNodeGetAttribute(empty_node(graph), CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
        r("copy", drv.cuGraphKernelNodeCopyAttributes(other, node));
        value = {};
        r("get copied", drv.cuGraphKernelNodeGetAttribute(other, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
        r("copied cooperative", value.cooperative);
    });
}

void add_small_kind_cases(Cases& cases) {
    cases.add("host_node/params", [](Record& r) {
        const Graph graph = new_graph();
        int data = 0;
        const CUgraphNode node = host_node(graph, host_nothing, &data);
        CUDA_HOST_NODE_PARAMS back{};
        r("get", drv.cuGraphHostNodeGetParams(node, &back));
        r("fn kept", back.fn == host_nothing);
        r("userData kept", back.userData == &data);
        CUgraphNode other = nullptr;
        CUDA_HOST_NODE_PARAMS none{nullptr, &data};
        r("null fn", drv.cuGraphAddHostNode(&other, graph, nullptr, 0, &none));
        r("null params", drv.cuGraphAddHostNode(&other, graph, nullptr, 0, nullptr));
        r("set null fn", drv.cuGraphHostNodeSetParams(node, &none));
        r("set null", drv.cuGraphHostNodeSetParams(node, nullptr));
        r("get null", drv.cuGraphHostNodeGetParams(node, nullptr));
        none.fn = host_nothing;
        r("set of an empty node", drv.cuGraphHostNodeSetParams(empty_node(graph), &none));
        r("get of an empty node", drv.cuGraphHostNodeGetParams(empty_node(graph), &none));
    });
    cases.add("event_nodes/params", [](Record& r) {
        const Graph graph = new_graph();
        const Event event = new_event(), other = new_event();
        const CUgraphNode record = record_node(graph, event), wait = wait_node(graph, event);
        CUevent back = nullptr;
        r("record get", drv.cuGraphEventRecordNodeGetEvent(record, &back));
        r("record kept", back == event);
        r("wait get", drv.cuGraphEventWaitNodeGetEvent(wait, &back));
        r("wait kept", back == event);
        r("record set", drv.cuGraphEventRecordNodeSetEvent(record, other));
        must(drv.cuGraphEventRecordNodeGetEvent(record, &back), "get");
        r("record changed", back == other);
        r("record set null", drv.cuGraphEventRecordNodeSetEvent(record, nullptr));
        r("wait set null", drv.cuGraphEventWaitNodeSetEvent(wait, nullptr));
        r("wait getter on record", drv.cuGraphEventWaitNodeGetEvent(record, &back));
        r("record getter on wait", drv.cuGraphEventRecordNodeGetEvent(wait, &back));
        r("wait setter on record", drv.cuGraphEventWaitNodeSetEvent(record, event));
        r("get null output", drv.cuGraphEventRecordNodeGetEvent(record, nullptr));
        CUgraphNode node = nullptr;
        r("add record of null", drv.cuGraphAddEventRecordNode(&node, graph, nullptr, 0, nullptr));
        r("add wait of null", drv.cuGraphAddEventWaitNode(&node, graph, nullptr, 0, nullptr));
        r("nodes", node_count(graph));
    });
    cases.add("event_nodes/blocking_and_untimed_events", [](Record& r) {
        const Graph graph = new_graph();
        const Event event = new_event(CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC);
        record_node(graph, event);
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("node/types", [](Record& r) {
        const Graph graph = new_graph(), child = new_graph(), memory = new_graph();
        const Event event = new_event();
        Ints a, b;
        CUdeviceptr address = 0;
        const CUgraphNode allocated = alloc_node(memory, 64, &address);
        const Nodes nodes = {empty_node(graph),
                             plain_kernel_node(graph),
                             memset_node(graph, a, 0),
                             copy_node(graph, a, b, 4),
                             child_node(graph, child),
                             host_node(graph, host_nothing, nullptr),
                             record_node(graph, event),
                             wait_node(graph, event),
                             allocated,
                             free_node(memory, address, {allocated})};
        for (const CUgraphNode node : nodes) {
            CUgraphNodeType type{};
            r("get", drv.cuGraphNodeGetType(node, &type));
            r("type", type);
        }
    });
    cases.add("node/getters_on_another_kind", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode kernel_one = plain_kernel_node(graph), empty_one = empty_node(graph);
        CUDA_KERNEL_NODE_PARAMS k{};
        CUDA_MEMSET_NODE_PARAMS m{};
        CUDA_MEMCPY3D c{};
        CUDA_HOST_NODE_PARAMS h{};
        CUDA_MEM_ALLOC_NODE_PARAMS a{};
        CUdeviceptr freed = 0;
        CUevent event = nullptr;
        CUgraph child = nullptr;
        r("kernel of empty", drv.cuGraphKernelNodeGetParams(empty_one, &k));
        r("memset of kernel", drv.cuGraphMemsetNodeGetParams(kernel_one, &m));
        r("memcpy of kernel", drv.cuGraphMemcpyNodeGetParams(kernel_one, &c));
        r("host of kernel", drv.cuGraphHostNodeGetParams(kernel_one, &h));
        r("alloc of kernel", drv.cuGraphMemAllocNodeGetParams(kernel_one, &a));
        r("free of kernel", drv.cuGraphMemFreeNodeGetParams(kernel_one, &freed));
        r("record of kernel", drv.cuGraphEventRecordNodeGetEvent(kernel_one, &event));
        r("child of kernel", drv.cuGraphChildGraphNodeGetGraph(kernel_one, &child));
        r("kernel of null", drv.cuGraphKernelNodeGetParams(nullptr, &k));
    });
}

// cuGraphAddNode and cuGraphNodeSetParams, the functions for any kind.
void add_generic_cases(Cases& cases) {
    cases.add("add_node/each_kind", [](Record& r) {
        const Graph graph = new_graph(), child = new_graph();
        Ints a, b;
        const Event event = new_event();
        const auto ask = [&](const char* label, CUgraphNodeParams params) {
            CUgraphNode node = nullptr;
            r(label, drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
        };
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_EMPTY;
        ask("empty", params);
        params = {};
        params.type = CU_GRAPH_NODE_TYPE_KERNEL;
        params.kernel.kern = reinterpret_cast<CUkernel>(kernel("empty"));
        params.kernel.gridDimX = params.kernel.gridDimY = params.kernel.gridDimZ = 1;
        params.kernel.blockDimX = params.kernel.blockDimY = params.kernel.blockDimZ = 1;
        ask("kernel", params);
        params.kernel.kern = nullptr;
        ask("kernel of null", params);
        params = {};
        params.type = CU_GRAPH_NODE_TYPE_MEMSET;
        params.memset.dst = a;
        params.memset.elementSize = 4;
        params.memset.width = params.memset.height = 1;
        params.memset.ctx = context();
        ask("memset", params);
        params.memset.ctx = nullptr;
        ask("memset without ctx", params);
        params = {};
        params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
        params.memcpy.copyCtx = context();
        params.memcpy.copyParams = copy_params(a, b, 4);
        ask("memcpy", params);
        params.memcpy.flags = 1;
        ask("memcpy with flags", params);
        params = {};
        params.type = CU_GRAPH_NODE_TYPE_HOST;
        params.host.fn = host_nothing;
        ask("host", params);
        params = {};
        params.type = CU_GRAPH_NODE_TYPE_GRAPH;
        params.graph.graph = child;
        ask("child", params);
        params = {};
        params.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
        params.eventRecord.event = event;
        ask("record", params);
        params = {};
        params.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
        params.eventWait.event = event;
        ask("wait", params);
        params = {};
        params.type = static_cast<CUgraphNodeType>(99);
        ask("unknown type", params);
        params = {};
        params.type = CU_GRAPH_NODE_TYPE_EMPTY;
        params.reserved0[0] = 1;
        ask("reserved0 set", params);
        params = {};
        params.type = CU_GRAPH_NODE_TYPE_EMPTY;
        params.reserved2 = 1;
        ask("reserved2 set", params);
        params = {};
        params.type = CU_GRAPH_NODE_TYPE_EMPTY;
        params.reserved1[28] = 1;
        ask("unused bytes set", params);
        CUgraphNode node = nullptr;
        params = {};
        params.type = CU_GRAPH_NODE_TYPE_EMPTY;
        r("null params", drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, nullptr));
        r("null output", drv.cuGraphAddNode(nullptr, graph, nullptr, nullptr, 0, &params));
        r("nodes", node_count(graph));
    });
    cases.add("add_node/moved_child", [](Record& r) {
        const Graph graph = new_graph();
        Graph child = new_graph();
        empty_node(child);
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_GRAPH;
        params.graph.graph = child;
        params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
        CUgraphNode node = nullptr;
        r("add", drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
        if (node == nullptr) return;
        CUgraph inner = nullptr;
        r("get", drv.cuGraphChildGraphNodeGetGraph(node, &inner));
        r("is the child itself", inner == child);
        child.release();
        ask_instantiate(r, "instantiate", graph);
        CUgraph clone = nullptr;
        r("clone", drv.cuGraphClone(&clone, graph));
        params.graph.ownership = static_cast<CUgraphChildGraphNodeOwnership>(9);
        r("unknown ownership", drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    });
    cases.add("set_node_params/kinds", [](Record& r) {
        const Graph graph = new_graph();
        Ints a, b;
        const CUgraphNode memset_one = memset_node(graph, a, 1);
        const CUgraphNode kernel_one = set_int_node(graph, a, 1);
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_MEMSET;
        params.memset.dst = b;
        params.memset.value = 6;
        params.memset.elementSize = 4;
        params.memset.width = params.memset.height = 1;
        params.memset.ctx = context();
        r("memset", drv.cuGraphNodeSetParams(memset_one, &params));
        r("memset params on a kernel node", drv.cuGraphNodeSetParams(kernel_one, &params));
        params.type = CU_GRAPH_NODE_TYPE_EMPTY;
        r("empty params on an empty node", drv.cuGraphNodeSetParams(empty_node(graph), &params));
        r("null params", drv.cuGraphNodeSetParams(kernel_one, nullptr));
        r("null node", drv.cuGraphNodeSetParams(nullptr, &params));
        run_graph(graph);
        r("b", b.get());
    });
}

}  // namespace

void add_node_cases(Cases& cases) {
    add_kernel_cases(cases);
    add_small_kind_cases(cases);
    add_generic_cases(cases);
}

}  // namespace conf
