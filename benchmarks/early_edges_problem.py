# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The contestants of early_edges.py. Each computes the same numbers, which are compared first.

The kernels by hand are PTX with one element a thread, as a programmer would write them. ORDERS has the orders of their
instructions: `trigger` lets the next kernel begin, `wait` waits for the end of the kernels before, `load c` reads the
array that no kernel of the graph writes.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

import cuda_graphs as cg

Vector = cg.Array1[cg.f32]
BLOCK = 128
BRANCHES = 8


@cg.kernel(fuse=False)
def step(b: Vector, c: Vector) -> None:
    for i in b:
        b[i] = b[i] * 1.01 + c[i]


@cg.kernel(fuse=False)
def branch(to: Vector, b: Vector, c: Vector) -> None:
    for i in to:
        to[i] = b[i] * 1.01 + c[i]


PARTS = {
    "trigger": "griddepcontrol.launch_dependents;",
    "wait": "griddepcontrol.wait;",
    "load c": "@%p ld.global.f32 %fc, [%rc];",
    "load b": "@%p ld.global.f32 %fb, [%rb];",
}
LOADS = ("load b", "load c")
ORDERS: dict[str, tuple[str, ...]] = {
    "by hand, full edges": LOADS,
    "wait, trigger": ("wait", "trigger", *LOADS),
    "early load, wait, trigger": ("load c", "wait", "trigger", "load b"),
    "trigger, wait": ("trigger", "wait", *LOADS),
    "trigger, early load, wait": ("trigger", "load c", "wait", "load b"),
}
PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry step(.param .u64 to, .param .u64 b, .param .u64 c, .param .u32 n) {{
    .reg .pred %p;
    .reg .f32 %fb, %fc, %f;
    .reg .b32 %i, %t, %n;
    .reg .b64 %rt, %rb, %rc, %at;
    ld.param.u64 %rt, [to];
    ld.param.u64 %rb, [b];
    ld.param.u64 %rc, [c];
    ld.param.u32 %n, [n];
    mov.u32 %i, %ctaid.x;
    mov.u32 %t, %ntid.x;
    mul.lo.s32 %i, %i, %t;
    mov.u32 %t, %tid.x;
    add.s32 %i, %i, %t;
    setp.lt.s32 %p, %i, %n;
    mul.wide.s32 %at, %i, 4;
    cvta.to.global.u64 %rt, %rt;
    cvta.to.global.u64 %rb, %rb;
    cvta.to.global.u64 %rc, %rc;
    add.s64 %rt, %rt, %at;
    add.s64 %rb, %rb, %at;
    add.s64 %rc, %rc, %at;
    {parts}
    mul.rn.f32 %f, %fb, 0f3F8147AE;
    add.rn.f32 %f, %f, %fc;
    @%p st.global.f32 [%rt], %f;
    ret;
}}
"""


def kernel_by_hand(order: tuple[str, ...]) -> Any:
    text = PTX.format(parts="\n    ".join(PARTS[each] for each in order))
    return cg.ObjectCode.from_ptx(text.encode()).get_kernel("step")


class Arrays:
    """The arrays of a graph: one that all nodes change, one for each branch, and one for each node to read."""

    def __init__(self, n: int, nodes: int) -> None:
        self.n = n
        self.b = cg.ndarray(cg.f32, n)
        self.outs = [cg.ndarray(cg.f32, n) for _ in range(nodes)]
        self.inputs = [cg.ndarray(cg.f32, n) for _ in range(nodes)]
        for number, each in enumerate(self.inputs):
            each.from_numpy(np.linspace(-1, number, n, dtype=np.float32))

    def clear(self) -> None:
        for each in (self.b, *self.outs):
            each.from_numpy(np.ones(self.n, np.float32))

    def numbers(self) -> list[bytes]:
        return [each.to_numpy().tobytes() for each in (self.b, *self.outs)]


Add = Callable[[Any, Any, Any, Any], Any]
"""Adds the node that computes an array from two others, and returns it."""


def add_ours(place: Any, to: Any, b: Any, c: Any) -> Any:
    return place.call(step, b, c) if to is b else place.call(branch, to, b, c)


def by_hand(order: tuple[str, ...], n: int) -> tuple[Add, Any]:
    """Return how to add a node, and the EdgeData of its edge."""
    kernel, config = kernel_by_hand(order), cg.LaunchConfig(grid=-(-n // BLOCK), block=BLOCK)
    data = cg.EdgeData.programmatic() if "wait" in order else cg.EdgeData()

    def add(place: Any, to: Any, b: Any, c: Any) -> Any:
        return place.launch(config, kernel, to, b, c, n)

    return add, data


def chain(add: Add, arrays: Arrays, data: Any, length: int) -> cg.GraphDef:
    """Return a chain over one array."""
    definition = cg.GraphDef()
    nodes = [add(definition, arrays.b, arrays.b, arrays.inputs[i]) for i in range(length)]
    for before, after in pairwise(nodes):
        after.pred.add(before, data)
    return definition


def fork_join(add: Add, arrays: Arrays, data: Any, branches: int) -> cg.GraphDef:
    """Return a kernel, branches that read its result, and a kernel that reads one branch and waits for all."""
    definition = cg.GraphDef()
    first = add(definition, arrays.b, arrays.b, arrays.inputs[0])
    inner = [add(definition, arrays.outs[i], arrays.b, arrays.inputs[i]) for i in range(branches)]
    last = add(definition, arrays.b, arrays.b, arrays.outs[0])
    for each in inner:
        each.pred.add(first, data)
        last.pred.add(each, data)
    return definition


SHAPES: dict[str, Callable[[Add, Arrays, Any, int], cg.GraphDef]] = {
    "chain": chain,
    "fork and join": fork_join,
}


def contestants(shape: str, n: int, length: int) -> tuple[cg.Stream, dict[str, Callable[[], Any]]]:
    """Return the stream, and a function for each contestant that launches its graph."""
    device = cg.Device()
    device.set_current()
    stream = device.create_stream()
    arrays = Arrays(n, length)
    build = SHAPES[shape]
    graphs: dict[str, cg.Graph] = {}
    for name, order in ORDERS.items():
        add, data = by_hand(order, n)
        graphs[name] = build(add, arrays, data, length).instantiate()
    ours = build(add_ours, arrays, cg.EdgeData(), length)
    graphs["ours, full edges"] = ours.instantiate()
    graphs["ours, early edges"] = ours.instantiate(early_edges=True)
    found = []
    for graph in graphs.values():
        arrays.clear()
        graph.launch(stream)
        stream.sync()
        found.append(arrays.numbers())
    assert all(each == found[0] for each in found), "the contestants computed different numbers"
    return stream, {name: partial(graph.launch, stream) for name, graph in graphs.items()}
