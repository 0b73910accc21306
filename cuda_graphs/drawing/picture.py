# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Picture: a scene that can be written in all formats, and that notebooks show."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from typing import Any

from .dot import write_dot
from .folding import fold
from .html import write_html
from .layout import Layout, lay_out
from .png import write_png
from .scene import Box, Plane, Scene
from .svg import Writer
from .tree import write_tree

__all__ = ["Picture", "accept_file", "accept_theme"]

THEMES = ("auto", "light", "dark")
FEW = 40  # boxes that are drawn without folds
MOST_VISIBLE = 150  # boxes that a picture shows; bodies that would exceed it are closed
DEEPEST = 24  # graphs around an open graph


class Picture:
    """The picture of a graph, made by `draw`. Notebooks show it as SVG; `print` shows the tree.

    Attributes:
        scene: Everything that the picture shows, with repeated patterns folded.
        theme: "auto", "light" or "dark".
    """

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

    def svg(self) -> str:
        """Return the picture as an SVG document."""
        return Writer(self.scene, self.layout, self.theme).text()

    def html(self) -> str:
        """Return a page that opens and closes boxes, pans, zooms and searches. It loads no other file."""
        return write_html(self.scene, self.opened, self.theme)

    def dot(self) -> str:
        """Return the graph in the DOT language of Graphviz."""
        return write_dot(self.scene)

    def png(self) -> bytes:
        """Return the picture as PNG; the theme "auto" is "light" there.

        Raises:
            ImportError: The library resvg is not installed.
        """
        writer = Writer(self.scene, self.layout, "light" if self.theme == "auto" else self.theme)
        return write_png(writer.text(), writer.size)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file. The end of its name is the format: .svg, .html, .png or .dot.

        Raises:
            TypeError: `path` is not a str or `os.PathLike`.
            ValueError: The end of the name is no format.
            OSError: The file cannot be written.
            ImportError: A PNG is wanted, and the library resvg is not installed.
        """
        path, write = accept_file(path)
        content = write(self)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def _repr_mimebundle_(self, **types: Any) -> dict[str, str]:
        return {"image/svg+xml": self.svg(), "text/plain": repr(self)}

    def __str__(self) -> str:
        return write_tree(self.scene)

    def __repr__(self) -> str:
        return f"<Picture of {self.scene.title}>"


FORMATS: dict[str, Callable[[Picture], str | bytes]] = {
    ".svg": Picture.svg,
    ".html": Picture.html,
    ".png": Picture.png,
    ".dot": Picture.dot,
}


def accept_file(path: str | os.PathLike[str]) -> tuple[str, Callable[[Picture], str | bytes]]:
    """Return the path as a str, and the method that gives the content of the file."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise TypeError(f"path must be a str or an os.PathLike of a str, got {type(path).__name__}")
    name = os.fspath(path)
    suffix = os.path.splitext(name)[1].lower()
    if suffix not in FORMATS:
        raise ValueError(f"path must end with one of {', '.join(FORMATS)}, got {name!r}")
    return name, FORMATS[suffix]


def accept_theme(theme: str) -> str:
    if not isinstance(theme, str):
        raise TypeError(f"theme must be a str, got {type(theme).__name__}")
    if theme not in THEMES:
        raise ValueError(f"theme must be one of {', '.join(map(repr, THEMES))}, got {theme!r}")
    return theme


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
