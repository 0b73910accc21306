# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: arrays of CuPy, PyTorch and Numba are arguments of kernels where they are, and in graphs too."""

import numpy as np
import pytest

import cuda_graphs as cg

pytestmark = pytest.mark.cuda


@cg.kernel
def advance(x: cg.types.ndarray(cg.f32), y: cg.types.ndarray(cg.f32)):
    for i in cg.grouped(x):
        y[i] = 2 * x[i] + y[i]


@pytest.fixture(autouse=True)
def no_code_is_left(device):
    yield
    device.sync()
    advance.forget()


def cupy_arrays(values):
    cupy = pytest.importorskip("cupy")
    return cupy.asarray(values), cupy.asnumpy


def torch_tensors(values):
    torch = pytest.importorskip("torch")
    return torch.tensor(values, device="cuda"), lambda tensor: tensor.cpu().numpy()


def torch_on_the_host(values):
    torch = pytest.importorskip("torch")
    return torch.tensor(values), lambda tensor: tensor.numpy()


def numba_arrays(values):
    cuda = pytest.importorskip("numba.cuda")
    return cuda.to_device(values), lambda array: array.copy_to_host()


LIBRARIES = [cupy_arrays, torch_tensors, torch_on_the_host, numba_arrays]


@pytest.mark.parametrize("make", LIBRARIES)
@pytest.mark.parametrize("shape", [(7,), (3, 5), (100_000,)])
def test_a_kernel_changes_an_array_of_another_library(make, shape, device):
    values = np.arange(np.prod(shape), dtype="f").reshape(shape)
    (x, _), (y, to_numpy) = make(values), make(np.ones(shape, "f"))
    advance(x, y)
    advance(x, y)
    device.sync()
    np.testing.assert_array_equal(to_numpy(y), 4 * values + 1)


@pytest.mark.parametrize("make", [cupy_arrays, torch_tensors, numba_arrays])
def test_a_node_uses_an_array_of_another_library(make, device, stream):
    values = np.arange(50, dtype="f")
    (x, _), (y, to_numpy) = make(values), make(np.ones(50, "f"))
    device.sync()
    g = cg.GraphDef()
    g.call(advance, x, y)
    graph = g.instantiate()
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(to_numpy(y), 6 * values + 1)


def test_an_array_of_the_device_with_gaps_is_refused(device):
    x, _ = cupy_arrays(np.ones((4, 4), "f"))
    with pytest.raises(ValueError, match="parameter 'y' has gaps or is not in C order"):
        advance(x, x.T)


def test_bfloat16_of_torch_is_taken(device):
    torch = pytest.importorskip("torch")

    @cg.kernel
    def double(x: cg.types.ndarray(cg.bf16, ndim=1)):
        for i in x:
            x[i] = x[i] * 2

    x = torch.arange(10, dtype=torch.bfloat16, device="cuda")
    double(x)
    device.sync()
    assert x.float().tolist() == [2.0 * i for i in range(10)]
