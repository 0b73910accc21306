# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of comparisons and selections."""

import numpy as np

from tests.ptx import hazards
from tests.ptx.numbers import widen
from tests.ptx.table import ARRAY, Row

ORDERED = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
TAKE = "selp.u32 {d}, 1, 0, {p};"


def row(name: str, code: str, kinds: tuple, expect, result: str = "u32", limit: int = 1 << 13) -> Row:
    return Row(
        name=name,
        code=code,
        sources=kinds,
        result=result,
        inputs=lambda: hazards.every(*(hazards.of(kind) for kind in kinds), limit=limit),
        expect=lambda *arrays: np.asarray(expect(*arrays)).astype(ARRAY[result]),
    )


def rows() -> list[Row]:
    found = []
    for kind in ("b16", "b32", "b64"):
        for name in ("eq", "ne"):
            found.append(
                row(
                    f"setp.{name}.{kind}",
                    f"setp.{name}.{kind} {{p}}, {{a}}, {{b}}; {TAKE}",
                    (kind, kind),
                    ORDERED[name],
                )
            )
    for kind in ("u16", "u32", "u64", "s16", "s32", "s64"):
        for name, function in ORDERED.items():
            found.append(
                row(
                    f"setp.{name}.{kind}",
                    f"setp.{name}.{kind} {{p}}, {{a}}, {{b}}; {TAKE}",
                    (kind, kind),
                    function,
                )
            )
        if kind[0] == "u":
            for name, same in UNSIGNED.items():
                found.append(
                    row(
                        f"setp.{name}.{kind}",
                        f"setp.{name}.{kind} {{p}}, {{a}}, {{b}}; {TAKE}",
                        (kind, kind),
                        ORDERED[same],
                    )
                )
    for kind in ("f16", "bf16", "f32", "f64"):
        found += float_comparisons(kind)
    return found + combined() + values() + selections()


def float_comparisons(kind: str) -> list[Row]:
    def with_nan(function, nan: bool):
        def compare(a, b):
            a, b = widen(a, kind), widen(b, kind)
            unordered = np.isnan(a) | np.isnan(b)
            return np.where(unordered, nan, function(a, b))

        return compare

    cases = {name: with_nan(function, False) for name, function in ORDERED.items()}
    cases |= {name + "u": with_nan(function, True) for name, function in ORDERED.items()}
    cases["num"] = with_nan(lambda a, b: a == a, False)
    cases["nan"] = with_nan(lambda a, b: a != a, True)
    return [
        row(f"setp.{name}.{kind}", f"setp.{name}.{kind} {{p}}, {{a}}, {{b}}; {TAKE}", (kind, kind), expect)
        for name, expect in cases.items()
    ]


def flushed(a: np.ndarray) -> np.ndarray:
    return np.where(np.abs(a) < np.finfo(a.dtype).tiny, np.copysign(a.dtype.type(0), a), a)


