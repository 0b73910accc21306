# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: variables and values of a graph kernel may pass between its loops, in tapes outside of and in captures."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START, array, squares
from tests.autodiff.calls.test_captured_loops import captured, compare

f64, f32, i32 = cg.f64, cg.f32, cg.i32
ndarray = cg.types.ndarray


@cg.kernel(graph=True)
def accumulates(x: ndarray(f64, 1), left: ndarray(i32, 0), y: ndarray(f64, 0)):
    """A variable that iterations add to."""
    total = 0.0
    while cg.graph_do_while(left, max_iterations=8):
        for i in x:
            total += x[i]
        left[()] -= 1
    y[()] += total * total


@cg.kernel(graph=True)
def reads_before(x: ndarray(f64, 1), left: ndarray(i32, 0), y: ndarray(f64, 0)):
    """A value that the kernel reads before the loop."""
    first = x[0]
    while cg.graph_do_while(left, max_iterations=8):
        for i in x:
            y[()] += x[i] * first
        left[()] -= 1


@cg.kernel(graph=True)
def iterates(x: ndarray(f64, 1), left: ndarray(i32, 0), y: ndarray(f64, 0)):
    """A variable whose new value depends on the old one, and which decides when the loop ends."""
    v = x[0]
    while cg.graph_while((v < 40.0) and (left[()] > 0), max_iterations=8):
        v = v * v * x[1] + x[2]
        left[()] -= 1
    y[()] = cg.sin(v)


@cg.kernel(graph=True)
def counts(x: ndarray(f64, 1), left: ndarray(i32, 0), y: ndarray(f64, 0)):
    """Integers and bools, in branches."""
    k = 1
    odd = True
    while cg.graph_while(left[()] > 0, max_iterations=8):
        if cg.graph_if(odd):
            for i in x:
                y[()] += x[i] ** k
            k += 2
        else:
            for i in x:
                y[()] += k * x[i]
        odd = not odd
        left[()] -= 1


@cg.kernel(graph=True)
def turns(x: ndarray(f64, 1), left: ndarray(i32, 0), y: ndarray(f64, 0)):
    """A vector."""
    v = cg.types.vec(2, f64)(x[0], x[1])
    while cg.graph_while(left[()] > 0, max_iterations=8):
        v = cg.types.vec(2, f64)(v[0] * x[2] - v[1], v[0] + v[1] * x[2] * v[0])
        left[()] -= 1
    y[()] = v[0] * v[1]


@cg.kernel(graph=True)
def norms(x: ndarray(f64, 1), left: ndarray(i32, 0), y: ndarray(f64, 0)):
    """A variable that each iteration sets, adds to and reads around an inner loop."""
    while cg.graph_while(left[()] > 0, max_iterations=8):
        total = 0.5
        n = 2
        while cg.graph_while(n > 0, max_iterations=2):
            for i in x:
                total += x[i] * x[i] * n
            n -= 1
        y[()] += cg.sqrt(total)
        left[()] -= 1


def of_accumulates(x, n):
    return (n * x.sum()) ** 2


def of_reads_before(x, n):
    return n * x.sum() * x[0]


def of_iterates(x, n):
    v = x[0]
    for _ in range(n):
        v = v * v * x[1] + x[2] if v < 40 else v
    return np.sin(v)


def of_counts(x, n):
    k, found = 1, 0.0
    for turn in range(n):
        found += (x**k).sum() if turn % 2 == 0 else k * x.sum()
        k += 2 * (turn % 2 == 0)
    return found


def of_turns(x, n):
    a, b = x[0], x[1]
    for _ in range(n):
        a, b = a * x[2] - b, a + b * x[2] * a
    return a * b


def of_norms(x, n):
    return n * np.sqrt(0.5 + 3 * (x * x).sum())


CASES = [
    (accumulates, of_accumulates),
    (reads_before, of_reads_before),
    (iterates, of_iterates),
    (counts, of_counts),
    (turns, of_turns),
    (norms, of_norms),
]
LAW = pytest.mark.parametrize(("kernel", "function"), CASES, ids=[each.__name__ for each, _ in CASES])


