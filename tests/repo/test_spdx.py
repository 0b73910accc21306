# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: every source file says in its first lines, in two SPDX lines, whose it is and under which licence."""

CODE = (
    ".py",
    ".pyx",
    ".pxd",
    ".pxi",
    ".pyi",
    ".hpp",
    ".cpp",
    ".h",
    ".c",
    ".def",
    ".cu",
    ".sh",
    ".js",
    ".css",
    "Makefile",
    ".ci/run",
)
LINES = ("SPDX-FileCopyrightText: 2026 The cuda_graphs authors", "SPDX-License-Identifier: Apache-2.0")


def without_spdx(tree):
    offenders = []
    for path in tree.files():
        if tree.name(path).endswith(CODE):
            head = path.read_text().splitlines()[:3]
            if not all(any(line.endswith(wanted) for line in head) for wanted in LINES):
                offenders.append(tree.name(path))
    return offenders


def test_every_source_file_has_the_two_spdx_lines(tree):
    assert without_spdx(tree) == []


def test_a_file_without_them_is_noticed(empty_tree):
    (empty_tree.root / "good.py").write_text(f"# {LINES[0]}\n# {LINES[1]}\n")
    (empty_tree.root / "half.hpp").write_text(f"// {LINES[0]}\n")
    (empty_tree.root / "none.pyx").write_text("")
    assert without_spdx(empty_tree) == ["half.hpp", "none.pyx"]
