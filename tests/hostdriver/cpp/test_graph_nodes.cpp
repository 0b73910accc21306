// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of the kinds of nodes: their effects and their parameters. Memory nodes are in test_graph_memory.cpp,
// conditional nodes in test_graph_conditional.cpp.
#include <atomic>
#include <cstring>

#include "graph_rig.hpp"

using namespace rig;

namespace {

const auto kBad = CUDA_ERROR_INVALID_VALUE;

void count_call(void* data) {
    static_cast<std::atomic<int>*>(data)->fetch_add(1);
}

}  // namespace

LAW(GraphNodes, EveryKindRunsInOrder) {
    Value value, copy;
    Event event;
    std::atomic<int> calls{0};
    const Graph child;
    const CUgraphNode inner = step(child, {}, value, 2);
    step(child, {inner}, value, 3);
    const Graph graph;
    const CUgraphNode a = step(graph, {}, value, 1);
    const CUgraphNode b = child_node(graph, {a}, child);
    const CUgraphNode c = empty_node(graph, {b});
    const CUgraphNode d = memcpy_node(graph, {c}, copy, value, 8);
    const CUgraphNode e = record_node(graph, {d}, event);
    const CUgraphNode f = wait_node(graph, {e}, event);
    const CUgraphNode g = host_node(graph, {f}, count_call, &calls);
    const CUgraphNode h = memset_node(graph, {g}, value, 0xab, 1, 8);
    step(graph, {h}, value, 5);
    const Exec exec(graph);
    for (int launch = 1; launch <= 3; ++launch) {
        value.set(0);
        exec.run();
        EQUAL(copy.get(), fingerprint({1, 2, 3}));
        EQUAL(value.get(), 0xababababababababull * 31 + 5);
        EQUAL(calls.load(), launch);
        OK(cuEventQuery(event));
    }
}

LAW(GraphNodes, AnEmptyGraphAndAnEmptyChildRun) {
    Value value;
    const Graph nothing, graph;
    Exec(nothing).run();
    const CUgraphNode a = step(graph, {}, value, 1);
    const CUgraphNode b = child_node(graph, {a}, nothing);
    step(graph, {b}, value, 2);
    Exec(graph).run();
    EQUAL(value.get(), fingerprint({1, 2}));
}

LAW(GraphNodes, KernelParametersComeBackAndChange) {
    Value value;
    const Graph graph;
    const CUgraphNode node = step(graph, {}, value, 1);
    CUDA_KERNEL_NODE_PARAMS back{};
    OK(cuGraphKernelNodeGetParams(node, &back));
    EQUAL(back.func, graph_library().function("affine"));
    CHECK(back.kern != nullptr && back.ctx == current() && back.extra == nullptr);
    EQUAL(*static_cast<std::uint64_t*>(back.kernelParams[2]), 1u);
    KernelCall<CUdeviceptr, std::uint64_t, std::uint64_t> other("affine", value, 31, 9);
    other->gridDimX = 3;
    OK(cuGraphKernelNodeSetParams(node, &other));
    OK(cuGraphKernelNodeGetParams(node, &back));
    EQUAL(back.gridDimX, 3u);
    Exec(graph).run();
    EQUAL(value.get(), fingerprint({9, 9, 9}));

    other->gridDimX = 0;
    ANSWERS(kBad, cuGraphKernelNodeSetParams(node, &other));
    other->gridDimX = 1;
    other->blockDimX = 2048;
    ANSWERS(kBad, cuGraphKernelNodeSetParams(node, &other));
    other->blockDimX = 1;
    other->func = nullptr;
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuGraphKernelNodeSetParams(node, &other));
    ANSWERS(kBad, cuGraphKernelNodeSetParams(node, nullptr));
    OK(cuGraphKernelNodeGetParams(node, &back));
    EQUAL(back.gridDimX, 3u);
}

namespace {

template <class Function>
Function old_version(const char* name, int version) {
    void* found = nullptr;
    OK(cuGetProcAddress(name, &found, version, 0, nullptr));
    return reinterpret_cast<Function>(found);
}

}  // namespace

