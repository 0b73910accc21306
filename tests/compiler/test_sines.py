# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Sine and cosine of f32 on the CPU are the true value, rounded, or its neighbour, where iterations run side by
side; one that is left over has the bits of a lane."""

import numpy as np

from cuda_graphs.compiler.codegen.x86.vectorisation_analysis import vectorisation_of
from cuda_graphs.compiler.language.signature import specialise
from cuda_graphs.compiler.pipeline import lower
from tests.compiler.rig import cg, execute

f32 = cg.f32
ndarray = cg.types.ndarray


def side_by_side(x: ndarray(f32, 1), s: ndarray(f32, 1), c: ndarray(f32, 1)):
    for i in x:
        s[i] = cg.sin(x[i])
        c[i] = cg.cos(x[i])


def found(x):
    """Sines and cosines, computed in three parts."""
    arguments = {"x": x, "s": np.zeros_like(x), "c": np.zeros_like(x)}
    program, _ = lower(side_by_side, specialise(side_by_side, arguments))
    assert vectorisation_of(program.tasks[0]) is not None
    arrays, _ = execute("x86", program, arguments)
    return arrays["s"], arrays["c"]


def inputs():
    draw = np.random.default_rng(7)
    quarters = np.arange(-400, 400) * (np.pi / 4)
    near = np.concatenate(
        [np.nextafter(quarters.astype(np.float32), np.float32(to)) for to in (-1e9, 0, 1e9)]
    )
    wide = draw.uniform(-1, 1, 20_000) * 2.0 ** draw.integers(-30, 24, 20_000)
    return np.concatenate(
        [near, wide, [2.0**19, -(2.0**19), np.nextafter(np.float32(2.0**19), 0), 3e38]]
    ).astype(np.float32)


def test_sines_and_cosines_are_the_true_value_or_its_neighbour():
    x = inputs()
    wide = x.astype(np.longdouble)
    for values, true in zip(found(x), (np.sin(wide), np.cos(wide)), strict=True):
        step = np.spacing(np.abs(true).astype(np.float32)).astype(np.longdouble)
        off = np.abs(values.astype(np.longdouble) - true) / step
        assert np.max(off) < 1.0
        assert np.max(off[np.abs(x) < 2.0**19]) < 0.502


def test_remaining_iterations_have_the_bits_of_lanes():
    x = np.random.default_rng(5).choice(inputs(), 93)  # each part: 16 lanes, and 15 one by one
    for here, moved in zip(found(x), found(np.roll(x, 16)), strict=True):
        np.testing.assert_array_equal(np.roll(here, 16).view(np.uint32), moved.view(np.uint32))


def test_zeros_keep_their_signs_and_what_is_no_number_stays_none():
    x = np.tile(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.0], np.float32), 9)
    sines, cosines = found(x)
    np.testing.assert_array_equal(sines[:2], [0, 0])
    np.testing.assert_array_equal(np.signbit(sines[:2]), [False, True])
    np.testing.assert_array_equal(cosines[:2], 1)
    assert np.isnan(sines[2:5]).all()
    assert np.isnan(cosines[2:5]).all()
    np.testing.assert_array_equal(sines[5:7], x[5:7])
    np.testing.assert_array_equal(sines, np.tile(sines[:8], 9))
