# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Text with values in it, for `print` and the messages of asserts.

A value has a format, which means the same to Python's `format` and to C's printf: a letter of `LETTERS` for the kind of
its type, with flags, a width and a precision. A device gets printf's format and a buffer of the values, 8 bytes each:
integers as 64 bits, floats as f64, bools as the address of their name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cuda_graphs.compiler.codegen.llvm import prelude

from . import ir
from .types import ScalarType, f64, i64, u64

if TYPE_CHECKING:
    from cuda_graphs.compiler.codegen.llvm.values import ValueEmitter

__all__ = ["emit", "format_of", "formatted"]

FORMAT = re.compile(r"([+ 0]*)(\d*)(\.\d+)?([dxfeg]?)")
LETTERS = {"int": "d", "uint": "dx", "float": "gfe", "bool": ""}
Parts = tuple["str | tuple[ir.Value, str]", ...]


def format_of(type: ScalarType, spec: str) -> str | None:
    """Return the format for a value of the type from the source's format; None unless Python and C both have it."""
    found = FORMAT.fullmatch(spec)
    letters = LETTERS[type.kind]
    if found is None or (not letters and spec):
        return None
    letter = found[4] or letters[:1]
    if letter not in letters or (found[3] and letter in "dx"):
        return None
    return spec[: len(spec) - len(found[4])] + letter


def formatted(value: Any, type: ScalarType, form: str) -> str:
    """Return the text that a device prints for the value."""
    if type.kind == "bool":
        return str(bool(value))
    return format(float(value) if type.kind == "float" else int(value), form)


def emit(e: ValueEmitter, parts: Parts) -> tuple[str, str]:
    """Emit the values of a text; return (pointer to printf's format, pointer to the values)."""
    text, values = "", []
    for part in parts:
        if isinstance(part, str):
            text += part.replace("%", "%%")
            continue
        value, form = part
        text += {
            "int": f"%{form[:-1]}ll{form[-1:]}",
            "uint": f"%{form[:-1]}ll{_unsigned(form)}",
            "bool": "%s",
        }.get(value.type.kind, f"%{form}")
        values.append(argument(e, value))
    memory = e.slot(f"[{max(len(values), 1)} x i64]")
    for i, (kind, register) in enumerate(values):
        at = e.let(f"getelementptr i64, ptr {memory}, i64 {i}")
        e.line(f"store {kind} {register}, ptr {at}")
    return e.string(text), memory


def _unsigned(form: str) -> str:
    return "u" if form[-1:] == "d" else form[-1:]


def argument(e: ValueEmitter, value: ir.Value) -> tuple[str, str]:
    """Return (type, register) of a value as an argument of printf."""
    register = e.value(value)
    if value.type.kind == "bool":
        yes, no = e.string("True"), e.string("False")
        return "ptr", e.let(f"select i1 {register}, ptr {yes}, ptr {no}")
    wide = {"int": i64, "uint": u64, "float": f64}[value.type.kind]
    return ("double" if wide == f64 else "i64"), prelude.cast(e, value.type, wide, [register])
