# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of graphs on the pages by running their snippets.

CUDA_GRAPHS_DRIVER=host python -m docs.pictures_figures

A picture is drawn when the snippets before its place in the page have run.
"""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parent
FIGURES = DOCS / "figures"
# Page -> file -> expression over the names of the page.
PICTURES = {
    "guide/pictures.md": {
        "collatz": "g.draw()",
        "folded": "long.draw()",
        "difference": "difference.draw()",
        "findings": "wrong.draw(check=True)",
    },
    "guide/explicit-graphs.md": {"explicit": "g.draw()"},
    "guide/task-flow.md": {"task_flow": "graph.draw()"},
    "guide/graph-kernels.md": {"graph_kernel": "cg.GraphDef().call(collatz, n, steps).graph.draw()"},
    "concepts/edges.md": {"programmatic": "g.draw()"},
    "concepts/conditions.md": {"conditions": "g.draw()"},
    "concepts/memory.md": {"lifetimes": "g.draw()"},
    "concepts/updating.md": {"updates_taken": "g.draw()", "updates_refused": "other.draw()"},
    "guide/capturing.md": {"fork_join": "builder.graph_definition.draw()"},
    "kernels-tutorial.md": {"tasks": "cg.GraphDef().call(standardise, x).graph.draw()"},
}
PART = re.compile(r"^```python\n(?P<code>.*?)^```$|/(?P<figure>\w+)\.svg\)", re.MULTILINE | re.DOTALL)


def drawn_on(name: str) -> dict[str, str]:
    """Return the SVG of each picture of a page. Source lines are those of the page."""
    path = DOCS / name
    page, wanted = path.read_text(), PICTURES[name]
    names: dict[str, object] = {"__name__": "pictures"}
    found = {}
    for part in PART.finditer(page):
        if part["code"] is not None:
            first = page.count("\n", 0, part.start("code"))
            exec(compile("\n" * first + part["code"], str(path), "exec"), names)
        elif part["figure"] in wanted:
            svg = eval(wanted[part["figure"]], names).svg()
            found[part["figure"]] = svg.replace(f"{DOCS.parent}/", "")
    return found


def drawn() -> dict[str, str]:
    """Return the SVG of each picture of all pages."""
    return {figure: svg for name in PICTURES for figure, svg in drawn_on(name).items()}


if __name__ == "__main__":
    for figure, svg in drawn().items():
        (FIGURES / f"{figure}.svg").write_text(svg)
