# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Operations of all threads of a block: `cg.block`. In loops over `cg.blocks(...)`, and in parallel loops after
`cg.loop_config(block_dim=...)`. All threads of a block must come to a barrier or reduction, or none (collectives.py,
frontend/blocks.py).
"""

from __future__ import annotations

from typing import Any

from .intrinsics import in_kernels_only

__all__ = [
    "all", "any", "dim", "index", "reduce_add", "reduce_and", "reduce_max", "reduce_min", "reduce_or", "reduce_xor",
    "shared_array", "sync", "thread",
]  # fmt: skip

_in_kernels = in_kernels_only("cg.block")


@_in_kernels
def shared_array(dtype: Any, shape: Any) -> Any:
    """An array that the threads of a block share; what is in it at first is not defined. Those of a loop have 48 KiB
    together on every GPU, and up to 227 KiB on some."""


@_in_kernels
def sync() -> None:
    """A barrier: nobody goes on before all threads of the block are here, and what they have written, all see."""


@_in_kernels
def index() -> Any:
    """The number of the block, an i32."""


@_in_kernels
def thread() -> Any:
    """The number of the thread in its block, an i32."""


@_in_kernels
def dim() -> Any:
    """How many threads a block has, known when compiling. The last block of a loop over a range may have fewer."""


@_in_kernels
def reduce_add(a: Any) -> Any:
    """The sum over the block, for all of its threads."""


@_in_kernels
def reduce_min(a: Any) -> Any:
    """The least value of the block, for all of its threads."""


@_in_kernels
def reduce_max(a: Any) -> Any:
    """The greatest value of the block, for all of its threads."""


@_in_kernels
def reduce_and(a: Any) -> Any:
    """The bits that the values of all threads have."""


@_in_kernels
def reduce_or(a: Any) -> Any:
    """The bits that the value of one thread has."""


@_in_kernels
def reduce_xor(a: Any) -> Any:
    """The bits that the values of an odd number of threads have."""


@_in_kernels
def any(a: Any) -> Any:
    """Whether a is true in one thread."""


@_in_kernels
def all(a: Any) -> Any:
    """Whether a is true in all threads."""
