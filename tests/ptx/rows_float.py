# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of floating point arithmetic. Everything that is rounded is compared with exact rational arithmetic."""

from fractions import Fraction

import numpy as np

from tests.ptx import hazards
from tests.ptx.numbers import FORMATS, array_type, rounded, square_root, widen
from tests.ptx.rows_compare import flushed
from tests.ptx.table import ARRAY, Row

MODES = ("rn", "rz", "rm", "rp")


def make(
    name: str,
    kinds: tuple,
    result: str,
    expect,
    *,
    code: str = "",
    columns=None,
    limit: int = 1 << 12,
    **more,
) -> Row:
    names = ", ".join("{" + letter + "}" for letter in "abc"[: len(kinds)])
    chosen = columns or tuple((lambda kind=kind: hazards.of(kind, 10)) for kind in kinds)
    return Row(
        name=name,
        code=code or f"{name} {{d}}, {names};",
        sources=kinds,
        result=result,
        inputs=lambda: hazards.every(*(column() for column in chosen), limit=limit),
        expect=lambda *arrays: np.asarray(expect(*arrays)).astype(ARRAY[result], copy=False),
        **more,
    )


def is_negative(word: int, kind: str) -> bool:
    return bool(word >> (FORMATS[kind][0] - 1))


def sum_of(kind: str, mode: str, sign: int):
    """a + sign * b. Zeros of one sign keep it; an exact zero of two numbers is -0 when rounding down."""

    def compute(a, b, a_word, b_word):
        total = a + sign * b
        minus = [is_negative(a_word, kind), is_negative(b_word, kind) ^ (sign < 0)]
        if a == 0 and b == 0 and minus[0] == minus[1]:
            return total, minus[0]
        return total, mode == "rm"

    return compute


def fma_of(kind: str, mode: str):
    def compute(a, b, c, a_word, b_word, c_word):
        product_minus = is_negative(a_word, kind) ^ is_negative(b_word, kind)
        if a * b == 0 and c == 0 and product_minus == is_negative(c_word, kind):
            return Fraction(0), product_minus
        return a * b + c, mode == "rm"

    return compute


def product_of(kind: str):
    return lambda a, b, x, y: (a * b, is_negative(x, kind) ^ is_negative(y, kind))


def quotient_of(kind: str):
    def compute(a, b, x, y):
        return None if b == 0 else (a / b, is_negative(x, kind) ^ is_negative(y, kind))

    return compute


def root_of(kind: str):
    def compute(a, word):
        return None if a < 0 or (a == 0) else (square_root(a), False)

    return compute


def two(kind: str, operation: str, mode: str):
    """NumPy says what becomes of NaN, infinity and division by zero; exact arithmetic the rest."""
    native = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[operation]
    compute = {
        "add": sum_of(kind, mode, 1),
        "sub": sum_of(kind, mode, -1),
        "mul": product_of(kind),
        "div": quotient_of(kind),
    }[operation]
    return lambda a, b: rounded(
        kind, mode, native(widen(a, kind), widen(b, kind)), compute, (a, kind), (b, kind)
    )


def three(kind: str, mode: str):
    def expect(a, b, c):
        # only infinities, NaN and signs matter here: finite factors must not overflow
        x, y = (np.where(np.isfinite(w), np.clip(w, -2, 2), w) for w in (widen(a, kind), widen(b, kind)))
        special = x * y + widen(c, kind)
        return rounded(kind, mode, special, fma_of(kind, mode), (a, kind), (b, kind), (c, kind))

    return expect


def fma_inputs(kind: str):
    """Products near the third source, so that digits cancel and ties are broken by the last bit."""

    def columns() -> tuple:
        a, b, c = hazards.every(*[hazards.floats(kind, 2)] * 3, limit=1500)
        x, y = hazards.random(kind, 600, 5), hazards.random(kind, 600, 6)
        wide = widen(x, kind) * widen(y, kind)
        if kind == "bf16":
            near = (wide.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16) ^ np.uint16(0x8000)
        else:
            near = (-wide).astype(array_type(kind))
        return np.concatenate([a, x]), np.concatenate([b, y]), np.concatenate([c, near])

    return columns


