# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Picture: a scene that can be written in all formats, and that notebooks show."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from .document import Document, accept_theme
from .dot import write_dot
from .folding import fold
from .html import write_html
from .layout import Layout, lay_out
from .scene import Box, Plane, Scene
from .svg import Writer
from .tree import write_tree

__all__ = ["Picture"]

FEW = 40  # boxes that are drawn without folds
MOST_VISIBLE = 150  # boxes that a picture shows; bodies that would exceed it are closed
DEEPEST = 24  # graphs around an open graph


class Picture(Document):
    """The picture of a graph, made by `draw`. Notebooks show it as SVG; `print` shows the tree.

    Attributes:
        scene: Everything that the picture shows, with repeated patterns folded.
        theme: "auto", "light" or "dark".
    """

    FORMATS: ClassVar[dict[str, str]] = {".svg": "svg", ".html": "html", ".png": "png", ".dot": "dot"}

    def __init__(self, scene: Scene, folds: bool | None = None, theme: str = "auto") -> None:
        if folds or (folds is None and is_large(scene.plane)):
            scene = Scene(scene.title, fold(scene.plane), scene.parameters, scene.notes)
        self.scene, self.theme = scene, accept_theme(theme)

    @cached_property
    def layout(self) -> Layout:
        """The scene with everything at its place. Bodies are open as far as the picture stays readable."""
        return lay_out(self.scene.plane, lambda box: box.key in self.opened)

    @cached_property
    def opened(self) -> set[str]:
        """The keys of the boxes that show the graphs inside them. An HTML page opens and closes boxes later."""
        return keys_to_open(self.scene.plane)

    @property
    def size(self) -> tuple[float, float]:
        return Writer(self.scene, self.layout, self.theme).size

    def document(self, theme: str) -> str:
        return Writer(self.scene, self.layout, theme).text()

    def html(self) -> str:
        """Return a page that opens and closes boxes, pans, zooms and searches. It loads no other file."""
        return write_html(self.scene, self.opened, self.theme)

    def dot(self) -> str:
        """Return the graph in the DOT language of Graphviz."""
        return write_dot(self.scene)

    def __str__(self) -> str:
        return write_tree(self.scene)

    def __repr__(self) -> str:
        return f"<Picture of {self.scene.title}>"


def is_large(plane: Plane) -> bool:
    return any(number >= FEW for number, _ in enumerate(plane.walk()))


def keys_to_open(plane: Plane) -> set[str]:
    """Return the keys of the boxes to open: outer ones first, until enough is visible, and all around a note."""
    opened = {key for box in plane.walk() if box.notes for key in keys_around(box.key)}
    visible = len(plane.boxes)
    level = list(plane.boxes)
    for _ in range(DEEPEST):
        inner: list[Box] = []
        for box in level:
            size = sum(len(frame.plane.boxes) for frame in box.frames)
            if box.frames and (box.key in opened or visible + size <= MOST_VISIBLE):
                visible += size
                opened.add(box.key)
                inner += (each for frame in box.frames for each in frame.plane.boxes)
        level = inner
    deepest = {box.key for box in level}
    return opened - deepest


def keys_around(key: str) -> list[str]:
    """Return the keys of the boxes around a box: "3" for "3.1.0"."""
    steps = key.split(".")
    return [".".join(steps[:end]) for end in range(1, len(steps), 2)]
