# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Places the boxes and links of a plane, in layers from top to bottom (after Sugiyama, Tagawa and Toda).

1. `ranking` gives each box a layer. A link over several layers gets a bend in each layer between.
2. `ordering` orders the vertices (boxes and bends) of each layer; boxes of one lane stay together.
3. `positions` finds the horizontal places, lane by lane.
4. Links leave a box at the bottom, pass bends straight down, and bend only between layers. So no link touches a box
   other than its ends.

Links over many layers, whose bends would dominate the work, use tracks to the right of all boxes.

Open boxes are laid out from inside to outside, because the size of a box depends on the graphs in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappush, heapreplace

from .kinds import KINDS
from .ordering import order_layers
from .positions import place_layers
from .ranking import Neighbours, order_of, rank
from .scene import Box, Frame, Link, Plane
from .shapes import INSETS
from .text import cells, elide

__all__ = ["FramePlace", "Layout", "Place", "Route", "lay_out", "numbers_of", "texts_of"]

GAP_X = 22.0
GAP_Y = 34.0
GAP_OF_BENDS = 12.0
MARGIN = 10.0  # between the outline of a box and its text
TITLE_SIZE, TITLE_STEP = 13.0, 18.0  # pixels: size of the font, and distance of lines
LINE_SIZE, LINE_STEP = 11.0, 15.0
ADVANCE = 0.61  # width of a sign in a font of fixed width, as a share of its size
MOST_CELLS = 34  # of a title; the whole title appears on hover
MOST_CELLS_OF_LINES = 40
MOST_NOTES = 3  # numbers of notes at a box
FRAME_PAD = 12.0
FRAME_HEADER = 20.0
FRAME_GAP = 10.0
LANE_HEADER = 24.0
LANE_PAD = 14.0
TRACK = 9.0  # distance of tracks
PORTS = 12.0  # largest distance of links that end at one box
BENDS_PER_BOX = 4  # of a plane, on average; longer links use tracks
BENDS_OF_LARGE = 16_000  # a plane with more bends has at most two for each box

Point = tuple[float, float]


@dataclass(frozen=True)
class FramePlace:
    """A frame of an open box, in the coordinates of the plane around the box."""

    frame: Frame
    x: float
    y: float
    width: float
    height: float
    layout: Layout

    @property
    def origin(self) -> Point:
        """The place of the point 0, 0 of the plane in the frame."""
        return self.x + FRAME_PAD, self.y + FRAME_HEADER


@dataclass(frozen=True)
class Place:
    """A box at its place: x and y of its upper left corner. A closed box has no frames."""

    box: Box
    x: float
    y: float
    width: float
    height: float
    frames: tuple[FramePlace, ...] = ()


@dataclass(frozen=True)
class Route:
    """The points of a link, from its source to its target. `is_track` says that it goes along a track, with corners."""

    link: Link
    points: tuple[Point, ...]
    is_track: bool = False


@dataclass(frozen=True)
class Lane:
    """The column of a device, with its ordinal; None for boxes without a device."""

    device: int | None
    x: float
    width: float


@dataclass(frozen=True)
class Layout:
    """A plane with all its boxes, links and lanes at their places."""

    width: float
    height: float
    places: tuple[Place, ...]
    routes: tuple[Route, ...]
    lanes: tuple[Lane, ...] = ()


@dataclass
class Size:
    """The size of a box, and the layouts of its frames if it is open."""

    width: float
    height: float
    layouts: list[Layout] = field(default_factory=list)


def lines_of(box: Box, is_open: bool) -> list[tuple[str, str]]:
    """Return the lines of text in a box after its title: (class of the line, text)."""
    lines = [("line", line) for line in box.lines]
    if box.parameters:
        lines.append(("parameter", ", ".join(box.parameters)))
    if box.repeat:
        lines.append(("line", str(box.repeat)))
    if not is_open:
        lines += [
            ("inside", f"\N{BLACK RIGHT-POINTING SMALL TRIANGLE} {inside(frame)}") for frame in box.frames
        ]
    return [(kind, elide(line, MOST_CELLS_OF_LINES)) for kind, line in lines]


