# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: whole kernels give what NumPy gives, on the interpreter, as x86 code and as PTX."""

import numpy as np
import pytest

from tests.compiler.rig import cg, run_all


def saxpy(a: cg.f32, x: cg.ndarray(cg.f32, 1), y: cg.ndarray(cg.f32, 1)):
    for i in range(x.shape[0]):
        y[i] = a * x[i] + y[i]


@pytest.mark.parametrize("n", [0, 1, 7, 1000])
def test_saxpy(n):
    x, y = np.arange(n, dtype="f"), np.ones(n, "f")
    found = run_all(saxpy, a=2.5, x=x, y=y)
    np.testing.assert_array_equal(found["y"], np.float32(2.5) * x + y)


def stencil(u: cg.ndarray(cg.f64, 2), v: cg.ndarray(cg.f64, 2)):
    for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


def test_a_stencil_over_two_axes():
    u = np.random.default_rng(1).random((13, 9))
    found = run_all(stencil, u=u, v=np.zeros_like(u))["v"]
    wanted = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    np.testing.assert_array_equal(found[1:-1, 1:-1], wanted)
    assert not found[0].any()
    assert not found[:, -1].any()


def histogram(x: cg.ndarray(cg.i32, 1), bins: cg.ndarray(cg.i32, 1)):
    for i in range(x.shape[0]):
        bins[x[i] % 7] += 1


def test_a_histogram_counts_with_atomics():
    x = np.random.default_rng(2).integers(-50, 50, 500, dtype="i4")
    found = run_all(histogram, x=x, bins=np.zeros(7, "i4"))["bins"]
    np.testing.assert_array_equal(found, np.bincount(x % 7, minlength=7))


def mandelbrot(out: cg.ndarray(cg.i32, 2), limit: cg.i32):
    for i, j in out:
        x0, y0 = i / 4.0 - 2.0, j / 4.0 - 1.0
        x = 0.0
        y = 0.0
        n = 0
        while n < limit and x * x + y * y <= 4.0:
            x, y = x * x - y * y + x0, 2.0 * x * y + y0
            n += 1
        out[i, j] = n


def test_mandelbrot():
    found = run_all(mandelbrot, out=np.zeros((12, 8), "i4"), limit=20)["out"]
    for i, j in np.ndindex(found.shape):
        x0, y0 = np.float32(i) / np.float32(4) - np.float32(2), np.float32(j) / np.float32(4) - np.float32(1)
        x = y = np.float32(0)
        n = 0
        while n < 20 and x * x + y * y <= 4:
            x, y, n = x * x - y * y + x0, np.float32(2) * x * y + y0, n + 1
        assert found[i, j] == n


def two_phases(x: cg.ndarray(cg.i64, 1), out: cg.ndarray(cg.i64, 0)):
    total = cg.cast(0, cg.i64)
    for i in range(x.shape[0]):
        total += x[i]
    out[()] = total * 2
    for i in range(x.shape[0]):
        x[i] = total - x[i]


def test_task_reads_the_results_of_the_task_before_it():
    x = np.arange(100, dtype="i8")
    found = run_all(two_phases, x=x, out=np.zeros((), "i8"))
    assert found["out"] == 2 * x.sum()
    np.testing.assert_array_equal(found["x"], x.sum() - x)