def combined() -> list[Row]:
    """A second predicate, a third source, its negation, ftz."""
    code = "setp.gt.s32 {{q}}, {{c}}, 0; setp.lt.{op}.s32 {{p}}, {{a}}, {{b}}, {{q}}; " + TAKE.replace(
        "{", "{{"
    ).replace("}", "}}")
    three = ("s32", "s32", "s32")
    return [
        row("setp.lt.and.s32", code.format(op="and"), three, lambda a, b, c: (a < b) & (c > 0)),
        row("setp.lt.or.s32", code.format(op="or"), three, lambda a, b, c: (a < b) | (c > 0)),
        row("setp.lt.xor.s32", code.format(op="xor"), three, lambda a, b, c: (a < b) ^ (c > 0)),
        row(
            "setp.lt.and.s32 with !q",
            code.format(op="and").replace("{b}, {q}", "{b}, !{q}"),
            three,
            lambda a, b, c: (a < b) & ~(c > 0),
        ),
        row(
            "setp p|q",
            "setp.lt.s32 {p}|{q}, {a}, {b}; selp.u32 {t}, 1, 0, {p}; selp.u32 {u}, 2, 0, {q}; add.u32 {d}, {t}, {u};",
            ("s32", "s32"),
            lambda a, b: np.where(a < b, 1, 2),
        ),
        row(
            "setp p|q with and",
            "setp.gt.s32 {q}, {c}, 0; setp.lt.and.s32 {p}|{q}, {a}, {b}, {q}; "
            "selp.u32 {t}, 1, 0, {p}; selp.u32 {u}, 2, 0, {q}; add.u32 {d}, {t}, {u};",
            three,
            lambda a, b, c: ((a < b) & (c > 0)) + 2 * (~(a < b) & (c > 0)),
        ),
        row(
            "setp.gt.ftz.f32",
            f"setp.gt.ftz.f32 {{p}}, {{a}}, {{b}}; {TAKE}",
            ("f32", "f32"),
            lambda a, b: flushed(a) > flushed(b),
        ),
        row(
            "guard",
            "mov.u32 {d}, 5; setp.lt.u32 {p}, {a}, {b}; @{p} add.u32 {d}, {d}, 1; @!{p} mul.lo.u32 {d}, {d}, 3;",
            ("u32", "u32"),
            lambda a, b: np.where(a < b, 6, 15),
        ),
    ]


def values() -> list[Row]:
    """set"""
    found = []
    for name in ("lt", "eq", "neu"):
        base = {"lt": np.less, "eq": np.equal, "neu": np.not_equal}[name]
        for kind in ("f32", "s32") if name != "neu" else ("f32",):
            found.append(
                row(
                    f"set.{name}.u32.{kind}",
                    f"set.{name}.u32.{kind} {{d}}, {{a}}, {{b}};",
                    (kind, kind),
                    lambda a, b, f=base: f(a, b) * 0xFFFFFFFF,
                )
            )
            found.append(
                row(
                    f"set.{name}.f32.{kind}",
                    f"set.{name}.f32.{kind} {{d}}, {{a}}, {{b}};",
                    (kind, kind),
                    base,
                    "f32",
                )
            )
        found.append(
            row(
                f"set.{name}.f16.f16", f"set.{name}.f16.f16 {{d}}, {{a}}, {{b}};", ("f16", "f16"), base, "f16"
            )
        )

        def lanes(a, b, f=base):
            result = f(a.view(np.float16), b.view(np.float16)).astype(np.float16)
            return result.view(np.uint32)

        found.append(
            row(
                f"set.{name}.f16x2.f16x2",
                f"set.{name}.f16x2.f16x2 {{d}}, {{a}}, {{b}};",
                ("f16x2", "f16x2"),
                lanes,
                "f16x2",
            )
        )

        def masks(a, b, f=base):
            return (
                (f(a.view(np.float16), b.view(np.float16)) * np.uint16(0xFFFF))
                .astype(np.uint16)
                .view(np.uint32)
            )

        found.append(
            row(
                f"set.{name}.u32.f16x2",
                f"set.{name}.u32.f16x2 {{d}}, {{a}}, {{b}};",
                ("f16x2", "f16x2"),
                masks,
            )
        )
    return found


def selections() -> list[Row]:
    found = []
    for kind in ("b16", "b32", "b64", "f32", "f64", "s64"):
        found.append(
            row(
                f"selp.{kind}",
                f"setp.gt.s32 {{p}}, {{c}}, 0; selp.{kind} {{d}}, {{a}}, {{b}}, {{p}};",
                (kind, kind, "s32"),
                lambda a, b, c: np.where(c > 0, a, b),
                kind,
            )
        )
    for kind in ("b32", "f32", "u64", "s16"):
        for by in ("s32", "f32"):
            found.append(
                row(
                    f"slct.{kind}.{by}",
                    f"slct.{kind}.{by} {{d}}, {{a}}, {{b}}, {{c}};",
                    (kind, kind, by),
                    lambda a, b, c: np.where(c >= 0, a, b),
                    kind,
                )
            )
    return found
