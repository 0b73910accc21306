# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""A scene as SVG.

Each box is a group with the attributes `data-key` (Box.key), `data-size` (its width and height) and a translation. Each
link is a path with the keys of its ends in `data-from` and `data-to`. Graphs inside boxes are groups inside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from .kinds import HEAT, KINDS, LINK_STYLES, MARKS
from .layout import (
    FRAME_HEADER,
    LINE_STEP,
    MARGIN,
    FramePlace,
    Layout,
    Place,
    Point,
    Route,
    badge_of,
    numbers_of,
    texts_of,
)
from .scene import Box, Link, Plane, Scene
from .shapes import number, outline
from .style import style_sheet
from .text import cells, clean, markup, quoted, wrap

__all__ = ["Writer"]

PAD = 16.0
HEADING = 30.0
LEGEND_STEP = 17.0
LEGEND_CELLS = 110  # of a line, unless the picture is wider
LEGEND_GAP = 18.0
OWN_LINES = ("parameter", "note")  # entries of the legend with a line of their own
SWATCH = 22.0
HEADING_SIGN = 8.6
SMALLEST = 300.0
SIGN_OF_LINK = 17.0  # distance of the sign of a marked link from its end
SIGN = 6.75  # width of a sign of 11 pixels


class Entry(NamedTuple):
    """An entry of the legend: its sign, by the arguments of `swatch`, and its text."""

    what: str
    name: str
    text: str


class Row(NamedTuple):
    """An entry of the legend at its place, with its text in lines."""

    x: float
    y: float
    entry: Entry
    lines: list[str]


class Writer:
    """Writes one scene as an SVG document."""

    def __init__(self, scene: Scene, layout: Layout, theme: str) -> None:
        self.scene, self.layout, self.theme = scene, layout, theme
        self.width = max([layout.width, SMALLEST, cells(scene.title) * HEADING_SIGN])
        self.legend_height = 0.0
        self.legend = list(self.place_legend())

    def place_legend(self) -> Iterator[Row]:
        """Yield the rows of the legend: signs beside each other, long texts in lines of their own."""
        x = y = 0.0
        columns = max(LEGEND_CELLS, int((self.width - SWATCH) / SIGN))
        for entry in legend_of(self.scene, self.layout):
            lines = wrap(entry.text, columns)
            width = SWATCH + max(map(cells, lines)) * SIGN + LEGEND_GAP
            is_alone = entry.what in OWN_LINES
            if x and (x + width > self.width or is_alone):
                x, y = 0.0, y + LEGEND_STEP
            yield Row(x, y, entry, lines)
            self.legend_height = y + LEGEND_STEP * len(lines)
            self.width = max(self.width, width)
            x, y = (0.0, self.legend_height) if is_alone else (x + width, y)

    @property
    def size(self) -> Point:
        """The width and the height of the document in pixels."""
        below = self.legend_height + PAD if self.legend else 0.0
        return self.width + 2 * PAD, HEADING + self.layout.height + below + 2 * PAD

    def text(self) -> str:
        """Return the document."""
        return "\n".join(self.document()) + "\n"

    def document(self) -> Iterator[str]:
        w, h = map(number, self.size)
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="cgp" role="img" aria-label={quoted(self.scene.title)} '
            f'width="{w}" height="{h}" viewBox="0 0 {w} {h}">'
        )
        yield f"<style>\n{style_sheet(self.theme)}</style>"
        yield f'<rect class="paper" width="{w}" height="{h}"/>'
        yield f'<text class="heading" x="{number(PAD)}" y="{number(PAD + 13.0)}">{markup(self.scene.title)}</text>'
        yield f'<g class="picture" transform="translate({number(PAD)} {number(PAD + HEADING)})">'
        yield from plane_parts(self.layout, self.scene.plane)
        yield "</g>"
        yield from self.legend_parts(PAD, PAD + HEADING + self.layout.height + PAD)
        yield "</svg>"

    def legend_parts(self, x: float, y: float) -> Iterator[str]:
        for row in self.legend:
            yield (
                f'<g class="legend-row" transform="translate({number(x + row.x)} {number(y + row.y)})">'
                f"{swatch(row.entry.what, row.entry.name)}"
            )
            for place, line in enumerate(row.lines):
                down = number(10.0 + place * LEGEND_STEP)
                yield f'<text class="legend" x="{number(SWATCH)}" y="{down}">{markup(line)}</text>'
            yield "</g>"


