# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Finds arrays whose changes threads or blocks may collect before they apply them (bins.py): `bins[x[i]] += 1`.

The rules are those of privatise_atomics, applied to all elements of the array at once. The loop changes the array only
by atomics of one kind whose old values are unused. Memory that may alias it is not touched in another way, except by
loads that come first. A loop that an assert may end keeps its atomics, because the collected changes would be lost.
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir

from .alias_classes import Aliases, aliases_of
from .privatise_atomics import LoopAccesses

__all__ = ["BIN_BYTES", "COPIES_BYTES", "mark_bins"]

BIN_BYTES = 1 << 14  # of the bins of one array in the shared memory of a block
COPIES_BYTES = 1 << 15  # of all bins of a task and of their copies, if a block has so much
MAX_ARRAYS = 2  # the most arrays with bins in one loop


def mark_bins(program: ir.Program) -> ir.Program:
    """Returns the program with `bins` in its tasks; such a task reads the extents of these arrays first."""
    aliases = aliases_of(program.apart)
    return ir.replace(program, tasks=tuple(mark_task(task, aliases) for task in program.tasks))


def mark_task(task: ir.Task, aliases: Aliases) -> ir.Task:
    """Returns the task with `bins`: an atomic of each such array."""
    found = () if task.loop is None else bin_atomics(task, task.loop, aliases)
    if not 0 < len(found) <= MAX_ARRAYS:
        return task
    extents: list[ir.Statement] = [
        ir.Extent(atomic.array, axis, loc=atomic.loc)
        for atomic in found
        if isinstance(atomic.array, ir.Array)
        for axis in range(atomic.array.ndim - len(atomic.array.inner))
    ]
    return ir.replace(task, body=ir.Block([*extents, *task.body.body]), bins=found)


def bin_atomics(task: ir.Task, loop: ir.For, aliases: Aliases) -> tuple[ir.Atomic, ...]:
    """Returns one atomic of each array whose atomics may all be done later."""
    statements = list(ir.walk(loop.body))
    if loop.block_dim or any(isinstance(s, (ir.Assert, ir.Exit)) for s in ir.walk_called(loop.body)):
        return ()
    accesses = LoopAccesses(task, statements, aliases)
    deferrable = set(accesses.deferrable())
    atomics: dict[ir.Array, list[ir.Atomic]] = {}
    for s in accesses.accesses:
        if isinstance(s, ir.Atomic) and isinstance(s.array, ir.Array):
            atomics.setdefault(s.array, []).append(s)
    return tuple(all_[0] for all_ in atomics.values() if deferrable.issuperset(all_))
