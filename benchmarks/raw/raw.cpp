// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// raw <library> [REPEATS]: times bare driver calls from C++ and prints JSON, microseconds:
//
//     {"driver": 13000, "device": "...", "results": {"instantiate/10": {"median": ..., "min": ..., "repeats": ...},
//     ...}}
//
// The limit for everything that is not smarter than the driver itself; benchmarks/README.md says what each row is.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "table.hpp"

namespace raw {
namespace {

int repeats = 200;

struct Row {
    double median, min;
    size_t repeats;
};
std::map<std::string, Row> rows;

double now() {
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Keeps the median of `times`, each divided by `per`.
void keep(const std::string& name, std::vector<double> times, double per = 1) {
    std::sort(times.begin(), times.end());
    rows[name] = {times[times.size() / 2] / per, times.front() / per, times.size()};
}

// Times `body`; `before` and `after` run outside the clock. One unmeasured pass first.
std::vector<double> measure(const std::function<void()>& before, const std::function<void()>& body,
                            const std::function<void()>& after, int times = 0) {
    std::vector<double> taken;
    for (int i = -1; i < (times > 0 ? times : repeats); ++i) {
        before();
        const double start = now();
        body();
        const double end = now();
        after();
        if (i >= 0) taken.push_back(end - start);
    }
    return taken;
}

void nothing() {}

CUcontext context = nullptr;
CUstream stream = nullptr;
CUfunction add_one = nullptr, count_down = nullptr;
CUdeviceptr data = 0, counter = 0;

void synchronize() {
    check(drv.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

void start(const char* library) {
    open_driver(library);
    CUdevice device = 0;
    CUlibrary code = nullptr;
    CUkernel kernel = nullptr;
    check(drv.cuInit(0), "cuInit");
    check(drv.cuDeviceGet(&device, 0), "cuDeviceGet");
    check(drv.cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    check(drv.cuCtxSetCurrent(context), "cuCtxSetCurrent");
    check(drv.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), "cuStreamCreateWithPriority");
    check(drv.cuLibraryLoadData(&code, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0), "cuLibraryLoadData");
    check(drv.cuLibraryGetKernel(&kernel, code, "add_one"), "cuLibraryGetKernel");
    check(drv.cuKernelGetFunction(&add_one, kernel), "cuKernelGetFunction");
    check(drv.cuLibraryGetKernel(&kernel, code, "count_down"), "cuLibraryGetKernel");
    check(drv.cuKernelGetFunction(&count_down, kernel), "cuKernelGetFunction");
    check(drv.cuMemAlloc(&data, 1 << 20), "cuMemAlloc");
    check(drv.cuMemsetD8(data, 0, 1 << 20), "cuMemsetD8");
    check(drv.cuMemAlloc(&counter, 4), "cuMemAlloc");
}

// The kernel add_one over `count` floats: one block of `count` threads, or blocks of 256.
struct Task {
    CUdeviceptr target;
    unsigned count;
    void* arguments[2];
    CUDA_KERNEL_NODE_PARAMS params;

    explicit Task(unsigned floats) : target(data), count(floats), arguments{&target, &count}, params{} {
        params.func = add_one;
        params.blockDimX = count < 256 ? count : 256;
        params.gridDimX = (count + params.blockDimX - 1) / params.blockDimX;
        params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1;
        params.kernelParams = arguments;
    }
    Task(const Task&) = delete;
    void launch() {
        check(drv.cuLaunchKernel(add_one, params.gridDimX, 1, 1, params.blockDimX, 1, 1, 0, stream, arguments, nullptr),
              "cuLaunchKernel");
    }
};

CUgraph new_graph() {
    CUgraph graph = nullptr;
    check(drv.cuGraphCreate(&graph, 0), "cuGraphCreate");
    return graph;
}

CUgraphExec new_exec(CUgraph graph) {
    CUgraphExec exec = nullptr;
    check(drv.cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
    return exec;
}

CUgraphNode add_chain(CUgraph graph, int length, const Task& task, CUgraphNode last = nullptr) {
    for (int i = 0; i < length; ++i) {
        const CUgraphNode before = last;
        check(drv.cuGraphAddKernelNode(&last, graph, &before, before == nullptr ? 0 : 1, &task.params),
              "cuGraphAddKernelNode");
    }
    return last;
}

void time_chain(int length) {
    const std::string nodes = ", " + std::to_string(length) + " nodes";
    Task tiny(8);
    CUgraph graph = nullptr;
    const auto build = [&] {
        graph = new_graph();
        add_chain(graph, length, tiny);
    };
    const auto destroy_graph = [&] { check(drv.cuGraphDestroy(graph), "cuGraphDestroy"); };
    keep("add one kernel node, chain of " + std::to_string(length), measure(nothing, build, destroy_graph), length);

    graph = new_graph();
    const CUgraphNode last = add_chain(graph, length, tiny);
    CUgraphExec exec = nullptr;
    const auto destroy_exec = [&] { check(drv.cuGraphExecDestroy(exec), "cuGraphExecDestroy"); };
    keep("instantiate" + nodes, measure(nothing, [&] { exec = new_exec(graph); }, destroy_exec));
    exec = new_exec(graph);
    const auto launch = [&] { check(drv.cuGraphLaunch(exec, stream), "cuGraphLaunch"); };
    const auto launches = [&] {
        for (int i = 0; i < 20; ++i) launch();
    };
    keep("launch call" + nodes, measure(nothing, launches, synchronize), 20);
    const auto launch_and_wait = [&] {
        launch();
        synchronize();
    };
    keep("launch + sync" + nodes, measure(nothing, launch_and_wait, nothing));
    const auto update = [&] {
        CUgraphExecUpdateResultInfo info{};
        check(drv.cuGraphExecUpdate(exec, graph, &info), "cuGraphExecUpdate");
    };
    keep("whole-graph update" + nodes, measure(nothing, update, nothing));
    const auto set_params = [&] {
        for (int i = 0; i < 100; ++i)
            check(drv.cuGraphExecKernelNodeSetParams(exec, last, &tiny.params), "cuGraphExecKernelNodeSetParams");
    };
    keep("set one exec node's parameters" + nodes, measure(nothing, set_params, nothing), 100);
    destroy_exec();
    destroy_graph();
}

// The same work as a graph and as bare launches.
void time_tasks_of_1024_floats(int length) {
    const std::string tasks = ", " + std::to_string(length) + " tasks of 1024 floats";
    Task small(1024);
    const CUgraph graph = new_graph();
    add_chain(graph, length, small);
    const CUgraphExec exec = new_exec(graph);
    const auto as_graph = [&] {
        check(drv.cuGraphLaunch(exec, stream), "cuGraphLaunch");
        synchronize();
    };
    const auto bare = [&] {
        for (int i = 0; i < length; ++i) small.launch();
        synchronize();
    };
    keep("graph + sync" + tasks, measure(nothing, as_graph, nothing));
    keep("bare kernels + sync" + tasks, measure(nothing, bare, nothing));
    check(drv.cuGraphExecDestroy(exec), "cuGraphExecDestroy");
    check(drv.cuGraphDestroy(graph), "cuGraphDestroy");
}

void time_kernel_launch() {
    Task tiny(8);
    const auto hundred = [&] {
        for (int i = 0; i < 100; ++i) tiny.launch();
    };
    const auto one = [&] {
        tiny.launch();
        synchronize();
    };
    keep("launch one kernel on a stream", measure(nothing, hundred, synchronize), 100);
    keep("launch one kernel + sync", measure(nothing, one, nothing));
}

// A WhileNode whose body is `tasks` kernels in a chain, the last of which counts down and sets the condition.
double time_loop(int tasks, unsigned iterations, unsigned floats) {
    CUgraph graph = new_graph();
    CUgraphConditionalHandle handle = 0;
    check(drv.cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT),
          "cuGraphConditionalHandleCreate");
    CUgraphNodeParams loop{};
    loop.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    loop.conditional.handle = handle;
    loop.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
    loop.conditional.size = 1;
    loop.conditional.ctx = context;
    CUgraphNode node = nullptr;
    check(drv.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop), "cuGraphAddNode");
    const CUgraph body = loop.conditional.phGraph_out[0];

    Task task(floats);
    const CUgraphNode last = add_chain(body, tasks - 1, task);
    void* arguments[] = {&counter, &handle, &iterations};
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = count_down;
    params.gridDimX = params.gridDimY = params.gridDimZ = params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    check(drv.cuGraphAddKernelNode(&node, body, &last, last == nullptr ? 0 : 1, &params), "cuGraphAddKernelNode");
    check(drv.cuMemcpyHtoD(counter, &iterations, 4), "cuMemcpyHtoD");

    CUgraphExec exec = new_exec(graph);
    std::vector<double> times = measure(
        nothing,
        [&] {
            check(drv.cuGraphLaunch(exec, stream), "cuGraphLaunch");
            synchronize();
        },
        nothing, 30);
    std::sort(times.begin(), times.end());
    check(drv.cuGraphExecDestroy(exec), "cuGraphExecDestroy");
    check(drv.cuGraphDestroy(graph), "cuGraphDestroy");
    return times[times.size() / 2];
}

// Per iteration: the difference between 1001 iterations and 1, so that the launch itself does not count.
void time_while(const std::string& name, int tasks, unsigned floats) {
    keep(name, {(time_loop(tasks, 1001, floats) - time_loop(tasks, 1, floats)) / 1000});
}

void print() {
    int version = 0;
    char name[256] = {};
    check(drv.cuDriverGetVersion(&version), "cuDriverGetVersion");
    check(drv.cuDeviceGetName(name, sizeof name, 0), "cuDeviceGetName");
    std::printf("{\n\"driver\": %d,\n\"device\": \"%s\",\n\"unit\": \"us\",\n\"rows\": {\n", version, name);
    size_t left = rows.size();
    for (const auto& [row, value] : rows)
        std::printf("\"%s\": {\"median\": %.4f, \"min\": %.4f, \"repeats\": %zu}%s\n", row.c_str(), value.median,
                    value.min, value.repeats, --left > 0 ? "," : "");
    std::printf("}\n}\n");
}

}  // namespace
}  // namespace raw

int main(int count, char** words) {
    if (count < 2) {
        std::fprintf(stderr, "usage: %s <library> [REPEATS]\n", words[0]);
        return 2;
    }
    if (count > 2) raw::repeats = std::max(1, std::atoi(words[2]));
    raw::start(words[1]);
    for (const int length : {1, 10, 100, 1000}) raw::time_chain(length);
    for (const int length : {1, 10, 100}) raw::time_tasks_of_1024_floats(length);
    raw::time_kernel_launch();
    raw::time_while("while node, one iteration", 1, 8);
    raw::time_while("while node, one iteration of 2 tasks", 2, 8);
    raw::time_while("while node, one iteration of 4 tasks", 4, 8);
    raw::time_while("while node, one iteration of 2 tasks of 1024 floats", 2, 1024);
    raw::print();
    return 0;
}
