# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the first call of a graph kernel reads nothing back that it has just made. Each call sets and launches the
executable under the executable's own lock, and gets its own arguments, whatever other code does with the executable."""

import gc
import threading

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs import testing
from cuda_graphs.kernels.call.replay_strategy import ReplayStrategy
from cuda_graphs.kernels.graph.replay import Replay
from tests.driver_table import DriverTable
from tests.graph_rig import ONE
from tests.kernels.graph_kernels import array, body, i32_1d
from tests.thread_rig import side_by_side

INVALID_VALUE = 1


@pytest.fixture
def table(driver):
    if driver.kind != "host":
        pytest.skip("driver functions are replaced in the table of the host driver")
    table = DriverTable()
    yield table
    table.restore()


def replay_of(kernel):
    """Return the Replay of the last call. Kernels do not expose it, so the garbage collector finds it."""
    (strategy,) = (each for each in gc.get_referents(kernel) if isinstance(each, ReplayStrategy))
    (found,) = (each for each in gc.get_referents(strategy) if isinstance(each, Replay))
    return found


def overlaps_of(table, *names):
    """Return a list of the pairs of these driver functions that run at the same time on one executable."""
    guard, running, overlaps = threading.Lock(), {}, []

    def wrapped(name, original):
        def call(executable, *words):
            with guard:
                if executable in running:
                    overlaps.append((running[executable], name))
                running[executable] = name
            status = original(executable, *words)
            with guard:
                running.pop(executable, None)
            return status

        return call

    for name in names:
        table.replace(name, wrapped(name, table.original(name)))
    return overlaps


@cg.kernel(graph=True, chain="nodes", fuse=False)
def put(value: cg.i32, x: i32_1d, y: i32_1d):
    for i in x:
        x[i] = value
    for i in y:
        y[i] = x[i]


count_down = cg.kernel(body, graph=True, loop="conditional")


@pytest.mark.parametrize(
    ("kernel", "graphs", "added"),
    [
        (put, 1, {"cuGraphAddKernelNode": 2}),
        (count_down, 2, {"cuGraphAddKernelNode": 2, "cuGraphAddNode": 1}),
    ],
    ids=["tasks in a row", "a loop of two tasks"],
)
def test_first_call_reads_nothing_back_that_it_made(kernel, graphs, added, driver):
    if driver.kind != "host":
        pytest.skip("the host driver counts calls")
    x, y, counter = array(np.zeros(3), cg.i32), array(np.zeros(3), cg.i32), array(1, cg.i32)
    args = (1, x, y) if kernel is put else (x, counter)
    kernel.compile(*args)
    with testing.calls() as calls:
        kernel(*args)
    about_graphs = {name: count for name, count in calls.items() if name.startswith("cuGraph")}
    about_graphs.pop("cuGraphConditionalHandleCreate", None)
    # cuGraphGetNodes counts the nodes of each graph, as code outside the package may have added nodes.
    assert about_graphs == {
        "cuGraphCreate": 1,
        **added,
        "cuGraphGetNodes": graphs,
        "cuGraphInstantiateWithParams": 1,
        "cuGraphLaunch": 1,
    }
    assert kernel.graph_stats.nodes == sum(added.values())


def test_calls_and_launches_of_one_executable_do_not_overlap(table):
    x, y = array(np.zeros(3), cg.i32), array(np.zeros(3), cg.i32)
    put(1, x, y)
    graph = replay_of(put).graph
    overlaps = overlaps_of(table, "cuGraphExecNodeSetParams", "cuGraphLaunch", "cuGraphUpload")
    rounds, streams = 200, [cg.Device(0).create_stream() for _ in range(3)]

    def call():
        for value in range(rounds):
            put(value, x, y, stream=streams[0])

    def launch():
        for _ in range(rounds):
            graph.launch(streams[1])

    def upload():
        for _ in range(rounds):
            graph.upload(streams[2])

    side_by_side(call, launch, upload)
    table.restore()
    for stream in streams:
        stream.sync()
    assert overlaps == []


@pytest.fixture
def called():
    """A call of `put` with 1, which wrote these arrays; and its Replay."""
    x, y = array(np.zeros(3), cg.i32), array(np.zeros(3), cg.i32)
    put(1, x, y)
    return x, y, replay_of(put)


def test_call_sets_nodes_that_other_code_has_set(called, kernels):
    x, y, replay = called
    other = array(np.zeros(3), cg.i32)
    for node in replay.definition.nodes():
        replay.graph[node].update(config=ONE, kernel=kernels.add, args=(other, 3, 1))
    put(1, x, y)
    cg.Device(0).sync()
    assert y.to_numpy().tolist() == [1, 1, 1]
    assert other.to_numpy().tolist() == [0, 0, 0]


def test_call_sets_nodes_after_an_update_of_its_graph(called, kernels):
    x, y, replay = called
    other = array(np.zeros(3), cg.i32)
    definition = cg.GraphDef()
    ((before, after),) = replay.definition.edges()
    data = replay.definition.edge_data(before, after)
    definition.launch(ONE, kernels.add, other, 3, 1).launch(ONE, kernels.add, other, 3, 1, edge=data)
    replay.graph.update(definition)
    put(1, x, y)
    cg.Device(0).sync()
    assert y.to_numpy().tolist() == [1, 1, 1]
    assert other.to_numpy().tolist() == [0, 0, 0]


def test_call_that_cannot_set_a_node_launches_nothing_and_the_next_call_sets_it(called, table):
    x, y, _ = called
    cg.Device(0).sync()
    table.refuse_once("cuGraphExecNodeSetParams", INVALID_VALUE)
    launches = table.watch("cuGraphLaunch")
    with pytest.raises(cg.CUDAError, match="launch of kernel put"):
        put(2, x, y)
    assert launches == []
    put(2, x, y)
    cg.Device(0).sync()
    assert y.to_numpy().tolist() == [2, 2, 2]


def test_call_sets_only_the_nodes_whose_arguments_differ(called, table):
    x, y, _ = called
    sets = table.watch("cuGraphExecNodeSetParams")
    put(1, x, y)
    assert len(sets) == 0
    put(2, x, y)  # the first of the two tasks takes the value
    assert len(sets) == 1
    put(2, x, array(np.zeros(3), cg.i32))  # the second task takes this array
    assert len(sets) == 2
