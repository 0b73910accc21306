# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Branches, loops, branch tables, calls, early ends, barriers."""

import numpy as np

from tests.ptx.exact import integers
from tests.ptx.table import BLOCK, op

U32 = np.dtype(np.uint32)
LOOP = ".reg .pred %r, %s;\n  .reg .b32 %k, %l, %m;\n  .reg .b64 %base;"


def row(name, signature, operation, body, **more):
    op(name, signature, lambda *a: integers(operation, U32, *a), body=body, regs=LOOP, **more)


def collatz(a):
    steps, a = 0, a % 1000 + 1
    while a != 1:
        a = 3 * a + 1 if a & 1 else a // 2
        steps += 1
    return steps


row(
    "a loop with two ways through it",
    "u32 -> u32",
    collatz,
    """rem.u32 %a, %a, 1000;
  add.u32 %a, %a, 1;
  mov.u32 %d, 0;
HEAD:
  setp.eq.u32 %r, %a, 1;
  @%r bra DONE;
  and.b32 %k, %a, 1;
  setp.eq.u32 %r, %k, 1;
  @%r bra ODD;
  shr.u32 %a, %a, 1;
  bra.uni NEXT;
ODD:
  mad.lo.u32 %a, %a, 3, 1;
NEXT:
  add.u32 %d, %d, 1;
  bra HEAD;
DONE:""",
)


def nested(a):
    total = 0
    for k in range(a % 7):
        for j in range(k + 1):
            if (k * j) % 3 == 1:
                continue
            if j > 4:
                break
            total += k * 10 + j
    return total


row(
    "nested loops with continue and break",
    "u32 -> u32",
    nested,
    """rem.u32 %a, %a, 7;
  mov.u32 %d, 0;
  mov.u32 %k, 0;
OUTER:
  setp.ge.u32 %r, %k, %a;
  @%r bra DONE;
  mov.u32 %l, 0;
INNER:
  setp.gt.u32 %r, %l, %k;
  @%r bra OUTER_NEXT;
  mul.lo.u32 %m, %k, %l;
  rem.u32 %m, %m, 3;
  setp.eq.u32 %r, %m, 1;
  @%r bra INNER_NEXT;
  setp.gt.u32 %r, %l, 4;
  @%r bra OUTER_NEXT;
  mad.lo.u32 %m, %k, 10, %l;
  add.u32 %d, %d, %m;
INNER_NEXT:
  add.u32 %l, %l, 1;
  bra INNER;
OUTER_NEXT:
  add.u32 %k, %k, 1;
  bra OUTER;
DONE:""",
)
row(
    "a negated predicate guards a branch",
    "s32 s32 -> u32",
    lambda a, b: b if a < b else a,
    "mov.u32 %d, %b;\n  setp.lt.s32 %r, %a, %b;\n  @!%r bra TAKE;\n  bra DONE;\nTAKE:\n  mov.u32 %d, %a;\nDONE:",
)
row(
    "brx.idx",
    "u32 -> u32",
    lambda a: (a + 10, a * 3, ~a, a + 10, 99)[a % 5],
    """rem.u32 %k, %a, 5;
WAYS: .branchtargets W0, W1, W2, W0, W4;
  brx.idx %k, WAYS;
W0:
  add.u32 %d, %a, 10;
  bra DONE;
W1:
  mul.lo.u32 %d, %a, 3;
  bra DONE;
W2:
  not.b32 %d, %a;
  bra DONE;
W4:
  mov.u32 %d, 99;
DONE:""",
)
row(
    "exit ends one thread only",
    "u32 -> u32",
    lambda a: 0xA5A5A5A5 if a & 1 else a,
    "and.b32 %k, %a, 1;\n  setp.eq.u32 %r, %k, 1;\n  @%r exit;\n  mov.u32 %d, %a;",
)
row(
    "ret under a predicate",
    "u32 -> u32",
    lambda a: a if a & 1 else 0xA5A5A5A5,
    "and.b32 %k, %a, 1;\n  setp.eq.u32 %r, %k, 0;\n  @%r ret;\n  mov.u32 %d, %a;",
)
row(
    "a variable of an inner scope hides the outer one",
    "u32 -> u32",
    lambda a: a + 1,
    "mov.u32 %k, 1;\n  {\n    .reg .b32 %k;\n    mov.u32 %k, 1000;\n    add.u32 %a, %a, 0;\n  }\n  add.u32 %d, %a, %k;",
)

