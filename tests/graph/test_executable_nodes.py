# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `graph[node]` changes one node of one executable, for later launches and for nothing else."""

import ctypes

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


@pytest.fixture
def g(device):
    return cg.GraphDef()


@pytest.fixture
def launch(stream):
    def launch(graph, times=1):
        for _ in range(times):
            graph.launch(stream)
        stream.sync()

    return launch


@pytest.fixture
def adding(g, kernels, pinned):
    """A node that adds 1 to the first of two numbers, and the numbers."""
    x = pinned(2)
    return g.launch(ONE, kernels.add, x.ctypes.data, 2, 1), x


VIEWS = {
    "kernel": (cg.ExecutableKernelNode, lambda g, n: g.launch(ONE, n.kernels.nothing)),
    "memset": (cg.ExecutableMemsetNode, lambda g, n: g.memset(n.target.ctypes.data, 1, 4)),
    "memcpy": (
        cg.ExecutableMemcpyNode,
        lambda g, n: g.memcpy(n.target.ctypes.data, n.source.ctypes.data, 4),
    ),
    "child": (cg.ExecutableChildGraphNode, lambda g, n: g.embed(n.child)),
    "callback": (cg.ExecutableHostCallbackNode, lambda g, n: g.callback(print)),
    "record": (cg.ExecutableEventRecordNode, lambda g, n: g.record_event(n.event)),
    "wait": (cg.ExecutableEventWaitNode, lambda g, n: g.wait_event(n.event)),
}
UPDATES = {
    "kernel": lambda view, n: view.update(config=ONE, kernel=n.kernels.nothing, args=()),
    "memset": lambda view, n: view.update(dst=n.target.ctypes.data, value=2, width=8),
    "memcpy": lambda view, n: view.update(dst=n.target.ctypes.data, src=n.source.ctypes.data, size=8),
    "child": lambda view, n: view.update(n.child),
    "callback": lambda view, n: view.update(repr),
    "record": lambda view, n: view.update(n.event),
    "wait": lambda view, n: view.update(n.event),
}


# ---- what is a view


@pytest.mark.parametrize("kind", VIEWS)
def test_each_kind_has_a_view_of_its_own(kind, needs):
    cls, make = VIEWS[kind]
    node = make(needs.definition, needs)
    graph = needs.definition.instantiate()
    view = graph[node]
    assert type(view) is cls
    assert isinstance(view, cg.ExecutableGraphNode)
    assert repr(view) == f"<{cls.__name__} graph={graph.handle:#x} node={node.handle:#x}>"


def test_nodes_of_other_kinds_have_none(needs):
    g = needs.definition
    memory = g.alloc(64)
    nodes = [memory, memory.free(memory.dptr), g.join(), g.if_then(needs.condition()), g._entry]
    graph = g.instantiate()
    for node in nodes:
        with pytest.raises(
            TypeError, match=f"a {type(node).__name__} cannot be changed in an executable Graph"
        ):
            graph[node]


@pytest.mark.parametrize("what", [None, 3, "node", cg.GraphDef])
def test_index_that_is_no_node_has_no_view(what, g):
    graph = g.instantiate()
    with pytest.raises(TypeError, match="expected GraphNode, got"):
        graph[what]


def test_a_destroyed_node_has_none(adding, g):
    node, _ = adding
    graph = g.instantiate()
    view = graph[node]
    node.destroy()
    with pytest.raises(ValueError, match="the node has been destroyed in the definition"):
        graph[node]
    for use in (view.enable, view.disable, lambda: view.is_enabled):
        with pytest.raises(ValueError, match="the node has been destroyed in the definition"):
            use()
    assert repr(view).endswith("node=0x0>")


def test_a_closed_graph_has_none(adding, g):
    graph = g.instantiate()
    graph.close()
    with pytest.raises(ValueError, match="this Graph has been closed"):
        graph[adding[0]]


@pytest.mark.parametrize("kind", VIEWS)
def test_views_are_not_constructed(kind):
    with pytest.raises(RuntimeError, match="nodes of an executable have no public constructor"):
        VIEWS[kind][0]()


