# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the outputs of docs/guide/command-line.md: `python -m docs.command_line_page`, on a machine without a GPU.

Each `sh` block of the page is one command, and the `text` block after it is its output. The first `python` block is
the file `heat.py` that the commands run.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/guide/command-line.md"
SCRIPT = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(^```sh\n(cuda-graphs [^\n]*)\n```\n+```text\n)(.*?)(^```$)", re.MULTILINE | re.DOTALL)


def output(command: str, folder: Path, cache: Path) -> str:
    """Return what a command prints in `folder`."""
    arguments = shlex.split(command)[1:]
    done = subprocess.run(
        [sys.executable, "-m", "cuda_graphs", *arguments],
        env={
            **{name: text for name, text in os.environ.items() if not name.startswith(("CUDA_", "NVIDIA_", "LD_"))},
            "PYTHONPATH": str(ROOT),
            "CUDA_GRAPHS_CACHE_DIR": str(cache),
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    return (done.stdout + done.stderr).rstrip() + "\n"


def page_with_outputs() -> str:
    """Return the page with the outputs of its commands on this machine."""
    page = PAGE.read_text()
    with tempfile.TemporaryDirectory() as folder:
        first = SCRIPT.search(page)
        assert first is not None
        script = Path(folder, "work", "heat.py")
        script.parent.mkdir()
        script.write_text(first[1])
        cache = Path(folder, "cache")
        return COMMAND.sub(
            lambda match: match[1] + plain(output(match[2], script.parent, cache), cache) + match[4], page
        )


def plain(text: str, cache: Path) -> str:
    """Return an output without the folders of this machine."""
    for folder, shown in (
        (cache, "/home/me/.cache/cuda_graphs"),
        (ROOT, "/home/me"),
        (sys.prefix, "/home/me/.venv"),
    ):
        text = text.replace(str(folder), shown)
    return re.sub(r"^variable .*\n", "", text, flags=re.MULTILINE)


if __name__ == "__main__":
    PAGE.write_text(page_with_outputs())
