# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `node.update` changes a definition for executables made later; what fails changes nothing."""

import ctypes

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.driver_table import NAMES
from tests.graph.graph_specs import properties
from tests.graph_rig import ONE

WIDE = cg.LaunchConfig(grid=2, block=4, shmem_size=64)


@pytest.fixture
def g(device):
    return cg.GraphDef()


@pytest.fixture
def adding(g, kernels, pinned):
    """A node that adds 1 to the first of eight numbers, and the numbers."""
    x = pinned(8)
    return g.launch(ONE, kernels.add, x.ctypes.data, 8, 1), x


# ---- kernel nodes


def test_new_arguments_are_used_from_the_next_instantiation_on(adding, g, kernels, run):
    node, x = adding
    before = g.instantiate()
    node.update(args=(x.ctypes.data, 8, 10))
    run(g)
    assert x[0] == 10
    assert node.config == ONE
    assert node.kernel == kernels.add
    before.close()


def test_an_executable_made_before_keeps_its_parameters(adding, g, stream):
    node, x = adding
    graph = g.instantiate()
    node.update(args=(x.ctypes.data, 8, 10))
    graph.launch(stream)
    stream.sync()
    assert x[0] == 1


def test_a_new_config_leaves_kernel_and_arguments(adding, g, kernels, run):
    node, x = adding
    node.update(config=WIDE)
    assert (node.grid, node.block, node.shmem_size) == ((2, 1, 1), (4, 1, 1), 64)
    assert node.kernel == kernels.add
    run(g)
    assert list(x) == [1] * 8


def test_a_new_kernel_takes_new_arguments(adding, g, kernels, pinned, run):
    node, x = adding
    y = pinned([5], "u4")
    node.update(kernel=kernels.affine, args=(y.ctypes.data, 3, 1))
    assert node.kernel == kernels.affine
    assert node.config == ONE
    run(g)
    assert y[0] == 16
    assert x[0] == 0


def test_everything_at_once(adding, g, kernels, run):
    node, x = adding
    node.update(config={"grid": 1, "block": 8}, kernel=kernels.add, args=[x.ctypes.data, 4, 3])
    run(g)
    assert list(x) == [3, 3, 3, 3, 0, 0, 0, 0]


def test_a_kernel_without_parameters_takes_an_empty_tuple(adding, g, kernels, run):
    node, x = adding
    node.update(kernel=kernels.nothing, args=())
    run(g)
    assert x[0] == 0


def test_a_new_kernel_without_arguments_is_refused(adding, kernels):
    node, _ = adding
    with pytest.raises(ValueError, match="a new kernel needs args"):
        node.update(kernel=kernels.nothing)
    assert node.kernel == kernels.add


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"config": 3}, TypeError, "config must be a LaunchConfig"),
        ({"kernel": "add", "args": ()}, TypeError, "kernel must be a Kernel, got str"),
        ({"args": 3}, TypeError, "args must be a tuple"),
        ({"args": (1,)}, TypeError, "takes 3 arguments, got 1"),
        ({"args": (0, "n", 1)}, TypeError, "parameter 1 of kernel 'add'"),
    ],
)
def test_arguments_of_the_wrong_type_are_refused_and_change_nothing(arguments, error, text, adding, g, run):
    node, x = adding
    with pytest.raises(error, match=text):
        node.update(**arguments)
    run(g)
    assert x[0] == 1
    assert node.config == ONE


def test_update_takes_keywords_only(adding):
    with pytest.raises(TypeError, match="positional"):
        adding[0].update(ONE)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (cg.LaunchConfig, {"grid": 4, "cluster": 2, "block": 32}),
        (cg.LaunchConfig, {"grid": 3, "cluster": 3, "block": 32}),
        (cg.LaunchConfig, {"grid": 4, "block": 32, "is_cooperative": True}),
    ],
    ids=["cluster", "another_grid", "cooperative"],
)
def test_cluster_and_cooperative_settings_go_with_the_config(first, second, g, kernels, pinned, run):
    out = pinned([0])
    plain, shaped = first(grid=5, block=32, shmem_size=4), first(**second, shmem_size=4)
    node = g.launch(plain, kernels.shape, out.ctypes.data)
    for config in (shaped, plain, shaped):
        node.update(config=config)
        assert node.config == config
        out[0] = 0
        run(g)
        blocks = config.grid[0] * (config.cluster or (1,))[0]
        assert out[0] == 32 * blocks


