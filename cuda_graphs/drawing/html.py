# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A scene as one HTML file that opens and closes boxes, pans, zooms and searches, without access to a network.

The file holds the whole scene as JSON, the script page.js and the style sheet page.css. All planes are laid out here
with their boxes closed: layers, orders, bends and places. The script draws that layout. When a box is opened, the
script gives it more room: its neighbours in the layer move aside as little as possible, and the later layers move
down. The script draws only what is visible, so that a page with 20,000 boxes opens as quickly as a small one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from . import layout
from .kinds import KINDS, MARKS
from .layout import PlaneLayout, Size, numbers_of, smallest_width, text_size, texts_of
from .scene import Box, Frame, Link, Plane, Scene
from .shapes import outline
from .style import style_sheet
from .svg import Entry, entries_of, hover_of, swatch
from .text import clean, markup, quoted

__all__ = ["write_html"]

# The script and its style sheet, which pages contain.
SCRIPT = Path(__file__).with_name("page.js")
STYLE = Path(__file__).with_name("page.css")
# Distances of the layout (layout.py) that the script uses. The tests compare its result with that of layout.py.
DISTANCES = (
    "GAP_X",
    "GAP_Y",
    "GAP_OF_BENDS",
    "MARGIN",
    "LINE_STEP",
    "FRAME_PAD",
    "FRAME_HEADER",
    "FRAME_GAP",
    "LANE_HEADER",
    "LANE_PAD",
    "TRACK",
)

PAGE = """\
<!DOCTYPE html>
<html lang="en" class="cgp {theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<div role="search">
<input type="search" placeholder="Search" aria-label="Search names, kernels and source lines" autocomplete="off">
<output></output>
<button data-do="previous" title="Previous match (Shift + Enter)" aria-label="Previous match">&#8593;</button>
<button data-do="next" title="Next match (Enter)" aria-label="Next match">&#8595;</button>
</div>
<nav>
<button data-do="larger" title="Zoom in (+)" aria-label="Zoom in">+</button>
<button data-do="smaller" title="Zoom out (-)" aria-label="Zoom out">&#8722;</button>
<button data-do="fit" title="Show all (0)">Fit</button>
<button data-do="open" title="Open all graphs inside boxes">Open all</button>
<button data-do="close" title="Close all graphs inside boxes">Close all</button>
</nav>
</header>
<main>
<svg tabindex="0" aria-label={label}><g></g></svg>
<div class="hover" role="tooltip" hidden></div>
</main>
<details class="legend-panel"{unfolded}>
<summary>Legend</summary>
<ul>
{legend}
</ul>
</details>
<script type="application/json" id="scene">{data}</script>
<script>
{script}</script>
</body>
</html>
"""


def write_html(scene: Scene, opened: set[str], theme: str) -> str:
    """Return the page. The boxes with keys in `opened` are open at first."""
    title = markup(scene.title)
    return PAGE.format(
        theme=theme,
        title=title,
        label=quoted(scene.title),
        style=style_sheet(theme, STYLE.read_text(encoding="utf-8")),
        unfolded=" open" if scene.notes else "",
        legend="\n".join(map(legend_item, legend_of(scene))),
        data=in_script(data_of(scene, opened)),
        script=SCRIPT.read_text(encoding="utf-8"),
    )


