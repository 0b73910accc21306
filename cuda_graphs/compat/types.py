# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`types` of the peers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import cuda_graphs as cg

from .absent import absent_names
from .data import element_type
from .elements import peer_type
from .scalars import *  # noqa: F403
from .scalars import NAMES, NUMBERS
from .structs import struct_type

# The types of numbers by kind, where programs look for them.
primitive_types = SimpleNamespace(
    integer_types=[each for each in NUMBERS if each.kind in ("int", "uint")],
    real_types=[each for each in NUMBERS if each.kind == "float"],
)
# Type checkers see the types of the language as those of Python.
vectors: Any = cg.types.vec
matrices: Any = cg.types.mat
NDArray, Template = cg.types.NDArray, cg.types.Template
template, struct = cg.template, struct_type


def vector(n: int, dtype: Any = None) -> Any:
    """Return the type of vectors of `n` components. Without a dtype a function takes vectors of any type."""
    return peer_type(vectors(n, element_type(dtype)))


def matrix(n: int, m: int, dtype: Any = None) -> Any:
    """Return the type of matrices. Without a dtype a function takes matrices of any type."""
    return peer_type(matrices(n, m, element_type(dtype)))


def ndarray(
    dtype: Any = None,
    ndim: int | None = None,
    element_dim: Any = None,
    *,
    needs_grad: bool | None = None,
    **shapes: Any,
) -> Any:
    """Return the annotation of an array. `element_dim` is for arrays without a dtype.

    Raises:
        TypeError: Another keyword is given, or `element_dim` together with a dtype.
    """
    if any(each is not None for name, each in shapes.items() if name != "boundary"):
        raise TypeError(
            "types.ndarray: give the elements as dtype=types.vector(n, dtype), or types.matrix(n, m, dtype)"
        )
    kind = element_type(dtype)
    return cg.types.ndarray(kind, ndim, needs_grad=needs_grad, element_dim=element_dim or 0)


def is_integral(dtype: Any) -> bool:
    return bool(dtype.kind in ("int", "uint"))


def is_real(dtype: Any) -> bool:
    return bool(dtype.kind == "float")


def is_signed(dtype: Any) -> bool:
    return bool(dtype.kind == "int")


__all__ = [
    "NDArray", "Template", "is_integral", "is_real", "is_signed", "matrix", "ndarray", "primitive_types", "struct",
    "template", "vector",
    *NAMES,
]  # fmt: skip
__getattr__ = absent_names("types", "types.")
