// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of the checks: the next wait reports races, reads of unwritten bytes and invalid addresses, once. Ordered
// accesses cause no report, from any number of threads.
#include "begin_again.hpp"
#include "check_rig.hpp"

BEGIN_AGAIN_WITH("CUDA_GRAPHS_HOST_CHECK", "memory,race,init")

using namespace rig;

LAW(Check, TellsOfARaceOnceAtTheNextWait) {
    const Buffer<std::uint32_t> a(4);
    const Stream one, other;
    run("put", 4, one, a.data());
    run("put", 4, other, a.data());
    const std::string text = findings();
    CHECK(tells(text, "CUDA_GRAPHS_HOST_CHECK=race: two accesses to byte "));
    CHECK(tells(text, "kernel `put` (stream "));
    CHECK(tells(text, "writes it at rig.cu:1 (st.global.u32, line 10 of the PTX)"));
    EQUAL(findings(), "");
}

LAW(Check, WhatAnEventOrdersIsNoRace) {
    const Buffer<std::uint32_t> a(4), b(4);
    const Stream one, other;
    const Event event;
    run("put", 4, one, a.data());
    OK(cuEventRecord(event, one));
    OK(cuStreamWaitEvent(other, event, 0));
    run("take", 4, other, b.data(), a.data());
    EQUAL(findings(), "");
}

LAW(Check, AtomicsOfBlocksDoNotRaceAndStoresDo) {
    const Buffer<std::uint32_t> a(64);
    const Stream stream;
    run("count", 64, stream, a.data());
    EQUAL(findings(), "");
    EQUAL(a.read()[0], 64u);
    run("count", 64, stream, a.data());
    const Stream other;
    run("put", 1, other, a.data());
    CHECK(tells(findings(), "atom.global.add.u32"));
}

LAW(Check, NodesWithoutAPathRace) {
    const Buffer<std::uint32_t> a(4), b(4);
    for (const bool ordered : {false, true}) {
        CUgraph graph = nullptr;
        OK(cuGraphCreate(&graph, 0));
        std::uint32_t *to = b.data(), *from = a.data();
        void *puts[] = {&from, nullptr}, *takes[] = {&to, &from, nullptr};
        CUDA_KERNEL_NODE_PARAMS params{};
        params.gridDimX = 4;
        params.gridDimY = params.gridDimZ = params.blockDimX = params.blockDimY = params.blockDimZ = 1;
        CUgraphNode first = nullptr, second = nullptr;
        params.func = instrumented("put");
        params.kernelParams = puts;
        OK(cuGraphAddKernelNode(&first, graph, nullptr, 0, &params));
        params.func = instrumented("take");
        params.kernelParams = takes;
        OK(cuGraphAddKernelNode(&second, graph, &first, ordered ? 1 : 0, &params));
        CUgraphExec exec = nullptr;
        OK(cuGraphInstantiate(&exec, graph, 0));
        const Stream stream;
        OK(cuGraphLaunch(exec, stream));
        EQUAL(tells(findings(), "CHECK=race"), !ordered);
        OK(cuGraphExecDestroy(exec));
        OK(cuGraphDestroy(graph));
    }
}

LAW(Check, ReadsOfWhatNobodyWroteAreFoundAlsoWhereTheHostMightHave) {
    const Buffer<std::uint32_t> out(4);
    const Stream stream;
    CUdeviceptr device = 0, managed = 0;
    OK(cuMemAlloc(&device, 16));
    OK(cuMemAllocManaged(&managed, 16, CU_MEM_ATTACH_GLOBAL));
    for (const CUdeviceptr memory : {device, managed}) {
        run("take", 4, stream, out.data(), reinterpret_cast<std::uint32_t*>(memory));
        CHECK(tells(findings(), "CUDA_GRAPHS_HOST_CHECK=init: kernel `take`"));
    }
    for (unsigned i = 0; i < 4; ++i) reinterpret_cast<std::uint32_t*>(managed)[i] = ~0u;
    run("take", 4, stream, out.data(), reinterpret_cast<std::uint32_t*>(managed));
    EQUAL(findings(), "");
    OK(cuMemFree(device));
    OK(cuMemFree(managed));
}

