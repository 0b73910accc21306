// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Changes of existing nodes: of a definition, through the generic call and through attributes. Also the error node of a
// whole update if the reason is inside a nested graph.

#include "cases.hpp"

namespace conf {

namespace {

void CUDA_CB do_nothing(void*) {}

CUgraphNodeParams of_type(CUgraphNodeType type) {
    CUgraphNodeParams params{};
    params.type = type;
    return params;
}

CUgraphNodeParams child_params(CUgraph child) {
    CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_GRAPH);
    params.graph.graph = child;
    return params;
}

CUresult set_child(CUgraphNode node, CUgraph child) {
    CUgraphNodeParams params = child_params(child);
    return drv.cuGraphNodeSetParams(node, &params);
}

CUgraph inner_of(CUgraphNode node) {
    CUgraph inner = nullptr;
    must(drv.cuGraphChildGraphNodeGetGraph(node, &inner), "inner graph");
    return inner;
}

CUgraphNode only_node(CUgraph graph) {
    CUgraphNode node = nullptr;
    size_t count = 1;
    must(drv.cuGraphGetNodes(graph, &node, &count), "nodes");
    return node;
}

CUresult set_cluster(CUgraphNode node, unsigned x) {
    CUkernelNodeAttrValue value{};
    value.clusterDim.x = x;
    value.clusterDim.y = value.clusterDim.z = x == 0 ? 0 : 1;
    return drv.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value);
}

unsigned cluster_of(CUgraphNode node) {
    CUkernelNodeAttrValue value{};
    must(drv.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value), "cluster");
    return value.clusterDim.x;
}

CUresult set_cooperative(CUgraphNode node, int cooperative) {
    CUkernelNodeAttrValue value{};
    value.cooperative = cooperative;
    return drv.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value);
}

int cooperative_of(CUgraphNode node) {
    CUkernelNodeAttrValue value{};
    must(drv.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value), "cooperative");
    return value.cooperative;
}

CUresult set_grid(CUgraphNode node, unsigned grid) {
    const CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("empty"), nullptr, grid, 32);
    return drv.cuGraphKernelNodeSetParams(node, &params);
}

void add_kernel_changes(Cases& cases) {
    cases.add("change/cluster_of_a_node", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode node = plain_kernel_node(graph);
        r("unset what is unset", set_cluster(node, 0));
        r("grid of 4", set_grid(node, 4));
        r("cluster of 2", set_cluster(node, 2));
        r("unset", set_cluster(node, 0));
        r("cluster now", cluster_of(node));
        r("grid of 3", set_grid(node, 3));
        r("cluster of 3", set_cluster(node, 3));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("change/cooperative_of_a_node", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode node = plain_kernel_node(graph);
        r("set", set_cooperative(node, 1));
        r("is", cooperative_of(node));
        r("other grid", set_grid(node, 4));
        r("still is", cooperative_of(node));
        r("unset", set_cooperative(node, 0));
        r("is no more", cooperative_of(node));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("change/of_a_cooperative_node_in_an_executable", [](Record& r) {
        Ints out;
        const Graph graph = new_graph();
        const CUgraphNode node = set_int_node(graph, out, 1);
        must(set_cooperative(node, 1), "cooperative");
        const Exec exec = new_exec(graph);
        CUdeviceptr target = out;
        int value = 2;
        void* arguments[] = {&target, &value};
        const CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("set_int"), arguments);
        r("set", drv.cuGraphExecKernelNodeSetParams(exec, node, &params));
        run(exec);
        r("out", out.get());
    });
    cases.add("change/kernel_to_its_own_parameters", [](Record& r) {
        Ints out;
        const Graph graph = new_graph();
        const CUgraphNode node = set_int_node(graph, out, 5);
        CUDA_KERNEL_NODE_PARAMS params{};
        must(drv.cuGraphKernelNodeGetParams(node, &params), "get");
        params.sharedMemBytes = 64;
        r("set", drv.cuGraphKernelNodeSetParams(node, &params));
        run_graph(graph);
        r("out", out.get());
    });
    cases.add("change/an_executable_keeps_what_it_was_made_of", [](Record& r) {
        Ints out;
        const Graph graph = new_graph();
        const CUgraphNode node = set_int_node(graph, out, 1);
        const Exec exec = new_exec(graph);
        CUdeviceptr target = out;
        int value = 2;
        void* arguments[] = {&target, &value};
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_KERNEL);
        params.kernel.kern = reinterpret_cast<CUkernel>(kernel("set_int"));
        params.kernel.gridDimX = params.kernel.gridDimY = params.kernel.gridDimZ = 1;
        params.kernel.blockDimX = params.kernel.blockDimY = params.kernel.blockDimZ = 1;
        params.kernel.kernelParams = arguments;
        r("definition", drv.cuGraphNodeSetParams(node, &params));
        run(exec);
        r("executable", out.get());
        value = 3;
        r("set in the executable", drv.cuGraphExecNodeSetParams(exec, node, &params));
        run(exec);
        r("executable now", out.get());
        run_graph(graph);
        r("definition", out.get());
    });
}

