# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel of numba-cuda as a node does what Numba's own launch of it does."""

import gc

import numpy as np
import pytest

import cuda_graphs as cg

pytestmark = pytest.mark.cuda

GRID = (256, 32)  # of fewer blocks Numba would say that they are few
SIZE = 8192


@pytest.fixture
def cuda(device, monkeypatch):
    # Numba 0.68 asks for it when it compiles; NumPy 2.5 has it no more.
    monkeypatch.setattr(np, "row_stack", np.vstack, raising=False)
    return pytest.importorskip("numba.cuda")


def vectorisation_of(cuda, **options):
    @cuda.jit(**options)
    def spread(x, y, a, n, flag, z, pair):
        i = cuda.grid(1)
        if i < y.size:
            value = x[i, 1] * a + n + pair[0] * pair[1]
            if flag:
                value += z.real - z.imag
            y[i] = value

    return spread


@pytest.fixture
def spread(cuda):
    return vectorisation_of(cuda)


@pytest.fixture
def axpy(cuda):
    @cuda.jit
    def axpy(x, y, a):
        i = cuda.grid(1)
        if i < x.size:
            y[i] += a * x[i]

    return axpy


@pytest.fixture
def arrays(cuda):
    x, y = cuda.to_device(np.arange(SIZE, dtype="f")), cuda.to_device(np.ones(SIZE, "f"))
    cuda.synchronize()
    return x, y


REST = [
    (2.5, 7, True, 1 + 2j, (3, 0.25)),
    (np.float32(0.5), np.int8(-3), False, np.complex64(5j), (np.int16(-4), np.float32(1.5))),
    (3, np.uint16(9), np.bool_(True), 1j, (1, 2)),
]


@pytest.mark.parametrize("rest", REST, ids=str)
@pytest.mark.parametrize("layout", ["packed", "gaps", "turned"])
def test_a_node_does_what_a_launch_of_numba_does(cuda, spread, rest, layout, stream):
    values = np.arange(6.0 * SIZE, dtype="f")
    x = cuda.to_device(values.reshape((6, SIZE) if layout == "turned" else (SIZE, 6)))
    x = {"packed": lambda: x, "gaps": lambda: x[:, ::2], "turned": lambda: x.T}[layout]()
    expected, y = cuda.to_device(np.zeros(SIZE)), cuda.to_device(np.zeros(SIZE))
    spread[GRID](x, expected, *rest)
    cuda.synchronize()
    g = cg.GraphDef()
    node = g.call(cg.interop.numba(spread)[GRID], x, y, *rest)
    assert isinstance(node, cg.KernelNode)
    assert (node.grid, node.block) == ((256, 1, 1), (32, 1, 1))
    g.instantiate().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(y.copy_to_host(), expected.copy_to_host())


def test_numbers_become_what_was_declared(cuda, stream):
    @cuda.jit("void(float32[::1], float32[::1], float32)")
    def axpy(x, y, a):
        i = cuda.grid(1)
        if i < x.size:
            y[i] += a * x[i]

    x, y = cuda.to_device(np.arange(100, dtype="f")), cuda.to_device(np.zeros(100, "f"))
    cuda.synchronize()
    g = cg.GraphDef()
    for a in (2, 0.5, np.float64(1), np.int8(3), True):
        g.call(cg.interop.numba(axpy)[4, 32], x, y, a)
        g.instantiate().launch(stream)
        stream.sync()
    assert len(axpy.overloads) == 1
    with pytest.raises(TypeError, match=r"<numba kernel axpy with .*> is not compiled for \(array\(float64"):
        g.call(cg.interop.numba(axpy)[4, 32], cuda.to_device(np.zeros(3)), y, 1.0)


@pytest.mark.parametrize("how", ["launch", "capture"])
def test_streams_take_it(how, axpy, arrays, stream, device):
    x, y = arrays
    config = cg.LaunchConfig(grid=256, block=32)
    if how == "launch":
        cg.launch(stream, config, cg.interop.numba(axpy), x, y, np.float32(3))
    else:
        cg.launch(stream, config, cg.interop.numba(axpy), x, y, np.float32(0))  # Numba compiles and loads
        stream.sync()
        with device.create_graph_builder() as gb:
            cg.launch(gb, config, cg.interop.numba(axpy), x, y, np.float32(3))
        assert [node.config for node in gb.graph_definition.nodes()] == [config]
        gb.complete().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(y.copy_to_host(), 3 * np.arange(SIZE, dtype="f") + 1)


