# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Lowers the mbarrier instructions (mbarriers.py)."""

from collections.abc import Callable

from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.mbarriers import COUNT_BITS, COUNT_MASK
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.datatypes import TYPES
from cuda_graphs.hostdriver.ptx.syntax.syntax import Immediate

from . import warp
from .memory import address

SPACE = "shared shared::cta shared::cluster"
ORDER = "release acquire relaxed cta cluster"
VERBS = (
    "init",
    "inval",
    "expect_tx",
    "complete_tx",
    "arrive",
    "arrive_drop",
    "test_wait",
    "try_wait",
    "pending_count",
)


@row("mbarrier", types="b64", mods=f"{' '.join(VERBS)} noComplete parity {SPACE} {ORDER}", operands="1-4")
def mbarrier(f: FunctionLowering, op: Op, operands: tuple) -> None:
    verb = op.mods[0] if op.mods else ""
    if verb not in LOWERINGS:
        raise f.fail("the operation is missing")
    LOWERINGS[verb](f, op, *_counted(f, verb, operands))


# Operation -> its least and greatest number of operands.
OPERANDS = {
    "init": (2, 2),
    "inval": (1, 1),
    "expect_tx": (2, 2),
    "complete_tx": (2, 2),
    "arrive": (2, 3),
    "arrive_drop": (2, 3),
    "test_wait": (3, 3),
    "try_wait": (3, 4),
    "pending_count": (2, 2),
}


def _counted(f: FunctionLowering, verb: str, operands: tuple) -> tuple:
    low, high = OPERANDS[verb]
    if not low <= len(operands) <= high:
        raise f.fail("the number of operands is wrong")
    return operands


def update(f: FunctionLowering, place: str, arrivals: str = "0", dropped: str = "0", size: str = "0") -> str:
    name = f.module.prelude.mbarrier()
    return f.let(f"call i64 @{name}(ptr {place}, i64 {arrivals}, i64 {dropped}, i64 {size})")


def _wide(f: FunctionLowering, operand: object) -> str:
    return f.let(f"zext i32 {f.read(operand, 'i32')} to i64")


def _init(f: FunctionLowering, op: Op, place: object, count: object) -> None:
    expected = f.let(f"and i64 {_wide(f, count)}, {COUNT_MASK}")
    word = f.let(f"or i64 {expected}, {f.let(f'shl i64 {expected}, {COUNT_BITS}')}")
    f.line(f"store atomic i64 {word}, ptr {address(f, op, place)} release, align 8")


def _invalidate(f: FunctionLowering, op: Op, place: object) -> None:
    """Checks the address only: after .inval the memory is free for other uses."""
    address(f, op, place)


def _transaction(f: FunctionLowering, op: Op, place: object, size: object) -> None:
    value = _wide(f, size)
    update(
        f, address(f, op, place), size=value if op.mods[0] == "expect_tx" else f.let(f"sub i64 0, {value}")
    )


def _arrive(f: FunctionLowering, op: Op, state: object, place: object, count: object = Immediate(1)) -> None:
    """Lowers an arrival. With .expect_tx the last operand is the number of expected bytes, and one thread arrives."""
    value = _wide(f, count)
    arrivals, size = ("1", value) if "expect_tx" in op else (value, "0")
    dropped = arrivals if op.mods[0] == "arrive_drop" else "0"
    f.write(state, update(f, address(f, op, place), arrivals, dropped, size), "i64")


def _wait(
    f: FunctionLowering, op: Op, done: object, place: object, state: object, hint: object = None
) -> None:
    """Lowers test_wait and try_wait. Both yield if the phase is not complete, because the program will poll again."""
    if "parity" in op:
        before = f.let(f"shl i64 {_wide(f, state)}, 63")
    else:
        before = f.read(state, "i64")
    where = address(f, op, place)

    def is_over() -> str:
        now = f.let(f"load atomic i64, ptr {where} acquire, align 8")
        return f.let(f"icmp slt i64 {f.let(f'xor i64 {now}, {before}')}, 0")

    ask, go_on = f.label("ask"), f.label("asked")
    f.write(done, is_over(), "i1")
    f.jump_if(f.read(done, "i1"), go_on, ask)
    f.start(ask)
    warp.yield_while_polling(f)
    f.write(done, is_over(), "i1")
    f.jump(go_on)
    f.start(go_on)


def _pending(f: FunctionLowering, op: Op, count: object, state: object) -> None:
    pending = f.let(f"and i64 {f.read(state, 'i64')}, {COUNT_MASK}")
    f.put(count, f.let(f"trunc i64 {pending} to i32"), TYPES["u32"])


LOWERINGS: dict[str, Callable[..., None]] = {
    "init": _init,
    "inval": _invalidate,
    "expect_tx": _transaction,
    "complete_tx": _transaction,
    "arrive": _arrive,
    "arrive_drop": _arrive,
    "test_wait": _wait,
    "try_wait": _wait,
    "pending_count": _pending,
}
