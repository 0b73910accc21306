# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a cooperative launch, or one with clusters, runs as its LaunchConfig says, wherever its node is. A shape that a
driver does not support is refused when the node is made, and the graph is unchanged."""

import copy

import numpy as np
import pytest

import cuda_graphs as cg

SOURCE = r"""
extern "C" __global__ void places(unsigned* out) {
    unsigned rank, size, x, y, cluster_x, cluster_y;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
    asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(y));
    asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(cluster_x));
    asm volatile("mov.u32 %0, %%clusterid.y;" : "=r"(cluster_y));
    if (threadIdx.x == 0) {
        unsigned* row = out + 6 * (blockIdx.y * gridDim.x + blockIdx.x);
        row[0] = rank; row[1] = size; row[2] = x; row[3] = y; row[4] = cluster_x; row[5] = cluster_y;
    }
}

// Each block adds what all blocks wrote in the round before: without a barrier of the grid the sums are wrong.
extern "C" __global__ void rounds(unsigned* values, volatile unsigned* arrived, unsigned count) {
    unsigned blocks = gridDim.x;
    for (unsigned round = 0; round < count; ++round) {
        unsigned* from = values + (round % 2) * blocks;
        unsigned* to = values + (1 - round % 2) * blocks;
        if (threadIdx.x == 0) {
            unsigned sum = blockIdx.x;
            for (unsigned i = 0; i < blocks; ++i) sum += ((volatile unsigned*)from)[i];
            ((volatile unsigned*)to)[blockIdx.x] = sum;
            __threadfence();
            atomicAdd((unsigned*)arrived, 1);
            while (*arrived < (round + 1) * blocks) {}
            __threadfence();
        }
        __syncthreads();
    }
}
"""

# Reads the shared memory of the next block of the cluster.
NEIGHBOURS = r"""
extern "C" __global__ void neighbours(unsigned* out) {
    __shared__ unsigned mine;
    unsigned rank, size, remote, value;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    if (threadIdx.x == 0) mine = 1000 + blockIdx.x;
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    unsigned here = (unsigned)__cvta_generic_to_shared(&mine);
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(here), "r"((rank + 1) % size));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(remote));
    if (threadIdx.x == 0) out[blockIdx.x] = value;
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
"""


@pytest.fixture(scope="module")
def source_code(session_device):
    return cg.Program(SOURCE, code_type="c++").compile("cubin")


@pytest.fixture
def module(source_code):
    return copy.copy(source_code)


SHAPES = [
    ((4, 1), (2, 1)),
    ((3, 2), (2, 2)),
    ((2, 3), (4, 2)),
    ((5, 1), None),
    ((2, 2), (1, 1)),
    ((1, 2), (1, 8)),
]


def expected_places(grid, cluster):
    cluster = np.array(cluster or (1, 1))
    blocks = np.array(grid) * cluster
    rows = []
    for y, x in np.ndindex(*blocks[::-1]):
        inside = np.array([x, y]) % cluster
        rank = inside[0] + inside[1] * cluster[0]
        rows.append([rank, cluster.prod(), *inside, *(np.array([x, y]) // cluster)])
    return np.array(rows, "u4")


@pytest.mark.parametrize(("grid", "cluster"), SHAPES)
@pytest.mark.parametrize("where", ["graph", "body", "child"])
def test_blocks_know_their_places_in_their_clusters(grid, cluster, where, module, pinned, run):
    expected = expected_places(grid, cluster)
    out = pinned(np.zeros(expected.shape), "u4")
    config = cg.LaunchConfig(grid=grid, cluster=cluster, block=32)
    g, child = cg.GraphDef(), cg.GraphDef()
    place = {"graph": g, "child": child}.get(where) or g.if_then(g.create_condition(1)).then
    node = place.launch(config, module.get_kernel("places"), out)
    assert node.config == config
    assert node.grid == (*grid, 1)
    del node
    (node,) = place.nodes()
    assert (node.config, node.grid, node.block) == (config, (*grid, 1), (32, 1, 1))
    if where == "child":
        g.embed(child)
    run(g)
    assert (out == expected).all()


@pytest.mark.parametrize("where", ["graph", "body"])
def test_blocks_of_a_cooperative_launch_wait_for_each_other(where, module, pinned, run):
    blocks, count = 8, 50
    values, arrived = pinned(2 * blocks, "u4"), pinned(1, "u4")
    config = cg.LaunchConfig(grid=blocks, block=32, is_cooperative=True)
    g = cg.GraphDef()
    place = g if where == "graph" else g.if_then(g.create_condition(1)).then
    node = place.launch(config, module.get_kernel("rounds"), values, arrived, count)
    assert node.config == config
    run(g)
    now = np.zeros(blocks, "u4")
    for _ in range(count):
        now = np.arange(blocks, dtype="u4") + now.sum(dtype="u4")
    assert (values[(count % 2) * blocks :][:blocks] == now).all()


@pytest.mark.cuda
@pytest.mark.parametrize("size", [2, 4, 8])
def test_blocks_of_a_cluster_read_each_others_shared_memory(size, device, pinned, run):
    module = cg.Program(NEIGHBOURS, code_type="c++").compile("cubin")
    out = pinned(4 * size, "u4")
    g = cg.GraphDef()
    g.launch(cg.LaunchConfig(grid=4, cluster=size, block=32), module.get_kernel("neighbours"), out)
    run(g)
    block = np.arange(4 * size)
    assert (out == 1000 + block // size * size + (block + 1) % size).all()


TOO_MUCH = {
    "more blocks than a cluster may have": {"grid": 1, "cluster": 9, "block": 32},
    "far more": {"grid": 1, "cluster": 4096, "block": 32},
    "a cooperative grid that does not fit the device": {
        "grid": 1 << 20,
        "block": 1024,
        "is_cooperative": True,
    },
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_a_shape_that_is_refused_is_refused_where_it_is_said(name, module, pinned, run):
    out = pinned(np.zeros((1, 6)), "u4")
    g = cg.GraphDef()
    memory = g.alloc(64)
    node = memory.launch(cg.LaunchConfig(grid=1, block=32), module.get_kernel("places"), out)
    before = g.nodes(), g.edges()
    with pytest.raises(cg.CUDAError, match=r"(?s)(CLUSTER_SIZE|TOO_LARGE).*launch of places"):
        node.launch(cg.LaunchConfig(**TOO_MUCH[name]), module.get_kernel("places"), out)
    assert (g.nodes(), g.edges()) == before
    node.free(memory.dptr)
    run(g)
    assert out[0, 1] == 1
