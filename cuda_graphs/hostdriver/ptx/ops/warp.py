# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Warp instructions: lanes wait for each other (barrier_state.py) and exchange values.

The lanes of the mask take part, except lanes that have ended and lanes that a partial last warp does not have.
"""

from __future__ import annotations

from collections.abc import Callable

from cuda_graphs.hostdriver.ptx.lowering.barrier_state import (
    PROGRESS,
    RESULT,
    SOURCE,
    SUSPEND,
    VALUE,
    WARP,
    YIELDED,
)
from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.syntax import SINK, Not, Pair


def suspend(f: FunctionLowering, go_on: str) -> None:
    """Emits a suspension point; the thread resumes at the label `go_on`."""
    result = f.let(SUSPEND)
    f.line(f"switch i8 {result}, label %suspend [ i8 0, label %{go_on} i8 1, label %suspend ]")


def yield_once(f: FunctionLowering) -> None:
    """Yields once to the other threads."""
    f.cut_chains()
    go_on = f.label("go.on")
    suspend(f, go_on)
    f.start(go_on)


def _field(f: FunctionLowering, name: str) -> str:
    return f.let(f"getelementptr i8, ptr %warp, i64 {WARP[name][0]}")


def _load(f: FunctionLowering, name: str) -> str:
    return f.let(f"load i32, ptr {_field(f, name)}")


def _lane(f: FunctionLowering, offset: int, kind: str) -> str:
    """Returns the address of this lane's element in an array of the warp record."""
    base = f.let(f"getelementptr i8, ptr %warp, i64 {offset}")
    return f.let(f"getelementptr {kind}, ptr {base}, i64 %lane64")


def _change(f: FunctionLowering, name: str, verb: str, mask: str) -> None:
    f.line(f"store i32 {f.let(f'{verb} i32 {_load(f, name)}, {mask}')}, ptr {_field(f, name)}")


def _synchronise(f: FunctionLowering, members: str, kind: str = "") -> None:
    """Waits for the lanes of a mask; `kind` is the reduction that the last lane computes (warp_sync.py)."""
    asked = f"@{f.module.prelude.ready(kind)}(ptr %warp, ptr %barriers, i32 %lane.bit, i32 {members})"
    wait_until(f, lambda: f.let(f"call i1 {asked}"))


def wait_until(f: FunctionLowering, holds: Callable[[], str]) -> None:
    """Yields to other threads until a condition holds."""
    f.cut_chains()
    check, wait, go_on = f.label("check"), f.label("wait"), f.label("go.on")
    f.jump(check)
    f.start(check)
    f.jump_if(holds(), go_on, wait)
    f.start(wait)
    suspend(f, check)
    f.start(go_on)


def record_progress(f: FunctionLowering, which: int) -> None:
    f.line(f"call void @{f.module.prelude.barrier('record')}(ptr %barriers, i32 {which})")


def yield_while_polling(f: FunctionLowering) -> None:
    """Yields once, and records that the thread polls memory."""
    record_progress(f, YIELDED)
    yield_once(f)


def _set_value(f: FunctionLowering, value: str) -> None:
    f.line(f"store i64 {value}, ptr {_lane(f, VALUE, 'i64')}")


def _get_result(f: FunctionLowering) -> str:
    return f.let(f"load i64, ptr {_lane(f, RESULT, 'i64')}")


def _word(f: FunctionLowering, value: str) -> str:
    return f.let(f"trunc i64 {value} to i32")


