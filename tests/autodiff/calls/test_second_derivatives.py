# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a tape in forward mode computes products of the Hessian matrix with the seed, in the duals of the gradients."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START, array, read_steps, sine_steps, squares

f32, f64, i32 = cg.f32, cg.f64, cg.i32
ndarray = cg.types.ndarray
vec3d = cg.types.vec(3, f64)
SEED = np.array([0.3, -1.0, 0.5])
STEP = 1e-6


@cg.kernel
def coupled(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        j = (i + 1) % x.shape[0]
        y[()] += x[i] ** 3 * x[j] + cg.sin(x[i] * x[j]) + cg.exp(x[j]) / (1.0 + x[i] * x[i])


@cg.kernel
def branches(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for i in x:
        v = x[i]
        while v > 0.2:
            v = v * v * 0.9 if v > 0.8 else cg.sin(v) * 0.7 * x[0]
        y[()] += cg.sqrt(v + 1.0) * cg.atan2(v, x[1]) + max(v, x[2]) * x[i] ** v


@cg.kernel
def loads(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    """A loop over an array whose index is carried, with a variable of the kernel."""
    total = 0.0
    for i in x:
        v = 1.0
        for j in range(i + 1):
            v = v * x[j] + cg.cos(v)
        total += v * v
    y[()] += cg.log(total) * total


@cg.kernel
def of_vectors(x: ndarray(f64, 1), y: ndarray(f64, 0)):
    for _ in range(1):
        v = vec3d(x[0], x[1], x[2])
        w = v.cross(vec3d(x[2], 1.0, x[0]))
        y[()] += w.norm() * v.dot(w + v)


KERNELS = [squares, coupled, branches, loads, of_vectors]


def gradient_of(kernel, values, *args):
    x, y = array(values), cg.ndarray(f64, (), needs_grad=True)
    with cg.ad.Tape(loss=y):
        kernel(x, *args, y)
    return x.grad.to_numpy()


def product_of(kernel, x, y, *args, seed=SEED):
    """Return the product of the Hessian matrix and the seed."""
    with cg.ad.FwdMode(loss=y, param=x, seed=seed), cg.ad.Tape(loss=y):
        kernel(x, *args, y)
    return x.grad.dual.to_numpy()


def difference(kernel, values, *args):
    """The same product, by central differences of the gradient."""
    ends = [gradient_of(kernel, values + sign * STEP * SEED, *args) for sign in (1, -1)]
    return (ends[0] - ends[1]) / (2 * STEP)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: each.__name__)
def test_the_product_is_the_change_of_the_gradient_along_the_seed(kernel, x, y):
    found = product_of(kernel, x, y)
    np.testing.assert_allclose(found, difference(kernel, START), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(x.grad.to_numpy(), gradient_of(kernel, START), rtol=1e-13)
    np.testing.assert_allclose(y.dual[()], gradient_of(kernel, START) @ SEED)
    np.testing.assert_array_equal(product_of(kernel, x, y), found)  # nothing is left of the first time


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda each: each.__name__)
def test_the_hessian_matrix_is_symmetric(kernel, x, y):
    other = np.array([-0.7, 0.2, 1.1])
    one = product_of(kernel, x, y) @ other
    np.testing.assert_allclose(product_of(kernel, x, y, seed=other) @ SEED, one, rtol=1e-12)


@pytest.mark.parametrize("steps", [0, 1, 6, 40])
def test_stacks_keep_duals_beside_values(x, y, steps):
    expected = difference(sine_steps, START, steps)
    np.testing.assert_allclose(product_of(sine_steps, x, y, steps), expected, rtol=1e-5, atol=1e-8)
    count = cg.ndarray(i32, ())
    count[()] = steps  # the device computes the capacity
    np.testing.assert_allclose(product_of(read_steps, x, y, count), expected, rtol=1e-5, atol=1e-8)


def test_derivatives_flow_through_several_calls(x, y):
    middle = array(np.zeros(3))

    @cg.kernel
    def waves(x: ndarray(f64, 1), middle: ndarray(f64, 1)):
        for i in x:
            middle[i] = cg.sin(x[i]) * x[(i + 1) % 3]

    def both(x, y):
        waves(x, middle)
        coupled(middle, y)

    np.testing.assert_allclose(product_of(both, x, y), difference(both, START), rtol=1e-6, atol=1e-8)


def test_fields_have_second_derivatives(y):
    w = cg.field(f64, 3, needs_grad=True)
    w.from_numpy(START)

    @cg.kernel
    def fourth(y: ndarray(f64, 0)):
        for i in w:
            y[()] += w[i] ** 4 + w[i] * w[0]

    with cg.ad.FwdMode(loss=y, param=w, seed=SEED), cg.ad.Tape(loss=y):
        fourth(y)
    expected = 12 * START**2 * SEED + SEED[0]
    expected[0] += np.sum(SEED)
    np.testing.assert_allclose(w.grad.dual.to_numpy(), expected)


def test_f32_has_second_derivatives():
    @cg.kernel
    def cubes(x: ndarray(f32, 1), y: ndarray(f32, 0)):
        for i in x:
            y[()] += x[i] ** 3

    x, y = array(START, f32), cg.ndarray(f32, (), needs_grad=True)
    np.testing.assert_allclose(product_of(cubes, x, y), 6 * START * SEED, rtol=1e-5)


def test_kernels_with_checks_have_second_derivatives(x, y):
    @cg.kernel(debug=True)
    def checked(x: ndarray(f64, 1), n: i32, y: ndarray(f64, 0)):
        for i in x:
            v = x[i]
            for _ in range(n):
                v = cg.sin(v) + 0.1
            y[()] += v

    np.testing.assert_allclose(product_of(checked, x, y, 7), product_of(sine_steps, x, y, 7))


def test_a_gradient_that_is_called_has_duals(x, y):
    y.grad.fill(1)
    with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        squares(x, y)
        squares.grad(x, y)
    np.testing.assert_allclose(x.grad.dual.to_numpy(), 2 * SEED)


def test_products_are_captured(x, y, stream):
    with cg.capture() as builder, cg.ad.Tape(loss=y):
        coupled(x, y)
    del builder

    with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        with cg.capture() as builder, cg.ad.Tape(loss=y):
            coupled(x, y)
        graph = builder.complete()
        graph.launch(stream)
        stream.sync()
    np.testing.assert_allclose(x.grad.dual.to_numpy(), difference(coupled, START), rtol=1e-6, atol=1e-8)


def test_functions_with_their_own_gradient_have_second_derivatives(x, y):
    @cg.ad.grad_replaced
    def doubled(x, y):
        coupled(x, y)

    @cg.ad.grad_for(doubled)
    def doubled_back(x, y):
        coupled.grad(x, y)

    np.testing.assert_allclose(product_of(doubled, x, y), difference(coupled, START), rtol=1e-6, atol=1e-8)


def test_newtons_method_finds_a_minimum_with_products(y):
    @cg.kernel
    def valley(x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for _ in range(1):
            y[()] += (1.0 - x[0]) ** 2 + 10.0 * (x[1] - x[0] * x[0]) ** 2

    x = array([0.7, 0.6])
    for _ in range(8):
        rows = [product_of(valley, x, y, seed=np.eye(2)[n]) for n in range(2)]
        x.from_numpy(x.to_numpy() - np.linalg.solve(np.array(rows), x.grad.to_numpy()))
    np.testing.assert_allclose(x.to_numpy(), 1, atol=1e-12)


@cg.kernel
def turn(x: ndarray(f64, 1), z: ndarray(f64, 1)):
    for i in x:
        z[i] = 1.3 * cg.sin(x[i]) * x[(i + 1) % 3]


@cg.kernel
def turn_back(z: ndarray(f64, 1), x: ndarray(f64, 1)):
    for i in z:
        x[i] = 0.9 * cg.cos(z[i])


@cg.kernel(graph=True)
def turns(x: ndarray(f64, 1), z: ndarray(f64, 1), left: ndarray(i32, 0)):
    while cg.graph_while(left[()] > 0, max_iterations=10):
        for i in x:
            z[i] = 1.3 * cg.sin(x[i]) * x[(i + 1) % 3]
        for i in x:
            x[i] = 0.9 * cg.cos(z[i])
        left[()] -= 1


def run_turns(kind, x, z, y, **options):
    """Run 6 turns in place, and the sum of all elements to the third power, in a tape."""
    left = cg.ndarray(i32, ())
    left.fill(6)

    @cg.ad.grad_replaced
    def both(x, z):
        turn(x, z)

    @cg.ad.grad_for(both)
    def both_back(x, z):
        turn.grad(x, z)

    with cg.ad.Tape(loss=y, **options) as tape:
        if kind == "loop":
            turns(x, z, left)
        for _ in range(0 if kind == "loop" else 6):
            (both if kind == "functions" else turn)(x, z)
            turn_back(z, x)
        coupled(x, y)
    return tape


@pytest.mark.parametrize("kind", ["calls", "functions", "loop"])
@pytest.mark.parametrize("most", [2, 4, 100])
def test_kept_states_have_duals(kind, most, y):
    def start(values):
        return array(values), array(np.zeros(3))

    x, z = start(START)
    with cg.ad.FwdMode(loss=y, param=x, seed=SEED):
        tape = run_turns(kind, x, z, y, max_states=most)
    found, ends = x.grad.dual.to_numpy(), []
    assert tape.stats.most_states <= most
    for sign in (1, -1):
        other, z = start(START + sign * STEP * SEED)
        run_turns(kind, other, z, y, max_states=most)
        ends.append(other.grad.to_numpy())
    np.testing.assert_allclose(found, (ends[0] - ends[1]) / (2 * STEP), rtol=1e-6, atol=1e-8)


def test_modes_nest_in_one_way(x, y):
    mode = cg.ad.FwdMode(loss=y, param=x, seed=SEED)
    with mode, pytest.raises(RuntimeError, match="a Tape in a FwdMode cannot have grad_check"):
        cg.ad.Tape(loss=y, grad_check=[x]).__enter__()

    def nests(outer, inner):
        with outer, inner:
            squares(x, y)

    for outer, inner in (
        (cg.ad.Tape(loss=y), cg.ad.FwdMode(loss=y, param=x, seed=SEED)),
        (cg.ad.Tape(loss=y), cg.ad.Tape(loss=y)),
        (cg.ad.FwdMode(loss=y, param=x, seed=SEED), cg.ad.FwdMode(loss=y, param=x, seed=SEED)),
    ):
        with pytest.raises(RuntimeError, match="cannot be nested, except a Tape in a FwdMode"):
            nests(outer, inner)
    np.testing.assert_allclose(product_of(squares, x, y), 2 * SEED)
