# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loads of an entry that come before its wait for the kernels that it follows.

An early entry may begin while the kernels before it still run. It first lets the kernels after it begin, then loads
what no running kernel writes, and waits. All other accesses, and all stores, come after the wait. Each thread waits, so
the entry ends after the kernels that it follows, and a kernel that waits for its end waits for theirs, too.

Only the first iterations of a thread have early loads, since all later ones come after the wait anyway:

    if (thread < count) c = load c[thread];
    wait;
    if (thread < count) store b[thread] = load b[thread] * 1.01 + c;
    for (i = thread + threads; i < count; i += threads) ...
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set

from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.codegen.llvm.notation import llvm_type
from cuda_graphs.compiler.ir import ir

__all__ = ["PURE", "EarlyLoads", "let_next_launch_begin", "needs_of", "wait_for_previous_launch"]

PURE = (ir.Op, ir.Load, ir.Extent)
MOST_LOADS = 16  # loads of a thread that wait in registers


def wait_for_previous_launch(e: Emitter) -> None:
    """Emit a wait for the end of the kernels that this one follows, and for their writes."""
    control(e, "griddepcontrol.wait")


def let_next_launch_begin(e: Emitter) -> None:
    """Emit that the kernels after this one may begin."""
    control(e, "griddepcontrol.launch_dependents")


def control(e: Emitter, instruction: str) -> None:
    # Inline PTX, as LLVM's intrinsics are declared without memory effects: loads could move before them.
    e.line(f'call void asm sideeffect "{instruction};", "~{{memory}}"()')


def needs_of(statements: Sequence[ir.Statement], values: Iterable[ir.Value]) -> list[ir.Statement]:
    """Return the statements of a straight line that compute some of its values."""
    needed: set[object] = set(values)
    for each in reversed(statements):
        if each in needed:
            needed.update(ir.operands_of(each))
    return [each for each in statements if each in needed]


class EarlyLoads:
    """Emitter of the wait of an entry, and of the loads before it.

    Args:
        paths: The arrays that no kernel writes which may still run when the entry begins.

    Attributes:
        is_pending: Whether the wait is still to be emitted.
    """

    def __init__(self, e: Emitter, paths: Set[str]) -> None:
        self.e, self.paths, self.is_pending = e, paths, True

    def wait(self) -> None:
        """Emit the wait, unless that was done."""
        if self.is_pending:
            wait_for_previous_launch(self.e)
            self.is_pending = False

    def begin(self, task: ir.Task) -> list[ir.Statement]:
        """Emit the early statements before the loop of a task, and return all statements that are left.

        The wait stays pending if nothing but the loop needs it.
        """
        statements = list(task.body.body)
        count = len(statements) if task.loop is None else statements.index(task.loop)
        early = statements[:count]
        late: list[ir.Statement] = []
        if not all(self.is_harmless(each) for each in early):
            early, late = self.divided(early)
        self.e.statements(early)
        if late or task.loop is None or task.bins or task.loop.block_dim:
            self.wait()
        return [*late, *statements[count:]]

    def is_harmless(self, statement: ir.Statement) -> bool:
        """Return whether a statement accesses no memory but that of free arrays and of the thread."""
        if isinstance(statement, ir.Load):
            return self.is_free(statement)
        return isinstance(statement, (ir.Op, ir.Extent, ir.Get, ir.Set))

    def for_loop(self, loop: ir.For, width: int) -> EarlyLoads | None:
        """Return this object if the first `width` iterations of a thread have early loads. Else wait."""
        early, _ = self.divided(loop.body.body)
        loads = width * sum(isinstance(each, ir.Load) for each in early)
        if self.is_pending and len(loop.axes) == 1 and 0 < loads <= MOST_LOADS:
            return self
        self.wait()
        return None

    def divided(self, statements: Sequence[ir.Statement]) -> tuple[list[ir.Statement], list[ir.Statement]]:
        """Return the early loads with what they need, and the rest."""
        early: list[ir.Statement] = []
        late: set[object] = set()
        for each in statements:
            if not isinstance(each, PURE):
                break
            if late.isdisjoint(ir.operands_of(each)) and (
                not isinstance(each, ir.Load) or self.is_free(each)
            ):
                early.append(each)
            else:
                late.add(each)
        early = needs_of(early, [each for each in early if isinstance(each, ir.Load)])
        taken = set(early)
        return early, [each for each in statements if each not in taken]

    def is_free(self, load: ir.Load) -> bool:
        return load.array.space is ir.Space.PARAM and load.array.path in self.paths

    def peel(
        self, loop: ir.For, condition: str, places: Sequence[Callable[[], None]], metadata: Sequence[str] = ()
    ) -> None:
        """Emit the first iterations of a thread, around the wait, if `condition` holds; else only the wait.

        Args:
            places: Set the index of the loop, one for each of the iterations.
            metadata: That of their accesses.
        """
        e = self.e
        early, late = self.divided(loop.body.body)
        entry, loads, loaded, merged, rest, after = (
            e.label(stem) for stem in ("entry", "early", "loaded", "merged", "late", "after")
        )
        indices = []
        for place in places:
            place()
            indices.append(e.wide[loop.axes[0].index])
        e.jump(entry)
        e.start(entry)
        e.jump_if(condition, loads, merged)
        e.start(loads)
        found = []
        for number, index in enumerate(indices):
            e.wide[loop.axes[0].index] = index
            e.metadata = metadata[number] if metadata else ""
            e.statements(early)
            found.append({each: e.names[each] for each in early if each in e.names})
        e.jump(loaded)
        e.start(loaded)
        e.jump(merged)
        e.start(merged)
        for names in found:
            for each, name in names.items():
                kind = llvm_type(each.type)  # type: ignore[attr-defined]
                names[each] = e.let(f"phi {kind} [ {name}, %{loaded} ], [ poison, %{entry} ]")
        self.wait()
        e.jump_if(condition, rest, after)
        e.start(rest)
        e.loops.append((after, after))
        for number, (index, names) in enumerate(zip(indices, found, strict=True)):
            e.wide[loop.axes[0].index] = index
            e.metadata = metadata[number] if metadata else ""
            e.names.update(names)
            e.statements(late)
        e.metadata = ""
        e.loops.pop()
        e.jump(after)
        e.start(after)
