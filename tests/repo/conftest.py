# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The tree as the tests of this folder see it: the files that belong to the project, not what was built of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

BUILT = {".git", ".venv", "build", "dist", "out", "_build", "__pycache__"}


class Tree:
    """The project's files below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def files(self, *suffixes: str, below: str = "") -> Iterator[Path]:
        """Files with one of `suffixes` (all files without one), sorted."""
        for folder, folders, names in os.walk(self.root / below):
            folders[:] = sorted(
                f
                for f in folders
                if f not in BUILT and not f.endswith((".egg-info", "_cache")) and f != ".hypothesis"
            )
            for name in sorted(names):
                if not name.endswith(".cy.cpp") and (not suffixes or name.endswith(suffixes)):
                    yield Path(folder, name)

    def name(self, path: Path) -> str:
        """Returns the name of a file in messages."""
        return path.relative_to(self.root).as_posix()


@pytest.fixture(scope="session")
def tree() -> Tree:
    return Tree(Path(__file__).resolve().parents[2])


@pytest.fixture
def empty_tree(tmp_path: Path) -> Tree:
    """A tree to be filled with made-up files, to show that a rule notices what it should."""
    return Tree(tmp_path)
