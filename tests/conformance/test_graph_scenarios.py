# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: whole programs as one graph each give what the same arithmetic gives in NumPy.

A relaxation that the host reads, a root finder with a guard, and a dispatch over five operations.
"""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

SOURCE = r"""
#include <cuda_graphs.h>

extern "C" __global__ void relax(float* v, const float* u, int rows, int columns, float omega) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= rows || j >= columns) return;
    int k = i * columns + j;
    bool rim = i == 0 || j == 0 || i == rows - 1 || j == columns - 1;
    float mean = rim ? u[k] : 0.25f * ((u[k - 1] + u[k + 1]) + (u[k - columns] + u[k + columns]));
    v[k] = rim ? u[k] : u[k] + omega * (mean - u[k]);
}
extern "C" __global__ void count_down(int* left, cudaGraphConditionalHandle more) {
    int old = *left;
    *left = old - 1;
    cudaGraphSetConditional(more, old > 1);
}

__device__ float f(float x, float target) { return x * x * x - target; }
extern "C" __global__ void side(const float* ab, float target, cudaGraphConditionalHandle above) {
    cudaGraphSetConditional(above, f(0.5f * (ab[0] + ab[1]), target) > 0.0f);
}
extern "C" __global__ void take_middle(float* ab, int which) { ab[which] = 0.5f * (ab[0] + ab[1]); }
extern "C" __global__ void guard(const float* ab, float target, float tolerance, cudaGraphConditionalHandle bad) {
    cudaGraphSetConditional(bad, fabsf(f(0.5f * (ab[0] + ab[1]), target)) > tolerance);
}
extern "C" __global__ void newton(float* ab, float target) {
    float x = 0.5f * (ab[0] + ab[1]);
    x = x - f(x, target) / (3.0f * x * x);
    ab[0] = x;
    ab[1] = x;
}

