# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a `cg.ad.Tape` goes back through the calls made in it, checks their arguments, and refuses other calls."""

import copy
import dataclasses
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START, array, squares, weighted

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray


@cg.kernel
def draw(n: ndarray(f64, 1)):
    for i in n:
        n[i] = cg.random(f64)


# Calls


def test_calls_without_gradients_are_passed_over(x, y):
    n = cg.ndarray(f64, 3)
    with cg.ad.Tape(loss=y, validation=True):
        draw(n)  # has no gradient: it would draw other random numbers
        weighted(n, x, y)
    np.testing.assert_array_equal(x.grad.to_numpy(), n.to_numpy())


@cg.kernel
def first_above(x: ndarray(f64, 1), y: ndarray(f64, 0), limit: f64) -> f64:
    for i in x:
        y[()] += x[i] * x[i]
    k = 0
    while k < x.shape[0] - 1 and x[k] <= limit:
        k += 1
    if x[k] > limit:
        return x[k]
    return limit


@cg.kernel
def scaled(x: ndarray(f64, 1), y: ndarray(f64, 0), factor: f64):
    for i in x:
        y[()] += x[i] * factor


@pytest.mark.parametrize("options", [{}, {"max_states": 2}, {"validation": True}], ids=str)
def test_numbers_that_kernels_return_are_constants(x, y, options):
    with cg.ad.Tape(loss=y, **options):
        found = first_above(x, y, -1e9)
        scaled(x, y, found)
    assert found == START[0]
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * START + found)


def test_kernel_that_only_returns_a_number_adds_no_gradient(x, y):
    @cg.kernel
    def first(x: ndarray(f64, 1)) -> f64:
        return x[0] * 2.0

    with cg.ad.Tape(loss=y):
        assert first(x) == 2 * START[0]
        squares(x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * START)


def test_calls_of_other_threads_are_not_noted(x, y):
    other = threading.Thread(target=squares, args=(x, y))
    with cg.ad.Tape(loss=y) as tape:
        other.start()
        other.join()
        squares(x, y)
    assert len(tape.calls) == 1


def test_threads_have_tapes_of_their_own():
    meet = threading.Barrier(2, timeout=60)
    arrays = [(array(START + k), cg.ndarray(f64, (), needs_grad=True)) for k in range(2)]
    squares.compile(*arrays[0])
    device = cg.Device()
    device.set_current()

    def run(x, y):
        device.set_current()
        with cg.ad.Tape(loss=y):
            meet.wait()  # both are open
            squares(x, y)
            meet.wait()

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(run, *each) for each in arrays]:
            done.result()
    for x, _ in arrays:
        np.testing.assert_allclose(x.grad.to_numpy(), 2 * x.to_numpy())


def test_functions_of_other_threads_do_not_hide_calls(x, y):
    inside, go_on = threading.Event(), threading.Event()

    @cg.ad.no_grad
    def waits():
        inside.set()
        assert go_on.wait(60)

    other = threading.Thread(target=waits)
    with cg.ad.Tape(loss=y) as tape:
        other.start()
        assert inside.wait(60)
        squares(x, y)
        go_on.set()
        other.join()
    assert len(tape.calls) == 1


@dataclasses.dataclass
class Springs:
    rest: ndarray(f64, 1)
    at: ndarray(cg.types.vec(2, f64), 1)
    stiffness: f64


def test_arrays_in_dataclasses_and_of_vectors_have_gradients(x, y):
    @cg.kernel
    def energy(s: Springs, y: ndarray(f64, 0)):
        for i in s.rest:
            y[()] += 0.5 * s.stiffness * (s.at[i].norm() - s.rest[i]) ** 2

    places = np.array([[3.0, 4.0], [0.0, 2.0], [1.0, 0.0]])
    at = cg.ndarray(cg.types.vec(2, f64), 3, needs_grad=True)
    at.from_numpy(places)
    springs = Springs(x, at, 10.0)
    with cg.ad.Tape(loss=y, validation=True):
        energy(springs, y)
    lengths = np.linalg.norm(places, axis=1)
    pull = 10 * (lengths - START)
    np.testing.assert_allclose(x.grad.to_numpy(), -pull)
    np.testing.assert_allclose(at.grad.to_numpy(), (pull / lengths)[:, None] * places)


@dataclasses.dataclass
class Net:
    springs: Springs
    weights: ndarray(f64, 1)


