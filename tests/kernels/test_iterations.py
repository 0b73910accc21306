# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `max_iterations=` ends a loop, and `graph.iterations` is the number of times that its body ran in a launch."""

import itertools

import pytest

import cuda_graphs as cg
from tests.conftest import wait_until
from tests.graph_rig import ONE

NUMBERS = cg.types.ndarray(cg.i32, ndim=1)
LIMITS = (None, 1, 4, 5)
LASTS = (0, 1, 4)  # iterations without a limit
TIMEOUT = 20  # seconds


@cg.kernel
def begin(x: NUMBERS, left: NUMBERS, flag: NUMBERS, last: cg.i32):
    """x[0] counts the passes, left[0] those that remain; flag[0] tells whether some do."""
    x[0] = 0
    left[0] = last
    flag[0] = last > 0


@cg.kernel
def work(x: NUMBERS, left: NUMBERS, flag: NUMBERS):
    x[0] += 1
    left[0] -= 1
    flag[0] = left[0] > 0


@cg.kernel
def decide(left: NUMBERS, c: cg.Condition):
    cg.set_condition(c, left[0] > 0)


@pytest.fixture(autouse=True)
def kernels_of_the_library_forget():
    yield
    cg.reset()


@pytest.fixture
def arrays(device):
    return tuple(cg.zeros(1, cg.i32) for _ in range(3))


def on_flag(at, arrays, **options):
    return at.while_loop(arrays[2], **options)


def on_predicate(at, arrays, **options):
    return at.while_loop(lambda left: left[0] > 0, args=(arrays[1],), **options)


def on_number(at, arrays, **options):
    """The predicate is an integer."""
    return at.while_loop(lambda left: max(left[0], 0), args=(arrays[1],), **options)


TESTS = [on_flag, on_predicate, on_number]


def explicit(test, arrays, last, **options):
    g = cg.GraphDef()
    loop = test(g.call(begin, *arrays, last), arrays, name="loop", **options)
    loop.body.call(work, *arrays)
    return g.instantiate()


def captured(test, arrays, last, **options):
    with cg.capture() as builder:
        begin(*arrays, last)
        with test(builder, arrays, name="loop", **options):
            work(*arrays)
    return builder.complete()


def run(graph, stream):
    graph.launch(stream)
    stream.sync(timeout=TIMEOUT)
    return graph.iterations["loop"]


def expected(last, limit, do):
    """Return the passes of a loop of `last` passes, and whether the limit ends it."""
    wanted = max(last, 1) if do else last
    return (wanted, False) if limit is None or wanted <= limit else (limit, True)


@pytest.mark.parametrize("do", [False, True])
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("define", [explicit, captured])
def test_iterations_are_those_of_a_loop_of_python(define, test, do, arrays, stream):
    for last, limit in itertools.product(LASTS, LIMITS):
        graph = define(test, arrays, last, do=do, max_iterations=limit)
        for _ in range(2):
            found = run(graph, stream)
            assert found == expected(last, limit, do), (last, limit)
            assert arrays[0][0] == found.iterations


@pytest.mark.parametrize("is_captured", [False, True])
@pytest.mark.parametrize("limit", LIMITS[1:])
def test_limit_ends_a_loop_whose_condition_a_kernel_sets(is_captured, limit, arrays, stream):
    x, left, _ = arrays
    if is_captured:
        with cg.capture() as g:
            c = g.create_condition(default_value=1)
            begin(*arrays, 4)
            with g.while_loop(c, max_iterations=limit, name="loop"):
                work(*arrays)
                decide(left, c)
        graph = g.complete()
    else:
        g = cg.GraphDef()
        c = g.create_condition(default_value=1)
        loop = g.call(begin, *arrays, 4).while_loop(c, max_iterations=limit, name="loop")
        loop.body.call(work, *arrays).call(decide, left, c)
        graph = g.instantiate()
    for _ in range(2):
        found = run(graph, stream)
        assert found.iterations == x[0] == min(4, limit)
        assert found.limited == (limit <= 4)  # no kernel can read the condition


def test_an_inner_loop_counts_each_run_anew(arrays, stream):
    x, left, _ = arrays
    rounds = cg.zeros(1, cg.i32)

    @cg.kernel
    def fill(left: NUMBERS, rounds: NUMBERS):
        rounds[0] += 1
        left[0] = 10 * rounds[0]

    for do in (False, True):
        rounds.fill(0)
        g = cg.GraphDef()
        outer = g.call(begin, *arrays, 1).while_loop(lambda: rounds[0] < 3, do=do, name="outer")
        inner = outer.body.call(fill, left, rounds)
        inner = inner.while_loop(lambda: left[0] > 0, do=do, max_iterations=25, name="inner")
        inner.body.call(work, *arrays)
        graph = g.instantiate()
        graph.launch(stream)
        stream.sync(timeout=TIMEOUT)
        assert graph.iterations == {"outer": (3, False), "inner": (25, True)}
        assert x[0] == 10 + 20 + 25


