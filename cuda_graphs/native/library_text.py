# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of a library that is a module of LLVM, as text.

A module is linked with the functions that it calls, and what they refer to. The whole of libdevice, some 570 functions,
takes 35 ms to link, and 60 ms until LLVM has dropped the rest: for each module, and an entry of a kernel is one. Its
text takes 130 ms, once in a process, and a part of it 2 ms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["Library"]

# An item begins a line: a function, a variable, a type, a group of attributes or metadata.
ITEM = re.compile(r"\n(?=define |declare |@|%|attributes |!)")
NAME = re.compile(r"(?:define|declare) [^@\n]*(@[\w.$]+)\(|(?:attributes )?([@%#!][\w.$]+) =")
REFERENCE = re.compile(r"[@#!][\w.$]+|%[A-Za-z_][\w.$]*")


class Library:
    """A module whose items have names without quotes."""

    def __init__(self, text: str) -> None:
        self.items: dict[str, str] = {}  # by name, in the order of the text: a type is before its uses
        for item in ITEM.split(text):
            name = NAME.match(item)
            if name is not None:
                self.items[name[1] or name[2]] = item

    def part(self, functions: Iterable[str]) -> str:
        """Return a module with those of the functions that the library defines, and all that they refer to."""
        wanted = [f"@{name}" for name in functions]
        found: set[str] = set()
        while wanted:
            name = wanted.pop()
            if name in self.items and name not in found:
                found.add(name)
                wanted += REFERENCE.findall(self.items[name])
        return "\n".join(item for name, item in self.items.items() if name in found)
