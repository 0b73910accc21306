# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a definition, with all graphs in it, into a Scene (drawing/scene.py)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cuda_graphs.drawing.ranking import order_of
from cuda_graphs.drawing.scene import Box, Frame, Link, Plane, Scene
from cuda_graphs.drawing.text import size_in_words
from cuda_graphs.graph.analysis.sharing import plan_sharing
from cuda_graphs.graph.nodes.node_kinds import (
    AllocNode,
    ChildGraphNode,
    ConditionalNode,
    EmptyNode,
    EventRecordNode,
    EventWaitNode,
    FreeNode,
    HostCallbackNode,
    IfElseNode,
    IfNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
    SwitchNode,
    WhileNode,
)

from .executable_state import State

if TYPE_CHECKING:
    from cuda_graphs.graph.analysis.check import Finding
    from cuda_graphs.graph.nodes.node import GraphNode
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = [
    "box_of",
    "count_in_words",
    "labels_of",
    "read_nodes",
    "read_order",
    "read_scene",
    "style_of",
    "with_lanes",
]

Notes = Mapping[Any, tuple[int, ...]]  # GraphNode -> numbers of findings
NO_STATE = State()

TIMES = "\N{MULTIPLICATION SIGN}"
ARROW = "\N{RIGHTWARDS ARROW}"
SIDES = {"H": "host", "D": "device"}


def read_scene(
    graph: Definition, title: str, findings: Sequence[Finding] = (), state: State = NO_STATE
) -> Scene:
    """Return the Scene of a definition, with findings of its check as notes, and with the state of an executable.

    Boxes have the order of the graph, with the driver's order where it has none.
    """
    notes: dict[GraphNode, tuple[int, ...]] = {}
    for number, finding in enumerate(findings, 1):
        for node in finding.nodes:
            notes[node] = (*notes.get(node, ()), number)
    plane = read_graphs(graph, notes, state)[0].plane
    used = dict.fromkeys(name for box in plane.walk() for name in box.parameters)
    parameters = [f"parameters: {', '.join(used)}"] if used else []
    return Scene(f"{title}: {count_in_words(plane)}", plane, tuple(parameters), tuple(map(note_of, findings)))


def note_of(finding: Finding) -> str:
    """Return a finding in one line, without folders. Sizes replace addresses, which differ from run to run."""
    text = re.sub(r"(0x[0-9a-f]{6,})(?:\.\.(0x[0-9a-f]+))?", memory_in_words, str(finding))
    return re.sub(r"/[^\s:()]*/(?=[^\s/()]+:\d)", "", text)


def memory_in_words(found: re.Match[str]) -> str:
    """Return the words for an address, or for a range of addresses "first..last"."""
    if found[2] is None:
        return "some address"
    return f"{size_in_words(int(found[2], 16) - int(found[1], 16) + 1)} of memory"


def count_in_words(plane: Plane) -> str:
    count, inside = len(plane.boxes), sum(1 for _ in plane.walk()) - len(plane.boxes)
    return f"{count} node{'s' * (count != 1)}" + (f", and {inside} in graphs inside them" if inside else "")


def read_nodes(graph: Definition, title: str) -> tuple[Scene, dict[str, GraphNode]]:
    """Return the Scene of a definition, and the node of each key in it (Box.key)."""
    readings = read_graphs(graph, {}, NO_STATE)
    plane = readings[0].plane
    nodes = {f"{each.prefix}{number}": node for each in readings for number, node in enumerate(each.nodes)}
    return Scene(f"{title}: {count_in_words(plane)}", plane), nodes


def read_order(graph: Definition) -> list[Reading]:
    """Return the readings of a graph and of all inner graphs, outer ones first, without planes.

    A loop reads them, because definitions may be nested deeper than Python calls.
    """
    readings = [Reading(graph, "")]
    for reading in readings:  # the loop appends to the list
        readings += reading.read_inner()
    return readings


def read_graphs(graph: Definition, notes: Notes, state: State) -> list[Reading]:
    """Return the readings of a graph and of all inner graphs, outer ones first, each with its Plane.

    A loop builds the planes, inner ones first.
    """
    readings = read_order(graph)
    for reading in reversed(readings):
        reading.build(notes, state)
    return readings


