# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`draw` and the notebook pictures of definitions, executables and builders.

This module is imported at the first picture, so that programs without pictures do not load the writers.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from cuda_graphs.drawing.picture import Picture
from cuda_graphs.errors import CUDAError
from cuda_graphs.graph.analysis.check import check as check_definition
from cuda_graphs.objects.numbers import read_flag

from .executable_state import State, state_of
from .reading import read_scene

if TYPE_CHECKING:
    from cuda_graphs.graph.nodes.protocols import Definition

__all__ = ["draw", "mime_bundle", "text_of_graph"]

FINDINGS = 20  # of one kind that a picture shows


def draw(
    graph: Definition,
    title: str,
    path: str | PathLike[str] | None,
    fold: bool | None,
    check: bool,
    theme: str,
    executable: Any = None,
) -> Picture:
    """See GraphDef.draw, and Graph.draw for a Graph as `executable`."""
    folds = None if fold is None else read_flag(fold, "fold")
    findings = check_definition(graph, FINDINGS).findings if read_flag(check, "check") else ()
    if path is not None:
        Picture.accept_file(path)  # before the work
    state = State() if executable is None else state_of(executable, graph)
    picture = Picture(read_scene(graph, title, findings, state), folds, theme)
    if path is not None:
        picture.save(path)
    return picture


def mime_bundle(thing: object) -> dict[str, str]:
    """Return what a notebook shows for an object with `draw`: a picture, or the repr of an object without a graph."""
    try:
        pictured = thing.draw()._repr_mimebundle_()  # type: ignore[attr-defined]
    except (CUDAError, RuntimeError):  # the display of an object must not raise while a program is debugged
        pictured = {}
    return {**pictured, "text/plain": repr(thing)}


def text_of_graph(thing: object) -> str:
    """Return the tree of an object with `draw`, or the repr of an object without a graph."""
    try:
        return str(thing.draw())  # type: ignore[attr-defined]
    except (CUDAError, RuntimeError):
        return repr(thing)
