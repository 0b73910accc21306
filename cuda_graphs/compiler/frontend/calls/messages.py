# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Text with values in it: the output of `print`, and the messages of asserts."""

from __future__ import annotations

import ast
import re
from itertools import count
from string import Formatter
from typing import Any, TypeGuard

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileSyntaxError,
    CompileTypeError,
    CompileValueError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.lvalues import python_value
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Vector, describe
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.formats import format_of
from cuda_graphs.compiler.ir.types import f64, i32


def print_call(frame: Frame, node: ast.Call) -> None:
    """Translate print(...) of literals, values and f-strings. sep and end are constants."""
    options: dict[Any, Any] = {each.arg: getattr(each.value, "value", None) for each in node.keywords}
    if not set(options) <= {"sep", "end"} or not all(isinstance(each, str) for each in options.values()):
        raise compile_error(
            CompileSyntaxError,
            frame.at(node),
            "print takes sep and end, which are constants",
            "write print(a, sep=', ', end=''): the output of kernels goes to the standard output",
        )
    separator, end = options.get("sep", " "), options.get("end", "\n")
    parts: list[Any] = []
    for i, each in enumerate(node.args):
        parts.extend([separator] if i else [])
        parts.extend(message_parts(frame, each))
    frame.builder.put(ir.Print((*parts, end), frame.builder.loc))


def constant_format(frame: Frame, node: ast.FormattedValue) -> str:
    """Return the format after the colon in `{x:8.3f}`."""
    if node.format_spec is None:
        return ""
    values = node.format_spec.values  # type: ignore[attr-defined]
    if not all(isinstance(each, ast.Constant) for each in values):
        raise compile_error(CompileSyntaxError, frame.at(node), "a format must be a constant", "{x:8.3f}")
    return "".join(each.value for each in values)


def message_parts(frame: Frame, node: ast.expr) -> list[Any]:
    """Return a text with values as a list of parts."""
    if isinstance(node, ast.JoinedStr):
        return [part for each in node.values for part in message_parts(frame, each)]
    if isinstance(node, ast.FormattedValue):
        found = frame.visit(node.value)
        form = constant_format(frame, node)
        return value_parts(frame, shown(found, chr(node.conversion) if node.conversion != -1 else ""), form)
    if is_percent(node):
        return percent_parts(frame, node)
    if is_format(node):
        return format_parts(frame, node)
    return value_parts(frame, frame.visit(node), "")


def shown(found: Any, conversion: str | None) -> Any:
    """Return a value for `!r`, `!s` or `!a`, which matter for texts only."""
    return {"r": repr, "a": ascii}.get(conversion or "", str)(found) if isinstance(found, str) else found


def value_parts(frame: Frame, found: Any, form: str) -> list[Any]:
    """Return the parts of a text, a number or a vector. The peers print tuples and lists as vectors."""
    value = frame.read(found)
    if isinstance(value, str):
        return [value]
    if isinstance(value, tuple) and value and frame.rules.lenient:
        inside = value
    elif isinstance(value, Vector):
        inside = value.components  # of a matrix: rows
    else:
        return [number_part(frame, value, form)]
    parts: list[Any] = []
    for each in inside:
        parts += [", " if parts else "[", *value_parts(frame, each, form)]
    return [*parts, "]"]


def is_percent(node: ast.expr) -> TypeGuard[ast.BinOp]:
    """Return whether an expression looks like `"n is %d" % n`."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mod)
        and isinstance(node.left, ast.Constant)
        and isinstance(node.left.value, str)
    )


def is_format(node: ast.expr) -> TypeGuard[ast.Call]:
    """Return whether an expression looks like `"n is {}".format(n)`, or `text.format(n)`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "format"
        and isinstance(node.func.value, (ast.Constant, ast.Name))
    )


