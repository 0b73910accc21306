# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loads and stores: widths, extension to the register, vectors, cache and ordering words, the address spaces, generic
addresses, variables with initial values."""

import numpy as np

from tests.ptx import hazards
from tests.ptx.hazards import COUNT, DTYPES
from tests.ptx.table import BLOCK, memory_type, op, register

BASE = "ld.param.u64 %base, [p{}];\n  cvta.to.global.u64 %base, %base;\n  "

for kind in ("b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64", "f32", "f64"):
    op(
        f"ld.{kind} st.{kind}",
        f"{kind} -> {kind}",
        lambda a: a,
        body=f"st.global.{kind} [%pd], %a;",
        store=False,
        same_nan=True,
    )

# A value that is narrower than its register is extended by the sign of its type; a store takes the low bits.
for kind in ("u8", "s8", "u16", "s16", "u32", "s32"):
    for bits in (16, 32, 64):
        if bits > int(kind[1:]):
            wide = f"{kind[0]}{bits}"
            op(
                f"ld.{kind} into {bits} bits",
                f"{kind} -> {wide}",
                lambda a, t=DTYPES[wide]: a.astype(t),
                body=f"ld.global.{kind} %d, [%pa];",
            )
            op(
                f"st.{kind} from {bits} bits",
                f"{wide} -> {kind}",
                lambda a, t=DTYPES[kind]: a.astype(t),
                body=f"st.global.{kind} [%pd], %a;",
                store=False,
            )

for kind in ("b8", "s8", "u16", "b32", "f32", "u64", "f64"):
    for lanes in (2, 4):
        if lanes * DTYPES[kind].itemsize > 16:
            continue
        names = [f"%v{k}" for k in range(lanes)]
        (source,) = hazards.operands("random_bits", [kind], COUNT * lanes)
        t = memory_type(kind)
        op(
            f"ld.v{lanes}.{kind} st.v{lanes}.{kind}",
            f"{kind} -> {kind}*{lanes}",
            lambda a, n=lanes: a.reshape(-1, n)[:, ::-1].copy().reshape(-1),
            body=BASE.format("a")
            + f"mul.wide.u32 %at, %i, {lanes * DTYPES[kind].itemsize};\n  add.u64 %base, %base, %at;\n"
            + f"  ld.global.v{lanes}.{t} {{{', '.join(names)}}}, [%base];\n"
            + f"  st.global.v{lanes}.{t} [%pd], {{{', '.join(reversed(names))}}};",
            regs=f".reg .b64 %base;\n  .reg {register(kind)} {', '.join(names)};",
            arrays=[source],
            store=False,
            same_nan=True,
        )

for words in (
    *("ld.global.nc.u32", "ld.global.ca.u32", "ld.global.cg.u32", "ld.global.cs.u32", "ld.global.cv.u32"),
    *(
        "ld.volatile.global.u32",
        "ld.relaxed.gpu.global.u32",
        "ld.acquire.gpu.global.u32",
        "ld.weak.global.u32",
    ),
    *("ld.acquire.sys.global.u32", "ld.relaxed.cta.global.u32", "ld.global.lu.u32", "ldu.global.u32"),
    *("ld.global.L1::evict_last.u32", "ld.global.nc.L1::no_allocate.u32", "ld.global.L2::128B.u32"),
):
    op(words, "u32 -> u32", lambda a: a, body=f"{words} %d, [%pa];")
for words in (
    *(
        "st.global.wb.u32",
        "st.global.cg.u32",
        "st.global.cs.u32",
        "st.global.wt.u32",
        "st.volatile.global.u32",
    ),
    *(
        "st.relaxed.gpu.global.u32",
        "st.release.gpu.global.u32",
        "st.release.sys.global.u32",
        "st.weak.global.u32",
    ),
):
    op(words, "u32 -> u32", lambda a: a, body=f"{words} [%pd], %a;", store=False)
op(
    "prefetch",
    "u32 -> u32",
    lambda a: a,
    body="prefetch.global.L1 [%pa];\n  prefetch.global.L2 [%pa];\n  mov.u32 %d, %a;",
)
op(
    "ld.u32 at a negative offset",
    "u32 -> u32",
    lambda a: a,
    body="add.u64 %pa, %pa, 64;\n  ld.global.u32 %d, [%pa+-64];",
)
op(
    "ld.u32 and st.u32 by generic address",
    "u32 -> u32",
    lambda a: ~a,
    body="cvta.global.u64 %pa, %pa;\n  cvta.global.u64 %pd, %pd;\n  ld.u32 %a, [%pa];\n"
    "  not.b32 %a, %a;\n  st.u32 [%pd], %a;",
    store=False,
)
op(
    "ld.param by generic address",
    "u32 -> u32",
    lambda a: a + COUNT,
    body="mov.b64 %at, pn;\n  cvta.param.u64 %at, %at;\n  ld.u32 %d, [%at];\n  add.u32 %d, %d, %a;",
)

SHARED = ".shared .align 16 .b8 {entry}_shared[%d];" % (8 * BLOCK)  # noqa: UP031 (the braces are the row's)
PLACE = "mov.u32 %i, %tid.x;\n  mov.u64 %base, {entry}_shared;\n"
PLACE += "  mul.wide.u32 %at, %i, 8;\n  add.u64 %base, %base, %at;\n  "
REGS = ".reg .b64 %base, %other;\n  .reg .pred %r;\n  .reg .b32 %k;"
op(
    "ld.shared.u32 st.shared.u32",
    "u32 u32 -> u32",
    lambda a, b: a - b,
    module=SHARED,
    regs=REGS,
    body=PLACE + "st.shared.u32 [%base], %a;\n  st.shared.u32 [%base+4], %b;\n  ld.shared.u32 %d, [%base];\n"
    "  ld.shared.u32 %n, [%base+4];\n  sub.u32 %d, %d, %n;",
)
op(
    "shared memory by 32 bit address",
    "u32 u32 -> u64",
    lambda a, b: a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32),
    module=SHARED,
    regs=REGS,
    body="mov.u32 %i, %tid.x;\n  mov.u32 %k, {entry}_shared;\n  mad.lo.u32 %k, %i, 8, %k;\n"
    "  st.shared.v2.u32 [%k], {%a, %b};\n  ld.shared.u64 %d, [%k];",
)
op(
    "shared memory by generic address",
    "u64 -> u64",
    lambda a: a ^ np.uint64(0xFF),
    module=SHARED,
    regs=REGS,
    body=PLACE
    + "cvta.shared.u64 %base, %base;\n  st.u64 [%base], %a;\n  ld.u64 %d, [%base];\n  xor.b64 %d, %d, 255;\n"
    "  cvta.to.shared.u64 %other, %base;\n  st.shared.u64 [%other], %d;\n  ld.u64 %d, [%base];",
)
op(
    "shared memory is each block's own",
    "u32 -> u32",
    lambda a: a.reshape(-1, BLOCK)[:, ::-1].copy().reshape(-1),
    module=SHARED,
    regs=REGS,
    body=PLACE + "st.shared.u32 [%base], %a;\n  bar.sync 0;\n  mov.u64 %base, {entry}_shared;\n"
    f"  sub.u32 %i, {BLOCK - 1}, %i;\n  mul.wide.u32 %at, %i, 8;\n"
    "  add.u64 %base, %base, %at;\n  ld.shared.u32 %d, [%base];",
)

LOCAL = ".local .align 8 .b8 store[64];\n  .reg .b64 %base, %other;\n  .reg .b32 %k, %l;\n  .reg .pred %r;"
op(
    "ld.local.u32 st.local.u32 at a computed place",
    "u32 u32 -> u32",
    lambda a, b: np.where(b % 16 == 3, a, (b % 16) * 7 + a).astype(np.uint32),
    regs=LOCAL,
    body="""mov.u64 %base, store;
  mov.u32 %k, 0;
