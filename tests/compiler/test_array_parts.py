# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of parts of arrays, which slices name, and of structures that take items and go into parts."""

from dataclasses import dataclass

import numpy as np
import pytest

from cuda_graphs.compiler import errors
from tests.compiler.rig import cg, function_of, run_all

VEC = cg.types.vec(4, cg.f32)


def run(body, **arguments):
    names = ", ".join(
        f"{name}: {'ndarray()' if np.ndim(value) else 'i32'}" for name, value in arguments.items()
    )
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    return run_all(function_of(f"def k({names}):\n{lines}\n", Row=Row), **arguments)


@dataclass
class Row:
    """Four numbers that come from a part of an array and go into one."""

    v: VEC

    def __setitem__(self, index, part):
        for j in cg.static(range(4)):
            if j < part.shape[0]:
                self.v[j] = part[j]

    def __getitem__(self, index):
        return self

    def store_to(self, part):
        for j in cg.static(range(4)):
            if j < part.shape[0]:
                part[j] = self.v[j]


X = np.arange(35, dtype=np.float32).reshape(5, 7)


def test_indices_of_a_part_count_from_its_beginning_and_its_elements_are_those_of_the_array():
    body = "part = x[a:b, 3]\nfor i in range(y.shape[0]):\n    y[i] = part[i]\n    part[i] += 100.0"
    found = run(body, x=X, y=np.zeros(3, np.float32), a=1, b=4)
    np.testing.assert_array_equal(found["y"], X[1:4, 3])
    expected = X.copy()
    expected[1:4, 3] += 100
    np.testing.assert_array_equal(found["x"], expected)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x[:, :]", X), ("x[2:, n]", X[2:, 4]), ("x[1:99, 2:6]", X[1:99, 2:6]), ("x[n, :n]", X[4, :4]),
        ("x[1:, 2:6][1:, :n]", X[2:, 2:6]), ("x[1:n, 2:][2, 1:99]", X[3, 3:]), ("x[:, 1][1:][1:2]", X[2:3, 1]),
    ],
)  # fmt: skip
def test_a_part_ends_at_the_end_of_the_array_and_has_the_shape_of_numpy(text, part):
    lines = [f"y[{i}] = part.shape[{i}]" for i in range(part.ndim)]
    zeros = ", ".join("0" * part.ndim)
    body = "\n".join([f"part = {text}", *lines, "y[2] = len(part)", f"z[0] = part[{zeros}]"])
    found = run(body, x=X, y=np.zeros(3, np.int32), z=np.zeros(1, np.float32), n=4)
    np.testing.assert_array_equal(found["y"][: part.ndim], part.shape)
    assert found["y"][2] == len(part) and found["z"][0] == part.flat[0]


BOUNDS = "x[a:n]", "x[:n]", "x[a:]", "x[a:][1:n]", "x[2:5]", "x[5:2]", "x[:]"


@pytest.mark.parametrize("size", [0, 1, 3, 9])
@pytest.mark.parametrize(("a", "n"), [(0, 0), (0, 2), (2, 1), (8, 30), (20, 3)])
def test_a_part_has_as_many_elements_as_in_python(size, a, n):
    x = np.zeros(size, np.float32)
    body = "\n".join(f"y[{i}] = len({text}) + {text}.shape[0]" for i, text in enumerate(BOUNDS))
    found = run(body, x=x, y=np.zeros(len(BOUNDS), np.float32), a=a, n=n)
    assert found["y"].tolist() == [2 * len(eval(text, {"x": x, "a": a, "n": n})) for text in BOUNDS]


@pytest.mark.parametrize("text", ["x[:-2]", "x[-2:]", "x[1:][:-1]", "x[-3:-1]"])
def test_constant_bounds_below_zero_are_refused(text):
    with pytest.raises(
        errors.CompileNegativeIndexError, match=r"(?s)of a slice is below 0.*x\.shape\[0\] - "
    ):
        run(f"y[0] = len({text})", x=np.zeros(9, np.float32), y=np.zeros(1, np.float32))


def test_a_structure_takes_an_item_by_its_method_and_goes_into_a_part_by_another():
    body = "row = Row(0)\nrow[:] = x[a, 1:n]\nrow.v *= 2.0\nx[a + 1, 2:7] = row"
    found = run(body, x=X, a=2, n=4)["x"]
    expected = X.copy()
    expected[3, 2:6] = [*(2 * X[2, 1:4]), 0]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("y[0] = x[1:2]", "2 dimensions and 1 were indexed"),
        ("y[0] = x[1:2, 0][0, 0]", "with 1 slices is indexed with 2 indices"),
        ("y[0] = x[0:4:2, 0][0]", "has no step"),
        ("x[0:2, 0] = 1.0", "cannot assign a number or vector to a part of 'x'"),
        ("y[0] = x[0:2, 0] + 1.0", "a part of 'x'"),
    ],
)
def test_other_uses_of_parts_are_refused(body, message):
    with pytest.raises(errors.CompileError, match=message):
        run(body, x=X, y=np.zeros(2, np.float32))
