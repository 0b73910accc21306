// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memset and memcpy nodes: their returned parameters, their refusals, their effects.
#include "cases.hpp"

namespace conf {

namespace {

CUresult add_memset(CUgraph graph, const CUDA_MEMSET_NODE_PARAMS& params, CUcontext where) {
    CUgraphNode node = nullptr;
    return drv.cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, where);
}

CUresult add_copy(CUgraph graph, const CUDA_MEMCPY3D& params, CUcontext where) {
    CUgraphNode node = nullptr;
    return drv.cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &params, where);
}

void record_memset(Record& r, const CUDA_MEMSET_NODE_PARAMS& params, CUdeviceptr dst) {
    r("dst kept", params.dst == dst);
    r("value", params.value);
    r("elementSize", params.elementSize);
    r("width", params.width);
    r("height", params.height);
    r("pitch", params.pitch);
}

void add_memset_cases(Cases& cases) {
    cases.add("memset_node/params_come_back_1d", [](Record& r) {
        const Graph graph = new_graph();
        Ints target(64);
        const CUDA_MEMSET_NODE_PARAMS params = memset_params(target, 0x11223344, 4, 16, 1, 77);
        CUgraphNode node = nullptr;
        r("add", drv.cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, context()));
        CUDA_MEMSET_NODE_PARAMS back{};
        r("get", drv.cuGraphMemsetNodeGetParams(node, &back));
        record_memset(r, back, target);
        r("get null", drv.cuGraphMemsetNodeGetParams(node, nullptr));
    });
    cases.add("memset_node/params_come_back_2d", [](Record& r) {
        const Graph graph = new_graph();
        Ints target(256);
        const CUDA_MEMSET_NODE_PARAMS params = memset_params(target, 0xABCD, 2, 8, 4, 64);
        CUgraphNode node = nullptr;
        r("add", drv.cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, context()));
        CUDA_MEMSET_NODE_PARAMS back{};
        r("get", drv.cuGraphMemsetNodeGetParams(node, &back));
        record_memset(r, back, target);
        run_graph(graph);
        r("inside", target.get(3));
        r("past the width", target.get(4));
        r("next row", target.get(16));
    });
    cases.add("memset_node/value_wider_than_element", [](Record& r) {
        const Graph graph = new_graph();
        Ints target(4);
        const CUDA_MEMSET_NODE_PARAMS params = memset_params(target, 0x11223344, 1, 4);
        CUgraphNode node = nullptr;
        r("add", drv.cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, context()));
        CUDA_MEMSET_NODE_PARAMS back{};
        r("get", drv.cuGraphMemsetNodeGetParams(node, &back));
        r("value", back.value);
        run_graph(graph);
        r("memory", target.get());
    });
    cases.add("memset_node/bad_params", [](Record& r) {
        const Graph graph = new_graph();
        Ints target(256);
        r("element 3", add_memset(graph, memset_params(target, 0, 3, 4), context()));
        r("element 0", add_memset(graph, memset_params(target, 0, 0, 4), context()));
        r("element 8", add_memset(graph, memset_params(target, 0, 8, 4), context()));
        r("width 0", add_memset(graph, memset_params(target, 0, 4, 0), context()));
        r("height 0", add_memset(graph, memset_params(target, 0, 4, 4, 0), context()));
        r("pitch below width", add_memset(graph, memset_params(target, 0, 4, 8, 4, 16), context()));
        r("pitch 0 of 2 rows", add_memset(graph, memset_params(target, 0, 4, 8, 2, 0), context()));
        r("pitch not a multiple", add_memset(graph, memset_params(target, 0, 4, 8, 2, 33), context()));
        r("unaligned 4", add_memset(graph, memset_params(target + 1, 0, 4, 4), context()));
        r("unaligned 2", add_memset(graph, memset_params(target + 1, 0, 2, 4), context()));
        r("dst 0", add_memset(graph, memset_params(0, 0, 4, 4), context()));
        r("garbage dst", add_memset(graph, memset_params(kGarbage, 0, 4, 4), context()));
        r("past the end", add_memset(graph, memset_params(target, 0, 4, 1u << 28), context()));
        r("null ctx", add_memset(graph, memset_params(target, 0, 4, 4), nullptr));
        CUgraphNode node = nullptr;
        const CUDA_MEMSET_NODE_PARAMS good = memset_params(target, 0);
        r("null params", drv.cuGraphAddMemsetNode(&node, graph, nullptr, 0, nullptr, context()));
        r("null output", drv.cuGraphAddMemsetNode(nullptr, graph, nullptr, 0, &good, context()));
        r("nodes", node_count(graph));
    });
    cases.add("memset_node/pinned_and_pageable", [](Record& r) {
        const Graph graph = new_graph();
        Pinned pinned(4);
        int pageable[4] = {};
        r("pinned", add_memset(graph, memset_params(pinned.address(), 5), context()));
        r("pageable", add_memset(graph, memset_params(reinterpret_cast<CUdeviceptr>(pageable), 5), context()));
    });
    cases.add("memset_node/set_params", [](Record& r) {
        const Graph graph = new_graph();
        Ints target(64), other(64);
        const CUgraphNode node = memset_node(graph, target, 1);
        CUDA_MEMSET_NODE_PARAMS params = memset_params(other, 2, 4, 8);
        r("set", drv.cuGraphMemsetNodeSetParams(node, &params));
        run_graph(graph);
        r("other", other.get(7));
        r("target", target.get(0));
        params = memset_params(other, 2, 2, 8, 2, 64);
        r("to 2d", drv.cuGraphMemsetNodeSetParams(node, &params));
        params.elementSize = 3;
        r("element 3", drv.cuGraphMemsetNodeSetParams(node, &params));
        params = memset_params(kGarbage, 2);
        r("garbage", drv.cuGraphMemsetNodeSetParams(node, &params));
        r("null", drv.cuGraphMemsetNodeSetParams(node, nullptr));
        r("of an empty node", drv.cuGraphMemsetNodeSetParams(empty_node(graph), &params));
        r("get of an empty node", drv.cuGraphMemsetNodeGetParams(empty_node(graph), &params));
    });
}

