// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What the host driver's runtime costs: launches, synchronisation, events, copies and graphs, with kernels that are
// native functions, so that nothing but the driver is measured. Prints the median of several runs of each.
//
//     make -C tests/hostdriver bench
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

#include "../../tests/hostdriver/cpp/native_loader.hpp"

namespace {

using Clock = std::chrono::steady_clock;

void must(CUresult result, const char* what) {
    if (result == CUDA_SUCCESS) return;
    const char* name = "?";
    cuGetErrorName(result, &name);
    std::fprintf(stderr, "%s: %s\n", what, name);
    std::exit(1);
}
#define MUST(call) must(call, #call)

void scale(const cgh_launch* launch, const void* params, void*, std::uint64_t first, std::uint64_t end) {
    native::Args args(params);
    auto* p = args.next<float*>();
    const auto factor = args.next<float>();
    const auto n = args.next<std::uint32_t>();
    const std::uint64_t block = launch->block[0];
    const std::uint64_t last = std::min<std::uint64_t>(n, end * block);
    for (std::uint64_t i = first * block; i < last; ++i) p[i] = p[i] * factor + 1.0f;
}

void work(const cgh_launch*, const void* params, void*, std::uint64_t first, std::uint64_t end) {
    native::Args args(params);
    auto* p = args.next<double*>();
    for (std::uint64_t block = first; block < end; ++block) {
        double x = 1.0;
        for (int i = 0; i < 20'000; ++i) x = x * 1.0000001 + 1e-9;
        p[block] = x;
    }
}

const native::Kernels kernels{{"scale", scale, {8, 4, 4}}, {"work", work, {8}}};

struct Result {
    double microseconds;
    double own_microseconds;  // processor time of the calling thread: what is left when the machine is busy
    long switches;            // voluntary context switches a repetition of the calling thread: none in the steady state
};

double thread_time() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

Result measure(int repetitions, const std::function<void()>& run) {
    std::vector<double> times, own;
    rusage before{}, after{};
    for (int i = 0; i < repetitions / 10 + 1; ++i) run();
    getrusage(RUSAGE_THREAD, &before);
    for (int sample = 0; sample < 11; ++sample) {
        const auto from = Clock::now();
        const double own_from = thread_time();
        for (int i = 0; i < repetitions; ++i) run();
        times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - from).count() / repetitions);
        own.push_back((thread_time() - own_from) / repetitions);
    }
    getrusage(RUSAGE_THREAD, &after);
    return {median(times), median(own), after.ru_nvcsw - before.ru_nvcsw};
}

void report(const char* what, const Result& result, int per = 1) {
    std::printf("%-58s %9.3f us, own %9.3f us   (%ld sleeps)\n", what, result.microseconds / per,
                result.own_microseconds / per, result.switches);
}

}  // namespace

int main() {
    MUST(cuInit(0));
    CUcontext context = nullptr;
    MUST(cuDevicePrimaryCtxRetain(&context, 0));
    MUST(cuCtxSetCurrent(context));
    const native::Library library("scale work");
    const CUfunction function = library.function("scale"), heavy = library.function("work");
    CUstream stream = nullptr;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUdeviceptr data = 0, other = 0;
    MUST(cuMemAlloc(&data, 1 << 20));
    MUST(cuMemAlloc(&other, 1 << 20));
    MUST(cuMemsetD8(data, 0, 1 << 20));
    CUevent event = nullptr;
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));

    float factor = 0.5f;
    std::uint32_t count = 8;
    void* params[] = {&data, &factor, &count};
    const auto launch = [&](unsigned grid, unsigned block) {
        MUST(cuLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, params, nullptr));
    };
    const auto sync = [&] { MUST(cuStreamSynchronize(stream)); };

    report("cuStreamSynchronize, idle", measure(100'000, sync));
    report("launch + sync, 8 floats", measure(100'000, [&] { launch(1, 8), sync(); }));
    count = 1024;
    report("launch + sync, 1024 floats, 4 blocks", measure(50'000, [&] { launch(4, 256), sync(); }));
    count = 8;
    report("100 launches + sync, 8 floats, each",
           measure(1'000,
                   [&] {
                       for (int i = 0; i < 100; ++i) launch(1, 8);
                       sync();
                   }),
           100);
    report("launch call, stream busy",
           measure(20,
                   [&] {
                       static std::atomic<bool> go;
                       go = false;
                       MUST(cuLaunchHostFunc(
                           stream,
                           [](void*) {
                               while (!go.load()) std::this_thread::yield();
                           },
                           nullptr));
                       for (int i = 0; i < 10'000; ++i) launch(1, 8);
                       go = true;
                       sync();
                   }),
           10'000);
    report("event record + sync", measure(50'000, [&] {
               MUST(cuEventRecord(event, stream));
               MUST(cuEventSynchronize(event));
           }));
    report("memcpy 4 KiB DtoD async + sync", measure(50'000, [&] {
               MUST(cuMemcpyDtoDAsync(other, data, 4096, stream));
               sync();
           }));
    report("alloc + free async + sync, 4 KiB", measure(20'000, [&] {
               CUdeviceptr memory = 0;
               MUST(cuMemAllocAsync(&memory, 4096, stream));
               MUST(cuMemFreeAsync(memory, stream));
               sync();
           }));
    void* heavy_params[] = {&data};
    const Result parallel = measure(5, [&] {
        MUST(cuLaunchKernel(heavy, 64, 1, 1, 1, 1, 1, 0, stream, heavy_params, nullptr));
        sync();
    });
    report("64 blocks of some 50 us: the launch", parallel);

    for (const int nodes : {1, 10, 100, 1000}) {
        for (const std::uint32_t floats : {8u, 1024u}) {
            if (floats == 1024 && nodes > 100) continue;
            count = floats;
            CUgraph graph = nullptr;
            MUST(cuGraphCreate(&graph, 0));
            CUgraphNode last = nullptr;
            for (int i = 0; i < nodes; ++i) {
                CUDA_KERNEL_NODE_PARAMS node{};
                node.func = function;
                node.gridDimX = floats == 8 ? 1 : 4;
                node.blockDimX = floats == 8 ? 8 : 256;
                node.gridDimY = node.gridDimZ = node.blockDimY = node.blockDimZ = 1;
                node.kernelParams = params;
                CUgraphNode added = nullptr;
                MUST(cuGraphAddKernelNode(&added, graph, last != nullptr ? &last : nullptr, last != nullptr, &node));
                last = added;
            }
            CUgraphExec exec = nullptr;
            MUST(cuGraphInstantiate(&exec, graph, 0));
            char name[96];
            std::snprintf(name, sizeof name, "graph of %d nodes of %u floats, launch + sync", nodes, floats);
            report(name, measure(nodes > 10 ? 1'000 : 30'000, [&] {
                       MUST(cuGraphLaunch(exec, stream));
                       sync();
                   }));
            MUST(cuGraphExecDestroy(exec));
            MUST(cuGraphDestroy(graph));
        }
    }
    return 0;
}
