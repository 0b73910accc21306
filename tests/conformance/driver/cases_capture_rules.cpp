// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Stream capture: forks and joins through events, and the legacy default stream.
#include "capture_rig.hpp"
#include "cases.hpp"

namespace conf {
namespace {

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
    cases.add("capture_rules/graph_waits_for_a_captured_event", [](Record& r) {
        const Event event = untimed();
        const Graph graph = new_graph();
        wait_node(graph, event);
        const Exec exec = new_exec(graph);
        const Stream plain = new_stream();
        {
            const Capturing one;
            launch_empty(one);
            drv.cuEventRecord(event, one);
            r("launch", drv.cuGraphLaunch(exec, plain));
            r("status", status(one));
            end_and_show(r, "end", one);
        }
        r("launch after the end", drv.cuGraphLaunch(exec, plain));
        r("synchronize", drv.cuStreamSynchronize(plain));
    });
    cases.add("capture_rules/graph_records_a_captured_event", [](Record& r) {
        const Event event = untimed();
        const Graph graph = new_graph();
        record_node(graph, event);
        const Exec exec = new_exec(graph);
        const Stream plain = new_stream();
        const Capturing one;
        drv.cuEventRecord(event, one);
        r("launch", drv.cuGraphLaunch(exec, plain));
        r("synchronize the event", drv.cuEventSynchronize(event));
        r("status", status(one));
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
        // Events of two captures. A stream in neither capture waits for them, then a stream in one of them.
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
        // Work that was queued before the capture is not captured; only the order of the stream applies to it.
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
        ask("priority", [&] {
            int priority;
            return drv.cuStreamGetPriority(nullptr, &priority);
        });
        ask("context", [&] {
            CUcontext current;
            return drv.cuStreamGetCtx(nullptr, &current);
        });
        ask("id", [&] {
            unsigned long long id;
            return drv.cuStreamGetId(nullptr, &id);
        });
        ask("wait for null", [&] { return drv.cuStreamWaitEvent(nullptr, nullptr, 0); });
        ask("launch of no graph", [&] { return drv.cuGraphLaunch(nullptr, nullptr); });
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

}  // namespace

void add_capture_rule_cases(Cases& cases) {
    add_fork_cases(cases);
    add_legacy_cases(cases);
}

}  // namespace conf
