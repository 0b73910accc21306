# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an approximate instruction gives the bits of an H200 on every driver. The inputs are all fractions of the
octaves in which a function reads its table differently, and words of the whole range.

interpolator_h200.npz: interpolator_record.py wrote it there.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import cuda_graphs as cg
from tests.conformance.ptx_differential import Bench

RECORD = Path(__file__).with_name("interpolator_h200.npz")
BLOCK = 256
FEW = 256  # results that are recorded themselves; of the others a digest is
EVERYWHERE = 1 << 21
FRACTIONS = 1 << 23
HALF, ONE, TWO = 0x3F000000, 0x3F800000, 0x40000000
SIGN = 0x80000000
TANH = [(127 + power) << 23 for power in range(-9, 4)]


@dataclass(frozen=True)
class Instruction:
    opcode: str
    octaves: tuple[int, ...] = ()  # the first words of them
    operands: int = 1

    @property
    def bits(self) -> int:
        return {"f64": 64, "f32": 32, "f16": 16, "bf16": 16}[self.opcode.rsplit(".")[-1]]

    @property
    def entry(self) -> str:
        return self.opcode.replace(".", "_")

    def kernel(self) -> str:
        """out[i] = this of a[i], or of a[i] and b[i]."""
        size, register = self.bits // 8, "b16" if self.bits == 16 else f"f{self.bits}"
        values = [f"%v{k}" for k in range(self.operands)]
        loads = "".join(
            f"  ld.param.u64 %p, [a{k}]; add.u64 %p, %p, %at; ld.global.b{self.bits} {value}, [%p];\n"
            for k, value in enumerate(values)
        )
        return f"""
.visible .entry {self.entry}(.param .u64 a0, .param .u64 a1, .param .u64 out, .param .u32 count) {{
  .reg .u64 %p, %at; .reg .u32 %i, %n, %block; .reg .pred %is_out; .reg .{register} %v0, %v1, %w;
  mov.u32 %i, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %block, %ctaid.x; mad.lo.u32 %i, %block, %n, %i;
  ld.param.u32 %n, [count]; setp.ge.u32 %is_out, %i, %n; @%is_out ret;
  mul.wide.u32 %at, %i, {size};
{loads}  {self.opcode} %w, {", ".join(values)};
  ld.param.u64 %p, [out]; add.u64 %p, %p, %at; st.global.b{self.bits} [%p], %w;
  ret;
}}
"""


ALL_OCTAVES = {
    "rcp": (ONE,),
    "rsqrt": (ONE, TWO),
    "sqrt": (ONE, TWO),
    "ex2": (HALF, ONE, SIGN | HALF, SIGN | ONE),
    "lg2": (HALF, ONE, TWO),
    "sin": (HALF, ONE, TWO),
    "cos": (HALF, ONE, TWO),
}
INSTRUCTIONS = (
    *(Instruction(f"{name}.approx.ftz.f32", octaves) for name, octaves in ALL_OCTAVES.items()),
    *(Instruction(f"{name}.approx.f32") for name in ALL_OCTAVES),
    Instruction("tanh.approx.f32", tuple(TANH)),
    *(Instruction(f"div.{how}{dot}.f32", operands=2) for how in ("approx", "full") for dot in ("", ".ftz")),
    *(Instruction(opcode) for opcode in ("rcp.approx.ftz.f64", "rsqrt.approx.f64", "rsqrt.approx.ftz.f64")),
    *(Instruction(f"{name}.approx.f16") for name in ("ex2", "tanh")),
    *(Instruction(opcode) for opcode in ("ex2.approx.ftz.bf16", "tanh.approx.bf16")),
)
SOURCE = ".version 8.0\n.target sm_90\n.address_size 64\n" + "".join(i.kernel() for i in INSTRUCTIONS)
SPECIAL = (0x00000000, 0x00000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000)


def scattered(count: int, bits: int, seed: int) -> np.ndarray:
    """Words of all kinds; half of those of f32 with a usual exponent; those of f32 begin with the special ones."""
    words = np.random.default_rng(seed).integers(0, 1 << bits, count, np.uint64).astype(f"u{bits // 8}")
    if bits == 32:
        half = words[::2]
        half[:] = (half & 0x807FFFFF) + ((half >> 8 & 63) + 96 << 23)
        special = np.array(SPECIAL, np.uint32)
        words[: 2 * len(special)] = np.concatenate([special, special | SIGN])
    return words


def arguments(instruction: Instruction) -> dict[str, list[np.ndarray]]:
    """By what they are."""
    if instruction.bits == 16:
        return {"everywhere": [np.arange(1 << 16, dtype=np.uint16)]}
    everywhere = [scattered(EVERYWHERE, instruction.bits, seed) for seed in range(instruction.operands)]
    fractions = np.arange(FRACTIONS, dtype=np.uint32)
    return {"everywhere": everywhere} | {
        f"{first:#x}": [fractions + np.uint32(first)] for first in instruction.octaves
    }


class Unit:
    """Runs the instructions on the driver of this process."""

    def __init__(self, device: cg.Device) -> None:
        self.bench = Bench(device)
        self.module = cg.ObjectCode.from_ptx(SOURCE.encode())
        assert self.module.handle  # loads it here

    def results(self, instruction: Instruction, values: list[np.ndarray]) -> np.ndarray:
        """Returns results as bits, with every NaN replaced by the first quiet one."""
        config = cg.LaunchConfig(grid=-(-len(values[0]) // BLOCK), block=BLOCK)
        kernel = self.module.get_kernel(instruction.entry)
        words = [values[0], values[-1], np.zeros_like(values[0])]
        found = self.bench.run(config, kernel, words, len(values[0]))[-1]
        kind = instruction.opcode.rsplit(".")[-1]
        infinity = {"f64": 0x7FF << 52, "f32": 0xFF << 23, "f16": 0x7C00, "bf16": 0x7F80}[kind]
        size = found & found.dtype.type((1 << instruction.bits - 1) - 1)
        return np.where(size > infinity, found.dtype.type(infinity + 1), found)


def digest(results: np.ndarray) -> np.ndarray:
    return np.frombuffer(hashlib.sha256(results.tobytes()).digest(), np.uint8)


@pytest.fixture(scope="module")
def unit(session_device):
    return Unit(session_device)


@pytest.fixture(scope="module")
def recorded():
    with np.load(RECORD) as stored:
        return dict(stored)


@pytest.mark.parametrize("instruction", INSTRUCTIONS, ids=lambda instruction: instruction.opcode)
def test_approximate_instructions_give_the_bits_of_an_h200(device, unit, recorded, instruction):
    for what, values in arguments(instruction).items():
        found = unit.results(instruction, values)
        name = f"{instruction.opcode} of {what}"
        few, truth = found[:: len(found) // FEW], recorded[f"{name}, few"]
        at = (few == truth).argmin()
        words = ", ".join(f"{int(word[:: len(found) // FEW][at]):#x}" for word in values)
        assert (few == truth).all(), f"{name}, {words}: {int(few[at]):#x}, on an H200 {int(truth[at]):#x}"
        assert (digest(found) == recorded[name]).all(), f"{name}: differs elsewhere"


@pytest.mark.nightly
def test_the_table_is_what_results_allow(session_device):
    """On a GPU: its unit is that of the table. On the host driver: the table is read as it was found."""
    from cuda_graphs.hostdriver.ptx.lowering import interpolator, interpolator_table
    from tests.conformance import interpolator_fit

    found = interpolator_fit.found_on(interpolator_fit.Machine())
    assert found == {name: interpolator.rows(name) for name in interpolator_table.TABLES}
