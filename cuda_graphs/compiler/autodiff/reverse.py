# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The reverse sweep: visits the statements of a unit from the last to the first, and generates their adjoint code.

The adjoint of a value is a sum. While all summands come from the block of the value, the sum is a value; summands from
inner blocks go through a local. The adjoint of a local is a local, which the image of a write reads and clears.

Before the code is generated, a Recorder runs the same sweep to find the values that it needs from the forward sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cuda_graphs.compiler.autodiff.analysis.activity import Activity
from cuda_graphs.compiler.autodiff.analysis.hazards import is_shared
from cuda_graphs.compiler.autodiff.analysis.program_points import Point, ProgramPoints
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.types import bool_, i32, i64

from .derivatives import contribution
from .forward import Forward, Unit, local_in, zero
from .normal_form import NormalForm
from .saved_values import SavedValues
from .stacks import OVERFLOW, AdStack, skip_writes_if

__all__ = ["Recorder", "Reverse"]


class Reverse:
    """Generates the gradient of a kernel in normal form.

    needs_all_branches  whether to request the conditions of all branches, as restored locals may give a branch an image
    """

    needs_all_branches = False

    def __init__(
        self, normal: NormalForm, points: ProgramPoints, active: Activity, saved: SavedValues
    ) -> None:
        self.normal, self.points, self.active, self.saved = normal, points, active, saved
        self.builder = Builder()
        self.grads: dict[ir.Array, ir.Array] = {}
        self.stacks: dict[ir.Local, AdStack] = {}  # stacks of the kernel's locals
        self.adjoints: dict[ir.Value | ir.Local, ir.Local] = {}
        self.sums: dict[ir.Value, ir.Value] = {}  # adjoints of the values of the current block
        self.here = points.root  # current block, whose image is being generated
        self.counts: dict[ir.Statement, ir.Value] = {}  # number of iterations of each counted loop
        # Recomputed values by open block: the new value, and the locals that it depends on.
        self.known: list[dict[ir.Value, tuple[ir.Value, set[ir.Local]]]] = [{}]
        self.unit = Unit(points.root, {})
        self.loads: dict[ir.Statement, ir.Load] = {}  # original load of each load in the gradient
        # Copies of units, with their blocks and the index of the first reverse statement in the block.
        self.guarded_sweeps: list[tuple[Unit, ir.Block, int]] = []

    def kernel(self) -> ir.Block:
        """Return the body of the gradient."""
        with self.builder.into(ir.Block()) as body:
            self.sweeps(self.unit, None)
        return body

    # Units

    def sweeps(self, unit: Unit, worker: ir.Value | None) -> None:
        """Generate the forward and the reverse sweep of a unit."""
        body = self.builder.block
        forward = Forward(
            self.points, self.saved, unit, self.loads, lambda local: self.stack(unit, local, worker)
        )
        for statement in unit.block.body:
            body.body += forward.statement(statement)
        between = len(body.body)
        self.reverse_block(unit.block)
        prologue = ([worker] if isinstance(worker, ir.Worker) else []) + unit.prologue
        body.body[:0] = prologue
        self.guarded_sweeps.append((unit, body, between + len(prologue)))

    def guard(self, live: set[ir.Array]) -> None:
        """Guard the reverse sweeps against overflows of the stacks `live`, and report an overflow.

        An iteration with a full stack skips its reverse sweep. The kernel's own statements span several tasks, so they
        run their reverse sweep with the saved values, but skip all writes.
        """
        for unit, body, at in self.guarded_sweeps:
            stacks = [stack for stack in unit.stacks.values() if stack.array in live]
            if not stacks:
                continue
            full = ir.Local("full", bool_)
            builder = Builder()
            builder.put(ir.Set(full, ir.FALSE))
            for stack in stacks:
                builder.loc = stack.loc
                report = ir.Store(OVERFLOW, (ir.Const(0, i32),), ir.Const(stack.number + 1, i64), stack.loc)
                then = ir.Block([ir.Set(full, ir.TRUE), report])
                builder.put(ir.If(stack.overflowed(builder), then, ir.Block()))
            if unit.outer is None:
                body.body[at:] = [*builder.block.body, *skip_writes_if(full, body.body[at:])]
                continue
            is_full = builder.put(ir.Get(full))
            builder.put(ir.If(is_full, ir.Block(), ir.Block(body.body[at:])))
            body.body[at:] = builder.block.body

    def stack(self, unit: Unit, local: ir.Local, worker: ir.Value | None) -> AdStack:
        """Make the stack of a local."""
        number = ir.Const(0, i32) if worker is None else worker
        made = AdStack(local, len(self.stacks), number, unit.block)
        unit.prologue.append(ir.Set(made.top, ir.Const(0, i32)))
        self.stacks[local] = made
        return made

    def parallel(self, loop: ir.For) -> None:
        """Generate a parallel loop in which each iteration runs its forward and its reverse sweep."""
        for local, old_value in self.unit.before.get(loop, {}).items():
            self.builder.put(ir.Set(self.local(local), self.builder.put(ir.Get(old_value))))
        self.invalidate(self.points.written(loop))
        outer_unit, outer_known = self.unit, self.known
        outer_sums, outer_here = self.sums, self.here
        self.move_adjoints_to_locals(loop)
        inner = Unit(loop.body, dict(self.unit.values), self.unit)
        axes = []
        for axis in loop.axes:
            index = ir.replace(axis.index)
            inner.values[axis.index] = index
            axes.append(
                ir.Axis(
                    index, self.value(axis.begin, Point(loop)), self.value(axis.end, Point(loop)), axis.step
                )
            )
        self.unit, self.known, self.sums = inner, [{}], {}
        with self.builder.into(ir.Block()) as body:
            self.sweeps(inner, ir.Worker())
        self.unit, self.known, self.sums, self.here = outer_unit, outer_known, outer_sums, outer_here
        self.builder.put(ir.For(tuple(axes), body, True, loop.settings, loop.loc))
        self.reload_adjoints(loop)

    # Blocks

    def reverse_block(self, block: ir.Block) -> None:
        """Generate the image of a block in the open block."""
        outer, self.here = self.here, block
        self.known.append({})
        for statement in reversed(block.body):
            self.builder.loc = statement.loc
            ADJOINTS[type(statement)](self, statement)
            if isinstance(statement, ir.Value) and statement in self.saved.spills:
                self.restore(statement, self.saved.spills[statement])
        self.known.pop()
        self.here = outer

    def inner_block(self, statement: ir.Statement, block: ir.Block) -> ir.Block:
        """Return the image of a block of a statement."""
        outer, self.sums = self.sums, {}
        with self.builder.into(ir.Block()) as made:
            self.invalidate(self.points.written(statement))
            self.reverse_block(block)
        self.sums = outer
        return made

    def branch(self, statement: ir.If) -> None:
        self.move_adjoints_to_locals(statement)
        condition = self.deferred_value(statement.condition, Point(statement, True))
        then, orelse = (self.inner_block(statement, block) for block in (statement.then, statement.orelse))
        if then.body or orelse.body or self.needs_all_branches:
            self.builder.put(ir.If(condition(), then, orelse, statement.loc))
        self.invalidate(self.points.written(statement))
        self.reload_adjoints(statement)

    def loop(self, loop: ir.For | ir.While) -> None:
        if isinstance(loop, ir.For) and loop.parallel:
            self.parallel(loop)
            return
        self.move_adjoints_to_locals(loop)
        builder = self.builder
        step = ir.LoopIndex("back", i64, loop.loc)
        begin: ir.Value | None = None
        with builder.into(ir.Block()) as prologue:
            if isinstance(loop, ir.For):
                begin = builder.cast(self.value(loop.axes[0].begin, Point(loop, True)), i64)
            counts = loop in self.normal.counts or not isinstance(loop, ir.For)
            count = self.counts[loop] if counts else self.trips(loop, begin)  # type: ignore[arg-type]
            last = builder.op("sub", count, ir.Const(1, i64))
        with builder.into(ir.Block()) as body:
            if isinstance(loop, ir.For):
                self.index(loop.axes[0], begin, step)
            body.body += self.inner_block(loop, loop.body).body
        builder.block.body += prologue.body
        axis = ir.Axis(step, last, ir.Const(-1, i64), -1)
        builder.put(ir.For((axis,), body, False, None, loop.loc))
        self.invalidate(self.points.written(loop))
        self.reload_adjoints(loop)

    def trips(self, loop: ir.For, begin: ir.Value | None) -> ir.Value:
        """Return the number of iterations of a loop without a break."""
        assert begin is not None
        builder, axis = self.builder, loop.axes[0]
        end = builder.cast(self.value(axis.end, Point(loop, True)), i64)
        low, high = (begin, end) if axis.step > 0 else (end, begin)
        zero_, size = ir.Const(0, i64), abs(axis.step)
        if size == 1:
            return builder.op("max", builder.op("sub", high, low), zero_)
        span = builder.op("add", builder.op("sub", high, low), ir.Const(size - 1, i64))
        return builder.op("max", builder.op("floor_div", span, ir.Const(size, i64)), zero_)

    def index(self, axis: ir.Axis, begin: ir.Value | None, step: ir.Value) -> None:
        """Set the value of a loop variable for iteration number `step`."""
        assert begin is not None
        builder = self.builder
        at = builder.op("add", begin, builder.op("mul", step, ir.Const(axis.step, i64)))
        self.unit.values[axis.index] = builder.cast(at, axis.index.type)

    # Values of the forward sweep

    def local(self, local: ir.Local) -> ir.Local:
        return local_in(self.points, self.unit, local)

    def value(self, value: ir.Value, point: Point) -> ir.Value:
        """Return the value that `value` had at a point. The image of the point is the current position."""
        if isinstance(value, (ir.Const, ir.Param)):
            return value
        if value not in self.saved.spills and (isinstance(value, ir.LoopIndex) or self.points.is_once(value)):
            return self.unit.values[value]
        for frame in self.known:
            if value in frame:
                return frame[value][0]
        made, leaves = self.recompute(value, point)
        self.known[-1][value] = made, leaves
        return made

    def recompute(self, value: ir.Value, point: Point) -> tuple[ir.Value, set[ir.Local]]:
        """Compute a value again; return the new value and the locals that it depends on."""
        builder = self.builder
        local = self.saved.spills.get(value) or (value.local if isinstance(value, ir.Get) else None)
        if local is not None:
            return builder.put(ir.Get(self.local(local), value.loc)), {local}
        args = tuple(self.value(each, point) for each in ir.operands_of(value))
        leaves: set[ir.Local] = set()
        for each in ir.operands_of(value):
            for frame in self.known:
                if each in frame:
                    leaves |= frame[each][1]
        match value:
            case ir.Op():
                if all(isinstance(arg, ir.Const) for arg in args):
                    return builder.op(value.name, *args, type=value.type), leaves
                return builder.put(ir.Op(value.name, args, value.type, value.loc)), leaves
            case ir.Load():
                made = builder.put(ir.Load(value.array, args, value.loc))
                self.loads[made] = value
                return made, leaves
            case ir.Extent():
                return builder.put(ir.replace(value)), leaves
        raise AssertionError(value)

    def deferred_value(self, value: ir.Value, point: Point) -> Callable[[], ir.Value]:
        """Return a function that generates a value when it is called."""
        return lambda: self.value(value, point)

    def invalidate(self, changed: frozenset[ir.Local] | set[ir.Local]) -> None:
        """Drop the recomputed values that depend on locals that have changed, or that change in an entered loop."""
        for frame in self.known:
            for value in [each for each, (_, leaves) in frame.items() if not leaves.isdisjoint(changed)]:
                del frame[value]

    def restore(self, statement: ir.Statement, local: ir.Local) -> None:
        """Restore the value that a local had before a statement changed it."""
        saved = self.unit.saves.get(statement)
        if saved is not None:
            before = (
                self.builder.put(ir.Get(saved)) if isinstance(saved, ir.Local) else saved.pop(self.builder)
            )
            self.builder.put(ir.Set(self.local(local), before))
        self.invalidate({local})

    # Adjoints

    def adjoint(self, carrier: ir.Value | ir.Local) -> ir.Local:
        """Return the local that holds an adjoint."""
        if carrier not in self.adjoints:
            name = carrier.name if isinstance(carrier, ir.Local) else "value"
            made = self.adjoints[carrier] = ir.Local(f"{name}.adjoint", carrier.type, is_adjoint=True)
            owner = self.unit
            of_kernel = (
                self.points.unit_of.get(carrier) is self.points.root
                if isinstance(carrier, ir.Local)
                else self.points.unit(carrier) is self.points.root
            )
            while of_kernel and owner.outer is not None:
                owner = owner.outer
            owner.prologue.append(ir.Set(made, zero(made)))
        return self.adjoints[carrier]

    def add(self, value: ir.Value, what: ir.Value | None) -> None:
        """Add a contribution to the adjoint of a value."""
        if what is None or value not in self.active:
            return
        if self.points.home.get(value) is not self.here:
            self.add_to(self.adjoint(value), what, self.points.unit(value))
        elif value in self.sums:
            self.sums[value] = self.builder.op("add", self.sums[value], what)
        else:
            self.sums[value] = what

    def add_to(self, local: ir.Local, what: ir.Value, unit: ir.Block) -> None:
        """Add a contribution to an adjoint in a local of a unit; iterations add atomically to a local of the kernel."""
        if unit is not self.unit.block:
            self.builder.put(ir.Atomic("add", local, (), what, None, self.builder.loc))
            return
        before = self.builder.put(ir.Get(local))
        self.builder.put(ir.Set(local, self.builder.op("add", before, what)))

    def move_adjoints_to_locals(self, statement: ir.Statement) -> None:
        """Move the adjoints of values of the current block to locals, if inner blocks of a statement add to them."""
        for value in self.used_inside(statement):
            found = self.sums.pop(value, None)
            local = self.adjoint(value)
            self.builder.put(ir.Set(local, zero(local) if found is None else found))

    def reload_adjoints(self, statement: ir.Statement) -> None:
        """Move the adjoints back from the locals after the image of a statement."""
        for value in self.used_inside(statement):
            self.sums[value] = self.builder.put(ir.Get(self.adjoint(value)))

    def used_inside(self, statement: ir.Statement) -> list[ir.Value]:
        found: dict[ir.Value, None] = {}
        for block in ir.blocks_of(statement):
            for inner in ir.walk(block):
                for value in ir.operands_of(inner):
                    if value in self.active and self.points.home.get(value) is self.here:
                        found[value] = None
        return list(found)

    # Statements

    def op(self, op: ir.Op) -> None:
        adjoint = self.sums.pop(op, None)
        if adjoint is None:
            return
        for number, arg in enumerate(op.args):
            if arg in self.active:
                self.add(arg, contribution(self.builder, op, number, adjoint, self.operand(op)))

    def operand(self, op: ir.Op) -> Callable[[int], ir.Value]:
        return lambda number: self.value(op.args[number], Point(op))

    def get(self, get: ir.Get) -> None:
        count = next((loop for loop, each in self.normal.counts.items() if each is get), None)
        if count is not None:
            self.counts[count] = self.value(get, Point(get))
        adjoint = self.sums.pop(get, None)
        if adjoint is not None:
            self.add_to(self.adjoint(get.local), adjoint, self.points.unit_of[get.local])

    def set(self, statement: ir.Set) -> None:
        if statement.local in self.active:
            local = self.adjoint(statement.local)
            adjoint = self.builder.put(ir.Get(local))
            self.builder.put(ir.Set(local, zero(local)))
            self.add(statement.value, adjoint)
        self.restore(statement, statement.local)

    def load(self, load: ir.Load) -> None:
        adjoint = self.sums.pop(load, None)
        if adjoint is not None and load.array.needs_grad:
            grad = self.grad(load.array)
            self.builder.put(
                ir.Atomic("add", grad, self.index_values(load, load.index), adjoint, None, load.loc)
            )

    def store(self, store: ir.Store) -> None:
        if not store.array.needs_grad:
            return
        grad, index = self.grad(store.array), self.index_values(store, store.index)
        zero_ = ir.Const(0.0, grad.element)
        adjoint: ir.Value
        if is_shared(self.points, store):
            adjoint = self.builder.put(ir.Atomic("exchange", grad, index, zero_, None, store.loc))
        else:
            adjoint = self.builder.put(ir.Load(grad, index, store.loc))
            self.builder.put(ir.Store(grad, index, zero_, store.loc))
        self.add(store.value, adjoint)

    def atomic(self, atomic: ir.Atomic) -> None:
        if isinstance(atomic.array, ir.Local):
            if atomic.array in self.active:
                self.add(atomic.value, self.builder.put(ir.Get(self.adjoint(atomic.array))))
        elif atomic.array.needs_grad and atomic.value in self.active:
            index = self.index_values(atomic, atomic.index)
            self.add(atomic.value, self.builder.put(ir.Load(self.grad(atomic.array), index, atomic.loc)))

    def no_adjoint(self, statement: ir.Statement) -> None:
        """Generate nothing: the statement has no derivative."""

    def index_values(self, statement: ir.Statement, index: Sequence[ir.Value]) -> tuple[ir.Value, ...]:
        return tuple(self.value(each, Point(statement)) for each in index)

    def grad(self, array: ir.Array) -> ir.Array:
        """Return the array with the adjoints of an array."""
        if array not in self.grads:
            self.grads[array] = ir.replace(array, path=f"{array.path}.grad", needs_grad=False, is_grad=True)
        return self.grads[array]


