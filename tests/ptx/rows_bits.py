# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of logic, shifts and bit fields."""

from tests.ptx import hazards
from tests.ptx.rows_integer import bits_of, row, signed
from tests.ptx.table import Row

BITS = ("b16", "b32", "b64")


def with_inputs(made: Row, *columns) -> Row:
    from dataclasses import replace

    return replace(made, inputs=lambda: hazards.every(*(column() for column in columns)))


def source(kind: str):
    return lambda: hazards.of(kind)


def rows() -> list[Row]:
    return logic() + shifts() + counting() + fields() + permutations() + predicates()


def logic() -> list[Row]:
    found = []
    for kind in BITS:
        found += [
            row(f"and.{kind}", (kind, kind), kind, lambda a, b: a & b),
            row(f"or.{kind}", (kind, kind), kind, lambda a, b: a | b),
            row(f"xor.{kind}", (kind, kind), kind, lambda a, b: a ^ b),
            row(f"not.{kind}", (kind,), kind, lambda a: ~a),
            row(f"cnot.{kind}", (kind,), kind, lambda a: int(a == 0)),
        ]
    for table in (0x00, 0x01, 0x1E, 0x69, 0x80, 0x96, 0xB8, 0xCA, 0xE8, 0xEA, 0xFE, 0xFF):

        def look_up(a: int, b: int, c: int, t: int = table) -> int:
            return sum(
                (t >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i for i in range(32)
            )

        code = f"lop3.b32 {{d}}, {{a}}, {{b}}, {{c}}, {table};"
        found.append(row(f"lop3.b32 {table:#x}", "b32 b32 b32", "b32", look_up, code))
    return found


def predicates() -> list[Row]:
    """Logic on predicates."""
    code = "setp.ne.u32 {p}, {a}, 0; setp.gt.u32 {q}, {b}, 7; %s selp.u32 {d}, 1, 0, {p};"
    return [
        row("and.pred", "u32 u32", "u32", lambda a, b: a != 0 and b > 7, code % "and.pred {p}, {p}, {q};"),
        row("or.pred", "u32 u32", "u32", lambda a, b: a != 0 or b > 7, code % "or.pred {p}, {p}, {q};"),
        row("xor.pred", "u32 u32", "u32", lambda a, b: (a != 0) ^ (b > 7), code % "xor.pred {p}, {p}, {q};"),
        row("not.pred", "u32 u32", "u32", lambda a, b: a == 0, code % "not.pred {p}, {p};"),
    ]


def shifts() -> list[Row]:
    found = []
    for kind in (*BITS, "u16", "u32", "u64", "s16", "s32", "s64"):
        bits = bits_of(kind)
        columns = source(kind), hazards.shift_amounts
        right = row(f"shr.{kind}", (kind, "u32"), kind, lambda a, n, m=bits: a >> min(n, m))
        found.append(with_inputs(right, *columns))
        if kind[0] == "b":
            left = row(f"shl.{kind}", (kind, "u32"), kind, lambda a, n, m=bits: a << n if n < m else 0)
            found.append(with_inputs(left, *columns))
    for mode, amount in (("clamp", lambda n: min(n, 32)), ("wrap", lambda n: n & 31)):
        for side, result in (
            ("l", lambda a, b, n: (b << 32 | a) << n >> 32),
            ("r", lambda a, b, n: (b << 32 | a) >> n),
        ):
            made = row(
                f"shf.{side}.{mode}.b32",
                "b32 b32 u32",
                "b32",
                lambda a, b, n, f=result, m=amount: f(a, b, m(n)),
            )
            found.append(with_inputs(made, source("b32"), source("b32"), hazards.shift_amounts))
    return found


def counting() -> list[Row]:
    found = []
    for kind in ("b32", "b64"):
        bits = bits_of(kind)
        found += [
            row(f"popc.{kind}", (kind,), "u32", lambda a: a.bit_count()),
            row(f"clz.{kind}", (kind,), "u32", lambda a, n=bits: n - a.bit_length()),
            row(f"brev.{kind}", (kind,), kind, lambda a, n=bits: int(f"{a:0{n}b}"[::-1], 2)),
        ]
    for kind in ("u32", "s32", "u64", "s64"):
        bits = bits_of(kind)

        def highest(a: int) -> int:
            return (~a if a < 0 else a).bit_length() - 1

        found.append(row(f"bfind.{kind}", (kind,), "u32", highest))
        found.append(
            row(
                f"bfind.shiftamt.{kind}",
                (kind,),
                "u32",
                lambda a, n=bits: n - 1 - highest(a) if highest(a) >= 0 else -1,
            )
        )
    return found


def extract(a: int, start: int, length: int, kind: str) -> int:
    """As the definition in the PTX manual, bit by bit."""
    bits = bits_of(kind)
    word, start, length = a & (1 << bits) - 1, start & 255, length & 255
    if kind[0] == "u" or length == 0:
        sign = 0
    else:
        sign = word >> min(start + length - 1, bits - 1) & 1
    result = 0
    for i in range(bits):
        inside = i < length and start + i < bits
        result |= (word >> (start + i) & 1 if inside else sign) << i
    return result


def insert(a: int, b: int, start: int, length: int, kind: str) -> int:
    bits, start, length = bits_of(kind), start & 255, length & 255
    for i in range(length):
        if start + i < bits:
            b = b & ~(1 << start + i) | (a >> i & 1) << start + i
    return b


def fields() -> list[Row]:
    found = []
    for kind in ("u32", "s32", "u64", "s64"):
        made = row(f"bfe.{kind}", (kind, "u32", "u32"), kind, lambda a, s, n, k=kind: extract(a, s, n, k))
        found.append(with_inputs(made, source(kind), hazards.field_positions, hazards.field_positions))
    for kind in ("b32", "b64"):
        for length in (0, 1, 5, 31, 32, 64, 255, 300):
            made = row(
                f"bfi.{kind} length {length}",
                (kind, kind, "u32"),
                kind,
                lambda a, b, s, k=kind, n=length: insert(a, b, s, n, k),
                f"bfi.{kind} {{d}}, {{a}}, {{b}}, {{c}}, {length};",
            )
            found.append(with_inputs(made, source(kind), source(kind), hazards.field_positions))
    found.append(with_inputs(row("bmsk.clamp.b32", "u32 u32", "b32", _mask), *[hazards.shift_amounts] * 2))
    found.append(
        with_inputs(
            row("bmsk.wrap.b32", "u32 u32", "b32", lambda s, n: _mask(s & 31, n & 31)),
            *[hazards.shift_amounts] * 2,
        )
    )
    for kind in ("u32", "s32"):
        for mode in ("clamp", "wrap"):

            def extend(a: int, n: int, k: str = kind, m: str = mode) -> int:
                n = n & 31 if m == "wrap" else min(n, 32)
                low = a & (1 << n) - 1
                return signed(low, n) if k == "s32" and n else low

            made = row(f"szext.{mode}.{kind}", (kind, "u32"), kind, extend)
            found.append(with_inputs(made, source(kind), hazards.shift_amounts))
    return found


def _mask(start: int, length: int) -> int:
    return (1 << min(length, 32)) - 1 << min(start, 32)


def permute(a: int, b: int, selector: int) -> int:
    source_bytes = (b << 32 | a).to_bytes(8, "little")
    result = 0
    for lane in range(4):
        nibble = selector >> 4 * lane & 15
        byte = source_bytes[nibble & 7]
        if nibble & 8:
            byte = 255 if byte & 128 else 0
        result |= byte << 8 * lane
    return result


def find_nth(mask: int, base: int, offset: int) -> int:
    if offset == 0:
        return base if mask >> base & 1 else -1
    step, left = (1, offset) if offset > 0 else (-1, -offset)
    while 0 <= base < 32:
        left -= mask >> base & 1
        if left == 0:
            return base
        base += step
    return -1


PRMT = {
    "f4e": lambda s: (s, s + 1, s + 2, s + 3),
    "b4e": lambda s: (s, (s - 1) % 8, (s - 2) % 8, (s - 3) % 8),
    "rc8": lambda s: (s, s, s, s),
    "ecl": lambda s: tuple(max(i, s) for i in range(4)),
    "ecr": lambda s: tuple(min(i, s) for i in range(4)),
    "rc16": lambda s: (2 * (s & 1), 2 * (s & 1) + 1) * 2,
}


def permutations() -> list[Row]:
    import numpy as np

    def selectors() -> np.ndarray:
        return np.array([0x3210, 0x7654, 0x0123, 0x4567, 0xFEDC, 0x8888, 0x19A0, 0xFFFF5140], np.uint32)

    found = [with_inputs(row("prmt.b32", "b32 b32 u32", "b32", permute), *[source("b32")] * 2, selectors)]
    for mode, order in PRMT.items():

        def by_mode(a: int, b: int, s: int, f=order) -> int:
            source_bytes = (b << 32 | a).to_bytes(8, "little")
            return int.from_bytes(bytes(source_bytes[place] for place in f(s & 3)), "little")

        made = row(f"prmt.b32.{mode}", "b32 b32 u32", "b32", by_mode)
        found.append(with_inputs(made, *[source("b32")] * 2, lambda: np.arange(6, dtype=np.uint32)))
    nth = row("fns.b32", "b32 u32 s32", "b32", find_nth)
    found.append(
        with_inputs(
            nth,
            source("b32"),
            lambda: np.array([0, 1, 7, 30, 31], np.uint32),
            lambda: np.array([0, 1, 2, 5, 32, -1, -2, -6, -32], np.int32),
        )
    )
    return found
