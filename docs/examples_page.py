# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the gallery of examples/README.md: its pictures, its times, and the table.

CUDA_GRAPHS_DRIVER=host python -m docs.examples_page pictures   the pictures in docs/figures/examples
CUDA_GRAPHS_DRIVER=host python -m docs.examples_page times      the times in docs/figures/examples.json
python -m docs.examples_page                                    the table, also after both of the others

The picture of an example is the graph that `cuda-graphs draw` finds in it, or a small copy of the picture that it
writes. Times are processor times, which other work on the machine changes little.
"""

import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
PAGE = EXAMPLES / "README.md"
FIGURES = ROOT / "docs/figures"
FOLDER = FIGURES / "examples"
TIMES_FILE = FIGURES / "examples.json"
NEEDS_MORE = (
    "jax_kernels",
    "torch_inference",
    "torch_training",
)  # than this machine has, so they have no time
# Example -> the name of its graph, if it has several.
GRAPHS = {"close_pairs": "meet", "distributed_cg": "distributed_cg.py:90", "hanging_net": "step"}
# Example -> the picture that it writes.
WRITTEN = {"image_filter": "image_filter.png", "inverse_heat": "inverse_heat.png"}
# Example -> a figure that other pages show, too.
SHARED = {"hillslope": "hillslope.jpg", "profile_graph": "profile_graph.svg"}
# Example -> why it has no picture.
WITHOUT = {
    "adaptive_quadrature": "kernels only",
    "cloth_throw": "a tape of kernels",
    "rigid_chain": "kernels only",
    "jax_kernels": "needs JAX",
    "torch_inference": "needs a GPU",
    "torch_training": "needs PyTorch",
}
WIDTH, HEIGHT = 480, 120  # pixels: width of a copied picture, height of a picture in the table
TURNS = 3
ROW = re.compile(r"^\|[^|]*\| \[`(\w+)\.py`\]\(\w+\.py\): (.*?) \|.*\n", re.MULTILINE)
TIMES = re.compile(r"^Times are.*?\n\n", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^\| Picture .*\Z", re.MULTILINE | re.DOTALL)


def picture_of(name: str) -> Path | None:
    """Return the file of the picture of an example, or None if it has none."""
    if name in WITHOUT:
        return None
    if name in SHARED:
        return FIGURES / SHARED[name]
    return FOLDER / f"{name}{'.jpg' if name in WRITTEN else '.svg'}"


def ran(command: list[str], folder: str) -> None:
    """Run a command of Python in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [sys.executable, *command], env=environment, cwd=folder, check=True, stdout=subprocess.DEVNULL
    )


def draw(name: str) -> str | bytes:
    """Run an example, and return its picture."""
    example = str(EXAMPLES / f"{name}.py")
    with tempfile.TemporaryDirectory() as folder:
        if name in WRITTEN:
            ran([example], folder)
            return small(Path(folder, WRITTEN[name]))
        choice = ["--name", GRAPHS[name]] if name in GRAPHS else []
        ran(["-m", "cuda_graphs", "draw", example, *choice, "-o", "graph.svg"], folder)
        return Path(folder, "graph.svg").read_text().replace(f"{ROOT}/", "")


def small(path: Path) -> bytes:
    """Return a picture as a JPEG of `WIDTH` pixels."""
    import io

    from PIL import Image

    with Image.open(path) as picture:
        picture = picture.convert("RGB")
        picture.thumbnail((WIDTH, WIDTH))
        written = io.BytesIO()
        picture.save(written, "JPEG", quality=80, optimize=True)
    return written.getvalue()


def seconds(name: str) -> float:
    """Return the median processor time of a program. A first run fills the cache of kernels."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(TURNS + 1):
            begin = processor_time()
            ran([str(EXAMPLES / f"{name}.py")], folder)
            found.append(processor_time() - begin)
    return round(statistics.median(found[1:]), 2)


def processor_time() -> float:
    """Return the seconds of all processors that the ended child processes have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def machine() -> str:
    """Return the device that the examples use, in words."""
    import cuda_graphs as cg

    processors = f"{os.cpu_count()} processors"
    return f"{cg.Device().name}, {processors}, {cg.driver_info().kind} driver"


def page(text: str) -> str:
    """Return the page with the table of the present pictures and times. The texts of the rows stay."""
    measured = json.loads(TIMES_FILE.read_text())
    note = (
        "Times are the processor times of whole programs without a GPU, from the start of Python to its end. Their\n"
        f"kernels are in the cache. Medians of {TURNS} runs ({measured['machine']}).\n\n"
    )
    lines = ["| Picture | Example | Time |", "|---|---|---|"]
    for name, words in ROW.findall(text):
        time = f"{measured['seconds'][name]:.1f} s" if name in measured["seconds"] else ""
        lines.append(f"| {cell(name)} | [`{name}.py`]({name}.py): {words} | {time} |")
    return TABLE.sub(lambda _: "\n".join(lines) + "\n", TIMES.sub(lambda _: note, text))


def cell(name: str) -> str:
    """Return the cell with the picture of an example, which leads to the program."""
    path = picture_of(name)
    if path is None:
        return WITHOUT[name]
    link = os.path.relpath(path, EXAMPLES)
    words = name.replace("_", " ")
    return f'[<img src="{link}" height="{HEIGHT}" alt="{words}">]({name}.py)'


def main(what: str) -> None:
    names = [path.stem for path in sorted(EXAMPLES.glob("*.py"))]
    if what == "pictures":
        FOLDER.mkdir(exist_ok=True)
        for name in names:
            path = picture_of(name)
            if path is not None and name not in SHARED:
                drawn = draw(name)
                path.write_bytes(drawn if isinstance(drawn, bytes) else drawn.encode())
    elif what == "times":
        measured = {name: seconds(name) for name in names if name not in NEEDS_MORE}
        TIMES_FILE.write_text(json.dumps({"machine": machine(), "seconds": measured}, indent=1) + "\n")
    PAGE.write_text(page(PAGE.read_text()))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
