# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The names that declare parameters and members: values for the compiler here, types for checkers in the stub.

`cg.Array2[cg.f32]` is `ndarray(f32, ndim=2)`, `cg.vec3[cg.f64]` is `vec(3, f64)`. The stub declares the same names as
generic classes, and scalar types as Python's classes of numbers (docs/design/2026-11-annotations.md).
"""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from cuda_graphs.compiler.ir.types import (
    bf16,
    bool_,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
)

from .annotations import (
    NDArray,
    VectorType,
    mat,
    mat2,
    mat3,
    mat4,
    template,
    vec,
    vec2,
    vec3,
    vec4,
)

__all__ = [
    "Array", "Array0", "Array1", "Array2", "Array3", "Array4", "GradArray0", "GradArray1", "GradArray2", "GradArray3",
    "GradArray4", "Matrix", "Vector", "bf16", "bool_", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "mat", "mat2",
    "mat3", "mat4", "template", "u8", "u16", "u32", "u64", "vec", "vec2", "vec3", "vec4",
]  # fmt: skip

Array = NDArray()
Array0, Array1, Array2, Array3, Array4 = (NDArray(ndim=rank) for rank in range(5))
# Arrays with a gradient, which kernels read and write as `x.grad[i]`.
GradArray0, GradArray1, GradArray2, GradArray3, GradArray4 = (
    NDArray(ndim=rank, needs_grad=True) for rank in range(5)
)


class Vector:
    """`Vector[Literal[6], cg.f64]` is the type `vec(6, cg.f64)` in a form that type checkers read. cg.f32 by default.

    For type checkers it is also the class of vectors in kernels and on the host, so functions may declare it.
    """

    def __class_getitem__(cls, item: Any) -> VectorType:
        return vec(*sized(item, "Vector[Literal[6], cg.f64]", 1))


class Matrix:
    """`Matrix[Literal[2], Literal[3], cg.f64]` is `mat(2, 3, cg.f64)` in a form that type checkers read."""

    def __class_getitem__(cls, item: Any) -> VectorType:
        return mat(*sized(item, "Matrix[Literal[2], Literal[3], cg.f64]", 2))


def sized(item: Any, example: str, ndim: int) -> list[Any]:
    """Return the extents in `Literal`s, and the element type if there is one, of what stands in brackets.

    Raises:
        TypeError: There are other numbers or kinds of items.
    """
    items = item if isinstance(item, tuple) else (item,)
    extents = [get_args(each) for each in items[:ndim] if get_origin(each) is Literal]
    if len(extents) != ndim or any(len(each) != 1 for each in extents) or len(items) > ndim + 1:
        kind = example.partition("[")[0]
        raise TypeError(
            f"cg.{kind} takes {ndim} Literal and an element type in brackets, as in cg.{example}, not {item!r}"
        )
    return [extent for (extent,) in extents] + list(items[ndim:])
