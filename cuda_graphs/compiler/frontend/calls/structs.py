# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of dataclasses, which make local structures."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from cuda_graphs.compiler.errors import CompileArgumentError, CompileTypeError, compile_error
from cuda_graphs.compiler.frontend.expressions.lvalues import field_or_value
from cuda_graphs.compiler.frontend.expressions.numbers import in_type, is_source_number
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Struct
from cuda_graphs.compiler.ir.types import ScalarType
from cuda_graphs.compiler.language.signature import is_template
from cuda_graphs.compiler.language.structs import is_struct, member_type

from .binding import convert_to_declared

__all__ = ["make_struct"]


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
    if isinstance(kind, ScalarType) and is_source_number(value):
        return in_type(frame, what, value, kind)
    return convert_to_declared(frame, kind, value, what)


def constant_struct(frame: Frame, value: Any) -> Struct:
    """Return an instance of a dataclass as a structure of constants."""
    given = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
    return Struct(
        type(value),
        {each.name: member(frame, type(value), each, given) for each in dataclasses.fields(value)},
    )
