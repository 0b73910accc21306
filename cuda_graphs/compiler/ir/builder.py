# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Builds IR: puts statements into the open block, promotes and casts operands, and folds constants.

Constants of the user's source keep full precision until they meet a type. `0.1 * x` with x an f64 uses the f64 nearest
to 0.1, though a literal on its own is an f32.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from cuda_graphs.compiler.errors import (
    CompileLiteralError,
    CompileTypeError,
    CompileValueError,
    compile_error,
)

from . import ir
from .ops import evaluate, result_type
from .overflow import FITS, absolute_fits, cast_fits
from .scalars import scalar
from .types import SCALARS, ScalarType, bool_, f32, i32, i64, promote, u64

# Names of Python's operators -> rows of the op table.
BINARY = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "FloorDiv": "floor_div", "Mod": "mod", "BitAnd": "bit_and",
    "BitOr": "bit_or", "BitXor": "bit_xor",
}  # fmt: skip
COMPARE = {
    "Lt": "less", "LtE": "less_equal", "Gt": "greater", "GtE": "greater_equal", "Eq": "equal", "NotEq": "not_equal",
}  # fmt: skip
SYMBOLS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "LShift": "<<",
    "RShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=",
    "Eq": "==", "NotEq": "!=", "Invert": "~",
}  # fmt: skip
# Operations of the op table -> their signs in messages about overflow.
SIGNS = {
    "add": " + ", "sub": " - ", "mul": " * ", "shift_left": " << ", "shift_right": " >> ", "floor_div": " // ",
    "trunc_div": " // ", "int_pow": " ** ",
}  # fmt: skip
Message = tuple[str | tuple[ir.Value, str], ...]


def power_type(base: ScalarType, exponent: ir.Value) -> ScalarType:
    """Return the type that computes a power of integers: a long one if the type of the base lacks exponents."""
    low, high = exponent.type.minimum, exponent.type.maximum
    if isinstance(exponent, ir.Const):
        low = high = int(exponent.value)
    return base if base.bits == i64.bits or base.minimum <= low <= high <= base.maximum else i64


def spelled(value: float) -> str:
    """Return a number for messages. Python prints no integer of more than 4300 digits."""
    bits = value.bit_length() if isinstance(value, int) else 0
    return str(value) if bits <= 1024 else f"an integer of {bits} bits"