@cg.kernel
def of_net(net: Net, y: ndarray(f64, 0)):
    for i in net.weights:
        y[()] += net.weights[i] * net.springs.rest[i] ** 2 * net.springs.at[i].x


def object_of(net, y):
    @cg.data_oriented
    class World:
        def __init__(self):
            self.net, self.y = net, y

        @cg.kernel
        def measure(self):
            for i in self.net.weights:
                self.y[()] += self.net.weights[i] * self.net.springs.rest[i] ** 2 * self.net.springs.at[i].x

    World().measure()


def parts_of(net, y):
    @cg.kernel
    def of_parts(rest: cg.types.Tensor, at: ndarray(), weights: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in weights:
            y[()] += weights[i] * rest[i] ** 2 * at[i].x

    of_parts(net.springs.rest, net.springs.at, net.weights, y)


@pytest.mark.parametrize("call", [of_net, parts_of, object_of], ids=["nested", "parts", "object"])
def test_arrays_have_gradients_and_duals_wherever_they_are(call, x, y):
    at = cg.ndarray(cg.types.vec(2, f64), 3, needs_grad=True)
    at.from_numpy(np.array([[3.0, 4.0], [0.0, 2.0], [1.0, 0.0]]))
    net = Net(Springs(x, at, 1.0), array([2.0, -1.0, 0.5]))
    with cg.ad.Tape(loss=y, validation=True, grad_check=[x, at, net.weights]):
        call(net, y)
    weights, first = np.array([2.0, -1.0, 0.5]), np.array([3.0, 0.0, 1.0])
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * weights * START * first)
    np.testing.assert_allclose(at.grad.to_numpy()[:, 0], weights * START**2)
    np.testing.assert_allclose(net.weights.grad.to_numpy(), START**2 * first)
    with cg.ad.FwdMode(loss=y, param=[x, net.weights], seed=[[1, 0, 0], [0, 0, 1]]):
        call(net, y)
    assert y.dual[()] == pytest.approx(2 * 2.0 * START[0] * 3.0 + START[2] ** 2)


def test_functions_with_their_own_gradient_take_keywords(x, y):
    @cg.ad.grad_replaced
    def squared(x, y):
        squares(x, y)

    @cg.ad.grad_for(squared)
    def squared_back(x, y):
        squares.grad(x, y)

    with cg.ad.Tape(loss=y):
        squared(y=y, x=x)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * START)


def test_methods_have_gradients_of_their_own():
    class Model:
        def __init__(self):
            self.x, self.y = array(START), cg.ndarray(f64, (), needs_grad=True)

        @cg.ad.grad_replaced
        def run(self, times):
            for _ in range(times):
                squares(self.x, self.y)

        @cg.ad.grad_for(run)
        def run_back(self, times):
            for _ in range(times):
                squares.grad(self.x, self.y)

    model = Model()
    with cg.ad.Tape(loss=model.y):
        model.run(3)
    np.testing.assert_allclose(model.x.grad.to_numpy(), 6 * START)
    model.run.grad(2)
    np.testing.assert_allclose(model.x.grad.to_numpy(), 10 * START)


def test_captured_call_in_a_tape_is_refused(x, y):
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()
    squares.compile(x, y)

    def captures():
        with cg.ad.Tape(loss=y):
            builder = stream.create_graph_builder().begin_building()
            try:
                squares(x, y, stream=stream)
            finally:
                builder.end_building()

    with pytest.raises(RuntimeError, match=r"squares\(\) is captured in a Tape"):
        captures()
    with cg.ad.Tape(loss=y):  # and the next one is as ever
        squares(x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * START)


# States


def test_a_tape_that_an_exception_left_goes_back_no_more(x, y):
    tape = cg.ad.Tape()

    def fails():
        with tape:
            squares(x, y)
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    with pytest.raises(RuntimeError, match="this Tape is left by an exception"):
        tape.grad()


def test_a_tape_with_a_loss_has_gone_back(x, y):
    with cg.ad.Tape(loss=y) as tape:
        with pytest.raises(RuntimeError, match="this Tape is open, and has a loss"):
            tape.grad()
        squares(x, y)
    with pytest.raises(RuntimeError, match="this Tape is done, and has a loss"):
        tape.grad()


