# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what README.md and docs/ tell a reader to type does what they say.

The `python` blocks of a page run one after the other in one process, as a reader would type them.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    """(first line's number, text) of each fenced block of `language`."""
    text = page.read_text()
    return [
        (text.count("\n", 0, match.start(2)) + 1, match[2])
        for match in BLOCK.finditer(text)
        if match[1] == language
    ]


def script(page):
    """The page's python blocks as one script, at the lines where they stand in the page."""
    lines = []
    for first, text in blocks(page, "python"):
        lines += [""] * (first - 1 - len(lines)) + text.splitlines()
    return "\n".join(lines) + "\n"


def test_the_first_two_sh_blocks_are_the_two_commands():
    (_, first), (_, second), *_ = blocks(ROOT / "README.md", "sh")
    for block in (first, second):
        assert "python3 -m venv .venv" in block
        assert "pip install" in block
    assert first.rstrip().endswith("python examples/hillslope.py")
    assert second.rstrip().endswith("make test")


def test_each_of_the_two_commands_stops_at_the_first_failure():
    for _, block in blocks(ROOT / "README.md", "sh")[:2]:
        command = block.replace("\\\n", " ").strip()
        assert "\n" not in command, "one command, joined by &&"
        assert ";" not in command


def test_ci_runs_the_second_command():
    shown = subprocess.run([ROOT / ".ci/run", "--show"], capture_output=True, text=True, check=True).stdout
    assert shown == blocks(ROOT / "README.md", "sh")[1][1]


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_screen_has_the_pictures_and_one_graph_in_three_ways(page):
    text = (ROOT / page).read_text()
    first, example = blocks(ROOT / page, "python")[0]
    assert first + example.count("\n") <= 50
    for picture in ("hillslope.jpg", "hillslope_graph.svg", "loop_cost.svg"):
        assert text.count("\n", 0, text.index(picture)) < first
    for way in ("cg.GraphDef()", "cg.capture()", "@cg.kernel(graph=True)"):
        assert way in example
    assert len([line for line in example.splitlines() if line.strip()]) <= 18


@pytest.mark.parametrize(
    "page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: p.relative_to(ROOT).as_posix()
)
def test_the_python_blocks_of_a_page_run(page, tmp_path):
    # Only what a reader has who typed it: no test runner, an empty folder.
    runner = f"exec(compile({script(page)!r}, {str(page)!r}, 'exec'), {{'__name__': '__main__'}})"
    child = subprocess.run(
        [sys.executable, "-W", "error", "-c", runner],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert child.returncode == 0, child.stdout + child.stderr
    assert child.stderr == ""


def test_blocks_keep_the_line_numbers_of_their_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A\n\n```python\na = 1\n```\n\ntext\n\n```sh\nls\n```\n```python\nb = a\n1 / 0\n```\n")
    assert blocks(page, "sh") == [(10, "ls\n")]
    assert script(page).splitlines()[3] == "a = 1"
    assert script(page).splitlines()[13] == "1 / 0"
