# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Applies a scalar lowering to every lane of a type. A scalar type has one lane."""

from collections.abc import Callable

from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.table import Op
from cuda_graphs.hostdriver.ptx.syntax.datatypes import Type


def apply(f: FunctionLowering, op: Op, operands: tuple, scalar: Callable, kind: Type | None = None) -> None:
    """Applies scalar(f, op, type, *values) -> value to each lane; values have the LLVM type type.value."""
    kind = kind or op.type
    target, *sources = operands
    if kind.lanes == 1:
        values = [f.read(source, kind.value) for source in sources]
        f.put(target, scalar(f, op, kind, *values), kind)
        return
    element = kind.element
    split = [lanes(f, f.read(source, kind.value), element) for source in sources]
    results = [scalar(f, op, element, *values) for values in zip(*split, strict=True)]
    f.put(target, join(f, results, element), kind)


def lanes(f: FunctionLowering, value: str, element: Type) -> list[str]:
    high = f.let(f"lshr i32 {value}, 16")
    halves = [f.let(f"trunc i32 {part} to i16") for part in (value, high)]
    return [f.convert(half, "i16", element.value) for half in halves]


def join(f: FunctionLowering, values: list[str], element: Type) -> str:
    low, high = (f.convert(f.convert(value, element.value, "i16"), "i16", "i32") for value in values)
    return f.let(f"or i32 {low}, {f.let(f'shl i32 {high}, 16')}")
