// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of captures: work that is queued in a captured stream becomes equivalent nodes.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "runtime_rig.hpp"

using namespace rig;

namespace {

constexpr CUstreamCaptureMode kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

CUstreamCaptureStatus status(CUstream stream) {
    CUstreamCaptureStatus answer{};
    OK(cuStreamIsCapturing(stream, &answer));
    return answer;
}

std::vector<CUgraphNode> nodes_of(CUgraph graph) {
    std::size_t count = 0;
    OK(cuGraphGetNodes(graph, nullptr, &count));
    std::vector<CUgraphNode> nodes(count);
    if (count != 0) OK(cuGraphGetNodes(graph, nodes.data(), &count));
    return nodes;
}

std::size_t edge_count(CUgraph graph) {
    std::size_t count = 0;
    OK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    return count;
}

std::vector<CUgraphNode> dependencies(CUstream stream) {
    CUstreamCaptureStatus answer{};
    const CUgraphNode* nodes = nullptr;
    std::size_t count = 0;
    OK(cuStreamGetCaptureInfo(stream, &answer, nullptr, nullptr, &nodes, nullptr, &count));
    return {nodes, nodes + count};
}

CUgraph graph_of(CUstream stream) {
    CUstreamCaptureStatus answer{};
    CUgraph graph = nullptr;
    OK(cuStreamGetCaptureInfo(stream, &answer, nullptr, &graph, nullptr, nullptr, nullptr));
    return graph;
}

// Ends the capture, runs its graph `times` times, and destroys it.
void end_and_run(CUstream stream, int times = 1) {
    CUgraph graph = nullptr;
    OK(cuStreamEndCapture(stream, &graph));
    CUgraphExec exec = nullptr;
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < times; ++i) OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
}

void affine_on(CUstream stream, const Buffer<std::uint64_t>& buffer, std::uint64_t a, std::uint64_t b) {
    OK(launch("affine", 1, 1, stream, buffer.data(), a, b));
}

}  // namespace

LAW(Capture, RunsNothingUntilItsGraphIsLaunched) {
    const Stream stream;
    const Buffer<std::uint64_t> x(1);
    OK(cuStreamBeginCapture(stream, kRelaxed));
    affine_on(stream, x, 2, 1);
    affine_on(stream, x, 3, 5);
    EQUAL(x.read()[0], 0u);
    end_and_run(stream, 2);
    EQUAL(x.read()[0], ((1u * 3 + 5) * 2 + 1) * 3 + 5);
}

LAW(Capture, MakesANodeOfEveryKindOfWork) {
    const Stream stream;
    const Event inner, outer;
    const Buffer<std::uint32_t> a(4), b(4);
    int calls = 0;
    OK(cuStreamBeginCapture(stream, kRelaxed));
    OK(cuMemsetD32Async(a, 7, 4, stream));
    OK(cuMemcpyDtoDAsync(b, a, 16, stream));
    OK(launch("add", 1, 4, stream, b.data(), 1u));
    OK(cuLaunchHostFunc(stream, [](void* count) { ++*static_cast<int*>(count); }, &calls));
    OK(cuEventRecordWithFlags(outer, stream, CU_EVENT_RECORD_EXTERNAL));
    OK(cuStreamWaitEvent(stream, inner, CU_EVENT_WAIT_EXTERNAL));
    CUgraph graph = graph_of(stream);
    const CUgraphNodeType expected[] = {CU_GRAPH_NODE_TYPE_MEMSET,       CU_GRAPH_NODE_TYPE_MEMCPY,
                                        CU_GRAPH_NODE_TYPE_KERNEL,       CU_GRAPH_NODE_TYPE_HOST,
                                        CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_WAIT_EVENT};
    const std::vector<CUgraphNode> nodes = nodes_of(graph);
    EQUAL(nodes.size(), std::size(expected));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        CUgraphNodeType type{};
        OK(cuGraphNodeGetType(nodes[i], &type));
        EQUAL(type, expected[i]);
    }
    EQUAL(edge_count(graph), nodes.size() - 1);
    end_and_run(stream);
    EQUAL(b.read()[3], 8u);
    EQUAL(calls, 1);
}

