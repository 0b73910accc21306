# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Pieces: large statements of a CPU task, each of which becomes a function in a unit of its own.

LLVM compiles a function in one thread, and for one of thousands of statements it takes seconds. The pieces of a large
task are compiled at the same time, and are kept on disk one by one. A piece is a large loop or branch, or
neighbouring statements whose values no other statement uses:

    define hidden void @step_0_serial.piece2(ptr %launch, ptr %params, ptr noalias %shared, i64 %first, i64 %end,
                                             i64 %a0, float %a1, ptr %a2)

It receives the parameters of the task, and then what the code around it has computed: loop indices and extents in 64
bits, other values, and the addresses of variables that it shares with that code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from dataclasses import dataclass, field

from cuda_graphs.compiler.artifact import Inputs, Layout, Slot, shared_layout
from cuda_graphs.compiler.codegen.llvm.large_tasks import is_large
from cuda_graphs.compiler.codegen.llvm.notation import llvm_type
from cuda_graphs.compiler.codegen.llvm.target import Target
from cuda_graphs.compiler.ir import ir
from cuda_graphs.native.units import Unit

from .outer_loop_vectoriser import VectorEmitter
from .vectorisation_analysis import vectorisation_of
from .x86_functions import HIDDEN, PARAMETERS, function, passes_of, receive, unit_of

__all__ = ["PieceEmitter", "pieces_of"]

Piece = tuple[ir.Statement, ...]  # statements of one block, in order

PIECE = 400  # statements of a piece at least
PURE = (ir.Op, ir.Extent, ir.Result)
LEAVING = (ir.Exit, ir.Return, ir.Last)  # statements that a function of its own cannot contain


@dataclass
class Run:
    """Neighbouring statements that may become a piece. `until`: the number of the last one that uses their values."""

    statements: dict[ir.Statement, None] = field(default_factory=dict)
    size: int = 0
    until: int = -1


def pieces_of(task: ir.Task) -> list[Piece]:
    """Return the pieces of a task, those inside a piece before it."""
    found: list[Piece] = []

    def left(block: ir.Block) -> int:
        """Return the number of statements of a block that are not in a piece."""
        uses, run, count = last_uses(block), Run(), 0
        for number, statement in enumerate(block.body):
            own = 1 + sum(map(left, blocks_to_cut(statement)))
            if stays_outside(statement, run.statements):
                count += own
                continue
            stays = statement is task.loop or not is_closed(statement)
            if stays or (own >= PIECE and ir.blocks_of(statement)):
                count, run = count + run.size, Run()
            if stays:
                count += own
                continue
            run.statements[statement] = None
            run.size, run.until = run.size + own, max(run.until, uses.get(statement, -1))
            if run.size >= PIECE and run.until <= number:
                found.append(tuple(run.statements))
                run = Run()
        return count + run.size

    if is_large(task.body) and is_plain(task):
        left(task.body)
    return found


def blocks_to_cut(statement: ir.Statement) -> tuple[ir.Block, ...]:
    """Return the blocks inside a statement whose values no statement outside uses: not the head of a While."""
    return (statement.body,) if isinstance(statement, ir.While) else ir.blocks_of(statement)


def last_uses(block: ir.Block) -> dict[object, int]:
    """Return the number of the last statement of a block that uses a value, by value."""
    return {
        value: number
        for number, statement in enumerate(block.body)
        for each in ir.walk(ir.Block([statement]))
        for value in ir.operands_of(each)
    }


def stays_outside(statement: ir.Statement, run: Container[ir.Statement]) -> bool:
    """Return whether a statement between those of a piece can come before the call of the piece."""
    return isinstance(statement, PURE) and not any(each in run for each in ir.operands_of(statement))


def is_plain(task: ir.Task) -> bool:
    """Return whether a task has no lanes, no memory of its own, and no threads of a block."""
    is_block = task.loop is not None and task.loop.block_dim
    return not (is_block or task.bins or shared_layout(task.body)[1] or vectorisation_of(task))


def is_closed(statement: ir.Statement) -> bool:
    """Return whether control leaves a statement only at its end."""
    inside = ir.walk(ir.Block([statement]))
    return not leaves_loop(statement) and not any(isinstance(each, LEAVING) for each in inside)


