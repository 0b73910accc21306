# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios of graphs that are built explicitly."""

import contextlib
import copy
import ctypes
import tempfile

import numpy as np

import cuda_graphs as cg
from tests.faults.rig import refused, scenario
from tests.graph_rig import ONE, Kernels


def run(world, definition, times=1, **options):
    stream = world.device.create_stream()
    graph = definition.instantiate(**options)
    for _ in range(times):
        graph.launch(stream)
    stream.sync()
    return graph


def fresh_kernels(world):
    """Returns kernels of a module that no other object keeps loaded."""
    return Kernels(copy.copy(world.compiled))


def add(world, place, i, amount=1, **keywords):
    return place.launch(ONE, world.kernels.add, world.at(i), 1, amount, **keywords)


@scenario
def kernels_in_chains_and_branches(world):
    g = cg.GraphDef()
    root = g.launch(ONE, world.kernels.affine, world.at(0), 3, 1)
    left, right = add(world, root, 1), add(world, root, 2, name="right")
    g.join(left, right).launch(
        cg.LaunchConfig(grid=2, cluster=2, block=32), world.kernels.add, world.at(0), 1, 4
    )
    run(world, g, times=2)
    assert list(world.x[1:3]) == [2, 2]


@scenario
def a_node_of_every_kind(world):
    g = cg.GraphDef()
    event, called = world.device.create_event(), []
    child = cg.GraphDef()
    add(world, child, 0)
    node = g.memset(world.at(8), 7, 4).memcpy(world.at(9), world.at(8), 4).embed(child)
    node = node.record_event(event).wait_event(event).callback(lambda: called.append(1)).join()
    for make in ("if_then", "if_else", "while_loop"):
        node = getattr(node, make)(g.create_condition(0))
    node = node.switch(g.create_condition(2), 3)
    add(world, node.branches[2], 1)
    memory = node.alloc(64)
    memory.memset(memory.dptr, 0, 64).free(memory.dptr)
    run(world, g)
    assert (world.x[0], world.x[1], world.x[9], called) == (1, 1, 0x07070707, [1])


@scenario
def nodes_tell_what_they_are(world):
    g = cg.GraphDef()
    event = world.device.create_event()
    kernel = add(world, g, 0, name="first")
    assert "first" in repr(kernel)  # before the properties of the node are known
    memory = kernel.alloc(64)
    nodes = [
        kernel.config, kernel.kernel, kernel.args, kernel.source, memory.options, memory.bytesize,
        memory.memset(memory.dptr, b"\1\2", 8).element_size, memory.memcpy(world.at(0), world.at(1), 8).size,
        kernel.record_event(event).event, kernel.wait_event(event).event, kernel.callback(print).callback_fn,
        g.if_else(g.create_condition(1)).else_.nodes(),
    ]  # fmt: skip
    assert nodes[0] == ONE
    assert kernel.succ
    assert len(g.nodes()) == 8
    assert len(g.edges()) == 6
    assert cg.GraphNodeType.CU_GRAPH_NODE_TYPE_MEM_ALLOC in {node.type for node in g.nodes()}


@scenario
def flags_decide_loops_and_branches(world):
    left = np.from_dlpack(world.pinned.allocate(4)).view("u4")
    left[:] = 2
    try:
        g = cg.GraphDef()
        loop = g.while_loop(left, max_iterations=3, name="loop")
        loop.body.launch(ONE, world.kernels.add, left, 1, -1)
        add(world, loop.body, 4)
        choice = loop.if_else(left)
        add(world, choice.then, 5)
        add(world, choice.else_, 6)
        graph = run(world, g)
        graph.cancel()
        assert graph.iterations == {"loop": (2, False)}
    finally:
        cg.reset()  # or the kernels of the library stay loaded
    assert left[0] == 0 and list(world.x[4:7]) == [2, 0, 1]


@scenario
def drawing_and_checking(world):
    g = cg.GraphDef()
    memory = add(world, g, 0).alloc(64)
    memory.memset(memory.dptr, 0, 64)
    body = memory.while_loop(g.create_condition(0)).body
    add(world, body, 1)
    g.debug_dot_print("/dev/null", cg.GraphDebugPrintOptions(verbose=True))
    assert "<svg" in g.draw(check=True).svg()
    assert len(g.check().findings) > 0
    assert "<svg" in g.diff(g).draw().svg() and g.diff(cg.GraphDef())


