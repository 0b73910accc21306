# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: whichever driver call of an operation fails, the graph is as it was and nothing is kept.

The table of driver functions is where failures can be made: for the time of a test, one of its entries refuses.
"""

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph_rig import ONE

CASES = {
    "launch": ("cuGraphAddKernelNode", lambda g, n: g.launch(ONE, n.kernels.nothing)),
    "launch_without_user_object": ("cuUserObjectCreate", lambda g, n: g.launch(ONE, n.kernels.nothing)),
    "launch_not_retained": (
        "cuGraphRetainUserObject",
        lambda g, n: (g.handle, g.launch(ONE, n.kernels.nothing)),
    ),
    "handle": ("cuGraphRetainUserObject", lambda g, n: n.child.handle),
    "embed_not_retained": ("cuGraphRetainUserObject", lambda g, n: g.embed(n.child)),
    "launch_shape": (
        "cuGraphKernelNodeSetAttribute",
        lambda g, n: g.launch(cg.LaunchConfig(grid=2, cluster=2, block=32), n.kernels.nothing),
    ),
    "alloc": ("cuGraphAddNode", lambda g, n: g.alloc(64)),
    "memset": ("cuGraphAddNode", lambda g, n: g.memset(n.target.ctypes.data, 0, 4)),
    "memcpy": ("cuGraphAddNode", lambda g, n: g.memcpy(n.target.ctypes.data, n.source.ctypes.data, 4)),
    "memcpy_pointer": (
        "cuPointerGetAttribute",
        lambda g, n: g.memcpy(n.target.ctypes.data, n.source.ctypes.data, 4),
    ),
    "embed": ("cuGraphAddNode", lambda g, n: g.embed(n.child)),
    "record": ("cuGraphAddNode", lambda g, n: g.record_event(n.event)),
    "wait": ("cuGraphAddNode", lambda g, n: g.wait_event(n.event)),
    "callback": ("cuGraphAddNode", lambda g, n: g.callback(print)),
    "join": ("cuGraphAddNode", lambda g, n: g.join()),
    "condition": ("cuGraphConditionalHandleCreate", lambda g, n: g.create_condition(0)),
    "while": ("cuGraphAddNode", lambda g, n: g.while_loop(n.made)),
    "instantiate": ("cuGraphInstantiateWithParams", lambda g, n: g.instantiate()),
    "definition": ("cuGraphCreate", lambda g, n: cg.GraphDef()),
    "nodes": ("cuGraphGetNodes", lambda g, n: g.nodes()),
    "edges": ("cuGraphNodeGetDependencies", lambda g, n: g.edges()),
    "pred": ("cuGraphNodeGetDependencies", lambda g, n: set(n.last.pred)),
    "destroy": ("cuGraphDestroyNode", lambda g, n: n.last.destroy()),
    "type": ("cuGraphNodeGetType", lambda g, n: n.last.type),
    "dot": ("cuGraphDebugDotPrint", lambda g, n: g.debug_dot_print("/dev/null")),
}


@pytest.mark.parametrize("case", CASES)
def test_a_call_that_fails_changes_nothing_and_keeps_nothing(case, needs, driver_table):
    function, use = CASES[case]
    g = needs.definition
    needs.last = g.join().join()
    needs.made = needs.condition()
    nodes, edges, before = g.nodes(), g.edges(), boxes.live()
    driver_table.refuse(function, 46)  # CUDA_ERROR_DEVICES_UNAVAILABLE: nothing else says that
    with pytest.raises(cg.CUDAError) as caught:
        use(g, needs)
    assert caught.value.code == 46
    assert caught.value.attempt
    del caught
    driver_table.restore()
    boxes.drain()
    after = boxes.live()
    after["user_object"] = min(
        after["user_object"], before["user_object"]
    )  # an empty page may wait for the next node
    assert after == before
    assert g.nodes() == nodes
    assert g.edges() == edges


def test_an_edge_that_fails_changes_nothing(needs, driver_table):
    g = needs.definition
    a, b = g.join(), g.join()
    a.succ.add(b)
    driver_table.refuse("cuGraphRemoveDependencies", 46)
    with pytest.raises(cg.CUDAError):
        a.succ.clear()
    driver_table.refuse("cuGraphAddDependencies", 46)
    with pytest.raises(cg.CUDAError):
        b.succ.add(g.join())
    assert g.edges() == {(a, b)}


def test_an_assignment_of_neighbours_is_all_or_nothing(needs, driver_table):
    a, b, c = (needs.definition.join() for _ in range(3))
    c.pred = [a]
    driver_table.refuse_once("cuGraphAddDependencies", 46)  # when the edge from `a` is gone already
    with pytest.raises(cg.CUDAError):
        c.pred = [b]
    assert c.pred == {a}
    driver_table.refuse("cuGraphRemoveDependencies", 46)
    with pytest.raises(cg.CUDAError):
        c.pred = [b]
    assert c.pred == {a}


def test_edges_that_cannot_be_put_back_are_told(needs, driver_table):
    a, b, c = (needs.definition.join() for _ in range(3))
    c.pred = [a]
    driver_table.refuse("cuGraphAddDependencies", 46)
    with pytest.raises(cg.CUDAError, match="were removed and could not be restored") as caught:
        c.pred = [b]
    assert f"{a.handle:#x}" in str(caught.value).partition("were removed")[0]
    assert c.pred == set()


def test_owners_stay_with_the_graph_when_they_cannot_be_moved(needs, kernels, driver_table, pinned, run):
    """A destroyed node's page is copied without it; where that fails, all its owners stay until the graph goes."""
    x = pinned([1], "u4")
    g = cg.GraphDef()
    nodes = [g.launch(ONE, kernels.affine, x.ctypes.data, 3, b) for b in range(3)]
    driver_table.refuse("cuUserObjectCreate", 2)
    nodes[0].destroy()
    assert g.nodes() == set(nodes[1:])
    nodes[1].succ.add(nodes[2])
    run(g)
    assert x[0] == (1 * 3 + 1) * 3 + 2
