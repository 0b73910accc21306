# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the grid of a loop has the blocks that its iterations need, if the bounds follow from parameters and extents. A
loop whose bounds only the device knows has the largest grid."""

import importlib.util

import numpy as np
import pytest

import cuda_graphs as cg

SHARE = 128  # iterations of a block, on both drivers
LEN = 300
# A bound -> n. With another rounding, or the other extreme, the loop would have another number of blocks.
BOUNDS = {
    "n // 32": 128 * 32 + 31,
    "y.shape[0] // 2": 1,
    "(1 - n) // 4 + 257": 514,
    "min(n, 129)": 1000,
    "max(n, y.shape[0])": 100,
    "(n // 2) * (n // 2) // n": 516,
    "n // zero + 129": 7,
}
KERNEL = """import cuda_graphs as cg

def count(n: cg.i32, zero: cg.i32, y: cg.Array1[cg.i32], z: cg.Array1[cg.i32]):
{}    for i in range(m):
        z[i] = i + 1
"""
# A local that several statements between loops write. No task may be left that only computes it.
WRITTEN_OFTEN = {
    "two writes": "    m = n\n    if cg.static(True):\n        m = y.shape[0]\n",
    "three writes, each from the last": "    m = n\n    m = m * 2\n    m = m // 2 + 1\n",
    "a write behind a loop": "    m = n * 2\n    for i in range(m):\n        z[i] = 7\n    m = n\n",
}


def kernel_of(body, tmp_path):
    file = tmp_path / "counting.py"
    file.write_text(KERNEL.format(body))
    spec = importlib.util.spec_from_file_location("counting", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cg.kernel(module.count)


def grids(kernel, *args):
    definition = cg.GraphDef()
    definition.call(kernel, *args)
    return [node.grid[0] for node in definition.nodes()]


@pytest.fixture
def arrays(device):
    return cg.zeros(LEN, cg.i32), cg.zeros(LEN, cg.i32)


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_bound_of_parameters_and_extents_sizes_the_grid(arrays, bound, tmp_path):
    y, z = arrays
    kernel, n = kernel_of(f"    m = {bound}\n", tmp_path), BOUNDS[bound]
    count = eval(bound.replace("n // zero", "0"), {"n": n, "y": np.zeros(LEN)})
    assert grids(kernel, n, 0, y, z) == [-(-count // SHARE)]
    if "zero" in bound:
        return  # the device decides what it is
    kernel(n, 0, y, z)
    assert z.to_numpy().tolist() == [*range(1, count + 1), *[0] * (LEN - count)]


@pytest.mark.parametrize("body", WRITTEN_OFTEN)
def test_a_local_that_is_written_often_between_loops_needs_no_task(arrays, body, tmp_path):
    y, z = arrays
    kernel = kernel_of(WRITTEN_OFTEN[body], tmp_path)
    n = 5
    kernel(n, 0, y, z)
    given = np.zeros(LEN, "i4")
    scope = {"n": n, "y": np.zeros(LEN), "z": given, "cg": cg, "range": range}
    exec("if True:\n" + WRITTEN_OFTEN[body].replace("cg.static", ""), scope)
    inner = [1] * WRITTEN_OFTEN[body].count("for")  # loops of 10 iterations
    assert grids(kernel, n, 0, y, z) == [*inner, -(-scope["m"] // SHARE)]
    given[: scope["m"]] = np.arange(1, scope["m"] + 1)
    assert z.to_numpy().tolist() == given.tolist()


def test_a_bound_in_memory_has_the_largest_grid(arrays, tmp_path):
    y, z = arrays
    y.fill(3)
    kernel = kernel_of("    m = y[0]\n", tmp_path)
    assert max(grids(kernel, LEN, 0, y, z)) > 1
    kernel(LEN, 0, y, z)
    assert z.to_numpy()[:5].tolist() == [1, 2, 3, 0, 0]


def test_a_local_of_a_branch_keeps_the_value_of_the_branch(device):
    @cg.kernel
    def k(n: cg.i32, z: cg.Array1[cg.i32]):
        m = n
        if n > 3:
            m = 3
        for i in range(m):
            z[i] = m
        m = m + 1
        for i in range(m):
            z[i] += 10 * m

    for n in (2, 8):
        z = cg.zeros(LEN, cg.i32)
        k(n, z)
        m = min(n, 3)
        wanted = [m + 10 * (m + 1)] * m + [10 * (m + 1)]
        assert z.to_numpy()[: m + 2].tolist() == [*wanted, 0]
