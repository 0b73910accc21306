# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""atom and red. One thread a cell shows the operation and the old value; many threads on one cell show that it
is atomic: operations whose result does not depend on the order."""

import numpy as np

from tests.ptx import exact, hazards
from tests.ptx.exact import FORMATS, elementwise, integers
from tests.ptx.hazards import COUNT, DTYPES
from tests.ptx.table import BLOCK, memory_type, op

REGS = ".reg .b64 %base;\n  .reg .b32 %k;"


def increment(old, limit):
    return 0 if old >= limit else old + 1


def decrement(old, limit):
    return limit if old == 0 or old > limit else old - 1


INTEGER = {
    "add": ("u32 s32 u64", lambda old, b: old + b),
    "min": ("u32 s32 u64 s64", min),
    "max": ("u32 s32 u64 s64", max),
    "and": ("b32 b64", lambda old, b: old & b),
    "or": ("b32 b64", lambda old, b: old | b),
    "xor": ("b32 b64", lambda old, b: old ^ b),
    "exch": ("b32 b64", lambda old, b: b),
    "inc": ("u32", increment),
    "dec": ("u32", decrement),
}
FLOAT = {"add.f32": "f32", "add.f64": "f64", "add.noftz.f16": "f16", "add.noftz.bf16": "bf16"}


def interleaved(old, new):
    return np.stack([old, new], axis=1).reshape(-1)


def own_cell(name, kind, expect, *, space, ins=2, instruction="", operands="%b"):
    """Cell = a; old = atom(cell, b); results are old and what the cell holds then."""
    t, size = memory_type(kind), DTYPES[kind].itemsize
    shared = space == "shared"
    where = "[%base]" if shared else f"[%pd+{size}]"
    setup = "mov.u32 %k, %tid.x;\n  mov.u64 %base, {entry}_cells;\n"
    setup += "  mul.wide.u32 %at, %k, 8;\n  add.u64 %base, %base, %at;\n"
    op(
        name,
        f"{' '.join([kind] * ins)} -> {kind}*2",
        expect,
        body=(setup if shared else "")
        + f"  st.{space}.{t} {where}, %a;\n  {instruction} %d0, {where}, {operands};\n  ld.{space}.{t} %d1, {where};",
        regs=REGS,
        module=f".shared .align 8 .b8 {{entry}}_cells[{8 * BLOCK}];" if shared else "",
    )


for space in ("global", "shared"):
    for verb, (kinds, operation) in INTEGER.items():
        for kind in kinds.split():
            name = f"atom.{space}.{verb}.{kind}"
            own_cell(
                name,
                kind,
                lambda a, b, f=operation: interleaved(a, integers(f, a.dtype, a, b)),
                space=space,
                instruction=name,
            )
    for kind in ("b32", "b64"):
        name = f"atom.{space}.cas.{kind}"
        own_cell(
            name,
            kind,
            lambda a, b, c: interleaved(a, np.where(a == b, c, a)),
            space=space,
            ins=3,
            instruction=name,
            operands="%b, %c",
        )
    for words, kind in FLOAT.items():
        name = f"atom.{space}.{words}"
        f = FORMATS[kind]
        # "atom.add.f32 on global memory flushes subnormal inputs and results to sign-preserving zero; whereas
        # atom.add.f32 on shared memory supports subnormal inputs and results" (PTX ISA, atom)
        flush = f.flush if (kind, space) == ("f32", "global") else int
        own_cell(
            name,
            kind,
            lambda a, b, f=f, g=flush: interleaved(
                a, elementwise(lambda x, y: g(exact.add(f, "rn", g(x), g(y))), a.dtype, a, b)
            ),
            space=space,
            instruction=name,
        )
own_cell(
    "atom.cas.b16",
    "b16",
    lambda a, b, c: interleaved(a, np.where(a == b, c, a)),
    space="global",
    ins=3,
    instruction="atom.global.cas.b16",
    operands="%b, %c",
)
for words in (*("relaxed.gpu", "acquire.gpu", "release.gpu", "acq_rel.gpu", "relaxed.cta", "acq_rel.sys"),):
    own_cell(
        f"atom.{words}.global.add.u32",
        "u32",
        lambda a, b: interleaved(a, a + b),
        space="global",
        instruction=f"atom.{words}.global.add.u32",
    )

CELLS = 4
FIRST = {"u32": 5, "s32": -5, "u64": 1 << 40, "s64": -(1 << 40), "b32": 0xF0F0F0F0, "b64": 0xF0F0F0F0F0F0F0F0}


def contended(name, kind, operation, text, arrays, module=""):
    """All threads on four cells."""
    dtype = DTYPES[kind]
    first = np.full(CELLS, FIRST.get(kind, 1), dtype)

    def expect(a):
        cells = first.copy()
        for k in range(CELLS):
            for value in a[k::CELLS]:
                cells[k] = operation(cells[k], value)
        return cells

    op(
        name,
        f"{kind} -> {kind}",
        expect,
        body="ld.param.u64 %base, [pd];\n  cvta.to.global.u64 %base, %base;\n"
        f"  and.b32 %k, %i, {CELLS - 1};\n  mul.wide.u32 %at, %k, {dtype.itemsize};\n"
        f"  add.u64 %base, %base, %at;\n  {text}",
        regs=REGS
        + f"\n  .reg {'.f32' if kind == 'f32' else '.f64' if kind == 'f64' else f'.b{8 * dtype.itemsize}'} %e, %f;",
        module=module,
        store=False,
        prepare=first,
        arrays=arrays,
    )


COMMUTING = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
for verb, function in COMMUTING.items():
    for kind in INTEGER[verb][0].split():
        arrays = hazards.operands("random_bits", [kind])
        for words, text in (
            (f"red.global.{verb}", "[%base], %a;"),
            (f"atom.global.{verb}", "%e, [%base], %a;"),
        ):
            contended(
                f"{words}.{kind} by many threads",
                kind,
                function,
                f"{words}.{kind} {text}",
                arrays,
            )
for words, kind in FLOAT.items():
    small = np.random.default_rng(2).integers(-3, 4, COUNT)
    values = small.astype(DTYPES[kind]) if kind != "bf16" else None
    if values is not None:
        contended(
            f"red.global.{words} by many threads", kind, np.add, f"red.global.{words} [%base], %a;", [values]
        )
contended(
    "red.global.inc.u32 by many threads",
    "u32",
    lambda cell, value: np.uint32(increment(int(cell), 50)),
    "red.global.inc.u32 [%base], 50;",
    hazards.operands("random_bits", ["u32"]),
)
contended(
    "a loop of atom.cas adds by many threads",
    "u32",
    np.add,
    """ld.volatile.global.u32 %e, [%base];
