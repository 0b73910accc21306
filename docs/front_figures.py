# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of README.md and docs/index.md: the hillslope, its graph, and the cost of a loop.

CUDA_GRAPHS_DRIVER=host python -m docs.front_figures
"""

import contextlib
import io
import json
import os
import runpy
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

DOCS = Path(__file__).resolve().parent
FIGURES = DOCS / "figures"
EXAMPLE = DOCS.parent / "examples/hillslope.py"
MEASURED = FIGURES / "graph_kernels_h200.json"
ROW = "loop of 2 tasks, an iteration"
# Contestant of the file -> its label. In the order of the bars.
LABELS = {
    "cuda_graphs": "cuda_graphs, graph kernel",
    "cuda_graphs, conditional": "cuda_graphs, while node",
    "cuda.core": "cuda.core, while node",
    "C, graph": "C++, while node",
    "Quadrants": "Quadrants",
    "cuda_graphs, host": "cuda_graphs, loop on the host",
}
OURS = "cuda_graphs"
# Pixels: the picture, the column of labels, the height of a bar and of its row.
WIDTH, LABEL, BAR, LINE, TOP = 560, 220, 16, 26, 44
STYLE = """\
<style>
text{font:13px sans-serif;fill:#1b1f24}.small{font-size:11px;fill:#59636e}.paper{fill:#ffffff}
.ours{fill:#2b8a4b}.other{fill:#a9b4bf}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9aa7b4}.paper{fill:#15191e}
.ours{fill:#4cc274}.other{fill:#5b6670}}
</style>"""


def loop_cost() -> str:
    """Return an SVG with a bar for the median time of an iteration of each contestant, in microseconds."""
    document = json.loads(MEASURED.read_text())
    medians = {name: document["figures"][ROW][name]["median"] for name in LABELS}
    scale = (WIDTH - LABEL - 60) / max(medians.values())
    height = TOP + LINE * len(medians) + 8
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}">'
    ]
    lines += [STYLE, f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>']
    lines += ['<text x="10" y="18">An iteration of a loop with 2 kernels, microseconds</text>']
    lines += [f'<text class="small" x="10" y="34">{document["machine"]}; medians</text>']
    for row, (name, median) in enumerate(medians.items()):
        y = TOP + LINE * row
        kind = "ours" if name.startswith(OURS) else "other"
        lines.append(f'<text x="{LABEL - 8}" y="{y + 13}" text-anchor="end">{LABELS[name]}</text>')
        lines.append(
            f'<rect class="{kind}" x="{LABEL}" y="{y}" width="{max(median * scale, 1):.1f}" height="{BAR}"/>'
        )
        lines.append(f'<text x="{LABEL + median * scale + 6:.1f}" y="{y + 13}">{median:.2f}</text>')
    return "\n".join([*lines, "</svg>\n"])


@contextlib.contextmanager
def example_ran() -> Iterator[Path]:
    """Run the example on the host driver in a folder, which has hillslope.jpg and hillslope_graph.svg then.

    The driver gives a kernel more blocks on more cores, and the picture shows them, so the example runs on two.
    """
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    with tempfile.TemporaryDirectory() as folder:
        files = {"--output": "hillslope.jpg", "--graph": "hillslope_graph.svg"}
        options = [word for option, file in files.items() for word in (option, os.path.join(folder, file))]
        with (
            mock.patch.object(sys, "argv", [str(EXAMPLE), *options]),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            runpy.run_path(str(EXAMPLE), run_name="__main__")
        yield Path(folder)


def graph_of_hillslope() -> str:
    """Return the SVG of the graph of the example. Paths in it are those of the tree."""
    with example_ran() as folder:
        return (folder / "hillslope_graph.svg").read_text().replace(f"{DOCS.parent}/", "")


def main() -> None:
    (FIGURES / "loop_cost.svg").write_text(loop_cost())
    (FIGURES / "hillslope_graph.svg").write_text(graph_of_hillslope())
    with example_ran() as folder:
        (FIGURES / "hillslope.jpg").write_bytes((folder / "hillslope.jpg").read_bytes())


if __name__ == "__main__":
    main()