def format_parts(frame: Frame, node: ast.Call) -> list[Any]:
    """Return the parts of `"n is {}, x {x:8.3f}".format(n, x=x)`."""
    text = python_value(frame, frame.visit(node.func.value))  # type: ignore[attr-defined]
    if not isinstance(text, str):
        raise compile_error(
            CompileTypeError, frame.at(node), f"{describe(text)} has no method 'format'", "'{}'.format(x)"
        )
    given: dict[Any, ast.expr] = dict(enumerate(node.args))
    given |= {each.arg: each.value for each in node.keywords if each.arg is not None}
    parts: list[Any] = []
    try:
        pieces = list(Formatter().parse(text))
    except ValueError as error:
        raise compile_error(
            CompileValueError, frame.at(node), f"str.format: {error}", "write {{ for a brace"
        ) from None
    unnumbered = count()
    for literal, place, form, conversion in pieces:
        parts += [literal] if literal else []
        if place is None:
            continue
        key = int(place) if place.isdecimal() else place or next(unnumbered)
        if key not in given or "{" in (form or ""):
            raise compile_error(
                CompileArgumentError, frame.at(node), f"the place {{{place}}} of str.format has no value here",
                "write {}, {0}, {name} or {x:8.3f}, and give a value for each",
            )  # fmt: skip
        parts += value_parts(frame, shown(frame.visit(given[key]), conversion), form or "")
    return parts


CONVERSION = re.compile(r"%([+ 0]*\d*(?:\.\d+)?)([a-zA-Z%])")


def percent_parts(frame: Frame, node: ast.BinOp) -> list[Any]:
    """Return the parts of `"n is %d, x %8.3f" % (n, x)`, formatted as Python does."""
    text: str = node.left.value  # type: ignore[attr-defined]
    values = list(node.right.elts) if isinstance(node.right, ast.Tuple) else [node.right]
    pieces = CONVERSION.split(text)  # text, flags, letter, text, ...
    letters = [letter for letter in pieces[2::3] if letter != "%"]
    if len(letters) != len(values) or "%" in "".join(pieces[::3]):
        raise compile_error(
            CompileArgumentError, frame.at(node),
            f"the text has {len(letters)} places for values, and {len(values)} are given",
            "write one of %d, %x, %f, %e, %g and %s, with a width and a precision, for each value; %% is a percent",
        )  # fmt: skip
    parts: list[Any] = [pieces[0]]
    for flags, letter, text in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        parts += (
            ["%"] if letter == "%" else conversion_parts(frame, frame.visit(values.pop(0)), flags, letter)
        )
        parts.append(text)
    return [part for part in parts if part != ""]


def conversion_parts(frame: Frame, found: Any, flags: str, letter: str) -> list[Any]:
    """Return the parts of a value for one place of the text. Integers become floats if the place asks for floats."""
    if letter == "s":
        return value_parts(frame, found, flags)
    value = frame.scalar(found, "a printed value")
    if letter in "feg" and value.type.kind != "float":
        value = frame.builder.cast(value, f64)
    return [number_part(frame, value, flags + {"i": "d", "u": "d"}.get(letter, letter))]


def number_part(frame: Frame, value: Any, form: str) -> tuple[ir.Value, str]:
    """Return a number with its format."""
    scalar = frame.scalar(value, "a printed value")
    if frame.rules.lenient and not form:
        scalar, form = peer_number(frame, scalar)
    found = format_of(scalar.type, form)
    if found is None:
        raise compile_error(
            CompileValueError, frame.builder.loc, f"the format {form!r} has no meaning for {scalar.type}",
            "integers take d, unsigned ones x too but no sign, floats f, e, g, with a width and a precision: {x:8.3f}",
        )  # fmt: skip
    return scalar, found


def peer_number(frame: Frame, scalar: ir.Value) -> tuple[ir.Value, str]:
    """Return a number and its format as Taichi and Quadrants print it: floats with all places, bools as 0 or 1."""
    if scalar.type.kind == "bool":
        return frame.builder.cast(scalar, i32), ""
    return scalar, {"float": ".12f" if scalar.type is f64 else ".6f"}.get(scalar.type.kind, "")
