// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of order and parallelism: every edge holds, with any parallel work, and a waiting node never delays a node that
// can run.
#include <atomic>
#include <random>
#include <thread>

#include "graph_rig.hpp"

using namespace rig;

namespace {

// A random graph of host and kernel nodes, with child graphs and loops, and its expected results. Each node writes the
// sum of the numbers of its dependencies, times 31, plus its own number.
struct Cell {
    std::uint64_t value = 0;
    std::vector<const Cell*> from;
    std::uint64_t number = 0;
    std::atomic<int> runs{0};

    std::uint64_t expected() const {
        std::uint64_t sum = 0;
        for (const Cell* cell : from) sum += cell->value;
        return sum * 31 + number;
    }
    void run() {
        value = expected();
        runs.fetch_add(1);
    }
};

void run_cell(void* cell) {
    static_cast<Cell*>(cell)->run();
}

void run_cell_kernel(const cgh_launch*, const void* params, void*, std::uint64_t, std::uint64_t) {
    Args(params).next<Cell*>()->run();
}

const native::Kernels cell_kernels{{"run_cell", run_cell_kernel, {8}}};

CUfunction cell_function() {
    context();
    static auto* library = new native::Library("run_cell");
    return library->function("run_cell");
}

CUgraphNode cell_node(CUgraph graph, const Nodes& after, Cell& cell, bool on_host) {
    if (on_host) return host_node(graph, after, run_cell, &cell);
    Cell* argument = &cell;
    void* arguments[] = {&argument};
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = cell_function();
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    CUgraphNode node = nullptr;
    OK(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &params));
    return node;
}

// Adds `count` nodes to `graph`. Sources get `outside` as dependencies of their cells; these run before the graph does.
void grow(CUgraph graph, std::size_t count, std::mt19937& random, std::vector<Cell>& cells, std::size_t& used,
          bool host_nodes) {
    Nodes nodes;
    std::vector<Cell*> own;
    for (std::size_t i = 0; i < count; ++i) {
        Cell& cell = cells[used++];
        cell.number = used;
        Nodes after;
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            if (random() % nodes.size() >= 2) continue;
            after.push_back(nodes[k]);
            cell.from.push_back(own[k]);
        }
        nodes.push_back(cell_node(graph, after, cell, host_nodes && random() % 4 == 0));
        own.push_back(&cell);
    }
}

struct Meeting {
    std::atomic<int> arrived{0};
    int wanted = 0;
};

void meet_others(void* data) {
    auto* meeting = static_cast<Meeting*>(data);
    meeting->arrived.fetch_add(1);
    while (meeting->arrived.load() < meeting->wanted) std::this_thread::yield();
}

}  // namespace

LAW(GraphOrder, RandomGraphsComputeWhatTheirEdgesSay) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::mt19937 random(seed);
        const std::size_t count = 1 + random() % 60;
        std::vector<Cell> cells(count);
        std::size_t used = 0;
        const Graph graph;
        grow(graph, count, random, cells, used, seed % 2 == 0);
        const Exec exec(graph);
        for (int launch = 1; launch <= 4; ++launch) {
            for (Cell& cell : cells) cell.value = 0;
            exec.run();
            for (const Cell& cell : cells) {
                EQUAL(cell.value, cell.expected());
                EQUAL(cell.runs.load(), launch);
            }
        }
    }
}

LAW(GraphOrder, RandomGraphsOfGraphsRunEachNodeOnce) {
    for (unsigned seed = 100; seed < 130; ++seed) {
        std::mt19937 random(seed);
        std::vector<Cell> cells(200);
        std::size_t used = 0;
        Value value;
        const Graph graph;
        // Parallel child graphs between two steps, and a child graph inside another.
        const CUgraphNode first = step(graph, {}, value, 1);
        Nodes children;
        for (int i = 0; i < 4; ++i) {
            const Graph child, grandchild;
            grow(grandchild, 1 + random() % 10, random, cells, used, true);
            const CUgraphNode inner = child_node(child, {}, grandchild);
            static_cast<void>(inner);
            grow(child, 1 + random() % 10, random, cells, used, true);
            children.push_back(child_node(graph, {first}, child));
        }
        step(graph, children, value, 2);
        Exec(graph).run();
        EQUAL(value.get(), fingerprint({1, 2}));
        for (std::size_t i = 0; i < used; ++i) {
            EQUAL(cells[i].value, cells[i].expected());
            EQUAL(cells[i].runs.load(), 1);
        }
    }
}

LAW(GraphOrder, AChildIsDoneBeforeWhatDependsOnIt) {
    std::vector<Cell> cells(64);
    const Graph child, graph;
    for (std::size_t i = 1; i < 63; ++i) cell_node(child, {}, cells[i], i % 2 == 0);
    const CUgraphNode before = cell_node(graph, {}, cells[0], true);
    const CUgraphNode middle = child_node(graph, {before}, child);
    for (std::size_t i = 1; i < 63; ++i) {
        cells[i].from = {&cells[0]};
        cells[63].from.push_back(&cells[i]);
    }
    cell_node(graph, {middle}, cells[63], true);
    cells[0].number = 5;
    const Exec exec(graph);
    for (int launch = 0; launch < 20; ++launch) {
        for (Cell& cell : cells) cell.value = 0;
        exec.run();
        for (const Cell& cell : cells) EQUAL(cell.value, cell.expected());
    }
}

