# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the types of all examples, pages and notebooks with `mypy --strict` and pyright: `python -m docs.page_types`.

A program is checked like that of a user of the installed package. The messages name the page and its line.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from docs.snippets import NOTEBOOKS, PAGES, ROOT, blocks, cells, script

FOLDER = ROOT / "build/page_types"
# Packages that only some readers have.
OPTIONAL = ("cupti", "cupy", "jax", "torch", "tqdm")
MYPY = [
    "[mypy]",
    "strict = True",
    "python_version = 3.11",
    "allow_redefinition = True",  # a page goes on with the same names
    f"mypy_path = {ROOT}",
    "explicit_package_bases = True",
    "follow_imports = silent",
    *(f"[mypy-{package}.*]\nignore_missing_imports = True" for package in OPTIONAL),
]
PYRIGHT = {
    "include": ["."],
    "extraPaths": [str(ROOT)],
    "pythonVersion": "3.11",
    "reportMissingImports": False,
}

# The node of the wheel, not that of the machine, and no question for newer versions: pyright needs no network.
NODE = {"PYRIGHT_PYTHON_GLOBAL_NODE": "0", "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}


def programs() -> dict[str, str]:
    """Return the text of each program by the name of its file, relative to the project."""
    examples = {path: path.read_text() for path in sorted((ROOT / "examples").glob("*.py"))}
    pages = {page: script(page) for page in PAGES if blocks(page, "python")}
    notebooks = {notebook: cells(notebook) for notebook in NOTEBOOKS}
    return {path.relative_to(ROOT).as_posix(): text for path, text in (examples | pages | notebooks).items()}


def module_of(name: str) -> str:
    """Return the file for the program of a page: "docs/guide/kernels.md" is checked as "docs_guide_kernels.py"."""
    return name.rpartition(".")[0].translate(str.maketrans("/-", "__")) + ".py"


def complaints(texts: dict[str, str], folder: Path) -> dict[str, list[str]]:
    """Return the complaints of each checker about programs, which are written to `folder`.

    Args:
        texts: The programs by names such as "docs/guide/kernels.md". The complaints use these names.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.py"):
        old.unlink()
    for name, text in texts.items():
        (folder / module_of(name)).write_text(text)
    (folder / "mypy.ini").write_text("\n".join(MYPY) + "\n")
    (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    names = {module_of(name): name for name in texts}
    return {
        "mypy": run(["mypy", "--no-error-summary", "--config-file", "mypy.ini", *names], folder, names),
        "pyright": run(["pyright", "--project", "pyrightconfig.json"], folder, names),
    }


def run(command: Sequence[str], folder: Path, names: dict[str, str]) -> list[str]:
    """Return the complaints that a checker prints, one for each line with a position. Raises if it cannot run."""
    environment = os.environ | NODE
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    lines = [line.strip().removeprefix(f"{folder}/") for line in done.stdout.splitlines()]
    found = [
        names[line.partition(":")[0]] + ":" + line.partition(":")[2]
        for line in lines
        if line.partition(":")[0] in names and "error:" in line
    ]
    if done.returncode not in (0, 1) or (done.returncode == 1 and not found):
        raise RuntimeError(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    return found


def main() -> int:
    """Print all complaints and their number. Return the exit status."""
    texts = programs()
    found = complaints(texts, FOLDER)
    for checker, lines in found.items():
        print(*lines, sep="\n", end="\n" if lines else "")
        print(f"{checker}: {len(lines)} errors in {len(texts)} programs")
    return 1 if any(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
