# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of integer arithmetic. The truth is Python's unbounded integers."""

import numpy as np

from tests.ptx import hazards
from tests.ptx.table import ARRAY, Row

ALL = ("u16", "s16", "u32", "s32", "u64", "s64")
WIDE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}


def bits_of(kind: str) -> int:
    return 8 * ARRAY[kind].itemsize


def wrap(values, kind: str) -> np.ndarray:
    """Python integers, modulo the width, as an array."""
    bits = bits_of(kind)
    unsigned = np.array([int(value) & (1 << bits) - 1 for value in values], np.dtype(f"uint{bits}"))
    return unsigned.view(ARRAY[kind])


def over(function, result: str):
    """A function of Python integers as one of arrays."""
    return lambda *arrays: wrap((function(*map(int, values)) for values in zip(*arrays, strict=True)), result)


def clamp(value: int, kind: str) -> int:
    bits = bits_of(kind)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def row(name: str, kinds: str | tuple, result: str, function, code: str = "", **more) -> Row:
    kinds = kinds.split() if isinstance(kinds, str) else kinds
    names = ", ".join("{" + letter + "}" for letter in "abc"[: len(kinds)])
    return Row(
        name=name,
        code=code or f"{name} {{d}}, {names};",
        sources=tuple(kinds),
        result=result,
        inputs=lambda: hazards.every(*(hazards.of(kind) for kind in kinds)),
        expect=over(function, result),
        **more,
    )


