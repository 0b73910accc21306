# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the blocks of a cooperative launch, and those of a cluster, run at the same time: they wait for each other, and
the blocks of a cluster reach each other's shared memory. The truth is the same algorithm in NumPy."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cuda_graphs as cg
from tests.conformance.ptx_differential import Bench

CODE = Path(__file__).with_name("blocks_together.ptx")  # blocks_together.cu is where it comes from


@pytest.fixture(scope="module")
def module(session_device):
    found = cg.ObjectCode.from_ptx(CODE.read_bytes())
    assert found.handle  # loads it here, as it outlives the first test that uses it
    return found


@pytest.fixture
def run(device, module):
    """run(kernel, arrays, *values, grid=, block=, ...): what the arrays hold afterwards."""
    bench = Bench(device)

    def run(name, arrays, *values, **config):
        return bench.run(cg.LaunchConfig(**config), module.get_kernel(name), arrays, *values)

    return run


def test_the_blocks_of_a_grid_meet_between_steps(run):
    """Each step reads what another block wrote in the one before."""
    start = np.arange(6 * 64, dtype=np.int32)
    arrays = [start, np.zeros_like(start)]
    a, _ = run("steps_of_a_grid", arrays, 10, grid=6, block=64, is_cooperative=True)
    expected = start
    for s in range(10):
        expected = np.roll(expected, -(len(start) // 2 + 1)) + s
    np.testing.assert_array_equal(a, expected)


def test_a_grid_of_one_block_meets_itself(run):
    (out,) = run("one_block", [np.zeros(64, np.int32)], grid=1, block=64, is_cooperative=True)
    assert (out == 2).all()


def test_a_cooperative_node_runs_whenever_its_graph_is_launched(device, module, stream):
    definition = cg.GraphDef()
    memory = device.allocate(1024, stream=stream)
    memory.fill(np.int32(5), stream=stream)
    config = cg.LaunchConfig(grid=4, block=64, is_cooperative=True)
    definition.launch(config, module.get_kernel("swap_halves"), memory)
    graph = definition.instantiate()
    for _ in range(3):
        graph.launch(stream)
    host = cg.PinnedMemoryResource().allocate(1024, stream=stream)
    host.copy_from(memory, stream=stream)
    stream.sync()
    assert (np.from_dlpack(host).view(np.int32) == 8).all()
    memory.close(stream)
    host.close(stream)


@pytest.mark.parametrize(
    ("clusters", "cluster"), [((4, 1, 1), (2, 1, 1)), ((2, 1, 1), (2, 2, 2)), ((3, 2, 1), (1, 3, 1))]
)
def test_blocks_of_a_cluster_read_and_change_each_others_shared_memory(run, clusters, cluster):
    gx, gy, gz = (count * size for count, size in zip(clusters, cluster, strict=True))
    cx, cy, cz = cluster
    blocks, size, steps = gx * gy * gz, cx * cy * cz, 5
    out = np.zeros(blocks * 32, np.int32)
    (out,) = run("steps_of_a_cluster", [out], steps, grid=clusters, cluster=cluster, block=32)
    members: dict[tuple, list[int]] = {}
    for z, y, x in np.ndindex(gz, gy, gx):  # in the order of ranks: x first
        members.setdefault((z // cz, y // cy, x // cx), []).append((z * gy + y) * gx + x)
    expected = np.zeros((blocks, 32), np.int64)
    for numbers in members.values():
        mine = np.array([np.arange(32) + number * 32 for number in numbers])
        for s in range(steps):
            mine = np.roll(mine, -1, axis=0)[:, ::-1] + s
        mine[size - 1][0] += 1000 * 32 * size
        expected[numbers] = mine + 1000000 * np.arange(size)[:, None]
    np.testing.assert_array_equal(out.reshape(blocks, 32), expected)


def test_a_kernel_without_a_cluster_is_one_of_its_own(run):
    (out,) = run("steps_of_a_cluster", [np.zeros(5 * 32, np.int32)], 1, grid=5, block=32)
    expected = np.arange(32)[::-1] + 32 * np.arange(5)[:, None]
    expected[:, 0] += 32000
    np.testing.assert_array_equal(out.reshape(5, 32), expected)


def test_a_kernel_may_say_how_large_its_clusters_are(run):
    (out,) = run("clusters_of_four", [np.zeros(8 * 16, np.int32)], grid=8, block=16)
    np.testing.assert_array_equal(out.reshape(8, 16), (160 + np.arange(8) % 4)[:, None] + np.zeros(16))


def test_threads_that_have_ended_are_not_waited_for_by_the_cluster(run):
    (out,) = run("some_threads_end", [np.zeros(64, np.int32)], grid=1, cluster=2, block=32)
    assert out.reshape(2, 32).sum(1).tolist() == [8, 16]


# Block 0 ends in a trap while the others wait for it. The trap must end their wait.
FAULT = r"""
import sys
import cuda_graphs as cg

text = b'''.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 word) {
  .reg .pred %p; .reg .b32 %r; .reg .b64 %a;
  mov.u32 %r, %ctaid.x; setp.eq.u32 %p, %r, 0;
  @%p trap;
  ld.param.u64 %a, [word];
WAIT:
  ld.acquire.gpu.global.u32 %r, [%a]; setp.eq.u32 %p, %r, 0;
  @%p bra WAIT;
  ret;
}
.visible .entry meet() {
  .reg .pred %p; .reg .b32 %r;
  mov.u32 %r, %ctaid.x; setp.eq.u32 %p, %r, 0;
  @%p trap;
  barrier.cluster.arrive; barrier.cluster.wait;
  ret;
}'''
device = cg.Device()
device.set_current()
stream = device.create_stream()
code = cg.ObjectCode.from_ptx(text)
memory = device.allocate(4, stream=stream)
memory.fill(b"\0", stream=stream)
if sys.argv[1] == "grid":
    config = cg.LaunchConfig(grid=3, block=32, is_cooperative=True)
    cg.launch(stream, config, code.get_kernel("k"), memory)
else:
    cg.launch(stream, cg.LaunchConfig(grid=2, cluster=2, block=32), code.get_kernel("meet"))
try:
    stream.sync()
except cg.CUDAError as error:
    print(error)
sys.stdout.flush()
import os

os._exit(0)
"""


@pytest.mark.parametrize("what", ["grid", "cluster"])
def test_a_block_that_ends_in_a_fault_is_not_waited_for(what):
    environment = {**os.environ, "CUDA_GRAPHS_DRIVER": cg.driver_info().kind}
    command = [sys.executable, "-c", FAULT, what]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert "LAUNCH_FAILED" in found.stdout, found.stdout + found.stderr
