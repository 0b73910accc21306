# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The pictures of a GraphProfile: the graph coloured by time, and a Gantt chart of one launch."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

from cuda_graphs.drawing.gantt import Bar, Gantt, Lane
from cuda_graphs.drawing.kinds import HEAT
from cuda_graphs.drawing.picture import Picture
from cuda_graphs.drawing.scene import Box, Frame, Plane, Scene
from cuda_graphs.objects.numbers import need_int

from .analysis import ProfileRow
from .events import Event, events_of
from .table import share_in_words, time_in_words

__all__ = ["draw", "gantt"]


def draw(profile: Any, path: str | PathLike[str] | None, theme: str) -> Picture:
    """See GraphProfile.draw."""
    if path is not None:
        Picture.accept_file(path)  # before the work
    rows = {row.key: row for row in profile.rows}
    scene = profile._found.scene
    plane = coloured(scene.plane, rows, profile.launches)
    picture = Picture(Scene(profile._summary()[0], plane, tuple(profile._summary()[1:])), None, theme)
    if path is not None:
        picture.save(path)
    return picture


def coloured(plane: Plane, rows: Mapping[str, ProfileRow], launches: int) -> Plane:
    """Return the plane with the times of its nodes.

    A loop visits the planes, because graphs may be nested deeper than Python calls. Inner planes come first.
    """
    planes = [plane]
    for each in planes:  # the loop appends to the list
        planes += (frame.plane for box in each.boxes for frame in box.frames)
    done: dict[int, Plane] = {}
    for each in reversed(planes):
        boxes = tuple(with_times(box, rows, launches, done) for box in each.boxes)
        done[id(each)] = replace(each, boxes=boxes)
    return done[id(plane)]


def with_times(box: Box, rows: Mapping[str, ProfileRow], launches: int, done: Mapping[int, Plane]) -> Box:
    frames = tuple(
        Frame(label_of(f"{box.key}.{number}", frame, rows), done[id(frame.plane)])
        for number, frame in enumerate(box.frames)
    )
    row = rows[box.key]
    if not row.runs:
        return replace(box, frames=frames, lines=(*box.lines, "did not run"), colour="heat0")
    star = " *" if row.is_critical else ""
    words = f"{time_in_words(row.total / launches)}, {share_in_words(row.share)}{star}"
    colour = [name for name, (least, _) in HEAT.items() if row.share >= least][-1]
    return replace(box, frames=frames, lines=(*box.lines, words), colour=colour)


def label_of(key: str, frame: Frame, rows: Mapping[str, ProfileRow]) -> str:
    """Return the label of a body with the number of its runs."""
    row = rows.get(key)
    return frame.label if row is None else f"{frame.label}: {row.runs} run{'s' * (row.runs != 1)}"


def gantt(profile: Any, path: str | PathLike[str] | None, launch: int | None, theme: str) -> Gantt:
    """See GraphProfile.gantt."""
    if path is not None:
        Gantt.accept_file(path)  # before the work
    numbers = list(profile._spans)
    place = median_of(profile) if launch is None else need_int(launch, "launch")
    if not 0 <= place < len(numbers):
        raise ValueError(f"launch must be in 0..{len(numbers) - 1}, got {place}")
    chart = Gantt(
        f"{profile.title}: launch {place} of {len(numbers)} (bold: critical path)",
        lanes_of(profile, numbers[place]),
        theme,
    )
    if path is not None:
        chart.save(path)
    return chart


def median_of(profile: Any) -> int:
    """Return the launch whose time is the median."""
    order = sorted(range(profile.launches), key=lambda place: profile.spans[place])
    return order[len(order) // 2]


def lanes_of(profile: Any, launch: int) -> list[Lane]:
    events = events_of([profile._found], [launch])
    begin = min(event.run.start for event in events)
    critical = {row.key for row in profile.rows if row.is_critical}
    bars: dict[tuple[int, int, int], list[Bar]] = defaultdict(list)
    for event in events:
        bars[event.device, event.stream, event.lane].append(bar_of(event, begin, event.run.key in critical))
    return [
        Lane(f"device {device}, stream {stream}" if lane == 0 else f"lane {lane + 1}", tuple(bars[key]))
        for key in sorted(bars)
        for device, stream, lane in [key]
    ]


def bar_of(event: Event, begin: int, is_critical: bool) -> Bar:
    run, box = event.run, event.box
    hover = [time_in_words(run.end - run.start), *([box.source] if box.source else [])]
    text = f"{box.title} {run.iteration}" if box.kind == "body" else box.title
    return Bar(
        run.key, box.kind, text, run.start - begin, run.end - begin, event.level, is_critical, tuple(hover)
    )