def divide(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0


def rows() -> list[Row]:
    found = []
    for kind in ALL:
        two, three = (kind, kind), (kind, kind, kind)
        bits = bits_of(kind)
        unsafe = {"undefined": lambda a, b: b == 0}
        found += [
            row(f"add.{kind}", two, kind, lambda a, b: a + b),
            row(f"sub.{kind}", two, kind, lambda a, b: a - b),
            row(f"mul.lo.{kind}", two, kind, lambda a, b: a * b),
            row(f"mul.hi.{kind}", two, kind, lambda a, b, n=bits: a * b >> n),
            row(f"mad.lo.{kind}", three, kind, lambda a, b, c: a * b + c),
            row(f"mad.hi.{kind}", three, kind, lambda a, b, c, n=bits: (a * b >> n) + c),
            row(f"div.{kind}", two, kind, divide, **unsafe),
            row(f"rem.{kind}", two, kind, lambda a, b: a - b * divide(a, b), **unsafe),
            row(f"min.{kind}", two, kind, min),
            row(f"max.{kind}", two, kind, max),
            row(f"sad.{kind}", three, kind, lambda a, b, c: c + abs(a - b)),
        ]
        if kind in WIDE:
            wide = WIDE[kind]
            found.append(row(f"mul.wide.{kind}", two, wide, lambda a, b: a * b))
            found.append(row(f"mad.wide.{kind}", (kind, kind, wide), wide, lambda a, b, c: a * b + c))
        if kind[0] == "s":
            found.append(row(f"abs.{kind}", (kind,), kind, abs))
            found.append(row(f"neg.{kind}", (kind,), kind, lambda a: -a))
    found += saturating() + carrying() + small_products() + packed()
    return found


def saturating() -> list[Row]:
    return [
        row("add.sat.s32", "s32 s32", "s32", lambda a, b: clamp(a + b, "s32")),
        row("sub.sat.s32", "s32 s32", "s32", lambda a, b: clamp(a - b, "s32")),
        row("mad.hi.sat.s32", "s32 s32 s32", "s32", lambda a, b, c: clamp((a * b >> 32) + c, "s32")),
        row("min.relu.s32", "s32 s32", "s32", lambda a, b: max(min(a, b), 0)),
        row("max.relu.s32", "s32 s32", "s32", lambda a, b: max(a, b, 0)),
    ]


def carrying() -> list[Row]:
    """The carry of the first instruction is what the second adds to zero."""
    found = []
    for bits, top in ((32, 1 << 32), (64, 1 << 64)):
        u = f"u{bits}"
        found += [
            row(f"add.cc.{u}", (u, u), u, lambda a, b: a + b),
            row(
                f"addc.{u}",
                (u, u),
                u,
                lambda a, b, n=bits: a + b >> n,
                f"add.cc.{u} {{d}}, {{a}}, {{b}}; addc.{u} {{d}}, 0, 0;",
            ),
            row(
                f"subc.{u}",
                (u, u),
                u,
                lambda a, b: -int(a < b),
                f"sub.cc.{u} {{d}}, {{a}}, {{b}}; subc.{u} {{d}}, 0, 0;",
            ),
            row(
                f"addc.cc.{u}",
                (u, u, u),
                u,
                lambda a, b, c, n=bits: b + c + (a + b >> n) >> n,
                f"add.cc.{u} {{d}}, {{a}}, {{b}}; addc.cc.{u} {{d}}, {{b}}, {{c}}; addc.{u} {{d}}, 0, 0;",
            ),
            row(
                f"subc.cc.{u}",
                (u, u, u),
                u,
                lambda a, b, c: -int(b - c - int(a < b) < 0),
                f"sub.cc.{u} {{d}}, {{a}}, {{b}}; subc.cc.{u} {{d}}, {{b}}, {{c}}; subc.{u} {{d}}, 0, 0;",
            ),
            row(
                f"madc.hi.{u}",
                (u, u, u),
                u,
                lambda a, b, c, n=bits, m=top: (a * b >> n) + c + ((a * b % m) + c >> n),
                f"mad.lo.cc.{u} {{d}}, {{a}}, {{b}}, {{c}}; madc.hi.{u} {{d}}, {{a}}, {{b}}, {{c}};",
            ),
        ]
    return found


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def part(word: int, index: int, bits: int, kind: str) -> int:
    field = word >> (index * bits) & (1 << bits) - 1
    return signed(field, bits) if kind[0] == "s" else field


def small_products() -> list[Row]:
    found = []
    for kind in ("u32", "s32"):
        narrow = (lambda x: signed(x, 24)) if kind[0] == "s" else (lambda x: x & 0xFFFFFF)
        found += [
            row(f"mul24.lo.{kind}", (kind, kind), kind, lambda a, b, n=narrow: n(a) * n(b)),
            row(f"mul24.hi.{kind}", (kind, kind), kind, lambda a, b, n=narrow: n(a) * n(b) >> 16),
            row(f"mad24.lo.{kind}", (kind, kind, kind), kind, lambda a, b, c, n=narrow: n(a) * n(b) + c),
            row(
                f"mad24.hi.{kind}",
                (kind, kind, kind),
                kind,
                lambda a, b, c, n=narrow: (n(a) * n(b) >> 16) + c,
            ),
        ]
        for other in ("u32", "s32"):
            result = "s32" if "s32" in (kind, other) else "u32"
            found.append(
                row(
                    f"dp4a.{kind}.{other}",
                    (kind, other, result),
                    result,
                    lambda a, b, c, k=kind, o=other: (
                        c + sum(part(a, i, 8, k) * part(b, i, 8, o) for i in range(4))
                    ),
                )
            )
            for half in ("lo", "hi"):
                start = 2 if half == "hi" else 0
                found.append(
                    row(
                        f"dp2a.{half}.{kind}.{other}",
                        (kind, other, result),
                        result,
                        lambda a, b, c, k=kind, o=other, s=start: (
                            c + sum(part(a, i, 16, k) * part(b, s + i, 8, o) for i in range(2))
                        ),
                    )
                )
    return found


def packed() -> list[Row]:
    found = []
    for kind in ("u16x2", "s16x2"):
        for name, function in (("add", lambda a, b: a + b), ("min", min), ("max", max)):

            def both(a: int, b: int, f=function, k=kind) -> int:
                halves = [f(part(a, i, 16, k), part(b, i, 16, k)) & 0xFFFF for i in (0, 1)]
                return halves[0] | halves[1] << 16

            found.append(row(f"{name}.{kind}", (kind, kind), kind, both))
    return found
