# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The real side of the graph machine: kernels, memory, and functions that make and identify each kind of node.

Every node has a mark, something that the driver gives back unchanged: a kernel the size of its dynamic shared memory,
a memset its value. With it the nodes of a clone are found, and it shows that reading a node gives what was written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

import cuda_graphs as cg
from tests.property.graph_model import MASK, Graph, Lists, Node, Work

SOURCE = r"""
#include <cuda_graphs.h>

// table[row] is where the list of that row begins: its length, then words.
__device__ unsigned folded(const unsigned* words, const unsigned* table, unsigned row, unsigned x) {
    const unsigned* list = table + table[row];
    for (unsigned i = 1; i <= list[0]; ++i) x = 31 * x + words[list[i]];
    return x;
}
extern "C" __global__ void fold(
    unsigned* words, const unsigned* table, unsigned row, unsigned word, unsigned a, unsigned c
) {
    words[word] = folded(words, table, row, a * words[word] + c);
}
extern "C" __global__ void decide(
    unsigned* words, const unsigned* table, unsigned row, unsigned a, unsigned c, cudaGraphConditionalHandle handle
) {
    cudaGraphSetConditional(handle, folded(words, table, row, c) % a);
}
extern "C" __global__ void start(unsigned* words, unsigned word, unsigned times, cudaGraphConditionalHandle handle) {
    words[word] = times;
    cudaGraphSetConditional(handle, times > 0);
}
extern "C" __global__ void count(unsigned* words, unsigned word, cudaGraphConditionalHandle handle) {
    unsigned left = words[word];
    words[word] = left ? left - 1 : 0;
    cudaGraphSetConditional(handle, left > 1);
}
"""
KERNELS = ("fold", "decide", "start", "count")
WORDS, ROWS, TABLE = 1024, 1024, 1 << 17
PARAMETERS, DEFAULT = ("alpha", "beta"), 17
BODIES = {"if": 1, "if_else": 2, "switch": 3, "while": 1}
CLASSES = {
    **dict.fromkeys(("kernel", "decide", "start", "count"), cg.KernelNode),
    **dict.fromkeys(("memcpy", "store", "load"), cg.MemcpyNode),
    "memset": cg.MemsetNode,
    "callback": cg.HostCallbackNode,
    "empty": cg.EmptyNode,
    "record": cg.EventRecordNode,
    "wait": cg.EventWaitNode,
    "child": cg.ChildGraphNode,
    "alloc": cg.AllocNode,
    "free": cg.FreeNode,
    "if": cg.IfNode,
    "if_else": cg.IfElseNode,
    "switch": cg.SwitchNode,
    "while": cg.WhileNode,
}


class World:
    """Memory and kernels, and the objects behind the numbers of the model."""

    def __init__(self, device: cg.Device, stream: cg.Stream) -> None:
        self.stream = stream
        self.steps = 0
        resource = cg.PinnedMemoryResource()
        self.words, self.table = (
            np.from_dlpack(resource.allocate(4 * n, stream=stream)).view(np.uint32) for n in (WORDS, TABLE)
        )
        module = cg.Program(SOURCE, code_type="c++").compile("cubin")
        self.kernels = {name: module.get_kernel(name) for name in KERNELS}
        self.events = [device.create_event() for _ in range(3)]
        self.forget()

    def forget(self) -> None:
        """Begin anew, with the memory that is there."""
        self.words[:] = 0
        self.callbacks: dict[int, Callable[[], None]] = {}
        self.conditions: dict[int, cg.Condition] = {}
        self.addresses: dict[int, int] = {}

    def at(self, word: int) -> int:
        return self.words.ctypes.data + 4 * word

    def event(self, work: Work) -> cg.Event:
        return self.events[work.number % len(self.events)]

    def write_table(self, lists: Lists) -> None:
        end = ROWS
        for row, words in lists.items():
            self.table[row] = end
            self.table[end : end + 1 + len(words)] = len(words), *sorted(words)
            end += 1 + len(words)

    def callback(self, work: Work) -> Callable[[], None]:
        """Does on the host what a fold kernel does."""

        def fold() -> None:
            x = (work.a * int(self.words[work.word]) + work.c) & MASK
            begin = int(self.table[work.row])
            for word in self.table[begin + 1 : begin + 1 + int(self.table[begin])]:
                x = (31 * x + int(self.words[word])) & MASK
            self.words[work.word] = x

        return self.callbacks.setdefault(work.number, fold)

    def config(self, work: Work) -> cg.LaunchConfig:
        return cg.LaunchConfig(grid=1, block=1, shmem_size=work.number)

    def launch(self, place: Any, work: Work) -> cg.KernelNode:
        name, _ = ARGUMENTS[work.kind]
        return place.launch(self.config(work), self.kernels[name], *self.arguments(work, place))

    def arguments(self, work: Work, place: Any = None) -> tuple[Any, ...]:
        """The arguments of a kernel; the last one as a parameter of the definition at `place`, if it has one."""
        arguments = ARGUMENTS[work.kind][1](self, work)
        if not work.parameter:
            return arguments
        definition = place if isinstance(place, cg.GraphDef) else place.graph
        return *arguments[:-1], definition.param(work.parameter, cg.u32, default=DEFAULT)

    def alloc(self, place: Any, work: Work) -> cg.AllocNode:
        node = place.alloc(4)
        self.addresses[work.memory] = node.dptr
        return node

    def add(self, place: Any, work: Work) -> cg.GraphNode:
        """Add a node that does `work` after `place`. Child graphs are embedded by the machine."""
        return ADD[work.kind](self, place, work)

    def change(self, node: Any, work: Work) -> None:
        """Have a node of a definition do `work`, which differs in what CHANGE says."""
        CHANGE[work.kind](self, node, work)

    def set(self, view: Any, work: Work) -> None:
        """The same for a node of an executable, which takes everything anew."""
        SET[work.kind](self, view, work)

    def mark(self, work: Work) -> Hashable:
        """Returns the expected `mark_of` a node that does `work`."""
        return MARK.get(work.kind, lambda world, work: work.kind)(self, work)


