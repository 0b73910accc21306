# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a captured tape differentiates loops of graph kernels as a tape outside does, with while nodes in one graph."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START, array, squares
from tests.autodiff.calls.test_graph_loop_gradients import MOST, numbers, orbit, orbited, refill, slope

f64, f32, i32 = cg.f64, cg.f32, cg.i32
ndarray = cg.types.ndarray


@cg.kernel(graph=True)
def root(a: ndarray(f64, 1), x: ndarray(f64, 1), new: ndarray(f64, 1), change: ndarray(f64, 0), tol: f64):
    """Set x to cos(a x) until it does not change."""
    change[()] = 1.0
    while cg.graph_while(change[()] > tol * tol, max_iterations=100):
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
    while cg.graph_while(n[0] > 0, max_iterations=4):
        n[0] -= 1
        n[1] = n[0]
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
        if cg.graph_if(n[0] > 1):
            for i in x:
                z[i] = z[i] + x[i] * x[i]
        while cg.graph_while(n[1] > 0, max_iterations=3):
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


@cg.kernel(graph=True)
def powers(a: ndarray(f64, 1), x: ndarray(f64, 1), z: ndarray(f64, 1), left: ndarray(i32, 0), n: i32):
    """A loop with a stack in each iteration."""
    while cg.graph_while(left[()] > 0, max_iterations=MOST):
        for i in x:
            v = x[i]
            for _ in range(n):
                v = v * a[i] * cg.cos(v)
            z[i] = v
        for i in x:
            x[i] = z[i]
        left[()] -= 1


@cg.kernel(graph=True)
def relax(x: ndarray(f32, 1), z: ndarray(f32, 1), left: ndarray(i32, 0), y: ndarray(f32, 0)):
    """States whose bytes are no multiple of 8."""
    while cg.graph_while(left[()] > 0, max_iterations=MOST):
        for i in x:
            z[i] = cg.sin(x[i]) * x[i]
        for i in x:
            x[i] = z[i] + 0.25
        left[()] -= 1
    y[()] = x[0] * x[1] + x[2]


@cg.kernel
def descend(x: ndarray(f64, 1), slope: ndarray(f64, 1), rate: f64):
    for i in x:
        x[i] -= rate * slope[i]


@pytest.fixture(autouse=True)
def tests_of_flags_forget(device):
    """The kernels that test flags keep no code after a test."""
    yield
    cg.reset()


@pytest.fixture
def left():
    return cg.ndarray(i32, ())


@pytest.fixture
def z():
    return array(np.zeros(3))


@pytest.fixture
def a():
    return array(0.5 * START)


def captured(stream, y, block, **options):
    """Return the graph of a tape around `block`."""
    with cg.capture(stream) as builder, cg.ad.Tape(loss=y, **options):
        block()
    return builder.complete()


def compare(stream, y, set_up, block, arrays, exact=True, **options):
    """Run a block in a tape, and as a launch of a captured tape: gradients and contents are equal.

    `exact` means to the bit. Float atomics allow no such claim.
    """
    graph = captured(stream, y, block, **options)

    def outside():
        with cg.ad.Tape(loss=y, **options):
            block()

    def launched():
        graph.launch(stream)
        stream.sync()

    found = []
    for run in (outside, launched, launched):
        set_up()
        run()
        found.append(
            [each.to_numpy() for each in arrays]
            + [each.grad.to_numpy() for each in arrays if each.needs_grad]
        )
    for one, other, third in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, rtol=0 if exact else 1e-12)
        np.testing.assert_allclose(third, one, rtol=0 if exact else 1e-12)
    return found[0]


# Values


@pytest.mark.parametrize("options", [{}, {"max_states": 2}])
def test_each_launch_has_the_gradient_of_its_iterations(a, x, z, y, left, stream, options):
    graph = captured(stream, y, lambda: (orbit(a, x, z, left), squares(x, y)), **options)
    for turns in (3, 1, MOST, 2):
        left.fill(turns)
        graph.launch(stream)
        stream.sync()
        expected = slope(lambda v, n=turns: orbited(v, n) ** 2, 0.5 * START)
        np.testing.assert_allclose(a.grad.to_numpy(), expected, rtol=1e-7)
        np.testing.assert_allclose(x.to_numpy(), orbited(0.5 * START, turns))
        assert left[()] == 0


@pytest.mark.parametrize("turns", [1, 5, MOST])
def test_gradients_and_results_are_those_of_a_tape_outside(a, x, z, y, left, stream, turns):
    compare(
        stream, y, lambda: left.fill(turns), lambda: (orbit(a, x, z, left), squares(x, y)), [a, x, z, y, left]
    )


