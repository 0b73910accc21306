# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Alias types of arrays (passes/alias_classes.py) as LLVM's TBAA metadata (LLVM Language Reference, "TBAA metadata").

A node is a type in a tree. The memory of two types may overlap if one is an ancestor of the other.

    !1000 = !{!"arrays"}
    !1001 = !{!"f32", !1000, i64 0}
    !1002 = !{!1001, !1001, i64 0}      the tag of a load or store of such an array
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["tag"]

FIRST = 1000  # number of the first node; the targets use lower numbers


def tag(declarations: dict[str, str], types: Sequence[str]) -> str:
    """Return `, !tbaa !1002` for accesses of arrays with an alias type, or "" without one."""
    if not types:
        return ""
    node = declared(declarations, "type", types)
    return f", !tbaa {numbered(declarations, f'!access {types}', f'{{{node}, {node}, i64 0}}')}"


def declared(declarations: dict[str, str], kind: str, types: Sequence[str]) -> str:
    """Return the node of an alias type, and declare it below its outer types."""
    if not types:
        return numbered(declarations, "!root", '{!"arrays"}')
    above = declared(declarations, kind, types[:-1])
    name = "".join(c if c.isalnum() or c in "._" else "_" for c in types[-1])
    return numbered(declarations, f"!{kind} {types}", f'{{!"{name}", {above}, i64 0}}')


def numbered(declarations: dict[str, str], key: str, text: str) -> str:
    if key not in declarations:
        number = FIRST + sum(1 for each in declarations if each.startswith("!"))
        declarations[key] = f"!{number} = !{text}"
    return declarations[key].partition(" ")[0]
