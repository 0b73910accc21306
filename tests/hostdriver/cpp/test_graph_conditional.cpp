// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of conditional nodes.
#include <atomic>

#include "graph_rig.hpp"

using namespace rig;

namespace {

const auto kBad = CUDA_ERROR_INVALID_VALUE;
constexpr auto kIf = CU_GRAPH_COND_TYPE_IF;
constexpr auto kWhile = CU_GRAPH_COND_TYPE_WHILE;
constexpr auto kSwitch = CU_GRAPH_COND_TYPE_SWITCH;

CUresult try_instantiate(CUgraph graph, CUgraphInstantiateResult* why, CUgraphNode* node) {
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    CUgraphExec exec = nullptr;
    const CUresult result = cuGraphInstantiateWithParams(&exec, graph, &params);
    if (result == CUDA_SUCCESS) OK(cuGraphExecDestroy(exec));
    *why = params.result_out;
    *node = params.hErrNode_out;
    return result;
}

}  // namespace

LAW(GraphConditional, IfRunsOneBodyOrTheOther) {
    for (const unsigned value : {0u, 1u, 7u, 0xffffffffu}) {
        for (const unsigned bodies : {1u, 2u}) {
            Value out(9);
            const Graph graph;
            const Conditional node = conditional(graph, {}, condition(graph, value), kIf, bodies);
            for (unsigned i = 0; i < bodies; ++i) step(node.bodies[i], {}, out, i + 1);
            step(graph, {node.node}, out, 5);
            Exec(graph).run();
            const std::uint64_t before = value != 0 ? 9 * 31 + 1 : bodies == 2 ? 9 * 31 + 2 : 9;
            EQUAL(out.get(), before * 31 + 5);
        }
    }
}

LAW(GraphConditional, SwitchRunsTheBodyOfItsValue) {
    for (unsigned value = 0; value < 7; ++value) {
        Value out;
        const Graph graph;
        const Conditional node = conditional(graph, {}, condition(graph, value), kSwitch, 5);
        for (unsigned i = 0; i < 5; ++i)
            if (i != 3) step(node.bodies[i], {}, out, i + 1);  // body 3 stays empty
        Exec(graph).run();
        EQUAL(out.get(), value < 5 && value != 3 ? value + 1 : 0);
    }
}

LAW(GraphConditional, WhileRunsUntilItsConditionIsZero) {
    Value counter(5), out;
    const Graph graph;
    const CUgraphConditionalHandle handle = condition(graph, 1);
    const Conditional loop = conditional(graph, {}, handle, kWhile);
    const CUgraphNode body = step(loop.bodies[0], {}, out, 1);
    kernel_node(loop.bodies[0], {body}, "count_down", static_cast<CUdeviceptr>(counter), handle);
    const Exec exec(graph);
    exec.run();
    EQUAL(out.get(), fingerprint({1, 1, 1, 1, 1}));
    counter.set(2);  // the next launch assigns the default again
    out.set(0);
    exec.run();
    EQUAL(out.get(), fingerprint({1, 1}));
}

LAW(GraphConditional, ADefaultOfZeroMeansNoIterationAtAll) {
    Value out;
    const Graph graph;
    const Conditional loop = conditional(graph, {}, condition(graph, 0), kWhile);
    step(loop.bodies[0], {}, out, 1);
    Exec(graph).run();
    EQUAL(out.get(), 0u);
}

LAW(GraphConditional, DefaultsAreAssignedWhenTheOutermostGraphIsLaunchedOnly) {
    // The inner loop leaves its condition at zero. Only a kernel sets it for the second pass of the outer loop.
    for (const bool set_again : {false, true}) {
        Value outer(3), inner(2), passes;
        const Graph graph;
        const CUgraphConditionalHandle outer_handle = condition(graph, 1), inner_handle = condition(graph, 1);
        const Conditional loop = conditional(graph, {}, outer_handle, kWhile);
        Nodes before;
        before.push_back(memset_node(loop.bodies[0], {}, inner, 2, 4, 1));
        if (set_again) before.push_back(kernel_node(loop.bodies[0], {}, "set_condition", inner_handle, 1u));
        const Conditional nested = conditional(loop.bodies[0], before, inner_handle, kWhile);
        const CUgraphNode pass = kernel_node(nested.bodies[0], {}, "affine", static_cast<CUdeviceptr>(passes),
                                             std::uint64_t{1}, std::uint64_t{1});
        kernel_node(nested.bodies[0], {pass}, "count_down", static_cast<CUdeviceptr>(inner), inner_handle);
        kernel_node(loop.bodies[0], {nested.node}, "count_down", static_cast<CUdeviceptr>(outer), outer_handle);
        Exec(graph).run();
        EQUAL(passes.get(), set_again ? 6u : 2u);
    }
}

