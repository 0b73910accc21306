# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Random numbers."""

from __future__ import annotations

from typing import Any

from cuda_graphs.compiler.errors import CompileTypeError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.scalars import is_small
from cuda_graphs.compiler.ir.types import f32, u64
from cuda_graphs.compiler.language import library

from .conversions import scalar_type
from .inlining import inline

__all__ = ["random_integer", "random_normal", "random_number"]


def random_number(frame: Frame, dtype: Any = None) -> ir.Value:
    """Return the next number: a float in [0, 1), or any integer."""
    type = frame.builder.real if dtype is None else scalar_type(frame, dtype)
    return frame.builder.put(ir.Random(type, frame.builder.loc))


def random_normal(frame: Frame, dtype: Any = None) -> ir.Value:
    """Return a random number of the normal distribution. Narrow floats are computed as f32."""
    type = frame.builder.real if dtype is None else scalar_type(frame, dtype)
    if type.kind != "float":
        raise compile_error(
            CompileTypeError, frame.builder.loc, f"cg.random_normal makes floats, not {type}",
            "cast the result: cg.cast(cg.random_normal(), cg.i32)",
        )  # fmt: skip
    found = inlined(frame, library.normal_number, f32 if is_small(type) else type)
    return frame.builder.cast(found, type)


def random_integer(frame: Frame, low: Any, high: Any) -> ir.Value:
    """Return a random integer of a range."""
    builder = frame.builder
    low, high = builder.promoted(frame.scalar(low), frame.scalar(high))
    if low.type.kind not in ("int", "uint"):
        raise compile_error(
            CompileTypeError, builder.loc, f"cg.random_integer takes integers, not {low.type}",
            "cg.random() * (high - low) + low makes floats",
        )  # fmt: skip
    begin = builder.cast(low, u64)
    count = builder.op("sub", builder.cast(high, u64), begin)
    below = inlined(frame, library.long_integer_below if low.type.size == 8 else library.integer_below, count)
    found = builder.cast(builder.op("add", begin, below), low.type)
    return builder.op("select", builder.op("less", low, high), found, low)


def inlined(frame: Frame, function: Any, argument: Any) -> ir.Value:
    found = inline(frame, function.__cuda_graphs_func__, [argument], {})
    assert isinstance(found, ir.Value)
    return found
