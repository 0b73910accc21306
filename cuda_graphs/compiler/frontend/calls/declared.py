# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Values as annotations declare them: numbers, vectors, and dataclasses with their members."""

from __future__ import annotations

import dataclasses
import inspect
from types import SimpleNamespace
from typing import Any

from cuda_graphs.compiler.errors import CompileArgumentError, CompileTypeError, compile_error
from cuda_graphs.compiler.frontend.expressions.construction import make_vector
from cuda_graphs.compiler.frontend.expressions.lvalues import field_or_value
from cuda_graphs.compiler.frontend.expressions.numbers import in_type, is_source_number
from cuda_graphs.compiler.frontend.expressions.struct_elements import extents_of
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import (
    HostObject,
    Struct,
    StructArray,
    Vector,
    describe,
)
from cuda_graphs.compiler.frontend.precision import convert_implicitly
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.annotations import NDArray, Tensor, VectorType
from cuda_graphs.compiler.language.host_objects import is_host_object
from cuda_graphs.compiler.language.signature import is_template
from cuda_graphs.compiler.language.structs import is_struct, is_unnamed, member_type

__all__ = ["FREE", "convert_to_declared", "make_struct"]

FREE = (inspect.Parameter.empty, Any)  # annotations without a requirement


def convert_to_declared(frame: Frame, kind: Any, value: Any, what: str) -> Any:
    """Return a value as its annotation declares it. Numbers are cast; an unsuitable value raises."""
    if isinstance(kind, ScalarType) and is_source_number(value):
        return in_type(frame, what, value, kind)
    value = frame.read(value)
    if kind in FREE:
        return value
    if isinstance(kind, VectorType):
        keeps = kind.is_open and isinstance(value, Vector) and value.shape == kind.shape
        return value if keeps else make_vector(frame, kind, value)
    if isinstance(kind, ScalarType):
        return convert_implicitly(frame, frame.scalar(value, what), kind, what)
    if is_struct(kind) and (members := members_without_class(value)) is not None:
        return make_struct(frame, kind, [], members)
    if not matches_declared(frame, kind, value, what):
        passed = array_type(value) if isinstance(value, ir.Array) else describe(value)
        raise compile_error(
            CompileTypeError, frame.builder.loc,
            f"{what} is declared as {getattr(kind, '__name__', repr(kind))}, and gets {passed}",
            "pass a value of the declared type, or remove the annotation",
        )  # fmt: skip
    return value


def members_without_class(value: Any) -> dict[str, Any] | None:
    """Return the members of a structure without a class, or the items of a dict; None for other values."""
    if isinstance(value, Struct):
        return value.members if is_unnamed(value.cls) else None
    return value if isinstance(value, dict) else None


def matches_declared(frame: Frame, kind: Any, value: Any, what: str) -> bool:
    """Return whether a value other than a number or vector is what its annotation declares."""
    if kind is Tensor:
        return isinstance(value, ir.Array)
    if isinstance(kind, NDArray) and isinstance(value, StructArray):
        ndim = len(extents_of(frame, value))
        return kind.ndim in (None, ndim) and (kind.struct is value.cls or kind == NDArray(None, kind.ndim))
    if isinstance(kind, NDArray):
        return matches_array(kind, value) if isinstance(value, ir.Array) else kind.optional and value is None
    if is_host_object(kind):
        return isinstance(value, HostObject) and issubclass(value.cls, kind)
    if kind is SimpleNamespace:
        return isinstance(value, Struct) and is_unnamed(value.cls)
    if dataclasses.is_dataclass(kind):
        return isinstance(value, Struct) and issubclass(value.cls, kind)  # type: ignore[arg-type]
    raise compile_error(
        CompileTypeError, frame.builder.loc, f"{what} is declared as {kind!r}, which functions do not take",
        "take cg.f32 and the like, cg.Array1[cg.f32], cg.template, a vector type or a dataclass",
    )  # fmt: skip


def matches_array(kind: NDArray, array: ir.Array) -> bool:
    """Return whether an array is what its annotation declares."""
    return (
        kind.struct is None
        and kind.dtype in (None, array.element)
        and kind.ndim in (None, array.ndim - len(array.inner))
        and (kind.dtype is None or kind.inner == array.inner)
    )


def array_type(array: ir.Array) -> str:
    element = f"{array.element}" if not array.inner else f"{VectorType(array.element, array.inner)}"
    return f"{describe(array)} ({element}, ndim={array.ndim - len(array.inner)})"


def make_struct(frame: Frame, cls: Any, args: list[Any], keywords: dict[str, Any]) -> Struct:
    """Translate the call of a dataclass: its members are converted as the class declares them."""
    own = "__post_init__" if hasattr(cls, "__post_init__") else "__init__"
    if own == "__post_init__" or not cls.__dataclass_params__.init:
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"{cls.__name__} has an {own} of its own, which kernels do not run",
            "write a @cg.func that makes the members and returns the instance",
        )  # fmt: skip
    try:
        bound = inspect.signature(cls).bind(*args, **keywords)
    except TypeError as error:
        raise compile_error(
            CompileArgumentError, frame.builder.loc, f"{cls.__name__}: {error}",
            f"it has {', '.join(each.name for each in dataclasses.fields(cls))}",
        ) from None  # fmt: skip
    given = bound.arguments
    return Struct(cls, {each.name: member(frame, cls, each, given) for each in dataclasses.fields(cls)})


def member(frame: Frame, cls: Any, field: dataclasses.Field[Any], given: dict[str, Any]) -> Any:
    """Return the value of a member: the argument, or the default."""
    what = f"member {field.name!r} of {cls.__name__}"
    if field.name in given:
        value = given[field.name]
    elif field.default_factory is not dataclasses.MISSING:
        value = field.default_factory()
    else:
        value = field.default
    value = field_or_value(frame, value)
    kind = member_type(cls, field)
    if is_struct(kind) and isinstance(value, kind):  # a default
        return constant_struct(frame, value)
    if is_template(kind):
        return value
    return convert_to_declared(frame, kind, value, what)


def constant_struct(frame: Frame, value: Any) -> Struct:
    """Return an instance of a dataclass as a structure of constants."""
    given = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    return Struct(
        type(value),
        {each.name: member(frame, type(value), each, given) for each in dataclasses.fields(value)},
    )
