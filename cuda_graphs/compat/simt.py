# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`simt` of the peers: threads of a block and of a warp."""

from __future__ import annotations

from typing import Any

import cuda_graphs as cg

from . import blocks
from .absent import absent_names
from .subgroups import NAMES, lanes_with, word
from .warp_tiles import TileMaker

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
    return cg.cast(cg.warp.all(predicate != 0), cg.i32)


def any_nonzero(mask: Any, predicate: Any) -> Any:
    return cg.cast(cg.warp.any(predicate != 0), cg.i32)


def all_agree(mask: Any, predicate: Any) -> Any:
    """Return 1 if the predicate is true in all lanes or in none."""
    return cg.cast(cg.warp.all(predicate != 0) == cg.warp.any(predicate != 0), cg.i32)


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


global_thread_idx = word(global_index)
block = Part(
    "simt.block",
    SharedArray=word(shared_array),
    sync=cg.block.sync,
    mem_sync=cg.block.sync,
    mem_fence=cg.fence,
    thread_idx=cg.block.thread,
    global_thread_idx=global_thread_idx,
    sync_all_nonzero=word(block_all),
    sync_any_nonzero=word(block_any),
    sync_count_nonzero=word(block_count),
    **blocks.NAMES,
)
warp = Part(
    "simt.warp",
    all_nonzero=word(all_nonzero),
    any_nonzero=word(any_nonzero),
    unique=word(all_agree),
    ballot=word(ballot),
    active_mask=word(active_mask),
    match_any=word(match_any),
    match_all=word(match_all),
    shfl_sync_i32=word(shuffled),
    shfl_sync_f32=word(shuffled),
    shfl_up_i32=word(shuffled_up),
    shfl_up_f32=word(shuffled_up),
    shfl_down_i32=word(shuffled_down),
    shfl_down_f32=word(shuffled_down),
    shfl_xor_i32=word(shuffled_xor),
    sync=word(synchronised),
)
subgroup = Part("simt.subgroup", **NAMES)
reductions = sorting = subgroup
Tile16x16, Tile32x32 = TileMaker(16), TileMaker(32)
grid = Part("simt.grid", mem_fence=cg.fence, memfence=cg.fence)
__getattr__ = absent_names("simt", "simt.")