def test_a_cancelled_loop_has_the_iterations_that_ran(arrays, stream):
    x, _, _ = arrays
    g = cg.GraphDef()
    loop = g.call(begin, *arrays, 1).while_loop(lambda: x[0] >= 0, name="loop")
    loop.body.call(work, *arrays)
    graph = g.instantiate()
    graph.launch(stream)
    assert wait_until(lambda: graph.iterations["loop"].iterations >= 10)  # of the launch in flight
    graph.cancel()
    stream.sync(timeout=TIMEOUT)
    assert graph.iterations["loop"] == (x[0], False)


def test_an_updated_graph_counts_the_new_loops(arrays, stream):
    def define(last, limit):
        g = cg.GraphDef()
        loop = on_predicate(g.call(begin, *arrays, last), arrays, max_iterations=limit, name="loop")
        loop.body.call(work, *arrays)
        return g

    first = define(4, 100)
    graph = first.instantiate()
    assert run(graph, stream) == (4, False)
    graph.update(define(7, 5))
    assert run(graph, stream) == (5, True)
    del first
    graph.update(define(3, 5))
    assert run(graph, stream) == (3, False)


def test_a_graph_counts_its_loops_after_an_update_that_a_value_does_not_fit(arrays, stream):
    def define(last, dst):
        g = cg.GraphDef()
        loop = on_predicate(g.call(begin, *arrays, last), arrays, max_iterations=100, name="loop")
        loop.body.call(work, *arrays)
        loop.memcpy(dst, cg.zeros(100), g.param("size", cg.u64, default=4))
        return g

    first, second = define(4, cg.zeros(100)), define(7, cg.zeros(10))
    graph = first.instantiate()
    graph.set(size=400)
    assert run(graph, stream) == (4, False)
    with pytest.raises(ValueError, match="beyond the end"):
        graph.update(second)
    assert run(graph, stream) == (4, False)
    graph.set(size=40)
    graph.update(second)
    assert run(graph, stream) == (7, False)


def test_only_loops_with_a_name_and_a_count_are_listed(arrays, stream):
    _, left, _ = arrays
    g = cg.GraphDef()
    c = g.create_condition(default_value=1)
    at = g.call(begin, *arrays, 2)
    for options in ({}, {"max_iterations": 3}):
        at = on_predicate(at, arrays, **options)
        at.body.call(work, *arrays)
    at = at.while_loop(c, name="of a Condition")
    at.body.call(decide, left, c)
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync(timeout=TIMEOUT)
    assert graph.iterations == {}
    assert isinstance(explicit(on_flag, arrays, 1).iterations["loop"], cg.LoopCount)


def test_counting_costs_no_node(arrays):
    def count_nodes(**options):
        g = cg.GraphDef()
        loop = on_predicate(g.call(begin, *arrays, 1), arrays, **options)
        loop.body.call(work, *arrays)
        return len(g.nodes()), len(loop.body.nodes())

    assert count_nodes(max_iterations=5, name="loop") == count_nodes()


SOURCE = """
#include <cuda_graphs.h>
extern "C" __global__ void always(unsigned long long c) { cudaGraphSetConditional(c, 1); }
"""


def test_a_limit_makes_a_loop_of_cuda_cpp_one_that_can_be_cancelled(arrays, stream):
    always = cg.Program(SOURCE, code_type="c++").compile("ptx").get_kernel("always")
    g = cg.GraphDef()
    c = g.create_condition(default_value=1)
    loop = g.while_loop(c, max_iterations=2**60, name="loop")
    loop.body.launch(ONE, always, c)
    graph = g.instantiate()
    graph.launch(stream)
    graph.cancel()
    stream.sync(timeout=TIMEOUT)
    assert not graph.iterations["loop"].limited


@pytest.mark.parametrize("define", [explicit, captured])
@pytest.mark.parametrize(
    ("limit", "error", "said"),
    [
        (0, ValueError, "max_iterations must be 1 or more, got 0"),
        (-1, OverflowError, "max_iterations"),
        (2**63, OverflowError, "max_iterations"),
        (1.5, TypeError, "max_iterations"),
        ("3", TypeError, "max_iterations"),
    ],
)
def test_a_wrong_limit_is_refused_and_adds_nothing(define, limit, error, said, arrays):
    g = cg.GraphDef()
    with pytest.raises(error, match=said):
        on_predicate(g, arrays, max_iterations=limit)
    assert g.nodes() == set()
    assert len(g._conditions()) == 0
    with cg.capture() as builder:
        begin(*arrays, 1)
        with pytest.raises(error, match=said):
            on_predicate(builder, arrays, max_iterations=limit)


def test_two_loops_of_one_name_are_refused_when_the_counts_are_read(arrays, stream):
    g = cg.GraphDef()
    at = g.call(begin, *arrays, 1)
    for _ in range(2):
        at = on_predicate(at, arrays, name="loop")
        at.body.call(work, *arrays)
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync(timeout=TIMEOUT)
    with pytest.raises(ValueError, match="two loops have the name 'loop'"):
        graph.iterations  # noqa: B018


def test_iterations_need_an_open_graph(arrays):
    graph = explicit(on_flag, arrays, 1)
    graph.close()
    with pytest.raises(RuntimeError, match="closed"):
        graph.iterations  # noqa: B018
