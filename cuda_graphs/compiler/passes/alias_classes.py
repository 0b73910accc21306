# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Decides which arrays may be the same memory. Passes use these rules of the language, and LLVM receives them.

Two parameters of one element type may alias, because a call may pass an array twice. A parameter and a field of its
element type may alias. Two fields never alias, and neither do arrays of different element types. The kernel's own
temporaries alias nothing.

The rules form a tree. Each array belongs to an alias class, which is a path in the tree. Two arrays may overlap if
one path is a prefix of the other.

    f32             parameters of f32
    f32, "table"    a field of f32
    "temporary", s  a temporary
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from cuda_graphs.compiler.ir import ir

__all__ = [
    "COMPARES", "PASSED", "AliasClass", "Aliases", "alias_class", "aliases_of", "assign_alias_classes", "may_alias",
]  # fmt: skip

PASSED = (ir.Space.PARAM, ir.Space.FIELD)  # the spaces of arrays whose ranges a call can compare
COMPARES = ("call", "large")  # the FUSIONS of code whose calls compare their arrays

AliasClass = tuple[str, ...]
Aliases = Callable[[ir.Array, ir.Array], bool]


def assign_alias_classes(program: ir.Program) -> ir.Program:
    """Returns the program with `alias_classes` in each task: the class of each array that has one."""
    arrays = (*program.kernel.arrays, *program.temps)
    alias_classes = {array: found for array in arrays if (found := alias_class(array))}
    return ir.replace(
        program, tasks=tuple(ir.replace(task, alias_classes=alias_classes) for task in program.tasks)
    )


def alias_class(array: ir.Array) -> AliasClass:
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
    short, long = sorted((alias_class(a), alias_class(b)), key=len)
    return short != () and long[: len(short)] == short


def aliases_of(apart: Collection[tuple[ir.Array, ir.Array]]) -> Aliases:
    """Returns a function like `may_alias` for code whose calls keep these pairs of arrays apart."""
    pairs = frozenset(apart)  # hundreds of arrays have tens of thousands of pairs

    def aliases(a: ir.Array, b: ir.Array) -> bool:
        return may_alias(a, b) and (a, b) not in pairs and (b, a) not in pairs

    return aliases
