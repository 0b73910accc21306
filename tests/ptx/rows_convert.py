# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""cvt between every pair of types: widths, signs, saturation, the four directions of rounding, clamping, NaN."""

import numpy as np

from tests.ptx import exact
from tests.ptx.exact import F32, F64, FORMATS, elementwise, integers
from tests.ptx.hazards import DTYPES
from tests.ptx.table import op

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
TO_INTEGRAL = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}
HALFWAY = "halfway_cases_for_rounding"
PLAIN = "nans_infs_zeros_denormals"


def limits(kind):
    bits = int(kind[1:])
    return (0, (1 << bits) - 1) if kind[0] == "u" else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def clamp(value, kind):
    low, high = limits(kind)
    return min(max(value, low), high)


for source in INTEGERS:
    for target in INTEGERS:
        if source == target:
            continue
        out = DTYPES[target]
        op(f"cvt.{target}.{source}", f"{source} -> {target}", lambda a, t=out: integers(lambda x: x, t, a))
        # .sat is refused where every value of the source fits.
        if any(clamp(value, target) != value for value in limits(source)):
            op(
                f"cvt.sat.{target}.{source}",
                f"{source} -> {target}",
                lambda a, t=out, k=target: integers(lambda x: clamp(x, k), t, a),
            )


def to_integer(f, mode, target, a, ftz=False):
    """NaN is 0, but the bit of the sign where either side has 64 bits (PTX ISA, cvt)."""
    if f.is_nan(a):
        return 1 << (int(target[1:]) - 1) if f is F64 or target[1:] == "64" else 0
    return exact.to_integer(f, mode, f.flush(a) if ftz else a, *limits(target)) & (1 << int(target[1:])) - 1


for source in ("f16", "bf16", "f32", "f64"):
    f = FORMATS[source]
    for target in INTEGERS:
        if source == "bf16" and target[1:] == "8":
            continue
        for name, mode in TO_INTEGRAL.items():
            op(
                f"cvt.{name}.{target}.{source}",
                f"{source} -> {target}",
                lambda a, f=f, m=mode, t=target: elementwise(lambda x: to_integer(f, m, t, x), DTYPES[t], a),
                inputs=HALFWAY if mode == "rn" else PLAIN,
            )
for target in ("u32", "s32", "u64", "s64"):
    op(
        f"cvt.rpi.ftz.{target}.f32",
        f"f32 -> {target}",
        lambda a, t=target: elementwise(lambda x: to_integer(F32, "rp", t, x, True), DTYPES[t], a),
    )
    op(
        f"cvt.rzi.sat.{target}.f32",
        f"f32 -> {target}",
        lambda a, t=target: elementwise(lambda x: to_integer(F32, "rz", t, x), DTYPES[t], a),
    )

for target in ("f16", "f32", "f64", "bf16"):
    f, out = FORMATS[target], DTYPES[target]
    for source in INTEGERS:
        for mode in exact.MODES if target != "bf16" else ("rn", "rz"):
            if target == "bf16" and source[1:] == "8":
                continue
            op(
                f"cvt.{mode}.{target}.{source}",
                f"{source} -> {target}",
                lambda a, f=f, m=mode, o=out: integers(lambda x: exact.from_integer(f, m, x), o, a),
            )
op(
    "cvt.rn.sat.f32.s32",
    "s32 -> f32",
    lambda a: integers(lambda x: exact.saturate(F32, exact.from_integer(F32, "rn", x)), np.float32, a),
)

FLOAT_PAIRS = {
    ("f16", "f32"): "rn rz rm rp",
    ("f16", "f64"): "rn rz rm rp",
    ("f32", "f64"): "rn rz rm rp",
    ("bf16", "f32"): "rn rz rm rp",
    ("bf16", "f16"): "rn rz rm rp",
    ("bf16", "f64"): "rn rz rm rp",
    ("f16", "bf16"): "rn rz rm rp",
    ("f32", "f16"): "",
    ("f64", "f16"): "",
    ("f64", "f32"): "",
    ("f32", "bf16"): "",
    ("f64", "bf16"): "",
}


def between(source, target, mode, *, flush_in=False, flush_out=False, sat=False, relu=False):
    f, g = FORMATS[source], FORMATS[target]

    def one(a):
        found = exact.convert(f, g, mode, f.flush(a) if flush_in else a)
        if sat:
            found = exact.saturate(g, found)
        if relu and not g.is_nan(found) and g.sign(found):
            found = 0
        return g.flush(found) if flush_out else found

    return lambda a: elementwise(one, DTYPES[target], a)


def hard_to_round(source, target):
    """Floats next to the values and the halfway points of the narrower format, subnormal and overflowing ones too."""
    f, g = FORMATS[source], FORMATS[target]
    rng = np.random.default_rng(7)
    narrow = rng.integers(0, 1 << g.bits, 150, dtype=np.uint64)
    narrow[:20] = [*range(10), *range(g.greatest - 9, g.greatest + 1)]
    made = []
    for value in narrow.tolist():
        if g.is_nan(value):
            value = g.greatest
        below, above = (
            exact.convert(g, F64, "rn", value),
            exact.convert(g, F64, "rn", (value + 1) & ~(value & g.sign_bit)),
        )
        middle = exact.mul(F64, "rn", exact.add(F64, "rn", below, above), 0x3FE0000000000000)
        centre = exact.convert(F64, f, "rn", middle if not F64.is_infinite(middle) else below)
        made += [centre, centre + 1, max(centre - 1, 0), exact.convert(F64, f, "rn", below)]
    return np.array(made[:600] + made[:40], np.uint64).astype(f"u{f.bits // 8}").view(DTYPES[source])


