# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Tables for notebooks, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .text import markup

__all__ = ["html_table"]


def html_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with a caption. Each cell is the text of its object."""
    head = "".join(f"<th>{markup(title)}</th>" for title in header)
    lines = ["".join(f"<td>{markup(str(cell))}</td>" for cell in row) for row in rows]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><caption>{markup(caption)}</caption>\n<tr>{head}</tr>\n{body}\n</table>"