@scenario
def saving(world):
    g = cg.GraphDef()
    memory = g.alloc(64)
    memory.memset(memory.dptr, 7, 64).free(memory)
    with tempfile.TemporaryDirectory() as folder:
        g.save(f"{folder}/graph.cgg")


@scenario
def profiling(world):
    g = cg.GraphDef()
    add(world, g, 0)
    choice = g.if_then(g.create_condition(1))
    add(world, choice.then, 1)
    stream = world.device.create_stream()
    (found,) = g.instantiate().profile(stream, 2).graphs
    assert {row.runs for row in found.rows} == {2}
    assert (world.x[0], world.x[1]) == (2, 2)


@scenario
def instantiation_with_options(world):
    g = cg.GraphDef()
    add(world, g, 0)
    stream = world.device.create_stream()
    graphs = [
        g.instantiate(),
        g.instantiate(upload_stream=stream),
        g.instantiate(auto_free_on_launch=True, use_node_priority=True),
    ]
    graphs[0].upload(stream)
    for graph in graphs:
        graph.launch(stream)
    stream.sync()
    assert world.x[0] == 3


@scenario
def a_cycle_is_refused_by_the_instantiation(world):
    g = cg.GraphDef()
    first = add(world, g, 0)
    first.pred.add(add(world, first, 1))
    with refused(cg.GraphInstantiateError):
        g.instantiate()


def nodes_to_update(world, g):
    """Nodes of `g`, of each kind that can be updated; what their callbacks note; an event and a child to update to."""
    events = [world.device.create_event() for _ in range(2)]
    children, called = [cg.GraphDef(), cg.GraphDef()], []
    for i, child in enumerate(children):
        add(world, child, 0, 10 * (i + 1))
    kernel = add(world, g, 1)
    fill = kernel.memset(world.at(2), 1, 4)
    copy = fill.memcpy(world.at(3), world.at(2), 4)
    inner, host = copy.embed(children[0]), copy.callback(lambda: called.append(0))
    nodes = kernel, fill, copy, inner, host, host.record_event(events[0]), host.wait_event(events[0])
    return nodes, called, events[1], children[1]


@scenario
def updates_of_nodes_in_the_definition(world):
    g = cg.GraphDef()
    (kernel, fill, copy, inner, host, record, wait), called, event, child = nodes_to_update(world, g)
    kernel.update(args=(world.at(1), 1, 5))
    kernel.update(config=cg.LaunchConfig(grid=1, block=32))
    fill.update(value=2)
    copy.update(dst=world.at(4))
    inner.update(child)
    host.update(lambda: called.append(1))
    record.update(event)
    wait.update(event)
    run(world, g)
    assert list(world.x[:5]) == [20, 5, 0x02020202, 0, 0x02020202]
    assert called == [1]


@scenario
def updates_of_nodes_in_an_executable(world):
    g = cg.GraphDef()
    (kernel, fill, copy, inner, host, record, wait), called, event, child = nodes_to_update(world, g)
    body = host.while_loop(g.create_condition(0)).body
    deep = add(world, body, 5)
    stream = world.device.create_stream()
    graph = g.instantiate()
    buffer = world.pinned.allocate(4)
    graph[kernel].update(config=ONE, kernel=world.kernels.add, args=(buffer, 1, 5))
    graph[deep].update(config=ONE, kernel=world.kernels.add, args=(world.at(5), 1, 7))
    graph[fill].update(dst=world.at(2), value=2, width=4)
    graph[copy].update(dst=world.at(4), src=world.at(2), size=4)
    graph[inner].update(child)
    graph[host].update(lambda: called.append(1))
    graph[record].update(event)
    graph[wait].update(event)
    graph[fill].disable()
    assert not graph[fill].is_enabled
    graph[fill].enable()
    graph.launch(stream)
    stream.sync()
    assert list(world.x[:5]) == [20, 0, 0x02020202, 0, 0x02020202]
    assert called == [1]


