# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: several threads may launch, set, update and close one executable at once. Its calls come one after the other.
Each launch has values that were set together, and a launch that sets values has its own. After `close` every call is
refused."""

import threading

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE
from tests.thread_rig import side_by_side

THREADS, ROUNDS = 4, 50
# A sum of fewer than BASE additions of 1 and of BASE shows the number of each.
BASE = 1000
assert THREADS * ROUNDS < BASE


@pytest.fixture
def rig(kernels, pinned):
    """define(amount): a definition that adds it to x[0] and, behind that, to x[1]."""
    x = pinned([0, 0], "i4")

    def define(amount):
        g = cg.GraphDef()
        node = g.launch(ONE, kernels.add, x.ctypes.data, 1, amount)
        node.launch(ONE, kernels.add, x[1:].ctypes.data, 1, amount)
        return g, node

    return x, define


def launching(graph):
    """Returns the work of a thread: launches on a stream of its own."""

    def launch():
        own = cg.Device(0).create_stream()
        for _ in range(ROUNDS):
            graph.launch(own)

    return launch


def counts(total):
    """Returns the numbers of additions of 1 and of BASE."""
    return total % BASE, total // BASE


def test_every_launch_of_every_thread_happens_once(rig, device):
    """On streams of their own and on one that they share. "Each launch is ordered behind both any previous work in
    hStream and any previous launches of hGraphExec": cuda.h, cuGraphLaunch."""
    x, define = rig
    graph, shared = define(1)[0].instantiate(), device.create_stream()

    def launch():
        own = cg.Device(0).create_stream()
        for _ in range(ROUNDS):
            graph.launch(own)
            graph.launch(shared)
            graph.upload(own)

    side_by_side(*[launch] * THREADS)
    device.sync()
    assert x.tolist() == [2 * THREADS * ROUNDS] * 2


def test_a_launch_beside_updates_has_one_of_the_two(rig, device):
    x, define = rig
    (ones, _), (many, _) = define(1), define(BASE)
    graph = ones.instantiate()
    done = threading.Event()

    def change():
        while not done.is_set():
            graph.update(many)
            graph.update(ones)

    def launch_then_stop():
        try:
            launching(graph)()
        finally:
            done.set()

    side_by_side(launching(graph), launch_then_stop, change)
    device.sync()
    assert sum(counts(x[0])) == 2 * ROUNDS
    assert x[1] == x[0]  # an update changes both nodes or none


def test_a_launch_beside_sets_has_one_of_the_values(kernels, pinned, device):
    x, g = pinned([0, 0], "i4"), cg.GraphDef()
    amount = g.param("amount", cg.i32, default=1)
    g.launch(ONE, kernels.add, x.ctypes.data, 1, amount).launch(
        ONE, kernels.add, x[1:].ctypes.data, 1, amount
    )
    graph = g.instantiate()

    def change():
        for _ in range(ROUNDS):
            graph.set(amount=BASE)
            graph.set(amount=1)
            assert graph.params["amount"].value in (1, BASE)

    side_by_side(*[launching(graph)] * 2, change, change)
    device.sync()
    assert sum(counts(x[0])) == 2 * ROUNDS
    assert x[1] == x[0]


def test_a_launch_that_sets_values_has_its_own(kernels, pinned, device):
    x, g = pinned([0]), cg.GraphDef()
    g.launch(ONE, kernels.add, x.ctypes.data, 1, g.param("amount", cg.i32))
    graph = g.instantiate()

    def launch(amount):
        own = cg.Device(0).create_stream()
        for _ in range(ROUNDS):
            graph.launch(own, amount=amount)

    side_by_side(*[lambda i=i: launch(100**i) for i in range(THREADS)])
    device.sync()
    assert x[0] == ROUNDS * sum(100**i for i in range(THREADS))


