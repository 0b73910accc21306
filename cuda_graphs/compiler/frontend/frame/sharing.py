# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Places that several iterations of a parallel loop may change."""

from __future__ import annotations

from typing import Any

from cuda_graphs.compiler.ir import ir

from .frame import Frame
from .scope import Scope
from .values import Vector

__all__ = ["is_shared"]


def is_shared(frame: Frame, target: Any) -> bool:
    """Return whether other iterations of a parallel loop may change the same place."""
    if not frame.parallel:
        return False
    if isinstance(target, ir.Local):
        scope: Scope | None = frame.root.outer_scope or frame.outer_scope
        while scope is not None:
            if any(target in leaves(found) for found in scope.names.values()):
                return True
            scope = scope.parent
        return False
    return True


def leaves(found: Any) -> list[Any]:
    """Return the locals that a name stands for."""
    if isinstance(found, tuple):
        return [leaf for part in found for leaf in leaves(part)]
    return found.leaves() if isinstance(found, Vector) else [found] if isinstance(found, ir.Local) else []