LAW(GraphConditional, NestsToAnyDepth) {
    // while { if { while { switch { child graph } } } }, with a step at every level.
    Value out, outer(2), inner(2);
    const Graph graph, child;
    step(child, {}, out, 6);
    const CUgraphConditionalHandle a = condition(graph, 1), b = condition(graph, 1), c = condition(graph, 0),
                                   d = condition(graph, 1);
    const Conditional loop = conditional(graph, {}, a, kWhile);
    const CUgraphNode first = step(loop.bodies[0], {}, out, 1);
    const Conditional branch = conditional(loop.bodies[0], {first}, b, kIf);
    const CUgraphNode second = step(branch.bodies[0], {}, out, 2);
    const CUgraphNode refill = memset_node(branch.bodies[0], {second}, inner, 2, 4, 1);
    const CUgraphNode arm = kernel_node(branch.bodies[0], {refill}, "set_condition", c, 1u);
    const Conditional nested = conditional(branch.bodies[0], {arm}, c, kWhile);
    const CUgraphNode third = step(nested.bodies[0], {}, out, 3);
    const Conditional choice = conditional(nested.bodies[0], {third}, d, kSwitch, 2);
    child_node(choice.bodies[1], {}, child);
    kernel_node(nested.bodies[0], {choice.node}, "count_down", static_cast<CUdeviceptr>(inner), c);
    const CUgraphNode last = step(branch.bodies[0], {nested.node}, out, 4);
    static_cast<void>(last);
    kernel_node(loop.bodies[0], {branch.node}, "count_down", static_cast<CUdeviceptr>(outer), a);
    Exec(graph).run();
    EQUAL(out.get(), fingerprint({1, 2, 3, 6, 3, 6, 4, 1, 2, 3, 6, 3, 6, 4}));
}

LAW(GraphConditional, FortyLevelsDeepIsNoDifferentFromOne) {
    Value out;
    const Graph graph;
    CUgraph at = graph;
    for (unsigned depth = 0; depth < 40; ++depth) {
        const CUgraphNode node = step(at, {}, out, depth % 7);
        at = conditional(at, {node}, condition(graph, 1), kIf).bodies[0];
    }
    step(at, {}, out, 5);
    Exec(graph).run();
    std::uint64_t expected = 0;
    for (unsigned depth = 0; depth < 40; ++depth) expected = expected * 31 + depth % 7;
    EQUAL(out.get(), expected * 31 + 5);
}

LAW(GraphConditional, BodiesWithParallelBranchesJoin) {
    Value counter(50), left, right, joined;
    const Graph graph;
    const CUgraphConditionalHandle handle = condition(graph, 1);
    const CUgraph body = conditional(graph, {}, handle, kWhile).bodies[0];
    const auto add_one = [&](const Nodes& after, const Value& value) {
        return kernel_node(body, after, "affine", static_cast<CUdeviceptr>(value), std::uint64_t{1}, std::uint64_t{1});
    };
    const CUgraphNode start = empty_node(body);
    const CUgraphNode a = add_one({add_one({start}, left)}, left), b = add_one({start}, right);
    const CUgraphNode join = add_one({a, b}, joined);
    kernel_node(body, {join}, "count_down", static_cast<CUdeviceptr>(counter), handle);
    Exec(graph).run();
    EQUAL(left.get(), 100u);
    EQUAL(right.get(), 50u);
    EQUAL(joined.get(), 50u);
}

