# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The sizer: a kernel that evaluates the size expressions that read arrays of the device.

It computes each number as sizes.evaluate does, in 64 bits, and returns -1 where that function raises SizeOverflow. The
outermost ranges become a parallel loop; expressions with the same ranges share a loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cuda_graphs.compiler.autodiff.analysis.size_expressions import EXACT, LIMIT, Expression, free_variables
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.types import SCALARS, ScalarType, bool_, f64, i64

__all__ = ["sizing_body"]

Values = Mapping[int, ir.Value]
# Operations whose extremes are at extremes of their operands.
BY_CORNERS = {"add", "sub", "mul", "min", "max"}


def sizing_body(kernel: ir.Kernel, expressions: Sequence[Expression]) -> ir.Block:
    """Return the body of a sizer, which returns the value of each expression as an i64, in order."""
    writer = _Writer(kernel)
    sizes = [_Size(each) for each in expressions]
    groups: dict[tuple[Any, ...], list[_Size]] = {}
    for size in sizes:
        groups.setdefault(tuple(size.ranges), []).append(size)
    loops = [(writer.begin_group(ranges, members), members) for ranges, members in groups.items()]
    for axes, members in loops:
        writer.put_group(axes, members)
    found = [writer.end_size(size) for size in sizes]
    writer.builder.put(ir.Return(tuple(found)))
    return writer.builder.block


def number(value: int) -> ir.Const:
    return ir.Const(value, i64)


class _Size:
    """An expression, split into its outermost independent ranges and the body inside them."""

    def __init__(self, expression: Expression) -> None:
        self.ranges: list[tuple[Expression, Expression]] = []
        self.variables: list[int] = []
        while not isinstance(expression, int) and expression[0] == "most":
            _, variable, begin, end, body = expression
            if not (free_variables(begin) | free_variables(end)).isdisjoint(self.variables):
                break
            self.variables.append(variable)
            self.ranges.append((begin, end))
            expression = body
        self.body = expression
        self.found = ir.Local("size", i64)  # result; more than LIMIT after an overflow


