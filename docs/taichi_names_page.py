# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/taichi-names.md from the table of taichi_names.py: `python -m docs.taichi_names_page`.

A test compares the two, and looks up every name of ours.
"""

from pathlib import Path

from docs.taichi_names import GROUPS, Row

HEAD = """\
# Names of Taichi and Quadrants

*Written by `docs/taichi_names_page.py` from the table in `docs/taichi_names.py`; change that, not this page.*

This page lists the names of Taichi and Quadrants that concern dense data and kernels, with ours. The last column has
the reason where we have none, or the way to write it. `ti.` stands for both libraries, `qd.` for names that only
Quadrants has. [Coming from Taichi](coming-from-taichi.md) describes what is different.
"""


def names_in(cell: str) -> list[str]:
    """Return the names of a cell, which commas divide outside of parentheses."""
    found, depth = [""], 0
    for letter in cell:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [each.strip() for each in found if each.strip()]


def code(cell: str) -> str:
    """Return the names of a cell as code. Words stay: "a dataclass"."""
    return ", ".join(each if each == "a dataclass" else f"`{each}`" for each in names_in(cell))


def line(row: Row) -> str:
    theirs, ours, note = row
    return f"| {code(theirs)} | {code(ours) or '-'} | {note} |"


def taichi_names_page() -> str:
    """Return the text of the page."""
    parts = [HEAD]
    for title, rows in GROUPS.items():
        parts += [f"\n## {title}\n\n| Taichi, Quadrants | cuda_graphs | |\n|---|---|---|\n"]
        parts += [f"{line(row)}\n" for row in rows]
    return "".join(parts)


if __name__ == "__main__":
    (Path(__file__).parent / "taichi-names.md").write_text(taichi_names_page())
