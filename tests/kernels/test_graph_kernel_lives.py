# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: graphs of kernels live as long as they are needed, for calls from any thread. A function that cannot be a graph
kernel is refused when it is decorated. With graphs turned off the results are the same."""

import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.conftest import wait_until
from tests.kernels.graph_kernels import array, body, count_down, f32_1d, i32_0d, i32_1d, seed, two
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
    from cuda_graphs.kernels.call.replay_strategy import MOST_GRAPHS

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


# Refused functions, and graphs turned off.


def test_a_graph_kernel_that_returns_something_is_refused_when_it_is_decorated():
    with pytest.raises(TypeError, match="answers: a graph kernel returns nothing"):

        @cg.kernel(graph=True)
        def answers(x: f32_1d) -> cg.f32:
            return x[0]


def test_an_unknown_lowering_is_refused_when_it_is_decorated():
    with pytest.raises(ValueError, match="loop must be one of auto, conditional, resident, host, got 'fast'"):
        cg.kernel(graph=True, loop="fast")(body)


def test_a_loop_between_tasks_needs_a_graph_kernel():
    plain = cg.kernel(body)
    with pytest.raises(cg.CompileSyntaxError, match=r"cg\.graph_do_while is for graph kernels"):
        plain(array([0], cg.i32), array(1, cg.i32))
    with pytest.raises(AttributeError, match="body is not a graph kernel"):
        plain.graph_stats  # noqa: B018


def test_words_of_graph_kernels_mean_nothing_outside():
    with pytest.raises(RuntimeError, match="graph_do_while"):
        cg.graph_do_while(array(1, cg.i32))


OFF = """
import numpy as np, cuda_graphs as cg
@cg.kernel(graph=True, loop="conditional")
def k(x: cg.types.ndarray(cg.i32, ndim=1), c: cg.types.ndarray(cg.i32, ndim=0)):
    while cg.graph_do_while(c):
        for i in x:
            x[i] += 1
        c[()] -= 1
x, c = cg.ndarray(cg.i32, 3), cg.ndarray(cg.i32, ())
c.fill(4)
k(x, c)
print(x.to_numpy().tolist(), k.graph_stats.graphs, k.graph_stats.lowering)
"""


def test_the_environment_turns_graphs_off_and_results_stay(tmp_path):
    script = tmp_path / "off.py"
    script.write_text(OFF)
    for value, wanted in (("0", "[4, 4, 4] 0 host"), ("1", "[4, 4, 4] 1 conditional")):
        environment = {**os.environ, "CUDA_GRAPHS_KERNEL_GRAPHS": value}
        found = subprocess.run(
            [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True
        )
        assert found.stdout.strip() == wanted
        assert found.stderr == ""