class Reading:
    """One graph of the definition on its way into a Plane.

    graph  the definition
    nodes  its nodes, each after those that it depends on
    is_cyclic  whether edges close a circle, so that this order ignores some
    edges  (number of a node, number of a node that depends on it, data of the edge), sorted
    links  the edges with their styles
    inner  the readings of the graphs inside each node
    """

    def __init__(self, graph: Definition, prefix: str) -> None:
        nodes, edges = graph._listed_with_data()
        self.graph, self.prefix = graph, prefix
        numbers = {node: number for number, node in enumerate(nodes)}
        pairs = [(numbers[source], numbers[target]) for source, target, _ in edges]
        order, ignored = order_of(len(nodes), pairs)
        self.is_cyclic = bool(ignored)
        place = {number: at for at, number in enumerate(order)}
        self.nodes = [nodes[number] for number in order]
        self.edges = sorted(
            (place[source], place[target], data)
            for (source, target), (_, _, data) in zip(pairs, edges, strict=True)
        )
        self.links = tuple(Link(source, target, style_of(data)) for source, target, data in self.edges)
        self.inner: list[list[Reading]] = []
        self.plane = Plane()

    def read_inner(self) -> Iterator[Reading]:
        for number, node in enumerate(self.nodes):
            graphs = node._inner_graphs()
            found = [
                Reading(graph, f"{self.prefix}{number}.{branch}.") for branch, graph in enumerate(graphs)
            ]
            self.inner.append(found)
            yield from found

    def build(self, notes: Notes, state: State) -> None:
        boxes = []
        shares = sharing_of(self.graph, self.nodes)
        self.links = tuple(
            replace(link, style="programmatic")
            if (self.nodes[link.source], self.nodes[link.target]) in state.early
            else link
            for link in self.links
        )
        for number, (node, inner) in enumerate(zip(self.nodes, self.inner, strict=True)):
            frames = tuple(
                Frame(label, reading.plane) for label, reading in zip(labels_of(node), inner, strict=True)
            )
            box = with_sharing(box_of(node, f"{self.prefix}{number}", frames), shares.get(node, ()))
            boxes.append(with_state(box, node, notes, state))
        self.plane = Plane(tuple(with_lanes(boxes, self.links)), self.links)


def sharing_of(graph: Definition, nodes: Sequence[GraphNode]) -> dict[Any, tuple[Any, ...]]:
    """Return the arrays that have some of the same bytes as the array of an alloc node, for each of these nodes."""
    if not any(isinstance(node, AllocNode) and node._place() == "shared" for node in nodes):
        return {}
    return {
        array: tuple(plan.sharing(number))
        for plan in plan_sharing(graph)
        for number, array in enumerate(plan.arrays)
    }


def with_sharing(box: Box, others: Sequence[Any]) -> Box:
    """Return the box of an alloc node with the names of those that share its memory."""
    if not others:
        return box
    return replace(box, hover=(*box.hover, f"shares memory with {', '.join(each.name for each in others)}"))


def with_state(box: Box, node: Any, notes: Notes, state: State) -> Box:
    """Return the box of a node with its notes, the values of its parameters, and a mark if it is disabled."""
    if node in notes:
        box = replace(box, notes=notes[node])
    if box.parameters and state.values:
        box = replace(box, parameters=tuple(state.values.get(name, name) for name in box.parameters))
    return replace(box, mark="disabled") if node in state.disabled else box


def with_lanes(boxes: list[Box], links: tuple[Link, ...]) -> list[Box]:
    """Return the boxes, where a box without a device is in the lane of a box before it, else of a box after it."""
    lanes = [box.lane for box in boxes]
    if len({*lanes} - {None}) < 2:
        return boxes
    for source, target in [(link.source, link.target) for link in links]:
        lanes[target] = lanes[source] if lanes[target] is None else lanes[target]
    for source, target in [(link.source, link.target) for link in reversed(links)]:
        lanes[source] = lanes[target] if lanes[source] is None else lanes[source]
    return [replace(box, lane=lane) for box, lane in zip(boxes, lanes, strict=True)]


def style_of(data: tuple[int, int, int]) -> str:
    """Return the style of a link with (from_port, to_port, type)."""
    from_port, _, kind = data
    if kind:
        return "programmatic"
    return "early" if from_port else "full"


def labels_of(node: GraphNode) -> list[str]:
    """Return the labels of the graphs inside a node."""
    if isinstance(node, SwitchNode):
        return [f"case {number}" for number in range(len(node.branches))]
    return LABELS.get(type(node), [])


LABELS: dict[type, list[str]] = {
    IfNode: ["then"],
    IfElseNode: ["then", "else"],
    WhileNode: ["body, repeated"],
    ChildGraphNode: ["graph"],
}


def box_of(node: GraphNode, key: str, frames: tuple[Frame, ...]) -> Box:
    kind, describe = DESCRIBE.get(type(node), ("other", describe_nothing))
    box = Box(
        key,
        kind,
        node.name,
        parameters=node._parameter_names(),
        source=node.source,
        lane=node._device(),
        frames=frames,
        is_named=node._given_name() is not None,
    )
    box = replace(box, **describe(node))
    used = dict.fromkeys(each.name for each in node._temporaries())
    return replace(box, hover=(*box.hover, f"temporaries: {', '.join(used)}")) if used else box


def describe_nothing(node: Any) -> dict[str, Any]:
    return {}


