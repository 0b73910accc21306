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

from .program_points import Places
from .size_expressions import MAY_WRAP, Expression, combined, free, nodes

__all__ = ["room"]

Interval = tuple[Expression, Expression]
# Values of the variables of loops that are visited iteration by iteration.
Scope = Mapping[ir.LoopIndex, Expression]
Loops = tuple[ir.For | ir.While, ...]

MOST_NODES = 500  # nodes of an expression; larger expressions take longer than counting
DEEPEST = 100  # nesting depth of values


def room(sites: Iterable[Loops], around: ir.Statement | None, places: Places) -> Expression | None:
    """Return the largest number of values on a stack; None if the stack must be counted.

    Args:
        sites: For each push, the loops around it in its unit.
        around: The parallel loop of this unit; None for the kernel itself.
    """
    found = Counter(sites)
    axes = around.axes if isinstance(around, ir.For) else ()
    bounds = Bounds(places, [*axes, *(axis for loops in found for loop in loops for axis in axes_of(loop))])
    made = bounds.room(found, axes)
    return None if made is None or is_large(made) else made


def axes_of(loop: ir.For | ir.While) -> tuple[ir.Axis, ...]:
    return loop.axes if isinstance(loop, ir.For) else ()


def is_large(expression: Expression) -> bool:
    return sum(1 for _, _ in zip(nodes(expression), range(MOST_NODES + 1), strict=False)) > MOST_NODES


class Bounds:
    """The intervals of the values of a kernel in normal form. `axes` holds the axes of the loops to count."""

    def __init__(self, places: Places, axes: Iterable[ir.Axis]) -> None:
        self.places = places
        self.sets: dict[ir.Local, list[ir.Set]] = {}
        self.axes: dict[ir.LoopIndex, ir.Axis] = {}
        self.parallel: set[ir.LoopIndex] = set()
        self.changed: set[ir.Local] = set()  # locals that atomics change
        self.open: set[ir.Local] = set()
        self.numbers: dict[Any, int] = {}
        self.known: dict[Any, Interval | None] = {}
        self.depth = 0
        for statement in ir.walk(places.root):
            if isinstance(statement, ir.Set):
                self.sets.setdefault(statement.local, []).append(statement)
            elif isinstance(statement, ir.For):
                self.axes.update({axis.index: axis for axis in statement.axes})
                self.parallel.update(axis.index for axis in statement.axes if statement.parallel)
            elif isinstance(statement, ir.Atomic) and isinstance(statement.array, ir.Local):
                self.changed.add(statement.array)
        self.one_by_one = self.indices(axes)

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
                inside = is_index or isinstance(value, ir.Load)
                waiting += [(operand, inside) for operand in ir.operands_of(value)]
        return found

    def number(self, variable: Any) -> int:
        return self.numbers.setdefault(variable, len(self.numbers))

    # Capacities

    def room(self, sites: Mapping[Loops, int], axes: Sequence[ir.Axis]) -> Expression | None:
        scope: dict[ir.LoopIndex, Expression] = {}
        ranges = []
        for axis in axes:
            if axis.index in self.one_by_one:
                found = self.range(axis, scope)
                if found is None:
                    return None
                ranges.append(found[:3])
                scope[axis.index] = found[3]
        total: Expression = 0
        for loops, sites_there in sites.items():
            times = self.times(loops, scope)
            if times is None:
                return None
            total = combined("add", total, combined("mul", times, sites_there, "i64"), "i64")
        for number, begin, end in reversed(ranges):
            total = over("most", number, begin, end, total)
        return total

    def times(self, loops: Loops, scope: Scope) -> Expression | None:
        """Return how many times the body of the innermost loop runs, at most; None if it is unknown."""
        if not loops:
            return 1
        loop, *rest = loops
        trips = self.trips(loop, scope)
        if trips is None or not isinstance(loop, ir.For):
            return None
        axis = loop.axes[0]
        if axis.index not in self.one_by_one:
            times = self.times(tuple(rest), scope)
            return None if times is None else combined("mul", trips, times, "i64")
        found = self.range(axis, scope)
        assert found is not None, "trips are known, so the range is"
        number, begin, end, index = found
        times = self.times(tuple(rest), {**scope, axis.index: index})
        if times is None:
            return None
        if number not in free(times):
            return combined("mul", trips, times, "i64")
        return over("sum", number, begin, end, times)

    def trips(self, loop: ir.For | ir.While, scope: Scope) -> Expression | None:
        """Return the largest number of iterations of a loop; None if it is unknown."""
        if isinstance(loop, ir.While):
            return None
        axis = loop.axes[0]
        begin, end = self.of(axis.begin, scope), self.of(axis.end, scope)
        if begin is None or end is None:
            return None
        first, last = (begin, end) if axis.step > 0 else (end, begin)
        span = combined("sub", highest(last), lowest(first), "i64")
        size = abs(axis.step)
        if size > 1:
            span = combined("floor_div", combined("add", span, size - 1, "i64"), size, "i64")
        return combined("max", span, 0, "i64")

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
            ahead = combined("mul", bound, axis.step, "i64")
            span = ("sub", highest(end), begin[0]) if axis.step > 0 else ("sub", begin[0], lowest(end))
            size = abs(axis.step)
            trips = combined(
                "floor_div", combined("add", combined(*span, "i64"), size - 1, "i64"), size, "i64"
            )
            return number, 0, trips, combined("add", begin[0], ahead, "i64")
        if axis.step > 0:
            return number, lowest(begin), highest(end), bound
        return (
            number,
            combined("add", lowest(end), 1, "i64"),
            combined("add", highest(begin), 1, "i64"),
            bound,
        )

    # Intervals

    def of(self, value: ir.Value, scope: Scope) -> Interval | None:
        """Return the least and the greatest number that a value can have; None if they are unknown."""
        key = value, frozenset(scope)
        if key not in self.known:
            self.depth += 1
            found = self.looked_at(value, scope) if self.depth < DEEPEST else None
            self.depth -= 1
            self.known[key] = None if found is None or any(map(is_large, found)) else found
        return self.known[key]

    def looked_at(self, value: ir.Value, scope: Scope) -> Interval | None:
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
        ahead = 0 if axis.step > 0 else 1
        return combined("add", lowest(low), ahead, "i64"), combined("sub", highest(high), 1 - ahead, "i64")

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
        return extreme("min", [low for low, _ in known]), extreme("max", [high for _, high in known])

    def scope_of(self, get: ir.Get, scope: Scope) -> Scope:
        """Return the part of `scope` with the loops in which the read and the write of a local share an iteration."""
        sets = self.sets.get(get.local, ())
        if len(sets) == 1 and self.is_before(sets[0], get):
            return scope
        if self.places.unit_of.get(get.local) is self.places.root:
            return {}
        return {index: known for index, known in scope.items() if index in self.parallel}

    def is_before(self, first: ir.Statement, second: ir.Statement) -> bool:
        """Return True if `first` always runs before `second`, in the same iteration of all loops around `first`."""
        home, number = self.places.home[first], self.places.number
        for each in (second, *self.places.around(second)):
            if self.places.home[each] is home:
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
            begin, end = (0, extents[axis]) if found is None else within(found, extents[axis])
            ranges.append((self.number((load, axis)), begin, end))
            indices.append(("bound", ranges[-1][0]))
        space = load.array.space.value
        low = high = ("read", load.array.path, load.type.name, space, tuple(indices), extents)
        for each in reversed(ranges):
            low, high = over("least", *each, low), over("most", *each, high)
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


