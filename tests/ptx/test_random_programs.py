# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a program of random jumps does what an interpreter of its blocks does.

A program is a few blocks of random instructions on a few registers; each ends by jumping to one of two blocks, by a
random comparison, until the fuel is used up. About half of the graphs of jumps are irreducible. In the second kind the
jumps are the same for all threads of a block. Threads then exchange values through shared memory between barriers, so
that every register lives across the suspension of its thread.
"""

import numpy as np
import pytest

from tests.ptx.rig import HEADER, load

REGISTERS = 5
BLOCKS = 6
FUEL = 30
THREADS = 24
MASK = (1 << 32) - 1


def signed(x):
    return x - (1 << 32) if x >> 31 else x


# Instruction with two sources -> its meaning.
OPERATIONS = {
    "add.u32": lambda a, b: a + b,
    "sub.u32": lambda a, b: a - b,
    "mul.lo.u32": lambda a, b: a * b,
    "mul.hi.u32": lambda a, b: a * b >> 32,
    "xor.b32": lambda a, b: a ^ b,
    "and.b32": lambda a, b: a & b,
    "or.b32": lambda a, b: a | b,
    "min.s32": lambda a, b: min(signed(a), signed(b)),
    "max.u32": max,
    "shr.s32": lambda a, b: signed(a) >> min(b, 32),
    "shl.b32": lambda a, b: a << min(b, 32),
}
COMPARISONS = {
    "lt.u32": lambda a, b: a < b,
    "ge.s32": lambda a, b: signed(a) >= signed(b),
    "eq.u32": lambda a, b: a == b,
    "hi.u32": lambda a, b: a > b,
}


class Program:
    """Random blocks. An instruction has the form (name, target, a, b, guard), where guard is None or (register, wanted
    bit 0). A jump is (comparison, a, b, block if true, block if false)."""

    def __init__(self, seed, uniform):
        self.random = np.random.default_rng(seed)
        self.uniform = uniform
        self.blocks = [[self.instruction() for _ in range(self.pick(1, 6))] for _ in range(BLOCKS)]
        self.jumps = [
            (self.name(COMPARISONS), self.pick(0, REGISTERS), self.pick(0, REGISTERS), *self.targets())
            for _ in range(BLOCKS)
        ]

    def pick(self, low, high):
        return int(self.random.integers(low, high))

    def name(self, table):
        return list(table)[self.pick(0, len(table))]

    def targets(self):
        return self.pick(0, BLOCKS), self.pick(0, BLOCKS)

    def instruction(self):
        if self.uniform and self.random.random() < 0.25:
            return ("exchange", self.pick(0, REGISTERS), self.pick(0, REGISTERS), self.pick(1, THREADS), None)
        guard = (self.pick(0, REGISTERS), self.pick(0, 2)) if self.random.random() < 0.3 else None
        return (self.name(OPERATIONS), *(self.pick(0, REGISTERS) for _ in range(3)), guard)

    def ptx(self):
        """Registers r are the thread's; the jumps of a uniform program look at u, which all threads share."""
        lines = []
        for number, (block, jump) in enumerate(zip(self.blocks, self.jumps, strict=True)):
            lines.append(f"B{number}:")
            lines += [line for instruction in block for line in self.lines(instruction)]
            comparison, a, b, yes, no = jump
            bank = "u" if self.uniform else "r"
            if self.uniform:  # a step of its own, so that the way through the blocks is not short
                lines.append(f"mad.lo.u32 %u{a}, %u{a}, 1664525, %u{b};\nadd.u32 %u{b}, %u{b}, 1013904223;")
            lines.append(
                f"sub.u32 %fuel, %fuel, 1;\nsetp.eq.u32 %p, %fuel, 0;\n@%p bra DONE;\n"
                f"setp.{comparison} %p, %{bank}{a}, %{bank}{b};\n@%p bra B{yes};\nbra B{no};"
            )
        body = "\n".join(lines)
        loads = "\n".join(f"ld.global.u32 %r{k}, [%in+{4 * k}];" for k in range(REGISTERS))
        stores = "\n".join(f"st.global.u32 [%out+{4 * k}], %r{k};" for k in range(REGISTERS))
        shared = "\n".join(f"mov.u32 %u{k}, {977 * k + 5};" for k in range(REGISTERS))
        return f"""{HEADER}
.shared .align 4 .b8 cells[{4 * THREADS}];
.visible .entry k(.param .u64 pin, .param .u64 pout)
{{
.reg .b32 %r<{REGISTERS}>, %u<{REGISTERS}>, %fuel, %tid, %t;
.reg .b64 %in, %out, %cells, %at;
.reg .pred %p;
mov.u32 %tid, %tid.x;
ld.param.u64 %in, [pin];
ld.param.u64 %out, [pout];
mul.wide.u32 %at, %tid, {4 * REGISTERS};
add.u64 %in, %in, %at;
add.u64 %out, %out, %at;
mov.u64 %cells, cells;
{loads}
{shared}
mov.u32 %fuel, {FUEL};
{body}
DONE:
{stores}
ret;
}}
"""

    def lines(self, instruction):
        name, target, a, b, guard = instruction
        if name == "exchange":  # the thread `b` further on gives its register a
            return [
                f"mad.wide.u32 %at, %tid, 4, %cells;\nst.shared.u32 [%at], %r{a};\nbar.sync 0;\nadd.u32 %t, %tid, {b};",
                f"rem.u32 %t, %t, {THREADS};\nmad.wide.u32 %at, %t, 4, %cells;\nld.shared.u32 %r{target}, [%at];",
                "bar.sync 0;",
            ]
        if guard is None:
            return [f"{name} %r{target}, %r{a}, %r{b};"]
        register, bit = guard
        return [
            f"and.b32 %t, %r{register}, 1;\nsetp.eq.u32 %p, %t, {bit};\n@%p {name} %r{target}, %r{a}, %r{b};",
        ]

    def run(self, start):
        """The registers of all threads at the end. Divergent programs go thread by thread, uniform ones in step."""
        groups = [start] if self.uniform else [[thread] for thread in start]
        return [thread for group in groups for thread in self.run_together([list(t) for t in group])]

    def run_together(self, threads):
        at, shared = 0, [977 * k + 5 for k in range(REGISTERS)]
        for _ in range(FUEL):
            for instruction in self.blocks[at]:
                self.step(instruction, threads)
            comparison, a, b, yes, no = self.jumps[at]
            if self.uniform:
                shared[a] = shared[a] * 1664525 + shared[b] & MASK
                shared[b] = shared[b] + 1013904223 & MASK
            bank = shared if self.uniform else threads[0]
            at = yes if COMPARISONS[comparison](bank[a], bank[b]) else no
        return threads

    def step(self, instruction, threads):
        name, target, a, b, guard = instruction
        if name == "exchange":
            given = [thread[a] for thread in threads]
            for k, thread in enumerate(threads):
                thread[target] = given[(k + b) % THREADS]
            return
        for thread in threads:
            if guard is None or thread[guard[0]] & 1 == guard[1]:
                thread[target] = OPERATIONS[name](thread[a], thread[b]) & MASK


@pytest.mark.parametrize("uniform", [False, True], ids=["divergent", "with-barriers"])
@pytest.mark.parametrize("seed", range(12))
def test_a_program_of_random_jumps_does_what_its_interpreter_does(seed, uniform):
    program = Program(seed, uniform)
    start = np.random.default_rng(seed + 1000).integers(0, 1 << 32, (THREADS, REGISTERS), np.uint32)
    start[::3, 1:3] >>= 20
    out = np.zeros_like(start)
    load(program.ptx()).launch("k", 1, THREADS, start, out)
    assert out.tolist() == program.run(start.tolist())