@pytest.mark.parametrize("options", [{}, {"max_states": 2}, {"max_states": 3}])
def test_several_loops_of_one_tape_keep_their_states(a, x, z, y, left, stream, options):
    def block():
        for _ in range(3):
            orbit(a, x, z, left)
            refill(left)
        squares(x, y)

    compare(stream, y, lambda: left.fill(2), block, [a, x, z, y], **options)


def test_branches_sections_and_nested_loops_are_mirrored(a, x, z, y, stream):
    n = numbers(0, 0, 0)

    def set_up(turns):
        x.from_numpy(0.5 * START)
        z.fill(0)
        n.from_numpy(np.array([turns, 0, 0], np.int32))

    for turns in (4, 1, 0):
        compare(
            stream, y, lambda t=turns: set_up(t), lambda: (nested(a, x, z, n), squares(x, y)), [a, x, z, y, n]
        )
    with cg.ad.Tape(loss=y, grad_check=[a]):  # and both have the slope of the program
        set_up(4)
        nested(a, x, z, n)
        squares(x, y)


def test_a_loop_until_convergence_has_the_gradient_of_its_result(a, x, z, y, stream):
    change = cg.ndarray(f64, ())
    graph = captured(stream, y, lambda: (root(a, x, z, change, 1e-12), squares(x, y)))
    for scale in (0.5, 0.25):
        a.from_numpy(scale * START)
        x.from_numpy(START)
        graph.launch(stream)
        stream.sync()
        found = x.to_numpy()
        sines = np.sin(scale * START * found)  # implicit differentiation of x = cos(a x)
        expected = 2 * found * -found * sines / (1 + scale * START * sines)
        np.testing.assert_allclose(a.grad.to_numpy(), expected, rtol=1e-8)


def test_parts_with_stacks_are_captured(a, x, z, y, left, stream):
    def set_up():
        x.from_numpy(START)
        left.fill(3)

    compare(stream, y, set_up, lambda: (powers(a, x, z, left, 4), squares(x, y)), [a, x, z, y])


def test_memory_of_any_size_is_stored(left, stream):
    x, z = (array(START.astype(np.float32), f32) for _ in range(2))
    y = array(np.float32(0), f32)

    def set_up():
        x.from_numpy(START.astype(np.float32))
        left.fill(4)

    compare(stream, y, set_up, lambda: relax(x, z, left, y), [x, z, y])


def test_fields_and_methods_have_gradients_in_captured_loops(y, stream):
    weights = cg.field(f64, 3, needs_grad=True)
    weights.from_numpy(START)

    @cg.data_oriented
    class Model:
        def __init__(self):
            self.x, self.z, self.left = array(START), array(START), cg.ndarray(i32, ())

        @cg.kernel(graph=True)
        def run(self):
            while cg.graph_while(self.left[()] > 0, max_iterations=5):
                for i in self.x:
                    self.z[i] = weights[i] * self.x[i] * self.x[i]
                for i in self.x:
                    self.x[i] = 0.5 * self.z[i]
                self.left[()] -= 1

    model = Model()

    def set_up():
        model.x.from_numpy(START)
        model.left.fill(3)

    compare(stream, y, set_up, lambda: (model.run(), squares(model.x, y)), [weights, model.x, y])


def test_the_body_of_a_loop_of_the_capture_may_have_the_tape(a, x, z, y, left, stream):
    """Gradient descent with a loop in each step, as one graph: a while node with while nodes in its body."""
    turns = cg.ndarray(i32, ())

    @cg.kernel
    def advance(turns: ndarray(i32, 0), left: ndarray(i32, 0)):
        turns[()] -= 1
        left[()] = 3

    with cg.capture(stream) as builder, builder.while_loop(turns, do=True):
        with cg.ad.Tape(loss=y):
            orbit(a, x, z, left)
            squares(x, y)
        descend(a, a.grad, 0.125)
        advance(turns, left)
    graph = builder.complete()
    left.fill(3)
    turns.fill(4)
    graph.launch(stream)
    stream.sync()
    found = a.to_numpy()
    a.from_numpy(0.5 * START)
    for _ in range(4):
        left.fill(3)
        with cg.ad.Tape(loss=y):
            orbit(a, x, z, left)
            squares(x, y)
        descend(a, a.grad, 0.125)
    np.testing.assert_array_equal(found, a.to_numpy())


def test_arrays_may_be_memory_of_the_graph(a, x, y, left, stream):
    def block():
        z = cg.ndarray(f64, 3, needs_grad=True)
        orbit(a, x, z, left)
        squares(x, y)

    compare(stream, y, lambda: left.fill(3), block, [a, x, y])


