# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`cg.set_condition`: sets the value that a conditional node of the surrounding graph reads."""

from __future__ import annotations

from typing import Any

from cuda_graphs.compiler.errors import CompileTypeError, compile_error
from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import describe
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.types import u32, u64

__all__ = ["as_state", "keep_condition", "set_condition"]


def keep_condition(frame: Frame, condition: Any, value: Any) -> None:
    """Translate keep_condition(condition, value), of the library's own kernels."""
    set_condition(frame, condition, value, keeps=True)


def set_condition(frame: Frame, condition: Any, value: Any, keeps: bool = False) -> None:
    """Translate cg.set_condition(condition, value)."""
    builder = frame.builder
    if not isinstance(condition, ir.Condition):
        raise compile_error(
            CompileTypeError, builder.loc, f"cg.set_condition sets a condition, not {describe(condition)}",
            "declare a parameter c: cg.Condition, and pass it",
        )  # fmt: skip
    state = frame.scalar(value, "the value of a condition")
    if state.type.kind == "float":
        raise compile_error(
            CompileTypeError, builder.loc, f"a condition is an integer or a bool, not {state.type}",
            "compare it, as in x > 0, or convert it: int(x)",
        )  # fmt: skip
    builder.put(ir.SetCondition(condition, as_state(builder, state), builder.loc, keeps))


def as_state(builder: Builder, value: ir.Value) -> ir.Value:
    """Return an integer or a bool as the u32 of a condition. Only 0 becomes 0."""
    if value.type.bits == 64:  # a plain truncation could turn it into 0
        value = builder.op("min", builder.cast(value, u64), ir.Const(u32.maximum, u64))
    return builder.cast(value, u32)
