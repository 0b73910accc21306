# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Alias classes of arrays (passes/alias_classes.py) as LLVM's TBAA metadata (LLVM Language Reference, "TBAA metadata").

A node is a type in a tree. The memory of two types may overlap if one is an ancestor of the other.

    !1000 = !{!"arrays"}
    !1001 = !{!"f32", !1000, i64 0}
    !1002 = !{!1001, !1001, i64 0}      the tag of a load or store of such an array
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["tag"]

FIRST = 1000  # number of the first node; the targets use lower numbers


def tag(declarations: dict[str, str], family: Sequence[str]) -> str:
    """Return `, !tbaa !1002` for accesses of arrays of a family, or "" without a family."""
    if not family:
        return ""
    node = declared(declarations, "type", family)
    return f", !tbaa {numbered(declarations, f'!access {family}', f'{{{node}, {node}, i64 0}}')}"


def declared(declarations: dict[str, str], kind: str, family: Sequence[str]) -> str:
    """Return the node of a family, and declare it below its outer families."""
    if not family:
        return numbered(declarations, "!root", '{!"arrays"}')
    above = declared(declarations, kind, family[:-1])
    name = "".join(c if c.isalnum() or c in "._" else "_" for c in family[-1])
    return numbered(declarations, f"!{kind} {family}", f'{{!"{name}", {above}, i64 0}}')


def numbered(declarations: dict[str, str], key: str, text: str) -> str:
    if key not in declarations:
        number = FIRST + sum(1 for each in declarations if each.startswith("!"))
        declarations[key] = f"!{number} = !{text}"
    return declarations[key].partition(" ")[0]