@pytest.mark.parametrize("kind", VIEWS)
def test_a_node_of_an_unrelated_graph_is_refused_when_the_view_is_used(kind, needs):
    _, make = VIEWS[kind]
    node = make(needs.definition, needs)
    other = cg.GraphDef()
    make(other, needs)
    view = other.instantiate()[node]
    with pytest.raises(cg.CUDAError) as caught:
        UPDATES[kind](view, needs)
    assert caught.value.name == "CUDA_ERROR_INVALID_VALUE"
    assert type(node).__name__ in caught.value.attempt


# ---- update


def test_new_parameters_count_for_this_executable_alone(adding, g, kernels, launch):
    node, x = adding
    one, other = g.instantiate(), g.instantiate()
    one[node].update(config=cg.LaunchConfig(grid=1, block=2), kernel=kernels.add, args=(x.ctypes.data, 2, 10))
    launch(one)
    assert list(x) == [10, 10]
    launch(other)
    assert list(x) == [11, 10]
    assert node.config == ONE
    launch(g.instantiate())
    assert list(x) == [12, 10]


def test_another_kernel_takes_the_place_of_the_first(adding, g, kernels, pinned, launch):
    node, x = adding
    y = pinned([5], "u4")
    graph = g.instantiate()
    graph[node].update(config=ONE, kernel=kernels.affine, args=(y.ctypes.data, 3, 1))
    launch(graph)
    assert (x[0], y[0]) == (0, 16)


def test_a_launch_in_flight_keeps_its_parameters(g, kernels, pinned, stream):
    flag, x = pinned([0]), pinned([0])
    wait = g.launch(ONE, kernels.wait_for, flag.ctypes.data)
    node = wait.launch(ONE, kernels.add, x.ctypes.data, 1, 1)
    graph = g.instantiate()
    graph.upload(stream)
    stream.sync()
    graph.launch(stream)
    graph[node].update(config=ONE, kernel=kernels.add, args=(x.ctypes.data, 1, 10))
    flag[0] = 1
    stream.sync()
    assert x[0] == 1
    graph.launch(stream)
    stream.sync()
    assert x[0] == 11


def test_a_kernel_view_refuses_wrong_parameters(adding, g, kernels):
    view = g.instantiate()[adding[0]]
    with pytest.raises(TypeError, match="config must be a LaunchConfig"):
        view.update(config=1, kernel=kernels.nothing, args=())
    with pytest.raises(TypeError, match="kernel must be a Kernel"):
        view.update(config=ONE, kernel=1, args=())
    with pytest.raises(TypeError, match="args must be a tuple"):
        view.update(config=ONE, kernel=kernels.nothing, args=1)
    with pytest.raises(ValueError, match="a new kernel needs args"):
        view.update(config=ONE, kernel=kernels.nothing)


def test_a_clustered_node_takes_another_grid_but_no_other_shape(g, kernels, pinned, launch):
    out = pinned([0])
    clustered = cg.LaunchConfig(grid=2, cluster=2, block=32, shmem_size=4)
    node = g.launch(clustered, kernels.shape, out.ctypes.data)
    graph = g.instantiate()
    wide = cg.LaunchConfig(grid=3, cluster=2, block=32, shmem_size=4)
    graph[node].update(config=wide, kernel=kernels.shape, args=(out.ctypes.data,))
    launch(graph)
    assert out[0] == 32 * 6
    for other in (
        cg.LaunchConfig(grid=4, block=32),
        cg.LaunchConfig(grid=1, cluster=4, block=32),
        cg.LaunchConfig(grid=2, cluster=2, block=32, is_cooperative=True),
    ):
        with pytest.raises(NotImplementedError, match="cluster and cooperative settings"):
            graph[node].update(config=other, kernel=kernels.nothing, args=())
    launch(graph)
    assert out[0] == 2 * 32 * 6


