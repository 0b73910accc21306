// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of executables: instantiation, launches, and changes between and during launches.
#include <atomic>
#include <chrono>
#include <thread>

#include "graph_rig.hpp"

using namespace rig;

namespace {

const auto kBad = CUDA_ERROR_INVALID_VALUE;
using Step = KernelCall<CUdeviceptr, std::uint64_t, std::uint64_t>;

CUresult instantiate(CUgraph graph, unsigned long long flags, CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
    CUgraphExec exec = nullptr;
    *params = {};
    params->flags = flags;
    const CUresult result = cuGraphInstantiateWithParams(&exec, graph, params);
    if (result == CUDA_SUCCESS) OK(cuGraphExecDestroy(exec));
    return result;
}

}  // namespace

LAW(GraphExec, ACycleIsFoundWhenInstantiating) {
    const Graph graph;
    const CUgraphNode a = empty_node(graph), b = empty_node(graph, {a}), c = empty_node(graph, {b});
    OK(cuGraphAddDependencies(graph, &c, &a, nullptr, 1));
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    ANSWERS(kBad, instantiate(graph, 0, &params));
    EQUAL(params.result_out, CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE);
    CHECK(params.hErrNode_out != nullptr);
    OK(cuGraphRemoveDependencies(graph, &c, &a, nullptr, 1));
    OK(instantiate(graph, 0, &params));
    EQUAL(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    CHECK(params.hErrNode_out == nullptr);
}

LAW(GraphExec, RefusesFlagsAndArgumentsThatMakeNoSense) {
    const Graph graph;
    empty_node(graph);
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    ANSWERS(kBad, instantiate(graph, 16, &params));
    EQUAL(params.result_out, CUDA_GRAPH_INSTANTIATE_ERROR);
    ANSWERS(kBad, instantiate(graph, 1 | 4, &params));
    ANSWERS(kBad, instantiate(graph, 4, &params));
    EQUAL(params.result_out, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
    ANSWERS(kBad, instantiate(nullptr, 0, &params));
    CUgraphExec exec = nullptr;
    ANSWERS(kBad, cuGraphInstantiate(nullptr, graph, 0));
    ANSWERS(kBad, cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD));
    ANSWERS(kBad, cuGraphLaunch(nullptr, nullptr));
    ANSWERS(kBad, cuGraphUpload(nullptr, nullptr));
    ANSWERS(kBad, cuGraphExecDestroy(nullptr));
    Exec plain(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    cuuint64_t flags = 0;
    OK(cuGraphExecGetFlags(plain, &flags));
    EQUAL(flags, 1u);
    const CUgraphExec gone = plain;
    plain.destroy();
    ANSWERS(kBad, cuGraphLaunch(gone, nullptr));
}

LAW(GraphExec, DoesNotSeeLaterEditsOfItsGraph) {
    Value value;
    Graph graph;
    const CUgraphNode a = step(graph, {}, value, 1);
    const Exec exec(graph);
    step(graph, {a}, value, 2);
    Step other("affine", value, 31, 9);
    OK(cuGraphKernelNodeSetParams(a, &other));
    exec.run();
    EQUAL(value.get(), 1u);
    graph.destroy();
    exec.run();
    EQUAL(value.get(), 32u);
}

LAW(GraphExec, ALaunchReturnsAtOnceAlsoWhenItsKernelSpins) {
    Gate gate;
    Value value;
    Stream stream;
    const Graph graph;
    const CUgraphNode a = kernel_node(graph, {}, "spin", gate.flag());
    step(graph, {a}, value, 1);
    const Exec exec(graph);
    OK(cuGraphLaunch(exec, stream));
    if (check::workers() != 0) ANSWERS(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    EQUAL(value.get(), 0u);
    gate.open();
    OK(cuStreamSynchronize(stream));
    EQUAL(value.get(), 1u);
}

LAW(GraphExec, LaunchesOfOneExecutableFollowEachOtherAcrossStreams) {
    Gate gate, open;
    open.open();
    Value value;
    Stream first, second, third;
    const Graph graph;
    const CUgraphNode a = kernel_node(graph, {}, "spin", gate.flag()), b = step(graph, {a}, value, 1);
    const Exec exec(graph);
    OK(cuGraphLaunch(exec, first));
    // The second launch must wait for the first launch only.
    KernelCall<std::atomic<std::uint32_t>*> pass("spin", open.flag());
    Step two("affine", value, 31, 2), three("affine", value, 31, 3);
    OK(cuGraphExecKernelNodeSetParams(exec, a, &pass));
    OK(cuGraphExecKernelNodeSetParams(exec, b, &two));
    OK(cuGraphLaunch(exec, second));
    OK(cuGraphExecKernelNodeSetParams(exec, b, &three));
    OK(cuGraphLaunch(exec, third));
    if (check::workers() != 0) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ANSWERS(CUDA_ERROR_NOT_READY, cuStreamQuery(second));
        ANSWERS(CUDA_ERROR_NOT_READY, cuStreamQuery(third));
    }
    gate.open();
    OK(cuStreamSynchronize(third));
    EQUAL(value.get(), fingerprint({1, 2, 3}));
    OK(cuStreamSynchronize(second));
    OK(cuStreamSynchronize(first));
}

LAW(GraphExec, CanBeDestroyedWithItsGraphWhileItRuns) {
    Gate gate;
    Value value;
    Stream stream;
    {
        const Graph graph;
        const CUgraphNode a = kernel_node(graph, {}, "spin", gate.flag());
        step(graph, {a}, value, 3);
        const Exec exec(graph);
        OK(cuGraphLaunch(exec, stream));
        OK(cuGraphLaunch(exec, stream));
    }
    gate.open();
    OK(cuStreamSynchronize(stream));
    EQUAL(value.get(), fingerprint({3, 3}));
}

LAW(GraphExec, LaunchesKeepTheParametersThatTheyWereLaunchedWith) {
    Gate gate;
    Value value;
    Stream stream;
    const Graph graph;
    const CUgraphNode a = kernel_node(graph, {}, "spin", gate.flag()), b = step(graph, {a}, value, 1);
    const CUgraphNode c = step(graph, {b}, value, 2);
    const Exec exec(graph);
    OK(cuGraphLaunch(exec, stream));
    Step other("affine", value, 31, 5);
    OK(cuGraphExecKernelNodeSetParams(exec, b, &other));
    OK(cuGraphNodeSetEnabled(exec, c, 0));
    OK(cuGraphLaunch(exec, stream));
    gate.open();
    OK(cuStreamSynchronize(stream));
    EQUAL(value.get(), fingerprint({1, 2, 5}));
    CUDA_KERNEL_NODE_PARAMS back{};
    OK(cuGraphKernelNodeGetParams(b, &back));
    EQUAL(*static_cast<std::uint64_t*>(back.kernelParams[2]), 1u);  // value of the definition
}

LAW(GraphExec, ParametersOfEveryKindAreSetByNode) {
    Value value, copy, other_copy;
    Event event, other_event;
    std::atomic<int> calls{0}, other_calls{0};
    const CUhostFn count = [](void* data) { static_cast<std::atomic<int>*>(data)->fetch_add(1); };
    const Graph graph, child, replacement;
    step(child, {}, value, 1);
    step(replacement, {}, value, 2);
    const CUgraphNode a = child_node(graph, {}, child);
    const CUgraphNode b = memcpy_node(graph, {a}, copy, value, 8);
    const CUgraphNode c = memset_node(graph, {b}, value, 1, 4, 1);
    const CUgraphNode d = host_node(graph, {c}, count, &calls);
    const CUgraphNode e = record_node(graph, {d}, event);
    const CUgraphNode f = wait_node(graph, {e}, event);
    const CUgraphNode g = empty_node(graph, {f});
    const Exec exec(graph);
    OK(cuGraphExecChildGraphNodeSetParams(exec, a, replacement));
    const CUDA_MEMCPY3D to = copy_params(other_copy, value, 8);
    OK(cuGraphExecMemcpyNodeSetParams(exec, b, &to, current()));
    const CUDA_MEMSET_NODE_PARAMS fill = memset_params(value, 7, 1, 3);
    OK(cuGraphExecMemsetNodeSetParams(exec, c, &fill, current()));
    const CUDA_HOST_NODE_PARAMS host{count, &other_calls};
    OK(cuGraphExecHostNodeSetParams(exec, d, &host));
    OK(cuGraphExecEventRecordNodeSetEvent(exec, e, other_event));
    OK(cuGraphExecEventWaitNodeSetEvent(exec, f, other_event));
    exec.run();
    EQUAL(other_copy.get(), 2u);
    EQUAL(copy.get(), 0u);
    EQUAL(value.get(), 0x070707u);
    CHECK(calls == 0 && other_calls == 1);
    float milliseconds = 0;
    ANSWERS(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&milliseconds, event, event));  // never recorded
    OK(cuEventElapsedTime(&milliseconds, other_event, other_event));

    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_EMPTY;
    ANSWERS(kBad, cuGraphExecNodeSetParams(exec, g, &params));
    ANSWERS(kBad, cuGraphExecMemsetNodeSetParams(exec, b, &fill, current()));
    const CUDA_MEMSET_NODE_PARAMS tall = memset_params(value, 7, 1, 2, 2, 4);
    ANSWERS(kBad, cuGraphExecMemsetNodeSetParams(exec, c, &tall, current()));
    const CUDA_MEMCPY3D nothing = copy_params(copy, value, 0);
    ANSWERS(kBad, cuGraphExecMemcpyNodeSetParams(exec, b, &nothing, current()));
    CUDA_MEMCPY3D to_host = copy_params(copy, value, 8);
    std::uint64_t pageable = 0;
    to_host.dstMemoryType = CU_MEMORYTYPE_HOST;
    to_host.dstHost = &pageable;
    ANSWERS(kBad, cuGraphExecMemcpyNodeSetParams(exec, b, &to_host, current()));
    step(replacement, nodes_of(replacement), value, 3);
    ANSWERS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecChildGraphNodeSetParams(exec, a, replacement));
    exec.run();
    EQUAL(other_copy.get(), 0x070707u * 31 + 2);  // refused changes leave no trace
}

