# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The types of arrays, by their names in a file."""

from __future__ import annotations

from typing import Any

from cuda_graphs.compiler.ir.types import SCALARS
from cuda_graphs.compiler.language.annotations import VectorType

__all__ = ["dtype_of"]


def dtype_of(name: str, inner: tuple[int, ...]) -> Any:
    """Return the type of the elements of an array, given the name of a number and the shape of one element."""
    return VectorType(SCALARS[name], inner) if inner else SCALARS[name]
