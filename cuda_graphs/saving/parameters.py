# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The named parameters of a loaded definition, and of each definition that it embeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from cuda_graphs.objects.memory.buffer import Buffer

from .memory import dtype_of
from .schema import WORDS, Row, check_index, check_int, check_list, check_type, fail

if TYPE_CHECKING:
    from cuda_graphs.graph.definition import GraphDef
    from cuda_graphs.graph.operands.parameter import Parameter

    from .memory import LoadedMemory

__all__ = ["Parameters"]


class Parameters:
    """The parameters of one definition. Each is declared when it is first asked for."""

    def __init__(self, definition: GraphDef, rows: Sequence[Any], memory: Sequence[LoadedMemory]) -> None:
        self._definition, self._rows, self._memory = definition, rows, memory
        self._known: dict[int, Parameter] = {}

    def get(self, number: int) -> Parameter:
        """Return the parameter of a row."""
        if number not in self._known:
            row = Row(self._rows[number], f"parameter {number}")
            kind = check_type(row.get("type"), f"the type of {row.where}")
            default = self._default(row, number, kind)
            self._known[number] = self._definition.param(row.text("name"), as_type(kind), default)
        return self._known[number]

    def all(self) -> dict[str, Parameter]:
        """Return all parameters by name."""
        found = [self.get(number) for number in range(len(self._rows))]
        if len({each.name for each in found}) != len(found):
            fail("the table of parameters", "has a name twice")
        return {each.name: each for each in found}

    def _default(self, row: Row, number: int, kind: tuple[str, int, tuple[int, ...]]) -> Any:
        for memory in self._memory:
            if memory.parameter == number:
                return memory.array
        default = row.get("default")
        if default is None:
            return None
        name, ndim, _ = kind
        if ndim < 0 and name != "pointer":
            return number_of(row, default)
        reference, shape = check_list(default, f"default of {row.where}", 2)
        table, place, offset = check_list(reference, f"default of {row.where}", 3)
        if table != "m":
            fail(f"default of {row.where}", "is no memory of the file")
        found = self._memory[check_index(place, f"default of {row.where}", self._memory)].place(
            offset, row.where
        )
        buffer = Buffer.from_handle(found.address, found.size, owner=found.owner)
        if ndim < 0:
            return buffer
        extents = [
            check_int(each, f"default of {row.where}", 0, 2**31 - 1)
            for each in check_list(shape, row.where, ndim)
        ]
        if WORDS[name] * math.prod(extents) * math.prod(kind[2]) > found.size:
            fail(f"default of {row.where}", "is larger than its memory")
        return buffer.view(dtype_of(kind), tuple(extents))


def number_of(row: Row, default: Any) -> Any:
    """Return the default of a number; floats are texts."""
    if isinstance(default, str):
        try:
            return float(default)
        except ValueError:
            fail(f"default of {row.where}", "is no number")
    if not isinstance(default, int):
        fail(f"default of {row.where}", "is no number")
    return default


def as_type(kind: tuple[str, int, tuple[int, ...]]) -> Any:
    """Return the type as `GraphDef.param` takes it."""
    name, ndim, inner = kind
    if ndim < 0:
        return SimpleNamespace(__cuda_graph_type__=name)
    return SimpleNamespace(__cuda_graph_array_type__=(name, ndim, inner))
