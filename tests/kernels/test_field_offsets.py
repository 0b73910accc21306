# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fields with an offset: kernels and the host count their indices from it."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import cuda_graphs as cg


@dataclasses.dataclass
class Pair:
    a: cg.f32


heat = cg.field(cg.f32, (4, 3), needs_grad=True, offset=(-2, 5))
column = cg.field(cg.vec3, 4, offset=-1)
loss = cg.field(cg.f32, (), needs_grad=True)


@pytest.fixture(scope="module", autouse=True)
def memory(session_device):
    """Make the memory of the fields, which stays."""
    for each in (heat, heat.grad, heat.dual, column, loss, loss.grad, loss.dual):
        each.fill(0)


@cg.kernel
def number():
    for i, j in heat:
        heat[i, j] = i * 10 + j


@cg.kernel
def number_grouped():
    for at in cg.grouped(heat):
        heat[at] = at.x * 10 + at.y


@cg.kernel
def number_by_range(first: cg.i32, small: cg.i8):
    for i in range(first, first + 4):
        for j in cg.static(range(5, 8)):
            heat[i, j] = i * 10 + j
        cg.atomic_add(heat[i, small], 100.0)


@cg.kernel
def square():
    for i, j in heat:
        loss[()] += heat[i, j] * heat[i, j] * i


@cg.kernel
def fill_column():
    for i in column:
        column[i] = cg.vec3(i, heat.shape[0], len(column))


NUMBERS = np.arange(-2, 2)[:, None] * 10.0 + np.arange(5, 8)


@pytest.mark.parametrize("kernel", [number, number_grouped])
def test_kernels_count_indices_from_the_offset(device, kernel):
    heat.fill(0)
    kernel()
    np.testing.assert_array_equal(heat.to_numpy(), NUMBERS)
    assert heat.offset == (-2, 5)
    assert loss.offset == ()


def test_any_index_type_and_atomics_count_from_the_offset(device):
    number_by_range(-2, 6)
    np.testing.assert_array_equal(heat.to_numpy(), NUMBERS + np.array([0, 100, 0]))


def test_host_counts_indices_from_the_offset(device):
    heat.from_numpy(NUMBERS.astype(np.float32))
    assert heat[-2, 5] == NUMBERS[0, 0]
    assert heat[1, 7] == NUMBERS[3, 2]
    heat[-1, 6] = 3.0
    assert heat.to_numpy()[1, 1] == 3.0
    assert heat[...].shape == (4, 3)


def test_vectors_have_offsets_too(device):
    fill_column()
    assert [tuple(column[i]) for i in range(-1, 3)] == [(i, 4, 4) for i in range(-1, 3)]


def test_gradients_count_from_the_offset(device):
    heat.from_numpy(NUMBERS.astype(np.float32))
    with cg.ad.Tape(loss=loss):
        square()
    np.testing.assert_array_equal(heat.grad.to_numpy(), 2 * NUMBERS * np.arange(-2, 2)[:, None])
    assert heat.grad[-2, 5] == -4 * NUMBERS[0, 0]


@pytest.mark.parametrize("clone", [copy.copy, lambda field: pickle.loads(pickle.dumps(field))])
def test_copies_have_the_offset(device, clone):
    made = clone(column)
    assert made.offset == (-1,)
    assert made[2] == column[2]


WRONG = [
    ({"offset": 1.5}, TypeError, "an int for each dimension"),
    ({"offset": (1,)}, ValueError, "has 1 numbers, and the field has 2 dimensions"),
    ({"offset": (1, 2**31)}, ValueError, "indices must be from"),
]


@pytest.mark.parametrize(("given", "error", "text"), WRONG, ids=[str(each[0]) for each in WRONG])
def test_offsets_that_do_not_fit_are_refused(given, error, text):
    with pytest.raises(error, match=text):
        cg.field(cg.f32, (4, 3), **given)


@pytest.mark.parametrize(
    ("index", "error"),
    [((-3, 5), IndexError), ((0, 8), IndexError), (0, TypeError), ((0, slice(1)), TypeError)],
)
def test_indices_outside_are_refused_on_the_host(device, index, error):
    before = heat.to_numpy()
    with pytest.raises(error, match="Field"):
        heat[index] = 1.0
    np.testing.assert_array_equal(heat.to_numpy(), before)


@cg.kernel
def constant_outside():
    heat[-3, 5] = 1.0


@cg.kernel
def constant_beyond():
    heat[2, 5] = 1.0


@pytest.mark.parametrize("kernel", [constant_outside, constant_beyond])
def test_constant_indices_outside_are_refused_when_compiling(device, kernel):
    with pytest.raises(cg.CompileIndexError, match="is outside of"):
        kernel()


@cg.kernel(debug=True)
def store(i: cg.i32, j: cg.i32):
    heat[i, j] = 1.0


def test_the_error_of_a_debug_kernel_counts_from_the_offset(device):
    (rows, columns), (first, left) = heat.shape, heat.offset
    store(first, left)
    store(first + rows - 1, left + columns - 1)
    for i, text in (
        (first - 1, f"index {first - 1} is outside of axis 0"),
        (first + rows, f"whose indices are from {first} to {first + rows - 1}"),
    ):
        with pytest.raises(cg.KernelIndexError, match=text):
            store(i, left)


def test_structures_have_no_offset():
    with pytest.raises(TypeError, match="offset is for fields of numbers and vectors"):
        cg.field(Pair, 3, offset=1)


@cg.data_oriented
class Shifted:
    def __init__(self):
        self.values = cg.field(cg.i32, 3, offset=7)

    @cg.kernel
    def fill(self):
        for i in self.values:
            self.values[i] = i


def test_fields_of_objects_count_from_their_offset(device):
    shifted = Shifted()
    shifted.fill()
    assert [shifted.values[i] for i in (7, 8, 9)] == [7, 8, 9]
    Shifted.fill.forget()
