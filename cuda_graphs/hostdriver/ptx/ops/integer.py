# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Integer arithmetic."""

from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.datatypes import TYPES, Type
from cuda_graphs.hostdriver.ptx.syntax.syntax import Register

from .packed import apply

INTEGERS = "u16 s16 u32 s32 u64 s64"
CARRIED = "u32 s32 u64 s64 b32 b64"


@row("add sub", types=f"{INTEGERS} u16x2 s16x2", mods="sat cc", operands="3")
def add(f: FunctionLowering, op: Op, operands: tuple) -> None:
    target, a, b = operands
    if "cc" in op:
        add_with_carry(f, op, operands)
    elif op.type.bits == 64 and f.frame.pointers and _pointer_sum(f, op, target, a, b):
        return
    else:
        apply(f, op, operands, _add)


def _add(f: FunctionLowering, op: Op, kind: Type, a: str, b: str) -> str:
    if "sat" in op:
        if kind.name != "s32":
            raise f.fail("saturation is for .s32 only")
        return f.call(f"llvm.s{op.name}.sat.i32", "i32", [("i32", a), ("i32", b)])
    return f.let(f"{op.name} {kind.value} {a}, {b}")


def _pointer_sum(f: FunctionLowering, op: Op, target: object, a: object, b: object) -> bool:
    """Lowers pointer + integer to getelementptr, so that LLVM knows which object the result points to."""
    if not (isinstance(target, Register) and target in f.frame.pointers):
        return False
    if op.name == "add" and f.holds_pointer(b) and not f.holds_pointer(a):
        a, b = b, a
    if not f.holds_pointer(a) or f.holds_pointer(b):
        return False
    offset = f.read(b, "i64")
    if op.name == "sub":
        offset = f.let(f"sub i64 0, {offset}")
    f.write(target, f.let(f"getelementptr i8, ptr {f.read(a, 'ptr')}, i64 {offset}"), "ptr")
    return True


