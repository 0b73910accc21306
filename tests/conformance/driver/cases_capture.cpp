// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream capture: calls that begin, join, end and break a capture.
#include "capture_rig.hpp"
#include "cases.hpp"

namespace conf {

namespace {

void add_state_cases(Cases& cases) {
    cases.add("capture/not_capturing", [](Record& r) {
        const Stream stream = new_stream();
        CUstreamCaptureStatus answer{};
        CUgraph graph = nullptr;
        r("is capturing", drv.cuStreamIsCapturing(stream, &answer));
        r("status", answer);
        r("end", drv.cuStreamEndCapture(stream, &graph));
        r("null output", drv.cuStreamIsCapturing(stream, nullptr));
        r("update", drv.cuStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, 0));
        cuuint64_t id = 0;
        r("info", drv.cuStreamGetCaptureInfo(stream, &answer, &id, nullptr, nullptr, nullptr, nullptr));
        r("info null status", drv.cuStreamGetCaptureInfo(stream, nullptr, &id, nullptr, nullptr, nullptr, nullptr));
    });
    cases.add("capture/begin_misuse", [](Record& r) {
        const Stream stream = new_stream();
        r("legacy null", begin(nullptr));
        r("legacy", begin(CU_STREAM_LEGACY));
        r("unknown mode", begin(stream, static_cast<CUstreamCaptureMode>(9)));
        r("begin", begin(stream));
        r("begin twice", begin(stream));
        r("status after", status(stream));
        end(r, "end", stream);
        r("per thread", begin(CU_STREAM_PER_THREAD));
        end(r, "end per thread", CU_STREAM_PER_THREAD);
    });
    cases.add("capture/chain", [](Record& r) {
        const Stream stream = new_stream();
        Ints a(4), b(4);
        must(begin(stream), "begin");
        r("kernel", launch_empty(stream));
        r("memset", drv.cuMemsetD32Async(a, 1, 4, stream));
        r("copy", drv.cuMemcpyDtoDAsync(b, a, 16, stream));
        r("host", drv.cuLaunchHostFunc(stream, [](void*) {}, nullptr));
        end(r, "end", stream);
        r("nothing ran", b.get());
    });
    cases.add("capture/fork_and_join", [](Record& r) {
        const Stream one = new_stream(), two = new_stream();
        const Event fork = new_event(CU_EVENT_DISABLE_TIMING), join = new_event(CU_EVENT_DISABLE_TIMING);
        must(begin(one), "begin");
        launch_empty(one);
        r("record", drv.cuEventRecord(fork, one));
        r("wait", drv.cuStreamWaitEvent(two, fork, 0));
        r("status of the branch", status(two));
        launch_empty(two);
        launch_empty(one);
        r("record", drv.cuEventRecord(join, two));
        r("wait", drv.cuStreamWaitEvent(one, join, 0));
        launch_empty(one);
        end(r, "end", one);
        r("branch after", status(two));
    });
    const auto unjoined = [&](const std::string& name, bool end_branch_first) {
        cases.add("capture/" + name, [end_branch_first](Record& r) {
            const Stream one = new_stream(), two = new_stream();
            const Event fork = new_event(CU_EVENT_DISABLE_TIMING);
            must(begin(one), "begin");
            must(drv.cuEventRecord(fork, one), "record");
            must(drv.cuStreamWaitEvent(two, fork, 0), "wait");
            launch_empty(two);
            if (end_branch_first) end(r, "end on the branch", two);
            end(r, "end", one);
            r("origin after", status(one));
            r("branch after", status(two));
        });
    };
    unjoined("unjoined", false);
    unjoined("ended_on_a_branch", true);
    // Records one call that a capture forbids, and the state after it.
    const auto forbidden = [&](const std::string& name, CUresult (*call)(CUstream, CUevent captured, CUevent outside)) {
        cases.add("capture/" + name, [call](Record& r) {
            const Stream one = new_stream(), two = new_stream();
            const Event event = new_event(CU_EVENT_DISABLE_TIMING), outside = new_event(CU_EVENT_DISABLE_TIMING);
            must(drv.cuEventRecord(outside, two), "record outside");
            must(begin(one), "begin");
            must(drv.cuEventRecord(event, one), "record");
            r("call", call(one, event, outside));
            r("status", status(one));
            r("launch", launch_empty(one));
            end(r, "end", one);
        });
    };
    forbidden("query_captured_event", [](CUstream, CUevent event, CUevent) { return drv.cuEventQuery(event); });
    forbidden("synchronize_captured_event",
              [](CUstream, CUevent event, CUevent) { return drv.cuEventSynchronize(event); });
    forbidden("wait_for_outside_event",
              [](CUstream stream, CUevent, CUevent outside) { return drv.cuStreamWaitEvent(stream, outside, 0); });
    forbidden("query_stream", [](CUstream stream, CUevent, CUevent) { return drv.cuStreamQuery(stream); });
    forbidden("synchronize_context", [](CUstream, CUevent, CUevent) { return drv.cuCtxSynchronize(); });
    forbidden("elapsed_time", [](CUstream, CUevent event, CUevent outside) {
        float ms = 0;
        return drv.cuEventElapsedTime(&ms, event, outside);
    });
    cases.add("capture/synchronize_invalidates", [](Record& r) {
        const Stream stream = new_stream();
        must(begin(stream), "begin");
        r("synchronize", drv.cuStreamSynchronize(stream));
        r("status", status(stream));
        end(r, "end", stream);
        r("after", status(stream));
    });
    cases.add("capture/two_captures_do_not_merge", [](Record& r) {
        const Stream one = new_stream(), two = new_stream();
        const Event event = new_event(CU_EVENT_DISABLE_TIMING);
        must(begin(one), "begin");
        must(begin(two), "begin");
        must(drv.cuEventRecord(event, one), "record");
        r("wait", drv.cuStreamWaitEvent(two, event, 0));
        r("one", status(one));
        r("two", status(two));
        end(r, "end one", one);
        end(r, "end two", two);
    });
    cases.add("capture/unsafe_calls_in_global_mode", [](Record& r) {
        const Stream stream = new_stream();
        must(begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "begin");
        CUdeviceptr address = 0;
        CUstream other = nullptr;
        r("stream create", drv.cuStreamCreateWithPriority(&other, CU_STREAM_NON_BLOCKING, 0));
        r("status", status(stream));
        r("alloc", drv.cuMemAlloc(&address, 64));
        r("status", status(stream));
        end(r, "end", stream);
        if (other != nullptr) drv.cuStreamDestroy(other);
    });
    cases.add("capture/modes_of_a_thread", [](Record& r) {
        CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
        r("exchange", drv.cuThreadExchangeStreamCaptureMode(&mode));
        r("was", mode);
        r("back", drv.cuThreadExchangeStreamCaptureMode(&mode));
        r("was", mode);
        mode = static_cast<CUstreamCaptureMode>(9);
        r("unknown", drv.cuThreadExchangeStreamCaptureMode(&mode));
    });
    cases.add("capture/legacy_stream_while_a_blocking_stream_captures", [](Record& r) {
        const Stream stream = new_stream(CU_STREAM_DEFAULT);
        must(begin(stream), "begin");
        CUstreamCaptureStatus answer{};
        r("query legacy", drv.cuStreamIsCapturing(nullptr, &answer));
        r("status", status(stream));
        r("launch on legacy", launch_empty(nullptr));
        r("status", status(stream));
        end(r, "end", stream);
    });
    cases.add("capture/memory_becomes_nodes", [](Record& r) {
        const Stream stream = new_stream();
        must(begin(stream), "begin");
        CUdeviceptr address = 0;
        r("alloc", drv.cuMemAllocAsync(&address, 64, stream));
        r("free", drv.cuMemFreeAsync(address, stream));
        r("size 0", drv.cuMemAllocAsync(&address, 0, stream));
        end(r, "end", stream);
    });
    cases.add("capture/to_graph", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode first = empty_node(graph);
        const Stream stream = new_stream();
        r("begin", drv.cuStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
        launch_empty(stream);
        ask_instantiate(r, "instantiate while capturing", graph);
        CUgraph back = nullptr;
        r("end", drv.cuStreamEndCapture(stream, &back));
        r("same graph", back == graph);
        r("nodes", node_count(graph));
        r("edges", edge_count(graph));
        r("null graph",
          drv.cuStreamBeginCaptureToGraph(stream, nullptr, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    });
    cases.add("capture/graph_launch_becomes_a_child", [](Record& r) {
        const Graph graph = new_graph();
        plain_kernel_node(graph);
        const Exec exec = new_exec(graph);
        const Stream stream = new_stream();
        must(begin(stream), "begin");
        r("launch", drv.cuGraphLaunch(exec, stream));
        CUgraph captured = nullptr;
        r("end", drv.cuStreamEndCapture(stream, &captured));
        if (captured == nullptr) return;
        CUgraphNode node = nullptr;
        size_t count = 1;
        r("nodes", drv.cuGraphGetNodes(captured, &node, &count));
        CUgraphNodeType type{};
        if (node != nullptr) drv.cuGraphNodeGetType(node, &type);
        r("type", type);
        drv.cuGraphDestroy(captured);
    });
    cases.add("capture/stream_destroyed", [](Record& r) {
        CUstream stream = new_stream().release();
        must(begin(stream), "begin");
        launch_empty(stream);
        r("destroy", drv.cuStreamDestroy(stream));
    });
}

}  // namespace

void add_capture_cases(Cases& cases) {
    add_state_cases(cases);
}

}  // namespace conf
