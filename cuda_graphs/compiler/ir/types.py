# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Types of values: the scalars that kernels take by value, and the pointer.

The graph layer recognises a type by `__cuda_graph_type__`, its name, without importing this module
(graph/operands/parameter.pyx describes the protocol).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "BY_DTYPE",
    "PYTHON",
    "ScalarType",
    "bf16",
    "bool_",
    "f16",
    "f32",
    "f64",
    "i8",
    "i16",
    "i32",
    "i64",
    "pointer",
    "u8",
    "u16",
    "u32",
    "u64",
]


@dataclass(frozen=True, repr=False)
class ScalarType:
    """A type of single values.

    name   the name in the language: "f32"
    size   bytes
    kind   "int", "uint", "float", "bool" or "pointer"
    dtype  NumPy's code of the same layout ("<f4"), or None
    """

    name: str
    size: int
    kind: str
    dtype: str | None

    @property
    def __cuda_graph_type__(self) -> str:
        """The name, for users of the type protocol."""
        return self.name

    def __repr__(self) -> str:
        return self.name

    def __call__(self, value: Any) -> Any:
        """Return a value of this type on the host: a scalar of NumPy. bf16 has none there."""
        if self.dtype is None:
            raise TypeError(f"NumPy has no {self}: pass a float to a parameter of that type")
        return np.dtype(self.dtype).type(value)

    @property
    def bits(self) -> int:
        """The number of bits of a value; 1 for a bool."""
        return 1 if self.kind == "bool" else 8 * self.size

    @property
    def minimum(self) -> int:
        """The least value of an integer type."""
        return -(1 << self.bits - 1) if self.kind == "int" else 0

    @property
    def maximum(self) -> int:
        """The greatest value of an integer type."""
        return (1 << self.bits - (self.kind == "int")) - 1

    def wider(self) -> ScalarType:
        """Return the type of the same kind with the most bits."""
        return SCALARS[{"int": "i64", "uint": "u64", "float": "f64"}[self.kind]]


i8 = ScalarType("i8", 1, "int", "|i1")
i16 = ScalarType("i16", 2, "int", "<i2")
i32 = ScalarType("i32", 4, "int", "<i4")
i64 = ScalarType("i64", 8, "int", "<i8")
u8 = ScalarType("u8", 1, "uint", "|u1")
u16 = ScalarType("u16", 2, "uint", "<u2")
u32 = ScalarType("u32", 4, "uint", "<u4")
u64 = ScalarType("u64", 8, "uint", "<u8")
f16 = ScalarType("f16", 2, "float", "<f2")
bf16 = ScalarType("bf16", 2, "float", None)
f32 = ScalarType("f32", 4, "float", "<f4")
f64 = ScalarType("f64", 8, "float", "<f8")
bool_ = ScalarType("bool", 1, "bool", "|b1")
pointer = ScalarType("pointer", 8, "pointer", "<u8")

SCALARS = {t.name: t for t in (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, bool_)}


# The types by NumPy's codes, and by their counterparts among the classes of Python and NumPy.
BY_DTYPE = {type.dtype: type for type in SCALARS.values() if type.dtype is not None}
NUMPY: dict[type, ScalarType] = {np.dtype(dtype).type: type for dtype, type in BY_DTYPE.items()}
PYTHON: dict[type, ScalarType] = {int: i32, float: f32, bool: bool_, **NUMPY}


def promote(a: ScalarType, b: ScalarType) -> ScalarType:
    """Return the type of arithmetic on operands of types `a` and `b`.

    A float and an integer: the float. Two floats: the wider; f16 and bf16: f32. Two integers: the wider, with its own
    sign; of one width and different signs: the unsigned one. A bool and a number: the number's; two bools: i32.
    """
    if "float" in (a.kind, b.kind):
        floats = [t for t in (a, b) if t.kind == "float"]
        if floats[0].size == floats[-1].size and floats[0] != floats[-1]:
            return f32
        return max(floats, key=lambda t: t.size)
    if "bool" in (a.kind, b.kind):
        return i32 if a == b else a if b.kind == "bool" else b
    if a.size != b.size:
        return a if a.size > b.size else b
    return b if b.kind == "uint" else a
