# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Names of a function while it is translated: each block of the source has a scope inside that of the block around it.

A name stands for a Local (a mutable scalar), a Value, a composite of these (values.py), or any Python object that is
known when compiling.
"""

from __future__ import annotations

from typing import Any

from .. import ir


class Scope:
    """Names of one block. `stopped`: the arrays that are constants to gradients in it (cg.stop_grad)."""

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.names: dict[str, Any] = {}
        self.stopped: set[ir.Array] = set()

    def find(self, name: str) -> Scope | None:
        """The innermost scope that has the name."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope

    def stops(self, array: ir.Array) -> bool:
        """Whether no derivative flows to what is read of an array."""
        scope: Scope | None = self
        while scope is not None and array not in scope.stopped:
            scope = scope.parent
        return scope is not None