class _Writer:
    def __init__(self, kernel: ir.Kernel) -> None:
        self.arrays = {each.path: each for each in kernel.arrays}
        self.params = {each.path: each for each in kernel.params}
        self.builder = Builder()
        self.spans: dict[ir.Value, tuple[int, int]] = {}
        self.overflowed = ir.Local("wrapped", bool_)

    def begin_group(
        self, ranges: Sequence[tuple[Expression, Expression]], members: Sequence[_Size]
    ) -> tuple[ir.Axis, ...]:
        """Initialise the results of `members`, and return the axes of a loop over their ranges."""
        builder = self.builder
        self.reset_overflow()
        axes = tuple(
            ir.Axis(ir.LoopIndex("at", i64), self.value(begin, {}), self.value(end, {}))
            for begin, end in ranges
        )
        nothing = self.result(number(0))
        for size in members:
            builder.put(ir.Set(size.found, nothing))
        return axes

    def put_group(self, axes: tuple[ir.Axis, ...], members: Sequence[_Size]) -> None:
        """Generate the evaluation of the expressions `members`, in a loop over `axes` or outside loops."""
        builder = self.builder
        if not axes:
            for size in members:
                self.reset_overflow()
                builder.put(ir.Set(size.found, self.result(self.value(size.body, {}))))
            return
        with builder.into(ir.Block()) as body:
            for size in members:
                self.reset_overflow()
                values = {n: axis.index for n, axis in zip(size.variables, axes, strict=True)}
                builder.put(ir.Atomic("max", size.found, (), self.result(self.value(size.body, values))))
        builder.put(ir.For(axes, body, True))

    def reset_overflow(self) -> None:
        """Start to record overflows in a new local."""
        self.overflowed = ir.Local("wrapped", bool_)
        self.builder.put(ir.Set(self.overflowed, ir.FALSE))

    def result(self, value: ir.Value) -> ir.Value:
        """Return the value, or LIMIT + 1 after an overflow, which is larger than all values."""
        return self.builder.op("select", self.builder.put(ir.Get(self.overflowed)), number(LIMIT + 1), value)

    def end_size(self, size: _Size) -> ir.Value:
        """Return the value of an expression; -1 after an overflow."""
        found = self.builder.put(ir.Get(size.found))
        return self.builder.op("select", self.builder.op("less", number(LIMIT), found), number(-1), found)

    def value(self, expression: Expression, bound: Values) -> ir.Value:
        """Return the value of an expression as an i64."""
        if isinstance(expression, int):
            return number(expression)
        builder = self.builder
        match expression:
            case ("bound", variable):
                return bound[variable]
            case ("extent", path, axis):
                return self.leaf(builder.put(ir.Extent(self.arrays[path], axis)))
            case ("scalar", path, _):
                return self.leaf(self.params[path])
            case ("read", path, _, _, indices, extents):
                return self.read(self.arrays[path], indices, extents, bound)
            case (("most" | "least" | "sum") as name, variable, begin, end, body):
                return self.put_range(name, variable, begin, end, body, bound)
        name, a, b, kind = expression
        return self.operation(name, self.value(a, bound), self.value(b, bound), SCALARS[kind])

    def leaf(self, value: ir.Value) -> ir.Value:
        """Convert a number of any type to i64."""
        found = self.builder.cast(value, i64)
        if value.type.size < i64.size:
            self.spans[found] = int(value.type.minimum), int(value.type.maximum)
            return found
        low = 0 if value.type.kind == "uint" else -LIMIT  # the cast makes larger numbers negative
        return self.check_range(found, low, LIMIT)

    def read(
        self,
        array: ir.Array,
        indices: Sequence[Expression],
        extents: Sequence[Expression],
        bound: Values,
    ) -> ir.Value:
        """Return an element of an array, or 0 for indices out of range."""
        builder = self.builder
        at = tuple(self.value(each, bound) for each in indices)
        in_range: ir.Value = ir.TRUE
        for index, extent in zip(at, (self.value(each, bound) for each in extents), strict=True):
            begun = builder.op("less_equal", number(0), index)
            in_range = builder.op(
                "bit_and", in_range, builder.op("bit_and", begun, builder.op("less", index, extent))
            )
        element = ir.Local("element", i64)
        builder.put(ir.Set(element, number(0)))
        with builder.into(ir.Block()) as then:
            builder.put(ir.Set(element, self.leaf(builder.put(ir.Load(array, at)))))
        builder.put(ir.If(in_range, then, ir.Block()))
        found = builder.put(ir.Get(element))
        if array.element.size < i64.size:
            self.spans[found] = min(0, int(array.element.minimum)), int(array.element.maximum)
        return found

    def put_range(
        self, name: str, variable: int, begin: Expression, end: Expression, body: Expression, bound: Values
    ) -> ir.Value:
        builder = self.builder
        first, last = self.value(begin, bound), self.value(end, bound)
        start = {"most": -LIMIT, "least": LIMIT, "sum": 0}[name]
        found, axis = ir.Local(name, i64), ir.Axis(ir.LoopIndex("at", i64), first, last)
        builder.put(ir.Set(found, number(start)))
        with builder.into(ir.Block()) as block:
            value = self.value(body, {**bound, variable: axis.index})
            before = builder.put(ir.Get(found))
            how = {"most": "max", "least": "min", "sum": "add"}[name]
            builder.put(ir.Set(found, self.operation(how, before, value, i64)))
        builder.put(ir.For((axis,), block))
        result = builder.put(ir.Get(found))
        return builder.op("select", builder.op("less", first, last), result, number(0))

    def operation(self, name: str, a: ir.Value, b: ir.Value, type: ScalarType) -> ir.Value:
        if name == "given":
            return a
        builder = self.builder
        corners = (
            [EXACT[name](x, y) for x in self.span(a) for y in self.span(b)] if name in BY_CORNERS else []
        )
        low, high = (min(corners), max(corners)) if corners else (-LIMIT, LIMIT)
        if name == "mul" and not -LIMIT < low <= high < LIMIT:
            product = builder.op("mul", builder.cast(a, f64), builder.cast(b, f64))
            self.record_overflow(
                builder.op("greater_equal", builder.op("abs", product), ir.Const(float(LIMIT), f64))
            )
        found = builder.op(name, a, b)
        first, last = max(type.minimum, -LIMIT), min(type.maximum, LIMIT)
        if corners and first <= low <= high <= last:
            self.spans[found] = low, high
            return found
        return self.check_range(found, first, last)

    def span(self, value: ir.Value) -> tuple[int, int]:
        """Return the range of a value without an overflow."""
        return (
            (int(value.value),) * 2 if isinstance(value, ir.Const) else self.spans.get(value, (-LIMIT, LIMIT))
        )

    def check_range(self, value: ir.Value, low: int, high: int) -> ir.Value:
        """Return the value, and record an overflow if it is outside the range."""
        below = self.builder.op("less", value, number(low))
        above = self.builder.op("less", number(high), value)
        self.record_overflow(self.builder.op("bit_or", below, above))
        self.spans[value] = low, high
        return value

    def record_overflow(self, condition: ir.Value) -> None:
        """Record an overflow if the condition is true."""
        before = self.builder.put(ir.Get(self.overflowed))
        self.builder.put(ir.Set(self.overflowed, self.builder.op("bit_or", before, condition)))
