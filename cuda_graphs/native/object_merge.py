# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Merges ELF objects for x86-64 into one, so that code that was compiled in parts is loaded as one object.

Sections of one name become one. Relocations and symbols move with their sections. A part may use symbols of another
part. This is `ld -r` for the objects that
linker.py links; it leaves out what that linker does not read: unwind tables, notes and debug information.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .linker import (
    ABSOLUTE,
    ALLOC,
    HEADER,
    NOBITS,
    RELA,
    RELOCATABLE,
    RELOCATION,
    SECTION,
    STRTAB,
    SYMBOL,
    SYMTAB,
    UNDEFINED,
    UNWIND,
    X86_64,
    Section,
    alignment_of,
    content,
    name_at,
    sections_of,
)

__all__ = ["Part", "merged"]

ELF = b"\x7fELF", 2, 1  # magic, 64 bits, little endian
VERSION = 1


class Part(NamedTuple):
    """An object, and {old: new} of names. Symbols whose names begin with an old one get the new beginning."""

    image: bytes
    names: dict[str, str]


@dataclass
class Output:
    """A section of the merged object, with its content so far."""

    name: str
    type: int
    flags: int
    size: int = 0
    align: int = 1
    entry_size: int = 0
    data: bytearray = field(default_factory=bytearray)
    relocations: bytearray = field(default_factory=bytearray)

    def append(self, data: bytes, size: int, align: int) -> int:
        """Add the content of a section and return its offset. Sections without content have only a size."""
        begin = -(-self.size // align) * align
        if self.type != NOBITS:
            self.data += bytes(begin - self.size) + data
        self.size, self.align = begin + size, max(self.align, align)
        return begin


class Symbols:
    """The symbol table: local symbols first, as ELF wants it, then those that the parts define, then all others."""

    def __init__(self) -> None:
        self.local = [SYMBOL.pack(0, 0, 0, 0, 0, 0)]
        self.others: list[bytes] = []
        self.numbers: dict[str, int] = {}  # of others, by name
        self.undefined: dict[str, bytes] = {}
        self.names = bytearray(1)

    def name(self, text: str) -> int:
        begin = len(self.names)
        self.names += text.encode() + b"\0"
        return begin

    def add(self, name: str, row: bytes) -> None:
        """Add a symbol that is not local."""
        self.numbers[name] = len(self.others)
        self.others.append(row)

    def number(self, symbol: int | str) -> int:
        """Return the number of a local symbol, or of another one by its name, once all are added."""
        return symbol if isinstance(symbol, int) else len(self.local) + self.numbers[symbol]


def merged(parts: Sequence[Part]) -> bytes:
    """Return one object with the code of all parts. One part without new names is returned unchanged.

    Raises RuntimeError or struct.error for an object that is damaged.
    """
    if len(parts) == 1 and not parts[0].names:
        return parts[0].image
    outputs: dict[tuple[str, int, int], Output] = {}
    symbols = Symbols()
    moves = []  # (relocations, {symbol of the part: symbol of the result}) of each section
    for part in parts:
        moves += add(part, outputs, symbols)
    for name, row in symbols.undefined.items():
        if name not in symbols.numbers:
            symbols.add(name, row)
    for output, offset, rows, found in moves:
        for place, info, addend in RELOCATION.iter_unpack(rows):
            symbol = symbols.number(found[info >> 32])
            output.relocations += RELOCATION.pack(place + offset, symbol << 32 | info & 0xFFFFFFFF, addend)
    return written(list(outputs.values()), symbols)


Move = tuple[Output, int, bytes, dict[int, int | str]]


def add(part: Part, outputs: dict[tuple[str, int, int], Output], symbols: Symbols) -> list[Move]:
    """Add the sections and symbols of a part. Return its relocations, whose symbols have no final numbers yet."""
    sections = sections_of(part.image)
    places: dict[int, tuple[Output, int]] = {}
    for number, each in enumerate(sections):
        if each.flags & ALLOC and each.name != UNWIND and each.type not in (RELA, SYMTAB, STRTAB):
            output = outputs.setdefault(
                (each.name, each.type, each.flags), Output(each.name, each.type, each.flags)
            )
            output.entry_size = each.entry_size
            data = b"" if each.type == NOBITS else content(part.image, each)
            places[number] = output, output.append(data, each.size, alignment_of(each))
    positions = {id(output): number for number, output in enumerate(outputs.values(), 1)}
    numbers: dict[int, int | str] = {}
    for table in sections:
        if table.type == SYMTAB:
            text = content(part.image, sections[table.link])
            rows = SYMBOL.iter_unpack(content(part.image, table))
            for number, (name, info, other, section, value, size) in enumerate(rows):
                if section in places:
                    output, offset = places[section]
                    section, value = positions[id(output)], value + offset
                elif section not in (UNDEFINED, ABSOLUTE):
                    continue  # of a section that is left out
                found = renamed(name_at(text, name), part.names)
                numbers[number] = enter(symbols, found, info, other, section, value, size)
    return [
        (*places[each.info], content(part.image, each), numbers)
        for each in sections
        if each.type == RELA and each.info in places
    ]


def renamed(name: str, names: dict[str, str]) -> str:
    for old, new in names.items():
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name


def enter(
    symbols: Symbols, name: str, info: int, other: int, section: int, value: int, size: int
) -> int | str:
    """Add a symbol. Return the number of a local one, and the name of another one."""
    if section == UNDEFINED and not name:
        return 0
    if section == UNDEFINED and name in symbols.undefined:
        return name
    row = SYMBOL.pack(symbols.name(name) if name else 0, info, other, section, value, size)
    if info >> 4 == 0:
        symbols.local.append(row)
        return len(symbols.local) - 1
    if section == UNDEFINED:
        symbols.undefined[name] = row
    else:
        symbols.add(name, row)
    return name


class File:
    """An object file, section by section, and the table of its sections."""

    def __init__(self) -> None:
        self.body = bytearray(HEADER.size)
        self.names = bytearray(1)
        self.rows = [bytes(SECTION.size)]

    def add(self, section: Section, data: bytes | bytearray) -> None:
        self.body += bytes(-len(self.body) % section.align)
        fields = section._replace(begin=len(self.body))
        name, begin = len(self.names), fields.begin
        self.rows.append(
            SECTION.pack(
                name, fields.type, fields.flags, 0, begin, fields.size,
                fields.link, fields.info, fields.align, fields.entry_size,
            )
        )  # fmt: skip
        self.names += section.name.encode() + b"\0"
        self.body += data

    def add_table(
        self, name: str, kind: int, data: bytes | bytearray, link: int, info: int, each: int
    ) -> None:
        """Add a section that is not part of the program."""
        self.add(Section(name, kind, 0, 0, len(data), link, info, 8 if each else 1, each), data)

    def finished(self) -> bytes:
        """Return the file, with the names of its sections as the last section."""
        names = bytes(self.names) + b".shstrtab\0"
        self.add_table(".shstrtab", STRTAB, names, 0, 0, 0)
        self.body += bytes(-len(self.body) % 8)
        count, begin = len(self.rows), len(self.body)
        self.body[: HEADER.size] = HEADER.pack(
            *ELF, RELOCATABLE, X86_64, VERSION, 0, 0, begin, 0, HEADER.size, 0, 0, SECTION.size, count, count - 1
        )  # fmt: skip
        self.body[6] = VERSION  # of the identification
        return bytes(self.body) + b"".join(self.rows)


def written(outputs: list[Output], symbols: Symbols) -> bytes:
    """Return the object file: its sections, their relocations, and the symbols."""
    file = File()
    moving = [(number, each) for number, each in enumerate(outputs, 1) if each.relocations]
    table = len(outputs) + len(moving) + 1
    for each in outputs:
        section = Section(each.name, each.type, each.flags, 0, each.size, 0, 0, each.align, each.entry_size)
        file.add(section, each.data)
    for number, each in moving:
        file.add_table(f".rela{each.name}", RELA, each.relocations, table, number, RELOCATION.size)
    rows = b"".join([*symbols.local, *symbols.others])
    file.add_table(".symtab", SYMTAB, rows, table + 1, len(symbols.local), SYMBOL.size)
    file.add_table(".strtab", STRTAB, symbols.names, 0, 0, 0)
    return file.finished()
