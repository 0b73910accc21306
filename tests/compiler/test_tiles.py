# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a loop of several axes runs each of its points once, on grids of any shape, whatever its sizes are."""

import re

import numpy as np
import pytest

from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.compiler.rig import (
    cg,
    function_of,
    in_every_grid,
    joint_accesses,
    on_ptx,
    ptx_of,
)  # fmt: skip

BOXES = [
    *((5, n) for n in (1, 31, 32, 33, 63, 64, 100, 257)),
    *((n, 40) for n in (1, 2, 31, 129)),
    (0, 40), (40, 0), (3, 5, 33), (7, 1, 64), (1, 1, 32), (2, 3, 1, 45), (3, 1, 4, 70), (2, 2, 3, 2, 34),
]  # fmt: skip
NAMES = "ijklm"


def numbers(shape):
    return np.arange(np.prod(shape), dtype="i4").reshape(shape)


def kernel(axes, body, loop="x"):
    index = ", ".join(NAMES[:axes])
    lines = "\n".join(f"        {line.replace('@', index)}" for line in body)
    return function_of(
        f"def k(x: ndarray(i32, {axes}), y: ndarray(i32, {axes}), total: ndarray(i64, 0)):\n"
        f"    for {index} in {loop}:\n{lines}\n"
    )


@pytest.mark.parametrize("box", BOXES, ids=str)
def test_each_point_is_visited_once_with_its_own_indices(box):
    axes = len(box)
    number = " + ".join(f"{name} * {10**at}" for at, name in enumerate(NAMES[:axes]))
    k = kernel(axes, ["x[@] += 1", f"y[@] = x[@] * 1000000 + {number}"])
    given = {"x": numbers(box), "y": np.zeros(box, "i4"), "total": np.zeros((), "i8")}
    found = in_every_grid(k, given)
    np.testing.assert_array_equal(found["x"], given["x"] + 1)
    digits = sum(10**at * each for at, each in enumerate(np.indices(box, "i4")))
    np.testing.assert_array_equal(found["y"], (given["x"] + 1) * np.int32(1000000) + digits)


@pytest.mark.parametrize("box", [(5, 100), (3, 5, 33), (2, 3, 1, 45)], ids=str)
def test_sums_and_atomics_take_each_point_once(box):
    k = kernel(len(box), ["total[()] += x[@]", "cg.atomic_max(y[" + ", ".join("0" * len(box)) + "], x[@])"])
    found = in_every_grid(k, {"x": numbers(box), "y": np.zeros(box, "i4"), "total": np.zeros((), "i8")})
    assert found["total"] == numbers(box).sum() and found["y"].max() == numbers(box).max()


def test_axes_may_begin_anywhere_and_take_steps():
    k = function_of(
        "def k(x: ndarray(i32, 2)):\n"
        "    for i in range(0, 1):\n        pass\n"
        "    for i, j in cg.ndrange((2, x.shape[0]), (1, x.shape[1] - 3)):\n        x[i, j] = 100 * i + j\n"
    )
    found = in_every_grid(k, {"x": np.full((9, 80), -1, "i4")})["x"]
    wanted = np.full((9, 80), -1, "i4")
    wanted[2:, 1:77] = (100 * np.arange(9)[:, None] + np.arange(80))[2:, 1:77]
    np.testing.assert_array_equal(found, wanted)


def stencil(x: cg.ndarray(cg.f32, 2), y: cg.ndarray(cg.f32, 2)):
    for i, j in cg.ndrange(y.shape[0], y.shape[1]):
        y[i, j] = x[i, j] + x[i + 1, j]


def test_loads_of_four_points_come_before_their_stores():
    given = {"x": np.zeros((9, 64), "f4"), "y": np.zeros((8, 64), "f4")}
    code = ptx_of(stencil, given)
    loads = [len(re.findall(r"ld\.global", block.partition("st.global")[0])) for block in code.split("\n$L")]
    assert max(loads) == 2 * 4


def overwriting(x: cg.ndarray(cg.i32, 2), y: cg.ndarray(cg.i32, 2)):
    """A point reads again what it has written by another name: x and y may be one array."""
    for i, j in x:
        y[i, j] = x[i, j] + 1
        x[i, j] = y[i, j] * 2 + x[i, j]


@pytest.mark.parametrize("columns", [70, 128])
def test_a_point_sees_its_own_stores_through_other_names_of_the_memory(columns):
    """Rows of 128 columns are aligned, so a thread has neighbours."""
    array, shape = np.arange(5 * columns, dtype="i4").reshape(5, columns), (3, 64)
    program, _ = lower(overwriting, specialise(overwriting, {"x": array, "y": array}))
    found = array.copy()
    on_ptx(program, {"x": found, "y": found}, {"x": array, "y": array}, shape)
    np.testing.assert_array_equal(found, (array + 1) * 3)


