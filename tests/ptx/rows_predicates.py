# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons and what is chosen by them: setp, set, selp, slct."""

import operator

import numpy as np

from tests.ptx import exact
from tests.ptx.hazards import is_float
from tests.ptx.table import op, widened

ORDERED = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}
UNSIGNED = {"lo": operator.lt, "ls": operator.le, "hi": operator.gt, "hs": operator.ge}
FLOATS = ("f16", "bf16", "f32", "f64")


def compare(name, kind, a, b):
    """The comparison of the PTX ISA, as an array of bool."""
    if not is_float(kind):
        return {**ORDERED, **UNSIGNED}[name](a, b)
    x, y = widened(kind, a), widened(kind, b)
    unordered = np.isnan(x) | np.isnan(y)
    if name in ("num", "nan"):
        return unordered if name == "nan" else ~unordered
    if name.endswith("u"):
        return unordered | ORDERED[name[:-1]](x, y)
    return ~unordered & ORDERED[name](x, y)


def names_of(kind):
    if is_float(kind):
        return [*ORDERED, *(f"{name}u" for name in ORDERED), "num", "nan"]
    if kind[0] == "b":
        return ["eq", "ne"]
    return [*ORDERED, *(UNSIGNED if kind[0] == "u" else ())]


def flushed(kind, a):
    if kind not in ("f16", "f32"):
        return a
    return exact.elementwise(exact.FORMATS[kind].flush, a.dtype, a)


def as_pred(values):
    return values.astype(np.uint32)


for kind in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", *FLOATS):
    for name in names_of(kind):
        op(
            f"setp.{name}.{kind}",
            f"{kind} {kind} -> pred",
            lambda a, b, n=name, k=kind: as_pred(compare(n, k, a, b)),
        )
for name in ("eq", "lt", "geu", "neu"):
    for kind in ("f16", "f32"):
        op(
            f"setp.{name}.ftz.{kind}",
            f"{kind} {kind} -> pred",
            lambda a, b, n=name, k=kind: as_pred(compare(n, k, flushed(k, a), flushed(k, b))),
        )

BOOLEANS = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
for boolean, combine in BOOLEANS.items():
    for not_c in (False, True):
        op(
            f"setp.lt.{boolean}.s32 p|q with {'!' * not_c}c",
            "s32 s32 u32 -> u32",
            lambda a, b, c, f=combine, n=not_c: (
                f(a < b, (c & 1 == 1) ^ n).astype(np.uint32)
                + 2 * f(~(a < b), (c & 1 == 1) ^ n).astype(np.uint32)
            ),
            body=f"""and.b32 %c, %c, 1;
  setp.eq.u32 %r, %c, 1;
  setp.lt.{boolean}.s32 %q|%s, %a, %b, {"!" * not_c}%r;
  selp.u32 %d, 1, 0, %q;
  @%s add.u32 %d, %d, 2;""",
            regs=".reg .pred %r, %s;",
        )
    op(
        f"setp.ltu.{boolean}.f32 p|q",
        "f32 f32 u32 -> u32",
        lambda a, b, c, f=combine: (
            f(compare("ltu", "f32", a, b), c & 1 == 1).astype(np.uint32)
            + 2 * f(~compare("ltu", "f32", a, b), c & 1 == 1).astype(np.uint32)
        ),
        body=f"""and.b32 %c, %c, 1;
  setp.eq.u32 %r, %c, 1;
  setp.ltu.{boolean}.f32 %q|%s, %a, %b, %r;
  selp.u32 %d, 1, 0, %q;
  @%s add.u32 %d, %d, 2;""",
        regs=".reg .pred %r, %s;",
    )
op(
    "setp p|q without a boolean",
    "u64 u64 -> u32",
    lambda a, b: np.where(a >= b, 1, 2).astype(np.uint32),
    body="setp.hs.u64 %q|%s, %a, %b;\n  selp.u32 %d, 1, 0, %q;\n  @%s add.u32 %d, %d, 2;",
    regs=".reg .pred %s;",
)

