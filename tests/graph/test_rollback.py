# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: whichever driver call of an operation fails, the graph is as it was and nothing is kept.

The table of driver functions is where failures can be made: for the time of a test, one of its entries refuses.
"""

import ctypes
import re
from pathlib import Path

import pytest

import cuda_graphs as cg
from cuda_graphs._handles import boxes
from tests.graph_rig import ONE

PACKAGE = Path(cg.__file__).parent
STATUS = ctypes.CFUNCTYPE(ctypes.c_int)
NAMES = re.findall(r"^CG_\w+\((\w+),", (PACKAGE / "_driver/functions.def").read_text(), re.MULTILINE)


class Refusal:
    """refusal(name, status): from now on, the driver function of that name does nothing but return `status`."""

    def __init__(self):
        library = ctypes.CDLL(str(PACKAGE / "_handles/libcuda_graphs_handles.so"))
        self.table = (ctypes.c_void_p * len(NAMES)).in_dll(library, "_ZN2cg6detail5tableE")
        self.before = list(self.table)
        self.functions = []

    def __call__(self, name, status):
        self.functions.append(STATUS(lambda: status))
        self.table[NAMES.index(name)] = ctypes.cast(self.functions[-1], ctypes.c_void_p).value

    def stop(self):
        self.table[:] = self.before


@pytest.fixture
def refuse(device):
    refusal = Refusal()
    yield refusal
    refusal.stop()


CASES = {
    "launch": ("cuGraphAddKernelNode", lambda g, n: g.launch(ONE, n.kernels.nothing)),
    "launch_without_user_object": ("cuUserObjectCreate", lambda g, n: g.launch(ONE, n.kernels.nothing)),
    "launch_not_retained": ("cuGraphRetainUserObject", lambda g, n: g.launch(ONE, n.kernels.nothing)),
    "launch_shape": (
        "cuGraphKernelNodeSetAttribute",
        lambda g, n: g.launch(cg.LaunchConfig(grid=2, cluster=2, block=32), n.kernels.nothing),
    ),
    "alloc": ("cuGraphAddMemAllocNode", lambda g, n: g.alloc(64)),
    "memset": ("cuGraphAddMemsetNode", lambda g, n: g.memset(n.target.ctypes.data, 0, 4)),
    "memcpy": ("cuGraphAddMemcpyNode", lambda g, n: g.memcpy(n.target.ctypes.data, n.source.ctypes.data, 4)),
    "memcpy_pointer": (
        "cuPointerGetAttribute",
        lambda g, n: g.memcpy(n.target.ctypes.data, n.source.ctypes.data, 4),
    ),
    "embed": ("cuGraphAddChildGraphNode", lambda g, n: g.embed(n.child)),
    "record": ("cuGraphAddEventRecordNode", lambda g, n: g.record_event(n.event)),
    "wait": ("cuGraphAddEventWaitNode", lambda g, n: g.wait_event(n.event)),
    "callback": ("cuGraphAddHostNode", lambda g, n: g.callback(print)),
    "join": ("cuGraphAddEmptyNode", lambda g, n: g.join()),
    "condition": ("cuGraphConditionalHandleCreate", lambda g, n: g.create_condition(0)),
    "while": ("cuGraphAddNode", lambda g, n: g.while_loop(n.made)),
    "instantiate": ("cuGraphInstantiateWithParams", lambda g, n: g.instantiate()),
    "definition": ("cuGraphCreate", lambda g, n: cg.GraphDef()),
    "nodes": ("cuGraphGetNodes", lambda g, n: g.nodes()),
    "edges": ("cuGraphGetEdges", lambda g, n: g.edges()),
    "pred": ("cuGraphNodeGetDependencies", lambda g, n: set(n.last.pred)),
    "destroy": ("cuGraphDestroyNode", lambda g, n: n.last.destroy()),
    "type": ("cuGraphNodeGetType", lambda g, n: n.last.type),
    "dot": ("cuGraphDebugDotPrint", lambda g, n: g.debug_dot_print("/dev/null")),
}


@pytest.mark.parametrize("case", CASES)
def test_a_call_that_fails_changes_nothing_and_keeps_nothing(case, needs, refuse):
    function, use = CASES[case]
    g = needs.definition
    needs.last = g.join().join()
    needs.made = needs.condition()
    nodes, edges, before = g.nodes(), g.edges(), boxes.live()
    refuse(function, 46)  # CUDA_ERROR_DEVICES_UNAVAILABLE: nothing else says that
    with pytest.raises(cg.CUDAError) as caught:
        use(g, needs)
    assert caught.value.code == 46
    assert caught.value.attempt
    del caught
    refuse.stop()
    boxes.drain()
    after = boxes.live()
    after["user_object"] = min(
        after["user_object"], before["user_object"]
    )  # an empty page may wait for the next node
    assert after == before
    assert g.nodes() == nodes
    assert g.edges() == edges


def test_an_edge_that_fails_changes_nothing(needs, refuse):
    g = needs.definition
    a, b = g.join(), g.join()
    a.succ.add(b)
    refuse("cuGraphRemoveDependencies", 46)
    with pytest.raises(cg.CUDAError):
        a.succ.clear()
    refuse("cuGraphAddDependencies", 46)
    with pytest.raises(cg.CUDAError):
        b.succ.add(g.join())
    assert g.edges() == {(a, b)}


def test_owners_stay_with_the_graph_when_they_cannot_be_moved(needs, kernels, refuse, pinned, run):
    """A destroyed node's page is copied without it; where that fails, all its owners stay until the graph goes."""
    x = pinned([1], "u4")
    g = cg.GraphDef()
    nodes = [g.launch(ONE, kernels.affine, x.ctypes.data, 3, b) for b in range(3)]
    refuse("cuUserObjectCreate", 2)
    nodes[0].destroy()
    assert g.nodes() == set(nodes[1:])
    nodes[1].succ.add(nodes[2])
    run(g)
    assert x[0] == (1 * 3 + 1) * 3 + 2
