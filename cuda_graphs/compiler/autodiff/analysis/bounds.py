# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Bounds: computes an interval of size expressions (size_expressions.py) for each integer, and from these the stack
capacities.

The analysis is interval arithmetic, so begins and subtrahends may be negative. Some loops have a variable that indexes
the arrays from which other loops read their bounds. The analysis visits each iteration of such a loop. It sums the
trips of inner loops over the iterations of a serial loop, and takes their maximum over the iterations of a parallel
loop. For `range(off[i + 1] - off[i])` it therefore finds the largest difference, not the difference of the largest
offsets. For other loops it uses the interval of the loop variable, without visiting the iterations.

If one end of an interval overflows its type, the number can have any value, so the other end is wrong too. Each use of
one end therefore also checks the other end.

A number without an interval, such as a number that depends on a `while` or on a float, gives no capacity: the stack is
counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from cuda_graphs.compiler.ir import ir

from .program_points import ProgramPoints
from .size_expressions import MAY_WRAP, Expression, free_variables, make_operation, nodes

__all__ = ["capacity"]

Interval = tuple[Expression, Expression]
# Values of the variables of loops that are visited iteration by iteration.
Scope = Mapping[ir.LoopIndex, Expression]
Loops = tuple[ir.For | ir.While, ...]

MAX_NODES = 500  # nodes of an expression; larger expressions take longer than counting
MAX_DEPTH = 100  # nesting depth of values


def capacity(sites: Iterable[Loops], around: ir.Statement | None, points: ProgramPoints) -> Expression | None:
    """Return the largest number of values on a stack; None if the stack must be counted.

    Args:
        sites: For each push, the loops around it in its unit.
        around: The parallel loop of this unit; None for the kernel itself.
    """
    found = Counter(sites)
    axes = around.axes if isinstance(around, ir.For) else ()
    bounds = Bounds(points, [*axes, *(axis for loops in found for loop in loops for axis in axes_of(loop))])
    made = bounds.capacity(found, axes)
    return None if made is None or is_large(made) else made


def axes_of(loop: ir.For | ir.While) -> tuple[ir.Axis, ...]:
    return loop.axes if isinstance(loop, ir.For) else ()


def is_large(expression: Expression) -> bool:
    return sum(1 for _, _ in zip(nodes(expression), range(MAX_NODES + 1), strict=False)) > MAX_NODES


