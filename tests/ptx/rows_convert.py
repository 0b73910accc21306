# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of cvt and mov."""

from fractions import Fraction

import numpy as np

from tests.ptx import hazards
from tests.ptx.numbers import FORMATS, rounded, widen
from tests.ptx.rows_compare import flushed
from tests.ptx.rows_float import MODES, make, relu, saturated
from tests.ptx.rows_integer import clamp, wrap
from tests.ptx.table import ARRAY, Row

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
FLOATS = ("f16", "f32", "f64")
SIZE = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
INTEGRAL = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def rows() -> list[Row]:
    return int_to_int() + float_to_int() + int_to_float() + float_to_float() + bits()


def int_to_int() -> list[Row]:
    found = []
    for source in INTEGERS:
        for target in INTEGERS:
            found.append(make(f"cvt.{target}.{source}", (source,), target, lambda a, t=target: wrap(a, t)))
            if source != target:
                found.append(
                    make(
                        f"cvt.sat.{target}.{source}",
                        (source,),
                        target,
                        lambda a, t=target: wrap((clamp(int(x), t) for x in a), t),
                    )
                )
    # a destination wider than the type is extended by the type's sign
    for kind, value in (("s8", "s32"), ("u8", "u32"), ("s16", "s32")):
        found.append(
            make(
                f"cvt.{kind}.u32 to a wide register",
                ("u32",),
                value,
                lambda a, k=kind, v=value: wrap(wrap(a, k), v),
                code=f"cvt.{kind}.u32 {{t}}, {{a}}; mov.b32 {{d}}, {{t}};",
            )
        )
    return found


def near_limits(kind: str, target: str):
    """Floats round the limits of an integer type, halves, and hazards."""

    def column() -> np.ndarray:
        if kind == "bf16":
            return hazards.floats(kind, 60)
        bits = 8 * ARRAY[target].itemsize
        edges = [2.0**n for n in (bits - 1, bits, 7, 8)]
        values = [e * s + d for e in edges for s in (1, -1) for d in (-1.5, -1, -0.5, 0, 0.5, 1)]
        values += [n + 0.5 for n in range(-5, 6)] + [0.49999997, -0.49999997, 0.99999994]
        with np.errstate(over="ignore"):
            return np.concatenate([np.array(values).astype(ARRAY[kind]), hazards.floats(kind, 60)])

    return column


def to_integer(kind: str, target: str, mode: str):
    def expect(a: np.ndarray) -> np.ndarray:
        x = widen(a, kind)
        top = kind == "f64" or target in ("u64", "s64")
        bits = 8 * ARRAY[target].itemsize
        found = []
        for value in INTEGRAL[mode](x):
            if np.isnan(value):
                found.append(1 << bits - 1 if top else 0)
            elif np.isinf(value):
                found.append(clamp((1 << 70) if value > 0 else -(1 << 70), target))
            else:
                found.append(clamp(int(value), target))
        return wrap(found, target)

    return expect


def float_to_int() -> list[Row]:
    found = []
    for kind in FLOATS:
        for target in INTEGERS:
            for mode in INTEGRAL if target in ("s32", "u32", "s64", "u64") else ("rzi",):
                name = f"cvt.{mode}.{target}.{kind}"
                found.append(
                    make(
                        name,
                        (kind,),
                        target,
                        to_integer(kind, target, mode),
                        columns=(near_limits(kind, target),),
                    )
                )
    found.append(
        make(
            "cvt.rzi.ftz.s32.f32",
            ("f32",),
            "s32",
            lambda a: to_integer("f32", "s32", "rzi")(flushed(a)),
            columns=(near_limits("f32", "s32"),),
        )
    )
    found.append(
        make(
            "cvt.rpi.ftz.u32.f32",
            ("f32",),
            "u32",
            lambda a: to_integer("f32", "u32", "rpi")(flushed(a)),
            columns=(near_limits("f32", "u32"),),
        )
    )
    return found


def integer_column(kind: str):
    def column() -> np.ndarray:
        bits = 8 * ARRAY[kind].itemsize
        edges = [(1 << n) + d for n in range(bits) for d in (-1, 0, 1)] + [
            (1 << n) * 3 // 2 + d for n in range(20, bits) for d in (-1, 0, 1)
        ]
        return np.concatenate([wrap(edges, kind), hazards.integers(kind, 60)])

    return column


def from_integer(source: str, target: str, mode: str):
    def expect(a: np.ndarray) -> np.ndarray:
        values = [Fraction(int(x)) for x in a]
        nothing = np.zeros(len(a))
        counter = iter(values)
        filler = (np.zeros(len(a), ARRAY[target]), target)
        return rounded(target, mode, nothing, lambda *_: (next(counter), False), filler)

    return expect


def int_to_float() -> list[Row]:
    found = []
    for source in INTEGERS:
        for target in (*FLOATS, "bf16"):
            if target == "bf16" and source in ("u8", "s8"):
                continue
            for mode in MODES if source in ("u32", "s32", "u64", "s64") else ("rn",):
                if target == "bf16" and mode != "rn":
                    continue
                found.append(
                    make(
                        f"cvt.{mode}.{target}.{source}",
                        (source,),
                        target,
                        from_integer(source, target, mode),
                        columns=(integer_column(source),),
                    )
                )
    return found


def to_float(source: str, target: str, mode: str):
    return lambda a: rounded(
        target, mode, widen(a, source), lambda x, word: (x, bool(word >> SIZE[source] - 1)), (a, source)
    )


