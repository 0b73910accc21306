// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Alloc and free nodes, and the memory that graphs reserve.
#include "cases.hpp"

namespace conf {

namespace {

CUresult add_free(CUgraph graph, CUdeviceptr address, const Nodes& after = {}) {
    CUgraphNode node = nullptr;
    return drv.cuGraphAddMemFreeNode(&node, graph, after.data(), after.size(), address);
}

CUresult add_alloc(CUgraph graph, CUDA_MEM_ALLOC_NODE_PARAMS params) {
    CUgraphNode node = nullptr;
    return drv.cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params);
}

cuuint64_t graph_memory(CUgraphMem_attribute attribute) {
    cuuint64_t value = 0;
    must(drv.cuDeviceGetGraphMemAttribute(device(), attribute, &value), "cuDeviceGetGraphMemAttribute");
    return value;
}

void add_param_cases(Cases& cases) {
    cases.add("alloc_node/bad_params", [](Record& r) {
        const Graph graph = new_graph();
        CUgraphNode node = nullptr;
        r("size 0", add_alloc(graph, alloc_params(0)));
        CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(64);
        r("null params", drv.cuGraphAddMemAllocNode(&node, graph, nullptr, 0, nullptr));
        r("null output", drv.cuGraphAddMemAllocNode(nullptr, graph, nullptr, 0, &params));
        params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
        r("allocType invalid", add_alloc(graph, params));
        params = alloc_params(64);
        params.poolProps.location.type = CU_MEM_LOCATION_TYPE_INVALID;
        r("location invalid", add_alloc(graph, params));
        params = alloc_params(64);
        params.poolProps.location.id = 999;
        r("device 999", add_alloc(graph, params));
        params = alloc_params(64);
        params.poolProps.location.id = -1;
        r("device -1", add_alloc(graph, params));
        params = alloc_params(64);
        params.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        r("handle types", add_alloc(graph, params));
        params = alloc_params(size_t{1} << 60);
        r("2^60 bytes", add_alloc(graph, params));
        params = alloc_params(64);
        params.poolProps.maxSize = 1;
        r("maxSize 1", add_alloc(graph, params));
        r("nodes", node_count(graph));
    });
    cases.add("alloc_node/host_and_managed", [](Record& r) {
        const Graph graph = new_graph();
        CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(64);
        params.poolProps.location.type = CU_MEM_LOCATION_TYPE_HOST;
        params.poolProps.location.id = 0;
        r("host", add_alloc(graph, params));
        params.poolProps.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
        r("host numa", add_alloc(graph, params));
        params = alloc_params(64);
        params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
        r("managed", add_alloc(graph, params));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("alloc_node/access_to_own_device", [](Record& r) {
        const Graph graph = new_graph();
        CUmemAccessDesc access{};
        access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        access.location.id = device();
        access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(64), back{};
        params.accessDescs = &access;
        params.accessDescCount = 1;
        CUgraphNode node = nullptr;
        r("add", drv.cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
        if (node == nullptr) return;
        r("get", drv.cuGraphMemAllocNodeGetParams(node, &back));
        r("count", back.accessDescCount);
        r("list is set", back.accessDescs != nullptr);
        access.location.id = 999;
        r("device 999", add_alloc(graph, params));
    });
    cases.add("alloc_node/params_come_back", [](Record& r) {
        const Graph graph = new_graph();
        CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(100), back{};
        CUgraphNode node = nullptr;
        r("add", drv.cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params));
        r("address is set", params.dptr != 0);
        r("address is 512-aligned", params.dptr % 512 == 0);
        r("get", drv.cuGraphMemAllocNodeGetParams(node, &back));
        r("same address", back.dptr == params.dptr);
        r("bytesize", back.bytesize);
        r("allocType", back.poolProps.allocType);
        r("location type", back.poolProps.location.type);
        r("location id", back.poolProps.location.id);
        r("handleTypes", back.poolProps.handleTypes);
        r("accessDescCount", back.accessDescCount);
        r("get null", drv.cuGraphMemAllocNodeGetParams(node, nullptr));
        const CUgraphNode freed = free_node(graph, params.dptr, {node});
        CUdeviceptr address = 0;
        r("free get", drv.cuGraphMemFreeNodeGetParams(freed, &address));
        r("free address", address == params.dptr);
        r("free get null", drv.cuGraphMemFreeNodeGetParams(freed, nullptr));
        r("two allocs differ", [&] {
            CUdeviceptr other = 0;
            alloc_node(graph, 100, &other);
            return other != params.dptr;
        }());
    });
    cases.add("alloc_node/generic_add", [](Record& r) {
        const Graph graph = new_graph();
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
        params.alloc.poolProps = alloc_params(64).poolProps;
        params.alloc.bytesize = 64;
        CUgraphNode node = nullptr, freed = nullptr;
        r("alloc", drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
        const CUdeviceptr address = params.alloc.dptr;
        r("address is set", address != 0);
        params = {};
        params.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
        params.free.dptr = address;
        r("free", drv.cuGraphAddNode(&freed, graph, &node, nullptr, 1, &params));
        r("set free params", drv.cuGraphNodeSetParams(freed, &params));
    });
}

void add_free_cases(Cases& cases) {
    cases.add("free_node/bad_addresses", [](Record& r) {
        const Graph graph = new_graph();
        Ints plain;
        CUdeviceptr address = 0, ours = 0;
        r("0", add_free(graph, 0));
        r("cuMemAlloc memory", add_free(graph, plain));
        r("garbage", add_free(graph, kGarbage));
        const CUgraphNode node = alloc_node(graph, 1024, &address);
        r("inside an allocation", add_free(graph, address + 16, {node}));
        r("without dependency on the alloc", add_free(graph, address));
        const Graph second = new_graph();
        const CUgraphNode mine = alloc_node(second, 64, &ours);
        r("free", add_free(second, ours, {mine}));
        r("again", add_free(second, ours, {mine}));
        r("nodes", node_count(second));
        r("null output", drv.cuGraphAddMemFreeNode(nullptr, graph, nullptr, 0, address));
    });
    cases.add("free_node/of_another_graphs_allocation", [](Record& r) {
        const Graph one = new_graph(), two = new_graph();
        CUdeviceptr address = 0, kept = 0;
        alloc_node(one, 64, &address);
        const CUgraphNode mine = alloc_node(one, 64, &kept);
        r("other graph frees it", add_free(two, address));
        r("own graph too", add_free(one, address));
        r("own graph frees", add_free(one, kept, {mine}));
        r("other graph too", add_free(two, kept));
    });
    cases.add("free_node/of_stream_ordered_memory", [](Record& r) {
        const Graph graph = new_graph();
        const Stream stream = new_stream();
        CUdeviceptr address = 0;
        r("alloc", drv.cuMemAllocAsync(&address, 64, stream));
        must(drv.cuStreamSynchronize(stream), "sync");
        r("free node", add_free(graph, address));
        drv.cuMemFreeAsync(address, stream);
        drv.cuStreamSynchronize(stream);
    });
    cases.add("free_node/not_ordered_after_the_alloc", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        alloc_node(graph, 64, &address);
        r("add without edge", add_free(graph, address));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("free_node/before_the_alloc", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode first = empty_node(graph);
        CUdeviceptr address = 0;
        const CUgraphNode node = alloc_node(graph, 64, &address, {first});
        CUgraphNode freed = nullptr;
        r("free after the alloc's predecessor", drv.cuGraphAddMemFreeNode(&freed, graph, &first, 1, address));
        if (freed != nullptr) r("free->alloc edge", drv.cuGraphAddDependencies(graph, &freed, &node, nullptr, 1));
        ask_instantiate(r, "instantiate", graph);
    });
}

void add_restriction_cases(Cases& cases) {
    cases.add("alloc_graph/edits_refused", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode node = alloc_node(graph, 64, &address), other = empty_node(graph, {node}),
                          last = empty_node(graph);
        r("add an edge", drv.cuGraphAddDependencies(graph, &other, &last, nullptr, 1));
        r("remove an edge", drv.cuGraphRemoveDependencies(graph, &node, &other, nullptr, 1));
        r("destroy the alloc node", drv.cuGraphDestroyNode(node));
        r("destroy another node", drv.cuGraphDestroyNode(other));
        CUgraph clone = nullptr;
        r("clone", drv.cuGraphClone(&clone, graph));
        r("nodes", node_count(graph));
        r("edges", edge_count(graph));
    });
    cases.add("alloc_graph/as_child", [](Record& r) {
        const Graph graph = new_graph(), second = new_graph();
        Graph child = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode node = alloc_node(child, 64, &address);
        CUgraphNode added = nullptr;
        r("cloned child", drv.cuGraphAddChildGraphNode(&added, graph, nullptr, 0, child));
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_GRAPH;
        params.graph.graph = child;
        params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
        r("moved child", drv.cuGraphAddNode(&added, second, nullptr, nullptr, 0, &params));
        if (added == nullptr) return;
        CUdeviceptr other = 0;
        CUgraphNode more = nullptr;
        CUDA_MEM_ALLOC_NODE_PARAMS again = alloc_params(64);
        r("add alloc to moved child", drv.cuGraphAddMemAllocNode(&more, child, &node, 1, &again));
        other = again.dptr;
        r("its address is set", other != 0);
        child.release();
        ask_instantiate(r, "instantiate", second);
    });
    cases.add("alloc_graph/free_only_child", [](Record& r) {
        const Graph owner = new_graph(), child = new_graph(), parent = new_graph();
        CUdeviceptr address = 0;
        alloc_node(owner, 64, &address);
        r("free node", add_free(child, address));
        CUgraphNode added = nullptr;
        r("as child", drv.cuGraphAddChildGraphNode(&added, parent, nullptr, 0, child));
        CUgraph clone = nullptr;
        r("clone", drv.cuGraphClone(&clone, child));
    });
    cases.add("alloc_graph/second_exec", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode node = alloc_node(graph, 64, &address);
        free_node(graph, address, {node});
        CUgraphExec first = nullptr, second = nullptr;
        r("first", drv.cuGraphInstantiateWithFlags(&first, graph, 0));
        ask_instantiate(r, "second", graph);
        r("destroy first", drv.cuGraphExecDestroy(first));
        r("third", drv.cuGraphInstantiateWithFlags(&second, graph, 0));
        if (second != nullptr) r("destroy third", drv.cuGraphExecDestroy(second));
    });
    cases.add("alloc_graph/device_launch_flag", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        alloc_node(graph, 64, &address);
        ask_instantiate(r, "device launch", graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    });
    cases.add("alloc_graph/update", [](Record& r) {
        const Graph graph = new_graph(), same = new_graph(), larger = new_graph();
        CUdeviceptr address = 0;
        alloc_node(graph, 64, &address);
        alloc_node(same, 64, &address);
        alloc_node(larger, 1 << 22, &address);
        const Exec exec = new_exec(graph);
        CUgraphExecUpdateResultInfo info{};
        r("same size", drv.cuGraphExecUpdate(exec, same, &info));
        r("same size result", info.result);
        info = {};
        r("itself", drv.cuGraphExecUpdate(exec, graph, &info));
        r("itself result", info.result);
        info = {};
        r("larger", drv.cuGraphExecUpdate(exec, larger, &info));
        r("larger result", info.result);
    });
}

void add_running_cases(Cases& cases) {
    cases.add("alloc_run/readable_after_the_launch", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode node = alloc_node(graph, 64, &address);
        memset_node(graph, address, 77, {node});
        const Exec exec = new_exec(graph);
        int value = 0;
        r("read before any launch", drv.cuMemcpyDtoH(&value, address, 4));
        run(exec);
        r("read", drv.cuMemcpyDtoH(&value, address, 4));
        r("value", value);
        r("relaunch while unfreed", drv.cuGraphLaunch(exec, nullptr));
        r("free", drv.cuMemFree(address));
        r("relaunch after free", drv.cuGraphLaunch(exec, nullptr));
        drv.cuCtxSynchronize();
        r("free again", drv.cuMemFree(address));
        r("free twice", drv.cuMemFree(address));
    });
    cases.add("alloc_run/freed_by_stream", [](Record& r) {
        const Graph graph = new_graph();
        const Stream stream = new_stream();
        CUdeviceptr address = 0;
        alloc_node(graph, 64, &address);
        const Exec exec = new_exec(graph);
        r("free before launch", drv.cuMemFreeAsync(address, stream));
        r("launch", drv.cuGraphLaunch(exec, stream));
        r("free on stream", drv.cuMemFreeAsync(address, stream));
        r("launch again", drv.cuGraphLaunch(exec, stream));
        r("free again", drv.cuMemFreeAsync(address, stream));
        r("free once more", drv.cuMemFreeAsync(address, stream));
        drv.cuStreamSynchronize(stream);
    });
    cases.add("alloc_run/auto_free", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode node = alloc_node(graph, 64, &address);
        memset_node(graph, address, 5, {node});
        const Exec exec = new_exec(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
        const Stream stream = new_stream();
        r("launch", drv.cuGraphLaunch(exec, stream));
        r("relaunch", drv.cuGraphLaunch(exec, stream));
        r("sync", drv.cuStreamSynchronize(stream));
        int value = 0;
        r("read", drv.cuMemcpyDtoH(&value, address, 4));
        r("value", value);
        cuuint64_t flags = 0;
        r("flags", drv.cuGraphExecGetFlags(exec, &flags));
        r("flags value", flags);
        r("free", drv.cuMemFree(address));
    });
    cases.add("alloc_run/freed_in_another_graph", [](Record& r) {
        const Graph one = new_graph(), two = new_graph();
        CUdeviceptr address = 0;
        alloc_node(one, 64, &address);
        r("free node", add_free(two, address));
        const Exec alloc = new_exec(one), release = new_exec(two);
        const Stream stream = new_stream();
        r("free launched first", drv.cuGraphLaunch(release, stream));
        r("alloc", drv.cuGraphLaunch(alloc, stream));
        r("free", drv.cuGraphLaunch(release, stream));
        r("free again", drv.cuGraphLaunch(release, stream));
        r("alloc again", drv.cuGraphLaunch(alloc, stream));
        r("sync", drv.cuStreamSynchronize(stream));
        r("plain free", drv.cuMemFree(address));
    });
    cases.add("alloc_run/address_is_the_same_each_launch", [](Record& r) {
        const Graph graph = new_graph();
        Ints out(1);
        CUdeviceptr address = 0;
        const CUgraphNode a = alloc_node(graph, 64, &address), b = memset_node(graph, address, 31, {a});
        const CUgraphNode c = copy_node(graph, out, address, 4, {b});
        free_node(graph, address, {c});
        const Exec exec = new_exec(graph);
        for (int i = 0; i < 3; ++i) {
            out.set(0);
            run(exec);
            r("value", out.get());
        }
        int value = 0;
        r("read after the graph's free", drv.cuMemcpyDtoH(&value, address, 4));
    });
    cases.add("alloc_run/pointer_attributes", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        alloc_node(graph, 64, &address);
        const auto ask = [&](const std::string& when) {
            unsigned type = 99;
            int ordinal = 99;
            r(when + " type", drv.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
            r(when + " type value", type);
            r(when + " ordinal", drv.cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
            r(when + " ordinal value", ordinal);
            CUdeviceptr base = 0;
            size_t size = 0;
            r(when + " range", drv.cuMemGetAddressRange(&base, &size, address));
            r(when + " base is address", base == address);
        };
        ask("before");
        const Exec exec = new_exec(graph);
        ask("instantiated");
        run(exec);
        ask("launched");
        must(drv.cuMemFree(address), "free");
        ask("freed");
    });
    cases.add("alloc_run/memset_and_copy_nodes_before_the_launch", [](Record& r) {
        const Graph graph = new_graph();
        Pinned host(4);
        CUdeviceptr address = 0;
        const CUgraphNode a = alloc_node(graph, 64, &address);
        CUgraphNode node = nullptr;
        CUDA_MEMSET_NODE_PARAMS fill = memset_params(address, 8, 4, 4);
        r("memset", drv.cuGraphAddMemsetNode(&node, graph, &a, 1, &fill, context()));
        fill = memset_params(address, 8, 4, 1 << 26);
        r("memset past the end", drv.cuGraphAddMemsetNode(&node, graph, &a, 1, &fill, context()));
        const CUDA_MEMCPY3D copy = copy_to_host_params(host.data(), address, 16);
        r("copy", drv.cuGraphAddMemcpyNode(&node, graph, &a, 1, &copy, context()));
    });
    cases.alone("graph_memory/counts", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        alloc_node(graph, 1 << 20, &address);
        const auto tell = [&](const std::string& when) {
            r(when + " used", graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
            r(when + " used high", graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH));
            r(when + " reserved", graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
            r(when + " reserved high", graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH));
        };
        tell("created");
        {
            const Exec exec = new_exec(graph);
            tell("instantiated");
            run(exec);
            tell("launched");
            must(drv.cuMemFree(address), "free");
            tell("freed");
            r("trim", drv.cuDeviceGraphMemTrim(device()));
            tell("trimmed");
        }
        r("trim", drv.cuDeviceGraphMemTrim(device()));
        tell("exec gone and trimmed");
        cuuint64_t zero = 0, one = 1;
        r("reset used high", drv.cuDeviceSetGraphMemAttribute(device(), CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
        r("reset reserved high",
          drv.cuDeviceSetGraphMemAttribute(device(), CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero));
        tell("reset");
        r("set used high 1", drv.cuDeviceSetGraphMemAttribute(device(), CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one));
        r("set reserved high 1", drv.cuDeviceSetGraphMemAttribute(device(), CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &one));
        r("set used current", drv.cuDeviceSetGraphMemAttribute(device(), CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero));
    });
    cases.alone("graph_memory/counts_of_graphs_that_are_gone", [](Record& r) {
        const auto tell = [&](const std::string& when) {
            r(when + " used", graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT));
            r(when + " reserved", graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
        };
        for (const char* order : {"freed first", "graph gone first"}) {
            CUdeviceptr address = 0;
            {
                const Graph graph = new_graph();
                alloc_node(graph, 1 << 20, &address);
                const Exec exec = new_exec(graph);
                run(exec);
                if (order[0] == 'f') must(drv.cuMemFree(address), "free");
                tell(order + std::string(", launched"));
            }
            if (order[0] == 'g') must(drv.cuMemFree(address), "free");
            tell(order + std::string(", gone"));
        }
        r("trim", drv.cuDeviceGraphMemTrim(device()));
        tell("trimmed");
    });
    cases.add("graph_memory/bad_arguments", [](Record& r) {
        cuuint64_t value = 0;
        r("device 999", drv.cuDeviceGetGraphMemAttribute(999, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value));
        r("null value", drv.cuDeviceGetGraphMemAttribute(device(), CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, nullptr));
        r("unknown attribute",
          drv.cuDeviceGetGraphMemAttribute(device(), static_cast<CUgraphMem_attribute>(99), &value));
        r("set null", drv.cuDeviceSetGraphMemAttribute(device(), CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, nullptr));
        r("set unknown", drv.cuDeviceSetGraphMemAttribute(device(), static_cast<CUgraphMem_attribute>(99), &value));
        r("trim device 999", drv.cuDeviceGraphMemTrim(999));
    });
    cases.add("alloc_run/exec_destroyed_with_memory_unfreed", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode a = alloc_node(graph, 64, &address);
        memset_node(graph, address, 3, {a});
        {
            const Exec exec = new_exec(graph);
            run(exec);
        }
        int value = 0;
        r("read", drv.cuMemcpyDtoH(&value, address, 4));
        r("value", value);
        ask_instantiate(r, "second exec", graph);
        r("free", drv.cuMemFree(address));
    });
}

}  // namespace

void add_alloc_cases(Cases& cases) {
    add_param_cases(cases);
    add_free_cases(cases);
    add_restriction_cases(cases);
    add_running_cases(cases);
}

}  // namespace conf
