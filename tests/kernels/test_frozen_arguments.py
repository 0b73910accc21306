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


@pytest.mark.parametrize("calls", [1, 3])
def test_other_instances_have_their_own_members(calls):
    pair = Fixed(cg.zeros(2, cg.i32), cg.ones(2, cg.i32))
    other = replace(pair, x=cg.full(2, 10, cg.i32))
    for each in (pair, other, other, pair):
        for _ in range(calls):
            add_fixed(each)
    assert (pair.x[0], other.x[1]) == (2 * calls, 10 + 2 * calls)


@dataclass(frozen=True)
class Nested:
    pair: Fixed
    step: cg.i32
    flag: bool


@cg.kernel
def add_nested(whole: Nested) -> None:
    for i in whole.pair.x:
        whole.pair.x[i] += whole.pair.y[i] * whole.step + (1 if whole.flag else 0)


def test_nested_frozen_instances_keep_arrays_and_numbers_apart():
    pair = Fixed(cg.zeros(2, cg.i32), cg.ones(2, cg.i32))
    first, second = Nested(pair, 2, True), Nested(pair, 5, False)
    for each in (first, first, first, second, second, second, first):
        add_nested(each)
    assert pair.x.to_numpy().tolist() == [4 * 3 + 3 * 5] * 2


def test_frozen_instance_is_read_again_after_forget():
    pair = Fixed(cg.zeros(2, cg.i32), cg.ones(2, cg.i32))
    for _ in range(3):
        add_fixed(pair)
    add_fixed.forget()
    for _ in range(3):
        add_fixed(pair)
    assert pair.x.to_numpy().tolist() == [6, 6]


def test_instances_that_can_change_are_looked_up_in_each_call():
    pair = Changing(cg.zeros(2, cg.i32), cg.ones(2, cg.i32))
    add_changing(pair)
    pair.y = cg.full(2, 5, cg.i32)
    add_changing(pair)
    assert pair.x.to_numpy().tolist() == [6, 6]


@pytest.mark.parametrize("calls", [1, 3])
def test_kernel_keeps_no_member_of_an_instance_that_died(device, calls):
    class Watched(cg.NDArray):
        """An array with weak references."""

    array = cg.kernels.arrays.ndarray.number_array(cg.i32, 2, False, False, None, Watched)
    pair = Fixed(array, cg.ones(2, cg.i32))
    for _ in range(calls):
        add_fixed(pair)
    device.sync()
    seen = weakref.ref(array)
    del pair, array
    gc.collect()
    device.sync()
    assert seen() is None


@pytest.mark.parametrize("calls", [1, 3])
@pytest.mark.parametrize("kernel", [add_fixed, add_nested])
def test_closed_member_of_a_frozen_instance_is_refused(kernel, calls):
    pair = Fixed(cg.zeros(2, cg.i32), cg.ones(2, cg.i32))
    argument = pair if kernel is add_fixed else Nested(pair, 1, True)
    for _ in range(calls):
        kernel(argument)
    pair.y.buffer.close()
    with pytest.raises(cg.ClosedBufferError):
        kernel(argument)


@dataclass(frozen=True)
class Slope:
    x: cg.Array1[cg.f32]
    grad: cg.Array1[cg.f32]


@cg.kernel
def descend(s: Slope) -> None:
    for i in s.x:
        s.x[i] -= s.grad[i]


@pytest.mark.parametrize("needs_grad", [False, True])
def test_member_with_the_name_of_gradients_is_a_member(needs_grad):
    slope = Slope(cg.zeros(2, cg.f32, needs_grad=needs_grad), cg.ones(2, cg.f32))
    for _ in range(5):
        descend(slope)
    slope.grad.fill(3)
    descend(slope)
    other = Slope(cg.zeros(2, cg.f32), cg.ones(2, cg.f32))
    descend(other)
    assert (slope.x.to_numpy().tolist(), other.x.to_numpy().tolist()) == ([-8, -8], [-1, -1])


@cg.kernel
def copy_gradients(s: Slope) -> None:
    for i in s.x:
        s.grad[i] = s.x.grad[i]


def test_gradients_of_members_are_those_of_each_call():
    for number in range(4):
        slope = Slope(cg.zeros(2, cg.f32, needs_grad=True), cg.zeros(2, cg.f32))
        for call in range(4):
            slope.x.grad.fill(10 * number + call)
            copy_gradients(slope)
            assert slope.grad.to_numpy().tolist() == 2 * [10 * number + call]
