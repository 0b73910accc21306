# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: calls of a graph kernel may be queued behind calls that have not begun, on any streams and from any threads.
Each uses its own arguments, and memory does not grow with the number of calls."""

import gc
import sys
import threading
from functools import partial

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from cuda_graphs.kernels.arrays import keep_alive
from tests.kernels.graph_kernels import array, body, counted, counters, f32_1d, i32_0d, i32_1d, seed
from tests.thread_rig import side_by_side

PATIENCE_S = 60


class Gate:
    """Work of a stream that waits until the test lets it go on."""

    def __init__(self, stream):
        self.open, self.stream = threading.Event(), stream
        definition = cg.GraphDef()
        definition.callback(partial(self.open.wait, PATIENCE_S))
        self.graph = definition.instantiate()

    def __enter__(self):
        self.graph.launch(self.stream)

    def __exit__(self, *exception):
        self.open.set()
        self.stream.sync()


def note(out: i32_1d, at: cg.i32, x: i32_1d, value: cg.i32):
    for i in x:
        out[at * x.shape[0] + i] = x[i] * value
    out[at * x.shape[0]] += 1


def test_calls_may_wait_behind_a_producer_and_keep_what_they_were_given(stream):
    """Ten calls with other arrays and numbers, all given before the first of them begins."""
    kernel = cg.kernel(note, graph=True)
    out, xs = array(np.zeros(30), cg.i32), [array([n, n + 1, n + 2], cg.i32) for n in range(10)]
    kernel(out, 0, xs[0], 0)
    cg.Device(0).sync()
    with Gate(stream):
        for n, x in enumerate(xs):
            kernel(out, n, x, n + 100, stream=stream)
        assert counters(kernel) == (1, 1, True)
    wanted = np.concatenate([np.arange(n, n + 3) * (n + 100) for n in range(10)])
    wanted[::3] += 1
    np.testing.assert_array_equal(out.to_numpy(), wanted)
    keep_alive.release_finished()


def test_loops_may_wait_behind_a_producer_of_their_flags(stream):
    """The flags are written behind the gate, so no call can read them while it is made."""
    kernel = cg.kernel(body, graph=True, loop="conditional")
    xs, flags = [array(np.zeros(5), cg.i32) for _ in range(6)], [array(1, cg.i32) for _ in range(6)]
    kernel(array([0], cg.i32), array(1, cg.i32))
    seed(flags[0], 1)
    cg.Device(0).sync()
    with Gate(stream):
        for n, flag in enumerate(flags):
            seed(flag, 3 * n + 1, stream=stream)
        for x, flag in zip(xs, flags):
            kernel(x, flag, stream=stream)
        assert counters(kernel) == (1, 1, True)
    assert [x.to_numpy().tolist() for x in xs] == [[3 * n + 1] * 5 for n in range(6)]
    keep_alive.release_finished()


def test_streams_share_a_graph_while_one_of_them_waits(device):
    """Each stream has its arguments. One graph runs once at a time: a stream may wait for another, but is right."""
    kernel, streams = cg.kernel(body, graph=True), [device.create_stream() for _ in range(3)]
    xs, flags = [array(np.zeros(50), cg.i32) for _ in streams], [array(0, cg.i32) for _ in streams]
    seed(flags[0], 1)
    kernel(array([0], cg.i32), array(1, cg.i32))
    device.sync()
    with Gate(streams[0]):
        for rounds in range(1, 6):
            for own, x, flag in zip(streams, xs, flags):
                seed(flag, rounds, stream=own)
                kernel(x, flag, stream=own)
    for own in streams:
        own.sync()
    for x in xs:
        assert x.to_numpy().tolist() == [15] * 50
    assert counters(kernel) == (1, 1, True)
    keep_alive.release_finished()


def test_a_call_is_ordered_with_what_its_stream_does_before_and_after(device, lowering):
    """One stream writes, another waits for its event, calls, and is waited for."""
    kernel = cg.kernel(body, graph=True, loop=lowering)
    first, second = device.create_stream(), device.create_stream()
    x, flag, copy = array(np.zeros(2000), cg.i32), array(0, cg.i32), array(np.zeros(2000), cg.i32)

    @cg.kernel
    def double(x: i32_1d, out: i32_1d):
        for i in x:
            out[i] = 2 * x[i]

    total = 0
    for rounds in (3, 1, 4):
        seed(flag, rounds, stream=first)
        second.wait(first.record())
        kernel(x, flag, stream=second)
        first.wait(second.record())
        double(x, copy, stream=first)
        first.sync()
        total += rounds
        np.testing.assert_array_equal(copy.to_numpy(), np.full(2000, 2 * total))
    second.sync()
    keep_alive.release_finished()


def test_streams_of_others_are_streams(device):
    own = device.create_stream()

    class Foreign:
        def __cuda_stream__(self):
            return (0, own.handle)

    kernel, x, flag = cg.kernel(body, graph=True), array([0], cg.i32), array(2, cg.i32)
    kernel(x, flag, stream=Foreign())
    own.sync()
    assert x[0] == 2
    with pytest.raises(TypeError):
        kernel(x, flag, stream="fast")
    closed = device.create_stream()
    closed.close()
    with pytest.raises(RuntimeError, match="closed"):
        kernel(x, flag, stream=closed)
    keep_alive.release_finished()


# 10,000 calls.

CALLS, THREADS = 10_000, 2
SETS = [(number, size) for number, size in zip(range(8), (3, 500, 40) * 3)]


def polynomial(x: f32_1d, c: i32_0d, a: cg.f32, rounds: i32_0d):
    while cg.graph_do_while(c):
        for i in x:
            x[i] = x[i] * a + 1
        rounds[()] += 1
        c[()] -= 1


def test_ten_thousand_calls_from_two_threads_are_right_and_leave_nothing(device):
    """Eight sets of arguments in three sizes, each call with another one than the call before."""
    kernel = cg.kernel(polynomial, graph=True, loop="conditional")
    sets = []
    for number, size in SETS:
        start = (np.arange(size, dtype="f4") + number) % 5
        sets.append((start, array(start), array(0, cg.i32), 0.5 if number % 2 else -1.0, array(0, cg.i32)))
    kernel(array([1]), array(1, cg.i32), 1.0, array(0, cg.i32))
    seed(sets[0][2], 1)
    device.sync()
    each = CALLS // THREADS

    def work(which):
        own = cg.Device(0).create_stream()
        mine = sets[which::THREADS]
        for call in range(each):
            _, x, c, a, rounds = mine[call % len(mine)]
            seed(c, 1 + call % 3, stream=own)
            kernel(x, c, a, rounds, stream=own)
            if call == each // 10:
                own.sync()
                levels.append(boxes.live())
                blocks.append(sys.getallocatedblocks())
        own.sync()
        keep_alive.release_finished()

    levels: list[dict[str, int]] = []
    blocks: list[int] = []  # of memory that Python has given out
    side_by_side(*(lambda which=which: work(which) for which in range(THREADS)))
    device.sync()
    gc.collect()
    boxes.drain()
    after = boxes.live()
    assert all(after[kind] <= max(level[kind] for level in levels) for kind in after), (levels, after)
    assert sys.getallocatedblocks() < max(blocks) + CALLS // 10
    assert counters(kernel) == counted("conditional")
    for which in range(THREADS):
        mine = sets[which::THREADS]
        for number, (wanted, x, c, a, rounds) in enumerate(mine):
            repeats = [1 + call % 3 for call in range(number, each, len(mine))]
            for _ in range(sum(repeats)):
                wanted = wanted * np.float32(a) + np.float32(1)
            np.testing.assert_array_equal(x.to_numpy(), wanted)
            assert (c[()], rounds[()]) == (0, sum(repeats))
