// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of allocation and free nodes, and of the memory that graphs reserve.
#include "graph_rig.hpp"

using namespace rig;

namespace {

const auto kBad = CUDA_ERROR_INVALID_VALUE;
const auto kRefused = CUDA_ERROR_NOT_SUPPORTED;

std::uint64_t read(CUdeviceptr address) {
    std::uint64_t value = 0;
    OK(cuMemcpyDtoH(&value, address, sizeof value));
    return value;
}

cuuint64_t memory(CUgraphMem_attribute attribute) {
    cuuint64_t value = 0;
    OK(cuDeviceGetGraphMemAttribute(0, attribute, &value));
    return value;
}

// A graph with alloc -> zero -> step, and the nodes that `build` adds after them.
struct Allocating {
    Graph graph;
    CUdeviceptr address = 0;
    CUgraphNode last = nullptr;
    Allocating() {
        const CUgraphNode alloc = alloc_node(graph, {}, 64, &address);
        last = step(graph, {memset_node(graph, {alloc}, address, 0, 4, 2)}, address, 7);
    }
};

}  // namespace

LAW(GraphMemory, OutlivesTheLaunchUntilItIsFreed) {
    Allocating a;
    Stream stream;
    const Exec exec(a.graph);
    std::uint64_t value = 0;
    ANSWERS(kBad, cuMemcpyDtoH(&value, a.address, 8));
    ANSWERS(kBad, cuMemFree(a.address));
    exec.run();
    EQUAL(read(a.address), 7u);
    ANSWERS(kBad, cuGraphLaunch(exec, stream));  // the memory was not freed
    OK(cuMemFreeAsync(a.address, stream));
    ANSWERS(kBad, cuMemFree(a.address));
    exec.run(stream);
    EQUAL(read(a.address), 7u);
    OK(cuMemFree(a.address));
    ANSWERS(kBad, cuMemcpyDtoH(&value, a.address, 8));
}

LAW(GraphMemory, HasOneAddressForEver) {
    Allocating a;
    Value copy;
    const CUgraphNode copied = memcpy_node(a.graph, {a.last}, copy, a.address, 8);
    free_node(a.graph, {copied}, a.address);
    CUDA_MEM_ALLOC_NODE_PARAMS back{};
    OK(cuGraphMemAllocNodeGetParams(nodes_of(a.graph)[0], &back));
    CHECK(back.dptr == a.address && back.bytesize == 64);
    CUdeviceptr freed = 0;
    OK(cuGraphMemFreeNodeGetParams(nodes_of(a.graph).back(), &freed));
    EQUAL(freed, a.address);
    for (int round = 0; round < 2; ++round) {
        const Exec exec(a.graph);
        for (int launch = 0; launch < 3; ++launch) {
            copy.set(0);
            exec.run();
            EQUAL(copy.get(), 7u);
        }
    }
}

LAW(GraphMemory, IsFreedByEachLaunchWhenAskedTo) {
    Allocating a;
    Exec exec(a.graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    for (int launch = 0; launch < 3; ++launch) exec.run();
    EQUAL(read(a.address), 7u);
    OK(cuMemFree(a.address));
}

LAW(GraphMemory, OutlivesItsGraphAndExecutable) {
    CUdeviceptr address = 0;
    {
        Allocating a;
        address = a.address;
        Exec(a.graph).run();
    }
    EQUAL(read(address), 7u);
    OK(cuMemFree(address));
    ANSWERS(kBad, cuMemFree(address));
}

LAW(GraphMemory, IsFreedByTheNodeOfAnotherGraph) {
    Allocating a;
    const Graph other;
    free_node(other, {}, a.address);
    const Exec exec(a.graph), freeing(other);
    ANSWERS(kBad, cuGraphLaunch(freeing, nullptr));  // the memory is not allocated yet
    exec.run();
    freeing.run();
    ANSWERS(kBad, cuGraphLaunch(freeing, nullptr));
    exec.run();
    OK(cuMemFree(a.address));
    CUgraphNode node = nullptr;
    ANSWERS(kBad, cuGraphAddMemFreeNode(&node, a.graph, nullptr, 0, a.address));  // another graph frees it
}

LAW(GraphMemory, RefusesFreesThatCannotBe) {
    Allocating a;
    Buffer<char> buffer(64);
    const Graph other;
    CUgraphNode node = nullptr;
    for (const CUdeviceptr bad : {CUdeviceptr{0}, CUdeviceptr{buffer}, CUdeviceptr{0x1234}, a.address + 8})
        ANSWERS(kBad, cuGraphAddMemFreeNode(&node, a.graph, nullptr, 0, bad));
    free_node(a.graph, {a.last}, a.address);
    ANSWERS(kBad, cuGraphAddMemFreeNode(&node, a.graph, nullptr, 0, a.address));
    ANSWERS(kBad, cuGraphAddMemFreeNode(&node, other, nullptr, 0, a.address));
    Exec(a.graph).run();
    ANSWERS(kBad, cuMemFree(a.address));
}

LAW(GraphMemory, RefusesAllocationsThatCannotBe) {
    const Graph graph;
    CUgraphNode node = nullptr;
    const auto add = [&](CUDA_MEM_ALLOC_NODE_PARAMS params) {
        return cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params);
    };
    CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(0);
    ANSWERS(kBad, add(params));
    params = alloc_params(64);
    params.poolProps.location.id = 999;
    ANSWERS(kBad, add(params));
    params = alloc_params(64);
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
    ANSWERS(kBad, add(params));
    params = alloc_params(64);
    params.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    ANSWERS(kRefused, add(params));
    params = alloc_params(std::size_t{1} << 60);
    ANSWERS(CUDA_ERROR_OUT_OF_MEMORY, add(params));
    EQUAL(nodes_of(graph).size(), 0u);
}

