# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The reference semantics of the IR for one thread: statements on NumPy scalars."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from . import ir
from . import scalars as number
from .formats import formatted
from .ops import evaluate
from .types import ScalarType


class AssertionFailed(Exception):
    """An assert of the kernel did not hold."""


class _Jump(Exception):
    pass


class BreakLoop(_Jump):
    pass


class ContinueLoop(_Jump):
    pass


class EndTask(_Jump):
    pass


class ThreadInterpreter:
    """One thread: its values and variables, and the memory that it accesses."""

    def __init__(self, arrays: Mapping[str, np.ndarray], scalars: Mapping[str, Any], write: Any):
        self.arrays, self.scalars, self.write = arrays, scalars, write
        self.objects: Mapping[str, Any] = {}  # of the host
        self.values: dict[ir.Value | ir.Local, Any] = {}
        self.conditions: dict[ir.Condition, int | None] = {}
        self.temps: dict[ir.Array, np.ndarray] = {}
        self.returned: tuple[Any, ...] = ()
        # Random numbers: the number of the enclosing parallel loop (0: none), its iteration, and the numbers drawn.
        self.stream = [0, 0, 0]
        self.parallel_loops: list[ir.For] = []
        self.rounds = 0  # iterations of all repeated conditionals
        self.task_values: Any = None  # in a function: the values of the task
        self.active: Counter[ir.Function] = Counter()  # calls of each function that have not ended
        self.results: dict[ir.Value, tuple[Any, ...]] = {}  # of calls

    def block(self, block: ir.Block) -> None:
        for statement in block.body:
            STATEMENTS[type(statement)](self, statement)

    def value(self, value: ir.Value) -> Any:
        if isinstance(value, ir.Const):
            return number.scalar(value.value, value.type)
        return self.values[value]

    def memory(self, array: ir.Array) -> np.ndarray:
        if array.path in self.arrays and array.space in (ir.Space.PARAM, ir.Space.FIELD):
            return self.arrays[array.path]
        return self.temps.setdefault(array, np.zeros(array.shape or (), number.memory_dtype(array.element)))

    def element(self, array: ir.Array, index: tuple[ir.Value, ...]) -> tuple[np.ndarray, tuple[int, ...]]:
        memory, at = self.memory(array), tuple(int(self.value(each)) for each in index)
        if any(not 0 <= i < n for i, n in zip(at, memory.shape, strict=True)):
            raise IndexError(f"index {at} is outside of {array.path!r}, which has the shape {memory.shape}")
        return memory, at

    def op(self, op: ir.Op) -> None:
        args = tuple(self.value(arg) for arg in op.args)
        self.values[op] = evaluate(op.name, tuple(arg.type for arg in op.args), args, op.type)

    def call(self, call: ir.Call) -> None:
        found = self.results_of(call.function, [self.value(arg) for arg in call.args])
        self.values[call] = found[0]
        self.results[call] = found

    def results_of(self, function: ir.Function, args: list[Any]) -> tuple[Any, ...]:
        """Return the results of a call. The function sees its own values, and those of the task."""
        if function.max_depth is not None and self.active[function] >= function.max_depth:
            raise AssertionFailed(
                f"{function.source_name} calls itself more than {function.max_depth} levels deep"
            )
        outer = self.values, self.task_values, self.returned
        self.task_values = self.values if self.task_values is None else self.task_values
        self.values = ChainMap({}, self.task_values)  # type: ignore[assignment]
        self.values.update(zip(function.params, args, strict=True))
        self.active[function] += 1
        try:
            self.block(function.body)
            return self.returned
        except EndTask:
            return tuple(number.scalar(0, type) for type in function.results)
        finally:
            self.active[function] -= 1
            self.values, self.task_values, self.returned = outer

    def result(self, result: ir.Result) -> None:
        self.values[result] = self.results[result.call][result.number]

    def load(self, load: ir.Load) -> None:
        memory, at = self.element(load.array, load.index)
        self.values[load] = number.read(memory[at], load.type)

    def store(self, store: ir.Store) -> None:
        memory, at = self.element(store.array, store.index)
        memory[at] = number.written(self.value(store.value), store.array.element)

    def atomic(self, atomic: ir.Atomic) -> None:
        value = self.value(atomic.value)
        if isinstance(atomic.array, ir.Local):
            old = self.values[atomic.array]
            self.values[atomic], self.values[atomic.array] = old, self.combined(atomic, old, value)
            return
        memory, at = self.element(atomic.array, atomic.index)
        old = number.read(memory[at], atomic.type)
        self.values[atomic] = old
        memory[at] = number.written(self.combined(atomic, old, value), atomic.type)

    def combined(self, atomic: ir.Atomic, old: Any, value: Any) -> Any:
        if atomic.kind == "exchange":
            return value
        if atomic.kind == "cas":
            return value if atomic.compare is not None and old == self.value(atomic.compare) else old
        row = {"and": "bit_and", "or": "bit_or", "xor": "bit_xor"}.get(atomic.kind, atomic.kind)
        return evaluate(row, (atomic.type, atomic.type), (old, value), atomic.type)

    def get(self, get: ir.Get) -> None:
        self.values[get] = self.values[get.local]

    def set(self, statement: ir.Set) -> None:
        self.values[statement.local] = self.value(statement.value)

    def extent(self, extent: ir.Extent) -> None:
        self.values[extent] = np.int32(self.memory(extent.array).shape[extent.axis])

    def worker(self, worker: ir.Worker) -> None:
        self.values[worker] = np.int32(0)  # one worker runs all iterations

    def branch(self, statement: ir.If) -> None:
        self.block(statement.then if self.value(statement.condition) else statement.orelse)

    def loop(self, statement: ir.For) -> None:
        spans = [range(int(self.value(a.begin)), int(self.value(a.end)), a.step) for a in statement.axes]
        outer = self.stream
        for count, point in enumerate(points(spans)):
            if statement in self.parallel_loops:
                self.stream = [self.loop_number(statement), count, 0]
            for axis, at in zip(statement.axes, point, strict=True):
                self.values[axis.index] = number.scalar(at, axis.index.type)
            if not self.iteration(statement.body):
                break
        self.stream = outer

    def loop_number(self, loop: ir.For) -> int:
        """Return the number, from 1, of a parallel loop for its random numbers; 0 for other loops."""
        return self.parallel_loops.index(loop) + 1 if loop in self.parallel_loops else 0

    def iteration(self, body: ir.Block) -> bool:
        """Run one iteration; return whether the loop continues."""
        try:
            self.block(body)
        except ContinueLoop:
            pass
        except BreakLoop:
            return False
        return True

    def while_loop(self, statement: ir.While) -> None:
        self.block(statement.head)
        while self.value(statement.condition) and self.iteration(statement.body):
            self.block(statement.head)

    def set_condition(self, statement: ir.SetCondition) -> None:
        condition, value = statement.condition, self.value(statement.value)
        if statement.keeps and value:
            return
        if condition.is_parameter:
            self.arrays[condition.name][()] = value
        else:
            self.conditions[condition] = int(value)

    def conditional(self, statement: ir.Conditional) -> None:
        blocks = [partial(self.block, block) for block in statement.blocks]
        self.repeat(statement.kind, statement.condition, blocks)

    def sections(self, statement: ir.Sections) -> None:
        for block in statement.blocks:
            self.block(block)

    def repeat(self, kind: str, condition: ir.Condition, blocks: Sequence[Callable[[], None]]) -> None:
        """Run the blocks of a conditional that its condition selects."""

        def state() -> int:
            found = self.conditions.get(condition, condition.initial)
            if found is None:
                raise RuntimeError(f"condition {condition.name} is tested before it is set")
            return found

        if kind in ir.LOOPS:
            asked = kind == "while"
            while not asked or state():
                asked = True
                self.rounds += 1
                blocks[0]()
            return
        which = int(not state()) if kind == "if" else state()
        if which < len(blocks):
            blocks[which]()

    def leave(self, statement: ir.Break | ir.Continue) -> None:
        raise BreakLoop if isinstance(statement, ir.Break) else ContinueLoop

    def random(self, random: ir.Random) -> None:
        loop, iteration, drawn = self.stream
        self.stream[2] += 1
        seed = int(self.scalars["random.seed"])
        counter = [drawn, loop, iteration & WORD, iteration >> 32 ^ (self.rounds if loop else 0)]
        self.values[random] = random_number(philox(counter, (seed & WORD, seed >> 32)), random.type)

    def exit(self, statement: ir.Exit) -> None:
        raise EndTask

    def text(self, parts: tuple[Any, ...]) -> str:
        return "".join(
            part if isinstance(part, str) else formatted(self.value(part[0]), part[0].type, part[1])
            for part in parts
        )

    def print(self, statement: ir.Print) -> None:
        if self.write is not None:
            self.write(self.text(statement.parts))

    def check(self, statement: ir.Assert) -> None:
        if not self.value(statement.condition):
            raise AssertionFailed(self.text(statement.message))

    def host_call(self, statement: ir.HostCall) -> None:
        host = self.objects[statement.object]

        def argument(each: Any) -> Any:
            match each:
                case tuple():
                    return tuple(map(argument, each))
                case ir.Array():
                    return self.memory(each)
                case ir.HostMethod():
                    return getattr(host, each.name)
                case ir.HostConstant():
                    return each.value
            return int(self.value(each))

        getattr(host, statement.method)(*map(argument, statement.args))

    def leave_kernel(self, statement: ir.Return) -> None:
        self.returned = tuple(self.value(each) for each in statement.values)


