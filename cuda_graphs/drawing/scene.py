# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The contents of a picture: boxes and links between them, with graphs inside boxes.

All parts are immutable. A `key` names a box by its place: "3" is the box number 3 of the outermost graph, and
"3.1.0" is box 0 in frame 1 of that box. Keys, and with them the pictures, are the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

__all__ = ["Box", "Frame", "Link", "Plane", "Repeat", "Scene"]


@dataclass(frozen=True)
class Repeat:
    """A pattern that a picture shows once.

    count      number of instances, 2 or more
    is_serial  True if each instance depends on the one before it
    """

    count: int
    is_serial: bool

    def __str__(self) -> str:
        return f"{self.count} {'in a row' if self.is_serial else 'side by side'}"


@dataclass(frozen=True)
class Box:
    """One node of a graph, or a pattern of nodes that repeats.

    key         its place in the scene
    kind        a key of `KINDS` (kinds.py)
    title       the name; the first line of the box
    lines       further lines in the box
    parameters  named parameters that the node uses
    hover       further lines of the text that appears on hover
    source      the source line that made the node, "/path/file.py:12"
    lane        the device that does the work; None for a node without a device
    frames      the graphs inside the box
    repeat      the number of instances of a folded pattern
    notes       numbers of the notes of the scene about this box, counted from 1
    is_named    True if the title is a name that the program gave to the node
    names       of a fold: the titles of all nodes that it stands for, if they differ
    mark        a key of `MARKS` (kinds.py), or None
    colour      a colour of `HEAT` (kinds.py) in place of that of the kind; None in pictures without times
    """

    key: str
    kind: str
    title: str
    lines: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    hover: tuple[str, ...] = ()
    source: str | None = None
    lane: int | None = None
    frames: tuple[Frame, ...] = ()
    repeat: Repeat | None = None
    notes: tuple[int, ...] = ()
    is_named: bool = False
    names: tuple[str, ...] = ()
    mark: str | None = None
    colour: str | None = None


@dataclass(frozen=True)
class Link:
    """A dependency: the box number `target` of a plane runs after the box number `source`.

    style  a key of `LINK_STYLES` (kinds.py)
    mark   a key of `MARKS` (kinds.py), or None
    """

    source: int
    target: int
    style: str = "full"
    mark: str | None = None


@dataclass(frozen=True)
class Plane:
    """A graph: boxes in an order of execution, as far as the graph has one, and the links between them."""

    boxes: tuple[Box, ...] = ()
    links: tuple[Link, ...] = ()

    def count(self) -> int:
        """Return the number of nodes that the boxes stand for, without the nodes inside conditional nodes."""
        total = 0
        for box in self.boxes:
            each = box.frames[0].plane.count() if box.kind == "fold" else 1
            total += each * (box.repeat.count if box.repeat else 1)
        return total

    def walk(self) -> Iterator[Box]:
        """Yield all boxes, each before the boxes inside it.

        A loop visits them, because graphs may be nested deeper than Python calls.
        """
        waiting = [iter(self.boxes)]
        while waiting:
            box = next(waiting[-1], None)
            if box is None:
                waiting.pop()
                continue
            yield box
            waiting += [iter(frame.plane.boxes) for frame in reversed(box.frames)]


@dataclass(frozen=True)
class Frame:
    """A graph inside a box: a body of a conditional node, an embedded graph, or the pattern of a fold."""

    label: str
    plane: Plane


@dataclass(frozen=True)
class Scene:
    """Everything that a picture shows.

    title       the name of the graph
    plane       the outermost graph
    parameters  named parameters of the graph: a description in one line for each
    notes       texts about boxes, such as the findings of a check
    """

    title: str
    plane: Plane
    parameters: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())
