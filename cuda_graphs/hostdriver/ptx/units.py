# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Links several PTX texts into one syntax.Module: the inputs of cuLink*.

The driver's linker (`hostdriver/api/code/link.cpp`) passes the texts one after the other, behind a line with their
lengths in bytes. A name for messages may follow a length, as hexadecimal UTF-8:

    // linked by the host driver of cuda_graphs: whole 1234:6d61696e 567

With `parts` instead of `whole`, each text is only checked, because more texts may follow (loader.py). References
resolve by name. A definition replaces a declaration, and a strong definition replaces a weak one. A name without
linkage belongs to its own text: if another text has the same name, the number of the text is appended.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from cuda_graphs.hostdriver.ptx.module_lowering import check_instructions
from cuda_graphs.hostdriver.ptx.ops.calls import SERVICES
from cuda_graphs.hostdriver.ptx.syntax.lexer import Token, tokenize
from cuda_graphs.hostdriver.ptx.syntax.parser import Parser
from cuda_graphs.hostdriver.ptx.syntax.syntax import (
    Address,
    Function,
    Group,
    Instruction,
    Module,
    Symbol,
    Variable,
    Vector,
)

from .errors import INVALID_IMAGE, INVALID_SOURCE, ImageError, invalid_ptx

Thing = TypeVar("Thing", Function, Variable)


class Unit(NamedTuple):
    """One PTX text."""

    text: str
    name: str  # name for messages; "" if the program gave none


HEAD = "// linked by the host driver of cuda_graphs: "


def parse(text: str) -> Module:
    """Returns the module of PTX text, linked or as the compiler wrote it."""
    if not text.startswith(HEAD):
        return Parser(tokenize(text)).parse()
    units = _split(text, HEAD + "whole")
    read = [tokenize(unit.text) for unit in units]
    modules = _with_unique_names([Parser(tokens).parse() for tokens in read], read)
    names = [unit.name for unit in units]
    used = [_used(module) for module in modules]  # computed before merging may change a module
    merged = merge(modules, names)
    _check_references(merged, used, names)
    return merged


def check_parts(text: str) -> None:
    """Raises ImageError if one of the texts is invalid by itself, or if two of them conflict."""
    units = _split(text, HEAD + "parts")
    if not all(unit.text.lstrip().startswith(("//", "/*", ".version")) for unit in units):
        raise ImageError(INVALID_IMAGE, "an input is neither PTX text nor another known format")
    read = [tokenize(unit.text) for unit in units]
    modules = [Parser(tokens).parse() for tokens in read]
    for module in modules:
        check_instructions(module)
    merge(_with_unique_names(modules, read), [unit.name for unit in units])


def _split(text: str, start: str) -> list[Unit]:
    """Returns the texts. A text that was linked before is split into its own texts."""
    head, _, rest = text.partition("\n")
    data = rest.encode()
    longest = len(str(len(data)))
    parts = [part.partition(":") for part in head.removeprefix(start).split()]
    lengths = [length for length, _, _ in parts]
    if not lengths or not all(length.isdecimal() and len(length) <= longest for length in lengths):
        raise invalid_ptx("line 1: the list of lengths is not in the linker's format")
    if sum(map(int, lengths)) != len(data):
        raise invalid_ptx("line 1: the lengths of the linked texts do not match the text")
    found: list[Unit] = []
    at = 0
    for length, name in zip(map(int, lengths), (_name(part) for _, _, part in parts), strict=True):
        try:
            unit = data[at : at + length].decode()
        except UnicodeDecodeError:
            raise invalid_ptx("line 1: a length ends inside a character") from None
        found += _split(unit, HEAD + "whole") if unit.startswith(HEAD) else [Unit(unit, name)]
        at += length
    return found


def _name(part: str) -> str:
    try:
        return bytes.fromhex(part).decode(errors="replace")
    except ValueError:
        raise invalid_ptx("line 1: a name is not in the linker's format") from None


def _with_unique_names(modules: list[Module], read: list[list[Token]]) -> list[Module]:
    """Returns the modules with unique names for local definitions. The first module keeps its names where possible."""
    shared = {name for module in modules for name in _names(module) - _local_names(module)}
    before: set[str] = set()
    renamed = []
    for number, (module, tokens) in enumerate(zip(modules, read, strict=True)):
        renamed.append(_with_own_names(module, tokens, number, _local_names(module) & (shared | before)))
        before |= _names(module)
    return renamed


def _names(module: Module) -> set[str]:
    return {*module.functions, *module.variables}


def _local_names(module: Module) -> set[str]:
    functions = {f.name for f in module.functions.values() if not f.linkage and not f.is_entry}
    return functions | {name for name, variable in module.variables.items() if not variable.linkage}


def _with_own_names(module: Module, tokens: list[Token], number: int, names: set[str]) -> Module:
    """Returns the module with `$number` appended to each of `names`, at its definition and at all of its uses."""
    if not names:
        return module
    return Parser(
        [token._replace(text=f"{token.text}${number}") if token.text in names else token for token in tokens]
    ).parse()


def merge(modules: list[Module], names: list[str]) -> Module:
    """Merges modules. Raises ImageError for two definitions of a name, or for prototypes that differ."""
    merged = Module()
    first: dict[str, str] = {}  # name of a function or variable -> name of the module that has it
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
                variable.name = f"{name}${number}"  # a static variable of a function
            seen = merged.variables.get(variable.name)
            if seen is None or _chosen(seen, variable, unit, first[variable.name]) is not seen:
                merged.variables[variable.name], first[variable.name] = variable, unit
    return merged


def _order(target: str) -> tuple[int, str]:
    """Returns a sort key of targets: sm_100a is newer than sm_90."""
    digits = "".join(character for character in target if character.isdigit())
    return int(digits or 0), target


def _prototype(function: Function) -> tuple[list[int], list[int]]:
    """Returns the bytes of a function's results and parameters: .b32 and .f32 are passed alike."""
    returns, params = ([variable.bytes for variable in side] for side in (function.returns, function.params))
    return returns, params


def _refused(what: str, unit: str, verb: str = "", other: str = "") -> ImageError:
    """Returns the error in the words of libcuda, which writes them to the error log of a link."""
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
    """Returns the names of the module's functions and variables that its instructions use as operands."""
    return {
        name
        for function in module.functions.values()
        for statement in function.body or ()
        if isinstance(statement, Instruction)
        for name in _symbols(statement.operands)
    } & _names(module)


def _check_references(merged: Module, used: list[set[str]], units: list[str]) -> None:
    """Raises ImageError if a text uses a name that no text defines."""
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
    """Yields the module's names in an operand, or in a tuple of operands."""
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
    """Renumbers source files, and the lines that refer to them, so that no two modules share a number."""
    module.files = {number + first: name for number, name in module.files.items()}
    for function in module.functions.values():
        for statement in function.body or ():
            if isinstance(statement, Instruction) and statement.location is not None:
                number, line = statement.location
                statement.location = number + first, line
