# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The picture of a GraphDifference: both definitions in one, with marks at what was added, removed and changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from os import PathLike
from typing import TYPE_CHECKING, Any

from cuda_graphs.drawing.picture import Picture
from cuda_graphs.drawing.ranking import order_of
from cuda_graphs.drawing.scene import Box, Frame, Link, Plane, Scene
from cuda_graphs.objects.numbers import read_flag

from .reading import box_of, count_in_words, labels_of, style_of, with_lanes

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["draw_difference"]


def draw_difference(
    difference: Any, path: str | PathLike[str] | None, fold: bool | None, theme: str
) -> Picture:
    """See GraphDifference.draw. (That module imports this one, so the type of `difference` is not named here.)"""
    folds = None if fold is None else read_flag(fold, "fold")
    if path is not None:
        Picture.accept_file(path)  # before the work
    picture = Picture(read_difference(difference), folds, theme)
    if path is not None:
        picture.save(path)
    return picture


def read_difference(difference: Any) -> Scene:
    """Return the Scene of both definitions. Loops read the graphs, as definitions may be nested deeper than calls."""
    changes = {change.after: change.texts for change in difference.changed}
    merged = [Merged(difference.before, difference.after, difference.partners, "")]
    for each in merged:  # the loop appends to the list
        merged += each.read_inner()
    for each in reversed(merged):
        each.build(changes)
    plane = merged[0].plane
    count = len(difference.lines)
    words = f"{count} difference{'s' * (count != 1)}"
    return Scene(f"GraphDifference: {words}, {count_in_words(plane)}", plane)


class Merged:
    """One graph of the two definitions on its way into a Plane. One of the two may lack it.

    A node of both definitions is named by the node of the later one.
    """

    def __init__(
        self, before: Definition | None, after: Definition | None, partners: dict[Any, Any], prefix: str
    ) -> None:
        self.partners, self.prefix = partners, prefix
        old_nodes, old_edges = ([], []) if before is None else before._listed_with_data()
        new_nodes, new_edges = ([], []) if after is None else after._listed_with_data()
        later = {partners[node]: node for node in new_nodes if node in partners}
        self.marks = {node: None if node in partners else "added" for node in new_nodes}
        self.marks |= {node: "removed" for node in old_nodes if node not in later}
        had = {
            (later.get(source, source), later.get(target, target), data) for source, target, data in old_edges
        }
        has = {(source, target, data) for source, target, data in new_edges}
        nodes = [*new_nodes, *(node for node in old_nodes if node not in later)]
        numbers = {node: number for number, node in enumerate(nodes)}
        edges = [(numbers[source], numbers[target], data) for source, target, data in had | has]
        edges.sort()
        order, _ = order_of(len(nodes), [edge[:2] for edge in edges])
        place = {number: at for at, number in enumerate(order)}
        self.nodes = [nodes[number] for number in order]
        self.links = tuple(
            Link(
                place[source],
                place[target],
                style_of(data),
                mark_of((nodes[source], nodes[target], data), had, has),
            )
            for source, target, data in edges
        )
        self.inner: list[list[Merged]] = []
        self.plane = Plane()

    def read_inner(self) -> Iterator[Merged]:
        for number, node in enumerate(self.nodes):
            graphs: tuple[Any, ...] = node._inner_graphs()
            if self.marks[node] == "removed":
                pairs = [(graph, None) for graph in graphs]
            elif self.marks[node] == "added":
                pairs = [(None, graph) for graph in graphs]
            else:
                pairs = list(zip_longest(self.partners[node]._inner_graphs(), graphs))
            found = [
                Merged(before, after, self.partners, f"{self.prefix}{number}.{branch}.")
                for branch, (before, after) in enumerate(pairs)
            ]
            self.inner.append(found)
            yield from found

    def build(self, changes: dict[Any, tuple[str, ...]]) -> None:
        boxes = []
        for number, (node, inner) in enumerate(zip(self.nodes, self.inner, strict=True)):
            holder = node
            if len(inner) > len(node._inner_graphs()):  # a switch that lost cases
                holder = self.partners[node]
            labels = labels_of(holder)
            frames = tuple(Frame(label, each.plane) for label, each in zip(labels, inner, strict=True))
            box = box_of(node, f"{self.prefix}{number}", frames)
            boxes.append(with_change(box, self.marks[node], changes.get(node, ())))
        self.plane = Plane(tuple(with_lanes(boxes, self.links)), self.links)


def with_change(box: Box, mark: str | None, texts: tuple[str, ...]) -> Box:
    if texts:
        return replace(box, mark="changed", lines=(*box.lines, *texts), hover=(*texts, *box.hover))
    return replace(box, mark=mark)


def mark_of(edge: Any, had: set[Any], has: set[Any]) -> str | None:
    if edge in had and edge in has:
        return None
    return "added" if edge in has else "removed"
