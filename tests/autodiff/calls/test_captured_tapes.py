# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a tape in a capture makes its calls and their gradients nodes of one graph. Each launch computes both."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.gradient_kernels import START, array, sine_steps, squares, steps
from tests.autodiff.calls.test_kept_states import assert_turned, turn, turn_back, turned

f64, i32 = cg.f64, cg.i32
ndarray = cg.types.ndarray


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
def other(x):
    return array(np.zeros(len(START)))


# Launches


def test_each_launch_computes_the_loss_and_its_gradient(x, y, stream):
    with cg.capture() as builder, cg.ad.Tape(loss=y):
        sine_steps(x, 5, y)
        squares(x, y)
    graph = builder.complete()
    for scale in (1.0, 0.5, 2.0):
        x.from_numpy(scale * START)
        graph.launch(stream)
        stream.sync()
        values, slopes = steps(scale * START, 5)
        np.testing.assert_allclose(y[()], np.sum(values + (scale * START) ** 2))
        np.testing.assert_allclose(x.grad.to_numpy(), slopes + 2 * scale * START)


def test_a_step_of_gradient_descent_is_one_graph(x, y, stream):
    with cg.capture() as builder:
        with cg.ad.Tape(loss=y):
            squares(x, y)
        descend(x, x.grad, 0.125)
    graph = builder.complete()
    for _ in range(4):
        graph.launch(stream)
    stream.sync()
    np.testing.assert_allclose(x.to_numpy(), START * 0.75**4)


def test_kept_states_are_copies_in_the_graph(x, other, y, stream):
    with cg.capture() as builder, cg.ad.Tape(loss=y, max_states=3) as tape:
        for _ in range(5):
            turn(x, other)
            turn_back(other, x)
        squares(x, y)
    graph = builder.complete()
    assert tape.stats.steps == 11 and tape.stats.most_states == 3
    del tape, builder
    for _ in range(3):
        x.from_numpy(START)
        graph.launch(stream)
        stream.sync()
        assert_turned(10, x, other, y)


def test_calls_and_gradients_of_several_streams_are_joined(x, other, y, stream):
    device = cg.Device()
    device.set_current()
    side = device.create_stream()
    with cg.capture(stream) as builder:
        with cg.ad.Tape(loss=y):
            turn(x, other)
            side.wait(stream)
            squares(other, y, stream=side)
            stream.wait(side)
        descend(x, x.grad, 1.0)
    graph = builder.complete()
    for _ in range(2):
        x.from_numpy(START)
        graph.launch(stream)
        stream.sync()
        values, slopes = turned(START, 1)
        np.testing.assert_allclose(x.to_numpy(), START - 2 * values * slopes)


def test_functions_with_their_own_gradient_are_captured(x, y, stream):
    @cg.ad.grad_replaced
    def doubled(x, y):
        squares(x, y)

    @cg.ad.grad_for(doubled)
    def doubled_back(x, y):
        squares.grad(x, y)
        squares.grad(x, y)

    with cg.capture() as builder, cg.ad.Tape(loss=y):
        doubled(x, y)
    graph = builder.complete()
    for _ in range(2):
        graph.launch(stream)
        stream.sync()
        np.testing.assert_allclose(x.grad.to_numpy(), 4 * START)


def test_gradients_of_fields_are_cleared_in_each_launch(y, stream):
    weights = cg.field(f64, 3, needs_grad=True)
    weights.from_numpy(START)

    @cg.kernel
    def cubes(y: ndarray(f64, 0)):
        for i in weights:
            y[()] += weights[i] ** 3

    cubes.compile(y)
    with cg.capture() as builder, cg.ad.Tape(loss=y):
        cubes(y)
    graph = builder.complete()
    for _ in range(2):
        graph.launch(stream)
        stream.sync()
        np.testing.assert_allclose(weights.grad.to_numpy(), 3 * START**2)


def test_a_tape_without_a_loss_goes_back_in_its_capture(x, y, stream):
    with cg.capture() as builder:
        with cg.ad.Tape() as tape:
            squares(x, y)
        y.grad.fill(3)
        tape.grad()
    graph = builder.complete()
    x.grad.fill(0)
    graph.launch(stream)
    stream.sync()
    np.testing.assert_allclose(x.grad.to_numpy(), 6 * START)
    with cg.capture() as builder, cg.ad.Tape() as tape:
        squares(x, y)
    with pytest.raises(RuntimeError, match="in the same capture, which has ended"):
        tape.grad()


def test_the_body_of_a_loop_has_a_tape_of_its_own(x, y, stream):
    @cg.kernel
    def is_done(y: ndarray(f64, 0), go: ndarray(i32, 0)):
        for _ in range(1):
            go[()] = 1 if y[()] > 1e-3 else 0

    go = cg.ndarray(i32, ())
    with cg.capture() as builder, builder.while_loop(go, do=True):
        with cg.ad.Tape(loss=y):
            squares(x, y)
        descend(x, x.grad, 0.125)
        is_done(y, go)
    graph = builder.complete()
    graph.launch(stream)
    stream.sync()
    turns = 1
    while np.sum((START * 0.75 ** (turns - 1)) ** 2) > 1e-3:
        turns += 1
    np.testing.assert_allclose(x.to_numpy(), START * 0.75**turns)


# Refusals


def test_calls_in_another_graph_than_their_gradients_are_refused(x, other, y, stream):
    def in_a_body():
        go = cg.ndarray(i32, ())
        with cg.capture() as builder, cg.ad.Tape(loss=y), builder.while_loop(go, do=True):
            squares(x, y)

    def outside():
        with cg.capture(), cg.ad.Tape(loss=y):
            squares(x, y, stream=stream)

    for run, why in (
        (in_a_body, r"squares\(\) is captured in a Tape that is in another capture or outside of this body"),
        (outside, r"squares\(\) runs in a Tape that is captured, on a stream that is not: call it on"),
    ):
        with pytest.raises(RuntimeError, match=why):
            run()
    with cg.ad.Tape(loss=y):  # and the next one is as ever
        squares(x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * START)


def test_options_that_read_arrays_are_refused(x, y):
    for options in ({"validation": True}, {"grad_check": [x]}):
        with (
            cg.capture(),
            pytest.raises(RuntimeError, match="in a capture cannot have validation or grad_check"),
        ):
            cg.ad.Tape(loss=y, **options).__enter__()
    counter = np.zeros(3)

    @cg.kernel
    def count(counter: ndarray(f64, 1), x: ndarray(f64, 1), y: ndarray(f64, 0)):
        for i in x:
            counter[i] += 1.0
            y[()] += x[i]

    def counts():
        with cg.capture(), cg.ad.Tape(loss=y, max_states=3):
            count(counter, x, y)

    with pytest.raises(TypeError, match=r"a captured Tape with max_states keeps copies of cg\.ndarray"):
        counts()
    with cg.ad.Tape(loss=y):
        squares(x, y)
    np.testing.assert_allclose(x.grad.to_numpy(), 2 * START)