def legend_of(scene: Scene, layout: Layout) -> Iterator[Entry]:
    """Yield the entries of the legend: the kinds, links and marks of a picture, its parameters and notes."""
    boxes = [place.box for place in all_places(layout)]
    links = [route.link for each in all_layouts(layout) for route in each.routes]
    return entries_of(scene, boxes, links)


def entries_of(scene: Scene, boxes: Sequence[Box], links: Sequence[Link]) -> Iterator[Entry]:
    """Yield the entries of the legend of a picture that shows these boxes and links."""
    kinds = {box.kind for box in boxes}
    colours = {box.colour for box in boxes} - {None}
    for kind in KINDS:
        if kind in kinds:
            yield Entry("shape" if colours else "kind", kind, KINDS[kind].words)
    for colour in HEAT:
        if colour in colours:
            yield Entry("heat", colour, HEAT[colour][1])
    styles = {link.style for link in links}
    for style in LINK_STYLES:
        if style in styles and styles != {"full"}:
            yield Entry("link", style, LINK_STYLES[style])
    marks = {box.mark for box in boxes} | {link.mark for link in links}
    for mark in MARKS:
        if mark in marks:
            yield Entry("mark", mark, MARKS[mark].words)
    for text in scene.parameters:
        yield Entry("parameter", "", text)
    for place, text in enumerate(scene.notes, 1):
        yield Entry("note", str(place), text)


def all_layouts(layout: Layout) -> Iterator[Layout]:
    yield layout
    for place in layout.places:
        for frame in place.frames:
            yield from all_layouts(frame.layout)


def all_places(layout: Layout) -> Iterator[Place]:
    for each in all_layouts(layout):
        yield from each.places


def swatch(what: str, name: str) -> str:
    """Return the sign at the left of an entry of the legend."""
    if what in ("kind", "shape", "heat"):
        kind = KINDS["kernel" if what == "heat" else name]
        colour = {"kind": kind.colour, "shape": "heat0", "heat": name}[what]
        drawn = outline(kind.shape, 22.0, 15.0)
        return f'<g class="{name} {colour}" transform="scale(.7)"><path class="outline" d="{drawn}"/></g>'
    if what == "link":
        return f'<path class="link {name}" d="M 0 6 H 16"/>'
    if what == "note":
        return sign("note", name, 7.0, 6.0)
    if what == "mark":
        return sign(name, MARKS[name].sign, 8.0, 6.0)
    return '<text class="parameter" x="5" y="10">=</text>'


def sign(name: str, text: str, x: float, y: float) -> str:
    """Return a text on a coloured ground, with its centre at x, y. `name` is "note" or a key of `MARKS`."""
    half = half_of(text)
    return (
        f'<rect class="sign {name}" x="{number(x - half)}" y="{number(y - 7.0)}" width="{number(2 * half)}" '
        f'height="14" rx="7"/>'
        f'<text class="sign-text" x="{number(x)}" y="{number(y + 4.0)}">{markup(text)}</text>'
    )


def half_of(text: str) -> float:
    """Return half of the width of a sign."""
    return max(7.0, 3.6 * len(text) + 3.0)


def plane_parts(layout: Layout, plane: Plane) -> Iterator[str]:
    """Yield the elements of a plane: lanes, links, and boxes over them."""
    for lane in layout.lanes:
        name = "no device" if lane.device is None else f"device {lane.device}"
        yield (
            f'<rect class="lane" x="{number(lane.x + 2)}" y="0" width="{number(lane.width - 4)}" '
            f'height="{number(layout.height)}" rx="8"/>'
            f'<text class="frame-label" x="{number(lane.x + 12)}" y="16">{markup(name)}</text>'
        )
    for route in layout.routes:
        yield from link_parts(route, plane)
    for place in layout.places:
        yield from box_parts(place)


def link_parts(route: Route, plane: Plane) -> Iterator[str]:
    link = route.link
    source, target = plane.boxes[link.source], plane.boxes[link.target]
    x, y = route.points[-1]
    tip = "l -4 -8 h 8 z" if y >= route.points[-2][1] else "l -4 8 h 8 z"
    look = f"{link.style} {link.mark}" if link.mark else link.style
    yield (
        f'<path class="link {look}" data-from="{source.key}" data-to="{target.key}" d="{curve(route)}"/>'
        f'<path class="head {look}" transform="translate({number(x)} {number(y)})" d="M 0 0 {tip}"/>'
    )
    if link.mark:
        yield sign(
            link.mark,
            MARKS[link.mark].sign,
            x,
            y - SIGN_OF_LINK if y >= route.points[-2][1] else y + SIGN_OF_LINK,
        )


