# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`simt.subgroup` of the peers: reductions and scans of a warp, and of tiles of 2 ** log2_size lanes in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import cuda_graphs as cg

from .words import Inlined, for_kernels

__all__ = ["NAMES", "NEUTRAL", "Combine", "added", "all_true", "any_true", "ballot", "lanes_with"]

Combine = Callable[[Any, Any], Any]


def added(a: Any, b: Any) -> Any:
    return a + b


def multiplied(a: Any, b: Any) -> Any:
    return a * b


def least(a: Any, b: Any) -> Any:
    return min(a, b)


def greatest(a: Any, b: Any) -> Any:
    return max(a, b)


def both_bits(a: Any, b: Any) -> Any:
    return a & b


def any_bits(a: Any, b: Any) -> Any:
    return a | b


def other_bits(a: Any, b: Any) -> Any:
    return a ^ b


def zero_of(value: Any) -> Any:
    return cg.zero(value)


def one_of(value: Any) -> Any:
    return cg.one(value)


def ones_of(value: Any) -> Any:
    return ~cg.zero(value)


def greatest_of(dtype: Any) -> Any:
    """Return the greatest number of a type, which changes no minimum."""
    return math.inf if dtype.kind == "float" else dtype.maximum


def least_of(dtype: Any) -> Any:
    """Return the least number of a type, which changes no maximum."""
    return -math.inf if dtype.kind == "float" else dtype.minimum


def nothing_of(dtype: Any) -> Any:
    """Return the number that changes no sum."""
    return 0


# Operation -> its function of two values, and the number of a type that leaves the other value as it is.
NEUTRAL: dict[str, tuple[Combine, Callable[[Any], Any]]] = {
    "add": (added, nothing_of),
    "min": (least, greatest_of),
    "max": (greatest, least_of),
}


def greatest_like(value: Any) -> Any:
    return cg.cast(cg.static(greatest_of(value.dtype)), value.dtype)


def least_like(value: Any) -> Any:
    return cg.cast(cg.static(least_of(value.dtype)), value.dtype)


def reduced(value: Any, combine: cg.template, log2_size: cg.template) -> Any:
    """Return the combined values of a tile, in all of its lanes. Neighbours are combined first."""
    result = value
    for k in cg.static(range(log2_size)):
        result = combine(result, cg.warp.shuffle_xor(result, 1 << k))
    return result


def folded(value: Any, combine: cg.template, log2_size: cg.template) -> Any:
    """Return the combined values of a tile, in all of its lanes. The halves of the tile are combined first."""
    result = value
    for k in cg.static(reversed(range(log2_size))):
        result = combine(result, cg.warp.shuffle_xor(result, 1 << k))
    return result


def scanned(value: Any, combine: cg.template, log2_size: cg.template) -> Any:
    """Return the combined values of the lanes of a tile up to this one."""
    result = value
    lane = cg.warp.lane() & ((1 << log2_size) - 1)
    for k in cg.static(range(log2_size)):
        lower = cg.warp.shuffle_up(result, 1 << k)
        if lane >= 1 << k:
            result = combine(lower, result)
    return result


def scanned_before(value: Any, combine: cg.template, first: cg.template, log2_size: cg.template) -> Any:
    """Return the combined values of the lanes of a tile below this one."""
    lower = cg.warp.shuffle_up(scanned(value, combine, log2_size), 1)
    if cg.warp.lane() & ((1 << log2_size) - 1) == 0:
        lower = first(value)
    return lower


def of_warp_and_tile(collect: Callable[..., Any], combine: Combine) -> tuple[Inlined, Inlined]:
    """Return the reduction or scan of a warp, and that of a tile."""

    def whole(value: Any) -> Any:
        return collect(value, combine, 5)

    def tiled(value: Any, log2_size: cg.template) -> Any:
        return collect(value, combine, log2_size)

    return for_kernels(whole), for_kernels(tiled)


