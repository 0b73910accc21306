# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the times of a graph say: rows of nodes and bodies, the critical path, and the gaps. Times are nanoseconds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cuda_graphs.drawing.scene import Box, Plane

from .assembly import Assembly, Run

__all__ = ["Gap", "ProfileRow", "Span", "critical_keys", "find_gaps", "rows_of", "spans_of", "total_times"]


class ProfileRow(NamedTuple):
    """The times of one node, or of one body of a conditional node. Times are in nanoseconds.

    Attributes:
        key: The place in the graph: "3" is node 3, "3.0" the first body of that node, "3.0.1" node 1 in that body.
        name: The name of the node; of a body, the word for it ("then", "case 1", "body, repeated").
        kind: The kind of the node; "body" for a body.
        depth: The number of graphs around it, 0 for nodes of the outermost graph.
        runs: How often it ran in all launches. For the body of a loop these are its iterations.
        total: Time of all runs together.
        least, most: The shortest and the longest run. 0 if it never ran.
        share: `total` as a share of the time of all launches.
        is_critical: True if it is on the critical path.
        bytes: Bytes that a run reads and writes; None if they are not known.
        bandwidth: Bytes per second; None if `bytes` is None or it never ran.
        bandwidth_share: `bandwidth` as a share of what the memory of the device can do; None if either is not known.
        source: The source line that added the node, or None.
        devices: Ordinals of the devices that ran it.
    """

    key: str
    name: str
    kind: str
    depth: int
    runs: int
    total: int
    least: int
    most: int
    share: float
    is_critical: bool
    bytes: int | None
    bandwidth: float | None
    bandwidth_share: float | None
    source: str | None
    devices: tuple[int, ...]

    @property
    def mean(self) -> float:
        """Mean time of a run; 0 if it never ran."""
        return self.total / self.runs if self.runs else 0.0


class Gap(NamedTuple):
    """Time of the launches in which no node ran, between the end of one node and the start of another.

    Attributes:
        before: Key of the node that ended before the gap (ProfileRow.key).
        after: Key of the node that started after the gap.
        number: The number of such gaps in all launches.
        total: Nanoseconds of all of them together.
    """

    before: str
    after: str
    number: int
    total: int


class Span(NamedTuple):
    """The time of one launch: from the start of its first node to the end of its last one."""

    start: int
    end: int


def spans_of(found: Assembly) -> dict[int, Span]:
    """Return the Span of each launch, in the order of their starts."""
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    for run in found.runs:  # in the order of their starts
        starts.setdefault(run.launch, run.start)
        if run.end > ends.get(run.launch, 0):
            ends[run.launch] = run.end
    return {launch: Span(start, ends[launch]) for launch, start in starts.items()}


def total_times(runs: Iterable[Run]) -> Counter[str]:
    """Return the time of all runs of each key."""
    total: Counter[str] = Counter()
    for run in runs:
        total[run.key] += run.end - run.start
    return total


def critical_path(plane: Plane, total: Mapping[str, int]) -> list[int]:
    """Return the numbers of the boxes on the path of links whose boxes took most time together."""
    before: list[list[int]] = [[] for _ in plane.boxes]
    for link in plane.links:
        before[link.target].append(link.source)
    longest: list[int] = []
    previous: list[int | None] = []
    for number, box in enumerate(plane.boxes):  # boxes are in an order of execution
        best = max(before[number], key=lambda source: longest[source], default=None)
        previous.append(best)
        longest.append(total.get(box.key, 0) + (0 if best is None else longest[best]))
    path: list[int] = []
    at = max(range(len(longest)), key=lambda number: longest[number], default=None)
    while at is not None:
        path.append(at)
        at = previous[at]
    return path[::-1]


def critical_keys(plane: Plane, total: Mapping[str, int]) -> dict[str, None]:
    """Return the keys on the critical path of the graph, in order, each followed by those inside of it.

    Inside of a node on the path, the path continues through its graphs.
    """
    keys: dict[str, None] = {}
    waiting: list[Box | Plane] = [plane]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Plane):
            waiting += [part.boxes[number] for number in reversed(critical_path(part, total))]
        elif total.get(part.key, 0):
            keys[part.key] = None
            waiting += reversed(bodies_of(part))
            if part.kind in ("body", "child"):
                waiting += [frame.plane for frame in part.frames]
    return keys


def bodies_of(box: Box) -> list[Box]:
    """Return the bodies of a conditional node as boxes of the kind "body"; nothing for other boxes."""
    if box.kind in ("body", "child"):
        return []
    return [
        Box(f"{box.key}.{number}", "body", frame.label, frames=(frame,))
        for number, frame in enumerate(box.frames)
    ]


def leaves(found: Assembly) -> list[Run]:
    """Return the runs of the nodes without graphs inside, in the order of their starts."""
    outer = {box.key for box in found.scene.plane.walk() if box.frames}
    return [run for run in found.runs if run.key not in outer]


def find_gaps(found: Assembly) -> list[Gap]:
    """Return the gaps, those of the longest time first."""
    count: Counter[tuple[str, str]] = Counter()
    total: Counter[tuple[str, str]] = Counter()
    last: dict[int, Run] = {}  # launch -> its run that ended last so far
    for run in leaves(found):
        known = last.get(run.launch)
        if known is not None and run.start > known.end:
            count[known.key, run.key] += 1
            total[known.key, run.key] += run.start - known.end
        if known is None or run.end > known.end:
            last[run.launch] = run
    return [Gap(*pair, count[pair], time) for pair, time in total.most_common()]


def rows_of(found: Assembly, limits: Mapping[int, float]) -> list[ProfileRow]:
    """Return a row for each node and each body, in the order of the graph. `limits` are bytes per second by device."""
    runs: dict[str, list[Run]] = defaultdict(list)
    for run in (*found.runs, *found.bodies):
        runs[run.key].append(run)
    total = total_times((*found.runs, *found.bodies))
    critical = critical_keys(found.scene.plane, total) if found.of is not None else {}
    span = sum(each.end - each.start for each in spans_of(found).values())
    return [
        make_row(
            box, depth, runs.get(box.key, ()), span, box.key in critical, found.traffic.get(box.key), limits
        )
        for box, depth in entries(found.scene.plane)
    ]


def entries(plane: Plane) -> Iterator[tuple[Box, int]]:
    """Yield (box, number of graphs around it) of each box, and of each body of conditional nodes before its boxes."""
    waiting: list[tuple[Box, int]] = [(box, 0) for box in reversed(plane.boxes)]
    while waiting:
        box, depth = waiting.pop()
        yield box, depth
        inner = bodies_of(box) or [each for frame in box.frames for each in frame.plane.boxes]
        waiting += [(each, depth + 1) for each in reversed(inner)]


def make_row(
    box: Box,
    depth: int,
    runs: Sequence[Run],
    span: int,
    is_critical: bool,
    size: int | None,
    limits: Mapping[int, float],
) -> ProfileRow:
    times = [run.end - run.start for run in runs]
    total = sum(times)
    devices = tuple(sorted({run.device for run in runs if not run.number}))
    bandwidth = size * len(times) * 1e9 / total if size is not None and total else None
    limit = limits.get(devices[0]) if len(devices) == 1 else None
    return ProfileRow(
        box.key,
        box.title,
        box.kind,
        depth,
        len(times),
        total,
        min(times, default=0),
        max(times, default=0),
        total / span if span else 0.0,
        is_critical,
        size,
        bandwidth,
        bandwidth / limit if bandwidth is not None and limit else None,
        box.source,
        devices,
    )
