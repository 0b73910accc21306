# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Emits computed values: registers, constants, and the operations of the op table (ir/ops.py)."""

from __future__ import annotations

from typing import Any

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.ops import OPS, computing_type
from cuda_graphs.compiler.ir.scalars import is_small
from cuda_graphs.compiler.ir.types import ScalarType, f32
from cuda_graphs.native.function_text import constant_string

from . import prelude
from .notation import FastMathText, llvm_type, number, suffix
from .target import Target

__all__ = ["ValueEmitter"]


class ValueEmitter(FastMathText):
    """Emitter of values for a target."""

    def __init__(self, target: Target, declarations: dict[str, str]) -> None:
        super().__init__(declarations, "fast " if target.fast_math else "")
        self.target = target
        self.names: dict[Any, str] = {}
        self.wide: dict[ir.Value, str] = {}  # value -> its register in 64 bits

    def value(self, value: ir.Value) -> str:
        """Return the register or the constant of a value."""
        if isinstance(value, ir.Const):
            return number(value.value, value.type)
        # Truncate at each use: the first truncation may not dominate later uses. LLVM merges them.
        return self.narrow(self.wide[value], value.type) if value in self.wide else self.names[value]

    def narrow(self, wide: str, type: ScalarType) -> str:
        return wide if type.bits == 64 else self.let(f"trunc i64 {wide} to {llvm_type(type)}")

    def stored(self, value: ir.Value) -> str:
        found = self.value(value)
        return self.let(f"zext i1 {found} to i8") if value.type.kind == "bool" else found

    def computed(
        self, name: str, type: ScalarType, args: list[str], kinds: tuple[ScalarType, ...] = ()
    ) -> str:
        """Emit an operation; return its result. The operands have the types `kinds`, or the type of the result."""
        row, kinds, result = OPS[name], kinds or (type,) * len(args), type
        operand = computing_type(row, kinds)
        if operand == f32:
            args = [prelude.widened(self, arg, kind) for arg, kind in zip(args, kinds, strict=True)]
            result = f32 if is_small(result) and row.rule != "cast" else result
        found = self.filled(row.llvm.get(operand.kind) or row.llvm["any"], operand, result, args)
        return found if result == type else prelude.rounded(self, found, type)

    def filled(self, template: str, operand: ScalarType, result: ScalarType, args: list[str]) -> str:
        if template.startswith("@"):
            return prelude.emit(self, template[1:], operand, result, args)
        if template.startswith("!"):
            return self.target.function(self, template[1:], operand, args)
        if "@llvm." in template:
            intrinsic(self, template, operand)
        text = template.format(
            *args, t=llvm_type(operand), s=suffix(operand), r=llvm_type(result), f=self.fast
        )
        return self.let(text)

    def string(self, text: str) -> str:
        """Return a pointer to a constant string, in the generic address space."""
        space = self.target.constants()
        constant = f"private{space} constant {constant_string(text)}"
        self.declare(f"text {constant}", f"@text{len(self.declarations)} = {constant}")
        name = self.declarations[f"text {constant}"].partition(" ")[0]
        return self.let(f"addrspacecast ptr{space} {name} to ptr") if space else name


def intrinsic(e: FastMathText, template: str, type: ScalarType) -> None:
    """Declare the intrinsic that a template calls: `call {t} @llvm.fabs.{s}({t} {0})`."""
    text = template.format("", "", "", t=llvm_type(type), s=suffix(type), r="", f="")
    name = text[text.index("@") + 1 : text.index("(")]
    inside = text[text.index("(") + 1 : text.rindex(")")]
    kinds = ", ".join(part.split()[0] for part in inside.split(","))
    e.declare(name, f"declare {llvm_type(type)} @{name}({kinds})")