LAW(GraphOrder, HostNodesOfParallelBranchesMayWaitForEachOther) {
    if (check::workers() < 2) return;  // one thread cannot run two functions at a time
    for (const int branches : {2, 3}) {
        if (branches > static_cast<int>(check::workers())) continue;
        Meeting meeting;
        meeting.wanted = branches;
        const Graph graph;
        const CUgraphNode root = empty_node(graph);
        for (int i = 0; i < branches; ++i) host_node(graph, {root}, meet_others, &meeting);
        const Exec exec(graph);
        for (int launch = 0; launch < 5; ++launch) {
            meeting.arrived = 0;
            exec.run();
        }
    }
}

LAW(GraphOrder, ABranchRunsWhileAnotherOneWaits) {
    if (check::workers() == 0) return;
    Gate gate;
    Value value;
    Stream stream;
    std::atomic<bool> ran{false};
    std::atomic<std::uint32_t> behind{0};
    const Graph graph;
    const CUgraphNode root = empty_node(graph);
    host_node(
        graph, {root},
        [](void* flag) {
            while (static_cast<std::atomic<std::uint32_t>*>(flag)->load() == 0) std::this_thread::yield();
        },
        gate.flag());
    const CUgraphNode a = step(graph, {root}, value, 1), b = step(graph, {a}, value, 2);
    const CUgraphNode c = kernel_node(graph, {b}, "slow", &behind, 0u);  // reports its end
    host_node(graph, {c}, [](void* done) { static_cast<std::atomic<bool>*>(done)->store(true); }, &ran);
    const Exec exec(graph);
    OK(cuGraphLaunch(exec, stream));
    // The last host node waits behind the first host node. The nodes before it do not wait.
    CHECK(soon([&] { return behind.load() != 0; }));
    EQUAL(value.get(), fingerprint({1, 2}));
    if (check::workers() >= 2) CHECK(soon([&] { return ran.load(); }));
    gate.open();
    OK(cuStreamSynchronize(stream));
    CHECK(ran.load());
}

LAW(GraphOrder, WideSlowGraphsAreRight) {
    // The nodes are slow enough for other threads to take part, in later launches too.
    constexpr unsigned kArms = 16;
    Buffer<std::uint32_t> done(kArms);
    Value value;
    const Graph graph;
    Nodes arms;
    for (unsigned i = 0; i < kArms; ++i)
        arms.push_back(kernel_node(graph, {}, "slow", static_cast<CUdeviceptr>(done + 4 * i), 50u));
    step(graph, arms, value, 3);
    const Exec exec(graph);
    std::uint64_t expected = 0;
    for (int launch = 0; launch < 30; ++launch) {
        OK(cuMemsetD8(done, 0, 4 * kArms));
        OK(cuStreamSynchronize(nullptr));
        exec.run();
        expected = expected * 31 + 3;
        EQUAL(value.get(), expected);
        for (const std::uint32_t flag : done.read()) EQUAL(flag, 1u);
    }
}

LAW(GraphOrder, AHundredThousandNodesAreOneGraph) {
    Value value;
    const Graph graph;
    CUgraphNode last = nullptr;
    for (int i = 0; i < 100000; ++i)
        last = kernel_node(graph, last == nullptr ? Nodes{} : Nodes{last}, "affine", static_cast<CUdeviceptr>(value),
                           std::uint64_t{1}, std::uint64_t{1});
    const Exec exec(graph);
    exec.run();
    EQUAL(value.get(), 100000u);
}

LAW(GraphOrder, ALoopDoesNotStopForAHostNodeThatWaitsForIt) {
    // The host node becomes ready while the loop runs, and waits until the loop is complete. The thread that runs the
    // loop takes work between the parallel nodes of its body, but must not take this host node.
    if (check::workers() < 2) return;
    constexpr unsigned kArms = 4;
    Value counter(40);
    Buffer<std::uint32_t> done(kArms + 1);
    std::atomic<std::uint32_t> behind{0};
    const Graph graph;
    const CUgraphConditionalHandle handle = condition(graph, 1);
    const Conditional loop = conditional(graph, {}, handle, CU_GRAPH_COND_TYPE_WHILE);
    Nodes arms;
    for (unsigned i = 0; i < kArms; ++i)
        arms.push_back(kernel_node(loop.bodies[0], {}, "slow", static_cast<CUdeviceptr>(done + 4 * i), 20u + 10 * i));
    kernel_node(loop.bodies[0], arms, "count_down", static_cast<CUdeviceptr>(counter), handle);
    kernel_node(graph, {loop.node}, "slow", &behind, 0u);
    const CUgraphNode pause = kernel_node(graph, {}, "slow", static_cast<CUdeviceptr>(done + 4 * kArms), 300u);
    host_node(
        graph, {pause},
        [](void* flag) {
            while (static_cast<std::atomic<std::uint32_t>*>(flag)->load() == 0) std::this_thread::yield();
        },
        &behind);
    const Exec exec(graph);
    for (int launch = 0; launch < 5; ++launch) {
        counter.set(40);
        behind = 0;
        exec.run();
        EQUAL(counter.get(), 0u);
    }
}
