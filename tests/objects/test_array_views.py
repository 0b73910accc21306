# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the fields of an array of NumPy say of it what its array interface says."""

import numpy as np
import pytest

from cuda_graphs.objects.memory.array_view import view_array

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
    "one for all that warns of writes": np.broadcast_arrays(np.float32(2), np.ones((5, 2), "f4"))[0],
    "one row": np.ones((1, 3, 1), "f4")[:, ::2],
    "not aligned": np.zeros(9, "u1")[1:].view("f4"),
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
def test_the_fields_say_what_the_interface_says(what):
    array = ARRAYS[what]
    found, wanted = view_array(array, "array"), view_array(array.view(Other), "array")
    for name in ("address", "itemsize", "dtype", "is_bfloat16", "shape", "strides", "is_read_only"):
        assert getattr(found, name) == getattr(wanted, name), name


class Odd:
    """An object that says what it likes of its memory."""

    def __init__(self, name, interface):
        setattr(self, name, interface)


GOOD = {"data": (4096, False), "typestr": "<i4", "shape": (2,), "version": 3}
MALFORMED = [
    *(7, None.__class__, (), "text", [("data", 1)], 1.5),
    *({}, {**GOOD, "data": 4096}, {**GOOD, "data": (1.5, False)}, {**GOOD, "data": ("4096", False)}),
    *({**GOOD, "data": (-1, False)}, {**GOOD, "data": (1 << 64, False)}, {**GOOD, "data": (4096,)}),
    *(
        {**GOOD, "shape": 2},
        {**GOOD, "shape": (2.5,)},
        {**GOOD, "strides": (4, 4)},
        {**GOOD, "typestr": "no type"},
    ),
]


@pytest.mark.parametrize("interface", MALFORMED, ids=repr)
@pytest.mark.parametrize("name", ["__array_interface__", "__cuda_array_interface__"])
def test_a_malformed_interface_is_a_type_error_that_names_the_argument(name, interface):
    with pytest.raises(TypeError, match=r"^the argument is a Odd "):
        view_array(Odd(name, interface), "the argument")


def test_a_well_formed_interface_is_taken():
    view = view_array(Odd("__cuda_array_interface__", GOOD), "the argument")
    assert (view.address, view.shape, view.strides) == (4096, (2,), (4,))