def test_from_one_cluster_to_one_that_does_not_fit_the_old_grid(g, kernels):
    node = g.launch(cg.LaunchConfig(grid=2, cluster=2, block=32), kernels.nothing)
    config = cg.LaunchConfig(grid=1, cluster=3, block=32)
    node.update(config=config)
    assert node.config == config


def test_a_shape_that_the_driver_refuses_changes_nothing(g, kernels):
    config = cg.LaunchConfig(grid=2, cluster=2, block=32)
    node = g.launch(config, kernels.nothing)
    with pytest.raises(cg.CUDAError) as caught:
        node.update(config=cg.LaunchConfig(grid=2, cluster=4096, block=32))
    assert caught.value.name == "CUDA_ERROR_INVALID_CLUSTER_SIZE"
    assert node.config == config


# ---- child graphs


@pytest.fixture
def children(kernels, pinned):
    """Two definitions: one adds 1, the other adds 10 and then 100. And the number."""
    x = pinned([0])
    one, two = cg.GraphDef(), cg.GraphDef()
    one.launch(ONE, kernels.add, x.ctypes.data, 1, 1)
    two.launch(ONE, kernels.add, x.ctypes.data, 1, 10).launch(ONE, kernels.add, x.ctypes.data, 1, 100)
    return one, two, x


def test_a_child_graph_is_replaced_by_a_copy_of_another(children, g, kernels, run):
    one, two, x = children
    node = g.embed(one)
    old = node.child_graph
    (old_node,) = old.nodes()
    node.update(two)
    assert node.child_graph.is_valid
    assert len(node.child_graph.nodes()) == 2
    assert not old.is_valid
    assert not old_node.is_valid
    two.launch(ONE, kernels.add, x.ctypes.data, 1, 1000)
    run(g)
    assert x[0] == 110


def test_a_child_can_be_replaced_before_anyone_asked_for_it(children, g, run):
    one, two, x = children
    node = g.embed(one)
    node.update(child=two)
    run(g)
    assert x[0] == 110
    assert len(node.child_graph.nodes()) == 2


def test_a_child_of_the_same_hierarchy_is_refused(children, g):
    one, _, _ = children
    node, other = g.embed(one), g.embed(one)
    for child in (g, node.child_graph, other.child_graph):
        with pytest.raises(cg.CUDAError) as caught:
            node.update(child)
        assert caught.value.name == "CUDA_ERROR_INVALID_VALUE"
    assert node.child_graph.is_valid
    assert len(node.child_graph.nodes()) == 1


def test_a_child_that_cannot_be_embedded_is_refused(children, g):
    one, _, _ = children
    node = g.embed(one)
    memory = cg.GraphDef()
    memory.alloc(64)
    with pytest.raises(cg.CUDAError):
        node.update(memory)
    assert len(node.child_graph.nodes()) == 1


# ---- events and callbacks


def test_an_event_is_replaced(g, device, run):
    first, second = (device.create_event({"timing_enabled": True}) for _ in range(2))
    record = g.record_event(first)
    wait = record.wait_event(first)
    record.update(second)
    wait.update(event=second)
    assert record.event == second == wait.event
    run(g)
    assert second - second == 0  # of an event that was never recorded there is no time
    with pytest.raises(RuntimeError, match="was never recorded"):
        _ = first - first


@pytest.mark.parametrize("make", ["record_event", "wait_event"])
def test_closed_event_or_other_type_is_refused(make, g, device):
    event = device.create_event()
    node = getattr(g, make)(event)
    closed = device.create_event()
    closed.close()
    with pytest.raises(TypeError, match="event must be an Event, got int"):
        node.update(3)
    with pytest.raises(RuntimeError):
        node.update(closed)
    assert node.event == event


def test_a_callback_is_replaced(g, run):
    calls = []
    node = g.callback(lambda: calls.append("old"))

    def new():
        calls.append("new")

    node.update(new)
    assert node.callback_fn is new
    run(g)
    assert calls == ["new"]


