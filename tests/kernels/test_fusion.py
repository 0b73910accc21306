# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: a kernel with fused tasks gives the results of the same kernel with `fuse=False`, for all arrays and in every
sort of call. `explain()` lists the fused tasks, and for other tasks the reason."""

import os
import subprocess
import sys

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.compiler.cache import artifact_cache
from cuda_graphs.kernels import targets
from tests.kernels.graph_kernels import array, f32_1d, i32_0d, i32_1d

SIZE = 64


def steps(x: f32_1d, y: f32_1d):
    for i in range(16):
        x[i] = x[i] * 1.01 + 0.3
    for i in range(16):
        y[i] = y[i] + x[i] * 0.7
    for i in range(16):
        x[i] = x[i] - y[i]


def first_line():
    return steps.__code__.co_firstlineno


plain, graph = cg.kernel(steps), cg.kernel(steps, graph=True, chain="nodes")
apart = cg.kernel(steps, fuse=False)
apart_graph = cg.kernel(steps, graph=True, chain="nodes", fuse=False)


def memory():
    found = cg.ndarray(cg.f32, SIZE)
    found.from_numpy(np.linspace(-1, 3, SIZE, dtype="f4"))
    return found


# Two arrays in one memory: apart, next to each other, shifted, and the same.
PLACES = {
    "apart": (0, 32),
    "next to each other": (0, 16),
    "shifted": (0, 3),
    "shifted back": (5, 0),
    "the same": (8, 8),
}


def slices(whole, place):
    return [whole[begin : begin + 16] for begin in PLACES[place]]


def result(kernel, place):
    whole = memory()
    kernel(*slices(whole, place))
    return whole.to_numpy()


def loop_by_loop(place):
    """Return the memory after the loops, one after the other, in NumPy, which rounds as the kernel does."""
    whole = memory().to_numpy()
    x, y = (whole[begin : begin + 16] for begin in PLACES[place])
    x[:] = x * np.float32(1.01) + np.float32(0.3)
    y[:] = y + x * np.float32(0.7)
    x[:] = x - y
    return whole


@pytest.mark.parametrize("kernel", [plain, graph, apart, apart_graph])
@pytest.mark.parametrize("place", ["apart", "next to each other"])
def test_arrays_that_are_apart_give_the_bits_of_the_loops(kernel, place):
    np.testing.assert_array_equal(result(kernel, place), loop_by_loop(place))


@cg.kernel(graph=True, chain="nodes")
def passes_on(x: f32_1d, y: f32_1d, z: f32_1d):
    for i in range(16):
        x[i] = z[i] * 1.01
    for i in range(16):
        z[i] = y[i] * 0.7


@pytest.mark.parametrize("place", PLACES)
def test_overlapping_arrays_give_what_the_loops_give_one_after_the_other(place):
    """Each loop accesses one of the overlapping arrays, so the loops have a defined result."""
    whole, z = memory(), memory()
    x, y = slices(whole, place)
    wanted, wanted_z = whole.to_numpy(), z.to_numpy()
    begin_x, begin_y = PLACES[place]
    for _ in range(2):  # the first call with these arrays, and a later one
        passes_on(x, y, z)
        wanted[begin_x : begin_x + 16] = wanted_z[:16] * np.float32(1.01)
        wanted_z[:16] = wanted[begin_y : begin_y + 16] * np.float32(0.7)
    np.testing.assert_array_equal(whole.to_numpy(), wanted)
    np.testing.assert_array_equal(z.to_numpy(), wanted_z)
    fuses = place in ("apart", "next to each other")
    assert passes_on.graph_stats.tasks == (1 if fuses else 2)
    assert passes_on.explain(x, y, z).fusion[0].is_fused == fuses


def test_calls_with_overlapping_arrays_and_others_may_alternate():
    for place in ("apart", "shifted", "apart", "the same", "shifted", "apart"):
        for kernel in (plain, graph):
            np.testing.assert_array_equal(result(kernel, place), result(apart, place), err_msg=place)


COUNT = 6  # arrays: more pairs than arrays, so that they are compared by their addresses


def rotation(a: f32_1d, b: f32_1d, c: f32_1d, d: f32_1d, e: f32_1d, f: f32_1d):
    for i in range(16):
        a[i] = b[i] + 1.0
        c[i] = d[i] * 2.0
        e[i] = f[i] - 3.0
    for i in range(16):
        b[i] = a[i] * 0.5
        d[i] = e[i] + c[i]
        f[i] = b[i] + 4.0


@pytest.mark.parametrize("seed", range(4))
def test_arrays_may_overlap_in_any_call(seed, driver):
    """Each call has the arrays of the last one, or others. On a GPU iterations over overlapping arrays would race."""
    random = np.random.default_rng(seed)
    fused, separate = cg.kernel(rotation), cg.kernel(rotation, fuse=False)
    wholes = [cg.array(random.random(16 * COUNT + 8, "f4")) for _ in range(2)]
    wholes[1].copy_from(wholes[0])
    places = [16 * n for n in range(COUNT)]
    for _ in range(40):
        what = random.integers(4 if driver.kind == "host" else 2)
        if what == 1:
            places = list(16 * random.permutation(COUNT))
        elif what == 2:
            places[random.integers(COUNT)] = random.integers(16 * (COUNT - 1) + 8)
        for kernel, whole in zip((fused, separate), wholes, strict=True):
            kernel(*[whole[begin : begin + 16] for begin in map(int, places)])
        np.testing.assert_array_equal(wholes[0].to_numpy(), wholes[1].to_numpy())


def test_graph_kernels_keep_both_graphs():
    graph.forget()
    before = graph.graph_stats.builds
    for place in ("apart", "the same", "apart", "the same"):
        result(graph, place)
    assert (graph.graph_stats.graphs, graph.graph_stats.builds - before) == (2, 2)


def test_nodes_of_other_graphs_take_arrays_that_overlap_later(stream):
    g = cg.GraphDef()
    whole, z = memory(), memory()
    node = g.call(passes_on, *slices(whole, "apart"), z)
    executable = g.instantiate()
    x, y = slices(whole, "shifted")
    executable[node].update(args=(x, y, z))
    wanted, wanted_z = whole.to_numpy(), z.to_numpy()
    wanted[:16] = wanted_z[:16] * np.float32(1.01)
    wanted_z[:16] = wanted[3:19] * np.float32(0.7)
    executable.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(whole.to_numpy(), wanted)
    np.testing.assert_array_equal(z.to_numpy(), wanted_z)


@pytest.mark.parametrize("kernel", [plain, graph])
def test_parameters_of_graphs_may_overlap(kernel, stream):
    g = cg.GraphDef()
    g.call(kernel, g.param("x", f32_1d), g.param("y", f32_1d))
    executable = g.instantiate()
    for place in PLACES:
        whole = memory()
        x, y = slices(whole, place)
        executable.launch(stream, x=x, y=y)
        stream.sync()
        np.testing.assert_array_equal(whole.to_numpy(), result(apart, place), err_msg=place)


def test_captures_take_the_code_for_any_arrays(stream):
    whole = memory()
    with cg.Device(0).create_graph_builder() as builder:
        plain(*slices(whole, "apart"), stream=builder)
    assert len(builder.graph_definition.nodes()) == len(plain.graph(*slices(whole, "apart")).nodes())
    builder.complete().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(whole.to_numpy(), loop_by_loop("apart"))


@cg.kernel(graph=True)
def one_array(x: i32_1d, left: i32_0d):
    while cg.graph_do_while(left):
        for i in x:
            x[i] = x[i] * 3 + 1
        for i in x:
            x[i] -= i
        left[()] -= 1


def test_loops_between_tasks_run_fused_bodies():
    x, left = array(np.arange(100), cg.i32), cg.ndarray(cg.i32, ())
    left.fill(5)
    one_array(x, left)
    wanted = np.arange(100, dtype="i4")
    for _ in range(5):
        wanted = wanted * 3 + 1 - np.arange(100, dtype="i4")
    np.testing.assert_array_equal(x.to_numpy(), wanted)
    assert sum(each.is_fused for each in one_array.explain(x, left).fusion) == 1


def test_explanation_names_the_lines():
    whole, file = memory(), steps.__code__.co_filename
    lines = [first_line() + k for k in (1, 3, 5)]
    (found,) = plain.explain(*slices(whole, "apart")).fusion
    assert found.sources == tuple(f"{file}:{line}" for line in lines)
    assert (found.is_fused, found.why) == (True, "")
    assert str(found).endswith(": fused")
    pairs = plain.explain(*slices(whole, "the same")).fusion
    assert [each.is_fused for each in pairs] == [False, False]
    assert f"line {lines[0] + 1} reads 'x', and line {lines[1] + 1} writes 'y', " in pairs[0].why
    text = str(plain.explain(*slices(whole, "the same")))
    assert "fusion:" in text
    assert "which may be the same memory" in text
    assert "which may be the same memory" in plain.explain(*slices(whole, "the same"))._repr_html_()


def test_fuse_false_makes_a_task_of_each_loop():
    whole = memory()
    for kernel, tasks in ((plain, 1), (apart, 3), (apart_graph, 3)):
        found = kernel.explain(*slices(whole, "apart"))
        assert len(found.tasks) == tasks
        assert bool(found.fusion) == (tasks == 1)


def test_code_on_disk_knows_the_option_and_what_it_needs(tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_GRAPHS_CACHE_DIR", str(tmp_path))
    counts = []
    for options in ({}, {"fuse": False}, {}, {"fuse": False}):
        before = artifact_cache.compile_cache.hits
        kernel = cg.kernel(steps, **options)
        for place in PLACES:
            np.testing.assert_array_equal(result(kernel, place), result(apart, place), err_msg=place)
        whole = memory()
        counts.append((
            len(kernel.explain(*slices(whole, "apart")).tasks),
            len(kernel.explain(*slices(whole, "shifted")).tasks),
            artifact_cache.compile_cache.hits - before,
        ))  # fmt: skip
    assert [each[:2] for each in counts[2:]] == [each[:2] for each in counts[:2]]
    assert counts[0][0] == 1
    assert counts[1][:2] == (3, 3)
    # From disk come the fused code and the code for overlapping arrays; then the code of the loops.
    assert (counts[2][2], counts[3][2]) == (2, 1)


@cg.kernel
def lengths(x: f32_1d, y: f32_1d, n: i32_1d):
    for i in x:
        n[i] = n[i] + 1
    for i in y:
        n[i] = n[i] * 3


def test_loops_over_arrays_of_one_length_share_a_launch_and_others_do_not():
    for one, other in ((5, 5), (5, 8), (8, 5), (5, 5), (0, 0), (0, 4)):
        x, y, n = cg.ndarray(cg.f32, one), cg.ndarray(cg.f32, other), array(np.arange(8), cg.i32)
        lengths(x, y, n)
        wanted = np.arange(8, dtype="i4")
        wanted[:one] += 1
        wanted[:other] *= 3
        np.testing.assert_array_equal(n.to_numpy(), wanted)
        assert len(lengths.explain(x, y, n).tasks) == (1 if one == other else 2)


def test_lengths_of_arrays_of_a_graph_may_change(stream):
    g = cg.GraphDef()
    g.call(lengths, g.param("x", f32_1d), g.param("y", f32_1d), g.param("n", i32_1d))
    executable = g.instantiate()
    for one, other in ((5, 5), (5, 8), (8, 5)):
        x, y, n = cg.ndarray(cg.f32, one), cg.ndarray(cg.f32, other), array(np.ones(8), cg.i32)
        executable.launch(stream, x=x, y=y, n=n)
        stream.sync()
        wanted = np.ones(8, dtype="i4")
        wanted[:one] += 1
        wanted[:other] *= 3
        np.testing.assert_array_equal(n.to_numpy(), wanted)


def norm(x: f32_1d, y: f32_1d, most: f32_1d):
    for i in x:
        x[i] = y[i] * 0.5 + 1
    most[0] = 0
    for i in x:
        most[0] += x[i] * x[i]


LARGE = targets.shape_of_driver().unordered
norm_fused, norm_apart = cg.kernel(norm), cg.kernel(norm, fuse=False)


def norm_of(kernel, size, inside=False):
    """Return (the sum, the number of tasks, x) for `size` elements. `inside`: the sum is an element of y."""
    x, y = cg.ndarray(cg.f32, size), cg.ndarray(cg.f32, size)
    most = y[:1] if inside else cg.ndarray(cg.f32, 1)
    y.from_numpy(np.linspace(-1, 2, size, dtype="f4"))
    kernel(x, y, most)
    return most.to_numpy()[0], len(kernel.explain(x, y, most).tasks), x.to_numpy()


@pytest.mark.parametrize("size", [1, 1000, LARGE - 1, LARGE, 3 * LARGE])
def test_large_sums_of_floats_join_their_producers_and_small_ones_keep_their_bits(size):
    fused, apart = norm_of(norm_fused, size), norm_of(norm_apart, size)
    assert (fused[1], apart[1]) == (2 if size >= LARGE else 3, 3)
    np.testing.assert_array_equal(fused[2], apart[2])
    wanted = np.linspace(-1, 2, size, dtype="f4") * np.float32(0.5) + np.float32(1)
    np.testing.assert_array_equal(fused[2], wanted)
    np.testing.assert_allclose(fused[0], np.sum(wanted.astype("f8") ** 2), rtol=1e-4)
    if size <= 1000:  # one call or one block computes the sum
        assert fused[0] == apart[0]


def test_calls_with_few_and_many_iterations_may_alternate():
    for size in (LARGE, 10, LARGE + 1, 10):
        assert norm_of(norm_fused, size)[1] == (2 if size >= LARGE else 3)
        assert norm_of(norm_fused, size, inside=True)[1] == 3


def test_one_thread_adds_in_order_at_any_size():
    """Without workers the sum of a loop repeats its bits, so the loop stays alone."""
    program = (
        "from tests.kernels.test_fusion import LARGE, norm_apart, norm_fused, norm_of\n"
        "found = [norm_of(kernel, 2 * LARGE) for kernel in (norm_fused, norm_apart)]\n"
        "assert found[0][1] == 3\n"
        "assert found[0][0] == found[1][0]\n"
    )
    environment = {**os.environ, "CUDA_GRAPHS_HOST_THREADS": "0", "CUDA_GRAPHS_DRIVER": "host"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)


def test_graph_kernels_keep_a_graph_for_each_way_to_add():
    kernel = cg.kernel(norm, graph=True, chain="nodes")
    for size in (10, LARGE, 10, LARGE):
        fused, apart = norm_of(kernel, size), norm_of(norm_apart, size)
        assert fused[1] == (2 if size >= LARGE else 3)
        np.testing.assert_allclose(fused[0], apart[0], rtol=1e-4)
    assert kernel.graph_stats.graphs == 2


differentiable = cg.types.ndarray(cg.f32, ndim=1, needs_grad=True)


@pytest.mark.parametrize("with_graph", [False, True])
def test_gradients_are_those_of_the_loops(with_graph):
    def chain(x: differentiable, y: differentiable, z: differentiable):
        for i in x:
            y[i] = x[i] * x[i] + 0.5
        for i in x:
            z[i] = y[i] * x[i]

    found = []
    for fuse in (True, False):
        kernel = cg.kernel(chain, graph=with_graph, fuse=fuse)
        x, y, z = (cg.ndarray(cg.f32, 20, needs_grad=True) for _ in range(3))
        x.from_numpy(np.linspace(-2, 2, 20, dtype="f4"))
        with cg.ad.Tape() as tape:
            kernel(x, y, z)
        z.grad.fill(1)
        tape.grad()
        found.append([each.to_numpy() for each in (y, z, x.grad)])
        assert len(kernel.explain(x, y, z).tasks) == (1 if fuse else 2)
    for fused, unfused in zip(*found, strict=True):
        np.testing.assert_array_equal(fused, unfused)
    x = np.linspace(-2, 2, 20)
    np.testing.assert_allclose(found[0][2], 3 * x * x + 0.5, rtol=1e-5)


@pytest.mark.parametrize("graph", [False, True])
def test_reduction_into_an_array_that_the_loop_writes_comes_before_the_store(graph):
    """Loops of one iteration, so that the order of its atomic and its store decides."""

    def reduce(x: cg.Array1[cg.f32], y: cg.Array1[cg.f32], most: cg.Array1[cg.f32]) -> None:
        for i in x:
            cg.atomic_max(most[0], x[i])
            y[i] = -1.0

    kernel = cg.kernel(reduce, graph=graph)
    x, y, most = (cg.full(1, number, cg.f32) for number in (7.0, 0.0, 0.0))
    for _ in range(2):
        kernel(x, y, most)
        assert (y[0], most[0]) == (-1, 7)
        kernel(x, most, most)
        assert most[0] == -1


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_additions_to_two_arrays_lose_nothing_where_the_arrays_overlap(place, graph):
    """Whole numbers, so that any order of the additions has the same bits."""

    def add(y: f32_1d, z: f32_1d) -> None:
        for i in range(16):
            y[i] += 1.0
            z[i] += 2.0

    kernel = cg.kernel(add, graph=graph)
    whole = cg.zeros(SIZE, cg.f32)
    wanted = np.zeros(SIZE)
    for _ in range(3):
        kernel(*slices(whole, place))
        for begin, number in zip(PLACES[place], (1, 2)):
            wanted[begin : begin + 16] += number
    np.testing.assert_array_equal(whole.to_numpy(), wanted)


@cg.kernel
def six_in_turn(a: f32_1d, b: f32_1d, c: f32_1d, d: f32_1d, e: f32_1d, f: f32_1d, more: f32_1d):
    for i in range(16):
        a[i] = a[i] * 2.0 + more[i]
    for i in range(16):
        b[i] = b[i] * 3.0 + more[i]
    for i in range(16):
        c[i] = c[i] * 2.0 + 2.0 * more[i]
    for i in range(16):
        d[i] = d[i] * 3.0 + 2.0 * more[i]
    for i in range(16):
        e[i] = e[i] * 2.0 + 3.0 * more[i]
    for i in range(16):
        f[i] = f[i] * 3.0 + 3.0 * more[i]


FACTORS = [(2, 1), (3, 1), (2, 2), (3, 2), (2, 3), (3, 3)]


@pytest.mark.parametrize("moved", range(6))
@pytest.mark.parametrize("onto", range(6))
def test_two_of_many_arrays_that_overlap_give_what_the_loops_give_one_after_the_other(moved, onto):
    """They have more pairs than arrays, so a call sorts the arrays. With `moved == onto` they are all apart."""
    places = [16 * place for place in (3, 0, 5, 1, 4, 2)]
    if moved != onto:
        places[moved] = places[onto] + 3
    whole, wanted = cg.zeros(128, cg.f32), np.zeros(128, "f4")
    whole[112:].fill(1)
    wanted[112:] = 1
    arrays = [whole[begin : begin + 16] for begin in (*places, 112)]
    for _ in range(2):
        six_in_turn(*arrays)
        for begin, (factor, more) in zip(places, FACTORS, strict=True):
            wanted[begin : begin + 16] = wanted[begin : begin + 16] * factor + more
    np.testing.assert_array_equal(whole.to_numpy(), wanted)
    assert moved != onto or len(six_in_turn.explain(*arrays).tasks) == 1
