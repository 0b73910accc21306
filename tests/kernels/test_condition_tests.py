# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a conditional node on a flag or on a predicate does what Python does with the same flag or function. A refused
one leaves the definition as it was."""

import ctypes
import gc
import math
import weakref
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from cuda_graphs.kernels.arrays.ndarray import clear_fields
from cuda_graphs.kernels.call.predicates import shared_kernel
from tests.conftest import wait_until

F0, F1 = cg.types.ndarray(cg.f32, ndim=0), cg.types.ndarray(cg.f32, ndim=1)
I1 = cg.types.ndarray(cg.i32, ndim=1)
LIMIT = 3


@pytest.fixture(autouse=True)
def kernels_of_tests_keep_no_code(device):
    yield
    device.sync()
    cg.reset()


@cg.kernel
def count_down(left: cg.types.Tensor, passes: I1):
    left[0] = left[0] - 1
    passes[0] += 1


@cg.kernel
def clear(flag: cg.types.ndarray(cg.bool_, ndim=1), passes: I1):
    passes[0] += 1
    flag[0] = passes[0] < 4


@cg.kernel
def add(x: I1, at: cg.i32, value: cg.i32):
    x[at] += value


@cg.kernel
def put(x: I1, at: cg.i32, value: cg.i32):
    x[at] = value


@cg.kernel
def affine(x: I1, a: cg.i32, b: cg.i32):
    x[0] = a * x[0] + b


@cg.kernel
def halve(x: F1):
    for i in x:
        x[i] = 0.5 * x[i]


@cg.func
def above(x, tol):
    return x[0] > tol


def plain(x, tol):
    """A function of Python, without a decorator."""
    limit = tol
    return x[0] > limit


def run(definition, stream, times=1, **values):
    graph = definition.instantiate()
    for _ in range(times):
        graph.launch(stream, **values)
    stream.sync()
    return graph


def halved(start, tol, do=False):
    x = np.array(start, "f")
    while do or x[0] > tol:
        x, do = x * np.float32(0.5), False
    return x


# ---- flags


@pytest.mark.parametrize("do", [False, True])
@pytest.mark.parametrize("start", [0, 1, 5])
@pytest.mark.parametrize("dtype", [cg.i32, cg.u32])
def test_a_flag_repeats_the_body_until_it_is_0(stream, dtype, start, do):
    left, passes = cg.full(3, start, dtype), cg.zeros(1, cg.i32)
    if do and start == 0:
        left[0] = 1  # count_down of 0 would take 2**32 steps
    g = cg.GraphDef()
    g.while_loop(left[:1], do=do).body.call(count_down, left, passes)
    run(g, stream)
    assert left.to_numpy().tolist() == [0, start, start]
    assert passes[0] == max(start, do)


FORMS = {
    "0-d": lambda flags: flags[0:1].reshape(()),
    "one element": lambda flags: flags[0:1],
    "2-d": lambda flags: flags[0:1].reshape(1, 1),
    "torch-like": lambda flags: SimpleNamespace(__cuda_array_interface__=flags[0:1].__cuda_array_interface__),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("value", [0, 1, 2])
def test_a_flag_selects_a_body(stream, form, value):
    flags, out = cg.full(2, value, cg.i32), cg.zeros(4, cg.i32)
    g = cg.GraphDef()
    g.if_then(form(flags)).then.call(add, out, 0, 1)
    both = g.if_else(form(flags))
    both.then.call(add, out, 1, 1)
    both.else_.call(add, out, 1, 2)
    cases = g.switch(form(flags), 2)
    for number, body in enumerate(cases.branches):
        body.call(add, out, 2, 10 + number)
    run(g, stream, times=2)
    taken = [value != 0, 1 if value else 2, {0: 10, 1: 11}.get(value, 0), 0]
    assert out.to_numpy().tolist() == [2 * each for each in taken]


def test_pinned_memory_without_dimensions_decides_and_is_an_array_of_kernels(stream):
    """A launch takes a NumPy array without dimensions for a number: one of 8 bytes would be an address."""
    memory = np.from_dlpack(cg.PinnedMemoryResource().allocate(16))
    flag, passes = memory[:4].view("i4").reshape(()), memory[8:].view("i8").reshape(())
    flag[()], passes[()] = 1, 0
    g = cg.GraphDef()
    g.while_loop(flag).body.call(stop_at, flag, passes, 3)
    run(g, stream)
    assert (int(flag), int(passes)) == (0, 3)


@cg.kernel
def stop_at(flag: cg.Array0[cg.i32], passes: cg.Array0[cg.i64], most: cg.i32):
    passes[()] += 1
    if passes[()] == most:
        flag[()] = 0


def test_a_refused_conditional_in_an_embedded_graph_leaves_the_definition_as_it_was(stream):
    flag, x = cg.ones((), cg.i32), cg.zeros(4, cg.u32)
    child, g = cg.GraphDef(), cg.GraphDef()
    child.memset(x, 7)
    inner = g.embed(child).child_graph
    for add in (lambda: inner.if_then(flag), lambda: inner.while_loop(lambda: x[0] < 3)):
        with pytest.raises(cg.CUDANotSupportedError, match=r"Embedded graphs hold no .* conditional nodes"):
            add()
    assert len(inner.nodes()) == 1
    run(g, stream)
    assert x.to_numpy().tolist() == [7] * 4


def test_a_flag_of_bools_decides(stream):
    flag, passes = cg.ones(1, cg.bool_), cg.zeros(1, cg.i32)
    g = cg.GraphDef()
    g.while_loop(flag).body.call(clear, flag, passes)
    run(g, stream)
    assert passes[0] == 4


def test_a_field_is_a_flag(stream):
    left, passes = cg.field(cg.i32, 1), cg.field(cg.i32, 1)
    left.fill(4)

    @cg.kernel
    def lower():
        left[0] -= 1
        passes[0] += 1

    g = cg.GraphDef()
    g.while_loop(left).body.call(lower)
    run(g, stream)
    assert left[0] == 0 and passes[0] == 4
    clear_fields()


def test_graph_memory_is_a_flag_and_an_argument(stream):
    start, out = cg.full(2, 5, cg.i32), cg.zeros(2, cg.i32)
    passes = cg.zeros(1, cg.i32)
    g = cg.GraphDef()
    m = g.alloc(shape=2, dtype=cg.i32)
    first = m.memcpy(m, start).while_loop(m[:1])
    first.body.call(count_down, m, passes)
    second = first.while_loop(lambda left: left[0] > -3, args=(m,))
    second.body.call(count_down, m, passes)
    second.memcpy(out, m).free(m)
    assert not g.check()
    run(g, stream, times=2)
    assert out.to_numpy().tolist() == [-3, 5] and passes[0] == 2 * 8


def test_an_array_parameter_is_a_flag_that_a_launch_changes(stream):
    one, two = cg.full((), 3, cg.i32), cg.full((), 6, cg.i32)
    passes = cg.zeros(1, cg.i32)

    @cg.kernel
    def lower(flag: cg.types.ndarray(cg.i32, ndim=0), passes: I1):
        flag[()] -= 1
        passes[0] += 1

    g = cg.GraphDef()
    flag = g.param("flag", cg.types.ndarray(cg.i32, ndim=0), default=one)
    g.while_loop(flag).body.call(lower, flag, passes)
    graph = run(g, stream)
    assert (one[()], two[()], passes[0]) == (0, 6, 3)
    graph.launch(stream, flag=two)
    stream.sync()
    assert (one[()], two[()], passes[0]) == (0, 0, 9)


# ---- predicates


PREDICATES = {
    "a func": lambda x, tol: {"condition": above, "args": (x, tol)},
    "a function": lambda x, tol: {"condition": plain, "args": (x, tol)},
    "a lambda": lambda x, tol: {"condition": lambda x, tol: x[0] > tol, "args": (x, tol)},
    "a lambda that captures": lambda x, tol: {"condition": lambda: x[0] > tol},
    "a lambda that captures one": lambda x, tol: {"condition": lambda tol: x[0] > tol, "args": [tol]},
    "members of an object": lambda x, tol: members(SimpleNamespace(state=SimpleNamespace(x=x), tol=tol)),
}


def members(solver):
    return {"condition": lambda: solver.state.x[0] > solver.tol and solver.state.x.shape[0] == 2}


@pytest.mark.parametrize("do", [False, True])
@pytest.mark.parametrize("tol", [0.25, 100.0])
@pytest.mark.parametrize("make", PREDICATES.values(), ids=PREDICATES)
def test_a_predicate_repeats_the_body_as_in_python(stream, make, tol, do):
    start = (3.0, 50.0)
    x = cg.array(start, cg.f32)
    g = cg.GraphDef()
    g.while_loop(**make(x, tol), do=do).body.call(halve, x)
    run(g, stream)
    np.testing.assert_array_equal(x.to_numpy(), halved(start, tol, do))


@pytest.mark.parametrize("kind", ["if_then", "if_else", "switch"])
@pytest.mark.parametrize("value", [-1, 0, 1, 2])
def test_a_predicate_selects_a_body(stream, kind, value):
    n, out = cg.full(1, value, cg.i32), cg.zeros(1, cg.i32)
    g = cg.GraphDef()
    node = getattr(g, kind)(lambda n: n[0] + 1, *[3] * (kind == "switch"), args=(n,))
    for number, body in enumerate(node.branches):
        body.call(add, out, 0, 10 + number)
    run(g, stream)
    state = value + 1
    taken = {
        "if_then": 0 if state else None,
        "if_else": 0 if state else 1,
        "switch": state if state < 3 else None,
    }
    assert out[0] == (0 if taken[kind] is None else 10 + taken[kind])


def test_a_predicate_may_have_loops_and_statements(stream):
    @cg.func
    def any_above(x, tol):
        largest = 0.0
        for i in range(x.shape[0]):
            largest = max(largest, x[i])
        for i in range(2):
            largest = largest - 0.5 * i
        return largest > tol

    x = cg.array([3.0, 50.0, 1.0], cg.f32)
    g = cg.GraphDef()
    g.while_loop(any_above, args=(x, 1)).body.call(halve, x)
    assert count_nodes(g) == 4
    run(g, stream)
    assert x[1] == 0.78125


def test_a_parameter_changes_a_predicate(stream):
    x = cg.array([64.0], cg.f32)
    g = cg.GraphDef()
    tol = g.param("tol", cg.f32, default=8.0)
    loop = g.while_loop(lambda x, tol: x[0] > tol, args=(x, tol))
    loop.body.call(halve, x)
    loop.if_then(lambda: tol < 1).then.call(halve, x)
    graph = run(g, stream)
    assert x[0] == 8
    graph.launch(stream, tol=0.5)
    stream.sync()
    assert x[0] == 0.25


@pytest.mark.parametrize(
    "number", [7, 2.5, True, np.int8(3), np.float32(0.1), np.uint64(2**63 + 1), 2**62 + 1], ids=repr
)
def test_numbers_keep_their_values(stream, number):
    same, out = cg.zeros(1, np.dtype(type(number))), cg.zeros(1, cg.i32)
    same.from_numpy(np.array([number]))
    g = cg.GraphDef()
    g.if_then(lambda x, n: x[0] == n, args=(same, number)).then.call(add, out, 0, 1)
    run(g, stream)
    assert out[0] == 1


def test_values_that_a_predicate_captures_are_those_of_the_call(stream):
    x, other, limit = cg.array([9.0], cg.f32), cg.array([0.0], cg.f32), 4.0
    g = cg.GraphDef()
    loop = g.while_loop(lambda: x[0] > limit)
    loop.body.call(halve, x)
    first, x, limit = x, other, 100.0
    run(g, stream)
    assert first[0] == 2.25 and x[0] == 0


def test_a_predicate_reads_globals_and_calls_functions(stream):
    passes, left = cg.zeros(1, cg.i32), cg.full(1, 9, cg.i32)

    @cg.func
    def twice(x):
        return 2 * x

    g = cg.GraphDef()
    g.while_loop(lambda: twice(passes[0]) < LIMIT + abs(-2) and min(left[0], 1) > 0).body.call(
        count_down, left, passes
    )
    run(g, stream)
    assert passes[0] == 3


def count_below(limit, x=None):
    """A predicate that captures an array and a number, and one that takes them."""
    x = cg.zeros(1, cg.i32) if x is None else x
    return x, lambda: x[0] < limit and abs(x[0]) >= 0, lambda x, n: x[0] < n


def test_equal_predicates_share_their_kernels(stream, driver_table):
    def build(limit):
        x, captures, takes = count_below(limit)
        g = cg.GraphDef()
        loop = g.while_loop(captures, name="loop", max_iterations=100)
        loop.body.call(add, x, 0, 1)
        loop.while_loop(takes, args=(x, 2 * limit)).body.call(add, x, 0, 1)
        return x, g

    build(5)
    loads = driver_table.watch("cuLibraryLoadData", "cuModuleLoadDataEx")
    graphs = [build(5) for _ in range(3)]
    assert not loads
    build(6)
    assert loads, "another constant has its own code"
    driver_table.restore()
    for x, g in graphs:
        run(g, stream)
        assert x[0] == 10


class Number(int):
    def __repr__(self):
        return "a number"


NUMBERS = (
    Number(1),
    Number(3),
    1,
    1.0,
    True,
    np.float32(1),
    np.int8(1),
    0.0,
    -0.0,
    0.1,
    np.float32(0.1),
    3,
    3.0,
    math.nan,
)
USES_OF_A_NUMBER = {
    "sign": lambda n: lambda: 1.0 / n < 0,
    "type": lambda n: lambda: n / 2 * 2 > n // 2 * 2,
    "size": lambda n: lambda: n + n > 2.5,
    "default": lambda n: lambda y=n: y > 0.5 - y,
}


@pytest.mark.parametrize("use", USES_OF_A_NUMBER.values(), ids=USES_OF_A_NUMBER)
def test_shared_kernels_change_no_result(stream, use):
    def results(before_each):
        for number in NUMBERS:
            before_each()
            out = cg.zeros(1, cg.i32)
            g = cg.GraphDef()
            g.if_then(use(number)).then.call(add, out, 0, 1)
            run(g, stream)
            yield out[0]

    own = list(results(shared_kernel.cache_clear))
    assert set(own) == {0, 1}
    for _ in range(2):
        assert list(results(lambda: None)) == own


def test_a_function_that_predicates_call_has_its_names_of_the_time_of_each_call(stream):
    scale = 1

    @cg.func
    def scaled(x):
        return scale * x

    def make(x):
        g = cg.GraphDef()
        g.while_loop(lambda: scaled(x[0]) < 12).body.call(add, x, 0, 1)
        return g

    arrays, graphs = [cg.zeros(1, cg.i32) for _ in range(3)], []
    for scale, x in zip((1, 2, 3), arrays):  # noqa: B007 - `scaled` reads it
        graphs.append(make(x))
    for graph, x, last in zip(graphs, arrays, (12, 6, 4)):
        run(graph, stream)
        assert x[0] == last


def test_kernels_call_lambdas(stream):
    n = cg.zeros(2, cg.i32)
    twice, thrice = cg.func(lambda x: 2 * x), cg.func(lambda x: 3 * x)

    @cg.kernel
    def fill(n: I1):
        n[0], n[1] = twice(5), thrice(5)

    fill(n, stream=stream)
    stream.sync()
    assert n.to_numpy().tolist() == [10, 15]


def test_a_graph_does_not_keep_itself_alive(device):
    def build():
        g = cg.GraphDef()
        m = g.alloc(shape=1, dtype=cg.f32)
        loop = m.while_loop(lambda: m[0] > 1, do=True)
        loop.body.call(halve, m)
        loop.if_then(lambda x: x[0] > 1, args=(m[:],))
        loop.free(m)
        return weakref.ref(m)

    node = build()
    gc.collect()
    assert node() is None


# ---- the place of the test in a body


def test_the_test_comes_after_all_nodes_of_the_body(stream):
    x, n, out = cg.ones(1, cg.i32), cg.zeros(3, cg.i32), cg.zeros(1, cg.i32)
    g = cg.GraphDef()
    loop = g.while_loop(lambda n: n[0] + n[1] + n[2] < 9, args=(n,))
    test = loop.body._loop_test()
    assert loop.body.nodes() == {test}
    left, right = (loop.body.call(add, n[i : i + 1], 0, 1) for i in range(2))
    last = left.join(right).call(affine, x, 3, 1).call(add, n, 2, 1)
    assert test.pred == {last}
    beside = loop.body.call(add, out, 0, 1)
    assert test.pred == {last, beside} == {before for before, after in loop.body.edges() if after is test}
    assert not g.check()
    run(g, stream)
    assert n.to_numpy().tolist() == [3, 3, 3] and x[0] == 40 and out[0] == 3


def test_nodes_that_are_added_later_come_before_the_test_too(stream):
    n, out = cg.zeros(2, cg.i32), cg.zeros(1, cg.i32)
    g = cg.GraphDef()
    loop = g.while_loop(lambda n: n[0] < 5, args=(n,))
    first = loop.body.call(add, n, 0, 1)
    run(g, stream)
    loop.body.call(add, out, 0, 1)
    first.call(add, n, 1, 1).call(add, n, 1, 1)
    test = loop.body._loop_test()
    after = test.call(add, out, 0, 100)
    assert after not in test.pred and after in test.succ
    n.fill(0)
    run(g, stream)
    assert n.to_numpy().tolist() == [5, 10] and out[0] == 505


LOOKS = {
    "nodes": lambda g, body: body.nodes(),
    "edges": lambda g, body: body.edges(),
    "succ": lambda g, body: next(iter(body.nodes())).succ,
    "check": lambda g, body: g.check(),
    "handle": lambda g, body: g.handle,
    "handle of the body": lambda g, body: body.handle,
    "debug_dot_print": lambda g, body: g.debug_dot_print("/dev/null"),
    "instantiate": lambda g, body: g.instantiate(),
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_the_edges_to_the_test_are_there_when_someone_looks(device, driver_table, look):
    n = cg.zeros(3, cg.i32)
    g = cg.GraphDef()
    body = g.while_loop(n[:1]).body
    for i in range(3):
        body.call(add, n, i, 1)
    ask = driver_table.original("cuGraphNodeGetDependencies")

    def edges_of(raw):
        count = ctypes.c_size_t(0)
        assert ask(raw, None, None, ctypes.addressof(count), *[None] * 4) == 0
        return count.value

    test = body._loop_test()._raw()
    assert edges_of(test) == 0
    look(g, body)
    assert edges_of(test) == 3


def test_the_graph_keeps_the_arrays_of_flags_and_predicates(stream):
    def pointers():
        return boxes.live()["pointer"]

    def build():
        flag, x, limit = cg.ones(1, cg.i32), cg.ones(1, cg.f32), cg.zeros(1, cg.f32)
        g = cg.GraphDef()
        g.if_then(flag)
        g.if_then(lambda x: x[0] > limit[0], args=(x,))
        return g.instantiate()

    first = build()  # has the stop word that all conditions of the context share
    before = pointers()
    graph = build()
    graph.launch(stream)
    stream.sync()
    gc.collect()
    boxes.drain()
    assert pointers() == before + 3
    del graph
    assert wait_until(lambda: pointers() == before)
    del first
    assert wait_until(lambda: pointers() <= before - 3)


def test_a_test_can_be_destroyed_and_replaced(stream):
    n = cg.zeros(2, cg.i32)

    @cg.kernel
    def again(c: cg.Condition, n: I1):
        cg.set_condition(c, n[0] < 3)

    g = cg.GraphDef()
    loop = g.while_loop(lambda n: n[0] < 5, args=(n,))
    step = loop.body.call(add, n, 0, 1)
    loop.body._loop_test().destroy()
    assert loop.body.nodes() == {step} and loop.body._loop_test() is None
    assert [each.kind for each in g.check()] == ["unset_loop"]
    step.call(again, loop.condition, n)
    assert not g.check()
    run(g, stream)
    assert n[0] == 3


@pytest.mark.parametrize("do", [False, True])
def test_conditions_of_inner_loops_are_set_before_each_pass(stream, do):
    n, log = cg.zeros(2, cg.i32), cg.zeros(1, cg.i32)
    g = cg.GraphDef()
    outer = g.while_loop(lambda n: n[0] < 4, args=(n,), do=do)
    inner = outer.body.call(put, n, 1, 0).while_loop(lambda n: n[1] < n[0], args=(n,), do=do)
    inner.body.call(add, n, 1, 1).call(affine, log, 2, 1)
    inner.call(add, n, 0, 1)
    run(g, stream)
    expected = 0
    for i in range(4):
        for _ in range(max(i, do)):
            expected = 2 * expected + 1
    assert log[0] == expected


def test_an_if_in_a_loop_decides_in_each_iteration(stream):
    n, out = cg.zeros(1, cg.i32), cg.zeros(1, cg.i32)
    g = cg.GraphDef()
    body = g.while_loop(lambda n: n[0] < 10, args=(n,)).body
    body.if_then(lambda n: n[0] % 3 == 0, args=(n,)).then.call(add, out, 0, 1)
    step = body.call(add, n, 0, 1)
    step.pred = {node for node in body.nodes() if isinstance(node, cg.IfNode)}
    run(g, stream)
    assert out[0] == 4


def test_task_flows_order_the_nodes_of_flags_and_predicates(stream):
    x, n = cg.ones(1, cg.i32), cg.zeros(2, cg.i32)
    g = cg.GraphDef()
    with g.task_flow() as tf:
        tf.call(put, n, 0, 2)
        loop = tf.while_loop(lambda n: n[0] < 6, args=(n,))
        with loop.body.task_flow() as inside:
            inside.call(add, n, 0, 1)
            inside.call(affine, x, 2, 1)
            inside.call(put, n, 1, 1)
        choice = tf.if_then(n[1:])
        choice.then.call(affine, x, 3, 0)
        tf.call(affine, x, 5, 0)
    assert not g.check()
    run(g, stream)
    assert n[0] == 6 and x[0] == (2**4 + 2**4 - 1) * 15


def test_memory_that_a_task_flow_has_freed_is_refused_as_a_flag(device):
    g = cg.GraphDef()
    with g.task_flow() as tf:
        m = tf.alloc(shape=1, dtype=cg.i32)
        tf.memset(m, 1)
        tf.free(m)
        nodes = g.nodes()
        with pytest.raises(ValueError, match="has freed the memory"):
            tf.while_loop(m)
        assert g.nodes() == nodes and not g._conditions()


def test_updates_take_the_test_of_another_definition(stream):
    def definition(limit):
        g = cg.GraphDef()
        loop = g.while_loop(lambda n, limit: n[0] < limit, args=(n, limit))
        loop.body.call(add, n, 0, 1)
        loop.body.call(add, n, 1, 2)
        return g

    n = cg.zeros(2, cg.i32)
    first, second = definition(3), definition(8)
    graph = run(first, stream)
    assert n[0] == 3
    graph.update(second)
    graph.launch(stream)
    stream.sync()
    assert n.to_numpy().tolist() == [8, 16]


def test_the_check_finds_loops_without_work(device):
    n = cg.zeros(1, cg.i32)
    g = cg.GraphDef()
    loop = g.while_loop(n)
    assert [each.kind for each in g.check()] == ["empty_body"]
    loop.body.call(add, n, 0, 1)
    assert not g.check()


def test_names_and_lines_are_those_of_the_call(device):
    n = cg.zeros(1, cg.i32)
    g = cg.GraphDef()
    loop = g.while_loop(above, args=(n, 3), name="converge")
    (first,) = loop.pred
    assert loop.name == "converge" and "above" in first.name
    assert first.source == loop.source == loop.body._loop_test().source
    assert loop.source.startswith(__file__)


def test_arguments_of_tests_are_read_back_and_changed(stream):
    n, x = cg.zeros(1, cg.i32), cg.zeros(1, cg.i32)
    g = cg.GraphDef()
    choice = g.if_then(lambda n, limit: n[0] < limit, args=(n, 0))
    choice.then.call(add, x, 0, 1)
    (test,) = choice.pred
    assert test.args == (choice.condition, n, 0)
    test.update(args=(choice.condition, n, 2))
    run(g, stream)
    assert x[0] == 1


# ---- refusals


def definition_and_arrays():
    g = cg.GraphDef()
    freed = g.alloc(shape=1, dtype=cg.i32)
    end = freed.memset(freed, 0).free(freed)
    return SimpleNamespace(g=g, freed=freed, end=end, place=end, n=cg.zeros(4, cg.i32), x=cg.zeros(1, cg.f32))


NUMPY = np.zeros(1, "i4")
ALWAYS = {"condition": lambda: True}


class Sim:
    @cg.func
    def is_above(self, x):
        return x[0] > 0


REFUSED = {
    "an int": (
        lambda s: {"condition": 1},
        TypeError,
        r"got 1 \(int\): pass a flag, .*flags\[3:4\].*predicate",
    ),
    "a bool": (lambda s: {"condition": True}, TypeError, "pass a flag"),
    "a number of NumPy": (lambda s: {"condition": np.int32(3)}, TypeError, "pass a flag"),
    "an element": (lambda s: {"condition": s.n[2]}, TypeError, "pass a flag"),
    "None": (lambda s: {"condition": None}, TypeError, "pass a flag"),
    "a text": (lambda s: {"condition": "n > 0"}, TypeError, "pass a flag"),
    "two elements": (lambda s: {"condition": s.n[:2]}, ValueError, r"one element, .*shape \(2,\)"),
    "no elements": (lambda s: {"condition": s.n[:0]}, ValueError, r"one element, .*shape \(0,\)"),
    "floats": (lambda s: {"condition": s.x}, TypeError, "of i32, u32 or bool, .*<f4"),
    "pageable memory": (lambda s: {"condition": NUMPY}, ValueError, "cannot access"),
    "a captured pageable array": (lambda s: {"condition": lambda: NUMPY[0] > 0}, ValueError, "cannot access"),
    "freed memory": (lambda s: {"condition": s.freed}, ValueError, "frees it before"),
    "captured freed memory": (lambda s: {"condition": lambda: s.freed[0]}, ValueError, "frees it before"),
    "a number parameter": (lambda s: {"condition": s.g.param("n", cg.i32)}, TypeError, "pass a flag"),
    "a 1-d parameter": (lambda s: {"condition": s.g.param("n", I1)}, TypeError, "cg.Array0"),
    "a parameter of another graph": (
        lambda s: {"condition": lambda n: n > 0, "args": (cg.GraphDef().param("n", cg.i32),)},
        ValueError,
        "another definition",
    ),
    "args of a flag": (lambda s: {"condition": s.n[:1], "args": (1,)}, TypeError, "args are for a predicate"),
    "args of a condition": (
        lambda s: {"condition": cg.GraphDef().create_condition(), "args": (1,)},
        TypeError,
        "args are for a predicate",
    ),
    "args that are no tuple": (
        lambda s: {"condition": above, "args": s.n},
        TypeError,
        "args must be a tuple",
    ),
    "too few args": (lambda s: {"condition": above, "args": (s.n,)}, TypeError, r"above\(\).*tol"),
    "too many args": (lambda s: {"condition": above, "args": (s.n, 1, 2)}, TypeError, r"above\(\)"),
    "an argument of a wrong type": (
        lambda s: {"condition": above, "args": (s.n, "1")},
        TypeError,
        "argument 1",
    ),
    "a type": (lambda s: {"condition": above, "args": (s.n, cg.vec3)}, TypeError, "argument 1"),
    "a condition among the args": (
        lambda s: {"condition": above, "args": (s.n, cg.GraphDef().create_condition())},
        TypeError,
        "argument 1",
    ),
    "a pointer parameter": (
        lambda s: {"condition": above, "args": (s.g.param("p", cg.pointer), 1)},
        TypeError,
        "argument 0",
    ),
    "a kernel": (lambda s: {"condition": add, "args": (s.n, 1, 1)}, TypeError, "which is a lambda"),
    "a method": (
        lambda s: {"condition": Sim().is_above, "args": (s.n,)},
        TypeError,
        r"the method is_above\(\)",
    ),
    "a builtin": (lambda s: {"condition": len, "args": (s.n,)}, TypeError, "which is a lambda"),
    "a float": (
        lambda s: {"condition": lambda x: x[0], "args": (s.x,)},
        cg.CompileTypeError,
        "compare it.*int",
    ),
    "what the language lacks": (
        lambda s: {"condition": lambda: [n + 1 for n in (1, 2)]},
        cg.CompileError,
        "Remedy",
    ),
    "an unknown name": (lambda s: {"condition": lambda: missing > 0}, cg.CompileNameError, "missing"),  # noqa: F821
    "a name": (lambda s: {**ALWAYS, "name": 3}, TypeError, "name must be a str"),
}


@pytest.mark.parametrize("kind", ["if_then", "if_else", "while_loop", "switch"])
@pytest.mark.parametrize(("make", "error", "text"), REFUSED.values(), ids=REFUSED)
def test_a_refusal_leaves_nothing_behind(stream, kind, make, error, text):
    s = definition_and_arrays()
    given = make(s)
    nodes, conditions = s.g.nodes(), s.g._conditions()
    with pytest.raises(error, match=text):
        getattr(s.place, kind)(**given, **({"count": 2} if kind == "switch" else {}))
    assert s.g.nodes() == nodes and s.g._conditions() == conditions == []
    run(s.g, stream)


def test_a_predicate_may_have_names_that_the_kernel_uses(stream):
    condition, counter, limit = cg.array([9.0], cg.f32), cg.array([1.0], cg.f32), cg.array([2.0], cg.f32)
    place = SimpleNamespace(limit=limit)
    g = cg.GraphDef()
    loop = g.while_loop(
        lambda predicate, arg_1=None: predicate[0] > counter[0] * limit[0] * place.limit[0],
        args=(condition, 3),
        max_iterations=9,
    )
    loop.body.call(halve, condition)
    run(g, stream)
    assert condition[0] == 2.25


MISTAKES = {
    "a captured array": (lambda s: {"condition": lambda: s.n[0, 1] > 0}, "'s_n' has 1 dimension"),
    "an argument": (
        lambda s: {"condition": lambda tol: tol[0, 1] > 0, "args": (s.n,)},
        "'tol' has 1 dimension",
    ),
    "a reserved name": (
        lambda s: {"condition": lambda limit: limit[0, 1] > 0, "args": (s.n,)},
        "'limit_' has 1",
    ),
}


@pytest.mark.parametrize(("make", "text"), MISTAKES.values(), ids=MISTAKES)
def test_errors_of_predicates_show_their_lines_and_names_alone(stream, make, text):
    s = definition_and_arrays()
    with pytest.raises(cg.CompileIndexError, match=text) as caught:
        s.place.while_loop(**make(s))
    assert str(caught.value).count("File ") == 1 and "test_condition_tests.py" in str(caught.value)


def test_a_switch_on_a_flag_without_branches_is_refused(device):
    g, n = cg.GraphDef(), cg.zeros(1, cg.i32)
    with pytest.raises(cg.CUDAError, match="INVALID_VALUE") as caught:
        g.switch(n, 0)
    assert caught.value.remedy == "Pass a count of 1 or more."
    assert not g.nodes() and not g._conditions()


def test_do_is_for_loops_on_flags_and_predicates(device):
    g = cg.GraphDef()
    with pytest.raises(ValueError, match="default_value=1"):
        g.while_loop(g.create_condition(), do=True)
    with pytest.raises(TypeError, match="do must be True or False"):
        g.while_loop(lambda: True, do="yes")
    assert not g.nodes()


def test_a_failure_of_the_driver_takes_back_the_nodes(device, driver_table):
    n = cg.zeros(1, cg.i32)
    g = cg.GraphDef()
    kinds = "cuGraphAddNode", "cuGraphAddKernelNode"
    originals = {kind: driver_table.original(kind) for kind in kinds}
    for failing in range(3):  # the first test, the loop, the test in its body
        calls = []

        def add_node(kind, *args, calls=calls, failing=failing):
            calls.append(args)
            return 2 if len(calls) == failing + 1 else originals[kind](*args)

        for kind in kinds:
            driver_table.replace(kind, partial(add_node, kind))
        with pytest.raises(cg.CUDAError):
            g.while_loop(n)
        for kind in kinds:
            driver_table.replace(kind, originals[kind])
        assert len(calls) == failing + 1 and not g.nodes()


# ---- captures


@pytest.mark.parametrize("do", [False, True])
@pytest.mark.parametrize("start", [0, 1, 3])
def test_captured_loops_on_flags_and_predicates_run_as_in_python(stream, start, do):
    left, passes = cg.full(1, start or int(do), cg.i32), cg.zeros(1, cg.i32)
    x = cg.array([8.0 * start], cg.f32)
    with cg.capture() as builder:
        with builder.while_loop(left, do=do):
            count_down(left, passes)
        with builder.while_loop(lambda: x[0] > 1, do=do, name="halving") as body:
            halve(x, stream=body)
    builder.complete().launch(stream)
    stream.sync()
    assert passes[0] == max(start, do)
    np.testing.assert_array_equal(x.to_numpy(), halved([8.0 * start], 1, do))
    assert {node.name for node in builder.graph_definition.nodes()} >= {"halving"}


@pytest.mark.parametrize("value", [-1, 0, 1, 2])
def test_captured_branches_on_flags_and_predicates_run_as_in_python(device, stream, value):
    n, out = cg.full(1, value, cg.i32), cg.zeros(4, cg.i32)
    with device.create_graph_builder() as builder:
        with builder.if_then(n):
            add(out, 0, 1)
        then, other = builder.if_else(lambda n: n[0] > 0, args=(n,))
        with then:
            add(out, 1, 1)
        with other:
            add(out, 1, 2)
        for number, body in enumerate(builder.switch(lambda n, by: n[0] + by, 3, args=(n, 1))):
            with body:
                add(out, 2, 10 + number)
    builder.complete().launch(stream)
    stream.sync()
    assert out.to_numpy().tolist() == [value != 0, 1 if value > 0 else 2, 11 + value if value < 2 else 0, 0]


@pytest.mark.parametrize("do", [False, True])
def test_conditions_of_captured_inner_loops_are_set_before_each_pass(stream, do):
    n, log = cg.zeros(2, cg.i32), cg.zeros(1, cg.i32)
    with cg.capture() as builder, builder.while_loop(lambda: n[0] < 3) as outer:
        put(n, 1, 0)
        with outer.while_loop(lambda: n[1] < n[0], do=do):
            add(n, 1, 1)
            affine(log, 2, 1)
        add(n, 0, 1)
    builder.complete().launch(stream)
    stream.sync()
    passes = 1 + 1 + 2 if do else 1 + 2
    assert log[0] == 2**passes - 1


def test_parameters_of_captures_change_predicates_and_flags(stream):
    x = cg.array([64.0], cg.f32)
    with cg.capture() as builder:
        tol = builder.param("tol", cg.f32, default=8.0)
        with builder.while_loop(lambda x, tol: x[0] > tol, args=(x, tol)):
            halve(x)
    graph = builder.complete()
    graph.launch(stream)
    stream.sync()
    assert x[0] == 8
    graph.launch(stream, tol=0.5)
    stream.sync()
    assert x[0] == 0.5


def test_work_of_forked_streams_comes_before_the_test(device, stream):
    n, out = cg.zeros(1, cg.i32), cg.zeros(2, cg.i32)
    with device.create_graph_builder() as builder, builder.while_loop(lambda n: n[0] < 5, args=(n,)) as body:
        left, right = body.split(2)
        add(n, 0, 1, stream=left)
        add(out, 0, 1, stream=right)
        cg.GraphBuilder.join(left, right)
    definition = builder.graph_definition
    (loop,) = [node for node in definition.nodes() if isinstance(node, cg.WhileNode)]
    assert not definition.check() and len(loop.body._loop_test().pred) == 2
    builder.complete().launch(stream)
    stream.sync()
    assert n[0] == 5 and out[0] == 5


def test_explicit_nodes_fill_the_body_of_a_captured_loop(stream):
    n = cg.zeros(2, cg.i32)
    with cg.capture() as builder:
        body = builder.while_loop(lambda: n[0] < 5)
        body.graph_definition.call(add, n, 0, 1)
    graph = builder.complete()
    graph.launch(stream)
    stream.sync()
    assert n[0] == 5


@pytest.mark.parametrize("kind", ["if_then", "if_else", "while_loop", "switch"])
@pytest.mark.parametrize(
    "which", ["an int", "two elements", "pageable memory", "too few args", "a float", "a name"]
)
def test_a_refusal_leaves_a_capture_as_it_was(stream, kind, which):
    make, error, text = REFUSED[which]
    n = cg.zeros(4, cg.i32)
    with cg.capture() as builder:
        add(n, 0, 1)
        with pytest.raises(error, match=text):
            getattr(builder, kind)(
                **make(SimpleNamespace(n=n, x=cg.zeros(1, cg.f32))),
                **({"count": 2} if kind == "switch" else {}),
            )
    kinds = [type(node) for node in builder.graph_definition.nodes()]
    assert kinds.count(cg.KernelNode) == 1 and cg.WhileNode not in kinds
    assert not builder.graph_definition._conditions()
    builder.complete().launch(stream)
    stream.sync()
    assert n[0] == 1


# ---- one program, three ways

F2 = cg.types.ndarray(cg.f32, ndim=2)


@cg.kernel
def relax(u: F2, v: F2, change: F0):
    change[()] = 0.0
    for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        cg.atomic_max(change[()], abs(v[i, j] - u[i, j]))
    for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
        u[i, j] = v[i, j]


@cg.kernel(graph=True, loop="conditional")
def solve_after(u: F2, v: F2, change: F0, go: cg.types.ndarray(cg.i32, ndim=0), tol: cg.f32):
    while cg.graph_do_while(go):
        change[()] = 0.0
        for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            cg.atomic_max(change[()], abs(v[i, j] - u[i, j]))
        for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            u[i, j] = v[i, j]
        go[()] = 1 if change[()] > tol else 0


@cg.kernel(graph=True, loop="conditional")
def solve_before(u: F2, v: F2, change: F0, go: cg.types.ndarray(cg.i32, ndim=0), tol: cg.f32):
    while cg.graph_while(change[()] > tol):
        change[()] = 0.0
        for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            cg.atomic_max(change[()], abs(v[i, j] - u[i, j]))
        for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
            u[i, j] = v[i, j]


def count_nodes(graph):
    return sum(1 + sum(map(count_nodes, node._inner_graphs())) for node in graph.nodes())


def relaxed(field, tol):
    """The result in NumPy."""
    u, change = field.copy(), np.float32(np.inf)
    while change > tol:
        v = np.float32(0.25) * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        change = np.abs(v - u[1:-1, 1:-1]).max()
        u[1:-1, 1:-1] = v
    return u


@pytest.mark.parametrize("do", [False, True])
def test_three_ways_to_write_a_program_give_equal_results_and_node_counts(stream, do):
    field, tol = np.zeros((12, 12), "f"), 1e-3
    field[0] = 1.0
    results, counts = [], []

    def arrays():
        return cg.array(field), cg.zeros((12, 12), cg.f32), cg.full((), 1.0, cg.f32)

    u, v, change = arrays()
    g = cg.GraphDef()
    loop = g.while_loop(lambda change, tol: change[()] > tol, args=(change, g.param("tol", cg.f32)), do=do)
    loop.body.call(relax, u, v, change)
    run(g, stream, tol=tol)
    results.append(u.to_numpy())
    counts.append(count_nodes(g))

    u, v, change = arrays()
    with cg.capture() as builder:
        limit = builder.param("tol", cg.f32)
        with builder.while_loop(lambda: change[()] > limit, do=do):
            relax(u, v, change)
    builder.complete().launch(stream, tol=tol)
    stream.sync()
    results.append(u.to_numpy())
    counts.append(count_nodes(builder.graph_definition))

    u, v, change = arrays()
    solve = solve_after if do else solve_before
    solve(u, v, change, cg.zeros((), cg.i32), tol, stream=stream)
    results.append(u.to_numpy())
    counts.append(solve.graph_stats.nodes)

    for each in results:
        np.testing.assert_array_equal(each, results[0])
    np.testing.assert_allclose(results[0], relaxed(field, tol), rtol=1e-5)
    assert counts[0] == counts[1] and max(counts) - min(counts) <= 1, counts


@cg.kernel
def grow(x: F1, n: I1):
    for i in x:
        x[i] = 3 * x[i] + 1
        if i == 0:
            n[0], n[1] = n[0] + 1, 0


@cg.kernel
def shrink(x: F1, n: I1):
    for i in x:
        x[i] = 0.5 * x[i] + 1
        if i == 0:
            n[1] += 1


@cg.kernel(graph=True, loop="conditional")
def grow_and_shrink(x: F1, n: I1):
    while cg.graph_while(n[0] < 4):
        for i in x:
            x[i] = 3 * x[i] + 1
            if i == 0:
                n[0], n[1] = n[0] + 1, 0
        while cg.graph_while(n[1] < n[0]):
            for i in x:
                x[i] = 0.5 * x[i] + 1
                if i == 0:
                    n[1] += 1


def test_three_ways_to_write_a_loop_in_a_loop_give_equal_results_and_node_counts(stream):
    results, counts = [], []

    def arrays():
        return cg.array([1.0, 2.0, 3.0], cg.f32), cg.zeros(2, cg.i32)

    x, n = arrays()
    g = cg.GraphDef()
    body = g.while_loop(lambda n: n[0] < 4, args=(n,)).body
    body.call(grow, x, n).while_loop(lambda n: n[1] < n[0], args=(n,)).body.call(shrink, x, n)
    run(g, stream)
    results.append(x.to_numpy())
    counts.append(count_nodes(g))

    x, n = arrays()
    with cg.capture() as builder, builder.while_loop(lambda: n[0] < 4) as outer:
        grow(x, n)
        with outer.while_loop(lambda: n[1] < n[0]):
            shrink(x, n)
    builder.complete().launch(stream)
    stream.sync()
    results.append(x.to_numpy())
    counts.append(count_nodes(builder.graph_definition))

    x, n = arrays()
    grow_and_shrink(x, n, stream=stream)
    results.append(x.to_numpy())
    counts.append(grow_and_shrink.graph_stats.nodes)

    wanted = np.array([1, 2, 3], "f")
    for i in range(4):
        wanted = 3 * wanted + 1
        for _ in range(i + 1):
            wanted = np.float32(0.5) * wanted + 1
    for each in results:
        np.testing.assert_array_equal(each, wanted)
    assert counts[0] == counts[1] and max(counts) - min(counts) <= 1, counts
