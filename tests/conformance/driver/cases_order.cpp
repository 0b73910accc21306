// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Results and order of execution: streams, events, host functions, graphs.
#include <atomic>

#include "cases.hpp"

namespace conf {

namespace {

std::atomic<int> host_count{0};
std::atomic<int> host_result{-1};

void count_one(void*) {
    host_count += 1;
}

void call_the_driver(void*) {
    CUdeviceptr address = 0;
    host_result = static_cast<int>(drv.cuMemAlloc(&address, 4));
}

void add_graph_order_cases(Cases& cases) {
    cases.add("order/chain", [](Record& r) {
        const Graph graph = new_graph();
        Ints out(1, 1);
        CUgraphNode last = nullptr;
        for (int i = 0; i < 10; ++i) last = mul_add_node(graph, out, 3, i, last == nullptr ? Nodes{} : Nodes{last});
        run_graph(graph);
        r("out", out.get());
    });
    cases.add("order/edges_not_creation", [](Record& r) {
        const Graph graph = new_graph();
        Ints out(1, 1);
        const CUgraphNode a = mul_add_node(graph, out, 2, 1), b = mul_add_node(graph, out, 3, 5),
                          c = mul_add_node(graph, out, 7, 2);
        const CUgraphNode from[] = {c, a}, to[] = {a, b};
        must(drv.cuGraphAddDependencies(graph, from, to, nullptr, 2), "edges");
        run_graph(graph);
        r("out", out.get());
    });
    cases.add("order/diamond_with_every_kind", [](Record& r) {
        const Graph graph = new_graph(), child = new_graph();
        Ints a(4), b(4), c(4);
        const Event event = new_event();
        host_count = 0;
        mul_add_node(child, a, 10, 3);
        const CUgraphNode fill = memset_node(graph, a, 2), other = memset_node(graph, b, 9);
        const CUgraphNode inner = child_node(graph, child, {fill}),
                          host = host_node(graph, count_one, nullptr, {other});
        const CUgraphNode join = empty_node(graph, {inner, host}), mark = record_node(graph, event, {join});
        const CUgraphNode wait = wait_node(graph, event, {mark});
        copy_node(graph, c, a, 4, {wait});
        const Exec exec = new_exec(graph);
        run(exec);
        run(exec);
        r("a", a.get());
        r("b", b.get());
        r("c", c.get());
        r("host calls", host_count.load());
        r("event", drv.cuEventQuery(event));
    });
    cases.add("order/two_graphs_on_one_stream", [](Record& r) {
        const Graph one = new_graph(), two = new_graph();
        Ints out(1, 1);
        const Stream stream = new_stream();
        mul_add_node(one, out, 3, 1);
        mul_add_node(two, out, 5, 2);
        const Exec first = new_exec(one), second = new_exec(two);
        for (int i = 0; i < 3; ++i) {
            must(drv.cuGraphLaunch(first, stream), "launch");
            must(drv.cuGraphLaunch(second, stream), "launch");
        }
        must(drv.cuStreamSynchronize(stream), "sync");
        r("out", out.get());
    });
    cases.add("order/graph_between_kernels_and_copies", [](Record& r) {
        const Graph graph = new_graph();
        Ints out(1, 0);
        Pinned host;
        const Stream stream = new_stream();
        mul_add_node(graph, out, 3, 1);
        const Exec exec = new_exec(graph);
        must(drv.cuMemsetD32Async(out, 4, 1, stream), "memset");
        must(drv.cuGraphLaunch(exec, stream), "launch");
        must(drv.cuMemcpyDtoHAsync(host.data(), out, 4, stream), "copy");
        must(drv.cuMemsetD32Async(out, 0, 1, stream), "memset");
        must(drv.cuStreamSynchronize(stream), "sync");
        r("host", static_cast<int>(host[0]));
    });
    cases.add("order/edge_with_launch_order_port", [](Record& r) {
        const Graph graph = new_graph();
        const CUgraphNode a = plain_kernel_node(graph), b = plain_kernel_node(graph);
        CUgraphEdgeData data{};
        data.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
        r("add", drv.cuGraphAddDependencies(graph, &a, &b, &data, 1));
        const CUgraphNode c = plain_kernel_node(graph), e = empty_node(graph);
        data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
        r("add programmatic", drv.cuGraphAddDependencies(graph, &b, &c, &data, 1));
        data.type = CU_GRAPH_DEPENDENCY_TYPE_DEFAULT;
        r("to an empty node", drv.cuGraphAddDependencies(graph, &c, &e, &data, 1));
        r("from an empty node", drv.cuGraphAddDependencies(graph, &e, &a, &data, 1));
        ask_instantiate(r, "instantiate", graph);
    });
    cases.add("order/kernel_geometry", [](Record& r) {
        const Graph graph = new_graph();
        Ints out(64);
        CUdeviceptr address = out;
        void* arguments[] = {&address};
        const CUDA_KERNEL_NODE_PARAMS params = kernel_params(kernel("iota"), arguments, 4, 16);
        CUgraphNode node = nullptr;
        must(drv.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params), "add");
        run_graph(graph);
        bool good = true;
        for (int i = 0; i < 64; ++i) good = good && out.get(static_cast<size_t>(i)) == i;
        r("every thread ran", good);
    });
}

void add_host_cases(Cases& cases) {
    cases.add("host/cuda_call_inside_a_host_node", [](Record& r) {
        const Graph graph = new_graph();
        host_result = -1;
        host_node(graph, call_the_driver, nullptr);
        run_graph(graph);
        r("inside", static_cast<CUresult>(host_result.load()));
    });
    cases.add("host/cuda_call_inside_cuLaunchHostFunc", [](Record& r) {
        const Stream stream = new_stream();
        host_result = -1;
        r("launch", drv.cuLaunchHostFunc(stream, call_the_driver, nullptr));
        r("sync", drv.cuStreamSynchronize(stream));
        r("inside", static_cast<CUresult>(host_result.load()));
        r("null function", drv.cuLaunchHostFunc(stream, nullptr, nullptr));
    });
    cases.add("host/runs_in_stream_order_on_another_thread", [](Record& r) {
        const Stream stream = new_stream();
        host_count = 0;
        for (int i = 0; i < 5; ++i) must(drv.cuLaunchHostFunc(stream, count_one, nullptr), "launch");
        must(drv.cuStreamSynchronize(stream), "sync");
        r("count", host_count.load());
    });
    cases.add("host/not_called_twice_for_one_launch", [](Record& r) {
        const Graph graph = new_graph();
        host_count = 0;
        host_node(graph, count_one, nullptr);
        const Exec exec = new_exec(graph);
        for (int i = 0; i < 3; ++i) run(exec);
        r("count", host_count.load());
    });
}

void add_event_order_cases(Cases& cases) {
    cases.add("events/recorded_in_a_graph", [](Record& r) {
        const Graph graph = new_graph();
        Pinned flag;
        const Stream stream = new_stream();
        const Event first = new_event(), second = new_event();
        const CUgraphNode a = record_node(graph, first), b = wait_flag_node(graph, flag.address(), {a});
        record_node(graph, second, {b});
        const Exec exec = new_exec(graph);
        r("query before launch", drv.cuEventQuery(second));
        float ms = -1;
        r("elapsed before launch", drv.cuEventElapsedTime(&ms, first, second));
        r("launch", drv.cuGraphLaunch(exec, stream));
        r("query while running", drv.cuEventQuery(second));
        r("elapsed while running", drv.cuEventElapsedTime(&ms, first, second));
        flag[0] = 1;
        r("synchronize", drv.cuEventSynchronize(second));
        r("query after", drv.cuEventQuery(second));
        r("elapsed after", drv.cuEventElapsedTime(&ms, first, second));
        r("is positive", ms > 0);
        drv.cuStreamSynchronize(stream);
    });
    cases.add("events/wait_node_waits_for_a_stream", [](Record& r) {
        const Graph graph = new_graph();
        Pinned flag;
        Ints out(1, 1);
        const Stream one = new_stream(), two = new_stream();
        const Event event = new_event();
        mul_add_node(graph, out, 3, 1, {wait_node(graph, event)});
        const Exec exec = new_exec(graph);
        CUdeviceptr address = flag.address(), target = out;
        uint64_t limit = 5000000000u;
        int factor = 5, term = 2;
        void* wait_arguments[] = {&address, &limit};
        void* arguments[] = {&target, &factor, &term};
        must(drv.cuLaunchKernel(kernel("wait_flag"), 1, 1, 1, 1, 1, 1, 0, one, wait_arguments, nullptr), "launch");
        must(drv.cuLaunchKernel(kernel("mul_add"), 1, 1, 1, 1, 1, 1, 0, one, arguments, nullptr), "launch");
        must(drv.cuEventRecord(event, one), "record");
        must(drv.cuGraphLaunch(exec, two), "launch graph");
        r("waiting", drv.cuStreamQuery(two));
        flag[0] = 1;
        must(drv.cuStreamSynchronize(two), "sync");
        r("out", out.get());
        drv.cuStreamSynchronize(one);
    });
    cases.add("events/wait_node_of_an_unrecorded_event", [](Record& r) {
        const Graph graph = new_graph();
        const Event event = new_event();
        wait_node(graph, event);
        run_graph(graph);
        r("ran", true);
    });
    cases.add("events/elapsed_misuse", [](Record& r) {
        const Stream stream = new_stream();
        const Event one = new_event(), two = new_event(), untimed = new_event(CU_EVENT_DISABLE_TIMING);
        float ms = 0;
        r("not recorded", drv.cuEventElapsedTime(&ms, one, two));
        must(drv.cuEventRecord(one, stream), "record");
        drv.cuStreamSynchronize(stream);
        r("second not recorded", drv.cuEventElapsedTime(&ms, one, two));
        must(drv.cuEventRecord(untimed, stream), "record");
        drv.cuStreamSynchronize(stream);
        r("untimed", drv.cuEventElapsedTime(&ms, one, untimed));
        r("same event", drv.cuEventElapsedTime(&ms, one, one));
        r("same is zero", ms == 0);
        r("null output", drv.cuEventElapsedTime(nullptr, one, one));
        r("null event", drv.cuEventElapsedTime(&ms, nullptr, one));
        must(drv.cuEventRecord(two, stream), "record");
        drv.cuStreamSynchronize(stream);
        r("both", drv.cuEventElapsedTime(&ms, one, two));
        r("backwards", drv.cuEventElapsedTime(&ms, two, one));
        r("backwards is not positive", ms <= 0);
    });
    cases.add("events/not_ready", [](Record& r) {
        Pinned flag;
        const Stream stream = new_stream();
        const Event one = new_event(), two = new_event();
        CUdeviceptr address = flag.address();
        uint64_t limit = 5000000000u;
        void* arguments[] = {&address, &limit};
        must(drv.cuEventRecord(one, stream), "record");
        must(drv.cuLaunchKernel(kernel("wait_flag"), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr), "launch");
        must(drv.cuEventRecord(two, stream), "record");
        float ms = 0;
        r("query", drv.cuEventQuery(two));
        r("elapsed", drv.cuEventElapsedTime(&ms, one, two));
        r("stream query", drv.cuStreamQuery(stream));
        flag[0] = 1;
        r("sync", drv.cuEventSynchronize(two));
        r("query after", drv.cuEventQuery(two));
        r("elapsed after", drv.cuEventElapsedTime(&ms, one, two));
        drv.cuStreamSynchronize(stream);
        r("stream query after", drv.cuStreamQuery(stream));
    });
    cases.add("events/wait_captures_the_record_at_the_call", [](Record& r) {
        Pinned flag;
        const Stream one = new_stream(), two = new_stream();
        const Event event = new_event();
        r("wait for unrecorded", drv.cuStreamWaitEvent(two, event, 0));
        CUdeviceptr address = flag.address();
        uint64_t limit = 5000000000u;
        void* arguments[] = {&address, &limit};
        must(drv.cuLaunchKernel(kernel("wait_flag"), 1, 1, 1, 1, 1, 1, 0, one, arguments, nullptr), "launch");
        must(drv.cuEventRecord(event, one), "record");
        r("the earlier wait is over", drv.cuStreamSynchronize(two));
        must(drv.cuStreamWaitEvent(two, event, 0), "wait");
        r("a later wait holds", drv.cuStreamQuery(two));
        flag[0] = 1;
        r("sync", drv.cuStreamSynchronize(two));
        r("destroy event in use", drv.cuStreamQuery(one));
        drv.cuStreamSynchronize(one);
    });
}

void add_default_stream_cases(Cases& cases) {
    const auto blocked = [](Record& r, unsigned flags, CUstream other) {
        Pinned flag;
        const Stream stream = new_stream(flags);
        CUdeviceptr address = flag.address();
        uint64_t limit = 5000000000u;
        void* arguments[] = {&address, &limit};
        must(drv.cuLaunchKernel(kernel("wait_flag"), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr), "launch");
        r("launch on the other", drv.cuLaunchKernel(kernel("empty"), 1, 1, 1, 1, 1, 1, 0, other, nullptr, nullptr));
        // Gives an independent launch time to finish.
        const bool done = eventually([&] { return drv.cuStreamQuery(other) == CUDA_SUCCESS; });
        r("the other is done", done);
        flag[0] = 1;
        drv.cuStreamSynchronize(stream);
        drv.cuCtxSynchronize();
    };
    cases.add("default_stream/legacy_waits_for_blocking_streams",
              [blocked](Record& r) { blocked(r, CU_STREAM_DEFAULT, nullptr); });
    cases.add("default_stream/legacy_ignores_non_blocking_streams",
              [blocked](Record& r) { blocked(r, CU_STREAM_NON_BLOCKING, nullptr); });
    cases.add("default_stream/per_thread_ignores_blocking_streams",
              [blocked](Record& r) { blocked(r, CU_STREAM_DEFAULT, CU_STREAM_PER_THREAD); });
}

}  // namespace

void add_order_cases(Cases& cases) {
    add_graph_order_cases(cases);
    add_host_cases(cases);
    add_event_order_cases(cases);
    add_default_stream_cases(cases);
}

}  // namespace conf