LAW(GraphConditional, RefusesMisuse) {
    const Graph graph, other;
    Conditional added;
    const CUgraphConditionalHandle handle = condition(graph, 0);
    ANSWERS(kBad, add_conditional(other, {}, handle, kIf, 1, &added));
    ANSWERS(kBad, add_conditional(graph, {}, 0, kIf, 1, &added));
    ANSWERS(kBad, add_conditional(graph, {}, 12345, kIf, 1, &added));
    ANSWERS(kBad, add_conditional(graph, {}, handle + (1ull << 32), kIf, 1, &added));
    ANSWERS(kBad, add_conditional(graph, {}, handle, kIf, 0, &added));
    ANSWERS(kBad, add_conditional(graph, {}, handle, kIf, 3, &added));
    ANSWERS(kBad, add_conditional(graph, {}, handle, kWhile, 2, &added));
    ANSWERS(kBad, add_conditional(graph, {}, handle, kSwitch, 0, &added));
    OK(add_conditional(graph, {}, handle, kIf, 2, &added));
    ANSWERS(kBad, add_conditional(graph, {}, handle, kIf, 1, &added));
    EQUAL(nodes_of(graph).size(), 1u);
    ANSWERS(kBad, cuGraphDestroy(added.bodies[0]));
    CUgraphConditionalHandle unused = 0;
    ANSWERS(kBad, cuGraphConditionalHandleCreate(&unused, graph, current(), 0, 2));
    ANSWERS(kBad, cuGraphConditionalHandleCreate(nullptr, graph, current(), 0, 0));
    ANSWERS(CUDA_ERROR_INVALID_CONTEXT, cuGraphConditionalHandleCreate(&unused, graph, nullptr, 0, 0));
}

LAW(GraphConditional, RestrictsWhatItsGraphCanBeUsedFor) {
    const Graph graph, parent;
    conditional(graph, {}, condition(graph, 0), kIf);
    CUgraph clone = nullptr;
    CUgraphNode node = nullptr;
    ANSWERS(CUDA_ERROR_NOT_SUPPORTED, cuGraphClone(&clone, graph));
    ANSWERS(CUDA_ERROR_NOT_SUPPORTED, cuGraphAddChildGraphNode(&node, parent, nullptr, 0, graph));
    Exec exec(graph);
    CUgraphExec second = nullptr;
    ANSWERS(CUDA_ERROR_NOT_SUPPORTED, cuGraphInstantiate(&second, graph, 0));
    exec.destroy();
    Exec third(graph);
}

LAW(GraphConditional, AHandleWithoutANodeCannotBeInstantiated) {
    const Graph graph;
    condition(graph, 1);
    CUgraphInstantiateResult why;
    CUgraphNode node = nullptr;
    ANSWERS(kBad, try_instantiate(graph, &why, &node));
    EQUAL(why, CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED);
}

LAW(GraphConditional, BodiesHoldOnlySomeKinds) {
    std::atomic<int> calls{0};
    const CUhostFn count = [](void* data) { static_cast<std::atomic<int>*>(data)->fetch_add(1); };
    const Graph graph, child;
    host_node(child, {}, count, &calls);
    const CUgraph body = conditional(graph, {}, condition(graph, 1), kIf).bodies[0];
    const auto refused_with = [&](CUgraphNode bad) {
        CUgraphInstantiateResult why;
        CUgraphNode node = nullptr;
        ANSWERS(kBad, try_instantiate(graph, &why, &node));
        EQUAL(why, CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED);
        CHECK(node != nullptr);
        OK(cuGraphDestroyNode(bad));
    };
    Event event;
    refused_with(host_node(body, {}, count, &calls));
    refused_with(record_node(body, {}, event));
    refused_with(wait_node(body, {}, event));
    refused_with(child_node(body, {}, child));
    Exec(graph).run();
    EQUAL(calls.load(), 0);
}

LAW(GraphConditional, NodesInBodiesAreSetInTheExecutable) {
    Value out;
    const Graph graph;
    const Conditional node = conditional(graph, {}, condition(graph, 1), kIf);
    const CUgraphNode inner = step(node.bodies[0], {}, out, 1);
    const Exec exec(graph);
    KernelCall<CUdeviceptr, std::uint64_t, std::uint64_t> other("affine", out, 31, 8);
    OK(cuGraphExecKernelNodeSetParams(exec, inner, &other));
    exec.run();
    EQUAL(out.get(), 8u);
    OK(cuGraphNodeSetEnabled(exec, inner, 0));
    exec.run();
    EQUAL(out.get(), 8u);
    ANSWERS(kBad, cuGraphNodeSetEnabled(exec, node.node, 0));
}

LAW_ALONE(GraphConditional, SettingAStaleHandleIsAFault) {
    CUgraphConditionalHandle stale = 0;
    {
        const Graph gone;
        stale = condition(gone, 0);
    }
    const Graph graph;
    kernel_node(graph, {}, "set_condition", stale, 1u);
    const Exec exec(graph);
    OK(cuGraphLaunch(exec, nullptr));
    ANSWERS(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(nullptr));
}
