# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Decides whether the loop over the threads of a block may be marked as parallel (llvm.loop.parallel_accesses).

Threads of a kernel without barriers are independent: ordinary accesses of two threads to the same address race, and any
order of them is legal. However, LLVM's vectoriser applies the mark also to two accesses of the same thread, when it
moves strided loads up and strided stores down. The mark is safe only if no such move can change the order within a
thread. The control flow must therefore be straight, every load must precede every store, and stores must not return to
a base that they have left.
"""

from cuda_graphs.hostdriver.ptx.syntax.syntax import (
    Address,
    Function,
    Instruction,
    Label,
    Register,
    Symbol,
)


def loads_precede_stores(function: Function, pointers: set[Register]) -> bool:
    seen: set[tuple[int, str]] = set()
    bases: list[object] = []
    origins = _origins(function, pointers)
    for statement in function.body or ():
        if isinstance(statement, Label):
            seen.add((statement.scope, statement.name))
            continue
        name = statement.opcode.partition(".")[0]
        if name in ("call", "brx") or (name == "bra" and _goes_back(statement, seen)):
            return False
        if name == "ld" and bases and ".param" not in statement.opcode:
            return False
        if name == "st":
            base = _base(statement.operands[0], origins)
            if bases and (base is None or base in bases[:-1]):
                return False
            if not bases or bases[-1] != base:
                bases.append(base)
    return True


def _goes_back(branch: Instruction, seen: set[tuple[int, str]]) -> bool:
    target = branch.operands[0]
    return isinstance(target, Symbol) and any((scope, target.name) in seen for scope in branch.scopes)


def _origins(function: Function, pointers: set[Register]) -> dict[Register, object]:
    """Returns the source of each pointer register with one definition: a register, a symbol, or a parameter slot."""
    origins: dict[Register, object] = {}
    for statement in function.body or ():
        if (
            isinstance(statement, Instruction)
            and statement.operands
            and isinstance(statement.operands[0], Register)
        ):
            target = statement.operands[0]
            origins[target] = None if target in origins else _origin(statement, pointers)
    return origins


def _origin(ins: Instruction, pointers: set[Register]) -> object:
    name = ins.opcode.partition(".")[0]
    sources = ins.operands[1:]
    if name == "ld" and isinstance(sources[0], Address) and isinstance(sources[0].base, Symbol):
        return (sources[0].base.name, sources[0].offset)
    if name in ("mov", "cvta"):
        return sources[0]
    if name == "add":
        found = [source for source in sources if source in pointers]
        return found[0] if len(found) == 1 else None
    return None


def _base(address: object, origins: dict[Register, object]) -> object:
    base = address.base if isinstance(address, Address) else None
    for _ in range(len(origins)):  # bounds the walk: a register may be computed from itself
        if not isinstance(base, Register):
            return base
        base = origins.get(base)
    return None
