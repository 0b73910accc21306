// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What graphs cost on the host driver, with kernels that are native functions, so that nothing but the driver is
// measured: building, instantiating, changing, launching, and the iterations of a while node. Prints nanoseconds, the
// median of several runs, by the clock and of the calling thread alone (on a busy machine the second is the fair one).
//
//     make -C tests/hostdriver bench
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <vector>

#include "../../tests/hostdriver/cpp/native_loader.hpp"

namespace {

void must(CUresult result, const char* what) {
    if (result == CUDA_SUCCESS) return;
    const char* name = "?";
    cuGetErrorName(result, &name);
    std::fprintf(stderr, "%s: %s\n", what, name);
    std::exit(1);
}
#define MUST(call) must(call, #call)

// p[i] = p[i] * factor + 1 for eight floats: a tiny kernel
void tiny(const cgh_launch*, const void* params, void*, std::uint64_t, std::uint64_t) {
    native::Args args(params);
    auto* p = args.next<float*>();
    const auto factor = args.next<float>();
    for (int i = 0; i < 8; ++i) p[i] = p[i] * factor + 1.0f;
}

void count_down(const cgh_launch*, const void* params, void*, std::uint64_t, std::uint64_t) {
    native::Args args(params);
    auto* counter = args.next<std::uint64_t*>();
    *counter -= 1;
    cghGetServices()->set_conditional(args.next<std::uint64_t>(), *counter > 0);
}

const native::Kernels kernels{{"tiny", tiny, {8, 4}}, {"count_down", count_down, {8, 8}}};

double thread_nanoseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double nanoseconds() {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> times) {
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
}

// Times `run`, which does `per` things, `repetitions` times in each of 15 samples; `after` runs outside the clock.
void report(
    const char* what, double per, int repetitions, const std::function<void()>& run,
    const std::function<void()>& after = [] {}) {
    std::vector<double> clock, own;
    for (int sample = -1; sample < 15; ++sample) {
        const double from = nanoseconds(), own_from = thread_nanoseconds();
        for (int i = 0; i < repetitions; ++i) run();
        const double end = nanoseconds(), own_end = thread_nanoseconds();
        after();
        if (sample < 0) continue;
        clock.push_back((end - from) / repetitions / per);
        own.push_back((own_end - own_from) / repetitions / per);
    }
    std::printf("%-62s %10.1f ns   own %10.1f ns\n", what, median(clock), median(own));
}

class Bench {
  public:
    Bench() : library_("tiny count_down") {
        MUST(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
        MUST(cuMemAlloc(&data_, 4096));
        MUST(cuMemsetD8(data_, 0, 4096));
    }

    void chains() {
        for (const int nodes : {1, 10, 100, 1000}) {
            char name[96];
            const auto titled = [&](const char* what) {
                std::snprintf(name, sizeof name, "%s, chain of %d", what, nodes);
                return name;
            };
            std::vector<CUgraph> graphs;
            const int few = 2000 / nodes + 1;
            const auto destroy_graphs = [&] {
                for (CUgraph graph : graphs) MUST(cuGraphDestroy(graph));
                graphs.clear();
            };
            report(titled("add one kernel node"), nodes, few, [&] { graphs.push_back(chain(nodes)); }, destroy_graphs);

            CUgraph graph = chain(nodes);
            std::vector<CUgraphExec> execs;
            report(
                titled("instantiate, a node"), nodes, few,
                [&] {
                    execs.push_back(nullptr);
                    MUST(cuGraphInstantiate(&execs.back(), graph, 0));
                },
                [&] {
                    for (CUgraphExec each : execs) MUST(cuGraphExecDestroy(each));
                    execs.clear();
                });

            CUgraphExec exec = nullptr;
            MUST(cuGraphInstantiate(&exec, graph, 0));
            report(titled("launch + sync"), 1, 20'000 / nodes + 1, [&] { run(exec); });
            report(titled("launch + sync, a node"), nodes, 20'000 / nodes + 1, [&] { run(exec); });
            CUgraphExecUpdateResultInfo info{};
            report(titled("whole-graph update, a node"), nodes, few,
                   [&] { MUST(cuGraphExecUpdate(exec, graph, &info)); });
            const CUDA_KERNEL_NODE_PARAMS params = tiny_params();
            report(titled("set one exec node's parameters"), 1, 20'000,
                   [&] { MUST(cuGraphExecKernelNodeSetParams(exec, last_, &params)); });
            MUST(cuGraphExecDestroy(exec));
            MUST(cuGraphDestroy(graph));
        }
    }

    // A root, `arms` nodes side by side and a join.
    void star(int arms) {
        CUgraph graph = nullptr;
        MUST(cuGraphCreate(&graph, 0));
        std::vector<CUgraphNode> middle;
        const CUgraphNode root = add(graph, {});
        for (int i = 0; i < arms; ++i) middle.push_back(add(graph, {root}));
        add(graph, middle);
        CUgraphExec exec = nullptr;
        MUST(cuGraphInstantiate(&exec, graph, 0));
        char name[96];
        std::snprintf(name, sizeof name, "launch + sync, star of %d arms, a node", arms);
        report(name, arms + 2, 200, [&] { run(exec); });
        MUST(cuGraphExecDestroy(exec));
        MUST(cuGraphDestroy(graph));
    }

    void loop(int tasks) {
        constexpr std::uint64_t kIterations = 10'000;
        CUcontext context = nullptr;
        MUST(cuCtxGetCurrent(&context));
        CUgraph graph = nullptr;
        MUST(cuGraphCreate(&graph, 0));
        CUgraphConditionalHandle handle = 0;
        MUST(cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
        CUgraphNodeParams params{};
        params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
        params.conditional.handle = handle;
        params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
        params.conditional.size = 1;
        params.conditional.ctx = context;
        CUgraphNode node = nullptr;
        MUST(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
        const CUgraph body = params.conditional.phGraph_out[0];
        CUgraphNode last = nullptr;
        for (int i = 0; i < tasks; ++i) last = add(body, last == nullptr ? Nodes{} : Nodes{last});

        std::uint64_t counter = 0;
        std::uint64_t* address = &counter;
        void* arguments[] = {&address, &handle};
        CUDA_KERNEL_NODE_PARAMS count = tiny_params();
        count.func = library_.function("count_down");
        count.kernelParams = arguments;
        MUST(cuGraphAddKernelNode(&node, body, last == nullptr ? nullptr : &last, last != nullptr, &count));
        CUgraphExec exec = nullptr;
        MUST(cuGraphInstantiate(&exec, graph, 0));
        char name[96];
        std::snprintf(name, sizeof name, "while node of %d tiny kernels and the counter, an iteration", tasks);
        report(name, kIterations, 3, [&] {
            counter = kIterations;
            run(exec);
        });
        MUST(cuGraphExecDestroy(exec));
        MUST(cuGraphDestroy(graph));
    }

  private:
    using Nodes = std::vector<CUgraphNode>;

    CUDA_KERNEL_NODE_PARAMS tiny_params() {
        CUDA_KERNEL_NODE_PARAMS params{};
        params.func = library_.function("tiny");
        params.gridDimX = params.gridDimY = params.gridDimZ = 1;
        params.blockDimX = 8;
        params.blockDimY = params.blockDimZ = 1;
        params.kernelParams = arguments_;
        return params;
    }

    CUgraphNode add(CUgraph graph, const Nodes& after) {
        const CUDA_KERNEL_NODE_PARAMS params = tiny_params();
        CUgraphNode node = nullptr;
        MUST(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
        return node;
    }

    CUgraph chain(int nodes) {
        CUgraph graph = nullptr;
        MUST(cuGraphCreate(&graph, 0));
        const CUDA_KERNEL_NODE_PARAMS params = tiny_params();
        last_ = nullptr;
        for (int i = 0; i < nodes; ++i) {
            const CUgraphNode before = last_;
            MUST(cuGraphAddKernelNode(&last_, graph, &before, before != nullptr, &params));
        }
        return graph;
    }

    void run(CUgraphExec exec) {
        MUST(cuGraphLaunch(exec, stream_));
        MUST(cuStreamSynchronize(stream_));
    }

    const native::Library library_;
    CUstream stream_ = nullptr;
    CUdeviceptr data_ = 0;
    float factor_ = 0.5f;
    void* arguments_[2] = {&data_, &factor_};
    CUgraphNode last_ = nullptr;
};

}  // namespace

int main() {
    MUST(cuInit(0));
    CUcontext context = nullptr;
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    Bench bench;
    bench.chains();
    for (const int arms : {2, 16, 100}) bench.star(arms);
    for (const int tasks : {0, 1, 4}) bench.loop(tasks);
    return 0;
}
