// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Random orders are legal, also if nodes wait for an event, or threads launch at the same time.
#include <algorithm>

#include "begin_again.hpp"
#include "check_rig.hpp"

BEGIN_AGAIN_WITH("CUDA_GRAPHS_HOST_SCHEDULE", "random:7")

using namespace rig;

namespace {

struct Ran {
    std::vector<int>* order;
    int number;
};

void note(void* data) {
    auto* const ran = static_cast<Ran*>(data);
    ran->order->push_back(ran->number);
}

// Returns the order in which host nodes ran: eight without edges, then one that depends on all of them.
std::vector<int> drawn() {
    std::vector<int> order;
    Ran ran[9];
    CUgraph graph = nullptr;
    OK(cuGraphCreate(&graph, 0));
    CUgraphNode nodes[9];
    for (int i = 0; i < 9; ++i) {
        ran[i] = {&order, i};
        const CUDA_HOST_NODE_PARAMS params{note, &ran[i]};
        OK(cuGraphAddHostNode(&nodes[i], graph, nodes, i == 8 ? 8u : 0u, &params));
    }
    CUgraphExec exec = nullptr;
    OK(cuGraphInstantiate(&exec, graph, 0));
    const Stream stream;
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    return order;
}

}  // namespace

LAW(RandomOrder, DrawsNodesWithoutEdgesAndKeepsEdges) {
    context();
    bool any_drawn = false;
    for (int round = 0; round < 4; ++round) {
        std::vector<int> order = drawn();
        EQUAL(order.size(), std::size_t{9});
        EQUAL(order.back(), 8);
        any_drawn = any_drawn || !std::is_sorted(order.begin(), order.end());
        std::sort(order.begin(), order.end());
        for (int i = 0; i < 9; ++i) EQUAL(order[static_cast<std::size_t>(i)], i);
    }
    CHECK(any_drawn);
}

// The node may wait for one of the remaining nodes, so it runs last in every random order.
LAW(RandomOrder, ANodeThatWaitsForAnEventOfTheRestEnds) {
    const Stream stream;
    const Event event;
    const Buffer<std::uint32_t> out(8);
    for (int round = 0; round < 8; ++round) {
        CUgraph graph = nullptr;
        OK(cuGraphCreate(&graph, 0));
        CUgraphNode wait = nullptr, record = nullptr;
        OK(cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, event));
        OK(cuGraphAddEventRecordNode(&record, graph, nullptr, 0, event));
        CUgraphExec exec = nullptr;
        OK(cuGraphInstantiate(&exec, graph, 0));
        OK(cuGraphLaunch(exec, stream));
        OK(cuStreamSynchronize(stream));
        OK(cuGraphExecDestroy(exec));
        OK(cuGraphDestroy(graph));
    }
}

LAW(RandomOrder, BlocksOfManyThreadsAllRun) {
    context();
    CUcontext current = nullptr;
    OK(cuCtxGetCurrent(&current));
    instrumented("put");
    std::atomic<unsigned> broken{0};
    std::vector<std::thread> threads;
    for (unsigned number = 0; number < 4; ++number)
        threads.emplace_back([&] {
            cuCtxSetCurrent(current);
            const Stream stream;
            const Buffer<std::uint32_t> a(64);
            for (unsigned round = 0; round < 8; ++round) run("put", 64, stream, a.data());
            cuStreamSynchronize(stream);
            const std::vector<std::uint32_t> found = a.read();
            for (std::uint32_t i = 0; i < 64; ++i) broken += found[i] != i;
        });
    for (std::thread& thread : threads) thread.join();
    EQUAL(broken.load(), 0u);
}
