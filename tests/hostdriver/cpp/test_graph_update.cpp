// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of cuGraphExecUpdate: the changes that it applies, the changes that it refuses, and the reasons.
#include "graph_rig.hpp"

using namespace rig;

namespace {

const auto kFailure = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;

struct Answer {
    CUresult result;
    CUgraphExecUpdateResultInfo info;
};

Answer update(CUgraphExec exec, CUgraph graph) {
    Answer answer{};
    answer.result = cuGraphExecUpdate(exec, graph, &answer.info);
    return answer;
}

void refused(const Answer& answer, CUgraphExecUpdateResult why, CUgraphNode node) {
    EQUAL(answer.result, kFailure);
    EQUAL(answer.info.result, why);
    EQUAL(answer.info.errorNode, node);
}

}  // namespace

LAW(GraphUpdate, TakesOverAllParameters) {
    Value one, two, copy;
    const auto build = [&](CUgraph graph, const Value& value, std::uint64_t digit) {
        const Graph child;
        step(child, {}, value, digit);
        const CUgraphNode a = child_node(graph, {}, child);
        const CUgraphNode b = step(graph, {a}, value, digit + 1);
        memcpy_node(graph, {b}, copy, value, 8);
    };
    Graph graph, other;
    build(graph, one, 1);
    build(other, two, 5);
    const Exec exec(graph);
    const Answer answer = update(exec, other);
    OK(answer.result);
    EQUAL(answer.info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    other.destroy();
    exec.run();
    EQUAL(one.get(), 0u);
    EQUAL(two.get(), fingerprint({5, 6}));
    EQUAL(copy.get(), two.get());
    // The nodes of the original graph still identify the executable's nodes.
    KernelCall<CUdeviceptr, std::uint64_t, std::uint64_t> call("affine", one, 31, 9);
    OK(cuGraphExecKernelNodeSetParams(exec, nodes_of(graph)[1], &call));
    exec.run();
    EQUAL(one.get(), 9u);
}

LAW(GraphUpdate, RefusesAnotherTopology) {
    const auto changed = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    Value value;
    const Graph graph;
    const CUgraphNode a = step(graph, {}, value, 1), b = step(graph, {a}, value, 2);
    step(graph, {a, b}, value, 3);
    const Exec exec(graph);
    {
        const Graph more;
        const CUgraphNode x = step(more, {}, value, 1), y = step(more, {x}, value, 2), z = step(more, {x, y}, value, 3);
        step(more, {z}, value, 4);
        refused(update(exec, more), changed, nullptr);
    }
    {
        const Graph fewer_edges;
        const CUgraphNode x = step(fewer_edges, {}, value, 1), y = step(fewer_edges, {x}, value, 2);
        const CUgraphNode z = step(fewer_edges, {y}, value, 3);
        refused(update(exec, fewer_edges), changed, z);
    }
    {
        const Graph two_ends;
        const CUgraphNode x = step(two_ends, {}, value, 1);
        const CUgraphNode y = step(two_ends, {x}, value, 2);
        step(two_ends, {x}, value, 3);
        refused(update(exec, two_ends), changed, y);
    }
    {
        // The counts are equal, but the middle of the triangle is reversed.
        const Graph crossed;
        const CUgraphNode x = step(crossed, {}, value, 1), y = step(crossed, {x}, value, 2);
        const CUgraphNode z = step(crossed, {y, x}, value, 3);
        const Answer answer = update(exec, crossed);
        static_cast<void>(z);
        EQUAL(answer.result, kFailure);
        EQUAL(answer.info.result, changed);
        CHECK(answer.info.errorNode != nullptr);
    }
    exec.run();
    EQUAL(value.get(), fingerprint({1, 2, 3}));
}

LAW(GraphUpdate, RefusesAnotherKindOfNode) {
    Value value;
    const Graph graph, other;
    step(graph, {}, value, 1);
    const CUgraphNode node = memset_node(other, {}, value, 1, 4, 1);
    const Exec exec(graph);
    refused(update(exec, other), CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, node);
}

LAW(GraphUpdate, RefusesParametersThatAnExecutableCannotChange) {
    Buffer<std::uint32_t> buffer(64), second(64);
    const auto fill = [&](const CUDA_MEMSET_NODE_PARAMS& before, const CUDA_MEMSET_NODE_PARAMS& after) {
        const Graph graph, other;
        CUgraphNode node = nullptr;
        OK(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &before, current()));
        OK(cuGraphAddMemsetNode(&node, other, nullptr, 0, &after, current()));
        const Exec exec(graph);
        const Answer answer = update(exec, other);
        if (answer.result != CUDA_SUCCESS) refused(answer, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, node);
        return answer.result;
    };
    OK(fill(memset_params(buffer, 1, 4, 4), memset_params(second, 2, 4, 8)));
    OK(fill(memset_params(buffer, 1, 4, 4), memset_params(buffer, 1, 2, 8)));
    ANSWERS(kFailure, fill(memset_params(buffer, 1, 4, 4), memset_params(buffer, 1, 4, 4, 2, 32)));
    OK(fill(memset_params(buffer, 1, 4, 4, 2, 32), memset_params(second, 3, 4, 4, 2, 32)));
    ANSWERS(kFailure, fill(memset_params(buffer, 1, 4, 4, 2, 32), memset_params(buffer, 1, 4, 2, 2, 32)));

    const Graph graph, other;
    memcpy_node(graph, {}, buffer, second, 16);
    CUDA_MEMCPY3D to_host = copy_params(buffer, second, 16);
    std::uint32_t pageable[4];
    to_host.dstMemoryType = CU_MEMORYTYPE_HOST;
    to_host.dstHost = pageable;
    CUgraphNode node = nullptr;
    OK(cuGraphAddMemcpyNode(&node, other, nullptr, 0, &to_host, current()));
    const Exec exec(graph);
    refused(update(exec, other), CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, node);
}

