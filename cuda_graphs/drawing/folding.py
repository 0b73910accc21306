# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Folds chains and other repeated patterns: a plane with 200 equal steps becomes a plane with one box "x 200".

Boxes stand in a topological order that is near to the order in which a program made them. A loop of the program
makes the same boxes with the same links again and again, each time a fixed number of places later. A pattern is
therefore a run of places in which the box at each place equals the box one period before, and its links lead to the
same places relative to it. This covers chains, forks with joins, and steps that depend on the step before in any
way. A run of places in a topological order can be drawn as one box without making a circle.

Folded planes are folded again, as patterns may hold patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .scene import Box, Frame, Link, Plane, Repeat

__all__ = ["fold"]

LEAST = 3  # instances of a pattern that are worth a fold
LONGEST = 400  # boxes in a pattern
TRIED = 6  # periods that are tried from one place
PASSES = 6
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

Look = tuple[str, str | None]  # the style and the mark of a link


@dataclass(frozen=True)
class Run:
    """`count` instances of a pattern of `period` boxes from place `start` on."""

    start: int
    period: int
    count: int
    is_serial: bool

    @property
    def end(self) -> int:
        return self.start + self.period * self.count


class Signatures:
    """Numbers for boxes, equal for boxes that look alike. Names that differ only in digits look alike."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.known: dict[
            int, tuple[Plane, int]
        ] = {}  # by id(); the plane is kept, so that its id stays its own

    def number(self, key: Any) -> int:
        return self.numbers.setdefault(key, len(self.numbers))

    def of(self, box: Box) -> int:
        title = re.sub(r"\d+", "#", box.title) if box.is_named else box.title
        frames = tuple((frame.label, self.of_plane(frame.plane)) for frame in box.frames)
        return self.number(
            (
                box.kind,
                title,
                box.lines,
                box.parameters,
                box.lane,
                frames,
                box.repeat,
                box.notes,
                box.mark,
            )
        )

    def of_plane(self, plane: Plane) -> int:
        """Return the number of a plane. The planes inside it must have been numbered before."""
        known = self.known.get(id(plane))
        if known is None:
            links = tuple((link.source, link.target, link.style, link.mark) for link in plane.links)
            known = plane, self.number((tuple(map(self.of, plane.boxes)), links))
            self.known[id(plane)] = known
        return known[1]


def fold(plane: Plane) -> Plane:
    """Return the plane with its repeated patterns folded, also in the planes inside it.

    A loop folds the planes, inner ones first, because graphs may be nested deeper than Python calls.
    """
    planes = [plane]
    for each in planes:  # the loop appends to the list
        planes += (frame.plane for box in each.boxes for frame in box.frames)
    folded: dict[int, Plane] = {}
    signatures = Signatures()
    for each in reversed(planes):
        boxes = tuple(with_folded_frames(box, folded) for box in each.boxes)
        folded[id(each)] = found = fold_boxes(Plane(boxes, each.links), signatures)
        signatures.of_plane(found)
    return folded[id(plane)]


def with_folded_frames(box: Box, folded: dict[int, Plane]) -> Box:
    if not box.frames:
        return box
    return replace(box, frames=tuple(Frame(frame.label, folded[id(frame.plane)]) for frame in box.frames))


def fold_boxes(plane: Plane, signatures: Signatures) -> Plane:
    """Return the plane with the patterns of its own boxes folded."""
    for _ in range(PASSES):
        runs = list(find_runs(plane, signatures))
        if not runs:
            break
        plane = with_runs(plane, runs, signatures)
    return plane


def find_runs(plane: Plane, signatures: Signatures) -> Iterator[Run]:
    """Yield the runs of a plane, from its first box to its last one."""
    search = Search(plane, signatures)
    place = 0
    while place < search.count:
        run = search.best_at(place)
        if run is None:
            place += 1
        else:
            yield run
            place = run.end


class Search:
    """The search for runs in one plane."""

    def __init__(self, plane: Plane, signatures: Signatures) -> None:
        self.signs = [signatures.of(box) for box in plane.boxes]
        self.count = len(self.signs)
        self.before: list[set[tuple[int, Look]]] = [set() for _ in self.signs]
        for link in plane.links:
            if link.source >= link.target:  # of a circle; such boxes look like no other
                self.signs[link.target] = -1 - link.target
            self.before[link.target].add((link.source, (link.style, link.mark)))
        self.next: list[int] = [self.count] * self.count  # the next place with the same sign
        seen: dict[int, int] = {}
        for place in range(self.count - 1, -1, -1):
            self.next[place] = seen.get(self.signs[place], self.count)
            seen[self.signs[place]] = place

    def best_at(self, start: int) -> Run | None:
        """Return the run from `start` on that covers most boxes, with the shortest period; None without a run."""
        best: Run | None = None
        place = start
        for _ in range(TRIED):
            place = self.next[place]
            period = place - start
            if place >= self.count or period > LONGEST:
                break
            count = self.instances(start, period)
            if count >= LEAST and (best is None or start + count * period > best.end):
                best = Run(start, period, count, self.is_carried(start + period, start, period))
            if place < self.count and self.next[place] >= self.count:
                break
        return best

    def instances(self, start: int, period: int) -> int:
        count = 1
        while self.matches(start + count * period, start, period):
            count += 1
        return count

    def is_carried(self, base: int, start: int, period: int) -> bool:
        """Return True if the instance at `base` depends on an earlier instance."""
        return any(
            start <= source < base for place in range(base, base + period) for source, _ in self.before[place]
        )

    def matches(self, base: int, start: int, period: int) -> bool:
        """Return True if the instance at `base` equals the instance before it."""
        end = base + period
        if end > self.count or self.signs[base:end] != self.signs[base - period : base]:
            return False
        return all(self.links_match(place, base, start, period) for place in range(base, end))

    def links_match(self, place: int, base: int, start: int, period: int) -> bool:
        now, was = self.before[place], self.before[place - period]
        shifted = {(source + period, look) for source, look in was}
        if now == shifted or (now == was and all(source < start for source, _ in now)):
            return True
        inside = {each for each in now if each[0] >= base}
        if inside != {each for each in shifted if each[0] >= base}:
            return False
        outside = now - inside
        carried = {each for each in outside if each[0] >= start}
        if base - period == start:  # the first instance takes over from boxes before the run
            return bool(carried) and outside - carried <= was
        return all(each in shifted or (each[0] < start and each in was) for each in outside) and len(
            now
        ) == len(was)


def with_runs(plane: Plane, runs: Sequence[Run], signatures: Signatures) -> Plane:
    """Return the plane with a box in place of each run."""
    new_place: list[int] = []
    boxes: list[Box] = []
    heads = {run.start: run for run in runs}
    inner: dict[int, list[Link]] = {run.start: [] for run in runs}  # links of the first instances
    place = 0
    owner: dict[int, Run] = {}
    for run in runs:
        for each in range(run.start, run.start + run.period):
            owner[each] = run
    for link in plane.links:
        around = owner.get(link.source)
        if around is not None and owner.get(link.target) is around:
            start = around.start
            inner[start].append(replace(link, source=link.source - start, target=link.target - start))
    while place < len(plane.boxes):
        head = heads.get(place)
        size = head.period * head.count if head else 1
        new_place += [len(boxes)] * size
        box = plane.boxes[place]
        boxes.append(box_of_run(plane.boxes, head, inner[place], signatures) if head else box)
        place += size
    links = {
        (new_place[link.source], new_place[link.target], link.style, link.mark or "") for link in plane.links
    }
    kept = sorted(link for link in links if link[0] != link[1])
    return Plane(
        tuple(boxes), tuple(Link(source, target, style, mark or None) for source, target, style, mark in kept)
    )


def box_of_run(boxes: Sequence[Box], run: Run, links: Sequence[Link], signatures: Signatures) -> Box:
    pattern = tuple(
        with_names(boxes[run.start + number : run.end : run.period]) for number in range(run.period)
    )
    repeat = Repeat(run.count, run.is_serial)
    first = pattern[0]
    if run.period == 1 and first.repeat is None:
        return replace(first, repeat=repeat)
    plane = Plane(pattern, tuple(links))
    signatures.of_plane(plane)
    lanes = {box.lane for box in pattern}
    return Box(
        f"{first.key}+",
        "fold",
        f"{run.period} node{'s' * (run.period != 1)}",
        frames=(Frame("one of them", plane),),
        repeat=repeat,
        lane=first.lane if len(lanes) == 1 else None,
    )


def with_names(instances: Sequence[Box]) -> Box:
    """Return the first of several boxes, with the names of all of them."""
    names = tuple(dict.fromkeys(name for box in instances for name in box.names or (box.title,)))
    if len(names) == 1:
        return instances[0]
    first, last = names[0], names[-1]
    hover = (*instances[0].hover, f"names: {first}, {names[1]}, {ELLIPSIS}, {last}")
    return replace(instances[0], title=f"{first} {ELLIPSIS} {last}", hover=hover, names=names)
