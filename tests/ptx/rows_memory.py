# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of loads, stores, address spaces and atomics, each on memory of its own element."""

import numpy as np

from tests.ptx import hazards
from tests.ptx.numbers import widen
from tests.ptx.rows_float import lanes, make, smaller, two
from tests.ptx.rows_integer import row as integer_row
from tests.ptx.table import ARRAY, Row


def rows() -> list[Row]:
    return access() + spaces() + atomics() + float_atomics()


def through(kind: str, load: str, store: str, mask: int = -1) -> str:
    return f"{store} [{{slot}}], {{a}}; {load} {{d}}, [{{slot}}];"


def access() -> list[Row]:
    found = []
    for kind in (
        "b8",
        "u8",
        "s8",
        "b16",
        "u16",
        "s16",
        "b32",
        "u32",
        "s32",
        "b64",
        "u64",
        "s64",
        "f32",
        "f64",
    ):
        same = kind if kind[0] != "b" else "u" + kind[1:]
        code = f"st.global.{kind} [{{slot}}+4], {{a}}; ld.global.{kind} {{d}}, [{{slot}}+4];"
        if ARRAY[same].itemsize == 8:
            code = code.replace("+4", "+8")
        found.append(make(f"ld/st.{kind}", (same,), same, lambda a: a, code=code))
    # narrow accesses of wide registers
    for kind in ("u8", "s8", "u16", "s16"):
        made = make(
            f"ld.{kind} into 32 bits",
            ("u32",),
            "s32",
            lambda a, k=kind: a.astype(ARRAY[k]).astype(np.int32),
            code=f"st.global.{kind} [{{slot}}], {{a}}; ld.global.{kind} {{d}}, [{{slot}}];",
        )
        found.append(made)
    orders = [
        ("volatile", "ld.volatile.global.u32", "st.volatile.global.u32"),
        ("relaxed", "ld.relaxed.gpu.global.u32", "st.relaxed.gpu.global.u32"),
        ("acquire/release", "ld.acquire.sys.global.u32", "st.release.sys.global.u32"),
        ("weak", "ld.weak.global.u32", "st.weak.global.u32"),
        ("cache hints", "ld.global.ca.L1::evict_last.L2::128B.u32", "st.global.wb.u32"),
        ("generic", "ld.u32", "st.u32"),
    ]
    for name, load, store in orders:
        found.append(make(f"ld/st {name}", ("u32",), "u32", lambda a: a, code=through("u32", load, store)))
    found.append(
        make(
            "ld.volatile.f64",
            ("f64",),
            "f64",
            lambda a: a,
            code=through("f64", "ld.volatile.global.f64", "st.volatile.global.f64"),
        )
    )
    two_words = "st.global.v2.u32 [{slot}], {{{a}, {b}}}; ld.global.v2.u32 {{{t}, {u}}}, [{slot}]; "
    two_words += "xor.b32 {d}, {t}, {u};"
    found.append(make("ld/st.v2.u32", ("u32", "u32"), "u32", lambda a, b: a ^ b, code=two_words))
    found.append(
        make(
            "ld/st.v4.u32",
            ("u32", "u32"),
            "u32",
            lambda a, b: b,
            code="st.global.v4.u32 [{slot}], {{{a}, {a}, {b}, {a}}}; ld.global.v4.u32 {{_, {t}, {d}, {u}}}, [{slot}];",
        )
    )
    found.append(
        make(
            "ld/st.v4.u8",
            ("u32", "u32"),
            "u32",
            lambda a, b: (a & 255) << np.uint32(8) | b & 255,
            code="st.global.v4.u8 [{slot}], {{{a}, {b}, {a}, {b}}}; ld.global.v2.u8 {{{t}, {u}}}, [{slot}+2]; "
            "mad.lo.u32 {d}, {t}, 256, {u};",
        )
    )
    found.append(
        make(
            "ld/st.v2.f64",
            ("f64", "f64"),
            "f64",
            lambda a, b: b,
            code="st.global.v2.f64 [{slot}], {{{a}, {b}}}; ld.global.f64 {d}, [{slot}+8];",
        )
    )
    found.append(
        make(
            "st.b128",
            ("u64", "u64"),
            "u64",
            lambda a, b: b,
            code="mov.b128 %big, {{{a}, {b}}}; st.global.b128 [{slot}], %big; ld.global.u64 {d}, [{slot}+8];",
            registers=".reg .b128 %big;",
        )
    )
    return found