def leaves_loop(statement: ir.Statement) -> bool:
    """Return whether a statement has a Break or a Continue of a loop around it."""
    if isinstance(statement, (ir.For, ir.While)):
        return False
    return isinstance(statement, (ir.Break, ir.Continue)) or any(
        leaves_loop(each) for block in ir.blocks_of(statement) for each in block.body
    )


class PieceEmitter(VectorEmitter):
    """Emitter of a task, or of a piece of it, which calls the pieces inside.

    Args:
        task: The task.
        slots: The parameters of the task.
        units: Receives the unit of each piece.
    """

    def __init__(
        self, target: Target, declarations: dict[str, str], task: ir.Task, slots: Layout, units: list[Unit]
    ) -> None:
        super().__init__(target, declarations)
        self.task, self.slots_of_task, self.units = task, slots, units
        self.pieces: dict[
            ir.Statement, tuple[str, Piece]
        ] = {}  # by statement: the name of its piece, and the piece
        self.uses: Counter[ir.Local] = Counter()  # statements of the task that use a variable
        self.parameters: list[str] = []  # of a piece, after those of the task

    def split(self, pieces: Iterable[Piece]) -> None:
        """Emit these pieces as functions."""
        for number, piece in enumerate(pieces):
            self.pieces.update(dict.fromkeys(piece, (f"{self.task.name}.piece{number}", piece)))
        self.uses = uses_of(self.task.body)

    def statements(self, statements: list[ir.Statement]) -> None:
        for statement in statements:
            name, piece = self.pieces.get(statement, ("", ()))
            if not piece:
                super().statements([statement])
            elif statement is piece[-1]:
                self.call_piece(name, piece)

    def call_piece(self, name: str, statements: Piece) -> None:
        """Emit a call of a piece, and the piece as a unit."""
        block, own = ir.Block(list(statements)), set(statements)
        piece = PieceEmitter(self.target, {}, self.task, self.slots_of_task, self.units)
        piece.pieces = {each: other for each, other in self.pieces.items() if each not in own}
        piece.uses, piece.alias_types, piece.workers = self.uses, self.alias_types, self.workers
        inputs, given = Inputs(block), list[str]()
        receive(piece, tuple(each for each in self.slots_of_task if is_used(*each, inputs)))

        def give(kind: str, register: str) -> str:
            given.append(f"{kind} {register}")
            piece.parameters.append(f"{kind} %a{len(given)}")
            return f"%a{len(given)}"

        for value in values_from_outside(block):
            if value in self.wide:
                piece.wide[value] = give("i64", self.wide[value])
            else:
                piece.names[value] = give(llvm_type(value.type), self.value(value))
        for local, count in uses_of(block).items():
            if count < self.uses[local]:
                piece.names[local] = give("ptr noalias nocapture", self.variable(local))
        piece.block(block)
        kinds = ", ".join(["ptr, ptr, ptr, i64, i64", *(each.rpartition(" ")[0] for each in given)])
        self.declare(name, f"declare {HIDDEN}void @{name}({kinds})")
        self.line(f"call void @{name}({', '.join([PARAMETERS, *given])})")
        text = function(piece, name, passes_of(block), HIDDEN, piece.parameters)
        self.units.append(unit_of(name, [text], piece.declarations))


def is_used(slot: Slot, what: ir.Array | ir.Param | ir.Condition, inputs: Inputs) -> bool:
    """Return whether the inputs of a piece have the parameter in a slot."""
    match what:
        case ir.Param():
            return what in inputs.params
        case ir.Condition():
            return what in inputs.conditions
    return what in inputs.arrays if slot.kind == "pointer" else (what, slot.axis) in inputs.extents


def values_from_outside(block: ir.Block) -> dict[ir.Value, None]:
    """Return the values that a block uses and does not compute, but for constants and parameters of the kernel."""
    found: dict[ir.Value, None] = {}
    own: set[object] = set()
    for statement in ir.walk(block):
        own.add(statement)
        own.update(axis.index for axis in getattr(statement, "axes", ()))
        found.update(dict.fromkeys(ir.operands_of(statement)))
    return {each: None for each in found if each not in own and not isinstance(each, (ir.Const, ir.Param))}


def uses_of(block: ir.Block) -> Counter[ir.Local]:
    """Return how many statements of a block read or write each variable."""
    return Counter(each.local for each in ir.walk(block) if isinstance(each, (ir.Get, ir.Set)))