FILL:
  mad.lo.u32 %l, %k, 7, %a;
  mul.wide.u32 %at, %k, 4;
  add.u64 %other, %base, %at;
  st.local.u32 [%other], %l;
  add.u32 %k, %k, 1;
  setp.lt.u32 %r, %k, 16;
  @%r bra FILL;
  st.local.u32 [store+12], %a;
  and.b32 %b, %b, 15;
  mul.wide.u32 %at, %b, 4;
  add.u64 %other, %base, %at;
  ld.local.u32 %d, [%other];""",
)
op(
    "local memory by generic address",
    "u64 -> u64",
    lambda a: a * np.uint64(3),
    regs=LOCAL,
    body="""mov.u64 %base, store;
  cvta.local.u64 %other, %base;
  st.u64 [%other+8], %a;
  ld.local.u64 %d, [%base+8];
  mul.lo.u64 %d, %d, 3;
  st.local.u64 [%base+16], %d;
  cvta.to.local.u64 %base, %other;
  ld.u64 %d, [%other+16];
  ld.local.u64 %a, [%base+16];
  and.b64 %d, %d, %a;""",
)

TABLE = np.arange(64, dtype=np.uint32) * np.uint32(2654435761)
WORDS = ", ".join(map(str, TABLE))
for space in ("const", "global"):
    for way in ("direct", "generic"):
        load = f"ld.{space}.u32" if way == "direct" else "ld.u32"
        generic = "" if way == "direct" else f"cvta.{space}.u64 %base, %base;\n  "
        op(
            f"ld.u32 of a .{space} table, {way}",
            "u32 -> u32",
            lambda a: TABLE[a % 64],
            module=f".{space} .align 4 .u32 {{entry}}_table[64] = {{{WORDS}}};",
            regs=".reg .b64 %base;",
            body=f"mov.u64 %base, {{entry}}_table;\n  {generic}and.b32 %a, %a, 63;\n  mul.wide.u32 %at, %a, 4;\n"
            f"  add.u64 %base, %base, %at;\n  {load} %d, [%base];",
        )
op(
    "variables of every type with initial values",
    "u32 -> f64",
    lambda a: np.full(len(a), -5 + 1.5 + 0.25 + 250 + 0x123456789 + 7.0 + 0),
    module="""
