# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: another thread may close the stream of a call at any time. The call either runs or raises the error of a closed
stream, and releases the stream in both cases."""

import gc

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from cuda_graphs.kernels.arrays import keep_alive
from cuda_graphs.kernels.call import loader
from tests.kernels.graph_kernels import array, i32_1d
from tests.thread_rig import side_by_side

ROUNDS = 150


def add_one(x: i32_1d):
    for i in x:
        cg.atomic_add(x[i], 1)


def add_one_and_return(x: i32_1d) -> cg.i32:
    for i in x:
        cg.atomic_add(x[i], 1)
    return x.shape[0]


def powers(
    x: cg.types.ndarray(cg.f32, ndim=1, needs_grad=True), y: cg.types.ndarray(cg.f32, ndim=1, needs_grad=True)
):
    for i in x:
        value = x[i]
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
    """A kernel that adds 1 to each element, and its argument."""
    x = np.zeros(3, np.int32) if request.param == "numpy" else array([0, 0, 0], cg.i32)
    if request.param == "result":
        return cg.kernel(add_one_and_return), x
    return cg.kernel(add_one, graph=request.param == "graph", debug=request.param == "debug"), x


def call_while_streams_are_closed(device, call):
    """Calls `call(stream)` from two threads while a third closes the streams. Returns the number of calls that ran."""
    streams = [device.create_stream() for _ in range(ROUNDS)]
    ran, refusals = [], set()

    def caller():
        for stream in streams:
            try:
                call(stream)
            except RuntimeError as error:
                refusals.add(str(error))
            else:
                ran.append(stream)

    def closer():
        for stream in streams:
            stream.close()

    side_by_side(caller, closer, caller)
    device.sync()
    assert refusals <= {"Stream has been closed"}
    return len(ran)


def test_call_on_stream_that_is_closed_meanwhile_runs_or_is_refused(
    counting, may_release_during_work, device
):
    kernel, x = counting
    kernel(x)
    gc.collect()
    keep_alive.release_finished()
    before = boxes.live()
    ran = call_while_streams_are_closed(device, lambda stream: kernel(x, stream=stream))
    kernel(x)  # an executable keeps the stream of its last launch
    device.sync()
    keep_alive.release_finished()
    gc.collect()
    assert boxes.live() == before
    assert (x if isinstance(x, np.ndarray) else x.to_numpy()).tolist() == [ran + 2] * 3


def test_gradient_on_stream_that_is_closed_meanwhile_runs_or_is_refused(device):
    kernel = cg.kernel(powers)
    x, y = (cg.ndarray(cg.f32, 3, needs_grad=True) for _ in range(2))
    x.fill(1.0)
    kernel(x, y)
    y.grad.fill(1)
    kernel.grad(x, y)
    one = x.grad.to_numpy()
    assert one.tolist() == [4, 8, 16]
    ran = call_while_streams_are_closed(device, lambda stream: kernel.grad(x, y, stream=stream))
    np.testing.assert_allclose(x.grad.to_numpy(), one * (ran + 1))


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
