# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: how a task is launched on a GPU follows from what it does: few large blocks where each block has something to do
once, many small ones where iterations take very different times."""

import types

import numpy as np
import pytest

from cuda_graphs.compiler import compile_kernel, specialise
from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.kernels.shapes import SHAPES, fitting_block
from tests.compiler.rig import function_of

GPU, HOST = SHAPES["cuda"], SHAPES["host"]
BODIES = {
    "plain": ("x[i] += 1.0", GPU),
    "a sum": ("y[0] += x[i]", GPU.gathering),
    "bins": ("y[i & 7] += x[i]", GPU.gathering),
    "a while": ("while x[i] > 1.0:\n            x[i] = x[i] * 0.5", GPU.uneven),
    "whiles, as many as memory says": (
        "while x[i] > 1.0:\n            x[i] = x[i] * 0.5",
        GPU,
        "range(n[0])",
    ),
    "a sum of loops": ("for k in range(i):\n            y[0] += x[k]", GPU.gathering),
}


@pytest.mark.parametrize("what", BODIES)
def test_the_shape_of_a_task_is_that_of_its_kind(what):
    body, wanted, *where = BODIES[what]
    loop = f"for i in {where[0] if where else 'x'}:\n        {body}\n"
    k = function_of(f"def k(x: ndarray(f32, 1), y: ndarray(f64, 1), n: ndarray(i32, 1)):\n    {loop}")
    given = {"x": np.zeros(8, "f4"), "y": np.zeros(8), "n": np.zeros(1, "i4")}
    *_, task = compile_kernel(k, specialise(k, given), Ptx()).tasks
    assert GPU.of(task) is wanted
    assert HOST.of(task) is HOST


def test_shapes_are_what_the_gpu_can_launch():
    for shape in (GPU, GPU.gathering, GPU.uneven):
        assert shape.block % 32 == 0
        assert 32 <= shape.block <= 1024
        assert shape.waves >= 1
    assert GPU.gathering.block > GPU.block
    assert GPU.uneven.waves > GPU.waves


@pytest.mark.parametrize("most", [32, 64, 250, 256, 511, 512, 1000, 1024])
def test_a_block_is_as_large_as_the_registers_allow(most):
    """`most` is what the driver reports for a kernel: one with 255 registers may have 256 threads."""
    kernel = types.SimpleNamespace(attributes=types.SimpleNamespace(max_threads_per_block=most))
    for threads in (1, 32, 128, 512, 1024):
        block = fitting_block(kernel, threads)
        assert block <= min(threads, most)
        assert block == threads or (block % 32 == 0 and block + 32 > most)