AGAIN:
  add.u32 %f, %e, %a;
  atom.global.cas.b32 %f, [%base], %e, %f;
  setp.ne.u32 %q, %f, %e;
  mov.u32 %e, %f;
  @%q bra AGAIN;""",
    hazards.operands("random_bits", ["u32"]),
)
contended(
    "a lock of atom.exch guards an addition",
    "u32",
    np.add,
    """and.b32 %k, %i, 3;
  mov.u64 %at, {entry}_locks;
  mad.wide.u32 %at, %k, 4, %at;
  mov.u32 %n, 0;
TRY:
  atom.acquire.gpu.global.exch.b32 %f, [%at], 1;
  setp.ne.u32 %q, %f, 0;
  @%q bra SKIP;
  ld.volatile.global.u32 %e, [%base];
  add.u32 %e, %e, %a;
  st.volatile.global.u32 [%base], %e;
  membar.gl;
  atom.release.gpu.global.exch.b32 %f, [%at], 0;
  mov.u32 %n, 1;
SKIP:
  setp.eq.u32 %q, %n, 0;
  @%q bra TRY;""",
    hazards.operands("random_bits", ["u32"]),
    module=".global .align 4 .u32 {entry}_locks[4];",
)


def packed_halves(count):
    values = np.random.default_rng(6).integers(-3, 4, 2 * count).astype(np.float16)
    return [values.view(np.uint32)]


contended(
    "red.global.add.noftz.f16x2 by many threads",
    "f16x2",
    lambda cell, value: (np.array([cell]).view(np.float16) + np.array([value]).view(np.float16)).view(
        np.uint32
    )[0],
    "red.global.add.noftz.f16x2 [%base], %a;",
    packed_halves(COUNT),
)
op(
    "atom on a generic address, global and shared",
    "u32 u32 -> u32*2",
    lambda a, b: interleaved(a + b, np.maximum(a, b)),
    body="""mov.u32 %k, %tid.x;
  mov.u64 %base, {entry}_cells;
  mad.wide.u32 %base, %k, 8, %base;
  st.shared.u32 [%base], %a;
  st.global.u32 [%pd], %a;
  cvta.shared.u64 %base, %base;
  cvta.global.u64 %at, %pd;
  atom.max.u32 %k, [%base], %b;
  red.add.u32 [%at], %b;
  ld.u32 %d0, [%at];
  ld.u32 %d1, [%base];""",
    regs=REGS,
    module=f".shared .align 8 .b8 {{entry}}_cells[{8 * BLOCK}];",
)
op(
    "atom.cas.b128 and atom.exch.b128",
    "u64 u64 -> u64*4",
    lambda a, b: np.stack([a, b, b, a + 1], axis=1).reshape(-1),
    body="""mov.b128 %x, {%a, %b};
  add.u64 %e, %a, 1;
  mov.b128 %y, {%b, %e};
  mov.u32 %k, %tid.x;
  mov.u64 %base, {entry}_cells;
  mad.wide.u32 %base, %k, 16, %base;
  st.shared.v2.u64 [%base], {%a, %b};
  atom.shared.cas.b128 %z, [%base], %x, %y;
  mov.b128 {%d0, %d1}, %z;
  atom.shared.exch.b128 %z, [%base], %x;
  mov.b128 {%d2, %d3}, %z;""",
    regs=".reg .b64 %base, %e;\n  .reg .b32 %k;\n  .reg .b128 %x, %y, %z;",
    module=f".shared .align 16 .b8 {{entry}}_cells[{16 * BLOCK}];",
    version="8.4",
)

for kind in ("f16x2", "bf16x2"):
    f = FORMATS[kind.removesuffix("x2")]
    own_cell(
        f"atom.global.add.noftz.{kind}",
        kind,
        lambda a, b, f=f: interleaved(
            a,
            elementwise(
                lambda x, y: exact.add(f, "rn", x, y), np.uint16, a.view(np.uint16), b.view(np.uint16)
            ).view(np.uint32),
        ),
        space="global",
        instruction=f"atom.global.add.noftz.{kind}",
    )
for words in ("red.shared.add.u32", "red.shared::cta.or.b32", "red.relaxed.cta.shared.max.u32"):
    verb = words.split(".")[-2]
    op(
        words,
        "u32 u32 -> u32",
        lambda a, b, f=INTEGER[verb][1]: integers(f, np.uint32, a, b),
        body="mov.u32 %k, %tid.x;\n  mov.u64 %base, {entry}_cells;\n  mad.wide.u32 %base, %k, 4, %base;\n"
        f"  st.shared::cta.u32 [%base], %a;\n  {words} [%base], %b;\n  ld.shared::cta.u32 %d, [%base];",
        regs=REGS,
        module=f".shared .align 8 .b8 {{entry}}_cells[{4 * BLOCK}];",
    )
for name, instruction in (
    ("red.global.add.v2.f32", "red.global.add.v2.f32 [%pd], {%a, %b};"),
    ("atom.global.add.v2.f32", "atom.global.add.v2.f32 {%e, %f}, [%pd], {%a, %b};"),
):
    op(
        name,
        "f32 f32 -> f32*2",
        lambda a, b: interleaved(a + np.float32(2), b + np.float32(3)),
        body="mov.f32 %e, 2.0;\n  mov.f32 %f, 3.0;\n  st.global.v2.f32 [%pd], {%e, %f};\n"
        f"  {instruction}\n  ld.global.v2.f32 {{%d0, %d1}}, [%pd];",
        regs=REGS + "\n  .reg .f32 %e, %f;",
        arrays=[np.random.default_rng(k).normal(size=COUNT).astype(np.float32) for k in (1, 2)],
        version="8.1",
    )
