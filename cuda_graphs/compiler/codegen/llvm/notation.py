# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""LLVM's notation of types, numbers and fast-math flags."""

from __future__ import annotations

from typing import Any

import numpy as np

from cuda_graphs.compiler.ir.scalars import scalar, written
from cuda_graphs.compiler.ir.types import ScalarType, bf16
from cuda_graphs.native.function_text import FunctionText

__all__ = ["FastMathText", "llvm_type", "number", "suffix"]

TYPES = {"f16": "half", "bf16": "i16", "f32": "float", "f64": "double", "bool": "i1"}


def llvm_type(type: ScalarType) -> str:
    """Return the LLVM type of a value in a register."""
    return TYPES.get(type.name, f"i{type.bits}")


def suffix(type: ScalarType) -> str:
    """Return the type's suffix in names of intrinsics."""
    return f"{'f' if type.kind == 'float' else 'i'}{type.bits}"


def number(value: Any, type: ScalarType) -> str:
    """Return the LLVM text of a constant."""
    if type.kind == "bool":
        return "true" if value else "false"
    if type.kind != "float":
        return str(int(value))
    rounded = scalar(value, type)
    if type == bf16:
        return str(written(rounded, bf16))
    if type.name == "f16":
        return f"0xH{int(rounded.view(np.uint16)):04X}"
    return f"0x{int(np.float64(rounded).view(np.uint64)):016X}"


class FastMathText(FunctionText):
    """The text of a function. `fast` is the fast-math flags of its instructions: "fast " or another text, or ""."""

    def __init__(self, declarations: dict[str, str], fast: str) -> None:
        super().__init__(declarations)
        self.fast = fast
