# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`simt.block` of the peers: reductions and scans of the threads of a block.

The peers' functions take the number of threads and the type of the values. Scans use them for a shared array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cuda_graphs as cg

from .subgroups import NEUTRAL, Combine, added, lanes_with
from .words import Inlined, for_kernels

__all__ = ["NAMES"]


def scanned(value: Any, block_dim: cg.template, op: cg.template, dtype: cg.template) -> Any:
    """Return the combined values of the threads up to this one."""
    shared = cg.block.shared_array(dtype, block_dim)
    thread = cg.block.thread()
    result = cg.cast(value, dtype)
    shared[thread] = result
    cg.block.sync()
    for k in cg.static(range((block_dim - 1).bit_length())):
        if thread >= 1 << k:
            result = op(shared[thread - (1 << k)], result)
        cg.block.sync()
        shared[thread] = result
        cg.block.sync()
    return result


def scanned_before(
    value: Any, block_dim: cg.template, op: cg.template, identity: cg.template, dtype: cg.template
) -> Any:
    """Return the combined values of the threads below this one; the identity for thread 0."""
    shared = cg.block.shared_array(dtype, block_dim)
    thread = cg.block.thread()
    shared[thread] = scanned(value, block_dim, op, dtype)
    cg.block.sync()
    result = dtype(identity)
    if thread > 0:
        result = shared[thread - 1]
    cg.block.sync()
    return result


def reduced(value: Any, block_dim: cg.template, op: cg.template, dtype: cg.template) -> Any:
    """Return the combined values of all threads of the block, in each of them."""
    shared = cg.block.shared_array(dtype, block_dim)
    shared[cg.block.thread()] = scanned(value, block_dim, op, dtype)
    cg.block.sync()
    result = shared[block_dim - 1]
    cg.block.sync()
    return result


def radix_rank(
    key: Any, block_dim: cg.template, radix_bits: cg.template, bit_start: cg.template, num_bits: cg.template,
    bins: Any, excl_prefix: Any,
) -> Any:  # fmt: skip
    """Return the place of a thread's key after a stable sort of the block by `num_bits` bits from `bit_start` on.

    `bins` gets the number of keys with each digit, and `excl_prefix` the number of keys with smaller digits. The warps
    take turns, so that keys of one digit keep their order.
    """
    cg.static_assert(
        block_dim == 1 << radix_bits, "radix_rank_match_atomic_or() takes 1 << radix_bits threads"
    )
    thread = cg.block.thread()
    digit = cg.cast((cg.cast(key, cg.u32) >> bit_start) & cg.u32((1 << num_bits) - 1), cg.i32)
    same = lanes_with(digit)
    before = cg.cast(cg.popcnt(same & ((cg.u32(1) << cg.warp.lane()) - 1)), cg.i32)
    bins[thread] = 0
    rank = 0
    cg.block.sync()
    for turn in cg.static(range((block_dim + 31) // 32)):
        if thread // 32 == turn:
            rank = bins[digit] + before
        cg.block.sync()
        if thread // 32 == turn and before == 0:
            bins[digit] += cg.cast(cg.popcnt(same), cg.i32)
        cg.block.sync()
    excl_prefix[thread] = scanned_before(bins[thread], block_dim, added, 0, cg.i32)
    cg.block.sync()
    return rank + excl_prefix[digit]


def reduction(function: Any) -> Inlined:
    """Return a reduction of the library with the further arguments of the peers, which it does not need."""

    def reduce(value: Any, block_dim: cg.template = None, dtype: cg.template = None) -> Any:
        return function(value)

    return for_kernels(reduce)


def inclusive(op: Combine) -> Inlined:
    def scan(value: Any, block_dim: cg.template, dtype: cg.template) -> Any:
        return scanned(value, block_dim, op, dtype)

    return for_kernels(scan)


def exclusive(op: Combine, first: Callable[[Any], Any]) -> Inlined:
    def scan(value: Any, block_dim: cg.template, dtype: cg.template) -> Any:
        return scanned_before(value, block_dim, op, cg.static(first(dtype)), dtype)

    return for_kernels(scan)


REDUCTIONS = {"add": cg.block.reduce_add, "min": cg.block.reduce_min, "max": cg.block.reduce_max}


def rows() -> dict[str, Inlined]:
    """Return the reductions and scans by name."""
    found = {}
    for name, (op, first) in NEUTRAL.items():
        found[f"reduce_{name}"] = found[f"reduce_all_{name}"] = reduction(REDUCTIONS[name])
        found[f"inclusive_{name}"] = inclusive(op)
        found[f"exclusive_{name}"] = exclusive(op, first)
    return found


NAMES: dict[str, Any] = {
    **rows(),
    "radix_rank_match_atomic_or": for_kernels(radix_rank),
    "reduce": for_kernels(reduced),
    "reduce_all": for_kernels(reduced),
    "inclusive_scan": for_kernels(scanned),
    "exclusive_scan": for_kernels(scanned_before),
}
