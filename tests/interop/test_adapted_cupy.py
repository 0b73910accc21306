# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a RawKernel of CuPy as a node does what CuPy's own launch of it does."""

import gc

import numpy as np
import pytest

import cuda_graphs as cg

pytestmark = pytest.mark.cuda

SIZE = 10_000
SOURCE = r"""
#include <cooperative_groups.h>

extern "C" __global__ void axpy(const float* x, float* y, float a, double b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i] + b;
}
extern "C" __global__ void turn(float2* x, float2 by) {
    float2 v = x[threadIdx.x];
    x[threadIdx.x] = make_float2(v.x * by.x - v.y * by.y, v.x * by.y + v.y * by.x);
}
extern "C" __global__ void last(const int* x, int* out, int n) {
    extern __shared__ int copy[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) copy[i] = x[i];
    __syncthreads();
    if (threadIdx.x == 0) *out = copy[n - 1];
}
template <class T> __global__ void twice(T* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
extern "C" __global__ void relay(int* x) {
    if (blockIdx.x == 0) x[0] += 1;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == gridDim.x - 1) x[0] *= 10;
}
"""
PLAIN = SOURCE.replace("#include <cooperative_groups.h>", "")
PLAIN = PLAIN[: PLAIN.index('extern "C" __global__ void relay')]


@pytest.fixture
def cupy(device):
    return pytest.importorskip("cupy")


@pytest.fixture
def axpy(cupy):
    return cupy.RawKernel(PLAIN, "axpy")


@pytest.fixture
def arrays(cupy):
    x, y = cupy.arange(SIZE, dtype="f"), cupy.ones(SIZE, "f")
    cupy.cuda.get_current_stream().synchronize()
    return x, y


def test_a_node_does_what_a_launch_of_cupy_does(cupy, axpy, arrays, stream):
    x, y = arrays
    expected = y.copy()
    axpy((79,), (128,), (x, expected, np.float32(2), np.float64(0.5), np.int32(SIZE)))
    cupy.cuda.get_current_stream().synchronize()
    g = cg.GraphDef()
    node = g.call(cg.interop.cupy(axpy)[79, 128], x, y, 2.0, 0.5, SIZE)
    assert isinstance(node, cg.KernelNode)
    assert (node.grid, node.block, node.kernel.name) == ((79, 1, 1), (128, 1, 1), "axpy")
    assert [each.size for each in node.kernel.arguments_info] == [8, 8, 4, 8, 4]
    g.instantiate().launch(stream)
    stream.sync()
    assert (y == expected).all()


@pytest.mark.parametrize("how", ["launch", "capture"])
def test_streams_take_it(how, axpy, arrays, stream, device):
    x, y = arrays
    theirs, config = cg.interop.cupy(axpy), cg.LaunchConfig(grid=79, block=128)
    if how == "launch":
        cg.launch(stream, config, theirs, x, y, 3.0, 0.0, SIZE)
    else:
        cg.launch(stream, config, theirs, x, y, 0.0, 0.0, SIZE)  # CuPy compiles and loads
        stream.sync()
        with device.create_graph_builder() as gb:
            cg.launch(gb, config, theirs, x, y, 3.0, 0.0, SIZE)
        assert [node.config for node in gb.graph_definition.nodes()] == [config]
        gb.complete().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(y.get(), 3 * np.arange(SIZE, dtype="f") + 1)


def test_numbers_and_pointers_are_named_parameters(cupy, axpy, arrays, stream):
    x, y = arrays
    other = cupy.zeros(SIZE, "f")
    cupy.cuda.get_current_stream().synchronize()
    g = cg.GraphDef()
    out, a = g.param("out", cg.pointer, default=y), g.param("a", cg.f32)
    g.call(cg.interop.cupy(axpy)[79, 128], x, out, a, 0.0, SIZE)
    graph = g.instantiate()
    graph.launch(stream, a=2.0)
    graph.launch(stream, a=3.0, out=other)
    stream.sync()
    np.testing.assert_array_equal(y.get(), 2 * np.arange(SIZE, dtype="f") + 1)
    np.testing.assert_array_equal(other.get(), 3 * np.arange(SIZE, dtype="f"))


