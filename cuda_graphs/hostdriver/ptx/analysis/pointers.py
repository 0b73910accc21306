# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the 64-bit registers that hold pointers.

The result is a guess that affects only speed. Arithmetic on a register that is found here becomes getelementptr, which
LLVM's alias and loop analyses understand. The sure signs are cvta, the address of a variable, and use as the base of an
access. They spread through mov, selp, add and mad.
"""

from typing import TypeGuard

from cuda_graphs.hostdriver.ptx.syntax.syntax import Address, Function, Instruction, Register, Symbol

_ACCESSES = ("ld", "st", "ldu", "atom", "red", "prefetch", "prefetchu")
_LOADS = ("ld", "ldu")


def find(function: Function) -> set[Register]:
    uses = _Uses(function)
    found = set(uses.sure)
    wanted = list(found | uses.bases)
    while True:
        before = len(found)
        _forward(uses, found)
        _backward(uses, found, wanted)
        wanted = list(found | uses.bases)
        if len(found) == before:
            return found


class _Uses:
    def __init__(self, function: Function):
        self.sure: set[Register] = set()
        self.bases: set[Register] = set()
        self.definitions: dict[Register, list[tuple[str, tuple]]] = {}
        for statement in function.body or ():
            if isinstance(statement, Instruction) and statement.operands:
                self._visit(statement)

    def _visit(self, ins: Instruction) -> None:
        name, *mods = ins.opcode.split(".")
        if name in _ACCESSES and not any(mod.startswith("shared") for mod in mods):
            for operand in ins.operands:
                if isinstance(operand, Address) and _is_wide(operand.base):
                    self.bases.add(operand.base)
        if name == "cvta":
            to_shared = "to" in mods and any(mod.startswith("shared") for mod in mods)
            from_shared = "to" not in mods and any(mod.startswith("shared") for mod in mods)
            for operand, is_offset in zip(ins.operands, (to_shared, from_shared), strict=False):
                if _is_wide(operand) and not is_offset:
                    self.sure.add(operand)
        if name == "mov" and isinstance(ins.operands[-1], Symbol) and _is_wide(ins.operands[0]):
            variable = ins.operands[-1].variable
            if variable is not None and variable.space != "shared":
                self.sure.add(ins.operands[0])
        target = ins.operands[0]
        if _is_wide(target):
            self.definitions.setdefault(target, []).append((name, ins.operands[1:]))


def _is_wide(operand: object) -> TypeGuard[Register]:
    return isinstance(operand, Register) and operand.type.storage == "i64"


def _forward(uses: _Uses, found: set[Register]) -> None:
    changed = True
    while changed:
        changed = False
        for register, definitions in uses.definitions.items():
            if register not in found and any(_is_pointer(name, args, found) for name, args in definitions):
                found.add(register)
                changed = True


def _is_pointer(name: str, args: tuple, found: set[Register]) -> bool:
    if name == "add":
        return (args[0] in found) != (args[1] in found)
    if name == "sub":
        return args[0] in found and args[1] not in found
    if name == "mov":
        return args[0] in found
    if name == "selp":
        return args[0] in found or args[1] in found
    return name == "mad" and args[2] in found


def _backward(uses: _Uses, found: set[Register], wanted: list[Register]) -> None:
    """Adds the sources of wanted pointers: the one operand that was loaded from memory."""
    seen: set[Register] = set()
    while wanted:
        register = wanted.pop()
        if register in seen:
            continue
        seen.add(register)
        for name, args in uses.definitions.get(register, ()):
            if name in _LOADS:
                found.add(register)
            elif name in ("mov", "selp"):
                wanted += [arg for arg in args[:2] if _is_wide(arg)]
            elif name == "add" and not any(arg in found for arg in args):
                candidates = [arg for arg in args if _is_wide(arg) and _from_memory(uses, arg)]
                if len(candidates) == 1:
                    found.add(candidates[0])


def _from_memory(uses: _Uses, register: Register) -> bool:
    definitions = uses.definitions.get(register, ())
    return bool(definitions) and all(name in _LOADS for name, _ in definitions)
