# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: graphs of every kind of node of cuda.core's GraphDefinition run to the right results, and can be changed."""

import numpy as np
import pytest
from cuda import core
from cuda.core import graph as g

N = 32
ROW = core.LaunchConfig(grid=1, block=N)


@pytest.fixture
def definition(device):
    return g.GraphDefinition()


def args(x, a, b):
    return x.ctypes.data, np.int32(a), np.int32(b), np.int32(x.size)


def run(definition, stream, times=1):
    graph = definition.instantiate()
    for _ in range(times):
        graph.launch(stream)
    stream.sync()
    return graph


def test_kernels_in_a_chain(definition, stream, kernel, pinned):
    x = pinned(np.arange(N))
    first = definition.launch(ROW, kernel("affine"), *args(x, 2, 1))
    second = first.launch(ROW, kernel("affine"), *args(x, 3, 0))
    run(definition, stream)
    assert (x == 3 * (2 * np.arange(N) + 1)).all()
    assert (first.grid, first.block, first.shmem_size) == ((1, 1, 1), (N, 1, 1), 0)
    assert definition.nodes() == {first, second}
    assert definition.edges() == {(first, second)}
    assert (set(first.succ), set(second.pred)) == ({second}, {first})


def test_copies_and_fills(definition, stream, device, pinned):
    x, y = pinned(np.arange(N)), pinned(np.zeros(N))
    there = device.memory_resource.allocate(4 * N, stream=stream)
    stream.sync()
    node = definition.memset(there, np.uint32(9), N)
    node = node.memcpy(there, x.ctypes.data, 4 * N // 2)
    node.memcpy(y.ctypes.data, there, 4 * N)
    run(definition, stream)
    assert y.tolist() == [*range(N // 2), *[9] * (N // 2)]


@pytest.mark.parametrize(
    ("value", "expected"), [(3, 0x03030303), (np.uint16(0x102), 0x01020102), (np.uint32(77), 77)]
)
def test_fills_of_each_width_and_of_rows(definition, stream, pinned, value, expected):
    x = pinned(np.zeros(N), "u4")
    width = 8 // (1 if isinstance(value, int) else value.itemsize)
    definition.memset(x.ctypes.data, value, width, 4, 16)  # 8 bytes of each 16
    run(definition, stream)
    rows = x.reshape(-1, 4)
    assert (rows[:4, :2] == expected).all()
    assert (rows[:4, 2:] == 0).all()
    assert (rows[4:] == 0).all()


def test_memory_of_the_graph(definition, stream, kernel, pinned):
    x, y = pinned(np.arange(N)), pinned(np.zeros(N))
    memory = definition.allocate(4 * N)
    assert memory.bytesize == 4 * N
    node = memory.memcpy(memory.dptr, x.ctypes.data, 4 * N)
    node = node.launch(ROW, kernel("affine"), memory.dptr, np.int32(4), np.int32(2), np.int32(N))
    node = node.memcpy(y.ctypes.data, memory.dptr, 4 * N)
    free = node.deallocate(memory.dptr)
    assert free.dptr == memory.dptr
    run(definition, stream, times=3)
    assert (y == 4 * np.arange(N) + 2).all()


def test_callbacks_in_python(definition, stream, kernel, pinned):
    x, seen = pinned(np.ones(N)), []
    node = definition.launch(ROW, kernel("affine"), *args(x, 3, 0))
    node = node.callback(lambda: seen.append(int(x.sum())))
    node.launch(ROW, kernel("affine"), *args(x, 3, 0))
    run(definition, stream, times=2)
    assert seen == [3 * N, 27 * N]


def test_events_are_recorded_and_waited_for(definition, device, stream, kernel, pinned):
    x, event, other = pinned(np.ones(N)), device.create_event(), device.create_stream()
    done = device.create_event()
    waiting = definition.wait(event)
    node = waiting.launch(ROW, kernel("affine"), *args(x, 3, 0))
    recording = node.record(done)
    assert (waiting.event, set(node.pred)) == (event, {waiting})
    assert (recording.event, set(recording.pred)) == (done, {node})
    graph = definition.instantiate()
    core.launch(other, ROW, kernel("affine"), *args(x, 1, 4))
    other.record(event)
    graph.launch(stream)
    other.wait(done)
    core.launch(other, ROW, kernel("affine"), *args(x, 2, 0))
    other.sync()
    stream.sync()
    assert (x == 30).all()


def test_joins_and_empty_nodes(definition, stream, kernel, pinned):
    x, y = pinned(np.ones(N)), pinned(np.ones(N))
    start = definition.empty()
    one = start.launch(ROW, kernel("affine"), *args(x, 2, 0))
    other = start.launch(ROW, kernel("affine"), *args(y, 5, 0))
    end = definition.join(one, other)
    end.launch(ROW, kernel("affine"), *args(x, 1, 100))
    run(definition, stream)
    assert (x[0], y[0]) == (102, 5)
    assert end.pred == {one, other}


def test_a_graph_in_a_graph(definition, stream, kernel, pinned):
    x, child = pinned(np.ones(N)), g.GraphDefinition()
    child.launch(ROW, kernel("affine"), *args(x, 1, 6)).launch(ROW, kernel("affine"), *args(x, 2, 0))
    node = definition.launch(ROW, kernel("affine"), *args(x, 3, 0)).embed(child)
    node.launch(ROW, kernel("affine"), *args(x, 1, 1))
    assert len(node.child_graph.nodes()) == 2
    run(definition, stream)
    assert (x == 19).all()


@pytest.mark.parametrize("value", [0, 1])
def test_if_and_else(definition, stream, kernel, pinned, one, value):
    x, y, decision = pinned(np.ones(N)), pinned(np.ones(N)), pinned([value])
    first, second = definition.create_condition(), definition.create_condition(default_value=0)
    node = definition.launch(one, kernel("set_to"), first, decision.ctypes.data)
    node = node.launch(one, kernel("set_to"), second, decision.ctypes.data)
    both = node.if_else(first)
    both.then.launch(ROW, kernel("affine"), *args(x, 5, 0))
    both.else_.launch(ROW, kernel("affine"), *args(x, 7, 0))
    then = both.if_then(second)
    then.then.launch(ROW, kernel("affine"), *args(y, 11, 0))
    run(definition, stream)
    assert (x == (5 if value else 7)).all()
    assert (y == (11 if value else 1)).all()


@pytest.mark.parametrize("value", [0, 1, 2, 3])
def test_switch(definition, stream, kernel, pinned, one, value):
    x, decision = pinned(np.ones(N)), pinned([value])
    condition = definition.create_condition()
    node = definition.launch(one, kernel("set_to"), condition, decision.ctypes.data).switch(condition, 3)
    for body, factor in zip(node.branches, (5, 7, 11)):
        body.launch(ROW, kernel("affine"), *args(x, factor, 0))
    run(definition, stream)
    assert (x == (5, 7, 11, 1)[value]).all()


def test_a_loop_in_a_loop(definition, stream, kernel, pinned, one):
    x, outer_left, inner_left, three = pinned(np.zeros(N)), pinned([4]), pinned([0]), pinned([3])
    outer = definition.create_condition(default_value=1)
    loop = definition.while_loop(outer)
    # A condition has its default once a launch: the inner one is set before each pass.
    inner = loop.body.create_condition()
    node = loop.body.memcpy(inner_left.ctypes.data, three.ctypes.data, 4)
    node = node.launch(one, kernel("set_to"), inner, three.ctypes.data)
    again = node.while_loop(inner)
    step = again.body.launch(ROW, kernel("affine"), *args(x, 1, 1))
    step.launch(one, kernel("count_down"), inner, inner_left.ctypes.data)
    again.launch(one, kernel("count_down"), outer, outer_left.ctypes.data)
    run(definition, stream)
    assert (x == 12).all()
    assert outer_left[0] == 0


def test_parameters_of_nodes_change_for_later_executables(definition, stream, kernel, pinned):
    x, y = pinned(np.ones(N)), pinned(np.ones(N))
    node = definition.launch(ROW, kernel("affine"), *args(x, 2, 0))
    before = definition.instantiate()
    node.update(args=args(y, 3, 4))
    run(definition, stream)
    assert (x[0], y[0]) == (1, 7)
    before.launch(stream)
    stream.sync()
    assert x[0] == 2


def test_executables_take_the_changes_of_their_definition(definition, stream, kernel, pinned):
    x = pinned(np.ones(N))
    node = definition.launch(ROW, kernel("affine"), *args(x, 2, 0))
    filled = node.memset(x.ctypes.data, np.uint32(0), 4)
    graph = definition.instantiate()
    node.update(args=args(x, 5, 1))
    filled.update(dst=x.ctypes.data + 16, value=np.uint32(8), width=2)
    graph.update(definition)
    graph.launch(stream)
    stream.sync()
    assert x.tolist() == [6, 6, 6, 6, 8, 8, *[6] * (N - 6)]


def test_nodes_of_executables_change_and_are_switched_off(definition, stream, kernel, pinned):
    x, y = pinned(np.ones(N)), pinned(np.zeros(N))
    node = definition.launch(ROW, kernel("affine"), *args(x, 2, 0))
    copy = node.memcpy(y.ctypes.data, x.ctypes.data, 4 * N)
    graph = definition.instantiate()
    there = graph[node]
    assert there.is_enabled
    there.update(config=ROW, kernel=kernel("affine"), args=args(x, 7, 0))
    graph.launch(stream)
    stream.sync()
    assert (y == 7).all()
    there.disable()
    assert not there.is_enabled
    x[:] = 4
    graph[copy].update(dst=y.ctypes.data + 4, src=x.ctypes.data, size=8)
    graph.launch(stream)
    stream.sync()
    assert y.tolist() == [7, 4, 4, *[7] * (N - 3)]
    there.enable()
    graph.launch(stream)
    stream.sync()
    assert (x == 28).all()


def test_edges_and_nodes_can_be_taken_away(definition, stream, kernel, pinned):
    x, y = pinned(np.ones(N)), pinned(np.ones(N))
    first = definition.launch(ROW, kernel("affine"), *args(x, 2, 0))
    second = first.launch(ROW, kernel("affine"), *args(y, 3, 0))
    third = second.launch(ROW, kernel("affine"), *args(y, 5, 0))
    first.succ.discard(second)
    assert definition.edges() == {(second, third)}
    third.pred.add(first)
    assert definition.edges() == {(second, third), (first, third)}
    third.destroy()
    assert not third.is_valid
    assert definition.nodes() == {first, second}
    run(definition, stream)
    assert (x[0], y[0]) == (2, 3)


def test_a_definition_with_a_circle_is_refused(definition, kernel, pinned):
    x = pinned(np.ones(N))
    first = definition.launch(ROW, kernel("affine"), *args(x, 2, 0))
    second = first.launch(ROW, kernel("affine"), *args(x, 2, 0))
    first.pred.add(second)
    with pytest.raises(Exception, match="cycles"):
        definition.instantiate()


def test_a_picture_of_a_graph_with_every_kind_of_node(definition, device, kernel, pinned, one, tmp_path):
    x, event = pinned(np.ones(N)), device.create_event()
    child = g.GraphDefinition()
    child.empty()
    condition = definition.create_condition(default_value=0)
    memory = definition.allocate(64)
    node = memory.memset(memory.dptr, 0, 64).memcpy(memory.dptr, x.ctypes.data, 64)
    node = node.launch(one, kernel("nothing")).callback(print).record(event).wait(event).embed(child)
    node = (
        node.if_then(condition)
        .while_loop(definition.create_condition(default_value=0))
        .deallocate(memory.dptr)
    )
    kinds = {type(n).__name__ for n in definition.nodes()}
    assert kinds >= {
        "AllocNode",
        "MemsetNode",
        "MemcpyNode",
        "KernelNode",
        "HostCallbackNode",
        "EventRecordNode",
    }
    assert kinds >= {"EventWaitNode", "ChildGraphNode", "FreeNode"}
    definition.debug_dot_print(str(tmp_path / "all.dot"), g.GraphDebugPrintOptions(verbose=True))
    assert "digraph" in (tmp_path / "all.dot").read_text()
    definition.instantiate()
