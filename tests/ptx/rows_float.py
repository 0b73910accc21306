# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Floating point arithmetic that is defined to the last bit: every direction of rounding, ftz, sat, NaN and -0."""

import numpy as np

from tests.ptx import exact, hazards
from tests.ptx.exact import F64, FORMATS, MODES, elementwise
from tests.ptx.hazards import DTYPES
from tests.ptx.table import op


def row(name, kind, count, operation, *, ftz=False, sat=False, relu=False, **more):
    """`operation` takes and gives bits."""
    f = exact.Flushing.of(FORMATS[kind]) if ftz else FORMATS[kind]

    def one(*values):
        found = operation(f, *(map(f.flush, values) if ftz else values))
        if sat:
            found = exact.saturate(f, found)
        if relu and not f.is_nan(found) and f.sign(found):
            found = 0
        return f.flush(found) if ftz else found

    op(
        name,
        f"{' '.join([kind] * count)} -> {kind}",
        lambda *arrays: elementwise(one, DTYPES[kind], *arrays),
        **more,
    )


def rounded(name, mode):
    operation = getattr(exact, name)
    return lambda f, *values: operation(f, mode, *values)


def reciprocal(mode):
    return lambda f, a: exact.div(f, mode, f.bias << f.fraction_bits, a)


COUNTS = {"add": 2, "sub": 2, "mul": 2, "fma": 3, "div": 2, "sqrt": 1}

for kind in ("f32", "f64"):
    for mode in MODES:
        for name, count in COUNTS.items():
            row(f"{name}.{mode}.{kind}", kind, count, rounded(name, mode))
            if kind == "f32":
                row(f"{name}.{mode}.ftz.f32", kind, count, rounded(name, mode), ftz=True)
                if name in ("add", "sub", "mul", "fma"):
                    row(f"{name}.{mode}.sat.f32", kind, count, rounded(name, mode), sat=True)
        row(f"rcp.{mode}.{kind}", kind, 1, reciprocal(mode))
    for name in ("add", "sub", "mul"):
        row(f"{name}.{kind}", kind, 2, rounded(name, "rn"))
for name in ("add", "sub", "mul", "fma"):
    row(f"{name}.rz.ftz.sat.f32", "f32", COUNTS[name], rounded(name, "rz"), ftz=True, sat=True)
row("rcp.rn.ftz.f32", "f32", 1, reciprocal("rn"), ftz=True)
row("mad.rn.f64", "f64", 3, rounded("fma", "rn"))
row("mad.rp.f32", "f32", 3, rounded("fma", "rp"))

for kind in ("f16", "bf16"):
    for name in ("add", "sub", "mul"):
        row(f"{name}.rn.{kind}", kind, 2, rounded(name, "rn"))
        row(f"{name}.{kind}", kind, 2, rounded(name, "rn"))
    row(f"fma.rn.{kind}", kind, 3, rounded("fma", "rn"))
    row(f"fma.rn.relu.{kind}", kind, 3, rounded("fma", "rn"), relu=True)
for name in ("add", "sub", "mul", "fma"):
    row(f"{name}.rn.ftz.f16", "f16", COUNTS[name], rounded(name, "rn"), ftz=True)
    row(f"{name}.rn.sat.f16", "f16", COUNTS[name], rounded(name, "rn"), sat=True)

# An operand that rounds twice in double shows: its product needs more than 2 * 11 bits against the sum.
STICKY = hazards.operands("random_bits", ["f16", "f16", "f16"])
row(
    "fma.rn.f16 of random bits",
    "f16",
    3,
    rounded("fma", "rn"),
    body="fma.rn.f16 %d, %a, %b, %c;",
    arrays=STICKY,
)
STICKY = hazards.operands("random_bits", ["bf16", "bf16", "bf16"])
row(
    "fma.rn.bf16 of random bits",
    "bf16",
    3,
    rounded("fma", "rn"),
    body="fma.rn.bf16 %d, %a, %b, %c;",
    arrays=STICKY,
)


