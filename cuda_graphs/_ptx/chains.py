# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Values that live across a stop of a thread.

LLVM's coroutine pass does not keep what can be computed again from other values: it keeps those, and computes after
each stop. A sum that grows from stop to stop is then computed from its first term after each of them: 400 shuffles in a
row made half a megabyte of code and took 26 s. So chains end where they have become long: the register goes through an
empty piece of assembly, whose result the pass keeps.

How long a chain is, is counted along the text; the values of a loop begin at its phis, which end chains by themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .datatypes import LLVM_BITS

if TYPE_CHECKING:
    from .function import FunctionLowering

LONGEST = 16  # instructions that a value may be computed by again


class Chains:
    """Of one kernel: how many instructions the value of each register is made of."""

    def __init__(self) -> None:
        self.lengths: dict[tuple[str, str], int] = {}  # by slot: name and LLVM type
        self.read = 0  # by the instruction that is being lowered

    def begin(self) -> None:
        """An instruction begins."""
        self.read = 0

    def reads(self, slot: tuple[str, str]) -> None:
        self.read += self.lengths.get(slot, 0)

    def writes(self, slot: tuple[str, str]) -> None:
        # The old value may be one of two that a branch chooses from.
        self.lengths[slot] = min(LONGEST, max(self.read, self.lengths.get(slot, 0))) + 1

    def cut(self, f: FunctionLowering) -> None:
        """Before a stop."""
        for slot, length in self.lengths.items():
            if length > LONGEST:
                _keep(f, *slot)
                self.lengths[slot] = 0
        self.read = 0  # what comes after the stop is what others gave


def _keep(f: FunctionLowering, slot: str, storage: str) -> None:
    bits = LLVM_BITS[storage]
    if bits > 64:
        return
    kind = storage if storage == "ptr" else "i64" if bits == 64 else "i32"
    value = f.convert(f.v(f"load {storage}, ptr {slot}"), storage, kind)
    kept = f.v(f'call {kind} asm "", "=r,0"({kind} {value}) nounwind willreturn memory(none)')
    f.do(f"store {storage} {f.convert(kept, kind, storage)}, ptr {slot}")
