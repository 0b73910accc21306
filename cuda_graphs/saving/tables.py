# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of a file while a definition is saved: parameters, memory, kernels and blobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cuda_graphs.graph.operands.parameter import ArrayParameter, Parameter, Temporary

from .addresses import Memory, named_array, parts_of
from .codes import Blobs, Codes

__all__ = ["Tables"]


class Tables:
    """The tables of one file, apart from that of graphs.

    Attributes:
        problems: What cannot be saved, in words.
        warnings: What the file lacks, in words.
        names: {"inputs": {name: number of the parameter}, "outputs": ...}.
    """

    def __init__(self, architecture: str | None, cubins: Sequence[str]) -> None:
        self.blobs = Blobs()
        self.memory = Memory(self.blobs)
        self.codes = Codes(self.blobs, architecture, cubins)
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self.parameters: list[dict[str, Any]] = []
        self.names: dict[str, dict[str, int]] = {"inputs": {}, "outputs": {}}
        self._by_name: dict[str, int] = {}  # numbers of parameters

    def name_arrays(
        self, inputs: Mapping[str, Any], outputs: Mapping[str, Any], include: Sequence[Any]
    ) -> None:
        """Add the arrays that the caller names. Inputs and outputs become parameters."""
        contents = [
            (named_array(part, f"include[{number}]"), number)
            for number, value in enumerate(include)
            for part in parts_of(value)
        ]
        for table, given in (("inputs", inputs), ("outputs", outputs)):
            for name, value in given.items():
                check_name(name, table)
                self.names[table][name] = self._add_named(name, value, f"{table}[{name!r}]")
        for array, number in contents:
            self.memory.add_array(array, f"include[{number}]", True)

    def _add_named(self, name: str, value: Any, what: str) -> int:
        """Return the number of the parameter of an input or output."""
        if isinstance(value, Parameter):
            if value.name != name:
                raise ValueError(f"{what} is {value!r}, which has a name already: use this name")
            return self.parameter(value)
        array = named_array(value, what)
        row = self.memory.rows[self.memory.add_array(array, what, False)]
        if row["parameter"] is None:
            if name in self._by_name:
                raise ValueError(f"{what} has the name of another array or Parameter")
            row["parameter"] = self._by_name[name] = len(self.parameters)
            self.parameters.append({"name": name, "type": row["type"], "default": None})
        elif self.parameters[row["parameter"]]["name"] != name:
            other = self.parameters[row["parameter"]]["name"]
            raise ValueError(f"{what} is also called {other!r}: an array has one name")
        number: int = row["parameter"]
        return number

    def parameter(self, parameter: Parameter) -> int:
        """Return the number of a named parameter of the definition."""
        if isinstance(parameter, Temporary):
            self.problem(f"{parameter!r} has memory in executables only: use alloc(shape=, dtype=) instead")
        number = self._by_name.get(parameter.name)
        if number is None:
            number = self._by_name[parameter.name] = len(self.parameters)
            row = {"name": parameter.name, "type": type_of(parameter), "default": None}
            self.parameters.append(row)
            row["default"] = self._default(parameter)
        elif self.parameters[number].get("type") != type_of(parameter) or any(
            row.get("parameter") == number for row in self.memory.rows
        ):
            self.problem(f"{parameter!r} has the name of an input or output: give that another name")
        return number

    def _default(self, parameter: Parameter) -> Any:
        """Return the default of a parameter: a number, or a reference to memory, with the extents of an array."""
        value: Any = parameter.default
        if value is None:
            return None
        if not isinstance(parameter, ArrayParameter) and parameter.type != "pointer":
            if isinstance(value, int) and self.memory.is_address(value):
                self.problem(
                    f"the default of {parameter!r} is an address as a plain integer: declare a pointer"
                )
            return number_of(value)
        address = value.address if isinstance(parameter, ArrayParameter) else value
        reference = self.memory.find(address)
        if reference is None or reference[0] != "m":
            self.problem(
                f"the default of {parameter!r} is memory that is not saved: name its array in include, or give none"
            )
        return [reference, list(value.shape) if isinstance(parameter, ArrayParameter) else None]

    def problem(self, text: str) -> None:
        self.problems.append(text)


def check_name(name: Any, table: str) -> None:
    if not isinstance(name, str) or not name.isidentifier() or name in ("self", "stream"):
        raise ValueError(f"{table}: {name!r} cannot be the name of a parameter, a keyword of Graph.launch")


def type_of(parameter: Any) -> list[Any]:
    """Return the type of a parameter in the manifest."""
    if not isinstance(parameter, ArrayParameter):
        return [parameter.type, -1, []]
    name, inner = parameter._element()
    return [name, parameter.ndim, list(inner)]


def number_of(value: Any) -> Any:
    """Return the value of a number; one that JSON does not have as a text."""
    return repr(value) if isinstance(value, float) else value