SQUARE_SUM = """
.func (.param .b32 result) {entry}_square_sum(.param .b32 x, .param .b32 y)
{
  .reg .b32 %u, %v;
  ld.param.u32 %u, [x];
  ld.param.u32 %v, [y];
  mul.lo.u32 %u, %u, %u;
  mad.lo.u32 %u, %v, %v, %u;
  st.param.u32 [result], %u;
  ret;
}
"""
row(
    "call with two arguments and a result",
    "u32 u32 -> u32",
    lambda a, b: a * a + b * b,
    """{
    .param .b32 one;
    .param .b32 two;
    .param .b32 back;
    st.param.u32 [one], %a;
    st.param.u32 [two], %b;
    call.uni (back), {entry}_square_sum, (one, two);
    ld.param.u32 %d, [back];
  }""",
    module=SQUARE_SUM,
)
row(
    "call of a function declared before and defined after",
    "u32 u32 -> u32",
    lambda a, b: a * a + b * b,
    """{
    .param .b32 one;
    .param .b32 two;
    .param .b32 back;
    st.param.u32 [one], %a;
    st.param.u32 [two], %b;
    call (back), {entry}_first, (one, two);
    ld.param.u32 %d, [back];
  }""",
    module=".func (.param .b32 result) {entry}_square_sum(.param .b32 x, .param .b32 y);\n"
    """.func (.param .b32 result) {entry}_first(.param .b32 x, .param .b32 y)
{
  .reg .b32 %u, %v;
  ld.param.u32 %u, [x];
  ld.param.u32 %v, [y];
  {
    .param .b32 one, two, back;
    st.param.u32 [one], %u;
    st.param.u32 [two], %v;
    call.uni (back), {entry}_square_sum, (one, two);
    ld.param.u32 %u, [back];
  }
  st.param.u32 [result], %u;
  ret;
}
""" + SQUARE_SUM,
)
row(
    "call with a struct by value, both ways",
    "u32 u32 -> u32",
    lambda a, b: (a + 1) ^ (b * 5) ^ 7,
    """{
    .param .align 8 .b8 in[16];
    .param .align 8 .b8 back[16];
    st.param.v2.u32 [in], {%a, %b};
    st.param.u16 [in+8], 7;
    call.uni (back), {entry}_swap, (in);
    ld.param.u32 %k, [back];
    ld.param.u32 %l, [back+4];
    ld.param.u16 %m, [back+12];
    xor.b32 %d, %k, %l;
    xor.b32 %d, %d, %m;
  }""",
    module="""
.func (.param .align 8 .b8 result[16]) {entry}_swap(.param .align 8 .b8 given[16])
{
  .reg .b32 %x, %y;
  .reg .b16 %z;
  ld.param.v2.u32 {%x, %y}, [given];
  ld.param.u16 %z, [given+8];
  add.u32 %x, %x, 1;
  mul.lo.u32 %y, %y, 5;
  st.param.u32 [result], %y;
  st.param.u32 [result+4], %x;
  st.param.u16 [result+12], %z;
  ret;
}
""",
)
row(
    "recursion",
    "u32 -> u32",
    lambda a: (1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)[a % 12],
    """{
    .param .b32 one, back;
    rem.u32 %k, %a, 12;
    st.param.u32 [one], %k;
    call.uni (back), {entry}_fib, (one);
    ld.param.u32 %d, [back];
  }""",
    module="""
.func (.param .b32 result) {entry}_fib(.param .b32 x)
{
  .reg .b32 %x, %y, %z;
  .reg .pred %small;
  ld.param.u32 %x, [x];
  mov.u32 %z, 1;
  setp.lt.u32 %small, %x, 2;
  @%small bra DONE;
  {
    .param .b32 one, back;
    sub.u32 %y, %x, 1;
    st.param.u32 [one], %y;
    call.uni (back), {entry}_fib, (one);
    ld.param.u32 %z, [back];
  }
  {
    .param .b32 one, back;
    sub.u32 %y, %x, 2;
    st.param.u32 [one], %y;
    call.uni (back), {entry}_fib, (one);
    ld.param.u32 %y, [back];
  }
  add.u32 %z, %z, %y;
DONE:
  st.param.u32 [result], %z;
  ret;
}
""",
)
TWO_FUNCTIONS = "".join(
    f"""
.func (.param .b32 result) {{entry}}_{name}(.param .b32 x)
{{
  .reg .b32 %x;
  ld.param.u32 %x, [x];
  {instruction}
  st.param.u32 [result], %x;
  ret;
}}
"""
    for name, instruction in (("double", "shl.b32 %x, %x, 1;"), ("invert", "not.b32 %x, %x;"))
)
row(
    "call through an address, by a prototype",
    "u32 -> u32",
    lambda a: ~a if a & 1 else 2 * a,
    """mov.u64 %base, {entry}_double;
  mov.u64 %at, {entry}_invert;
  and.b32 %k, %a, 1;
  setp.eq.u32 %r, %k, 1;
  selp.b64 %base, %at, %base, %r;
  {
    .param .b32 one, back;
    st.param.u32 [one], %a;
SHAPE: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (back), %base, (one), SHAPE;
    ld.param.u32 %d, [back];
  }""",
    module=TWO_FUNCTIONS,
)
row(
    "call through a table of functions in memory",
    "u32 -> u32",
    lambda a: ~a if a & 1 else 2 * a,
    """mov.u64 %base, {entry}_ways;
  and.b32 %k, %a, 1;
  mad.wide.u32 %base, %k, 8, %base;
  ld.global.u64 %base, [%base];
  {
    .param .b32 one, back;
    st.param.u32 [one], %a;
SHAPE: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (back), %base, (one), SHAPE;
    ld.param.u32 %d, [back];
  }""",
    module=TWO_FUNCTIONS + ".global .align 8 .u64 {entry}_ways[2] = {{entry}_double, {entry}_invert};\n",
)
row(
    "a function without a result writes through a pointer",
    "u32 -> u32",
    lambda a: a + 42,
    """{
    .param .b64 where;
    .param .b32 what;
    st.param.b64 [where], %pd;
    st.param.b32 [what], %a;
    call.uni {entry}_put, (where, what);
  }""",
    module="""
.func {entry}_put(.param .b64 where, .param .b32 what)
{
  .reg .b64 %p;
  .reg .b32 %x;
  ld.param.u64 %p, [where];
  ld.param.u32 %x, [what];
  add.u32 %x, %x, 42;
  st.global.u32 [%p], %x;
  ret;
}
""",
    store=False,
)

