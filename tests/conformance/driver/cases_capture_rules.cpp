// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream capture: forks and joins, dependency sets, captures into graphs and bodies, ends, and what breaks the rules.
#include <atomic>

#include "capture_rig.hpp"
#include "cases.hpp"

namespace conf {
namespace {

constexpr auto kGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL, kLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
               kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

Event untimed() {
    return new_event(CU_EVENT_DISABLE_TIMING);
}

// `to` waits for all that `from` has captured.
CUresult join(CUstream to, CUstream from) {
    const Event event = untimed();
    const CUresult recorded = drv.cuEventRecord(event, from);
    return recorded != CUDA_SUCCESS ? recorded : drv.cuStreamWaitEvent(to, event, 0);
}

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

void add_fork_cases(Cases& cases) {
    cases.add("capture_rules/fork_of_an_empty_capture", [](Record& r) {
        const Capturing one;
        const Stream two = one.branch();
        show_dependencies(r, "branch depends on", two);
        launch_empty(two);
        launch_empty(one);
        r("join", join(one, two));
        show_dependencies(r, "depends on", one);
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/branch_without_work", [](Record& r) {
        const Capturing one;
        launch_empty(one);
        const Stream two = one.branch();
        launch_empty(one);
        end_and_show(r, "end", one);
        r("branch", status(two));
    });
    cases.add("capture_rules/branch_without_work_of_an_empty_capture", [](Record& r) {
        const Capturing one;
        const Stream two = one.branch();
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/joined_and_used_again", [](Record& r) {
        const Capturing one;
        const Stream two = one.branch();
        launch_empty(two);
        r("join", join(one, two));
        r("branch after the join", status(two));
        launch_empty(two);
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/joined_through_a_third_stream", [](Record& r) {
        const Capturing one;
        launch_empty(one);
        const Stream two = one.branch(), three = one.branch();
        launch_empty(two);
        r("two to three", join(three, two));
        launch_empty(three);
        r("three to one", join(one, three));
        launch_empty(one);
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/joined_without_a_node_after_it", [](Record& r) {
        const Capturing one;
        launch_empty(one);
        const Stream two = one.branch();
        launch_empty(two);
        launch_empty(one);
        r("join", join(one, two));
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/waiting_for_what_is_behind", [](Record& r) {
        // An event of an ancestor of the stream's dependencies.
        const Capturing one;
        const Event early = untimed();
        launch_empty(one);
        drv.cuEventRecord(early, one);
        launch_empty(one);
        r("wait", drv.cuStreamWaitEvent(one, early, 0));
        show_dependencies(r, "depends on", one);
        r("wait", drv.cuStreamWaitEvent(one, early, 0));
        show_dependencies(r, "depends on", one);
        launch_empty(one);
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/order_of_dependencies", [](Record& r) {
        const Capturing one;
        const Stream two = one.branch(), three = one.branch();
        launch_empty(three);
        launch_empty(one);
        launch_empty(two);
        join(one, three);
        show_dependencies(r, "three joined", one);
        join(one, two);
        show_dependencies(r, "two joined", one);
        join(one, three);
        show_dependencies(r, "three joined again", one);
        launch_empty(one);
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/event_recorded_again", [](Record& r) {
        const Capturing one;
        const Event event = untimed();
        const Stream plain = new_stream(), two = new_stream();
        launch_empty(one);
        drv.cuEventRecord(event, one);
        launch_empty(one);
        r("record in the capture", drv.cuEventRecord(event, one));
        r("wait", drv.cuStreamWaitEvent(two, event, 0));
        show_dependencies(r, "depends on", two);
        r("record outside", drv.cuEventRecord(event, plain));
        r("synchronize", drv.cuEventSynchronize(event));
        r("status", status(one));
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/event_destroyed", [](Record& r) {
        const Capturing one;
        CUevent event = untimed().release();
        launch_empty(one);
        drv.cuEventRecord(event, one);
        r("destroy", drv.cuEventDestroy(event));
        r("status", status(one));
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/never_recorded_event", [](Record& r) {
        const Capturing one;
        const Event never = untimed();
        launch_empty(one);
        r("wait", drv.cuStreamWaitEvent(one, never, 0));
        r("status", status(one));
        show_dependencies(r, "depends on", one);
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/event_recorded_before_the_capture_on_the_stream", [](Record& r) {
        const Stream one = new_stream();
        const Event before = untimed();
        drv.cuEventRecord(before, one);
        must(begin(one), "begin");
        r("wait", drv.cuStreamWaitEvent(one, before, 0));
        r("status", status(one));
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/events_of_an_ended_capture", [](Record& r) {
        const Event event = untimed();
        const Stream plain = new_stream();
        {
            const Capturing one;
            launch_empty(one);
            drv.cuEventRecord(event, one);
            end_and_show(r, "end", one);
        }
        float ms = 0;
        const Event timed = new_event();
        r("query", drv.cuEventQuery(event));
        r("synchronize", drv.cuEventSynchronize(event));
        r("elapsed", drv.cuEventElapsedTime(&ms, event, timed));
        r("wait", drv.cuStreamWaitEvent(plain, event, 0));
        r("stream", status(plain));
        r("wait on legacy", drv.cuStreamWaitEvent(nullptr, event, 0));
        r("record node", drv.cuEventRecord(event, plain));
        r("query", drv.cuEventSynchronize(event));
    });
    cases.add("capture_rules/events_of_an_ended_capture_in_another", [](Record& r) {
        const Event event = untimed();
        {
            const Capturing one;
            drv.cuEventRecord(event, one);
            end_and_show(r, "end", one);
        }
        const Capturing two;
        r("wait", drv.cuStreamWaitEvent(two, event, 0));
        r("status", status(two));
    });
    cases.add("capture_rules/events_of_the_same_streams_earlier_capture", [](Record& r) {
        const Event event = untimed();
        const Stream one = new_stream();
        must(begin(one), "begin");
        drv.cuEventRecord(event, one);
        end_and_show(r, "end", one);
        must(begin(one), "begin");
        r("wait", drv.cuStreamWaitEvent(one, event, 0));
        r("status", status(one));
        end_and_show(r, "end", one);
    });
    cases.add("capture_rules/events_of_an_invalid_capture", [](Record& r) {
        const Event event = untimed(), other = untimed();
        const Stream plain = new_stream();
        const Capturing one;
        drv.cuEventRecord(event, one);
        drv.cuStreamSynchronize(one);
        r("record", drv.cuEventRecord(other, one));
        r("wait", drv.cuStreamWaitEvent(one, event, 0));
        r("wait elsewhere", drv.cuStreamWaitEvent(plain, event, 0));
        r("elsewhere", status(plain));
        r("query", drv.cuEventQuery(event));
        r("record elsewhere", drv.cuEventRecord(event, plain));
        end(r, "end", one);
        r("query", drv.cuEventSynchronize(event));
    });
    cases.add("capture_rules/captured_event_of_another_thread", [](Record& r) {
        const Event event = untimed();
        const Capturing one;
        const Stream two = new_stream();
        drv.cuEventRecord(event, one);
        elsewhere([&] {
            r("wait", drv.cuStreamWaitEvent(two, event, 0));
            r("launch", launch_empty(two));
            r("query", drv.cuEventQuery(event));
        });
        r("status", status(one));
    });
    cases.add("capture_rules/legacy_stream_waits_for_a_captured_event", [](Record& r) {
        for (unsigned flags : {CU_STREAM_NON_BLOCKING, CU_STREAM_DEFAULT}) {
            const Event event = untimed();
            const Capturing one(kRelaxed, flags);
            drv.cuEventRecord(event, one);
            r("wait", drv.cuStreamWaitEvent(nullptr, event, 0));
            r("status", status(one));
            if (flags == CU_STREAM_NON_BLOCKING) r("launch", launch_empty(nullptr));
            r("status", status(one));
        }
    });
    cases.add("capture_rules/per_thread_stream_as_a_branch", [](Record& r) {
        const Event event = untimed();
        const Capturing one;
        drv.cuEventRecord(event, one);
        r("wait", drv.cuStreamWaitEvent(CU_STREAM_PER_THREAD, event, 0));
        r("launch", launch_empty(CU_STREAM_PER_THREAD));
        r("legacy", launch_empty(nullptr));
        r("status", status(one));
        r("join", join(one, CU_STREAM_PER_THREAD));
        end(r, "end", one);
    });
    cases.add("capture_rules/blocking_branch", [](Record& r) {
        const Event event = untimed();
        const Stream blocking = new_stream(CU_STREAM_DEFAULT);
        const Capturing one;
        drv.cuEventRecord(event, one);
        r("legacy before", launch_empty(nullptr));
        r("wait", drv.cuStreamWaitEvent(blocking, event, 0));
        r("legacy", launch_empty(nullptr));
        r("status", status(one));
        end(r, "end", one);
        r("legacy after", launch_empty(nullptr));
    });
    cases.add("capture_rules/merge_of_branches", [](Record& r) {
        // Events of two captures, waited for by a stream in neither and then by one of them.
        const Capturing one, two;
        const Event of_one = untimed(), of_two = untimed();
        const Stream three = new_stream();
        drv.cuEventRecord(of_one, one);
        drv.cuEventRecord(of_two, two);
        r("wait for one", drv.cuStreamWaitEvent(three, of_one, 0));
        r("wait for two", drv.cuStreamWaitEvent(three, of_two, 0));
        r("three", status(three));
        r("one", status(one));
        r("two", status(two));
    });
    cases.add("capture_rules/plain_stream_waits_for_a_capture_and_has_work", [](Record& r) {
        // Work that was queued before stays outside; only the order in the stream crosses the border.
        Pinned flag;
        const Stream two = new_stream();
        CUdeviceptr address = flag.address();
        uint64_t limit = 2'000'000'000;  // ns
        void* arguments[] = {&address, &limit};
        must(drv.cuLaunchKernel(kernel("wait_flag"), 1, 1, 1, 1, 1, 1, 0, two, arguments, nullptr), "launch");
        const Capturing one;
        r("join", join(two, one));
        r("launch", launch_empty(two));
        r("join back", join(one, two));
        flag[0] = 1;
        end_and_show(r, "end", one);
        r("synchronize", drv.cuStreamSynchronize(two));
    });
    cases.add("capture_rules/begin_with_work_in_the_stream", [](Record& r) {
        Pinned flag;
        const Stream one = new_stream();
        CUdeviceptr address = flag.address();
        uint64_t limit = 2'000'000'000;  // ns
        void* arguments[] = {&address, &limit};
        must(drv.cuLaunchKernel(kernel("wait_flag"), 1, 1, 1, 1, 1, 1, 0, one, arguments, nullptr), "launch");
        r("begin", begin(one));
        r("launch", launch_empty(one));
        end_and_show(r, "end", one);
        r("query", drv.cuStreamQuery(one));
        flag[0] = 1;
        r("synchronize", drv.cuStreamSynchronize(one));
    });
}

void add_legacy_cases(Cases& cases) {
    cases.add("capture_rules/legacy_stream_while_a_blocking_stream_captures", [](Record& r) {
        const Ints a(64);
        const Graph graph = new_graph();
        plain_kernel_node(graph);
        const Exec exec = new_exec(graph);
        const Event event = untimed();
        const auto ask = [&](const char* name, const std::function<CUresult()>& call) {
            const Capturing blocking(kRelaxed, CU_STREAM_DEFAULT);
            r(name, call());
            r("status", status(blocking));
        };
        CUdeviceptr p = 0;
        CUstreamCaptureStatus answer{};
        ask("memset", [&] { return drv.cuMemsetD32Async(a, 1, 4, nullptr); });
        ask("memset now", [&] { return drv.cuMemsetD32(a, 1, 4); });
        ask("copy", [&] { return drv.cuMemcpyDtoDAsync(a, a, 4, nullptr); });
        ask("copy now", [&] { return drv.cuMemcpyDtoD(a, a, 4); });
        ask("host function", [&] { return drv.cuLaunchHostFunc(nullptr, [](void*) {}, nullptr); });
        ask("record", [&] { return drv.cuEventRecord(event, nullptr); });
        ask("wait", [&] { return drv.cuStreamWaitEvent(nullptr, event, 0); });
        ask("alloc", [&] { return drv.cuMemAllocAsync(&p, 64, nullptr); });
        ask("free", [&] { return drv.cuMemFreeAsync(0, nullptr); });
        ask("graph", [&] { return drv.cuGraphLaunch(exec, nullptr); });
        ask("upload", [&] { return drv.cuGraphUpload(exec, nullptr); });
        ask("synchronize", [&] { return drv.cuStreamSynchronize(nullptr); });
        ask("query", [&] { return drv.cuStreamQuery(nullptr); });
        ask("is capturing", [&] { return drv.cuStreamIsCapturing(nullptr, &answer); });
        ask("info",
            [&] { return drv.cuStreamGetCaptureInfo(nullptr, &answer, nullptr, nullptr, nullptr, nullptr, nullptr); });
        ask("update", [&] { return drv.cuStreamUpdateCaptureDependencies(nullptr, nullptr, nullptr, 0, 0); });
        ask("end", [&] {
            CUgraph g = nullptr;
            return drv.cuStreamEndCapture(nullptr, &g);
        });
        ask("begin", [&] { return begin(nullptr); });
        ask("flags", [&] {
            unsigned f;
            return drv.cuStreamGetFlags(nullptr, &f);
        });
        ask("wrong launch",
            [&] { return drv.cuLaunchKernel(kernel("empty"), 0, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr); });
        ask("blocking stream", [&] {
            const Stream other = new_stream(CU_STREAM_DEFAULT);
            return launch_empty(other);
        });
        ask("per-thread stream", [&] { return launch_empty(CU_STREAM_PER_THREAD); });
    });
    cases.add("capture_rules/legacy_stream_after_an_invalid_capture", [](Record& r) {
        const Capturing blocking(kRelaxed, CU_STREAM_DEFAULT);
        r("launch", launch_empty(nullptr));
        r("again", launch_empty(nullptr));
        end(r, "end", blocking);
        r("after the end", launch_empty(nullptr));
    });
    cases.add("capture_rules/legacy_stream_of_another_thread", [](Record& r) {
        const Capturing blocking(kLocal, CU_STREAM_DEFAULT);
        elsewhere([&] { r("launch", launch_empty(nullptr)); });
        r("status", status(blocking));
    });
    cases.add("capture_rules/legacy_stream_and_two_captures", [](Record& r) {
        const Capturing blocking(kRelaxed, CU_STREAM_DEFAULT), other(kRelaxed, CU_STREAM_DEFAULT), apart;
        r("launch", launch_empty(nullptr));
        r("blocking", status(blocking));
        r("other", status(other));
        r("non-blocking", status(apart));
    });
    cases.add("capture_rules/per_thread_stream_bars_the_legacy_stream", [](Record& r) {
        must(begin(CU_STREAM_PER_THREAD), "begin");
        CUstreamCaptureStatus answer{};
        r("is capturing", drv.cuStreamIsCapturing(nullptr, &answer));
        r("launch", launch_empty(nullptr));
        r("status", status(CU_STREAM_PER_THREAD));
        end(r, "end", CU_STREAM_PER_THREAD);
    });
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
        // An edge added by hand joins a branch as well as an event does.
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
        // Work of the graph that no dependency of the capture leads to is nobody's branch.
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
    const auto body_case = [&](const char* name, void (*ask)(Record&, CUstream, CUgraph body)) {
        cases.add(std::string("capture_to_body/") + name, [ask](Record& r) {
            CUgraph graph = new_graph().release();  // not destroyed: libcuda may crash when a capture of a body failed
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

void add_end_cases(Cases& cases) {
    cases.add("capture_ends/to_null", [](Record& r) {
        const Capturing one;
        launch_empty(one);
        r("end", drv.cuStreamEndCapture(one, nullptr));
        r("status", status(one));
    });
    cases.add("capture_ends/twice", [](Record& r) {
        const Capturing one;
        end_and_show(r, "end", one);
        CUgraph graph = nullptr;
        r("again", drv.cuStreamEndCapture(one, &graph));
    });
    for (CUstreamCaptureMode mode : {kGlobal, kLocal, kRelaxed}) {
        const char* names[] = {"global", "thread_local", "relaxed"};
        cases.add(std::string("capture_ends/in_another_thread_") + names[mode], [mode](Record& r) {
            const Capturing one(mode);
            launch_empty(one);
            CUgraph graph = nullptr;
            elsewhere([&] { r("end", drv.cuStreamEndCapture(one, &graph)); });
            r("gives a graph", graph != nullptr);
            r("status", status(one));
            if (graph != nullptr) show_graph(r, "graph", graph);
            r("end here", drv.cuStreamEndCapture(one, &graph));
        });
    }
    cases.add("capture_ends/in_another_thread_when_invalid", [](Record& r) {
        const Capturing one(kLocal);
        drv.cuStreamSynchronize(one);
        CUgraph graph = nullptr;
        elsewhere([&] { r("end", drv.cuStreamEndCapture(one, &graph)); });
        r("status", status(one));
    });
    cases.add("capture_ends/of_a_branch_in_another_thread", [](Record& r) {
        const Capturing one(kLocal);
        const Stream two = one.branch();
        CUgraph graph = nullptr;
        elsewhere([&] { r("end", drv.cuStreamEndCapture(two, &graph)); });
        r("status", status(one));
        end(r, "end", one);
    });
    cases.add("capture_ends/of_a_branch_when_invalid", [](Record& r) {
        const Capturing one;
        const Stream two = one.branch();
        drv.cuStreamSynchronize(one);
        CUgraph graph = nullptr;
        r("end the branch", drv.cuStreamEndCapture(two, &graph));
        r("branch", status(two));
        r("origin", status(one));
        end(r, "end", one);
    });
    cases.add("capture_ends/thread_that_began_has_ended", [](Record& r) {
        const Stream one = new_stream();
        elsewhere([&] {
            must(begin(one, kGlobal), "begin");
            launch_empty(one);
        });
        r("status", status(one));
        r("launch", launch_empty(one));
        CUdeviceptr p = 0;
        r("alloc", drv.cuMemAlloc(&p, 64));
        r("status", status(one));
        CUgraph graph = nullptr;
        r("end", drv.cuStreamEndCapture(one, &graph));
        r("status", status(one));
    });
    cases.add("capture_ends/branch_destroyed", [](Record& r) {
        const Capturing one;
        launch_empty(one);
        CUstream two = one.branch().release();
        launch_empty(two);
        r("destroy", drv.cuStreamDestroy(two));
        r("status", status(one));
        r("launch", launch_empty(one));
        end_and_show(r, "end", one);
    });
    cases.add("capture_ends/branch_without_work_destroyed", [](Record& r) {
        const Capturing one;
        launch_empty(one);
        CUstream two = one.branch().release();
        r("destroy", drv.cuStreamDestroy(two));
        r("status", status(one));
        end_and_show(r, "end", one);
    });
    cases.add("capture_ends/joined_branch_destroyed", [](Record& r) {
        const Capturing one;
        CUstream two = one.branch().release();
        launch_empty(two);
        r("join", join(one, two));
        r("destroy", drv.cuStreamDestroy(two));
        r("status", status(one));
        end_and_show(r, "end", one);
    });
    cases.add("capture_ends/branch_joined_by_an_event_after_its_end", [](Record& r) {
        const Capturing one;
        const Event event = untimed();
        CUstream two = one.branch().release();
        launch_empty(two);
        drv.cuEventRecord(event, two);
        r("destroy", drv.cuStreamDestroy(two));
        r("wait", drv.cuStreamWaitEvent(one, event, 0));
        end_and_show(r, "end", one);
    });
    cases.add("capture_ends/origin_destroyed", [](Record& r) {
        const Stream two = new_stream();
        const Event event = untimed();
        CUstream one = new_stream().release();
        must(begin(one), "begin");
        launch_empty(one);
        drv.cuEventRecord(event, one);
        drv.cuStreamWaitEvent(two, event, 0);
        const CUgraph graph = graph_of(one);
        r("destroy", drv.cuStreamDestroy(one));
        r("branch", status(two));
        r("launch on the branch", launch_empty(two));
        r("query the event", drv.cuEventQuery(event));
        size_t count = 0;
        r("graph", drv.cuGraphGetNodes(graph, nullptr, &count));
        CUgraph ended = nullptr;
        r("end the branch", drv.cuStreamEndCapture(two, &ended));
        r("branch", status(two));
        r("alloc", drv.cuCtxSynchronize());
    });
    cases.add("capture_ends/origin_of_a_global_capture_destroyed", [](Record& r) {
        CUstream one = new_stream().release();
        must(begin(one, kGlobal), "begin");
        r("destroy", drv.cuStreamDestroy(one));
        CUdeviceptr p = 0;
        r("alloc", drv.cuMemAlloc(&p, 64));
    });
    cases.add("capture_ends/origin_of_a_capture_to_a_graph_destroyed", [](Record& r) {
        Graph graph = new_graph();
        empty_node(graph);
        CUstream one = new_stream().release();
        must(drv.cuStreamBeginCaptureToGraph(one, graph, nullptr, nullptr, 0, kRelaxed), "begin");
        launch_empty(one);
        r("destroy", drv.cuStreamDestroy(one));
        size_t count = 0;
        const CUresult alive = drv.cuGraphGetNodes(graph, nullptr, &count);
        r("graph", alive);
        r("nodes", count);
        if (alive != CUDA_SUCCESS) graph.release();
    });
    cases.add("capture_ends/graph_after_invalidation", [](Record& r) {
        const Capturing one;
        launch_empty(one);
        const CUgraph graph = graph_of(one);
        drv.cuStreamSynchronize(one);
        size_t count = 0;
        r("nodes", drv.cuGraphGetNodes(graph, nullptr, &count));
        end(r, "end", one);
        r("nodes after the end", drv.cuGraphGetNodes(graph, nullptr, &count));
    });
    cases.add("capture_ends/given_graph_after_invalidation", [](Record& r) {
        CUgraph graph = new_graph().release();
        const Stream one = new_stream();
        must(drv.cuStreamBeginCaptureToGraph(one, graph, nullptr, nullptr, 0, kRelaxed), "begin");
        drv.cuStreamSynchronize(one);
        size_t count = 0;
        r("nodes", drv.cuGraphGetNodes(graph, nullptr, &count));
        CUgraph ended = nullptr;
        r("end", drv.cuStreamEndCapture(one, &ended));
        r("nodes after the end", drv.cuGraphGetNodes(graph, nullptr, &count));
    });
    cases.add("capture_ends/user_objects_of_an_invalid_capture", [](Record& r) {
        static std::atomic<int> released;
        released = 0;
        const Capturing one;
        CUuserObject object = nullptr;
        must(drv.cuUserObjectCreate(
                 &object, nullptr, [](void*) { ++released; }, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
             "object");
        must(drv.cuGraphRetainUserObject(graph_of(one), object, 1, CU_GRAPH_USER_OBJECT_MOVE), "retain");
        drv.cuStreamSynchronize(one);
        r("released", released.load());
        end(r, "end", one);
        r("released after the end", eventually([&] { return released == 1; }));
    });
    cases.add("capture_ends/and_begins_again", [](Record& r) {
        const Stream one = new_stream();
        for (int i = 0; i < 3; ++i) {
            r("begin", begin(one, kGlobal));
            launch_empty(one);
            end_and_show(r, "end", one);
        }
        r("launch", launch_empty(one));
        r("synchronize", drv.cuStreamSynchronize(one));
    });
    cases.add("capture_ends/modes_of_a_thread", [](Record& r) {
        CUstreamCaptureMode mode = static_cast<CUstreamCaptureMode>(9);
        r("unknown", drv.cuThreadExchangeStreamCaptureMode(&mode));
        r("was", mode);
        mode = kGlobal;
        r("back", drv.cuThreadExchangeStreamCaptureMode(&mode));
        r("was", mode);
        mode = kLocal;
        drv.cuThreadExchangeStreamCaptureMode(&mode);
        elsewhere([&] {
            CUstreamCaptureMode other = kRelaxed;
            r("another thread", drv.cuThreadExchangeStreamCaptureMode(&other));
            r("was", other);
        });
        mode = kGlobal;
        drv.cuThreadExchangeStreamCaptureMode(&mode);
        r("was", mode);
    });
}

}  // namespace

void add_capture_rule_cases(Cases& cases) {
    add_fork_cases(cases);
    add_legacy_cases(cases);
    add_dependency_cases(cases);
    add_to_graph_cases(cases);
    add_end_cases(cases);
}

}  // namespace conf
