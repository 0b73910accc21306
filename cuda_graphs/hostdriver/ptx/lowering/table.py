# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The table of instructions, with one row for each group of similar opcodes. Decoding checks an opcode against its row:
a modifier that the lowering does not know raises an error at load and is never ignored.

    @row("add sub", types="u16 s16 f32", mods="rn rz ftz sat")
    def lower(f, op, operands): ...

A name may have two rows: `add` for integers, and `add:f`, which applies if the last type is a floating point type.
`op.types` has the types in the order of the opcode, `op.mods` everything else.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cuda_graphs.hostdriver.ptx.syntax.datatypes import TYPES, Type
from cuda_graphs.hostdriver.ptx.syntax.syntax import Instruction


@dataclass(frozen=True, slots=True)
class Op:
    name: str
    mods: tuple[str, ...]
    types: tuple[Type, ...]

    @property
    def type(self) -> Type:
        return self.types[-1]

    def one_of(self, *names: str, default: str = "") -> str:
        """Returns the modifier of an exclusive group, or `default`."""
        for mod in self.mods:
            if mod in names:
                return mod
        return default

    def __contains__(self, mod: str) -> bool:
        return mod in self.mods


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    lower: Callable
    types: frozenset[str]
    mods: frozenset[str]
    type_count: tuple[int, int]
    operand_count: tuple[int, int]


class Refused(Exception):
    """An instruction that is not supported as written. The lowering adds its line and function."""


# Instructions for hardware that the host driver does not emulate -> the reason.
WITHOUT = {
    **dict.fromkeys(
        ("tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"),
        "the host driver has no textures and surfaces (its devices have 0 as their limits); read global memory instead",
    ),
    **dict.fromkeys(
        ("wmma", "mma", "wgmma", "ldmatrix", "stmatrix", "movmatrix", "setmaxnreg", "tcgen05"),
        "the host driver has no tensor cores",
    ),
    **dict.fromkeys(("tensormap", "multimem"), "the host driver has no copies of tensors and no multicast"),
}

ROWS: dict[str, Row] = {}
SPECIAL: dict[str, Callable] = {}  # special register -> function that reads it: (value, LLVM type)
_decoded: dict[str, tuple[Row, Op]] = {}


def _span(text: str) -> tuple[int, int]:
    low, _, high = text.partition("-")
    return int(low), int(high or low)


def row(names: str, *, types: str = "", mods: str = "", count: str = "1", operands: str = "0-9") -> Callable:
    """Returns a decorator that adds rows; `count` is the number of types in the opcode, `operands` that of operands."""

    def register(lower: Callable) -> Callable:
        for name in names.split():
            assert name not in ROWS, name
            ROWS[name] = Row(
                name,
                lower,
                frozenset(types.split()),
                frozenset(mods.split()),
                _span(count if types else "0"),
                _span(operands),
            )
        return lower

    return register


def decode(opcode: str) -> tuple[Row, Op]:
    found = _decoded.get(opcode)
    if found is None:
        found = _decoded[opcode] = _decode(opcode)
    return found


def _decode(opcode: str) -> tuple[Row, Op]:
    name, *parts = opcode.split(".")
    types = tuple(TYPES[part] for part in parts if part in TYPES)
    found = ROWS.get(f"{name}:f") if types and types[-1].is_float else None
    found = found or ROWS.get(name)
    if found is None:
        raise Refused(WITHOUT.get(name, "this instruction is not supported"))
    mods = tuple(part for part in parts if part not in TYPES)
    for mod in mods:
        if mod not in found.mods:
            raise Refused(f"the modifier .{mod} is not supported here")
    for kind in types:
        if kind.name not in found.types:
            raise Refused(f"the type .{kind.name} is not supported here")
    low, high = found.type_count
    if not low <= len(types) <= high:
        raise Refused("the number of types is wrong")
    return found, Op(name, mods, types)


def decode_instruction(ins: Instruction) -> tuple[Row, Op]:
    """Returns the row and decoded opcode of an instruction, after checking its number of operands."""
    found, op = decode(ins.opcode)
    low, high = found.operand_count
    if not low <= len(ins.operands) <= high:
        raise Refused("the number of operands is wrong")
    return found, op
