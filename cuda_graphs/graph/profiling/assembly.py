# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Assigns the runs of a recording to the nodes of the definitions that were launched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from cuda_graphs.drawing.scene import Box, Plane, Scene

from .definitions import Known
from .recording import BodyRun, NodeRun, Recording

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["Assembly", "Run", "assemble"]

# Name of a kind in a recording -> kind of a box (drawing/kinds.py).
KINDS = {
    "KERNEL": "kernel",
    "MEMCPY": "memcpy",
    "MEMSET": "memset",
    "HOST": "host",
    "MEM_ALLOC": "alloc",
    "MEM_FREE": "free",
    "GRAPH": "child",
    "EMPTY": "empty",
    "EVENT_RECORD": "record",
    "EVENT_WAIT": "wait",
    "CONDITIONAL": "conditional",
}


class Run(NamedTuple):
    """One run of a node or of a body.

    key        the key of the node's box in the scene; of a body that of its frame ("3.0" is the first frame of box "3")
    launch     number of the launch
    around     number of the body run that it is in, or of the launch
    number     0 for a node, else the number of the body run
    iteration  of a body: number of earlier runs of the body in this run of its node
    stream, track and device are those of recording.py; a body has none
    """

    key: str
    launch: int
    around: int
    start: int
    end: int
    number: int = 0
    iteration: int = 0
    stream: int = 0
    track: int = 0
    device: int = 0


def placed(run: NodeRun, key: str, launch: int) -> Run:
    """Return a recorded run as a run of the box with a key."""
    return Run(key, launch, run.around, run.start, run.end, 0, 0, run.stream, run.track, run.device)


@dataclass
class Assembly:
    """The launches of one definition.

    scene     the nodes of the definition
    traffic   bytes that one run of a node reads and writes, by key, as far as they are known
    runs      runs of nodes, in the order of their starts
    bodies    runs of bodies, in the order of their starts
    of        returns the definition, or None once it is gone. None if it was gone at the end of the recording: then the
              boxes are those that the driver named, without links
    """

    scene: Scene
    traffic: dict[str, int]
    of: Callable[[], Definition | None] | None = None
    runs: list[Run] = field(default_factory=list)
    bodies: list[Run] = field(default_factory=list)


def assemble(definitions: Iterable[Known], recording: Recording) -> list[Assembly]:
    """Return the launches of each definition that has runs, and of all graphs whose definition is gone."""
    placers = [Placer(each) for each in definitions]
    owner = {handle: each for each in placers for handle in each.keys}
    root = roots_of(recording.bodies)
    unknown: list[NodeRun] = []
    for run in recording.nodes:
        if run.node in owner:
            owner[run.node].add_node(run, root)
        else:
            unknown.append(run)
    for body in recording.bodies:
        if body.node in owner:
            owner[body.node].add_body(body, root)
    found = [each.finish() for each in placers]
    if unknown:
        found.append(unknown_graph(unknown, root))
    return [each for each in found if each.runs]


class Roots(dict[int, int]):
    """Number of a body run -> number of its launch. The number of a launch stands for itself."""

    def __missing__(self, number: int) -> int:
        return number


def roots_of(bodies: Sequence[BodyRun]) -> Roots:
    around = {body.number: body.around for body in bodies}
    roots = Roots()
    for number in around:
        path = []
        while number in around and number not in roots:
            path.append(number)
            number = around[number]
        roots.update(dict.fromkeys(path, roots[number]))
    return roots


class Placer:
    """Places the runs of one definition."""

    def __init__(self, known: Known) -> None:
        self.keys = {handle: key for key, handle in known.handles.items()}
        self.found = Assembly(known.scene, known.traffic, known.of)

    def add_node(self, run: NodeRun, root: Roots) -> None:
        launch = root[run.around]
        if launch % 2 == 0:  # else a body run that has not ended
            self.found.runs.append(placed(run, self.keys[run.node], launch))

    def add_body(self, run: BodyRun, root: Roots) -> None:
        launch = root[run.around]
        if launch % 2 == 0:
            key = f"{self.keys[run.node]}.{run.branch}"
            self.found.bodies.append(
                Run(key, launch, run.around, run.start, run.end, run.number, run.iteration)
            )

    def finish(self) -> Assembly:
        self.found.runs = sorted(widened(self.found), key=lambda run: (run.start, -run.end))
        self.found.bodies.sort(key=lambda run: run.start)
        return self.found


def widened(found: Assembly) -> Iterator[Run]:
    """Yield the runs. Those of child graphs become as long as the nodes in them.

    A driver begins a child graph and ends it, but does not run it: a recorder reports a moment.
    """
    children = {box.key for box in found.scene.plane.walk() if box.kind == "child"}
    if not children:
        yield from found.runs
        return
    inside: dict[tuple[str, int], list[Run]] = defaultdict(list)
    for run in found.runs:
        for key in prefixes(run.key):
            if key in children:
                inside[key, run.around].append(run)
    for run in found.runs:
        inner = inside.get((run.key, run.around))
        if run.key in children and inner:
            yield run._replace(start=min(each.start for each in inner), end=max(each.end for each in inner))
        else:
            yield run


def prefixes(key: str) -> list[str]:
    """Return the keys of the boxes around a box, outer ones first: "3", "3.0.1" for "3.0.1.0.4"."""
    steps = key.split(".")
    return [".".join(steps[:end]) for end in range(1, len(steps) - 1, 2)]


def unknown_graph(runs: Sequence[NodeRun], root: Roots) -> Assembly:
    """Return the runs of graphs whose definition is gone. Runs of one name and kind become one box."""
    numbers: dict[tuple[str, str], int] = {}
    for run in runs:
        numbers.setdefault((run.name, run.kind), len(numbers))
    boxes = tuple(
        Box(str(number), KINDS.get(kind, "other"), name) for (name, kind), number in numbers.items()
    )
    found = Assembly(Scene("Graphs whose definitions are gone", Plane(boxes)), {})
    found.runs = [placed(run, str(numbers[run.name, run.kind]), root[run.around]) for run in runs]
    found.runs.sort(key=lambda run: run.start)
    return found
