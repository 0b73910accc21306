# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The manifest of a saved graph: its tables, and the checks of everything that a file says.

A manifest is an object of JSON with the tables of TABLES. Rows refer to rows of other tables by number. References to
memory are lists: ["m", number of a row of `memory`, offset in bytes] or ["a", number of an alloc node, offset]. Alloc
nodes are numbered in the order of the file.

`fail` is the word for failure in this package.
"""

from __future__ import annotations

from typing import Any, NoReturn

from cuda_graphs.errors import SavedGraphError

__all__ = [
    "FORMAT", "PLACES", "SCHEMA", "TABLES", "WORDS", "Row", "check_index", "check_int", "check_list", "check_type",
    "fail",
]  # fmt: skip

FORMAT = "cuda_graphs definition"
SCHEMA = 1  # of files that this version writes; it reads those of this and of smaller numbers

# Table -> its contents.
TABLES = {
    "blobs": "[bytes, SHA-256] of each blob",
    "sources": "[file, line] of the lines that added nodes",
    "kernels": "entries of code, with a blob for each kind of driver",
    "configs": "sizes of launches: grid, block, cluster, bytes of shared memory, whether it is cooperative",
    "parameters": "named parameters: name, type, default",
    "memory": "arrays and words outside of the graph",
    "events": "events: whether they have timing, and whether waits block",
    "callbacks": "names of functions on the host",
    "graphs": "the definition, then the graphs inside it: conditions, nodes, edges",
}

# Names of the types of numbers and addresses (core/graphs/value_type.hpp) -> their bytes.
WORDS = {
    "i8": 1, "i16": 2, "i32": 4, "i64": 8, "u8": 1, "u16": 2, "u32": 4, "u64": 8,
    "f16": 2, "bf16": 2, "f32": 4, "f64": 8, "bool": 1, "pointer": 8,
}  # fmt: skip
PLACES = ("device", "host", "managed")
MOST_AXES = 8  # dimensions of an array
LARGEST = 2**63 - 1


def fail(where: str, why: str) -> NoReturn:
    """Raise a SavedGraphError about a place in the manifest."""
    raise SavedGraphError(f"the file is damaged, or was not written by cuda_graphs: {where} {why}")


def check_int(value: Any, where: str, least: int = 0, most: int = LARGEST) -> int:
    """Return `value`, an int from `least` to `most`."""
    if type(value) is not int or not least <= value <= most:
        fail(where, f"must be an int from {least} to {most}, not {shorten(value)}")
    return value


def check_index(value: Any, where: str, table: Any) -> int:
    """Return `value`, the number of a row of `table`."""
    if type(value) is not int or not 0 <= value < len(table):
        fail(where, f"must be the number of one of {len(table)} rows, not {shorten(value)}")
    return value


def check_list(value: Any, where: str, length: int | None = None) -> list[Any]:
    """Return `value`, a list, of `length` elements if that is given."""
    if type(value) is not list or (length is not None and len(value) != length):
        fail(where, f"must be a list{'' if length is None else f' of {length}'}, not {shorten(value)}")
    return value


def check_type(value: Any, where: str) -> tuple[str, int, tuple[int, ...]]:
    """Return (name, dimensions, shape of an element) of a type, a list; -1 dimensions for a number."""
    name, ndim, inner = check_list(value, where, 3)
    if type(name) is not str or name not in WORDS:
        fail(where, f"must begin with one of {', '.join(WORDS)}, not {shorten(name)}")
    check_int(ndim, f"{where}, dimensions,", -1, MOST_AXES)
    if len(check_list(inner, where)) > 2 or (ndim < 0 and inner) or (ndim >= 0 and name == "pointer"):
        fail(where, f"is no type: {shorten(value)}")
    return name, ndim, tuple(check_int(extent, where, 1, 2**16) for extent in inner)


def shorten(value: Any) -> str:
    """Return the text of a value for a message."""
    if isinstance(value, list | dict):
        return f"a {type(value).__name__} of {len(value)}"
    text = repr(value) if not isinstance(value, int) or abs(value) < 2**64 else "a larger number"
    return text if len(text) < 60 else f"{text[:57]}..."


class Row:
    """An object of the manifest, with its place for messages. A text of a place is made only for an error, since a file
    has many rows."""

    __slots__ = ("data", "where")

    def __init__(self, data: Any, where: str) -> None:
        if type(data) is not dict:
            fail(where, f"must be an object, not {shorten(data)}")
        self.data, self.where = data, where

    def get(self, name: str) -> Any:
        """Return the value of a name, or None."""
        return self.data.get(name)

    def number(self, name: str, least: int = 0, most: int = LARGEST) -> int:
        value = self.data.get(name)
        if type(value) is int and least <= value <= most:
            return value
        return check_int(value, f"{name} of {self.where}", least, most)

    def index(self, name: str, table: Any) -> int:
        value = self.data.get(name)
        if type(value) is int and 0 <= value < len(table):
            return value
        return check_index(value, f"{name} of {self.where}", table)

    def items(self, name: str, length: int | None = None) -> list[Any]:
        value = self.data.get(name)
        if type(value) is list and (length is None or len(value) == length):
            return value
        return check_list(value, f"{name} of {self.where}", length)

    def numbers(self, name: str, length: int, least: int = 0, most: int = LARGEST) -> list[int]:
        values = self.items(name, length)
        for value in values:
            if type(value) is not int or not least <= value <= most:
                check_int(value, f"{name} of {self.where}", least, most)
        return values

    def flag(self, name: str) -> bool:
        value = self.data.get(name)
        if type(value) is not bool:
            fail(f"{name} of {self.where}", f"must be true or false, not {shorten(value)}")
        return value

    def text(self, name: str) -> str:
        value = self.data.get(name)
        if type(value) is not str:
            fail(f"{name} of {self.where}", f"must be a text, not {shorten(value)}")
        return value

    def optional_text(self, name: str) -> str | None:
        return None if self.data.get(name) is None else self.text(name)

    def choice(self, name: str, choices: Any) -> str:
        value = self.data.get(name)
        if type(value) is not str or value not in choices:
            fail(f"{name} of {self.where}", f"must be one of {', '.join(choices)}, not {shorten(value)}")
        return value
