# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of kernels with blocks as a user calls them: on the driver of this run, in graphs, with debug."""

import numpy as np
import pytest

import cuda_graphs as cg

f32_1d = cg.types.ndarray(cg.f32, ndim=1)
i32_1d = cg.types.ndarray(cg.i32, ndim=1)
THREADS = 128


@cg.kernel
def block_sums(x: f32_1d, sums: f32_1d):
    cg.loop_config(block_dim=THREADS)
    for i in range(x.shape[0]):
        total = cg.block.reduce_add(x[i])
        if cg.block.thread() == 0:
            sums[cg.block.index()] = total


@cg.kernel
def reverse(x: i32_1d, y: i32_1d, blocks: cg.i32):
    for b, t in cg.blocks(blocks, THREADS):
        s = cg.block.shared_array(cg.i32, THREADS)
        s[t] = x[b * THREADS + t]
        cg.block.sync()
        y[b * THREADS + t] = s[THREADS - 1 - t] + cg.warp.shuffle_xor(s[t], 1) * 1000


@cg.kernel(debug=True)
def too_far(y: i32_1d):
    for _, t in cg.blocks(2, 32):
        s = cg.block.shared_array(cg.i32, 16)
        if t < y.shape[0]:
            s[t] = t
        cg.block.sync()
        y[0] = s[0]


@cg.kernel
def dice(x: f32_1d):
    for b, t in cg.blocks(x.shape[0] // 64, 64):
        first = cg.random()
        x[b * 64 + t] = cg.block.reduce_max(first) - cg.random()


@pytest.mark.parametrize("count", [1, 127, 128, 129, 100_000])
def test_many_blocks_are_each_summed(count):
    x = np.random.default_rng(count).integers(0, 100, count).astype(np.float32)
    sums = np.zeros(-(-count // THREADS), np.float32)
    block_sums(x, sums)
    padded = np.zeros(len(sums) * THREADS, np.float32)
    padded[:count] = x
    np.testing.assert_array_equal(sums, padded.reshape(-1, THREADS).sum(1))


def reversed_by_numpy(x):
    rows = x.reshape(-1, THREADS)
    return (rows[:, ::-1] + rows.reshape(-1, 2)[:, ::-1].reshape(rows.shape) * 1000).reshape(-1)


@pytest.mark.parametrize("blocks", [0, 1, 3, 1000])
def test_blocks_have_memory_of_their_own(blocks):
    x, y = np.arange(blocks * THREADS + 1, dtype=np.int32), np.full(blocks * THREADS + 1, -1, np.int32)
    reverse(x, y, blocks)
    np.testing.assert_array_equal(y[:-1], reversed_by_numpy(x[:-1]))
    assert y[-1] == -1


def test_a_kernel_with_blocks_is_a_node_of_a_graph(stream):
    x, y = cg.ndarray(cg.i32, 4 * THREADS), cg.ndarray(cg.i32, 4 * THREADS)
    x.from_numpy(np.arange(4 * THREADS, dtype=np.int32))
    g = cg.GraphDef()
    node = g.call(reverse, x, y, 4)
    assert node.config.block == (THREADS, 1, 1)
    assert node.config.grid == (4, 1, 1)
    graph = g.instantiate()
    for _ in range(2):
        y.fill(0)
        graph.launch(stream)
        stream.sync()
        np.testing.assert_array_equal(y.to_numpy(), reversed_by_numpy(x.to_numpy()))


def test_the_number_of_blocks_may_be_a_parameter_of_a_graph(stream):
    x, y = cg.ndarray(cg.i32, 8 * THREADS), cg.ndarray(cg.i32, 8 * THREADS)
    x.from_numpy(np.arange(8 * THREADS, dtype=np.int32))
    g = cg.GraphDef()
    g.call(reverse, x, y, g.param("blocks", cg.i32))
    graph = g.instantiate()
    for blocks in (2, 8):
        y.fill(0)
        graph.launch(stream, blocks=blocks)
        stream.sync()
        wanted = reversed_by_numpy(x.to_numpy())
        wanted[blocks * THREADS :] = 0
        np.testing.assert_array_equal(y.to_numpy(), wanted)


def test_debug_names_the_shared_array_and_the_line():
    y = np.zeros(16, np.int32)
    too_far(y)
    with pytest.raises(
        cg.KernelIndexError, match=r"index \d+ is outside of axis 0 of 'shared.0', which has 16"
    ) as caught:
        too_far(np.zeros(32, np.int32))
    assert "s[t] = t" in str(caught.value)


def test_random_numbers_are_those_of_the_iteration():
    found = []
    for _ in range(2):
        x = np.zeros(64 * 3, np.float32)
        cg.random_seed(7)
        dice(x)
        found.append(x)
    np.testing.assert_array_equal(found[0], found[1])
    assert len(np.unique(found[0])) > 180


def test_the_memory_that_blocks_share_is_an_attribute_of_the_kernel():
    kernel = cg.GraphDef().call(reverse, cg.ndarray(cg.i32, THREADS), cg.ndarray(cg.i32, THREADS), 1).kernel
    assert kernel.attributes.shared_size_bytes == 4 * THREADS


WARPS = r"""
extern "C" __global__ void sums(int* out) {
    int v = threadIdx.x + 1000 * blockIdx.x;
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    unsigned odd = __ballot_sync(0xffffffff, threadIdx.x & 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = v + (odd == 0xaaaaaaaa);
}
"""


def test_warps_of_cuda_exchange_values_on_every_driver(stream):
    kernel = cg.Program(WARPS, code_type="c++").compile("cubin").get_kernel("sums")
    out = cg.ndarray(cg.i32, 3 * 64)
    cg.launch(stream, cg.LaunchConfig(grid=3, block=64), kernel, out.buffer)
    stream.sync()
    lanes = np.arange(64).reshape(2, 32).sum(1).repeat(32)
    np.testing.assert_array_equal(out.to_numpy().reshape(3, 64), lanes + 32000 * np.arange(3)[:, None] + 1)
