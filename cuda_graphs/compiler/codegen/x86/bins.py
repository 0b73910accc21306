# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Private bins for `bins[x[i]] += 1` on the CPU.

Each chunk of a loop has its own bins on its stack, and adds them to the array once. Atomics of two threads on one cache
line dominate the cost of a histogram. If the array is small and the chunk long enough for the bins to pay, its atomics
become plain additions. Bins that no iteration changed are not added. Otherwise the atomics stay. The code contains both
versions, and chooses between them by the extents of the call.

The pass passes/mark_bins.py finds the arrays that may have bins.
"""

from __future__ import annotations

from collections.abc import Callable

from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.codegen.llvm.notation import llvm_type, number
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.passes.mark_bins import BIN_BYTES
from cuda_graphs.compiler.passes.privatise_atomics import neutral

REPAYS = 4  # iterations per bin that pay for its initialisation and final addition


def with_bins(e: Emitter, atomics: tuple[ir.Atomic, ...], iterations: str, run: Callable[[], None]) -> None:
    """Emit two versions of the code of `run`: with bins for the arrays of these atomics, and without them."""
    counts = bin_counts(e, atomics)

    def own() -> None:
        memory = e.addresses.copy()
        for (array, atomic), count in counts.items():
            t = llvm_type(array.element)
            e.addresses[array] = e.slot(f"[{room(array)} x {t}], align 64")
            fill_bins(e, e.addresses[array], f"{t} {untouched(atomic)}", t, count)
        e.private = frozenset(array for array, _ in counts)
        run()
        e.private = frozenset()
        for (array, atomic), count in counts.items():
            add_bins(e, atomic, array, e.addresses[array], memory[array], count)
        e.addresses = memory

    either(e, pays(e, counts, iterations), own, run)


Counts = dict[tuple[ir.Array, ir.Atomic], str]
"""(array that may have bins, the atomic on it) -> LLVM name of its number of elements."""


def bin_counts(e: Emitter, atomics: tuple[ir.Atomic, ...]) -> Counts:
    return {
        (atomic.array, atomic): elements(e, atomic.array)
        for atomic in atomics
        if isinstance(atomic.array, ir.Array)
    }


def pays(e: Emitter, counts: Counts, iterations: str) -> str:
    """Emit the condition that all bins fit and that there are enough iterations; return its name."""
    worth = "true"
    for (array, _), count in counts.items():
        small = e.let(f"icmp ule i64 {count}, {room(array)}")
        repaid = e.let(f"icmp ule i64 {e.let(f'mul i64 {count}, {REPAYS}')}, {iterations}")
        worth = e.let(f"and i1 {worth}, {e.let(f'and i1 {small}, {repaid}')}")
    return worth


def either(e: Emitter, condition: str, first: Callable[[], None], second: Callable[[], None]) -> None:
    """Emit a branch: the code of `first` if the condition holds, else the code of `second`."""
    own, shared, after = (e.label(stem) for stem in ("own", "shared", "binned"))
    e.line(f"br i1 {condition}, label %{own}, label %{shared}")
    for label, body in ((own, first), (shared, second)):
        e.start(label)
        body()
        e.line(f"br label %{after}")
    e.start(after)


def room(array: ir.Array) -> int:
    """Return the largest number of bins for an array."""
    return BIN_BYTES // array.element.size


def untouched(atomic: ir.Atomic) -> str:
    """Return the initial value of a bin."""
    return number(neutral(atomic.kind, atomic.type).value, atomic.type)


def elements(e: Emitter, array: ir.Array) -> str:
    """Emit the number of elements of an array; return its name."""
    count = "1"
    for axis in range(array.ndim):
        count = e.let(f"mul i64 {count}, {e.extent(array, axis)}")
    return count


def fill_bins(e: Emitter, bins: str, nothing: str, t: str, count: str) -> None:
    index = ir.LoopIndex("bin")

    def body(following: str) -> None:
        at = e.let(f"getelementptr inbounds {t}, ptr {bins}, i64 {e.wide[index]}")
        e.line(f"store {nothing}, ptr {at}")

    e.counted(index, "0", count, 1, body)


def add_bins(e: Emitter, atomic: ir.Atomic, array: ir.Array, bins: str, memory: str, count: str) -> None:
    """Emit the addition of all changed bins to the array."""
    t = llvm_type(array.element)
    index = ir.LoopIndex("bin")

    def body(following: str) -> None:
        at = e.wide[index]
        value = e.let(f"load {t}, ptr {e.let(f'getelementptr inbounds {t}, ptr {bins}, i64 {at}')}")
        add_bin(e, atomic, value, e.let(f"getelementptr inbounds {t}, ptr {memory}, i64 {at}"), following)

    e.counted(index, "0", count, 1, body)


def add_bin(e: Emitter, atomic: ir.Atomic, value: str, at: str, following: str) -> None:
    """Emit the addition of a bin to an element, unless the bin still holds its initial value."""
    t, bits = llvm_type(atomic.type), f"i{atomic.type.bits}"
    nothing = untouched(atomic)
    now = value if t == bits else e.let(f"bitcast {t} {value} to {bits}")
    then = nothing if t == bits else e.let(f"bitcast {t} {nothing} to {bits}")
    add = e.label("add")
    e.line(f"br i1 {e.let(f'icmp eq {bits} {now}, {then}')}, label %{following}, label %{add}")
    e.start(add)
    e.change(atomic, t, at, value)
