# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""One right call of every method of a definition and a node, for tests that make it wrong in one respect."""

import ctypes

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

# By method: how it is called rightly, as keywords (a tuple of positional ones under "*"), from what a test needs.
GOOD = {
    "join": lambda n: {"*": (n.node,)},
    "launch": lambda n: {"*": (ONE, n.kernels.affine, n.address, 1, 1)},
    "alloc": lambda n: {"size": 64},
    "free": lambda n: {"dptr": n.memory.dptr},
    "memset": lambda n: {"dst": n.address, "value": 0, "width": 1},
    "memcpy": lambda n: {"dst": n.address, "src": n.address + 64, "size": 4},
    "embed": lambda n: {"child": n.child},
    "record_event": lambda n: {"event": n.event},
    "wait_event": lambda n: {"event": n.event},
    "callback": lambda n: {"fn": FUNCTION},
    "if_then": lambda n: {"condition": n.condition},
    "if_else": lambda n: {"condition": n.condition},
    "while_loop": lambda n: {"condition": n.condition},
    "switch": lambda n: {"condition": n.condition, "count": 2},
    "call": lambda n: {"*": (Emits(), 1)},
    "capture_call": lambda n: {"*": (launch_on_the_current_stream, n.kernels.affine, n.address)},
    "edge_data": lambda n: {"before": n.node, "after": n.memory},
    "create_condition": lambda n: {},
    "param": lambda n: {"name": "p", "type": cg.i32},
    "temporary": lambda n: {"shape": 4, "dtype": cg.f32},
    "instantiate": lambda n: {},
    "debug_dot_print": lambda n: {"path": "/dev/null"},
    "draw": lambda n: {},
    "diff": lambda n: {"other": n.child},
    "save": lambda n: {"path": n.file},
    "check": lambda n: {},
}
FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: None)


def launch_on_the_current_stream(kernel, address):
    """What `capture_call` takes."""
    cg.launch(cg.current_stream(), ONE, kernel, address, 1, 1)


class Emits:
    """What `call` takes."""

    def __cuda_graph_emit__(self, node, args):
        return node.join()


BUILDERS = [
    name
    for name in GOOD
    if name
    not in (
        "edge_data",
        "create_condition",
        "param",
        "temporary",
        "instantiate",
        "debug_dot_print",
        "draw",
        "diff",
        "save",
        "check",
    )
]


class Needs:
    """The objects that the calls take."""


@pytest.fixture
def needs(device, kernels, pinned, stream, tmp_path):
    made = Needs()
    made.file = tmp_path / "graph.cgg"
    made.definition, made.kernels, made.event = cg.GraphDef(), kernels, device.create_event()
    made.node = made.definition.join()
    made.memory, made.child = made.node.alloc(64), cg.GraphDef()
    made.condition = made.definition.create_condition(0)
    made.array = pinned(64)
    made.address = made.array.ctypes.data
    return made


def call(place, method, needs, parameter=None, value=None):
    """The right call, but for one argument."""
    keywords = GOOD[method](needs)
    positional = list(keywords.pop("*", ()))
    if parameter is None:
        pass
    elif parameter.startswith("*"):
        positional[int(parameter[1:])] = value
    else:
        keywords[parameter] = value
    return getattr(place, method)(*positional, **keywords)
