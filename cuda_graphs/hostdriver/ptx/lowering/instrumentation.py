# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Instrumentation for a driver that checks programs (`cgh_services.wants`). The driver may ask for a call at each
access, and may choose the order of the threads of a block. Each access has a site, a constant of the module
(`cgh_site`), which describes the access and its place in the program.

    call void access(ptr address, i64 4, ptr @site.3, i32 tid.x .. tid.z, i32 ctaid.x .. ctaid.z)
    store float %v, ptr address
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .function import FunctionLowering
    from .module import ModuleLowering

ACCESSES, ORDER = 1, 2  # bits of cgh_services.wants

# Bits of cgh_site.flags.
READ, WRITE, STRONG, RELEASE, SHARED, FENCE, AFTER = 1, 2, 4, 8, 16, 32, 64

PLACE = ("tid.x", "tid.y", "tid.z", "ctaid.x", "ctaid.y", "ctaid.z")


class Wants(NamedTuple):
    """The instrumentation that the driver asks for; by default none."""

    accesses: bool = False
    order: bool = False

    @classmethod
    def of(cls, bits: int) -> Wants:
        return cls(bool(bits & ACCESSES), bool(bits & ORDER))


NOTHING = Wants()


class Sites:
    """The sites of a module, and their strings."""

    def __init__(self, module: ModuleLowering):
        self.module = module
        self.lines: list[str] = []
        self.texts: dict[str, str] = {}
        self.known: dict[tuple, str] = {}

    def text(self) -> str:
        return "\n".join(self.lines)

    def site(self, file: str, line: int, ptx_line: int, opcode: str, flags: int) -> str:
        key = (file, line, ptx_line, opcode, flags)
        if key not in self.known:
            name = self.known[key] = f"@site.{len(self.known)}"
            numbers = ", ".join(f"i32 {n}" for n in (line, ptx_line, flags, 0))
            fields = f"ptr {self._constant(file)}, ptr {self._constant(opcode)}, {numbers}"
            self.lines.append(f"{name} = private constant {{ ptr, ptr, i32, i32, i32, i32 }} {{ {fields} }}")
        return self.known[key]

    def _constant(self, text: str) -> str:
        if not text:
            return "null"
        if text not in self.texts:
            name = self.texts[text] = f"@text.{len(self.texts)}"
            data = text.encode() + b"\0"
            escaped = "".join(f"\\{byte:02X}" for byte in data)
            self.lines.append(f'{name} = private constant [{len(data)} x i8] c"{escaped}"')
        return self.texts[text]


def tell(f: FunctionLowering, pointer: str, size: int | str, flags: int) -> None:
    """Emits a call that reports an access of the current instruction; a fence has no address.

    `size` may be a 64-bit register.
    """
    ins = f.instruction
    if not f.module.wants.accesses or ins is None:
        return
    number, line = ins.place or (0, 0)
    file = f.module.module.files.get(number, "")
    site = f.module.sites.site(file, line, ins.line, ins.opcode, flags)
    values = [f"ptr {pointer}", f"i64 {size}", f"ptr {site}", *(f"i32 {f.hidden(name)}" for name in PLACE)]
    f.lines.append(f.module.prelude.service_call("", "access", "void", ", ".join(values)))
