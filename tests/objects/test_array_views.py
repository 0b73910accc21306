# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what a buffer of NumPy says of an array is what its array interface says."""

import numpy as np
import pytest

from cuda_graphs._objects.array_view import view_array

NUMBERS = np.arange(24, dtype="i4").reshape(4, 6)
FIXED = NUMBERS.copy()
FIXED.flags.writeable = False

ARRAYS = {
    **{f"elements of {code}": np.ones(3, code) for code in "?bBhHiIlLqQefdFD"},
    "two axes": NUMBERS,
    "Fortran's order": np.asfortranarray(NUMBERS),
    "gaps": NUMBERS[::2, 1::3],
    "backwards": NUMBERS[::-1],
    "no dimensions": np.array(3.5, "f4"),
    "no elements": np.zeros((3, 0), "f8"),
    "one for all": np.broadcast_to(np.float32(2), (5, 2)),
    "read-only": FIXED,
    "bytes in the other order": np.ones(3, ">i4"),
    "structures": np.zeros(2, [("a", "i4"), ("b", "f8")]),
    "dates": np.array(["2026-11-21"], "M8[D]"),
    "objects": np.array([object()]),
    "texts": np.array(["ab", "c"]),
}


class Other(np.ndarray):
    """An array that is asked for its interface."""


@pytest.mark.parametrize("what", ARRAYS)
def test_a_buffer_says_what_the_interface_says(what):
    array = ARRAYS[what]
    found, wanted = view_array(array, "array"), view_array(array.view(Other), "array")
    for name in ("address", "itemsize", "dtype", "is_bfloat16", "shape", "strides", "is_read_only"):
        assert getattr(found, name) == getattr(wanted, name), name
