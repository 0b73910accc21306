# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `x.grad` in a kernel is the gradient of the array that the call was given."""

import dataclasses

import numpy as np
import pytest

import cuda_graphs as cg

f64 = cg.f64
ndarray = cg.types.ndarray
START = np.array([0.3, 0.7, 1.1])


def array(values):
    made = cg.ndarray(f64, np.shape(values), needs_grad=True)
    made.from_numpy(np.asarray(values, np.float64))
    made.grad.from_numpy(np.arange(1.0, 1 + np.size(values)))
    return made


@cg.kernel
def descend(x: ndarray(f64, 1), rate: f64):
    for i in x:
        x[i] -= rate * x.grad[i]
        x.grad[i] = 0.0


def test_a_kernel_reads_and_writes_the_gradient_of_an_array():
    x = array(START)
    for _ in range(2):  # the second time by what is known of such arguments
        descend(x, 0.5)
    np.testing.assert_allclose(x.to_numpy(), START - [0.5, 1.0, 1.5])
    np.testing.assert_array_equal(x.grad.to_numpy(), 0)


@dataclasses.dataclass
class Body:
    at: ndarray(f64, 1)


@cg.func
def twice(g, i):
    return 2.0 * g[i]


def test_gradients_of_members_of_fields_and_of_objects():
    weights = cg.field(f64, 3, needs_grad=True)
    weights.grad.from_numpy(START)

    @cg.kernel
    def of_all(body: Body, out: ndarray(f64, 1)):
        for i in out:
            out[i] = body.at.grad[i] + twice(body.at.grad, i) + weights.grad[i] + body.at.grad.shape[0]

    @cg.data_oriented
    class Model:
        def __init__(self):
            self.x = array(START)

        @cg.kernel
        def clear(self):
            for i in self.x:
                self.x.grad[i] = 0.0

    out = cg.ndarray(f64, 3)
    of_all(Body(array(START)), out)
    np.testing.assert_allclose(out.to_numpy(), 3 * np.array([1, 2, 3]) + START + 3)
    model = Model()
    model.clear()
    np.testing.assert_array_equal(model.x.grad.to_numpy(), 0)


def test_in_graphs_too():
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()
    x = array(START)
    g = cg.GraphDef()
    g.call(descend, x, 0.5)
    g.instantiate().launch(stream)
    stream.sync()
    np.testing.assert_allclose(x.to_numpy(), START - [0.5, 1.0, 1.5])


def test_an_array_without_a_gradient_says_so():
    with pytest.raises(cg.CompileNameError, match=r"the array 'x' has no gradient(.|\n)*needs_grad=True"):
        descend(cg.ndarray(f64, 3), 1.0)
    with pytest.raises(cg.CompileNameError, match="the array 'x' has no gradient"):
        descend(np.zeros(3), 1.0)


@cg.func
def hidden(a, i):
    return a.grad[i]


def test_a_function_is_given_the_gradient_of_a_parameter():
    @cg.kernel
    def calls(x: ndarray(f64, 1), out: ndarray(f64, 1)):
        for i in x:
            out[i] = hidden(x, i)

    with pytest.raises(cg.CompileSyntaxError, match=r"pass it from there: f\(x\.grad\)"):
        calls(array(START), cg.ndarray(f64, 3))


def test_derivatives_of_a_kernel_with_gradients_are_refused():
    x = array(START)
    with pytest.raises(
        cg.CompileGradientError, match=r"descend uses x\.grad, and so has no derivatives itself"
    ):
        descend.grad(x, 1.0)
    loss = cg.ndarray(f64, (), needs_grad=True)
    with (
        pytest.raises(cg.CompileGradientError, match="and so has no derivatives itself"),
        cg.ad.FwdMode(loss=loss, param=x, seed=START),
    ):
        descend(x, 1.0)
