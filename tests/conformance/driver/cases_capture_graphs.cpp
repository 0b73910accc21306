// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream capture and its graph: dependency sets, manual edits, captures into graphs and bodies.
#include "capture_rig.hpp"
#include "cases.hpp"

namespace conf {
namespace {

void show_info(Record& r, const std::string& label, CUstream stream) {
    CUstreamCaptureStatus answer{};
    cuuint64_t id = 0;
    CUgraph graph = nullptr;
    const CUgraphNode* nodes = nullptr;
    const CUgraphEdgeData* edges = nullptr;
    size_t count = 99;
    const CUresult result = drv.cuStreamGetCaptureInfo(stream, &answer, &id, &graph, &nodes, &edges, &count);
    r(label, drv.name(result) + " status " + std::to_string(answer) + (id != 0 ? " id" : "") +
                 (graph != nullptr ? " graph" : "") + " " + std::to_string(count));
}

void add_dependency_cases(Cases& cases) {
    cases.add("capture_rules/info", [](Record& r) {
        const Capturing one;
        show_info(r, "empty", one);
        launch_empty(one);
        show_info(r, "with a node", one);
        const Stream two = one.branch(), plain = new_stream();
        show_info(r, "branch", two);
        CUstreamCaptureStatus answer{};
        cuuint64_t id_of_one = 0, id_of_two = 0;
        drv.cuStreamGetCaptureInfo(one, &answer, &id_of_one, nullptr, nullptr, nullptr, nullptr);
        drv.cuStreamGetCaptureInfo(two, &answer, &id_of_two, nullptr, nullptr, nullptr, nullptr);
        r("the same id", id_of_one == id_of_two);
        const Capturing next;
        drv.cuStreamGetCaptureInfo(next, &answer, &id_of_two, nullptr, nullptr, nullptr, nullptr);
        r("another id", id_of_one != id_of_two);
        show_info(r, "plain", plain);
        show_info(r, "legacy", nullptr);
        drv.cuStreamSynchronize(one);
        show_info(r, "invalid", one);
        show_info(r, "its branch", two);
    });
    cases.add("capture_rules/update", [](Record& r) {
        const Capturing one;
        launch_empty(one);
        CUgraphNode added = nullptr;
        must(drv.cuGraphAddEmptyNode(&added, graph_of(one), nullptr, 0), "empty");
        r("add", drv.cuStreamUpdateCaptureDependencies(one, &added, nullptr, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
        show_dependencies(r, "depends on", one);
        r("add again", drv.cuStreamUpdateCaptureDependencies(one, &added, nullptr, 1, 0));
        show_dependencies(r, "depends on", one);
        CUgraphNode twice[] = {added, added};
        r("set twice",
          drv.cuStreamUpdateCaptureDependencies(one, twice, nullptr, 2, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
        show_dependencies(r, "depends on", one);
        r("set", drv.cuStreamUpdateCaptureDependencies(one, &added, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
        show_dependencies(r, "depends on", one);
        launch_empty(one);
        r("set none",
          drv.cuStreamUpdateCaptureDependencies(one, nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
        show_dependencies(r, "depends on", one);
        launch_empty(one);
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/update_with_foreign_nodes", [](Record& r) {
        const Graph other = new_graph();
        CUgraphNode foreign = empty_node(other), dead = empty_node(other), none = nullptr;
        drv.cuGraphDestroyNode(dead);
        const Capturing one;
        r("foreign", drv.cuStreamUpdateCaptureDependencies(one, &foreign, nullptr, 1, 0));
        r("status", status(one));
        r("null", drv.cuStreamUpdateCaptureDependencies(one, &none, nullptr, 1, 0));
        r("status", status(one));
    });
    cases.add("capture_rules/update_with_edge_data", [](Record& r) {
        const Capturing one;
        launch_empty(one);
        CUstreamCaptureStatus answer{};
        const CUgraphNode* nodes = nullptr;
        size_t count = 0;
        must(drv.cuStreamGetCaptureInfo(one, &answer, nullptr, nullptr, &nodes, nullptr, &count), "info");
        CUgraphNode node = nodes[0];
        CUgraphEdgeData data{};
        data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
        data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        r("set", drv.cuStreamUpdateCaptureDependencies(one, &node, &data, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
        show_dependencies(r, "depends on", one);
        r("lossy", drv.cuStreamGetCaptureInfo(one, &answer, nullptr, nullptr, &nodes, nullptr, &count));
        r("without nodes", drv.cuStreamGetCaptureInfo(one, &answer, nullptr, nullptr, nullptr, nullptr, &count));
        r("add as plain", drv.cuStreamUpdateCaptureDependencies(one, &node, nullptr, 1, 0));
        show_dependencies(r, "depends on", one);
        const Stream two = one.branch();
        show_dependencies(r, "a branch depends on", two);
        launch_empty(one);
        r("a memset in the branch", drv.cuMemsetD8Async(Ints(), 1, 1, two));
        r("status", status(one));
        CUgraph graph = nullptr;
        r("end", drv.cuStreamEndCapture(one, &graph));
    });
    cases.add("capture_rules/edge_data_that_does_not_fit", [](Record& r) {
        // A memset, a host function and an event wait get the same dependency as a kernel.
        const Ints a;
        for (int kind = 0; kind < 3; ++kind) {
            const Capturing one;
            launch_empty(one);
            CUgraphNode node = nullptr;
            size_t count = 1;
            must(drv.cuGraphGetNodes(graph_of(one), &node, &count), "nodes");
            CUgraphEdgeData data{};
            data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
            data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
            must(drv.cuStreamUpdateCaptureDependencies(one, &node, &data, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
                 "set");
            if (kind == 0) r("memset", drv.cuMemsetD32Async(a, 1, 1, one));
            if (kind == 1) r("host function", drv.cuLaunchHostFunc(one, [](void*) {}, nullptr));
            if (kind == 2) {
                const Stream two = one.branch();
                show_dependencies(r, "branch", two);
                r("wait for the branch", join(one, two));
                show_dependencies(r, "joined", one);
                r("launch", launch_empty(one));
            }
            r("status", status(one));
            end_and_show(r, "end", one);
        }
    });
    cases.add("capture_rules/edge_data_of_two_branches", [](Record& r) {
        // The same node, once with data and once without.
        const Capturing one;
        launch_empty(one);
        const Stream two = one.branch();
        CUgraphNode node = nullptr;
        size_t count = 1;
        must(drv.cuGraphGetNodes(graph_of(one), &node, &count), "nodes");
        CUgraphEdgeData data{};
        data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
        data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        must(drv.cuStreamUpdateCaptureDependencies(two, &node, &data, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES), "set");
        r("plain gets data", join(one, two));
        show_dependencies(r, "depends on", one);
        launch_empty(one);
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/update_gives_a_branch_a_foreign_end", [](Record& r) {
        // A manually added node is the last node of a branch that never joins.
        const Capturing one;
        launch_empty(one);
        const Stream two = one.branch();
        CUgraphNode added = nullptr;
        must(drv.cuGraphAddEmptyNode(&added, graph_of(one), nullptr, 0), "empty");
        r("set", drv.cuStreamUpdateCaptureDependencies(two, &added, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/update_drops_and_takes_again", [](Record& r) {
        const Capturing one;
        const Stream two = one.branch();
        launch_empty(two);
        CUgraphNode node = nullptr;
        size_t count = 1;
        must(drv.cuGraphGetNodes(graph_of(one), &node, &count), "nodes");
        r("drop", drv.cuStreamUpdateCaptureDependencies(two, nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
        r("take", drv.cuStreamUpdateCaptureDependencies(two, &node, nullptr, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/graph_destroyed_in_a_capture", [](Record& r) {
        const Capturing one;
        launch_empty(one);
        const CUgraph graph = graph_of(one);
        r("destroy", drv.cuGraphDestroy(graph));
        r("status", status(one));
    });
    cases.add("capture_rules/update_with_wrong_edge_data", [](Record& r) {
        const Capturing one;
        CUgraphNode node = nullptr;
        must(drv.cuGraphAddEmptyNode(&node, graph_of(one), nullptr, 0), "empty");
        CUgraphEdgeData data{};
        data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
        data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        r("set", drv.cuStreamUpdateCaptureDependencies(one, &node, &data, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
        r("status", status(one));
        r("launch", launch_empty(one));
        r("status", status(one));
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/update_drops_a_branch", [](Record& r) {
        const Capturing one;
        const Stream two = one.branch();
        launch_empty(two);
        r("set none",
          drv.cuStreamUpdateCaptureDependencies(two, nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/update_drops_the_origin_after_a_join", [](Record& r) {
        const Capturing one;
        const Stream two = one.branch();
        launch_empty(two);
        join(one, two);
        r("set none",
          drv.cuStreamUpdateCaptureDependencies(one, nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/edited_by_hand", [](Record& r) {
        // A manually added edge joins a branch like an event.
        const Capturing one;
        launch_empty(one);
        const Stream two = one.branch();
        launch_empty(two);
        launch_empty(one);
        const CUgraph graph = graph_of(one);
        size_t count = 3;
        CUgraphNode nodes[3]{};
        must(drv.cuGraphGetNodes(graph, nodes, &count), "nodes");
        const CUgraphEdgeData plain{};
        r("edge", drv.cuGraphAddDependencies(graph, &nodes[1], &nodes[2], &plain, 1));
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/edge_removed_by_hand", [](Record& r) {
        const Capturing one;
        launch_empty(one);
        const Stream two = one.branch();
        launch_empty(two);
        join(one, two);
        launch_empty(one);
        const CUgraph graph = graph_of(one);
        size_t count = 3;
        CUgraphNode nodes[3]{};
        must(drv.cuGraphGetNodes(graph, nodes, &count), "nodes");
        const CUgraphEdgeData plain{};
        r("remove", drv.cuGraphRemoveDependencies(graph, &nodes[1], &nodes[2], &plain, 1));
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/a_conditional_node_by_hand", [](Record& r) {
        const Capturing one;
        launch_empty(one);
        const CUgraph graph = graph_of(one);
        const Conditional node = conditional_node(graph, new_handle(graph, 1), CU_GRAPH_COND_TYPE_IF, 1);
        CUgraphNode added = node.node;
        r("set", drv.cuStreamUpdateCaptureDependencies(one, &added, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
        launch_empty(one);
        end_and_show(r, "end", one);
    });
}

void add_to_graph_cases(Cases& cases) {
    cases.add("capture_to_graph/misuse", [](Record& r) {
        const Graph graph = new_graph(), other = new_graph();
        const CUgraphNode node = empty_node(graph), foreign = empty_node(other);
        const CUgraphNode twice[] = {node, node};
        const Stream s = new_stream();
        r("null stream", drv.cuStreamBeginCaptureToGraph(nullptr, graph, nullptr, nullptr, 0, kRelaxed));
        r("foreign node", drv.cuStreamBeginCaptureToGraph(s, graph, &foreign, nullptr, 1, kRelaxed));
        r("status", status(s));
        r("null array", drv.cuStreamBeginCaptureToGraph(s, graph, nullptr, nullptr, 1, kRelaxed));
        r("status", status(s));
        r("unknown mode",
          drv.cuStreamBeginCaptureToGraph(s, graph, nullptr, nullptr, 0, static_cast<CUstreamCaptureMode>(9)));
        r("status", status(s));
        r("twice", drv.cuStreamBeginCaptureToGraph(s, graph, twice, nullptr, 2, kRelaxed));
        show_dependencies(r, "depends on", s);
        if (status(s) == CU_STREAM_CAPTURE_STATUS_NONE)
            r("begin", drv.cuStreamBeginCaptureToGraph(s, graph, nullptr, nullptr, 0, kRelaxed));
        r("begin again", drv.cuStreamBeginCaptureToGraph(s, graph, nullptr, nullptr, 0, kRelaxed));
        CUgraph ended = nullptr;
        r("end", drv.cuStreamEndCapture(s, &ended));
    });
    cases.add("capture_to_graph/with_edge_data", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode node = plain_kernel_node(graph);
        CUgraphEdgeData data{};
        data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
        data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        const Stream s = new_stream();
        r("begin", drv.cuStreamBeginCaptureToGraph(s, graph, &node, &data, 1, kRelaxed));
        show_dependencies(r, "depends on", s);
        r("launch", launch_empty(s));
        show_graph(r, "graph", graph);
        CUgraph ended = nullptr;
        r("end", drv.cuStreamEndCapture(s, &ended));
    });
    cases.add("capture_to_graph/by_two_streams", [](Record& r) {
        const Graph graph = new_graph();
        const Stream one = new_stream(), two = new_stream();
        r("begin", drv.cuStreamBeginCaptureToGraph(one, graph, nullptr, nullptr, 0, kRelaxed));
        r("begin", drv.cuStreamBeginCaptureToGraph(two, graph, nullptr, nullptr, 0, kRelaxed));
        r("one", status(one));
        r("two", status(two));
        if (status(two) == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
            launch_empty(one);
            launch_empty(two);
            r("merge", join(one, two));
        }
        CUgraph ended = nullptr;
        r("end two", drv.cuStreamEndCapture(two, &ended));
        r("end one", drv.cuStreamEndCapture(one, &ended));
    });
    cases.add("capture_to_graph/one_capture_after_another", [](Record& r) {
        const Graph graph = new_graph();
        const Stream s = new_stream();
        CUgraph ended = nullptr;
        for (int i = 0; i < 2; ++i) {
            must(drv.cuStreamBeginCaptureToGraph(s, graph, nullptr, nullptr, 0, kRelaxed), "begin");
            launch_empty(s);
            launch_empty(s);
            r("end", drv.cuStreamEndCapture(s, &ended));
        }
        show_graph(r, "graph", graph);
    });
    cases.add("capture_to_graph/ended_unjoined", [](Record& r) {
        Graph graph = new_graph();
        empty_node(graph);
        const Stream s = new_stream();
        must(drv.cuStreamBeginCaptureToGraph(s, graph, nullptr, nullptr, 0, kRelaxed), "begin");
        const Event fork = untimed();
        const Stream two = new_stream();
        drv.cuEventRecord(fork, s);
        drv.cuStreamWaitEvent(two, fork, 0);
        launch_empty(two);
        CUgraph ended = nullptr;
        r("end", drv.cuStreamEndCapture(s, &ended));
        r("gives", ended == graph ? "the graph" : ended == nullptr ? "null" : "another");
        size_t count = 0;
        const CUresult alive = drv.cuGraphGetNodes(graph, nullptr, &count);
        r("nodes", alive);
        if (alive != CUDA_SUCCESS) graph.release();
    });
    cases.add("capture_to_graph/nodes_that_others_added", [](Record& r) {
        // Nodes of the graph that no dependency of the capture leads to do not count as an unjoined branch.
        const Graph graph = new_graph();
        empty_node(graph);
        const Stream s = new_stream();
        must(drv.cuStreamBeginCaptureToGraph(s, graph, nullptr, nullptr, 0, kRelaxed), "begin");
        launch_empty(s);
        empty_node(graph);
        CUgraph ended = nullptr;
        r("end", drv.cuStreamEndCapture(s, &ended));
        show_graph(r, "graph", graph);
    });
    cases.add("capture_to_graph/inside_a_child", [](Record& r) {
        const Graph graph = new_graph();
        CUgraph inner = nullptr;
        must(drv.cuGraphChildGraphNodeGetGraph(child_node(graph, new_graph()), &inner), "child");
        const Stream s = new_stream();
        r("begin", drv.cuStreamBeginCaptureToGraph(s, inner, nullptr, nullptr, 0, kRelaxed));
        r("launch", launch_empty(s));
        CUdeviceptr p = 0;
        r("alloc", drv.cuMemAllocAsync(&p, 64, s));
        r("status", status(s));
        CUgraph ended = nullptr;
        if (status(s) == CU_STREAM_CAPTURE_STATUS_ACTIVE) r("end", drv.cuStreamEndCapture(s, &ended));
        show_graph(r, "child", inner);
    });
    cases.add("capture_to_graph/with_memory", [](Record& r) {
        // A graph with allocation nodes refuses removals, but accepts captures.
        const Graph graph = new_graph();
        CUdeviceptr p = 0;
        const CUgraphNode alloc = alloc_node(graph, 64, &p);
        const Stream s = new_stream();
        r("begin", drv.cuStreamBeginCaptureToGraph(s, graph, &alloc, nullptr, 1, kRelaxed));
        r("fill", drv.cuMemsetD32Async(p, 1, 16, s));
        r("free", drv.cuMemFreeAsync(p, s));
        CUgraph ended = nullptr;
        r("end", drv.cuStreamEndCapture(s, &ended));
        show_graph(r, "graph", graph);
        ask_instantiate(r, "instantiate", graph);
    });
    const auto body_case = [&](const char* name, void (*ask)(Record&, CUstream, CUgraph body)) {
        cases.add(std::string("capture_to_body/") + name, [ask](Record& r) {
            CUgraph graph = new_graph().release();  // not destroyed: libcuda may crash after a failed capture of a body
            const Conditional node = conditional_node(graph, new_handle(graph, 1), CU_GRAPH_COND_TYPE_IF, 1);
            const Stream s = new_stream();
            r("begin", drv.cuStreamBeginCaptureToGraph(s, node.bodies[0], nullptr, nullptr, 0, kRelaxed));
            ask(r, s, node.bodies[0]);
            r("status", status(s));
            if (status(s) != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
                CUgraph ended = nullptr;
                r("end", drv.cuStreamEndCapture(s, &ended));
                return;
            }
            CUgraph ended = nullptr;
            r("end", drv.cuStreamEndCapture(s, &ended));
            r("gives the body", ended == node.bodies[0]);
            show_graph(r, "body", node.bodies[0]);
            ask_instantiate(r, "instantiate", graph);
        });
    };
    body_case("kernels", [](Record& r, CUstream s, CUgraph) {
        r("launch", launch_empty(s));
        r("launch", launch_empty(s));
    });
    body_case("copy_and_fill", [](Record& r, CUstream s, CUgraph) {
        static Ints *a = new Ints(16), *b = new Ints(16);
        r("fill", drv.cuMemsetD32Async(*a, 1, 4, s));
        r("copy", drv.cuMemcpyDtoDAsync(*b, *a, 16, s));
    });
    body_case("copy_of_pageable_memory", [](Record& r, CUstream s, CUgraph) {
        static Ints* a = new Ints(16);
        static int word = 0;
        r("copy", drv.cuMemcpyHtoDAsync(*a, &word, 4, s));
    });
    body_case("host_function",
              [](Record& r, CUstream s, CUgraph) { r("host", drv.cuLaunchHostFunc(s, [](void*) {}, nullptr)); });
    body_case("external_record", [](Record& r, CUstream s, CUgraph) {
        const Event e = untimed();
        r("record", drv.cuEventRecordWithFlags(e, s, CU_EVENT_RECORD_EXTERNAL));
    });
    body_case("external_wait", [](Record& r, CUstream s, CUgraph) {
        const Event e = untimed();
        r("wait", drv.cuStreamWaitEvent(s, e, CU_EVENT_WAIT_EXTERNAL));
    });
    body_case("memory", [](Record& r, CUstream s, CUgraph) {
        CUdeviceptr p = 0;
        r("alloc", drv.cuMemAllocAsync(&p, 64, s));
        r("free", drv.cuMemFreeAsync(p, s));
    });
    body_case("fork_and_join", [](Record& r, CUstream s, CUgraph) {
        launch_empty(s);
        const Stream two = new_stream();
        r("fork", join(two, s));
        launch_empty(two);
        launch_empty(s);
        r("join", join(s, two));
        launch_empty(s);
    });
    body_case("nothing", [](Record&, CUstream, CUgraph) {});
    cases.add("capture_to_body/while_its_root_is_captured", [](Record& r) {
        const Capturing outer;
        launch_empty(outer);
        const CUgraph graph = graph_of(outer);
        const Conditional node = conditional_node(graph, new_handle(graph, 1), CU_GRAPH_COND_TYPE_IF, 1);
        const Stream inner = new_stream();
        r("begin", drv.cuStreamBeginCaptureToGraph(inner, node.bodies[0], nullptr, nullptr, 0, kRelaxed));
        launch_empty(inner);
        const Event event = untimed();
        CUgraph ended = nullptr;
        r("end inner", drv.cuStreamEndCapture(inner, &ended));
        end_and_show(r, "end outer", outer);
    });
}

}  // namespace

void add_capture_graph_cases(Cases& cases) {
    add_dependency_cases(cases);
    add_to_graph_cases(cases);
}

}  // namespace conf
