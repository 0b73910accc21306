# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: work on a stream keeps its arrays and its code until it is done, also when the caller drops them; threads may
call one kernel at a time, or all at once."""

import gc
import threading

import numpy as np
import pytest

import cuda_graphs as cg

f32_1d = cg.types.ndarray(cg.f32, ndim=1)


@cg.kernel
def work(x: f32_1d, out: f32_1d, rounds: cg.i32):
    for i in x:
        s = cg.f32(0.0)
        for k in range(rounds):
            s += x[i] * (k % 2)
        out[i] = s


@pytest.mark.parametrize("own", [True, False], ids=["a stream of its own", "the default stream"])
def test_arrays_may_go_while_work_is_in_flight(device, own):
    stream = device.create_stream() if own else device.default_stream
    n, rounds = 5000, 2000
    out = [cg.ndarray(cg.f32, n) for _ in range(10)]
    for each in out:
        x = cg.ndarray(cg.f32, n)
        x.fill(2)
        work(x, each, rounds, stream=stream)
        del x
    gc.collect()
    others = [cg.ndarray(cg.f32, n) for _ in range(10)]
    for other in others:
        other.fill(9)
    stream.sync()
    for each in out:
        np.testing.assert_array_equal(each.to_numpy(), 2.0 * rounds / 2)


def test_code_may_go_while_work_is_in_flight(device):
    out, x = cg.ndarray(cg.f32, 5000), cg.ndarray(cg.f32, 5000)
    x.fill(2)
    temporary = cg.kernel(work.__wrapped__)
    temporary(x, out, 2000)
    del temporary
    gc.collect()
    np.testing.assert_array_equal(out.to_numpy(), 2000)


def test_a_thread_that_never_saw_the_device_may_call():
    x, out = cg.ndarray(cg.f32, 100), cg.ndarray(cg.f32, 100)
    x.fill(1)
    failures = []

    def call():
        try:
            work(x, out, 10)
            cg.Device().set_current()
        except Exception as error:
            failures.append(error)

    for _ in range(2):  # compiles; and launches what is compiled
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
    assert failures == []
    np.testing.assert_array_equal(out.to_numpy(), 5)


def test_threads_share_a_kernel():
    @cg.kernel
    def total(x: cg.types.ndarray()) -> cg.f64:
        s = cg.f64(0.0)
        for i in x:
            s += cg.f64(x[i])
        return s

    found = []

    def call(kind):
        x = np.arange(200).astype(kind)
        found.append([total(x) for _ in range(20)])

    threads = [threading.Thread(target=call, args=(kind,)) for kind in ("f4", "f8", "i4", "i8") * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[19900.0] * 20] * 8


def test_a_kernel_that_is_gone_leaves_nothing(device):
    from cuda_graphs.core.resources import boxes

    gc.collect()
    before = boxes.live()
    for _ in range(3):
        temporary = cg.kernel(work.__wrapped__)
        temporary(np.ones(3, "f"), np.ones(3, "f"), 1)
        assert boxes.live()["library"] == before["library"] + 1
        del temporary
        gc.collect()
        boxes.drain()
    assert boxes.live()["library"] == before["library"]
    assert boxes.live()["kernel"] == before["kernel"]


def test_closed_stream_is_refused(device):
    x, out = cg.ndarray(cg.f32, 10), cg.ndarray(cg.f32, 10)
    stream = device.create_stream()

    class Closes:
        """A number that closes the stream when it is read."""

        def __index__(self):
            stream.close()
            return 1

    with pytest.raises(RuntimeError, match="closed"):
        work(x, out, Closes(), stream=stream)
    with pytest.raises(RuntimeError, match="closed"):
        work(x, out, 1, stream=stream)
    x.buffer.close()
    with pytest.raises(cg.ClosedBufferError, match="parameter 'x': the Buffer of <NDArray f32"):
        work(x, out, 1)
