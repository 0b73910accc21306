// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream capture: threads that may end a capture, the state after an end, and streams that are destroyed in a capture.
#include <atomic>

#include "capture_rig.hpp"
#include "cases.hpp"

namespace conf {
namespace {

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

void add_capture_end_cases(Cases& cases) {
    add_end_cases(cases);
}

}  // namespace conf