def fma_row(name: str, kind: str, expect) -> Row:
    return Row(
        name=name,
        code=f"{name} {{d}}, {{a}}, {{b}}, {{c}};",
        sources=(kind,) * 3,
        result=kind,
        inputs=fma_inputs(kind),
        expect=expect,
    )


def rows() -> list[Row]:
    return rounding() + flushing() + halves() + signs() + extremes() + tests() + approximations()


def rounding() -> list[Row]:
    found = []
    for kind in ("f32", "f64"):
        for mode in MODES:
            for operation in ("add", "sub", "mul", "div"):
                found.append(
                    make(f"{operation}.{mode}.{kind}", (kind, kind), kind, two(kind, operation, mode))
                )
            found.append(fma_row(f"fma.{mode}.{kind}", kind, three(kind, mode)))
            found.append(
                make(
                    f"sqrt.{mode}.{kind}",
                    (kind,),
                    kind,
                    lambda a, k=kind, m=mode: rounded(
                        k, m, np.sqrt(a.astype(np.float64)), root_of(k), (a, k)
                    ),
                    columns=(lambda k=kind: hazards.floats(k, 300),),
                )
            )
            found.append(
                make(
                    f"rcp.{mode}.{kind}",
                    (kind,),
                    kind,
                    lambda a, k=kind, m=mode: two(k, "div", m)(np.ones_like(a), a),
                    columns=(lambda k=kind: hazards.floats(k, 300),),
                )
            )
    for operation in ("add", "sub", "mul"):
        found.append(make(f"{operation}.f32", ("f32", "f32"), "f32", two("f32", operation, "rn")))
        found.append(make(f"{operation}.f64", ("f64", "f64"), "f64", two("f64", operation, "rn")))
    return found


def saturated(a: np.ndarray) -> np.ndarray:
    return np.where(a > 0, np.minimum(a, a.dtype.type(1)), a.dtype.type(0))


def flushing() -> list[Row]:
    """ftz and sat."""
    found = []
    for mode in ("rn", "rz"):
        for operation in ("add", "mul", "div"):
            base = two("f32", operation, mode)
            found.append(
                make(
                    f"{operation}.{mode}.ftz.f32",
                    ("f32", "f32"),
                    "f32",
                    lambda a, b, f=base: flushed(f(flushed(a), flushed(b))),
                )
            )
    for operation in ("add", "sub", "mul"):
        base = two("f32", operation, "rn")
        found.append(
            make(f"{operation}.sat.f32", ("f32", "f32"), "f32", lambda a, b, f=base: saturated(f(a, b)))
        )
        found.append(
            make(
                f"{operation}.ftz.sat.f32",
                ("f32", "f32"),
                "f32",
                lambda a, b, f=base: flushed(saturated(f(flushed(a), flushed(b)))),
            )
        )
    base = three("f32", "rn")
    found.append(fma_row("fma.rn.sat.f32", "f32", lambda a, b, c: saturated(base(a, b, c))))
    found.append(
        fma_row("fma.rn.ftz.f32", "f32", lambda a, b, c: flushed(base(flushed(a), flushed(b), flushed(c))))
    )
    return found


def lanes(kind: str, function):
    """A function of a 16-bit type, on both halves of each word."""
    element = array_type(kind)
    return lambda *arrays: np.ascontiguousarray(
        function(*(np.ascontiguousarray(array).view(element) for array in arrays))
    ).view(np.uint32)


def halves() -> list[Row]:
    found = []
    for kind in ("f16", "bf16"):
        pair = f"{kind}x2"
        for operation in ("add", "sub", "mul"):
            expect = two(kind, operation, "rn")
            found.append(make(f"{operation}.rn.{kind}", (kind, kind), kind, expect))
            found.append(make(f"{operation}.rn.{pair}", (pair, pair), pair, lanes(kind, expect), limit=600))
        expect = three(kind, "rn")
        found.append(fma_row(f"fma.rn.{kind}", kind, expect))
        found.append(make(f"fma.rn.{pair}", (pair,) * 3, pair, lanes(kind, expect), limit=600))
        found.append(fma_row(f"fma.rn.relu.{kind}", kind, relu(kind, expect)))
    base = two("f16", "add", "rn")
    found.append(make("add.sat.f16", ("f16", "f16"), "f16", lambda a, b: saturated(base(a, b))))
    found.append(
        make("add.ftz.f16", ("f16", "f16"), "f16", lambda a, b: flushed(base(flushed(a), flushed(b))))
    )
    return found