class Builder:
    """Appends statements to the open block.

    Attributes:
        loc: The source position of the construct in translation.
        real, whole: The types of numbers of the source.
        finds_overflow: True if integer operations of the source and conversions are checked when the kernel runs.
        prints_overflow: True if a check of an operation prints what it finds, and the kernel goes on. Conversions are
            not checked then.
        widened: The values that were converted to a wider float, and its type.
    """

    def __init__(self, real: ScalarType = f32, whole: ScalarType = i32, finds_overflow: bool = False) -> None:
        self.block = ir.Block()
        self.loc: ir.Loc | None = None
        self.real, self.whole, self.finds_overflow = real, whole, finds_overflow
        self.prints_overflow = False
        self.widened: list[tuple[ir.Value, ScalarType]] = []

    @contextmanager
    def into(self, block: ir.Block) -> Iterator[ir.Block]:
        """Put the statements of a `with` block into `block`."""
        outer, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = outer

    def put(self, statement: Any) -> Any:
        """Append a statement to the open block; return the statement."""
        self.block.body.append(statement)
        return statement

    # Values

    def const(self, value: Any, type: ScalarType) -> ir.Const:
        """Return a constant of a type, or raise if the type cannot hold it."""
        if type.kind in ("int", "uint") and not type.minimum <= value <= type.maximum:
            raise compile_error(
                CompileLiteralError,
                self.loc,
                f"{spelled(value)} is not a value of {type}",
                remedy_for(value, type),
            )
        return ir.Const(value, type, self.loc)

    def literal(self, value: bool | int | float) -> ir.Const:
        """Return the constant for a number of the source: of type `whole` or `real`, or a bool."""
        if isinstance(value, (bool, np.bool_)):
            return ir.Const(bool(value), bool_, self.loc)
        if isinstance(value, (int, np.integer)):
            return self.const(int(value), self.whole)
        return ir.Const(float(value), self.real, self.loc)

    def op(self, name: str, *args: ir.Value, type: ScalarType | None = None) -> ir.Value:
        """Append an operation on operands that already have the right types; return its value or folded constant."""
        try:
            found = result_type(name, tuple(arg.type for arg in args), type)
        except TypeError as error:
            raise compile_error(
                CompileTypeError,
                self.loc,
                str(error),
                "see the table of promotions in the language reference; cg.cast(x, dtype) converts",
            ) from None
        if all(isinstance(arg, ir.Const) for arg in args):
            return ir.Const(fold(name, args, found), found, self.loc)  # type: ignore[arg-type]
        return self.put(ir.Op(name, args, found, self.loc))

    def checked(self, name: str, a: ir.Value, b: ir.Value) -> ir.Value:
        """Append an operation of the source on two operands, and with `finds_overflow` a check of its result."""
        result = self.op(name, a, b)
        self.check(name, a, b, result)
        return result

    def check(self, name: str, a: ir.Value, b: ir.Value, result: ir.Value) -> None:
        """Append, with `finds_overflow`, a check that the result of an operation on integers fits."""
        if self.finds_overflow and name in FITS and result.type.kind in ("int", "uint"):
            self.require_fit(
                FITS[name](self.op, a, b, result), ((a, "d"), SIGNS[name], (b, "d")), result.type
            )

    def check_update(self, name: str, old: ir.Value, change: ir.Value) -> None:
        """Append, with `finds_overflow`, a check of an atomic operation that has changed `old` in memory."""
        if self.finds_overflow and name in FITS and old.type.kind in ("int", "uint"):
            self.check(name, old, change, self.op(name, old, change))

    def absolute(self, value: ir.Value) -> ir.Value:
        """Return the absolute value; `finds_overflow` adds a check of that of an integer."""
        result = self.op("abs", value)
        fits = absolute_fits(self.op, value) if self.finds_overflow else None
        if fits is not None:
            self.require_fit(fits, ("abs(", (value, "d"), ")"), result.type)
        return result

    def checked_cast(self, value: ir.Value, type: ScalarType) -> ir.Value:
        """Return the value converted to another type; `finds_overflow` adds a check of the conversion."""
        if self.finds_overflow and not self.prints_overflow:
            fits = cast_fits(self.op, value, type)
            if fits is not None:
                self.require_fit(fits, ((value, "g" if value.type.kind == "float" else "d"),), type)
        return self.cast(value, type)

    def require_fit(self, fits: ir.Value, shown: Message, type: ScalarType) -> None:
        """Append a check that a result fits its type. `shown` is the operation in the message."""
        message = (*shown, f" does not fit {type}")
        if isinstance(fits, ir.Const):
            return
        if not self.prints_overflow:
            self.put(ir.Assert(fits, message, self.loc, "overflow"))
            return
        place = "" if self.loc is None else f' in File "{self.loc.file}", line {self.loc.line}'
        found = ir.Block([ir.Print((*message, f"{place}\n"), self.loc)])
        self.put(ir.If(fits, ir.Block(), found, self.loc))

    def cast(self, value: ir.Value, type: ScalarType) -> ir.Value:
        """Return the value converted to another type."""
        if value.type == type:
            return value
        widens = value.type.kind == type.kind == "float" and type.size > value.type.size
        if isinstance(value, ir.Const) and widens:
            return ir.Const(value.value, type, value.loc)  # a literal keeps all digits until rounding
        if widens:
            self.widened.append((value, type))
        return self.op("cast", value, type=type)

    def promoted(self, a: ir.Value, b: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Return both operands converted to the type that arithmetic on them has."""
        type = promote(a.type, b.type)
        return self.cast(a, type), self.cast(b, type)

    def binary(self, operator: str, a: ir.Value, b: ir.Value) -> ir.Value:
        """Return the value of Python's operator, given by its class name in `ast`, with the language's promotion."""
        if operator == "Div":
            type = promote(a.type, b.type)
            if type.kind != "float" or (a.type.kind == "float") != (b.type.kind == "float"):
                type = promote(type, self.real)
            return self.op("div", self.cast(a, type), self.cast(b, type))
        if operator == "Pow":
            return self.power(a, b)
        if operator in ("LShift", "RShift"):
            return self.shift("shift_left" if operator == "LShift" else "shift_right", operator, a, b)
        if operator in ("BitAnd", "BitOr", "BitXor"):
            self.require_integers(operator, a, b)
            if a.type == b.type == bool_:
                return self.op(BINARY[operator], a, b)
        return self.checked(BINARY[operator], *self.promoted(a, b))

    def shift(self, name: str, operator: str, a: ir.Value, b: ir.Value) -> ir.Value:
        """Return a shift. Its type is that of the shifted operand, whatever the type of the count."""
        self.require_integers(operator, a, b)
        a = self.cast(a, promote(a.type, a.type))
        return self.checked(name, a, self.cast(b, a.type))

    def negated(self, value: ir.Value) -> ir.Value:
        """Return -value of an integer. The check is that of 0 - value."""
        result = self.op("neg", value)
        if self.finds_overflow:
            zero = ir.Const(0, value.type)
            self.require_fit(
                FITS["sub"](self.op, zero, value, result), ("-(", (value, "d"), ")"), result.type
            )
        return result

    def compare(self, operator: str, a: ir.Value, b: ir.Value) -> ir.Value:
        """Return a comparison of Python, given by its class name in `ast`."""
        if a.type == b.type == bool_ and operator in ("Eq", "NotEq"):
            return self.op(COMPARE[operator], a, b)
        return self.op(COMPARE[operator], *self.promoted(a, b))

    def require_integers(self, operator: str, *operands: ir.Value) -> None:
        """Raise if an operand of `operator` is a float."""
        if any(operand.type.kind == "float" for operand in operands):
            types = " and ".join(repr(operand.type) for operand in operands)
            raise compile_error(
                CompileTypeError, self.loc, f"unsupported operand types for {SYMBOLS[operator]}: {types}",
                "cast to an integer type first: cg.cast(x, cg.i32)",
            )  # fmt: skip

    def power(self, a: ir.Value, b: ir.Value) -> ir.Value:
        """Return `a ** b`. Small whole exponents become products, which are fast and have simple derivatives."""
        if isinstance(b, ir.Const) and b.value in range(9) and b.type.kind in ("int", "float"):
            return self.product(a if b.type.kind == "int" else self.promoted(a, b)[0], int(b.value))
        if a.type.kind == "float" and b.type.kind != "float":
            return self.op("float_pow", a, self.cast(b, i64))
        if "float" in (a.type.kind, b.type.kind):
            return self.op("pow", *self.promoted(a, b))
        if isinstance(b, ir.Const) and b.value < 0:
            raise compile_error(
                CompileValueError,
                self.loc,
                f"{a.type} ** {b.value} is no integer",
                "make the base a float: cg.cast(x, cg.f32)",
            )
        a = self.cast(a, promote(a.type, a.type))
        type = power_type(a.type, b)
        if type == u64 and b.type.kind == "int":
            none = self.op(
                "bit_and", self.op("less", b, ir.Const(0, b.type)), self.op("not_equal", a, ir.Const(1, u64))
            )
            b = self.op("max", b, ir.Const(0, b.type))
            return self.op("select", none, ir.Const(0, u64), self.checked("int_pow", a, self.cast(b, u64)))
        result = self.checked("int_pow", self.cast(a, type), self.cast(b, type))
        return self.checked_cast(result, a.type)

    def product(self, a: ir.Value, times: int) -> ir.Value:
        """Return a * a * ... by repeated squaring."""
        a = self.cast(a, promote(a.type, a.type))
        result: ir.Value | None = None
        while times:
            if times & 1:
                result = a if result is None else self.checked("mul", result, a)
            times >>= 1
            if times:
                a = self.checked("mul", a, a)
        return self.cast(ir.Const(1, i32, self.loc), a.type) if result is None else result

    def truth(self, value: ir.Value, where: str) -> ir.Value:
        """Return an int or bool as a condition."""
        if value.type == bool_:
            return value
        if value.type.kind == "float":
            raise compile_error(
                CompileTypeError, self.loc, f"{where} cannot be a {value.type}", "compare it: x != 0"
            )
        return self.op("not_equal", value, self.const(0, value.type))


def remedy_for(value: int, type: ScalarType) -> str:
    """Return how to write an integer that `type` cannot hold: with the smallest type of each kind that can."""
    kinds = ("int", "uint") if type == i32 else (type.kind,)
    holders = [t for t in SCALARS.values() if t.kind in kinds and t.minimum <= value <= t.maximum]
    least = [
        min((t for t in holders if t.kind == kind), key=lambda t: t.size, default=None) for kind in kinds
    ]
    found = sorted((t for t in least if t is not None), key=lambda t: t.size)
    if found:
        return f"write {' or '.join(f'cg.{t}(...)' for t in found)}"
    return (
        "no integer type holds it: write it as a float"
        if type == i32
        else f"cg.cast(x, cg.{type}) takes its low {type.bits} bits"
    )


def fold(name: str, args: tuple[ir.Const, ...], type: ScalarType) -> Any:
    """Return the value of an op on constants, as the op table defines it."""
    return evaluate(
        name, tuple(arg.type for arg in args), tuple(scalar(arg.value, arg.type) for arg in args), type
    ).item()