def describe_kernel(node: Any) -> dict[str, Any]:
    kernel, config = node.kernel.name, node.config
    lines = [f"grid {extents(config.grid)} {MIDDLE} block {extents(config.block)}"]
    hover = []
    name, task = task_of(kernel)
    if task:
        lines[0] = f"task {task} {MIDDLE} {lines[0]}"
    if node._given_name() is not None:
        lines.insert(0, name)
    if name != kernel:
        hover.append(f"kernel {kernel}")
    if config.cluster:
        lines.append(f"clusters of {extents(config.cluster)}")
    if node.shmem_size:
        lines.append(f"shared {size_in_words(node.shmem_size)}")
    if config.is_cooperative:
        lines.append("cooperative")
    found = {"lines": tuple(lines), "hover": (*hover, *accesses(node))}
    return found if node._given_name() is not None else {"title": name, **found}


MIDDLE = "\N{MIDDLE DOT}"


def accesses(node: Any) -> Iterator[str]:
    """Yield lines that say how many bytes a kernel or callback reads and writes, as far as it is declared."""
    for word, spans in zip(("reads", "writes"), node._declared(), strict=True):
        known = [span for span in spans or () if isinstance(span.start, int)]
        if known:  # the size of a parameter's memory is not fixed
            yield f"{word} {size_in_words(sum(span.run * span.runs for span in known))}"


def extents(sizes: Any) -> str:
    """Return the extents of a grid without the 1s at the end: (4, 1, 1) is "4"."""
    kept = list(sizes)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return TIMES.join(map(str, kept))


def task_of(name: str) -> tuple[str, int]:
    """Return the name of a kernel as in its source, and the number of the task that the kernel compiler made of it."""
    task = re.fullmatch(r"(.+)_(\d+)_(?:loop|serial)", name)
    return (task[1], int(task[2])) if task else (short_name(name), 0)


def short_name(name: str) -> str:
    """Return the name of a kernel as in its source: of a C++ name the last part, without its types."""
    nested = re.match(r"_ZN?K?(?=\d)", name)
    at, part = (nested.end(), "") if nested else (0, "")
    while nested and (length := re.match(r"\d+", name[at:])):
        start = at + length.end()
        at = start + int(length[0])
        part = name[start:at]
    return part or name


def describe_memcpy(node: Any) -> dict[str, Any]:
    way = f"{SIDES[node._src_side]} {ARROW} {SIDES[node._dst_side]}"
    shape = [node.width, node.height, node.depth]
    lines = [f"{way} {MIDDLE} {size_in_words(node.size)}"]
    if node.height > 1 or node.depth > 1:
        lines.append(f"{extents(shape)} bytes")
    return with_kind(node, "memcpy", lines)


def describe_memset(node: Any) -> dict[str, Any]:
    size = node.width * node.height * node.element_size
    return with_kind(
        node, "memset", [f"value {number_in_words(node._number())} {MIDDLE} {size_in_words(size)}"]
    )


def number_in_words(number: float) -> str:
    """Return a number as text; a float has a point or an exponent: "1.0", "0.1", "1e+20"."""
    text = f"{number:.7g}" if isinstance(number, float) else str(number)
    return f"{text}.0" if isinstance(number, float) and text.lstrip("-").isdigit() else text


def describe_alloc(node: Any) -> dict[str, Any]:
    lines = [size_in_words(node.bytesize)]
    if node.shape is not None:
        lines.append(f"{node.dtype} {TIMES.join(map(str, node.shape)) or 'number'}")
    if node.memory_type != "device":
        lines.append(f"{node.memory_type} memory")
    return with_kind(node, "alloc", lines)


def describe_free(node: Any) -> dict[str, Any]:
    return with_kind(node, "free", [])


def describe_host(node: Any) -> dict[str, Any]:
    return {"lines": ("calls the host",), "hover": tuple(accesses(node))}


def describe_event(node: Any) -> dict[str, Any]:
    return with_kind(node, DESCRIBE[type(node)][0], [])


def describe_conditional(node: Any) -> dict[str, Any]:
    return with_kind(node, node.cond_type or "conditional", [])


def with_kind(node: Any, kind: str, lines: list[str]) -> dict[str, Any]:
    """Return the lines of a node, the first of them with the kind if the title does not say it."""
    if node._given_name() is not None:
        lines = [" ".join([kind, *lines[:1]]), *lines[1:]]
    return {"lines": tuple(lines)}


# Class of a node -> (kind of its box, function that reads the details).
DESCRIBE: dict[type, tuple[str, Callable[[Any], dict[str, Any]]]] = {
    EmptyNode: ("empty", describe_nothing),
    KernelNode: ("kernel", describe_kernel),
    AllocNode: ("alloc", describe_alloc),
    FreeNode: ("free", describe_free),
    MemsetNode: ("memset", describe_memset),
    MemcpyNode: ("memcpy", describe_memcpy),
    ChildGraphNode: ("child", describe_nothing),
    HostCallbackNode: ("host", describe_host),
    EventRecordNode: ("record", describe_event),
    EventWaitNode: ("wait", describe_event),
    IfNode: ("if", describe_conditional),
    IfElseNode: ("if", describe_conditional),
    WhileNode: ("while", describe_conditional),
    SwitchNode: ("switch", describe_conditional),
    ConditionalNode: ("conditional", describe_conditional),
}