def test_a_memset_is_set(g, pinned, launch):
    x, y = pinned(4), pinned(4)
    node = g.memset(x.ctypes.data, 1, 4)
    graph = g.instantiate()
    graph[node].update(dst=y.ctypes.data, value=np.int32(7), width=3)
    launch(graph)
    assert list(x) == [0] * 4
    assert list(y) == [7, 7, 7, 0]
    assert (node.dptr, node.value, node.width) == (x.ctypes.data, 1, 4)


def test_a_memset_keeps_its_number_of_rows(g, pinned, launch):
    x = pinned(8)
    node = g.memset(x.ctypes.data, np.int32(1), 2, 2, 16)
    graph = g.instantiate()
    view = graph[node]
    view.update(dst=x.ctypes.data + 8, value=np.int32(3), width=2, height=2, pitch=16)
    launch(graph)
    assert list(x) == [0, 0, 3, 3, 0, 0, 3, 3]
    with pytest.raises(cg.CUDAError) as caught:
        view.update(dst=x.ctypes.data, value=np.int32(9), width=2)
    assert caught.value.name == "CUDA_ERROR_INVALID_VALUE"
    x[:] = 0
    launch(graph)
    assert list(x) == [0, 0, 3, 3, 0, 0, 3, 3]


def test_a_memcpy_is_set(g, pinned, launch):
    x, y, z = pinned(4), pinned([1, 2, 3, 4]), pinned([5, 6, 7, 8])
    node = g.memcpy(x.ctypes.data, y.ctypes.data, 16)
    graph = g.instantiate()
    graph[node].update(dst=x.ctypes.data, src=z.ctypes.data, size=8)
    launch(graph)
    assert list(x) == [5, 6, 0, 0]
    assert (node.src, node.size) == (y.ctypes.data, 16)


@pytest.mark.parametrize("side", ["src", "dst"])
@pytest.mark.parametrize("made_with", ["parameter", "array", "memory", "host"])
def test_a_memcpy_changes_between_parameters_arrays_and_other_memory(
    side, made_with, g, device, pinned, launch
):
    """The driver keeps the type of memory that an operand was declared with. That of a parameter is unified memory."""
    managed = cg.ManagedMemoryResource(device)
    fixed, given, memory, found = (managed.allocate(16).view(cg.u32, (4,)) for _ in range(4))
    host = pinned(4, "u4")
    array = g.alloc(shape=4, dtype=cg.u32)
    operands = {
        "parameter": g.param("q", cg.Array1[cg.u32], default=given), "array": array, "memory": memory, "host": host,
    }  # fmt: skip
    numbers = {"parameter": 3, "array": 4, "memory": 2, "host": 5}
    # In an executable the driver changes no memory of a pool, such as that of arrays, into other memory.
    others = ["array"] if made_with == "array" else ["parameter", "memory", "host"]

    def copy(name):
        return (
            {"src": operands[name], "dst": fixed} if side == "src" else {"src": fixed, "dst": operands[name]}
        )

    node = array.memset(array, np.uint32(numbers["array"])).memcpy(**copy(made_with))
    node.memcpy(found, array).free(array)
    graph = g.instantiate()
    for name in [*others, *reversed(others)]:
        fixed.fill(1)
        given.fill(numbers["parameter"])
        memory.fill(numbers["memory"])
        host[:] = numbers["host"]
        graph[node].update(**copy(name))
        graph.set(q=given)
        launch(graph)
        if side == "src":
            assert fixed.to_numpy().tolist() == [numbers[name]] * 4
        else:
            written = {"parameter": given, "array": found, "memory": memory, "host": host}[name]
            assert list(written) == [1] * 4


