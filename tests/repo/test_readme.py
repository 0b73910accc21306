# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what README.md and docs/ tell a reader to type does what they say.

The `python` blocks of a page run one after the other in one process, as a reader would type them.
"""

import os
import subprocess
import sys

import pytest

from docs.snippets import PAGES, ROOT, blocks, script


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
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)},
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
