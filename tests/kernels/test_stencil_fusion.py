# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: a kernel whose iterations compute elements again that a loop before wrote gives the results of the same kernel
with `fuse=False`, in every sort of call. `explain()` says what is computed again."""

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.compiler.codegen.x86.x86_target import X86
from cuda_graphs.compiler.language.lowerings import FUSIONS
from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.kernels import targets
from tests.kernels.graph_kernels import f32_1d, f32_2d, i32_0d

N = 16
LARGE = targets.shape_of_driver().unordered
USUAL = X86.most_again


@pytest.fixture(autouse=True)
def small_loops(monkeypatch):
    """On a CPU only large loops are worth it. The laws of calls hold for all sizes."""
    monkeypatch.setattr(X86, "most_again", dict.fromkeys(FUSIONS, USUAL["large"]))


def smooth(x: f32_1d, t: f32_1d, y: f32_1d):
    for i in range(N):
        t[i] = x[i] * 0.7
    for i in range(1, N - 1):
        y[i] = t[i - 1] + t[i] + t[i + 1]


def first_line():
    return smooth.__code__.co_firstlineno


plain, graph = cg.kernel(smooth), cg.kernel(smooth, graph=True, chain="nodes")
apart = cg.kernel(smooth, fuse=False)

# x, t and y in one memory: apart, next to each other, x and y overlapping, t inside x, and two of them the same.
PLACES = {
    "apart": (0, 20, 40),
    "next to each other": (16, 0, 32),
    "x and y overlap": (0, 30, 5),
    "t and y overlap": (30, 0, 9),
    "x and t overlap": (3, 0, 40),
    "x is y": (0, 20, 0),
    "x is t": (20, 20, 0),
}


def slices(place):
    whole = cg.ndarray(cg.f32, 64)
    whole.from_numpy(np.linspace(-1, 3, 64, dtype="f4"))
    return whole, [whole[begin : begin + N] for begin in PLACES[place]]


def loop_by_loop(place):
    """Return the memory after the loops; of overlapping arrays, NumPy reads all before it writes."""
    whole = slices(place)[0].to_numpy()
    x, t, y = (whole[begin : begin + N] for begin in PLACES[place])
    t[:] = x * np.float32(0.7)
    y[1:-1] = t[:-2] + t[1:-1] + t[2:]
    return whole


@pytest.mark.parametrize("kernel", [plain, graph])
@pytest.mark.parametrize("place", PLACES)
def test_any_arrays_give_what_the_loops_give_one_after_the_other(place, kernel):
    """Loops that each have a defined result with these arrays."""
    racing = ("t and y overlap", "x and t overlap")
    for _ in range(2):
        whole, arrays = slices(place)
        kernel(*arrays)
        if place not in racing:
            np.testing.assert_array_equal(whole.to_numpy(), loop_by_loop(place), err_msg=place)
    assert len(kernel.explain(*arrays).tasks) == (1 if place in ("apart", "next to each other") else 2)


def test_calls_may_alternate():
    for place in ("apart", "x and y overlap", "apart", "x is t"):
        for kernel in (plain, graph, apart):
            whole, arrays = slices(place)
            kernel(*arrays)
            np.testing.assert_array_equal(whole.to_numpy(), loop_by_loop(place), err_msg=place)


def test_explanation_says_what_is_computed_again():
    _, arrays = slices("apart")
    (found,) = plain.explain(*arrays).fusion
    line = first_line()
    assert found.is_fused
    assert found.again == (
        f"line {line + 4} computes 2 other elements of 't' again, as line {line + 2} does",
    )
    assert found.again[0] in str(found)
    assert found.again[0] in plain.explain(*arrays)._repr_html_().replace("&#x27;", "'").replace("&#39;", "'")
    _, arrays = slices("x is y")
    (found,) = plain.explain(*arrays).fusion
    assert (found.is_fused, found.again) == (False, ())
    assert apart.explain(*arrays).fusion == ()


@cg.kernel
def lengths(x: f32_1d, t: f32_1d, y: f32_1d):
    for i in x:
        t[i] = x[i] * 0.7
    for i in range(1, y.shape[0] - 1):
        y[i] = t[i - 1] - t[i + 1]


def test_loops_over_arrays_of_other_lengths_give_the_results_of_the_loops():
    for n, m in ((9, 9), (9, 7), (7, 9), (2, 2), (1, 1), (0, 0)):
        x, t, y = (cg.ones(size, cg.f32) for size in (n, max(n, m), m))
        x.from_numpy(np.arange(n, dtype="f4"))
        lengths(x, t, y)
        wanted_t, wanted = np.ones(max(n, m), "f4"), np.ones(m, "f4")
        wanted_t[:n] = np.arange(n, dtype="f4") * np.float32(0.7)
        wanted[1:-1] = (wanted_t[: m - 2] - wanted_t[2:m]) if m > 2 else wanted[1:-1]
        np.testing.assert_array_equal(t.to_numpy(), wanted_t)
        np.testing.assert_array_equal(y.to_numpy(), wanted)
        assert len(lengths.explain(x, t, y).tasks) == (1 if n == m else 2)


def relaxed(u: f32_2d, t: f32_2d, v: f32_2d, n: i32_0d):
    while cg.graph_do_while(n):
        for i, j in u:
            t[i, j] = u[i, j] * 0.25
        for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            v[i, j] = t[i - 1, j] + t[i + 1, j] + t[i, j - 1] + t[i, j + 1]
        for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            u[i, j] = v[i, j]
        n[()] -= 1


@pytest.mark.parametrize("loop", ["auto", "conditional", "resident", "host"])
def test_loops_of_graphs_compute_elements_again(loop):
    found = []
    for fuse in (True, False):
        kernel = cg.kernel(relaxed, graph=True, loop=loop, fuse=fuse)
        u, t, v = (cg.zeros((7, 9), cg.f32) for _ in range(3))
        u.from_numpy(np.random.default_rng(5).standard_normal((7, 9)).astype("f4"))
        n = cg.ones((), cg.i32)
        n.fill(3)
        kernel(u, t, v, n)
        found.append([each.to_numpy().tobytes() for each in (u, t, v, n)])
        assert any(each.again for each in kernel.explain(u, t, v, n).fusion) == fuse
    assert found[0] == found[1]


differentiable = cg.types.ndarray(cg.f32, ndim=1, needs_grad=True)


@pytest.mark.parametrize("with_graph", [False, True])
def test_gradients_are_those_of_the_loops(with_graph):
    def chain(x: differentiable, t: differentiable, y: differentiable):
        for i in x:
            t[i] = x[i] * x[i] + 0.5
        for i in range(1, x.shape[0] - 1):
            y[i] = t[i - 1] * t[i + 1]

    found = []
    for fuse in (True, False):
        kernel = cg.kernel(chain, graph=with_graph, fuse=fuse)
        x, t, y = (cg.ndarray(cg.f32, 20, needs_grad=True) for _ in range(3))
        x.from_numpy(np.linspace(-2, 2, 20, dtype="f4"))
        for each in (t, y):
            each.fill(0)
        with cg.ad.Tape() as tape:
            kernel(x, t, y)
        y.grad.fill(1)
        tape.grad()
        found.append([each.to_numpy() for each in (t, y, x.grad)])
        assert len(kernel.explain(x, t, y).tasks) == (1 if fuse else 2)
    for fused, unfused in zip(*found, strict=True):
        np.testing.assert_array_equal(fused, unfused)


@cg.kernel
def halve(x: f32_1d, t: f32_1d, a: cg.f32):
    for i in x:
        t[i] = x[i] * a


@cg.kernel
def differences(t: f32_1d, y: f32_1d):
    for i in range(1, t.shape[0] - 1):
        y[i] = t[i + 1] - t[i - 1]


@pytest.mark.parametrize("place", PLACES)
def test_neighbouring_nodes_compute_elements_again(place, stream):
    found = []
    for optimize in (False, True):
        whole, (x, t, y) = slices(place)
        g = cg.GraphDef()
        factor = g.param("factor", cg.f32, default=0.5)
        g.call(halve, x, t, factor).call(differences, t, y)
        executable = g.instantiate(optimize=optimize)
        for value in (0.7, 1.5):
            executable.launch(stream, factor=value)
            stream.sync()
        found.append(whole.to_numpy())
        if optimize:
            fuses = place in ("apart", "next to each other")
            assert [each.is_fused for each in executable.explain().fusion] == [fuses]
    if place not in ("t and y overlap", "x and t overlap"):
        np.testing.assert_array_equal(*found)


def test_heavy_iterations_are_not_run_again_and_the_reason_says_so():
    @cg.kernel
    def heavy(x: f32_1d, t: f32_1d, y: f32_1d):
        for i in range(N):
            t[i] = (
                cg.exp(x[i])
                + cg.exp(-x[i])
                + cg.log(x[i])
                + cg.log(x[i] + 1)
                + cg.exp(2 * x[i]) * cg.exp(3 * x[i])
            )
        for i in range(1, N - 1):
            y[i] = t[i - 1] + t[i + 1]

    _, arrays = slices("apart")
    (found,) = heavy.explain(*arrays).fusion
    assert not found.is_fused
    assert "again for them would cost an iteration as much as" in found.why


@pytest.mark.parametrize("with_graph", [False, True])
def test_large_loops_compute_elements_again_and_on_a_cpu_small_ones_do_not(with_graph, monkeypatch):
    def large(x: f32_1d, t: f32_1d, y: f32_1d):
        for i in x:
            t[i] = x[i] * 0.3
        for i in range(1, x.shape[0] - 1):
            y[i] = t[i - 1] - t[i + 1]

    monkeypatch.setattr(X86, "most_again", USUAL)
    kernel = cg.kernel(large, graph=with_graph)
    small = 1 if driver_info().kind == "cuda" else 2
    for size, tasks in ((LARGE, 1), (100, small), (LARGE - 1, small), (LARGE + 1, 1)):
        x, t, y = (cg.zeros(size, cg.f32) for _ in range(3))
        values = np.random.default_rng(size).standard_normal(size).astype("f4")
        x.from_numpy(values)
        kernel(x, t, y)
        wanted = values * np.float32(0.3)
        np.testing.assert_array_equal(t.to_numpy(), wanted)
        np.testing.assert_array_equal(y.to_numpy()[1:-1], wanted[:-2] - wanted[2:])
        found = kernel.explain(x, t, y)
        assert len(found.tasks) == tasks
        assert tasks == 1 or "only loops of many iterations are worth it" in found.fusion[0].why


def read_behind(x: f32_1d, t: f32_1d, y: f32_1d):
    for i in range(N):
        t[i] = x[i] * 2.0
    for i in range(N):
        if i + 2147483647 < 0:  # for i > 0, as the sum wraps
            y[i] = t[i + 5]


def test_conditions_on_sums_that_wrap_limit_no_index():
    results = []
    for kernel in (cg.kernel(read_behind), cg.kernel(read_behind, fuse=False)):
        x, t, y = cg.arange(N + 10, dtype=cg.f32), cg.ones(N + 10, cg.f32), cg.zeros(N + 10, cg.f32)
        kernel(x, t, y)
        results.append(y.to_numpy().tolist())
    assert results[0] == results[1]
    assert results[0][1:N] == [2.0 * (i + 5) if i + 5 < N else 1.0 for i in range(1, N)]
