# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: branches that limit indices change nothing but the speed. Neighbours within the limits share what they compute.

The truth is the interpreter of the IR.
"""

import re

import numpy as np
import pytest

from cuda_graphs.compiler.codegen.ptx.ptx_target import Ptx
from cuda_graphs.compiler.ir import ir
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.compiler.rig import (
    function_of,
    in_every_grid,
    joint_accesses,
    ptx_of,
    run_all,
)

LINES = {
    "inner points": ("if 0 < i < n - 1:", "    y[i] = x[i - 1] + 3 * x[i + 1]"),
    "inner points of a branch": ("if 2 <= i:", "    y[i] = x[i - 2]", "    if i < n - 1:", "        y[i] += x[i + 1]"),
    "two branches": ("if i >= 1:", "    y[i] = x[i - 1]", "if i < n - 3:", "    y[i] += x[i + 3] * 5"),
    "the points outside": ("if i > 3 and i < n - 5:", "    y[i] = x[i] * 2", "else:", "    y[i] = -i"),
    "the next iteration": ("if 2 <= i:", "    y[i] = x[i - 2]", "else:", "    continue", "y[i] += 1"),
    "limits of a parameter": ("if low <= i and high > i:", "    y[i] = x[i] + i"),
    "no point": ("if n <= i:", "    y[i] = x[i]"),
    "a variable": ("t = x[i]", "if 1 <= i:", "    t += x[i - 1]", "y[i] = t + i"),
    "a sum": ("y[i] = x[i]", "if 1 <= i < n - 1:", "    total[()] += x[i - 1] * x[i]"),
    "memory": ("if 1 <= i < x[0]:", "    y[i] = x[i - 1]"),
    "each second point": ("if i % 2 == 0:", "    y[i] = x[i]"),
    "one point": ("y[i] = x[i]", "if i == 6:", "    y[i] = 100"),
}  # fmt: skip


@pytest.mark.parametrize("offset", [0, 4])
@pytest.mark.parametrize("n", [0, 1, 3, 4, 5, 16, 257, 1030])
@pytest.mark.parametrize("lines", LINES)
def test_each_point_takes_the_branches_of_its_index(lines, n, offset):
    body = "\n".join(" " * 8 + each for each in LINES[lines])
    k = function_of(
        "def k(x: ndarray(i32, 1), y: ndarray(i32, 1), total: ndarray(i32, 0), low: i32, high: i32):\n"
        f"    n = x.shape[0]\n    for i in x:\n{body}\n"
    )
    x = np.arange(1, n + 1, dtype="i4") ** 2 % 251
    given = {"x": x, "y": np.full(n, -7, "i4"), "total": np.zeros((), "i4"), "low": 3, "high": n - 2}
    in_every_grid(k, given, offset)


PLANES = {
    "inner points": ("if 0 < i < n - 1 and 0 < j < m - 1:", "    y[i, j] = x[i - 1, j] + x[i, j + 1] - x[i, j - 1]"),
    "columns": ("y[i, j] = x[i, j]", "if 3 <= j:", "    y[i, j] -= x[i, j - 3]"),
    "rows, and the others": ("if i < n - 1:", "    y[i, j] = x[i + 1, j]", "else:", "    y[i, j] = j"),
    "the sum of inner points": ("if i > 0 and j > 0:", "    total[()] += x[i - 1, j - 1]"),
    "a triangle": ("if j <= i:", "    y[i, j] = x[i, j]"),
}  # fmt: skip


@pytest.mark.parametrize("offset", [0, 4])
@pytest.mark.parametrize("box", [(1, 1), (5, 33), (7, 64), (4, 128), (3, 390)], ids=str)
@pytest.mark.parametrize("begin", ["", "1, "])
@pytest.mark.parametrize("lines", PLANES)
def test_each_point_of_a_plane_takes_the_branches_of_its_indices(lines, begin, box, offset):
    body = "\n".join(" " * 8 + each for each in PLANES[lines])
    axes = "x.shape[0], x.shape[1]" if not begin else "(1, x.shape[0]), (1, x.shape[1])"
    k = function_of(
        "def k(x: ndarray(i32, 2), y: ndarray(i32, 2), total: ndarray(i32, 0)):\n"
        f"    n, m = x.shape\n    for i, j in cg.ndrange({axes}):\n{body}\n"
    )
    x = np.arange(1, np.prod(box) + 1, dtype="i4").reshape(box) ** 2 % 251
    in_every_grid(k, {"x": x, "y": np.full(box, -7, "i4"), "total": np.zeros((), "i4")}, offset)


@pytest.mark.parametrize("box", [(2000,), (9, 260)], ids=str)
def test_tasks_of_resident_launches_take_the_branches_too(box, monkeypatch):
    """Launches run this code here, as the blocks of a resident launch would have to run at the same time."""
    own = Ptx.parallel

    def parallel(*args, is_resident):
        own(*args, is_resident=True)

    monkeypatch.setattr(Ptx, "parallel", parallel)
    index, before = ("i", "i - 1") if len(box) == 1 else ("i, j", "i, j - 1")
    k = function_of(
        f"def k(x: ndarray(i32, {len(box)}), y: ndarray(i32, {len(box)})):\n    n = x.shape[{len(box) - 1}]\n"
        f"    for {index} in x:\n        if 0 < {index[-1]} < n - 1:\n            y[{index}] = x[{before}] * 3\n"
    )
    x = np.arange(np.prod(box), dtype="i4").reshape(box)
    found = in_every_grid(k, {"x": x, "y": np.zeros_like(x)})["y"]
    wanted = np.zeros_like(x)
    wanted[..., 1:-1] = x[..., :-2] * 3
    np.testing.assert_array_equal(found, wanted)


def test_limits_may_depend_on_the_row():
    k = function_of(
        "def k(x: ndarray(i32, 3), y: ndarray(i32, 3)):\n"
        "    for i, j, l in x:\n        if 0 < i and j < 3 and l < 70:\n            y[i, j, l] = x[i - 1, j, l]\n"
    )
    x = np.arange(4 * 5 * 76, dtype="i4").reshape(4, 5, 76)
    found = in_every_grid(k, {"x": x, "y": np.zeros_like(x)})
    wanted = np.zeros_like(x)
    wanted[1:, :3, :70] = x[:-1, :3, :70]
    np.testing.assert_array_equal(found["y"], wanted)


def roots(condition):
    """A kernel whose neighbours need the same roots."""
    return function_of(
        "def k(x: ndarray(f32, 1), y: ndarray(f32, 1), c: ndarray(i32, 1)):\n"
        f"    for i in x:\n        if {condition}:\n"
        "            y[i] = cg.sqrt(x[i - 1]) + cg.sqrt(x[i]) + cg.sqrt(x[i + 1])\n"
    )


@pytest.mark.parametrize(
    ("condition", "together"),
    [("0 < i < x.shape[0] - 1", True), ("i > 0 and i + 1 < x.shape[0]", False), ("0 < i and c[i] > 0", False),
     ("c[0] < i", False), ("i != 5", False)],
)  # fmt: skip
def test_four_neighbours_compute_six_roots_and_access_elements_together(condition, together):
    """Other iterations compute three: those at the limits, and those of arrays that are not aligned."""
    code = ptx_of(roots(condition), {"x": np.ones(64, "f4"), "y": np.ones(64, "f4"), "c": np.ones(64, "i4")})
    counts = [len(re.findall(r"sqrt\.rn", block)) for block in code.split("\n$L")]
    assert sorted(each for each in counts if each) == ([3, 3, 6] if together else [3])
    assert ("st.global.v4" in code) == together


def test_rows_of_a_plane_have_joint_accesses_within_limits():
    k = function_of(
        "def k(x: ndarray(f32, 2), y: ndarray(f32, 2)):\n    n, m = x.shape\n    for i, j in x:\n"
        "        if 0 < i < n - 1 and 0 < j < m - 1:\n            "
        "y[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]\n"
    )
    array = np.zeros((6, 128), "f4")
    assert joint_accesses(k, {"x": array, "y": array}) == ["ld.global.v4.b32"] * 3 + ["st.global.v4.b32"]


CONDITIONS = {
    "0 < i < n - 1": True,
    "i > 0 and i < n": True,
    "i == 0 or i == n - 1": True,
    "not (i == 0 or a > 2.5 and a != f)": True,
    "i > 0 and x[i - 1] > 0": False,
    "n != 0 and i % n == 1": False,
    "a > 0 and cg.sqrt(a) < 2": False,
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_that_may_always_be_computed_need_no_branch(condition):
    """Later operands of the others access memory, may fail or take long."""
    k = function_of(
        "def k(x: ndarray(i32, 1), y: ndarray(i32, 1), a: f32, f: f32):\n    n = x.shape[0]\n"
        f"    for i in x:\n        if {condition}:\n            y[i] = 1\n"
    )
    x = np.arange(9, dtype="i4") - 4
    given = {"x": x, "y": np.zeros_like(x), "a": 2.75, "f": 1.5}
    program, _ = lower(k, specialise(k, given))
    branches = [each for each in ir.walk(program.tasks[-1].body) if isinstance(each, ir.If)]
    assert len(branches) == 1 + (not CONDITIONS[condition])  # one is the statement `if`
    run_all(k, **given)
