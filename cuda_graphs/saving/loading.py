# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Load: from a file to a LoadedGraph. Nothing of the file runs before a launch."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.errors import SavedGraphError
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.kernels.shapes import current_device
from cuda_graphs.objects.device.event import EventOptions

from .archive import Archive
from .kernels import load_kernels
from .memory import load_memory
from .nodes import NodeLoader
from .schema import Row, check_index, fail

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
    with Archive(path) as archive:
        try:
            return load_archive(archive, given)
        except SavedGraphError as error:
            raise SavedGraphError(f"{os.fspath(path)}: {error}") from error.__cause__
        except Exception as error:  # the driver or a method of GraphDef refuses what the file says
            raise SavedGraphError(
                f"{os.fspath(path)} cannot be loaded: {type(error).__name__}: {error}"
            ) from error


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


def load_archive(archive: Archive, given: Mapping[str, Callable[[], object]]) -> LoadedGraph:
    manifest = archive.manifest
    if not manifest["graphs"]:
        fail("the table of graphs", "is empty")
    callbacks = bind_callbacks(manifest["callbacks"], given)
    names = {table: names_of(manifest, table) for table in ("inputs", "outputs")}
    definition = LoadedGraph()
    loader = NodeLoader(
        manifest,
        load_memory(archive, manifest["parameters"]),
        load_kernels(archive),
        load_events(manifest["events"]),
        callbacks,
        manifest.get("driver") != driver_info().kind,
    )
    parameters = loader.build(definition)
    all_parameters = parameters.all()
    definition.inputs, definition.outputs = (
        {name: all_parameters[parameters.get(number).name] for name, number in names[table].items()}
        for table in ("inputs", "outputs")
    )
    return definition


def bind_callbacks(rows: list[Any], given: Mapping[str, Callable[[], object]]) -> list[Callable[[], object]]:
    """Return the functions of the table of callbacks."""
    if not all(type(name) is str for name in rows):
        fail("the table of callbacks", "must have names")
    missing = [name for name in rows if name not in given]
    if missing:
        listed = ", ".join(f"{name!r}: ..." for name in missing)
        raise SavedGraphError(
            f"it calls functions of the host, which are missing: give callbacks={{{listed}}}"
        )
    unknown = [name for name in given if name not in rows]
    if unknown:
        raise SavedGraphError(
            f"it calls no function {', '.join(map(repr, unknown))}; it calls {rows or 'none'}"
        )
    return [given[name] for name in rows]


def names_of(manifest: Mapping[str, Any], table: str) -> dict[str, int]:
    """Return the numbers of the parameters of inputs or outputs, by name."""
    row = Row(manifest.get(table), f"the table of {table}")
    for name in row.data:
        check_index(row.get(name), f"{table} {name!r}", manifest["parameters"])
        if Row(manifest["parameters"][row.get(name)], f"parameter {row.get(name)}").text("name") != name:
            fail(f"{table} {name!r}", "has another name than its parameter")
    return row.data


def load_events(rows: list[Any]) -> list[Any]:
    """Make the events of the table."""
    device = current_device()
    found = []
    for number, data in enumerate(rows):
        row = Row(data, f"event {number}")
        found.append(device.create_event(EventOptions(row.flag("timing"), row.flag("blocking"))))
    return found
