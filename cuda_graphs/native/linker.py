# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Links an ELF object for x86-64 into this process (System V ABI, AMD64 supplement, 4.4), without LLVM.

LLVM's library takes longer to load than all else in a first call whose code comes from the disk cache. The first call
of a saxpy kernel takes 23.5 ms of CPU time with this linker (22.7 to 24.3), and 44.4 ms (42.6 to 46.2) if llvmlite is
imported and JITLink links the same object: medians of 11 processes each, Intel Xeon, 2 cores, LLVM of llvmlite 0.50,
2026-11-23. Besides, a damaged object is an error here; LLVM ends the process.

Objects are compiled with the large code model and without position independence (llvm.CODE_MODEL). Their only
relocations are 64-bit addresses, which may be anywhere, so linking copies sections and adds addresses. Unwind tables
are left out: nothing unwinds through generated code, and services leave it by longjmp (image_loader.h).

The host driver links native images in the same way, in C++ (hostdriver/loader/object_code.cpp). This linker is for code
that Python translates from PTX.

Anything else in an object raises an error. Lengths and offsets from the object are checked before use.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

__all__ = ["LinkedObject", "Section", "content", "is_linkable", "name_at", "sections_of"]

# <elf.h>
RELOCATABLE, X86_64 = 1, 62  # e_type, e_machine
SYMTAB, STRTAB, RELA, NOBITS = 2, 3, 4, 8  # sh_type
WRITE, ALLOC, EXECUTE = 1, 2, 4  # sh_flags
UNDEFINED, ABSOLUTE = 0, 0xFFF1  # st_shndx
LOCAL = 0  # the upper half of st_info
R_X86_64_64 = 1
UNWIND = ".eh_frame"

HEADER = struct.Struct("<4sBB10xHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQq")
WORD = struct.Struct("<Q")

MOST = 1 << 30  # the most bytes of a linked object in memory

# Libraries whose functions code may call: those of the process, libm, and GCC's library. From the latter (since GCC 12)
# CPUs without F16C take the conversions of f16.
LIBRARIES = (None, "libm.so.6", "libgcc_s.so.1")


@cache
def _library(name: str | None) -> ctypes.CDLL:
    return ctypes.CDLL(name, use_errno=True)


