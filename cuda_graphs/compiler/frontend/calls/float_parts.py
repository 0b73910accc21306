# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls of cg.frexp: the body computes in f64, which holds every float exactly, and is inlined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda_graphs.compiler.frontend.frame.frame import Frame
from cuda_graphs.compiler.frontend.frame.values import Vector
from cuda_graphs.compiler.ir.types import f64
from cuda_graphs.compiler.language import library

from .inlining import inline

__all__ = ["FLOAT_PARTS"]


def scalar_parts(frame: Frame, value: Any) -> tuple[Any, Any]:
    builder = frame.builder
    if value.type.kind != "float":
        value = builder.cast(value, builder.real)
    wide = builder.cast(value, f64)
    mantissa, exponent = inline(frame, library.frexp.__cuda_graphs_func__, [wide], {})  # type: ignore[attr-defined]
    return builder.cast(frame.scalar(mantissa), value.type), exponent


def frexp(frame: Frame, x: Any) -> tuple[Any, Any]:
    """Return the translation of cg.frexp. It applies to vectors component by component."""
    value = frame.read(x)
    if not isinstance(value, Vector):
        return scalar_parts(frame, frame.scalar(value))
    exponents = []

    def mantissa(part: Any) -> Any:
        found, exponent = scalar_parts(frame, frame.scalar(part))
        exponents.append(exponent)
        return found

    mantissas = value.map(mantissa)
    left = iter(exponents)
    return mantissas, value.map(lambda part: frame.scalar(next(left)))


FLOAT_PARTS: dict[Any, Callable[..., Any]] = {library.frexp: frexp}
