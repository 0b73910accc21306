# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The size of tasks. LLVM takes about 0.7 ms for a statement, so what it does with a large task is limited."""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir

__all__ = ["is_huge", "is_large"]

LARGE = 1000  # statements from which on the code for a CPU has pieces
# Statements from which on the code for a GPU is made at O2. From 1,000 on, steps of MPM in Genesis became slower: 539
# to 649 a second on an H200, and 746 and 750 on another one. Its transfers have 2,500 and 2,800 statements.
HUGE = 4000


def size_of(body: ir.Block) -> int:
    """Return the number of statements in the body of a task. Functions that it calls do not count."""
    return sum(1 for _ in ir.walk(body))


def is_large(body: ir.Block) -> bool:
    """Return whether the body of a task has pieces on a CPU."""
    return size_of(body) >= LARGE


def is_huge(body: ir.Block) -> bool:
    """Return whether the body of a task is optimised less far on a GPU."""
    return size_of(body) >= HUGE
