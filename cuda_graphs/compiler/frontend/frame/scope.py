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
    """The names of one block.

    Attributes:
        at_run_time: Whether a run-time value decides if the block runs, or how often.
        parameters: The names of the parameters of an inlined function, in the scope of its body.
        stopped: The arrays that are constants to gradients in the block (cg.stop_grad).
    """

    def __init__(self, parent: Scope | None = None, at_run_time: bool = False) -> None:
        self.parent, self.at_run_time = parent, at_run_time
        self.names: dict[str, Any] = {}
        self.parameters: frozenset[str] = frozenset()
        self.stopped: set[ir.Array] = set()

    def find(self, name: str) -> Scope | None:
        """Return the innermost scope with the name, or None."""
        scope: Scope | None = self
        while scope is not None and name not in scope.names:
            scope = scope.parent
        return scope

    def always_reaches(self, outer: Scope) -> bool:
        """Return whether this block runs once each time that an outer one runs."""
        scope = self
        while scope is not outer and not scope.at_run_time and scope.parent is not None:
            scope = scope.parent
        return scope is outer

    def stops(self, array: ir.Array) -> bool:
        """Return whether reads of an array are constants to gradients."""
        scope: Scope | None = self
        while scope is not None and array not in scope.stopped:
            scope = scope.parent
        return scope is not None
