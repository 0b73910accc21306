# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel changes arrays of other libraries as NumPy changes the same memory, whether the device reaches that
memory or gets a copy. It asks the library only for the place of the memory.

Each test runs with the device as it is, and once more as if the device reached no memory of the host.
"""

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.kernels.arrays import foreign
from tests.graph_rig import pinned

__all__ = ["pinned"]

f32_1d = cg.types.ndarray(cg.f32, ndim=1)


@pytest.fixture(autouse=True, params=["as the device is", "the device reaches no memory of the host"])
def reach(request, monkeypatch):
    if request.param != "as the device is":
        monkeypatch.setattr(foreign, "all_is_accessible", False)


class Tensor:
    """An array of the host of which NumPy knows nothing: it is read and written by DLPack alone."""

    def __init__(self, array):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__

    def __array__(self, *args, **keywords):
        raise AssertionError("nobody asks NumPy for it")

    def __getitem__(self, index):
        raise AssertionError("nobody reads its elements")

    def __setitem__(self, index, value):
        raise TypeError("can't assign a numpy.ndarray to a Tensor")


@cg.kernel
def advance(x: cg.types.ndarray(cg.f32), y: cg.types.ndarray(cg.f32)):
    for i in cg.grouped(x):
        y[i] = 2 * x[i] + y[i]


def packed(shape):
    return np.arange(np.prod(shape), dtype="f").reshape(shape)


LAYOUTS = {
    "one": lambda: packed(7),
    "two": lambda: packed((3, 5)),
    "many": lambda: packed(100_000),
    "none": lambda: packed((0, 4)),
    "turned": lambda: packed((3, 5)).T,
    "every second": lambda: packed((6, 8))[::2, 1::3],
    "backwards": lambda: packed(9)[::-1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("library", [lambda array: array, Tensor], ids=["NumPy", "DLPack alone"])
def test_a_kernel_does_what_numpy_does(layout, library):
    x, y = LAYOUTS[layout](), LAYOUTS[layout]()
    around = y.base if y.base is not None else y
    untouched = around.sum() - y.sum()
    wanted = 5 * x
    for _ in range(2):
        advance(library(x), library(y))
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(x, LAYOUTS[layout]())
    assert around.sum() - y.sum() == untouched


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_array_that_is_given_twice_is_one(layout):
    for wrap in (Tensor, lambda array: array):
        x = LAYOUTS[layout]()
        wanted = 3 * x
        twice = wrap(x)
        advance(twice, twice)
        np.testing.assert_array_equal(x, wanted)


def test_an_array_without_dimensions_is_one_element():
    @cg.kernel
    def double(x: cg.types.ndarray(cg.f32, ndim=0)):
        x[()] = 2 * x[()]

    for wrap in (Tensor, lambda array: array):
        x = np.full((), 3, "f")
        double(wrap(x))
        assert x == 6


class Deep:
    """An array of one element with as many dimensions as NumPy has, and one more."""

    def __init__(self, array, ndim):
        self.array, self.__array_interface__ = array, {**array.__array_interface__, "shape": (1,) * ndim}


def test_an_array_has_at_most_the_dimensions_of_numpy():
    @cg.kernel
    def nothing(x: cg.types.ndarray(cg.f32)):
        pass

    nothing(Deep(packed(1), 64))
    with pytest.raises(
        ValueError, match="parameter 'x' has 65 dimensions: arrays in kernels have at most 64"
    ):
        nothing(Deep(packed(1), 65))


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "f2", "i4", "u4", "f4", "i8", "f8", "?"])
def test_elements_of_each_type_arrive_and_come_back(kind):
    @cg.kernel
    def move(x: cg.types.ndarray(), y: cg.types.ndarray()):
        for i in cg.grouped(x):
            y[i] = x[i]

    x = np.arange(12).reshape(3, 4).astype(kind).T
    for wrap in (Tensor, lambda array: array):
        y = np.zeros((3, 4), kind).T
        move(wrap(x), wrap(y))
        np.testing.assert_array_equal(y, x)


def test_read_only_memory_is_refused_before_anything_runs():
    x, y = packed(5), np.ones(5, "f")
    x.flags.writeable = False
    advance(Tensor(x), Tensor(y))
    np.testing.assert_array_equal(y, 2 * x + 1)
    with pytest.raises(ValueError, match="parameter 'y' is read-only, but the kernel writes it"):
        advance(Tensor(y), Tensor(x))
    assert x.tolist() == [0, 1, 2, 3, 4]


class Fresh(Tensor):
    """Exports a copy that only the capsule keeps."""

    def __init__(self, array):
        self.__dlpack_device__ = array.__dlpack_device__
        self.array = array

    def __dlpack__(self, **keywords):
        return np.array(self.array).__dlpack__(**keywords)


def test_memory_that_a_library_exports_stays_as_long_as_the_kernel_runs():
    values, y = packed(1_000_000), np.ones(1_000_000, "f")
    advance(Fresh(values), y)
    np.testing.assert_array_equal(y, 2 * values + 1)


def test_arrays_of_the_host_and_of_the_device_may_be_mixed():
    own, y = cg.ndarray(cg.f32, 5), np.ones(5, "f")
    own.from_numpy(packed(5))
    advance(Tensor(own), Tensor(y))
    assert y.tolist() == [1, 3, 5, 7, 9]
    advance(Tensor(y), Tensor(own))
    assert own.to_numpy().tolist() == [2, 7, 12, 17, 22]


class Pinned(Tensor):
    """A tensor that reports pinned memory."""

    def __dlpack_device__(self):
        return (3, 0)

    def __init__(self, array):
        self.__dlpack__ = array.__dlpack__


@cg.kernel
def add_slowly(x: f32_1d, rounds: cg.i32):
    for i in x:
        for _ in range(rounds):
            x[i] += 1


def test_memory_of_the_host_is_written_when_the_call_returns(device, pinned):
    for x, wrap in ((np.zeros(1000, "f"), Tensor), (pinned(1000, "f"), Pinned)):
        for rounds in (1, 20_000):
            add_slowly(wrap(x), rounds)
        assert x.tolist() == [20_001] * 1000


def test_a_copy_that_fails_changes_nothing(driver_table, monkeypatch):
    monkeypatch.setattr(foreign, "all_is_accessible", False)
    x, y = packed(5), np.ones(5, "f")
    advance(x, y)
    driver_table.refuse("cuMemcpyAsync", 46)
    with pytest.raises(cg.CUDAError, match="copy the argument for parameter 'x'"):
        advance(Tensor(x), Tensor(y))
    driver_table.restore()
    np.testing.assert_array_equal(y, 2 * x + 1)
