# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Units: the parts of a program that LLVM compiles one by one, at the same time, and that are kept on disk one by one.

The text of a program is the texts of its units, each a whole module of LLVM below a line with the name of its entry. A
program with one changed unit compiles that unit alone, and a program whose file was edited elsewhere none.

The key of a unit is the hash of its text, with a placeholder for its name, and of all else that decides its code: this
package, LLVM, and what the target names. An entry has the name under which the unit was compiled, so that the code can
be renamed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from . import disk_cache, llvm, trace
from .versions import FOLDER, llvm_version, tree_hash

__all__ = ["Code", "Unit", "assembly", "codes_of", "joined", "units_of"]

KIND = "unit"
HEAD = re.compile(r"^; unit (\S*)\n", re.MULTILINE)
PLACEHOLDER = "@\0"
STRING = re.compile(r'c"([^"]*)"')


class Unit(NamedTuple):
    """A module of LLVM, and the name of its entry, with which all its global names begin; "" for other modules."""

    name: str
    text: str


class Code(NamedTuple):
    """The code of a unit. `name`: that of its entry in the code, which another unit may have given it."""

    name: str
    data: bytes


def joined(units: Sequence[Unit]) -> str:
    """Return the text of a program."""
    return "".join(f"; unit {name}\n{text}" for name, text in units)


def units_of(text: str) -> list[Unit]:
    """Return the units of a program. Other text is one unit without a name."""
    first, *rest = HEAD.split(text)
    return [Unit(*each) for each in zip(rest[::2], rest[1::2], strict=True)] or [Unit("", first)]


def codes_of(
    units: Sequence[Unit], depends_on: Sequence[str], compile_all: Callable[[list[str]], list[bytes]]
) -> list[Code]:
    """Return the code of each unit, from disk or compiled.

    Args:
        depends_on: The properties of the target that decide the code besides the text.
        compile_all: Returns the code of modules.
    """
    keeps = is_kept()
    keys = [key(unit, depends_on) for unit in units]
    found = {each: code for each in dict.fromkeys(keys) if keeps and (code := _load(each)) is not None}
    missing: dict[str, Unit] = {}
    for each, unit in zip(keys, units, strict=True):
        if each not in found:
            missing.setdefault(each, unit)
    made = compile_all([unit.text for unit in missing.values()])
    for (each, unit), data in zip(missing.items(), made, strict=True):
        found[each] = Code(unit.name, data)
        if keeps:
            disk_cache.write(KIND, each, f"{unit.name}\n".encode() + data, warns=False)
    return [found[each] for each in keys]


def assembly(text: str) -> str:
    """Return the assembly of a program for this CPU."""
    return "\n".join(llvm.assembly(unit.text) for unit in units_of(text))


def is_kept() -> bool:
    """Return whether units are kept on disk. With debug output all steps are visible, so nothing is kept."""
    return disk_cache.is_enabled() and trace.level() < trace.PASSES


def key(unit: Unit, depends_on: Sequence[str]) -> str:
    """Return the name of the entry of a unit."""
    text = unit.text
    if unit.name and not any(unit.name in each for each in STRING.findall(text)):
        text = text.replace(f"@{unit.name}", PLACEHOLDER)
    found = hashlib.sha256()
    for part in (text, source(), llvm_version(), *depends_on):
        data = part.encode()
        found.update(len(data).to_bytes(8, "little") + data)
    return found.hexdigest()


@cache
def source() -> str:
    """Return the hash of this package, whose passes decide the code."""
    return tree_hash(FOLDER)


def _load(name: str) -> Code | None:
    data = disk_cache.read(KIND, name)
    if data is None:
        return None
    head, _, code = data.partition(b"\n")
    return Code(head.decode(), code)