@scenario
def updates_of_a_whole_graph(world):
    def made(amount, more=False):
        g = cg.GraphDef()
        node = add(world, g, 0, amount)
        body = node.if_then(g.create_condition(1)).then
        body.launch(ONE, fresh_kernels(world).add, world.at(1), 1, amount)
        if more:
            node.join()
        return g

    stream = world.device.create_stream()
    graph = made(1).instantiate()
    graph.update(made(5))
    with refused(cg.GraphUpdateError):
        graph.update(made(7, more=True))
    graph.launch(stream)
    stream.sync()
    assert list(world.x[:2]) == [5, 5]


@scenario
def named_parameters(world):
    g = cg.GraphDef()
    where, amount = g.param("where", cg.pointer, world.at(0)), g.param("amount", cg.i32, default=1)
    node = g.launch(ONE, world.kernels.add, where, 1, amount)
    g.memset(world.at(2), g.param("value", cg.u32), 1)
    body = node.if_then(g.create_condition(1)).then
    body.launch(ONE, world.kernels.add, world.at(1), 1, amount)
    body.memcpy(world.at(3), where, 4)
    graph, stream = g.instantiate(), world.device.create_stream()
    buffer = world.pinned.allocate(4)
    graph.launch(stream, amount=2, value=3)
    graph.set(where=buffer)
    graph.launch(stream, amount=10)
    stream.sync()
    assert graph.params["amount"].value == 10
    assert list(world.x[:3]) == [2, 12, 3]
    node.update(args=(where, 1, amount))
    graph.update(g)
    graph.launch(stream, where=world.at(0))
    stream.sync()
    assert world.x[0] == 12


@scenario
def edges_and_nodes_come_and_go(world):
    g = cg.GraphDef()
    a, b, c = (add(world, g, i) for i in range(3))
    a.succ |= {b, c}
    c.pred = {b}
    b.pred.discard(a)
    a.succ.add(b, cg.EdgeData.programmatic())
    assert g.edge_data(a, b) == cg.EdgeData.programmatic()
    a.succ.clear()
    a.destroy()
    assert g.edges() == {(b, c)}
    run(world, g)
    assert list(world.x[:3]) == [0, 1, 1]
    body = b.while_loop(g.create_condition(0))
    add(world, body.body, 5).join()
    body.destroy()
    assert g.nodes() == {b, c}


@scenario
def graphs_in_graphs(world):
    inner, middle, outer = cg.GraphDef(), cg.GraphDef(), cg.GraphDef()
    inner.launch(
        ONE, world.kernels.add, world.at(0), 1, inner.param("amount", cg.i32, default=1), name="deep"
    )
    middle.embed(inner).embed(inner)
    node = outer.embed(middle)
    del inner, middle
    copy = next(iter(node.child_graph.nodes()))
    add(world, copy.child_graph, 1, name="deeper")
    assert {n.name for n in copy.child_graph.nodes()} == {"deep", "deeper"}
    run(world, outer)
    assert list(world.x[:2]) == [2, 1]


@scenario
def conditional_bodies(world):
    g = cg.GraphDef()
    count, inner = g.create_condition(1), None
    loop = g.memset(world.at(0), np.uint32(3), 1).while_loop(count)
    inner = loop.body.create_condition()
    loop.body.launch(ONE, world.kernels.count_down, count, world.at(0)).launch(
        ONE, world.kernels.set_from, inner, world.at(0)
    ).switch(inner, 3)
    switch = next(n for n in loop.body.nodes() if isinstance(n, cg.SwitchNode))
    for i, branch in enumerate(switch.branches):
        add(world, branch, 1 + i)
    choice = loop.if_else(g.create_condition(0))
    add(world, choice.then, 5)
    add(world, choice.else_, 6)
    run(world, g)
    assert list(world.x[:7]) == [0, 1, 1, 1, 0, 0, 1]