@pytest.mark.parametrize("begin", [0, 1, 31, 32, 33, -5], ids=str)
@pytest.mark.parametrize("columns", [1, 31, 32, 97, 160, 300], ids=str)
def test_columns_from_any_index_on_are_visited_once(begin, columns):
    """Warps begin at multiples of 32, with one axis and with two."""
    k = function_of(
        "def k(x: ndarray(i32, 2), y: ndarray(i32, 1), begin: i32, end: i32):\n"
        "    for i, j in cg.ndrange((1, 4), (begin, end)):\n        x[i, j + 8] += 100 * i + j\n"
        "    for j in range(begin, end):\n        y[j + 8] += j\n"
    )
    width = 8 + 33 + 300
    given = {
        "x": np.zeros((5, width), "i4"),
        "y": np.zeros(width, "i4"),
        "begin": begin,
        "end": begin + columns,
    }
    found = in_every_grid(k, given)
    wanted = np.zeros(width, "i4")
    wanted[begin + 8 : begin + 8 + columns] = np.arange(begin, begin + columns)
    np.testing.assert_array_equal(found["y"], wanted)
    rows = np.zeros((5, width), "i4")
    rows[1:4, begin + 8 : begin + 8 + columns] = (
        wanted[begin + 8 : begin + 8 + columns] + 100 * np.arange(1, 4)[:, None]
    )
    np.testing.assert_array_equal(found["x"], rows)


SWEEPS = {
    "two arrays": "y[i, j] = 2 * x[i - 1, j] + x[i + 1, j] - 3 * x[i, j - 1] + x[i, j + 1]",
    "in place, with a sum": "total[()] += cg.i64(x[i, j])\n        x[i, j] += y[i - 1, j + 1] * y[i, j - 1] + x[i, j]",
    "two stores": "x[i, j] = y[i, j] + i\n        y[i, j] = x[i, j] * 3 + j",
}


@pytest.mark.parametrize("offset", [0, 1, 2, 4])
@pytest.mark.parametrize("columns", [40, 128, 131, 132, 260, 390], ids=str)
@pytest.mark.parametrize("scalar", ["i32", "i64", "u8", "f32"])
@pytest.mark.parametrize("sweep", SWEEPS)
def test_sweeps_are_right_whether_rows_are_aligned_or_not(sweep, scalar, columns, offset):
    """`offset`: elements from an aligned address to the array."""
    k = function_of(
        f"def k(x: ndarray({scalar}, 2), y: ndarray({scalar}, 2), total: ndarray(i64, 0)):\n"
        "    for i, j in cg.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):\n"
        f"        {SWEEPS[sweep]}\n"
    )
    dtype = {"i32": "i4", "i64": "i8", "u8": "u1", "f32": "f4"}[scalar]
    x, y = (np.arange(n, n + 6 * columns).reshape(6, columns).astype(dtype) for n in (3, 11))
    given = {"x": x, "y": y, "total": np.zeros((), "i8")}
    in_every_grid(k, given, offset * x.itemsize, fuse="call")


@pytest.mark.parametrize("begin", [0, 1, 3, 31, 32, 33])
@pytest.mark.parametrize("columns", [32, 40, 127, 128, 300], ids=str)
def test_columns_of_aligned_rows_are_visited_once(begin, columns):
    k = function_of(
        "def k(x: ndarray(i32, 2), begin: i32, end: i32):\n"
        "    for i, j in cg.ndrange((1, 4), (begin, end)):\n        x[i, j] += 100 * i + j\n"
    )
    given = {"x": np.zeros((5, 336), "i4"), "begin": begin, "end": begin + columns}
    found = in_every_grid(k, given)["x"]
    wanted = np.zeros((5, 336), "i4")
    wanted[1:4, begin : begin + columns] = 100 * np.arange(1, 4)[:, None] + np.arange(begin, begin + columns)
    np.testing.assert_array_equal(found, wanted)


SUMS = {
    "x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]": 3,  # the rows above and below, and the own one
    "x[i, j] * 2": 1,
}


@pytest.mark.parametrize(("value", "loads"), SUMS.items())
@pytest.mark.parametrize(("scalar", "joint"), [("f32", "v4.b32"), ("f64", "v2.b64")])
def test_neighbours_have_joint_accesses(scalar, joint, value, loads):
    sweep = function_of(
        f"def k(x: ndarray({scalar}, 2), y: ndarray({scalar}, 2)):\n"
        "    for i, j in cg.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):\n"
        f"        y[i, j] = {value}\n"
    )
    array = np.zeros((6, 128), {"f32": "f4", "f64": "f8"}[scalar])
    found = joint_accesses(sweep, {"x": array, "y": array})
    assert found == [f"ld.global.{joint}"] * loads + [f"st.global.{joint}"]


def test_loops_that_store_at_other_indices_have_single_accesses():
    """Two of their iterations may store at one place, and LLVM must not take the other order."""
    beside = function_of(
        "def k(x: ndarray(f32, 2), y: ndarray(f32, 2)):\n"
        "    for i, j in cg.ndrange(x.shape[0], x.shape[1] // 2):\n"
        "        y[i, j + j] = x[i, j]\n        y[i, j] = x[i, j]\n"
    )
    array = np.zeros((6, 128), "f4")
    assert joint_accesses(beside, {"x": array, "y": array}) == []


def components(x: cg.ndarray(cg.types.vec(4, cg.f32), 1), y: cg.ndarray(cg.f32, 2)):
    for i, j in cg.ndrange(x.shape[0], 4):
        x[i][j] = x[i][j] * 2.0 + y[i, j]


@pytest.mark.parametrize("count", [1, 40, 257])
def test_the_last_axis_may_be_that_of_components(count):
    """Then the length of rows is part of the type."""
    given = {"x": np.arange(4 * count, dtype="f4").reshape(count, 4), "y": np.ones((count, 4), "f4")}
    found = in_every_grid(components, given)
    np.testing.assert_array_equal(found["x"], given["x"] * 2 + 1)
