# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The public operations, one at a time: what each needs, the operation itself, and what there is to see afterwards.

An operation is a generator of a World. It makes what it needs and yields a function: the operation. Resumed, it yields
what there is to see: equal when the operation was not made, and equal when it was made. An operation that is neither
was half made.
"""

import numpy as np

import cuda_graphs as cg
from tests.faults.definitions import add
from tests.graph_rig import ONE

OPERATIONS = {}


def operation(function):
    OPERATIONS[function.__name__] = function
    return function


def shape(g):
    """Nodes in their order, with kinds and names, edges, and the same of the graphs inside."""
    nodes, edges = g._listed()
    place = {node: i for i, node in enumerate(nodes)}
    return (
        [
            (type(node).__name__, node.name, [shape(inner) for inner in node._inner_graphs()])
            for node in nodes
        ],
        sorted((place[a], place[b]) for a, b in edges),
        [(default, source is None) for _, default, source in g._conditions()],
    )


def result(world, graph, **values):
    """Returns the words that a launch leaves, starting from zeros."""
    world.x[:] = 0
    stream = world.device.create_stream()
    graph.launch(stream, **values)
    stream.sync()
    return world.x.tolist()


def both(world, g):
    return shape(g), result(world, g.instantiate())


def shape_alone(world, g):
    """Returns the shape of a graph that cannot run, or not twice: with memory that is never freed, or an unused
    condition."""
    return shape(g)


# Nodes that are added: `make` is given a node to be behind, and the definition.


def adds(name, make, prepare=lambda world, g: None, *, see=both):
    def adding(world):
        g = cg.GraphDef()
        first, thing = add(world, g, 0), prepare(world, g)
        yield lambda: make(world, first, thing)
        yield see(world, g)

    OPERATIONS[name] = adding


def child(world, g):
    inner = cg.GraphDef()
    inner.launch(ONE, world.kernels.add, world.at(5), 1, inner.param("deep", cg.i32, 3), name="deep")
    inner.embed(plain_child(world))
    return inner


def plain_child(world, g=None):
    inner = cg.GraphDef()
    inner.memset(world.at(9), 7, 4, name="fill")
    return inner


def zeros(world, size=4):
    buffer = world.pinned.allocate(size)
    np.from_dlpack(buffer)[:] = 0
    return buffer


def condition(world, g):
    return g.create_condition(1)


adds("launch", lambda w, n, _: add(w, n, 1, name="named"))
adds(
    "launch_a_cluster",
    lambda w, n, _: n.launch(cg.LaunchConfig(grid=2, cluster=2, block=1), w.kernels.nothing),
)
adds(
    "launch_alone",
    lambda w, n, _: n.launch(cg.LaunchConfig(grid=1, block=1, is_cooperative=True), w.kernels.nothing),
)
adds("launch_before_the_end", lambda w, n, _: add(w, n, 1, edge=cg.EdgeData.programmatic()))
adds("memset", lambda w, n, _: n.memset(w.at(1), np.uint16(3), 4))
adds("memset_of_a_temporary", lambda w, n, t: n.memset(t, 3), lambda w, g: g.temporary(4, cg.u8))
adds("memset_rows", lambda w, n, _: n.memset(w.at(1), 3, 4, 2, pitch=8))
adds("memcpy", lambda w, n, _: n.memcpy(w.at(1), w.at(0), 4))
adds("memcpy_of_arrays", lambda w, n, a: n.memcpy(a, w.x[2:6]), lambda w, g: w.x[8:12])
adds("memcpy_of_buffers", lambda w, n, b: n.memcpy(w.at(1), b, 4), lambda w, g: zeros(w))
adds("alloc", lambda w, n, _: n.alloc(64), see=shape_alone)
adds("alloc_of_an_array", lambda w, n, _: n.alloc(shape=(2, 8), dtype=cg.f32), see=shape_alone)
adds("alloc_managed", lambda w, n, _: n.alloc(64, memory_type="managed", device=w.device), see=shape_alone)
adds("free", lambda w, n, m: m.free(m.dptr), lambda w, g: g.alloc(64), see=shape_alone)
adds("embed", lambda w, n, c: n.embed(c, name="inside"), plain_child)
adds("embed_what_has_parameters", lambda w, n, c: n.embed(c), child)
adds("record_event", lambda w, n, e: n.record_event(e), lambda w, g: w.device.create_event())
adds("wait_event", lambda w, n, e: n.wait_event(e), lambda w, g: w.device.create_event())
adds("callback", lambda w, n, _: n.callback(abs_of_nothing))
adds("join", lambda w, n, other: n.join(other), lambda w, g: add(w, g, 3))
adds("if_then", lambda w, n, c: n.if_then(c), condition, see=shape_alone)
adds("if_else", lambda w, n, c: n.if_else(c, name="choice"), condition, see=shape_alone)
adds("while_loop", lambda w, n, c: n.while_loop(c), condition, see=shape_alone)
adds("switch", lambda w, n, c: n.switch(c, 3), condition, see=shape_alone)
adds("memset_of_parameters", lambda w, n, p: n.memset(w.at(1), *p), lambda w, g: [
    g.param("value", cg.u32, 1), g.param("count", cg.u64, 2)])  # fmt: skip


def abs_of_nothing():
    return abs(0)


adds(
    "capture_call",
    lambda w, n, _: n.capture_call(add_on_the_current_stream, w.kernels.add, w.at(1), warm_up=False),
)


def add_on_the_current_stream(kernel, address):
    cg.launch(cg.current_stream(), ONE, kernel, address, 1, 1)


class Emits:
    def __cuda_graph_emit__(self, node, args):
        for place in args:
            node = node.memset(place, 5, 4)
        return node


adds("call", lambda w, n, _: n.call(Emits(), w.at(1), name="called"))


def flows(name, make, prepare=lambda world, flow: None):
    """Nodes of a task flow, which has filled some words already."""

    def adding(world):
        g = cg.GraphDef()
        with g.task_flow() as flow:
            flow.memset(world.at(1), 1, 4)
            thing = prepare(world, flow)
            yield lambda: make(world, flow, thing)
        yield both(world, g)

    OPERATIONS[name] = adding


flows("flow_launch", lambda w, f, _: add(w, f, 1, reads=[], writes=[(w.at(1), 4)]))
flows("flow_launch_of_unknown_accesses", lambda w, f, _: add(w, f, 1))
flows("flow_memcpy", lambda w, f, _: f.memcpy(w.at(2), w.at(1), 4))
flows("flow_alloc", lambda w, f, _: f.alloc(64))
flows("flow_free", lambda w, f, m: f.free(m), lambda w, f: f.alloc(64))
flows("flow_embed", lambda w, f, c: f.embed(c), plain_child)
flows("flow_callback", lambda w, f, _: f.callback(abs_of_nothing))
flows("flow_join", lambda w, f, _: f.join())


@operation
def begin_a_task_flow(world):
    """The nodes that are there take part: the next one follows them."""
    g = cg.GraphDef()
    add(world, g, 0).memset(world.at(1), 1, 4)
    flow = g.task_flow()
    yield flow.__enter__
    if "open" in repr(flow):
        flow.__exit__(None, None, None)
    yield both(world, g)


def without_a_default(name, make, size):
    """The places of operands are taken by memory of the same family until there is a value."""

    def adding(world):
        g = cg.GraphDef()
        to, count = g.param("to", cg.pointer), g.param("count", cg.u64)
        node = add(world, g, 0)
        yield lambda: make(world, node, to, count)
        made = len(g.nodes()) > 1
        stream = world.device.create_stream()
        buffer = world.device.allocate(64, stream=stream)
        buffer.fill(0, stream=stream)
        stream.sync()
        yield shape(g), result(world, g.instantiate(), **({"to": buffer, "count": size} if made else {}))

    OPERATIONS[name] = adding


without_a_default("memcpy_to_no_default", lambda w, n, to, count: n.memcpy(to, w.at(0), count), 4)
without_a_default("memcpy_from_no_default", lambda w, n, to, count: n.memcpy(w.at(8), to, count), 1)
without_a_default("memset_of_no_default", lambda w, n, to, count: n.memset(to, 1, count), 4)


@operation
def a_condition(world):
    g = cg.GraphDef()
    made = []
    yield lambda: made.append(g.create_condition(1))
    yield shape(g), len(made)


@operation
def a_definition(world):
    made = []
    yield lambda: made.append(cg.GraphDef())
    yield [shape(g) for g in made]


# Nodes that are changed.


def changes(name, node_of, change, *, see=lambda node: None, run=both):
    def changing(world):
        g = cg.GraphDef()
        node = node_of(world, add(world, g, 0))
        yield lambda: change(world, node)
        yield run(world, g), see(node), node.is_valid

    OPERATIONS[name] = changing


def fill_of(world, node):
    return node.memset(world.at(1), 1, 4)


def copy_of(world, node):
    return node.memset(world.at(2), 1, 4).memcpy(world.at(3), world.at(2), 4)


changes("update_arguments", lambda w, n: n, lambda w, n: n.update(args=(w.at(1), 1, 5)))
changes(
    "update_shape",
    lambda w, n: n,
    lambda w, n: n.update(config=cg.LaunchConfig(grid=1, block=32)),
    see=lambda n: n.config,
)
changes("update_kernel", lambda w, n: n, lambda w, n: n.update(kernel=w.kernels.nothing, args=()))
changes("update_memset", fill_of, lambda w, n: n.update(dst=w.at(4), value=np.uint32(9), width=2))
changes("update_memcpy", copy_of, lambda w, n: n.update(dst=w.at(4), src=w.at(0)))
changes(
    "update_child",
    lambda w, n: n.embed(plain_child(w)),
    lambda w, n: n.update(child(w, None)),
    see=lambda n: shape(n.child_graph),
)
changes("update_callback", lambda w, n: n.callback(print), lambda w, n: n.update(abs_of_nothing),
        see=lambda n: n.callback_fn)  # fmt: skip
changes("give_a_name", lambda w, n: n, lambda w, n: setattr(n, "name", "other"), see=lambda n: n.name)
changes("destroy", lambda w, n: add(w, n, 1), lambda w, n: n.destroy())
changes("destroy_a_child", lambda w, n: n.embed(child(w, None)), lambda w, n: n.destroy())
changes(
    "destroy_a_loop",
    lambda w, n: n.while_loop(n.graph.create_condition(0)),
    lambda w, n: n.destroy(),
    run=shape_alone,
)


def between_events(name, make):
    def changing(world):
        g = cg.GraphDef()
        events = [world.device.create_event() for _ in range(2)]
        node = make(add(world, g, 0), events[0])
        yield lambda: node.update(events[1])
        yield both(world, g), events.index(node.event)

    OPERATIONS[name] = changing


between_events("update_record", lambda node, event: node.record_event(event))
between_events("update_wait", lambda node, event: node.wait_event(event))


def edits(name, edit):
    def editing(world):
        g = cg.GraphDef()
        a, b, c, d = (add(world, g, i) for i in range(4))
        a.succ |= {b, c}
        d.pred = {b}
        yield lambda: edit(a, b, c, d)
        yield shape(g), g.edges() and g.edge_data(a, b) if (a, b) in g.edges() else None
        g.instantiate()

    OPERATIONS[name] = editing


def assign(node, nodes):
    node.pred = nodes


edits("add_edges", lambda a, b, c, d: a.succ.update({d, b}))
edits("add_early_edge", lambda a, b, c, d: c.succ.add(d, cg.EdgeData.programmatic()))
edits("remove_edge", lambda a, b, c, d: a.succ.remove(b))
edits("clear_edges", lambda a, b, c, d: a.succ.clear())
edits("assign_edges", lambda a, b, c, d: assign(d, {a, c}))


@operation
def instantiate_what_was_edited(world):
    """Its edges are put into another order on the way."""
    g = cg.GraphDef()
    a, b, c, d = (add(world, g, i) for i in range(4))
    d.pred = {a, b, c}
    d.pred.discard(a)
    d.pred.add(a)
    made = []
    yield lambda: made.append(g.instantiate())
    yield shape(g), [result(world, graph) for graph in made]


@operation
def instantiate_early(world):
    """The definition has other edges for a time."""

    @cg.kernel
    def double(b: cg.Array1[cg.f32]) -> None:
        for i in b:
            b[i] = b[i] * 2.0

    b, stream = cg.array([1.0, 2.0], cg.f32), world.device.create_stream()
    g = cg.GraphDef()
    g.call(double, b).call(double, b).call(double, b)
    made = []
    yield lambda: made.append(g.instantiate(early_edges=True))
    for graph in made:
        graph.launch(stream)
    stream.sync()
    yield shape(g), [g.edge_data(*edge) for edge in g.edges()], len(made), b.to_numpy().tolist()


# What only looks.


def looks(name, look):
    def looking(world):
        g = cg.GraphDef()
        first = add(world, g, 0)
        add(world, first, 1).while_loop(g.create_condition(0)).body.embed(plain_child(world))
        seen = []
        yield lambda: seen.append(look(g, first))
        yield both(world, g), len(seen)

    OPERATIONS[name] = looking


looks("nodes", lambda g, node: g.nodes())
looks("edges", lambda g, node: g.edges())
looks("neighbours", lambda g, node: (list(node.pred), list(node.succ), node in node.succ))
looks("check", lambda g, node: g.check())
looks("memory", lambda g, node: g.memory)
looks("draw", lambda g, node: g.debug_dot_print("/dev/null", cg.GraphDebugPrintOptions(verbose=True)))


@operation
def clones_are_looked_into(world):
    """Reads the nodes of an embedded graph, which are recorded at the first read."""
    g = cg.GraphDef()
    node = g.embed(child(world, None))
    seen = []
    yield lambda: seen.append(len(node.child_graph.nodes()))
    yield both(world, g), seen


# Executables.


def on_executable(name, do, *, options=None, update=False):
    def doing(world):
        g = cg.GraphDef()
        kernel = add(world, g, 0, g.param("n", cg.i32, 1))
        nodes = {
            "kernel": kernel,
            "fill": g.memset(world.at(2), g.param("v", cg.u8, 1), 4),
            "copy": kernel.memcpy(world.at(3), world.at(4), 4),
            "child": g.embed(plain_child(world)),
            "host": g.callback(print_nothing),
            "record": g.record_event(world.device.create_event()),
            "wait": g.wait_event(world.device.create_event()),
        }
        nodes["deep"] = add(world, g.while_loop(g.create_condition(0)).body, 5)
        graph, stream = g.instantiate(**(options or {})), world.device.create_stream()
        given = world.device.create_event()
        world.x[:] = 0
        yield lambda: do(world, graph, nodes, stream, given)
        stream.sync()
        now = world.x.tolist()
        yield now, result(world, graph), {name: state.value for name, state in graph.params.items()}, [
            graph[nodes[name]].is_enabled for name in ("kernel", "fill", "copy")
        ]  # fmt: skip

    OPERATIONS[name] = doing


def print_nothing():
    return None


def changed(world, nodes):
    """Another definition of the same structure."""
    g = cg.GraphDef()
    kernel = add(world, g, 0, g.param("n", cg.i32, 4))
    g.memset(world.at(2), g.param("v", cg.u8, 3), 4)
    kernel.memcpy(world.at(6), world.at(4), 4)
    g.embed(plain_child(world))
    g.callback(abs_of_nothing)
    g.record_event(world.device.create_event())
    g.wait_event(world.device.create_event())
    add(world, g.while_loop(g.create_condition(0)).body, 6)
    return g


on_executable("launch_graph", lambda w, graph, n, s, e: graph.launch(s))
on_executable("launch_with_values", lambda w, graph, n, s, e: graph.launch(s, n=7, v=2))
on_executable("set_values", lambda w, graph, n, s, e: graph.set(n=7, v=2))
on_executable("explain", lambda w, graph, n, s, e: graph.explain(), options={"optimize": True})
on_executable("upload", lambda w, graph, n, s, e: graph.upload(s))
on_executable("update_graph", lambda w, graph, n, s, e: graph.update(changed(w, n)))
on_executable("set_kernel", lambda w, graph, n, s, e: graph[n["kernel"]].update(
    config=ONE, kernel=w.kernels.add, args=(w.at(7), 1, 2)))  # fmt: skip
on_executable("set_deep_kernel", lambda w, graph, n, s, e: graph[n["deep"]].update(
    config=ONE, kernel=w.kernels.add, args=(w.at(7), 1, n["kernel"].graph.param("n", cg.i32))))  # fmt: skip
on_executable("set_memset", lambda w, graph, n, s, e: graph[n["fill"]].update(dst=w.at(2), value=9, width=4))
on_executable(
    "set_memcpy", lambda w, graph, n, s, e: graph[n["copy"]].update(dst=w.at(6), src=w.at(0), size=4)
)
on_executable("set_child", lambda w, graph, n, s, e: graph[n["child"]].update(plain_child(w)))
on_executable("set_callback", lambda w, graph, n, s, e: graph[n["host"]].update(abs_of_nothing))
on_executable("set_record", lambda w, graph, n, s, e: graph[n["record"]].update(e))
on_executable("set_wait", lambda w, graph, n, s, e: graph[n["wait"]].update(e))
on_executable("disable_kernel", lambda w, graph, n, s, e: graph[n["kernel"]].disable())
on_executable("disable_memset", lambda w, graph, n, s, e: graph[n["fill"]].disable())


def with_one_off(name, do):
    """Returns a scenario that does `do` while a memset is off."""

    def doing(world):
        g = cg.GraphDef()
        fill, copy = g.memset(world.at(2), 1, 4), g.memcpy(world.at(3), world.at(4), 4)
        graph = g.instantiate()
        graph[fill].disable()
        other = cg.GraphDef()
        other.memset(world.at(2), 8, 4), other.memcpy(world.at(6), world.at(4), 4)
        yield lambda: do(world, graph, fill, copy, other)
        off = graph[fill].is_enabled, result(world, graph)
        graph[fill].enable()
        yield off, result(world, graph)

    OPERATIONS[name] = doing


with_one_off("enable_memset", lambda w, graph, fill, copy, other: graph[fill].enable())
with_one_off("set_memset_that_is_off", lambda w, graph, fill, copy, other: graph[fill].update(
    dst=w.at(2), value=9, width=4))  # fmt: skip
with_one_off("update_graph_with_memset_off", lambda w, graph, fill, copy, other: graph.update(other))
with_one_off("close_graph", lambda w, graph, fill, copy, other: None)


@operation
def launch_into_streams_of_others(world):
    """The lifetime of foreign streams is unknown, so an event marks the end of each launch."""
    g = cg.GraphDef()
    add(world, g, 0)
    graph = g.instantiate()
    raw = world.device.create_stream()
    world.x[:] = 0
    yield lambda: graph.launch(cg.LEGACY_DEFAULT_STREAM)
    raw.sync()
    world.device.sync()
    yield world.x.tolist()


@operation
def instantiate_and_upload(world):
    g = cg.GraphDef()
    add(world, g, 0)
    made, stream = [], world.device.create_stream()
    yield lambda: made.append(g.instantiate(upload_stream=stream))
    stream.sync()
    yield shape(g), [result(world, graph) for graph in made]
