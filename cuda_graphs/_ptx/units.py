# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Several PTX texts -> one syntax.Module: what cuLink* makes of its inputs.

The driver's linker (`_hostdriver/api/link.cpp`) gives back the texts one after the other, behind a line with their
lengths in bytes. A name for messages may follow a length, as hexadecimal UTF-8:

    // linked by the host driver of cuda_graphs: whole 1234:6d61696e 567

`parts` instead of `whole` asks for a look at each text alone, as not all of them are there yet (loader.py).
References go by name. A definition takes the place of a declaration, and one that is not weak that of a weak one.
Names without linkage are those of their own text: where another has the same, they get its number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from .errors import INVALID_IMAGE, INVALID_SOURCE, ImageError, invalid_ptx
from .lexer import Token, tokenize
from .module import check_instructions
from .ops.calls import SERVICES
from .parser import Parser
from .syntax import Address, Function, Group, Instruction, Module, Symbol, Variable, Vector

Thing = TypeVar("Thing", Function, Variable)


class Unit(NamedTuple):
    """One of the texts."""

    text: str
    name: str  # "" where the program gave none


HEAD = "// linked by the host driver of cuda_graphs: "


def parse(text: str) -> Module:
    """The module of PTX text, linked or as it was written."""
    if not text.startswith(HEAD):
        return Parser(tokenize(text)).parse()
    units = _split(text, HEAD + "whole")
    read = [tokenize(unit.text) for unit in units]
    modules = _apart([Parser(tokens).parse() for tokens in read], read)
    names = [unit.name for unit in units]
    used = [_used(module) for module in modules]  # before a module may change in the merged one
    merged = merge(modules, names)
    _check_references(merged, used, names)
    return merged


def check(text: str) -> None:
    """Raises ImageError where one of the texts is wrong by itself, or two of them do not fit together."""
    units = _split(text, HEAD + "parts")
    if not all(unit.text.lstrip().startswith(("//", "/*", ".version")) for unit in units):
        raise ImageError(INVALID_IMAGE, "an input is neither PTX text nor anything else that is known")
    read = [tokenize(unit.text) for unit in units]
    modules = [Parser(tokens).parse() for tokens in read]
    for module in modules:
        check_instructions(module)
    merge(_apart(modules, read), [unit.name for unit in units])


def _split(text: str, start: str) -> list[Unit]:
    """The texts; of a text that was linked before, those that it is made of."""
    head, _, rest = text.partition("\n")
    data = rest.encode()
    longest = len(str(len(data)))
    parts = [part.partition(":") for part in head.removeprefix(start).split()]
    lengths = [length for length, _, _ in parts]
    if not lengths or not all(length.isdecimal() and len(length) <= longest for length in lengths):
        raise invalid_ptx("line 1: this is not what the linker writes")
    if sum(map(int, lengths)) != len(data):
        raise invalid_ptx("line 1: the lengths of what was linked do not agree")
    found: list[Unit] = []
    at = 0
    for length, name in zip(map(int, lengths), (_name(part) for _, _, part in parts), strict=True):
        try:
            unit = data[at : at + length].decode()
        except UnicodeDecodeError:
            raise invalid_ptx("line 1: a length ends inside of a character") from None
        found += _split(unit, HEAD + "whole") if unit.startswith(HEAD) else [Unit(unit, name)]
        at += length
    return found


def _name(part: str) -> str:
    try:
        return bytes.fromhex(part).decode(errors="replace")
    except ValueError:
        raise invalid_ptx("line 1: a name is not what the linker writes") from None


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


def merge(modules: list[Module], names: list[str]) -> Module:
    """Raises ImageError where two of them define the same, or declare a function in different ways."""
    merged = Module()
    first: dict[str, str] = {}  # name of a function or variable -> that of the module that has it
    for number, (module, unit) in enumerate(zip(modules, names, strict=True)):
        _renumber_files(module, max(merged.files, default=0))
        merged.version = max(merged.version, module.version)
        merged.target = max(merged.target, module.target, key=_order)
        merged.aliases.update(module.aliases)
        merged.files.update(module.files)
        used = _used(module)
        for name, function in module.functions.items():
            if function.body is None and name not in used:
                continue  # the driver's compiler drops such a declaration, so its prototype is never compared
            before = merged.functions.get(name)
            if before is not None and _prototype(before) != _prototype(function):
                raise _refused(f"Prototype doesn't match for '{name}'", unit, "first declared", first[name])
            if before is None or _chosen(before, function, unit, first[name]) is not before:
                merged.functions[name], first[name] = function, unit
        for name, variable in module.variables.items():
            if name in merged.variables and not variable.linkage:
                variable.name = f"{name}${number}"  # static in a function, which knows it by itself
            seen = merged.variables.get(variable.name)
            if seen is None or _chosen(seen, variable, unit, first[variable.name]) is not seen:
                merged.variables[variable.name], first[variable.name] = variable, unit
    return merged


def _order(target: str) -> tuple[int, str]:
    """sm_100a is newer than sm_90."""
    digits = "".join(character for character in target if character.isdigit())
    return int(digits or 0), target


def _prototype(function: Function) -> tuple[list[int], list[int]]:
    """Sizes in bytes of what a function gives and takes: .b32 and .f32 are passed alike."""
    returns, params = ([variable.bytes for variable in side] for side in (function.returns, function.params))
    return returns, params


def _refused(what: str, unit: str, verb: str = "", other: str = "") -> ImageError:
    """In the words of libcuda, which writes them to the error log of a link."""
    places = (f" in '{unit}'" if unit else "") + (f", {verb} in '{other}'" if unit and other else "")
    return ImageError(INVALID_SOURCE, f"error   : {what}{places}")


def _chosen(one: Thing, other: Thing, unit: str, first: str) -> Thing:
    if not _is_defined(one):
        return other
    if not _is_defined(other) or other.linkage in ("weak", "common"):
        return one
    if one.linkage in ("weak", "common"):
        return other
    raise _refused(f"Multiple definition of '{other.name}'", unit, "first defined", first)


def _is_defined(thing: Function | Variable) -> bool:
    if isinstance(thing, Function):
        return thing.body is not None
    return thing.linkage != "extern" or thing.init is not None


def _used(module: Module) -> set[str]:
    """Names of the module's functions and variables that its code has operands of."""
    return {
        name
        for function in module.functions.values()
        for statement in function.body or ()
        if isinstance(statement, Instruction)
        for name in _symbols(statement.operands)
    } & _names(module)


def _check_references(merged: Module, used: list[set[str]], units: list[str]) -> None:
    """Raises ImageError where a text uses what none defines."""
    known: dict[str, Function | Variable] = {**merged.functions, **merged.variables}
    missing = {
        name
        for name, thing in known.items()
        if not _is_defined(thing) and name not in SERVICES and getattr(thing, "space", "") != "shared"
    }
    found = [
        str(_refused(f"Undefined reference to '{name}'", unit))
        for names, unit in zip(used, units, strict=True)
        for name in sorted(names & missing)
    ]
    if found:
        raise ImageError(INVALID_SOURCE, "\n".join(found))


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
