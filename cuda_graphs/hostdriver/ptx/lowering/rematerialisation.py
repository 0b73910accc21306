# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Limits the recomputation of values that live across a suspension point of a thread.

LLVM's coroutine pass does not save a value that it can compute from other values. It saves those other values, and
repeats the computation after each suspension point. A sum that grows from point to point is then computed from its
first term after each of them: 400 shuffles in a row made half a megabyte of code and took 26 s. Long chains
are therefore cut: the register goes through an empty piece of assembly, whose result the pass saves.

The length of a chain is counted along the text. The values of a loop begin at its phis, which end chains by themselves.
"""

from __future__ import annotations

LONGEST = 16  # the most instructions that recompute one value


class Chains:
    """The chain lengths of one kernel: for each register, the number of instructions that compute its value."""

    def __init__(self) -> None:
        self.lengths: dict[tuple[str, str], int] = {}  # by slot: name and LLVM type
        self.read = 0  # sum of the lengths that the current instruction reads

    def begin(self) -> None:
        """Starts a new instruction."""
        self.read = 0

    def reads(self, slot: tuple[str, str]) -> None:
        self.read += self.lengths.get(slot, 0)

    def writes(self, slot: tuple[str, str]) -> None:
        # A branch may choose between the old value and the new one, so the longer chain counts.
        self.lengths[slot] = min(LONGEST, max(self.read, self.lengths.get(slot, 0))) + 1

    def cut(self) -> list[tuple[str, str]]:
        """Ends all chains at a suspension point, and returns the slots whose values the pass must save."""
        kept = [slot for slot, length in self.lengths.items() if length > LONGEST]
        self.lengths.update(dict.fromkeys(kept, 0))
        self.read = 0  # values read after the suspension point come from other threads
        return kept
