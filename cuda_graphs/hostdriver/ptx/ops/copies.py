# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Asynchronous copies. The host driver does each copy at the instruction that starts it, which the PTX ISA allows.
Commit and wait instructions therefore do nothing."""

from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.syntax import Immediate, Register
from cuda_graphs.native.access_sites import READ, SHARED, WRITE

from .mbarrier import update
from .memory import CACHE, address

SIZES = (4, 8, 16)


@row(
    "cp",
    types="b64",
    count="0-1",
    mods=f"async bulk ca cg shared shared::cta shared::cluster global {CACHE} commit_group wait_group wait_all read "
    "mbarrier arrive noinc mbarrier::complete_tx::bytes bulk_group prefetch L2",
    operands="0-6",
)
def copy(f: FunctionLowering, op: Op, operands: tuple) -> None:
    if "async" not in op:
        raise f.fail("only cp.async is supported")
    if any(name in op for name in ("commit_group", "wait_group", "wait_all", "prefetch")):
        return
    if "arrive" in op:
        _arrive(f, op, operands)
    elif "bulk" in op:
        _bulk(f, op, operands)
    else:
        _small(f, op, operands)


def _arrive(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers `cp.async.mbarrier.arrive{.noinc}`.

    The instruction makes the object expect one more arrival, which happens when the copies end. Here both happen at
    once and cancel out. With .noinc, the arrival is one that the object already expects.
    """
    if len(operands) != 1:
        raise f.fail("the number of operands is wrong")
    place = address(f, op, operands[0])
    if "noinc" in op:
        update(f, place, "1")


def _small(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers `cp.async.ca.shared.global [to], [from], size{, size to read}{, policy}`.

    A predicate may stand in place of the size to read; true means 0. The rest of the destination becomes zero.
    """
    if "L2::cache_hint" in op:
        operands = operands[:-1]
    if (
        len(operands) not in (3, 4)
        or not isinstance(operands[2], Immediate)
        or operands[2].value not in SIZES
    ):
        raise f.fail("two addresses and a size of 4, 8 or 16 are needed")
    size = operands[2].value
    to, source = address(f, op, operands[0], "shared"), address(f, op, operands[1], "global")
    if len(operands) == 3:
        f.report_access(source, size, READ)
        f.report_access(to, size, WRITE | SHARED)
        word = f"i{8 * size}"
        f.line(f"store {word} {f.let(f'load {word}, ptr {source}, align {size}')}, ptr {to}, align {size}")
        return
    given = operands[3]
    if isinstance(given, Register) and given.type.kind == "pred":
        count = f.let(f"select i1 {f.read(given, 'i1')}, i64 0, i64 {size}")
    else:
        wide = f.let(f"zext i32 {f.read(given, 'i32')} to i64")
        count = f.call("llvm.umin.i64", "i64", [("i64", wide), ("i64", str(size))])
    f.report_access(source, count, READ)
    f.report_access(to, size, WRITE | SHARED)
    f.call_void("llvm.memset.p0.i64", [("ptr", to), ("i8", "0"), ("i64", str(size)), ("i1", "false")])
    _move(f, to, source, count)


def _move(f: FunctionLowering, to: str, source: str, count: str) -> None:
    f.call_void("llvm.memcpy.p0.p0.i64", [("ptr", to), ("ptr", source), ("i64", count), ("i1", "false")])


def _shared(space: str) -> int:
    return 0 if space == "global" else SHARED


def _bulk(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers these two forms:

    cp.async.bulk.to.from.mbarrier::complete_tx::bytes [to], [from], size, [object]{, policy};
    cp.async.bulk.global.shared::cta.bulk_group [to], [from], size{, policy}
    """
    counts = "mbarrier::complete_tx::bytes" in op
    if len(operands) != 3 + counts + ("L2::cache_hint" in op):
        raise f.fail("the number of operands is wrong")
    spaces = [mod for mod in op.mods if mod == "global" or mod.startswith("shared")]
    if len(spaces) != 2:
        raise f.fail("the source and destination spaces are needed")
    to, source = (address(f, op, operand, space) for operand, space in zip(operands, spaces, strict=False))
    size = f.let(f"zext i32 {f.read(operands[2], 'i32')} to i64")
    f.report_access(source, size, READ | _shared(spaces[1]))
    f.report_access(to, size, WRITE | _shared(spaces[0]))
    _move(f, to, source, size)
    if counts:
        update(f, address(f, op, operands[3], spaces[0]), size=f.let(f"sub i64 0, {size}"))
