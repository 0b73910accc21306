# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Merges PTX of units that were compiled one by one into one module.

LLVM writes a module as a head (version, target, size of addresses) and items: declarations, constants, shared memory
and functions. Entries have names of their own. Items that are equal in two units, such as declarations of functions of
the system, are needed once. Other items of one name, such as constant strings, get new names: no other unit refers to
them. A function may be declared before its body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

__all__ = ["merged_ptx"]

HEAD = (".version", ".target", ".address_size")
NAME = re.compile(r"\.(?:func|entry)\s+(?:\([^)]*\)\s*)?([\w$]+)|\s([\w$]+)(?:\[\d*\])*\s*(?:=|;)")


def merged_ptx(parts: Sequence[str]) -> str:
    """Return the module of all parts, which are for the same target."""
    if len(parts) == 1:
        return parts[0]
    head, _ = split(parts[0])
    known: dict[tuple[str, bool], str] = {}  # (name, whether it is a function with its body) -> item
    found = ["\n".join(head)]
    for number, part in enumerate(parts):
        items = [((name, item.endswith("}")), item) for name, item in items_of(split(part)[1])]
        renames = {
            key[0]: f"{key[0]}_{number}"
            for key, item in items
            if known.get(key, item) != item and not item.startswith(".extern")
        }
        for (name, has_body), item in items:
            key = renames.get(name, name), has_body
            if key not in known:
                known[key] = renamed(item, renames)
                found.append(known[key])
    return "\n".join(found) + "\n"


def split(text: str) -> tuple[list[str], list[str]]:
    """Return the lines of the head of a module, and the others."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("//") and line.strip()]
    return [line for line in lines if line.startswith(HEAD)], [
        line for line in lines if not line.startswith(HEAD)
    ]


def items_of(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of each item. A function ends with its brace, and all else with a semicolon."""
    item: list[str] = []
    is_function = False
    for line in lines:
        item.append(line)
        is_function = is_function or line.startswith("{")
        if line == "}" if is_function else line.endswith(";"):
            text = "\n".join(item)
            name = NAME.search(text)
            yield (text if name is None else name[1] or name[2]), text
            item, is_function = [], False
    if item:
        raise ValueError(f"PTX ends in the item {item[0]!r}")


def renamed(text: str, names: dict[str, str]) -> str:
    """Return PTX with other names."""
    for old, new in names.items():
        text = re.sub(rf"(?<![\w$]){re.escape(old)}(?![\w$])", new, text)
    return text