def inside(frame: Frame) -> str:
    count = frame.plane.count()
    return f"{frame.label}: {count} node{'s' * (count != 1)}"


def title_of(box: Box) -> str:
    return elide(box.title, MOST_CELLS)


def badge_of(box: Box) -> str:
    """Return the text at the right of the title."""
    return f"\N{MULTIPLICATION SIGN} {box.repeat.count}" if box.repeat else ""


@dataclass(frozen=True)
class Texts:
    """The texts of a box: the left end of all lines, the first base line, and (class, text) of each line."""

    x: float
    y: float
    lines: list[tuple[str, str]]


def texts_of(box: Box, is_open: bool) -> Texts:
    side, top = insets_of(box, is_open)
    return Texts(MARGIN + side, top + TITLE_STEP, [("title", title_of(box)), *lines_of(box, is_open)])


def insets_of(box: Box, is_open: bool) -> tuple[float, float]:
    return (0.0, 0.0) if is_open else INSETS.get(KINDS[box.kind].shape, (0.0, 0.0))


def numbers_of(box: Box) -> str:
    """Return the text of the sign of a box with notes: their numbers, as far as there is room."""
    rest = len(box.notes) - MOST_NOTES
    return ",".join(map(str, box.notes[:MOST_NOTES])) + (f" +{rest}" if rest > 0 else "")


def text_size(box: Box, is_open: bool) -> tuple[float, float]:
    """Return the width and the height of the text of a box with its margins."""
    side, top = insets_of(box, is_open)
    badge = badge_of(box)
    columns = cells(title_of(box)) + (cells(badge) + 2 if badge else 0)
    lines = lines_of(box, is_open)
    width = max([columns * ADVANCE * TITLE_SIZE, *(cells(line) * ADVANCE * LINE_SIZE for _, line in lines)])
    height = TITLE_STEP + LINE_STEP * len(lines) + 10.0 + top
    return width + 2 * (MARGIN + side), height


def lay_out(plane: Plane, is_open: Callable[[Box], bool]) -> Layout:
    """Return the Layout of a plane. `is_open` says which boxes with frames show them."""
    sizes = [size_of(box, is_open) for box in plane.boxes]
    return PlaneLayout(plane, sizes).result()


def size_of(box: Box, is_open: Callable[[Box], bool]) -> Size:
    if not box.frames or not is_open(box):
        return Size(*text_size(box, False))
    width, height = text_size(box, True)
    layouts = [lay_out(frame.plane, is_open) for frame in box.frames]
    frames = [frame_size(frame, layout) for frame, layout in zip(box.frames, layouts, strict=True)]
    inner = sum(each for each, _ in frames) + FRAME_GAP * (len(frames) + 1)
    return Size(max(width, inner), height + max(each for _, each in frames) + FRAME_GAP, layouts)


def frame_size(frame: Frame, layout: Layout) -> Point:
    width = max(layout.width + 2 * FRAME_PAD, smallest_width(frame))
    return width, layout.height + FRAME_HEADER + FRAME_PAD


def smallest_width(frame: Frame) -> float:
    """Return the width of a frame that holds no more than its label."""
    return (cells(frame.label) + 2) * ADVANCE * LINE_SIZE + 2 * FRAME_PAD


