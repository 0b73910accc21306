# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The definition of a function in the lines of its file: its text, and its syntax tree.

The standard library finds a definition by tokens, in Python, and first asks each loaded module for its file. That takes
longer than all else in a first call whose code comes from disk. Here lines end a definition that are not indented more
than it, and the parser, which is C, says whether that is right: in a string or in brackets such lines end nothing.
"""

from __future__ import annotations

import ast
import inspect
import tokenize
from collections.abc import Iterator, Sequence
from functools import lru_cache

__all__ = ["block_of", "definition_in", "forget", "parsed"]

MOST_ENDS = 8  # lines that are tried before the tokens decide
HEADS = ("def ", "async ", "class ")


def definition_in(lines: Sequence[str], number: int) -> tuple[str, ast.stmt] | None:
    """Return the text and the syntax of the definition at a line, with its decorators; None if there is none."""
    for text in texts(lines[number - 1 :]):
        found = parsed(text, number)
        if found is not None:
            return text, found
    return None


def texts(lines: Sequence[str]) -> Iterator[str]:
    """Yield what may be the definition that begins with the first line, the most likely first."""
    for _, end in zip(range(MOST_ENDS), ends(lines), strict=False):
        yield "".join(lines[:end])
    yield block_of(lines)


def block_of(lines: Sequence[str]) -> str:
    """Return the block that begins with the first line, as its tokens say."""
    try:
        return "".join(inspect.getblock(lines))
    except (SyntaxError, tokenize.TokenError):
        return ""


def ends(lines: Sequence[str]) -> Iterator[int]:
    """Yield the numbers of lines that a definition may have. Blank lines and comments behind it are not part of it."""
    margin = indent_of(lines[0]) if lines else 0
    has_head, last = False, 0
    for number, line in enumerate(lines):
        text = line.lstrip()
        if not text or text.startswith("#"):
            continue
        if indent_of(line) <= margin:
            if has_head:
                yield last
            has_head = has_head or text.startswith(HEADS)
        last = number + 1
    yield last


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


@lru_cache(maxsize=1024)
def parsed(text: str, number: int) -> ast.stmt | None:
    """Return the one statement of a text, with the line numbers of its file and the columns of the text."""
    is_indented = text[:1].isspace()
    before = "\n" * (number - 1 - is_indented) + "if 1:\n" * is_indented
    try:
        body = ast.parse(before + text).body
    except (SyntaxError, ValueError):  # ValueError: a zero byte
        return None
    if is_indented:
        assert isinstance(body[0], ast.If)
        body = body[0].body if len(body) == 1 else []
    return body[0] if len(body) == 1 else None


def forget() -> None:
    """Free the syntax trees. A compilation asks for each several times, and later code for few."""
    parsed.cache_clear()