@row("addc subc", types=CARRIED, mods="cc", operands="3")
def add_with_carry(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Adds or subtracts with the carry flag, which both operations share.

    For a subtraction the PTX ISA calls the flag a borrow, but it is the complement of the borrow. NVRTC's 128-bit
    division reads it by addc after subc.cc, and takes 1 for no borrow.
    """
    target, *sources = operands
    kind = op.type.value
    values = [f.read(source, kind) for source in sources]
    verb = "sub" if op.name.startswith("sub") else "add"
    _sum(f, op, target, values, verb, takes=op.name[-1] == "c")


def _sum(f: FunctionLowering, op: Op, target: object, values: list[str], verb: str, *, takes: bool) -> None:
    narrow, wide = op.type.value, f"i{2 * op.type.bits}"
    a, b = (f.let(f"zext {narrow} {value} to {wide}") for value in values)
    total = f.let(f"{verb} {wide} {a}, {b}")
    carry = _carry_slot(f)
    if takes:
        flag = f.let(f"load i1, ptr {carry}")
        flag = f.let(f"zext i1 {_no_borrow(f, verb, flag)} to {wide}")
        total = f.let(f"{verb} {wide} {total}, {flag}")
    if "cc" in op:
        out = f.let(f"lshr {wide} {total}, {op.type.bits}")
        flag = f.let(f"trunc {wide} {out} to i1")
        f.line(f"store i1 {_no_borrow(f, verb, flag)}, ptr {carry}")
    f.put(target, f.let(f"trunc {wide} {total} to {narrow}"), op.type)


def _no_borrow(f: FunctionLowering, verb: str, flag: str) -> str:
    """Converts between the flag and the carry of an addition or the borrow of a subtraction, in either direction."""
    return f.let(f"xor i1 {flag}, true") if verb == "sub" else flag


def _carry_slot(f: FunctionLowering) -> str:
    name = f.frame.storage.get("carry")
    if name is None:
        name = f.frame.storage["carry"] = f.slot("i1")
        f.do_at_entry(f"store i1 false, ptr {name}")
    return name


def product(f: FunctionLowering, op: Op, a: object, b: object) -> tuple[str, str]:
    """Returns a * b by .lo, .hi or .wide: (value, LLVM type)."""
    kind = op.type
    x, y = f.read(a, kind.value), f.read(b, kind.value)
    if "hi" not in op and "wide" not in op:
        return f.let(f"mul {kind.value} {x}, {y}"), kind.value
    wide, verb = f"i{2 * kind.bits}", "sext" if kind.signed else "zext"
    x, y = f.let(f"{verb} {kind.value} {x} to {wide}"), f.let(f"{verb} {kind.value} {y} to {wide}")
    whole = f.let(f"mul {'nsw' if kind.signed else 'nuw'} {wide} {x}, {y}")
    if "wide" in op:
        return whole, wide
    return f.let(f"trunc {wide} {f.let(f'lshr {wide} {whole}, {kind.bits}')} to {kind.value}"), kind.value


@row("mul", types=INTEGERS, mods="lo hi wide", operands="3")
def mul(f: FunctionLowering, op: Op, operands: tuple) -> None:
    value, kind = product(f, op, operands[1], operands[2])
    f.write(operands[0], value, kind, op.type.signed)


@row("mad madc", types=INTEGERS, mods="lo hi wide sat cc", operands="4")
def mad(f: FunctionLowering, op: Op, operands: tuple) -> None:
    target, a, b, c = operands
    value, kind = product(f, op, a, b)
    if "cc" in op or op.name == "madc":
        if "wide" in op:
            raise f.fail("a wide product has no carry")
        _sum(f, op, target, [value, f.read(c, kind)], "add", takes=op.name == "madc")
    elif kind == "i64" and f.holds_pointer(c) and f.holds_pointer(target):
        f.write(target, f.let(f"getelementptr i8, ptr {f.read(c, 'ptr')}, i64 {value}"), "ptr")
    elif "sat" in op:
        if op.type.name != "s32" or "hi" not in op:
            raise f.fail("saturation is for .hi.s32 only")
        total = f.call("llvm.sadd.sat.i32", "i32", [("i32", value), ("i32", f.read(c, kind))])
        f.write(target, total, kind)
    else:
        f.write(target, f.let(f"add {kind} {value}, {f.read(c, kind)}"), kind, op.type.signed)


@row("mul24", types="u32 s32", mods="lo hi", operands="3")
@row("mad24", types="u32 s32", mods="lo hi sat", operands="4")
def mul24(f: FunctionLowering, op: Op, operands: tuple) -> None:
    factors = []
    for operand in operands[1:3]:
        top = f.let(f"shl i32 {f.read(operand, 'i32')}, 8")
        low = f.let(f"{'ashr' if op.type.signed else 'lshr'} i32 {top}, 8")
        factors.append(f.let(f"{'sext' if op.type.signed else 'zext'} i32 {low} to i64"))
    whole = f.let(f"mul i64 {factors[0]}, {factors[1]}")
    if "hi" in op:
        whole = f.let(f"lshr i64 {whole}, 16")
    value = f.let(f"trunc i64 {whole} to i32")
    if op.name == "mad24":
        addend = f.read(operands[3], "i32")
        if "sat" in op:
            if op.type.name != "s32" or "hi" not in op:
                raise f.fail("saturation is for .hi.s32 only")
            value = f.call("llvm.sadd.sat.i32", "i32", [("i32", value), ("i32", addend)])
        else:
            value = f.let(f"add i32 {value}, {addend}")
    f.put(operands[0], value, op.type)


@row("div rem", types=INTEGERS, operands="3")
def div(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Divides without traps. Division by zero gives all ones, as on GPUs; the smallest integer by -1 gives itself."""
    kind = op.type
    t, sign = kind.value, "s" if kind.signed else "u"
    a, b = f.read(operands[1], t), f.read(operands[2], t)
    by_zero = f.let(f"icmp eq {t} {b}, 0")
    bad = by_zero
    if kind.signed:
        lowest = f.let(f"icmp eq {t} {a}, {-(1 << kind.bits - 1)}")
        both = f.let(f"and i1 {lowest}, {f.let(f'icmp eq {t} {b}, -1')}")
        bad = f.let(f"or i1 {by_zero}, {both}")
    divisor = f.let(f"select i1 {bad}, {t} 1, {t} {b}")
    result = f.let(f"{sign}{op.name} {t} {a}, {divisor}")
    f.put(operands[0], f.let(f"select i1 {by_zero}, {t} -1, {t} {result}"), kind)


@row("abs neg", types="s16 s32 s64", operands="2")
def abs_neg(f: FunctionLowering, op: Op, operands: tuple) -> None:
    t = op.type.value
    value = f.read(operands[1], t)
    if op.name == "neg":
        result = f.let(f"sub {t} 0, {value}")
    else:
        result = f.call(f"llvm.abs.{t}", t, [(t, value), ("i1", "false")])
    f.put(operands[0], result, op.type)


@row("min max", types=f"{INTEGERS} u16x2 s16x2", mods="relu", operands="3")
def min_max(f: FunctionLowering, op: Op, operands: tuple) -> None:
    apply(f, op, operands, _min_max)


def _min_max(f: FunctionLowering, op: Op, kind: Type, a: str, b: str) -> str:
    t, sign = kind.value, "s" if kind.signed else "u"
    value = f.call(f"llvm.{sign}{op.name}.{t}", t, [(t, a), (t, b)])
    if "relu" in op:
        if not kind.signed:
            raise f.fail(".relu is for signed integers")
        value = f.call(f"llvm.smax.{t}", t, [(t, value), (t, "0")])
    return value


@row("sad", types=INTEGERS, operands="4")
def sad(f: FunctionLowering, op: Op, operands: tuple) -> None:
    t, sign = op.type.value, "s" if op.type.signed else "u"
    a, b, c = (f.read(operand, t) for operand in operands[1:])
    high = f.call(f"llvm.{sign}max.{t}", t, [(t, a), (t, b)])
    low = f.call(f"llvm.{sign}min.{t}", t, [(t, a), (t, b)])
    f.put(operands[0], f.let(f"add {t} {f.let(f'sub {t} {high}, {low}')}, {c}"), op.type)


@row("dp4a dp2a", types="u32 s32", mods="lo hi", count="2", operands="4")
def dot_product(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Adds a dot product. dp4a: four bytes by four bytes; dp2a: two halves by the low or high two bytes."""
    first, second = op.types
    a, b, total = (f.read(operand, "i32") for operand in operands[1:])
    count, width = (4, 8) if op.name == "dp4a" else (2, 16)
    for lane in range(count):
        x = _field(f, a, lane * width, width, first.signed)
        y = _field(f, b, 8 * lane + (16 if "hi" in op else 0), 8, second.signed)
        total = f.let(f"add i32 {total}, {f.let(f'mul i32 {x}, {y}')}")
    f.put(operands[0], total, TYPES["s32"])


def _field(f: FunctionLowering, word: str, start: int, width: int, signed: bool) -> str:
    cut = f.let(f"trunc i32 {f.let(f'lshr i32 {word}, {start}')} to i{width}")
    return f.let(f"{'sext' if signed else 'zext'} i{width} {cut} to i32")
