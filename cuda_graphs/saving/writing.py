# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Save: from a definition to the tables of a manifest (schema.py) and blobs.

Everything that cannot be saved is collected, so that one error names all of it. Nothing is written then.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import cuda_graphs
from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.errors import SavedGraphError
from cuda_graphs.graph.display.reading import read_order

from .archive import write_archive
from .cubins import accept_architectures, is_architecture
from .node_rows import NodeRows
from .schema import FORMAT, SCHEMA
from .tables import Tables

if TYPE_CHECKING:
    from cuda_graphs.graph.definition import GraphDef

__all__ = ["save"]

MOST_NAMED = 20  # problems that a message lists


def save(
    definition: GraphDef,
    path: str | os.PathLike[str],
    *,
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    include: Sequence[Any] = (),
    architecture: str | None = None,
    architectures: Sequence[str] = (),
) -> None:
    """Write a definition to a file; see `GraphDef.save`."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be str or os.PathLike, got {type(path).__name__}")
    for name, given in (("inputs", inputs), ("outputs", outputs)):
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"{name} must be a mapping from names to arrays, got {type(given).__name__}")
    if not isinstance(include, list | tuple):
        raise TypeError(f"include must be a list of arrays, got {type(include).__name__}")
    if not isinstance(architecture, str | None):
        raise TypeError(f"architecture must be a str or None, got {type(architecture).__name__}")
    if architecture is not None and not is_architecture(architecture):
        raise ValueError(f'architecture must be the name of one, such as "sm_90", got {architecture!r}')
    tables = Tables(architecture, accept_architectures(architectures))
    tables.name_arrays(inputs or {}, outputs or {}, include)
    write_archive(path, manifest_of(definition, tables), tables.blobs.all)
    if tables.warnings:
        warnings.warn("\n  ".join(dict.fromkeys(tables.warnings)), RuntimeWarning, stacklevel=1)


def manifest_of(definition: GraphDef, tables: Tables) -> dict[str, Any]:
    """Return the manifest of the definition.

    Raises:
        SavedGraphError: Something cannot be saved.
    """
    readings = read_order(definition)
    for reading in readings:
        if reading.is_cyclic:
            tables.problem(f"{reading.graph._identify()} has a cycle of edges, see check()")
    rows = NodeRows(tables, readings)
    for parameter in definition._unused_parameters():
        tables.parameter(parameter)
    if tables.problems:
        raise SavedGraphError(list_problems(definition._identify(), tables.problems))
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "version": cuda_graphs.__version__,
        "driver": driver_info().kind,
        **tables.names,
        "blobs": tables.blobs.rows,
        "sources": rows.sources.rows,
        "kernels": tables.codes.rows,
        "configs": rows.configs.rows,
        "parameters": tables.parameters,
        "memory": tables.memory.rows,
        "events": rows.events,
        "callbacks": list(rows.callbacks),
        "graphs": rows.graphs,
    }


def list_problems(name: str, problems: Iterable[str]) -> str:
    """Return the message that a definition cannot be saved."""
    each = list(dict.fromkeys(problems))
    more = [f"... and {len(each) - MOST_NAMED} more"] if len(each) > MOST_NAMED else []
    return "\n  ".join([f"{name} cannot be saved:", *each[:MOST_NAMED], *more])
