# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that mean something in kernels only: the frontend knows them by identity (frontend/calls.py)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

# name -> row of the op table
OPERATIONS = {
    "sqrt": "sqrt", "rsqrt": "rsqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "round": "round",
    "sign": "sign", "isnan": "is_nan", "isinf": "is_inf", "bit_shr": "shift_right_logical",
    "fma": "fma", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "atan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "exp": "exp", "exp2": "exp2", "log": "log",
    "log2": "log2", "log10": "log10", "raw_div": "trunc_div", "raw_mod": "trunc_mod", "popcnt": "popcount",
    "clz": "leading_zeros", "ffs": "first_set",
}  # fmt: skip
VECTORS = (
    "dot", "cross", "outer", "norm", "normalized", "reflect", "distance", "transpose", "determinant", "inverse",
    "trace", "length", "normalize",
)  # fmt: skip
ATOMICS = ("add", "sub", "mul", "min", "max", "and", "or", "xor", "exchange", "cas")


def _in_kernels_only(name: str) -> Callable[..., Any]:
    def function(*args: Any, **keywords: Any) -> Any:
        raise RuntimeError(
            f"cg.{name} has a meaning in kernels only: call it in a function with @cg.kernel or @cg.func"
        )

    function.__name__ = function.__qualname__ = name
    return function


def static(value: Any) -> Any:
    """In a kernel: evaluate the expression when compiling. Outside: the value itself."""
    return value


def ndrange(*extents: Any) -> Any:
    """In a kernel: all points of a box, each extent n or (begin, end). Outside, and in cg.static: them as tuples."""
    return itertools.product(*(range(*each) if isinstance(each, tuple) else range(each) for each in extents))


grouped = _in_kernels_only("grouped")
cast = _in_kernels_only("cast")
bit_cast = _in_kernels_only("bit_cast")
select = _in_kernels_only("select")
random = _in_kernels_only("random")
vector = _in_kernels_only("vector")
loop_config = _in_kernels_only("loop_config")
static_assert = _in_kernels_only("static_assert")
static_print = _in_kernels_only("static_print")
for _name in (*OPERATIONS, *VECTORS, *(f"atomic_{kind}" for kind in ATOMICS)):
    globals()[_name] = _in_kernels_only(_name)


def func(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that kernels can call: its body is inlined at each call."""

    def only_in_kernels(*args: Any, **keywords: Any) -> Any:
        raise RuntimeError(f"{function.__name__} is a @cg.func: it is called from kernels")

    only_in_kernels.__name__, only_in_kernels.__qualname__ = function.__name__, function.__qualname__
    only_in_kernels.__doc__, only_in_kernels.__wrapped__ = function.__doc__, function  # type: ignore[attr-defined]
    only_in_kernels.__cuda_graphs_func__ = function  # type: ignore[attr-defined]
    return only_in_kernels
