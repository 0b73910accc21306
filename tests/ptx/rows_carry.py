# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Chains through the carry flag: wide arithmetic from narrow words."""

import numpy as np

from tests.ptx.exact import integers
from tests.ptx.table import op

HALVES = ".reg .b32 %al, %ah, %bl, %bh, %cl, %ch, %e, %f, %g, %h;"
SPLIT = "mov.b64 {%al, %ah}, %a;\n  mov.b64 {%bl, %bh}, %b;\n  "
WORD = (1 << 32) - 1


def row(name, signature, operation, body, **more):
    out = np.dtype(np.uint64 if signature.endswith("u64") else np.uint32)
    op(name, signature, lambda *a: integers(operation, out, *a), body=body, regs=HALVES, **more)


for kind in ("u32", "s32"):
    row(
        f"add.cc.{kind} addc.{kind}",
        "u64 u64 -> u64",
        lambda a, b: a + b,
        SPLIT + f"add.cc.{kind} %al, %al, %bl;\n  addc.{kind} %ah, %ah, %bh;\n  mov.b64 %d, {{%al, %ah}};",
    )
    row(
        f"sub.cc.{kind} subc.{kind}",
        "u64 u64 -> u64",
        lambda a, b: a - b,
        SPLIT + f"sub.cc.{kind} %al, %al, %bl;\n  subc.{kind} %ah, %ah, %bh;\n  mov.b64 %d, {{%al, %ah}};",
    )
    row(
        f"addc.cc.{kind} hands the carry on",
        "u64 u64 -> u32",
        lambda a, b: a + b >> 64,
        SPLIT + f"add.cc.{kind} %al, %al, %bl;\n  addc.cc.{kind} %ah, %ah, %bh;\n  addc.{kind} %d, 0, 0;",
    )
    row(
        f"subc.cc.{kind} hands the borrow on",
        "u64 u64 -> u32",
        lambda a, b: -(a < b),
        SPLIT + f"sub.cc.{kind} %al, %al, %bl;\n  subc.cc.{kind} %ah, %ah, %bh;\n  subc.{kind} %d, 0, 0;",
    )

row(
    "add.cc.u64 addc.u64",
    "u64 u64 -> u64",
    lambda a, b: a + b >> 64,
    "add.cc.u64 %d, %a, %b;\n  addc.u64 %d, 0, 0;",
)
row(
    "sub.cc.u64 subc.u64",
    "u64 u64 -> u64",
    lambda a, b: -(a < b),
    "sub.cc.u64 %d, %a, %b;\n  subc.u64 %d, 0, 0;",
)
row(
    "mad.lo.cc.u32 madc.hi.u32",
    "u32 u32 u64 -> u64",
    lambda a, b, c: a * b + c,
    "mov.b64 {%cl, %ch}, %c;\n  mad.lo.cc.u32 %cl, %a, %b, %cl;\n  madc.hi.u32 %ch, %a, %b, %ch;\n  "
    "mov.b64 %d, {%cl, %ch};",
)
row(
    "mad.lo.cc.s32 madc.hi.s32",
    "s32 s32 u64 -> u64",
    lambda a, b, c: a * b + c,
    "mov.b64 {%cl, %ch}, %c;\n  mad.lo.cc.s32 %cl, %a, %b, %cl;\n  madc.hi.s32 %ch, %a, %b, %ch;\n  "
    "mov.b64 %d, {%cl, %ch};",
)
row(
    "mad.hi.cc.u32 madc.lo.u32",
    "u32 u32 u32 -> u32",
    lambda a, b, c: (((a * b >> 32) + c) >> 32) + a * b,
    "mad.hi.cc.u32 %e, %a, %b, %c;\n  madc.lo.u32 %d, %a, %b, 0;",
)
PRODUCT = (
    SPLIT
    + """mul.lo.u32 %e, %al, %bl;
  mul.hi.u32 %f, %al, %bl;
  mad.lo.cc.u32 %f, %ah, %bl, %f;
  madc.hi.u32 %g, %ah, %bl, 0;
  mad.lo.cc.u32 %f, %al, %bh, %f;
  madc.hi.cc.u32 %g, %al, %bh, %g;
  addc.u32 %h, 0, 0;
  mad.lo.cc.u32 %g, %ah, %bh, %g;
  madc.hi.u32 %h, %ah, %bh, %h;
"""
)
row(
    "madc.hi.cc.u32, low half of 128 bits",
    "u64 u64 -> u64",
    lambda a, b: a * b,
    PRODUCT + "  mov.b64 %d, {%e, %f};",
)
row(
    "madc.hi.cc.u32, high half of 128 bits",
    "u64 u64 -> u64",
    lambda a, b: a * b >> 64,
    PRODUCT + "  mov.b64 %d, {%g, %h};",
)
row(
    "the carry lives across other instructions",
    "u32 u32 u32 -> u32",
    lambda a, b, c: (a + b >> 32) + (a ^ c) * c,
    "add.cc.u32 %e, %a, %b;\n  xor.b32 %f, %a, %c;\n  mul.lo.u32 %f, %f, %c;\n  addc.u32 %d, %f, 0;",
)
row(
    "mad.lo.cc.u64 madc.hi.u64",
    "u64 u64 u64 -> u64",
    lambda a, b, c: a * b + c >> 64,
    "mad.lo.cc.u64 %d, %a, %b, %c;\n  madc.hi.u64 %d, %a, %b, 0;",
)
row(
    "addc.cc.u64 hands the carry on",
    "u64 u64 u64 -> u64",
    lambda a, b, c: (a + b >> 64) + (a + c + (a + b >> 64) >> 64),
    "add.cc.u64 %d, %a, %b;\n  addc.cc.u64 %at, %a, %c;\n  addc.u64 %d, 0, 0;\n"
    "  add.cc.u64 %at, %a, %b;\n  addc.u64 %d, %d, 0;",
)
# The flag that a subtraction leaves is the complement of its borrow, as NVRTC's own division of 128 bits reads it.
row(
    "addc.u32 after sub.cc.u32",
    "u32 u32 -> u32",
    lambda a, b: a >= b,
    "sub.cc.u32 %e, %a, %b;\n  addc.u32 %d, 0, 0;",
)
row(
    "subc.u32 after add.cc.u32",
    "u32 u32 -> u32",
    lambda a, b: (a + b >> 32) - 1,
    "add.cc.u32 %e, %a, %b;\n  subc.u32 %d, 0, 0;",
)
row(
    "madc.lo.u32 after subc.cc.u32",
    "u64 u64 u32 -> u32",
    lambda a, b, c: c * c + (a >= b),
    SPLIT + "sub.cc.u32 %e, %al, %bl;\n  subc.cc.u32 %e, %ah, %bh;\n  madc.lo.u32 %d, %c, %c, 0;",
)
