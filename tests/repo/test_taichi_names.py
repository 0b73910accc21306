# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The table of names of Taichi and Quadrants names ours as they are, and explains every absence."""

import builtins
import keyword
from collections import Counter

import pytest

import cuda_graphs as cg
from cuda_graphs.compiler.frontend.expressions import linear
from cuda_graphs.compiler.frontend.expressions.lvalues import is_swizzle
from cuda_graphs.compiler.language import intrinsics
from docs.taichi_names import GROUPS
from docs.taichi_names_page import names_in, taichi_names_page

ROWS = [row for rows in GROUPS.values() for row in rows]
OURS = sorted({name for _, ours, _ in ROWS for name in names_in(ours)})


def test_the_page_is_what_the_table_says(tree):
    written = (tree.root / "docs/taichi-names.md").read_text()
    assert written == taichi_names_page(), "run: python -m docs.taichi_names_page"


@pytest.mark.parametrize("name", OURS)
def test_each_name_of_ours_exists(name):
    root, *path = name.split(".")
    if root == "v":  # a member of vectors in kernels
        assert path[0] in (*linear.METHODS, *linear.CHANGES, "n", "m") or is_swizzle(path[0])
    elif root == "cg":
        found = cg
        for each in path:
            found = getattr(found, each)
    else:
        assert name in ("a dataclass", "~") or keyword.iskeyword(name) or hasattr(builtins, name)


def test_each_of_their_names_is_there_once():
    names = Counter(name for theirs, _, _ in ROWS for name in names_in(theirs))
    assert [name for name, count in names.items() if count > 1] == []
    assert len(names) > 300


def test_each_absence_has_a_reason():
    assert [theirs for theirs, ours, note in ROWS if not ours and not note] == []


def test_names_that_are_the_same_are_in_the_table():
    theirs = {each.rpartition(".")[2] for names, _, _ in ROWS for each in names_in(names)}
    only_ours = {
        "atan", "blocks", "cosh", "exp2", "ffs", "fma", "keep_condition", "log10", "random_integer", "random_normal",
        "replace_grad", "set_condition", "sinh", "trunc", "norm", "normalized", "outer", "transpose", "trace", "vector",
        "atomic_exchange",
        "fence",
    }  # fmt: skip
    functions = {name for name in intrinsics.__all__ if not name.isupper()}
    assert functions - theirs - only_ours == set()
