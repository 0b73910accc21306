# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: .ftz flushes by the exact result, not by the rounded one, also where the two are closest.

The inputs of the table reach the limit in a few places only. Here every result, of both signs, is within a few ulps of
the least normal number, and a sum may miss it by less than a double can show.
"""

import numpy as np
import pytest

from tests.ptx import exact, rig, table
from tests.ptx.exact import MODES

BELOW = exact.Flushing.of(exact.F32)
RNG = np.random.default_rng(17)
N = table.COUNT
SIGN = RNG.choice(np.array([-1, 1], np.float32), N)
FACTOR = RNG.uniform(1, 2, N).astype(np.float32)
LEAST = np.float32(2.0**-126)
# Factors whose product is 2^-126 but for rounding.
NEAR = (np.float32(2.0**-100) / FACTOR * SIGN).astype(np.float32)
FACTORS = [FACTOR * np.float32(2.0**-26), NEAR]
CASES = {
    "mul": FACTORS,
    "div": [FACTOR * np.float32(2.0**-125) * (1 - RNG.integers(0, 3, N) * 2.0**-24), FACTOR * 2 * SIGN],
    # 2^-126 plus or minus a product down to 2^-200: far below what a double of that size holds.
    "fma": [
        np.ldexp(SIGN, -RNG.integers(70, 100, N)),
        np.ldexp(RNG.choice([-1.0, 1.0], N), -RNG.integers(60, 100, N)),
        LEAST * RNG.choice([-1.0, 1.0], N),
    ],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CASES)
def test_a_result_is_flushed_where_the_exact_one_is_below_the_least_normal_number(name, mode):
    arrays = [np.asarray(a, np.float32) for a in CASES[name]]
    names = ", ".join(f"%{x}" for x, _ in zip("abc", arrays, strict=False))
    text = table.kernel(["f32"] * len(arrays), "f32", 1, f"{name}.{mode}.ftz.f32 %d, {names};")
    program = rig.load(
        ".version 8.0\n.target sm_90\n.address_size 64\n" + text.replace("{entry}", "flushing")
    )
    found = np.full(N, np.nan, np.float32)
    padding = [np.zeros(1, np.uint8)] * (3 - len(arrays))
    program.launch("flushing", table.GRID, table.BLOCK, *arrays, *padding, found, np.uint32(N))

    operation = getattr(exact, name)
    expected = exact.elementwise(
        lambda *values: operation(BELOW, mode, *map(BELOW.flush, values)), np.float32, *arrays
    )
    assert (expected == 0).any() and (np.abs(expected) == LEAST).any()  # the inputs are on both sides
    assert found.view(np.uint32).tolist() == expected.view(np.uint32).tolist()
