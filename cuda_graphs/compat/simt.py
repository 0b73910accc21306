# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`simt` of the peers: threads of a block and of a warp."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import cuda_graphs as cg

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


def word(function: Any) -> Inlined:
    return Inlined(function, on_host)


global_thread_idx = word(global_index)
block = SimpleNamespace(
    SharedArray=word(shared_array),
    sync=cg.block.sync,
    mem_sync=cg.block.sync,
    thread_idx=cg.block.thread,
    global_thread_idx=global_thread_idx,
    sync_all_nonzero=word(block_all),
    sync_any_nonzero=word(block_any),
    sync_count_nonzero=word(block_count),
    reduce_all_add=cg.block.reduce_add,
    reduce_all_max=cg.block.reduce_max,
    reduce_all_min=cg.block.reduce_min,
)
warp = SimpleNamespace(
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
subgroup = SimpleNamespace(
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
grid = SimpleNamespace()
