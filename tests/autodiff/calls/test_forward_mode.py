# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `cg.ad.FwdMode` gives the product of the Jacobian matrix with a direction."""

import copy
import dataclasses
import pickle
import threading

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START, sines, squares

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray
SEED = np.array([1.0, -2.0, 0.5])


def array(values, dtype=f64):
    made = cg.ndarray(dtype, np.shape(values), needs_dual=True)
    made.from_numpy(np.asarray(values))
    return made


@pytest.fixture
def x():
    return array(START)


@pytest.fixture
def y():
    return cg.ndarray(f64, (), needs_dual=True)


def test_a_call_computes_what_it_did_and_its_derivative(x, y):
    with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        squares(x, y)
    assert y[()] == pytest.approx(np.sum(START**2))
    assert y.dual[()] == pytest.approx(np.sum(2 * START * SEED))
    np.testing.assert_array_equal(x.dual.to_numpy(), 0)
    squares(x, y)  # as ever
    assert y.dual[()] == pytest.approx(np.sum(2 * START * SEED))


def test_returned_number_is_a_constant(x, y):
    @cg.kernel
    def total(x: ndarray(f64, 1), y: ndarray(f64, 0)) -> f64:
        for i in x:
            y[()] += x[i] * x[i]
        return x[0] * 2.0

    with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        found = total(x, y)
    assert found == 2 * START[0]
    assert y.dual[()] == pytest.approx(np.sum(2 * START * SEED))


def test_a_store_sets_the_dual(x):
    z = array(np.zeros(3))

    @cg.kernel
    def twice(x: ndarray(f64, 1), z: ndarray(f64, 1)):
        for i in x:
            z[i] = 2.0 * x[i]
            z[i] = 5.0 * x[i]

    @cg.kernel
    def forget(z: ndarray(f64, 1)):
        z[0] = 7.0

    with cg.ad.FwdMode(loss=z, param=x, seed=SEED):
        twice(x, z)
        forget(z)
    np.testing.assert_allclose(z.dual.to_numpy(), [0, *5 * SEED[1:]])


def test_a_chain_of_calls_that_overwrites_its_arrays(x, y):
    with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        sines(x, x)  # in place, which reverse mode refuses
        squares(x, y)
    assert y.dual[()] == pytest.approx(np.sum(np.sin(2 * START) * SEED))


def test_all_control_flow_has_derivatives_without_stacks(x, y):
    @cg.kernel
    def wanders(x: ndarray(f64, 1), n: ndarray(i32, 1), y: ndarray(f64, 0)):
        for i in x:
            v, w = x[i], f64(1.0)
            for j in range(n[i]):
                if v > 0.9:
                    v, w = cg.sqrt(v), v * w
                    continue
                v = v * v + 0.4 + 0.1 * j
                if v > 1.5:
                    break
            k = 0
            while w * v < 3.0 and k < 20:
                w = w * 1.25 + 0.1 * v
                k += 1
            y[()] += max(w, 1.0) * (v if v > 1.0 else -v) + cg.select(v < w, v, w) + v % 0.7

    n = cg.ndarray(i32, 3)
    n.from_numpy(np.array([2, 5, 9], np.int32))

    def value(start):
        x.from_numpy(start)
        y.fill(0)
        wanders(x, n, y)
        return y[()]

    step = 1e-6
    difference = (value(START + step * SEED) - value(START - step * SEED)) / (2 * step)
    x.from_numpy(START)
    y.fill(0)
    with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        wanders(x, n, y)
    assert y.dual[()] == pytest.approx(difference, rel=1e-7)


