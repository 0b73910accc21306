# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Large tasks: those that LLVM compiles for so long that this matters more than what its last optimisations gain."""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir

__all__ = ["is_large"]

LARGE = 1000  # statements; LLVM takes about 0.7 ms for one


def is_large(body: ir.Block) -> bool:
    """Return whether the body of a task is large. Functions that it calls do not count."""
    return sum(1 for _ in ir.walk(body)) >= LARGE
