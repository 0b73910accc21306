# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the notebooks of docs/tutorials run from the first cell to the last one, and are stored without results."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs/tutorials").glob("*.ipynb"))
RUNNER = """
import sys, nbformat
from nbclient import NotebookClient

client = NotebookClient(nbformat.read(sys.argv[1], 4), timeout=200, kernel_name="python3")
client.execute()
shown = {kind for cell in client.nb.cells for out in cell.get("outputs", ()) for kind in out.get("data", ())}
print(sorted(shown))
"""


def test_there_are_four_tutorials():
    assert [path.stem for path in NOTEBOOKS] == ["capture", "explicit", "gradients", "kernels"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_results(path):
    for cell in json.loads(path.read_text())["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_a_picture(path, tmp_path):
    folders = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    child = subprocess.run(
        [sys.executable, "-c", RUNNER, str(path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": folders, "PYTHONWARNINGS": "default"},
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    assert "image/svg+xml" in child.stdout or "text/html" in child.stdout
