# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: calls of cuBLAS, cuFFT and cuSOLVER are nodes whose launches compute what the libraries compute, with new
contents of the arrays. Nobody else gets their workspaces, also after the caller has dropped everything."""

import gc

import pytest

import cuda_graphs as cg

pytestmark = pytest.mark.cuda

SIZE = 96


@cg.kernel
def double(x: cg.Array2[cg.f64]):
    for i, j in x:
        x[i, j] = 2 * x[i, j]


@pytest.fixture(scope="module", autouse=True)
def loaded():
    """The code of the kernel, which stays until the process ends."""
    cg.Device().set_current()
    double(cg.ndarray(cg.f64, (1, 1)))
    cg.Device().sync()


@pytest.fixture
def torch(device):
    found = pytest.importorskip("torch")
    found.manual_seed(3)
    return found


def product(torch, a):
    """cuBLAS."""
    return a @ a.T


def spectrum(torch, a):
    """cuFFT."""
    return torch.fft.rfft2(a).abs()


def factor(torch, a):
    """cuSOLVER: the factor of a matrix that is positive definite."""
    wanted = a @ a.T + SIZE * torch.eye(SIZE, device="cuda", dtype=a.dtype)
    return torch.linalg.cholesky_ex(wanted, check_errors=False)[0]


CALLS = {"cuBLAS": product, "cuFFT": spectrum, "cuSOLVER": factor}


@pytest.mark.parametrize("library", CALLS)
def test_a_launch_computes_what_the_library_computes(library, torch, stream):
    work = CALLS[library]
    a = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.float64)
    torch.cuda.synchronize()
    g = cg.GraphDef()
    node, result = g.capture_call(work, torch, a, name=library)
    graph = g.instantiate()
    assert node.name == library
    for _ in range(3):
        a.copy_(torch.randn_like(a))
        torch.cuda.synchronize()
        graph.launch(stream)
        stream.sync()
        torch.testing.assert_close(result, work(torch, a))


def test_calls_of_three_libraries_and_a_kernel_of_ours_are_one_graph(torch, stream):
    a = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.float64)
    torch.cuda.synchronize()
    g = cg.GraphDef()
    place, results = g, []
    for work in CALLS.values():
        place, result = place.capture_call(work, torch, a)
        results.append(result)
    place.call(double, results[0])
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    torch.testing.assert_close(results[0], 2 * product(torch, a))
    torch.testing.assert_close(results[1], spectrum(torch, a))
    torch.testing.assert_close(results[2], factor(torch, a))


def test_workspaces_live_as_long_as_the_executable(torch, stream):
    """Memory that the caller has dropped, and that the library takes again for other work, is not that of the graph."""
    a = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.float64)
    torch.cuda.synchronize()
    wanted = factor(torch, a).clone()
    target = cg.ndarray(cg.f64, (SIZE, SIZE))
    g = cg.GraphDef()
    node, result = g.capture_call(factor, torch, a)
    node.memcpy(target, result.T)  # cuSOLVER writes columns, so its transpose is in C order
    graph = g.instantiate()
    expected = wanted.cpu()
    del g, node, result, a, wanted
    gc.collect()
    torch.cuda.empty_cache()
    others = [torch.full((SIZE, SIZE), 7.0, device="cuda", dtype=torch.float64) for _ in range(200)]
    torch.cuda.synchronize()
    graph.launch(stream)
    stream.sync()
    assert all(bool((each == 7).all()) for each in others)
    torch.testing.assert_close(torch.from_numpy(target.to_numpy().T), expected)


@pytest.fixture
def multiply(torch):
    """A plan of nvmath-python for a @ a, and `a`."""
    nvmath = pytest.importorskip("nvmath")
    a = torch.randn(SIZE, SIZE, device="cuda")
    torch.cuda.synchronize()
    plan = nvmath.linalg.advanced.Matmul(a, a)
    plan.plan()
    yield plan, a
    plan.free()


def test_a_plan_of_nvmath_is_freed_before_its_graph(multiply, torch, stream):
    """Its workspace is then memory of the graph."""
    plan, a = multiply
    g = cg.GraphDef()
    _, result = g.capture_call(
        lambda: plan.execute(stream=torch.cuda.current_stream(), release_workspace=True)
    )
    graph = g.instantiate()
    for _ in range(3):
        a.copy_(torch.randn_like(a))
        torch.cuda.synchronize()
        graph.launch(stream)
        stream.sync()
        torch.testing.assert_close(result, a @ a, rtol=1e-3, atol=1e-3)
        plan.free()  # the second and third do nothing


def test_a_plan_of_nvmath_is_freed_after_its_graph(multiply, torch, stream):
    """It waits for the event of its last call, which must not be one of a capture that has ended (a rule of CUDA)."""
    plan, a = multiply
    g = cg.GraphDef()
    _, result = g.capture_call(lambda: plan.execute(stream=torch.cuda.current_stream()))
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    torch.testing.assert_close(result, a @ a, rtol=1e-3, atol=1e-3)
    del g, graph
    gc.collect()
    plan.execute()
    plan.free()


def test_a_transform_of_nvmath_is_freed_after_its_graph(torch, stream):
    """cuFFT. The plan has tables in memory that launches read."""
    nvmath = pytest.importorskip("nvmath")
    a = torch.randn(SIZE, SIZE, device="cuda", dtype=torch.complex64)
    torch.cuda.synchronize()
    plan = nvmath.fft.FFT(a)
    plan.plan()
    g = cg.GraphDef()
    _, result = g.capture_call(
        lambda: plan.execute(stream=torch.cuda.current_stream(), release_workspace=True)
    )
    graph = g.instantiate()
    for _ in range(2):
        a.copy_(torch.randn_like(a))
        torch.cuda.synchronize()
        graph.launch(stream)
        stream.sync()
        torch.testing.assert_close(result, torch.fft.fft2(a), rtol=1e-3, atol=1e-3)
    del g, graph
    gc.collect()
    plan.free()


def test_a_handle_of_nvmath_is_destroyed_after_its_graph(torch, stream):
    """cuSOLVER, called by addresses. The memory of its workspace stays, though nothing but the graph refers to it."""
    bindings = pytest.importorskip("nvmath").bindings
    solver, lower = bindings.cusolverDn, int(bindings.cublas.FillMode.LOWER)
    a, found = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.float64) for _ in range(2))
    info = torch.zeros(1, device="cuda", dtype=torch.int32)
    torch.cuda.synchronize()
    handle = solver.create()
    size = solver.dpotrf_buffer_size(handle, lower, SIZE, found.data_ptr(), SIZE)

    def factored():
        solver.set_stream(handle, torch.cuda.current_stream().cuda_stream)
        found.copy_(a @ a.T + SIZE * torch.eye(SIZE, device="cuda", dtype=a.dtype))
        space = torch.empty(size, device="cuda", dtype=a.dtype)
        solver.dpotrf(handle, lower, SIZE, found.data_ptr(), SIZE, space.data_ptr(), size, info.data_ptr())

    g = cg.GraphDef()
    g.capture_call(factored)
    graph = g.instantiate()
    others = [torch.full((size,), 7.0, device="cuda", dtype=a.dtype) for _ in range(50)]
    a.copy_(torch.randn_like(a))
    torch.cuda.synchronize()
    graph.launch(stream)
    stream.sync()
    torch.testing.assert_close(torch.triu(found), factor(torch, a).T)  # cuSOLVER writes columns
    assert info.item() == 0 and all(bool((each == 7).all()) for each in others)
    del g, graph
    gc.collect()
    solver.destroy(handle)
