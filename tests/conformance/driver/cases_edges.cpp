// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Edges with data, and clusters of kernel nodes: stored values, refusals, and possible changes of an executable.
#include <string>

#include "cases.hpp"

namespace conf {

namespace {

void add_data_cases(Cases& cases) {
    const auto data_of = [](unsigned char port, unsigned char type) {
        CUgraphEdgeData data{};
        data.from_port = port;
        data.type = type;
        return data;
    };
    static const CUgraphEdgeData kProgrammatic =
        data_of(CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    static const CUgraphEdgeData kLaunchOrder =
        data_of(CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    static const auto add_after = [](CUgraph graph, CUgraphNode before, const CUgraphEdgeData& data,
                                     CUgraphNode* node = nullptr) {
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_KERNEL;
        params.kernel.kern = reinterpret_cast<CUkernel>(kernel("empty"));
        params.kernel.gridDimX = params.kernel.gridDimY = params.kernel.gridDimZ = 1;
        params.kernel.blockDimX = params.kernel.blockDimY = params.kernel.blockDimZ = 1;
        CUgraphNode unused = nullptr;
        return drv.cuGraphAddNode(node == nullptr ? &unused : node, graph, &before, &data, 1, &params);
    };
    static const auto record_edge = [](Record& r, const std::string& label, CUgraph graph) {
        CUgraphNode from[4] = {}, to[4] = {};
        CUgraphEdgeData data[4] = {};
        size_t count = 4;
        r(label, drv.cuGraphGetEdges(graph, from, to, data, &count));
        std::string text;
        for (size_t i = 0; i < count; ++i)
            text += " " + std::to_string(data[i].from_port) + "/" + std::to_string(data[i].to_port) + "/" +
                    std::to_string(data[i].type);
        r(label + " data", text);
    };
    cases.add("edge_data/with_the_node", [data_of](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode k = plain_kernel_node(graph), e = empty_node(graph);
        r("programmatic", add_after(graph, k, kProgrammatic));
        r("launch order", add_after(graph, k, kLaunchOrder));
        r("launch order, full", add_after(graph, k, data_of(2, 0)));
        r("programmatic port, full", add_after(graph, k, data_of(1, 0)));
        r("default port, programmatic", add_after(graph, k, data_of(0, 1)));
        r("port 3", add_after(graph, k, data_of(3, 0)));
        r("from an empty node", add_after(graph, e, kProgrammatic));
        r("from an empty node, launch order", add_after(graph, e, data_of(2, 0)));
        r("full from an empty node", add_after(graph, e, data_of(0, 0)));
        CUgraphEdgeData reserved{};
        reserved.reserved[4] = 1;
        r("reserved", add_after(graph, k, reserved));
        r("nodes", node_count(graph));
        r("edges", edge_count(graph));
    });
    cases.add("edge_data/to_other_kinds", [data_of](Record& r) {
        const Graph graph = new_graph();
        Ints target(4);
        const CUgraphNode k = plain_kernel_node(graph), fill = memset_node(graph, target, 1);
        const CUgraphEdgeData launch_order = data_of(2, 0), port = data_of(1, 0);
        r("programmatic to memset", drv.cuGraphAddDependencies(graph, &k, &fill, &kProgrammatic, 1));
        r("programmatic from memset", drv.cuGraphAddDependencies(graph, &fill, &k, &kProgrammatic, 1));
        r("port without type to memset", drv.cuGraphAddDependencies(graph, &k, &fill, &port, 1));
        r("launch order from memset", drv.cuGraphAddDependencies(graph, &fill, &k, &launch_order, 1));
        r("launch order to memset", drv.cuGraphAddDependencies(graph, &k, &fill, &launch_order, 1));
        record_edge(r, "edges", graph);
        run_graph(graph);
    });
    cases.add("edge_data/twice", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = plain_kernel_node(graph), b = plain_kernel_node(graph);
        r("full", drv.cuGraphAddDependencies(graph, &a, &b, nullptr, 1));
        r("programmatic too", drv.cuGraphAddDependencies(graph, &a, &b, &kProgrammatic, 1));
        record_edge(r, "edges", graph);
        r("remove with other data", drv.cuGraphRemoveDependencies(graph, &a, &b, &kProgrammatic, 1));
        CUgraphEdgeData full{};
        r("remove with its data", drv.cuGraphRemoveDependencies(graph, &a, &b, &full, 1));
        r("edges left", edge_count(graph));
    });
    cases.add("edge_data/copies_keep_it", [](Record& r) {
        const Graph graph = new_graph(), outer = new_graph();
        const CUgraphNode a = plain_kernel_node(graph);
        r("add", add_after(graph, a, kProgrammatic));
        const Graph clone = new_clone(graph);
        record_edge(r, "clone", clone);
        CUgraph inner = nullptr;
        must(drv.cuGraphChildGraphNodeGetGraph(child_node(outer, graph), &inner), "get");
        record_edge(r, "child", inner);
        run_graph(outer);
        run_graph(clone);
    });
    cases.add("edge_data/in_a_body", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphConditionalHandle handle = new_handle(graph, 1);
        const Conditional node = conditional_node(graph, handle, CU_GRAPH_COND_TYPE_IF, 1);
        const CUgraphNode a = plain_kernel_node(node.bodies[0]);
        r("add", add_after(node.bodies[0], a, kProgrammatic));
        record_edge(r, "body", node.bodies[0]);
        run_graph(graph);
    });
    cases.add("edge_data/whole_update", [](Record& r) {
        const auto with = [&](const std::string& label, const CUgraphEdgeData& first, const CUgraphEdgeData& second) {
            const Graph graph = new_graph(), changed = new_graph();
            must(add_after(graph, plain_kernel_node(graph), first), "add");
            must(add_after(changed, plain_kernel_node(changed), second), "add");
            const Exec exec = new_exec(graph);
            CUgraphExecUpdateResultInfo info{};
            r(label, drv.cuGraphExecUpdate(exec, changed, &info));
            r(label + " result", info.result);
            r(label + " names a node", info.errorNode != nullptr);
            r(label + " names a from node", info.errorFromNode != nullptr);
        };
        const CUgraphEdgeData full{};
        with("same", kProgrammatic, kProgrammatic);
        with("full to programmatic", full, kProgrammatic);
        with("programmatic to full", kProgrammatic, full);
        with("other port", kProgrammatic, kLaunchOrder);
    });
    cases.add("edge_data/mixed_with_full_edges", [](Record& r) {
        const Graph graph = new_graph();
        Ints target(4);
        const CUgraphNode fill = memset_node(graph, target, 7), k = plain_kernel_node(graph);
        CUgraphNode last = nullptr;
        r("add", add_after(graph, k, kProgrammatic, &last));
        r("full edge too", drv.cuGraphAddDependencies(graph, &fill, &last, nullptr, 1));
        ask_instantiate(r, "instantiate", graph);
        run_graph(graph);
        r("value", target.get(0));
    });
    cases.add("edge_data/with_memory_nodes", [](Record& r) {
        const Graph graph = new_graph();
        CUdeviceptr address = 0;
        const CUgraphNode alloc = alloc_node(graph, 64, &address);
        r("from an alloc node", add_after(graph, alloc, kProgrammatic));
        const CUgraphNode k = plain_kernel_node(graph, {alloc});
        CUgraphNode last = nullptr;
        r("from a kernel", add_after(graph, k, kProgrammatic, &last));
        free_node(graph, address, {last});
        ask_instantiate(r, "instantiate", graph);
    });
}

void add_cluster_cases(Cases& cases) {
    cases.add("cluster/node_shapes", [](Record& r) {
        const auto with = [&](const std::string& label, unsigned grid, unsigned x, unsigned y) {
            const Graph graph = new_graph();
            const CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("empty"), nullptr, grid, 32);
            CUgraphNode node = nullptr;
            must(drv.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params), "add");
            CUkernelNodeAttrValue value{};
            value.clusterDim.x = x;
            value.clusterDim.y = y;
            value.clusterDim.z = 1;
            r(label, drv.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
            ask_instantiate(r, label + " instantiate", graph);
        };
        with("1", 4, 1, 1);
        with("8", 16, 8, 1);
        with("9", 18, 9, 1);
        with("y of a grid of one row", 4, 2, 2);
        with("4096", 4096, 4096, 1);
    });
    cases.add("cluster/set_in_an_executable", [](Record& r) {
        const Graph graph = new_graph();
        CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("empty"), nullptr, 4, 32);
        CUgraphNode node = nullptr;
        must(drv.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params), "add");
        CUkernelNodeAttrValue value{};
        value.clusterDim.x = 2;
        value.clusterDim.y = value.clusterDim.z = 1;
        must(drv.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value), "attribute");
        const Exec exec = new_exec(graph);
        params.gridDimX = 8;
        r("grid of 8", drv.cuGraphExecKernelNodeSetParams(exec, node, &params));
        run(exec);
        params.gridDimX = 7;
        r("grid of 7", drv.cuGraphExecKernelNodeSetParams(exec, node, &params));
        params.gridDimX = 3;
        r("definition, grid of 3", drv.cuGraphKernelNodeSetParams(node, &params));
        params.gridDimX = 6;
        r("definition, grid of 6", drv.cuGraphKernelNodeSetParams(node, &params));
        CUkernelNodeAttrValue back{};
        must(drv.cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &back), "get");
        r("cluster kept", back.clusterDim.x);
        value.clusterDim.x = 3;
        r("cluster of 3", drv.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
        value.clusterDim.x = value.clusterDim.y = value.clusterDim.z = 0;
        r("no cluster", drv.cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
    });
}

}  // namespace

void add_edge_data_cases(Cases& cases) {
    add_data_cases(cases);
    add_cluster_cases(cases);
}

}  // namespace conf
