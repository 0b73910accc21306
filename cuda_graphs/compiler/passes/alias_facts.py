# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Which arrays may be the same memory: the language's law, for passes, and written down for LLVM.

Parameters of one element type may be, as a call may pass an array twice; a parameter and a field of its type may be;
two fields never, nor arrays of different element types; the kernel's own temporaries are nobody else's.

That is a tree: each array belongs to a family, a path in it, and two arrays may overlap where one path begins with the
other.

    f32             parameters of f32
    f32, "table"    a field of f32
    "temporary", s  a temporary
"""

from __future__ import annotations

from .. import ir

__all__ = ["Family", "alias_facts", "family", "may_alias"]

Family = tuple[str, ...]


def alias_facts(program: ir.Program) -> ir.Program:
    """The program whose tasks say the family of each array that has one."""
    arrays = (*program.kernel.arrays, *program.temps)
    families = {array: found for array in arrays if (found := family(array))}
    return ir.replace(program, tasks=tuple(ir.replace(task, families=families) for task in program.tasks))


def family(array: ir.Array) -> Family:
    """Where an array is in the tree; () of what threads have for themselves."""
    match array.space:
        case ir.Space.PARAM:
            return (array.element.name,)
        case ir.Space.FIELD:
            return array.element.name, array.path
        case ir.Space.TEMP:
            return "temporary", array.path
    return ()


def may_alias(a: ir.Array, b: ir.Array) -> bool:
    """Whether two arrays may be the same memory."""
    if a is b:
        return True
    short, long = sorted((family(a), family(b)), key=len)
    return short != () and long[: len(short)] == short
