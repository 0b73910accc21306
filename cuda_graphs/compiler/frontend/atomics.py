# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""cg.atomic_*: the change of a place in one step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import ir
from ..errors import CompileSyntaxError, CompileTypeError, fail
from .functions import Frame
from .values import Element


def atomic(kind: str) -> Callable[..., Any]:
    """cg.atomic_*: the place, the value (of cas: what to compare with, the value); what was there before."""

    def function(frame: Frame, target: Any, *values: Any) -> Any:
        from .statements import atomic_of

        wanted = 2 if kind == "cas" else 1
        if not isinstance(target, (Element, ir.Local)) or len(values) != wanted:
            raise fail(
                CompileSyntaxError, frame.builder.loc,
                f"cg.atomic_{kind} takes a place in memory and {wanted} value{'s' * (wanted > 1)}",
                "the first argument is what could be assigned to: x[i]",
            )  # fmt: skip
        type = target.array.element if isinstance(target, Element) else target.type
        if kind in ("and", "or", "xor", "cas") and type.kind == "float":
            raise fail(
                CompileTypeError,
                frame.builder.loc,
                f"cg.atomic_{kind} takes integers, not {type}",
                "use an array of integers, or cg.bit_cast",
            )
        casted = [frame.builder.cast(frame.scalar(each), type) for each in values]
        if kind == "sub":
            return frame.builder.put(
                atomic_of("add", target, frame.builder.op("neg", casted[0]), frame.builder.loc)
            )
        compare = casted[0] if kind == "cas" else None
        return frame.builder.put(atomic_of(kind, target, casted[-1], frame.builder.loc, compare))

    return function
