// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Waits for values in memory: the writes that release them. A wait occupies no worker, and streams and graphs that wait
// for each other complete with any number of workers.
#include "graph_rig.hpp"

using namespace rig;

namespace {

using Batch = std::vector<CUstreamBatchMemOpParams>;

CUstreamBatchMemOpParams operation(CUstreamBatchMemOpType type, CUdeviceptr at, cuuint64_t value, unsigned flags) {
    CUstreamBatchMemOpParams made{};
    made.writeValue.operation = type;
    made.writeValue.address = at;
    made.writeValue.value64 = value;
    made.writeValue.flags = flags;
    return made;
}

CUstreamBatchMemOpParams write(CUdeviceptr at, cuuint64_t value) {
    return operation(CU_STREAM_MEM_OP_WRITE_VALUE_64, at, value, CU_STREAM_WRITE_VALUE_DEFAULT);
}

CUstreamBatchMemOpParams wait(CUdeviceptr at, cuuint64_t value) {
    return operation(CU_STREAM_MEM_OP_WAIT_VALUE_64, at, value, CU_STREAM_WAIT_VALUE_GEQ);
}

CUdeviceptr at(const Buffer<std::uint64_t>& words, std::size_t index) {
    return reinterpret_cast<CUdeviceptr>(words.data() + index);
}

CUgraphNode batch_node(CUgraph graph, const Nodes& after, Batch batch) {
    const CUDA_BATCH_MEM_OP_NODE_PARAMS params{current(), static_cast<unsigned>(batch.size()), batch.data(), 0};
    CUgraphNode node = nullptr;
    OK(cuGraphAddBatchMemOpNode(&node, graph, after.data(), after.size(), &params));
    return node;
}

}  // namespace

LAW(MemoryOperations, StreamsReleaseEachOtherInARing) {
    constexpr std::size_t kStreams = 12;
    constexpr std::uint64_t kRounds = 20;
    const Buffer<std::uint64_t> words(kStreams), sum(1);
    const std::vector<Stream> streams(kStreams);
    for (std::uint64_t round = 1; round <= kRounds; ++round)
        for (std::size_t i = kStreams; i-- > 0;) {
            // The first stream of a round waits for the last stream of the previous round.
            const std::size_t before = (i + kStreams - 1) % kStreams;
            OK(cuStreamWaitValue64(streams[i], at(words, before), i == 0 ? round - 1 : round, 0));
            OK(launch("affine", 1, 1, streams[i], sum.data(), std::uint64_t{3}, i));
            OK(cuStreamWriteValue64(streams[i], at(words, i), round, 0));
        }
    OK(cuCtxSynchronize());
    std::uint64_t expected = 0;
    for (std::uint64_t n = 0; n < kRounds * kStreams; ++n) expected = expected * 3 + n % kStreams;
    EQUAL(*sum.data(), expected);
}

