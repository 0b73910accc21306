# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`simt` of the peers: threads of a block and of a warp."""

from __future__ import annotations

from typing import Any

import cuda_graphs as cg

from . import blocks
from .absent import absent_names
from .subgroups import NAMES, all_true, any_true, ballot, lanes_with
from .warp_tiles import TileMaker
from .words import for_kernels

__all__ = [
    "Tile16x16",
    "Tile32x32",
    "block",
    "global_thread_idx",
    "grid",
    "reductions",
    "sorting",
    "subgroup",
    "warp",
]


def shared_array(shape: cg.template, dtype: cg.template) -> Any:
    return cg.block.shared_array(dtype, shape)


def global_index() -> Any:
    return cg.block.index() * cg.block.dim() + cg.block.thread()


def all_nonzero(mask: Any, predicate: Any) -> Any:
    return all_true(predicate)


def any_nonzero(mask: Any, predicate: Any) -> Any:
    return any_true(predicate)


def all_agree(mask: Any, predicate: Any) -> Any:
    """Return 1 if the predicate is true in all lanes or in none."""
    return cg.cast(cg.warp.all(predicate != 0) == cg.warp.any(predicate != 0), cg.i32)


def block_all(predicate: Any) -> Any:
    return cg.cast(cg.block.all(predicate != 0), cg.i32)


def block_any(predicate: Any) -> Any:
    return cg.cast(cg.block.any(predicate != 0), cg.i32)


def block_count(predicate: Any) -> Any:
    return cg.block.reduce_add(cg.cast(predicate != 0, cg.i32))


def shuffled(mask: Any, value: Any, lane: Any) -> Any:
    return cg.warp.shuffle(value, lane)


def shuffled_up(mask: Any, value: Any, offset: Any) -> Any:
    return cg.warp.shuffle_up(value, offset)


def shuffled_down(mask: Any, value: Any, offset: Any) -> Any:
    return cg.warp.shuffle_down(value, offset)


def shuffled_xor(mask: Any, value: Any, offset: Any) -> Any:
    return cg.warp.shuffle_xor(value, offset)


def active_mask() -> Any:
    """Return the bits of all lanes, which all take part."""
    return cg.u32(0xFFFFFFFF)


def match_any(mask: Any, value: Any) -> Any:
    """Return the bits of the lanes with the same value."""
    return lanes_with(value)


def match_all(mask: Any, value: Any) -> Any:
    """Return the mask if all lanes have the same value, else 0."""
    return cg.cast(mask, cg.u32) if cg.warp.all(value == cg.warp.shuffle(value, 0)) else cg.u32(0)


def synchronised(mask: Any) -> None:
    cg.warp.sync()


class Part:
    """A part of `simt`, which says why a name is absent."""

    def __init__(self, path: str, **names: Any) -> None:
        self.__dict__.update(names, refuse=absent_names(path, f"{path}."))

    def __getattr__(self, name: str) -> Any:
        return self.__dict__["refuse"](name)


global_thread_idx = for_kernels(global_index)
block = Part(
    "simt.block",
    SharedArray=for_kernels(shared_array),
    sync=cg.block.sync,
    mem_sync=cg.block.sync,
    mem_fence=cg.fence,
    thread_idx=cg.block.thread,
    global_thread_idx=global_thread_idx,
    sync_all_nonzero=for_kernels(block_all),
    sync_any_nonzero=for_kernels(block_any),
    sync_count_nonzero=for_kernels(block_count),
    **blocks.NAMES,
)
warp = Part(
    "simt.warp",
    all_nonzero=for_kernels(all_nonzero),
    any_nonzero=for_kernels(any_nonzero),
    unique=for_kernels(all_agree),
    ballot=for_kernels(ballot),
    active_mask=for_kernels(active_mask),
    match_any=for_kernels(match_any),
    match_all=for_kernels(match_all),
    shfl_sync_i32=for_kernels(shuffled),
    shfl_sync_f32=for_kernels(shuffled),
    shfl_up_i32=for_kernels(shuffled_up),
    shfl_up_f32=for_kernels(shuffled_up),
    shfl_down_i32=for_kernels(shuffled_down),
    shfl_down_f32=for_kernels(shuffled_down),
    shfl_xor_i32=for_kernels(shuffled_xor),
    sync=for_kernels(synchronised),
)
subgroup = Part("simt.subgroup", **NAMES)
reductions = sorting = subgroup
Tile16x16, Tile32x32 = TileMaker(16), TileMaker(32)
grid = Part("simt.grid", mem_fence=cg.fence, memfence=cg.fence)
__getattr__ = absent_names("simt", "simt.")