def points(spans: list[range]) -> Iterator[tuple[int, ...]]:
    """Yield all points of a box, which may be larger than memory."""
    if not spans:
        yield ()
        return
    for first in spans[0]:
        for rest in points(spans[1:]):
            yield (first, *rest)


WORD = 0xFFFFFFFF


def philox(counter: list[int], key: tuple[int, int]) -> list[int]:
    """Return the four words of Philox4x32-10 (source: passes/lower_random.py)."""
    for _ in range(10):
        low, high = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
        counter = [high >> 32 ^ counter[1] ^ key[0], high & WORD, low >> 32 ^ counter[3] ^ key[1], low & WORD]
        key = (key[0] + 0x9E3779B9 & WORD, key[1] + 0xBB67AE85 & WORD)
    return counter


def random_number(words: list[int], type: ScalarType) -> Any:
    """Return words as a number: the low bits as an integer, or the high bits as a fraction with all its digits."""
    both = words[0] | words[1] << 32
    if type.kind == "float":
        digits = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}[type.name]
        return number.scalar((both >> 11 if type.size == 8 else words[0] >> 32 - digits) * 2.0**-digits, type)
    if type.kind == "bool":
        return np.bool_(words[0] >> 31)
    low = (both if type.size == 8 else words[0]) & (1 << type.bits) - 1
    return number.scalar(low - (1 << type.bits if low > type.maximum else 0), type)


