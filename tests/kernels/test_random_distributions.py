# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: random integers are uniform over their range, and random_normal has the moments of the normal distribution."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.autodiff.calls.sources import kernel_of

COUNT = 1 << 17
# (type, low, high)
RANGES = [
    ("i32", -3, 4),
    ("u8", 10, 13),
    ("i8", -128, 127),
    ("i32", -(2**31), 2**31 - 1),
    ("u32", 0, 2**32 - 1),
    ("i64", -5, 5),
    ("i64", -(2**62), 2**62),
    ("u64", 2**63, 2**64 - 1),
]


def drawn(scalar, expression, **names):
    kernel = kernel_of(
        f"def kernel(x: ndarray(T, 1)):\n    for i in x:\n        x[i] = {expression}\n", T=scalar, **names
    )
    x = cg.ndarray(scalar, COUNT)
    cg.random_seed(20)
    kernel(x)
    found = x.to_numpy()
    cg.random_seed(20)
    kernel(x)
    np.testing.assert_array_equal(x.to_numpy(), found)
    kernel.forget()
    return found


@pytest.mark.parametrize(("name", "low", "high"), RANGES)
def test_integers_are_uniform(name, low, high, device):
    scalar = getattr(cg, name)
    found = drawn(scalar, f"cg.random_integer(cg.{name}(LOW), cg.{name}(HIGH))", LOW=low, HIGH=high)
    assert low <= found.min() and found.max() < high
    bins = min(high - low, 16)
    counts = np.bincount([(int(each) - low) * bins // (high - low) for each in found], minlength=bins)
    wanted = np.full(bins, COUNT / bins)
    if high - low == 255:  # bins of 15 and 16 integers
        wanted = COUNT * np.bincount(np.arange(255) * bins // 255) / 255
    assert (((counts - wanted) ** 2 / wanted).sum()) < 50  # chi square of at most 15 degrees of freedom: 1e-5


def test_empty_ranges_give_their_begin(device):
    assert (drawn(cg.i32, "cg.random_integer(5, 5)") == 5).all()
    assert (drawn(cg.i64, "cg.random_integer(cg.i64(5), cg.i64(-5))") == 5).all()


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_normal_numbers_have_their_moments(name, device):
    x = drawn(getattr(cg, name), f"cg.random_normal(cg.{name})").astype("f8")
    assert abs(x.mean()) < 0.02 and abs(x.std() - 1) < 0.01
    assert abs((x**3).mean()) < 0.05 and abs((x**4).mean() - 3) < 0.1
    share = (np.abs(x)[:, None] < [1, 2, 3]).mean(0)
    np.testing.assert_allclose(share, [0.68269, 0.9545, 0.9973], atol=0.005)
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.01


def test_other_types_are_refused(device):
    with pytest.raises(cg.CompileTypeError, match=r"cg\.random_integer takes integers, not f32"):
        drawn(cg.f32, "cg.random_integer(0, 1.5)")
    with pytest.raises(cg.CompileTypeError, match=r"cg\.random_normal makes floats, not i32"):
        drawn(cg.i32, "cg.random_normal(cg.i32)")