def test_a_memcpy_keeps_its_sides(g, device, stream, pinned, launch):
    x, y = pinned([0, 0]), pinned([1, 2])
    on_device = cg.DeviceMemoryResource(device).allocate(8, stream=stream)
    node = g.memcpy(x.ctypes.data, y.ctypes.data, 8)
    graph = g.instantiate()
    with pytest.raises(cg.CUDAError) as caught:
        graph[node].update(dst=on_device, src=y.ctypes.data, size=8)
    assert caught.value.name == "CUDA_ERROR_INVALID_VALUE"
    launch(graph)
    assert list(x) == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"dst": 0, "value": 256, "width": 1}, OverflowError),
        ({"dst": 0, "value": 1, "width": -1}, OverflowError),
        ({"dst": "x", "value": 1, "width": 1}, TypeError),
        ({"value": 1, "width": 1}, TypeError),
    ],
)
def test_a_memset_view_checks_its_arguments(arguments, error, g, pinned):
    x = pinned(4)
    node = g.memset(x.ctypes.data, 1, 4)
    with pytest.raises(error):
        g.instantiate()[node].update(**arguments)


def test_a_child_takes_over_the_parameters_of_another_definition(g, kernels, pinned, launch):
    x = pinned([0])

    def child(amount, nodes=1):
        definition = cg.GraphDef()
        for _ in range(nodes):
            definition.launch(ONE, kernels.add, x.ctypes.data, 1, amount)
        return definition

    node = g.embed(child(1))
    graph = g.instantiate()
    graph[node].update(child(10))
    launch(graph)
    assert x[0] == 10
    with pytest.raises(cg.GraphUpdateError):
        graph[node].update(child(100, nodes=2))
    launch(graph)
    assert x[0] == 20
    launch(g.instantiate())
    assert x[0] == 21


def test_a_callback_is_set(g, launch):
    calls = []
    node = g.callback(lambda: calls.append("old"))
    graph, other = g.instantiate(), g.instantiate()
    graph[node].update(lambda: calls.append("new"))
    launch(graph, 2)
    launch(other)
    assert calls == ["new", "new", "old"]


def test_a_c_function_with_data_is_set(g, launch):
    seen = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def function(data):
        seen.append(ctypes.string_at(data, 3))

    node = g.callback(print)
    graph = g.instantiate()
    graph[node].update(function, user_data=b"abc")
    launch(graph)
    assert seen == [b"abc"]
    with pytest.raises(TypeError, match="a callback takes a callable"):
        graph[node].update(3)


def test_events_are_set(g, device, launch):
    first, second = (device.create_event({"timing_enabled": True}) for _ in range(2))
    record = g.record_event(first)
    wait = record.wait_event(first)
    graph = g.instantiate()
    graph[record].update(second)
    graph[wait].update(event=second)
    launch(graph)
    assert second - second == 0
    with pytest.raises(RuntimeError, match="was never recorded"):
        _ = first - first
    assert record.event == first == wait.event
    with pytest.raises(TypeError, match="event must be an Event"):
        graph[record].update(3)


# ---- enable and disable


@pytest.mark.parametrize("kind", ["kernel", "memset", "memcpy"])
def test_kernel_memset_and_memcpy_nodes_are_switched(kind, needs):
    node = VIEWS[kind][1](needs.definition, needs)
    graph, other = needs.definition.instantiate(), needs.definition.instantiate()
    view = graph[node]
    assert view.is_enabled
    for switch, enabled in (
        (view.disable, False),
        (view.disable, False),
        (view.enable, True),
        (view.enable, True),
    ):
        switch()
        assert view.is_enabled is enabled
        assert graph[node].is_enabled is enabled
        assert other[node].is_enabled


@pytest.mark.parametrize("kind", ["child", "callback", "record", "wait"])
def test_others_are_not(kind, needs):
    node = VIEWS[kind][1](needs.definition, needs)
    view = needs.definition.instantiate()[node]
    for name in ("enable", "disable", "is_enabled"):
        assert not hasattr(view, name)


def test_a_disabled_node_does_nothing_in_its_place_in_the_order(g, kernels, pinned, launch):
    x = pinned([1], "u4")
    first = g.launch(ONE, kernels.affine, x.ctypes.data, 2, 1)
    second = first.launch(ONE, kernels.affine, x.ctypes.data, 3, 5)
    second.launch(ONE, kernels.affine, x.ctypes.data, 7, 2)
    graph = g.instantiate()
    graph[second].disable()
    launch(graph)
    assert x[0] == (1 * 2 + 1) * 7 + 2
    graph[second].enable()
    x[0] = 1
    launch(graph)
    assert x[0] == ((1 * 2 + 1) * 3 + 5) * 7 + 2


