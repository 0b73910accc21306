# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: gradients work as nodes of graphs and in captures. Their stacks are as large as is known when the
graph is built."""

import gc

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START, array, read_steps, sine_steps, slopes, squares

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray


@pytest.fixture
def y(y):
    y.grad.fill(1)
    return y


def test_a_gradient_is_a_node_of_a_graph(x, y, stream):
    g = cg.GraphDef()
    g.call(sine_steps.grad, x, 7, y)
    graph = g.instantiate()
    x.grad.fill(0)
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    np.testing.assert_allclose(x.grad.to_numpy(), 3 * slopes(START, 7))


def test_a_gradient_is_captured(x, y, stream):
    builder = stream.create_graph_builder().begin_building()
    squares.grad(x, y, stream=stream)
    sine_steps.grad(x, 5, y, stream=stream)
    graph = builder.end_building().complete()
    x.grad.fill(0)
    graph.launch(stream)
    stream.sync()
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * START + slopes(START, 5))


def test_the_stacks_of_a_graph_live_as_long_as_it_does(y, stream):
    x = array(np.linspace(0, 1, 5000))
    g = cg.GraphDef()
    g.call(sine_steps.grad, x, 40, y)
    graph = g.instantiate()
    del g
    sine_steps.forget()
    gc.collect()
    others = [cg.ndarray(f64, 5000) for _ in range(4)]
    for each in others:
        each.fill(float("nan"))  # memory that was given back would be theirs
    graph.launch(stream)
    stream.sync()
    np.testing.assert_allclose(x.grad.to_numpy(), slopes(x.to_numpy(), 40))


@cg.kernel
def descend(x: ndarray(f64, 1), slope: ndarray(f64, 1), y: ndarray(f64, 0), rate: f64):
    for i in x:
        x[i] -= rate * slope[i]
        slope[i] = 0.0
    y[()] = 0.0


def test_a_graph_does_a_whole_step_of_gradient_descent(x, y, stream):
    g = cg.GraphDef()
    rate = g.param("rate", f64)
    g.call(squares, x, y).call(squares.grad, x, y).call(descend, x, x.grad, y, rate)
    graph = g.instantiate()
    for each in (0.25, 0.125):
        graph.launch(stream, rate=each)
    stream.sync()
    np.testing.assert_allclose(x.to_numpy(), START * (1 - 2 * 0.25) * (1 - 2 * 0.125))


def test_parameter_of_a_launch_cannot_decide_the_size_of_stacks(x, y, stream):
    g = cg.GraphDef()
    n = g.param("n", i32)
    with pytest.raises(RuntimeError, match=r"depends on 'n', which comes with each launch.*stack_room = 64"):
        g.call(sine_steps.grad, x, n, y)
    sine_steps.grad.stack_room = 8
    try:
        g.call(sine_steps.grad, x, n, y)
        graph = g.instantiate()
    finally:
        sine_steps.grad.stack_room = None
    for steps in (8, 3):
        x.grad.fill(0)
        graph.launch(stream, n=steps)
        stream.sync()
        np.testing.assert_allclose(x.grad.to_numpy(), slopes(START, steps))
    graph.launch(stream, n=9)
    with pytest.raises(cg.AdstackOverflowError, match="kernel sine_steps"):
        stream.sync()


def test_content_of_arrays_cannot_decide_the_size_of_stacks(x, y, stream):
    n = cg.ndarray(i32, ())
    n[()] = 4
    with pytest.raises(RuntimeError, match="depends on the content of arrays, or a while"):
        cg.GraphDef().call(read_steps.grad, x, n, y)
    read_steps.grad.stack_room = 16
    try:
        g = cg.GraphDef()
        g.call(read_steps.grad, x, n, y)
    finally:
        read_steps.grad.stack_room = None
    graph = g.instantiate()
    for steps in (4, 11):
        n[()] = steps
        x.grad.fill(0)
        graph.launch(stream)
        stream.sync()
        np.testing.assert_allclose(x.grad.to_numpy(), slopes(START, steps))


def test_arrays_that_share_memory_are_refused_in_graphs_too(x):
    @cg.kernel
    def sines(a: ndarray(f64, 1), b: ndarray(f64, 1)):
        for i in a:
            b[i] = cg.sin(a[i])

    g = cg.GraphDef()
    with pytest.raises(ValueError, match="'b', which the kernel writes, and 'a' share memory"):
        g.call(sines.grad, x, x)
    assert len(g.nodes()) == 0


def test_methods_have_gradients_in_graphs(y, stream):
    @cg.data_oriented
    class Sum:
        def __init__(self):
            self.x, self.y = array(START), y

        @cg.kernel
        def add(self):
            for i in self.x:
                self.y[()] += 3.0 * self.x[i]

    made = Sum()
    g = cg.GraphDef()
    g.call(made.add.grad)
    g.instantiate().launch(stream)
    stream.sync()
    np.testing.assert_allclose(made.x.grad.to_numpy(), 3)