class Bounds:
    """The intervals of the values of a kernel in normal form. `axes` holds the axes of the loops to count."""

    def __init__(self, points: ProgramPoints, axes: Iterable[ir.Axis]) -> None:
        self.points = points
        self.sets: dict[ir.Local, list[ir.Set]] = {}
        self.axes: dict[ir.LoopIndex, ir.Axis] = {}
        self.parallel: set[ir.LoopIndex] = set()
        self.changed: set[ir.Local] = set()  # locals that atomics change
        self.open: set[ir.Local] = set()
        self.numbers: dict[Any, int] = {}
        self.known: dict[Any, Interval | None] = {}
        self.depth = 0
        for statement in ir.walk(points.root):
            if isinstance(statement, ir.Set):
                self.sets.setdefault(statement.local, []).append(statement)
            elif isinstance(statement, ir.For):
                self.axes.update({axis.index: axis for axis in statement.axes})
                self.parallel.update(axis.index for axis in statement.axes if statement.parallel)
            elif isinstance(statement, ir.Atomic) and isinstance(statement.array, ir.Local):
                self.changed.add(statement.array)
        self.visited_loops = self.indices(axes)

    def indices(self, axes: Iterable[ir.Axis]) -> set[ir.LoopIndex]:
        """Return the loop variables that index the arrays from which loops read their bounds."""
        found: set[ir.LoopIndex] = set()
        seen: set[tuple[ir.Value, bool]] = set()
        waiting = [(value, False) for axis in axes for value in (axis.begin, axis.end)]
        while waiting:
            value, is_index = each = waiting.pop()
            if each in seen:
                continue
            seen.add(each)
            if isinstance(value, ir.LoopIndex):
                if is_index:
                    found.add(value)
                waiting += [(bound, False) for bound in (self.axes[value].begin, self.axes[value].end)]
            elif isinstance(value, ir.Get):
                waiting += [(one.value, is_index) for one in self.sets.get(value.local, ())]
            else:
                indexes = is_index or isinstance(value, ir.Load)
                waiting += [(operand, indexes) for operand in ir.operands_of(value)]
        return found

    def number(self, variable: Any) -> int:
        return self.numbers.setdefault(variable, len(self.numbers))

    # Capacities

    def capacity(self, sites: Mapping[Loops, int], axes: Sequence[ir.Axis]) -> Expression | None:
        scope: dict[ir.LoopIndex, Expression] = {}
        ranges = []
        for axis in axes:
            if axis.index in self.visited_loops:
                found = self.range(axis, scope)
                if found is None:
                    return None
                ranges.append(found[:3])
                scope[axis.index] = found[3]
        total: Expression = 0
        for loops, sites_there in sites.items():
            executions = self.executions(loops, scope)
            if executions is None:
                return None
            total = make_operation("add", total, make_operation("mul", executions, sites_there, "i64"), "i64")
        for number, begin, end in reversed(ranges):
            total = range_expression("most", number, begin, end, total)
        return total

    def executions(self, loops: Loops, scope: Scope) -> Expression | None:
        """Return how many times the body of the innermost loop runs, at most; None if it is unknown."""
        if not loops:
            return 1
        loop, *rest = loops
        trips = self.trips(loop, scope)
        if trips is None or not isinstance(loop, ir.For):
            return None
        axis = loop.axes[0]
        if axis.index not in self.visited_loops:
            executions = self.executions(tuple(rest), scope)
            return None if executions is None else make_operation("mul", trips, executions, "i64")
        found = self.range(axis, scope)
        assert found is not None, "trips are known, so the range is"
        number, begin, end, index = found
        executions = self.executions(tuple(rest), {**scope, axis.index: index})
        if executions is None:
            return None
        if number not in free_variables(executions):
            return make_operation("mul", trips, executions, "i64")
        return range_expression("sum", number, begin, end, executions)

    def trips(self, loop: ir.For | ir.While, scope: Scope) -> Expression | None:
        """Return the largest number of iterations of a loop; None if it is unknown."""
        if isinstance(loop, ir.While):
            return None
        axis = loop.axes[0]
        begin, end = self.of(axis.begin, scope), self.of(axis.end, scope)
        if begin is None or end is None:
            return None
        first, last = (begin, end) if axis.step > 0 else (end, begin)
        span = make_operation("sub", upper_end(last), lower_end(first), "i64")
        size = abs(axis.step)
        if size > 1:
            span = make_operation("floor_div", make_operation("add", span, size - 1, "i64"), size, "i64")
        return make_operation("max", span, 0, "i64")

    def range(self, axis: ir.Axis, scope: Scope) -> tuple[int, Expression, Expression, Expression] | None:
        """Return (number, begin, end, value): a bound variable, its range, and the loop variable expressed by it.

        The range covers all values that the loop variable can have.
        """
        begin, end = self.of(axis.begin, scope), self.of(axis.end, scope)
        if begin is None or end is None:
            return None
        number = self.number(axis.index)
        bound: Expression = ("bound", number)
        if abs(axis.step) > 1 and begin[0] == begin[1]:
            offset = make_operation("mul", bound, axis.step, "i64")
            span = ("sub", upper_end(end), begin[0]) if axis.step > 0 else ("sub", begin[0], lower_end(end))
            size = abs(axis.step)
            trips = make_operation(
                "floor_div", make_operation("add", make_operation(*span, "i64"), size - 1, "i64"), size, "i64"
            )
            return number, 0, trips, make_operation("add", begin[0], offset, "i64")
        if axis.step > 0:
            return number, lower_end(begin), upper_end(end), bound
        return (
            number,
            make_operation("add", lower_end(end), 1, "i64"),
            make_operation("add", upper_end(begin), 1, "i64"),
            bound,
        )

    # Intervals

    def of(self, value: ir.Value, scope: Scope) -> Interval | None:
        """Return the least and the greatest number that a value can have; None if they are unknown."""
        key = value, frozenset(scope)
        if key not in self.known:
            self.depth += 1
            found = self.interval_of(value, scope) if self.depth < MAX_DEPTH else None
            self.depth -= 1
            self.known[key] = None if found is None or any(map(is_large, found)) else found
        return self.known[key]

    def interval_of(self, value: ir.Value, scope: Scope) -> Interval | None:
        match value:
            case ir.Const():
                return (int(value.value),) * 2
            case ir.Param() if value.type.kind in ("int", "uint"):
                return (("scalar", value.path, value.type.name),) * 2
            case ir.Extent():
                known = extent_of(value.array, value.axis)
                return known, known
            case ir.LoopIndex():
                return (scope[value],) * 2 if value in scope else self.index(value, scope)
            case ir.Get():
                return self.local(value, scope)
            case ir.Load() if value.type.kind in ("int", "uint"):
                return self.load(value, scope)
            case ir.Op():
                return self.op(value, scope)
        return None

    def index(self, index: ir.LoopIndex, scope: Scope) -> Interval | None:
        axis = self.axes[index]
        first, last = (axis.begin, axis.end) if axis.step > 0 else (axis.end, axis.begin)
        low, high = self.of(first, scope), self.of(last, scope)
        if low is None or high is None:
            return None
        offset = 0 if axis.step > 0 else 1
        least = make_operation("add", lower_end(low), offset, "i64")
        return least, make_operation("sub", upper_end(high), 1 - offset, "i64")

    def local(self, get: ir.Get, scope: Scope) -> Interval | None:
        """Return the interval of all values that the kernel writes to a local."""
        local = get.local
        if local in self.changed or local in self.open:
            return None
        scope = self.scope_of(get, scope)
        values = [each.value for each in self.sets.get(local, ()) if not is_own(each)]
        self.open.add(local)
        found = [self.of(value, scope) for value in values]
        self.open.discard(local)
        known = [each for each in found if each is not None]
        if len(known) != len(found) or not known:
            return None
        lows, highs = zip(*known, strict=True)
        return fold_extreme("min", lows), fold_extreme("max", highs)

    def scope_of(self, get: ir.Get, scope: Scope) -> Scope:
        """Return the part of `scope` with the loops in which the read and the write of a local share an iteration."""
        sets = self.sets.get(get.local, ())
        if len(sets) == 1 and self.is_before(sets[0], get):
            return scope
        if self.points.unit_of.get(get.local) is self.points.root:
            return {}
        return {index: known for index, known in scope.items() if index in self.parallel}

    def is_before(self, first: ir.Statement, second: ir.Statement) -> bool:
        """Return True if `first` always runs before `second`, in the same iteration of all loops around `first`."""
        home, number = self.points.home[first], self.points.number
        for each in (second, *self.points.around(second)):
            if self.points.home[each] is home:
                return number[first] < number[each]
        return False

    def load(self, load: ir.Load, scope: Scope) -> Interval | None:
        """Return a known element twice, or the least and the greatest of all elements that the load can read."""
        if load.array.space not in (ir.Space.PARAM, ir.Space.FIELD):
            return None
        indices: list[Expression] = []
        ranges: list[tuple[int, Expression, Expression]] = []
        extents = tuple(extent_of(load.array, axis) for axis in range(load.array.ndim))
        for axis, value in enumerate(load.index):
            found = self.of(value, scope)
            if found is not None and found[0] == found[1]:
                indices.append(found[0])
                continue
            begin, end = (0, extents[axis]) if found is None else clamp_index(found, extents[axis])
            ranges.append((self.number((load, axis)), begin, end))
            indices.append(("bound", ranges[-1][0]))
        space = load.array.space.value
        low = high = ("read", load.array.path, load.type.name, space, tuple(indices), extents)
        for each in reversed(ranges):
            low, high = range_expression("least", *each, low), range_expression("most", *each, high)
        return low, high

    def op(self, op: ir.Op, scope: Scope) -> Interval | None:
        if op.type.kind not in ("int", "uint"):
            return None
        if op.name == "cast" and op.args[0].type.kind == "bool":
            return 0, 1
        args = [self.of(arg, scope) for arg in (op.args[1:] if op.name == "select" else op.args)]
        if op.name in BY_NUMBER and isinstance(op.args[1], ir.Const):
            return BY_NUMBER[op.name](args[0], int(op.args[1].value), op)
        rule = RULES.get(op.name)
        return None if rule is None or any(arg is None for arg in args) else rule(args, op)