void add_memcpy_cases(Cases& cases) {
    cases.add("memcpy_node/params_come_back", [](Record& r) {
        const Graph graph = new_graph();
        Ints from(64), to(64);
        CUDA_MEMCPY3D params = copy_params(to, from, 100);
        params.srcPitch = 128;
        params.reserved0 = nullptr;
        CUgraphNode node = nullptr;
        r("add with a pitch", drv.cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &params, context()));
        CUDA_MEMCPY3D back{};
        r("get", drv.cuGraphMemcpyNodeGetParams(node, &back));
        r("srcMemoryType", back.srcMemoryType);
        r("dstMemoryType", back.dstMemoryType);
        r("src kept", back.srcDevice == from);
        r("dst kept", back.dstDevice == to);
        r("width", back.WidthInBytes);
        r("height", back.Height);
        r("depth", back.Depth);
        r("srcPitch", back.srcPitch);
        r("srcHeight", back.srcHeight);
        r("dstPitch", back.dstPitch);
        r("dstHeight", back.dstHeight);
        r("get null", drv.cuGraphMemcpyNodeGetParams(node, nullptr));
    });
    cases.add("memcpy_node/types_come_back", [](Record& r) {
        const Graph graph = new_graph();
        Ints device_side(16);
        Pinned pinned(16);
        const auto ask = [&](const std::string& label, CUmemorytype src, CUmemorytype dst, CUdeviceptr s,
                             CUdeviceptr d) {
            CUDA_MEMCPY3D params = copy_params(d, s, 16), back{};
            params.srcMemoryType = src;
            params.dstMemoryType = dst;
            params.srcHost = reinterpret_cast<void*>(s);
            params.dstHost = reinterpret_cast<void*>(d);
            CUgraphNode node = nullptr;
            const CUresult added = drv.cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &params, context());
            r(label, added);
            if (added != CUDA_SUCCESS) return;
            must(drv.cuGraphMemcpyNodeGetParams(node, &back), "get");
            r(label + " src", back.srcMemoryType);
            r(label + " dst", back.dstMemoryType);
            r(label + " dstHost kept", back.dstHost == params.dstHost);
            r(label + " dstDevice kept", back.dstDevice == params.dstDevice);
        };
        ask("to pinned as host", CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST, device_side, pinned.address());
        ask("to pinned as device", CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE, device_side, pinned.address());
        ask("unified", CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED, pinned.address(), device_side);
        ask("device called host", CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, device_side, device_side);
        ask("array of null", CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_DEVICE, device_side, device_side);
    });
    cases.add("memcpy_node/bad_params", [](Record& r) {
        const Graph graph = new_graph();
        Ints from(64), to(64);
        int pageable[16] = {};
        r("width 0", add_copy(graph, copy_params(to, from, 0), context()));
        CUDA_MEMCPY3D params = copy_params(to, from, 16);
        params.Height = 0;
        r("height 0", add_copy(graph, params, context()));
        params = copy_params(to, from, 16);
        params.Depth = 0;
        r("depth 0", add_copy(graph, params, context()));
        r("garbage src", add_copy(graph, copy_params(to, kGarbage, 16), context()));
        r("garbage dst", add_copy(graph, copy_params(kGarbage, from, 16), context()));
        r("null src", add_copy(graph, copy_params(to, 0, 16), context()));
        r("past the end", add_copy(graph, copy_params(to, from, size_t{1} << 30), context()));
        r("pageable as host", add_copy(graph, copy_to_host_params(pageable, from, 16), context()));
        r("pageable as device",
          add_copy(graph, copy_params(reinterpret_cast<CUdeviceptr>(pageable), from, 16), context()));
        r("null ctx", add_copy(graph, copy_params(to, from, 16), nullptr));
        params = copy_params(to, from, 16);
        params.srcMemoryType = static_cast<CUmemorytype>(77);
        r("unknown memory type", add_copy(graph, params, context()));
        params = copy_params(to, from, 64);
        params.Height = 2;
        params.srcPitch = 16;
        r("pitch below width", add_copy(graph, params, context()));
        params = copy_params(to, from, 16);
        params.srcLOD = 1;
        r("level 1", add_copy(graph, params, context()));
        CUgraphNode node = nullptr;
        r("null params", drv.cuGraphAddMemcpyNode(&node, graph, nullptr, 0, nullptr, context()));
        r("nodes", node_count(graph));
    });
    cases.add("memcpy_node/two_dimensions", [](Record& r) {
        const Graph graph = new_graph();
        Ints from(64, 9), to(64, 0);
        CUDA_MEMCPY3D params = copy_params(to, from, 8);
        params.Height = 2;
        params.srcPitch = params.dstPitch = 32;
        r("add", add_copy(graph, params, context()));
        run_graph(graph);
        r("values", std::to_string(to.get(1)) + " " + std::to_string(to.get(2)) + " " + std::to_string(to.get(8)));
    });
    cases.add("memcpy_node/set_params", [](Record& r) {
        const Graph graph = new_graph();
        Ints from(64, 3), to(64);
        Pinned pinned(16);
        const CUgraphNode node = copy_node(graph, to, from, 16);
        CUDA_MEMCPY3D params = copy_to_host_params(pinned.data(), from, 16);
        r("to host", drv.cuGraphMemcpyNodeSetParams(node, &params));
        run_graph(graph);
        r("pinned", static_cast<int>(pinned[0]));
        params.WidthInBytes = 0;
        r("width 0", drv.cuGraphMemcpyNodeSetParams(node, &params));
        params = copy_params(kGarbage, from, 16);
        r("garbage", drv.cuGraphMemcpyNodeSetParams(node, &params));
        r("of an empty node", drv.cuGraphMemcpyNodeSetParams(empty_node(graph), &params));
        r("get of an empty node", drv.cuGraphMemcpyNodeGetParams(empty_node(graph), &params));
    });
}

}  // namespace

void add_data_node_cases(Cases& cases) {
    add_memset_cases(cases);
    add_memcpy_cases(cases);
}

}  // namespace conf
