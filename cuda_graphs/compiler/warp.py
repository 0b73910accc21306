# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operations of 32 consecutive threads of a block: `cg.warp`. Where cg.block may stand, and also
under an `if` that lanes decide differently: then those who are there are meant (collectives.py).
"""

from __future__ import annotations

from typing import Any

from .intrinsics import in_kernels_only

__all__ = [
    "all", "any", "ballot", "index", "lane", "reduce_add", "reduce_and", "reduce_max", "reduce_min", "reduce_or",
    "reduce_xor", "shuffle", "shuffle_down", "shuffle_up", "shuffle_xor", "sync",
]  # fmt: skip

_in_kernels = in_kernels_only("cg.warp")


@_in_kernels
def lane() -> Any:
    """The number of the thread in its warp, an i32 from 0 to 31."""


@_in_kernels
def index() -> Any:
    """The number of the warp in its block, an i32."""


@_in_kernels
def sync() -> None:
    """A barrier of the warp: what its lanes have written, all of them see."""


@_in_kernels
def shuffle(a: Any, lane: Any) -> Any:
    """The value of lane `lane % 32`; the own value, if nobody is there."""


@_in_kernels
def shuffle_up(a: Any, delta: Any) -> Any:
    """The value of the lane `delta % 32` below; the own value, if nobody is there."""


@_in_kernels
def shuffle_down(a: Any, delta: Any) -> Any:
    """The value of the lane `delta % 32` above; the own value, if nobody is there."""


@_in_kernels
def shuffle_xor(a: Any, mask: Any) -> Any:
    """The value of the lane whose number differs in the bits of `mask % 32`; the own value, if nobody is there."""


@_in_kernels
def reduce_add(a: Any) -> Any:
    """The sum over the warp, for all of its lanes."""


@_in_kernels
def reduce_min(a: Any) -> Any:
    """The least value of the warp, for all of its lanes."""


@_in_kernels
def reduce_max(a: Any) -> Any:
    """The greatest value of the warp, for all of its lanes."""


@_in_kernels
def reduce_and(a: Any) -> Any:
    """The bits that the values of all lanes have."""


@_in_kernels
def reduce_or(a: Any) -> Any:
    """The bits that the value of one lane has."""


@_in_kernels
def reduce_xor(a: Any) -> Any:
    """The bits that the values of an odd number of lanes have."""


@_in_kernels
def any(a: Any) -> Any:
    """Whether a is true in one lane."""


@_in_kernels
def all(a: Any) -> Any:
    """Whether a is true in all lanes."""


@_in_kernels
def ballot(a: Any) -> Any:
    """A u32 whose bit i says whether a is true in lane i."""