def test_a_launch_beside_changes_of_a_node_has_one_of_the_two(rig, kernels, device):
    x, define = rig
    g, node = define(1)
    graph = g.instantiate()
    view = graph[node]

    def change():
        for i in range(ROUNDS):
            view.update(config=ONE, kernel=kernels.add, args=(x.ctypes.data, 1, (1, BASE)[i % 2]))
            view.enable()

    side_by_side(*[launching(graph)] * 2, change)
    device.sync()
    assert sum(counts(x[0])) == 2 * ROUNDS
    assert x[1] == 2 * ROUNDS


def test_closing_beside_launches_refuses_those_that_come_later(rig, device):
    x, define = rig
    (ones, node), (many, _) = define(1), define(BASE)
    graph = ones.instantiate()
    launched, refusals = [], []

    def until_closed(action):
        for _ in range(ROUNDS):
            try:
                action()
            except (RuntimeError, ValueError) as refused:  # ValueError: graph[node]
                refusals.append(str(refused))
                return

    def launch():
        graph.launch(own)
        launched.append(1)

    def launch_and_close():
        launch()
        graph.close()
        graph.close()

    own = device.create_stream()
    side_by_side(
        *[lambda: until_closed(launch)] * 2,
        lambda: until_closed(lambda: graph.update(many)),
        lambda: until_closed(lambda: graph[node].enable()),
        launch_and_close,
    )
    own.sync()
    assert graph.is_closed
    assert all("closed" in refusal for refusal in refusals)
    assert sum(counts(x[0])) == len(launched)
    assert x[1] == x[0]
    with pytest.raises(RuntimeError, match="closed"):
        graph.launch(own)


def test_threads_instantiate_one_definition_at_once(kernels, pinned, device):
    """Executables of one definition run beside one another, so what they count with is atomic."""
    x, g = pinned([0, 0]), cg.GraphDef()
    g.launch(ONE, kernels.tally, x.ctypes.data).launch(ONE, kernels.tally, x[1:].ctypes.data)

    def work():
        own = cg.Device(0).create_stream()
        for _ in range(ROUNDS):
            graph = g.instantiate()
            graph.launch(own)
            graph.close()

    side_by_side(*[work] * THREADS)
    device.sync()
    assert x.tolist() == [THREADS * ROUNDS] * 2


def test_threads_update_from_the_definition_of_each_other(kernels, pinned, device):
    """An update locks the definitions of the Graph and of its argument, here in opposite orders."""
    x = pinned([0, 0])
    definitions = [cg.GraphDef(), cg.GraphDef()]
    for i, definition in enumerate(definitions):
        definition.launch(ONE, kernels.tally, x[i:].ctypes.data)
    graphs = [definition.instantiate() for definition in definitions]

    def updating(graph, other):
        def work():
            own = cg.Device(0).create_stream()
            for _ in range(ROUNDS):
                graph.update(other)
                graph.launch(own)

        return work

    side_by_side(
        *(updating(graph, other) for graph, other in zip(graphs, reversed(definitions), strict=True))
    )
    device.sync()
    assert x.tolist() == [ROUNDS] * 2


def test_executables_end_beside_whatever_is_done_with_their_definition(kernels, pinned, device):
    """Also beside one another: libcuda ties all of them to the definition (docs/design/2026-11-serial-calls.md)."""
    x, g = pinned([0]), cg.GraphDef()
    last = g.launch(ONE, kernels.tally, x.ctypes.data)
    graphs = [g.instantiate() for _ in range(8 * ROUNDS)]

    def end():
        for _ in range(2 * ROUNDS):
            graphs.pop().close()

    def use():
        for _ in range(ROUNDS):
            last.launch(ONE, kernels.tally, x.ctypes.data).destroy()
            cg.GraphDef().embed(g)
            graphs.insert(0, g.instantiate())

    side_by_side(*[end] * THREADS, use)
    assert len(graphs) == ROUNDS
    graphs[0].launch(device.default_stream)
    device.sync()
    assert x[0] == 1
