# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of a profile, as text and as HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cuda_graphs.drawing.table import html_table
from cuda_graphs.drawing.text import cells, elide, size_in_words

from .analysis import ProfileRow

__all__ = ["html_of", "share_in_words", "text_of", "time_in_words"]

HEADER = ("node", "kind", "runs", "per launch", "mean", "min", "max", "share", "traffic")
MOST_CELLS = 44  # of a name
LEFT = 2  # columns whose text begins at the left
RATES = ("B/s", "kB/s", "MB/s", "GB/s", "TB/s")
UNITS = (("s", 1e9), ("ms", 1e6), ("us", 1e3))


def time_in_words(nanoseconds: float) -> str:
    """Return a time with a unit, in three or more digits: "812 ns", "12.3 us", "4.56 ms"."""
    for unit, size in UNITS:
        if nanoseconds >= size:
            number = nanoseconds / size
            return f"{number:.{2 if number < 10 else 1 if number < 100 else 0}f} {unit}"
    return f"{nanoseconds:.0f} ns"


def share_in_words(share: float) -> str:
    return f"{share:.1%}"


def rate_in_words(rate: float) -> str:
    """Return bytes per second with a unit."""
    power = min(int(math.log10(max(rate, 1.0)) // 3), len(RATES) - 1)
    return f"{rate / 1000**power:.3g} {RATES[power]}"


def traffic_in_words(row: ProfileRow) -> str:
    """Return the bytes of a run, the bandwidth, and its share of the device's limit, as far as they are known."""
    if row.bytes is None:
        return ""
    words = [size_in_words(row.bytes)]
    if row.bandwidth is not None:
        words.append(rate_in_words(row.bandwidth))
    if row.bandwidth_share is not None:
        words.append(f"{row.bandwidth_share:.0%} of limit")
    return ", ".join(words)


def cells_of(row: ProfileRow, launches: int) -> tuple[str, ...]:
    mark = "*" if row.is_critical else " "
    name = elide(f"{'  ' * row.depth}{row.name}", MOST_CELLS)
    times = (row.total / launches, row.mean, row.least, row.most)
    words = map(time_in_words, times) if row.runs else ("", "", "", "")
    return (
        f"{mark} {name}",
        row.kind,
        str(row.runs),
        *words,
        share_in_words(row.share) if row.runs else "",
        traffic_in_words(row),
    )


def text_of(rows: Sequence[ProfileRow], launches: int) -> list[str]:
    """Return the lines of the table. A star marks the critical path."""
    table = [(f"  {HEADER[0]}", *HEADER[1:]), *(cells_of(row, launches) for row in rows)]
    widths = [max(cells(line[column]) for line in table) for column in range(len(HEADER))]
    return [
        "  ".join(
            pad(text, width, column < LEFT or column == len(HEADER) - 1)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in table
    ]


def pad(text: str, width: int, is_left: bool) -> str:
    space = " " * (width - cells(text))
    return text + space if is_left else space + text


def html_of(caption: str, rows: Sequence[ProfileRow], launches: int) -> str:
    """Return the table for notebooks."""
    return html_table(caption, HEADER, (cells_of(row, launches) for row in rows))