def test_numbers_are_named_parameters(axpy, arrays, stream):
    x, y = arrays
    g = cg.GraphDef()
    g.call(cg.interop.numba(axpy)[GRID], x, y, g.param("a", cg.f32))
    graph = g.instantiate()
    graph.launch(stream, a=2.0)
    graph.launch(stream, a=-0.5)
    stream.sync()
    np.testing.assert_array_equal(y.copy_to_host(), 1.5 * np.arange(SIZE, dtype="f") + 1)
    with pytest.raises(TypeError, match="an array is more than an address"):
        g.call(cg.interop.numba(axpy)[GRID], g.param("x", cg.pointer), y, 1.0)


def test_arrays_of_other_libraries_are_arrays(axpy, stream):
    cupy = pytest.importorskip("cupy")
    torch = pytest.importorskip("torch")
    theirs = cg.interop.numba(axpy)[GRID]
    mine = cg.ndarray(cg.f32, SIZE)
    mine.fill(2)
    cupys, tensor = cupy.ones(SIZE, "f"), torch.zeros(SIZE, device="cuda")
    torch.cuda.synchronize()
    cupy.cuda.get_current_stream().synchronize()
    g = cg.GraphDef()
    g.call(theirs, mine, cupys, np.float32(3)).launch(None, theirs, cupys, tensor, np.float32(1))
    g.instantiate().launch(stream)
    stream.sync()
    assert (tensor == 7).all()


def test_shared_memory_and_atomics(cuda, stream):
    @cuda.jit
    def total(x, out):
        part = cuda.shared.array(0, dtype=np.int32)
        if cuda.threadIdx.x == 0:
            part[0] = 0
        cuda.syncthreads()
        cuda.atomic.add(part, 0, x[cuda.grid(1)])
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(out, 0, part[0])

    x, out = cuda.to_device(np.arange(SIZE, dtype="i4")), cuda.to_device(np.zeros(1, "i4"))
    cuda.synchronize()
    g = cg.GraphDef()
    g.call(cg.interop.numba(total)[(*GRID, 4)], x, out)
    g.instantiate().launch(stream)
    stream.sync()
    assert out.copy_to_host()[0] == SIZE * (SIZE - 1) // 2


def test_blocks_that_wait_for_each_other_are_launched_together(cuda, stream):
    @cuda.jit
    def relay(x):
        if cuda.grid(1) == 0:
            x[0] += 1
        cuda.cg.this_grid().sync()
        if cuda.grid(1) == cuda.gridsize(1) - 1:
            x[0] *= 10

    x = cuda.to_device(np.zeros(1, "i4"))
    cuda.synchronize()
    g = cg.GraphDef()
    node = g.call(cg.interop.numba(relay)[8, 32], x)
    assert node.config.is_cooperative
    graph = g.instantiate()
    graph.launch(stream)
    graph.launch(stream)
    stream.sync()
    assert x.copy_to_host().tolist() == [110]


def test_a_node_keeps_code_and_arrays(cuda, stream):
    y = cuda.to_device(np.zeros(SIZE, "f"))

    def make():
        @cuda.jit
        def axpy(x, y, a):
            i = cuda.grid(1)
            if i < x.size:
                y[i] += a * x[i]

        x = cuda.to_device(np.arange(SIZE, dtype="f"))
        g = cg.GraphDef()
        g.call(cg.interop.numba(axpy)[GRID], x, y, 2.0)
        return g.instantiate()

    graph = make()
    gc.collect()
    other = cuda.to_device(np.full(SIZE, -1, "f"))  # would get the memory
    cuda.synchronize()
    graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(y.copy_to_host(), 2 * np.arange(SIZE, dtype="f"))
    assert other.copy_to_host()[0] == -1


def test_wrong_arguments_are_refused(cuda, axpy, arrays):
    x, y = arrays
    theirs = cg.interop.numba(axpy)[GRID]
    g = cg.GraphDef()
    with pytest.raises(TypeError, match=r"takes 3 arguments \(x, y, a\), got 2"):
        g.call(theirs, x, y)
    with pytest.raises(TypeError, match="argument 'x' is a ndarray in memory of the host"):
        g.call(theirs, np.ones(SIZE, "f"), y, 1.0)
    with pytest.raises(TypeError, match="argument 'a' of"):
        g.call(theirs, x, y, object())
    assert not g.nodes()
