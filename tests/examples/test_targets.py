# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the scripts that the library is built for run on both drivers, in CUDA C++ and without it, and give the same."""

import numpy as np
import pytest

import cuda_graphs as cg

LOOP = r"""
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

extern "C" __global__ void halve(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 0.5f;
}
extern "C" __global__ void again(cudaGraphConditionalHandle h, const float* x, float tol) {
    cudaGraphSetConditional(h, x[0] > tol);
}
"""
FORK = r"""
#include <cuda_graphs.h>

extern "C" __global__ void prepare(float* a) { a[threadIdx.x] = threadIdx.x + 1; }
extern "C" __global__ void f(const float* a, float* b) { b[threadIdx.x] = 2 * a[threadIdx.x]; }
extern "C" __global__ void h(const float* a, float* c) { c[threadIdx.x] = 64 * a[threadIdx.x]; }
extern "C" __global__ void iterate(float* b, float* c) { c[threadIdx.x] -= b[threadIdx.x]; }
extern "C" __global__ void again(cudaGraphConditionalHandle more, const float* b, const float* c) {
    cudaGraphSetConditional(more, c[0] > b[0]);
}
"""
N = 1 << 12
F0, F1, F2 = (cg.types.ndarray(cg.f32, ndim=n) for n in range(3))


@pytest.fixture(autouse=True)
def kernels_keep_no_code(device):
    yield
    device.sync()
    cg.reset()


@cg.kernel
def halve(x: F1):
    for i in x:
        x[i] *= 0.5


@cg.kernel
def prepare(a: F1):
    for i in a:
        a[i] = i + 1


@cg.kernel
def f(a: F1, b: F1):
    for i in a:
        b[i] = 2 * a[i]


@cg.kernel
def h(a: F1, c: F1):
    for i in a:
        c[i] = 64 * a[i]


@cg.kernel
def iterate(b: F1, c: F1):
    for i in b:
        c[i] -= b[i]


@cg.kernel
def relax(u: F2, v: F2, change: F0):
    change[()] = 0.0
    for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        cg.atomic_max(change[()], abs(v[i, j] - u[i, j]))
    for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        u[i, j] = v[i, j]


@cg.kernel(graph=True)
def jacobi(u: F2, v: F2, change: F0, go: cg.types.ndarray(cg.i32, ndim=0), tol: cg.f32):
    while cg.graph_do_while(go):
        change[()] = 0.0
        for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            cg.atomic_max(change[()], abs(v[i, j] - u[i, j]))
        for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            u[i, j] = v[i, j]
        go[()] = 1 if change[()] > tol else 0


