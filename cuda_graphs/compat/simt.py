# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`simt` of the peers: threads of a block and of a warp."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import cuda_graphs as cg

from .absent import absent_names
from .math import on_host
from .words import Inlined

__all__ = ["block", "global_thread_idx", "grid", "subgroup", "warp"]


def shared_array(shape: cg.template, dtype: cg.template) -> Any:
    return cg.block.shared_array(dtype, shape)


def global_index() -> Any:
    return cg.block.index() * cg.block.dim() + cg.block.thread()


def lane_is_first() -> Any:
    return cg.warp.lane() == 0


def all_nonzero(mask: Any, predicate: Any) -> Any:
    return cg.cast(cg.warp.all(predicate != 0), cg.i32)


def any_nonzero(mask: Any, predicate: Any) -> Any:
    return cg.cast(cg.warp.any(predicate != 0), cg.i32)


def block_all(predicate: Any) -> Any:
    return cg.cast(cg.block.all(predicate != 0), cg.i32)


def block_any(predicate: Any) -> Any:
    return cg.cast(cg.block.any(predicate != 0), cg.i32)


def block_count(predicate: Any) -> Any:
    return cg.block.reduce_add(cg.cast(predicate != 0, cg.i32))


def ballot(predicate: Any) -> Any:
    return cg.warp.ballot(predicate != 0)


def shuffled(mask: Any, value: Any, lane: Any) -> Any:
    return cg.warp.shuffle(value, lane)


def shuffled_up(mask: Any, value: Any, offset: Any) -> Any:
    return cg.warp.shuffle_up(value, offset)


def shuffled_down(mask: Any, value: Any, offset: Any) -> Any:
    return cg.warp.shuffle_down(value, offset)


def shuffled_xor(mask: Any, value: Any, offset: Any) -> Any:
    return cg.warp.shuffle_xor(value, offset)


def synchronised(mask: Any) -> None:
    cg.warp.sync()


def group_size() -> Any:
    return 32


def broadcast_value(value: Any, lane: Any) -> Any:
    return cg.warp.shuffle(value, lane)


def first_value(value: Any) -> Any:
    return cg.warp.shuffle(value, 0)


def equal_in_group(value: Any) -> Any:
    return cg.warp.all(value == cg.warp.shuffle(value, 0))


def product(value: Any) -> Any:
    result = value
    for k in cg.static(range(5)):
        result *= cg.warp.shuffle_xor(result, 1 << k)
    return result


def scanned(value: Any, combine: cg.template) -> Any:
    """Return the combined values of the lanes up to this one."""
    result = value
    for k in cg.static(range(5)):
        lower = cg.warp.shuffle_up(result, 1 << k)
        if cg.warp.lane() >= 1 << k:
            result = combine(lower, result)
    return result


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


def inclusive_add(value: Any) -> Any:
    return scanned(value, added)


def inclusive_mul(value: Any) -> Any:
    return scanned(value, multiplied)


def inclusive_min(value: Any) -> Any:
    return scanned(value, least)


def inclusive_max(value: Any) -> Any:
    return scanned(value, greatest)


def inclusive_and(value: Any) -> Any:
    return scanned(value, both_bits)


def inclusive_or(value: Any) -> Any:
    return scanned(value, any_bits)


def inclusive_xor(value: Any) -> Any:
    return scanned(value, other_bits)


def before(result: Any, first: Any) -> Any:
    """Return the result of the lane below; `first` in lane 0."""
    lower = cg.warp.shuffle_up(result, 1)
    if cg.warp.lane() == 0:
        lower = first
    return lower


def exclusive_add(value: Any) -> Any:
    return before(scanned(value, added), cg.zero(value))


def exclusive_mul(value: Any) -> Any:
    return before(scanned(value, multiplied), cg.one(value))


def exclusive_and(value: Any) -> Any:
    return before(scanned(value, both_bits), ~cg.zero(value))


def exclusive_or(value: Any) -> Any:
    return before(scanned(value, any_bits), cg.zero(value))