Arguments = Callable[[World, Work], tuple[Any, ...]]

# kind -> kernel and arguments
ARGUMENTS: dict[str, tuple[str, Arguments]] = {
    "kernel": ("fold", lambda world, w: (world.at(0), world.table.ctypes.data, w.row, w.word, w.a, w.c)),
    "decide": (
        "decide",
        lambda world, w: (
            world.at(0),
            world.table.ctypes.data,
            w.row,
            w.a,
            w.c,
            world.conditions[w.condition],
        ),
    ),
    "start": ("start", lambda world, w: (world.at(0), w.word, w.a, world.conditions[w.condition])),
    "count": ("count", lambda world, w: (world.at(0), w.word, world.conditions[w.condition])),
}

ADD: dict[str, Callable[[World, Any, Work], cg.GraphNode]] = {
    **dict.fromkeys(ARGUMENTS, World.launch),
    "memset": lambda world, place, w: place.memset(world.at(w.word), np.uint32(w.number), 1),
    "memcpy": lambda world, place, w: place.memcpy(world.at(w.word), world.at(w.source), 4),
    "store": lambda world, place, w: place.memcpy(world.addresses[w.memory], world.at(w.source), 4),
    "load": lambda world, place, w: place.memcpy(world.at(w.word), world.addresses[w.memory], 4),
    "callback": lambda world, place, w: place.callback(world.callback(w)),
    "empty": lambda world, place, w: place.join(),
    "record": lambda world, place, w: place.record_event(world.event(w)),
    "wait": lambda world, place, w: place.wait_event(world.event(w)),
    "alloc": World.alloc,
    "free": lambda world, place, w: place.free(world.addresses[w.memory]),
    "if": lambda world, place, w: place.if_then(world.conditions[w.condition]),
    "if_else": lambda world, place, w: place.if_else(world.conditions[w.condition]),
    "switch": lambda world, place, w: place.switch(world.conditions[w.condition], BODIES["switch"]),
    "while": lambda world, place, w: place.while_loop(world.conditions[w.condition]),
}

CHANGE: dict[str, Callable[[World, Any, Work], None]] = {
    **dict.fromkeys(("kernel", "decide"), lambda world, node, w: node.update(args=world.arguments(w, node))),
    "memset": lambda world, node, w: node.update(value=np.uint32(w.number)),
    "memcpy": lambda world, node, w: node.update(src=world.at(w.source)),
    "callback": lambda world, node, w: node.update(world.callback(w)),
    **dict.fromkeys(("record", "wait"), lambda world, node, w: node.update(world.event(w))),
}