LAW(GraphMemory, RestrictsWhatItsGraphCanBeUsedFor) {
    Allocating a;
    const Graph parent;
    CUgraph clone = nullptr;
    CUgraphNode node = nullptr;
    const Nodes nodes = nodes_of(a.graph);
    ANSWERS(kRefused, cuGraphClone(&clone, a.graph));
    ANSWERS(kRefused, cuGraphDestroyNode(nodes[0]));
    ANSWERS(kRefused, cuGraphDestroyNode(nodes[2]));
    ANSWERS(kRefused, cuGraphRemoveDependencies(a.graph, &nodes[0], &nodes[1], nullptr, 1));
    ANSWERS(kRefused, cuGraphAddChildGraphNode(&node, parent, nullptr, 0, a.graph));
    CUgraphExec second = nullptr;
    {
        const Exec exec(a.graph);
        ANSWERS(kRefused, cuGraphInstantiate(&second, a.graph, 0));
    }
    const Exec again(a.graph);
}

LAW(GraphMemory, WorksInAMovedChild) {
    Allocating a;
    Value copy;
    const CUdeviceptr address = a.address;
    const Graph parent;
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    params.graph.graph = a.graph;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    CUgraphNode child = nullptr, node = nullptr;
    OK(cuGraphAddNode(&child, parent, nullptr, nullptr, 0, &params));
    const CUgraph moved = a.graph.leak();
    CUDA_MEM_ALLOC_NODE_PARAMS more = alloc_params(64);
    ANSWERS(kRefused, cuGraphAddMemAllocNode(&node, moved, nullptr, 0, &more));
    free_node(parent, {memcpy_node(parent, {child}, copy, address, 8)}, address);
    const Exec exec(parent);
    exec.run();
    exec.run();
    EQUAL(copy.get(), 7u);
}

LAW(GraphMemory, PointersAreKnownAsLongAsThereIsMemory) {
    Allocating a;
    const Exec exec(a.graph);
    unsigned type = 0;
    ANSWERS(kBad, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a.address));
    exec.run();
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a.address));
    EQUAL(type, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
    OK(cuMemFree(a.address));
    ANSWERS(kBad, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a.address));
}

LAW_ALONE(GraphMemory, IsCountedUntilItIsTrimmed) {
    Allocating a;
    EQUAL(memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), 0u);
    const Exec exec(a.graph);
    EQUAL(memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0u);
    exec.run();
    const cuuint64_t held = memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT);
    CHECK(held >= 64);
    OK(cuDeviceGraphMemTrim(0));
    EQUAL(memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), held);  // in use
    EQUAL(read(a.address), 7u);
    OK(cuMemFree(a.address));
    EQUAL(memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), held);
    OK(cuDeviceGraphMemTrim(0));
    EQUAL(memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0u);
    EQUAL(memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), held);
    cuuint64_t value = 1;
    ANSWERS(kBad, cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value));
    value = 0;
    ANSWERS(kBad, cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value));
    OK(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value));
    EQUAL(memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 0u);
    EQUAL(memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), held);
    exec.run();  // again, with fresh pages
    EQUAL(read(a.address), 7u);
    OK(cuMemFree(a.address));
    ANSWERS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGraphMemTrim(999));
    ANSWERS(kBad, cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, nullptr));
}

LAW_ALONE(GraphMemory, OfGraphsThatAreGoneIsCountedUntilItIsTrimmed) {
    const auto held = [] {
        EQUAL(memory(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
        return memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT);
    };
    const std::size_t sizes[] = {std::size_t{1} << 20, std::size_t{40} << 20, std::size_t{4} << 20};
    const cuuint64_t piece = std::size_t{32} << 20;
    const cuuint64_t expected[] = {piece, 2 * piece, 2 * piece};  // a smaller graph reuses that memory
    for (int i = 0; i < 3; ++i) {
        {
            const Graph graph;
            CUdeviceptr address = 0;
            alloc_node(graph, {}, sizes[i], &address);
            const Exec exec(graph);
            EQUAL(held(), i == 0 ? 0 : expected[i - 1]);
            exec.run();
            OK(cuMemFreeAsync(address, nullptr));
            OK(cuStreamSynchronize(nullptr));
            EQUAL(held(), expected[i]);
        }
        EQUAL(held(), expected[i]);
    }
    OK(cuDeviceGraphMemTrim(0));
    EQUAL(held(), 0u);
    EQUAL(memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), 2 * piece);
}

LAW(GraphMemory, FreesInStreamOrderMayOvertakeEachOther) {
    // Each free takes effect behind a kernel that spins. By then the memory was allocated and freed again.
    Gate gate;
    Stream slow, fast;
    {
        Allocating a;
        Exec exec(a.graph);
        exec.run(fast);
        OK(launch("spin", 1, 1, slow, gate.flag()));
        OK(cuMemFreeAsync(a.address, slow));
        exec.run(fast);
        OK(cuMemFreeAsync(a.address, slow));
        exec.run(fast);
        OK(cuMemFreeAsync(a.address, fast));
    }
    OK(cuStreamSynchronize(fast));
    gate.open();
    OK(cuStreamSynchronize(slow));
}
