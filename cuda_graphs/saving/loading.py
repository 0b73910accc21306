# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Load: from a file to a LoadedGraph. Nothing of the file runs before a launch."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.errors import SavedGraphError
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.kernels.shapes import current_device

from .loader import add_nodes

if TYPE_CHECKING:
    from cuda_graphs.graph.operands.parameter import Parameter

__all__ = ["LoadedGraph", "load"]


class LoadedGraph(GraphDef):
    """A definition from a file: a GraphDef in all respects. Made by `load`.

    Attributes:
        inputs: The Parameters of the inputs, by name. Each default is an array of zeros, or of the saved contents.
        outputs: The Parameters of the outputs, by name.
    """

    inputs: dict[str, Parameter]
    outputs: dict[str, Parameter]


def load(
    path: str | os.PathLike[str], *, callbacks: Mapping[str, Callable[[], object]] | None = None
) -> LoadedGraph:
    """Return the definition that `GraphDef.save` has written to a file.

    Kernels in the file are code, which launches run with the rights of this process. Load only files that you would
    run.

    Args:
        path: The file.
        callbacks: The functions of host callbacks, by their names in the file.

    Raises:
        OSError: The file cannot be read.
        SavedGraphError: It is damaged, of a later version, has no code for this driver, or needs callbacks that are
            missing.
        TypeError: `path` is no path, or `callbacks` no mapping to callables.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be str or os.PathLike, got {type(path).__name__}")
    given = accept_callbacks(callbacks)
    current_device()
    with open(path, "rb") as file:
        data = file.read()
    definition = LoadedGraph()
    try:
        definition.inputs, definition.outputs, _ = add_nodes(
            definition, data, lambda names: bind_callbacks(names, given), driver_info().kind == "host"
        )
    except SavedGraphError as error:
        raise SavedGraphError(f"{os.fspath(path)}: {error}") from error.__cause__
    except Exception as error:  # the driver, or a method of GraphDef
        raise SavedGraphError(
            f"{os.fspath(path)} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    return definition


def accept_callbacks(callbacks: Mapping[str, Callable[[], object]] | None) -> dict[str, Callable[[], object]]:
    if callbacks is not None and not isinstance(callbacks, Mapping):
        raise TypeError(
            f"callbacks must be a mapping from names to functions, got {type(callbacks).__name__}"
        )
    found = dict(callbacks or {})
    for name, function in found.items():
        if not callable(function):
            raise TypeError(f"callbacks[{name!r}] must be callable, got {type(function).__name__}")
    return found


def bind_callbacks(names: list[str], given: Mapping[str, Callable[[], object]]) -> list[Callable[[], object]]:
    """Return the functions of the table of callbacks."""
    missing = [name for name in names if name not in given]
    if missing:
        listed = ", ".join(f"{name!r}: ..." for name in missing)
        raise SavedGraphError(
            f"it calls functions of the host, which are missing: give callbacks={{{listed}}}"
        )
    unknown = [name for name in given if name not in names]
    if unknown:
        raise SavedGraphError(
            f"it calls no function {', '.join(map(repr, unknown))}; it calls {names or 'none'}"
        )
    return [given[name] for name in names]
