# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loops of resident tasks that the threads of the driver share, as they share the blocks of a launch.

One thread runs resident tasks. It offers each loop of more than SHARE iterations to the driver (`share` of
cgh_services, hostdriver/image_loader.h). The driver calls the function of the task for pieces of the loop on several
threads, and returns when all are done. It may also refuse; then the thread runs the loop. The driver measures the cost
of the loop, and writes to its cgh_loop_cost how many blocks are too few. A loop of so few blocks is offered in one of
sixteen runs, since its cost may change: an offer takes 8 ns, and a loop over 256 floats 12 ns.
"""

from __future__ import annotations

from cuda_graphs.compiler.artifact import settings_of
from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.ir import ir

__all__ = ["offer"]

SHARE = 128  # iterations of a block, as in launches (kernels/shapes.py)
MOST_BLOCKS = 1 << 20
SMALL_BLOCKS, RUNS = 4, 8  # offsets of cgh_loop_cost
COST = "[3 x i32]"
RUNS_PER_OFFER = 16  # a power of two


def offer(e: Emitter, task: ir.Task, loop: ir.For, grid: str, whole: str) -> None:
    """Emit the offer of a loop of `whole` iterations, or blocks, to the driver.

    If the driver accepts, the function returns. Otherwise its next instructions run the loop. Calls for pieces, whose
    grid is larger than 1, offer nothing.
    """
    count, ask, accepted, alone = (e.label(stem) for stem in ("count", "offer", "accepted", "alone"))
    blocks = blocks_of(e, task, loop, whole)
    cost = f"@{task.name}.cost"
    e.declare(cost, f"{cost} = internal global {COST} zeroinitializer")
    several = e.let(f"icmp ugt i32 {blocks}, 1")
    first = e.let(f"icmp eq i32 {grid}, 1")
    e.jump_if(e.let(f"select i1 {several}, i1 {first}, i1 false"), count, alone)
    e.start(count)
    e.jump_if(is_small(e, cost, blocks), alone, ask)
    e.start(ask)
    given = [("ptr", f"@{task.name}"), ("ptr", "%launch"), ("ptr", "%params"), ("i32", blocks), ("ptr", cost)]
    e.jump_if(e.let(f"icmp ne i32 {e.call('cgh_share', 'i32', given)}, 0"), accepted, alone)
    e.start(accepted)
    e.line("ret void")
    e.start(alone)


def blocks_of(e: Emitter, task: ir.Task, loop: ir.For, whole: str) -> str:
    """Emit the number of blocks; return it, an i32."""
    if not loop.block_dim:
        whole = e.let(f"udiv i64 {e.let(f'add i64 {whole}, {SHARE - 1}')}, {SHARE}")
    most = settings_of(task).parallelize or MOST_BLOCKS
    return e.let(f"trunc i64 {e.call('llvm.umin.i64', 'i64', [('i64', whole), ('i64', str(most))])} to i32")


def is_small(e: Emitter, cost: str, blocks: str) -> str:
    """Emit the test whether this run of a loop is not offered, since it is small; return its value."""

    def at(offset: int) -> str:
        return f"ptr getelementptr (i8, ptr {cost}, i64 {offset})"

    run = e.let(f"load i32, {at(RUNS)}")
    e.line(f"store i32 {e.let(f'add i32 {run}, 1')}, {at(RUNS)}")
    fits = e.let(f"icmp ule i32 {blocks}, {e.let(f'load i32, {at(SMALL_BLOCKS)}')}")
    waits = e.let(f"icmp ne i32 {e.let(f'urem i32 {run}, {RUNS_PER_OFFER}')}, 0")
    return e.let(f"and i1 {fits}, {waits}")
