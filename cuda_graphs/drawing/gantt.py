# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A Gantt chart: lanes from top to bottom, time from left to right, a bar for each run.

Bars inside of a bar stand below it in the same lane. Each bar is a group with the attributes `data-key` (the key of its
box), `data-start` and `data-end` (nanoseconds since the first run).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .document import Document, accept_theme
from .kinds import KINDS
from .shapes import number
from .style import style_sheet
from .text import cells, elide, markup, quoted

__all__ = ["Bar", "Gantt", "Lane"]

WIDTH = 960.0  # of the time axis
PAD, HEADING, AXIS = 16.0, 30.0, 22.0
BAR, BAR_GAP, LANE_GAP = 18.0, 2.0, 10.0
SIGN = 6.75  # width of a sign of 11 pixels
LEAST = 0.8  # width of the shortest bar
TICKS = 8
MOST = 4000  # bars; a chart of more shows the longest of them
UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))


@dataclass(frozen=True)
class Bar:
    """One run.

    key          key of its box
    kind         a key of `KINDS`, or "body"
    text         the name
    start, end   nanoseconds since the first run
    level        number of bars around it in its lane
    is_critical  True for bars that the chart marks
    hover        further lines of the text that appears on hover
    """

    key: str
    kind: str
    text: str
    start: int
    end: int
    level: int = 0
    is_critical: bool = False
    hover: tuple[str, ...] = ()


@dataclass(frozen=True)
class Lane:
    """A place where runs follow one another, such as a stream, with its name."""

    name: str
    bars: tuple[Bar, ...]


class Gantt(Document):
    """A Gantt chart, made by `gantt`. Notebooks show it.

    Attributes:
        title: The heading.
        lanes: The lanes, from top to bottom.
        theme: "auto", "light" or "dark".
    """

    def __init__(self, title: str, lanes: Sequence[Lane], theme: str = "auto") -> None:
        bars = sorted((bar for lane in lanes for bar in lane.bars), key=lambda bar: bar.start - bar.end)
        if len(bars) > MOST:
            shown = set(map(id, bars[:MOST]))
            title += f" (the {MOST} longest of {len(bars)} runs)"
            lanes = [Lane(lane.name, tuple(bar for bar in lane.bars if id(bar) in shown)) for lane in lanes]
        self.title, self.lanes, self.theme = title, tuple(lanes), accept_theme(theme)
        self.end = max((bar.end for bar in bars), default=1) or 1
        self.left = PAD + SIGN * max((min(cells(lane.name), 28) for lane in lanes), default=0) + 12.0

    @property
    def size(self) -> tuple[float, float]:
        """The width and the height of the document in pixels."""
        height = sum(height_of(lane) + LANE_GAP for lane in self.lanes)
        return self.left + WIDTH + PAD, PAD + HEADING + AXIS + height + PAD

    def document(self, theme: str) -> str:
        return "\n".join(self.lines(theme)) + "\n"

    def lines(self, theme: str) -> Iterator[str]:
        w, h = map(number, self.size)
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="cgp" role="img" aria-label={quoted(self.title)} '
            f'width="{w}" height="{h}" viewBox="0 0 {w} {h}">'
        )
        yield f"<style>\n{style_sheet(theme)}</style>"
        yield f'<rect class="paper" width="{w}" height="{h}"/>'
        yield f'<text class="heading" x="{number(PAD)}" y="{number(PAD + 13.0)}">{markup(self.title)}</text>'
        y = PAD + HEADING
        yield from self.axis(y, self.size[1] - PAD)
        y += AXIS
        for lane in self.lanes:
            yield from self.lane_parts(lane, y)
            y += height_of(lane) + LANE_GAP
        yield "</svg>"

    def place(self, time: float) -> float:
        return self.left + WIDTH * time / self.end

    def axis(self, top: float, bottom: float) -> Iterator[str]:
        """Yield a line and a text for each tick."""
        unit, name = next((unit for unit in UNITS if self.end >= unit[0]), UNITS[-1])
        step = tick_step(self.end)
        for count in range(int(self.end / step) + 1):
            x = number(self.place(count * step))
            yield (
                f'<path class="link" stroke-opacity=".25" d="M {x} {number(top + 14.0)} V {number(bottom)}"/>'
                f'<text class="line" x="{x}" y="{number(top + 10.0)}" text-anchor="middle">'
                f"{count * step / unit:g} {name}</text>"
            )

    def lane_parts(self, lane: Lane, y: float) -> Iterator[str]:
        height = number(height_of(lane))
        yield (
            f'<rect class="lane" x="{number(self.left)}" y="{number(y)}" width="{number(WIDTH)}" height="{height}"/>'
            f'<text class="line" x="{number(self.left - 8.0)}" y="{number(y + 13.0)}" text-anchor="end">'
            f"{markup(elide(lane.name, 28))}</text>"
        )
        for bar in lane.bars:
            yield self.bar_part(bar, y)

    def bar_part(self, bar: Bar, y: float) -> str:
        x, width = self.place(bar.start), max(LEAST, self.place(bar.end) - self.place(bar.start))
        top = y + bar.level * (BAR + BAR_GAP)
        colour = KINDS[bar.kind].colour if bar.kind in KINDS else "grey"
        hover = "\n".join(map(markup, (bar.text, *bar.hover)))
        room = int((width - 6.0) / SIGN)
        text = (
            f'<text class="line" x="{number(x + 3.0)}" y="{number(top + 13.0)}">{markup(elide(bar.text, room))}</text>'
            if room >= 3
            else ""
        )
        return (
            f'<g class="bar {bar.kind} {colour}{" noted" if bar.is_critical else ""}" data-key="{bar.key}" '
            f'data-start="{bar.start}" data-end="{bar.end}"><title>{hover}</title>'
            f'<rect class="outline" x="{number(x)}" y="{number(top)}" width="{number(width)}" '
            f'height="{number(BAR)}" rx="2"/>{text}</g>'
        )

    def __repr__(self) -> str:
        return f"<Gantt of {self.title}>"


def height_of(lane: Lane) -> float:
    levels = max((bar.level for bar in lane.bars), default=0) + 1
    return levels * (BAR + BAR_GAP) - BAR_GAP


def tick_step(end: float) -> float:
    """Return the distance of ticks: 1, 2 or 5 times a power of ten, with at most `TICKS` of them."""
    power = 10.0 ** math.floor(math.log10(end / TICKS))
    return next(step * power for step in (1, 2, 5, 10) if end / (step * power) <= TICKS)
