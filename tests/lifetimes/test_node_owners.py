# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a graph keeps what its nodes need, node by node; clones, executables and launches in flight keep it too; and
when the last of them goes, so does it.

Libraries are unloaded for real when their last handle goes, so running a kernel proves that something kept it, and a
count of live libraries proves that nothing keeps it longer.
"""

import ctypes
import gc
import sys
import threading
import weakref

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph_rig import ONE

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Callback:
    """A callable that can be watched."""

    calls = 0

    def __call__(self):
        Callback.calls += 1


def add(g, kernels, x, b=1):
    return g.launch(ONE, kernels.affine, x.ctypes.data, 3, b)


def test_a_kernel_may_be_dropped_before_instantiation(fresh_kernels, pinned, run, libraries):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    add(g, fresh_kernels(), x)
    libraries(1)
    graph = run(g)
    assert x[0] == 4
    del g
    libraries(1)
    graph.close()
    libraries(0)


def test_an_executable_keeps_the_kernel_when_the_definition_is_gone(fresh_kernels, pinned, stream, libraries):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    add(g, fresh_kernels(), x)
    graph = g.instantiate()
    del g
    gc.collect()
    graph.launch(stream)
    stream.sync()
    assert x[0] == 4
    del graph
    libraries(0)


def test_two_executables_keep_it_independently(fresh_kernels, pinned, stream, libraries):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    add(g, fresh_kernels(), x)
    a, b = g.instantiate(), g.instantiate()
    del g
    a.close()
    libraries(1)
    b.launch(stream)
    stream.sync()
    assert x[0] == 4
    b.close()
    libraries(0)


def test_a_destroyed_node_releases_its_kernel_alone(fresh_kernels, pinned, libraries):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    nodes = [add(g, fresh_kernels(), x) for _ in range(40)]  # more than a page
    libraries(40)
    nodes[7].destroy()
    libraries(39)
    nodes[39].destroy()
    libraries(38)
    for node in nodes[:7]:
        node.destroy()
    libraries(31)
    del g, nodes, node
    libraries(0)


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (1, 3, 0, 2)])
@pytest.mark.parametrize("between", ["nothing", "nodes of another kernel", "an executable"])
def test_nodes_of_one_kernel_keep_it_until_the_last_is_destroyed(between, order, fresh_kernels, libraries):
    """Nodes that are added one after another share the reference to their kernel."""
    g = cg.GraphDef()
    kernel, other = fresh_kernels().nothing, fresh_kernels().nothing
    nodes, executables = [], []
    for _ in range(4):
        nodes.append(g.launch(ONE, kernel))
        if between == "nodes of another kernel":
            g.launch(ONE, other)
        if between == "an executable":
            executables.append(g.instantiate())
    del kernel
    libraries(2)
    for graph in executables:
        graph.close()
    for i in order:
        libraries(2)
        nodes[i].destroy()
    libraries(1)


def test_a_refused_node_between_nodes_of_its_kernel_changes_nothing(fresh_kernels, libraries):
    g = cg.GraphDef()
    kernel = fresh_kernels().nothing
    too_large = cg.LaunchConfig(grid=1, block=1, shmem_size=1 << 20)
    nodes = []
    for _ in range(2):
        with pytest.raises(cg.CUDAError):
            g.launch(too_large, kernel)
        nodes.append(g.launch(ONE, kernel))
    del kernel
    gc.collect()
    nodes[0].destroy()
    libraries(1)
    nodes[1].destroy()
    libraries(0)


def test_an_executable_keeps_the_kernel_of_a_destroyed_node(fresh_kernels, pinned, stream, libraries):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    node = add(g, fresh_kernels(), x)
    add(node, fresh_kernels(), x)
    graph = g.instantiate()
    node.destroy()
    gc.collect()
    graph.launch(stream)
    stream.sync()
    assert x[0] == (1 * 3 + 1) * 3 + 1
    libraries(2)
    graph.close()
    libraries(1)


def test_kernel_added_after_instantiation_is_not_kept_by_the_executable(fresh_kernels, pinned, libraries):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    add(g, fresh_kernels(), x)
    graph = g.instantiate()
    add(g, fresh_kernels(), x).destroy()
    libraries(1)
    del g
    graph.close()
    libraries(0)


def test_a_launch_in_flight_keeps_the_kernel_when_all_else_is_gone(
    fresh_kernels, kernels, pinned, stream, libraries
):
    x, flag = pinned([1], "u4"), pinned([0])
    g = cg.GraphDef()
    add(g.launch(ONE, kernels.wait_for, flag.ctypes.data), fresh_kernels(), x)
    graph = g.instantiate()
    graph.launch(stream)
    graph.close()
    del graph, g
    gc.collect()
    libraries(1)
    flag[0] = 1
    stream.sync()
    assert x[0] == 4
    libraries(0)


def test_a_copy_in_another_graph_keeps_the_kernel(fresh_kernels, pinned, run, libraries):
    x = pinned([1], "u4")
    child, g = cg.GraphDef(), cg.GraphDef()
    add(child, fresh_kernels(), x)
    node = g.embed(child)
    del child
    gc.collect()
    run(g).close()
    assert x[0] == 4
    node.destroy()
    libraries(0)


@pytest.mark.parametrize("destroy", [False, True], ids=["definition_dropped", "node_destroyed"])
def test_a_clone_made_by_others_keeps_the_kernel(destroy, raw, fresh_kernels, pinned, stream, libraries):
    x = pinned([1], "u4")
    clone, graph = ctypes.c_void_p(), ctypes.c_void_p()
    g = cg.GraphDef()
    node = add(g, fresh_kernels(), x)
    raw("cuGraphClone", ctypes.byref(clone), ctypes.c_void_p(g.handle))
    if destroy:
        node.destroy()
    del g, node
    gc.collect()
    raw("cuGraphInstantiateWithFlags", ctypes.byref(graph), clone, ctypes.c_ulonglong(0))
    raw("cuGraphLaunch", graph, ctypes.c_void_p(stream.handle))
    stream.sync()
    assert x[0] == 4
    libraries(1)
    raw("cuGraphExecDestroy", graph)
    raw("cuGraphDestroy", clone)
    libraries(0)


def test_a_body_keeps_what_its_nodes_need(fresh_kernels, kernels, pinned, run, libraries):
    x, left = pinned([1], "u4"), pinned([2])
    g = cg.GraphDef()
    more = g.create_condition(1)
    loop = g.while_loop(more)
    add(loop.body, fresh_kernels(), x).launch(ONE, kernels.count_down, more, left.ctypes.data)
    gc.collect()
    graph = run(g)
    assert x[0] == (1 * 3 + 1) * 3 + 1
    graph.close()
    libraries(1)
    loop.destroy()
    libraries(0)


def test_a_callable_is_called_when_nobody_else_refers_to_it(run, eventually):
    callback = Callback()
    alive = weakref.ref(callback)
    g = cg.GraphDef()
    node = g.callback(callback)
    del callback
    gc.collect()
    before = Callback.calls
    graph = run(g)
    assert Callback.calls == before + 1
    node.destroy()
    gc.collect()
    assert alive() is not None
    graph.close()
    del graph
    eventually(lambda: alive() is None)


def test_a_c_function_and_its_bytes_are_kept(run):
    got = []
    g = cg.GraphDef()
    g.callback(FUNCTION(lambda p: got.append(ctypes.string_at(p, 2))), user_data=bytes([0xCD, 0xEF]))
    gc.collect()
    run(g)
    assert got == [b"\xcd\xef"]


def test_a_buffer_argument_is_kept_by_graph_and_executable(kernels, stream, eventually):
    buffer = cg.PinnedMemoryResource().allocate(4, stream=stream)
    alive, start = weakref.ref(buffer), boxes.live()["pointer"]
    g = cg.GraphDef()
    g.launch(ONE, kernels.affine, buffer, 3, 1)
    del buffer
    gc.collect()
    assert alive() is not None
    graph = g.instantiate()
    del g
    gc.collect()
    graph.launch(stream)
    stream.sync()
    assert alive() is not None
    assert boxes.live()["pointer"] == start
    graph.close()
    eventually(lambda: alive() is None)
    eventually(lambda: boxes.live()["pointer"] == start - 1)


@pytest.mark.parametrize("how", ["launch", "memset", "memcpy_to", "memcpy_from"])
def test_the_memory_of_a_buffer_outlives_its_close(how, kernels, stream, pinned, run):
    buffer = cg.PinnedMemoryResource().allocate(64, stream=stream)
    x, start = pinned(16), boxes.live()["pointer"]
    g = cg.GraphDef()
    if how == "launch":
        g.launch(ONE, kernels.affine, buffer, 3, 1)
    elif how == "memset":
        g.memset(buffer, 1, 64)
    elif how == "memcpy_to":
        g.memcpy(buffer, x.ctypes.data, 64)
    else:
        g.memcpy(x.ctypes.data, buffer, 64)
    buffer.close()
    run(g)
    assert boxes.live()["pointer"] == start
    del g
    gc.collect()


def test_plain_numbers_are_not_kept(kernels, pinned):
    address = pinned([1], "u4").ctypes.data
    before = sys.getrefcount(address)
    g = cg.GraphDef()
    g.launch(ONE, kernels.affine, address, 3, 1)
    assert sys.getrefcount(address) == before
    assert len(g.nodes()) == 1


def test_a_node_that_the_driver_refuses_keeps_nothing(fresh_kernels, libraries, device):
    g = cg.GraphDef()
    with pytest.raises(cg.CUDAError):
        g.launch(cg.LaunchConfig(grid=1, block=1, shmem_size=1 << 30), fresh_kernels().nothing)
    libraries(0)
    assert g.nodes() == set()


def test_many_nodes_share_few_user_objects(kernels, device):
    start = boxes.live()["user_object"]
    g = cg.GraphDef()
    node = g._entry
    for count in range(1, 1001):
        node = node.launch(ONE, kernels.nothing)
        if count in (16, 80, 336, 1000):
            assert boxes.live()["user_object"] - start == {16: 1, 80: 2, 336: 3, 1000: 4}[count]


@pytest.mark.parametrize("order", ["first to last", "last to first", "from the middle"])
def test_each_of_many_nodes_releases_its_own_owner_alone(order, device, eventually):
    """Also from large pages, whose other owners then go to many small ones, and from those."""

    class Owner:
        def __init__(self, number):
            self.number = number

        def __call__(self):
            pass

        def __del__(self):
            gone.append(self.number)

    total, gone = 500, []
    g = cg.GraphDef()
    nodes = [g.callback(Owner(i)) for i in range(total)]
    orders = {
        "first to last": range(total),
        "last to first": range(total)[::-1],
        "from the middle": [*range(300, total), *range(300)],
    }
    for i in orders[order]:
        nodes[i].destroy()
        eventually(lambda i=i: gone[-1:] == [i])
    assert sorted(gone) == list(range(total))
    assert g.nodes() == set()


def test_owners_of_large_pages_live_as_long_as_an_executable(device, stream, eventually):
    calls, total = [], 200

    class Owner:
        def __init__(self, number):
            self.number = number

        def __call__(self):
            calls.append(self.number)

        def __del__(self):
            gone.append(self.number)

    gone = []
    g = cg.GraphDef()
    nodes = [g.callback(Owner(0))]
    for i in range(1, total):
        nodes.append(nodes[-1].callback(Owner(i)))
    graph = g.instantiate()
    nodes[150].destroy()
    nodes[0].destroy()
    del g, nodes
    gc.collect()
    graph.launch(stream)
    stream.sync()
    assert calls == list(range(total))
    assert gone == []
    graph.close()
    eventually(lambda: sorted(gone) == list(range(total)))


def test_releases_run_python_code_on_the_main_thread(device, eventually):

    threads = []

    class Watched:
        def __call__(self):
            pass

        def __del__(self):
            threads.append(threading.current_thread())

    for _ in range(64):
        g = cg.GraphDef()
        g.callback(Watched())
        del g
    eventually(lambda: len(threads) == 64)
    assert set(threads) == {threading.main_thread()}
