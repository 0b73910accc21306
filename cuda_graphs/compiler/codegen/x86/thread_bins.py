# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Private bins of each thread for `bins[x[i]] += 1` on the CPU.

An atomic addition takes long (13 ns of a core in a material point method), and longer if two threads share a cache
line. Each thread collects its additions in bins of its own, over all its pieces of the loop. It adds them to the array
once, at the end. The code chooses between bins and atomics by the number of atomics for each element and thread.

The driver gives each thread memory for its bins (`collect` of cgh_services, hostdriver/image_loader.h). After the last
piece of a thread it calls the task once more, without iterations.

The pass passes/mark_bins.py finds the arrays that may have bins.
"""

from __future__ import annotations

from collections.abc import Callable

from cuda_graphs.compiler.codegen.llvm.bins import Counts, add_bin, bin_counts, branch, identity
from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.codegen.llvm.notation import llvm_type
from cuda_graphs.compiler.ir import ir

__all__ = ["with_bins"]

MOST_BYTES = 1 << 24  # of the bins of a thread
REPAYS = 2  # atomics for each bin that pay for its initialisation and final addition
RARE = 8  # so many atomics under a condition count as one that each iteration does
ALIGNED = 64


def with_bins(
    e: Emitter, task: ir.Task, loop: ir.For, iterations: str, total: str, run: Callable[[], None]
) -> None:
    """Emit two versions of the code of `run`: of `iterations` iterations, in a loop of `total`.

    One has bins for the arrays of `task.bins`, the other none. If the task ends in statements that may read the array,
    each call adds its bins itself.
    """
    counts = bin_counts(e, task.bins)
    offsets, size = places(e, counts)
    blocks = e.let("sub i64 %end, %first")
    grid = e.let("load i32, ptr %launch")
    whole = e.let(f"icmp eq i64 {blocks}, {e.let(f'zext i32 {grid} to i64')}")
    is_new = e.slot("i32")
    alone = "true" if has_last(task) else whole
    threads = threads_that_gain(
        e, loop, counts, size, e.let(f"select i1 {alone}, i64 {iterations}, i64 {total}")
    )
    asked = [("i64", size), ("i64", threads), ("i32", e.let(f"zext i1 {alone} to i32")), ("ptr", is_new)]
    memory = e.call("cgh_collect", "ptr", asked)
    bins = {
        array: e.let(f"getelementptr i8, ptr {memory}, i64 {offset}") for array, offset in offsets.items()
    }

    def own() -> None:
        arrays = e.addresses.copy()
        branch(e, e.let(f"icmp ne i32 {e.let(f'load i32, ptr {is_new}')}, 0"), fill, lambda: None)
        e.addresses |= bins
        e.private = frozenset(bins)
        run()
        e.private = frozenset()
        e.addresses = arrays
        ends = e.let(f"or i1 {alone}, {e.let(f'icmp eq i64 {blocks}, 0')}")
        branch(e, ends, add, lambda: None)

    def fill() -> None:
        for (array, atomic), count in counts.items():
            fill_bins(e, bins[array], atomic, count)

    def add() -> None:
        for (array, atomic), count in counts.items():
            add_bins(e, bins[array], atomic, e.addresses[array], count)

    branch(e, e.let(f"icmp ne ptr {memory}, null"), own, run)


def places(e: Emitter, counts: Counts) -> tuple[dict[ir.Array, str], str]:
    """Emit the offsets of the bins of all arrays, and the size of all; return them."""
    offsets, size = {}, "0"
    for (array, _), count in counts.items():
        offsets[array] = size
        end = e.let(f"add i64 {e.let(f'mul i64 {count}, {array.element.size}')}, {ALIGNED - 1}")
        size = e.let(f"add i64 {size}, {e.let(f'and i64 {end}, {-ALIGNED}')}")
    return offsets, size


def threads_that_gain(e: Emitter, loop: ir.For, counts: Counts, size: str, total: str) -> str:
    """Emit the most threads for which bins pay; return it. It is 0 if the bins do not fit."""
    bins = "0"
    for count in counts.values():
        bins = e.let(f"add i64 {bins}, {count}")
    bins = e.call("llvm.umax.i64", "i64", [("i64", bins), ("i64", "1")])
    atomics = e.let(f"mul i64 {total}, {weight(loop, {array for array, _ in counts})}")
    threads = e.let(f"udiv i64 {atomics}, {e.let(f'mul i64 {bins}, {REPAYS * RARE}')}")
    return e.let(f"select i1 {e.let(f'icmp ule i64 {size}, {MOST_BYTES}')}, i64 {threads}, i64 0")


def weight(loop: ir.For, arrays: set[ir.Array]) -> int:
    """Return RARE for each atomic on the arrays in an iteration, and 1 for one under a condition."""
    blocks = [each for each in ir.walk(loop.body) if isinstance(each, (ir.If, ir.While))]
    rare = {each for block in blocks for each in ir.walk(ir.Block([block]))}
    atomics = [each for each in ir.walk(loop.body) if isinstance(each, ir.Atomic) and each.array in arrays]
    return sum(1 if each in rare else RARE for each in atomics)


def has_last(task: ir.Task) -> bool:
    """Return whether the task ends in statements that may read what all its calls have added."""
    return any(isinstance(each, ir.Last) for each in task.body.body)


def fill_bins(e: Emitter, bins: str, atomic: ir.Atomic, count: str) -> None:
    t = llvm_type(atomic.type)
    index = ir.LoopIndex("bin")

    def body(following: str) -> None:
        e.line(
            f"store {t} {identity(atomic)}, ptr {e.let(f'getelementptr inbounds {t}, ptr {bins}, i64 {e.wide[index]}')}"
        )

    e.counted(index, "0", count, 1, body)


def add_bins(e: Emitter, bins: str, atomic: ir.Atomic, array: str, count: str) -> None:
    """Emit the addition of all changed bins to the array."""
    t = llvm_type(atomic.type)
    index = ir.LoopIndex("bin")

    def body(following: str) -> None:
        at, to = (
            e.let(f"getelementptr inbounds {t}, ptr {base}, i64 {e.wide[index]}") for base in (bins, array)
        )
        add_bin(e, atomic, e.let(f"load {t}, ptr {at}"), to, following)

    e.counted(index, "0", count, 1, body)
