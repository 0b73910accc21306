# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The table of names of Taichi and Quadrants names ours as they are, and explains every absence."""

import builtins
import keyword
import operator
from collections import Counter

import pytest

import cuda_graphs as cg
from cuda_graphs.compat import quadrants, taichi
from cuda_graphs.compat.absent import ABSENT, INTERNAL
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


def parts_of_the_table():
    return {
        part for names, _, _ in ROWS for name in names_in(names) for part in name.partition("(")[0].split(".")
    }


SPACES = (
    "",
    "math",
    "types",
    "ad",
    "algorithms",
    "graph",
    "simt.block",
    "simt.grid",
    "simt.subgroup",
    "simt.warp",
)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("peer", [taichi, quadrants], ids=["taichi", "quadrants"])
def test_each_name_that_programs_of_the_peers_may_use_is_there(peer, space):
    """The modules of cuda_graphs.compat have the names of the peers. `_tiled` is a form of the name before it."""
    try:
        found = operator.attrgetter(space)(peer) if space else peer
    except AttributeError:
        assert space in ABSENT
        return
    names = getattr(found, "__all__", None) or [name for name in dir(found) if not name.startswith("_")]
    known = {*parts_of_the_table(), "refuse", "lang"}
    assert [name for name in names if name.removesuffix("_tiled") not in known] == []


def test_each_name_that_the_peers_alone_have_is_there():
    known = parts_of_the_table()
    internal = {name for name, reason in ABSENT.items() if reason == INTERNAL}
    assert [name for name in ABSENT if name.rpartition(".")[2] not in known and name not in internal] == []


def test_each_absence_has_a_reason():
    assert [theirs for theirs, ours, note in ROWS if not ours and not note] == []


def is_in_the_modules(name):
    """Return whether a module of cuda_graphs.compat has a name of the table."""
    root, _, path = name.partition("(")[0].partition(".")
    for module in {"ti": (taichi, quadrants), "qd": (quadrants,)}.get(root, ()):
        try:
            operator.attrgetter(path)(module)
        except AttributeError:
            continue
        return True
    return False


def test_nine_of_ten_names_about_data_and_kernels_are_there():
    """All groups but that of the program are about them. Data include sparse ones, meshes and textures."""
    rows = [row for group, rows in GROUPS.items() if group != "Program" for row in rows]
    there = {
        name: bool(ours) or is_in_the_modules(name) for theirs, ours, _ in rows for name in names_in(theirs)
    }
    assert sum(there.values()) >= 0.9 * len(there) > 0


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