def barrier(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers `bar.warp.sync membermask`."""
    if len(operands) != 1:
        raise f.fail("the number of operands is wrong")
    _synchronise(f, f.read(operands[0], "i32"))


# Mode -> (operation on lane and b that gives the source lane, comparison that holds inside the segment).
SHUFFLES = {"up": ("sub", "sge"), "down": ("add", "sle"), "bfly": ("xor", "sle"), "idx": ("", "sle")}


@row("shfl", types="b32", mods="sync up down bfly idx", operands="5")
def shuffle(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers `shfl.sync.mode.b32 d|p, a, b, c, membermask`, by the algorithm in the PTX ISA."""
    mode = op.one_of(*SHUFFLES)
    if "sync" not in op or not mode:
        raise f.fail("the mode or .sync is missing")
    target, inside = (
        (operands[0].first, operands[0].second) if isinstance(operands[0], Pair) else (operands[0], SINK)
    )
    value, b, c, members = (f.read(operand, "i32") for operand in operands[1:])
    count, clamp = f.let(f"and i32 {b}, 31"), f.let(f"and i32 {c}, 31")
    segment = f.let(f"and i32 {f.let(f'lshr i32 {c}, 8')}, 31")
    outside = f.let(f"xor i32 {segment}, 31")
    least = f.let(f"and i32 %lane, {segment}")
    most = f.let(f"or i32 {least}, {f.let(f'and i32 {clamp}, {outside}')}")
    verb, order = SHUFFLES[mode]
    source = f.let(
        f"{verb} i32 %lane, {count}" if verb else f"or i32 {least}, {f.let(f'and i32 {count}, {outside}')}"
    )
    there = f.let(f"icmp {order} i32 {source}, {most}")
    f.line(f"store i32 {f.let(f'select i1 {there}, i32 {source}, i32 %lane')}, ptr {_lane(f, SOURCE, 'i32')}")
    _set_value(f, f.let(f"zext i32 {value} to i64"))
    _synchronise(f, members, "gather")
    f.write(target, _word(f, _get_result(f)), "i32")
    f.write(inside, there, "i1")


def _flag(f: FunctionLowering, operand: object) -> str:
    if isinstance(operand, Not):
        return f.let(f"xor i1 {f.read(operand.item, 'i1')}, true")
    return f.read(operand, "i1")


@row("vote", types="pred b32", mods="sync all any uni ballot", operands="3")
def vote(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers `vote.sync.mode.pred d, {!}a, membermask` and `vote.sync.ballot.b32`."""
    mode = op.one_of("all", "any", "uni", "ballot")
    if "sync" not in op or not mode or (mode == "ballot") != (op.type.name == "b32"):
        raise f.fail("the mode, its type or .sync is missing")
    flag, members = _flag(f, operands[1]), f.read(operands[2], "i32")
    if mode == "ballot":
        bit = f.let(f"select i1 {flag}, i32 %lane.bit, i32 0")
        _set_value(f, f.let(f"zext i32 {bit} to i64"))
        _synchronise(f, members, "or")
        f.write(operands[0], _word(f, _get_result(f)), "i32")
        return
    # Bit 0: a lane voted yes. Bit 1: a lane voted no.
    _set_value(f, f.let(f"select i1 {flag}, i64 1, i64 2"))
    _synchronise(f, members, "or")
    answers = _get_result(f)
    found = {"all": "icmp eq i64 {}, 1", "any": "trunc i64 {} to i1", "uni": "icmp ne i64 {}, 3"}[mode]
    f.write(operands[0], f.let(found.format(answers)), "i1")


@row("redux", types="u32 s32 b32", mods="sync add min max and or xor", operands="3")
def reduce(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers `redux.sync.op.type d, a, membermask`."""
    kind = op.one_of("add", "min", "max", "and", "or", "xor")
    if "sync" not in op or not kind or (kind in ("and", "or", "xor")) != (op.type.name == "b32"):
        raise f.fail("the operation, its type or .sync is missing")
    value = f.read(operands[1], "i32")
    # Zero-extended unsigned numbers have the same order as signed 64-bit numbers.
    _set_value(f, f.let(f"{'sext' if op.type.signed else 'zext'} i32 {value} to i64"))
    _synchronise(f, f.read(operands[2], "i32"), {"min": "smin", "max": "smax"}.get(kind, kind))
    f.write(operands[0], _word(f, _get_result(f)), "i32")


@row("match", types="b32 b64", mods="sync any all", operands="3")
def match(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers `match.any.sync.type d, a, membermask` and `match.all.sync.type d|p, a, membermask`."""
    if "sync" not in op or ("any" in op) == ("all" in op):
        raise f.fail("the mode or .sync is missing")
    target, agree = (
        (operands[0].first, operands[0].second) if isinstance(operands[0], Pair) else (operands[0], SINK)
    )
    if agree is not SINK and "any" in op:
        raise f.fail("match.any has one result")
    bits = f"i{op.type.bits}"
    value = f.read(operands[1], bits)
    _set_value(f, value if bits == "i64" else f.let(f"zext {bits} {value} to i64"))
    members = f.read(operands[2], "i32")
    _synchronise(f, members, "equal")
    both = _get_result(f)
    found = _word(f, both)
    if "any" in op:
        f.write(target, found, "i32")
        return
    whole = f.let(f"icmp eq i32 {found}, {_word(f, f.let(f'lshr i64 {both}, 32'))}")
    f.write(target, f.let(f"select i1 {whole}, i32 {found}, i32 0"), "i32")
    f.write(agree, whole, "i1")


@row("elect", mods="sync", operands="2")
def elect(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers `elect.sync d|p, membermask`: the leader is the first lane of the mask that has not ended."""
    if "sync" not in op or not isinstance(operands[0], Pair):
        raise f.fail("two results and .sync are needed")
    members = f.read(operands[1], "i32")
    _set_value(f, "0")
    _synchronise(f, members, "equal")
    here = _word(f, _get_result(f))
    leader = f.call("llvm.cttz.i32", "i32", [("i32", here), ("i1", "false")])
    f.write(operands[0].first, leader, "i32")
    f.write(operands[0].second, f.let(f"icmp eq i32 {leader}, %lane"), "i1")


@row("activemask", types="b32", operands="1")
def active_mask(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Returns the lanes of the warp that reach this instruction in the same round of threads."""
    f.count += 1
    answer, take = f.label("answer"), f.label("take")
    _set_value(f, str(f.count))
    _change(f, "asking", "or", "%lane.bit")
    record_progress(f, PROGRESS)
    yield_once(f)
    mine = f.let(f"and i32 {_load(f, 'released')}, %lane.bit")
    f.jump_if(f.let(f"icmp ne i32 {mine}, 0"), take, answer)
    f.start(answer)
    asking = _load(f, "asking")
    f.line(f"call void @{f.module.prelude.results('equal')}(ptr %warp, i32 {asking})")
    together = _word(f, _get_result(f))
    _change(f, "asking", "and", f.let(f"xor i32 {together}, -1"))
    _change(f, "released", "or", together)
    f.jump(take)
    f.start(take)
    _change(f, "released", "and", "%lane.others")
    f.write(operands[0], _word(f, _get_result(f)), "i32")
