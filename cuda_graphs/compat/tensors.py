# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`tensor` of Quadrants: a field or an array, by an argument."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from .data import field, ndarray

__all__ = ["Backend", "tensor"]


class Backend(IntEnum):
    """The kind of object behind a tensor."""

    FIELD = 0
    NDARRAY = 1


MAKERS: dict[Backend, Any] = {Backend.FIELD: field, Backend.NDARRAY: ndarray}


def tensor(
    dtype: Any, shape: Any, *, backend: int = Backend.NDARRAY, layout: Any = None, needs_grad: bool = False
) -> Any:
    """Return a field or an array. `layout` changes no result, and is ignored: elements are in C order.

    Raises:
        ValueError: `backend` is unknown.
    """
    return MAKERS[Backend(backend)](dtype, shape, needs_grad=needs_grad)