LAW(GraphNodes, KernelParametersOfTheFirstVersionComeBackAndChange) {
    using Get = CUresult (*)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v1*);
    using Set = CUresult (*)(CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1*);
    using SetExec = CUresult (*)(CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1*);
    const auto get = old_version<Get>("cuGraphKernelNodeGetParams", 10000);
    const auto set = old_version<Set>("cuGraphKernelNodeSetParams", 10000);
    const auto set_exec = old_version<SetExec>("cuGraphExecKernelNodeSetParams", 10010);
    Value value;
    const Graph graph;
    const CUgraphNode node = step(graph, {}, value, 3);
    struct {  // bytes behind the older, shorter structure are not written
        CUDA_KERNEL_NODE_PARAMS_v1 params;
        std::uint64_t after[4];
    } found{{}, {7, 7, 7, 7}};
    OK(get(node, &found.params));
    for (const std::uint64_t word : found.after) EQUAL(word, 7u);
    EQUAL(found.params.blockDimX, 1u);
    EQUAL(*static_cast<std::uint64_t*>(found.params.kernelParams[2]), 3u);
    std::uint64_t address = value, factor = 31, digit = 5;
    void* changed[] = {&address, &factor, &digit};
    found.params.kernelParams = changed;
    OK(set(node, &found.params));
    const Exec exec(graph);
    value.set(0);
    exec.run();
    EQUAL(value.get(), 5u);
    digit = 6;
    OK(set_exec(exec, node, &found.params));
    value.set(0);
    exec.run();
    EQUAL(value.get(), 6u);
    ANSWERS(kBad, get(node, nullptr));
    ANSWERS(kBad, set(node, nullptr));
    ANSWERS(kBad, set_exec(exec, node, nullptr));
}

LAW(GraphNodes, KernelArgumentsMayBePacked) {
    Value value;
    const Graph graph;
    struct {
        CUdeviceptr target;
        std::uint64_t factor, digit;
    } packed{value, 31, 4};
    std::size_t size = sizeof packed;
    void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    KernelCall<> call("affine");
    ANSWERS(kBad, [&] {
        call->extra = extra;
        CUgraphNode node = nullptr;
        return cuGraphAddKernelNode(&node, graph, nullptr, 0, &call);  // passes kernelParams and extra at once
    }());
    call->kernelParams = nullptr;
    CUgraphNode node = nullptr;
    OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &call));
    CUDA_KERNEL_NODE_PARAMS back{};
    OK(cuGraphKernelNodeGetParams(node, &back));
    CHECK(back.kernelParams == nullptr && back.extra != nullptr);
    OK(cuGraphKernelNodeSetParams(node, &back));  // returned parameters can be set
    Exec(graph).run();
    EQUAL(value.get(), 4u);
}

LAW(GraphNodes, KernelAttributesAreKeptAndCopied) {
    const Graph graph;
    const CUgraphNode a = kernel_node(graph, {}, "nothing"), b = kernel_node(graph, {}, "nothing"),
                      e = empty_node(graph);
    CUkernelNodeAttrValue value{}, back{};
    OK(cuGraphKernelNodeGetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &back));
    EQUAL(back.priority, 0);
    value.priority = -3;
    OK(cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    value = {};
    value.cooperative = 1;
    OK(cuGraphKernelNodeSetAttribute(a, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    OK(cuGraphKernelNodeCopyAttributes(b, a));
    OK(cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_PRIORITY, &back));
    EQUAL(back.priority, -3);
    OK(cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &back));
    EQUAL(back.cooperative, 1);
    value = {};
    value.clusterDim = {3, 1, 1};  // does not divide a grid of one block
    CHECK(cuGraphKernelNodeSetAttribute(b, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value) != CUDA_SUCCESS);
    OK(cuGraphKernelNodeGetAttribute(b, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &back));
    EQUAL(back.clusterDim.x, 0u);
    ANSWERS(kBad, cuGraphKernelNodeSetAttribute(b, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, &value));
    ANSWERS(kBad, cuGraphKernelNodeGetAttribute(e, CU_LAUNCH_ATTRIBUTE_PRIORITY, &back));
    ANSWERS(kBad, cuGraphKernelNodeGetAttribute(a, CU_LAUNCH_ATTRIBUTE_PRIORITY, nullptr));
    Exec(graph).run();
}

