# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Several PTX texts -> one syntax.Module: what cuLink* makes of its inputs.

What the driver's linker (`_hostdriver/api/link.cpp`) gives back is the texts one after the other, behind a line that
says how long each is:

    // linked by the host driver of cuda_graphs: whole 1234 567

`parts` instead of `whole` asks for a look at each text alone, as not all of them are there yet (loader.py).
References go by name. A definition takes the place of a declaration, and one that is not weak that of a weak one.
Names without linkage are those of their own text: where another has the same, they get its number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from .errors import INVALID_IMAGE, INVALID_SOURCE, ImageError, invalid_ptx
from .lexer import Token, tokenize
from .module import check_instructions
from .ops.calls import SERVICES
from .parser import Parser
from .syntax import Address, Function, Group, Instruction, Module, Symbol, Variable, Vector

Thing = TypeVar("Thing", Function, Variable)

HEAD = "// linked by the host driver of cuda_graphs: "


def parse(text: str) -> Module:
    """The module of PTX text, linked or as it was written."""
    if not text.startswith(HEAD):
        return Parser(tokenize(text)).parse()
    read = [tokenize(unit) for unit in _split(text, HEAD + "whole")]
    module = merge(_apart([Parser(tokens).parse() for tokens in read], read))
    _check_references(module)
    return module


def check(text: str) -> None:
    """Raises ImageError where one of the texts is wrong by itself, or two of them define the same."""
    units = _split(text, HEAD + "parts")
    if not all(unit.lstrip().startswith(("//", "/*", ".version")) for unit in units):
        raise ImageError(INVALID_IMAGE, "an input is neither PTX text nor anything else that is known")
    read = [tokenize(unit) for unit in units]
    modules = [Parser(tokens).parse() for tokens in read]
    for module in modules:
        check_instructions(module)
    merge(_apart(modules, read))


def _split(text: str, start: str) -> list[str]:
    """The texts; of a text that was linked before, those that it is made of."""
    head, _, rest = text.partition("\n")
    data = rest.encode()
    longest = len(str(len(data)))
    lengths = head.removeprefix(start).split()
    if not lengths or not all(length.isdecimal() and len(length) <= longest for length in lengths):
        raise invalid_ptx("line 1: this is not what the linker writes")
    if sum(map(int, lengths)) != len(data):
        raise invalid_ptx("line 1: the lengths of what was linked do not agree")
    found: list[str] = []
    at = 0
    for length in map(int, lengths):
        try:
            unit = data[at : at + length].decode()
        except UnicodeDecodeError:
            raise invalid_ptx("line 1: a length ends inside of a character") from None
        found += _split(unit, HEAD + "whole") if unit.startswith(HEAD) else [unit]
        at += length
    return found


def _apart(modules: list[Module], read: list[list[Token]]) -> list[Module]:
    """The modules, where what one keeps to itself has no name that another has as well. The first may keep its own."""
    shared = {name for module in modules for name in _names(module) - _local_names(module)}
    before: set[str] = set()
    apart = []
    for number, (module, tokens) in enumerate(zip(modules, read, strict=True)):
        apart.append(_with_own_names(module, tokens, number, _local_names(module) & (shared | before)))
        before |= _names(module)
    return apart


def _names(module: Module) -> set[str]:
    return {*module.functions, *module.variables}


def _local_names(module: Module) -> set[str]:
    functions = {f.name for f in module.functions.values() if not f.linkage and not f.is_entry}
    return functions | {name for name, variable in module.variables.items() if not variable.linkage}


def _with_own_names(module: Module, tokens: list[Token], number: int, names: set[str]) -> Module:
    """All that has such a name in the text gets the other one, so that what was one name stays one."""
    if not names:
        return module
    return Parser(
        [token._replace(text=f"{token.text}${number}") if token.text in names else token for token in tokens]
    ).parse()


def merge(modules: list[Module]) -> Module:
    """Raises ImageError where two of them define the same."""
    merged = Module()
    for number, module in enumerate(modules):
        _renumber_files(module, max(merged.files, default=0))
        merged.version = max(merged.version, module.version)
        merged.target = max(merged.target, module.target, key=_order)
        merged.aliases.update(module.aliases)
        merged.files.update(module.files)
        for name, function in module.functions.items():
            merged.functions[name] = _chosen(merged.functions.get(name), function)
        for name, variable in module.variables.items():
            if name in merged.variables and not variable.linkage:
                variable.name = f"{name}${number}"  # static in a function, which knows it by itself
            merged.variables[variable.name] = _chosen(merged.variables.get(variable.name), variable)
    return merged


def _order(target: str) -> tuple[int, str]:
    """sm_100a is newer than sm_90."""
    digits = "".join(character for character in target if character.isdigit())
    return int(digits or 0), target


def _chosen(one: Thing | None, other: Thing) -> Thing:
    if one is None or not _is_defined(one):
        return other
    if not _is_defined(other) or other.linkage in ("weak", "common"):
        return one
    if one.linkage in ("weak", "common"):
        return other
    raise ImageError(INVALID_SOURCE, f"Multiple definition of '{other.name}'")


def _is_defined(thing: Function | Variable) -> bool:
    if isinstance(thing, Function):
        return thing.body is not None
    return thing.linkage != "extern" or thing.init is not None


def _check_references(module: Module) -> None:
    """Raises ImageError where something is used that no text defines."""
    used = {
        name
        for function in module.functions.values()
        for statement in function.body or ()
        if isinstance(statement, Instruction)
        for name in _symbols(statement.operands)
    }
    known: dict[str, Function | Variable] = {**module.functions, **module.variables}
    missing = [
        name
        for name in sorted(used & known.keys() - SERVICES.keys())
        if not _is_defined(known[name]) and getattr(known[name], "space", "") != "shared"
    ]
    if missing:
        raise ImageError(INVALID_SOURCE, "\n".join(f"Undefined reference to '{name}'" for name in missing))


def _symbols(operand: object) -> Iterator[str]:
    """Names of the module in an operand, or in a tuple of them."""
    if isinstance(operand, Symbol):
        if operand.variable is None:
            yield operand.name
    elif isinstance(operand, tuple):
        for item in operand:
            yield from _symbols(item)
    elif isinstance(operand, (Group, Vector)):
        yield from _symbols(operand.items)
    elif isinstance(operand, Address):
        yield from _symbols(operand.base)


def _renumber_files(module: Module, first: int) -> None:
    """Files of source, and the lines that name them, so that no number is another module's."""
    module.files = {number + first: name for number, name in module.files.items()}
    for function in module.functions.values():
        for statement in function.body or ():
            if isinstance(statement, Instruction) and statement.place is not None:
                number, line = statement.place
                statement.place = number + first, line