def test_update_of_a_disabled_node_counts_when_it_is_enabled(adding, g, kernels, launch):
    node, x = adding
    graph = g.instantiate()
    view = graph[node]
    view.disable()
    view.update(config=ONE, kernel=kernels.add, args=(x.ctypes.data, 2, 10))
    assert not view.is_enabled
    launch(graph)
    assert x[0] == 0
    view.enable()
    launch(graph)
    assert x[0] == 10


# ---- inside


def test_nodes_in_bodies_at_any_depth_are_changed(g, kernels, pinned, launch):
    x = pinned([0])
    outer = g.if_then(g.create_condition(1))
    inner = outer.then.if_then(g.create_condition(1))
    node = inner.then.launch(ONE, kernels.add, x.ctypes.data, 1, 1)
    fill = node.memset(x.ctypes.data, 0, 4)
    graph = g.instantiate()
    graph[node].update(config=ONE, kernel=kernels.add, args=(x.ctypes.data, 1, 10))
    graph[fill].disable()
    launch(graph)
    assert x[0] == 10
    graph[node].disable()
    launch(graph)
    assert x[0] == 10


def test_nodes_in_embedded_graphs_are_changed(g, kernels, pinned, launch):
    x, middle, leaf = pinned([0]), cg.GraphDef(), cg.GraphDef()
    leaf.launch(ONE, kernels.add, x.ctypes.data, 1, 1)
    middle.embed(leaf)
    (between,) = g.embed(middle).child_graph.nodes()
    (node,) = between.child_graph.nodes()
    graph = g.instantiate()
    graph[node].update(config=ONE, kernel=kernels.add, args=(x.ctypes.data, 1, 10))
    launch(graph)
    assert x[0] == 10
    graph[node].disable()
    launch(graph)
    assert x[0] == 10
    (original,) = leaf.nodes()
    with pytest.raises(cg.CUDAError):
        graph[original].disable()


def test_graphs_with_memory_of_their_own_are_changed(g, kernels, pinned, launch):
    out = pinned([0])
    memory = g.alloc(4)
    fill = memory.memset(memory.dptr, np.int32(1), 1)
    node = fill.launch(ONE, kernels.add, memory.dptr, 1, 10)
    node.memcpy(out.ctypes.data, memory.dptr, 4)
    graph = g.instantiate(auto_free_on_launch=True)
    graph[fill].update(dst=memory.dptr, value=np.int32(2), width=1)
    graph[node].update(config=ONE, kernel=kernels.add, args=(memory.dptr, 1, 20))
    launch(graph, 2)
    assert out[0] == 22


# ---- failures


@pytest.mark.parametrize("kind", VIEWS)
def test_update_that_the_driver_refuses_changes_nothing(kind, needs, driver_table, launch):
    node = VIEWS[kind][1](needs.definition, needs)
    graph = needs.definition.instantiate()
    view = graph[node]
    driver_table.refuse("cuGraphExecNodeSetParams", 46)
    with pytest.raises(cg.CUDAError) as caught:
        UPDATES[kind](view, needs)
    assert caught.value.code == 46
    assert type(node).__name__ in caught.value.attempt
    driver_table.restore()
    launch(graph)


SWITCHES = {
    "cuGraphNodeSetEnabled": lambda view: view.disable(),
    "cuGraphNodeGetEnabled": lambda view: view.is_enabled,
}


@pytest.mark.parametrize("function", SWITCHES)
def test_switches_say_what_was_refused(function, adding, g, driver_table):
    view = g.instantiate()[adding[0]]
    driver_table.refuse(function, 46)
    with pytest.raises(cg.CUDAError) as caught:
        SWITCHES[function](view)
    assert "KernelNode" in caught.value.attempt
