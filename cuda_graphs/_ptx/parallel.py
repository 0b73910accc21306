# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""May the loop over the threads of a block be marked as parallel (llvm.loop.parallel_accesses)?

Threads of a kernel without barriers are independent: ordinary accesses of two threads to the same place race, and any
order of them is a legal one. But LLVM's vectoriser takes the mark to cover also two accesses of the same thread when
it moves strided loads up and strided stores down, so the mark is only safe if no such move can change a thread's own
order: straight-line control flow, every load before every store, and stores that do not come back to a base which
they left.
"""

from .syntax import Address, Function, Instruction, Label, Register, Symbol


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
    """What the one definition of a pointer register is made from: a register, a symbol, or a parameter slot."""
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
    for _ in range(len(origins)):  # a register may be made from itself
        if not isinstance(base, Register):
            return base
        base = origins.get(base)
    return None