LAW(GraphUpdate, RefusesAttributesThatAnExecutableCannotChange) {
    const Graph graph, other;
    kernel_node(graph, {}, "nothing");
    const CUgraphNode node = kernel_node(other, {}, "nothing");
    const Exec plain(graph), by_priority(graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
    CUkernelNodeAttrValue value{};
    value.priority = -1;
    OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    OK(update(plain, other).result);
    refused(update(by_priority, other), CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, node);
    value = {};
    value.cooperative = 1;
    OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value));
    refused(update(plain, other), CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, node);
}

LAW(GraphUpdate, IsAllOrNothing) {
    Value value;
    const Graph graph, other;
    step(graph, {step(graph, {}, value, 1)}, value, 2);
    memset_node(other, {step(other, {}, value, 7)}, value, 1, 4, 1);
    const Exec exec(graph);
    EQUAL(update(exec, other).result, kFailure);
    exec.run();
    EQUAL(value.get(), fingerprint({1, 2}));
}

LAW(GraphUpdate, LeavesLaunchesInFlightAsTheyAre) {
    Gate gate;
    Value value;
    Stream stream;
    const auto build = [&](CUgraph graph, std::uint64_t digit) {
        step(graph, {kernel_node(graph, {}, "spin", gate.flag())}, value, digit);
    };
    const Graph graph, other;
    build(graph, 1);
    build(other, 2);
    const Exec exec(graph);
    OK(cuGraphLaunch(exec, stream));
    OK(update(exec, other).result);
    OK(cuGraphLaunch(exec, stream));
    gate.open();
    OK(cuStreamSynchronize(stream));
    EQUAL(value.get(), fingerprint({1, 2}));
}

LAW(GraphUpdate, GoesIntoConditionalBodiesWithTheirHandlesAndDefaults) {
    Value value, counter;
    const auto build = [&](CUgraph graph, unsigned initial, std::uint64_t digit) {
        const CUgraphConditionalHandle handle = condition(graph, initial);
        const Conditional loop = conditional(graph, {}, handle, CU_GRAPH_COND_TYPE_WHILE);
        const CUgraphNode node = step(loop.bodies[0], {}, value, digit);
        kernel_node(loop.bodies[0], {node}, "count_down", static_cast<CUdeviceptr>(counter), handle);
        return loop.node;
    };
    const Graph graph, other, branch;
    build(graph, 0, 1);
    build(other, 1, 2);
    const Exec exec(graph);
    counter.set(3);
    exec.run();
    EQUAL(value.get(), 0u);
    OK(update(exec, other).result);
    exec.run();
    EQUAL(value.get(), fingerprint({2, 2, 2}));
    const Conditional two = conditional(branch, {}, condition(branch, 1), CU_GRAPH_COND_TYPE_IF);
    refused(update(exec, branch), CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED, two.node);
}