def spaces() -> list[Row]:
    """Shared and local memory, directly and through generic addresses; which space an address is in."""
    local = ".local .align 8 .b8 mine[16];"
    ask = "isspacep.{space} {{p}}, {{x}}; selp.u32 {{t}}, {value}, 0, {{p}}; add.u32 {{d}}, {{d}}, {{t}};"
    every = "mov.u32 {d}, 0; " + "".join(
        ask.format(space=space, value=value)
        for space, value in (("shared", 1), ("local", 2), ("global", 4), ("const", 8))
    )

    def constant(value: int):
        return lambda a: np.full_like(a, value)

    return [
        make(
            "ld/st.shared",
            ("u32",),
            "u32",
            lambda a: a,
            code="st.shared.u32 [{sh}+12], {a}; ld.shared.u32 {d}, [{sh}+12];",
        ),
        make(
            "shared by a 64-bit address",
            ("u32",),
            "u32",
            lambda a: a,
            code="cvt.u64.u32 {x}, {sh}; st.shared.u32 [{x}], {a}; ld.shared::cta.u32 {d}, [{sh}];",
        ),
        make(
            "shared through a generic address",
            ("u32",),
            "u32",
            lambda a: a,
            code="st.shared.u32 [{sh}+8], {a}; cvt.u64.u32 {x}, {sh}; cvta.shared.u64 {x}, {x}; ld.u32 {d}, [{x}+8];",
        ),
        make(
            "generic back to shared",
            ("u32",),
            "u32",
            lambda a: a,
            code="cvt.u64.u32 {x}, {sh}; cvta.shared.u64 {x}, {x}; st.u32 [{x}], {a}; cvta.to.shared.u64 {x}, {x}; "
            "cvt.u32.u64 {t}, {x}; ld.shared.u32 {d}, [{t}];",
        ),
        make(
            "ld/st.local",
            ("u32",),
            "u32",
            lambda a: a,
            code="st.local.u32 [mine+4], {a}; mov.u64 {x}, mine; ld.local.u32 {d}, [{x}+4];",
            registers=local,
        ),
        make(
            "local through a generic address",
            ("u32",),
            "u32",
            lambda a: a,
            code="mov.u64 {x}, mine; cvta.local.u64 {x}, {x}; st.u32 [{x}+8], {a}; ld.local.u32 {d}, [mine+8];",
            registers=local,
        ),
        make("isspacep of global", ("u32",), "u32", constant(4), code="mov.u64 {x}, {slot};" + every),
        make(
            "isspacep of shared",
            ("u32",),
            "u32",
            constant(1),
            code="cvt.u64.u32 {x}, {sh}; cvta.shared.u64 {x}, {x};" + every,
        ),
        make(
            "isspacep of local",
            ("u32",),
            "u32",
            constant(2),
            code="mov.u64 {x}, mine; cvta.local.u64 {x}, {x}; st.local.u32 [mine], {a};" + every,
            registers=local,
        ),
    ]


def atomic_code(op: str, kind: str, operands: str, space: str, store: str) -> str:
    """What the atomic returns, mixed with what it leaves behind; so both are seen in one number."""
    place = "{sh}" if "shared" in space else "{slot}"
    plain = space or ".global"
    bits = store[1:]
    mix = f"xor.b{bits}" if bits in ("32", "64") else "xor.b16"
    again = {"32": "{t}", "64": "{x}", "16": "{h}"}[bits]
    return (
        f"st{plain}.b{bits} [{place}], {{a}}; atom{space}.{op}.{kind} {{d}}, [{place}], {operands}; "
        f"ld{plain}.b{bits} {again}, [{place}]; shl.b{bits} {again}, {again}, 1; {mix} {{d}}, {{d}}, {again};"
    )


def between(space: str, access: str, place: str, operation: str) -> str:
    """A store, an operation without result, a load."""
    return f"st.{space}.{access} [{place}], {{a}}; {operation} [{place}], {{b}}; ld.{space}.{access} {{d}}, [{place}];"


