# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of printf, for `print` and the messages of asserts.

A device gets printf's format and a buffer of the values, 8 bytes each: integers as 64 bits, floats as f64, bools as the
address of their name. ir/formats.py has the formats of the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import f64, i64, u64

from . import prelude

if TYPE_CHECKING:
    from .emitter import Emitter

__all__ = ["emit"]

Parts = tuple["str | tuple[ir.Value, str]", ...]


def emit(e: Emitter, parts: Parts) -> tuple[str, str]:
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


def argument(e: Emitter, value: ir.Value) -> tuple[str, str]:
    """Return (type, register) of a value as an argument of printf."""
    register = e.value(value)
    if value.type.kind == "bool":
        yes, no = e.string("True"), e.string("False")
        return "ptr", e.let(f"select i1 {register}, ptr {yes}, ptr {no}")
    wide = {"int": i64, "uint": u64, "float": f64}[value.type.kind]
    return ("double" if wide == f64 else "i64"), prelude.cast(e, value.type, wide, [register])