LAW(GraphNodes, CopiesAndFillsRefuseWhatCannotRun) {
    Buffer<std::uint32_t> buffer(64);
    const Graph graph;
    CUgraphNode node = nullptr;
    const auto fill = [&](CUDA_MEMSET_NODE_PARAMS params) {
        return cuGraphAddMemsetNode(&node, graph, nullptr, 0, &params, current());
    };
    ANSWERS(kBad, fill(memset_params(buffer, 0, 3, 4)));
    ANSWERS(kBad, fill(memset_params(buffer, 0, 4, 0)));
    ANSWERS(kBad, fill(memset_params(buffer, 0, 4, 65)));
    ANSWERS(kBad, fill(memset_params(buffer + 2, 0, 4, 4)));
    ANSWERS(kBad, fill(memset_params(0, 0, 4, 4)));
    ANSWERS(kBad, fill(memset_params(buffer, 0, 4, 8, 2, 16)));
    const auto copy = [&](CUDA_MEMCPY3D params) {
        return cuGraphAddMemcpyNode(&node, graph, nullptr, 0, &params, current());
    };
    ANSWERS(kBad, copy(copy_params(buffer, buffer + 128, 0)));
    ANSWERS(kBad, copy(copy_params(buffer, buffer + 128, 129)));
    CUDA_MEMCPY3D bad = copy_params(buffer, buffer + 128, 16);
    bad.Height = 0;
    ANSWERS(kBad, copy(bad));
    EQUAL(nodes_of(graph).size(), 0u);
}

LAW(GraphNodes, TwoDimensionalCopiesAndFillsRun) {
    Buffer<std::uint32_t> from(64), to(64);
    const Graph graph;
    const CUDA_MEMSET_NODE_PARAMS fill = memset_params(from + 4, 7, 4, 2, 3, 32);  // 2 words of 3 rows of 8
    CUgraphNode a = nullptr, b = nullptr;
    OK(cuGraphAddMemsetNode(&a, graph, nullptr, 0, &fill, current()));
    CUDA_MEMCPY3D copy = copy_params(to, from, 12);
    copy.Height = 3;
    copy.srcPitch = 32;
    copy.dstPitch = 16;
    OK(cuGraphAddMemcpyNode(&b, graph, &a, 1, &copy, current()));
    Exec(graph).run();
    const std::vector<std::uint32_t> rows = to.read();
    for (std::size_t row = 0; row < 3; ++row) {
        EQUAL(rows[row * 4], 0u);
        EQUAL(rows[row * 4 + 1], 7u);
        EQUAL(rows[row * 4 + 2], 7u);
        EQUAL(rows[row * 4 + 3], 0u);
    }
    CUDA_MEMCPY3D back{};
    OK(cuGraphMemcpyNodeGetParams(b, &back));
    CHECK(back.Height == 3 && back.dstPitch == 16 && back.dstDevice == to);
    CUDA_MEMSET_NODE_PARAMS set{};
    OK(cuGraphMemsetNodeGetParams(a, &set));
    EQUAL(std::memcmp(&set, &fill, sizeof set), 0);
}

LAW(GraphNodes, GettersAndSettersRefuseAnotherKind) {
    const Graph graph;
    Event event;
    const CUgraphNode empty = empty_node(graph), record = record_node(graph, {}, event);
    CUDA_MEMSET_NODE_PARAMS fill{};
    CUDA_HOST_NODE_PARAMS host{};
    CUevent found = nullptr;
    CUgraph child = nullptr;
    ANSWERS(kBad, cuGraphMemsetNodeGetParams(empty, &fill));
    ANSWERS(kBad, cuGraphHostNodeGetParams(empty, &host));
    ANSWERS(kBad, cuGraphEventWaitNodeGetEvent(record, &found));
    ANSWERS(kBad, cuGraphChildGraphNodeGetGraph(record, &child));
    ANSWERS(kBad, cuGraphEventRecordNodeGetEvent(record, nullptr));
    OK(cuGraphEventRecordNodeGetEvent(record, &found));
    EQUAL(found, static_cast<CUevent>(event));
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_EMPTY;
    ANSWERS(kBad, cuGraphNodeSetParams(record, &params));
    ANSWERS(kBad, cuGraphEventRecordNodeSetEvent(record, nullptr));
}

