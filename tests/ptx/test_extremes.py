# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: min and max of PTX are right on every kind of x86 CPU, whatever LLVM knows about their operands.

The truth is tests/ptx/exact.py, which compares integers. Code is made for this CPU and for the generations of x86-64
that it can run.
"""

import itertools
import re

import llvmlite.binding
import numpy as np
import pytest

from cuda_graphs.hostdriver.ptx import code_generation
from cuda_graphs.native import llvm
from tests.ptx import exact
from tests.ptx.rig import HEADER, load

NEEDS = {
    "host": (),
    "x86-64": (),
    "x86-64-v2": ("sse4.2", "popcnt"),
    "x86-64-v3": ("avx2", "fma", "bmi2"),
    "x86-64-v4": ("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd"),
}
HAS = llvmlite.binding.get_host_cpu_features() if "x86_64" in llvm.requirements()["triple"] else {}
CPUS = [name for name, needs in NEEDS.items() if name == "host" or (HAS and all(HAS.get(n) for n in needs))]
# Type -> (register, NumPy type of its bits, hazardous bits).
TYPES = {
    "f16": ("b16", np.uint16, [0x7E00, 0xFE00, 0, 0x8000, 0x3C00, 0xBC00, 0x7C00, 0xFC00, 1, 0x8001]),
    "f32": ("f32", np.uint32, np.array([np.nan, 0, -0.0, 1, -1, np.inf, -np.inf, 1e-45, 2.5], "f").view("I")),
    "f64": ("f64", np.uint64, np.array([np.nan, 0, -0.0, 1, -1, np.inf, -np.inf, 5e-324, 2.5]).view("Q")),
}
INTEGERS = np.array([0, 1, -1, 2, -1000], np.int32)


def use(cpu, monkeypatch):
    """Make code for a CPU. Conversions of f16 are instructions (F16C) or calls of libgcc."""
    if cpu != "host":
        machine = llvm.cpu_machine(cpu, "")
        monkeypatch.setattr(llvm, "this_cpu", lambda: machine)


def pair_kernel(kind, operation, sources):
    """out[i] = operation(a, b). Each of a and b is loaded from memory, or made of an integer there."""
    register, dtype, _ = TYPES[kind]
    size = np.dtype(dtype).itemsize
    lines = []
    for name, source in zip("ab", sources, strict=True):
        if source == "memory":
            lines.append(f"ld.global.{'b' if size == 2 else 'f'}{8 * size} %{name}, [%p{name}];")
        else:
            lines += [f"ld.global.s32 %r{name}, [%p{name}];", f"cvt.rn.{kind}.s32 %{name}, %r{name};"]
    sizes = [size if source == "memory" else 4 for source in sources]
    return f"""{HEADER}
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out) {{
  .reg .{register} %a, %b, %c; .reg .b32 %ra, %rb, %t; .reg .b64 %pa, %pb, %pc;
  ld.param.u64 %pa, [a]; ld.param.u64 %pb, [b]; ld.param.u64 %pc, [out];
  mov.u32 %t, %tid.x;
  mad.wide.u32 %pa, %t, {sizes[0]}, %pa; mad.wide.u32 %pb, %t, {sizes[1]}, %pb;
  mad.wide.u32 %pc, %t, {size}, %pc;
  {" ".join(lines)}
  {operation}.{kind} %c, %a, %b;
  st.global.{"b" if size == 2 else "f"}{8 * size} [%pc], %c;
  ret;
}}"""


def bits_of(kind, numbers):
    return [exact.from_integer(exact.FORMATS[kind], "rn", int(number)) for number in numbers]


def extreme(kind, operation, a, b):
    name, _, propagates = operation.partition(".")
    f = exact.FORMATS[kind]
    if propagates and (f.is_nan(int(a)) or f.is_nan(int(b))):
        return f.nan
    return getattr(exact, name + "imum")(f, int(a), int(b))


def agree(kind, found, wanted):
    """The same bits; any NaN for NaN."""
    f = exact.FORMATS[kind]
    return all(
        int(x) == int(y) or (f.is_nan(int(x)) and f.is_nan(int(y)))
        for x, y in zip(found, wanted, strict=True)
    )


@pytest.mark.parametrize("sources", list(itertools.product(["memory", "integer"], repeat=2)), ids="-".join)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("cpu", CPUS)
def test_pairs_of_numbers_and_nans_have_the_extreme_of_the_isa(kind, sources, cpu, monkeypatch):
    use(cpu, monkeypatch)
    _, dtype, hazards = TYPES[kind]
    pools = [hazards if source == "memory" else INTEGERS for source in sources]
    pairs = list(itertools.product(*pools))
    sides = [
        np.array(side, dtype if source == "memory" else np.int32)
        for side, source in zip(zip(*pairs, strict=True), sources, strict=True)
    ]
    a, b = (
        side if source == "memory" else bits_of(kind, side)
        for side, source in zip(sides, sources, strict=True)
    )
    for operation in ("min", "max", "min.NaN", "max.NaN"):
        program = load(pair_kernel(kind, operation, sources))
        wanted = [extreme(kind, operation, x, y) for x, y in zip(a, b, strict=True)]
        for threads in (len(pairs), 1):  # as vectors, and one by one
            out = np.zeros(len(pairs), dtype)
            for first in range(0, len(pairs), threads):
                program.launch("k", 1, threads, *(each[first:] for each in (*sides, out)))
            assert agree(kind, out, wanted), f"{operation} on {cpu}: {out} is not {wanted}"


def reduction(kind, operation):
    """out[0] = the extreme of the first n values, from left to right."""
    size = int(kind[1:]) // 8
    return f"""{HEADER}
