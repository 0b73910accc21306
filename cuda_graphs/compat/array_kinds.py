# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The peers' classes of fields and arrays by their elements, for `isinstance`. Here two classes have them all."""

from __future__ import annotations

from typing import Any

import cuda_graphs as cg

__all__ = ["MatrixField", "MatrixNdarray", "Ndarray", "ScalarField", "ScalarNdarray", "VectorNdarray"]


class ArrayKind(type):
    """A metaclass: objects of its classes are fields or arrays of the library, by the dimensions of an element."""

    is_field: bool
    inner: tuple[int, ...]

    def __instancecheck__(cls, value: Any) -> bool:
        return (
            isinstance(value, cg.NDArray)
            and isinstance(value, cg.Field) == cls.is_field
            and len(value.element_shape) in cls.inner
        )


def array_kind(name: str, is_field: bool, *inner: int) -> Any:
    """Return the class of fields, or of arrays, whose elements have one of these numbers of dimensions."""
    return ArrayKind(name, (), {"is_field": is_field, "inner": inner})


ScalarField, MatrixField = array_kind("ScalarField", True, 0), array_kind("MatrixField", True, 1, 2)
Ndarray, ScalarNdarray = array_kind("Ndarray", False, 0, 1, 2), array_kind("ScalarNdarray", False, 0)
VectorNdarray, MatrixNdarray = array_kind("VectorNdarray", False, 1), array_kind("MatrixNdarray", False, 2)
