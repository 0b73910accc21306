# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operations of all threads of a block: `cg.block`.

They are available in loops over `cg.blocks(...)`, and in parallel loops after `cg.loop_config(block_dim=...)`. Either
all threads of a block reach a barrier or reduction, or none (collectives.py,
compiler/frontend/calls/block_operations.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .intrinsics import in_kernels_only

if TYPE_CHECKING:
    from .declarations import Number
    from .function_types import SharedArray

__all__ = [
    "all", "any", "dim", "index", "reduce_add", "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_xor",
    "shared_array", "sync", "thread",
]  # fmt: skip

_in_kernels = in_kernels_only("cg.block")
_typed: Any = _in_kernels
_shared_array: Callable[[Callable[..., Any]], SharedArray] = _typed


@_shared_array
def shared_array(dtype: Any, shape: Any) -> Any:
    """Return an array that the threads of a block share, with undefined initial content.

    The shared arrays of a loop may have 48 KiB together on every GPU, and up to 227 KiB on some.
    """


@_in_kernels
def sync() -> None:
    """Wait until all threads of the block reach this barrier. Afterwards all see each other's earlier writes."""


@_in_kernels
def index() -> int:
    """Return the number of the block, an i32."""


@_in_kernels
def thread() -> int:
    """Return the number of the thread in its block, an i32."""


@_in_kernels
def dim() -> int:
    """Return the number of threads of a block, a compile-time value. The last block of a range may have fewer."""


@_in_kernels
def reduce_add(a: Number) -> Number:
    """Return the sum over the block to all of its threads."""


@_in_kernels
def reduce_min(a: Number) -> Number:
    """Return the least value of the block to all of its threads."""


@_in_kernels
def reduce_max(a: Number) -> Number:
    """Return the greatest value of the block to all of its threads."""


@_in_kernels
def reduce_and(a: Number) -> Number:
    """Return the bitwise and of the values of all threads of the block."""


@_in_kernels
def reduce_or(a: Number) -> Number:
    """Return the bitwise or of the values of all threads of the block."""


@_in_kernels
def reduce_xor(a: Number) -> Number:
    """Return the bitwise exclusive or of the values of all threads of the block."""


@_in_kernels
def any(a: float) -> bool:
    """Return whether `a` is true in at least one thread."""


@_in_kernels
def all(a: float) -> bool:
    """Return whether `a` is true in all threads."""
