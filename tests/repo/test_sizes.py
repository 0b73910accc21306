# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Reports the lines of code of each folder: `python tests/repo/test_sizes.py`. There is no limit."""

from collections import Counter
from pathlib import Path

CODE = (".py", ".pyx", ".pxd", ".pyi", ".hpp", ".cpp", ".h", ".def", ".cu")


def lines_per_folder(tree):
    totals = Counter()
    for path in tree.files(*CODE):
        totals[tree.name(path).rpartition("/")[0]] += path.read_text().count("\n")
    return totals


def test_lines_are_counted_by_folder(empty_tree):
    for name, lines in {
        "cuda_graphs/a.py": 3,
        "cuda_graphs/_x/b.cpp": 4,
        "cuda_graphs/_x/y/c.hpp": 5,
    }.items():
        path = empty_tree.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n" * lines)
    assert lines_per_folder(empty_tree) == {"cuda_graphs": 3, "cuda_graphs/_x": 4, "cuda_graphs/_x/y": 5}


if __name__ == "__main__":
    from conftest import Tree

    totals = lines_per_folder(Tree(Path(__file__).resolve().parents[2]))
    for folder, lines in sorted(totals.items()):
        print(f"{lines:7d}  {folder}")
    print(f"{sum(totals.values()):7d}  all")
