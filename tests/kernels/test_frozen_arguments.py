# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of dataclasses as arguments: a call looks up the members of a frozen instance once, and keeps none alive."""

import gc
import weakref
from dataclasses import dataclass, replace

import pytest

import cuda_graphs as cg

looked_up = []


class Counted:
    """Counts the accesses to its members `x` and `y`."""

    def __getattribute__(self, name):
        if name in ("x", "y"):
            looked_up.append(name)
        return super().__getattribute__(name)


@dataclass(frozen=True)
class Fixed(Counted):
    x: cg.Array1[cg.i32]
    y: cg.Array1[cg.i32]


@dataclass
class Changing(Counted):
    x: cg.Array1[cg.i32]
    y: cg.Array1[cg.i32]


@cg.kernel
def add_fixed(pair: Fixed) -> None:
    for i in pair.x:
        pair.x[i] += pair.y[i]


@cg.kernel
def add_changing(pair: Changing) -> None:
    for i in pair.x:
        pair.x[i] += pair.y[i]


def test_members_of_a_frozen_instance_are_looked_up_once():
    pair = Fixed(cg.zeros(2, cg.i32), cg.ones(2, cg.i32))
    add_fixed(pair)
    looked_up.clear()
    for _ in range(3):
        add_fixed(pair)
    assert looked_up == []
    assert pair.x.to_numpy().tolist() == [4, 4]


def test_other_instances_have_their_own_members():
    pair = Fixed(cg.zeros(2, cg.i32), cg.ones(2, cg.i32))
    other = replace(pair, x=cg.full(2, 10, cg.i32))
    for each in (pair, other, other, pair):
        add_fixed(each)
    assert (pair.x[0], other.x[1]) == (2, 12)


def test_instances_that_can_change_are_looked_up_in_each_call():
    pair = Changing(cg.zeros(2, cg.i32), cg.ones(2, cg.i32))
    add_changing(pair)
    pair.y = cg.full(2, 5, cg.i32)
    add_changing(pair)
    assert pair.x.to_numpy().tolist() == [6, 6]


def test_kernel_keeps_no_member_of_an_instance_that_died(device):
    class Watched(cg.NDArray):
        """An array with weak references."""

    array = cg.kernels.arrays.ndarray.number_array(cg.i32, 2, False, False, None, Watched)
    pair = Fixed(array, cg.ones(2, cg.i32))
    add_fixed(pair)
    device.sync()
    seen = weakref.ref(array)
    del pair, array
    gc.collect()
    device.sync()
    assert seen() is None


def test_closed_member_of_a_frozen_instance_is_refused():
    pair = Fixed(cg.zeros(2, cg.i32), cg.ones(2, cg.i32))
    add_fixed(pair)
    pair.y.buffer.close()
    with pytest.raises(cg.ClosedBufferError):
        add_fixed(pair)
