# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The programs in the pages: the `python` blocks of a page, or the cells of a notebook, as one script."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts),
]
NOTEBOOKS = sorted((ROOT / "docs/tutorials").glob("*.ipynb"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[tuple[int, str]]:
    """Return (first line's number, text) of each fenced block of `language`."""
    text = page.read_text()
    return [
        (text.count("\n", 0, match.start(2)) + 1, match[2])
        for match in BLOCK.finditer(text)
        if match[1] == language
    ]


def script(page: Path) -> str:
    """Return the page's python blocks as one script, at the lines where they stand in the page."""
    lines: list[str] = []
    for first, text in blocks(page, "python"):
        lines += [""] * (first - 1 - len(lines)) + text.splitlines()
    return "\n".join(lines) + "\n"


def cells(notebook: Path) -> str:
    """Return the code cells of a notebook as one script."""
    found = json.loads(notebook.read_text())["cells"]
    return "\n".join("".join(cell["source"]) for cell in found if cell["cell_type"] == "code") + "\n"