@scenario
def memory_of_nodes(world):
    """Allocates memory in one graph and frees it in another."""
    g = cg.GraphDef()
    memory = g.alloc(256, memory_type="managed")
    other = memory.alloc(256, device=world.device)
    done = (
        other.memset(memory.dptr, 3, 256)
        .memcpy(other.dptr, memory.dptr, 256)
        .memcpy(world.at(0), other.dptr, 8)
    )
    done.free(memory.dptr)
    freeing = cg.GraphDef()
    freeing.free(other.dptr)
    stream = world.device.create_stream()
    graph, free = g.instantiate(auto_free_on_launch=True), freeing.instantiate()
    graph.launch(stream)
    try:
        graph.launch(stream)
        graph.launch(stream)
    finally:
        for _ in range(2):  # the driver keeps it until it is freed, also when a call fails
            with contextlib.suppress(cg.CUDAError):
                free.launch(stream)
    stream.sync()
    assert list(world.x[:3]) == [0x03030303, 0x03030303, 0]


@scenario
def what_nodes_use_lives_as_long_as_they_do(world):
    g = cg.GraphDef()
    fresh, stream = fresh_kernels(world), world.device.create_stream()
    buffer = world.device.allocate(64, stream=stream)
    node = g.memset(buffer, 0, 4).launch(ONE, fresh.add, buffer, 1, 5)
    node.memcpy(world.at(0), buffer, 4)
    graph = g.instantiate()
    del buffer, fresh
    node.update(args=(world.at(1), 1, 7))
    graph.launch(stream)
    stream.sync()
    graph.close()
    del graph, g
    assert list(world.x[:2]) == [5, 0]


@scenario
def a_graph_closed_in_flight(world):
    flag = world.x[7:8].view("i4")
    g = cg.GraphDef()
    fresh = fresh_kernels(world)
    g.launch(ONE, fresh.wait_for, world.at(7)).launch(ONE, fresh.add, world.at(0), 1, 1)
    stream = world.device.create_stream()
    graph = g.instantiate()
    try:
        graph.launch(stream)
        graph.close()
        assert world.x[0] == 0
    finally:
        flag[0] = 1
    del g, fresh
    stream.sync()
    assert world.x[0] == 1


@scenario
def a_task_flow(world):
    """The nodes of every way to an edge: added with it, added before it, found at the beginning."""
    g = cg.GraphDef()
    g.memset(world.at(0), 1, 4)
    with g.task_flow() as flow:
        memory = flow.alloc(64)
        fill = flow.memset(memory, 0, 4)
        choice = flow.if_then(g.create_condition(1))
        add(world, choice.then, 0, 2)
        g.memcpy(memory.dptr, world.at(0), 4)
        last = flow.memcpy(world.at(1), memory.dptr, 4)
        assert flow.explain(fill, last).path
    assert not g.check()
    run(world, g)
    assert list(world.x[:2]) == [0x01010103] * 2


@scenario
def callbacks_of_python_and_c(world):
    seen = []

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    def note(pointer):
        seen.append(ctypes.c_int.from_address(pointer).value)

    g = cg.GraphDef()
    node = g.callback(lambda: seen.append("python")).callback(note, user_data=b"\x2a\0\0\0")
    node.callback(print).destroy()
    run(world, g, times=2)
    assert seen == ["python", 42] * 2


@scenario
def copies_that_other_code_makes(world):
    """A definition cloned behind our back keeps what its nodes use."""
    driver = ctypes.CDLL(cg.driver_info().path)

    def call(name, *arguments):
        status = getattr(driver, name)(*arguments)
        if status:
            raise cg.errors.error_from_code(status, attempt=f"call {name}")

    g = cg.GraphDef()
    g.launch(ONE, fresh_kernels(world).add, world.at(0), 1, 5)
    copy, graph = ctypes.c_void_p(), ctypes.c_void_p()
    stream = world.device.create_stream()
    call("cuGraphClone", ctypes.byref(copy), ctypes.c_void_p(g.handle))
    try:
        del g
        call("cuGraphInstantiateWithFlags", ctypes.byref(graph), copy, ctypes.c_ulonglong(0))
        call("cuGraphLaunch", graph, ctypes.c_void_p(stream.handle))
        stream.sync()
    finally:
        if graph:
            call("cuGraphExecDestroy", graph)
        call("cuGraphDestroy", copy)
    assert world.x[0] == 5
