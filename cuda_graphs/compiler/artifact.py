# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What the compiler gives: code, and all that a caller needs to know to launch it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from . import ir
from .types import ScalarType

__all__ = ["Artifact", "Result", "Slot", "TaskInfo", "describe", "layout", "size_of"]


@dataclass(frozen=True)
class Slot:
    """One parameter of an entry.

    kind    "pointer" of an array, "extent" of one along `axis` (i32), "scalar"
    path    of the kernel's parameter; of a temporary array, its name
    offset  in the parameter block, and size, in bytes
    """

    kind: str
    path: str
    axis: int
    offset: int
    size: int


@dataclass(frozen=True)
class TaskInfo:
    """One entry. A parallel task covers its iterations whatever the grid is."""

    entry: str
    parallel: bool
    slots: tuple[Slot, ...]
    reads: frozenset[str]
    writes: frozenset[str]
    iterations: int | None  # where that is known when compiling
    line: int


@dataclass(frozen=True)
class Result:
    """A number that the kernel returns: the temporary array of this name holds it after the last task."""

    temp: str
    type: ScalarType


@dataclass(frozen=True)
class Artifact:
    """Code for one target, and all that a caller needs to know to launch it.

    target    "x86" or "ptx"
    code      an object file for this CPU, or PTX text
    tasks     its entries, in the order in which they run
    temps     (name, bytes) of each temporary array that the tasks share; its content may be anything before the first
    results   what the kernel returns, in order
    captured  {function: {name: value}} of globals and closure variables that were compiled in as constants
    llvm      what the code was made from, before optimisation
    """

    target: str
    code: bytes
    tasks: tuple[TaskInfo, ...]
    temps: tuple[tuple[str, int], ...]
    results: tuple[Result, ...]
    captured: Mapping[str, Mapping[str, Any]]
    llvm: str = field(repr=False)


def size_of(array: ir.Array) -> int:
    """Bytes of an array whose extents are known when compiling."""
    return math.prod(array.shape or ()) * array.element.size


def layout(task: ir.Task) -> tuple[tuple[Slot, ir.Array | ir.Param], ...]:
    """The parameters of a task's entry, in order: what it uses, and nothing else."""
    arrays: dict[ir.Array, None] = {}
    extents: dict[tuple[ir.Array, int], None] = {}
    params: dict[ir.Param, None] = {}
    for statement in ir.walk(task.body):
        array = getattr(statement, "array", None)
        if isinstance(statement, (ir.Load, ir.Store, ir.Atomic)) and isinstance(array, ir.Array):
            arrays[array] = None
            if array.shape is None:  # row-major: the first extent is not needed for an address
                for axis in range(1, array.ndim - len(array.inner)):
                    extents[array, axis] = None
        elif isinstance(statement, ir.Extent) and statement.array.shape is None:
            extents[statement.array, statement.axis] = None
        for value in ir.operands_of(statement):
            if isinstance(value, ir.Param):
                params[value] = None
    found: list[tuple[Slot, ir.Array | ir.Param]] = []
    offset = 0

    def add(kind: str, path: str, axis: int, size: int, what: ir.Array | ir.Param) -> None:
        nonlocal offset
        offset = -(-offset // size) * size
        found.append((Slot(kind, path, axis, offset, size), what))
        offset += size

    for array in arrays:
        add("pointer", array.path, 0, 8, array)
    for array, axis in extents:
        add("extent", array.path, axis, 4, array)
    for param in params:
        add("scalar", param.path, 0, param.type.size, param)
    return tuple(found)


def describe(task: ir.Task) -> TaskInfo:
    """What a caller needs to know of a task."""
    reads, writes = set(), set()
    for statement in ir.walk(task.body):
        if isinstance(statement, (ir.Load, ir.Atomic)) and isinstance(statement.array, ir.Array):
            reads.add(statement.array.path)
        if isinstance(statement, (ir.Store, ir.Atomic)) and isinstance(statement.array, ir.Array):
            writes.add(statement.array.path)
    return TaskInfo(
        task.name, task.loop is not None, tuple(slot for slot, _ in layout(task)), frozenset(reads), frozenset(writes),
        iterations(task), task.loc.line if task.loc else 0,
    )  # fmt: skip


def iterations(task: ir.Task) -> int | None:
    """How many there are, where all bounds are constants; 1 of a serial task."""
    if task.loop is None:
        return 1
    total = 1
    for axis in task.loop.axes:
        if not isinstance(axis.begin, ir.Const) or not isinstance(axis.end, ir.Const):
            return None
        total *= len(range(int(axis.begin.value), int(axis.end.value), axis.step))
    return total
