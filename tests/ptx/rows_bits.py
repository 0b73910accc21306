# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Bits: logic, shifts, fields, counts, permutation. Field instructions are written out bit by bit, as
the PTX ISA does."""

import numpy as np

from tests.ptx import hazards
from tests.ptx.exact import integers
from tests.ptx.table import op

SHIFT = "shift_counts_past_the_width"


def row(name, signature, operation, **more):
    out = hazards.DTYPES[signature.partition("->")[2].strip()]
    op(name, signature, lambda *arrays: integers(operation, out, *arrays), **more)


for bits in (16, 32, 64):
    kind, two = f"b{bits}", f"b{bits} b{bits} -> b{bits}"
    row(f"and.{kind}", two, lambda a, b: a & b)
    row(f"or.{kind}", two, lambda a, b: a | b)
    row(f"xor.{kind}", two, lambda a, b: a ^ b)
    row(f"not.{kind}", f"{kind} -> {kind}", lambda a: ~a)
    row(f"cnot.{kind}", f"{kind} -> {kind}", lambda a: a == 0)
    shift = {"inputs": ["int_extremes", SHIFT]}
    row(f"shl.{kind}", f"{kind} u32 -> {kind}", lambda a, n, w=bits: a << min(n, w), **shift)
    row(f"shr.u{bits}", f"u{bits} u32 -> u{bits}", lambda a, n, w=bits: a >> min(n, w), **shift)
    row(f"shr.s{bits}", f"s{bits} u32 -> s{bits}", lambda a, n, w=bits: a >> min(n, w), **shift)
    row(f"shr.b{bits}", f"b{bits} u32 -> b{bits}", lambda a, n, w=bits: a >> min(n, w), **shift)
    for amount in (0, bits - 1, bits, bits + 1):
        row(
            f"shl.{kind} and shr.s{bits} by {amount}",
            f"s{bits} -> s{bits}",
            lambda a, n=amount, w=bits: a << min(n, w) ^ a >> min(n, w),
            body=f"shl.b{bits} %t, %a, {amount};\n  shr.s{bits} %d, %a, {amount};\n  xor.b{bits} %d, %d, %t;",
            regs=f".reg .b{bits} %t;",
        )

op(
    "and.pred or.pred xor.pred not.pred",
    "u32 u32 -> u32",
    lambda a, b: ((a & 1 & b) | (((a >> 1) ^ b) & 1 & ~(a >> 2 & 1))).astype(np.uint32),
    body="""and.b32 %t, %a, 1;
  setp.ne.u32 %x, %t, 0;
  and.b32 %t, %b, 1;
  setp.ne.u32 %y, %t, 0;
  and.pred %z, %x, %y;
  and.b32 %t, %a, 2;
  setp.ne.u32 %x, %t, 0;
  xor.pred %y, %x, %y;
  and.b32 %t, %a, 4;
  setp.ne.u32 %x, %t, 0;
  not.pred %x, %x;
  and.pred %y, %x, %y;
  or.pred %q, %z, %y;
  selp.u32 %d, 1, 0, %q;""",
    regs=".reg .pred %x, %y, %z;\n  .reg .b32 %t;",
)


def field(a, start, length, bits, signed):
    """The ISA restricts start and length to 0..255; beyond, an H200 looks at 8 bits of them for words of 32 bits, and
    at all of them for words of 64."""
    last = bits - 1
    if bits == 32:
        start, length = start & 0xFF, length & 0xFF
    sign = 0 if not signed or not length else a >> min(start + length - 1, last) & 1
    return sum((a >> (start + i) & 1 if i < length and start + i <= last else sign) << i for i in range(bits))


def inserted(a, b, start, length, bits):
    start, length = start & 0xFF, length & 0xFF
    for i in range(length):
        if start + i < bits:
            b = b & ~(1 << (start + i)) | (a >> i & 1) << (start + i)
    return b


for bits in (32, 64):
    for sign in "us":
        row(
            f"bfe.{sign}{bits}",
            f"{sign}{bits} u32 u32 -> {sign}{bits}",
            lambda a, s, n, w=bits, g=sign == "s": field(a & (1 << w) - 1, s, n, w, g),
            inputs=["int_extremes", SHIFT, SHIFT],
        )
        row(
            f"bfind.{sign}{bits}",
            f"{sign}{bits} -> u32",
            lambda a: (~a if a < 0 else a).bit_length() - 1,
        )
        row(
            f"bfind.shiftamt.{sign}{bits}",
            f"{sign}{bits} -> u32",
            lambda a, w=bits: w - (~a if a < 0 else a).bit_length() if a not in (0, -1) else -1,
        )
    # Start and length share the third operand.
    row(
        f"bfi.b{bits}",
        f"b{bits} b{bits} u32 -> b{bits}",
        lambda a, b, c, w=bits: inserted(a, b, c, c >> 8, w),
        body=f"and.b32 %s, %c, 255;\n  shr.u32 %l, %c, 8;\n  bfi.b{bits} %d, %a, %b, %s, %l;",
        regs=".reg .b32 %s, %l;",
        arrays=[
            *hazards.operands("int_extremes", [f"b{bits}"] * 2),
            hazards.operands(SHIFT, ["b32"])[0] % 256
            + 256 * hazards.operands("small_counts", ["b32", "b32", "b32"])[2] * 5,
        ],
    )
    row(f"brev.b{bits}", f"b{bits} -> b{bits}", lambda a, w=bits: int(f"{a:0{w}b}"[::-1], 2))
    row(f"clz.b{bits}", f"b{bits} -> u32", lambda a, w=bits: w - a.bit_length())
    row(f"popc.b{bits}", f"b{bits} -> u32", int.bit_count)

WORD = (1 << 32) - 1
for mode, amount in (("clamp", lambda n: min(n, 32)), ("wrap", lambda n: n & 31)):
    inputs = ["int_extremes", "int_extremes", SHIFT]
    row(
        f"shf.l.{mode}.b32",
        "b32 b32 u32 -> b32",
        lambda a, b, n, k=amount: (b << 32 | a) << k(n) >> 32,
        inputs=inputs,
    )
    row(
        f"shf.r.{mode}.b32",
        "b32 b32 u32 -> b32",
        lambda a, b, n, k=amount: (b << 32 | a) >> k(n),
        inputs=inputs,
    )


def masked(a, b, clamp):
    start, length = a & 31, b & 31
    low = WORD << start & WORD if not (clamp and a >= 32) else 0
    high = WORD << (start + length) & WORD
    if start + length >= 32 or (clamp and (a >= 32 or b >= 32)):
        high = 0
    return low & ~high


def extended(a, b, clamp, signed):
    width = b & 31
    too_large = clamp and b >= 32
    mask = 0 if too_large else WORD << width & WORD
    sign = signed and width and not too_large and a >> (width - 1) & 1
    return a & ~mask | (mask if sign else 0)


for mode in ("clamp", "wrap"):
    row(f"bmsk.{mode}.b32", "u32 u32 -> b32", lambda a, b, c=mode == "clamp": masked(a, b, c), inputs=SHIFT)
    for kind in ("u32", "s32"):
        row(
            f"szext.{mode}.{kind}",
            f"{kind} u32 -> {kind}",
            lambda a, b, c=mode == "clamp", s=kind == "s32": extended(a & WORD, b, c, s),
            inputs=["int_extremes", SHIFT],
        )


def nth_set(mask, base, offset):
    base &= 31
    if offset == -(1 << 31):  # its size is no int32; an H200 says 0 whatever the rest
        return 0
    if offset == 0:
        return base if mask >> base & 1 else -1
    places = range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [place for place in places if mask >> place & 1]
    return found[abs(offset) - 1] if abs(offset) <= len(found) else -1


row(
    "fns.b32",
    "b32 u32 s32 -> u32",
    nth_set,
    body="and.b32 %b, %b, 31;\n  fns.b32 %d, %a, %b, %c;",
    inputs=["int_extremes", SHIFT, SHIFT],
)


def permuted(a, b, choose):
    both = b << 32 | a
    picked = [both >> 8 * place & 0xFF for place in choose]
    return sum(value << 8 * k for k, value in enumerate(picked))


def generic_permutation(a, b, selector):
    found = 0
    for k in range(4):
        nibble = selector >> 4 * k & 15
        value = (b << 32 | a) >> 8 * (nibble & 7) & 0xFF
        found |= (0xFF * (value >> 7) if nibble & 8 else value) << 8 * k
    return found


# Which bytes of {b, a} make the result, lowest first, for each value of the selector's two bits.
PRMT = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}
row("prmt.b32", "b32 b32 b32 -> b32", generic_permutation, inputs="random_bits")
for selector in (0x3210, 0x0123, 0x7654, 0x5410, 0x7632, 0xBA98, 0x4440, 0xFEDC):
    row(
        f"prmt.b32 by {selector:#06x}",
        "b32 b32 -> b32",
        lambda a, b, s=selector: generic_permutation(a, b, s),
        body=f"prmt.b32 %d, %a, %b, {selector:#x};",
        inputs="random_bits",
    )
for mode, table in PRMT.items():
    row(
        f"prmt.b32.{mode}",
        "b32 b32 b32 -> b32",
        lambda a, b, c, t=table: permuted(a, b, t[c & 3]),
        inputs="random_bits",
    )


def looked_up(a, b, c, table):
    found = 0
    for index in range(8):
        if table >> index & 1:
            x = a if index & 4 else ~a
            y = b if index & 2 else ~b
            z = c if index & 1 else ~c
            found |= x & y & z
    return found


for table in (0x00, 0x01, 0x1E, 0x2D, 0x80, 0x96, 0xCA, 0xE8, 0xF0, 0xF8, 0xFE, 0xFF):
    row(
        f"lop3.b32 {table:#04x}",
        "b32 b32 b32 -> b32",
        lambda a, b, c, t=table: looked_up(a, b, c, t),
        body=f"lop3.b32 %d, %a, %b, %c, {table:#x};",
    )
for boolean, combine in (("or", lambda x, y: x | y), ("and", lambda x, y: x & y)):
    row(
        f"lop3.{boolean}.b32 with a predicate",
        "b32 b32 u32 -> u32",
        lambda a, b, c, f=combine: (a ^ b ^ c) * 2 & WORD | f(int(a ^ b ^ c != 0), c & 1),
        body=f"and.b32 %t, %c, 1;\n  setp.eq.u32 %x, %t, 1;\n  lop3.{boolean}.b32 %d|%q, %a, %b, %c, 0x96, %x;\n"
        "  shl.b32 %d, %d, 1;\n  @%q or.b32 %d, %d, 1;",
        regs=".reg .pred %x;\n  .reg .b32 %t;",
        version="8.2",
    )


# ---- the bytes and halves of words ----


def lanes_of(word, kind, bits):
    """Each lane as int64, the lowest first."""
    parts = [(word.astype(np.int64) >> at) & ((1 << bits) - 1) for at in range(0, 32, bits)]
    return [np.where(p >> (bits - 1), p - (1 << bits), p) if kind == "s32" else p for p in parts]


def differences(a, b, kinds, bits):
    return [
        np.abs(x - y) for x, y in zip(lanes_of(a, kinds[0], bits), lanes_of(b, kinds[1], bits), strict=True)
    ]


def joined(lanes, bits):
    return sum((lane & ((1 << bits) - 1)) << (at * bits) for at, lane in enumerate(lanes)).astype(np.uint32)


for name, bits in (("vabsdiff4", 8), ("vabsdiff2", 16)):
    for kinds in (("u32", "u32"), ("s32", "s32")):
        kind = f"{kinds[0]}.{kinds[0]}.{kinds[1]}"
        op(
            f"{name}.{kind}",
            "u32 u32 u32 -> u32",
            lambda a, b, c, kinds=kinds, bits=bits: joined(differences(a, b, kinds, bits), bits),
        )
        op(
            f"{name}.{kind}.sat",
            "u32 u32 u32 -> u32",
            lambda a, b, c, kinds=kinds, bits=bits: joined(
                [
                    np.minimum(d, (1 << bits - (kinds[0] == "s32")) - 1)
                    for d in differences(a, b, kinds, bits)
                ],
                bits,
            ),
        )
        op(
            f"{name}.{kind}.add",
            "u32 u32 u32 -> u32",
            lambda a, b, c, kinds=kinds, bits=bits: (c + sum(differences(a, b, kinds, bits))).astype(
                np.uint32
            ),
        )