STATEMENTS: dict[type, Any] = {
    ir.Op: ThreadInterpreter.op,
    ir.Call: ThreadInterpreter.call,
    ir.Result: ThreadInterpreter.result,
    ir.Load: ThreadInterpreter.load,
    ir.Store: ThreadInterpreter.store,
    ir.Atomic: ThreadInterpreter.atomic,
    ir.Get: ThreadInterpreter.get,
    ir.Set: ThreadInterpreter.set,
    ir.Extent: ThreadInterpreter.extent,
    ir.Worker: ThreadInterpreter.worker,
    ir.If: ThreadInterpreter.branch,
    ir.For: lambda thread, statement: thread.loop(statement),  # KernelInterpreter overrides it
    ir.While: ThreadInterpreter.while_loop,
    ir.SetCondition: ThreadInterpreter.set_condition,
    ir.Conditional: ThreadInterpreter.conditional,
    ir.Sections: ThreadInterpreter.sections,
    ir.HostCall: ThreadInterpreter.host_call,
    ir.Last: lambda thread, statement: thread.block(statement.body),
    ir.Break: ThreadInterpreter.leave,
    ir.Continue: ThreadInterpreter.leave,
    ir.Exit: ThreadInterpreter.exit,
    ir.Random: ThreadInterpreter.random,
    ir.Fence: lambda thread, statement: None,  # one statement follows the other
    ir.Print: ThreadInterpreter.print,
    ir.Assert: ThreadInterpreter.check,
    ir.Return: ThreadInterpreter.leave_kernel,
}