LAW(GraphNodes, AddNodeWantsUnusedBytesToBeZero) {
    const Graph graph;
    CUgraphNode node = nullptr;
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_EMPTY;
    OK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    params.reserved1[28] = 1;
    ANSWERS(kBad, cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    params.reserved1[28] = 0;
    params.reserved0[1] = 1;
    ANSWERS(kBad, cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    params.reserved0[1] = 0;
    params.type = static_cast<CUgraphNodeType>(99);
    ANSWERS(kBad, cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    ANSWERS(kBad, cuGraphAddNode(&node, graph, nullptr, nullptr, 0, nullptr));
}

LAW(GraphNodes, AChildIsACopyUnlessItIsMoved) {
    Value value;
    Graph child, moved;
    step(child, {}, value, 1);
    step(moved, {}, value, 2);
    const Graph graph;
    const CUgraphNode a = child_node(graph, {}, child);
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    params.graph.graph = moved;
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    CUgraphNode b = nullptr;
    OK(cuGraphAddNode(&b, graph, &a, nullptr, 1, &params));
    CUgraph inside = nullptr;
    OK(cuGraphChildGraphNodeGetGraph(b, &inside));
    EQUAL(inside, static_cast<CUgraph>(moved));
    ANSWERS(kBad, cuGraphDestroy(moved));
    const CUgraph gone = moved.leak();
    CUgraphExec exec = nullptr;
    ANSWERS(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiate(&exec, gone, 0));
    CUgraphNode again = nullptr;
    params.graph.graph = gone;
    ANSWERS(kBad, cuGraphAddNode(&again, Graph(), nullptr, nullptr, 0, &params));
    ANSWERS(kBad, cuGraphAddChildGraphNode(&again, graph, nullptr, 0, graph));
    step(child, {}, value, 9);  // changes the original only
    child.destroy();
    Exec(graph).run();
    EQUAL(value.get(), fingerprint({1, 2}));
}

LAW(GraphNodes, EventsInAGraphAreEventsForEverybody) {
    Gate gate;
    Value value;
    Event event, start;
    Stream one, two;
    const Graph graph;
    const CUgraphNode a = record_node(graph, {}, start);
    const CUgraphNode b = kernel_node(graph, {a}, "spin", gate.flag());
    const CUgraphNode c = step(graph, {b}, value, 1);
    record_node(graph, {c}, event);
    const Exec exec(graph);
    OK(cuEventQuery(event));  // never recorded
    OK(cuGraphLaunch(exec, one));
    if (check::workers() != 0) ANSWERS(CUDA_ERROR_NOT_READY, cuEventQuery(event));
    OK(cuStreamWaitEvent(two, event, 0));
    OK(launch("affine", 1, 1, two, static_cast<CUdeviceptr>(value), std::uint64_t{31}, std::uint64_t{2}));
    gate.open();
    OK(cuStreamSynchronize(two));
    EQUAL(value.get(), fingerprint({1, 2}));
    OK(cuEventSynchronize(event));
    float milliseconds = -1;
    OK(cuEventElapsedTime(&milliseconds, start, event));
    CHECK(milliseconds >= 0);
}

LAW(GraphNodes, AWaitNodeWaitsForWorkOfAnotherStream) {
    Gate gate;
    Value value;
    Event event;
    Stream one, two;
    OK(launch("spin", 1, 1, one, gate.flag()));
    OK(launch("affine", 1, 1, one, static_cast<CUdeviceptr>(value), std::uint64_t{31}, std::uint64_t{1}));
    OK(cuEventRecord(event, one));
    const Graph graph;
    step(graph, {wait_node(graph, {}, event)}, value, 2);
    const Exec exec(graph);
    OK(cuGraphLaunch(exec, two));
    gate.open();
    OK(cuStreamSynchronize(two));
    EQUAL(value.get(), fingerprint({1, 2}));
}

LAW_ALONE(GraphNodes, AHostNodeMayNotCallCuda) {
    const Graph graph;
    CUresult inside = CUDA_SUCCESS;
    host_node(graph, {}, [](void* result) { *static_cast<CUresult*>(result) = cuCtxSynchronize(); }, &inside);
    Exec(graph).run();
    EQUAL(inside, CUDA_ERROR_NOT_PERMITTED);
}

LAW_ALONE(GraphNodes, AFaultInAGraphEndsTheContext) {
    Value value;
    Stream stream;
    Event event;
    const Graph graph;
    const CUgraphNode a = step(graph, {}, value, 1);
    const CUgraphNode b = kernel_node(graph, {a}, "trap");
    const CUgraphNode c = step(graph, {b}, value, 2);
    record_node(graph, {c}, event);
    Exec exec(graph);
    OK(cuGraphLaunch(exec, stream));
    ANSWERS(CUDA_ERROR_LAUNCH_FAILED, cuStreamSynchronize(stream));
    EQUAL(value.get(), 1u);
    ANSWERS(CUDA_ERROR_LAUNCH_FAILED, cuGraphLaunch(exec, stream));
    ANSWERS(CUDA_ERROR_LAUNCH_FAILED, cuEventSynchronize(event));  // returns without a hang
    CUgraphExec another = nullptr;
    ANSWERS(CUDA_ERROR_LAUNCH_FAILED, cuGraphInstantiate(&another, graph, 0));
    OK(cuGraphExecDestroy(exec));
}