def between(source: str, target: str):
    """Values of the wide format near the places where the narrow one rounds."""

    def column() -> np.ndarray:
        found = [hazards.floats(source, 200)]
        if FORMATS[source][0] > FORMATS[target][0]:
            narrow = widen(hazards.floats(target, 60), target)
            up = np.nextafter(narrow.astype(np.float32), np.float32(np.inf)).astype(np.float64)
            with np.errstate(over="ignore", invalid="ignore"):
                found += [
                    np.asarray(x).astype(ARRAY[source])
                    for x in (narrow, up, narrow * (1 + 2.0**-11), narrow * (1 + 2.0**-8))
                ]
        return np.concatenate(found)

    return column


def float_to_float() -> list[Row]:
    found = []
    for source, target in (("f64", "f32"), ("f32", "f16"), ("f64", "f16"), ("f32", "bf16")):
        for mode in MODES if target != "bf16" else ("rn", "rz"):
            if (source, target) == ("f64", "f16") and mode != "rn":
                continue
            found.append(
                make(
                    f"cvt.{mode}.{target}.{source}",
                    (source,),
                    target,
                    to_float(source, target, mode),
                    columns=(between(source, target),),
                )
            )
    for source, target in (("f32", "f64"), ("f16", "f32"), ("f16", "f64"), ("bf16", "f32")):
        found.append(make(f"cvt.{target}.{source}", (source,), target, to_float(source, target, "rn")))
    for kind in FLOATS:
        for mode, function in INTEGRAL.items():
            found.append(
                make(
                    f"cvt.{mode}.{kind}.{kind}", (kind,), kind, function, columns=(near_limits(kind, "s32"),)
                )
            )
    found += [
        make("cvt.sat.f32.f32", ("f32",), "f32", saturated),
        make("cvt.sat.f64.f64", ("f64",), "f64", saturated),
        make("cvt.ftz.f32.f32", ("f32",), "f32", flushed),
        make("cvt.rn.ftz.f32.f64", ("f64",), "f32", lambda a: flushed(to_float("f64", "f32", "rn")(a))),
        make("cvt.rn.sat.f32.f64", ("f64",), "f32", lambda a: saturated(to_float("f64", "f32", "rn")(a))),
        make("cvt.ftz.f64.f32", ("f32",), "f64", lambda a: flushed(a).astype(np.float64)),
        make("cvt.rn.relu.f16.f32", ("f32",), "f16", relu("f16", to_float("f32", "f16", "rn"))),
        make("cvt.rn.relu.bf16.f32", ("f32",), "bf16", relu("bf16", to_float("f32", "bf16", "rn"))),
    ]
    for kind in ("f16", "bf16"):

        def pair(a, b, k=kind):
            high, low = (to_float("f32", k, "rn")(x).view(np.uint16).astype(np.uint32) for x in (a, b))
            return high << 16 | low

        found.append(make(f"cvt.rn.{kind}x2.f32", ("f32", "f32"), f"{kind}x2", pair))
    return found


def bits() -> list[Row]:
    """mov: reinterpretation, immediates, packing and unpacking."""
    one = "f32"
    return [
        make("mov.b32 of a float", (one,), "u32", lambda a: a.view(np.uint32), code="mov.b32 {d}, {a};"),
        make("mov.b64 of a double", ("f64",), "u64", lambda a: a.view(np.uint64), code="mov.b64 {d}, {a};"),
        make(
            "mov.f32 immediate",
            ("f32",),
            "f32",
            lambda a: np.full_like(a, 1.5),
            code="mov.f32 {d}, 0f3FC00000;",
        ),
        make("mov.f64 immediate", ("f64",), "f64", lambda a: np.full_like(a, 0.1), code="mov.f64 {d}, 0.1;"),
        make(
            "add with a NaN immediate",
            ("f32",),
            "f32",
            lambda a: a + np.nan,
            code="add.f32 {d}, {a}, 0f7FC00001;",
        ),
        make(
            "add with an immediate", ("s32",), "s32", lambda a: a + np.int32(-7), code="add.s32 {d}, {a}, -7;"
        ),
        make(
            "add with 0xFFFFFFFF",
            ("u32",),
            "u32",
            lambda a: a - np.uint32(1),
            code="add.u32 {d}, {a}, 0xFFFFFFFF;",
        ),
        make(
            "constant expression",
            ("s32",),
            "s32",
            lambda a: a + np.int32(19),
            code="add.s32 {d}, {a}, (1 << 4) + 3;",
        ),
        make(
            "mov.b64 pack",
            ("u32", "u32"),
            "u64",
            lambda a, b: a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32),
            code="mov.b64 {d}, {{{a}, {b}}};",
        ),
        make(
            "mov.b64 unpack",
            ("u64",),
            "u32",
            lambda a: (a >> np.uint64(32)).astype(np.uint32),
            code="mov.b64 {{_, {d}}}, {a};",
        ),
        make(
            "mov.b32 pack of halves",
            ("u16", "u16"),
            "u32",
            lambda a, b: a.astype(np.uint32) | b.astype(np.uint32) << np.uint32(16),
            code="mov.b32 {d}, {{{a}, {b}}};",
        ),
        make(
            "mov.b64 unpack of four",
            ("u64",),
            "u16",
            lambda a: (a >> np.uint64(32)).astype(np.uint16),
            code="mov.b64 {{{h}, _, {d}, _}}, {a};",
        ),
        make(
            "mov.b128",
            ("u64", "u64"),
            "u64",
            lambda a, b: a ^ b,
            code="mov.b128 %big, {{{a}, {b}}}; mov.b128 {{%lo, {x}}}, %big; xor.b64 {d}, %lo, {x};",
            registers=".reg .b128 %big; .reg .b64 %lo;",
        ),
        make(
            "a scope of its own",
            ("u32",),
            "u32",
            lambda a: a + np.uint32(2),
            code="add.u32 {d}, {a}, 1; {{ .reg .b32 %d; mov.u32 %d, 9; }} add.u32 {d}, {d}, 1;",
        ),
    ]