for kind in ("b16", "b32", "b64", "u16", "s32", "u64", "f32", "f64"):
    op(
        f"selp.{kind}",
        f"{kind} {kind} u32 -> {kind}",
        lambda a, b, c: np.where(c & 1 == 1, a, b),
        body=f"and.b32 %c, %c, 1;\n  setp.eq.u32 %q, %c, 1;\n  selp.{kind} %d, %a, %b, %q;",
        same_nan=True,
    )
for kind in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"):
    op(
        f"slct.{kind}.s32",
        f"{kind} {kind} s32 -> {kind}",
        lambda a, b, c: np.where(c >= 0, a, b),
        same_nan=True,
    )
    op(
        f"slct.{kind}.f32",
        f"{kind} {kind} f32 -> {kind}",
        lambda a, b, c: np.where(c >= 0, a, b),
        same_nan=True,
    )
op(
    "slct.ftz.u32.f32",
    "u32 u32 f32 -> u32",
    lambda a, b, c: np.where(flushed("f32", c) >= 0, a, b),
)

for kind in ("b32", "u16", "u32", "s32", "s64", "f32", "f64"):
    for out in ("u32", "s32", "f32"):
        for name in ("eq", "ne") if kind[0] == "b" else ("eq", "lt", "geu" if is_float(kind) else "ge"):
            true = 1.0 if out == "f32" else 0xFFFFFFFF
            op(
                f"set.{name}.{out}.{kind}",
                f"{kind} {kind} -> {out}",
                lambda a, b, n=name, k=kind, o=out, t=true: np.where(compare(n, k, a, b), t, 0).astype(
                    np.float32 if o == "f32" else np.uint32
                ),
            )
op(
    "set.gt.ftz.f32.f32",
    "f32 f32 -> f32",
    lambda a, b: compare("gt", "f32", flushed("f32", a), flushed("f32", b)).astype(np.float32),
)
op(
    "set.le.and.u32.s32",
    "s32 s32 u32 -> u32",
    lambda a, b, c: np.where((a <= b) & (c & 1 == 1), 0xFFFFFFFF, 0).astype(np.uint32),
    body="and.b32 %c, %c, 1;\n  setp.eq.u32 %q, %c, 1;\n  set.le.and.u32.s32 %d, %a, %b, %q;",
)
op(
    "set.lt.f16.f16",
    "f16 f16 -> f16",
    lambda a, b: compare("lt", "f16", a, b).astype(np.float16),
)
op(
    "set.num.u32.f16",
    "f16 f16 -> u32",
    lambda a, b: np.where(compare("num", "f16", a, b), 0xFFFFFFFF, 0).astype(np.uint32),
)
op(
    "testp",
    "f32 -> u32",
    lambda a: sum(
        test.astype(np.uint32) << k
        for k, test in enumerate(
            (
                np.isfinite(a),
                np.isinf(a),
                ~np.isnan(a),
                np.isnan(a),
                np.isfinite(a) & ((np.abs(a) >= np.finfo(np.float32).tiny) | (a == 0)),  # zeros are normal
                (np.abs(a) < np.finfo(np.float32).tiny) & (a != 0),
            )
        )
    ).astype(np.uint32),
    body="mov.u32 %d, 0;\n"
    + "\n".join(
        f"  testp.{name}.f32 %q, %a;\n  @%q or.b32 %d, %d, {1 << k};"
        for k, name in enumerate(("finite", "infinite", "number", "notanumber", "normal", "subnormal"))
    ),
)
op(
    "testp.f64",
    "f64 -> u32",
    lambda a: (
        np.isfinite(a) + 2 * np.isnan(a) + 4 * ((np.abs(a) < np.finfo(np.float64).tiny) & (a != 0))
    ).astype(np.uint32),
    body="mov.u32 %d, 0;\n"
    + "\n".join(
        f"  testp.{name}.f64 %q, %a;\n  @%q or.b32 %d, %d, {1 << k};"
        for k, name in enumerate(("finite", "notanumber", "subnormal"))
    ),
)
