# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loads, stores and hints.

Volatile, relaxed, acquire and release accesses are LLVM atomics, so that they see flags that the host or another block
sets. Ordinary accesses carry metadata: members of the parallel access group, and read-only data that no store changes.
"""

from cuda_graphs.hostdriver.ptx.abi import ACCESS_GROUP, INVARIANT, NOT_READ_ONLY, READ_ONLY_SCOPE
from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.datatypes import Type
from cuda_graphs.hostdriver.ptx.syntax.syntax import Address, Immediate, Register, Symbol, Vector
from cuda_graphs.native.access_sites import (
    AFTER,
    READ,
    RELEASE,
    SHARED,
    STRONG,
    WRITE,
)

from . import clusters
from .move import shared_offset

SPACES = "global const local param shared shared::cta shared::cluster param::entry param::func"
ORDERS = "weak volatile relaxed acquire release mmio"
SCOPES = "cta cluster gpu sys"
CACHE = (
    "ca cg cs lu cv wb wt nc L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate "
    "L2::cache_hint L2::64B L2::128B L2::256B L2::evict_normal L2::evict_unchanged L2::evict_first L2::evict_last"
)
TYPES = "b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"
MODS = f"{SPACES} {ORDERS} {SCOPES} {CACHE} v2 v4 v8"
VECTORS = {"v2": 2, "v4": 4, "v8": 8}


def space_of(op: Op) -> str:
    space = op.one_of(*SPACES.split(), default="generic")
    return space.partition("::")[0]


def address(f: FunctionLowering, op: Op, operand: object, space: str = "") -> str:
    """Returns the LLVM pointer of an address operand. `space` is needed if the opcode names several spaces."""
    if not isinstance(operand, Address):
        raise f.fail("an address in brackets is needed")
    base, offset = operand.base, operand.offset
    space = space or op.one_of(*SPACES.split(), default="generic")
    if space == "shared::cluster" and not isinstance(base, Symbol):
        start = f.read(base, "i64") if _is_wide(base) else f.let(f"zext i32 {f.read(base, 'i32')} to i64")
        pointer = clusters.pointer(f, start)
        return f.let(f"getelementptr i8, ptr {pointer}, i64 {offset}") if offset else pointer
    space = space.partition("::")[0]
    if isinstance(base, Symbol) and f.symbol_space(base) == "shared":
        space = "shared"
    if space == "shared":
        if isinstance(base, Immediate):
            start = str(base.value)
        else:
            start = shared_offset(f, base)
        pointer = f.let(f"getelementptr i8, ptr {f.hidden('shared')}, i64 {start}")
    elif isinstance(base, Symbol | Register | Immediate):
        pointer = f.read(base, "ptr")
    else:
        raise f.fail("the address is not a register, symbol or integer")
    return f.let(f"getelementptr i8, ptr {pointer}, i64 {offset}") if offset else pointer


def _is_wide(base: object) -> bool:
    return isinstance(base, Register) and base.type.total_bits == 64


def _metadata(f: FunctionLowering, op: Op, space: str, operand: Address, *, store: bool) -> str:
    parts = []
    if f.parallel_generic if space == "generic" else f.parallel and space in ("global", "const", "shared"):
        parts.append(ACCESS_GROUP)
    if store:
        parts.append(NOT_READ_ONLY)
    elif "nc" in op:
        parts += [READ_ONLY_SCOPE, INVARIANT]
    elif space == "const" or _is_kernel_param(f, operand):
        parts.append(INVARIANT)
    return "".join(", " + part for part in parts)


def _is_kernel_param(f: FunctionLowering, operand: Address) -> bool:
    symbol = operand.base
    return isinstance(symbol, Symbol) and f.kernel is not None and symbol.variable in f.kernel.params


def _ordering(f: FunctionLowering, op: Op, kind: Type, space: str) -> str:
    """Returns the LLVM ordering of an access, or "" for an ordinary access."""
    order = op.one_of(*ORDERS.split(), default="weak")
    if order == "weak" or space in ("local", "param", "const"):
        return ""
    return {"volatile": "monotonic", "relaxed": "monotonic", "mmio": "monotonic"}.get(order, order)


def report_access(
    f: FunctionLowering, operand: object, space: str, pointer: str, size: int, flags: int
) -> None:
    """Reports an access to the driver, except for local memory and parameters, which belong to one thread."""
    base = operand.base if isinstance(operand, Address) else None
    if isinstance(base, Symbol):
        space = f.symbol_space(base)
    if space in ("local", "param", "function"):
        return
    if space == "shared":
        flags |= SHARED
    f.report_access(pointer, size, flags)


def _strength(op: Op, order: str) -> int:
    return (STRONG if order else 0) | (RELEASE if order == "release" else 0)


def _items(f: FunctionLowering, op: Op, operand: object) -> tuple:
    count = VECTORS.get(op.one_of(*VECTORS), 1)
    items = operand.items if isinstance(operand, Vector) else (operand,)
    if len(items) != count:
        raise f.fail(f"a vector of {count} is needed")
    return items


@row("ld ld:f ldu ldu:f", types=f"{TYPES} f16 bf16 f16x2 bf16x2", mods=MODS, operands="2-3")
def load(f: FunctionLowering, op: Op, operands: tuple) -> None:
    kind, space = op.type, space_of(op)
    pointer = address(f, op, operands[1])
    metadata = _metadata(f, op, space, operands[1], store=False)
    order = _ordering(f, op, kind, space)
    whole = VECTORS.get(op.one_of(*VECTORS), 1) * kind.bytes
    report_access(f, operands[1], space, pointer, whole, READ | _strength(op, order))
    results = []
    for place, item in enumerate(_items(f, op, operands[0])):
        t = kind.storage
        if t == "i64" and f.holds_pointer(item):
            t = "ptr"
        at = f.let(f"getelementptr i8, ptr {pointer}, i64 {place * kind.bytes}") if place else pointer
        if order:
            value = f.let(f"load atomic volatile {t}, ptr {at} {order}, align {kind.bytes}")
        else:
            value = f.let(f"load {t}, ptr {at}, align {kind.bytes}{metadata}")
        results.append((item, value, t))
    if order:  # reported after the load: from here on, writes before the store of this value are visible
        report_access(f, operands[1], space, pointer, whole, READ | AFTER | _strength(op, order))
    for item, value, t in results:
        f.write(item, value, t, kind.signed)


@row("st st:f", types=f"{TYPES} f16 bf16 f16x2 bf16x2", mods=MODS, operands="2-3")
def store(f: FunctionLowering, op: Op, operands: tuple) -> None:
    kind, space = op.type, space_of(op)
    pointer = address(f, op, operands[0])
    metadata = _metadata(f, op, space, operands[0], store=True)
    order = _ordering(f, op, kind, space)
    whole = VECTORS.get(op.one_of(*VECTORS), 1) * kind.bytes
    report_access(f, operands[0], space, pointer, whole, WRITE | _strength(op, order))
    for place, item in enumerate(_items(f, op, operands[1])):
        t = (
            "ptr"
            if kind.storage == "i64" and f.holds_pointer(item) and isinstance(item, Register)
            else kind.storage
        )
        value = f.read(item, t)
        at = f.let(f"getelementptr i8, ptr {pointer}, i64 {place * kind.bytes}") if place else pointer
        if order:
            f.line(f"store atomic volatile {t} {value}, ptr {at} {order}, align {kind.bytes}")
        else:
            f.line(f"store {t} {value}, ptr {at}, align {kind.bytes}{metadata}")


@row(
    "prefetch prefetchu applypriority discard",
    mods=f"global local L1 L2 L2::evict_last L2::evict_normal {CACHE} L2::128B tensormap generic",
    operands="1-2",
)
def hint(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Emits nothing: hosts prefetch by themselves, and discarded memory may keep its contents."""


@row(
    "createpolicy",
    types="b64",
    mods=f"fractional range cvt L2 global {CACHE}",
    operands="1-5",
)
def policy(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Returns 0 as a cache policy; the host driver ignores policies."""
    f.write(operands[0], "0", "i64")
