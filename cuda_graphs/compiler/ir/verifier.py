# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the laws of IR. The checker runs between passes in tests and under CUDA_GRAPHS_DEBUG=2.

1.  A value is used only where it is defined: by later statements of its block and of the blocks inside it. The
    condition and the body of a While may use the values that its head defines. Constants and parameters of the kernel
    are defined everywhere, and the indices of a loop in its body.
2.  A statement stands in one place.
3.  An operation has the operands and the type that its row of the op table demands.
4.  A local is written before it is read: by a Set at a place where a value would have to be defined. The written value
    has the type of the local.
5.  An array access has one integer index for each dimension. A stored value, atomic or not, has the element type.
    Bitwise atomics need integers or bools. A cas, the only atomic that compares, needs integers. An Extent is that of
    an axis of the array, not of its elements.
6.  A loop counts in one integer type, and its step is not 0. Conditions are bools.
7.  Break and Continue are in a loop. No Break leaves a parallel loop.
8.  Only Conditionals and Sections may surround a parallel loop, a Conditional or a Sections. Only Conditionals may
    surround a HostCall, whose arrays are the kernel's. One thread sets the condition of a Conditional, which belongs to
    that one. No Conditional has a condition that is a parameter. Only the condition of a parameter is kept.
9.  A Return is the last statement of a kernel, and its values have the types that the kernel declares.
10. Each array is the kernel's, a temporary of the program with a unique name, or local to a thread or block.
11. The plan of a program has each task once. A task has no Conditional, no Sections and no HostCall. It has at most
    one parallel loop, which is one of its statements. Each thread executes the statements before and after the loop.
    One thread executes a Last, which is the last statement. No local is shared between tasks or changed atomically. No
    task returns.
12. Collectives and positions are in loops of blocks, and have the operands and types that their row demands. In a task,
    regions and meetings replace collectives, and a region contains neither. A local that a region writes is defined
    after it.
13. A Worker is in a parallel loop. Stacks have two dimensions, and are memory of the kernel.
14. A call has the arguments that its function takes, and a Result is one of its call. A function has results, which its
    Return gives. It uses its own parameters and those of the kernel, and has no parallel loop, no statement of a loop
    of blocks, no random number and no condition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from . import collectives, ir
from .ops import result_type
from .printer import text
from .types import ScalarType, bool_, u32

__all__ = ["IRError", "verify"]

INTEGERS = ("int", "uint")
ATOMICS = {
    **dict.fromkeys(("add", "mul", "min", "max"), ("int", "uint", "float")),
    **dict.fromkeys(("and", "or", "xor"), ("int", "uint", "bool")),
    "exchange": ("int", "uint", "float", "bool"),
    "cas": INTEGERS,
}

# Statements that stand in no function.
NOT_CALLED = (
    ir.Position, ir.Worker, ir.Barrier, ir.Collective, ir.Region, ir.RegionCollective, ir.SetCondition,
    ir.Conditional, ir.Sections, ir.HostCall, ir.Last,
)  # fmt: skip


class IRError(Exception):
    """A pass made IR that breaks a law. This is a defect of the compiler, not of the kernel."""


def verify(what: ir.Kernel | ir.Program) -> None:
    """Raise IRError, with the statement and its block, if `what` breaks a law."""
    if isinstance(what, ir.Kernel):
        arrays = (*what.arrays, *stacks_of(what))
        _Verifier(what, arrays).kernel()
        for function in ir.functions_of(what.body):
            _Verifier(what, arrays).function(function)
        return
    if sorted(ir.tasks_of(what.plan)) != list(range(len(what.tasks))):
        raise IRError(
            f"law 11: the plan {what.plan} does not have each of {len(what.tasks)} tasks once\n{text(what)}"
        )
    names = [temp.path for temp in what.temps]
    if len(set(names)) != len(names):
        raise IRError(f"law 10: two temporaries have one name: {names}\n{text(what)}")
    owners: dict[ir.Local, ir.Task] = {}
    arrays = (*what.kernel.arrays, *what.temps, *stacks_of(what.kernel))
    for function in ir.functions_of(ir.Block([each for task in what.tasks for each in task.body.body])):
        _Verifier(what.kernel, arrays).function(function)
    for task in what.tasks:
        _Verifier(what.kernel, arrays).task(task)
        for statement in ir.walk(task.body):
            local = getattr(statement, "local", None)
            if local is not None and owners.setdefault(local, task) is not task:
                raise IRError(
                    f"law 11: {local.name} is used by {owners[local].name} and {task.name}\n{text(what)}"
                )


