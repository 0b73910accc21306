# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""mov with its vector forms, and conversions between address spaces."""

from cuda_graphs.hostdriver.ptx.lowering.entry import param_offsets
from cuda_graphs.hostdriver.ptx.lowering.function import FunctionLowering
from cuda_graphs.hostdriver.ptx.lowering.table import Op, row
from cuda_graphs.hostdriver.ptx.syntax.datatypes import Type
from cuda_graphs.hostdriver.ptx.syntax.syntax import SINK, Register, Symbol, Vector

TYPES = "pred b8 b16 b32 b64 b128 u8 u16 u32 u64 s8 s16 s32 s64"


@row("mov", types=TYPES, operands="2")
def move(f: FunctionLowering, op: Op, operands: tuple) -> None:
    target, source = operands
    if isinstance(source, Vector):
        _pack(f, op.type, target, source)
    elif isinstance(target, Vector):
        _unpack(f, op.type, target, source)
    else:
        _move(f, op.type, target, source)


@row("mov:f", types="f16 bf16 f16x2 bf16x2 f32 f64", operands="2")
def move_float(f: FunctionLowering, op: Op, operands: tuple) -> None:
    _move(f, op.type, *operands)


def _move(f: FunctionLowering, kind: Type, target: object, source: object) -> None:
    t = "i1" if kind.kind == "pred" else kind.storage
    if t == "i64" and f.holds_pointer(target) and isinstance(source, Register | Symbol):
        t = "ptr"
    f.write(target, f.read(source, t), t, kind.signed)


def _pack(f: FunctionLowering, kind: Type, target: object, source: Vector) -> None:
    """Lowers `mov.b64 d, {low, high}`."""
    width = _width(f, kind, source)
    whole = "0"
    for place, item in enumerate(source.items):
        part = f.let(f"zext i{width} {f.read(item, f'i{width}')} to {kind.storage}")
        shifted = f.let(f"shl {kind.storage} {part}, {place * width}")
        whole = f.let(f"or {kind.storage} {whole}, {shifted}")
    f.write(target, whole, kind.storage)


def _width(f: FunctionLowering, kind: Type, parts: Vector) -> int:
    """Returns the bits of each part of a vector move."""
    count = len(parts.items)
    if count not in (2, 4) or kind.bits // count not in (8, 16, 32, 64):
        raise f.fail(f"a .{kind.name} cannot be split into {count} parts")
    return kind.bits // count


def _unpack(f: FunctionLowering, kind: Type, target: Vector, source: object) -> None:
    width = _width(f, kind, target)
    whole = f.read(source, kind.storage)
    for place, item in enumerate(target.items):
        if item is not SINK:
            part = f.let(f"lshr {kind.storage} {whole}, {place * width}")
            f.write(item, f.let(f"trunc {kind.storage} {part} to i{width}"), f"i{width}")


SPACES = "global const local param shared shared::cta shared::cluster param::entry"


@row("cvta", types="u64 u32", mods=f"to {SPACES}", operands="2")
def convert_address(f: FunctionLowering, op: Op, operands: tuple) -> None:
    """Converts an address. Only shared addresses differ from generic ones: they are offsets from the block's base."""
    if op.type.bits != 64:
        raise f.fail("only 64-bit addresses are supported")
    target, source = operands
    if not any(mod.startswith("shared") for mod in op.mods):
        t = "ptr" if f.holds_pointer(target) else "i64"
        f.write(target, f.read(source, t), t)
        return
    base = f.hidden("shared")
    if "to" in op:
        start = f.let(f"ptrtoint ptr {base} to i64")
        f.write(target, f.let(f"sub i64 {f.read(source, 'i64')}, {start}"), "i64")
    else:
        offset = shared_offset(f, source)
        f.write(target, f.let(f"getelementptr i8, ptr {base}, i64 {offset}"), "ptr")


def shared_offset(f: FunctionLowering, operand: object) -> str:
    """Returns a shared address, 32 or 64 bits wide, as i64."""
    if isinstance(operand, Register) and operand.type.total_bits == 64:
        return f.read(operand, "i64")
    return f.let(f"zext i32 {f.read(operand, 'i32')} to i64")


@row("isspacep", mods=SPACES, operands="2")
def is_in_space(f: FunctionLowering, op: Op, operands: tuple) -> None:
    address = f.read(operands[1], "i64")
    space = op.mods[0].partition("::")[0]
    if space == "global":
        others = [_in_shared(f, address), _in_local(f, address), _in_const(f, address)]
        if f.kernel is not None:
            others.append(_in_param(f, address))
        result = others[0]
        for other in others[1:]:
            result = f.let(f"or i1 {result}, {other}")
        result = f.let(f"xor i1 {result}, true")
    elif space == "param" and f.kernel is None:
        raise f.fail(".param is supported in kernels only, not in device functions")
    else:
        result = {"shared": _in_shared, "local": _in_local, "const": _in_const, "param": _in_param}[space](
            f, address
        )
    f.write(operands[0], result, "i1")


def _within(f: FunctionLowering, address: str, base: str, size: str) -> str:
    start = f.let(f"ptrtoint ptr {base} to i64")
    return f.let(f"icmp ult i64 {f.let(f'sub i64 {address}, {start}')}, {size}")


def _in_shared(f: FunctionLowering, address: str) -> str:
    size, _ = f.special("%total_smem_size")
    return _within(f, address, f.hidden("shared"), f.let(f"zext i32 {size} to i64"))


def _in_const(f: FunctionLowering, address: str) -> str:
    result = "false"
    for variable in f.module.module.variables.values():
        if variable.space == "const":
            inside = _within(f, address, f.module.global_name(variable), str(variable.bytes))
            result = f.let(f"or i1 {result}, {inside}")
    return result


def _in_param(f: FunctionLowering, address: str) -> str:
    assert f.kernel is not None
    return _within(f, address, "%params", str(param_offsets(f.kernel)[1]))


RED_ZONE = 128  # bytes below the stack pointer that a leaf function of the x86-64 ABI may use


def _in_local(f: FunctionLowering, address: str) -> str:
    """Returns whether an address is on the stack, up to the entry's frame, or in the frames of resumable threads."""
    # LLVM treats a comparison of a variable's address with the stack pointer as undecided: hide the address's origin.
    address = f.let(f'call i64 asm sideeffect "", "=r,0"(i64 {address})')
    pointer = f.let(f"ptrtoint ptr {f.call('llvm.stacksave.p0', 'ptr', [])} to i64")
    here = f.let(f"sub i64 {pointer}, {RED_ZONE}")
    entry = f.let(f"ptrtoint ptr {f.block_field('frame')} to i64")
    above, below = f.let(f"icmp uge i64 {address}, {here}"), f.let(f"icmp ult i64 {address}, {entry}")
    total = f.let(f"mul i64 {f.block_field('threads')}, {f.block_field('stride')}")
    in_frames = _within(f, address, f.block_field("arena"), total)
    return f.let(f"or i1 {f.let(f'and i1 {above}, {below}')}, {in_frames}")
