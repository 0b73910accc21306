# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of docs/guide/pictures.md by running the snippets of the page.

CUDA_GRAPHS_DRIVER=host python -m docs.pictures_figures
"""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGE = DOCS / "guide/pictures.md"
FIGURES = DOCS / "figures"
# File -> expression over the names of the page.
PICTURES = {"collatz": "g.draw()", "folded": "long.draw()", "findings": "wrong.draw(check=True)"}


def drawn() -> dict[str, str]:
    """Return the SVG of each figure. Source lines are those of the page."""
    page = PAGE.read_text()
    lines = [""] * (page.count("\n") + 1)
    for block in re.finditer(r"```python\n(.*?)```", page, re.DOTALL):
        first = page.count("\n", 0, block.start(1))
        for number, line in enumerate(block[1].splitlines()):
            lines[first + number] = line
    names: dict[str, object] = {"__name__": "pictures"}
    exec(compile("\n".join(lines), str(PAGE), "exec"), names)
    return {
        name: eval(picture, names).svg().replace(f"{DOCS.parent}/", "") for name, picture in PICTURES.items()
    }


if __name__ == "__main__":
    for name, svg in drawn().items():
        (FIGURES / f"{name}.svg").write_text(svg)