def in_script(data: object) -> str:
    """Return JSON that can stand in an element `script`, where "</" and "<!--" would have a meaning."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def legend_of(scene: Scene) -> Iterator[Entry]:
    boxes: list[Box] = []
    links: list[Link] = []
    for plane in planes_of(scene.plane):
        boxes += plane.boxes
        links += plane.links
    return entries_of(scene, boxes, links)


def legend_item(entry: Entry) -> str:
    text = markup(entry.text)
    if entry.what == "note":
        text = f'<button data-note="{entry.name}" title="Go to the nodes of this finding">{text}</button>'
    return f'<li><svg width="22" height="14">{swatch(entry.what, entry.name)}</svg><span>{text}</span></li>'


def planes_of(plane: Plane) -> list[Plane]:
    """Return the plane and all planes inside it, each before the planes inside it.

    The frames of all boxes, in the order of the planes and boxes, have the planes 1, 2, and so on.
    """
    planes = [plane]
    for each in planes:  # the loop appends to the list
        planes += (frame.plane for box in each.boxes for frame in box.frames)
    return planes


def data_of(scene: Scene, opened: set[str]) -> dict[str, Any]:
    """Return what the script needs, as values of JSON."""
    outlines: dict[str, int] = {}
    numbers = count(1)
    planes = [plane_data(plane, numbers, outlines) for plane in planes_of(scene.plane)]
    kinds = {box["kind"] for plane in planes for box in plane["boxes"]}
    return {
        "planes": planes,
        "outlines": list(outlines),
        "colours": {kind: KINDS[kind].colour for kind in sorted(kinds)},
        "signs": {name: mark.sign for name, mark in MARKS.items()},
        "opened": sorted(opened),
        "distances": {name: getattr(layout, name) for name in DISTANCES},
    }


def plane_data(plane: Plane, numbers: Iterator[int], outlines: dict[str, int]) -> dict[str, Any]:
    """Return a plane with its layout in which all boxes are closed.

    centres  the horizontal places of the vertices, which are the boxes and then the bends
    layers   the vertices of each layer, from left to right
    lanes    the device of each lane, and `columns` with the number of the lane of each vertex; absent with one device
    links    [source, target, style, mark, first bend, number of bends, track or -1, distance of the end from the centre
             of the target, 1 if the link is drawn upwards]
    """
    sizes = [Size(*text_size(box, False)) for box in plane.boxes]
    found = PlaneLayout(plane, sizes)
    data: dict[str, Any] = {
        "boxes": [
            box_data(box, size, numbers, outlines) for box, size in zip(plane.boxes, sizes, strict=True)
        ]
    }
    if not plane.boxes:
        return data
    x, lanes = found.place_lanes()
    data |= {"centres": [round(each, 1) for each in x], "layers": found.layers}
    if lanes:
        data |= {"lanes": [lane.device for lane in lanes], "columns": found.lanes}
    tracks = found.tracks()
    _, ends = found.ports(x)
    links = []
    for number, (link, chain, is_turned) in enumerate(
        zip(plane.links, found.chains, found.turned, strict=True)
    ):
        bends = chain[1:-1]
        source, target = (link.target, link.source) if is_turned else (link.source, link.target)
        style = "back" if is_turned else link.style
        first = bends[0] if bends else 0
        offset = round(ends[number] - x[target], 1)
        links.append(
            [
                source,
                target,
                style,
                link.mark,
                first,
                len(bends),
                tracks.get(number, -1),
                offset,
                int(is_turned),
            ]
        )
    return {**data, "links": links}


def box_data(box: Box, size: Size, numbers: Iterator[int], outlines: dict[str, int]) -> dict[str, Any]:
    """Return a box. Keys without a value are left out."""
    texts = texts_of(box, False)
    drawn = outline(KINDS[box.kind].shape, size.width, size.height)
    data: dict[str, Any] = {
        "key": box.key,
        "kind": box.kind,
        "width": round(size.width, 1),
        "height": round(size.height, 1),
        "outline": outlines.setdefault(drawn, len(outlines)),
        "texts": [round(texts.x, 1), round(texts.y, 1), texts.lines],
        "hover": hover_of(box),
    }
    if box.frames:
        data |= opened_data(box, numbers)
    if box.repeat:
        data["badge"] = layout.badge_of(box)
    if box.mark:
        data["mark"] = box.mark
    if box.colour:
        data["colour"] = box.colour
    if box.notes:
        data |= {"notes": box.notes, "numbers": numbers_of(box)}
    if box.names:
        data["names"] = [clean(name) for name in box.names]
    return data


def opened_data(box: Box, numbers: Iterator[int]) -> dict[str, Any]:
    """Return what the script needs to draw a box open."""
    texts = texts_of(box, True)
    width, height = text_size(box, True)
    return {
        "frames": [frame_data(frame, next(numbers)) for frame in box.frames],
        "header": [
            round(width, 1),
            round(height, 1),
            [round(texts.x, 1), round(texts.y, 1), texts.lines],
        ],
    }


def frame_data(frame: Frame, plane: int) -> list[Any]:
    return [clean(frame.label), plane, round(smallest_width(frame), 1)]