def over(name: str, number: int, begin: Expression, end: Expression, body: Expression) -> Expression:
    """Return a range expression, or `body` itself if it does not depend on the variable.

    For an empty range, `body` may be larger than necessary, which is harmless.
    """
    return (name, number, begin, end, body) if name == "sum" or number in free(body) else body


def within(found: Interval, extent: Expression) -> Interval:
    """Return the range of an index, limited to its array."""
    end = combined("min", combined("add", found[1], 1, "i64"), extent, "i64")
    return combined("max", found[0], 0, "i64"), end


def lowest(found: Interval) -> Expression:
    """Return the lower end; its evaluation also checks the upper end."""
    return given(*found)


def highest(found: Interval) -> Expression:
    """Return the upper end; its evaluation also checks the lower end."""
    return given(*reversed(found))


def given(used: Expression, other: Expression) -> Expression:
    wraps = any(not isinstance(each, int) and each[0] in MAY_WRAP for each in nodes(other))
    return ("given", used, other, "i64") if wraps and used != other else used


def is_own(statement: ir.Set) -> bool:
    """Return True for the assignment of a local to itself."""
    return isinstance(statement.value, ir.Get) and statement.value.local is statement.local


def extreme(name: str, numbers: Iterable[Expression]) -> Expression:
    """Return the minimum or maximum of several expressions; `name` is "min" or "max"."""
    first, *rest = numbers
    for each in rest:
        first = combined(name, first, each, "i64")
    return first


Rule = Callable[[list[Any], ir.Op], Interval]


def monotone(name: str) -> Rule:
    return lambda args, op: (
        combined(name, args[0][0], args[1][0], op.type.name),
        combined(name, args[0][1], args[1][1], op.type.name),
    )


def difference(args: list[Any], op: ir.Op) -> Interval:
    (a, b), (c, d) = args
    return combined("sub", a, d, op.type.name), combined("sub", b, c, op.type.name)


def product(args: list[Any], op: ir.Op) -> Interval:
    (a, b), (c, d) = args
    found = list(dict.fromkeys(combined("mul", x, y, op.type.name) for x in (a, b) for y in (c, d)))
    return extreme("min", found), extreme("max", found)


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
        extreme("max", [0, args[0][1], combined("sub", 0, args[0][0], op.type.name)]),
    ),
    "select": lambda args, op: (
        extreme("min", [args[0][0], args[1][0]]),
        extreme("max", [args[0][1], args[1][1]]),
    ),
}


# Rules for operations with a constant operand. Most of them give an interval for any other operand.


def by_mod(given: Interval | None, number: int, op: ir.Op) -> Interval | None:
    if number <= 0:
        return None
    if given is not None and given[0] == given[1]:
        return (combined("mod", given[0], number, op.type.name),) * 2
    return 0, number - 1


def by_floor_div(given: Interval | None, number: int, op: ir.Op) -> Interval | None:
    if given is None or number <= 0:
        return None
    low, high = (combined("floor_div", each, number, op.type.name) for each in given)
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