def atomics() -> list[Row]:
    found = []
    cases = {
        "add": lambda a, b: a + b,
        "min": min,
        "max": max,
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "exch": lambda a, b: b,
        "inc": lambda a, b: 0 if a >= b else a + 1,
        "dec": lambda a, b: b if a == 0 or a > b else a - 1,
    }
    kinds = {
        "add": ("u32", "s32", "u64"),
        "min": ("u32", "s32", "u64", "s64"),
        "max": ("u32", "s32", "u64", "s64"),
        "and": ("b32", "b64"),
        "or": ("b32", "b64"),
        "xor": ("b32", "b64"),
        "exch": ("b32", "b64"),
        "inc": ("u32",),
        "dec": ("u32",),
    }
    for op, function in cases.items():
        for kind in kinds[op]:
            for space in (".global", ".shared", ""):
                found.append(
                    integer_row(
                        f"atom{space}.{op}.{kind}",
                        (kind, kind),
                        kind,
                        lambda a, b, f=function: a ^ f(a, b) << 1,
                        atomic_code(op, kind, "{b}", space, f"b{kind[1:]}"),
                    )
                )
            code = between("global", f"b{kind[1:]}", "{slot}", f"red.global.{op}.{kind}")
            found.append(integer_row(f"red.{op}.{kind}", (kind, kind), kind, function, code))
    for kind in ("b32", "b64"):
        for space in (".global", ".shared"):
            # the old value is either what is compared or not
            found.append(
                integer_row(
                    f"atom{space}.cas.{kind}",
                    (kind, kind, kind),
                    kind,
                    lambda a, b, c: a ^ (c if a == b else a) << 1,
                    atomic_code("cas", kind, "{b}, {c}", space, kind),
                )
            )
    found.append(
        integer_row(
            "atom.cas.b16",
            "b16 b16 b16",
            "b16",
            lambda a, b, c: a ^ (c if a == b else a) << 1,
            atomic_code("cas", "b16", "{b}, {c}", ".global", "b16"),
        )
    )
    for order in ("relaxed.gpu", "acquire.cta", "release.sys", "acq_rel.gpu"):
        code = atomic_code("add", "u32", "{b}", ".global", "b32").replace("atom.", f"atom.{order}.")
        found.append(integer_row(f"atom.{order}.add", "u32 u32", "u32", lambda a, b: a ^ (a + b) << 1, code))
    return found


def float_atomics() -> list[Row]:
    found = []
    # global memory flushes subnormals on some GPUs, so they are left out
    for kind, space in (
        ("f32", "global"),
        ("f32", "shared"),
        ("f64", "global"),
        ("f16", "global"),
        ("f16x2", "global"),
        ("bf16", "global"),
    ):
        place = "{sh}" if space == "shared" else "{slot}"
        bits = 8 * ARRAY[kind].itemsize
        no_flush = ".noftz" if bits == 16 or kind == "f16x2" else ""
        code = between(space, f"b{bits}", place, f"red.{space}.add{no_flush}.{kind}")
        expect = lanes("f16", two("f16", "add", "rn")) if kind == "f16x2" else two(kind, "add", "rn")

        def column(k=kind) -> np.ndarray:
            if k == "f16x2":
                return hazards.random(k, 24)
            values = hazards.floats(k, 10)
            x = widen(values, k)
            smallest = {"f32": 1e-30, "f64": 1e-290, "f16": 0.0, "bf16": 1e-30}[k]
            return values[~((np.abs(x) < smallest) & (x != 0))]

        found.append(
            make(
                f"red.{space}.add.{kind}",
                (kind, kind),
                kind,
                expect,
                code=code,
                columns=(column, column),
                limit=1200,
            )
        )
    code = "st.global.f32 [{slot}], {a}; atom.global.add.f32 {d}, [{slot}], {b};"
    found.append(
        make(
            "atom.add.f32 returns the old value", ("f32", "f32"), "f32", lambda a, b: a, code=code, limit=600
        )
    )
    code = "st.global.f32 [{slot}], {a}; atom.global.exch.b32 {d}, [{slot}], {b};"
    found.append(make("atom.exch.b32 of floats", ("f32", "f32"), "f32", lambda a, b: a, code=code, limit=600))
    for name, largest in (("min", False), ("max", True)):
        code = between("global", "b16", "{slot}", f"red.global.{name}.noftz.f16")
        found.append(
            make(
                f"red.{name}.noftz.f16",
                ("f16", "f16"),
                "f16",
                lambda a, b, g=largest: smaller(a, b, "f16", largest=g, nan_wins=False),
                code=code,
                limit=600,
            )
        )
    return found
