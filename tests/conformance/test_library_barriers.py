# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: barriers, asynchronous copies, pipelines, semaphores and atomics of CUDA's C++ library do what they say."""

from pathlib import Path

import numpy as np
import pytest

import cuda_graphs as cg
from tests.conformance.ptx_differential import Bench

CODE = Path(__file__).with_name("library_barriers.ptx")  # library_barriers.cu is where it comes from


@pytest.fixture(scope="module")
def module(session_device):
    found = cg.ObjectCode.from_ptx(CODE.read_bytes())
    assert found.handle  # loads it here, as it outlives the first test that uses it
    return found


@pytest.fixture
def run(device, module):
    """run(kernel, threads, arrays, *values): what the arrays hold after one block."""
    bench = Bench(device)

    def run(name, threads, arrays, *values):
        return bench.run(cg.LaunchConfig(grid=1, block=threads), module.get_kernel(name), arrays, *values)

    return run


@pytest.mark.parametrize("threads", [1, 32, 100, 128])
def test_threads_hand_values_on_in_the_phases_of_a_barrier(run, threads):
    (out,) = run("phases", threads, [np.zeros(threads, np.int32)], 9)
    np.testing.assert_array_equal(out, (np.arange(threads) + 9) % threads)


def test_copies_have_arrived_when_their_barrier_is_passed(run):
    given = np.random.default_rng(1).integers(0, 1000, 512, np.int32)
    out, _ = run("copies", 256, [np.zeros(256, np.int32), given])
    np.testing.assert_array_equal(out, given[:256][::-1] + 1000 * given[256:])


def test_stages_of_a_pipeline_take_turns(run):
    given = np.random.default_rng(2).integers(0, 1000, (9, 64), np.int32)
    out, _ = run("stages", 64, [np.zeros(64, np.int32), given], 9)
    expected = np.zeros(64, np.int32)
    with np.errstate(over="ignore"):
        for row in given:
            expected = expected * np.int32(3) + row[::-1]
    np.testing.assert_array_equal(out, expected)


def test_a_semaphore_lets_one_thread_in_at_a_time(run):
    arrays = [np.zeros(1, np.int32), np.zeros(96, np.int32), np.zeros(1, np.uint32)]
    counter, order, _ = run("turns_of_a_semaphore", 96, arrays)
    assert counter[0] == 96
    assert sorted(order) == list(range(96))


def test_atomics_of_one_and_two_bytes_leave_their_neighbours_alone(run):
    found, halves = run("small_atomics", 96, [np.zeros(8, np.int8), np.zeros(8, np.int16)])
    assert found.tolist() == [32, 32, 32, 0, 0, 0, 0, 0]
    expected = np.zeros(8, np.int16)
    for t in range(96):
        expected[t % 5] ^= 1 << t % 13
    np.testing.assert_array_equal(halves, expected)