def stacks_of(kernel: ir.Kernel) -> tuple[ir.Array, ...]:
    """Return the arrays of the kernel's stacks."""
    return tuple(stack.array for stack in kernel.stacks)


def arrays_of(args: tuple[Any, ...]) -> Iterator[ir.Array]:
    """Yield the arrays among the arguments of a HostCall."""
    for each in args:
        if isinstance(each, tuple):
            yield from arrays_of(each)
        elif isinstance(each, ir.Array):
            yield each


class _Verifier:
    def __init__(self, kernel: ir.Kernel, arrays: Iterable[ir.Array]) -> None:
        self.of, self.arrays = kernel, set(arrays)
        self.defined: set[ir.Value | ir.Local] = set(kernel.params)
        self.seen: set[ir.Statement] = set()
        self.loops: list[ir.For | ir.While] = []
        self.conditions: set[ir.Condition] = set()  # the conditions of all Conditionals so far
        self.depth = 0  # nesting of blocks, not counting those of Conditionals
        self.around = 0  # nesting of Conditionals
        self.sections = 0  # nesting of Sections
        self.here: ir.Block = kernel.body

    def kernel(self) -> None:
        for stack in self.of.stacks:
            fits = stack.array.ndim == 2 and stack.array.space is ir.Space.TEMP
            self.law(13, fits, None, f"{stack.array.path} is not a stack")
        self.block(self.of.body)
        returns = [s for s in self.of.body.body if isinstance(s, ir.Return)]
        found = tuple(value.type for value in returns[-1].values) if returns else ()
        self.law(
            9,
            found == self.of.returns,
            returns[-1] if returns else None,
            f"the kernel returns {self.of.returns}",
        )

    def function(self, function: ir.Function) -> None:
        self.defined |= set(function.params)
        self.here = function.body
        self.block(function.body)
        body = function.body.body
        last = body[-1] if body else None
        found = tuple(value.type for value in last.values) if isinstance(last, ir.Return) else ()
        self.law(14, found == function.results != (), last, f"{function.name} returns {function.results}")
        for statement in ir.walk(function.body):
            parallel = isinstance(statement, ir.For) and statement.parallel
            self.law(14, not parallel and not isinstance(statement, NOT_CALLED), statement, "in a function")

    def task(self, task: ir.Task) -> None:
        self.block(task.body)
        parallel = [s for s in ir.walk(task.body) if isinstance(s, ir.For) and s.parallel]
        self.law(11, parallel == ([] if task.loop is None else [task.loop]), task.loop, "not the task's loop")
        self.law(
            11,
            task.loop is None or task.loop in task.body.body,
            task.loop,
            "is not one of the task's statements",
        )
        for statement in ir.walk(task.body):
            own = isinstance(statement, ir.Atomic) and isinstance(statement.array, ir.Local)
            strange = own or isinstance(statement, (ir.Return, ir.Conditional, ir.Sections, ir.HostCall))
            self.law(11, not strange, statement, "not in a task")

    def law(self, number: int, holds: bool, statement: ir.Statement | None, why: str) -> None:
        if not holds:
            loc = getattr(statement, "loc", None)
            position = f" ({loc.file}:{loc.line})" if loc is not None else ""
            line = text(ir.Block([statement])) if statement is not None else ""
            raise IRError(f"law {number}: {why}{position}\n{line}\nin\n{text(self.here)}")

    def block(self, block: ir.Block) -> None:
        """Check the statements of a block. Their values and locals are undefined after it."""
        before, outer, self.here = set(self.defined), self.here, block
        self.depth += 1
        for statement in block.body:
            self.statement(statement)
        self.depth -= 1
        self.defined, self.here = before, outer

    def statement(self, statement: ir.Statement) -> None:
        self.law(2, statement not in self.seen, statement, "stands in two places")
        self.seen.add(statement)
        if not isinstance(statement, ir.While):
            self.uses(statement)
        rule = RULES.get(type(statement))
        if rule is not None:
            rule(self, statement)
        if isinstance(statement, ir.Value):
            self.defined.add(statement)

    def uses(self, statement: ir.Statement) -> None:
        for value in ir.operands_of(statement):
            known = isinstance(value, ir.Const) or value in self.defined
            self.law(
                1,
                known,
                statement,
                f"uses a {type(value).__name__} that is not defined here",
            )

    def same(self, law: int, statement: ir.Statement, found: ScalarType, wanted: ScalarType) -> None:
        self.law(law, found == wanted, statement, f"{found} where {wanted} is needed")

    # Rules of kinds of statements

    def op(self, op: ir.Op) -> None:
        try:
            found = result_type(op.name, tuple(arg.type for arg in op.args), op.type)
        except (TypeError, KeyError) as error:
            self.law(3, False, op, str(error))
        self.same(3, op, op.type, found)

    def call(self, call: ir.Call) -> None:
        found, wanted = (tuple(each.type for each in part) for part in (call.args, call.function.params))
        self.law(14, found == wanted, call, f"{call.function.name} takes {wanted}")

    def result(self, result: ir.Result) -> None:
        call = result.call
        self.law(14, isinstance(call, ir.Call), result, "not of a call")
        assert isinstance(call, ir.Call)
        types = call.function.results
        self.law(14, 0 < result.number < len(types), result, f"{call.function.name} returns {types}")
        self.same(14, result, result.type, types[result.number])

    def get(self, get: ir.Get) -> None:
        self.law(4, get.local in self.defined, get, f"{get.local.name} is read before it is written")

    def set(self, statement: ir.Set) -> None:
        self.same(4, statement, statement.value.type, statement.local.type)
        self.defined.add(statement.local)

    def element(self, statement: ir.Load | ir.Store | ir.Atomic) -> None:
        array = statement.array
        if isinstance(array, ir.Local):
            self.law(4, array in self.defined, statement, f"{array.name} is changed before it is written")
            return
        own = array.space is ir.Space.SHARED
        self.law(10, own or array in self.arrays, statement, f"{array.path} is not declared")
        self.law(
            5, len(statement.index) == array.ndim, statement, f"{array.path} has {array.ndim} dimensions"
        )
        whole = all(each.type.kind in INTEGERS for each in statement.index)
        self.law(5, whole, statement, "an index is not an integer")

    def store(self, store: ir.Store) -> None:
        self.element(store)
        self.same(5, store, store.value.type, store.array.element)

    def atomic(self, atomic: ir.Atomic) -> None:
        self.element(atomic)
        for value in (atomic.value, atomic.compare):
            if value is not None:
                self.same(5, atomic, value.type, atomic.type)
        self.law(
            5, atomic.type.kind in ATOMICS[atomic.kind], atomic, f"atomic {atomic.kind} on {atomic.type}"
        )
        self.law(
            5, (atomic.compare is not None) == (atomic.kind == "cas"), atomic, "only a cas may compare values"
        )

    def extent(self, extent: ir.Extent) -> None:
        outer = extent.array.ndim - len(extent.array.inner)
        self.law(5, 0 <= extent.axis < outer, extent, f"{extent.array.path} has no axis {extent.axis}")

    def collective(self, statement: ir.Collective) -> None:
        self.in_blocks(statement)
        try:
            found = collectives.result_type(statement.name, tuple(arg.type for arg in statement.args))
        except (TypeError, KeyError) as error:
            self.law(12, False, statement, str(error))
        self.same(12, statement, statement.type, found)

    def region_collective(self, statement: ir.RegionCollective) -> None:
        self.in_blocks(statement)
        found = collectives.result_type(statement.name, tuple(arg.type for arg in statement.args))
        self.same(12, statement, statement.result.type, found)
        self.defined.add(statement.result)

    def in_blocks(self, statement: ir.Statement) -> None:
        blocks = [each for each in self.loops if isinstance(each, ir.For) and each.block_dim]
        self.law(12, bool(blocks), statement, "outside of a loop of blocks")

    def worker(self, statement: ir.Worker) -> None:
        parallel = [each for each in self.loops if isinstance(each, ir.For) and each.parallel]
        self.law(13, bool(parallel), statement, "outside of a parallel loop")

    def region(self, statement: ir.Region) -> None:
        self.in_blocks(statement)
        inner = [
            s
            for s in ir.walk(statement.body)
            if isinstance(s, (ir.Region, ir.RegionCollective, ir.Barrier, ir.Collective))
        ]
        self.law(12, not inner, statement, "a region contains a collective, a barrier or a region")
        self.block(statement.body)
        self.defined |= {s.local for s in ir.walk(statement.body) if isinstance(s, ir.Set)}

    def branch(self, statement: ir.If) -> None:
        self.same(6, statement, statement.condition.type, bool_)
        self.block(statement.then)
        self.block(statement.orelse)

    def loop(self, statement: ir.For) -> None:
        for axis in statement.axes:
            self.same(6, statement, axis.begin.type, axis.index.type)
            self.same(6, statement, axis.end.type, axis.index.type)
            self.law(6, axis.index.type.kind in INTEGERS and axis.step != 0, statement, "not a count")
        self.law(
            8, not statement.parallel or self.depth == 1, statement, "a parallel loop in a block of another"
        )
        before = set(self.defined)
        self.defined |= {axis.index for axis in statement.axes}
        self.loops.append(statement)
        self.block(statement.body)
        self.loops.pop()
        self.defined = before

    def while_loop(self, statement: ir.While) -> None:
        before, outer, self.here = set(self.defined), self.here, statement.head
        self.depth += 1
        for inner in statement.head.body:
            self.statement(inner)
        self.depth -= 1
        self.here = outer
        self.uses(statement)
        self.same(6, statement, statement.condition.type, bool_)
        self.loops.append(statement)
        self.block(statement.body)
        self.loops.pop()
        self.defined = before

    def leave(self, statement: ir.Break | ir.Continue) -> None:
        self.law(7, bool(self.loops), statement, "outside of a loop")
        inner = self.loops[-1]
        parallel = isinstance(inner, ir.For) and inner.parallel
        self.law(7, not (parallel and isinstance(statement, ir.Break)), statement, "leaves a parallel loop")

    def set_condition(self, statement: ir.SetCondition) -> None:
        self.same(8, statement, statement.value.type, u32)
        parallel = any(isinstance(each, ir.For) and each.parallel for each in self.loops)
        alone = statement.condition.is_parameter or not parallel
        self.law(8, alone, statement, "several threads set the condition")
        known = statement.condition.is_parameter or not statement.keeps
        self.law(8, known, statement, "keeps the condition of a loop of the kernel")

    def conditional(self, statement: ir.Conditional) -> None:
        self.law(8, statement.condition not in self.conditions, statement, "a condition of two Conditionals")
        self.law(
            8,
            not statement.condition.is_parameter,
            statement,
            "the condition of a node outside of the kernel",
        )
        self.conditions.add(statement.condition)
        self.level(statement)

    def level(self, statement: ir.Conditional | ir.Sections) -> None:
        self.law(
            8,
            self.depth == 1 and not self.loops,
            statement,
            "only Conditionals and Sections may surround it",
        )
        sections = isinstance(statement, ir.Sections)
        self.depth, self.around, self.sections = self.depth - 1, self.around + 1, self.sections + sections
        for block in statement.blocks:
            self.block(block)
        self.depth, self.around, self.sections = self.depth + 1, self.around - 1, self.sections - sections

    def host_call(self, statement: ir.HostCall) -> None:
        between = self.depth == 1 and not self.loops and not self.sections
        self.law(8, between, statement, "only Conditionals may surround it")
        for each in arrays_of(statement.args):
            known = each in self.arrays and each.space in (ir.Space.PARAM, ir.Space.FIELD)
            self.law(8, known, statement, f"{each.path} is no array of the kernel")

    def last(self, statement: ir.Last) -> None:
        self.law(11, self.here.body[-1] is statement and self.depth == 1, statement, "is not the last one")
        self.block(statement.body)

    def assertion(self, statement: ir.Assert) -> None:
        self.same(6, statement, statement.condition.type, bool_)

    def finish(self, statement: ir.Return) -> None:
        last = self.depth == 1 and not self.around and self.here.body[-1] is statement
        self.law(9, last, statement, "is not the last statement")


