# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operations of 32 consecutive threads of a block: `cg.warp`.

They are available wherever cg.block is, and also under an `if` whose condition differs between lanes. There only the
active lanes take part (collectives.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .intrinsics import in_kernels_only

if TYPE_CHECKING:
    from .declarations import Number

__all__ = [
    "all", "any", "ballot", "index", "lane", "reduce_add", "reduce_and", "reduce_max", "reduce_min", "reduce_or",
    "reduce_xor", "shuffle", "shuffle_down", "shuffle_up", "shuffle_xor", "sync",
]  # fmt: skip

_in_kernels = in_kernels_only("cg.warp")


@_in_kernels
def lane() -> int:
    """Return the number of the thread in its warp, an i32 from 0 to 31."""


@_in_kernels
def index() -> int:
    """Return the number of the warp in its block, an i32."""


@_in_kernels
def sync() -> None:
    """Wait for all lanes of the warp. Afterwards all see each other's earlier writes."""


@_in_kernels
def shuffle(a: Number, lane: int) -> Number:
    """Return the value of lane `lane % 32`, or the thread's own value if that lane is inactive."""


@_in_kernels
def shuffle_up(a: Number, delta: int) -> Number:
    """Return the value of the lane `delta % 32` below, or the thread's own value if that lane is inactive."""


@_in_kernels
def shuffle_down(a: Number, delta: int) -> Number:
    """Return the value of the lane `delta % 32` above, or the thread's own value if that lane is inactive."""


@_in_kernels
def shuffle_xor(a: Number, mask: int) -> Number:
    """Return the value of the lane whose number differs in the bits of `mask % 32`, or the own value if inactive."""


@_in_kernels
def reduce_add(a: Number) -> Number:
    """Return the sum over the warp to all of its lanes."""


@_in_kernels
def reduce_min(a: Number) -> Number:
    """Return the least value of the warp to all of its lanes."""


@_in_kernels
def reduce_max(a: Number) -> Number:
    """Return the greatest value of the warp to all of its lanes."""


@_in_kernels
def reduce_and(a: Number) -> Number:
    """Return the bitwise and of the values of all lanes."""


@_in_kernels
def reduce_or(a: Number) -> Number:
    """Return the bitwise or of the values of all lanes."""


@_in_kernels
def reduce_xor(a: Number) -> Number:
    """Return the bitwise exclusive or of the values of all lanes."""


@_in_kernels
def any(a: float) -> bool:
    """Return whether `a` is true in at least one lane."""


@_in_kernels
def all(a: float) -> bool:
    """Return whether `a` is true in all lanes."""


@_in_kernels
def ballot(a: float) -> int:
    """Return a u32 whose bit i is 1 if `a` is true in lane i."""
