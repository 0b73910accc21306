# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Text in pictures: without characters that XML refuses, of a known width, and of a limited length.

Pictures use fonts of fixed width. So the width of a text is known without the font, and no text leaves its box.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from xml.sax.saxutils import escape, quoteattr

__all__ = ["cells", "clean", "elide", "markup", "quoted", "size_in_words", "wrap"]

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def clean(text: str) -> str:
    """Return the text in one line. Characters without a sign of their own become escapes such as \\n or \\ud800."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def markup(text: str) -> str:
    """Return the text for the content of an XML element."""
    return escape(clean(text))


def quoted(text: str) -> str:
    """Return the text as an XML attribute, with its quotes."""
    return quoteattr(clean(text))


def cells(text: str) -> int:
    """Return the width of a clean text in columns of a font of fixed width."""
    if text.isascii():
        return len(text)
    return sum(map(cells_of, text))


@lru_cache(maxsize=4096)
def cells_of(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def elide(text: str, most: int) -> str:
    """Return the text in at most `most` columns. A longer text loses its middle."""
    text = clean(text)
    if cells(text) <= most:
        return text
    head, tail, width = "", "", 1
    left, right = 0, len(text)
    while left < right:
        takes_head = cells(head) <= cells(tail)
        sign = text[left] if takes_head else text[right - 1]
        width += cells_of(sign)
        if width > most:
            break
        if takes_head:
            head, left = head + sign, left + 1
        else:
            tail, right = sign + tail, right - 1
    return f"{head}{ELLIPSIS}{tail}"


def wrap(text: str, most: int) -> list[str]:
    """Return the text in one or more lines of at most `most` columns, broken between words where possible."""
    lines, line, width = [], "", 0
    for word in re.findall(r"\s*\S+", clean(text)):
        if line and width + cells(word) > most:
            lines.append(line)
            line, width = "", 0
            word = word.lstrip()
        for sign in word:
            if width + cells_of(sign) > most:
                lines.append(line)
                line, width = "", 0
            line, width = line + sign, width + cells_of(sign)
    return [*lines, line]


def size_in_words(count: int) -> str:
    """Return a number of bytes with a unit: "512 B", "4 KiB", "1.5 MiB"."""
    power = 0
    while power + 1 < len(UNITS) and count >= 1024 ** (power + 1):
        power += 1
    number = f"{count / 1024**power:.1f}".removesuffix(".0")
    return f"{number} {UNITS[power]}"