.global .align 2 .s16 {entry}_short = -5;
.const .align 4 .f32 {entry}_float = 0f3FC00000;
.global .align 8 .f64 {entry}_double[2] = {0.125, 0.25};
.global .align 1 .u8 {entry}_bytes[4] = {1, 2, 250};
.const .align 8 .u64 {entry}_long = 0x123456789;
.global .align 4 .f32 {entry}_decimal = 7.0;
.global .align 4 .u32 {entry}_zero;
""",
    regs=".reg .b16 %s;\n  .reg .f32 %f;\n  .reg .f64 %g;\n  .reg .b64 %l;\n  .reg .b32 %k;",
    body="""ld.global.s16 %s, [{entry}_short];
  cvt.rn.f64.s16 %d, %s;
  ld.const.f32 %f, [{entry}_float];
  cvt.f64.f32 %g, %f;
  add.f64 %d, %d, %g;
  ld.global.f64 %g, [{entry}_double+8];
  add.f64 %d, %d, %g;
  ld.global.u8 %s, [{entry}_bytes+2];
  cvt.rn.f64.u16 %g, %s;
  add.f64 %d, %d, %g;
  ld.const.u64 %l, [{entry}_long];
  cvt.rn.f64.u64 %g, %l;
  add.f64 %d, %d, %g;
  ld.global.f32 %f, [{entry}_decimal];
  cvt.f64.f32 %g, %f;
  add.f64 %d, %d, %g;
  ld.global.u32 %k, [{entry}_zero];
  cvt.rn.f64.u32 %g, %k;
  add.f64 %d, %d, %g;""",
)
op(
    "a variable holds the generic address of another",
    "u32 -> u32",
    lambda a: a + 77,
    module="""