SET: dict[str, Callable[[World, Any, Work], None]] = {
    **dict.fromkeys(
        ("kernel", "decide"),
        lambda world, view, w: view.update(
            config=world.config(w), kernel=world.kernels[ARGUMENTS[w.kind][0]], args=world.arguments(w)
        ),
    ),
    "memset": lambda world, view, w: view.update(dst=world.at(w.word), value=np.uint32(w.number), width=1),
    "memcpy": lambda world, view, w: view.update(dst=world.at(w.word), src=world.at(w.source), size=4),
    "callback": lambda world, view, w: view.update(world.callback(w)),
    **dict.fromkeys(("record", "wait"), lambda world, view, w: view.update(world.event(w))),
}

MARK: dict[str, Callable[[World, Work], Hashable]] = {
    **dict.fromkeys(ARGUMENTS, lambda world, w: w.number),
    **dict.fromkeys(BODIES, lambda world, w: (world.conditions[w.condition], BODIES[w.kind])),
    **dict.fromkeys(("record", "wait"), lambda world, w: world.event(w)),
    "memset": lambda world, w: (world.at(w.word), w.number),
    "memcpy": lambda world, w: (world.at(w.word), world.at(w.source)),
    "store": lambda world, w: (world.addresses[w.memory], world.at(w.source)),
    "load": lambda world, w: (world.at(w.word), world.addresses[w.memory]),
    "callback": lambda world, w: world.callback(w),
    "alloc": lambda world, w: world.addresses[w.memory],
    "free": lambda world, w: world.addresses[w.memory],
}

MARK_OF: dict[type, Callable[[Any], Hashable]] = {
    cg.KernelNode: lambda node: node.shmem_size,
    cg.MemsetNode: lambda node: (node.dptr, node.value),
    cg.MemcpyNode: lambda node: (node.dst, node.src),
    cg.HostCallbackNode: lambda node: node.callback_fn,
    cg.EventRecordNode: lambda node: node.event,
    cg.EventWaitNode: lambda node: node.event,
    cg.EmptyNode: lambda node: "empty",
    cg.ChildGraphNode: lambda node: "child",
    cg.AllocNode: lambda node: node.dptr,
    cg.FreeNode: lambda node: node.dptr,
    **dict.fromkeys(
        (cg.IfNode, cg.IfElseNode, cg.SwitchNode, cg.WhileNode),
        lambda node: (node.condition, len(node.branches)),
    ),
}


def mark_of(node: cg.GraphNode) -> Hashable:
    """The mark of a real node, from what the driver says of it."""
    return MARK_OF[type(node)](node)


Colours = dict[Any, int]


def refined(colours: Colours, edges: Iterable[tuple[Any, Any]]) -> Colours:
    """Nodes that differ in the colours of their neighbours get different colours, until nothing changes."""
    before: dict[Any, list[Any]] = {node: [] for node in colours}
    after: dict[Any, list[Any]] = {node: [] for node in colours}
    for u, v in edges:
        after[u].append(v)
        before[v].append(u)
    for _ in colours:
        colours = {
            node: hash(
                (
                    colour,
                    tuple(sorted(colours[n] for n in before[node])),
                    tuple(sorted(colours[n] for n in after[node])),
                )
            )
            for node, colour in colours.items()
        }
    return colours


def match(graph: Graph, real: cg.GraphDef, world: World) -> dict[Node, cg.GraphNode]:
    """Which node of a clone is which of the model's: by marks, then neighbours; of equals, any."""
    ours = {node: hash((CLASSES[node.work.kind], signature(node, world))) for node in graph.before}
    theirs = {node: hash((type(node), signature_of(node))) for node in real.nodes()}
    edges = [(u, v) for v, before in graph.before.items() for u in before]
    while True:
        ours, theirs = refined(ours, edges), refined(theirs, real.edges())
        assert Counter(ours.values()) == Counter(theirs.values())
        twin = {colour: node for node, colour in theirs.items()}
        if len(twin) == len(theirs):
            return {node: twin[colour] for node, colour in ours.items()}
        common, _ = Counter(ours.values()).most_common(1)[0]
        node = next(node for node, colour in ours.items() if colour == common)
        ours[node] = theirs[twin[common]] = hash((common, "told apart"))


def signature(node: Node, world: World) -> Hashable:
    if node.work.kind != "child":
        return world.mark(node.work)
    return tuple(sorted(hash(signature(inner, world)) for inner in node.inner[0].before))


def signature_of(node: cg.GraphNode) -> Hashable:
    if not isinstance(node, cg.ChildGraphNode):
        return mark_of(node)
    return tuple(sorted(hash(signature_of(inner)) for inner in node.child_graph.nodes()))