def exclusive(combine: Combine, first: Callable[[Any], Any]) -> tuple[Inlined, Inlined]:
    """Return the scan of a warp and of a tile that excludes the lane itself. `first` returns the result of lane 0."""

    def whole(value: Any) -> Any:
        return scanned_before(value, combine, first, 5)

    def tiled(value: Any, log2_size: cg.template) -> Any:
        return scanned_before(value, combine, first, log2_size)

    return for_kernels(whole), for_kernels(tiled)


def segmented(value: Any, head_flag: Any, combine: cg.template, log2_size: cg.template) -> Any:
    """Return the combined values from the last lane with a head flag, or the first lane of the tile, up to this one."""
    result = value
    lane = cg.warp.lane() & ((1 << log2_size) - 1)
    head = scanned(cg.select(head_flag != 0, lane, 0), greatest, log2_size)
    for k in cg.static(range(log2_size)):
        lower = cg.warp.shuffle_up(result, 1 << k)
        if lane - head >= 1 << k:
            result = combine(lower, result)
    return result


def segmented_reduction(combine: Combine) -> tuple[Inlined, Inlined]:
    """Return the segmented reduction of a warp, and that of a tile."""

    def whole(value: Any, head_flag: Any) -> Any:
        return segmented(value, head_flag, combine, 5)

    def tiled(value: Any, head_flag: Any, log2_size: cg.template) -> Any:
        return segmented(value, head_flag, combine, log2_size)

    return for_kernels(whole), for_kernels(tiled)


@cg.func
def lanes_with(value: Any) -> Any:
    """Return the bits of the lanes of the warp with the same value."""
    found = cg.u32(0)
    for k in cg.static(range(32)):
        found |= cg.cast(cg.warp.shuffle(value, k) == value, cg.u32) << k
    return found


def comes_before(key: Any, value: Any, other_key: Any, other_value: Any) -> Any:
    return key < other_key or (key == other_key and value < other_value)


def bitonic_sort_kv_tiled(key: Any, value: Any, log2_size: cg.template) -> Any:
    """Return the pair of this lane after a bitonic sort of the pairs (key, value) of a tile, in ascending order."""
    k, v = key, value
    lane = cg.warp.lane() & ((1 << log2_size) - 1)
    for size in cg.static(range(1, log2_size + 1)):
        for step in cg.static(range(size - 1, -1, -1)):
            other_k = cg.warp.shuffle_xor(k, 1 << step)
            other_v = cg.warp.shuffle_xor(v, 1 << step)
            takes_least = (lane & (1 << step) == 0) == (lane & (1 << size) == 0)
            before = comes_before(other_k, other_v, k, v)
            after = comes_before(k, v, other_k, other_v)
            if (takes_least and before) or (not takes_least and after):
                k = other_k
                v = other_v
    return k, v


def bitonic_sort_kv(key: Any, value: Any) -> Any:
    return bitonic_sort_kv_tiled(key, value, 5)


def bits_of_tile(predicate: Any, log2_size: cg.template) -> Any:
    """Return the bits of the lanes of this tile that have a true predicate, from bit 0 on."""
    start = (cg.warp.lane() >> log2_size) << log2_size
    return (cg.warp.ballot(predicate != 0) >> start) & cg.u32((1 << (1 << log2_size)) - 1)


def all_true_tiled(predicate: Any, log2_size: cg.template) -> Any:
    return cg.cast(bits_of_tile(predicate, log2_size) == cg.u32((1 << (1 << log2_size)) - 1), cg.i32)


def any_true_tiled(predicate: Any, log2_size: cg.template) -> Any:
    return cg.cast(bits_of_tile(predicate, log2_size) != cg.u32(0), cg.i32)


def all_equal_tiled(value: Any, log2_size: cg.template) -> Any:
    start = (cg.warp.lane() >> log2_size) << log2_size
    return all_true_tiled(value == cg.warp.shuffle(value, start), log2_size)