libc = _library(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
FAILED = ctypes.c_void_p(-1).value


class Section(NamedTuple):
    name: str
    type: int
    flags: int
    begin: int
    size: int
    link: int
    info: int
    align: int
    entry_size: int


class Symbol(NamedTuple):
    name: str
    is_local: bool
    section: int
    value: int


def is_linkable(image: bytes) -> bool:
    """Return whether the image is a relocatable object for x86-64."""
    if len(image) < HEADER.size:
        return False
    magic, bits, order, kind, machine, *_ = HEADER.unpack_from(image)
    return (magic, bits, order, kind, machine) == (b"\x7fELF", 2, 1, RELOCATABLE, X86_64)


class LinkedObject:
    """Code in this process. `imports`: addresses by name; other names are looked up in the process.

    Raises RuntimeError if the image is not a valid object, or if it uses an undefined name.
    """

    def __init__(self, image: bytes, imports: Mapping[str, int]) -> None:
        self.address = self.size = 0
        try:
            sections, symbols = _read(image)
            offsets, self.size, spans = _layout(sections)
            self.address = _memory(self.size)
            self._copy(image, sections, offsets)
            values = [self._value(symbol, offsets, imports) for symbol in symbols]
            self._relocate(image, sections, offsets, values)
        except (struct.error, IndexError, KeyError, ValueError, OverflowError) as error:
            self.close()
            raise RuntimeError(f"the object is damaged ({type(error).__name__}: {error})") from None
        except BaseException:
            self.close()
            raise
        for begin, end, protection in spans:
            if libc.mprotect(self.address + begin, end - begin, protection):
                self.close()
                raise _failed("protect")
        self.exports = {
            symbol.name: value
            for symbol, value in zip(symbols, values, strict=True)
            if not symbol.is_local and symbol.section != UNDEFINED and value is not None
        }

    def __getitem__(self, symbol: str) -> int:
        """Return the address of an exported symbol."""
        return self.exports[symbol]

    def _copy(self, image: bytes, sections: list[Section], offsets: dict[int, int]) -> None:
        for number, place in offsets.items():
            section = sections[number]
            if section.type != NOBITS:
                ctypes.memmove(self.address + place, content(image, section), section.size)

    def _value(self, symbol: Symbol, offsets: dict[int, int], imports: Mapping[str, int]) -> int | None:
        """Return the address of a symbol, or None if no relocation can refer to it."""
        if symbol.section in offsets:
            return self.address + offsets[symbol.section] + symbol.value
        if symbol.section == ABSOLUTE:
            return symbol.value
        if symbol.section != UNDEFINED or not symbol.name:
            return None
        return imports[symbol.name] if symbol.name in imports else _in_process(symbol.name)

    def _relocate(
        self, image: bytes, sections: list[Section], offsets: dict[int, int], values: list[int | None]
    ) -> None:
        for section in sections:
            if section.type != RELA or section.info not in offsets:
                continue
            place, size = offsets[section.info], sections[section.info].size
            for offset, info, addend in RELOCATION.iter_unpack(content(image, section)):
                value = values[info >> 32]
                if info & 0xFFFFFFFF != R_X86_64_64 or value is None or offset + WORD.size > size:
                    raise RuntimeError(
                        f"relocation type {info & 0xFFFFFFFF} at offset {offset} is not supported"
                    )
                word = WORD.pack((value + addend) & 0xFFFFFFFFFFFFFFFF)
                ctypes.memmove(self.address + place + offset, word, WORD.size)

    def close(self) -> None:
        """Free the memory."""
        address, self.address = self.address, 0
        if address:
            libc.munmap(address, self.size)


def sections_of(image: bytes) -> list[Section]:
    """Return the sections of an object."""
    if not is_linkable(image):
        raise RuntimeError("this is not an object for x86-64")
    *_, table, _, _, _, _, each, count, names = HEADER.unpack_from(image)
    if each != SECTION.size:
        raise RuntimeError("the object's section headers have an unknown size")
    rows = [SECTION.unpack_from(image, table + i * each) for i in range(count)]
    _, kind, _, _, begin, size, *_ = rows[names]
    text = content(image, Section("", kind, 0, begin, size, 0, 0, 1, 0))
    return [
        Section(name_at(text, name), kind, flags, begin, size, link, info, align, entry_size)
        for name, kind, flags, _, begin, size, link, info, align, entry_size in rows
    ]


def _read(image: bytes) -> tuple[list[Section], list[Symbol]]:
    """Return the sections and symbols of an object."""
    sections = sections_of(image)
    symbols: list[Symbol] = []
    for section in sections:
        if section.type == SYMTAB:
            text = content(image, sections[section.link])
            symbols += [
                Symbol(name_at(text, name), info >> 4 == LOCAL, where, value)
                for name, info, _, where, value, _ in SYMBOL.iter_unpack(content(image, section))
            ]
    return sections, symbols


def content(image: bytes, section: Section) -> bytes:
    """Return the bytes of a section. Raises RuntimeError."""
    if section.begin + section.size > len(image):
        raise RuntimeError("the object ends inside a section")
    return image[section.begin : section.begin + section.size]


def name_at(text: bytes, at: int) -> str:
    """Return a name in a table of names."""
    return text[at : text.index(b"\0", at)].decode() if at < len(text) else ""


Span = tuple[int, int, int]
PROTECTIONS = (
    (EXECUTE, mmap.PROT_READ | mmap.PROT_EXEC),
    (0, mmap.PROT_READ),
    (WRITE, mmap.PROT_READ | mmap.PROT_WRITE),
)


def alignment_of(section: Section) -> int:
    """Return the alignment of a section in bytes.

    Raises RuntimeError for one that is not a power of two up to a page, and for a section that is too large.
    """
    align = max(section.align, 1)
    if align & (align - 1) or align > mmap.PAGESIZE or section.size > MOST:
        raise RuntimeError(f"section {section.name} has an unsupported alignment or size")
    return align


def _layout(sections: list[Section]) -> tuple[dict[int, int], int, list[Span]]:
    """Return (offset of each section, bytes of all, spans of equal protection). Each page has one protection."""
    offsets: dict[int, int] = {}
    spans: list[Span] = []
    end = 0
    for kind, protection in PROTECTIONS:
        begin = end
        for number, section in enumerate(sections):
            if (
                not section.flags & ALLOC
                or section.name == UNWIND
                or kind != section.flags & (WRITE | EXECUTE)
            ):
                continue
            align = alignment_of(section)
            end = -(-end // align) * align
            offsets[number] = end
            end += section.size
        end = -(-end // mmap.PAGESIZE) * mmap.PAGESIZE
        if end > begin:
            spans.append((begin, end, protection))
    if end > MOST:
        raise RuntimeError("the object is too large")
    return offsets, end, spans


def _memory(size: int) -> int:
    protection, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    found = libc.mmap(None, max(size, 1), protection, flags, -1, 0)
    if found in (None, FAILED):
        raise _failed("map")
    return int(found)


def _failed(what: str) -> RuntimeError:
    return RuntimeError(f"the system does not {what} memory for the object (errno {ctypes.get_errno()})")


def _in_process(name: str) -> int:
    for library in LIBRARIES:
        try:
            return int(ctypes.cast(_library(library)[name], ctypes.c_void_p).value or 0)
        except (AttributeError, OSError):
            continue
    raise RuntimeError(f"the object uses {name}, which is not defined in this process")