RULES: dict[type, Callable[[_Verifier, Any], None]] = {
    ir.Op: _Verifier.op,
    ir.Call: _Verifier.call,
    ir.Result: _Verifier.result,
    ir.Get: _Verifier.get,
    ir.Set: _Verifier.set,
    ir.Load: _Verifier.element,
    ir.Extent: _Verifier.extent,
    ir.Store: _Verifier.store,
    ir.Atomic: _Verifier.atomic,
    ir.Collective: _Verifier.collective,
    ir.RegionCollective: _Verifier.region_collective,
    ir.Region: _Verifier.region,
    ir.Position: _Verifier.in_blocks,
    ir.Barrier: _Verifier.in_blocks,
    ir.Worker: _Verifier.worker,
    ir.If: _Verifier.branch,
    ir.For: _Verifier.loop,
    ir.While: _Verifier.while_loop,
    ir.SetCondition: _Verifier.set_condition,
    ir.Conditional: _Verifier.conditional,
    ir.Sections: _Verifier.level,
    ir.HostCall: _Verifier.host_call,
    ir.Last: _Verifier.last,
    ir.Break: _Verifier.leave,
    ir.Continue: _Verifier.leave,
    ir.Assert: _Verifier.assertion,
    ir.Return: _Verifier.finish,
}