def near_total_cancellation(kind):
    """c = -(a * b) rounded, moved by up to an ulp: what is left is the rounding error of the product."""
    f = FORMATS[kind]
    a, b = (v.view(hazards.bits_dtype(kind)).tolist() for v in hazards.operands("random_bits", [kind, kind]))
    mask = (1 << f.fraction_bits) - 1
    spread = f.bias << f.fraction_bits
    a, b = ([v & mask | v & f.sign_bit | spread for v in values] for values in (a, b))
    c = [
        (exact.mul(f, "rn", x, y) ^ f.sign_bit) + k % 3 - 1 for k, (x, y) in enumerate(zip(a, b, strict=True))
    ]
    return [np.array(v, hazards.bits_dtype(kind)).view(DTYPES[kind]) for v in (a, b, c)]


for kind in ("f16", "f32", "f64"):
    row(
        f"fma.rn.{kind} near total cancellation",
        kind,
        3,
        rounded("fma", "rn"),
        body=f"fma.rn.{kind} %d, %a, %b, %c;",
        arrays=near_total_cancellation(kind),
    )


def or_nan(f, a, b, operation):
    return f.nan if f.is_nan(a) or f.is_nan(b) else operation(f, a, b)


def xorsign(f, a, b, operation):
    found = operation(f, a & ~f.sign_bit, b & ~f.sign_bit)
    return found if f.is_nan(found) else found & ~f.sign_bit | (a ^ b) & f.sign_bit


for kind in ("f16", "bf16", "f32", "f64"):
    row(f"neg.{kind}", kind, 1, lambda f, a: a ^ f.sign_bit)
    row(f"abs.{kind}", kind, 1, lambda f, a: a & ~f.sign_bit)
    for name in ("min", "max"):
        operation = getattr(exact, f"{name}imum")
        row(f"{name}.{kind}", kind, 2, operation)
        if kind != "f64":
            row(f"{name}.NaN.{kind}", kind, 2, lambda f, a, b, g=operation: or_nan(f, a, b, g))
            row(
                f"{name}.xorsign.abs.{kind}",
                kind,
                2,
                lambda f, a, b, g=operation: xorsign(f, a, b, g),
            )
        if kind in ("f16", "f32"):
            row(f"{name}.ftz.{kind}", kind, 2, operation, ftz=True)
for kind in ("f16", "f32"):
    row(f"neg.ftz.{kind}", kind, 1, lambda f, a: a ^ f.sign_bit, ftz=True)
    row(f"abs.ftz.{kind}", kind, 1, lambda f, a: a & ~f.sign_bit, ftz=True)
for kind in ("f32", "f64"):
    # copysign.f32 d, a, b: the sign of a on the magnitude of b.
    row(f"copysign.{kind}", kind, 2, lambda f, a, b: a & f.sign_bit | b & ~f.sign_bit, same_nan=True)

HEX = {"f32": "0f3F800001", "f64": "0d3FF0000000000001"}
for kind, text in HEX.items():
    one = int(text[2:], 16)
    row(
        f"add.{kind} of a hexadecimal immediate",
        kind,
        1,
        lambda f, a, b=one: exact.add(f, "rn", a, b),
        body=f"add.{kind} %d, %a, {text};",
    )
    row(
        f"mul.{kind} of a decimal immediate",
        kind,
        1,
        lambda f, a, k=kind: exact.mul(
            f, "rn", a, exact.convert(F64, FORMATS[k], "rn", int(np.float64(0.1).view(np.uint64)))
        ),
        body=f"mul.{kind} %d, %a, 0.1;",
    )
for kind in ("f32", "f64"):
    # a * b + c must not become an fma behind the program's back.
    row(
        f"mul.rn.{kind} add.rn.{kind} are not contracted",
        kind,
        3,
        lambda f, a, b, c: exact.add(f, "rn", exact.mul(f, "rn", a, b), c),
        body=f"mul.rn.{kind} %d, %a, %b;\n  add.rn.{kind} %d, %d, %c;",
        arrays=near_total_cancellation(kind),
    )
    row(
        f"add.{kind} keeps a signed zero",
        kind,
        1,
        lambda f, a: exact.add(f, "rn", exact.add(f, "rn", a, 0), f.sign_bit),
        body=f"add.rn.{kind} %d, %a, {'0f00000000' if kind == 'f32' else '0d0000000000000000'};\n"
        f"  add.rn.{kind} %d, %d, {'0f80000000' if kind == 'f32' else '0d8000000000000000'};",
    )