def test_forward_and_reverse_agree_on_matrices_fields_and_dataclasses():
    vec2, mat2 = cg.types.vec(2, f64), cg.types.mat(2, 2, f64)

    @dataclasses.dataclass
    class Body:
        at: ndarray(vec2, 1)
        k: f64

    turn = cg.field(mat2, (), needs_grad=True)
    total = cg.field(f64, (), needs_grad=True)

    @cg.kernel
    def energy(body: Body):
        for i in body.at:
            turned = turn[()] @ body.at[i]
            total[()] += body.k * turned.norm() + turn[()].determinant() * body.at[i].x

    places, start = np.array([[0.3, 0.4], [1.0, -2.0]]), np.array([[0.5, 0.2], [-0.3, 1.1]])
    body = Body(cg.ndarray(vec2, 2, needs_grad=True), 3.0)
    body.at.from_numpy(places)
    turn.from_numpy(start)
    with cg.ad.Tape(loss=total):
        energy(body)
    along_places, along_turn = np.array([1.0, 2.0, -1.0, 0.5]), np.array([[0.1, 0.2], [0.3, -0.4]])
    with cg.ad.FwdMode(loss=[total], param=[body.at, turn], seed=[along_places, along_turn]):
        energy(body)
    reverse = np.sum(body.at.grad.to_numpy().ravel() * along_places) + np.sum(
        turn.grad.to_numpy() * along_turn
    )
    assert total.dual[()] == pytest.approx(reverse, rel=1e-12)


def test_a_parameter_of_one_number_changes_by_1(y):
    a = array(3.0)

    @cg.kernel
    def cube(a: ndarray(f64, 0), y: ndarray(f64, 0)):
        y[()] = a[()] ** 3

    with cg.ad.FwdMode(loss=y, param=a):
        cube(a, y)
    assert y.dual[()] == pytest.approx(27)


def test_several_losses_of_any_shape_are_rows_of_the_jacobian_matrix(x, y):
    z = array(np.zeros(3))
    for column in range(3):
        with cg.ad.FwdMode(loss=[y, z], param=x, seed=np.eye(3)[column]):
            sines(x, z)
            squares(z, y)
        np.testing.assert_allclose(z.dual.to_numpy(), np.cos(START) * np.eye(3)[column])
        assert y.dual[()] == pytest.approx(np.sin(2 * START[column]))