def test_a_tape_clears_the_gradients_of_fields_and_sets_the_loss_to_0():
    weights, total = (cg.field(f64, n, needs_grad=True) for n in (3, ()))
    weights.from_numpy(START)

    @cg.kernel
    def cubes():
        for i in weights:
            total[()] += weights[i] ** 3

    for _ in range(2):
        with cg.ad.Tape(loss=total):
            cubes()
        np.testing.assert_allclose(weights.grad.to_numpy(), 3 * START**2)
        assert total[()] == pytest.approx(np.sum(START**3))


def test_validation_compares_gradients_of_fields_that_the_gradient_does_not_read():
    x, total = cg.field(f64, 3, needs_grad=True), cg.field(f64, (), needs_grad=True)
    factors = cg.field(f64, 3)
    factors.from_numpy(START)

    @cg.kernel
    def weigh():
        for i in x:
            total[()] += x[i] * factors[i]

    def overwrites(value):
        with cg.ad.Tape(loss=total, validation=True):
            weigh()
            factors[1] = value

    overwrites(START[1])
    np.testing.assert_array_equal(x.grad.to_numpy(), START)
    with pytest.raises(
        cg.ad.OverwrittenError, match=r"gradient of weigh\(\) needs the old values of 'factors'"
    ):
        overwrites(5.0)


def test_fields_that_no_kernel_has_used_are_cleared_too():
    made = cg.field(f64, 3, needs_grad=True)
    twins = made, copy.copy(made), pickle.loads(pickle.dumps(made))
    for each in twins:
        each.grad.fill(3)
    cg.ad.clear_all_gradients()
    for each in twins:
        np.testing.assert_array_equal(each.grad.to_numpy(), 0)


def test_validation_sees_what_becomes_of_arrays_of_numpy(x, y):
    n = np.array([1.0, 2.0, 3.0])

    def changes(value):
        with cg.ad.Tape(loss=y, validation=True):
            weighted(n, x, y)
            n[1] = value

    changes(2.0)  # what it is
    with pytest.raises(cg.ad.OverwrittenError, match=r"gradient of weighted\(\) needs the old values of 'n'"):
        changes(5.0)
    assert n.tolist() == [1, 5, 3]


# Misuse


def test_decorators_are_for_functions():
    for decorate in (cg.ad.grad_replaced, cg.ad.no_grad):
        with pytest.raises(TypeError, match="a Python function that calls kernels, not <kernel squares"):
            decorate(squares)
        with pytest.raises(TypeError, match="not 3"):
            decorate(3)
    with pytest.raises(RuntimeError, match=r"must be decorated with @cg\.ad\.grad_replaced"):
        cg.ad.grad_for(lambda: None)
    with pytest.raises(TypeError, match="a function, not 3"):
        cg.ad.grad_for(cg.ad.grad_replaced(lambda: None))(3)


def test_a_view_of_an_array_with_a_gradient_is_refused(x):
    with pytest.raises(TypeError, match="has a gradient, and a view of its memory would lose it"):
        cg.from_dlpack(x)


@pytest.mark.parametrize("make", [cg.ndarray, cg.field])
def test_integers_have_no_gradient(make):
    with pytest.raises(TypeError, match="an array of i32 has no gradient"):
        make(i32, 3, needs_grad=True)


def test_copies_and_pickles_keep_gradients(x):
    x.grad.from_numpy(2 * START)
    for twin in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert twin.needs_grad
        np.testing.assert_array_equal(twin.grad.to_numpy(), 2 * START)
        twin.grad.fill(0)
    np.testing.assert_array_equal(x.grad.to_numpy(), 2 * START)


kept = cg.field(f64, 3, needs_grad=True)


def test_errors_call_fields_by_their_names():
    local = cg.field(f64, 3, needs_grad=True)
    total = cg.field(f64, (), needs_grad=True)

    @cg.kernel
    def global_in_place():
        for i in kept:
            kept[i] = cg.sin(kept[i])

    @cg.kernel
    def local_in_place():
        for i in local:
            local[i] = cg.sin(local[i])

    @cg.kernel
    def read():
        for i in local:
            total[()] += local[i] * local[i]

    @cg.kernel
    def overwrite():
        for i in local:
            local[i] = 2.0

    for kernel, name in ((global_in_place, "kept"), (local_in_place, "local")):
        with pytest.raises(cg.CompileGradientError, match=f"needs this element of '{name}' as it was read"):
            kernel.grad()

    def overwrites():
        with cg.ad.Tape(loss=total, validation=True):
            read()
            overwrite()

    with pytest.raises(cg.ad.OverwrittenError, match=r"read\(\) needs the old values of 'local'"):
        overwrites()