.visible .entry k(.param .u64 a, .param .u64 out, .param .u32 n) {{
  .reg .{kind} %x, %m; .reg .b64 %pa, %pc; .reg .b32 %n; .reg .pred %p;
  ld.param.u64 %pa, [a]; ld.param.u64 %pc, [out]; ld.param.u32 %n, [n];
  ld.global.{kind} %m, [%pa];
again:
  ld.global.{kind} %x, [%pa];
  {operation}.{kind} %m, %m, %x;
  add.u64 %pa, %pa, {size}; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0;
  @%p bra again;
  st.global.{kind} [%pc], %m;
  ret;
}}"""


@pytest.mark.parametrize("operation", ["min", "max"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("cpu", CPUS)
def test_loops_over_an_array_find_its_extreme(kind, operation, cpu, monkeypatch):
    use(cpu, monkeypatch)
    _, dtype, hazards = TYPES[kind]
    program, random = load(reduction(kind, operation)), np.random.default_rng(3)
    zeros_and_nans = np.asarray(hazards)[:3]
    for pool in (np.asarray(hazards), zeros_and_nans):
        for count in (1, 2, 7, 16, 100, 257, 1000):
            values = random.choice(pool, count).astype(dtype)
            out, wanted = np.zeros(1, dtype), int(values[0])
            program.launch("k", 1, 1, values, out, np.uint32(count))
            for value in values:
                wanted = extreme(kind, operation, wanted, value)
            assert agree(kind, out, [wanted]), f"{count} values on {cpu}"


@pytest.mark.skipif(not HAS, reason="reads x86 assembly")
def test_loops_over_an_array_stay_vectors():
    """By the vectors in the code; every CPU of x86-64 has those of 128 bits."""
    from cuda_graphs.hostdriver.ptx.module_lowering import ModuleLowering
    from cuda_graphs.hostdriver.ptx.units import parse

    for name in ("min", "max"):
        text = code_generation.assembly(ModuleLowering(parse(reduction("f32", name))).lower().ir)
        assert re.search(rf"\bv?{name}ps\b", text)
