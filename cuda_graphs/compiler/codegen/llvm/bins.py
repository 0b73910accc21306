# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Private bins for `bins[x[i]] += 1`, of a thread of the CPU (thread_bins.py) or of a block of the GPU
(block_bins.py): what both have in common.

Bins that no iteration changed are not added. The code contains a version with bins and one with atomics, and chooses
between them by the extents of the call.

The pass passes/mark_bins.py finds the arrays that may have bins.
"""

from __future__ import annotations

from collections.abc import Callable

from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.passes.privatise_atomics import neutral

from .emitter import Emitter
from .notation import llvm_type, number

Counts = dict[tuple[ir.Array, ir.Atomic], str]
"""(array that may have bins, the atomic on it) -> LLVM name of its number of elements."""


def bin_counts(e: Emitter, atomics: tuple[ir.Atomic, ...]) -> Counts:
    return {
        (atomic.array, atomic): elements(e, atomic.array)
        for atomic in atomics
        if isinstance(atomic.array, ir.Array)
    }


def branch(e: Emitter, condition: str, first: Callable[[], None], second: Callable[[], None]) -> None:
    """Emit a branch: the code of `first` if the condition holds, else the code of `second`."""
    own, shared, after = (e.label(stem) for stem in ("own", "shared", "binned"))
    e.jump_if(condition, own, shared)
    for label, body in ((own, first), (shared, second)):
        e.start(label)
        body()
        e.jump(after)
    e.start(after)


def identity(atomic: ir.Atomic) -> str:
    """Return the initial value of a bin."""
    return number(neutral(atomic.kind, atomic.type).value, atomic.type)


def elements(e: Emitter, array: ir.Array) -> str:
    """Emit the number of elements of an array; return its name."""
    count = "1"
    for axis in range(array.ndim):
        count = e.let(f"mul i64 {count}, {e.extent(array, axis)}")
    return count


def add_bin(e: Emitter, atomic: ir.Atomic, value: str, at: str, following: str) -> None:
    """Emit the addition of a bin to an element, unless the bin still holds its initial value."""
    t, bits = llvm_type(atomic.type), f"i{atomic.type.bits}"
    initial = identity(atomic)
    now = value if t == bits else e.let(f"bitcast {t} {value} to {bits}")
    then = initial if t == bits else e.let(f"bitcast {t} {initial} to {bits}")
    add = e.label("add")
    e.jump_if(e.let(f"icmp eq {bits} {now}, {then}"), following, add)
    e.start(add)
    e.emit_atomic(atomic, t, at, value)
