# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: arrays of CuPy, PyTorch and Numba are operands and kernel arguments as they are."""

import gc

import numpy as np
import pytest

import cuda_graphs as cg

pytestmark = pytest.mark.cuda

VALUES = np.arange(1, 25, dtype="i4").reshape(4, 6)


def cupy_arrays():
    cupy = pytest.importorskip("cupy")
    return cupy.zeros((4, 6), "i4"), cupy.asnumpy


def torch_tensors():
    torch = pytest.importorskip("torch")
    return torch.zeros((4, 6), dtype=torch.int32, device="cuda"), lambda tensor: tensor.cpu().numpy()


def numba_arrays():
    cuda = pytest.importorskip("numba.cuda")
    return cuda.to_device(np.zeros((4, 6), "i4")), lambda array: array.copy_to_host()


@pytest.fixture(params=[cupy_arrays, torch_tensors, numba_arrays], ids=["cupy", "torch", "numba"])
def array(request, device):
    """(an array of zeros on the device, what makes a NumPy array of it)"""
    made = request.param()
    device.sync()  # the libraries write the zeros on streams of their own
    return made


def test_an_array_is_copied_filled_and_passed(array, pinned, kernels, run):
    x, to_numpy = array
    source = pinned(VALUES)
    target = pinned(np.zeros((4, 6)))
    g = cg.GraphDef()
    there = g.memcpy(x, source)
    there.launch(cg.LaunchConfig(grid=1, block=24), kernels.add, x, 24, 100).memcpy(target, x)
    run(g)
    assert (target == VALUES + 100).all()
    assert (to_numpy(x) == VALUES + 100).all()
    g = cg.GraphDef()
    g.memset(x, -7)
    run(g)
    assert (to_numpy(x) == -7).all()


def test_a_slice_has_its_gaps(array, pinned, run):
    x, to_numpy = array
    source = pinned(VALUES)
    expected = np.zeros((4, 6), "i4")
    expected[1:3, 2:5] = VALUES[1:3, 2:5]
    expected[3, ::2] = 5
    g = cg.GraphDef()
    g.memcpy(x[1:3, 2:5], source[1:3, 2:5])
    g.memset(x[3, ::2], 5)
    run(g)
    assert (to_numpy(x) == expected).all()


def test_a_graph_keeps_an_array_that_nobody_else_has(device, pinned, stream):
    cupy = pytest.importorskip("cupy")
    x = cupy.asarray(VALUES)
    device.sync()
    target = pinned(np.zeros((4, 6)))
    g = cg.GraphDef()
    g.memcpy(target, x)
    del x
    gc.collect()
    others = [cupy.zeros((4, 6), "i4") for _ in range(8)]  # would take its memory
    device.sync()
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    assert (target == VALUES).all()
    del others


def test_host_tensors_of_torch(device, pinned, run):
    torch = pytest.importorskip("torch")
    target = pinned(np.zeros((4, 6)))
    good = torch.from_numpy(VALUES.copy()).pin_memory()
    g = cg.GraphDef()
    g.memcpy(target, good)
    run(g)
    assert (target == VALUES).all()
    with pytest.raises(ValueError, match=r"src, a torch.Tensor at 0x[0-9a-f]+ is neither memory"):
        g.memcpy(target, torch.from_numpy(VALUES.copy()))
    with pytest.raises((RuntimeError, BufferError), match=r"requires grad|require gradient"):
        g.memcpy(target, torch.zeros((4, 6), device="cuda", requires_grad=True))


@pytest.mark.parametrize("name", ["bfloat16", "float16", "complex64", "bool", "float64"])
def test_types_of_torch(name, device, run):
    torch = pytest.importorskip("torch")
    x = torch.ones(16, dtype=getattr(torch, name), device="cuda")
    torch.cuda.synchronize()  # its stream is not ours
    g = cg.GraphDef()
    g.memset(x, b"\0")
    run(g)
    assert (x.cpu() == torch.zeros(16, dtype=x.dtype)).all()
    if name != "bfloat16":  # which NumPy does not have
        value = {"complex64": 1 + 1j, "bool": True, "float64": 0}.get(name, 1.5)
        g = cg.GraphDef()
        g.memset(x, value)
        run(g)
        assert (x.cpu() == torch.full((16,), value, dtype=x.dtype)).all()
