# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: another thread may close the stream of a call at any time. The call either runs or raises the error of a closed
stream, and releases the stream in both cases."""

import functools
import gc

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from cuda_graphs.kernels.arrays import keep_alive
from cuda_graphs.kernels.specialisation import loader
from tests.kernels.graph_kernels import array, i32_1d
from tests.thread_rig import side_by_side

ROUNDS = 150


# Calls on different streams may run at the same time, so both kernels add with atomics: several iterations share an
# element, and the compiler keeps the atomics.


def add_four(x: i32_1d):
    for i in range(4 * x.shape[0]):
        cg.atomic_add(x[i // 4], 1)


def add_four_and_return(x: i32_1d) -> cg.i32:
    for i in range(4 * x.shape[0]):
        cg.atomic_add(x[i // 4], 1)
    return x.shape[0]


def powers(
    x: cg.types.ndarray(cg.f32, ndim=1, needs_grad=True), y: cg.types.ndarray(cg.f32, ndim=1, needs_grad=True)
):
    for i in range(3):
        value = x[0]
        for _ in range(i + 2):
            value = value * value
        y[i] += value


@pytest.fixture(params=[False, True], ids=["host", "like-a-gpu"])
def may_release_during_work(request, monkeypatch):
    """Keeps the arguments of calls alive as on a GPU, or as on the driver of the test."""
    if request.param:
        monkeypatch.setattr(loader, "may_release_during_work", lambda: True)


@pytest.fixture(params=["plain", "graph", "debug", "result", "numpy"])
def counting(request):
    """A kernel that adds 4 to each element, and an argument for each of two threads: their calls may run at the same
    time, and would lose numbers of one array."""
    is_numpy = request.param == "numpy"
    arrays = [np.zeros(3, np.int32) if is_numpy else array([0, 0, 0], cg.i32) for _ in range(2)]
    if request.param == "result":
        return cg.kernel(add_four_and_return), arrays
    return cg.kernel(add_four, graph=request.param == "graph", debug=request.param == "debug"), arrays


def call_while_streams_are_closed(device, *calls):
    """Calls each `call(stream)` from a thread of its own while another thread closes the streams. Returns the number of
    calls that ran, for each thread."""
    streams = [device.create_stream() for _ in range(ROUNDS)]
    ran, refusals = [0] * len(calls), set()

    def caller(number):
        for stream in streams:
            try:
                calls[number](stream)
            except RuntimeError as error:
                refusals.add(str(error))
            else:
                ran[number] += 1

    def closer():
        for stream in streams:
            stream.close()

    side_by_side(closer, *(functools.partial(caller, number) for number in range(len(calls))))
    device.sync()
    assert refusals <= {"Stream has been closed"}
    return ran


def test_call_on_stream_that_is_closed_meanwhile_runs_or_is_refused(
    counting, may_release_during_work, device
):
    kernel, arrays = counting
    for x in arrays:
        kernel(x)
    gc.collect()
    keep_alive.release_finished()
    before = boxes.live()
    calls = [lambda stream, x=x: kernel(x, stream=stream) for x in arrays]
    ran = call_while_streams_are_closed(device, *calls)
    for x in arrays:
        kernel(x)  # an executable keeps the stream of its last launch
    device.sync()
    keep_alive.release_finished()
    gc.collect()
    assert boxes.live() == before
    found = [(x if isinstance(x, np.ndarray) else x.to_numpy()).tolist() for x in arrays]
    assert found == [[4 * (count + 2)] * 3 for count in ran]


def test_gradient_on_stream_that_is_closed_meanwhile_runs_or_is_refused(device):
    kernel = cg.kernel(powers)
    pairs = [[cg.ndarray(cg.f32, size, needs_grad=True) for size in (1, 3)] for _ in range(2)]
    for x, y in pairs:
        x.fill(1.0)
        kernel(x, y)
        y.grad.fill(1)
        kernel.grad(x, y)
        assert x.grad.to_numpy().tolist() == [4 + 8 + 16]
    calls = [lambda stream, pair=pair: kernel.grad(*pair, stream=stream) for pair in pairs]
    for (x, _), count in zip(pairs, call_while_streams_are_closed(device, *calls), strict=True):
        np.testing.assert_allclose(x.grad.to_numpy(), [(4 + 8 + 16) * (count + 1)])


def test_argument_that_closes_the_stream_is_refused(device):
    stream = device.create_stream()

    class Closer:
        def __index__(self):
            stream.close()
            return 1

    @cg.kernel
    def write(x: i32_1d, value: cg.i32):
        x[0] = value

    x = array([0], cg.i32)
    with pytest.raises(RuntimeError, match="Stream has been closed"):
        write(x, Closer(), stream=stream)
    assert x[0] == 0
