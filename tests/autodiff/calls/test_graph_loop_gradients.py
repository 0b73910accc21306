# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a tape differentiates the loops and branches between the tasks of a graph kernel, however often they run."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START, array, squares

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray
MOST = 8


@cg.kernel(graph=True)
def orbit(a: ndarray(f64, 1), x: ndarray(f64, 1), z: ndarray(f64, 1), left: ndarray(i32, 0)):
    for i in x:
        x[i] = a[i]
    while cg.graph_do_while(left, max_iterations=MOST):
        for i in x:
            z[i] = 1.3 * cg.sin(x[i])
        for i in x:
            x[i] = 0.9 * cg.cos(z[i]) * a[i]
        left[()] -= 1


@cg.kernel(graph=True)
def root(a: ndarray(f64, 1), x: ndarray(f64, 1), new: ndarray(f64, 1), change: ndarray(f64, 0), tol: f64):
    """Set x to cos(a x) until it does not change."""
    limit = tol * tol
    change[()] = 1.0
    while cg.graph_while(change[()] > limit):
        change[()] = 0.0
        for i in x:
            new[i] = cg.cos(a[i] * x[i])
        for i in x:
            change[()] += (new[i] - x[i]) ** 2
        for i in x:
            x[i] = new[i]


@cg.kernel(graph=True)
def nested(a: ndarray(f64, 1), x: ndarray(f64, 1), z: ndarray(f64, 1), n: ndarray(i32, 1)):
    """Branches and a loop in a loop: n has the outer count, the inner count, and the turns so far."""
    while cg.graph_while(n[0] > 0):
        n[0] -= 1
        n[1] = 2
        if cg.graph_if(n[0] % 2 == 0):
            for i in x:
                z[i] = x[i] * a[i]
        else:
            with cg.graph_parallel():
                with cg.graph_section():
                    for i in x:
                        z[i] = cg.sin(x[i])
                with cg.graph_section():
                    n[2] += 1
        while cg.graph_while(n[1] > 0):
            n[1] -= 1
            match cg.graph_switch(n[1]):
                case 0:
                    for i in x:
                        x[i] = z[i] * z[i] + 0.1
                case 1:
                    for i in x:
                        x[i] = 0.5 * z[i]
                    for i in x:
                        z[i] = x[i] + a[i]


def numbers(*values):
    made = cg.ndarray(i32, len(values))
    made.from_numpy(np.asarray(values, np.int32))
    return made


def orbited(a, turns):
    x = np.array(a)
    for _ in range(turns):
        x = 0.9 * np.cos(1.3 * np.sin(x)) * a
    return x


def slope(function, a):
    """The derivative of a function of each element, by central differences."""
    return (function(a + 1e-6) - function(a - 1e-6)) / 2e-6


@pytest.fixture
def left():
    return cg.ndarray(i32, ())


@pytest.fixture
def z():
    return array(np.zeros(3))


@pytest.fixture
def a():
    return array(START)


# Values


@pytest.mark.parametrize("options", [{}, {"max_states": 2}, {"max_states": 4}, {"memory_limit": 400}])
@pytest.mark.parametrize("turns", [1, 2, MOST])
def test_a_loop_has_the_gradient_of_its_iterations(a, x, z, y, left, turns, options):
    left.fill(turns)
    with cg.ad.Tape(loss=y, **options):
        orbit(a, x, z, left)
        squares(x, y)
    np.testing.assert_allclose(a.grad.to_numpy(), slope(lambda v: orbited(v, turns) ** 2, START), rtol=1e-7)
    np.testing.assert_allclose(x.to_numpy(), orbited(START, turns))
    assert left[()] == 0


def test_few_states_give_the_gradient_to_the_bit(a, x, z, y, left):
    found = []
    for options in ({}, {"max_states": 3}, {"max_states": 7}):
        left.fill(MOST)
        with cg.ad.Tape(loss=y, **options) as tape:
            for _ in range(5):
                orbit(a, x, z, left)
                refill(left)
            squares(x, y)
        found.append(a.grad.to_numpy())
        assert tape.stats.most_states <= options.get("max_states", 1000)
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[2], found[0])


@cg.kernel
def refill(left: ndarray(i32, 0)):
    for _ in range(1):
        left[()] = MOST


def test_a_loop_until_convergence_has_the_gradient_of_its_result(a, x, z, y):
    change = cg.ndarray(f64, ())
    a.from_numpy(0.5 * START)
    with cg.ad.Tape(loss=y, max_states=5, grad_check=[a]):
        root(a, x, z, change, 1e-12)
        squares(x, y)
    found = x.to_numpy()
    np.testing.assert_allclose(found, np.cos(0.5 * START * found), atol=1e-10)
    sines = np.sin(0.5 * START * found)  # implicit differentiation of x = cos(a x)
    expected = 2 * found * -found * sines / (1 + 0.5 * START * sines)
    np.testing.assert_allclose(a.grad.to_numpy(), expected, rtol=1e-8)


def test_branches_sections_and_nested_loops_have_gradients(a, x, z, y):
    plain = [cg.ndarray(f64, 3) for _ in range(3)]
    for each, values in zip(plain, (START, 0.5 * START, np.zeros(3)), strict=True):
        each.from_numpy(values)
    count = numbers(4, 0, 0)
    nested(*plain, count)

    for options in ({}, {"max_states": 3}):
        x.from_numpy(0.5 * START)
        z.fill(0)
        taped = numbers(4, 0, 0)
        with cg.ad.Tape(loss=y, grad_check=[a, x] if options else [a], **options):
            nested(a, x, z, taped)
            squares(x, y)
        np.testing.assert_array_equal(x.to_numpy(), plain[1].to_numpy())
        np.testing.assert_array_equal(taped.to_numpy(), count.to_numpy())


