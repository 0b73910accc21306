# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Lowers `cg.random` to Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) in the
IR.

A number is a function of the seed, the parallel loop (0: outside any loop), the iteration, and how many numbers the
iteration drew before. Each call passes the seed as the parameter "random.seed". If a Conditional repeats, the count of
all rounds so far enters too. The numbers are thus the same on all machines and for all grids.

A function that draws gets the count and the other numbers as parameters, and returns the new count:

    call f(x)  =>  found = call f(x, draws, loop, low, high); draws = the last result of found
"""

from __future__ import annotations

from collections.abc import Iterable

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.builder import Builder
from cuda_graphs.compiler.ir.types import ScalarType, bool_, f32, f64, i64, u32, u64

from .copy import FunctionCopier

__all__ = ["SEED", "lower_random", "philox"]

SEED = "random.seed"
ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)  # added to the key from round to round


def lower_random(kernel: ir.Kernel) -> ir.Kernel:
    """Returns the kernel with operations in place of random draws."""
    if not draws(ir.walk_called(kernel.body)):
        return kernel
    seed = ir.Param(SEED, u64)
    return ir.replace(kernel, params=(*kernel.params, seed), body=_Lowering(seed).kernel(kernel.body))


def draws(statements: Iterable[ir.Statement]) -> bool:
    """Returns whether one of the statements draws a number."""
    return any(isinstance(each, ir.Random) for each in statements)


class _Drawing:
    """The state of a function that draws: its parameters, and the local that counts."""

    def __init__(self) -> None:
        self.count = ir.Local("draws", u32)
        self.params = tuple(ir.Param(f"random.{name}", u32) for name in ("draws", "loop", "low", "high"))


class _Lowering(FunctionCopier):
    """Replaces random draws.

    count     local that counts the draws of an iteration
    task, at  number of the loop, number of the iteration
    rounds    local that counts the rounds of all conditionals
    drawing   the state of each function that draws, or calls one that does
    """

    def __init__(self, seed: ir.Param) -> None:
        super().__init__()
        self.seed, self.loops = seed, 0
        self.count = ir.Local("draws", u32)
        self.task, self.at = 0, ir.Const(0, u64)  # type: tuple[int, ir.Value]
        self.rounds: ir.Local | None = None
        self.drawing: dict[ir.Function, _Drawing] = {}

    def kernel(self, body: ir.Block) -> ir.Block:
        serial = [s for s in body.body if not (isinstance(s, ir.For) and s.parallel)]
        counts = [self.count] if draws(ir.walk_called(ir.Block(serial))) else []
        if any(isinstance(s, ir.Conditional) and s.kind in ir.LOOPS for s in ir.walk(body)):
            self.rounds = ir.Local("rounds", u32)
            counts.append(self.rounds)
        called = (each for each in ir.functions_of(body) if draws(ir.walk_called(each.body)))
        self.drawing = {each: _Drawing() for each in called}
        copy = self.block(body)
        return ir.Block([*(ir.Set(each, ir.Const(0, u32)) for each in counts), *copy.body])

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        if not (isinstance(statement, ir.For) and statement.parallel):
            return super().statement(statement)
        outer = self.count, self.task, self.at
        self.loops += 1
        prologue = Builder()
        self.count, self.task = ir.Local("draws", u32), self.loops
        axes = tuple(self.part(axis) for axis in statement.axes)
        self.at = iteration(prologue, axes)
        prologue.put(ir.Set(self.count, ir.Const(0, u32)))
        body = ir.Block([*prologue.block.body, *self.block(statement.body).body])
        self.count, self.task, self.at = outer
        return [ir.replace(statement, axes=axes, body=body)]

    def Conditional(self, conditional: ir.Conditional) -> list[ir.Statement]:  # noqa: N802
        if conditional.kind not in ir.LOOPS or self.rounds is None:
            return [conditional]
        prologue = Builder()
        before = prologue.put(ir.Get(self.rounds))
        prologue.put(ir.Set(self.rounds, prologue.op("add", before, ir.Const(1, u32))))
        (body,) = conditional.blocks
        return [ir.replace(conditional, blocks=(ir.Block([*prologue.block.body, *body.body]),))]

    def Random(self, random: ir.Random) -> list[ir.Statement]:  # noqa: N802
        builder = Builder()
        builder.loc = random.loc
        count = self.counter()
        drawn = builder.put(ir.Get(count))
        builder.put(ir.Set(count, builder.op("add", drawn, ir.Const(1, u32))))
        counter = [drawn, *self.place(builder)]
        found = number(builder, philox(builder, counter, halves(builder, self.seed)), random.type)
        body = builder.block.body
        body.remove(found)  # the last statement is the value; nothing after it uses it
        return [*body, found]

    def counter(self) -> ir.Local:
        return self.count if self.function is None else self.drawing[self.function].count

    def place(self, builder: Builder) -> tuple[ir.Value, ...]:
        """Returns the number of the loop, and the two words of the iteration."""
        if self.function is not None:
            return self.drawing[self.function].params[1:]
        low, high = halves(builder, self.at)
        if self.rounds is not None and self.task:
            high = builder.op("bit_xor", high, builder.put(ir.Get(self.rounds)))
        return ir.Const(self.task, u32), low, high

    # Functions that draw

    def shell(self, function: ir.Function) -> ir.Function:
        found = self.drawing.get(function)
        if found is None:
            return super().shell(function)
        begin = ir.Block([ir.Set(found.count, found.params[0])])
        params, results = (*function.params, *found.params), (*function.results, u32)
        return ir.replace(function, params=params, results=results, body=begin)

    def Call(self, call: ir.Call) -> list[ir.Statement]:  # noqa: N802
        (made,) = super().Call(call)
        if call.function not in self.drawing:
            return [made]
        assert isinstance(made, ir.Call)
        builder = Builder()
        builder.loc = call.loc
        args = (*call.args, builder.put(ir.Get(self.counter())), *self.place(builder))
        found = builder.put(ir.replace(made, args=args))
        drawn = builder.put(ir.Result(found, len(call.function.results), u32, call.loc))
        builder.put(ir.Set(self.counter(), drawn))
        return builder.block.body

    def value_of(self, made: list[ir.Statement]) -> ir.Value:
        call = next((each for each in made if isinstance(each, ir.Call)), None)
        return super().value_of(made) if call is None else call

    def Return(self, end: ir.Return) -> list[ir.Statement]:  # noqa: N802
        if self.function not in self.drawing:
            return [end]
        drawn = ir.Get(self.counter())
        return [drawn, ir.replace(end, values=(*end.values, drawn))]


def iteration(b: Builder, axes: tuple[ir.Axis, ...]) -> ir.Value:
    """Returns the number of the iteration in the order of a serial loop."""
    total: ir.Value = ir.Const(0, i64)
    for axis in axes:
        begin, end, at = (b.cast(each, i64) for each in (axis.begin, axis.end, axis.index))
        size = ir.Const(abs(axis.step), i64)
        span = b.op("sub", end, begin) if axis.step > 0 else b.op("sub", begin, end)
        count = b.op("trunc_div", b.op("add", span, ir.Const(abs(axis.step) - 1, i64)), size)
        done = b.op("trunc_div", b.op("sub", at, begin) if axis.step > 0 else b.op("sub", begin, at), size)
        total = b.op("add", b.op("mul", total, count), done)
    return b.cast(total, u64)


def halves(b: Builder, value: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Returns the (low, high) 32 bits."""
    return b.cast(value, u32), b.cast(b.op("shift_right", value, ir.Const(32, u64)), u32)


