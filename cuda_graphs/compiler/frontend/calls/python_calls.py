# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of functions of Python without a decorator.

A call with an argument that is known at run time only is inlined, as that of a @cg.func. A call whose arguments are all
known when compiling runs in Python, and its result is a constant.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from types import SimpleNamespace
from typing import Any

from cuda_graphs.compiler import errors
from cuda_graphs.compiler.errors import CompileNameError, CompileStaticError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.remedies import MATH, NUMPY, remedy_of_call
from cuda_graphs.compiler.frontend.frame.values import (
    Bound,
    BoundFunction,
    Element,
    IndexRange,
    KnownArray,
    KnownVector,
    LocalFunction,
    Packed,
    StructArray,
)
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.language import intrinsics
from cuda_graphs.compiler.language.free_names import is_ours

from .static import as_python

__all__ = ["called", "run_python", "runs_in_kernel"]

# Libraries whose functions of Python work on objects of the host.
OF_THE_HOST = (sys.stdlib_module_names - {"builtins"}) | {"numpy"}


def runs_in_kernel(frame: Frame, function: Any, args: list[Any], keywords: dict[str, Any]) -> bool:
    """Return whether a call is inlined: of a user's function, method or callable object, with a run-time argument."""
    function, args, keywords = called(function, args, keywords)
    function = getattr(function, "__func__", function)
    if (
        not isinstance(function, types.FunctionType)
        or is_ours(function)
        or module_of(function) in OF_THE_HOST
    ):
        return False
    return has_run_time_value(frame, args, keywords)


def module_of(function: Any) -> str:
    """Return the name of the package in which a function is defined."""
    return str(getattr(function, "__module__", None) or "").partition(".")[0]


def called(function: Any, args: list[Any], keywords: dict[str, Any]) -> tuple[Any, list[Any], dict[str, Any]]:
    """Return the function and the arguments behind a functools.partial or an object with `__call__`."""
    while isinstance(function, functools.partial):
        args, keywords = [*function.args, *args], {**function.keywords, **keywords}
        function = function.func
    own = inspect.getattr_static(type(function), "__call__", None)
    return (
        (types.MethodType(own, function) if isinstance(own, types.FunctionType) else function),
        args,
        keywords,
    )


def has_run_time_value(frame: Frame, args: list[Any], keywords: dict[str, Any]) -> bool:
    return any(is_run_time_value(as_python(frame, each)) for each in (*args, *keywords.values()))


def run_python(frame: Frame, name: str, function: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
    """Run a function of Python at compile time; return its result, a constant."""
    loc = frame.builder.loc
    if not is_python(function):
        raise compile_error(
            CompileNameError, loc, f"{name} cannot be called in a kernel",
            remedy_of_call(name, function),
        )  # fmt: skip
    if has_run_time_value(frame, args, keywords):
        raise compile_error(
            CompileStaticError, loc, f"{name} is a function of Python, and an argument is known at run time only",
            language_remedy(function) or "compute it before the call of the kernel, and pass the result",
        )  # fmt: skip
    try:
        found = function(
            *(as_python(frame, each) for each in args),
            **{key: as_python(frame, each) for key, each in keywords.items()},
        )
    except Exception as error:
        raise compile_error(
            CompileStaticError, loc, f"{name}: {type(error).__name__}: {error}",
            "Python runs it when compiling: try it outside of a kernel, or decorate it with @cg.func",
        ) from error  # fmt: skip
    errors.warn(
        loc, f"{name} is a function of Python: it ran when compiling, and its result is a constant",
        f"If that is meant, write cg.static({name}(...)); else decorate it with @cg.func",
    )  # fmt: skip
    return found


def language_remedy(function: Any) -> str | None:
    """Return the remedy for a function of another library, if the language has a function of that name."""
    name, of_numpy = getattr(function, "__name__", ""), is_of_numpy(function)
    if of_numpy and name in NUMPY:
        return NUMPY[name]
    if getattr(function, "__module__", None) == "math" and name in MATH:
        return MATH[name]
    if (isinstance(function, types.FunctionType) and not of_numpy) or name not in intrinsics.__all__:
        return None
    return f"write cg.{name}(...)"


def is_of_numpy(function: Any) -> bool:
    return (getattr(function, "__module__", None) or type(function).__module__).partition(".")[0] == "numpy"


def is_python(function: Any) -> bool:
    """Return whether a value is a Python function, or a C function of `math` or NumPy without side effects."""
    if isinstance(function, (types.FunctionType, types.MethodType)):
        return not is_ours(getattr(function, "__func__", function))
    module = getattr(function, "__module__", None) or type(function).__module__
    return (
        callable(function)
        and not isinstance(function, type)
        and module.partition(".")[0] in ("math", "numpy")
    )


# Meanings that only the running kernel has, or that Python cannot use.
AT_RUN_TIME = (
    ir.Value, ir.Local, ir.Condition, KnownArray, KnownVector, StructArray, Packed, Element, IndexRange, Bound,
    BoundFunction, LocalFunction,
)  # fmt: skip


def is_run_time_value(found: Any) -> bool:
    """Return whether a value, or a part of it, is known only at run time."""
    if isinstance(found, (list, tuple, dict)):
        return any(map(is_run_time_value, found.values() if isinstance(found, dict) else found))
    if isinstance(found, SimpleNamespace):
        return is_run_time_value(vars(found))
    return isinstance(found, AT_RUN_TIME)