def test_calls_before_a_loop_are_differentiated_too(a, x, z, y, left):
    @cg.kernel
    def scale(b: ndarray(f64, 1), a: ndarray(f64, 1)):
        for i in b:
            a[i] = b[i] * b[i]

    b = array(np.sqrt(START))
    left.fill(3)
    with cg.ad.Tape(loss=y):
        scale(b, a)
        orbit(a, x, z, left)
        squares(x, y)
    expected = slope(lambda v: orbited(v * v, 3) ** 2, np.sqrt(START))
    np.testing.assert_allclose(b.grad.to_numpy(), expected, rtol=1e-7)


def test_methods_with_loops_have_gradients(y):
    @cg.data_oriented
    class Model:
        def __init__(self):
            self.x, self.z, self.left, self.y = array(START), array(np.zeros(3)), cg.ndarray(i32, ()), y

        @cg.kernel(graph=True)
        def run(self):
            while cg.graph_while(self.left[()] > 0):
                for i in self.x:
                    self.z[i] = self.x[i] * self.x[i]
                for i in self.x:
                    self.x[i] = 0.5 * self.z[i]
                self.left[()] -= 1

    model = Model()
    model.left.fill(3)
    with cg.ad.Tape(loss=y):
        model.run()
        squares(model.x, y)
    # x becomes x^8 / 128
    np.testing.assert_allclose(model.x.to_numpy(), START**8 / 128)
    np.testing.assert_allclose(model.x.grad.to_numpy(), 2 * START**8 / 128 * 8 * START**7 / 128)


# Limits and refusals


def test_more_than_max_iterations_is_an_overflow_in_a_tape(a, x, z, y, left):
    def run(turns):
        left.fill(turns)
        with cg.ad.Tape(loss=y):
            orbit(a, x, z, left)
            squares(x, y)

    why = rf"orbit: the loop in line \d+ has more than max_iterations={MOST}"
    with pytest.raises(cg.AdstackOverflowError, match=why):
        run(MOST + 1)
    np.testing.assert_array_equal(a.grad.to_numpy(), 0)
    run(MOST)  # and the next tape is as ever
    np.testing.assert_allclose(a.grad.to_numpy(), slope(lambda v: orbited(v, MOST) ** 2, START), rtol=1e-7)
    left.fill(MOST + 1)
    orbit(a, x, z, left)  # without a tape the loop ends
    assert left[()] == 1


def test_arrays_without_gradients_keep_loops_on_the_device(z, y, left):
    x = cg.ndarray(f64, 3)
    left.fill(MOST)
    with cg.ad.Tape() as tape:
        orbit(cg.ndarray(f64, 3), x, cg.ndarray(f64, 3), left)
    assert len(tape.calls) == 1 and tape.stats is None


@pytest.mark.parametrize("chain", ["nodes", "resident"])
def test_a_graph_kernel_without_control_flow_is_one_call(x, z, y, chain):
    @cg.kernel(graph=True, chain=chain)
    def twice(x: ndarray(f64, 1), z: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            z[i] = x[i] * x[i]
        for i in x:
            y[()] += z[i] * x[i]

    with cg.ad.Tape(loss=y) as tape:
        twice(x, z, y)
    assert len(tape.calls) == 1 and tape.stats is None
    np.testing.assert_allclose(x.grad.to_numpy(), 3 * START**2)


def test_a_capture_takes_a_known_number_of_iterations(a, x, z, y, stream):
    """A kernel for the body of a loop, called in a loop of Python."""

    @cg.kernel
    def halve(x: ndarray(f64, 1), z: ndarray(f64, 1)):
        for i in x:
            z[i] = 0.5 * x[i] * x[i]

    @cg.kernel
    def add(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            y[()] += x[i]

    def run():
        with cg.ad.Tape(loss=y, max_states=2):
            for _ in range(2):
                halve(x, z)
                halve(z, x)
            add(x, y)

    x.from_numpy(START)
    run()
    wanted = x.grad.to_numpy()
    with cg.capture(stream) as builder:
        run()
    graph = builder.complete()
    for _ in range(2):
        x.from_numpy(START)
        graph.launch(stream)
        stream.sync()
        np.testing.assert_array_equal(x.grad.to_numpy(), wanted)
    values, slopes = START.copy(), np.ones(len(START))
    for _ in range(4):
        values, slopes = 0.5 * values**2, slopes * values
    np.testing.assert_allclose(wanted, slopes)


def test_a_variable_within_an_iteration_has_a_gradient(x, y, left):
    @cg.kernel(graph=True)
    def norms(x: ndarray(f64, 1), left: ndarray(i32, 0), y: ndarray(f64, 0)):
        while cg.graph_do_while(left):
            total = 0.0
            for i in x:
                total += x[i] * x[i]
            y[()] += cg.sqrt(total)
            left[()] -= 1

    left.fill(3)
    with cg.ad.Tape(loss=y, max_states=2):
        norms(x, left, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 3 * START / np.linalg.norm(START))


def test_a_gradient_of_a_loop_needs_a_tape(a, x, z, left):
    with pytest.raises(
        cg.CompileGradientError, match="control flow between tasks has a gradient in a tape only"
    ):
        orbit.grad(a, x, z, left)
