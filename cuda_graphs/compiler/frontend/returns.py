# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The declared return types of a kernel, and the checks of them that need no translation."""

from __future__ import annotations

import ast
import dataclasses
import dis
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

from cuda_graphs.compiler.errors import (
    CompileReturnError,
    CompileSyntaxError,
    CompileTypeError,
    compile_error,
)
from cuda_graphs.compiler.ir.ir import Loc
from cuda_graphs.compiler.ir.types import ScalarType, pointer
from cuda_graphs.compiler.language.annotations import VectorType
from cuda_graphs.compiler.language.number_rules import USUAL, NumberRules
from cuda_graphs.compiler.language.signature import resolve
from cuda_graphs.compiler.language.structs import is_struct, member_type

from .source import Source

__all__ = ["NO_RETURN", "REMEDY", "check_return", "final_value", "returned_types"]

REMEDY = "declare the returned types: -> cg.f32, -> cg.vec3, -> tuple[cg.f32, cg.i32]"
NO_RETURN = (
    "the kernel declares a return value but has no return",
    "end it with return, or remove the -> annotation",
)


def returned_types(function: Callable[..., Any], rules: NumberRules = USUAL) -> tuple[Any, ...] | None:
    """Return the types that the annotation of a kernel declares as returned, or None without one.

    They are scalar types, vector types, and dataclasses.
    """
    annotation = inspect.signature(function).return_annotation
    if annotation in (inspect.Signature.empty, None, "None"):
        return None
    found = resolve(annotation, function, rules)
    parts = found if isinstance(found, tuple) else getattr(found, "__args__", None) or (found,)
    types = tuple(resolve(part, function, rules) for part in parts)
    for each in types:
        if not is_returned(each):
            cause = f"a kernel returns numbers, vectors and dataclasses of them, not {annotation!r}"
            raise compile_error(CompileTypeError, loc_of(function), cause, REMEDY)
    return types


def is_returned(kind: Any) -> bool:
    """Return whether kernels return values of a type."""
    if is_struct(kind):
        return all(is_returned(member_type(kind, each)) for each in dataclasses.fields(kind))
    return isinstance(kind, (ScalarType, VectorType)) and kind != pointer


def check_return(function: Callable[..., Any]) -> None:
    """Raise if the annotation and the last statement of a kernel contradict each other.

    The translation checks the returns in branches, as it may remove branches.

    Raises:
        CompileReturnError: Only one of the two returns a value.
        CompileTypeError: The annotation has a type that kernels do not return.
    """
    types = returned_types(function)
    if types is not None and not may_return_value(function.__code__):
        raise compile_error(CompileReturnError, loc_of(function), *NO_RETURN)
    found = final_value(function) if types is None else None
    if found is not None:
        raise compile_error(
            CompileReturnError,
            found,
            "the kernel returns a value, but its annotation does not declare one",
            REMEDY,
        )


def final_value(function: Callable[..., Any]) -> Loc | None:
    """Return the position of a final `return` with a value; None without one, or without a source."""
    if not may_return_value(function.__code__):
        return None  # the bytecode is quicker to read than the source
    source = Source(function)
    try:
        last = source.tree.body[-1]
    except CompileSyntaxError:
        return None  # the first call reports the error
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    return (
        None if isinstance(last.value, ast.Constant) and last.value.value is None else source.loc(last, None)
    )


def may_return_value(code: CodeType) -> bool:
    """Return whether the bytecode of a function returns anything but None."""
    before = None
    for each in dis.get_instructions(code):
        if each.opname == "RETURN_CONST" and each.argval is not None:
            return True
        if each.opname == "RETURN_VALUE" and (
            before is None or before.opname != "LOAD_CONST" or before.argval is not None
        ):
            return True
        before = each
    return False


def loc_of(function: Callable[..., Any]) -> Loc:
    code = function.__code__
    return Loc(code.co_filename, code.co_firstlineno, 0, 0, function.__name__)
