# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Instrumentation for a driver that checks programs (`cgh_services.wants`). The driver may ask for a call at each
access, and may choose the order of the threads of a block. Each access has a site, a constant of the module
(`cgh_site`), which describes the access and its place in the program.

    call void access(ptr address, i64 4, ptr @site.3, i32 tid.x .. tid.z, i32 ctaid.x .. ctaid.z)
    store float %v, ptr address
"""

from __future__ import annotations

from typing import NamedTuple

from cuda_graphs.native.access_sites import site_constant
from cuda_graphs.native.function_text import constant_string

ACCESSES, ORDER, FAST = 1, 2, 4  # bits of cgh_services.wants


class Wants(NamedTuple):
    """The code that the driver asks for; by default code without instrumentation, and with the bits of a GPU."""

    accesses: bool = False
    order: bool = False
    fast: bool = False

    @classmethod
    def of(cls, bits: int) -> Wants:
        return cls(*(bool(bits & bit) for bit in (ACCESSES, ORDER, FAST)))


NOTHING = Wants()


class Sites:
    """The sites of a module, and their strings."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.texts: dict[str, str] = {}
        self.known: dict[tuple, str] = {}

    def text(self) -> str:
        return "\n".join(self.lines)

    def site(self, file: str, line: int, ptx_line: int, opcode: str, flags: int) -> str:
        key = (file, line, ptx_line, opcode, flags)
        if key not in self.known:
            name = self.known[key] = f"@site.{len(self.known)}"
            constant = site_constant(self._string(file), self._string(opcode), line, ptx_line, flags, 0)
            self.lines.append(f"{name} = {constant}")
        return self.known[key]

    def _string(self, text: str) -> str:
        """Returns a pointer to a string, or "null" for an empty text."""
        if not text:
            return "null"
        if text not in self.texts:
            name = self.texts[text] = f"@text.{len(self.texts)}"
            self.lines.append(f"{name} = private constant {constant_string(text)}")
        return self.texts[text]
