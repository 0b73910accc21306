# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Logic, shifts and bit fields."""

from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.datatypes import TYPES
from cuda_graphs.hostdriver.ptx.syntax.syntax import SINK, Immediate, Pair

LOGIC = "pred b16 b32 b64"


@row("and or xor", types=LOGIC, operands="3")
def logic(f: FunctionLowering, op: Op, operands: tuple) -> None:
    t = op.type.value
    a, b = (f.read(operand, t) for operand in operands[1:])
    f.put(operands[0], f.let(f"{op.name} {t} {a}, {b}"), op.type)


@row("not", types=LOGIC, operands="2")
def invert(f: FunctionLowering, op: Op, operands: tuple) -> None:
    t = op.type.value
    f.put(operands[0], f.let(f"xor {t} {f.read(operands[1], t)}, {'true' if t == 'i1' else -1}"), op.type)


@row("cnot", types="b16 b32 b64", operands="2")
def logical_not(f: FunctionLowering, op: Op, operands: tuple) -> None:
    t = op.type.value
    is_zero = f.let(f"icmp eq {t} {f.read(operands[1], t)}, 0")
    f.put(operands[0], f.let(f"zext i1 {is_zero} to {t}"), op.type)


@row("shl shr", types="b16 b32 b64 u16 u32 u64 s16 s32 s64", operands="3")
def shift(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers shifts. Amounts are unsigned and clamp at the width."""
    kind, t = op.type, op.type.value
    value, amount = f.read(operands[1], t), f.read(operands[2], "i32")
    small = f.let(f"icmp ult i32 {amount}, {kind.bits}")
    if op.name == "shr" and kind.signed:
        clamped = f.let(f"select i1 {small}, i32 {amount}, i32 {kind.bits - 1}")
        f.put(operands[0], f.let(f"ashr {t} {value}, {f.convert(clamped, 'i32', t)}"), kind)
        return
    safe = f.convert(f.let(f"select i1 {small}, i32 {amount}, i32 0"), "i32", t)
    shifted = f.let(f"{'shl' if op.name == 'shl' else 'lshr'} {t} {value}, {safe}")
    f.put(operands[0], f.let(f"select i1 {small}, {t} {shifted}, {t} 0"), kind)


@row("shf", types="b32", mods="l r clamp wrap", operands="4")
def funnel_shift(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Shifts the 64 bits {b, a}: the result is the high word of a left shift, or the low word of a right shift."""
    low, high, amount = (f.read(operand, "i32") for operand in operands[1:])
    both = _join_words(f, low, high)
    if "wrap" in op:
        amount = f.let(f"and i32 {amount}, 31")
    else:
        amount = f.call("llvm.umin.i32", "i32", [("i32", amount), ("i32", "32")])
    wide = f.let(f"zext i32 {amount} to i64")
    if "l" in op:
        both = f.let(f"lshr i64 {f.let(f'shl i64 {both}, {wide}')}, 32")
    else:
        both = f.let(f"lshr i64 {both}, {wide}")
    f.put(operands[0], f.let(f"trunc i64 {both} to i32"), op.type)


def _join_words(f: FunctionLowering, low: str, high: str) -> str:
    low, high = f.let(f"zext i32 {low} to i64"), f.let(f"zext i32 {high} to i64")
    return f.let(f"or i64 {low}, {f.let(f'shl i64 {high}, 32')}")


@row("popc", types="b32 b64", operands="2")
def population(f: FunctionLowering, op: Op, operands: tuple) -> None:
    t = op.type.value
    count = f.call(f"llvm.ctpop.{t}", t, [(t, f.read(operands[1], t))])
    f.put(operands[0], f.convert(count, t, "i32"), TYPES["u32"])


@row("clz", types="b32 b64", operands="2")
def leading_zeros(f: FunctionLowering, op: Op, operands: tuple) -> None:
    t = op.type.value
    count = f.call(f"llvm.ctlz.{t}", t, [(t, f.read(operands[1], t)), ("i1", "false")])
    f.put(operands[0], f.convert(count, t, "i32"), TYPES["u32"])


@row("brev", types="b32 b64", operands="2")
def reverse(f: FunctionLowering, op: Op, operands: tuple) -> None:
    t = op.type.value
    f.put(operands[0], f.call(f"llvm.bitreverse.{t}", t, [(t, f.read(operands[1], t))]), op.type)


@row("bfind", types="u32 u64 s32 s64", mods="shiftamt", operands="2")
def find_bit(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Finds the most significant bit that differs from the sign; all ones if there is no such bit."""
    t, bits = op.type.value, op.type.bits
    value = f.read(operands[1], t)
    if op.type.signed:
        value = f.let(f"xor {t} {value}, {f.let(f'ashr {t} {value}, {bits - 1}')}")
    zeros = f.call(f"llvm.ctlz.{t}", t, [(t, value), ("i1", "false")])
    place = zeros if "shiftamt" in op else f.let(f"sub {t} {bits - 1}, {zeros}")
    found = f.convert(place, t, "i32")
    none = f.let(f"icmp eq {t} {value}, 0")
    f.put(operands[0], f.let(f"select i1 {none}, i32 -1, i32 {found}"), TYPES["u32"])


@row("bfe", types="u32 u64 s32 s64", operands="4")
def extract_field(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Extracts a bit field. Bits past the end of the word are 0; in signed types they are copies of its top bit.

    The ISA restricts position and length to 8 bits. For larger values, 32-bit words use the low 8 bits and 64-bit words
    all 32, as an H200 does.
    """
    t, bits, signed = op.type.value, op.type.bits, op.type.signed
    word = f.read(operands[1], t)
    read = _byte if bits == 32 else _word
    start, length = (f.convert(read(f, operand), "i32", t) for operand in operands[2:])
    start_in = f.call(f"llvm.umin.{t}", t, [(t, start), (t, str(bits - 1))])
    outside = f.let(f"icmp ugt {t} {start}, {bits - 1}")
    moved = f.let(f"{'ashr' if signed else 'lshr'} {t} {word}, {start_in}")
    fill = f.let(f"ashr {t} {word}, {bits - 1}") if signed else "0"
    moved = f.let(f"select i1 {outside}, {t} {fill}, {t} {moved}")
    length_in = f.call(f"llvm.umin.{t}", t, [(t, length), (t, str(bits))])
    empty = f.let(f"icmp eq {t} {length}, 0")
    spare = f.let(f"sub {t} {bits}, {length_in}")
    spare = f.let(f"select i1 {empty}, {t} 0, {t} {spare}")
    cut = f.let(f"{'ashr' if signed else 'lshr'} {t} {f.let(f'shl {t} {moved}, {spare}')}, {spare}")
    f.put(operands[0], f.let(f"select i1 {empty}, {t} 0, {t} {cut}"), op.type)


@row("bfi", types="b32 b64", operands="5")
def insert_field(f: FunctionLowering, op: Op, operands: tuple) -> None:
    t, bits = op.type.value, op.type.bits
    field, base = (f.read(operand, t) for operand in operands[1:3])
    start, length = (f.convert(_byte(f, operand), "i32", t) for operand in operands[3:])
    safe_start = f.call(f"llvm.umin.{t}", t, [(t, start), (t, str(bits - 1))])
    whole = f.let(f"icmp uge {t} {length}, {bits}")
    safe_length = f.call(f"llvm.umin.{t}", t, [(t, length), (t, str(bits - 1))])
    mask = f.let(f"sub {t} {f.let(f'shl {t} 1, {safe_length}')}, 1")
    mask = f.let(f"select i1 {whole}, {t} -1, {t} {mask}")
    mask = f.let(f"shl {t} {mask}, {safe_start}")
    kept = f.let(f"and {t} {base}, {f.let(f'xor {t} {mask}, -1')}")
    placed = f.let(f"and {t} {f.let(f'shl {t} {field}, {safe_start}')}, {mask}")
    inserted = f.let(f"or {t} {kept}, {placed}")
    outside = f.let(f"icmp uge {t} {start}, {bits}")
    f.put(operands[0], f.let(f"select i1 {outside}, {t} {base}, {t} {inserted}"), op.type)


def _byte(f: FunctionLowering, operand: object) -> str:
    """Returns the low 8 bits of an operand, the position or length of a field."""
    return f.let(f"and i32 {f.read(operand, 'i32')}, 255")


def _word(f: FunctionLowering, operand: object) -> str:
    return f.read(operand, "i32")


@row("bmsk", types="b32", mods="clamp wrap", operands="3")
def bit_mask(f: FunctionLowering, op: Op, operands: tuple) -> None:
    start, length = (f.read(operand, "i32") for operand in operands[1:])
    if "wrap" in op:
        start, length = (f.let(f"and i32 {value}, 31") for value in (start, length))
    start64, length64 = (
        f.convert(f.call("llvm.umin.i32", "i32", [("i32", value), ("i32", "32")]), "i32", "i64")
        for value in (start, length)
    )
    ones = f.let(f"sub i64 {f.let(f'shl i64 1, {length64}')}, 1")
    f.put(operands[0], f.let(f"trunc i64 {f.let(f'shl i64 {ones}, {start64}')} to i32"), op.type)


@row("szext", types="u32 s32", mods="clamp wrap", operands="3")
def extend_at(f: FunctionLowering, op: Op, operands: tuple) -> None:
    value, width = (f.read(operand, "i32") for operand in operands[1:])
    if "wrap" in op:
        width = f.let(f"and i32 {width}, 31")
    spare = f.let(f"sub i32 32, {f.call('llvm.umin.i32', 'i32', [('i32', width), ('i32', '32')])}")
    empty = f.let(f"icmp eq i32 {spare}, 32")
    spare = f.let(f"select i1 {empty}, i32 0, i32 {spare}")
    cut = f.let(f"{'ashr' if op.type.signed else 'lshr'} i32 {f.let(f'shl i32 {value}, {spare}')}, {spare}")
    f.put(operands[0], f.let(f"select i1 {empty}, i32 0, i32 {cut}"), op.type)


@row("fns", types="b32", operands="4")
def find_nth_set(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Finds the offset-th set bit from `base` upwards (offset > 0) or downwards (offset < 0); 0 tests bit `base`
    itself.

    The least offset, whose magnitude does not fit into int32, gives 0 on an H200.
    """
    mask, base, offset = (f.read(operand, "i32") for operand in operands[1:])
    base = f.let(f"and i32 {base}, 31")
    down = f.let(f"icmp slt i32 {offset}, 0")
    is_zero = f.let(f"icmp eq i32 {offset}, 0")
    wanted = f.call("llvm.abs.i32", "i32", [("i32", offset), ("i1", "false")])
    wanted = f.let(f"select i1 {is_zero}, i32 1, i32 {wanted}")
    found, seen = "-1", "0"
    for step in range(32):
        up_place = f.let(f"add i32 {base}, {step}")
        place = f.let(f"select i1 {down}, i32 {f.let(f'sub i32 {base}, {step}')}, i32 {up_place}")
        inside = f.let(f"icmp ult i32 {place}, 32")
        amount = f.let(f"and i32 {place}, 31")
        bit = f.let(f"trunc i32 {f.let(f'lshr i32 {mask}, {amount}')} to i1")
        is_set = f.let(f"and i1 {inside}, {bit}")
        if step:
            is_set = f.let(f"and i1 {is_set}, {f.let(f'xor i1 {is_zero}, true')}")
        seen = f.let(f"add i32 {seen}, {f.let(f'zext i1 {is_set} to i32')}")
        here = f.let(f"and i1 {is_set}, {f.let(f'icmp eq i32 {seen}, {wanted}')}")
        found = f.let(f"select i1 {here}, i32 {place}, i32 {found}")
    least = f.let(f"icmp eq i32 {offset}, {-(1 << 31)}")
    f.put(operands[0], f.let(f"select i1 {least}, i32 0, i32 {found}"), op.type)


@row("lop3", types="b32", mods="or and", operands="5-6")
def lookup_logic(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Looks up each result bit: bit i of the table is the result for bits of a, b, c that spell i.

    With `d|p` and a sixth operand q, p is d != 0 combined with q by .or or .and.
    """
    target = operands[0]
    if {bool(op.mods), isinstance(target, Pair)} != {len(operands) == 6}:
        raise f.fail("a boolean operator, a second result and a predicate need each other")
    a, b, c = (f.read(operand, "i32") for operand in operands[1:4])
    if not isinstance(operands[4], Immediate):
        raise f.fail("the lookup table is not a constant")
    terms = []
    for index in range(8):
        if operands[4].value >> index & 1:
            parts = [
                value if index >> (2 - place) & 1 else f.let(f"xor i32 {value}, -1")
                for place, value in enumerate((a, b, c))
            ]
            terms.append(f.let(f"and i32 {f.let(f'and i32 {parts[0]}, {parts[1]}')}, {parts[2]}"))
    result = "0"
    for term in terms:
        result = f.let(f"or i32 {result}, {term}")
    if not isinstance(target, Pair):
        f.put(target, result, op.type)
        return
    other = f.read(operands[5], "i1")
    truth = f.let(f"{op.mods[0]} i1 {f.let(f'icmp ne i32 {result}, 0')}, {other}")
    if target.first is not SINK:
        f.put(target.first, result, op.type)
    f.write(target.second, truth, "i1")


# Mode -> the four source bytes, lowest first, for the selector values 0..3.
PRMT_MODES = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}


@row("prmt", types="b32", mods=" ".join(PRMT_MODES), operands="4")
def permute(f: FunctionLowering, op: Op, operands: tuple) -> None:
    a, b, selector = (f.read(operand, "i32") for operand in operands[1:])
    source = _join_words(f, a, b)
    result = "0"
    for lane in range(4):
        if op.mods:
            byte = _mode_byte(f, source, selector, [row[lane] for row in PRMT_MODES[op.mods[0]]])
        else:
            byte = _default_byte(f, source, f.let(f"lshr i32 {selector}, {4 * lane}"))
        result = f.let(f"or i32 {result}, {f.let(f'shl i32 {byte}, {8 * lane}')}")
    f.put(operands[0], result, op.type)


def _default_byte(f: FunctionLowering, source: str, selector: str) -> str:
    place = f.let(f"shl i32 {f.let(f'and i32 {selector}, 7')}, 3")
    place = f.let(f"zext i32 {place} to i64")
    byte = f.let(f"trunc i64 {f.let(f'lshr i64 {source}, {place}')} to i8")
    replicate = f.let(f"trunc i32 {f.let(f'lshr i32 {selector}, 3')} to i1")
    sign = f.let(f"ashr i8 {byte}, 7")
    return f.let(f"zext i8 {f.let(f'select i1 {replicate}, i8 {sign}, i8 {byte}')} to i32")


def _mode_byte(f: FunctionLowering, source: str, selector: str, choices: list[int]) -> str:
    selector = f.let(f"and i32 {selector}, 3")
    place = str(8 * choices[0])
    for value in (1, 2, 3):
        chosen = f.let(f"icmp eq i32 {selector}, {value}")
        place = f.let(f"select i1 {chosen}, i64 {8 * choices[value]}, i64 {place}")
    shifted = f.let(f"lshr i64 {source}, {place}")
    return f.let(f"and i32 {f.let(f'trunc i64 {shifted} to i32')}, 255")
