# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: each construct of the language has a right gradient, or is refused by name."""

import numpy as np
import pytest

import cuda_graphs as cg

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray
N = 64
ROWS = np.linspace(0.1, 1, N)


@cg.kernel(graph=True)
def rounds(x: ndarray(f64, 1), y: ndarray(f64, 1), n: ndarray(i32, 0)):
    while cg.graph_do_while(n):
        for i in x:
            y[i] += x[i] * x[i]
        n[()] = n[()] - 1


@cg.kernel(graph=True)
def decided(x: ndarray(f64, 1), y: ndarray(f64, 1), n: ndarray(i32, 0)):
    if cg.graph_if(n[()] > 0):
        for i in x:
            y[i] += x[i] * x[i]


@cg.kernel(graph=True, checkpoints=True)
def checkpoints(x: ndarray(f64, 1), y: ndarray(f64, 1), n: ndarray(i32, 0)):
    with cg.checkpoint(1, yield_on=n):
        for i in x:
            y[i] += x[i] * x[i]


@cg.kernel
def blocks(x: ndarray(f64, 1), y: ndarray(f64, 1), n: ndarray(i32, 0)):
    for b, t in cg.blocks(2, 32):
        v = cg.block.reduce_add(x[b * 32 + t])
        if t == 0:
            y[b] = v


@cg.kernel
def warps(x: ndarray(f64, 1), y: ndarray(f64, 1), n: ndarray(i32, 0)):
    cg.loop_config(block_dim=32)
    for i in x:
        y[i] = cg.warp.shuffle_down(x[i], 1)


@cg.kernel
def exchanges(x: ndarray(f64, 1), y: ndarray(f64, 1), n: ndarray(i32, 0)):
    for i in x:
        cg.atomic_exchange(y[0], x[i])


@cg.kernel
def least_before(x: ndarray(f64, 1), y: ndarray(f64, 1), n: ndarray(i32, 0)):
    for i in x:
        y[i] = cg.atomic_min(x[0], x[i])


@cg.kernel
def drawn(x: ndarray(f64, 1), y: ndarray(f64, 1), n: ndarray(i32, 0)):
    for i in x:
        y[i] = x[i] * cg.random(f64)


REFUSED = {
    rounds: "control flow between tasks",
    decided: "control flow between tasks",
    checkpoints: "checkpoints",
    blocks: "in blocks",
    warps: "in blocks",
    exchanges: "atomic exchange",
    least_before: "the result of an atomic",
    drawn: "different random numbers",
}


@pytest.fixture
def arguments(device):
    x, y = (cg.ndarray(f64, N, needs_grad=True) for _ in range(2))
    x.from_numpy(ROWS)
    y.grad.fill(1)
    n = cg.ndarray(i32, ())
    n.fill(2)
    return x, y, n


@pytest.mark.parametrize("kernel", REFUSED, ids=lambda each: each.__name__)
def test_construct_without_a_gradient_is_refused_by_name(kernel, arguments):
    x, y, n = arguments
    with pytest.raises(cg.CompileGradientError, match=REFUSED[kernel]) as caught:
        kernel.grad(x, y, n)
    assert caught.value.remedy
    np.testing.assert_array_equal(x.grad.to_numpy(), 0)
    np.testing.assert_array_equal(y.grad.to_numpy(), 1)


@cg.kernel(graph=True)
def tasks_of_a_graph(x: ndarray(f64, 1), y: ndarray(f64, 1), n: ndarray(i32, 0)):
    for i in x:
        y[i] += x[i] * x[i]
    for i in x:
        y[i] += n[()] * x[i]


@cg.kernel(graph=True)
def sections(x: ndarray(f64, 1), y: ndarray(f64, 1), n: ndarray(i32, 0)):
    with cg.graph_parallel():
        with cg.graph_section():
            for i in x:
                y[i] += x[i] * x[i]
        with cg.graph_section():
            n[()] = 2
    for i in x:
        y[i] += n[()] * x[i]


@cg.kernel
def counts(x: ndarray(f64, 1), y: ndarray(f64, 1), n: ndarray(i32, 0)):
    n[()] = 2
    for i in x:
        cg.atomic_max(n[()], i // 100)
        y[i] += x[i] * x[i] + 2.0 * x[i]


@cg.kernel
def asserts_and_returns(x: ndarray(f64, 1), y: ndarray(f64, 1), n: ndarray(i32, 0)) -> i32:
    above = 0
    for i in x:
        assert x[i] > 0.0
        if x[i] > 0.5:
            above += 1
        y[i] = x[i] * x[i] + 2.0 * x[i]
    return above


@cg.kernel
def statements_and_loops(x: ndarray(f64, 1), y: ndarray(f64, 1), n: ndarray(i32, 0)):
    total = f64(0.0)
    two = f64(n[()])
    for i in x:
        total += x[i]
    y[0] += 0.0 * total
    for i in x:
        y[i] += x[i] * x[i] + two * x[i]


@pytest.mark.parametrize(
    "kernel",
    [tasks_of_a_graph, sections, counts, asserts_and_returns, statements_and_loops],
    ids=lambda each: each.__name__,
)
def test_side_effects_have_no_gradient_and_are_not_repeated(kernel, arguments):
    x, y, n = arguments
    with cg.ad.Tape() as tape:
        kernel(x, y, n)
    left = n.to_numpy(), y.to_numpy()
    kernel.grad(x, y, n)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * ROWS + 2, rtol=1e-14)
    y.grad.fill(1)
    tape.grad()
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * (2 * ROWS + 2), rtol=1e-14)
    np.testing.assert_array_equal(n.to_numpy(), left[0])
    np.testing.assert_array_equal(y.to_numpy(), left[1])
