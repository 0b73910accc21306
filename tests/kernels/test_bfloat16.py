# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: bf16 elements are float32 on the host, rounded to nearest with ties to even, as ml_dtypes rounds. Arrays and
numbers of ml_dtypes.bfloat16 are accepted wherever arrays and numbers of NumPy are."""

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import cuda_graphs as cg

bf16_1d = cg.types.ndarray(cg.bf16, ndim=1)


@cg.kernel
def double(x: bf16_1d, y: bf16_1d):
    for i in x:
        y[i] = x[i] + x[i]


@cg.kernel
def store(x: bf16_1d, value: cg.bf16):
    x[0] = value


@cg.kernel
def largest(x: bf16_1d) -> cg.bf16:
    return max(x[0], x[1])


def test_every_bfloat16_survives_the_way_to_the_device_and_back(device):
    values = np.arange(2**16, dtype=np.uint16).view(ml_dtypes.bfloat16)
    wanted = (np.arange(2**16, dtype=np.uint32) << 16).view(
        np.float32
    )  # a bfloat16 is the upper half of a float32
    array = cg.ndarray(cg.bf16, values.shape)
    for given in (values, wanted):
        array.fill(0)
        array.from_numpy(given)
        found = array.to_numpy()
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, wanted)


def test_numbers_are_rounded_as_ml_dtypes_rounds_them(device):
    values = np.random.default_rng(1).integers(0, 2**32, 10000, dtype=np.uint32).view(np.float32)
    array = cg.ndarray(cg.bf16, values.shape)
    array.from_numpy(values)
    with np.errstate(invalid="ignore"):
        wanted = values.astype(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(array.to_numpy(), wanted)


@pytest.mark.parametrize("given", [ml_dtypes.bfloat16, np.dtype(ml_dtypes.bfloat16)])
def test_ml_dtypes_type_is_an_element_type(given, device):
    assert cg.ndarray(given, 2).dtype is cg.bf16


def test_elements_are_set_from_numbers_of_ml_dtypes(device):
    number = ml_dtypes.bfloat16(1.5)
    array = cg.ndarray(cg.bf16, 3)
    array.fill(number)
    array[1] = number + number
    store(array, ml_dtypes.bfloat16(-2))
    assert array.to_numpy().tolist() == [-2, 3, 1.5]
    assert largest(array) == 3


def test_kernels_take_arrays_of_ml_dtypes_and_write_them(device):
    x, y = np.array([1, 2.5, -3], ml_dtypes.bfloat16), np.zeros(3, ml_dtypes.bfloat16)
    double(x, y)
    assert y.tolist() == [2, 5, -6]
    double(y[::-1], x)  # which has gaps, so that it is copied
    assert x.tolist() == [-12, 10, 4]


def test_elements_of_another_type_are_refused(device):
    with pytest.raises(TypeError, match="takes elements of bf16, not f32"):
        double(np.zeros(2, np.float32), cg.ndarray(cg.bf16, 2))
    with pytest.raises(TypeError):
        cg.ndarray(ml_dtypes.float8_e4m3fn, 2)


def test_import_of_the_package_imports_no_ml_dtypes():
    code = "import sys, cuda_graphs; print('ml_dtypes' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "False\n"
