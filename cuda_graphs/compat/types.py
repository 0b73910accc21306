# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`types` of the peers."""

from __future__ import annotations

from typing import Any

import cuda_graphs as cg

from .absent import absent_names
from .data import element_type, struct_type
from .scalars import *  # noqa: F403
from .scalars import NAMES

NDArray, Template = cg.types.NDArray, cg.types.Template
template, struct = cg.template, struct_type
vector, matrix = cg.types.vec, cg.types.mat


def ndarray(
    dtype: Any = None, ndim: int | None = None, element_dim: Any = None, *, needs_grad: bool | None = None, **shapes: Any
) -> Any:
    """Return the annotation of an array. `element_dim` and `element_shape` follow from the dtype, and must not be given.

    Raises:
        TypeError: Another keyword is given.
    """
    if element_dim or any(each is not None for name, each in shapes.items() if name != "boundary"):
        raise TypeError("types.ndarray: give the elements as dtype=types.vector(n, dtype), or types.matrix(n, m, dtype)")
    return cg.types.ndarray(element_type(dtype), ndim, needs_grad=needs_grad)


def is_integral(dtype: Any) -> bool:
    return bool(dtype.kind in ("int", "uint"))


def is_real(dtype: Any) -> bool:
    return bool(dtype.kind == "float")


def is_signed(dtype: Any) -> bool:
    return bool(dtype.kind == "int")


__all__ = ["NDArray", "Template", "is_integral", "is_real", "is_signed", "matrix", "ndarray", "struct", "template", "vector", *NAMES]
__getattr__ = absent_names("types", "types.")