LAW(GraphExec, KnowsOnlyNodesOfTheGraphThatItWasMadeFrom) {
    Value value;
    const Graph graph, child;
    const CUgraphNode in_child = step(child, {}, value, 1);
    const CUgraphNode a = child_node(graph, {}, child);
    CUgraph embedded = nullptr;
    OK(cuGraphChildGraphNodeGetGraph(a, &embedded));
    const CUgraphNode inner = nodes_of(embedded)[0];
    const Exec exec(graph);
    Step other("affine", value, 31, 6);
    ANSWERS(kBad, cuGraphExecKernelNodeSetParams(exec, in_child, &other));
    OK(cuGraphExecKernelNodeSetParams(exec, inner, &other));
    const CUgraphNode later = step(graph, {}, value, 1);
    ANSWERS(kBad, cuGraphExecKernelNodeSetParams(exec, later, &other));
    ANSWERS(kBad, cuGraphNodeSetEnabled(exec, later, 0));
    OK(cuGraphDestroyNode(later));
    ANSWERS(kBad, cuGraphExecKernelNodeSetParams(exec, later, &other));
    exec.run();
    EQUAL(value.get(), 6u);
}

LAW(GraphExec, ADisabledNodeDoesNothingButKeepsTheOrder) {
    Value value;
    const Graph graph;
    const CUgraphNode a = step(graph, {}, value, 1), b = step(graph, {a}, value, 2);
    step(graph, {b}, value, 3);
    const CUgraphNode h = host_node(graph, {}, [](void*) {}, nullptr);
    const Exec exec(graph);
    OK(cuGraphNodeSetEnabled(exec, b, 0));
    unsigned enabled = 9;
    OK(cuGraphNodeGetEnabled(exec, b, &enabled));
    EQUAL(enabled, 0u);
    exec.run();
    EQUAL(value.get(), fingerprint({1, 3}));
    Step other("affine", value, 31, 7);
    OK(cuGraphExecKernelNodeSetParams(exec, b, &other));  // stays disabled
    value.set(0);
    exec.run();
    EQUAL(value.get(), fingerprint({1, 3}));
    OK(cuGraphNodeSetEnabled(exec, b, 5));
    value.set(0);
    exec.run();
    EQUAL(value.get(), fingerprint({1, 7, 3}));
    ANSWERS(kBad, cuGraphNodeSetEnabled(exec, h, 0));
    ANSWERS(kBad, cuGraphNodeGetEnabled(exec, h, &enabled));
    ANSWERS(kBad, cuGraphNodeGetEnabled(exec, b, nullptr));
}