def exclusive_xor(value: Any) -> Any:
    return before(scanned(value, other_bits), cg.zero(value))


def log2_group_size() -> Any:
    return 5


def lanemask_eq() -> Any:
    return cg.u32(1) << cg.warp.lane()


def lanemask_lt() -> Any:
    return (cg.u32(1) << cg.warp.lane()) - cg.u32(1)


def lanemask_le() -> Any:
    return lanemask_lt() | lanemask_eq()


def lanemask_ge() -> Any:
    return ~lanemask_lt()


def lanemask_gt() -> Any:
    return ~lanemask_le()


class Part(SimpleNamespace):
    """A part of `simt`, which says why a name is absent."""

    def __init__(self, path: str, **names: Any) -> None:
        super().__init__(**names)
        self.__dict__["refuse"] = absent_names(path, f"{path}.")

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["refuse"](name)


def word(function: Any) -> Inlined:
    return Inlined(function, on_host)


global_thread_idx = word(global_index)
block = Part(
    "simt.block",
    SharedArray=word(shared_array),
    sync=cg.block.sync,
    mem_sync=cg.block.sync,
    mem_fence=cg.block.sync,
    reduce_add=cg.block.reduce_add,
    reduce_max=cg.block.reduce_max,
    reduce_min=cg.block.reduce_min,
    thread_idx=cg.block.thread,
    global_thread_idx=global_thread_idx,
    sync_all_nonzero=word(block_all),
    sync_any_nonzero=word(block_any),
    sync_count_nonzero=word(block_count),
    reduce_all_add=cg.block.reduce_add,
    reduce_all_max=cg.block.reduce_max,
    reduce_all_min=cg.block.reduce_min,
)
warp = Part(
    "simt.warp",
    all_nonzero=word(all_nonzero),
    any_nonzero=word(any_nonzero),
    ballot=word(ballot),
    shfl_sync_i32=word(shuffled),
    shfl_sync_f32=word(shuffled),
    shfl_up_i32=word(shuffled_up),
    shfl_up_f32=word(shuffled_up),
    shfl_down_i32=word(shuffled_down),
    shfl_down_f32=word(shuffled_down),
    shfl_xor_i32=word(shuffled_xor),
    sync=word(synchronised),
)
SCANS = (
    inclusive_add, inclusive_mul, inclusive_min, inclusive_max, inclusive_and, inclusive_or, inclusive_xor, exclusive_add,
    exclusive_mul, exclusive_and, exclusive_or, exclusive_xor,
)  # fmt: skip
MASKS = (lanemask_eq, lanemask_lt, lanemask_le, lanemask_ge, lanemask_gt, log2_group_size)
subgroup = Part(
    "simt.subgroup",
    **{each.__name__: word(each) for each in (*SCANS, *MASKS)},
    all_equal=word(equal_in_group),
    reduce_mul=word(product),
    memory_barrier=cg.warp.sync,
    mem_fence=cg.warp.sync,
    all_true=cg.warp.all,
    any_true=cg.warp.any,
    ballot=word(ballot),
    barrier=cg.warp.sync,
    sync=cg.warp.sync,
    broadcast=word(broadcast_value),
    broadcast_first=word(first_value),
    elect=word(lane_is_first),
    group_size=word(group_size),
    invocation_id=cg.warp.lane,
    reduce_add=cg.warp.reduce_add,
    reduce_and=cg.warp.reduce_and,
    reduce_max=cg.warp.reduce_max,
    reduce_min=cg.warp.reduce_min,
    reduce_or=cg.warp.reduce_or,
    reduce_xor=cg.warp.reduce_xor,
    reduce_all_add=cg.warp.reduce_add,
    reduce_all_max=cg.warp.reduce_max,
    reduce_all_min=cg.warp.reduce_min,
    shuffle=cg.warp.shuffle,
    shuffle_down=cg.warp.shuffle_down,
    shuffle_up=cg.warp.shuffle_up,
    shuffle_xor=cg.warp.shuffle_xor,
)
grid = Part("simt.grid")
__getattr__ = absent_names("simt", "simt.")