def all_equal(value: Any) -> Any:
    return cg.cast(cg.warp.all(value == cg.warp.shuffle(value, 0)), cg.i32)


def all_true(predicate: Any) -> Any:
    return cg.cast(cg.warp.all(predicate != 0), cg.i32)


def any_true(predicate: Any) -> Any:
    return cg.cast(cg.warp.any(predicate != 0), cg.i32)


def ballot(predicate: Any) -> Any:
    return cg.warp.ballot(predicate != 0)


def ballot_first_n(predicate: Any, n: cg.template) -> Any:
    return cg.warp.ballot(predicate != 0) & cg.u32((1 << n) - 1)


def broadcast(value: Any, index: Any) -> Any:
    return cg.warp.shuffle(value, index)


def broadcast_first(value: Any) -> Any:
    return cg.warp.shuffle(value, 0)


def elect() -> Any:
    return cg.cast(cg.warp.lane() == 0, cg.i32)


def group_size() -> Any:
    return 32


def log2_group_size() -> Any:
    return 5


def lanemask_eq(lane_id: Any) -> Any:
    return cg.u32(1) << cg.cast(lane_id, cg.u32)


def lanemask_lt(lane_id: Any) -> Any:
    return lanemask_eq(lane_id) - cg.u32(1)


def lanemask_le(lane_id: Any) -> Any:
    return lanemask_lt(lane_id) | lanemask_eq(lane_id)


def lanemask_ge(lane_id: Any) -> Any:
    return ~lanemask_lt(lane_id)


def lanemask_gt(lane_id: Any) -> Any:
    return ~lanemask_le(lane_id)


FUNCTIONS = (
    all_equal, all_equal_tiled, all_true, all_true_tiled, any_true, any_true_tiled, ballot, ballot_first_n,
    bitonic_sort_kv, bitonic_sort_kv_tiled, broadcast, broadcast_first, elect, group_size, lanemask_eq, lanemask_ge,
    lanemask_gt, lanemask_le, lanemask_lt, log2_group_size,
)  # fmt: skip
COMBINE: dict[str, Combine] = {
    "add": added, "mul": multiplied, "min": least, "max": greatest, "and": both_bits, "or": any_bits, "xor": other_bits,
}  # fmt: skip
# The result of an exclusive scan in lane 0.
FIRST = {
    "add": zero_of, "mul": one_of, "and": ones_of, "or": zero_of, "xor": zero_of, "min": greatest_like,
    "max": least_like,
}  # fmt: skip


def pairs() -> dict[str, Inlined]:
    """Return the reductions and scans, of warps and of tiles, by name."""
    found: dict[str, Inlined] = {}
    for name, combine in COMBINE.items():
        made = {
            f"reduce_{name}": of_warp_and_tile(folded, combine),
            f"inclusive_{name}": of_warp_and_tile(scanned, combine),
        }
        if name in ("add", "min", "max"):
            made[f"reduce_all_{name}"] = of_warp_and_tile(reduced, combine)
            made[f"segmented_reduce_{name}"] = segmented_reduction(combine)
        made[f"exclusive_{name}"] = exclusive(combine, FIRST[name])
        for key, (whole, tiled) in made.items():
            found |= {key: whole, f"{key}_tiled": tiled}
    return found


NAMES: dict[str, Any] = {
    **{each.__name__: for_kernels(each) for each in FUNCTIONS},
    **pairs(),
    "ballot_full_subgroup": for_kernels(ballot),
    "barrier": cg.warp.sync,
    "invocation_id": cg.warp.lane,
    "mem_fence": cg.fence,
    "memory_barrier": cg.fence,
    "shuffle": cg.warp.shuffle,
    "shuffle_down": cg.warp.shuffle_down,
    "shuffle_up": cg.warp.shuffle_up,
    "shuffle_xor": cg.warp.shuffle_xor,
    "sync": cg.warp.sync,
}