def relu(kind: str, function):
    def expect(*arrays):
        result = function(*arrays)
        wide = widen(result, kind)
        return np.where(wide <= 0, result.dtype.type(0), result)

    return expect


def signs() -> list[Row]:
    found = []
    for kind in ("f16", "bf16", "f32", "f64"):
        bits, _, _, word = FORMATS[kind]
        top = word(1 << bits - 1)

        def on_bits(function, w=word):
            return lambda a: function(a.view(w)).view(a.dtype)

        found.append(make(f"neg.{kind}", (kind,), kind, on_bits(lambda a, t=top: a ^ t)))
        found.append(make(f"abs.{kind}", (kind,), kind, on_bits(lambda a, t=top: a & ~t)))
    found.append(make("neg.ftz.f32", ("f32",), "f32", lambda a: -flushed(a)))
    found.append(make("abs.ftz.f32", ("f32",), "f32", lambda a: np.abs(flushed(a))))
    for kind in ("f32", "f64"):
        found.append(make(f"copysign.{kind}", (kind, kind), kind, lambda a, b: np.copysign(b, a)))
    return found


def smaller(a: np.ndarray, b: np.ndarray, kind: str, *, largest: bool, nan_wins: bool) -> np.ndarray:
    x, y = widen(a, kind), widen(b, kind)
    before = (x < y) | ((x == y) & (np.signbit(x) & ~np.signbit(y)))
    result = np.where(before ^ largest, a, b)
    result = np.where((x == y) & (np.signbit(x) == np.signbit(y)), a, result)
    if nan_wins:
        return np.where(np.isnan(x), a, np.where(np.isnan(y), b, result))
    return np.where(np.isnan(x), b, np.where(np.isnan(y), a, result))


def extremes() -> list[Row]:
    found = []
    for name, largest in (("min", False), ("max", True)):
        for kind in ("f16", "bf16", "f32", "f64"):
            for nan in ("", ".NaN") if kind != "f64" else ("",):
                found.append(
                    make(
                        f"{name}{nan}.{kind}",
                        (kind, kind),
                        kind,
                        lambda a, b, k=kind, g=largest, n=bool(nan): smaller(a, b, k, largest=g, nan_wins=n),
                    )
                )
        found.append(
            make(
                f"{name}.ftz.f32",
                ("f32", "f32"),
                "f32",
                lambda a, b, g=largest: smaller(flushed(a), flushed(b), "f32", largest=g, nan_wins=False),
            )
        )

        def crossed(a, b, g=largest):
            size = smaller(np.abs(a), np.abs(b), "f32", largest=g, nan_wins=False)
            return np.where(
                np.isnan(a) & np.isnan(b),
                size,
                np.copysign(size, np.where(np.signbit(a) ^ np.signbit(b), -1, 1)),
            )

        found.append(make(f"{name}.xorsign.abs.f32", ("f32", "f32"), "f32", crossed))
        found.append(
            make(
                f"{name}.f16x2",
                ("f16x2", "f16x2"),
                "f16x2",
                lanes("f16", lambda a, b, g=largest: smaller(a, b, "f16", largest=g, nan_wins=False)),
                limit=600,
            )
        )
    return found


def tests() -> list[Row]:
    def normal(a):
        return np.isfinite(a) & (np.abs(a) >= np.finfo(a.dtype).tiny)

    cases = {
        "finite": np.isfinite,
        "infinite": np.isinf,
        "number": lambda a: ~np.isnan(a),
        "notanumber": np.isnan,
        "normal": normal,
        "subnormal": lambda a: np.isfinite(a) & ~normal(a) & (a != 0),
    }
    return [
        make(
            f"testp.{name}.{kind}",
            (kind,),
            "u32",
            expect,
            code=f"testp.{name}.{kind} {{p}}, {{a}}; selp.u32 {{d}}, 1, 0, {{p}};",
        )
        for name, expect in cases.items()
        for kind in ("f32", "f64")
    ]


