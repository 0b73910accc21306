# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Scopes: the names of a function during its translation. Each block of the source has a scope inside its outer one.

A name stands for a Local (a mutable scalar), a Value, a composite of these (values.py), or a Python object that is
known at compile time.
"""

from __future__ import annotations

from typing import Any

from cuda_graphs.compiler.ir import ir


class Scope:
    """The names of one block. `stopped`: the arrays that are constants to gradients in it (cg.stop_grad)."""

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.names: dict[str, Any] = {}
        self.stopped: set[ir.Array] = set()

    def find(self, name: str) -> Scope | None:
        """Return the innermost scope with the name, or None."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope

    def stops(self, array: ir.Array) -> bool:
        """Return whether reads of an array are constants to gradients."""
        scope: Scope | None = self
        while scope is not None and array not in scope.stopped:
            scope = scope.parent
        return scope is not None