.global .align 4 .u32 {entry}_pair[2] = {11, 77};
.global .align 8 .u64 {entry}_pointer = generic({entry}_pair)+4;
""",
    regs=".reg .b64 %base;",
    body="ld.global.u64 %base, [{entry}_pointer];\n  ld.u32 %d, [%base];\n  add.u32 %d, %d, %a;",
)
op(
    "isspacep",
    "u32 -> u32",
    lambda a: np.full(len(a), 1 + 4 + 16 + 64, np.uint32),
    module=SHARED + "\n.const .u32 {entry}_constant = 1;",
    regs=".local .align 4 .b8 store[4];\n  .reg .b64 %base;\n  .reg .pred %r;",
    body="mov.u32 %d, 0;\n  cvta.global.u64 %base, %pd;\n  isspacep.global %r, %base;\n  @%r or.b32 %d, %d, 1;\n"
    "  isspacep.shared %r, %base;\n  @%r or.b32 %d, %d, 2;\n"
    "  mov.u64 %base, {entry}_shared;\n  st.shared.u32 [%base], %a;\n  cvta.shared.u64 %base, %base;\n"
    "  isspacep.shared %r, %base;\n  @%r or.b32 %d, %d, 4;\n"
    "  isspacep.local %r, %base;\n  @%r or.b32 %d, %d, 8;\n"
    "  mov.u64 %base, store;\n  st.local.u32 [%base], %a;\n  cvta.local.u64 %base, %base;\n"
    "  isspacep.local %r, %base;\n  @%r or.b32 %d, %d, 16;\n"
    "  isspacep.global %r, %base;\n  @%r or.b32 %d, %d, 32;\n"
    "  mov.u64 %base, {entry}_constant;\n  cvta.const.u64 %base, %base;\n"
    "  isspacep.const %r, %base;\n  @%r or.b32 %d, %d, 64;",
)
op(
    "ld.b128 st.b128",
    "u64 -> u64*2",
    lambda a: a.reshape(-1, 2)[:, ::-1].copy().reshape(-1),
    regs=".reg .b64 %base, %low, %high;\n  .reg .b128 %x;",
    body=BASE.format("a") + "mul.wide.u32 %at, %i, 16;\n  add.u64 %base, %base, %at;\n"
    "  ld.global.b128 %x, [%base];\n  mov.b128 {%low, %high}, %x;\n  mov.b128 %x, {%high, %low};\n"
    "  st.global.b128 [%pd], %x;",
    arrays=hazards.operands("random_bits", ["u64"], 2 * COUNT),
    store=False,
    version="8.3",
)
op(
    "ld and st under a predicate",
    "u32 u32 -> u32",
    lambda a, b: np.where(a < b, a, 0xA5A5A5A5).astype(np.uint32),
    regs=".reg .b32 %k;",
    body="setp.lt.u32 %q, %a, %b;\n  mov.u32 %k, 0;\n  @%q ld.global.u32 %k, [%pa];\n  @%q st.global.u32 [%pd], %k;",
    store=False,
)
op(
    "fences, hints and pauses change no value",
    "u32 -> u32",
    lambda a: a + 1,
    body="""fence.sc.gpu;
  fence.acq_rel.cta;
  fence.acq_rel.sys;
  membar.cta;
  membar.sys;
  nanosleep.u32 20;
  griddepcontrol.wait;
  griddepcontrol.launch_dependents;
  pmevent 3;
  cvta.global.u64 %at, %pa;
  prefetchu.L1 [%at];
  add.u32 %d, %a, 1;""",
)


op(
    "createpolicy for a load and a store",
    "u32 -> u32",
    lambda a: a + np.uint32(1),
    body="""createpolicy.fractional.L2::evict_first.b64 %policy, 1.0;
  ld.global.L2::cache_hint.u32 %n, [%pa], %policy;
  createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %policy, 0.5;
  add.u32 %n, %n, 1;
  st.global.L2::cache_hint.u32 [%pd], %n, %policy;""",
    regs=".reg .b64 %policy;",
    store=False,
)
