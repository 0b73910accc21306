# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Cuts the body of a loop of blocks into regions. Each thread executes a region alone; threads synchronise in between.

    a = load x[t]; barrier; b = load s[t+1]; c = add a, b  =>  each thread: a = load x[t]; set v = a
                                                               barrier
                                                               each thread: b = load s[t+1]; c = add get v, b

Statements between regions have the same effect in all threads (uniform.py). Some machines execute them once per block.
They are the If, For and While around collectives, and the variables and values that decide them. If lanes of a warp
take an `if` around a warp collective differently, the `if` moves into the regions, and the collective gets a mask.

A value that another region uses is recomputed there if it depends only on indices and parameters. Otherwise a local
carries it.
"""

from __future__ import annotations

from collections.abc import Iterator

from cuda_graphs.compiler.errors import CompileBarrierError, compile_error
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.ir.collectives import COLLECTIVES
from cuda_graphs.compiler.ir.ops import OPS
from cuda_graphs.compiler.ir.types import bool_

from .agree_at_barriers import agree_at_barriers, scope_of
from .copy import Copier
from .uniform import Uniformity

__all__ = ["split_at_barriers"]

MAX_PARTS = 24  # the most operations and operands of a value that is recomputed rather than carried
# Operations that are never recomputed: functions of the machine, divisions, powers.
COSTLY = {
    row.name for row in OPS.values()
    if any(text.startswith("!") for text in row.llvm.values()) or row.name.endswith(("_pow", "div", "sqrt"))
}  # fmt: skip


def split_at_barriers(program: ir.Program, agrees: bool = False, has_warps: bool = False) -> ir.Program:
    """Returns the program with the loops of blocks in regions. Raises CompileError if threads would not synchronise.

    With `agrees`, threads that decide differently around a barrier agree first (agree_at_barriers.py). `has_warps`:
    warps of a block may go different ways on the machine.
    """
    return ir.replace(program, tasks=tuple(split(task, agrees, has_warps) for task in program.tasks))


def split(task: ir.Task, agrees: bool, has_warps: bool) -> ir.Task:
    if task.loop is None or not task.loop.block_dim:
        return task
    of_warps: set[ir.Statement] = set()
    if agrees:
        task, of_warps = agree_at_barriers(task, has_warps)
    loop = task.loop
    assert loop is not None
    splitter = Splitter(loop, of_warps)
    body = RegionCopier(splitter.build(), splitter).build()
    made = ir.replace(loop, body=body)
    return ir.replace(task, body=ir.Block([made if s is loop else s for s in task.body.body]), loop=made)


def collectives_in(statement: ir.Statement) -> Iterator[ir.Barrier | ir.Collective]:
    """Yields the collectives in a statement."""
    for each in ir.walk(ir.Block([statement])):
        if isinstance(each, (ir.Barrier, ir.Collective)):
            yield each


def name_of(statement: ir.Barrier | ir.Collective) -> str:
    return f"cg.{statement.scope}.sync" if isinstance(statement, ir.Barrier) else f"cg.{statement.name}"


# Values that cannot be recomputed in another region.
NOT_RECOMPUTED = (ir.Get, ir.Load, ir.Atomic, ir.Op, ir.Call, ir.Result)


class Splitter:
    """Decides which statements stand between regions, and builds the body with regions.

    between          statements between regions, and locals that are one variable for all threads
    results          collective -> local with its result for each thread
    uniform_results  read of a result that is the same for all threads -> its collective
    of_warps         what the lanes of a warp decide together: the machine has warps that go different ways
    """

    def __init__(self, loop: ir.For, of_warps: set[ir.Statement]) -> None:
        self.loop, self.uniformity, self.of_warps = loop, Uniformity(loop, of_warps), of_warps
        self.between: set[ir.Statement | ir.Local] = {loop}
        self.results: dict[ir.Value, ir.Local] = {}
        self.uniform_results: dict[ir.Value, ir.Value] = {}
        self.masked_regions: set[ir.Region] = set()  # regions that end with an `if` of the mask
        self.open: list[ir.Statement] = []  # statements of the region under construction
        self.mask: ir.Local | None = None
        self.check_control_flow(loop.body)
        self.last = self.find_divergent_exit()
        self.mark_between_regions()

    def build(self) -> ir.Block:
        """Returns the body. All statements from the first partial exit on form one region."""
        body = self.loop.body.body
        made = self.block(ir.Block(body[: self.last]))
        self.open += body[self.last :]
        self.close(made.body)
        return made

    # Checks

    def check_control_flow(self, body: ir.Block) -> None:
        for statement in body.body:
            found = next(collectives_in(statement), None)
            if found is None or statement is found:
                continue
            assert isinstance(statement, (ir.If, ir.For, ir.While))
            if not self.uniformity.is_uniform(statement):
                refuse_divergence(statement, found)
            for inner in ir.blocks_of(statement):
                self.check_control_flow(inner)

    def find_divergent_exit(self) -> int:
        """Returns the number of the first statement at which some threads may leave; no collective may follow it."""
        body = self.loop.body.body
        at, leaver = next(
            ((n, s) for n, each in enumerate(body) for s in self.divergent_exits(each)), (len(body), None)
        )
        for statement in body[at:]:
            for found in collectives_in(statement):
                assert leaver is not None
                raise compile_error(
                    CompileBarrierError, leaver.loc, f"threads that leave here do not reach {name_of(found)} of line "
                    f"{ir.line_of(found.loc)}",
                    "put the work that they skip under an `if`; leave barriers, reductions and shuffles outside of it",
                )  # fmt: skip
        return at

    def divergent_exits(self, statement: ir.Statement, divergent: bool = False) -> Iterator[ir.Statement]:
        """Yields the places at which some threads leave the body and others do not."""
        if isinstance(statement, ir.Continue) and divergent:
            yield statement
        if isinstance(statement, ir.If):
            divergent = divergent or not self.uniformity.is_uniform(statement)
            for inner in (*statement.then.body, *statement.orelse.body):
                yield from self.divergent_exits(inner, divergent)

    # Statements between regions

    def mark_between_regions(self) -> None:
        """Fills `between`: the control flow around collectives, and the values that decide it."""
        known = -1
        while known != len(self.between):
            known = len(self.between)
            self.mark_block(ir.Block(self.loop.body.body[: self.last]), self.loop, False)

    def mark_block(self, block: ir.Block, loop: ir.For | ir.While, divergent: bool) -> bool:
        """Returns whether a statement of the block stands between regions. `divergent`: it is under a divergent if."""
        found = False
        for statement in block.body:
            inner = statement if isinstance(statement, (ir.For, ir.While)) else loop
            decided = (
                not isinstance(statement, (ir.If, ir.For, ir.While))
                or self.uniformity.is_uniform(statement)
            )  # fmt: skip
            inner_marks = [
                self.mark_block(each, inner, divergent or not decided) for each in ir.blocks_of(statement)
            ]
            if any(inner_marks) or self.is_between_regions(statement, loop, divergent):
                self.between.add(statement)
            if statement in self.between:
                found = True
                if isinstance(statement, (ir.If, ir.For, ir.While)) and decided and not divergent:
                    self.mark_operands(statement)
        return found

    def is_between_regions(self, statement: ir.Statement, loop: ir.For | ir.While, divergent: bool) -> bool:
        match statement:
            case ir.Barrier() | ir.Collective():
                return True
            case ir.Set() if statement.local in self.between:
                self.mark_operands(statement)
                return True
            case ir.Break() | ir.Continue():
                return loop in self.between and not divergent
        return False

    def mark_operands(self, statement: ir.Statement) -> None:
        """Adds the operands of a statement to `between`, recursively."""
        for value in ir.operands_of(statement):
            if isinstance(value, (ir.Const, ir.Param, ir.LoopIndex)) or value in self.between:
                continue
            self.between.add(value)
            if isinstance(value, ir.Get):
                self.between.add(value.local)
            self.mark_operands(value)

    # Cutting

    def block(self, block: ir.Block) -> ir.Block:
        """Returns the block with regions."""
        made: list[ir.Statement] = []
        for statement in block.body:
            if statement in self.between:
                self.step(statement, made)
            else:
                self.open.append(statement)
        self.close(made)
        return ir.Block(made)

    def close(self, made: list[ir.Statement]) -> None:
        """Ends the region under construction."""
        if self.open:
            made.append(self.region(self.under_mask(self.open)))
        self.open = []

    def region(self, body: list[ir.Statement]) -> ir.Region:
        made = ir.Region(ir.Block(body))
        if self.mask is not None:
            self.masked_regions.add(made)
        return made

    def under_mask(self, body: list[ir.Statement]) -> list[ir.Statement]:
        if self.mask is None:
            return body
        here = ir.Get(self.mask)
        return [here, ir.If(here, ir.Block(body), ir.Block())]

    def step(self, statement: ir.Statement, made: list[ir.Statement]) -> None:
        match statement:
            case ir.Op() | ir.Extent() | ir.Position() | ir.Get():
                made.append(statement)  # before the region: its operands already exist there
                return
            case ir.Collective():
                self.region_collective(statement, made)
                return
        self.close(made)
        match statement:
            case ir.If() if self.mask is not None or not self.uniformity.is_uniform(statement):
                self.mask_branches(statement, made)
            case ir.If() | ir.For() | ir.While():
                blocks = {n: self.block(getattr(statement, n)) for n in BLOCKS[type(statement)]}
                made.append(ir.replace(statement, **blocks))  # type: ignore[arg-type]
            case _:
                made.append(statement)

    def region_collective(self, statement: ir.Collective, made: list[ir.Statement]) -> None:
        row, args = COLLECTIVES[statement.name], list[ir.Local | ir.Value]()
        for arg in statement.args:
            if isinstance(arg, ir.Const):
                args.append(arg)
                continue
            given = ir.Local(f"{statement.name}.given", arg.type)
            self.open.append(ir.Set(given, arg, statement.loc))
            args.append(given)
        self.close(made)
        result = ir.Local(statement.name, statement.type)
        uniform = row.scope == "block" or statement in self.of_warps
        made.append(
            ir.RegionCollective(statement.name, result, tuple(args), self.mask, uniform, statement.loc)
        )
        if uniform:
            found = ir.Get(result, statement.loc)
            made.append(found)
            self.uniform_results[found] = statement
        else:
            self.results[statement] = result

    def mask_branches(self, statement: ir.If, made: list[ir.Statement]) -> None:
        """Moves an `if` into the regions of its branches."""
        outer, then, orelse = self.mask, ir.Local("then", bool_), ir.Local("else", bool_)
        other = ir.Op("not", (statement.condition,), bool_)
        decided = [ir.Set(then, statement.condition), other, ir.Set(orelse, other)]
        first = [ir.Set(then, ir.FALSE), ir.Set(orelse, ir.FALSE)] if outer is not None else []
        made.append(self.region([*first, *self.under_mask(decided)]))
        for self.mask, branch in ((then, statement.then), (orelse, statement.orelse)):
            made += self.block(branch).body
        self.mask = outer


# Names of the blocks of control flow.
BLOCKS = {ir.If: ("then", "orelse"), ir.For: ("body",), ir.While: ("head", "body")}


def refuse_divergence(statement: ir.If | ir.For | ir.While, found: ir.Barrier | ir.Collective) -> None:
    """Raises CompileBarrierError for a collective under divergent control flow; warp collectives in an `if` pass."""
    if not isinstance(statement, ir.If):
        why = (
            f"a loop that threads of a block may leave at different times (line {ir.line_of(statement.loc)})"
        )
        remedy = "make bounds and conditions the same in all threads, for example by cg.block.any(condition)"
        raise compile_error(
            CompileBarrierError,
            found.loc,
            f"{name_of(found)} in {why}: some threads would wait forever",
            remedy,
        )
    for each in collectives_in(statement):
        if scope_of(each) == "block":
            raise compile_error(
                CompileBarrierError, each.loc, f"{name_of(each)} under an `if` that threads of a block may decide "
                f"differently (line {ir.line_of(statement.loc)}): some threads would wait forever",
                "move it after the `if`, or use a condition that is the same in all threads: cg.block.any(condition)",
            )  # fmt: skip
    for inner in ir.walk(ir.Block([statement])):
        if isinstance(inner, (ir.For, ir.While)) and next(collectives_in(inner), None) is not None:
            raise compile_error(
                CompileBarrierError, found.loc, f"{name_of(found)} in a loop under an `if` that threads of a block may "
                f"decide differently (line {ir.line_of(statement.loc)})",
                "put the `if` into the loop",
            )  # fmt: skip


class RegionCopier(Copier):
    """Copies the body with regions. A region recomputes a value of another region, or gets it from a local.

    home    value -> its region
    carried  value that other regions use and cannot recompute -> local
    """

    def __init__(self, body: ir.Block, splitter: Splitter) -> None:
        super().__init__()
        self.body, self.results, self.uniform_results = body, splitter.results, splitter.uniform_results
        self.masked_regions = splitter.masked_regions
        self.home: dict[ir.Value, ir.Region] = {}
        self.carried: dict[ir.Value, ir.Local] = {}
        self.region: ir.Region | None = None
        self.prologue: list[ir.Statement] = []
        regions = [s for s in ir.walk(body) if isinstance(s, ir.Region)]
        for region in regions:
            self.home |= {s: region for s in ir.walk(region.body) if isinstance(s, ir.Value)}
        for region in regions:
            for statement in ir.walk(region.body):
                for value in ir.operands_of(statement):
                    self.carry(value, region)

    def build(self) -> ir.Block:
        return self.block(self.body)

    def carry(self, value: ir.Value, region: ir.Region) -> None:
        if self.home.get(value, region) is not region and not self.is_cheap(value):
            self.carried.setdefault(value, ir.Local("carried", value.type))

    def is_cheap(self, value: ir.Value) -> bool:
        """Returns whether a few operations compute the value from indices and parameters."""
        count, left = 0, [value]
        while left:
            each = left.pop()
            count += 1
            if isinstance(each, ir.Op) and each in self.home and each.name not in COSTLY:
                left += each.args
            elif each in self.results or (each in self.home and isinstance(each, NOT_RECOMPUTED)):
                return False
        return count <= MAX_PARTS

    def part(self, part: object) -> object:
        if isinstance(part, ir.Value) and self.region is not None and self.is_elsewhere(part):
            return self.fetch(part)
        return super().part(part)

    def is_elsewhere(self, value: ir.Value) -> bool:
        """Returns whether the value belongs to another region and has not been fetched yet."""
        return value not in self.values and (
            value in self.results or self.home.get(value, self.region) is not self.region
        )

    def fetch(self, value: ir.Value) -> ir.Value:
        """Fetches a value of another region, at the front of this region, and returns it."""
        local = self.results.get(value) or self.carried.get(value)
        if local is not None:
            made: ir.Value = ir.Get(local, value.loc)
        elif isinstance(value, ir.Op):
            made = ir.replace(value, args=tuple(self.part(arg) for arg in value.args))  # type: ignore[misc]
        else:
            made = ir.replace(value)  # type: ignore[type-var]
        self.prologue.append(made)
        self.values[value] = made
        return made

    def statement(self, statement: ir.Statement) -> list[ir.Statement]:
        if isinstance(statement, ir.Region):
            return [self.copy_region(statement)]
        made = super().statement(statement)
        if isinstance(statement, ir.Get) and statement in self.uniform_results:
            self.values[self.uniform_results[statement]] = self.values[statement]
        if isinstance(statement, ir.Value) and statement in self.carried:
            made = [*made, ir.Set(self.carried[statement], self.values[statement], statement.loc)]
        return made

    def copy_region(self, region: ir.Region) -> ir.Region:
        outer, self.values, self.region, self.prologue = self.values, dict(self.values), region, []
        body = self.block(region.body)
        if region in self.masked_regions:  # only the threads of the mask fetch
            branch = body.body[-1]
            assert isinstance(branch, ir.If)
            branch.then.body[:0] = self.prologue
        else:
            body.body[:0] = self.prologue
        self.values, self.region = outer, None
        return ir.Region(body, region.loc)
