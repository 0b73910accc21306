# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Clusters (clusters.py): their barrier, and addresses of other blocks' shared memory."""

from cuda_graphs.hostdriver.ptx.lowering.barrier_state import YIELDED
from cuda_graphs.hostdriver.ptx.lowering.clusters import OFFSET_MASK, RANK_SHIFT
from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row

from . import warp
from .move import shared_offset


def together(f: FunctionLowering) -> str:
    return f.block_field("cluster")


def barrier(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers `barrier.cluster.arrive{.release, .relaxed}{.aligned}` and `barrier.cluster.wait{.acquire}{.aligned}`."""
    kind = op.one_of("arrive", "wait")
    if operands or not kind or op.types:
        raise f.fail("one of .arrive and .wait is needed, without operands")
    slot = _generation_slot(f)
    functions = f.module.prelude
    if kind == "arrive":
        generation = f.let(f"call i64 @{functions.cluster('arrive')}(ptr {together(f)})")
        f.line(f"store i64 {generation}, ptr {slot}")
        return

    def is_over() -> str:
        warp.record_progress(f, YIELDED)  # other blocks run on other OS threads
        generation = f.let(f"load i64, ptr {slot}")
        return f.let(f"call i1 @{functions.cluster('ready')}(ptr {together(f)}, i64 {generation})")

    warp.wait_until(f, is_over)


def _generation_slot(f: FunctionLowering) -> str:
    """Returns the variable with the generation in which the thread arrived; inlined functions share it."""
    storage = f.frames[0].storage
    if "cluster" not in storage:
        storage["cluster"] = f.slot("i64")
        f.do_at_entry(f"store i64 0, ptr {storage['cluster']}")
    return storage["cluster"]


def pointer(f: FunctionLowering, address: str) -> str:
    """Returns the pointer of a .shared::cluster address."""
    name = f.module.prelude.cluster("address")
    return f.let(f"call ptr @{name}(ptr {together(f)}, ptr {f.hidden('shared')}, i64 {address})")


def address_of(f: FunctionLowering, pointer: str) -> str:
    """Returns the .shared::cluster address of a pointer."""
    rank = f.let(f"call i64 @{f.module.prelude.cluster('rank')}(ptr {together(f)}, ptr {pointer})")
    return _mapped(f, f.let(f"sub i64 {f.let(f'ptrtoint ptr {pointer} to i64')}, {_start(f, rank)}"), rank)


def _start(f: FunctionLowering, rank: str) -> str:
    """Returns the start of the shared memory of a block of the cluster, as i64."""
    base = f.let(f"ptrtoint ptr {pointer(f, str(1 << RANK_SHIFT))} to i64")
    second = f.let(f"ptrtoint ptr {pointer(f, str(2 << RANK_SHIFT))} to i64")
    distance = f.let(f"mul i64 {f.let(f'sub i64 {second}, {base}')}, {rank}")
    return f.let(f"add i64 {base}, {distance}")


def _mapped(f: FunctionLowering, offset: str, rank: str) -> str:
    number = f.let(f"shl i64 {f.let(f'add i64 {rank}, 1')}, {RANK_SHIFT}")
    return f.let(f"or i64 {f.let(f'and i64 {offset}, {OFFSET_MASK}')}, {number}")


@row("mapa", types="u32 u64", mods="shared::cluster", operands="3")
def map_address(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers `mapa{.shared::cluster}.type d, a, b`: d is the address in block b that corresponds to a in this block."""
    target, source, block = operands
    rank = f.let(f"zext i32 {f.read(block, 'i32')} to i64")
    if "shared::cluster" in op:
        found = _mapped(f, shared_offset(f, source), rank)
        f.write(target, f.convert(found, "i64", op.type.value), op.type.value)
        return
    if op.type.bits != 64:
        raise f.fail("only 64-bit generic addresses are supported")
    place, own = f.read(source, "i64"), f.let(f"ptrtoint ptr {f.hidden('shared')} to i64")
    offset = f.let(f"sub i64 {place}, {own}")
    f.write(target, f.let(f"add i64 {_start(f, rank)}, {offset}"), "i64")


@row("getctarank", types="u32 u64", mods="shared::cluster", operands="2")
def rank_of_address(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers getctarank: returns the rank, within the cluster, of the block that an address belongs to."""
    if "shared::cluster" in op:
        place = pointer(f, shared_offset(f, operands[1]))
    else:
        place = f.read(operands[1], "ptr")
    rank = f.let(f"call i64 @{f.module.prelude.cluster('rank')}(ptr {together(f)}, ptr {place})")
    f.write(operands[0], f.let(f"trunc i64 {rank} to i32"), "i32")
