# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Accesses of 16 bytes: a thread runs neighbouring iterations together, and LLVM joins their loads and their stores.

It joins accesses whose address it knows to be a multiple of 16. The code checks that once, and tells LLVM.
"""

from __future__ import annotations

from collections.abc import Iterable

from cuda_graphs.compiler.codegen.llvm.emitter import Emitter
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.passes.index_spaces import linear

__all__ = ["WIDE_BYTES", "WideRows", "are_aligned", "assume_aligned", "hidden"]

WIDE_BYTES = 16  # the widest access of a thread
MOST_POINTS = 4  # of a row that a thread takes together


def are_aligned(e: Emitter, arrays: Iterable[ir.Array]) -> str:
    """Emit whether all arrays begin at multiples of 16 bytes."""
    bits = "0"
    for array in arrays:
        address = e.let(f"ptrtoint {e.pointer(array)} {e.addresses[array]} to i64")
        bits = e.let(f"or i64 {bits}, {address}")
    return e.let(f"icmp eq i64 {e.let(f'and i64 {bits}, {WIDE_BYTES - 1}')}, 0")


def assume_aligned(e: Emitter, arrays: Iterable[ir.Array]) -> None:
    """Tell LLVM that arrays begin at multiples of 16 bytes."""
    e.declare("llvm.assume", "declare void @llvm.assume(i1)")
    for array in arrays:
        pointer = f"{e.pointer(array)} {e.addresses[array]}"
        e.line(f'call void @llvm.assume(i1 true) ["align"({pointer}, i64 {WIDE_BYTES})]')


class WideRows:
    """The arrays of a loop of several axes whose rows a thread accesses in up to four points of a row at a time.

    points  the number of these points; 1 for an unsuitable loop, such as one that stores at other indices than its own
    """

    def __init__(self, loop: ir.For) -> None:
        last, own = loop.axes[-1], tuple(axis.index for axis in loop.axes)
        accesses = [s for s in ir.walk(loop.body) if isinstance(s, (ir.Load, ir.Store))]
        beside = [s.array for s in accesses if s.index and linear(s.index[-1])[0] is last.index]
        self.arrays = list(dict.fromkeys(beside))
        widest = max((array.element.size for array in self.arrays), default=WIDE_BYTES)
        self.points = max(1, min(MOST_POINTS, WIDE_BYTES // widest))
        is_own = all(s.index == own for s in accesses if isinstance(s, ir.Store))
        known = [row_length(array) for array in self.arrays if array.ndim > 1]
        if not is_own or last.step != 1 or any(length and length % self.points for length in known):
            self.points = 1

    def unknown(self) -> list[ir.Array]:
        """Return the arrays whose rows have a length that only a call tells."""
        return [array for array in self.arrays if array.ndim > 1 and row_length(array) is None]

    def are_aligned(self, e: Emitter) -> str:
        """Emit whether all rows begin at multiples of 16 bytes, or of as many points."""
        lengths = "0"
        for array in self.unknown():
            lengths = e.let(f"or i64 {lengths}, {e.extent(array, array.ndim - 1)}")
        rest = e.let(f"and i64 {lengths}, {self.points - 1}")
        return e.let(f"and i1 {are_aligned(e, self.arrays)}, {e.let(f'icmp eq i64 {rest}, 0')}")

    def assume(self, e: Emitter) -> dict[tuple[ir.Array, int], str]:
        """Tell LLVM that rows are aligned; return the lengths of rows, which it then knows to be multiples."""
        assume_aligned(e, self.arrays)
        keys = [(array, array.ndim - 1) for array in self.unknown()]
        return {key: e.let(f"and i64 {hidden(e, 'i64', e.extents[key])}, {-self.points}") for key in keys}


def hidden(e: Emitter, kind: str, value: str) -> str:
    """Return a value of which LLVM knows nothing, so that no code that uses it moves to before this place."""
    bits, letter = {"i32": ("b32", "r"), "i64": ("b64", "l")}[kind]
    return e.let(f'call {kind} asm sideeffect "mov.{bits} $0, $1;", "={letter},{letter}"({kind} {value})')


def row_length(array: ir.Array) -> int | None:
    """Return the number of elements of a row, or None if only a call tells it."""
    lengths = array.inner if array.shape is None else array.shape
    return lengths[-1] if lengths else None
