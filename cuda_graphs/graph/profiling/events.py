# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The runs of a profile as events in lanes, for charts and traces.

A lane belongs to a stream of a device. Two events of a lane do not overlap, except that an event may be inside the
event of a node around its node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cuda_graphs.drawing.scene import Box

from .analysis import entries
from .assembly import Assembly, Run

__all__ = ["Event", "events_of"]


class Event(NamedTuple):
    """One run of a node or body.

    Attributes:
        run: The run.
        box: Its box. A body has a box of the kind "body".
        graph: Number of the graph in the profile.
        device, stream: Where the launch ran.
        lane: Number of the lane among those of the stream.
        level: Number of events around it in its lane.
    """

    run: Run
    box: Box
    graph: int
    device: int
    stream: int
    lane: int
    level: int


def events_of(graphs: Sequence[Assembly], launches: Iterable[int] | None = None) -> list[Event]:
    """Return the events of all launches, or of some of them, in the order of their starts."""
    wanted = None if launches is None else set(launches)
    parts: list[tuple[Run, Box, int, int, int]] = []
    for number, found in enumerate(graphs):
        boxes = {box.key: box for box, _ in entries(found.scene.plane)}
        places = {run.launch: (run.device, run.stream) for run in found.runs}
        parts += (
            (run, boxes[run.key], number, *places[run.launch])
            for run in (*found.runs, *found.bodies)
            if run.launch in places and (wanted is None or run.launch in wanted)
        )
    parts.sort(key=lambda part: (part[0].start, -part[0].end, len(part[0].key)))
    lanes: dict[tuple[int, int], Lanes] = defaultdict(Lanes)
    return [Event(*part, *lanes[part[3:]].place(part[0], part[2])) for part in parts]


class Lanes:
    """The lanes of one stream. Each is a stack of the events that have not ended."""

    def __init__(self) -> None:
        self.stacks: list[list[tuple[Run, int]]] = []

    def place(self, run: Run, graph: int) -> tuple[int, int]:
        """Return the lane of the next run, and the number of events around it there."""
        for number, stack in enumerate(self.stacks):
            while stack and stack[-1][0].end <= run.start:
                stack.pop()
            if not stack or is_inside(run, graph, *stack[-1]):
                stack.append((run, graph))
                return number, len(stack) - 1
        self.stacks.append([(run, graph)])
        return len(self.stacks) - 1, 0


def is_inside(run: Run, graph: int, outer: Run, outer_graph: int) -> bool:
    return (
        graph == outer_graph
        and run.launch == outer.launch
        and run.end <= outer.end
        and run.key.startswith(f"{outer.key}.")
    )
