# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""SIMD instructions on the bytes and halves of words that NVRTC still writes; it emulates the other ones."""

from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.datatypes import Type


@row("vabsdiff4 vabsdiff2", types="u32 s32", mods="sat add", count="3", operands="4")
def absolute_difference(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Lowers `vabsdiff4.dtype.atype.btype{.sat, .add} d, a, b, c`, lane by lane; .add sums all lanes and c."""
    lanes = int(op.name[-1])
    bits = 32 // lanes
    target, first, second = op.types
    a, b, c = (f.read(operand, "i32") for operand in operands[1:])
    result = c if "add" in op else "0"
    for lane in range(lanes):
        x, y = _lane(f, a, first, bits, lane), _lane(f, b, second, bits, lane)
        value = f.call("llvm.abs.i32", "i32", [("i32", f.let(f"sub i32 {x}, {y}")), ("i1", "false")])
        if "add" in op:
            result = f.let(f"add i32 {result}, {value}")
            continue
        if "sat" in op:
            most = (1 << bits - target.signed) - 1
            value = f.call("llvm.umin.i32", "i32", [("i32", value), ("i32", str(most))])
        kept = f.let(f"and i32 {value}, {(1 << bits) - 1}")
        result = f.let(f"or i32 {result}, {f.let(f'shl i32 {kept}, {lane * bits}')}")
    f.put(operands[0], result, target)


def _lane(f: FunctionLowering, word: str, kind: Type, bits: int, lane: int) -> str:
    top = f.let(f"shl i32 {word}, {32 - bits * (lane + 1)}")
    return f.let(f"{'ashr' if kind.signed else 'lshr'} i32 {top}, {32 - bits}")