extern "C" __global__ void negate(int* x) { x[threadIdx.x] = -x[threadIdx.x]; }
extern "C" __global__ void twice(int* x) { x[threadIdx.x] *= 2; }
extern "C" __global__ void square(int* x) { x[threadIdx.x] *= x[threadIdx.x]; }
extern "C" __global__ void index(int* x) { x[threadIdx.x] += threadIdx.x; }
"""

NAMES = [
    "relax",
    "count_down",
    "side",
    "take_middle",
    "guard",
    "newton",
    "negate",
    "twice",
    "square",
    "index",
]


@pytest.fixture
def k(device):
    module = cg.Program(SOURCE, code_type="c++").compile("cubin")
    return {name: module.get_kernel(name) for name in NAMES}


def relaxed(u, steps, omega):
    """The same in NumPy float32."""
    u = u.copy()
    for _ in range(steps):
        mean = np.float32(0.25) * ((u[1:-1, :-2] + u[1:-1, 2:]) + (u[:-2, 1:-1] + u[2:, 1:-1]))
        u[1:-1, 1:-1] += omega * (mean - u[1:-1, 1:-1])
    return u


def test_laplace_relaxation(k, device, pinned, run):
    """alloc, memset, child graph, join, event record and wait, while, kernel, memcpy, callback, free: eleven kinds."""
    rows, columns, steps, omega = 24, 40, 50, np.float32(0.8)
    size = 4 * rows * columns
    result, seen = pinned(np.zeros(rows * columns), np.float32), []
    options = cg.EventOptions(timing_enabled=True)
    start, end = device.create_event(options), device.create_event(options)
    g = cg.GraphDef()
    u, v, left = g.alloc(size), g.alloc(size), g.alloc(4)
    ready = u.memset(u.dptr, 0, size).join(
        v.memset(v.dptr, 0, size), left.memset(left.dptr, np.int32(steps), 1)
    )

    rim = cg.GraphDef()  # one side at 100, the opposite one at -50
    last = rim.memset(u.dptr, np.float32(100), columns)
    last = last.memset(u.dptr + 4 * columns * (rows - 1), np.float32(-50), columns)

    more = g.create_condition(1)
    loop = ready.embed(last.graph).record_event(start).while_loop(more)
    config = cg.LaunchConfig(grid=(-(-columns // 16), -(-rows // 8)), block=(16, 8))
    step = loop.body.launch(config, k["relax"], v.dptr, u.dptr, rows, columns, omega)
    step.memcpy(u.dptr, v.dptr, size).launch(ONE, k["count_down"], left.dptr, more)
    done = loop.wait_event(start).record_event(end).memcpy(result.ctypes.data, u.dptr, size)
    node = done.callback(lambda: seen.append(result.copy()))
    for memory in (u, v, left):
        node = node.free(memory.dptr)
    del rim, last

    run(g, times=2)
    expected = np.zeros((rows, columns), np.float32)
    expected[0], expected[-1] = 100, -50
    expected = relaxed(expected, steps, omega)
    assert len(seen) == 2
    for image in seen:
        np.testing.assert_allclose(image.reshape(rows, columns), expected, rtol=1e-5, atol=1e-4)
    assert end - start >= 0


@pytest.mark.parametrize(("target", "guarded"), [(2.0, True), (27.0, False), (0.3, True)])
def test_a_cube_root_by_bisection_and_a_guard(target, guarded, k, pinned, run):
    """Nested conditions, one of them of the outer graph used in a body; the guard refines where it has to."""
    steps, tolerance = 12, np.float32(1e-3 if guarded else 1e9)
    target = np.float32(target)
    out = pinned([0, 0], np.float32)
    g = cg.GraphDef()
    ab, left = g.alloc(8), g.alloc(4)
    ready = (
        ab.memset(ab.dptr, np.float32(0), 1)
        .memset(ab.dptr + 4, np.float32(4), 1)
        .join(left.memset(left.dptr, np.int32(steps), 1))
    )
    more, above, bad = g.create_condition(1), g.create_condition(0), g.create_condition(0)
    loop = ready.while_loop(more)
    halves = loop.body.launch(ONE, k["side"], ab.dptr, target, above).if_else(above)
    halves.then.launch(ONE, k["take_middle"], ab.dptr, 1)
    halves.else_.launch(ONE, k["take_middle"], ab.dptr, 0)
    halves.launch(ONE, k["count_down"], left.dptr, more)
    check = loop.launch(ONE, k["guard"], ab.dptr, target, tolerance, bad).if_then(bad)
    check.then.launch(ONE, k["newton"], ab.dptr, target)
    check.memcpy(out.ctypes.data, ab.dptr, 8).free(ab.dptr).free(left.dptr)
    run(g)

    a, b = np.float32(0), np.float32(4)
    for _ in range(steps):
        middle = np.float32(0.5) * (a + b)
        a, b = (a, middle) if middle**3 > target else (middle, b)
    middle = np.float32(0.5) * (a + b)
    if abs(middle**3 - target) > tolerance:
        a = b = middle - (middle**3 - target) / (3 * middle * middle)
    np.testing.assert_allclose(out, [a, b], rtol=1e-6)
    np.testing.assert_allclose(out.mean(), np.cbrt(target), rtol=1e-5 if guarded else 1e-3)


@pytest.mark.parametrize("mode", [0, 1, 2, 3, 4, 5, 1000])
def test_a_dispatch_over_five_operations(mode, k, pinned, run):
    """The fourth branch stays empty, and a mode without a branch does nothing."""
    out = pinned(8)
    g = cg.GraphDef()
    x = g.alloc(32)
    node = x.memset(x.dptr, np.int32(42), 8).switch(g.create_condition(mode), 5)
    for branch, name in enumerate(("negate", "twice", "square", None, "index")):
        if name:
            node.branches[branch].launch(cg.LaunchConfig(grid=1, block=8), k[name], x.dptr)
    node.memcpy(out.ctypes.data, x.dptr, 32).free(x.dptr)
    run(g)
    start = np.full(8, 42)
    expected = {0: -start, 1: 2 * start, 2: start * start, 4: start + np.arange(8)}.get(mode, start)
    assert (out == expected).all()
