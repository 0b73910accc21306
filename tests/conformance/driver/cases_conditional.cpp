// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Conditional handles, conditional nodes, their bodies, and their execution.
#include "cases.hpp"

namespace conf {

namespace {

constexpr auto kIf = CU_GRAPH_COND_TYPE_IF;
constexpr auto kWhile = CU_GRAPH_COND_TYPE_WHILE;
constexpr auto kSwitch = CU_GRAPH_COND_TYPE_SWITCH;

void host_nothing(void*) {}

CUresult add_conditional(CUgraph graph, CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                         unsigned size) {
    CUgraphNodeParams params = conditional_params(handle, type, size);
    CUgraphNode node = nullptr;
    return drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params);
}

void add_handle_cases(Cases& cases) {
    cases.add("condition/create_arguments", [](Record& r) {
        const Graph graph = new_graph();
        CUgraphConditionalHandle handle = 0;
        r("null output", drv.cuGraphConditionalHandleCreate(nullptr, graph, context(), 0, 0));
        r("null graph", drv.cuGraphConditionalHandleCreate(&handle, nullptr, context(), 0, 0));
        r("null ctx", drv.cuGraphConditionalHandleCreate(&handle, graph, nullptr, 0, 0));
        r("handle is set", handle != 0);
        r("flags 2", drv.cuGraphConditionalHandleCreate(&handle, graph, context(), 0, 2));
        r("default without flag", drv.cuGraphConditionalHandleCreate(&handle, graph, context(), 5, 0));
        r("default 2^32-1", drv.cuGraphConditionalHandleCreate(&handle, graph, context(), 0xFFFFFFFFu, 1));
    });
    cases.add("condition/unused_handle", [](Record& r) {
        const Graph graph = new_graph();
        plain_kernel_node(graph);
        new_handle(graph, 1);
        ask_instantiate(r, "instantiate", graph);
        CUgraphExec exec = nullptr;
        r("with flags", drv.cuGraphInstantiateWithFlags(&exec, graph, 0));
        if (exec != nullptr) drv.cuGraphExecDestroy(exec);
        CUgraph clone = nullptr;
        r("clone", drv.cuGraphClone(&clone, graph));
        if (clone != nullptr) drv.cuGraphDestroy(clone);
        const Graph parent = new_graph();
        CUgraphNode node = nullptr;
        r("as child", drv.cuGraphAddChildGraphNode(&node, parent, nullptr, 0, graph));
    });
    cases.add("condition/used_twice", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphConditionalHandle handle = new_handle(graph, 1);
        r("first", add_conditional(graph, handle, kIf, 1));
        r("second", add_conditional(graph, handle, kIf, 1));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("condition/of_a_foreign_graph", [](Record& r) {
        const Graph one = new_graph(), two = new_graph();
        const CUgraphConditionalHandle handle = new_handle(one, 1);
        r("add", add_conditional(two, handle, kIf, 1));
        r("nodes", node_count(two));
    });
    cases.add("condition/of_an_ancestor_graph", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphConditionalHandle outer = new_handle(graph, 1), inner = new_handle(graph, 1);
        const Conditional first = conditional_node(graph, outer, kIf, 1);
        r("in the body", add_conditional(first.bodies[0], inner, kIf, 1));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("condition/created_on_the_body", [](Record& r) {
        const Graph graph = new_graph();
        const Conditional first = conditional_node(graph, new_handle(graph, 1), kIf, 1);
        CUgraphConditionalHandle inner = 0;
        r("create", drv.cuGraphConditionalHandleCreate(&inner, first.bodies[0], context(), 1, 1));
        r("used in the body", add_conditional(first.bodies[0], inner, kIf, 1));
        CUgraphConditionalHandle other = 0;
        must(drv.cuGraphConditionalHandleCreate(&other, first.bodies[0], context(), 1, 1), "create");
        r("used in the parent", add_conditional(graph, other, kIf, 1));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("condition/own_bodys_handle", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphConditionalHandle handle = new_handle(graph, 1);
        const Conditional first = conditional_node(graph, handle, kWhile, 1);
        r("again in its own body", add_conditional(first.bodies[0], handle, kIf, 1));
    });
    cases.add("condition/of_a_destroyed_node", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphConditionalHandle handle = new_handle(graph, 1);
        const Conditional first = conditional_node(graph, handle, kIf, 1);
        r("destroy", drv.cuGraphDestroyNode(first.node));
        ask_instantiate(r, "instantiate", graph);
        r("use again", add_conditional(graph, handle, kIf, 1));
        ask_instantiate(r, "instantiate again", graph);
        r("second time", add_conditional(graph, handle, kIf, 1));
    });
    cases.add("condition/garbage_handle", [](Record& r) {
        const Graph graph = new_graph();
        r("0", add_conditional(graph, 0, kIf, 1));
        r("12345", add_conditional(graph, 12345, kIf, 1));
        r("all ones", add_conditional(graph, ~0ull, kIf, 1));
        r("nodes", node_count(graph));
    });
}

void add_node_cases_of_this_file(Cases& cases) {
    cases.add("conditional_node/sizes", [](Record& r) {
        const auto ask = [&](const char* label, CUgraphConditionalNodeType type, unsigned size) {
            const Graph graph = new_graph();
            r(label, add_conditional(graph, new_handle(graph, 1), type, size));
        };
        ask("if 0", kIf, 0);
        ask("if 1", kIf, 1);
        ask("if 2", kIf, 2);
        ask("if 3", kIf, 3);
        ask("while 0", kWhile, 0);
        ask("while 1", kWhile, 1);
        ask("while 2", kWhile, 2);
        ask("switch 0", kSwitch, 0);
        ask("switch 1", kSwitch, 1);
        ask("switch 100", kSwitch, 100);
        ask("unknown type", static_cast<CUgraphConditionalNodeType>(7), 1);
    });
    cases.add("conditional_node/ctx", [](Record& r) {
        const Graph graph = new_graph();
        CUgraphNodeParams params = conditional_params(new_handle(graph, 1), kIf, 1);
        params.conditional.ctx = nullptr;
        CUgraphNode node = nullptr;
        r("null ctx", drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
    });
    cases.add("conditional_node/add_details", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode before = empty_node(graph);
        CUgraphNodeParams params = conditional_params(new_handle(graph, 1), kSwitch, 3);
        CUgraph mine[3] = {};
        params.conditional.phGraph_out = mine;
        CUgraphNode node = nullptr;
        r("add", drv.cuGraphAddNode(&node, graph, &before, nullptr, 1, &params));
        r("array is the driver's", params.conditional.phGraph_out != mine);
        r("own array untouched", mine[0] == nullptr && mine[2] == nullptr);
        CUgraph* bodies = params.conditional.phGraph_out;
        r("bodies differ", bodies[0] != bodies[1] && bodies[1] != bodies[2]);
        r("body is empty", node_count(bodies[1]));
        r("destroy a body", drv.cuGraphDestroy(bodies[0]));
        CUgraphNodeType type{};
        must(drv.cuGraphNodeGetType(node, &type), "type");
        r("type", type);
        CUgraph child = nullptr;
        r("child getter", drv.cuGraphChildGraphNodeGetGraph(node, &child));
        r("set params", drv.cuGraphNodeSetParams(node, &params));
        ask_instantiate(r, "instantiate", graph);
        CUgraph clone = nullptr;
        r("clone", drv.cuGraphClone(&clone, graph));
        if (clone != nullptr) drv.cuGraphDestroy(clone);
        r("clone a body", drv.cuGraphClone(&clone, bodies[1]));
        CUgraphExec exec = nullptr;
        r("instantiate a body", drv.cuGraphInstantiateWithFlags(&exec, bodies[1], 0));
        r("destroy the node", drv.cuGraphDestroyNode(node));
        r("nodes", node_count(graph));
    });
    cases.add("conditional_node/in_a_child_graph", [](Record& r) {
        const Graph graph = new_graph(), child = new_graph();
        conditional_node(child, new_handle(child, 1), kIf, 1);
        CUgraphNode node = nullptr;
        r("cloned child", drv.cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
        if (node != nullptr) ask_instantiate(r, "instantiate", graph);
    });
    cases.add("conditional_node/in_a_moved_child_graph", [](Record& r) {
        const Graph graph = new_graph();
        Graph child = new_graph();
        conditional_node(child, new_handle(child, 1), kIf, 1);
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_GRAPH;
        params.graph.graph = child;
        params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
        CUgraphNode node = nullptr;
        r("moved child", drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
        if (node == nullptr) return;
        child.release();
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("conditional_node/second_exec", [](Record& r) {
        const Graph graph = new_graph();
        conditional_node(graph, new_handle(graph, 0), kIf, 1);
        CUgraphExec first = nullptr;
        r("first", drv.cuGraphInstantiateWithFlags(&first, graph, 0));
        ask_instantiate(r, "second", graph);
        if (first != nullptr) r("destroy", drv.cuGraphExecDestroy(first));
        ask_instantiate(r, "third", graph);
    });
    cases.add("conditional_node/edits_after", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph), b = empty_node(graph, {a});
        conditional_node(graph, new_handle(graph, 0), kIf, 1);
        r("remove an edge", drv.cuGraphRemoveDependencies(graph, &a, &b, nullptr, 1));
        r("destroy a node", drv.cuGraphDestroyNode(b));
    });
    cases.add("conditional_node/device_launch_flag", [](Record& r) {
        const Graph graph = new_graph();
        conditional_node(graph, new_handle(graph, 0), kIf, 1);
        plain_kernel_node(graph);
        ask_instantiate(r, "device launch", graph, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    });
}

void add_body_cases(Cases& cases) {
    cases.add("body/kinds_that_are_allowed", [](Record& r) {
        const Graph graph = new_graph(), child = new_graph();
        Ints a, b;
        plain_kernel_node(child);
        const Conditional outer = conditional_node(graph, new_handle(graph, 1), kIf, 1);
        const CUgraph body = outer.bodies[0];
        empty_node(body);
        plain_kernel_node(body);
        memset_node(body, a, 4);
        copy_node(body, b, a, 4);
        child_node(body, child);
        conditional_node(body, new_handle(graph, 0), kIf, 1);
        ask_instantiate(r, "instantiate", graph);
        run_graph(graph);
        r("a", a.get());
    });
    const auto refused = [&](const std::string& name, CUresult (*add)(CUgraph)) {
        cases.add("body/" + name, [add](Record& r) {
            const Graph graph = new_graph();
            const Conditional outer = conditional_node(graph, new_handle(graph, 1), kIf, 1);
            r("add", add(outer.bodies[0]));
            r("nodes in body", node_count(outer.bodies[0]));
            ask_instantiate(r, "instantiate", graph);
        });
    };
    refused("alloc_node", [](CUgraph body) {
        CUgraphNode node = nullptr;
        CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(64);
        return drv.cuGraphAddMemAllocNode(&node, body, nullptr, 0, &params);
    });
    refused("host_node", [](CUgraph body) {
        CUgraphNode node = nullptr;
        const CUDA_HOST_NODE_PARAMS params{host_nothing, nullptr};
        return drv.cuGraphAddHostNode(&node, body, nullptr, 0, &params);
    });
    refused("event_record_node", [](CUgraph body) {
        CUgraphNode node = nullptr;
        return drv.cuGraphAddEventRecordNode(&node, body, nullptr, 0, new_event().release());
    });
    refused("event_wait_node", [](CUgraph body) {
        CUgraphNode node = nullptr;
        return drv.cuGraphAddEventWaitNode(&node, body, nullptr, 0, new_event().release());
    });
    refused("child_with_a_host_node", [](CUgraph body) {
        const Graph child = new_graph();
        host_node(child, host_nothing, nullptr);
        CUgraphNode node = nullptr;
        return drv.cuGraphAddChildGraphNode(&node, body, nullptr, 0, child);
    });
    refused("copy_to_pinned_host", [](CUgraph body) {
        static Pinned pinned(4);
        static Ints source;
        CUgraphNode node = nullptr;
        const CUDA_MEMCPY3D params = copy_to_host_params(pinned.data(), source, 4);
        return drv.cuGraphAddMemcpyNode(&node, body, nullptr, 0, &params, context());
    });
    refused("copy_to_pageable_host", [](CUgraph body) {
        static int pageable[4];
        static Ints source;
        CUgraphNode node = nullptr;
        const CUDA_MEMCPY3D params = copy_to_host_params(pageable, source, 4);
        return drv.cuGraphAddMemcpyNode(&node, body, nullptr, 0, &params, context());
    });
    refused("null_condition_inside", [](CUgraph body) { return add_conditional(body, 0, kIf, 1); });
    cases.add("body/free_node", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode a = alloc_node(graph, 64, &address);
        const Conditional outer = conditional_node(graph, new_handle(graph, 1), kIf, 1, {a});
        CUgraphNode node = nullptr;
        r("add", drv.cuGraphAddMemFreeNode(&node, outer.bodies[0], nullptr, 0, address));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("body/edges_across", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = empty_node(graph);
        const Conditional outer = conditional_node(graph, new_handle(graph, 1), kIf, 2, {a});
        const CUgraphNode x = empty_node(outer.bodies[0]), y = empty_node(outer.bodies[1]);
        r("outside to body", drv.cuGraphAddDependencies(outer.bodies[0], &a, &x, nullptr, 1));
        r("body to body", drv.cuGraphAddDependencies(outer.bodies[0], &x, &y, nullptr, 1));
    });
}

// Records which bodies run. The counter of each case starts at 0.
void add_running_cases(Cases& cases) {
    cases.add("conditional_run/if_default", [](Record& r) {
        for (const unsigned value : {0u, 1u, 2u, 0xFFFFFFFFu}) {
            const Graph graph = new_graph();
            Ints out;
            const Conditional node = conditional_node(graph, new_handle(graph, value), kIf, 2);
            set_int_node(node.bodies[0], out, 1);
            set_int_node(node.bodies[1], out, 2);
            run_graph(graph);
            r("default " + std::to_string(value), out.get());
        }
    });
    cases.add("conditional_run/while_zero_times", [](Record& r) {
        const Graph graph = new_graph();
        Ints out;
        const CUgraphConditionalHandle handle = new_handle(graph, 0);
        const Conditional node = conditional_node(graph, handle, kWhile, 1);
        count_up_node(node.bodies[0], out, handle, 5);
        run_graph(graph);
        r("count", out.get());
    });
    cases.add("conditional_run/while_counts_and_relaunches", [](Record& r) {
        const Graph graph = new_graph();
        Ints out;
        const CUgraphConditionalHandle handle = new_handle(graph, 1);
        const Conditional node = conditional_node(graph, handle, kWhile, 1);
        count_up_node(node.bodies[0], out, handle, 5);
        const Exec exec = new_exec(graph);
        run(exec);
        r("count", out.get());
        run(exec);
        r("default again at the second launch: one more", out.get());
    });
    cases.add("conditional_run/without_default_after_a_setter", [](Record& r) {
        const Graph graph = new_graph();
        Ints out;
        const CUgraphConditionalHandle handle = new_handle(graph);
        const CUgraphNode setter = set_condition_node(graph, handle, 1);
        const Conditional node = conditional_node(graph, handle, kIf, 1, {setter});
        set_int_node(node.bodies[0], out, 3);
        run_graph(graph);
        r("out", out.get());
    });
    cases.add("conditional_run/value_without_default_stays_between_launches", [](Record& r) {
        const Graph graph = new_graph();
        Ints out, value(1, 1);
        const CUgraphConditionalHandle handle = new_handle(graph);
        CUdeviceptr address = value;
        CUgraphConditionalHandle given = handle;
        void* arguments[] = {&address, &given};
        const CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("condition_from"), arguments);
        const Conditional node = conditional_node(graph, handle, kIf, 1);
        mul_add_node(node.bodies[0], out, 1, 1);
        CUgraphNode setter = nullptr;
        must(drv.cuGraphAddKernelNode(&setter, graph, &node.node, 1, &params), "setter after the conditional");
        const Exec exec = new_exec(graph);
        run(exec);
        const int first = out.get();
        run(exec);
        r("second launch saw the first one's setter", out.get() - first);
    });
    cases.add("conditional_run/switch", [](Record& r) {
        for (const unsigned value : {0u, 1u, 2u, 3u, 4u, 99u}) {
            const Graph graph = new_graph();
            Ints out(1, -1);
            const Conditional node = conditional_node(graph, new_handle(graph, value), kSwitch, 3);
            for (int i = 0; i < 2; ++i) set_int_node(node.bodies[static_cast<size_t>(i)], out, i);  // branch 2 is empty
            run_graph(graph);
            r("value " + std::to_string(value), out.get());
        }
    });
    cases.add("conditional_run/default_is_assigned_at_the_outermost_launch_only", [](Record& r) {
        const Graph graph = new_graph();
        Ints inner_count, outer_count;
        const CUgraphConditionalHandle outer = new_handle(graph, 1), inner = new_handle(graph, 1);
        const Conditional loop = conditional_node(graph, outer, kWhile, 1);
        const Conditional nested = conditional_node(loop.bodies[0], inner, kWhile, 1);
        count_up_node(nested.bodies[0], inner_count, inner, 3);
        count_up_node(loop.bodies[0], outer_count, outer, 4, {nested.node});
        run_graph(graph);
        r("outer", outer_count.get());
        r("inner", inner_count.get());
    });
    cases.add("conditional_run/setter_in_a_body_of_another_node", [](Record& r) {
        const Graph graph = new_graph();
        Ints out;
        const CUgraphConditionalHandle first = new_handle(graph, 1), second = new_handle(graph, 0);
        const Conditional one = conditional_node(graph, first, kIf, 1);
        set_condition_node(one.bodies[0], second, 1);
        const Conditional two = conditional_node(graph, second, kIf, 1, {one.node});
        set_int_node(two.bodies[0], out, 8);
        run_graph(graph);
        r("out", out.get());
    });
    cases.add("conditional_run/body_order", [](Record& r) {
        const Graph graph = new_graph();
        Ints out(1, 1), count;
        const CUgraphConditionalHandle handle = new_handle(graph, 1);
        const Conditional loop = conditional_node(graph, handle, kWhile, 1);
        const CUgraph body = loop.bodies[0];
        const CUgraphNode a = mul_add_node(body, out, 3, 1), b = mul_add_node(body, out, 5, 2, {a});
        count_up_node(body, count, handle, 4, {b});
        mul_add_node(graph, out, 2, 7, {loop.node});
        run_graph(graph);
        r("out", out.get());
    });
    cases.add("conditional_run/nested_four_deep", [](Record& r) {
        const Graph graph = new_graph();
        Ints out;
        CUgraph at = graph;
        for (int i = 0; i < 4; ++i) at = conditional_node(at, new_handle(graph, 1), kIf, 1).bodies[0];
        set_int_node(at, out, 44);
        run_graph(graph);
        r("out", out.get());
    });
    cases.add("conditional_run/update_changes_the_default", [](Record& r) {
        const auto build = [](CUgraph graph, CUdeviceptr out, unsigned value) {
            const Conditional node = conditional_node(graph, new_handle(graph, value), kIf, 2);
            set_int_node(node.bodies[0], out, 1);
            set_int_node(node.bodies[1], out, 2);
        };
        Ints out;
        const Graph graph = new_graph(), other = new_graph();
        build(graph, out, 0);
        build(other, out, 1);
        const Exec exec = new_exec(graph);
        run(exec);
        r("before", out.get());
        CUgraphExecUpdateResultInfo info{};
        r("update", drv.cuGraphExecUpdate(exec, other, &info));
        r("result", info.result);
        run(exec);
        r("after", out.get());
    });
    cases.add("conditional_run/update_changes_the_body", [](Record& r) {
        Ints out;
        const auto build = [&](CUgraph graph, int value) {
            const Conditional node = conditional_node(graph, new_handle(graph, 1), kIf, 1);
            set_int_node(node.bodies[0], out, value);
        };
        const Graph graph = new_graph(), other = new_graph();
        build(graph, 1);
        build(other, 2);
        const Exec exec = new_exec(graph);
        CUgraphExecUpdateResultInfo info{};
        r("update", drv.cuGraphExecUpdate(exec, other, &info));
        r("result", info.result);
        run(exec);
        r("out", out.get());
    });
    cases.add("conditional_run/update_of_other_shapes", [](Record& r) {
        const Graph graph = new_graph();
        conditional_node(graph, new_handle(graph, 0), kIf, 1);
        const Exec exec = new_exec(graph);
        const auto ask = [&](const std::string& label, CUgraphConditionalNodeType type, unsigned size, bool filled) {
            const Graph other = new_graph();
            const Conditional node = conditional_node(other, new_handle(other, 0), type, size);
            if (filled) empty_node(node.bodies[0]);
            CUgraphExecUpdateResultInfo info{};
            r(label, drv.cuGraphExecUpdate(exec, other, &info));
            r(label + " result", info.result);
            r(label + " names its node", info.errorNode == node.node);
        };
        ask("same", kIf, 1, false);
        ask("if 2", kIf, 2, false);
        ask("while", kWhile, 1, false);
        ask("body with a node", kIf, 1, true);
    });
    cases.add("conditional_run/empty_bodies_run", [](Record& r) {
        const Graph graph = new_graph();
        Ints out;
        const Conditional node = conditional_node(graph, new_handle(graph, 1), kIf, 1);
        set_int_node(graph, out, 6, {node.node});
        run_graph(graph);
        r("out", out.get());
    });
    cases.add("conditional_run/exec_set_params_of_a_body_node", [](Record& r) {
        const Graph graph = new_graph();
        Ints out;
        const Conditional node = conditional_node(graph, new_handle(graph, 1), kIf, 1);
        const CUgraphNode inside = set_int_node(node.bodies[0], out, 1);
        const Exec exec = new_exec(graph);
        CUdeviceptr address = out;
        int value = 9;
        void* arguments[] = {&address, &value};
        const CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("set_int"), arguments);
        r("set", drv.cuGraphExecKernelNodeSetParams(exec, inside, &params));
        run(exec);
        r("out", out.get());
        r("disable", drv.cuGraphNodeSetEnabled(exec, inside, 0));
        r("enable the conditional", drv.cuGraphNodeSetEnabled(exec, node.node, 0));
    });
}

}  // namespace

void add_conditional_cases(Cases& cases) {
    add_handle_cases(cases);
    add_node_cases_of_this_file(cases);
    add_body_cases(cases);
    add_running_cases(cases);
}

}  // namespace conf