LAW_ALONE(Check, ABadAddressEndsTheKernelAndTheContext) {
    const Buffer<std::uint32_t> a(4);
    const Stream stream;
    run("put", 5, stream, a.data());
    ANSWERS(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
    const std::string text = cghFindings(CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(tells(text, "kernel `put` (stream "));
    CHECK(tells(text, "block (4, 0, 0), thread (0, 0, 0) writes 4 bytes at 0x"));
    CHECK(tells(text, "which is right behind the memory of 16 bytes"));
    ANSWERS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

LAW_ALONE(Check, FreedMemoryIsKnownAsFreed) {
    CUdeviceptr memory = 0;
    const Stream stream;
    OK(cuMemAllocAsync(&memory, 16, stream));
    OK(cuMemFreeAsync(memory, stream));
    run("put", 1, stream, reinterpret_cast<std::uint32_t*>(memory));
    ANSWERS(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(stream));
    CHECK(tells(cghFindings(CUDA_ERROR_ILLEGAL_ADDRESS), "byte 0 of freed memory of 16 bytes"));
}

// Each thread has its own memory, stream and events. All threads use one counter in turns.
LAW(Check, ManyThreadsThatDoNothingWrongAreSilent) {
    context();
    CUcontext current = nullptr;
    OK(cuCtxGetCurrent(&current));
    const Buffer<std::uint32_t> counter(1);
    instrumented("put");
    std::atomic<unsigned> broken{0};
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < 6; ++number)
        threads.emplace_back([&] {
            try {
                OK(cuCtxSetCurrent(current));
                const Stream stream, other;
                const Event event;
                for (unsigned round = 0; round < 8; ++round) {
                    CUdeviceptr a = 0, b = 0;
                    OK(cuMemAllocAsync(&a, 256, stream));
                    OK(cuMemAllocAsync(&b, 256, stream));
                    run("put", 64, stream, reinterpret_cast<std::uint32_t*>(a));
                    OK(cuMemcpyDtoDAsync(b, a, 256, stream));
                    run("count", 4, stream, counter.data());
                    OK(cuEventRecord(event, stream));
                    OK(cuStreamWaitEvent(other, event, 0));
                    run("take", 64, other, reinterpret_cast<std::uint32_t*>(a), reinterpret_cast<std::uint32_t*>(b));
                    OK(cuStreamSynchronize(other));
                    OK(cuMemFreeAsync(a, stream));
                    OK(cuMemFreeAsync(b, stream));
                }
                OK(cuStreamSynchronize(stream));
            } catch (const check::Failure& failure) {
                std::fprintf(stderr, "%s\n", failure.text.c_str());
                ++broken;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EQUAL(broken.load(), 0u);
    EQUAL(findings(), "");
    EQUAL(counter.read()[0], 6u * 8 * 4);
}

LAW(Check, ManyThreadsThatRaceAreToldOf) {
    context();
    CUcontext current = nullptr;
    OK(cuCtxGetCurrent(&current));
    const Buffer<std::uint32_t> a(64);
    instrumented("put");
    std::vector<std::thread> threads;
    std::atomic<unsigned> told{0}, launched{0};
    for (unsigned number = 0; number < 4; ++number)
        threads.emplace_back([&] {
            cuCtxSetCurrent(current);
            const Stream stream;
            for (unsigned round = 0; round < 4; ++round) run("put", 64, stream, a.data());
            ++launched;  // the wait orders earlier launches before later ones
            while (launched.load() < 4) std::this_thread::yield();
            if (cuStreamSynchronize(stream) != CUDA_SUCCESS) ++told;
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(told.load() != 0 || !findings().empty());
    findings();
}
