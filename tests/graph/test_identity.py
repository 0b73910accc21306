# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: every way to a live node gives the same object. After that object is gone the next one has the same values, also
those that the driver forgets. No record of a node outlives its graph.
"""

import gc
import weakref

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph.graph_specs import SPECS
from tests.graph_rig import ONE
from tests.thread_rig import side_by_side


def ways(node):
    """The objects that one gets for a node by each way there is."""
    g = node.graph
    yield "nodes", next(n for n in g.nodes() if n == node)
    for a, b in g.edges():
        if a == node:
            yield "edges, from", a
        if b == node:
            yield "edges, to", b
    for other in g.nodes():
        yield from (("pred of a successor", n) for n in other.pred if n == node)
        yield from (("succ of a predecessor", n) for n in other.succ if n == node)
    for neighbour in [*node.pred]:
        yield from (("there and back", n) for n in neighbour.succ if n == node)
    for neighbour in [*node.succ]:
        yield from (("back and there", n) for n in neighbour.pred if n == node)
        yield "popped", taken(neighbour.pred, node)


def taken(neighbours, node):
    """Returns the node that `pop` takes from a set of one, and puts it back; otherwise `node`."""
    if len(neighbours) != 1:
        return node
    popped = neighbours.pop()
    neighbours.add(popped)
    return popped


@pytest.mark.parametrize(
    "spec", [s for s in SPECS if "alloc" not in s.name and s.name != "free"], ids=lambda s: s.name
)
def test_a_node_is_one_object_by_every_way(spec, needs):
    node = spec.make(needs.definition.join(), needs)
    node.join()
    found = list(ways(node))
    assert {way for way, _ in found} >= {"nodes", "edges, from", "edges, to", "pred of a successor", "popped"}
    for way, one in found:
        assert one is node, way


@pytest.mark.parametrize(
    "spec", [s for s in SPECS if "alloc" in s.name or s.name == "free"], ids=lambda s: s.name
)
def test_node_of_a_graph_whose_edges_stay_is_one_object(spec, needs):
    node = spec.make(needs.definition.join(), needs)
    last = node.join()
    assert next(n for n in needs.definition.nodes() if n == node) is node
    assert next(iter(last.pred)) is node
    assert {id(a) for a, b in needs.definition.edges() if b is last} == {id(node)}


def test_node_of_a_body_or_an_embedded_graph_is_one_object(needs):
    g = needs.definition
    loop = g.while_loop(needs.condition())
    inner = loop.body.if_else(needs.condition())
    leaf = inner.else_.launch(ONE, needs.kernels.nothing)
    (found,) = g.nodes()
    (found,) = found.body.nodes()
    assert found is inner
    (found,) = found.branches[1].nodes()
    assert found is leaf
    child = g.embed(needs.child)
    first = {n.handle: n for n in child.child_graph.nodes()}
    assert all(first[n.handle] is n for n in child.child_graph.nodes())
    assert all(n.graph == child.child_graph for n in first.values())


def test_the_entry_is_one_object_while_it_lives(needs):
    entry = needs.definition._entry
    assert needs.definition._entry is entry
    assert needs.definition.join().graph._entry is entry
    assert cg.GraphDef()._entry is not entry


# Values that drivers before CUDA 13.2 do not return: set once and read through a new object.
FORGOTTEN = {
    "if": (lambda g, n: g.if_then(n.condition()), lambda x: (x.condition, x.cond_type, x.branches, x.then)),
    "if_else": (
        lambda g, n: g.if_else(n.condition()),
        lambda x: (x.condition, x.cond_type, x.branches, x.then, x.else_),
    ),
    "while": (
        lambda g, n: g.while_loop(n.condition()),
        lambda x: (x.condition, x.cond_type, x.branches, x.body),
    ),
    "switch": (lambda g, n: g.switch(n.condition(), 5), lambda x: (x.condition, x.cond_type, x.branches)),
    "callback": (lambda g, n: g.callback(FORGOTTEN.get), lambda x: x.callback_fn),
    "bound_method": (lambda g, n: g.callback(n.source.sum), lambda x: (x.callback_fn, id(x.callback_fn))),
    "name": (lambda g, n: g.join(name="mine"), lambda x: (x.name, x.source)),
    "event": (
        lambda g, n: g.record_event(n.device.create_event({"timing_enabled": True, "blocking_sync": True})),
        lambda x: (
            x.event,
            x.event.is_timing_enabled,
            x.event.is_blocking_sync,
            x.event.device,
            x.event.context,
        ),
    ),
    "kernel": (lambda g, n: g.launch(ONE, n.kernels.nothing), lambda x: (x.kernel, x.config)),
    "cluster": (
        lambda g, n: g.launch(
            cg.LaunchConfig(grid=(2, 3), cluster=(2, 1), block=32, shmem_size=64), n.kernels.nothing
        ),
        lambda x: (x.config, x.grid, x.block, x.shmem_size),
    ),
    "device_of_host_memory": (
        lambda g, n: g.alloc(64, memory_type="host", device=n.device),
        lambda x: (x.device_id, x.memory_type, x.options, x.dptr, x.bytesize),
    ),
}

NOT_IN_BODIES = {"callback", "bound_method", "event", "device_of_host_memory"}  # a rule of CUDA
PLACES = [(what, False) for what in FORGOTTEN] + [
    (what, True) for what in FORGOTTEN if what not in NOT_IN_BODIES
]


@pytest.mark.parametrize(("what", "inside"), PLACES)
def test_values_that_the_driver_forgets_are_known_to_the_next_object(what, inside, needs, host_memory):
    make, look = FORGOTTEN[what]
    g = needs.definition.while_loop(needs.condition()).body if inside else needs.definition
    node = make(g, needs)
    kind, before, shown, alive = type(node), look(node), repr(node), weakref.ref(node)
    del node
    gc.collect()
    assert alive() is None
    (again,) = g.nodes()
    assert type(again) is kind
    assert look(again) == before
    assert repr(again) == shown


def test_bodies_found_again_hold_what_was_put_into_them(needs):
    g = needs.definition
    branches = g.switch(needs.condition(), 3).branches
    handles = [body.join().handle for body in branches]
    del branches
    gc.collect()
    (node,) = g.nodes()
    assert [next(iter(body.nodes())).handle for body in node.branches] == handles
    assert len(set(node.branches)) == 3


def test_a_node_that_others_made_is_told_as_far_as_the_driver_does(needs, driver):
    """Nodes of an embedded copy were made by the driver: everything is known that is not kept by us alone."""
    child = cg.GraphDef()
    mine = needs.device.create_event({"timing_enabled": True})
    child.launch(ONE, needs.kernels.nothing).record_event(mine).callback(FORGOTTEN.get).memset(
        needs.target.ctypes.data, 7, 4
    )
    kinds = {type(n): n for n in needs.definition.embed(child).child_graph.nodes()}
    assert kinds[cg.KernelNode].kernel == needs.kernels.nothing
    assert kinds[cg.EventRecordNode].event == mine
    assert kinds[cg.EventRecordNode].event.is_timing_enabled
    assert kinds[cg.HostCallbackNode].callback_fn == FORGOTTEN.get
    assert kinds[cg.MemsetNode].value == 7


# Records.


def test_no_record_survives_its_graph(needs):
    del needs.definition
    before = boxes.live()
    for _ in range(3):
        g = cg.GraphDef()
        for spec in SPECS:
            if spec.name not in ("record", "wait"):
                needs.definition = g
                spec.make(g, needs)
        assert boxes.live()["graph_node"] > before["graph_node"] + len(SPECS)
        g.nodes(), g.edges()
        del g, needs.definition
        gc.collect()
        boxes.drain()
        assert boxes.live() == before


def test_no_record_of_a_destroyed_node_is_left_but_for_its_object(needs):
    g = needs.definition
    before = boxes.live()
    kept = [g.join() for _ in range(100)]
    for node in kept:
        node.destroy()
    made = boxes.live()["graph_node"]
    for _ in range(1000):
        g.join().destroy()
    assert boxes.live()["graph_node"] <= made + 1
    assert [node.is_valid for node in kept] == [False] * 100
    del node, kept
    others = [g.join() for _ in range(101)]
    assert boxes.live()["graph_node"] <= made + 1
    assert g.nodes() == set(others)
    del g, others, needs.definition
    gc.collect()
    assert boxes.live()["graph_node"] < before["graph_node"]


def test_a_used_address_stands_for_its_new_node(needs):
    """Nodes and graphs come and go at the same addresses: whatever was known of the old one is not told of the new."""
    g, seen, again = needs.definition, set(), 0
    for turn in range(60):
        spec = SPECS[(0, 1, 5, 9, 11)[turn % 5]]
        node = spec.make(g, needs)
        again += node.handle in seen
        seen.add(node.handle)
        assert type(node) is spec.cls
        assert g.nodes() == {node}
        if turn % 2:
            node.destroy()  # its object lives on
        else:
            handle = node.handle
            del node
            (found,) = g.nodes()
            assert (found.handle, type(found)) == (handle, spec.cls)
            found.destroy()
    assert again or len(seen) == 60


def test_a_body_at_a_used_address_is_not_the_old_one(needs):
    g = needs.definition
    dead = []
    for _ in range(50):
        loop = g.while_loop(g.create_condition(0))
        assert loop.body.nodes() == set()
        assert loop.body not in dead
        leaf = loop.body.join()
        assert loop.body.nodes() == {leaf}
        dead.append(loop.body)
        loop.destroy()
        assert not leaf.is_valid
    assert len({hash(body) for body in dead}) == 50
    assert all(not body.is_valid and body.handle == 0 for body in dead)


def test_a_definition_at_a_used_address_is_not_the_old_one(device):
    handles = set()
    for _ in range(50):
        g = cg.GraphDef()
        handles.add(g.handle)
        assert g.nodes() == set()
        g.join().join()
        assert len(g.edges()) == 1
    assert handles


# Looking while things change.


def test_a_dying_object_is_not_found_any_more(device):
    """Callbacks of weak references run before the object has left its record."""
    g, found = cg.GraphDef(), []

    def look(_):
        (node,) = g.nodes()
        found.append((node, node.handle))

    for _ in range(100):
        node = g.join()
        watch = weakref.ref(node, look)
        del node
        (again,) = g.nodes()
        assert again is found[-1][0]
        again.destroy()
        del again, watch
    assert len({id(node) for node, _ in found}) == 100
    assert all(handle for _, handle in found)
    assert all(not node.is_valid for node, _ in found)


@pytest.mark.parametrize(
    ("function", "look"),
    [
        ("cuGraphNodeGetType", lambda child: child.child_graph.nodes()),
        ("cuGraphChildGraphNodeGetGraph", lambda child: {child.child_graph}),
    ],
)
def test_two_threads_that_look_at_the_same_thing_first_see_the_same(function, look, needs, driver_table):
    node, other = needs.definition.embed(needs.child), []
    driver_table.interrupt(function, lambda: other.append(look(node)))
    mine = look(node)
    assert {id(n) for n in mine if isinstance(n, cg.GraphNode)} == {
        id(n) for n in other[0] if isinstance(n, cg.GraphNode)
    }
    assert mine == other[0] == look(node)
    assert all(n.is_valid for n in mine)


def test_many_threads_may_look_at_one_definition(needs):
    g = needs.definition
    nodes = [g._entry]
    for _ in range(30):
        nodes.append(nodes[-1].launch(ONE, needs.kernels.nothing))
    child = nodes[-1].embed(needs.child)
    nodes = set(g.nodes())

    def work():
        for _ in range(20):
            assert g.nodes() == nodes
            assert len(g.edges()) == 30
            assert len(child.child_graph.nodes()) == 2
            for node in nodes:
                assert len(node.pred) <= 1
                assert node.is_valid

    side_by_side(*[work] * 8)
