# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Integer arithmetic: the expectation is Python's, wrapped to the width of the result."""

from tests.ptx import hazards
from tests.ptx.exact import integers
from tests.ptx.table import op

KINDS = ("u16", "s16", "u32", "s32", "u64", "s64")


def bits_of(kind):
    return int(kind[1:])


def row(name, signature, operation, **more):
    out = hazards.DTYPES[signature.partition("->")[2].split("*")[0].strip()]
    op(name, signature, lambda *arrays: integers(operation, out, *arrays), **more)


def limits(bits):
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def clamp(value, bits):
    low, high = limits(bits)
    return min(max(value, low), high)


def truncated(a, b):
    """Division towards zero, as a quotient and a rest of the dividend's sign."""
    q = abs(a) // abs(b)
    return (-q if (a < 0) != (b < 0) else q), (-(abs(a) % abs(b)) if a < 0 else abs(a) % abs(b))


for kind in KINDS:
    bits, two, three = bits_of(kind), f"{kind} {kind} -> {kind}", f"{kind} {kind} {kind} -> {kind}"
    row(f"add.{kind}", two, lambda a, b: a + b)
    row(f"sub.{kind}", two, lambda a, b: a - b)
    row(f"mul.lo.{kind}", two, lambda a, b: a * b)
    row(f"mul.hi.{kind}", two, lambda a, b, n=bits: a * b >> n)
    row(f"mad.lo.{kind}", three, lambda a, b, c: a * b + c)
    row(f"mad.hi.{kind}", three, lambda a, b, c, n=bits: (a * b >> n) + c)
    row(f"sad.{kind}", three, lambda a, b, c: c + abs(a - b))
    row(f"min.{kind}", two, min)
    row(f"max.{kind}", two, max)
    # The result of a division by zero is unspecified, but the division must not trap.
    for name, part in (("div", 0), ("rem", 1)):
        row(
            f"{name}.{kind}",
            two,
            lambda a, b, p=part: truncated(a, b)[p] if b else 12345,
            body=f"{name}.{kind} %d, %a, %b;\n  setp.eq.{kind} %q, %b, 0;\n  selp.b{bits} %d, 12345, %d, %q;",
        )
        row(
            f"{name}.{kind} by a constant",
            f"{kind} -> {kind}",
            lambda a, p=part: truncated(a, 7)[p],
            body=f"{name}.{kind} %d, %a, 7;",
        )
    if bits < 64:
        double = f"{kind[0]}{2 * bits}"
        row(f"mul.wide.{kind}", f"{kind} {kind} -> {double}", lambda a, b: a * b)
        row(f"mad.wide.{kind}", f"{kind} {kind} {double} -> {double}", lambda a, b, c: a * b + c)
    if kind[0] == "s":
        row(f"abs.{kind}", f"{kind} -> {kind}", abs)
        row(f"neg.{kind}", f"{kind} -> {kind}", lambda a: -a)

TWO, THREE = "s32 s32 -> s32", "s32 s32 s32 -> s32"
row("add.sat.s32", TWO, lambda a, b: clamp(a + b, 32))
row("sub.sat.s32", TWO, lambda a, b: clamp(a - b, 32))
row("mad.hi.sat.s32", THREE, lambda a, b, c: clamp((a * b >> 32) + c, 32))
row("min.relu.s32", TWO, lambda a, b: max(min(a, b), 0))
row("max.relu.s32", TWO, lambda a, b: max(a, b, 0))


def low_24(kind, a):
    a &= 0xFFFFFF
    return a - (1 << 24) if kind == "s32" and a >> 23 else a


for kind in ("u32", "s32"):
    two, three = f"{kind} {kind} -> {kind}", f"{kind} {kind} {kind} -> {kind}"
    for half, shift in (("lo", 0), ("hi", 16)):

        def product(a, b, k=kind, n=shift):
            return low_24(k, a) * low_24(k, b) >> n & 0xFFFFFFFF

        row(f"mul24.{half}.{kind}", two, product)
        row(f"mad24.{half}.{kind}", three, lambda a, b, c, f=product: f(a, b) + c)


def signed_32(a):
    return a - (1 << 32) if a >> 31 else a


row(
    "mad24.hi.sat.s32",
    THREE,
    lambda a, b, c: clamp(signed_32(low_24("s32", a) * low_24("s32", b) >> 16 & 0xFFFFFFFF) + c, 32),
)
row("add.s32 of an immediate", "s32 -> s32", lambda a: a - 0x7FFFFFFF, body="add.s32 %d, %a, -2147483647;")
row(
    "sub.u64 from an immediate",
    "u64 -> u64",
    lambda a: (1 << 63) - a,
    body="sub.u64 %d, 0x8000000000000000, %a;",
)
row(
    "add.s32 under a predicate",
    TWO,
    lambda a, b: a + b if a < b else a - b,
    body="setp.lt.s32 %q, %a, %b;\n  @%q add.s32 %d, %a, %b;\n  @!%q sub.s32 %d, %a, %b;",
)