def curve(route: Route) -> str:
    """Return the path of a link: straight along layers, and bent between them. It ends before the arrow's point."""
    points = list(route.points)
    x, y = points[-1]
    points[-1] = (x, y - 4.0 if y >= points[-2][1] else y + 4.0)
    x, y = points[0]
    at = number(x)
    parts = ["M", at, number(y)]
    for u, v in points[1:]:
        to, down = number(u), number(v)
        if to == at and parts[-2] == "V":
            parts[-1] = down
        elif to == at:
            parts += ("V", down)
        elif route.is_track:
            parts += ("L", to, down)
        else:
            middle = number((y + v) / 2)
            parts += ("C", at, middle, to, middle, to, down)
        at, y = to, v
    return " ".join(parts)


def box_parts(place: Place) -> Iterator[str]:
    """Yield the elements of a box, with the graphs in it if it is open."""
    box = place.box
    kind = KINDS[box.kind]
    is_open = bool(place.frames)
    colour = box.colour or kind.colour
    names = [box.kind, colour, "noted" if box.notes else "", "open" if is_open else "", box.mark]
    yield (
        f'<g class="box {" ".join(name for name in names if name)}" data-key="{box.key}" '
        f'data-size="{number(place.width)} {number(place.height)}" '
        f'transform="translate({number(place.x)} {number(place.y)})">'
    )
    yield f"<title>{escape(hover_of(box))}</title>"
    shape = "round" if is_open else kind.shape
    drawn = outline(shape, place.width, place.height)
    if box.repeat and not is_open:
        yield "".join(f'<path class="outline" transform="translate({d} {d})" d="{drawn}"/>' for d in (6, 3))
    yield f'<path class="outline" d="{drawn}"/>'
    yield from text_parts(box, place.width, is_open)
    if box.notes:
        text = numbers_of(box)  # the sign ends where the gap to the next box begins
        yield sign("note", text, place.width - max(4.0, half_of(text) - 7.0), 2.0)
    if box.mark:
        yield sign(box.mark, MARKS[box.mark].sign, 4.0, 2.0)
    for frame in place.frames:
        yield from frame_parts(frame, place)
    yield "</g>"


def text_parts(box: Box, width: float, is_open: bool) -> Iterator[str]:
    texts = texts_of(box, is_open)
    if box.repeat:
        right, badge = number(width - MARGIN), markup(badge_of(box))
        yield f'<text class="badge" x="{right}" y="{number(texts.y)}" text-anchor="end">{badge}</text>'
    for place, (kind, line) in enumerate(texts.lines):
        y = texts.y + place * LINE_STEP
        yield f'<text class="{kind}" x="{number(texts.x)}" y="{number(y)}">{markup(line)}</text>'


def hover_of(box: Box) -> str:
    """Return the text that appears on hover: everything that is known of the box, and its source line at the end."""
    lines: list[str] = [f"{KINDS[box.kind].words}: {box.title}"]
    if box.mark:
        lines.append(MARKS[box.mark].words)
    if box.repeat:
        lines.append(str(box.repeat))
    lines += [*box.lines, *box.hover]
    if box.parameters:
        lines.append(f"parameters: {', '.join(box.parameters)}")
    if box.source:
        lines.append(box.source)
    return "\n".join(map(clean, lines))


def frame_parts(frame: FramePlace, place: Place) -> Iterator[str]:
    x, y = frame.x - place.x, frame.y - place.y
    ox, oy = frame.origin
    yield (
        f'<g class="inner"><rect class="frame" x="{number(x)}" y="{number(y)}" width="{number(frame.width)}" '
        f'height="{number(frame.height)}" rx="6"/>'
        f'<text class="frame-label" x="{number(x + 10.0)}" y="{number(y + FRAME_HEADER - 6.0)}">'
        f"{markup(frame.frame.label)}</text>"
    )
    yield f'<g class="plane" transform="translate({number(ox - place.x)} {number(oy - place.y)})">'
    yield from plane_parts(frame.layout, frame.frame.plane)
    yield "</g></g>"
