# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Several narrow numbers in one register: dot products, pairs of 16 bit integers, pairs of f16 and bf16."""

import numpy as np

from tests.ptx import exact, hazards
from tests.ptx.exact import integers
from tests.ptx.table import op


def parts(value, bits, count, signed):
    found = [value >> bits * k & (1 << bits) - 1 for k in range(count)]
    return [v - (1 << bits) if signed and v >> (bits - 1) else v for v in found]


for x in ("u32", "s32"):
    for y in ("u32", "s32"):
        out = "s32" if "s32" in (x, y) else "u32"

        def four(a, b, c, x=x, y=y):
            return c + sum(
                p * q for p, q in zip(parts(a, 8, 4, x == "s32"), parts(b, 8, 4, y == "s32"), strict=True)
            )

        def two(a, b, c, half, x=x, y=y):
            bytes_of_b = parts(b, 8, 4, y == "s32")[half : half + 2]
            return c + sum(p * q for p, q in zip(parts(a, 16, 2, x == "s32"), bytes_of_b, strict=True))

        op(
            f"dp4a.{x}.{y}",
            f"b32 b32 {out} -> {out}",
            lambda a, b, c, f=four, o=out: integers(f, hazards.DTYPES[o], a, b, c),
            inputs="random_bits",
        )
        for name, half in (("lo", 0), ("hi", 2)):
            op(
                f"dp2a.{name}.{x}.{y}",
                f"b32 b32 {out} -> {out}",
                lambda a, b, c, f=two, h=half, o=out: integers(
                    lambda *v: f(*v, h), hazards.DTYPES[o], a, b, c
                ),
                inputs="random_bits",
            )


def halves(array, dtype):
    return array.view(np.uint16).view(dtype)


for kind, dtype in (("u16x2", np.uint16), ("s16x2", np.int16)):
    for name, ufunc in (("add", np.add), ("min", np.minimum), ("max", np.maximum)):
        op(
            f"{name}.{kind}",
            f"{kind} {kind} -> {kind}",
            lambda a, b, f=ufunc, t=dtype: f(halves(a, t), halves(b, t)).view(np.uint32),
        )


def pairs(kind, count):
    """Two independent operands of the narrow type in each word."""
    low = hazards.operands("nans_infs_zeros_denormals", [kind] * count)
    high = [np.roll(a, 37) for a in low]
    return [
        np.stack([lo.view(np.uint16), hi.view(np.uint16)], axis=1).copy().view(np.uint32).reshape(-1)
        for lo, hi in zip(low, high, strict=True)
    ]


def of_pairs(operation):
    def expect(*arrays):
        return exact.elementwise(operation, np.uint16, *(a.view(np.uint16) for a in arrays)).view(np.uint32)

    return expect


for kind in ("f16", "bf16"):
    f = exact.FORMATS[kind]
    packed = f"{kind}x2"
    two, three = f"{packed} {packed} -> {packed}", f"{packed} {packed} {packed} -> {packed}"
    pack = "" if kind == "f16" else ".rn"
    for name in ("add", "sub", "mul"):
        operation = getattr(exact, name)
        op(
            f"{name}{pack}.{packed}",
            two,
            of_pairs(lambda a, b, f=f, g=operation: g(f, "rn", a, b)),
            arrays=pairs(kind, 2),
        )
    op(
        f"fma.rn.{packed}",
        three,
        of_pairs(lambda a, b, c, f=f: exact.fma(f, "rn", a, b, c)),
        arrays=pairs(kind, 3),
    )
    op(
        f"neg.{packed}",
        f"{packed} -> {packed}",
        of_pairs(lambda a, f=f: a ^ f.sign_bit),
        arrays=pairs(kind, 1),
    )
    op(
        f"abs.{packed}",
        f"{packed} -> {packed}",
        of_pairs(lambda a, f=f: a & ~f.sign_bit),
        arrays=pairs(kind, 1),
    )
    for name, operation in (("min", exact.minimum), ("max", exact.maximum)):
        op(
            f"{name}.{packed}",
            two,
            of_pairs(lambda a, b, f=f, g=operation: g(f, a, b)),
            arrays=pairs(kind, 2),
        )
FLUSHING = exact.Flushing.of(exact.F16)
op(
    "fma.rn.ftz.sat.f16x2",
    "f16x2 f16x2 f16x2 -> f16x2",
    of_pairs(
        lambda *values: exact.saturate(FLUSHING, exact.fma(FLUSHING, "rn", *map(FLUSHING.flush, values)))
    ),
    arrays=pairs("f16", 3),
)
op(
    "setp.lt.f16x2",
    "f16x2 f16x2 -> u32",
    lambda a, b: np.array(
        [x + 2 * y for x, y in (halves(a, np.float16) < halves(b, np.float16)).reshape(-1, 2).tolist()],
        np.uint32,
    ),
    body="setp.lt.f16x2 %q|%h, %a, %b;\n  selp.u32 %d, 1, 0, %q;\n  @%h add.u32 %d, %d, 2;",
    regs=".reg .pred %h;",
    arrays=pairs("f16", 2),
)
for name, compare in (("eq", np.equal), ("neu", np.not_equal), ("gt", np.greater)):
    op(
        f"set.{name}.f16x2.f16x2",
        "f16x2 f16x2 -> f16x2",
        lambda a, b, f=compare: (
            f(halves(a, np.float16), halves(b, np.float16)).astype(np.float16).view(np.uint32)
        ),
        arrays=pairs("f16", 2),
    )
