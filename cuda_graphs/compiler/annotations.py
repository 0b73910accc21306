# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What parameters of kernels may be declared to be, and what they are in one specialisation.

An annotation of the source becomes a Signature entry when the types of the arguments are known: ScalarSpec, ArraySpec,
StructSpec or StaticSpec. A specialisation of a kernel is its function and a tuple of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .types import ScalarType

__all__ = ["ArraySpec", "NDArray", "ScalarSpec", "StaticSpec", "StructSpec", "Template", "ndarray", "template"]


@dataclass(frozen=True)
class NDArray:
    """The annotation of an array parameter; None: any."""

    dtype: ScalarType | None = None
    ndim: int | None = None


def ndarray(dtype: ScalarType | None = None, ndim: int | None = None) -> NDArray:
    """An array parameter: elements of `dtype` and `ndim` indices; what is None is taken from the argument."""
    return NDArray(dtype, ndim)


class Template:
    """The annotation of a compile-time parameter: each value has a specialisation of its own."""


template = Template


@dataclass(frozen=True)
class ScalarSpec:
    """A number, passed by value."""

    type: ScalarType


@dataclass(frozen=True)
class ArraySpec:
    """An array whose address and extents come with each call."""

    dtype: ScalarType
    ndim: int
    inner: tuple[int, ...] = ()
    needs_grad: bool = False


@dataclass(frozen=True)
class StructSpec:
    """A dataclass instance, taken apart: (field name, spec) in order."""

    cls: type
    members: tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class StaticSpec:
    """A value that is known when compiling."""

    value: Any


Spec = ScalarSpec | ArraySpec | StructSpec | StaticSpec