class PlaneLayout:
    """The computation of one Layout. Vertices are the boxes, by number, and then the bends."""

    def __init__(self, plane: Plane, sizes: Sequence[Size]) -> None:
        self.plane, self.sizes = plane, sizes
        self.count = count = len(plane.boxes)
        edges = [(link.source, link.target) for link in plane.links]
        order, ignored = order_of(count, edges)
        self.turned = [edge in ignored for edge in edges]
        forward = [
            (edge[1], edge[0]) if is_turned else edge
            for edge, is_turned in zip(edges, self.turned, strict=True)
        ]
        self.ranks = rank(count, forward, order)
        self.widths = [size.width for size in sizes]
        self.lanes = self.lane_numbers()
        self.chains: list[list[int]] = []  # the vertices of each link, from top to bottom; [] for a track
        self.add_bends(forward)
        layers: list[list[int]] = [[] for _ in range(max(self.ranks, default=-1) + 1)]
        for vertex, layer in enumerate(self.ranks):
            layers[layer].append(vertex)
        short = [pair for chain in self.chains for pair in itertools.pairwise(chain)]
        self.links = Neighbours(len(self.ranks), short)
        self.layers = order_layers(layers, self.links, self.lanes)

    def lane_numbers(self) -> list[int]:
        """Return the number of the column of each box. A plane with one device has one column."""
        devices = sorted({box.lane for box in self.plane.boxes if box.lane is not None})
        self.devices: list[int | None] = list(devices)
        if len(devices) < 2:
            self.devices = []
            return [0] * self.count
        if any(box.lane is None for box in self.plane.boxes):
            self.devices.append(None)
        column = {device: number for number, device in enumerate(self.devices)}
        return [column[box.lane] for box in self.plane.boxes]

    def add_bends(self, edges: Sequence[tuple[int, int]]) -> None:
        """Add a bend for each layer that a link crosses, except for the longest links, which get tracks."""
        spans = [self.ranks[target] - self.ranks[source] for source, target in edges]
        budget = BENDS_PER_BOX * self.count + 200
        if budget > BENDS_OF_LARGE:
            budget = max(BENDS_OF_LARGE, 2 * self.count)
        longest = 0
        for span in sorted(spans):
            budget -= span - 1
            if budget < 0:
                break
            longest = span
        for (source, target), span in zip(edges, spans, strict=True):
            if span > longest:
                self.chains.append([])
                continue
            first = len(self.ranks)
            self.ranks += range(self.ranks[source] + 1, self.ranks[target])
            bends = range(first, len(self.ranks))
            self.widths += [GAP_OF_BENDS - GAP_X] * len(bends)
            self.lanes += [self.lanes[source]] * len(bends)
            self.chains.append([source, *bends, target])

    def result(self) -> Layout:
        if not self.count:
            return Layout(0.0, 0.0, (), ())
        x, lanes = self.place_lanes()
        top, bottom, height = self.place_layers_in_height()
        edge = max((x[each] + self.widths[each] / 2 for each in range(self.count)), default=0.0)
        edge = max([edge, *(lane.x + lane.width for lane in lanes)])
        places = tuple(
            self.placed(number, x[number] - self.widths[number] / 2, top[self.ranks[number]])
            for number in range(self.count)
        )
        routes, width = self.routes(x, top, bottom, places, edge)
        return Layout(width, height, places, routes, tuple(lanes))

    def place_lanes(self) -> tuple[list[float], list[Lane]]:
        """Return the centre of each vertex, and the lanes beside each other."""
        x = [0.0] * len(self.ranks)
        lanes: list[Lane] = []
        left = 0.0
        for column in range(max(1, len(self.devices))):
            layers = [[each for each in layer if self.lanes[each] == column] for layer in self.layers]
            found = place_layers(layers, self.links, self.widths, GAP_X, self.count)
            members = [each for layer in layers for each in layer]
            low = min((found[each] - max(self.widths[each], 0.0) / 2 for each in members), default=0.0)
            high = max((found[each] + max(self.widths[each], 0.0) / 2 for each in members), default=0.0)
            pad = LANE_PAD if self.devices else 0.0
            for each in members:
                x[each] = found[each] - low + left + pad
            if self.devices:
                lanes.append(Lane(self.devices[column], left, high - low + 2 * pad))
            left += high - low + 2 * pad
        return x, lanes

    def place_layers_in_height(self) -> tuple[list[float], list[float], float]:
        """Return the top and the bottom of each layer, and the height of all."""
        y = LANE_HEADER + LANE_PAD if self.devices else 0.0
        top, bottom = [], []
        for layer in self.layers:
            top.append(y)
            y += max((self.sizes[each].height for each in layer if each < self.count), default=0.0)
            bottom.append(y)
            y += GAP_Y
        return top, bottom, y - GAP_Y + (LANE_PAD if self.devices else 0.0)

    def placed(self, number: int, x: float, y: float) -> Place:
        box, size = self.plane.boxes[number], self.sizes[number]
        frames = []
        left, header = x + FRAME_GAP, text_size(box, True)[1]
        for frame, layout in zip(box.frames, size.layouts, strict=False):  # no layouts in a closed box
            width, _ = frame_size(frame, layout)
            frames.append(
                FramePlace(frame, left, y + header, width, size.height - header - FRAME_GAP, layout)
            )
            left += width + FRAME_GAP
        return Place(box, x, y, size.width, size.height, tuple(frames))

    def routes(
        self, x: list[float], top: list[float], bottom: list[float], places: Sequence[Place], edge: float
    ) -> tuple[tuple[Route, ...], float]:
        """Return the routes of all links, and the width of the plane with its tracks."""
        starts, ends = self.ports(x)
        tracks = self.tracks()
        width = edge + TRACK * (max(tracks.values(), default=-1) + 1)
        routes = []
        for number, link in enumerate(self.plane.links):
            source, target = (link.target, link.source) if self.turned[number] else (link.source, link.target)
            start, end = places[source], places[target]
            points = [(starts[number], start.y + start.height), (starts[number], bottom[self.ranks[source]])]
            if number in tracks:
                at = edge + TRACK * (tracks[number] + 1)
                upper, lower = bottom[self.ranks[source]] + GAP_Y / 2, top[self.ranks[target]] - GAP_Y / 2
                points += [(starts[number], upper), (at, upper), (at, lower), (ends[number], lower)]
            for bend in self.chains[number][1:-1]:
                points += [(x[bend], top[self.ranks[bend]]), (x[bend], bottom[self.ranks[bend]])]
            points.append((ends[number], end.y))
            style = Link(link.source, link.target, "back") if self.turned[number] else link
            routes.append(
                Route(style, tuple(points[::-1] if self.turned[number] else points), number in tracks)
            )
        return tuple(routes), width

    def ports(self, x: list[float]) -> tuple[list[float], list[float]]:
        """Return the places where each link leaves its source and reaches its target. Ends at one box are spread."""
        starts, ends = [], []
        arriving: dict[int, list[tuple[float, int]]] = {}
        for number, link in enumerate(self.plane.links):
            source, target = (link.target, link.source) if self.turned[number] else (link.source, link.target)
            starts.append(x[source])
            ends.append(x[target])
            chain = self.chains[number]
            arriving.setdefault(target, []).append((x[chain[-2]] if chain else float("inf"), number))
        for target, links in arriving.items():
            step = min(PORTS, (self.widths[target] - 2 * MARGIN) / len(links))
            for place, (_, number) in enumerate(sorted(links)):
                ends[number] = x[target] + step * (place - (len(links) - 1) / 2)
        return starts, ends

    def tracks(self) -> dict[int, int]:
        """Return the track of each link without bends; links in one track do not overlap."""
        spans = []
        for number, chain in enumerate(self.chains):
            if not chain:
                link = self.plane.links[number]
                low, high = sorted((self.ranks[link.source], self.ranks[link.target]))
                spans.append((low, high, number))
        found: dict[int, int] = {}
        free: list[tuple[int, int]] = []  # a heap of (the layer up to which a track is taken, the track)
        for low, high, number in sorted(spans):
            if free and free[0][0] < low:
                _, track = heapreplace(free, (high, free[0][1]))
            else:
                track = len(free)
                heappush(free, (high, track))
            found[number] = track
        return found
