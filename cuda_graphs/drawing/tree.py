# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A scene as text for terminals: one line for each box in an order of execution, with the graphs in boxes indented.

A box that runs right after the box above it has no further mark. Other boxes say which boxes they run after.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from .kinds import KINDS
from .scene import Box, Frame, Plane, Scene
from .text import cells, elide

__all__ = ["write_tree"]

MOST_CELLS = 40
MOST_NAMED = 4  # boxes that a line says it runs after
MOST_LINES = 400
FORK, LAST, BAR, SPACE = "├─ ", "└─ ", "│  ", "   "


def write_tree(scene: Scene) -> str:
    """Return the text, without a line feed at its end."""
    lines = [scene.title]
    for line in lines_of(scene.plane):
        if len(lines) == MOST_LINES:
            lines.append("... (draw the graph to see all of it)")
            break
        lines.append(line)
    lines += [f"  {text}" for text in (*scene.parameters, *scene.notes)]
    return "\n".join(line.rstrip() for line in lines)


def lines_of(plane: Plane) -> Iterator[str]:
    """Yield the lines below the title. A stack holds what is left to write, as graphs may be nested deeply."""
    waiting: list[Iterator[tuple[str, str, list[Frame]]]] = [rows_of(plane, "")]
    while waiting:
        row = next(waiting[-1], None)
        if row is None:
            waiting.pop()
            continue
        text, indent, frames = row
        yield text
        if frames:
            waiting.append(rows_of_frames(frames, indent))


def rows_of_frames(frames: list[Frame], indent: str) -> Iterator[tuple[str, str, list[Frame]]]:
    """Yield a row for each frame, and the rows of its boxes."""
    for number, frame in enumerate(frames):
        is_last = number == len(frames) - 1
        label = f"{frame.label}:" if frame.plane.boxes else f"{frame.label}: no nodes"
        yield f"{indent}{LAST if is_last else FORK}{label}", "", []
        yield from rows_of(frame.plane, indent + (SPACE if is_last else BAR))


def rows_of(plane: Plane, indent: str) -> Iterator[tuple[str, str, list[Frame]]]:
    """Yield (text, indent of the frames, frames) of each box."""
    before: list[list[int]] = [[] for _ in plane.boxes]
    for link in plane.links:
        before[link.target].append(link.source)
    titles = [elide(box.title, MOST_CELLS) for box in plane.boxes]
    width = max(map(cells, titles), default=0)
    digits = len(str(len(plane.boxes)))
    previous = [None, *(number for number, _ in pairwise(range(len(plane.boxes))))]
    for number, box in enumerate(plane.boxes):
        is_last = number == len(plane.boxes) - 1
        after = order_words(before[number], previous[number])
        pad = " " * (width - cells(titles[number]))
        words = "  ".join(word for word in (details(box), after) if word)
        yield (
            f"{indent}{LAST if is_last else FORK}{number + 1:>{digits}} {titles[number]}{pad}  {words}",
            indent + (SPACE if is_last else BAR),
            list(box.frames),
        )


def details(box: Box) -> str:
    """Return the kind, the lines, the parameters and the source line of a box in one line."""
    kind = KINDS[box.kind].words
    words = [] if box.lines and box.lines[0].startswith(kind) else [kind]
    words += box.lines
    if box.repeat:
        words.append(str(box.repeat))
    if box.parameters:
        words.append(f"[{', '.join(box.parameters)}]")
    if box.notes:
        words.append(f"!{','.join(map(str, box.notes))}")
    if box.source:
        words.append(f"({box.source.rpartition('/')[2]})")
    return "  ".join(words)


def order_words(before: list[int], previous: int | None) -> str:
    """Return the boxes that a box runs after, by their numbers from 1; "" if that is the box above it alone."""
    wanted = [] if previous is None else [previous]
    if before == wanted:
        return ""
    if not before:
        return "<- nothing"
    named = ", ".join(str(each + 1) for each in before[:MOST_NAMED])
    rest = len(before) - MOST_NAMED
    return f"<- {named}" + (f" and {rest} more" if rest > 0 else "")
