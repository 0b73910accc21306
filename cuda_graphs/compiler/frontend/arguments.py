# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments and results of inlined functions, as their annotations declare them."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileArgumentError,
    CompileError,
    CompileReturnError,
    CompileTypeError,
    fail,
)
from cuda_graphs.compiler.frontend.expressions.lvalues import make_vector, python_value, read
from cuda_graphs.compiler.frontend.expressions.values import Static, Struct, Vector
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.annotations import NDArray, Tensor, VectorType
from cuda_graphs.compiler.language.signature import is_template, resolve

from .functions import Frame, kind_of

FREE = (inspect.Parameter.empty, Any)  # annotations without a requirement


def bind_arguments(
    frame: Frame, function: Callable[..., Any], args: list[Any], keywords: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments of an inlined function by name: numbers by value, all others as they are."""
    signature = inspect.signature(function)
    try:
        bound = signature.bind(*args, **keywords)
    except TypeError as error:
        raise fail(
            CompileArgumentError,
            frame.builder.loc,
            f"{function.__name__}: {error}",
            "see the parameters of the function",
        ) from None
    bound.apply_defaults()
    result = {}
    for name, value in bound.arguments.items():
        kind = resolve(signature.parameters[name].annotation, function)
        if is_template(kind):
            known = value.value if isinstance(value, Static) else value
            result[name] = python_value(frame, known)
        else:
            value = fitted(frame, kind, value, f"{name!r} of {function.__name__}")
            result[name] = copied(frame, name, value)
    return result


def copied(frame: Frame, name: str, value: Any) -> Any:
    """Return the meaning of a parameter in an inlined function: numbers and vectors become variables."""
    from cuda_graphs.compiler.frontend.statements.statements import declare

    return declare(frame, name, value) if isinstance(value, (ir.Value, Vector)) else value


def result_of(frame: Frame, function: Callable[..., Any], result: Any) -> Any:
    """Return the result of a call of an inlined function, converted to the declared types."""
    kind = inspect.signature(function).return_annotation
    if kind is inspect.Signature.empty:
        return result
    kind, name = resolve(kind, function), function.__name__
    if kind is None and result is not None:
        raise refuse(frame, f"{name} is declared to return None but returns a value")
    if kind in FREE or kind is None:
        return result
    if result is None:
        raise refuse(frame, f"{name} declares a return value but has no return")
    kinds = kind if isinstance(kind, tuple) else getattr(kind, "__args__", None)
    if kinds is None:
        return fitted(frame, kind, result, f"the result of {name}")
    count = len(result) if isinstance(result, tuple) else 1
    if count != len(kinds):
        raise refuse(frame, f"{name} returns {count} values, and its annotation says {len(kinds)}")
    return tuple(
        fitted(frame, resolve(each, function), part, f"the result of {name}")
        for each, part in zip(kinds, result, strict=True)
    )


def refuse(frame: Frame, cause: str) -> CompileError:
    return fail(CompileReturnError, frame.builder.loc, cause, "declare the returned types, or remove ->")


def fitted(frame: Frame, kind: Any, value: Any, what: str) -> Any:
    """Return a value as its annotation declares it. Numbers are cast; an unsuitable value raises."""
    value = read(frame, value)
    if kind in FREE:
        return value
    if isinstance(kind, VectorType):
        return make_vector(frame, kind, value)
    if isinstance(kind, ScalarType):
        return frame.builder.cast(frame.scalar(value, what), kind)
    if not fits(frame, kind, value, what):
        told = described(value) if isinstance(value, ir.Array) else kind_of(value)
        raise fail(
            CompileTypeError, frame.builder.loc,
            f"{what} is declared as {getattr(kind, '__name__', repr(kind))}, and gets {told}",
            "pass a value of the declared type, or remove the annotation",
        )  # fmt: skip
    return value


def fits(frame: Frame, kind: Any, value: Any, what: str) -> bool:
    """Return whether a value other than a number or vector is what its annotation declares."""
    if kind is Tensor:
        return isinstance(value, ir.Array)
    if isinstance(kind, NDArray):
        return is_array(kind, value) if isinstance(value, ir.Array) else kind.optional and value is None
    if dataclasses.is_dataclass(kind):
        return isinstance(value, Struct) and issubclass(value.cls, kind)  # type: ignore[arg-type]
    raise fail(
        CompileTypeError, frame.builder.loc, f"{what} is declared as {kind!r}, which functions do not take",
        "take cg.f32 and the like, cg.types.ndarray(...), cg.template, a vector type or a dataclass",
    )  # fmt: skip


def is_array(kind: NDArray, array: ir.Array) -> bool:
    """Return whether an array is what its annotation declares."""
    return (
        kind.dtype in (None, array.element)
        and kind.ndim in (None, array.ndim - len(array.inner))
        and (kind.dtype is None or kind.inner == array.inner)
    )


def described(array: ir.Array) -> str:
    element = f"{array.element}" if not array.inner else f"{VectorType(array.element, array.inner)}"
    return f"{kind_of(array)} ({element}, ndim={array.ndim - len(array.inner)})"