def wide(function):
    """In double, rounded once."""
    return lambda *arrays: function(*(array.astype(np.float64) for array in arrays)).astype(arrays[0].dtype)


def spread(low: float, high: float):
    return lambda: np.concatenate(
        [
            np.linspace(low, high, 2000, dtype=np.float32),
            np.array([0.0, -0.0, np.inf, -np.inf, np.nan], np.float32),
        ]
    )


def approximations() -> list[Row]:
    """With the error bounds that the PTX manual gives for the hardware; sin and cos where it gives one."""
    angle = spread(-3.14159, 3.14159)

    def all_floats() -> np.ndarray:
        return hazards.floats("f32", 500)

    def normal_floats() -> np.ndarray:
        found = hazards.floats("f32", 500)
        return found[~((np.abs(found) < np.finfo(np.float32).tiny) & (found != 0))]

    unary = [
        ("sin", np.sin, angle, {"absolute": 2**-20.5}),
        ("cos", np.cos, angle, {"absolute": 2**-20.5}),
        ("ex2", np.exp2, spread(-160, 140), {"ulps": 4}),
        ("lg2", np.log2, normal_floats, {"ulps": 4, "absolute": 2**-22}),
        ("tanh", np.tanh, spread(-20, 20), {"ulps": 2**13, "absolute": 0}),
        ("rcp", np.reciprocal, normal_floats, {"ulps": 1}),
        ("sqrt", np.sqrt, normal_floats, {"ulps": 2}),
        ("rsqrt", lambda a: 1 / np.sqrt(a), normal_floats, {"ulps": 3}),
    ]
    found = []
    for name, exact, column, tolerance in unary:
        function = wide(exact)
        found.append(make(f"{name}.approx.f32", ("f32",), "f32", function, columns=(column,), **tolerance))
        if name != "tanh":
            found.append(
                make(
                    f"{name}.approx.ftz.f32",
                    ("f32",),
                    "f32",
                    lambda a, f=function: flushed(f(flushed(a))),
                    columns=(all_floats if name not in ("sin", "cos", "ex2") else column,),
                    **tolerance,
                )
            )
    for name in ("div.approx.f32", "div.full.f32", "div.approx.ftz.f32", "div.full.ftz.f32"):
        flush = flushed if "ftz" in name else (lambda a: a)
        found.append(
            make(
                name,
                ("f32", "f32"),
                "f32",
                lambda a, b, f=flush: f(wide(np.divide)(f(a), f(b))),
                ulps=2,
                # div.approx promises nothing for divisors beyond 2^126, nor for subnormals without ftz
                undefined=lambda a, b: (np.abs(b) > 2.0**126) | _is_tiny(a) | _is_tiny(b) | _is_tiny(a / b),
            )
        )
    found.append(
        make("rsqrt.approx.f64", ("f64",), "f64", lambda a: 1 / np.sqrt(a), ulps=2**23, columns=(_ordinary,))
    )
    found.append(
        make("rcp.approx.ftz.f64", ("f64",), "f64", lambda a: 1 / a, ulps=2**33, columns=(_ordinary,))
    )
    found.append(
        make(
            "ex2.approx.f16",
            ("f16",),
            "f16",
            wide(np.exp2),
            columns=(lambda: np.linspace(-14, 15, 700, dtype=np.float16),),
            ulps=2,
        )
    )
    found.append(
        make(
            "tanh.approx.f16",
            ("f16",),
            "f16",
            wide(np.tanh),
            columns=(lambda: np.linspace(-6, 6, 700, dtype=np.float16),),
            absolute=2**-10.9,
        )
    )
    return found


def _is_tiny(a: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return (np.abs(a) < np.finfo(np.float32).tiny) & (a != 0)


def _ordinary() -> np.ndarray:
    return np.abs(np.random.default_rng(3).normal(size=500)) + 1e-3
