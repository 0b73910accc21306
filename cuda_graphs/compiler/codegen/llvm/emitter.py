# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Translates a task to the text of an LLVM function. Targets hold the differences between machines (target_*.py).

Locals are stack slots, which LLVM turns into registers. Loop indices count in 64 bits, and are truncated to their type
where the program uses them as numbers. They stay wide in array indices, together with small constants added to them.
That is correct because an array has fewer than 2**31 elements along an axis: an index that wraps around would be out of
range. Wide indices keep addresses affine, so that loops vectorise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cuda_graphs.compiler.artifact import Slot
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.types import i32, i64

from . import atomics, load_hoisting, printf
from .alias_metadata import tag
from .block_schedule import BlockSchedule
from .functions import CallEmitter
from .notation import llvm_type
from .target import Target

__all__ = ["Emitter"]

SMALL = 1 << 20  # limit of the constants that are added to a wide index


class Emitter(CallEmitter):
    """Emitter of one function."""

    def __init__(self, target: Target, declarations: dict[str, str]) -> None:
        super().__init__(target, declarations)
        self.loops: list[tuple[str, str]] = []  # labels: continue, break
        self.metadata = ""
        self.unrolled = ""  # metadata of short innermost loops
        self.innermost = ""  # metadata of other innermost loops
        self.alias_types: Mapping[ir.Array, tuple[str, ...]] = {}
        self.schedule: BlockSchedule | None = None
        self.private: frozenset[ir.Array] = frozenset()  # arrays of this thread alone: atomics are plain
        self.spaces: dict[ir.Array, str] = {}  # address spaces of arrays that differ from those of `access`
        self.strides: dict[ir.Array, str] = {}  # bytes (i32) between elements of small arrays that are apart

    # Parameters of the function

    def slot_type(self, slot: Slot, what: ir.Array | ir.Param | ir.Condition) -> str:
        """Return the LLVM type of a slot's parameter."""
        if isinstance(what, ir.Condition):
            return "i64"
        if isinstance(what, ir.Array):
            return self.pointer(what) if slot.kind == "pointer" else "i32"
        return "i8" if what.type.kind == "bool" else llvm_type(what.type)

    def receive(self, slot: Slot, what: ir.Array | ir.Param | ir.Condition, register: str) -> None:
        """Bind the value that a slot passes to a register."""
        if isinstance(what, ir.Condition):
            self.names[what] = register
            return
        if isinstance(what, ir.Param):
            self.names[what] = self.let(f"icmp ne i8 {register}, 0") if what.type.kind == "bool" else register
        elif slot.kind == "pointer":
            self.addresses[what] = register
        else:
            self.extents[what, slot.axis] = self.let(f"zext i32 {register} to i64")

    def trips(self, loop: ir.For) -> tuple[list[str], list[str], str]:
        """Return the begin of each axis of a loop, its number of steps, and the product of these, in 64 bits."""
        begins, counts = [], []
        for axis in loop.axes:
            begin, end = self.bound(axis.begin), self.bound(axis.end)
            begins.append(begin)
            counts.append(self.trip(axis, begin, end))
        total = counts[0]
        for count in counts[1:]:
            total = self.let(f"mul nsw i64 {total}, {count}")
        return begins, counts, total

    def trip(self, axis: ir.Axis, begin: str, end: str) -> str:
        """Return the number of steps of an axis: any number for 64-bit types, less than 2**32 for others."""
        low, high = (begin, end) if axis.step > 0 else (end, begin)
        if axis.index.type.bits < 64:
            span = self.let(f"sub nsw i64 {high}, {low}")
            span = self.call("llvm.smax.i64", "i64", [("i64", span), ("i64", "0")])
        else:
            less = "ult" if axis.index.type.kind == "uint" else "slt"
            there = self.let(f"icmp {less} i64 {low}, {high}")
            span = self.let(f"select i1 {there}, i64 {self.let(f'sub i64 {high}, {low}')}, i64 0")
        size = abs(axis.step)
        if size == 1:
            return span
        whole = self.let(f"udiv i64 {span}, {size}")
        part = self.let(f"icmp ne i64 {self.let(f'urem i64 {span}, {size}')}, 0")
        return self.let(f"add nuw i64 {whole}, {self.let(f'zext i1 {part} to i64')}")

    def point(self, axis: ir.Axis, begin: str, number: str) -> str:
        """Return the index of an axis in step `number`. Only 64-bit intermediate results may wrap around."""
        flag = "" if may_wrap(axis) else "nsw "
        scaled = number if axis.step == 1 else self.let(f"mul {flag}i64 {number}, {axis.step}")
        return scaled if begin == "0" else self.let(f"add {flag}i64 {begin}, {scaled}")

    # Values

    def widened(self, value: ir.Value) -> str:
        """Return an index in 64 bits."""
        if isinstance(value, ir.Const):
            return str(int(value.value))
        wide = self.affine(value)
        return self.extended(value) if wide is None else wide

    def extended(self, value: ir.Value) -> str:
        """Return a number of any integer type, extended to 64 bits."""
        found = self.value(value)
        if value.type.bits == 64:
            return found
        extend = "sext" if value.type.kind == "int" else "zext"
        return self.let(f"{extend} {llvm_type(value.type)} {found} to i64")

    def bound(self, value: ir.Value) -> str:
        """Return a bound in 64 bits. Unlike an index, a bound may have wrapped around, except for extent - constant."""
        if not isinstance(value, ir.Op):
            return self.widened(value)
        less = value.name == "sub" and isinstance(value.args[0], ir.Extent)
        shrinks = less and isinstance(value.args[1], ir.Const) and value.args[1].value >= 0
        return self.widened(value) if shrinks else self.extended(value)

    def affine(self, value: ir.Value) -> str | None:
        """Return a loop index or extent, plus small constants, in 64 bits; None for other values."""
        if value in self.wide:
            return self.wide[value]
        if isinstance(value, ir.Op) and value.name in ("add", "sub") and value.type in (i32, i64):
            left, right = value.args
            if isinstance(right, ir.Const) and abs(right.value) < SMALL:
                wide = self.affine(left)
                return None if wide is None else self.let(f"{value.name} nsw i64 {wide}, {int(right.value)}")
        return None

    def op(self, op: ir.Op) -> None:
        kinds = tuple(arg.type for arg in op.args)
        flags, self.fast = self.fast, self.fast or ("reassoc " if op.loose else "")
        self.names[op] = self.computed(op.name, op.type, [self.value(arg) for arg in op.args], kinds)
        self.fast = flags

    # Memory

    def extent(self, array: ir.Array, axis: int) -> str:
        if array.shape is not None:
            return str(array.shape[axis])
        outer = array.ndim - len(array.inner)
        if axis >= outer:
            return str(array.inner[axis - outer])
        return self.extents[array, axis]

    def address(self, array: ir.Array, index: tuple[ir.Value, ...]) -> tuple[str, str]:
        """Return (type in memory, pointer to the element)."""
        linear = ""
        for axis, each in enumerate(index):
            part = self.widened(each)
            if axis:
                scaled = self.let(f"mul nsw i64 {linear}, {self.extent(array, axis)}")
                part = self.let(f"add nsw i64 {scaled}, {part}")
            linear = part
        kind = "i8" if array.element.kind == "bool" else llvm_type(array.element)
        base = self.addresses[array]
        if not index:
            return kind, base
        if array in self.strides:
            narrow = self.let(f"trunc i64 {linear} to i32")
            offset = self.let(f"mul nuw nsw i32 {narrow}, {self.strides[array]}")
            return kind, self.let(f"getelementptr inbounds i8, {self.pointer(array)} {base}, i32 {offset}")
        return kind, self.let(f"getelementptr inbounds {kind}, {self.pointer(array)} {base}, i64 {linear}")

    def pointer(self, array: ir.Array) -> str:
        return "ptr" + self.spaces.get(array, self.target.access(array))

    def access(self, array: ir.Array) -> str:
        """Return the metadata of loads and stores of an array. Stacks have none, as iterations share them."""
        is_stack = array.space is ir.Space.TEMP and array.shape is None
        return ("" if is_stack else self.metadata) + tag(self.declarations, self.alias_types.get(array, ()))

    def load(self, load: ir.Load) -> None:
        kind, at = self.address(load.array, load.index)
        found = self.let(f"load {kind}, {self.pointer(load.array)} {at}{self.access(load.array)}")
        self.names[load] = self.let(f"icmp ne i8 {found}, 0") if load.type.kind == "bool" else found

    def store(self, store: ir.Store) -> None:
        kind, at = self.address(store.array, store.index)
        self.line(
            f"store {kind} {self.stored(store.value)}, {self.pointer(store.array)} {at}{self.access(store.array)}"
        )

    def atomic(self, atomic: ir.Atomic) -> None:
        assert isinstance(atomic.array, ir.Array)
        kind, at = self.address(atomic.array, atomic.index)
        old = self.emit_atomic(atomic, kind, at, self.stored(atomic.value))
        self.names[atomic] = self.let(f"icmp ne i8 {old}, 0") if atomic.type.kind == "bool" else old

    def emit_atomic(self, atomic: ir.Atomic, kind: str, at: str, value: str) -> str:
        """Emit an atomic on an address; return the register of the previous value. Values are as in memory."""
        assert isinstance(atomic.array, ir.Array)
        alone = atomic.array.space is ir.Space.SHARED and self.schedule is not None and self.schedule.alone
        change = atomics.non_atomic if alone or atomic.array in self.private else atomics.atomic
        return change(self, atomic, kind, self.pointer(atomic.array), at, value)

    def get(self, get: ir.Get) -> None:
        at, mark = self.local_pointer(get.local)
        self.names[get] = self.let(f"load {llvm_type(get.type)}, ptr {at}{mark}")

    def worker(self, worker: ir.Worker) -> None:
        self.names[worker] = self.target.worker(self)

    def set(self, statement: ir.Set) -> None:
        found = self.value(statement.value)
        at, mark = self.local_pointer(statement.local)
        self.line(f"store {llvm_type(statement.local.type)} {found}, ptr {at}{mark}")

    def local_pointer(self, local: ir.Local) -> tuple[str, str]:
        """Return (pointer to this thread's local, metadata of its accesses)."""
        found = None if self.schedule is None else self.schedule.variable(local)
        return (self.variable(local), "") if found is None else found

    def variable(self, local: ir.Local) -> str:
        if local not in self.names:
            self.names[local] = self.slot(llvm_type(local.type))
        return self.names[local]

    def read_extent(self, extent: ir.Extent) -> None:
        found = self.extent(extent.array, extent.axis)
        self.wide[extent] = found

    # Printing and assertions

    def print(self, statement: ir.Print) -> None:
        self.target.print(self, *printf.emit(self, statement.parts))

    def assertion(self, statement: ir.Assert) -> None:
        fails, holds = self.label("fails"), self.label("holds")
        self.jump_if(self.value(statement.condition), holds, fails)
        self.start(fails)
        if any(isinstance(part, tuple) for part in statement.message):
            self.target.print(self, *printf.emit(self, (*statement.message, "\n")))
        plain = "".join(part if isinstance(part, str) else "..." for part in statement.message)
        loc = statement.loc or ir.Loc("?", 0)
        self.target.assert_fail(
            self, self.string(plain), self.string(loc.file), loc.line, self.string(loc.function)
        )
        self.line("unreachable")
        self.start(holds)

    def set_condition(self, statement: ir.SetCondition) -> None:
        condition, value = self.names[statement.condition], self.value(statement.value)
        end = self.label("end")
        if statement.keeps:
            then = self.label("then")
            self.jump_if(self.let(f"icmp eq i32 {value}, 0"), then, end)
            self.start(then)
        self.target.set_condition(self, condition, value)
        if statement.keeps:
            self.jump(end)
            self.start(end)

    def last(self, statement: ir.Last) -> None:
        self.target.last(self, self.addresses[statement.array], lambda: self.block(statement.body))

    def for_function(self, place: list[str]) -> Emitter:
        made = Emitter(self.target, self.declarations)
        made.alias_types, made.unrolled = self.alias_types, self.unrolled
        return made

    # Control

    def block(self, block: ir.Block) -> None:
        self.statements(block.body)

    def statements(self, statements: list[ir.Statement]) -> None:
        for statement in statements:
            EMIT[type(statement)](self, statement)

    def branch(self, statement: ir.If) -> None:
        then, orelse, end = (self.label(stem) for stem in ("then", "else", "end"))
        self.jump_if(self.value(statement.condition), then, orelse)
        for label, block in ((then, statement.then), (orelse, statement.orelse)):
            self.start(label)
            self.block(block)
            self.jump(end)
        self.start(end)

    def loop(self, statement: ir.For) -> None:
        """Emit a loop, with each axis inside the previous one. Break leaves all of them."""
        leave = self.label("leave")
        self.axes(statement, list(statement.axes), leave)
        self.jump(leave)
        self.start(leave)

    def axes(self, statement: ir.For, axes: list[ir.Axis], leave: str) -> None:
        axis, rest = axes[0], axes[1:]
        begin, end = self.bound(axis.begin), self.bound(axis.end)

        def body(following: str) -> None:
            if rest:
                self.axes(statement, rest, leave)
                return
            self.iteration(statement, following, leave)

        if not may_wrap(axis):
            if not rest and self.unrolled and load_hoisting.is_short(statement.body):
                self.short_loop(statement, axis, begin, end, body)
            else:
                self.counted(axis.index, begin, end, axis.step, body, "" if rest else self.innermost)
            return
        step = ir.LoopIndex("step")

        def at_step(following: str) -> None:
            self.wide[axis.index] = self.point(axis, begin, self.wide[step])
            body(following)

        self.counted(step, "0", self.trip(axis, begin, end), 1, at_step, less="ult")

    def short_loop(
        self, statement: ir.For, axis: ir.Axis, begin: str, end: str, body: Callable[[str], None]
    ) -> None:
        """Emit a loop several iterations at a time: with hoisted loads if possible, else unrolled by LLVM."""
        loads = load_hoisting.hoistable_loads(statement.body)
        # In 64 bits, the end of a group of iterations could wrap around.
        if not loads or axis.index.type.bits == 64:
            self.counted(axis.index, begin, end, axis.step, body, self.unrolled)
            return
        left = self.with_hoisted_loads(statement, axis, begin, end, loads)
        self.counted(axis.index, left, end, axis.step, body)

    def with_hoisted_loads(
        self, loop: ir.For, axis: ir.Axis, begin: str, end: str, loads: list[ir.Statement]
    ) -> str:
        """Emit groups of iterations, whose loads come first; return the index at which the other iterations begin."""
        rest = [each for each in loop.body.body if each not in loads]
        count = load_hoisting.GROUP

        def body(_: str) -> None:
            first, loaded = self.wide[axis.index], []
            for number in range(count):
                at = self.wide[axis.index] = self.let(f"add nsw i64 {first}, {number * axis.step}")
                self.statements(loads)
                loaded.append((at, {each: self.names[each] for each in loads if each in self.names}))
            for self.wide[axis.index], names in loaded:
                self.names.update(names)
                self.statements(rest)

        last = self.let(f"sub nsw i64 {end}, {(count - 1) * axis.step}")
        return self.counted(axis.index, begin, last, count * axis.step, body)

    def iteration(self, statement: ir.For, following: str, leave: str) -> None:
        """Emit one iteration, given the labels of the next iteration and of the end of the loop."""
        self.loops.append((following, leave))
        self.block(statement.body)
        self.loops.pop()

    def counted(
        self,
        index: ir.LoopIndex | None,
        begin: str,
        end: str,
        step: int,
        body: Callable[[str], None],
        parallel: str = "",
        less: str = "slt",
    ) -> str:
        """Emit a loop over 64-bit numbers; return the number's register. `body` gets the next iteration's label."""
        before, head, loop_body, following, after = (
            self.label(s) for s in ("before", "head", "body", "next", "after")
        )
        self.jump(before)
        self.start(before)
        self.jump(head)
        self.start(head)
        self.count += 2
        at, advanced = f"%v{self.count - 1}", f"%v{self.count}"
        self.lines.append(f"  {at} = phi i64 [ {begin}, %{before} ], [ {advanced}, %{following} ]")
        going = self.let(f"icmp {less if step > 0 else 'sgt'} i64 {at}, {end}")
        self.jump_if(going, loop_body, after)
        self.start(loop_body)
        if index is not None:
            self.wide[index] = at
        body(following)
        self.jump(following)
        self.start(following)
        self.lines.append(f"  {advanced} = add {'nsw ' if less == 'slt' else ''}i64 {at}, {step}")
        self.line(f"br label %{head}{parallel}")
        self.start(after)
        return at

    def while_loop(self, statement: ir.While) -> None:
        head, loop_body, after = (self.label(stem) for stem in ("while", "body", "after"))
        self.jump(head)
        self.start(head)
        self.block(statement.head)
        self.jump_if(self.value(statement.condition), loop_body, after)
        self.start(loop_body)
        self.loops.append((head, after))
        self.block(statement.body)
        self.loops.pop()
        self.jump(head)
        self.start(after)

    def leave(self, statement: ir.Break | ir.Continue) -> None:
        following, after = self.loops[-1]
        self.line(f"br label %{after if isinstance(statement, ir.Break) else following}")
        self.start(self.label("dead"))

    def block_schedule(self) -> BlockSchedule:
        assert self.schedule is not None
        return self.schedule