SHARED = f".shared .align 4 .b8 {{entry}}_shared[{4 * BLOCK}];"
op(
    "bar.sync in a loop: a prefix sum of a block",
    "u32 -> u32",
    lambda a: np.cumsum(a.reshape(-1, BLOCK), axis=1, dtype=np.uint32).reshape(-1),
    body=f"""mov.u32 %k, %tid.x;
  mov.u64 %base, {{entry}}_shared;
  mad.wide.u32 %base, %k, 4, %base;
  st.shared.u32 [%base], %a;
  mov.u32 %d, %a;
  mov.u32 %l, 1;
ROUND:
  bar.sync 0;
  mov.u32 %m, 0;
  setp.lt.u32 %r, %k, %l;
  @%r bra WAIT;
  mul.wide.u32 %at, %l, 4;
  sub.u64 %at, %base, %at;
  ld.shared.u32 %m, [%at];
WAIT:
  barrier.sync 0;
  add.u32 %d, %d, %m;
  st.shared.u32 [%base], %d;
  shl.b32 %l, %l, 1;
  setp.lt.u32 %s, %l, {BLOCK};
  @%s bra ROUND;""",
    regs=LOOP,
    module=SHARED,
)
op(
    "bar.sync inside a function",
    "u32 -> u32",
    lambda a: np.roll(a.reshape(-1, BLOCK), -1, axis=1).copy().reshape(-1),
    body=f"""mov.u32 %k, %tid.x;
  mov.u64 %base, {{entry}}_shared;
  mad.wide.u32 %at, %k, 4, %base;
  st.shared.u32 [%at], %a;
  call.uni {{entry}}_wait;
  add.u32 %k, %k, 1;
  and.b32 %k, %k, {BLOCK - 1};
  mad.wide.u32 %at, %k, 4, %base;
  ld.shared.u32 %d, [%at];""",
    regs=LOOP,
    module=SHARED + "\n.func {entry}_wait()\n{\n  bar.sync 0;\n  ret;\n}\n",
)
op(
    "registers live across bar.sync",
    "u32 u32 f64 -> f64",
    lambda a, b, c: np.roll(a.reshape(-1, BLOCK), 1, axis=1).reshape(-1) + b.astype(np.float64) + c,
    body=f"""mov.u32 %k, %tid.x;
  mov.u64 %base, {{entry}}_shared;
  mad.wide.u32 %at, %k, 4, %base;
  setp.lt.u32 %r, %k, {BLOCK // 2};
  st.shared.u32 [%at], %a;
  bar.sync 0;
  add.u32 %k, %k, {BLOCK - 1};
  and.b32 %k, %k, {BLOCK - 1};
  mad.wide.u32 %at, %k, 4, %base;
  ld.shared.u32 %l, [%at];
  cvt.rn.f64.u32 %d, %l;
  @%r bra LOWER;
  cvt.rn.f64.u32 %e, %b;
  add.f64 %d, %d, %e;
  bar.sync 0;
  bra DONE;
LOWER:
  bar.sync 0;
  cvt.rn.f64.u32 %e, %b;
  add.f64 %d, %d, %e;
DONE:
  add.f64 %d, %d, %c;""",
    regs=LOOP + "\n  .reg .f64 %e;",
    module=SHARED,
)
op(
    "threads that have ended do not hold up bar.sync",
    "u32 -> u32",
    lambda a: np.where(
        np.arange(len(a)) % BLOCK < BLOCK // 2,
        np.roll(a.reshape(-1, BLOCK), -1, axis=1).reshape(-1),
        0xA5A5A5A5,
    ).astype(np.uint32),
    body=f"""mov.u32 %k, %tid.x;
  mov.u64 %base, {{entry}}_shared;
  mad.wide.u32 %at, %k, 4, %base;
  st.shared.u32 [%at], %a;
  bar.sync 0;
  setp.ge.u32 %r, %k, {BLOCK // 2};
  @%r exit;
  ld.shared.u32 %d, [%at+4];
  bar.sync 0;""",
    regs=LOOP,
    module=SHARED,
)
op(
    "brx.idx.uni and ret.uni",
    "u32 -> u32",
    lambda a: a + 2,
    body="""mov.u32 %n, 1;
WAYS: .branchtargets W0, W1;
  brx.idx.uni %n, WAYS;
W0:
  ret.uni;
W1:
  add.u32 %d, %a, 2;""",
)