def philox(b: Builder, counter: list[ir.Value], key: tuple[ir.Value, ir.Value]) -> list[ir.Value]:
    """Returns four words computed from the four words of the counter and the two words of the key."""
    for round_ in range(ROUNDS):
        if round_:
            key = (b.op("add", key[0], ir.Const(WEYL[0], u32)), b.op("add", key[1], ir.Const(WEYL[1], u32)))
        low, high = zip(*(product(b, counter[2 * i], MULTIPLIERS[i]) for i in range(2)))
        counter = [
            b.op("bit_xor", b.op("bit_xor", high[1], counter[1]), key[0]),
            low[1],
            b.op("bit_xor", b.op("bit_xor", high[0], counter[3]), key[1]),
            low[0],
        ]
    return counter


def product(b: Builder, word: ir.Value, factor: int) -> tuple[ir.Value, ir.Value]:
    return halves(b, b.op("mul", b.cast(word, u64), ir.Const(factor, u64)))


def number(b: Builder, words: list[ir.Value], type: ScalarType) -> ir.Value:
    """Converts random words to a number of the type: a float in [0, 1), or any integer."""
    if type.size == 8:
        both = b.op(
            "bit_or", b.cast(words[0], u64), b.op("shift_left", b.cast(words[1], u64), ir.Const(32, u64))
        )
        if type.kind != "float":
            return b.cast(both, type)
        return b.op("mul", b.cast(b.op("shift_right", both, ir.Const(11, u64)), f64), ir.Const(2.0**-53, f64))
    if type.kind == "float":  # only as many bits as the type has, so that no number rounds up to 1
        bits = {"f32": 24, "f16": 11, "bf16": 8}[type.name]
        whole = b.cast(b.op("shift_right", words[0], ir.Const(32 - bits, u32)), f32)
        return b.cast(b.op("mul", whole, ir.Const(2.0**-bits, f32)), type)
    if type == bool_:
        return b.cast(b.op("shift_right", words[0], ir.Const(31, u32)), bool_)
    return b.cast(words[0], type)