LAW(MemoryOperations, TheHostReleasesAWait) {
    const Buffer<std::uint64_t> words(2);
    const Stream stream;
    OK(cuStreamWaitValue64(stream, at(words, 0), 1, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWriteValue64(stream, at(words, 1), 7, 0));
    EQUAL(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    std::thread other([&] { __atomic_store_n(words.data(), std::uint64_t{1}, __ATOMIC_RELEASE); });
    OK(cuStreamSynchronize(stream));
    other.join();
    EQUAL(words.data()[1], std::uint64_t{7});
}

// A query or wait for one stream makes progress although another stream, on which no thread waits, has to write first.
LAW(MemoryOperations, AStreamThatNobodyWaitsForReleasesAnother) {
    const Buffer<std::uint64_t> words(2);
    const Stream waiting, writing;
    OK(cuStreamWaitValue64(waiting, at(words, 0), 1, 0));
    OK(cuStreamWriteValue64(writing, at(words, 0), 1, 0));
    OK(cuStreamSynchronize(waiting));
    OK(cuStreamWaitValue64(waiting, at(words, 1), 1, 0));
    OK(cuStreamWriteValue64(writing, at(words, 1), 1, 0));
    while (cuStreamQuery(waiting) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
    OK(cuStreamQuery(waiting));
}

LAW(MemoryOperations, GraphsThatWaitHoldNoWorker) {
    constexpr std::size_t kGraphs = 24;
    const Buffer<std::uint64_t> words(1), values(kGraphs);
    const std::vector<Stream> streams(kGraphs);
    std::vector<CUgraphExec> execs(kGraphs);
    for (std::size_t i = 0; i < kGraphs; ++i) {
        CUgraph graph = nullptr;
        OK(cuGraphCreate(&graph, 0));
        const CUgraphNode first = step(graph, {}, at(values, i), 1);
        const CUgraphNode waits = batch_node(graph, {first}, {wait(at(words, 0), 1)});
        step(graph, {waits}, at(values, i), 2);
        if (i % 2 == 1) empty_node(graph);  // prevents a chain
        OK(cuGraphInstantiate(&execs[i], graph, 0));
        OK(cuGraphDestroy(graph));
        OK(cuGraphLaunch(execs[i], streams[i]));
        OK(cuGraphLaunch(execs[i], streams[(i + 1) % kGraphs]));  // behind the first launch
    }
    const Stream last;
    OK(cuStreamWriteValue64(last, at(words, 0), 1, 0));
    OK(cuStreamSynchronize(last));
    OK(cuCtxSynchronize());
    for (std::size_t i = 0; i < kGraphs; ++i) EQUAL(values.data()[i], fingerprint({1, 2, 1, 2}));
    for (CUgraphExec exec : execs) OK(cuGraphExecDestroy(exec));
}

LAW(MemoryOperations, BranchesOfAGraphReleaseEachOther) {
    constexpr std::size_t kBranches = 6;
    const Buffer<std::uint64_t> words(kBranches + 1), value(1);
    CUgraph graph = nullptr;
    OK(cuGraphCreate(&graph, 0));
    for (std::size_t i = 0; i < kBranches; ++i) {
        const CUgraphNode waits = batch_node(graph, {}, {wait(at(words, i), 1)});
        const CUgraphNode steps = step(graph, {waits}, at(value, 0), i + 1);
        batch_node(graph, {steps}, {write(at(words, i + 1), 1), wait(at(words, kBranches), 1)});
    }
    CUgraphExec exec = nullptr;
    OK(cuGraphInstantiate(&exec, graph, 0));
    const Stream stream, other;
    for (int round = 1; round <= 3; ++round) {
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamWriteValue64(other, at(words, 0), 1, 0));
        OK(cuStreamSynchronize(stream));
        EQUAL(*value.data(), fingerprint({1, 2, 3, 4, 5, 6}));
        *value.data() = 0;
        for (std::size_t i = 0; i <= kBranches; ++i) words.data()[i] = 0;
    }
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

LAW(MemoryOperations, ABatchThatIsRefusedDoesNothing) {
    const Buffer<std::uint64_t> words(2);
    const Stream stream;
    Batch batch{write(at(words, 0), 1), write(at(words, 1) + 1, 1)};
    EQUAL(cuStreamBatchMemOp(stream, 2, batch.data(), 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamSynchronize(stream));
    EQUAL(words.data()[0], std::uint64_t{0});
}

LAW(MemoryOperations, AStreamDestroyedWhileItWaitsDoesItsWorkAllTheSame) {
    const Buffer<std::uint64_t> words(2);
    CUstream stream = nullptr;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuStreamWaitValue64(stream, at(words, 0), 1, 0));
    OK(cuStreamWriteValue64(stream, at(words, 1), 7, 0));
    OK(cuStreamDestroy(stream));
    EQUAL(words.data()[1], std::uint64_t{0});
    __atomic_store_n(words.data(), std::uint64_t{1}, __ATOMIC_RELEASE);
    OK(cuCtxSynchronize());
    EQUAL(words.data()[1], std::uint64_t{7});
}

// A wait for a value that is never written ends with its context.
LAW(MemoryOperations, AFaultEndsWhatWaits) {
    context();
    CUcontext primary = nullptr, own = nullptr;
    OK(cuCtxGetCurrent(&primary));
    OK(cuCtxCreate(&own, nullptr, 0, 0));
    {
        const Buffer<std::uint64_t> words(1);
        const Stream waiting, launching, faulty;
        OK(cuStreamWaitValue64(waiting, at(words, 0), 1, 0));
        CUgraph graph = nullptr;
        OK(cuGraphCreate(&graph, 0));
        batch_node(graph, {}, {wait(at(words, 0), 1)});
        empty_node(graph);
        CUgraphExec exec = nullptr;
        OK(cuGraphInstantiate(&exec, graph, 0));
        OK(cuGraphLaunch(exec, launching));
        const native::Library code("trap");  // code of this context
        OK(cuLaunchKernel(code.function("trap"), 1, 1, 1, 1, 1, 1, 0, faulty, nullptr, nullptr));
        EQUAL(cuStreamSynchronize(faulty), CUDA_ERROR_LAUNCH_FAILED);
        EQUAL(cuStreamSynchronize(waiting), CUDA_ERROR_LAUNCH_FAILED);
        EQUAL(cuStreamSynchronize(launching), CUDA_ERROR_LAUNCH_FAILED);
        EQUAL(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
        cuGraphExecDestroy(exec);
        cuGraphDestroy(graph);
    }
    cuCtxDestroy(own);
    OK(cuCtxSetCurrent(primary));
}

LAW(MemoryOperations, ManyThreadsHandValuesToEachOther) {
    constexpr int kThreads = 4;
    constexpr std::uint64_t kRounds = 200;
    const Buffer<std::uint64_t> words(kThreads);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t)
        threads.emplace_back([&, t] {
            context();
            const Stream stream;
            for (std::uint64_t round = 1; round <= kRounds; ++round) {
                OK(cuStreamWriteValue64(stream, at(words, t), round, 0));
                OK(cuStreamWaitValue64(stream, at(words, (t + 1) % kThreads), round, 0));
                if (round % 10 == t) OK(cuStreamSynchronize(stream));
            }
            OK(cuStreamSynchronize(stream));
        });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < kThreads; ++t) EQUAL(words.data()[t], kRounds);
}