def may_wrap(axis: ir.Axis) -> bool:
    """Return whether numbers beyond the end of an axis can wrap around in signed 64-bit arithmetic."""
    type = axis.index.type
    return type.bits == 64 and (type.kind == "uint" or abs(axis.step) != 1)


EMIT: dict[type, Callable[[Emitter, Any], None]] = {
    ir.Op: Emitter.op,
    ir.Call: Emitter.call_function,
    ir.Result: Emitter.result,
    ir.Return: Emitter.return_values,
    ir.Load: Emitter.load,
    ir.Store: Emitter.store,
    ir.Atomic: Emitter.atomic,
    ir.Get: Emitter.get,
    ir.Set: Emitter.set,
    ir.Extent: Emitter.read_extent,
    ir.Position: lambda e, s: e.block_schedule().position(s),
    ir.Worker: Emitter.worker,
    ir.Region: lambda e, s: e.block_schedule().region(s),
    ir.Barrier: lambda e, s: e.block_schedule().barrier(s),
    ir.Fence: lambda e, s: e.target.fence(e),
    ir.RegionCollective: lambda e, s: e.block_schedule().collective(s),
    ir.If: Emitter.branch,
    ir.For: Emitter.loop,
    ir.While: Emitter.while_loop,
    ir.SetCondition: Emitter.set_condition,
    ir.Last: Emitter.last,
    ir.Break: Emitter.leave,
    ir.Exit: Emitter.exit,
    ir.Continue: Emitter.leave,
    ir.Print: Emitter.print,
    ir.Assert: Emitter.assertion,
}