LAW(GraphExec, ExecutablesOfOneGraphAreIndependent) {
    Value one, two;
    const Graph graph;
    const CUgraphNode a = step(graph, {}, one, 1);
    const Exec first(graph), second(graph);
    Step other("affine", two, 31, 5);
    OK(cuGraphExecKernelNodeSetParams(second, a, &other));
    first.run();
    second.run();
    CHECK(one.get() == 1 && two.get() == 5);
}

LAW(GraphExec, ManyThreadsLaunchAndChangeExecutablesAtOnce) {
    constexpr int kThreads = 8, kLaunches = 200;
    Value shared;
    const Graph common;
    step(common, {}, shared, 0);
    KernelCall<CUdeviceptr, std::uint64_t, std::uint64_t> count("affine", shared, 1, 1);
    OK(cuGraphKernelNodeSetParams(nodes_of(common)[0], &count));
    const Exec exec(common);
    std::atomic<int> broken{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
            try {
                Value own;
                Stream stream;
                const Graph graph;
                const CUgraphNode node = step(graph, {}, own, 1);
                const Exec mine(graph);
                std::uint64_t expected = 0;
                for (int launch = 0; launch < kLaunches; ++launch) {
                    Step other("affine", own, 3, static_cast<std::uint64_t>(launch));
                    OK(cuGraphExecKernelNodeSetParams(mine, node, &other));
                    OK(cuGraphLaunch(mine, stream));
                    OK(cuGraphLaunch(exec, stream));
                    expected = expected * 3 + static_cast<std::uint64_t>(launch);
                }
                OK(cuStreamSynchronize(stream));
                EQUAL(own.get(), expected);
            } catch (const check::Failure&) {
                broken.fetch_add(1);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EQUAL(broken.load(), 0);
    EQUAL(shared.get(), static_cast<std::uint64_t>(kThreads * kLaunches));
}