def test_structures_are_passed_by_value(cupy, stream):
    x = cupy.array([1 + 2j, 3 - 1j], "complex64")
    cupy.cuda.get_current_stream().synchronize()
    cg.launch(
        stream, {"grid": 1, "block": 2}, cg.interop.cupy(cupy.RawKernel(PLAIN, "turn")), x, np.complex64(2j)
    )
    stream.sync()
    assert x.get().tolist() == [2j * (1 + 2j), 2j * (3 - 1j)]


def test_more_shared_memory_than_usual(cupy, stream):
    size = 25_000
    last = cupy.RawKernel(PLAIN, "last")
    last.max_dynamic_shared_size_bytes = 4 * size
    x, out = cupy.arange(size, dtype="i4"), cupy.zeros((), "i4")
    cupy.cuda.get_current_stream().synchronize()
    g = cg.GraphDef()
    g.call(cg.interop.cupy(last)[1, 128, 4 * size], x, out, size)
    g.instantiate().launch(stream)
    stream.sync()
    assert out == size - 1


def test_kernels_of_modules_are_kernels(cupy, stream):
    module = cupy.RawModule(code=PLAIN, options=("-std=c++17",), name_expressions=["twice<double>"])
    x = cupy.arange(100, dtype="d")
    cupy.cuda.get_current_stream().synchronize()
    g = cg.GraphDef()
    g.call(cg.interop.cupy(module.get_function("twice<double>"))[1, 128], x, 100)
    graph = g.instantiate()
    del module, g
    gc.collect()
    graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(x.get(), 2 * np.arange(100))


def test_a_node_keeps_code_and_arrays(cupy, stream):
    y = cupy.zeros(SIZE, "f")

    def make():
        x = cupy.arange(SIZE, dtype="f")
        module = cupy.RawModule(code=PLAIN)
        g = cg.GraphDef()
        g.call(cg.interop.cupy(module.get_function("axpy"))[79, 128], x, y, 2.0, 0.0, SIZE)
        return g.instantiate()

    graph = make()
    gc.collect()
    other = cupy.full(SIZE, -1, "f")  # would get the memory
    cupy.cuda.get_current_stream().synchronize()
    graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(y.get(), 2 * np.arange(SIZE, dtype="f"))
    assert other[0] == -1


def test_arrays_of_this_package_are_pointers(axpy, stream):
    x, y = cg.ndarray(cg.f32, 100), cg.ndarray(cg.f32, 100)
    x.fill(3)
    cg.launch(stream, {"grid": 1, "block": 128}, cg.interop.cupy(axpy), x, y, 2.0, 1.0, 100)
    stream.sync()
    assert (y.to_numpy() == 7).all()


def test_blocks_that_wait_for_each_other_are_launched_together(cupy, device, stream):
    try:
        relay = cupy.RawKernel(SOURCE, "relay", enable_cooperative_groups=True)
        relay.compile()
    except cupy.cuda.compiler.CompileException as error:
        pytest.skip(f"CuPy finds no headers of CUDA: {error}")
    x = cupy.zeros(1, "i4")
    cupy.cuda.get_current_stream().synchronize()
    g = cg.GraphDef()
    node = g.call(cg.interop.cupy(relay)[8, 32], x)
    assert node.config.is_cooperative
    graph = g.instantiate()
    graph.launch(stream)
    graph.launch(stream)
    stream.sync()
    assert x.get().tolist() == [110]


def test_wrong_arguments_are_refused(cupy, axpy, arrays):
    x, y = arrays
    theirs = cg.interop.cupy(axpy)[79, 128]
    g = cg.GraphDef()
    with pytest.raises(TypeError, match="takes 5 arguments, got 4"):
        g.call(theirs, x, y, 2.0, 0.5)
    with pytest.raises(TypeError, match="pageable host memory"):
        g.call(theirs, x.get(), y, 2.0, 0.5, SIZE)
    with pytest.raises(TypeError, match=r"numpy\.float64, of 8 bytes, does not convert"):
        g.call(theirs, x, y, np.float64(2), 0.5, SIZE)
    with pytest.raises(TypeError, match=r"cupy\(\) takes a cupy\.RawKernel, got ElementwiseKernel"):
        cg.interop.cupy(cupy.ElementwiseKernel("float32 x", "float32 y", "y = 2 * x"))
    assert not g.nodes()
