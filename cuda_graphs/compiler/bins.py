# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""`bins[x[i]] += 1` on the CPU: a part of a loop has bins of its own on its stack, and adds them to the array once.

Atomics of two threads on one line of the cache cost more than all else in a histogram. Where the array is small, and
the part of the loop long enough for the bins to pay, its atomics are plain additions; what no iteration changed is not
touched. Elsewhere they stay what they are: both versions are there, the extents decide in the call.

Which arrays may have bins, a pass has found (passes/mark_bins.py).
"""

from __future__ import annotations

from collections.abc import Callable

from . import ir
from .llvm import Emitter
from .notation import llvm_type, number
from .passes.gather_atomics import neutral

BYTES = 1 << 14  # of the bins of one array: with the data that streams by they fit into the first cache
REPAYS = 4  # iterations for each bin, which is filled and added


def with_bins(e: Emitter, atomics: tuple[ir.Atomic, ...], iterations: str, run: Callable[[], None]) -> None:
    """Emit what `run` emits twice: with bins for the arrays of these atomics, and without them."""
    arrays = {atomic.array: atomic for atomic in atomics if isinstance(atomic.array, ir.Array)}
    counts = {array: elements(e, array) for array in arrays}
    worth = "true"
    for array, count in counts.items():
        small = e.let(f"icmp ule i64 {count}, {BYTES // array.element.size}")
        repaid = e.let(f"icmp ule i64 {e.let(f'mul i64 {count}, {REPAYS}')}, {iterations}")
        worth = e.let(f"and i1 {worth}, {e.let(f'and i1 {small}, {repaid}')}")
    own, shared, after = (e.label(stem) for stem in ("own", "shared", "binned"))
    e.line(f"br i1 {worth}, label %{own}, label %{shared}")
    e.start(own)
    memory = e.addresses.copy()
    for array, atomic in arrays.items():
        t = llvm_type(array.element)
        e.addresses[array] = e.slot(f"[{BYTES // array.element.size} x {t}], align 64")
        nothing = number(neutral(atomic.kind, array.element).value, array.element)
        fill_bins(e, e.addresses[array], f"{t} {nothing}", t, counts[array])
    e.private = frozenset(arrays)
    run()
    e.private = frozenset()
    for array, atomic in arrays.items():
        add_bins(e, atomic, array, e.addresses[array], memory[array], counts[array])
    e.addresses = memory
    e.line(f"br label %{after}")
    e.start(shared)
    run()
    e.line(f"br label %{after}")
    e.start(after)


def elements(e: Emitter, array: ir.Array) -> str:
    """How many elements an array has."""
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
    """Add what has changed of the bins to the array."""
    t, bits = llvm_type(array.element), f"i{array.element.bits}"
    index = ir.LoopIndex("bin")

    def body(following: str) -> None:
        at = e.wide[index]
        value = e.let(f"load {t}, ptr {e.let(f'getelementptr inbounds {t}, ptr {bins}, i64 {at}')}")
        nothing = number(neutral(atomic.kind, array.element).value, array.element)
        now = value if t == bits else e.let(f"bitcast {t} {value} to {bits}")
        then = nothing if t == bits else e.let(f"bitcast {t} {nothing} to {bits}")
        add = e.label("add")
        e.line(f"br i1 {e.let(f'icmp eq {bits} {now}, {then}')}, label %{following}, label %{add}")
        e.start(add)
        e.change(atomic, t, e.let(f"getelementptr inbounds {t}, ptr {memory}, i64 {at}"), value)

    e.counted(index, "0", count, 1, body)