def test_a_python_callback_becomes_a_c_function_with_data(g, run):
    seen = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def function(data):
        seen.append(ctypes.string_at(data, 3))

    node = g.callback(print)
    node.update(function, user_data=b"abc")
    assert node.callback_fn is None
    run(g)
    assert seen == [b"abc"]


def test_callback_of_a_wrong_type_is_refused(g):
    node = g.callback(print)
    with pytest.raises(TypeError, match="a callback takes a callable"):
        node.update(3)
    with pytest.raises(ValueError, match="user_data is for ctypes function pointers only"):
        node.update(print, user_data=b"1")
    assert node.callback_fn is print


# ---- memory


def test_a_memset_takes_what_is_given_and_keeps_the_rest(g, pinned, run):
    x, y = pinned(4, "u1"), pinned(4, "u1")
    node = g.memset(x.ctypes.data, 7, 2)
    node.update(value=9)
    node.update(width=3)
    run(g)
    assert list(x) == [9, 9, 9, 0]
    node.update(dst=y.ctypes.data)
    run(g)
    assert list(y) == [9, 9, 9, 0]
    assert (node.dptr, node.value, node.element_size, node.width) == (y.ctypes.data, 9, 1, 3)


def test_a_memset_takes_another_element_and_more_rows(g, pinned, run):
    x = pinned(8, "u2")
    node = g.memset(x.ctypes.data, 7, 2)
    node.update(value=np.uint16(500), width=2, height=2, pitch=8)
    run(g)
    assert list(x) == [500, 500, 0, 0, 500, 500, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"value": 256}, OverflowError),
        ({"width": -1}, OverflowError),
        ({"height": 1.5}, TypeError),
        ({"dst": "x"}, TypeError),
        ({"width": 1 << 40}, ValueError),
        ({"height": 2, "pitch": 1}, ValueError),
        ({"dst_owner": object()}, ValueError),
    ],
)
def test_a_memset_refuses_what_does_not_fit_and_changes_nothing(arguments, error, g, pinned):
    x = pinned(4, "u1")
    node = g.memset(x.ctypes.data, 7, 2)
    before = properties(node)
    with pytest.raises(error):
        node.update(**arguments)
    assert properties(node) == before


def test_a_memcpy_takes_what_is_given_and_keeps_the_rest(g, pinned, run):
    x, y, z = pinned(4), pinned([1, 2, 3, 4]), pinned([5, 6, 7, 8])
    node = g.memcpy(x.ctypes.data, y.ctypes.data, 8)
    node.update(src=z.ctypes.data)
    node.update(size=12)
    run(g)
    assert list(x) == [5, 6, 7, 0]
    node.update(dst=y.ctypes.data)
    run(g)
    assert list(y) == [5, 6, 7, 4]
    assert (node.dst, node.src, node.size) == (y.ctypes.data, z.ctypes.data, 12)


def test_a_memcpy_may_change_sides(g, device, stream, pinned, run):
    x, y = pinned([1, 2]), pinned([0, 0])
    on_device = cg.DeviceMemoryResource(device).allocate(8, stream=stream)
    node = g.memcpy(on_device, x.ctypes.data, 8)
    run(g)
    node.update(dst=y.ctypes.data, src=on_device)
    run(g)
    assert list(y) == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"size": -1}, OverflowError),
        ({"size": 1.5}, TypeError),
        ({"src": "x"}, TypeError),
        ({"size": 1 << 40}, cg.CUDAError),
        ({"src_owner": object()}, ValueError),
        ({"dst_owner": object()}, ValueError),
    ],
)
def test_a_memcpy_refuses_what_does_not_fit_and_changes_nothing(arguments, error, g, pinned):
    x = pinned(4)
    node = g.memcpy(x.ctypes.data, x.ctypes.data + 8, 4)
    before = properties(node)
    with pytest.raises(error):
        node.update(**arguments)
    assert properties(node) == before


# ---- every kind