def extent_of(array: ir.Array, axis: int) -> Expression:
    """Return the extent of an axis of an array, or of an axis of its elements."""
    if array.shape is not None:
        return array.shape[axis]
    outer = array.ndim - len(array.inner)
    return ("extent", array.path, axis) if axis < outer else array.inner[axis - outer]


def range_expression(
    name: str, number: int, begin: Expression, end: Expression, body: Expression
) -> Expression:
    """Return a range expression, or `body` itself if it does not depend on the variable.

    For an empty range, `body` may be larger than necessary, which is harmless.
    """
    return (name, number, begin, end, body) if name == "sum" or number in free_variables(body) else body


def clamp_index(found: Interval, extent: Expression) -> Interval:
    """Return the range of an index, limited to its array."""
    end = make_operation("min", make_operation("add", found[1], 1, "i64"), extent, "i64")
    return make_operation("max", found[0], 0, "i64"), end


def lower_end(found: Interval) -> Expression:
    """Return the lower end; its evaluation also checks the upper end."""
    return guarded(*found)


def upper_end(found: Interval) -> Expression:
    """Return the upper end; its evaluation also checks the lower end."""
    return guarded(*reversed(found))


def guarded(used: Expression, other: Expression) -> Expression:
    wraps = any(not isinstance(each, int) and each[0] in MAY_WRAP for each in nodes(other))
    return ("given", used, other, "i64") if wraps and used != other else used