def loop_in_cuda(x, loaded, tol):
    module = cg.Program(LOOP, code_type="c++").compile("cubin")
    halve, again = module.get_kernel("halve"), module.get_kernel("again")
    more = loaded.graph.create_condition(default_value=1)
    loop = loaded.while_loop(more)
    step = loop.body.launch(cg.LaunchConfig(grid=N // 256, block=256), halve, x.dptr, N)
    step.launch(cg.LaunchConfig(grid=1, block=1), again, more, x.dptr, tol)
    return loop


def loop_in_python(x, loaded, tol):
    loop = loaded.while_loop(lambda x, tol: x[0] > tol, args=(x, tol), do=True)
    loop.body.call(halve, x)
    return loop


@pytest.mark.parametrize("make", [loop_in_cuda, loop_in_python])
def test_a_loop_that_lives_on_the_device_built_node_by_node(make, stream):
    host = cg.PinnedMemoryResource().allocate(4 * N, stream=stream)
    numbers = np.from_dlpack(host).view(np.float32)
    numbers[:] = 1000.0
    g = cg.GraphDef()
    x = g.alloc(shape=N, dtype=cg.f32)
    loop = make(x, x.memcpy(x.dptr, host, 4 * N), g.param("tol", cg.f32, default=1.0))
    done = loop.memcpy(host, x.dptr, 4 * N)
    done.free(x.dptr)
    assert not g.check().findings and len(g.nodes()) == 5 and len(loop.body.nodes()) == 2
    graph = g.instantiate()
    graph.launch(stream, tol=0.25)
    stream.sync()
    assert (numbers == 1000 / 2**12).all()
    graph.launch(stream, tol=0.01)
    stream.sync()
    assert (numbers == 1000 / 2**17).all()


def capture_in_cuda(device, a, b, c):
    module = cg.Program(FORK, code_type="c++").compile("cubin")
    prepare, f, h, iterate, again = (
        module.get_kernel(name) for name in ("prepare", "f", "h", "iterate", "again")
    )
    config, once = cg.LaunchConfig(grid=1, block=32), cg.LaunchConfig(grid=1, block=1)
    with device.create_graph_builder() as gb:
        cg.launch(gb, config, prepare, a)
        left, right = gb.split(2)
        cg.launch(left, config, f, a, b)
        cg.launch(right, config, h, a, c)
        gb = cg.GraphBuilder.join(left, right)
        more = gb.create_condition(default_value=1)
        with gb.while_loop(more) as body:
            cg.launch(body, config, iterate, b, c)
            cg.launch(body, once, again, more, b, c)
    return gb


def capture_in_python(device, a, b, c):
    with cg.capture() as gb:
        prepare(a)
        left, right = gb.split(2)
        f(a, b)
        h(a, c, stream=right)
        cg.GraphBuilder.join(left, right)
        with gb.while_loop(lambda: c[0] > b[0], do=True):
            iterate(b, c)
    return gb


@pytest.mark.parametrize("make", [capture_in_cuda, capture_in_python])
def test_a_graph_from_a_stream(make, device, stream):
    a, b, c = (cg.zeros(32, cg.f32) for _ in range(3))
    builder = make(device, a, b, c)
    (loop,) = (node for node in builder.graph_definition.nodes() if isinstance(node, cg.WhileNode))
    assert len(builder.graph_definition.nodes()) == 4 and len(loop.body.nodes()) == 2
    assert len(loop.pred) == 2
    builder.complete().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(c.to_numpy(), 2 * np.arange(1, 33))


def explicit(stream, field, tol):
    g = cg.GraphDef()
    u = g.param("u", F2)
    v = g.alloc(shape=field.shape, dtype=cg.f32)
    change = v.alloc(shape=(), dtype=cg.f32)
    loop = change.while_loop(lambda c, tol: c[()] > tol, args=(change, tol), do=True)
    loop.body.call(relax, u, v, change)
    loop.free(v).free(change)
    graph = g.instantiate()
    graph.launch(stream, u=field)  # another field: no rebuild
    return graph


def captured(stream, field, tol):
    v, change = cg.empty(field.shape, cg.f32), cg.empty((), cg.f32)
    with cg.capture() as builder, builder.while_loop(lambda c: c[()] > tol, args=(change,), do=True):
        relax(field, v, change)
    graph = builder.complete()
    graph.launch(stream)
    return graph


def graph_kernel(stream, field, tol):
    v, change = cg.empty(field.shape, cg.f32), cg.empty((), cg.f32)
    jacobi(field, v, change, cg.ones((), cg.i32), tol, stream=stream)


def inside_a_definition(stream, field, tol):
    v, change = cg.empty(field.shape, cg.f32), cg.empty((), cg.f32)
    definition = cg.GraphDef()
    definition.call(jacobi, field, v, change, cg.ones((), cg.i32), tol)
    graph = definition.instantiate()
    graph.launch(stream)
    return graph


@pytest.mark.parametrize("way", [explicit, captured, graph_kernel, inside_a_definition])
def test_one_loop_in_several_ways(way, stream):
    start = np.zeros((20, 30), np.float32)
    start[0], start[:, 0] = 1.0, 2.0
    field = cg.array(start)
    kept = way(stream, field, 1e-3)
    stream.sync()
    u, change = start.copy(), np.inf
    while change > np.float32(1e-3):
        v = np.float32(0.25) * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        change = np.abs(v - u[1:-1, 1:-1]).max()
        u[1:-1, 1:-1] = v
    np.testing.assert_allclose(field.to_numpy(), u, rtol=1e-5)
    del kept
