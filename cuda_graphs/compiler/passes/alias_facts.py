# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Decides which arrays may be the same memory. Passes use these rules of the language, and LLVM receives them.

Two parameters of one element type may alias, because a call may pass an array twice. A parameter and a field of its
element type may alias. Two fields never alias, and neither do arrays of different element types. The kernel's own
temporaries alias nothing.

The rules form a tree. Each array belongs to a family, which is a path in the tree. Two arrays may overlap if one path
is a prefix of the other.

    f32             parameters of f32
    f32, "table"    a field of f32
    "temporary", s  a temporary
"""

from __future__ import annotations

from cuda_graphs.compiler.ir import ir

__all__ = ["Family", "alias_facts", "family", "may_alias"]

Family = tuple[str, ...]


def alias_facts(program: ir.Program) -> ir.Program:
    """Returns the program with `families` in each task: the family of each array that has one."""
    arrays = (*program.kernel.arrays, *program.temps)
    families = {array: found for array in arrays if (found := family(array))}
    return ir.replace(program, tasks=tuple(ir.replace(task, families=families) for task in program.tasks))


def family(array: ir.Array) -> Family:
    """Returns an array's path in the tree; () for arrays that belong to a thread or block."""
    match array.space:
        case ir.Space.PARAM:
            return (array.element.name,)
        case ir.Space.FIELD:
            return array.element.name, array.path
        case ir.Space.TEMP:
            return "temporary", array.path
    return ()


def may_alias(a: ir.Array, b: ir.Array) -> bool:
    """Returns whether two arrays may be the same memory."""
    if a is b:
        return True
    short, long = sorted((family(a), family(b)), key=len)
    return short != () and long[: len(short)] == short