def is_own(statement: ir.Set) -> bool:
    """Return True for the assignment of a local to itself."""
    return isinstance(statement.value, ir.Get) and statement.value.local is statement.local


def fold_extreme(name: str, numbers: Iterable[Expression]) -> Expression:
    """Return the minimum or maximum of several expressions; `name` is "min" or "max"."""
    first, *rest = numbers
    for each in rest:
        first = make_operation(name, first, each, "i64")
    return first


Rule = Callable[[list[Any], ir.Op], Interval]


def monotone(name: str) -> Rule:
    return lambda args, op: (
        make_operation(name, args[0][0], args[1][0], op.type.name),
        make_operation(name, args[0][1], args[1][1], op.type.name),
    )


def difference(args: list[Any], op: ir.Op) -> Interval:
    (a, b), (c, d) = args
    return make_operation("sub", a, d, op.type.name), make_operation("sub", b, c, op.type.name)


def product(args: list[Any], op: ir.Op) -> Interval:
    (a, b), (c, d) = args
    found = list(dict.fromkeys(make_operation("mul", x, y, op.type.name) for x in (a, b) for y in (c, d)))
    return fold_extreme("min", found), fold_extreme("max", found)


def cast(args: list[Any], op: ir.Op) -> Interval:
    """Return the interval in the new type; an end that may not fit is checked when it is evaluated."""
    (bounds,), type, before = args, op.type, op.args[0].type
    if type.minimum <= before.minimum and before.maximum <= type.maximum:
        low, high = bounds
        return low, high
    fits = [isinstance(each, int) and type.minimum <= each <= type.maximum for each in bounds]
    low, high = (each if fit else ("add", each, 0, type.name) for each, fit in zip(bounds, fits, strict=True))
    return low, high


RULES: dict[str, Rule] = {
    "add": monotone("add"),
    "min": monotone("min"),
    "max": monotone("max"),
    "sub": difference,
    "neg": lambda args, op: difference([(0, 0), *args], op),
    "mul": product,
    "cast": cast,
    "abs": lambda args, op: (
        0,
        fold_extreme("max", [0, args[0][1], make_operation("sub", 0, args[0][0], op.type.name)]),
    ),
    "select": lambda args, op: (
        fold_extreme("min", [args[0][0], args[1][0]]),
        fold_extreme("max", [args[0][1], args[1][1]]),
    ),
}


# Rules for operations with a constant operand. Most of them give an interval for any other operand.


def by_mod(given: Interval | None, number: int, op: ir.Op) -> Interval | None:
    if number <= 0:
        return None
    if given is not None and given[0] == given[1]:
        return (make_operation("mod", given[0], number, op.type.name),) * 2
    return 0, number - 1


def by_floor_div(given: Interval | None, number: int, op: ir.Op) -> Interval | None:
    if given is None or number <= 0:
        return None
    low, high = (make_operation("floor_div", each, number, op.type.name) for each in given)
    return low, high


BY_NUMBER: dict[str, Callable[[Interval | None, int, ir.Op], Interval | None]] = {
    "mod": by_mod,
    "floor_div": by_floor_div,
    "bit_and": lambda given, number, op: None if number < 0 else (0, number),
    "shift_left": lambda given, number, op: (
        None if given is None or not 0 <= number < 31 else product([given, (1 << number,) * 2], op)
    ),
    "shift_right": lambda given, number, op: (
        by_floor_div(given, 1 << number, op) if 0 <= number < op.type.bits - 1 else None
    ),
}