LAW(Capture, ForksAndJoinsThroughEvents) {
    const Stream one, two;
    const Event fork(CU_EVENT_DISABLE_TIMING), join(CU_EVENT_DISABLE_TIMING);
    const Buffer<std::uint64_t> x(1), y(1);
    OK(cuStreamBeginCapture(one, kRelaxed));
    affine_on(one, x, 1, 1);
    OK(cuEventRecord(fork, one));
    OK(cuStreamWaitEvent(two, fork, 0));
    EQUAL(status(two), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EQUAL(graph_of(two), graph_of(one));
    affine_on(two, y, 1, 10);
    affine_on(one, x, 2, 0);
    OK(cuEventRecord(join, two));
    OK(cuStreamWaitEvent(one, join, 0));
    EQUAL(dependencies(one).size(), 2u);
    affine_on(one, y, 2, 1);
    EQUAL(edge_count(graph_of(one)), 4u);
    end_and_run(one);
    EQUAL(status(two), CU_STREAM_CAPTURE_STATUS_NONE);
    EQUAL(x.read()[0], 2u);
    EQUAL(y.read()[0], 21u);
}

LAW(Capture, WithAnUnjoinedBranchGivesNoGraph) {
    const Stream one, two;
    const Event fork(CU_EVENT_DISABLE_TIMING);
    OK(cuStreamBeginCapture(one, kRelaxed));
    OK(cuEventRecord(fork, one));
    OK(cuStreamWaitEvent(two, fork, 0));
    OK(launch("nothing", 1, 1, two));
    CUgraph graph = reinterpret_cast<CUgraph>(one.operator CUstream());
    ANSWERS(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(one, &graph));
    EQUAL(graph, nullptr);
    for (CUstream stream : {one.operator CUstream(), two.operator CUstream()}) {
        EQUAL(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
        OK(launch("nothing", 1, 1, stream));
        OK(cuStreamSynchronize(stream));
    }
}

LAW(Capture, DependenciesTakenOutOfABranchNeedNoJoin) {
    const Stream one, two;
    const Event fork(CU_EVENT_DISABLE_TIMING);
    OK(cuStreamBeginCapture(one, kRelaxed));
    OK(cuEventRecord(fork, one));
    OK(cuStreamWaitEvent(two, fork, 0));
    OK(launch("nothing", 1, 1, two));
    OK(cuStreamUpdateCaptureDependencies(two, nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    end_and_run(one);
}

LAW(Capture, DependsOnWhatItIsToldTo) {
    const Stream stream;
    OK(cuStreamBeginCapture(stream, kRelaxed));
    OK(launch("nothing", 1, 1, stream));
    const CUgraphNode kernel = dependencies(stream)[0];
    CUgraphNode by_hand = nullptr;
    OK(cuGraphAddEmptyNode(&by_hand, graph_of(stream), nullptr, 0));
    OK(cuStreamUpdateCaptureDependencies(stream, &by_hand, nullptr, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    CHECK(dependencies(stream) == (std::vector<CUgraphNode>{kernel, by_hand}));
    OK(cuStreamUpdateCaptureDependencies(stream, &by_hand, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    CHECK(dependencies(stream) == (std::vector<CUgraphNode>{by_hand}));
    CUgraph other = nullptr;
    OK(cuGraphCreate(&other, 0));
    CUgraphNode foreign = nullptr;
    OK(cuGraphAddEmptyNode(&foreign, other, nullptr, 0));
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuStreamUpdateCaptureDependencies(stream, &foreign, nullptr, 1, 0));
    OK(cuGraphDestroy(other));
    end_and_run(stream);
}

LAW(Capture, GrowsAnExistingGraphAfterGivenNodes) {
    const Stream stream;
    CUgraph graph = nullptr;
    OK(cuGraphCreate(&graph, 0));
    CUgraphNode first = nullptr;
    OK(cuGraphAddEmptyNode(&first, graph, nullptr, 0));
    OK(cuStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, kRelaxed));
    EQUAL(graph_of(stream), graph);
    OK(launch("nothing", 1, 1, stream));
    EQUAL(edge_count(graph), 1u);
    CUgraph ended = nullptr;
    OK(cuStreamEndCapture(stream, &ended));
    EQUAL(ended, graph);
    OK(cuGraphDestroy(graph));
}

LAW(Capture, TurnsStreamOrderedMemoryIntoNodes) {
    const Stream stream;
    CUdeviceptr address = 0;
    OK(cuStreamBeginCapture(stream, kRelaxed));
    OK(cuMemAllocAsync(&address, 64, stream));
    OK(cuMemsetD32Async(address, 3, 16, stream));
    OK(cuMemFreeAsync(address, stream));
    EQUAL(nodes_of(graph_of(stream)).size(), 3u);
    end_and_run(stream, 3);
}

LAW(Capture, SaysWhichLaunchesMayOverlap) {
    const Stream stream;
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    OK(cuStreamBeginCapture(stream, kRelaxed));
    OK(launch("nothing", 1, 1, stream));
    OK(cuLaunchKernelEx(&config, function("nothing"), nullptr, nullptr));
    CUgraphNode from = nullptr, to = nullptr;
    CUgraphEdgeData edge{};
    std::size_t count = 1;
    OK(cuGraphGetEdges(graph_of(stream), &from, &to, &edge, &count));
    EQUAL(int{edge.type}, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    EQUAL(int{edge.from_port}, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
    end_and_run(stream);
}

LAW(Capture, KeepsItsGraphFromBeingDestroyed) {
    const Stream stream;
    OK(cuStreamBeginCapture(stream, kRelaxed));
    OK(launch("nothing", 1, 1, stream));
    ANSWERS(CUDA_ERROR_ILLEGAL_STATE, cuGraphDestroy(graph_of(stream)));
    ANSWERS(CUDA_ERROR_ILLEGAL_STATE, cuGraphDestroyNode(dependencies(stream)[0]));
    end_and_run(stream);
}

LAW(Capture, OfABodyThatGoesWithItsRootEndsAsInvalidated) {
    const Stream stream;
    CUgraph root = nullptr;
    OK(cuGraphCreate(&root, 0));
    CUcontext current = nullptr;
    OK(cuCtxGetCurrent(&current));
    CUgraphConditionalHandle handle = 0;
    OK(cuGraphConditionalHandleCreate(&handle, root, current, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = current;
    CUgraphNode node = nullptr;
    OK(cuGraphAddNode(&node, root, nullptr, nullptr, 0, &params));
    OK(cuStreamBeginCaptureToGraph(stream, params.conditional.phGraph_out[0], nullptr, nullptr, 0, kRelaxed));
    OK(launch("nothing", 1, 1, stream));
    OK(cuGraphDestroy(root));
    ANSWERS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, launch("nothing", 1, 1, stream));
    CUgraph graph = nullptr;
    ANSWERS(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
    EQUAL(graph, nullptr);
    OK(launch("nothing", 1, 1, stream));
    OK(cuStreamSynchronize(stream));
}

LAW(Capture, EndsWithItsStream) {
    Stream stream;
    OK(cuStreamBeginCapture(stream, kRelaxed));
    OK(launch("nothing", 1, 1, stream));
    CUgraph graph = graph_of(stream);
    stream.destroy();
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph));
}

LAW(Capture, OfAThreadsOwnStreamEndsWithTheThread) {
    CUgraph graph = nullptr;
    std::thread([&] {
        context();
        OK(cuStreamBeginCapture(CU_STREAM_PER_THREAD, kRelaxed));
        OK(launch("nothing", 1, 1, CU_STREAM_PER_THREAD));
        graph = graph_of(CU_STREAM_PER_THREAD);
    }).join();
    ANSWERS(CUDA_ERROR_INVALID_VALUE, cuGraphDestroy(graph));
    OK(launch("nothing", 1, 1, CU_STREAM_LEGACY));  // the legacy stream works again
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
}

namespace {

// Threads beside a capture. They launch, copy and allocate on their own streams until they are stopped, and count the
// calls that captures refused.
class Bystanders {
  public:
    explicit Bystanders(CUstreamCaptureMode of_thread, int count = 3) {
        for (int i = 0; i < count; ++i) threads_.emplace_back([this, of_thread] { work(of_thread); });
    }
    ~Bystanders() { stop(); }
    void stop() {
        done_ = true;
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }
    int refused() const { return refused_; }
    int rounds() const { return rounds_; }

  private:
    void work(CUstreamCaptureMode mode) {
        context();
        OK(cuThreadExchangeStreamCaptureMode(&mode));
        const Stream stream;
        std::atomic<std::uint64_t> word{0};
        std::uint64_t launched = 0;
        while (!done_) {
            CUdeviceptr memory = 0;
            const CUresult made = cuMemAlloc(&memory, 256);
            if (made == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) ++refused_;
            OK(launch("affine", 1, 1, stream, &word, std::uint64_t{1}, std::uint64_t{1}));
            ++launched;
            if (made == CUDA_SUCCESS) {
                // A capture that has begun meanwhile may refuse this.
                while (cuMemFree(memory) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) ++refused_;
            }
            ++rounds_;
        }
        while (cuStreamSynchronize(stream) == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) ++refused_;
        EQUAL(word.load(), launched);  // none of it was captured
    }

    std::atomic<bool> done_{false};
    std::atomic<int> refused_{0}, rounds_{0};
    std::vector<std::thread> threads_;
};

// Captures a chain of `length` kernels and returns the result of its end.
CUresult capture_chain(CUstreamCaptureMode mode, int length) {
    const Stream stream;
    CUdeviceptr x = 0;
    OK(cuStreamBeginCapture(stream, mode));
    CUresult last = CUDA_SUCCESS;
    for (int i = 0; i < length && last == CUDA_SUCCESS; ++i)
        last = launch("affine", 1, 1, stream, x, std::uint64_t{1}, std::uint64_t{1});
    CUgraph graph = nullptr;
    const CUresult ended = cuStreamEndCapture(stream, &graph);
    if (ended == CUDA_SUCCESS) {
        EQUAL(nodes_of(graph).size(), static_cast<std::size_t>(length));
        EQUAL(edge_count(graph), static_cast<std::size_t>(length - 1));
        OK(cuGraphDestroy(graph));
    } else {
        EQUAL(graph, nullptr);
    }
    return ended;
}

}  // namespace

LAW(CaptureThreads, RelaxedAndLocalCapturesAreUntouchedByOtherThreads) {
    context();
    function("affine");
    for (CUstreamCaptureMode mode : {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, kRelaxed}) {
        Bystanders others(CU_STREAM_CAPTURE_MODE_GLOBAL);
        for (int i = 0; i < 100; ++i) OK(capture_chain(mode, 20));
        CHECK(soon([&] { return others.rounds() > 0; }));
        others.stop();
        EQUAL(others.refused(), 0);
    }
}

LAW(CaptureThreads, AGlobalCaptureIsUntouchedByRelaxedThreads) {
    context();
    function("affine");
    Bystanders others(kRelaxed);
    for (int i = 0; i < 100; ++i) OK(capture_chain(CU_STREAM_CAPTURE_MODE_GLOBAL, 20));
    others.stop();
    EQUAL(others.refused(), 0);
}

LAW(CaptureThreads, AGlobalCaptureIsInvalidatedByAllocationsOfOthersWhichAreRefused) {
    constexpr int kOthers = 3;
    context();
    function("affine");
    Bystanders others(CU_STREAM_CAPTURE_MODE_GLOBAL, kOthers);
    for (int round = 0; round < 5; ++round) {
        const Stream stream;
        OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        // Each other thread may be about to count a refusal of the previous round.
        const int before = others.refused() + kOthers;
        CHECK(soon([&] { return others.refused() > before; }));
        CUdeviceptr x = 0;
        EQUAL(launch("affine", 1, 1, stream, x, std::uint64_t{1}, std::uint64_t{1}),
              CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        CUgraph graph = nullptr;
        EQUAL(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        EQUAL(graph, nullptr);
    }
    others.stop();
    OK(capture_chain(CU_STREAM_CAPTURE_MODE_GLOBAL, 20));
}

LAW(CaptureThreads, BranchesMayBeFilledFromDifferentThreads) {
    constexpr int kThreads = 4, kLength = 50;
    const Stream origin;
    const Event fork(CU_EVENT_DISABLE_TIMING);
    const Buffer<std::uint64_t> words(kThreads);
    function("affine");
    for (int round = 0; round < 20; ++round) {
        std::vector<std::unique_ptr<Stream>> streams;
        std::vector<std::unique_ptr<Event>> joins;
        OK(cuStreamBeginCapture(origin, kRelaxed));
        OK(launch("nothing", 1, 1, origin));
        OK(cuEventRecord(fork, origin));
        std::vector<std::thread> threads;
        for (int t = 0; t < kThreads; ++t) {
            streams.push_back(std::make_unique<Stream>());
            joins.push_back(std::make_unique<Event>(CU_EVENT_DISABLE_TIMING));
            threads.emplace_back(
                [&, t, stream = streams.back()->operator CUstream(), join = joins.back()->operator CUevent()] {
                    context();
                    OK(cuStreamWaitEvent(stream, fork, 0));
                    for (int i = 0; i < kLength; ++i)
                        OK(launch("affine", 1, 1, stream, words.data() + t, std::uint64_t{1}, std::uint64_t{1}));
                    OK(cuEventRecord(join, stream));
                });
        }
        for (std::thread& thread : threads) thread.join();
        for (const auto& join : joins) OK(cuStreamWaitEvent(origin, *join, 0));
        OK(launch("nothing", 1, 1, origin));
        EQUAL(nodes_of(graph_of(origin)).size(), std::size_t{kThreads * kLength + 2});
        EQUAL(edge_count(graph_of(origin)), std::size_t{kThreads * (kLength + 1) + 1});
        end_and_run(origin);
    }
    for (std::uint64_t word : words.read()) EQUAL(word, std::uint64_t{20 * kLength});
}

LAW(CaptureThreads, EndAndWorkMayMeet) {
    // Work before the end is captured, and work after it runs. No work is lost, and no call fails.
    const Stream stream;
    std::atomic<std::uint64_t> word{0};
    function("affine");
    for (int round = 0; round < 200; ++round) {
        word = 0;
        OK(cuStreamBeginCapture(stream, kRelaxed));
        std::thread other([&] {
            context();
            for (int i = 0; i < 20; ++i) OK(launch("affine", 1, 1, stream, &word, std::uint64_t{1}, std::uint64_t{1}));
        });
        CUgraph graph = nullptr;
        OK(cuStreamEndCapture(stream, &graph));
        other.join();
        OK(cuStreamSynchronize(stream));
        EQUAL(nodes_of(graph).size() + word.load(), 20u);
        OK(cuGraphDestroy(graph));
    }
}

LAW(CaptureThreads, BeginsAndEndsOfManyThreadsDoNotDisturbEachOther) {
    context();
    function("affine");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([t] {
            context();
            const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                                 kRelaxed};
            for (int i = 0; i < 100; ++i) OK(capture_chain(modes[(t + i) % 3], 10));
        });
    for (std::thread& thread : threads) thread.join();
}

LAW(CaptureThreads, TheLegacyStreamIsBarredOnlyWhileABlockingStreamCaptures) {
    context();
    std::atomic<bool> done{false};
    std::atomic<int> refused{0};
    std::thread other([&] {
        context();
        while (!done) {
            const CUresult launched = launch("nothing", 1, 1, CU_STREAM_LEGACY);
            CHECK(launched == CUDA_SUCCESS || launched == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
            refused += launched != CUDA_SUCCESS;
        }
    });
    const Stream blocking(CU_STREAM_DEFAULT);
    for (int round = 0; round < 5; ++round) {
        OK(cuStreamBeginCapture(blocking, kRelaxed));
        const int before = refused + 1;  // the other thread may be about to count a refusal of the previous round
        CHECK(soon([&] { return refused > before; }));
        CUgraph graph = nullptr;
        EQUAL(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    }
    done = true;
    other.join();
    OK(launch("nothing", 1, 1, CU_STREAM_LEGACY));
    OK(cuStreamSynchronize(CU_STREAM_LEGACY));
}
