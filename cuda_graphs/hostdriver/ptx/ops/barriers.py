# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Barriers of a block, of a part of it, and of clusters: bar and barrier, with .sync, .arrive, .red and .warp.sync.

If all threads of a block reach the same barriers in the same order, a barrier is only a suspension point (entry.py).
Otherwise it uses the records of barrier_state.py.
"""

from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.syntax import Immediate, Not

from . import clusters, warp


@row(
    "bar barrier",
    types="u32 pred",
    mods="sync arrive red cta aligned warp popc and or cluster wait acquire release relaxed",
    count="0-1",
    operands="0-4",
)
def barrier(f: FunctionLowering, op: Op, operands: tuple) -> None:
    kind = op.one_of("sync", "arrive", "red")
    if "cluster" in op:
        clusters.barrier(f, op, operands)
    elif "warp" in op and kind == "sync" and not op.types:
        warp.barrier(f, op, operands)
    elif "warp" in op or not kind or bool(op.types) != (kind == "red"):
        raise f.fail("one of .sync, .arrive, .red and .warp.sync is needed, with the type of .red")
    elif kind == "red":
        _reduce(f, op, *operands)
    else:
        _synchronise(f, kind, operands)


def _synchronise(f: FunctionLowering, kind: str, operands: tuple) -> None:
    """Lowers `sync a{, b}` and `arrive a, b`."""
    if len(operands) not in (1, 2) or (kind == "arrive" and len(operands) != 2):
        raise f.fail("the number of operands is wrong")
    if not f.divergent:
        warp.yield_once(f)  # the entry resumes all threads in turn
        return
    number, needed = f.read(operands[0], "i32"), _needed(f, operands[1:])
    generation = _arrive(f, number, needed, "0")
    if kind == "sync":
        _wait(f, number, needed, generation)


def _needed(f: FunctionLowering, operands: tuple) -> str:
    """Returns the number of threads that a barrier needs; 0 means all that have not ended."""
    if not operands:
        return "0"
    count = operands[0]
    if isinstance(count, Immediate) and (count.value <= 0 or count.value % 32):
        raise f.fail("the number of threads at a barrier must be a multiple of 32, the size of a warp")
    return f.read(count, "i32")


def _arrive(f: FunctionLowering, number: str, needed: str, vote: str) -> str:
    name = f.module.prelude.barrier("arrive")
    return f.let(f"call i32 @{name}(ptr %barriers, i32 {number}, i32 {needed}, i32 {vote})")


def _wait(f: FunctionLowering, number: str, needed: str, generation: str) -> None:
    asked = (
        f"@{f.module.prelude.barrier('ready')}(ptr %barriers, i32 {number}, i32 {needed}, i32 {generation})"
    )
    warp.wait_until(f, lambda: f.let(f"call i1 {asked}"))


def _reduce(f: FunctionLowering, op: Op, target: object, *operands: object) -> None:
    """Lowers `red.popc.u32 d, a{, b}, {!}c` and `red.and.pred p, a{, b}, {!}c`, also with .or."""
    kind = op.one_of("popc", "and", "or")
    if not kind or (kind == "popc") != (op.type.name == "u32") or len(operands) not in (2, 3):
        raise f.fail("the operation, its type or an operand is missing")
    number, needed = f.read(operands[0], "i32"), _needed(f, operands[1:-1])
    generation = _arrive(f, number, needed, f.let(f"zext i1 {_flag(f, operands[-1])} to i32"))
    _wait(f, number, needed, generation)
    both = f.let(
        f"call i32 @{f.module.prelude.barrier('result')}(ptr %barriers, i32 {number}, i32 {generation})"
    )
    yes, all_ = f.let(f"and i32 {both}, 65535"), f.let(f"lshr i32 {both}, 16")
    if kind == "popc":
        f.write(target, yes, "i32")
    elif kind == "and":
        f.write(target, f.let(f"icmp eq i32 {yes}, {all_}"), "i1")
    else:
        f.write(target, f.let(f"icmp ne i32 {yes}, 0"), "i1")


def _flag(f: FunctionLowering, operand: object) -> str:
    if isinstance(operand, Not):
        return f.let(f"xor i1 {f.read(operand.item, 'i1')}, true")
    return f.read(operand, "i1")
