// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Law: A launch with arguments sets the kernels that differ, and no others. No two threads use one executable at the
// same time.
#include <atomic>
#include <cstdint>
#include <cstring>

#include "check.hpp"
#include "core/driver/table.hpp"
#include "core/graphs/executable.hpp"
#include "core/resources/context.hpp"
#include "core/resources/module.hpp"
#include "fake_driver.hpp"

using namespace cg;

namespace {

constexpr std::size_t kArguments = 3;  // of 8 bytes, as the fake driver reports for every kernel
constexpr int kRounds = 2000;

// An executable of two nodes that launch the same kernel.
struct Rig {
    StreamHandle stream = create_stream(primary_context(0), 0, 0);
    LibraryHandle library = load_library("image", false);
    KernelHandle kernel = get_kernel(library, "a");
    NodeHandle definition = create_graph();
    NodeRecord* nodes[2]{};
    GraphExecHandle exec;

    Rig() {
        GraphBox& graph = *box_of<NodeRecord>(definition)->graph;
        for (std::uintptr_t i = 0; i < 2; ++i)
            nodes[i] = &add_node(graph, reinterpret_cast<CUgraphNode>(0x1000 + i), NodeKind::kKernel, {});
        CUDA_GRAPH_INSTANTIATE_PARAMS params{};
        CUresult status = CUDA_SUCCESS;
        exec = instantiate(definition, &params, {}, &status);
        CHECK(status == CUDA_SUCCESS);
        for (NodeRecord* const node : nodes) {
            NodeSpec spec;
            fill(spec);
            CHECK(add_kernel(exec, *node, spec.params) == CUDA_SUCCESS);
        }
    }

    // The parameters with which both nodes were made: a grid of one block, and zeros.
    void fill(NodeSpec& spec) const {
        const std::uint64_t zero = 0;
        spec.begin(NodeKind::kKernel);
        for (std::size_t i = 0; i < kArguments; ++i) spec.arguments.append_copy(&zero, sizeof zero);
        spec.params.kernel.gridDimX = 1;
        spec.params.kernel.kern = *kernel;
        spec.params.kernel.ctx = *primary_context(0);
        spec.params.kernel.kernelParams = spec.arguments.pointers();
    }

    // Launches with `grid` and `value`, the first argument of the second node.
    CUresult run(unsigned int grid, std::uint64_t value) const {
        const std::uint64_t zero = 0;
        const void* const first[kArguments] = {&zero, &zero, nullptr};
        const void* const second[kArguments] = {&value, &zero, nullptr};
        const KernelArguments arguments[] = {{1, first}, {grid, second}};
        return launch_kernels(exec, stream, arguments);
    }

    CUresult set_node(std::size_t i) const {
        NodeSpec spec;
        fill(spec);
        ParameterProblem problem;
        return set_exec_node(exec, *nodes[i], spec, &problem);
    }
};

int sets() {
    return fake::calls("cuGraphExecNodeSetParams");
}

// The first argument that the driver got last.
std::uint64_t last_value = 0;

void record_values() {
    cg::detail::table.cuGraphExecNodeSetParams = [](CUgraphExec, CUgraphNode, CUgraphNodeParams* params) {
        std::memcpy(&last_value, params->kernel.kernelParams[0], sizeof last_value);
        return CUDA_SUCCESS;
    };
}

// The number of threads inside a driver function that uses the executable.
std::atomic<int> users{0};

CUresult use_alone() {
    CHECK(users.fetch_add(1) == 0);
    users.fetch_sub(1);
    return CUDA_SUCCESS;
}

}  // namespace

TEST(LaunchKernels, SetsOnlyKernelsThatDiffer) {
    const Rig rig;
    CHECK(rig.run(1, 0) == CUDA_SUCCESS);
    CHECK(sets() == 0);
    CHECK(rig.run(1, 7) == CUDA_SUCCESS);
    CHECK(sets() == 1);
    CHECK(rig.run(2, 7) == CUDA_SUCCESS);
    CHECK(sets() == 2);
    CHECK(rig.run(2, 7) == CUDA_SUCCESS);
    CHECK(sets() == 2);
    CHECK(fake::calls("cuGraphLaunch") == 4);
}

TEST(LaunchKernels, PassesTheNewValues) {
    const Rig rig;
    record_values();
    CHECK(rig.run(1, 7) == CUDA_SUCCESS);
    CHECK(last_value == 7);
}

TEST(LaunchKernels, SetsARefusedKernelAgain) {
    const Rig rig;
    fake::fail_next("cuGraphExecNodeSetParams", CUDA_ERROR_INVALID_VALUE);
    CHECK(rig.run(1, 7) == CUDA_ERROR_INVALID_VALUE);
    CHECK(fake::calls("cuGraphLaunch") == 0);
    CHECK(rig.run(1, 7) == CUDA_SUCCESS);
    CHECK(sets() == 2);
    CHECK(fake::calls("cuGraphLaunch") == 1);
}

TEST(LaunchKernels, SetsKernelsThatWereSetInAnotherWay) {
    const Rig rig;
    CHECK(rig.run(1, 7) == CUDA_SUCCESS);
    CHECK(rig.set_node(1) == CUDA_SUCCESS);
    record_values();
    CHECK(rig.run(1, 7) == CUDA_SUCCESS);
    CHECK(last_value == 7);
}

TEST(LaunchKernels, RefusesADestroyedNode) {
    const Rig rig;
    cg::detail::table.cuGraphDestroyNode = [](CUgraphNode) { return CUDA_SUCCESS; };
    CHECK(destroy_node(*rig.nodes[1]) == CUDA_SUCCESS);
    CHECK(rig.run(1, 7) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(sets() == 0);
}

TEST(Executable, IsUsedByOneThreadAtATime) {
    const Rig rig;
    DriverTable& table = cg::detail::table;
    table.cuGraphExecNodeSetParams = [](CUgraphExec, CUgraphNode, CUgraphNodeParams*) { return use_alone(); };
    table.cuGraphLaunch = [](CUgraphExec, CUstream) { return use_alone(); };
    table.cuGraphUpload = [](CUgraphExec, CUstream) { return use_alone(); };
    parallelize(4, [&](int thread) {
        ParameterChanges none;
        ParameterProblem problem;
        for (int i = 0; i < kRounds; ++i) {
            if (thread < 2)
                CHECK(rig.run(1, static_cast<std::uint64_t>(i)) == CUDA_SUCCESS);
            else if (thread == 2)
                CHECK(rig.set_node(0) == CUDA_SUCCESS);
            else
                CHECK((i % 2 == 0 ? launch(rig.exec, rig.stream, none, &problem) : upload(rig.exec, rig.stream)) ==
                      CUDA_SUCCESS);
        }
    });
}