def test_casts_and_what_is_piecewise_constant(x, y):
    @cg.kernel
    def steps(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            low = cg.cast(x[i], cg.f32)
            y[()] += cg.floor(10.0 * x[i]) * cg.cast(low * low, f64) + cg.cast(cg.cast(x[i], i32), f64) * x[i]

    with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        steps(x, y)
    wanted = np.sum((np.floor(10 * START) * 2 * START + np.trunc(START)) * SEED)
    assert y.dual[()] == pytest.approx(wanted, rel=1e-6)


def test_stopped_values_and_parameters_without_gradients_are_constants(x, y):
    @cg.kernel
    def partly(x: ndarray(f64, 1), b: ndarray(f64, 1, needs_grad=False), y: ndarray(f64, 0)):
        for i in x:
            y[()] += cg.stop_grad(x[i]) * x[i] + b[i]

    b = array(START)
    with cg.ad.FwdMode(loss=y, param=[x, b], seed=[SEED, SEED]):
        partly(x, b, y)
    assert y.dual[()] == pytest.approx(np.sum(START * SEED))


def test_random_numbers_are_constants(x, y):
    @cg.kernel
    def noisy(x: ndarray(f64, 1), n: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            n[i] = cg.random(f64)
            y[()] += n[i] * x[i]

    n = cg.ndarray(f64, 3)
    with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        noisy(x, n, y)
    assert y.dual[()] == pytest.approx(np.sum(n.to_numpy() * SEED))


def test_duals_become_0_unless_they_are_to_stay(x, y):
    for clear, wanted in ((True, 1), (True, 1), (False, 2)):
        with cg.ad.FwdMode(loss=y, param=x, seed=SEED, clear_gradients=clear):
            squares(x, y)
        assert y.dual[()] == pytest.approx(wanted * np.sum(2 * START * SEED))
    y.dual.fill(3)
    cg.ad.clear_all_gradients("dual")
    assert y.dual[()] == 0


def test_functions_with_their_own_gradient_and_without_one(x, y):
    z = array(np.zeros(3))
    z.dual.fill(9)

    @cg.ad.grad_replaced
    def squared(x, y):
        squares(x, y)

    @cg.ad.no_grad
    def constant(x, z):
        sines(x, z)

    with cg.ad.FwdMode(loss=y, param=x, seed=SEED, clear_gradients=False):
        squared(x, y)
        constant(x, z)
        squares(z, y)
    np.testing.assert_array_equal(z.dual.to_numpy(), 0)
    assert y.dual[()] == pytest.approx(np.sum(2 * START * SEED))


def test_methods_and_graph_kernels_with_control_flow(x, y):
    @cg.kernel(graph=True)
    def until(x: ndarray(f64, 1), left: ndarray(i32, 0)):
        while cg.graph_do_while(left):
            for i in x:
                x[i] = x[i] * x[i] + 0.1
            left[()] -= 1

    @cg.data_oriented
    class Sum:
        def __init__(self):
            self.x, self.y = x, y

        @cg.kernel
        def add(self):
            for i in self.x:
                self.y[()] += self.x[i]

    left = cg.ndarray(i32, ())
    left[()] = 4
    v, d = START.copy(), SEED.copy()
    for _ in range(4):
        v, d = v * v + 0.1, 2 * v * d
    with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        until(x, left)
        Sum().add()
    assert y[()] == pytest.approx(np.sum(v))
    assert y.dual[()] == pytest.approx(np.sum(d))


def test_blocks_that_add_up_and_shuffle():
    x, y = array(np.linspace(0, 1, 64)), array(np.zeros(64))

    @cg.kernel
    def neighbours(x: ndarray(f64, 1), y: ndarray(f64, 1)):
        for b, t in cg.blocks(2, 32):
            i = b * 32 + t
            v = x[i] * x[i]
            y[i] = cg.warp.shuffle_xor(v, 1) + cg.block.reduce_add(v)

    seed = np.cos(np.arange(64))
    with cg.ad.FwdMode(loss=y, param=x, seed=seed):
        neighbours(x, y)
    d = (2 * x.to_numpy() * seed).reshape(2, 32)
    wanted = d.reshape(2, 16, 2)[:, :, ::-1].reshape(2, 32) + d.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(y.dual.to_numpy().reshape(2, 32), wanted)


def test_on_a_stream_and_in_a_capture(x, y):
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()
    with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        squares(x, y, stream=stream)
        stream.sync()
        builder = stream.create_graph_builder().begin_building()
        squares(x, y, stream=stream)
        graph = builder.end_building().complete()
        for _ in range(2):
            graph.launch(stream)
        stream.sync()
    assert y.dual[()] == pytest.approx(3 * np.sum(2 * START * SEED))


def test_calls_of_other_threads_are_as_ever(x, y):
    other = threading.Thread(target=squares, args=(x, y))
    with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        other.start()
        other.join()
    assert y.dual[()] == 0
    assert y[()] == pytest.approx(np.sum(START**2))


def test_after_an_exception_calls_are_as_ever(x, y):
    def fails():
        with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    np.testing.assert_array_equal(x.dual.to_numpy(), 0)
    squares(x, y)
    assert y.dual[()] == 0


# What is refused


@cg.kernel
def greatest(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        cg.atomic_max(y[()], x[i])


@cg.kernel
def handed_on(x: ndarray(f64, 1), n: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        n[i] = 2.0 * x[i]
    for i in x:
        y[()] += n[i]


@cg.kernel
def bits(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        y[()] += cg.cast(cg.bit_cast(x[i], cg.i64), f64)


@cg.kernel
def returned_by_an_atomic(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        x[i] = cg.atomic_add(y[()], x[i])


@cg.kernel
def least_of_a_warp(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for _, i in cg.blocks(1, 3):
        y[()] += cg.warp.reduce_min(x[i])


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (greatest, "atomic max has no derivative here"),
        (handed_on, "'n' passes a value on inside the kernel, but has no dual"),
        (bits, "has no derivative"),
        (returned_by_an_atomic, "the result of an atomic depends on the order"),
        (least_of_a_warp, "the thread with the result is unknown"),
    ],
)
def test_dual_that_cannot_be_computed_is_a_compile_error(kernel, words, x, y):
    n = cg.ndarray(f64, 3)
    given = {"x": x, "n": n, "y": y}
    args = [given[name] for name in kernel.__wrapped__.__annotations__ if name != "return"]
    with pytest.raises(cg.CompileGradientError, match=words), cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        kernel(*args)


def test_a_mode_is_for_one_block_and_not_nested(x, y):
    mode = cg.ad.FwdMode(loss=y, param=x, seed=SEED)
    other = cg.ad.FwdMode(loss=y, param=x, seed=SEED)
    with mode, pytest.raises(RuntimeError, match="a FwdMode is already open"), other:
        pass
    with pytest.raises(RuntimeError, match="make a new one"), mode:
        pass


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (lambda x, y: (1.0, x, SEED), TypeError, "loss must be a cg.ndarray"),
        (lambda x, y: (y, np.zeros(3), SEED), TypeError, "param must be a cg.ndarray"),
        (lambda x, y: (y, [], SEED), TypeError, "param must be a cg.ndarray"),
        (lambda x, y: (cg.ndarray(f64, ()), x, SEED), ValueError, "loss has no dual"),
        (lambda x, y: (y, cg.ndarray(f64, 3), SEED), ValueError, "param has no dual"),
        (lambda x, y: (x, x, SEED), ValueError, "are the same array"),
        (lambda x, y: (y, x, None), ValueError, "seed is missing: .* has 3 numbers"),
        (lambda x, y: (y, x, [1.0, 2.0]), ValueError, r"seed has the shape \(2,\)"),
        (lambda x, y: (y, x, np.zeros((3, 1))), ValueError, r"seed has the shape \(3, 1\)"),
        (lambda x, y: (y, [x], [SEED, SEED]), ValueError, "seed has 2 parts for 1 params"),
        (lambda x, y: (y, [x], 5), TypeError, "seed must be a list with a part for each"),
        (lambda x, y: (y, x, "abc"), TypeError, "seed must be 3 numbers for"),
    ],
)
def test_losses_params_and_seeds_fit(arguments, kind, words, x, y):
    with pytest.raises(kind, match=words):
        cg.ad.FwdMode(*arguments(x, y))


@pytest.mark.parametrize("make", [cg.ndarray, cg.field])
def test_arrays_have_duals_that_were_asked_for(make):
    assert make(f64, 3).dual is None
    both, alone = make(f64, 3, needs_grad=True), make(f64, 3, needs_dual=True)
    assert (both.needs_grad, both.needs_dual) == (True, True)
    assert (alone.needs_grad, alone.needs_dual) == (False, True)
    assert alone.grad is None
    assert alone.dual is alone.dual
    assert "needs_dual=True" in repr(alone)
    with pytest.raises(TypeError, match="an array of i32 has no gradient: needs_grad and needs_dual"):
        make(i32, 3, needs_dual=True)


def test_copies_and_pickles_keep_duals(x):
    assert not copy.copy(x).dual.to_numpy().any()
    x.dual.from_numpy(SEED)
    for twin in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert (twin.needs_grad, twin.needs_dual) == (False, True)
        np.testing.assert_array_equal(twin.dual.to_numpy(), SEED)
        twin.dual.fill(0)
    np.testing.assert_array_equal(x.dual.to_numpy(), SEED)


def test_parameters_that_take_fields_as_templates(x, y):
    weights, total = (cg.field(f64, n, needs_dual=True) for n in (3, ()))
    weights.from_numpy(START)

    @cg.kernel
    def cubes(a: cg.template, b: cg.types.Tensor):
        for i in a:
            b[()] += a[i] ** 3

    for result in (y, total):
        with cg.ad.FwdMode(loss=result, param=weights, seed=SEED):
            cubes(weights, result)
        assert result.dual[()] == pytest.approx(np.sum(3 * START**2 * SEED))


def test_debug_checks_what_it_did(x, y):
    @cg.kernel(debug=True)
    def shifted(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
        for i in x:
            assert x[i] > 0, "positive"
            y[()] += x[i + n]

    mode = cg.ad.FwdMode(loss=y, param=x, seed=SEED)
    with mode, pytest.raises(cg.KernelIndexError, match="index 3 is outside of axis 0 of 'x'"):
        shifted(x, 1, y)
    x[0] = -1.0
    mode = cg.ad.FwdMode(loss=y, param=x, seed=SEED)
    with mode, pytest.raises(cg.KernelAssertionError, match="positive"):
        shifted(x, 0, y)


def test_kinds_of_derivatives_to_clear():
    with pytest.raises(ValueError, match="kind must be one of 'grad', 'dual'"):
        cg.ad.clear_all_gradients("adjoint")
