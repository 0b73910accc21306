# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a file fits in a reader's head, and a folder stays within its stated size.

Run as a script (`python tests/repo/test_sizes.py`) it prints the lines of each folder.
"""

from collections import Counter
from pathlib import Path

CODE = (".py", ".pyx", ".pxd", ".pyi", ".hpp", ".cpp", ".h", ".def", ".cu")
FILE_LIMIT = 600

# Files that are longer, and why.
LONGER: dict[str, str] = {}

# Lines of code per folder of the package. To be raised by whoever needs more, in the commit that needs it.
LIMITS = {
    "cuda_graphs": 1800,
    "cuda_graphs/_driver": 2000,
    "cuda_graphs/_handles": 7900,
    "cuda_graphs/_objects": 6000,
    "cuda_graphs/graph": 8500,
    "cuda_graphs/compiler": 19300,
    "cuda_graphs/kernels": 7400,
    "cuda_graphs/interop": 900,
    "cuda_graphs/_hostdriver": 22000,
    "cuda_graphs/_ptx": 8800,
    "cuda_graphs/_standin": 200,
}


def lines_of(path):
    return path.read_text().count("\n")


def folder_of(name):
    return "/".join(name.split("/")[:2]) if name.count("/") > 1 else name.rpartition("/")[0]


def lines_per_folder(tree):
    totals = Counter()
    for path in tree.files(*CODE):
        totals[folder_of(tree.name(path))] += lines_of(path)
    return totals


def test_no_file_is_longer_than_a_reader_can_hold(tree):
    long = {tree.name(p): lines_of(p) for p in tree.files(*CODE) if lines_of(p) > FILE_LIMIT}
    assert {name: lines for name, lines in long.items() if name not in LONGER} == {}


def test_the_list_of_longer_files_holds_no_others(tree):
    for name, reason in LONGER.items():
        assert lines_of(tree.root / name) > FILE_LIMIT, f"{name} is short again: take it off the list"
        assert len(reason) > 20, f"say why {name} may be long"


def test_each_folder_of_the_package_stays_within_its_limit(tree):
    sizes = {folder: n for folder, n in lines_per_folder(tree).items() if folder.startswith("cuda_graphs")}
    assert {folder: n for folder, n in sizes.items() if n > LIMITS.get(folder, 0)} == {}


def test_lines_are_counted_by_folder(empty_tree):
    for name, lines in {
        "cuda_graphs/a.py": 3,
        "cuda_graphs/_x/b.cpp": 4,
        "cuda_graphs/_x/y/c.hpp": 5,
    }.items():
        path = empty_tree.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n" * lines)
    assert lines_per_folder(empty_tree) == {"cuda_graphs": 3, "cuda_graphs/_x": 9}


if __name__ == "__main__":
    from conftest import Tree

    totals = lines_per_folder(Tree(Path(__file__).resolve().parents[2]))
    for folder, lines in sorted(totals.items()):
        print(f"{lines:7d}  {f'of {LIMITS[folder]:6d}' if folder in LIMITS else ' ' * 9}  {folder}")
    print(f"{sum(totals.values()):7d}  {' ' * 9}  all")