def slopes(function, x, n):
    """The gradient of a function, by central differences."""
    return np.array([(function(x + h, n) - function(x - h, n)) / 2e-6 for h in 1e-6 * np.eye(len(x))])


@pytest.fixture(autouse=True)
def tests_of_flags_forget(device):
    """The kernels that test flags keep no code after a test."""
    yield
    cg.reset()


@pytest.fixture
def left():
    return cg.ndarray(i32, ())


@LAW
@pytest.mark.parametrize("options", [{}, {"max_states": 3}, {"validation": True}])
def test_gradients_of_variables_are_those_of_the_program(x, y, left, kernel, function, options):
    for n in (1, 2, 5):
        left.fill(n)
        with cg.ad.Tape(loss=y, **options):
            kernel(x, left, y)
        assert y[()] == pytest.approx(function(START, n))
        np.testing.assert_allclose(x.grad.to_numpy(), slopes(function, START, n), rtol=1e-6, atol=1e-8)


@LAW
def test_captured_gradients_of_variables_are_those_of_a_tape_outside(x, y, left, stream, kernel, function):
    def set_up():
        left.fill(3)

    *_, slope = compare(stream, y, set_up, lambda: kernel(x, left, y), [y, left, x], exact=False)
    np.testing.assert_allclose(slope, slopes(function, START, 3), rtol=1e-6, atol=1e-8)


def test_a_variable_without_atomics_has_the_captured_gradient_to_the_bit(x, y, left, stream):
    def set_up():
        left.fill(4)

    for kernel in (iterates, turns):
        compare(stream, y, set_up, lambda k=kernel: k(x, left, y), [y, left, x])


def test_variables_are_those_of_their_call(x, y, left):
    """Two calls of one tape, and a call inside of another launch of the graph, keep variables of their own."""

    @cg.kernel
    def refill(left: ndarray(i32, 0)):
        for _ in range(1):
            left[()] = 3

    left.fill(2)
    with cg.ad.Tape(loss=y, max_states=2):
        accumulates(x, left, y)
        refill(left)
        accumulates(x, left, y)
    assert y[()] == pytest.approx(of_accumulates(START, 2) + of_accumulates(START, 3))
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * (4 + 9) * START.sum())


@pytest.mark.parametrize("is_captured", [False, True])
def test_second_derivatives_flow_through_variables(x, y, left, stream, is_captured):
    def block():
        with cg.ad.Tape(loss=y):
            accumulates(x, left, y)
            squares(x, y)

    left.fill(3)
    with cg.ad.FwdMode(loss=y, param=x, seed=[1.0, 0.0, 2.0]):
        if is_captured:
            with cg.capture(stream) as builder:
                block()
            graph = builder.complete()
            for _ in range(2):
                left.fill(3)
                graph.launch(stream)
                stream.sync()
        else:
            block()
    # y = 9 (sum x)^2 + sum x^2
    np.testing.assert_allclose(x.grad.to_numpy(), 18 * START.sum() + 2 * START)
    np.testing.assert_allclose(x.grad.dual.to_numpy(), 18 * 3 + 2 * np.array([1.0, 0.0, 2.0]))


def test_a_variable_of_another_type_of_array_is_another_part(left, stream):
    """Types of variables follow from the arguments."""

    @cg.kernel(graph=True)
    def doubles(x: ndarray(ndim=1), left: ndarray(i32, 0), y: ndarray(ndim=0)):
        v = x[0]
        while cg.graph_while(left[()] > 0, max_iterations=8):
            v = v + x[1]
            left[()] -= 1
        y[()] = v * v

    for dtype in (f64, f32, f64):
        x, y = array(np.array([1.0, 2.0]), dtype), array(np.zeros(()), dtype)
        left.fill(3)
        with cg.ad.Tape(loss=y):
            doubles(x, left, y)
        assert x.grad.to_numpy().tolist() == [14.0, 42.0]
    graph = captured(stream, y, lambda: doubles(x, left, y))
    left.fill(1)
    graph.launch(stream)
    stream.sync()
    assert x.grad.to_numpy().tolist() == [6.0, 6.0]