UPDATES = {
    "kernel": (lambda g, n: g.launch(ONE, n.kernels.nothing), lambda node, n: node.update(config=WIDE)),
    "memset": (lambda g, n: g.memset(n.target.ctypes.data, 1, 4), lambda node, n: node.update(value=2)),
    "memcpy": (
        lambda g, n: g.memcpy(n.target.ctypes.data, n.source.ctypes.data, 4),
        lambda node, n: node.update(size=8),
    ),
    "child": (lambda g, n: g.embed(n.child), lambda node, n: node.update(n.child)),
    "callback": (lambda g, n: g.callback(print), lambda node, n: node.update(repr)),
    "record": (lambda g, n: g.record_event(n.event), lambda node, n: node.update(cg.Device().create_event())),
    "wait": (lambda g, n: g.wait_event(n.event), lambda node, n: node.update(cg.Device().create_event())),
}


@pytest.mark.parametrize("kind", UPDATES)
def test_a_destroyed_node_cannot_be_updated(kind, needs):
    make, update = UPDATES[kind]
    node = make(needs.definition, needs)
    node.destroy()
    with pytest.raises(RuntimeError, match="this node has been destroyed"):
        update(node, needs)


@pytest.mark.parametrize("kind", ["kernel", "memset", "memcpy"])
def test_an_update_without_arguments_asks_nothing_of_the_driver(kind, needs, driver_table):
    node = UPDATES[kind][0](needs.definition, needs)
    setters = [name for name in NAMES if name.endswith("NodeSetParams")]
    calls = driver_table.watch(*setters)
    node.update()
    assert calls == []


@pytest.mark.parametrize("kind", ["kernel", "memset", "memcpy"])
def test_update_of_a_destroyed_node_is_refused_even_without_arguments(kind, needs):
    node = UPDATES[kind][0](needs.definition, needs)
    node.destroy()
    with pytest.raises(RuntimeError, match="this node has been destroyed"):
        node.update()


OWNING = ("callback", "record", "wait")  # what these are changed to, nothing keeps yet


@pytest.mark.parametrize(
    ("kind", "function"),
    [(kind, "cuGraphNodeSetParams") for kind in UPDATES] + [(kind, "cuUserObjectCreate") for kind in OWNING],
)
def test_whichever_driver_call_fails_the_node_is_as_it_was(kind, function, needs, driver_table):
    make, update = UPDATES[kind]
    node = make(needs.definition, needs)
    needs.definition.instantiate().close()  # what is attached later goes to a page of its own
    values, live = properties(node), live_but_pages()
    driver_table.refuse(function, 46)
    with pytest.raises(cg.CUDAError) as caught:
        update(node, needs)
    assert caught.value.code == 46
    del caught
    driver_table.restore()
    boxes.drain()
    assert properties(node) == values
    assert live_but_pages() == live


def live_but_pages():
    # A page whose owners were taken back waits for the next ones.
    return {kind: count for kind, count in boxes.live().items() if kind != "user_object"}


def test_a_shape_that_fails_half_way_is_taken_back(g, kernels, driver_table, pinned, run):
    out = pinned([0])
    config = cg.LaunchConfig(grid=2, cluster=2, block=32, shmem_size=4)
    node = g.launch(config, kernels.shape, out.ctypes.data)
    driver_table.refuse("cuGraphNodeSetParams", 46)
    with pytest.raises(cg.CUDAError):
        node.update(config=cg.LaunchConfig(grid=3, block=32, shmem_size=4), args=(out.ctypes.data + 1,))
    driver_table.restore()
    assert node.config == config
    run(g)
    assert out[0] == 32 * 4


def test_nodes_in_bodies_and_embedded_graphs_are_updated_alike(g, kernels, pinned, run):
    x, child = pinned([0]), cg.GraphDef()
    child.launch(ONE, kernels.add, x.ctypes.data, 1, 1)
    embedded = g.embed(child)
    branch = embedded.if_then(g.create_condition(1))
    inside = branch.then.launch(ONE, kernels.add, x.ctypes.data, 1, 10)
    (copied,) = embedded.child_graph.nodes()
    inside.update(args=(x.ctypes.data, 1, 20))
    copied.update(args=(x.ctypes.data, 1, 2))
    run(g)
    assert x[0] == 22


def test_memory_nodes_and_the_rest_have_no_update(g):
    memory = g.alloc(64)
    for node in (memory, memory.free(memory.dptr), g.join()):
        assert not hasattr(node, "update")
