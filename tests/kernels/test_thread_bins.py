# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: additions to elements of large arrays, in any order of the indices and by any number of threads, give the sums
of NumPy. On the host driver each thread collects them in bins of its own if that pays."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cuda_graphs as cg

RNG = np.random.default_rng(3)
N = 300_000


@cg.kernel
def add_at(
    at: cg.types.ndarray(cg.i32, 1), x: cg.types.ndarray(cg.i32, 1), sums: cg.types.ndarray(cg.i32, 1)
):
    for i in at:
        sums[at[i]] += x[i]


@cg.kernel(graph=True)
def add_again(
    at: cg.types.ndarray(cg.i32, 1),
    x: cg.types.ndarray(cg.f32, 1),
    sums: cg.types.ndarray(cg.f32, 2),
    left: cg.types.ndarray(cg.i32, 0),
):
    while cg.graph_while(left[()] > 0):
        for i in at:
            for d in cg.static(range(3)):
                sums[at[i], d] += d * x[i]
        for i, d in sums:
            sums[i, d] += 1
        left[()] -= 1


@pytest.mark.parametrize("elements", [1, 1000, 20_000, 140_000, 5_000_000])
def test_sums_are_those_of_numpy_in_each_of_several_calls(elements):
    at = RNG.integers(0, elements, N).astype("i4")
    x = RNG.integers(-100, 100, N).astype("i4")
    wanted = np.zeros(elements, "i4")
    sums = cg.array(wanted)
    for _ in range(4):  # the driver shares a loop between threads once it knows its cost
        add_at(cg.array(at), cg.array(x), sums)
        np.add.at(wanted, at, x)
        np.testing.assert_array_equal(sums.to_numpy(), wanted)


@pytest.mark.parametrize("elements", [100, 9000, 60_000])
def test_loops_of_a_graph_kernel_read_the_sums_of_all_threads(elements):
    """The numbers are small and whole, so floats add without rounding in any order."""
    at = RNG.integers(0, elements, N).astype("i4")
    x = RNG.integers(-9, 9, N).astype("f4")
    sums, left = cg.zeros((elements, 3), cg.f32), cg.array(np.array(7, "i4"))
    add_again(cg.array(at), cg.array(x), sums, left)
    once = np.zeros((elements, 3), "f4")
    np.add.at(once, at, x[:, None] * np.arange(3, dtype="f4"))
    np.testing.assert_array_equal(sums.to_numpy(), 7 * (once + 1))


OUTSIDE = """
import numpy as np, cuda_graphs as cg
from tests.kernels.test_thread_bins import add_at
at, x = np.zeros(300_000, "i4"), cg.ones(300_000, cg.i32)
at[::7] = {index}
sums = cg.zeros(3072, cg.i32)
try:
    for _ in range(3):
        add_at(cg.array(at), x, sums[1024:2048])
        cg.Device().sync()
except cg.CUDAError as error:
    print(error.name)
"""


@pytest.mark.parametrize("index", [-2, 1 << 20, 1 << 27, -(1 << 27)])
def test_an_index_outside_of_bins_damages_no_memory_of_the_process(index):
    """Far outside a GPU reports an illegal address, too. Near to the array it may hit other memory of the program."""
    child = subprocess.run(
        [sys.executable, "-c", OUTSIDE.format(index=index)],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"CUDA_GRAPHS_DRIVER": "host"},
        timeout=120,
        check=True,
        capture_output=True,
        text=True,
    )
    assert child.stdout.strip() == "CUDA_ERROR_ILLEGAL_ADDRESS", child.stderr


def test_a_thread_that_runs_all_pieces_in_a_random_order_adds_its_bins_once():
    law = "test_sums_are_those_of_numpy_in_each_of_several_calls"
    source = f"from tests.kernels.test_thread_bins import {law}; {law}(1000)"
    subprocess.run(
        [sys.executable, "-W", "error", "-c", source],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"CUDA_GRAPHS_DRIVER": "host", "CUDA_GRAPHS_HOST_SCHEDULE": "random:5"},
        timeout=120,
        check=True,
    )
