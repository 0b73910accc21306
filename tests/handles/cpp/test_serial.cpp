// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Law: Two calls that use the links between graphs never run at the same time. Other calls may run at any time.
#include <atomic>
#include <thread>
#include <vector>

#include "check.hpp"
#include "core/driver/serial.hpp"

using namespace cg;

namespace {

std::atomic<int> inside{0}, most{0}, calls{0};

CUresult come_and_go() {
    const int now = ++inside;
    if (now > most) most = now;
    ++calls;
    std::this_thread::yield();
    --inside;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI destroy(CUgraphExec) {
    return come_and_go();
}

CUresult CUDAAPI instantiate(CUgraphExec*, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS*) {
    return come_and_go();
}

CUresult CUDAAPI launch(CUgraphExec, CUstream) {
    return CUDA_ERROR_NOT_READY;
}

}  // namespace

TEST(SerialCalls, RunOneAtATime) {
    DriverTable table;
    table.cuGraphExecDestroy = destroy;
    table.cuGraphInstantiateWithParams = instantiate;
    table.cuGraphLaunch = launch;
    serialise(table);
    CHECK(table.cuGraphLaunch == launch);
    CHECK(table.cuGraphClone(nullptr, nullptr) == CUDA_ERROR_NOT_INITIALIZED);  // the original entry
    constexpr int kRounds = 2000;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&, i] {
            for (int k = 0; k < kRounds; ++k)
                i % 2 ? table.cuGraphExecDestroy(nullptr)
                      : table.cuGraphInstantiateWithParams(nullptr, nullptr, nullptr);
        });
    for (std::thread& each : threads) each.join();
    CHECK(calls == 4 * kRounds);
    CHECK(most == 1);
}
