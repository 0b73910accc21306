# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: graphs of kernels live as long as they are needed, for calls from any thread."""

import gc
import threading

import numpy as np

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.conftest import wait_until
from tests.kernels.graph_kernels import array, count_down, f32_1d, i32_0d, i32_1d, seed, two
from tests.thread_rig import side_by_side


def test_arrays_may_go_while_a_launch_with_them_is_in_flight(stream):
    @cg.kernel(graph=True)
    def put(x: f32_1d, out: f32_1d, at: cg.i32):
        for i in x:
            out[at * x.shape[0] + i] = x[i]

    out = array(np.zeros(20 * 5000))
    for n in range(20):
        x = array(np.full(5000, n))
        put(x, out, n, stream=stream)
        del x
    stream.sync()
    np.testing.assert_array_equal(out.to_numpy(), np.arange(20).repeat(5000))
    put.forget()


def test_nothing_is_left_when_a_kernel_goes():
    before = boxes.live()

    @cg.kernel(graph=True)
    def gone(x: i32_1d, c: i32_0d):
        while cg.graph_do_while(c):
            for i in x:
                x[i] += 1
            c[()] -= 1

    x, c = array([0], cg.i32), array(1, cg.i32)
    gone(x, c)
    cg.Device(0).sync()
    assert boxes.live() != before
    del gone, x, c
    cg.Device(0).sync()
    assert wait_until(lambda: boxes.live() == before), boxes.live()


def test_graphs_that_were_not_used_for_the_longest_time_go():
    from cuda_graphs.kernels.call.function import MOST_GRAPHS

    @cg.kernel(graph=True)
    def fill(x: i32_1d, value: cg.template):
        for i in x:
            x[i] = value

    x = array([0], cg.i32)
    for value in range(MOST_GRAPHS + 3):
        fill(x, value)
        assert x.to_numpy()[0] == value
    assert fill.graph_stats.graphs == MOST_GRAPHS
    fill(x, MOST_GRAPHS)
    assert fill.graph_stats.replayed
    fill(x, 0)
    assert not fill.graph_stats.replayed
    assert x.to_numpy()[0] == 0
    fill.forget()


def test_threads_that_call_one_kernel_each_get_what_they_gave():
    """Eight sets of arguments in three sizes, from two threads: nothing of one call is found in another."""
    sets = [
        (i, array(np.zeros(size), cg.i32), array(0, cg.i32)) for i, size in zip(range(8), (1, 500, 40) * 3)
    ]
    rounds = 60

    def work(which):
        own = cg.Device(0).create_stream()
        for _ in range(rounds):
            for i, x, c in sets[which::2]:
                seed(c, i + 1, stream=own)
                count_down(x, c, stream=own)
        own.sync()

    side_by_side(lambda: work(0), lambda: work(1))
    for i, x, _ in sets:
        np.testing.assert_array_equal(x.to_numpy(), np.full(x.shape, rounds * (i + 1)))
    assert count_down.graph_stats.graphs == 1


def test_first_calls_of_threads_build_one_graph():
    @cg.kernel(graph=True)
    def once(x: i32_1d):
        for i in x:
            x[i] += 1

    arrays = [array([0], cg.i32) for _ in range(4)]
    side_by_side(*(lambda x=x: once(x) for x in arrays))
    cg.Device(0).sync()
    assert [x.to_numpy()[0] for x in arrays] == [1] * 4
    assert once.graph_stats.builds == 1
    once.forget()


def test_a_stream_that_goes_in_a_call_may_call_again():
    """The graph lets the stream of its last launch go in the next one, and what owns that stream calls the kernel."""
    x, y, own, again = array([1]), array([0]), cg.Device(0).create_stream(), []

    class Foreign:
        def __cuda_stream__(self):
            return (0, own.handle)

        def __del__(self):
            two(1.0, x, y)
            again.append(1)

    two(1.0, x, y, stream=Foreign())
    for _ in range(2):
        two(1.0, x, y, stream=cg.Device(0).create_stream())
        cg.Device(0).sync()
        gc.collect()
    assert wait_until(lambda: again == [1])


def test_a_thread_without_a_context_may_call():
    x, y, failures = array([1, 1]), array([0, 0]), []
    two(1.0, x, y)

    def work():
        try:
            two(1.0, x, y)
        except BaseException as failure:
            failures.append(failure)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failures == []
    assert y.to_numpy().tolist() == [3, 3]