class Recorder(Reverse):
    """Records the values that the reverse sweep requests, and the points of the requests. Its code is discarded."""

    needs_all_branches = True

    def __init__(self, normal: NormalForm, points: ProgramPoints, active: Activity) -> None:
        super().__init__(normal, points, active, SavedValues())
        self.demands: dict[tuple[ir.Value, Point], None] = {}

    def sweeps(self, unit: Unit, worker: ir.Value | None) -> None:
        self.reverse_block(unit.block)

    def value(self, value: ir.Value, point: Point) -> ir.Value:
        self.demands[value, point] = None
        return ir.LoopIndex("placeholder", value.type)  # any value that is not a constant


ADJOINTS: dict[type, Callable[..., None]] = {
    ir.Op: Reverse.op,
    ir.Get: Reverse.get,
    ir.Set: Reverse.set,
    ir.Load: Reverse.load,
    ir.Store: Reverse.store,
    ir.Atomic: Reverse.atomic,
    ir.If: Reverse.branch,
    ir.For: Reverse.loop,
    ir.While: Reverse.loop,
    ir.Extent: Reverse.no_adjoint,
    ir.Break: Reverse.no_adjoint,
    ir.Print: Reverse.no_adjoint,
    ir.Assert: Reverse.no_adjoint,
    ir.Return: Reverse.no_adjoint,
}
