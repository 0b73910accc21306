# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""mov: every type, vectors packed into and taken out of scalars, immediates of every notation."""

import numpy as np

from tests.ptx.hazards import DTYPES
from tests.ptx.table import op

for kind in ("b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64"):
    op(f"mov.{kind}", f"{kind} -> {kind}", lambda a: a, same_nan=True)

op(
    "mov.pred",
    "u32 u32 -> pred",
    lambda a, b: (a < b).astype(np.uint32),
    body="setp.lt.u32 %r, %a, %b;\n  mov.pred %q, %r;",
    regs=".reg .pred %r;",
)


for narrow, wide in (("b16", "b32"), ("b32", "b64")):
    dtype = DTYPES[wide]
    op(
        f"mov.{wide} packs two {narrow}",
        f"{narrow} {narrow} -> {wide}",
        lambda a, b, t=dtype: a.astype(t) | b.astype(t) << t.type(4 * t.itemsize),
        body=f"mov.{wide} %d, {{%a, %b}};",
    )
    op(
        f"mov.{wide} unpacks into two {narrow}",
        f"{wide} -> {narrow}*2",
        lambda a, t=DTYPES[narrow]: a.view(t),
        body=f"mov.{wide} {{%d0, %d1}}, %a;",
    )
    op(
        f"mov.{wide} takes one half and drops the other",
        f"{wide} -> {narrow}",
        lambda a, t=DTYPES[narrow]: a.view(t)[1::2].copy(),
        body=f"mov.{wide} {{_, %d}}, %a;",
    )
op(
    "mov.b64 packs four b16",
    "b64 -> b64",
    lambda a: a.view(np.uint16).reshape(-1, 4)[:, ::-1].copy().view(np.uint64).reshape(-1),
    body="mov.b64 {%w, %x, %y, %z}, %a;\n  mov.b64 %d, {%z, %y, %x, %w};",
    regs=".reg .b16 %w, %x, %y, %z;",
)
op(
    "mov.b32 between float and bits",
    "f32 -> u32",
    lambda a: a.view(np.uint32) ^ np.uint32(1 << 31),
    body="mov.b32 %d, %a;\n  xor.b32 %d, %d, 0x80000000;",
)
op(
    "mov.b64 makes a double of two words",
    "u32 u32 -> f64",
    lambda a, b: (a.astype(np.uint64) | b.astype(np.uint64) << np.uint64(32)).view(np.float64),
    body="mov.b64 %d, {%a, %b};",
    same_nan=True,
)

IMMEDIATES = {
    "s32": {
        "-1": -1,
        "0x7fffffff": 0x7FFFFFFF,
        "017": 15,
        "0b1011": 11,
        "'(1 << 4) | 3'": 19,
        "'~5'": -6,
        "'(7 > 3) ? 10 : 20'": 10,
    },
    "u32": {"4294967295": 0xFFFFFFFF, "0xFFFFFFFFU": 0xFFFFFFFF, "-2": 0xFFFFFFFE},
    "u64": {
        "0xFFFFFFFFFFFFFFFF": 0xFFFFFFFFFFFFFFFF,
        "-1": 0xFFFFFFFFFFFFFFFF,
        "9223372036854775808U": 1 << 63,
    },
    "s64": {"-9223372036854775807": -(2**63) + 1},
    "s16": {"-32768": -32768, "32767": 32767},
    "f32": {
        "0f7F800000": np.inf,
        "0fBF800000": -1.0,
        "1.5": 1.5,
        "-2.5e3": -2500.0,
        "0d3FB999999999999A": 0.1,
        "0.1": 0.1,
    },
    # The 0f notation gives the low bits of a double, whatever their value as a float: so ptxas reads it.
    "f64": {
        "0dC008000000000000": -3.0,
        "3.25": 3.25,
        "1e300": 1e300,
        "0f3DCCCCCD": float(np.uint64(0x3DCCCCCD).view(np.float64)),
    },
}
for kind, cases in IMMEDIATES.items():
    for text, value in cases.items():
        text = text.strip("'")
        op(
            f"mov.{kind} of {text}",
            f"{kind} -> {kind}",
            lambda a, v=value: np.full(len(a), v, a.dtype),
            body=f"mov.{kind} %d, {text};",
        )

op(
    "mov.b128 packs and unpacks two b64",
    "u64 u64 -> u64*2",
    lambda a, b: np.stack([b, a], axis=1).reshape(-1),
    body="mov.b128 %x, {%a, %b};\n  mov.b128 %y, %x;\n  mov.b128 {%d1, %d0}, %y;",
    regs=".reg .b128 %x, %y;",
    version="8.3",
)
