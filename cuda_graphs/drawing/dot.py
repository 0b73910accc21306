# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A scene in the DOT language of Graphviz. Frames are clusters; names, colours and link styles are those of the SVG."""

from __future__ import annotations

from collections.abc import Iterator

from .kinds import KINDS, THEMES
from .scene import Box, Plane, Scene
from .text import clean

__all__ = ["write_dot"]

SHAPES = {
    "round": "box",
    "pill": "ellipse",
    "square": "box",
    "slanted": "parallelogram",
    "cut": "octagon",
    "hexagon": "hexagon",
    "flag": "cds",
    "barred": "component",
    "drum": "cylinder",
    "folder": "folder",
}
STYLES = {"full": "solid", "programmatic": "dashed", "early": "dotted", "back": "bold"}


def write_dot(scene: Scene) -> str:
    """Return the graph as text."""
    return "\n".join(lines_of(scene)) + "\n"


def lines_of(scene: Scene) -> Iterator[str]:
    yield "digraph {"
    yield f'label={quoted(scene.title)}; labelloc=t; compound=true; node [fontname="monospace" style="filled"];'
    # (lines to write, or a plane with its prefix): a stack, as graphs may be nested deeper than Python calls.
    waiting: list[str | Plane] = [scene.plane]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        else:
            waiting += reversed(list(parts_of(part)))
    yield "}"


def parts_of(plane: Plane) -> Iterator[str | Plane]:
    for box in plane.boxes:
        yield f"{name_of(box)} [{attributes(box)}];"
        for number, frame in enumerate(box.frames):
            cluster = quoted(f"cluster {box.key}.{number}")
            yield f"subgraph {cluster} {{ label={quoted(f'{box.title}: {frame.label}')};"
            yield frame.plane
            yield "}"
        for number, frame in enumerate(box.frames):
            if frame.plane.boxes:
                inner = name_of(frame.plane.boxes[0])
                cluster = quoted(f"cluster {box.key}.{number}")
                yield f"{name_of(box)} -> {inner} [lhead={cluster} style=dotted arrowhead=none];"
    for link in plane.links:
        source, target = plane.boxes[link.source], plane.boxes[link.target]
        yield f"{name_of(source)} -> {name_of(target)} [style={STYLES[link.style]}];"


def name_of(box: Box) -> str:
    return quoted(box.key)


def attributes(box: Box) -> str:
    kind = KINDS[box.kind]
    colour = THEMES["light"][box.colour or kind.colour]
    lines = [box.title, *box.lines, *([", ".join(box.parameters)] if box.parameters else [])]
    if box.repeat:
        lines.append(str(box.repeat))
    hover = "\n".join([*lines, *([box.source] if box.source else [])])
    return (
        f"label={quoted(*lines)} tooltip={quoted(*hover.splitlines())} shape={SHAPES[kind.shape]} "
        f'fillcolor="{colour[0]}" color="{colour[1]}"'
    )


def quoted(*lines: str) -> str:
    """Return a string of DOT with these lines."""
    escaped = (clean(line).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(escaped) + '"'
