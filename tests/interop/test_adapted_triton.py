# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel of Triton as a node does what Triton's own launch of it does."""

import gc

import numpy as np
import pytest

import cuda_graphs as cg

pytestmark = pytest.mark.cuda

SIZE = 10_000


@pytest.fixture
def torch(device):
    return pytest.importorskip("torch")


@pytest.fixture
def triton(torch):
    return pytest.importorskip("triton")


@pytest.fixture
def theirs(triton):
    from tests.interop import triton_kernels

    return triton_kernels


@pytest.fixture
def tensors(torch):
    x, y = torch.arange(SIZE, dtype=torch.float32, device="cuda"), torch.ones(SIZE, device="cuda")
    torch.cuda.synchronize()
    return x, y


def test_a_node_does_what_a_launch_of_triton_does(triton, theirs, torch, tensors, stream):
    x, y = tensors
    expected = y.clone()
    blocks = triton.cdiv(SIZE, 256)
    theirs.axpy[(blocks,)](x, expected, 2.0, SIZE, BLOCK=256)
    theirs.axpy[(blocks,)](x, expected, 0.5, SIZE, BLOCK=256)
    torch.cuda.synchronize()
    axpy = cg.interop.triton(theirs.axpy, BLOCK=256)[lambda args: (triton.cdiv(args["n"], args["BLOCK"]),)]
    g = cg.GraphDef()
    node = g.call(axpy, x, y, 2.0, SIZE)
    assert isinstance(node, cg.KernelNode)
    assert (node.grid, node.block) == ((blocks, 1, 1), (128, 1, 1))
    node.launch(None, axpy, x, y, 0.5, SIZE)
    g.instantiate().launch(stream)
    stream.sync()
    assert torch.equal(y, expected)


@pytest.mark.parametrize("how", ["launch", "capture"])
def test_streams_take_it(how, theirs, tensors, stream, device):
    x, y = tensors
    axpy = cg.interop.triton(theirs.axpy, BLOCK=128, num_warps=8)[(SIZE + 127) // 128]
    if how == "launch":
        cg.launch(stream, None, axpy, x, y, 3.0, SIZE)
    else:
        with device.create_graph_builder() as gb:
            cg.launch(gb, None, axpy, x, y, 3.0, SIZE)
        (node,) = gb.graph_definition.nodes()
        assert node.block == (256, 1, 1)
        gb.complete().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(y.cpu().numpy(), 3 * np.arange(SIZE, dtype="f") + 1)


@pytest.mark.parametrize("step", [1, 2, 16])
def test_ints_that_triton_makes_constants_of(step, theirs, tensors, stream):
    x, y = tensors
    g = cg.GraphDef()
    g.call(cg.interop.triton(theirs.every, BLOCK=128)[SIZE // 128 + 1], x, y, SIZE, step, 3)
    g.instantiate().launch(stream)
    stream.sync()
    i = np.arange(SIZE)
    np.testing.assert_array_equal(y.cpu().numpy(), np.where(i % step == 0, i + 3, 1))


def test_numbers_are_named_parameters(theirs, tensors, stream):
    x, y = tensors
    g = cg.GraphDef()
    n, step, bias = g.param("n", cg.i32), g.param("step", cg.i32), g.param("bias", cg.f32, default=0.5)
    g.call(cg.interop.triton(theirs.every, BLOCK=128)[SIZE // 128 + 1], x, y, n, step, bias)
    graph = g.instantiate()
    expected, i = np.ones(SIZE, "f"), np.arange(SIZE)
    for values in ({"n": SIZE, "step": 16}, {"n": 100, "step": 1, "bias": -1.0}, {"n": SIZE, "step": 3}):
        graph.launch(stream, **{"bias": 0.5, **values})
        touched = (i % values["step"] == 0) & (i < values["n"])
        expected = np.where(touched, i + values.get("bias", 0.5), expected)
    stream.sync()
    np.testing.assert_array_equal(y.cpu().numpy(), expected.astype("f"))


def test_more_shared_memory_than_usual(theirs, torch, stream):
    n, block = 512, 128
    generator = torch.Generator(device="cuda").manual_seed(1)
    a, b = (torch.randint(-4, 5, (n, n), device="cuda", generator=generator).half() for _ in range(2))
    c = torch.zeros(n, n, device="cuda")
    torch.cuda.synchronize()
    g = cg.GraphDef()
    node = g.call(
        cg.interop.triton(theirs.multiply, BLOCK=block, num_warps=8, num_stages=3)[n // block, n // block],
        a,
        b,
        c,
        n,
    )
    assert node.shmem_size > 48 * 1024
    g.instantiate().launch(stream)
    stream.sync()
    assert torch.equal(c, a.float() @ b.float())


@pytest.mark.parametrize("dtype", [cg.f32, cg.bf16, cg.f16], ids=str)
def test_arrays_of_this_package_are_tensors(dtype, theirs, stream):
    x, y = cg.ndarray(dtype, 100), cg.ndarray(dtype, 100)
    x.from_numpy(np.arange(100))
    y.fill(1)
    g = cg.GraphDef()
    g.call(cg.interop.triton(theirs.axpy, BLOCK=128)[1], x, y, 2.0, 100)
    g.instantiate().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(y.to_numpy(), 2 * np.arange(100) + 1)


def test_arrays_of_cupy_are_tensors(theirs, stream):
    cupy = pytest.importorskip("cupy")
    x, y = cupy.arange(100, dtype="f"), cupy.ones(100, "f")
    cupy.cuda.get_current_stream().synchronize()
    cg.launch(stream, None, cg.interop.triton(theirs.axpy, BLOCK=128)[1], x, y, 2.0, 100)
    stream.sync()
    np.testing.assert_array_equal(y.get(), 2 * np.arange(100) + 1)


def test_a_node_keeps_the_tensors(theirs, torch, stream):
    out = torch.zeros(SIZE, device="cuda")

    def definition():
        x = torch.arange(SIZE, dtype=torch.float32, device="cuda", requires_grad=True)
        g = cg.GraphDef()
        g.call(cg.interop.triton(theirs.axpy, BLOCK=128)[SIZE // 128 + 1], x, out, 2.0, SIZE)
        return g.instantiate()

    graph = definition()
    gc.collect()
    other = torch.full((SIZE,), -1.0, device="cuda")  # would get the memory
    torch.cuda.synchronize()
    graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(out.cpu().numpy(), 2 * np.arange(SIZE, dtype="f"))
    assert other[0] == -1


def test_wrong_arguments_are_refused(theirs, torch, triton, tensors):
    x, y = tensors
    axpy = cg.interop.triton(theirs.axpy, BLOCK=128)[1]
    g = cg.GraphDef()
    with pytest.raises(TypeError, match="missing a required argument: 'n'"):
        g.call(axpy, x, y, 2.0)
    with pytest.raises(TypeError, match="in memory of the host"):
        g.call(axpy, x.cpu(), y, 2.0, SIZE)
    with pytest.raises(TypeError, match="is a Buffer, whose elements have no type"):
        g.call(axpy, cg.ndarray(cg.f32, 3).buffer, y, 2.0, SIZE)
    with pytest.raises(TypeError, match=r"for an autotuned kernel pass \.fn"):
        cg.interop.triton(triton.autotune([triton.Config({"BLOCK": 64})], key=["n"])(theirs.axpy))
    assert not g.nodes()