def test_the_graph_keeps_the_memory_of_the_states(a, x, z, y, left, stream):
    graph = captured(stream, y, lambda: (orbit(a, x, z, left), squares(x, y)))
    wanted = []
    for _ in range(2):
        left.fill(4)
        graph.launch(stream)
        stream.sync()
        wanted.append(a.grad.to_numpy())
        junk = [array(np.full(3, 7.0)) for _ in range(50)]  # would take the place of freed memory
        del junk
    np.testing.assert_array_equal(wanted[0], wanted[1])
    np.testing.assert_allclose(wanted[0], slope(lambda v: orbited(v, 4) ** 2, 0.5 * START), rtol=1e-7)


def test_second_derivatives_flow_through_captured_loops(a, x, z, y, left, stream):
    def block():
        with cg.ad.Tape(loss=y):
            orbit(a, x, z, left)
            squares(x, y)

    seed = np.array([1.0, -0.5, 2.0])
    left.fill(4)
    with cg.ad.FwdMode(loss=y, param=a, seed=seed):
        block()
    wanted = a.grad.to_numpy(), a.grad.dual.to_numpy()
    graph = None
    with cg.ad.FwdMode(loss=y, param=a, seed=seed):
        with cg.capture(stream) as builder:
            block()
        graph = builder.complete()
        left.fill(4)
        graph.launch(stream)
        stream.sync()
    np.testing.assert_array_equal(a.grad.to_numpy(), wanted[0])
    np.testing.assert_array_equal(a.grad.dual.to_numpy(), wanted[1])


# Limits and refusals


def test_more_than_max_iterations_is_an_overflow_after_the_wait(a, x, z, y, left, stream):
    graph = captured(stream, y, lambda: (orbit(a, x, z, left), squares(x, y)))
    left.fill(MOST + 1)
    graph.launch(stream)
    why = rf"kernel orbit: the loop in line \d+ has more than max_iterations={MOST} iterations in a captured Tape"
    with pytest.raises(cg.AdstackOverflowError, match=why):
        stream.sync()
    left.fill(MOST)  # and the next launch is as ever
    graph.launch(stream)
    stream.sync()
    np.testing.assert_allclose(
        a.grad.to_numpy(), slope(lambda v: orbited(v, MOST) ** 2, 0.5 * START), rtol=1e-7
    )


def test_an_overflow_names_its_loop(x, y, stream):
    @cg.kernel(graph=True)
    def pair(x: ndarray(f64, 1), n: ndarray(i32, 1), y: ndarray(f64, 0)):
        while cg.graph_while(n[0] > 0, max_iterations=2):
            n[0] -= 1
            while cg.graph_while(n[1] > 0, max_iterations=3):
                for i in x:
                    y[()] += x[i]
                n[1] -= 1

    n = numbers(0, 0)
    graph = captured(stream, y, lambda: pair(x, n, y))
    for turns, most in (((3, 0), 2), ((2, 4), 3), ((2, 9), 3)):
        n.from_numpy(np.array(turns, np.int32))
        graph.launch(stream)
        with pytest.raises(cg.AdstackOverflowError, match=f"max_iterations={most} "):
            stream.sync()
    n.from_numpy(np.array([2, 3], np.int32))
    graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(x.grad.to_numpy(), 3)


def test_a_loop_without_a_limit_is_refused_in_a_capture(x, z, y, left):
    @cg.kernel(graph=True)
    def endless(x: ndarray(f64, 1), z: ndarray(f64, 1), left: ndarray(i32, 0)):
        while cg.graph_while(left[()] > 0):
            for i in x:
                z[i] = x[i] * x[i]
            left[()] -= 1

    def captures():
        with cg.capture(), cg.ad.Tape(loss=y):
            endless(x, z, left)

    with pytest.raises(
        RuntimeError, match=r"loop in line \d+ of endless\(\) has no max_iterations.*max_iterations=100"
    ):
        captures()
    left.fill(1)
    with cg.ad.Tape(loss=y):  # and the next one is as ever
        endless(x, z, left)
        squares(z, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 4 * START**3)


def test_stacks_of_unknown_capacity_need_stack_room(x, z, y, left, stream):
    @cg.kernel(graph=True)
    def counted(x: ndarray(f64, 1), z: ndarray(f64, 1), n: ndarray(i32, 0), left: ndarray(i32, 0)):
        while cg.graph_while(left[()] > 0, max_iterations=MOST):
            for i in x:
                v = x[i]
                for _ in range(n[()]):
                    v = v * cg.cos(v)
                z[i] = v
            for i in x:
                x[i] = z[i]
            left[()] -= 1

    n = cg.ndarray(i32, ())
    n.fill(3)

    def set_up():
        x.from_numpy(START)
        left.fill(2)

    with pytest.raises(
        RuntimeError, match=r"counted\(\) in a graph or capture.*counted\.grad\.stack_room = 64"
    ):
        captured(stream, y, lambda: counted(x, z, n, left))
    counted.grad.stack_room = 8
    compare(stream, y, set_up, lambda: (counted(x, z, n, left), squares(x, y)), [x, y])
