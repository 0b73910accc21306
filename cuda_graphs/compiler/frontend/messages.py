# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Text with values in it: what `print` writes, and what an assert says."""

from __future__ import annotations

import ast
from typing import Any

from .. import ir
from ..errors import CompileSyntaxError, CompileValueError, fail
from ..printf import format_of
from .functions import Frame
from .places import read
from .values import Vector


def print_call(frame: Frame, node: ast.Call) -> None:
    """print(...): literals, values, and f-strings; sep and end are constants."""
    options: dict[Any, Any] = {each.arg: getattr(each.value, "value", None) for each in node.keywords}
    if not set(options) <= {"sep", "end"} or not all(isinstance(each, str) for each in options.values()):
        raise fail(
            CompileSyntaxError, frame.at(node), "print takes sep and end, which are constants", "sep=', '"
        )
    separator, end = options.get("sep", " "), options.get("end", "\n")
    parts: list[Any] = []
    for i, each in enumerate(node.args):
        parts.extend([separator] if i else [])
        parts.extend(message_parts(frame, each))
    frame.builder.put(ir.Print((*parts, end), frame.builder.loc))


def constant_format(frame: Frame, node: ast.FormattedValue) -> str:
    """What follows the colon in `{x:8.3f}`."""
    if node.conversion != -1:
        raise fail(
            CompileSyntaxError, frame.at(node), "!r, !s and !a have no meaning in kernels", "write {x}"
        )
    if node.format_spec is None:
        return ""
    values = node.format_spec.values  # type: ignore[attr-defined]
    if not all(isinstance(each, ast.Constant) for each in values):
        raise fail(CompileSyntaxError, frame.at(node), "a format must be a constant", "{x:8.3f}")
    return "".join(each.value for each in values)


def message_parts(frame: Frame, node: ast.expr) -> list[Any]:
    """Text with values in it."""
    if isinstance(node, ast.JoinedStr):
        return [part for each in node.values for part in message_parts(frame, each)]
    form = ""
    if isinstance(node, ast.FormattedValue):
        form = constant_format(frame, node)
        node = node.value
    value = read(frame, frame.visit(node))
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Vector):
        return [number_part(frame, value, form)]
    numbers = [number_part(frame, leaf, form) for leaf in value.leaves()]
    return ["[", *(piece for i, part in enumerate(numbers) for piece in ([", "] if i else []) + [part]), "]"]


def number_part(frame: Frame, value: Any, form: str) -> tuple[ir.Value, str]:
    """A number and its format."""
    scalar = frame.scalar(value, "what is printed")
    found = format_of(scalar.type, form)
    if found is None:
        raise fail(
            CompileValueError, frame.builder.loc, f"the format {form!r} has no meaning for {scalar.type}",
            "integers take d, unsigned ones also x, floats f, e or g, with a width and a precision: {x:8.3f}",
        )  # fmt: skip
    return scalar, found
