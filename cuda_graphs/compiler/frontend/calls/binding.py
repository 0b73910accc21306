# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments and results of functions, as the annotations declare them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileError,
    CompileReturnError,
    compile_error,
)
from cuda_graphs.compiler.frontend.expressions.assignment import declare, set_first
from cuda_graphs.compiler.frontend.expressions.lvalues import python_value
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import (
    PLACES,
    Component,
    Element,
    Static,
    Struct,
    Vector,
)
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.language.signature import is_template, resolve

from .declared import FREE, convert_to_declared

__all__ = [
    "bind_parameter",
    "bind_parameters",
    "declared_arguments",
    "is_variable",
    "refuse",
    "result_of",
]


def declared_arguments(
    frame: Frame,
    function: Any,
    signature: inspect.Signature,
    args: list[Any],
    keywords: dict[str, Any],
    around: Callable[..., Any] | None = None,
) -> dict[str, Any]:
    """Return the arguments of a function by name, as its parameters declare them.

    `around`: the function whose names annotations may contain, if it is another one.
    """
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError as error:
        raise compile_error(
            CompileArgumentError,
            frame.builder.loc,
            f"{function.__name__}: {error}",
            "see the parameters of the function",
        ) from None
    bound.apply_defaults()
    result = {}
    for name, value in bound.arguments.items():
        kind = resolve(signature.parameters[name].annotation, around or function, frame.rules)
        if is_template(kind):
            known = value.value if isinstance(value, Static) else value
            result[name] = python_value(frame, known)
        else:
            result[name] = convert_to_declared(frame, kind, value, f"{name!r} of {function.__name__}")
    return result


def bind_parameters(
    frame: Frame,
    function: Any,
    signature: inspect.Signature,
    given: dict[str, Any],
    around: Callable[..., Any] | None = None,
) -> dict[str, Any]:
    """Return the meanings of the parameters of an inlined function by name: values become variables.

    A template parameter that gets a variable is that variable, so that the function can change it.
    """

    def bind(name: str, value: Any) -> Any:
        kind = resolve(signature.parameters[name].annotation, around or function, frame.rules)
        if kind in FREE and isinstance(value, ir.Const) and value.type.kind == "float":
            variable = frame.weak_types.declare_parameter(frame.builder.loc, name, value)
            return set_first(frame, variable, frame.builder.cast(value, variable.type))
        return value if is_template(kind) and is_variable(value) else bind_parameter(frame, name, value)

    return {name: bind(name, value) for name, value in given.items()}


def is_variable(found: Any) -> bool:
    """Return whether a function can change a vector or structure: its parts are variables, elements or such vectors."""
    if isinstance(found, Struct):
        parts = [each for each in found.members.values() if isinstance(each, PLACES)]
        return bool(parts) and all(map(is_place, parts))
    return isinstance(found, Vector) and all(map(is_place, found.leaves()))


def is_place(found: Any) -> bool:
    """Return whether a function can change a part of a vector or structure."""
    return isinstance(found, (ir.Local, Element, Component)) or is_variable(found)


def bind_parameter(frame: Frame, name: str, value: Any) -> Any:
    """Return the meaning of a parameter in an inlined function: values become variables."""
    is_variable = isinstance(value, (ir.Value, Vector)) or (
        isinstance(value, Struct) and not is_immutable(value)
    )
    return declare(frame, name, value) if is_variable else value


def is_immutable(found: Any) -> bool:
    """Return whether nothing can change a structure, so that functions need no copy of it."""
    if isinstance(found, Struct):
        return all(is_immutable(member) for member in found.members.values())
    if isinstance(found, Vector):
        return all(isinstance(leaf, ir.Param) for leaf in found.leaves())
    return isinstance(found, ir.Param) or not isinstance(found, (ir.Value, ir.Local))


def result_of(
    frame: Frame,
    function: Any,
    signature: inspect.Signature,
    result: Any,
    around: Callable[..., Any] | None = None,
) -> Any:
    """Return the result of a call of an inlined function, converted to the declared types."""
    kind, scope = signature.return_annotation, around or function
    if kind is inspect.Signature.empty:
        return result
    kind, name = resolve(kind, scope, frame.rules), function.__name__
    if kind is None and result is not None:
        raise refuse(frame, f"{name} is declared to return None but returns a value")
    if kind in FREE or kind is None:
        return result
    if result is None:
        raise refuse(frame, f"{name} declares a return value but has no return")
    kinds = kind if isinstance(kind, tuple) else getattr(kind, "__args__", None)
    if kinds is None:
        return convert_to_declared(frame, kind, result, f"the result of {name}")
    count = len(result) if isinstance(result, tuple) else 1
    if count != len(kinds):
        raise refuse(frame, f"{name} returns {count} values, and its annotation says {len(kinds)}")
    return tuple(
        convert_to_declared(frame, resolve(each, scope, frame.rules), part, f"the result of {name}")
        for each, part in zip(kinds, result, strict=True)
    )


def refuse(frame: Frame, cause: str) -> CompileError:
    return compile_error(
        CompileReturnError, frame.builder.loc, cause, "declare the returned types, or remove ->"
    )
