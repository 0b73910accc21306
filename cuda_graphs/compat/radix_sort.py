# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`algorithms.sort` of the peers: a stable radix sort inside of a kernel, whose loops are tasks of that kernel.

It sorts by eight bits at a time, from the lowest ones on (D. Knuth, "The Art of Computer Programming", volume 3,
5.2.5). One thread counts and moves the keys of a tile, so that keys of one digit keep their order. All sizes follow
from the number of keys on the device, so a graph sorts any number of keys.
"""

from __future__ import annotations

from typing import Any

import cuda_graphs as cg

from .words import Inlined, for_kernels

__all__ = ["sort", "sort_scratch_slots"]

TILE = 256  # keys that one thread moves
DIGITS = 256
BITS = 8
RUNS = 1024  # sums of counts that one thread adds


def unsigned_of(dtype: Any) -> Any:
    """Return the unsigned type with the width of a type."""
    return cg.u64 if dtype.size == 8 else cg.u32


@cg.func
def digit_of(key: Any, shift: cg.template, dtype: cg.template) -> Any:
    """Return eight bits of a key. The bits of all keys order as the keys do, as unsigned numbers."""
    unsigned = cg.static(unsigned_of(dtype))
    top = cg.static(8 * dtype.size - 1)
    bits = cg.bit_cast(key, unsigned)
    sign = bits >> top
    if cg.static(dtype.kind == "float"):
        bits ^= (unsigned(0) - sign) | (unsigned(1) << top)
    elif cg.static(dtype.kind == "int"):
        bits ^= unsigned(1) << top
    return cg.cast((bits >> shift) & unsigned(DIGITS - 1), cg.i32)


@cg.func
def move(
    keys: cg.template, to: cg.template, values: cg.template, values_to: cg.template, scratch: cg.template,
    count: Any, shift: cg.template, dtype: cg.template, has_values: cg.template,
) -> None:  # fmt: skip
    """Sort the keys by eight bits, from `keys` to `to`."""
    tiles = (count + TILE - 1) // TILE
    slots = DIGITS * tiles
    for tile in range(tiles):
        for digit in range(DIGITS):
            scratch[RUNS + digit * tiles + tile] = 0
        for i in range(tile * TILE, min(tile * TILE + TILE, count)):
            scratch[RUNS + digit_of(keys[i], shift, dtype) * tiles + tile] += 1
    length = (slots + RUNS - 1) // RUNS
    for run in range(RUNS):
        total = cg.cast(0, scratch.dtype)
        for i in range(run * length, min(run * length + length, slots)):
            total += scratch[RUNS + i]
        scratch[run] = total
    for _ in range(1):
        before = cg.cast(0, scratch.dtype)
        for run in range(RUNS):
            own = scratch[run]
            scratch[run] = before
            before += own
    for run in range(RUNS):
        before = scratch[run]
        for i in range(run * length, min(run * length + length, slots)):
            own = scratch[RUNS + i]
            scratch[RUNS + i] = before
            before += own
    for tile in range(tiles):
        for i in range(tile * TILE, min(tile * TILE + TILE, count)):
            slot = RUNS + digit_of(keys[i], shift, dtype) * tiles + tile
            place = cg.cast(scratch[slot], cg.i32)
            scratch[slot] += 1
            to[place] = keys[i]
            if cg.static(has_values):
                values_to[place] = values[i]


def sort_in_kernel(
    keys: cg.template, tmp_keys: cg.template, values: cg.template, tmp_values: cg.template,
    scratch: cg.template, n: cg.template, key_dtype: cg.template, has_values: cg.template,
    end_bit: cg.template, log256_max_n: cg.template,
) -> None:  # fmt: skip
    """Sort the first n[()] keys by their lowest `end_bit` bits, and move the values with them.

    `scratch` has at least `sort_scratch_slots` numbers of type u32. The loops are tasks where the call is at the top
    level of a kernel or of a `graph_do_while`.
    """
    cg.static_assert(end_bit % (2 * BITS) == 0, "end_bit of sort() must be a multiple of 16")
    count = n[()]
    for k in cg.static(range(0, end_bit, 2 * BITS)):
        move(keys, tmp_keys, values, tmp_values, scratch, count, k, key_dtype, has_values)
        move(tmp_keys, keys, tmp_values, values, scratch, count, k + BITS, key_dtype, has_values)


def slots_of(n: Any, log256_max_n: cg.template = None) -> Any:
    """Return how many numbers of `scratch` a sort of n keys takes, on the host and in kernels."""
    return RUNS + DIGITS * ((n + TILE - 1) // TILE)


sort = for_kernels(sort_in_kernel)
sort_scratch_slots = Inlined(slots_of, slots_of)