for (target, source), modes in FLOAT_PAIRS.items():
    for mode in modes.split() or [""]:
        dot = f".{mode}" if mode else ""
        name = f"cvt{dot}.{target}.{source}"
        op(name, f"{source} -> {target}", between(source, target, mode or "rn"))
        if mode and FORMATS[source].p > FORMATS[target].p:
            op(
                f"{name} near halfway",
                f"{source} -> {target}",
                between(source, target, mode),
                body=f"{name} %d, %a;",
                arrays=[hard_to_round(source, target)],
            )

op("cvt.ftz.f64.f32", "f32 -> f64", between("f32", "f64", "rn", flush_in=True))
op("cvt.rn.ftz.f32.f64", "f64 -> f32", between("f64", "f32", "rn", flush_out=True))
op("cvt.rz.ftz.f32.f64", "f64 -> f32", between("f64", "f32", "rz", flush_out=True))
op("cvt.rn.ftz.f16.f32", "f32 -> f16", between("f32", "f16", "rn", flush_in=True))
op("cvt.sat.f32.f32", "f32 -> f32", between("f32", "f32", "rn", sat=True))
op("cvt.ftz.sat.f32.f32", "f32 -> f32", between("f32", "f32", "rn", sat=True, flush_in=True))
op("cvt.ftz.f32.f32", "f32 -> f32", between("f32", "f32", "rn", flush_in=True))
op("cvt.sat.f64.f64", "f64 -> f64", between("f64", "f64", "rn", sat=True))
op("cvt.rn.sat.f32.f64", "f64 -> f32", between("f64", "f32", "rn", sat=True))
op("cvt.rn.sat.f16.f32", "f32 -> f16", between("f32", "f16", "rn", sat=True))
op("cvt.rn.relu.bf16.f32", "f32 -> bf16", between("f32", "bf16", "rn", relu=True))
op("cvt.rn.relu.f16.f32", "f32 -> f16", between("f32", "f16", "rn", relu=True))

for kind in ("f16", "f32", "f64"):
    f = FORMATS[kind]
    for name, mode in TO_INTEGRAL.items():
        for sat in (False, True) if kind == "f32" else (False,):

            def integral(a, f=f, m=mode, s=sat):
                found = exact.round_to_integral(f, m, a)
                return exact.saturate(f, found) if s else found

            op(
                f"cvt.{name}{'.sat' * sat}.{kind}.{kind}",
                f"{kind} -> {kind}",
                lambda a, g=integral: elementwise(g, a.dtype, a),
                inputs=HALFWAY,
            )
op(
    "cvt.rpi.ftz.f32.f32",
    "f32 -> f32",
    lambda a: elementwise(lambda x: exact.round_to_integral(F32, "rp", F32.flush(x)), np.float32, a),
)

for kind in ("f16", "bf16"):
    for suffix, options in (("rn", {}), ("rz", {}), ("rn.relu", {"relu": True})):
        one = between("f32", kind, suffix[:2], **options)
        op(
            f"cvt.{suffix}.{kind}x2.f32",
            f"f32 f32 -> {kind}x2",
            lambda a, b, f=one: (
                f(a).view(np.uint16).astype(np.uint32) << 16 | f(b).view(np.uint16).astype(np.uint32)
            ),
        )

# A result narrower than its register is extended to the register; an operand narrower than its register is cut.
op("cvt.u8.u32 into 32 bits", "u32 -> u32", lambda a: a & 0xFF, body="cvt.u8.u32 %d, %a;")
op(
    "cvt.s8.s32 into 32 bits",
    "s32 -> s32",
    lambda a: a.astype(np.int8).astype(np.int32),
    body="cvt.s8.s32 %d, %a;",
)
op(
    "cvt.s16.s64 into 64 bits",
    "s64 -> s64",
    lambda a: a.astype(np.int16).astype(np.int64),
    body="cvt.s16.s64 %d, %a;",
)
op(
    "cvt.s32.s8 from 32 bits",
    "u32 -> s32",
    lambda a: a.astype(np.int8).astype(np.int32),
    body="cvt.s32.s8 %d, %a;",
)
op("cvt.u64.u16 from 64 bits", "u64 -> u64", lambda a: a & 0xFFFF, body="cvt.u64.u16 %d, %a;")
op(
    "cvt.sat.s8.s32 into 32 bits",
    "s32 -> s32",
    lambda a: np.clip(a, -128, 127),
    body="cvt.sat.s8.s32 %d, %a;",
)
op(
    "cvt.rzi.u8.f32 into 32 bits",
    "f32 -> u32",
    lambda a: elementwise(lambda x: to_integer(F32, "rz", "u8", x), np.uint32, a),
    body="cvt.rzi.u8.f32 %d, %a;",
)
op(
    "cvt.rzi.s16.f32 into 32 bits",
    "f32 -> s32",
    lambda a: (
        elementwise(lambda x: to_integer(F32, "rz", "s16", x), np.uint16, a).view(np.int16).astype(np.int32)
    ),
    body="cvt.rzi.s16.f32 %d, %a;",
)
