# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Text that the pages of performance share: how to read a cell, and which contestants are absent."""

from collections.abc import Iterable, Mapping

LEGEND = """\
A cell reads "median (best turn, spread)". The spread is the distance between the quartiles of the turns, in percent of
the median. The median is the figure of a contestant, and ratios are ratios of medians; the ratio of the best turns
stands in brackets. Where the two ratios name different winners the cell ends with `~`, and the row has no winner. "-"
marks an absent contestant, "n/r" a statistic that the run did not record. Runs that did not record their turns have no
spread."""


def markdown(header: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """Returns a table whose first column is aligned to the left and whose others are aligned to the right."""
    columns = list(header)
    shown = [columns, *lines]
    text = ["| " + " | ".join(line) + " |" for line in shown]
    text.insert(1, "|---" + "|--:" * (len(columns) - 1) + "|")
    return "\n".join(text)


def absent(reasons: Mapping[str, str], contestants: Iterable[str]) -> str:
    """Returns a sentence with the contestants that are absent from all rows, and why; empty if all are present."""
    gone = [f"{name} ({reasons[name].strip().rstrip('.:')})" for name in contestants if name in reasons]
    return f"Absent: {'; '.join(gone)}." if gone else ""