void add_generic_changes(Cases& cases) {
    cases.add("change/data_nodes_without_a_context", [](Record& r) {
        Ints a(4), b(4, 6);
        const Graph graph = new_graph();
        const CUgraphNode fill = memset_node(graph, a, 1), copy = copy_node(graph, a, b, 4, {fill});
        const Exec exec = new_exec(graph);
        CUgraphNodeParams filling = of_type(CU_GRAPH_NODE_TYPE_MEMSET), copying = of_type(CU_GRAPH_NODE_TYPE_MEMCPY);
        filling.memset = {a, 0, 9, 4, 4, 1, nullptr};
        copying.memcpy.copyParams = copy_params(a, b, 8);
        r("memset", drv.cuGraphNodeSetParams(fill, &filling));
        r("memcpy", drv.cuGraphNodeSetParams(copy, &copying));
        r("memset in the executable", drv.cuGraphExecNodeSetParams(exec, fill, &filling));
        r("memcpy in the executable", drv.cuGraphExecNodeSetParams(exec, copy, &copying));
        run(exec);
        r("copied", a.get(1));
        r("filled", a.get(2));
    });
    cases.add("change/host_and_event_nodes", [](Record& r) {
        const Event one = new_event(), two = new_event();
        const Graph graph = new_graph();
        const CUgraphNode host = host_node(graph, do_nothing, nullptr), record = record_node(graph, one);
        const CUgraphNode wait = wait_node(graph, one);
        CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_HOST);
        params.host.fn = do_nothing;
        params.host.userData = &params;
        r("host", drv.cuGraphNodeSetParams(host, &params));
        CUDA_HOST_NODE_PARAMS back{};
        must(drv.cuGraphHostNodeGetParams(host, &back), "get");
        r("data kept", back.userData == &params);
        params = of_type(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
        params.eventRecord.event = two;
        r("record", drv.cuGraphNodeSetParams(record, &params));
        params = of_type(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
        params.eventWait.event = two;
        r("wait", drv.cuGraphNodeSetParams(wait, &params));
        CUevent event = nullptr;
        must(drv.cuGraphEventWaitNodeGetEvent(wait, &event), "get");
        r("event kept", event == static_cast<CUevent>(two));
    });
    cases.add("change/memory_of_the_graph_in_an_executable", [](Record& r) {
        Ints out;
        const Graph graph = new_graph();
        CUdeviceptr memory = 0;
        const CUgraphNode alloc = alloc_node(graph, 64, &memory), fill = memset_node(graph, memory, 1, {alloc});
        const CUgraphNode copy = copy_node(graph, out, memory, 4, {fill});
        free_node(graph, memory, {copy});
        const Exec exec = new_exec(graph);
        CUgraphNodeParams filling = of_type(CU_GRAPH_NODE_TYPE_MEMSET), copying = of_type(CU_GRAPH_NODE_TYPE_MEMCPY);
        filling.memset = {memory + 4, 0, 9, 4, 1, 1, context()};
        copying.memcpy.copyCtx = context();
        copying.memcpy.copyParams = copy_params(out, memory + 4, 4);
        r("memset", drv.cuGraphExecNodeSetParams(exec, fill, &filling));
        r("memcpy", drv.cuGraphExecNodeSetParams(exec, copy, &copying));
        run(exec);
        r("out", out.get());
        r("memset again", drv.cuGraphExecNodeSetParams(exec, fill, &filling));
        r("definition's memset", drv.cuGraphNodeSetParams(fill, &filling));
        r("definition's memcpy", drv.cuGraphNodeSetParams(copy, &copying));
    });
}

void add_child_changes(Cases& cases) {
    cases.add("change/child", [](Record& r) {
        const Graph graph = new_graph(), one = new_graph(), two = new_graph();
        plain_kernel_node(one);
        plain_kernel_node(two, {plain_kernel_node(two)});
        const CUgraphNode node = child_node(graph, one);
        const CUgraph before = inner_of(node);
        r("set", set_child(node, two));
        r("the same handle", inner_of(node) == before);
        r("nodes", node_count(inner_of(node)));
        r("the source itself", inner_of(node) == static_cast<CUgraph>(two));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("change/child_of_the_same_hierarchy", [](Record& r) {
        const Graph graph = new_graph(), one = new_graph();
        plain_kernel_node(one);
        const CUgraphNode node = child_node(graph, one), other = child_node(graph, one);
        r("the graph around it", set_child(node, graph));
        r("what it holds", set_child(node, inner_of(node)));
        r("what another node holds", set_child(node, inner_of(other)));
        r("null", set_child(node, nullptr));
        r("nodes", node_count(inner_of(node)));
    });
    cases.add("change/child_that_cannot_be_embedded", [](Record& r) {
        const Graph graph = new_graph(), one = new_graph(), memory = new_graph(), loop = new_graph();
        plain_kernel_node(one);
        CUdeviceptr address = 0;
        alloc_node(memory, 64, &address);
        conditional_node(loop, new_handle(loop, 0), CU_GRAPH_COND_TYPE_IF, 1);
        const CUgraphNode node = child_node(graph, one);
        r("with memory", set_child(node, memory));
        r("with a conditional node", set_child(node, loop));
        r("nodes", node_count(inner_of(node)));
    });
    cases.add("change/child_in_a_graph_with_memory", [](Record& r) {
        const Graph graph = new_graph(), one = new_graph(), two = new_graph();
        plain_kernel_node(one);
        plain_kernel_node(two, {plain_kernel_node(two)});
        CUdeviceptr address = 0;
        alloc_node(graph, 64, &address);
        const CUgraphNode node = child_node(graph, one);
        r("set", set_child(node, two));
        r("nodes", node_count(inner_of(node)));
    });
    cases.add("change/child_and_the_executables", [](Record& r) {
        Ints out;
        const Graph graph = new_graph(), one = new_graph(), two = new_graph(), three = new_graph();
        set_int_node(one, out, 1);
        set_int_node(two, out, 2);
        set_int_node(three, out, 3);
        const CUgraphNode node = child_node(graph, one);
        const Exec exec = new_exec(graph);
        r("definition", set_child(node, two));
        run(exec);
        r("executable", out.get());
        CUgraphNodeParams params = child_params(three);
        r("set in the executable", drv.cuGraphExecNodeSetParams(exec, node, &params));
        run(exec);
        r("executable now", out.get());
        r("the graph around it", drv.cuGraphExecChildGraphNodeSetParams(exec, node, graph));
        r("what it holds", drv.cuGraphExecChildGraphNodeSetParams(exec, node, inner_of(node)));
    });
}

// Records the error node of an update if the refused change is inside another node.
void add_error_nodes(Cases& cases) {
    cases.add("update/error_node_in_a_child", [](Record& r) {
        Ints a(64), b(64);
        const auto build = [&](CUgraph graph, size_t rows) {
            const Graph child = new_graph();
            CUgraphNode node = nullptr;
            const CUDA_MEMSET_NODE_PARAMS params = memset_params(a, 1, 4, 4, rows, 32);
            must(drv.cuGraphAddMemsetNode(&node, child, nullptr, 0, &params, context()), "add");
            return child_node(graph, child);
        };
        const Graph graph = new_graph(), other = new_graph();
        build(graph, 1);
        const CUgraphNode child = build(other, 2);
        const Exec exec = new_exec(graph);
        CUgraphExecUpdateResultInfo info{};
        r("update", drv.cuGraphExecUpdate(exec, other, &info));
        r("result", info.result);
        r("names the inner node", info.errorNode == only_node(inner_of(child)));
        r("names the child node", info.errorNode == child);
        r("names a from node", info.errorFromNode != nullptr);
    });
    cases.add("update/error_node_in_a_body", [](Record& r) {
        Ints a(64);
        const auto build = [&](CUgraph graph, size_t rows) {
            const Conditional branch = conditional_node(graph, new_handle(graph, 1), CU_GRAPH_COND_TYPE_IF, 1);
            CUgraphNode node = nullptr;
            const CUDA_MEMSET_NODE_PARAMS params = memset_params(a, 1, 4, 4, rows, 32);
            must(drv.cuGraphAddMemsetNode(&node, branch.bodies[0], nullptr, 0, &params, context()), "add");
            return branch;
        };
        const Graph graph = new_graph(), other = new_graph();
        build(graph, 1);
        const Conditional branch = build(other, 2);
        const Exec exec = new_exec(graph);
        CUgraphExecUpdateResultInfo info{};
        r("update", drv.cuGraphExecUpdate(exec, other, &info));
        r("result", info.result);
        r("names the inner node", info.errorNode == only_node(branch.bodies[0]));
        r("names the conditional node", info.errorNode == branch.node);
        r("names a from node", info.errorFromNode != nullptr);
    });
    cases.add("update/error_node_of_edges", [](Record& r) {
        // a, b -> c in the executable; c after one of them only, or a after b too.
        const auto build = [](CUgraph graph, bool second, bool between) {
            const CUgraphNode b = plain_kernel_node(graph);
            const CUgraphNode a = between ? plain_kernel_node(graph, {b}) : plain_kernel_node(graph);
            return std::pair(a, second ? plain_kernel_node(graph, {a, b}) : plain_kernel_node(graph, {a}));
        };
        const auto ask = [&](const std::string& label, CUgraphExec exec, CUgraph graph, CUgraphNode a, CUgraphNode c) {
            CUgraphExecUpdateResultInfo info{};
            r(label, drv.cuGraphExecUpdate(exec, graph, &info));
            r(label + " result", info.result);
            r(label + " names", info.errorNode == nullptr ? "none"
                                : info.errorNode == c     ? "the last"
                                : info.errorNode == a     ? "the one between"
                                                          : "another");
            r(label + " names a from node", info.errorFromNode != nullptr);
        };
        const Graph graph = new_graph(), fewer = new_graph(), more = new_graph();
        build(graph, true, false);
        const auto [a1, c1] = build(fewer, false, false);
        const auto [a2, c2] = build(more, true, true);
        const Exec exec = new_exec(graph);
        ask("fewer", exec, fewer, a1, c1);
        ask("more", exec, more, a2, c2);
    });
}

// The order in which an update pairs nodes. cuda_graphs computes this order too
// (docs/design/2026-11-libcuda-updates.md).
void add_pairing(Cases& cases) {
    cases.add("update/exits_after_a_passing_edge", [](Record& r) {
        Ints out(2);
        const auto build = [&](CUgraph graph, bool edited) {
            const CUgraphNode a = set_int_node(graph, out, 1), b = set_int_node(graph, out + 4, 2);
            if (edited) {
                must(drv.cuGraphAddDependencies(graph, &a, &b, nullptr, 1), "add");
                must(drv.cuGraphRemoveDependencies(graph, &a, &b, nullptr, 1), "remove");
            }
            return a;
        };
        const Graph graph = new_graph(), other = new_graph();
        const CUgraphNode first = build(graph, false);
        build(other, true);
        const Exec exec = new_exec(graph);
        CUgraphExecUpdateResultInfo info{};
        r("update", drv.cuGraphExecUpdate(exec, other, &info));
        must(drv.cuGraphNodeSetEnabled(exec, first, 0), "disable");
        run(exec);
        r("the first word", out.get(0));
        r("the second word", out.get(1));
    });
}

}  // namespace

void add_change_cases(Cases& cases) {
    add_kernel_changes(cases);
    add_generic_changes(cases);
    add_child_changes(cases);
    add_error_nodes(cases);
    add_pairing(cases);
}

}  // namespace conf
