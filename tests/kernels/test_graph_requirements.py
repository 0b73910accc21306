# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Requirements of graph kernels, a law each: which kernels are graphs, and which arguments they have.
test_graph_loops.py has the requirements of loops, test_graph_fallbacks.py the others. graph_kernel_laws.py lists all of
them.
"""

import dataclasses
import gc

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs import testing
from cuda_graphs.core.resources import boxes
from tests.kernels.graph_kernels import array, counted, counters, f32_1d, i32_0d, i32_1d

f32_2d = cg.types.ndarray(cg.f32, ndim=2)


def steps(a: cg.f32, x: f32_1d, y: f32_1d):
    """Three tasks that do not commute."""
    for i in x:
        y[i] = y[i] * a + x[i]
    for i in y:
        x[i] = y[i] - x[i]
    for i in x:
        y[i] = y[i] * x[i]


def steps_in_numpy(a, x, y):
    y = y * np.float32(a) + x
    x = y - x
    return x, y * x


def small(n, seed):
    """Floats whose products and sums are exact."""
    return np.random.default_rng(seed).integers(-4, 5, n).astype("f4")


def host_only(driver):
    if driver.kind != "host":
        pytest.skip("only the host driver counts calls")


# Which kernels are graphs.


def test_a_kernel_is_a_graph_by_its_own_flag_only(driver):
    plain, graph = cg.kernel(steps), cg.kernel(steps, graph=True)
    x, y = array(np.ones(3)), array(np.ones(3))
    plain(2.0, x, y)
    with pytest.raises(AttributeError, match="is not a graph kernel"):
        plain.graph_stats  # noqa: B018
    graph(2.0, x, y)
    assert (plain.is_graph, graph.is_graph) == (False, True)
    if driver.kind == "host":
        with testing.calls() as made:
            plain(2.0, x, y)
            x.fill(0)
            x.copy_from(y)
        assert not any("Graph" in name for name in made)


def test_copies_for_a_call_are_no_part_of_its_graph():
    kernel = cg.kernel(steps, graph=True, chain="nodes", fuse=False)
    for _ in range(3):
        x, y = np.zeros((3, 2), "f4"), np.ones(3, "f4")
        kernel(2.0, x[:, 0], y)  # with gaps: packed, and brought back
        assert y.tolist() == [4] * 3
        assert x.tolist() == [[2, 0]] * 3
    found = kernel.graph_stats
    assert (found.graphs, found.builds, found.nodes, found.tasks) == (1, 1, 3, 3)


def test_each_loop_is_a_node_behind_the_one_before_it():
    kernel = cg.kernel(steps, graph=True, chain="nodes", fuse=False)
    definition = kernel.graph(1.0, array([1]), array([1]))
    (first,) = (node for node in definition.nodes() if not node.pred)
    chain = [first]
    while chain[-1].succ:
        (following,) = chain[-1].succ
        chain.append(following)
    assert [type(node) for node in chain] == [cg.KernelNode] * 3
    assert len(definition.nodes()) == 3
    kernel(1.0, array([1]), array([1]))
    assert (kernel.graph_stats.nodes, kernel.graph_stats.tasks) == (3, 3)


@pytest.mark.parametrize("tasks", [1, 2, 7])
def test_loops_of_a_kernel_are_one_graph_made_of_nodes(tasks, driver):
    @cg.kernel(graph=True, chain="nodes", fuse=False)
    def add(n: cg.template, x: f32_1d):
        for k in cg.static(range(n)):
            for i in x:
                x[i] = x[i] * 2 + k

    x, wanted = array(np.ones(5)), np.ones(5, "f4")
    for k in range(tasks):
        wanted = wanted * 2 + k
    if driver.kind == "host":
        with testing.calls() as made:
            add(tasks, x)
        assert (made["cuGraphInstantiateWithParams"], made["cuStreamBeginCapture"]) == (1, 0)
    else:
        add(tasks, x)
    np.testing.assert_array_equal(x.to_numpy(), wanted)
    assert (counters(add), add.graph_stats.nodes) == ((1, 1, False), tasks)


def test_the_first_call_builds_and_each_later_one_only_launches(driver, stream):
    """Nothing is set, made, copied or waited for"""
    host_only(driver)
    kernel, x, y = cg.kernel(steps, graph=True), array([1, 2]), array([1, 2])
    kernel(1.0, x, y)
    assert counters(kernel) == (1, 1, False)
    kernel(1.0, x, y)
    for own in (None, stream, stream, None):
        with testing.calls() as made:
            kernel(1.0, x, y, stream=own)
        assert made["cuGraphLaunch"] == 1
        others = ("SetParams", "Instantiate", "Alloc", "Memcpy", "Synchronize", "LaunchKernel")
        assert not [name for name in made if any(each in name for each in others)]
    assert counters(kernel) == (1, 1, True)


def test_a_call_looks_as_it_does_without_a_graph():
    for kernel in (cg.kernel(steps), cg.kernel(steps, graph=True)):
        for call in (
            lambda x, y: kernel(2.0, x, y),  # noqa: B023
            lambda x, y: kernel(y=y, a=2.0, x=x),  # noqa: B023
            lambda x, y: kernel(2.0, x, y=y),  # noqa: B023
        ):
            x, y = array([1, 2]), array([0, 1])
            assert call(x, y) is None
            assert (x.to_numpy().tolist(), y.to_numpy().tolist()) == ([0, 2], [0, 8])
        for wrong in ((2.0, x), (2.0, x, y, y), ("two", x, y), (2.0, 1, y), (2.0, array([1], cg.i32), y)):
            with pytest.raises((TypeError, ValueError)):
                kernel(*wrong)
        with pytest.raises(TypeError, match="has no parameter 'z'"):
            kernel(2.0, x, z=y)


def test_memory_of_a_graph_is_made_with_it_and_goes_with_it(driver):
    @cg.kernel(graph=True)
    def carried(x: i32_1d):
        total = 0
        for i in x:
            total += x[i]
        for i in x:
            x[i] = total

    x = array([1, 2, 3], cg.i32)
    before = boxes.live()
    carried(x)
    kept = boxes.live()
    assert kept != before
    if driver.kind == "host":
        with testing.calls() as made:
            carried(x)
        assert not any("Alloc" in name or "Free" in name for name in made)
    else:
        carried(x)
    assert x.to_numpy().tolist() == [18] * 3
    assert boxes.live() == kept
    carried.forget()
    cg.Device(0).sync()
    gc.collect()
    assert boxes.live() == before


def test_results_are_those_of_the_kernel_without_a_graph():
    plain, graph = cg.kernel(steps), cg.kernel(steps, graph=True)
    for number, size in enumerate((1, 2, 31, 1000, 4097)):
        given = small(size, number), small(size, number + 100)
        found = []
        for kernel in (plain, graph):
            x, y = map(array, given)
            kernel(number - 2, x, y)
            found.append((x.to_numpy(), y.to_numpy()))
        for left, right, wanted in zip(*found, steps_in_numpy(number - 2, *given)):
            np.testing.assert_array_equal(left, right)
            np.testing.assert_array_equal(left, wanted)
    assert counters(graph) == (1, 1, True)


# Arguments.


def test_other_arrays_are_used_and_those_of_before_are_left_alone():
    kernel = cg.kernel(steps, graph=True)
    kept = []
    for number in range(6):
        given = small(100, number), small(100, number + 50)
        kept.append((tuple(map(array, given)), steps_in_numpy(3, *given)))
        kernel(3, *kept[-1][0])
        assert counters(kernel) == (1, 1, number > 0)
    for (x, y), wanted in kept:
        np.testing.assert_array_equal(x.to_numpy(), wanted[0])
        np.testing.assert_array_equal(y.to_numpy(), wanted[1])


def test_arrays_of_one_type_are_one_graph_whoever_made_them():
    """Arrays of this package, of NumPy, contiguous or not, and of objects that only show their memory"""

    class Shows:
        def __init__(self, values):
            self.values, self.__array_interface__ = values, values.__array_interface__

    kernel = cg.kernel(steps, graph=True)
    for number in range(8):
        given = small(20, number), small(20, number + 50)
        wanted = steps_in_numpy(3, *given)
        make = (array, np.array, lambda values: np.repeat(values, 2)[::2], Shows)[number % 4]
        x, y = make(given[0].copy()), make(given[1].copy())
        kernel(3, x, y)
        for found, value in zip((x, y), wanted):
            found = found.to_numpy() if isinstance(found, cg.NDArray) else getattr(found, "values", found)
            np.testing.assert_array_equal(found, value)
        assert counters(kernel) == (1, 1, number > 0)


def test_arrays_of_other_types_and_dimensions_have_graphs_of_their_own():
    """The declaration leaves them open; a return to an earlier type builds nothing"""

    @cg.kernel(graph=True)
    def double(x: cg.types.NDArray):
        for index in cg.grouped(x):
            x[index] = x[index] * 2

    kinds = [(cg.f32, 3), (cg.i32, 3), (cg.f32, (2, 2)), (cg.f64, 3)]
    for calls in (1, 2):
        for number, (dtype, shape) in enumerate(kinds):
            x = cg.ndarray(dtype, shape)
            x.fill(number + 1)
            double(x)
            assert (x.to_numpy() == 2 * (number + 1)).all()
            assert double.graph_stats.replayed == (calls > 1)
    assert (double.graph_stats.graphs, double.graph_stats.builds) == (4, 4)


def test_no_size_of_an_earlier_call_stays():
    """Cases with two dimensions, of which one may grow, are among them"""

    @cg.kernel(graph=True)
    def fill(x: f32_2d, value: cg.f32):
        for i, j in cg.ndrange(x.shape[0], x.shape[1]):
            x[i, j] = value + 100 * i + j

    shapes = [(3, 2), (2, 3), (300, 2), (2, 300), (1, 1), (0, 5), (70, 80), (3, 2)]
    for number, shape in enumerate(shapes):
        x = cg.ndarray(cg.f32, shape) if all(shape) else np.zeros(shape, "f4")
        fill(x, number)
        i, j = np.indices(shape)
        np.testing.assert_array_equal(np.asarray(x), (number + 100 * i + j).astype("f4"))
    assert counters(fill) == (1, 1, True)


def test_numbers_may_be_others_in_each_call():
    """Numbers of every type, at the ends of its range"""
    types = (cg.i8, cg.i16, cg.i32, cg.i64, cg.u8, cg.u16, cg.u32, cg.u64)
    for dtype in types:

        def put(out, a, b):
            for i in range(1):
                out[i] = a
            out[1] = b

        put.__annotations__ = {"out": cg.types.ndarray(dtype, ndim=1), "a": dtype, "b": dtype}
        kernel, out = cg.kernel(put, graph=True), cg.ndarray(dtype, 2)
        for pair in ((dtype.minimum, dtype.maximum), (1, 0), (dtype.maximum, dtype.minimum), (7, 7)):
            kernel(out, *pair)
            assert out.to_numpy().tolist() == list(pair)
        assert counters(kernel) == (1, 1, True)

    @cg.kernel(graph=True)
    def put_floats(out: cg.types.ndarray(cg.f64, ndim=1), a: cg.f32, b: cg.f64, c: cg.bool):
        for i in range(1):
            out[i] = a
        out[1] = b
        out[2] = 1.0 if c else 0.0

    out = cg.ndarray(cg.f64, 3)
    for a, b, c in ((0.5, 1e300, True), (-1.5, -0.0, False), (3, 4, True)):
        put_floats(out, a, b, c)
        assert out.to_numpy().tolist() == [a, b, c]
    assert counters(put_floats) == (1, 1, True)


def test_each_field_has_an_entry_and_each_combination_too():
    @cg.kernel(graph=True)
    def move(source: cg.template, target: cg.template, by: cg.i32):
        for i in source:
            target[i] = source[i] + by

    fields = [cg.field(cg.i32, 4) for _ in range(3)]
    pairs = [(a, b) for a in fields for b in fields]
    values = [np.zeros(4, "i4") for _ in fields]
    for calls in (1, 2):
        for number, (a, b) in enumerate(pairs):
            move(a, b, number)
            values[fields.index(b)] = values[fields.index(a)] + number
            for field, wanted in zip(fields, values):
                np.testing.assert_array_equal(field.to_numpy(), wanted)
            assert move.graph_stats.replayed == (calls > 1)
    assert (move.graph_stats.graphs, move.graph_stats.builds) == (9, 9)


def test_an_array_without_elements_is_nothing_to_do():
    """Empty arrays come in the first call, in later calls, and beside others"""
    kernel = cg.kernel(steps, graph=True)
    for size in (0, 3, 0, 0, 2):
        x, y = np.ones(size, "f4"), np.ones(size, "f4")
        kernel(2.0, x, y)
        np.testing.assert_array_equal(x, np.full(size, 2, "f4"))
        np.testing.assert_array_equal(y, np.full(size, 6, "f4"))
    assert counters(kernel) == (1, 1, True)


def test_arrays_of_the_host_are_copied_in_and_back():
    """Arrays may have gaps; an array that is only read may be read-only"""
    kernel = cg.kernel(steps, graph=True)
    whole = np.arange(24, dtype="f4").reshape(4, 6)
    x, y = whole[::2, 1], whole[1::2, 3]
    wanted = steps_in_numpy(2, x.copy(), y.copy())
    rest = whole.copy()
    kernel(2.0, x, y)
    np.testing.assert_array_equal(x, wanted[0])
    np.testing.assert_array_equal(y, wanted[1])
    rest[::2, 1], rest[1::2, 3] = wanted
    np.testing.assert_array_equal(whole, rest)
    frozen = np.ones(3, "f4")
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="'y' is read-only, but the kernel writes it: pass a copy"):
        kernel(2.0, np.ones(3, "f4"), frozen)

    @cg.kernel(graph=True)
    def copy(source: f32_1d, target: f32_1d):
        for i in source:
            target[i] = source[i]

    target = array(np.zeros(3))
    copy(frozen, target)
    assert target.to_numpy().tolist() == [1, 1, 1]


@dataclasses.dataclass
class Inner:
    flag: i32_0d
    weight: cg.f32


@dataclasses.dataclass
class Outer:
    many: f32_1d
    a: cg.i32
    inner: Inner
    few: f32_1d
    b: cg.i64


def flattened(first: Outer, s: cg.f32, second: Inner, x: f32_1d, third: Outer):
    while cg.graph_do_while(third.inner.flag):
        for i in x:
            x[i] = x[i] * s + first.many[i] * third.a - second.weight
        third.inner.flag[()] -= 1
    while cg.graph_do_while(second.flag):
        for i in x:
            x[i] = x[i] + third.few[i] + first.a + third.b
        second.flag[()] -= first.inner.weight


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_members_of_structs_may_stand_before_and_after_the_flag(lowering):
    """The flag is number 14 and 7 of the flattened parameters"""
    kernel = cg.kernel(flattened, graph=True, loop=lowering)
    for number in range(3):
        n = 5 + number
        vectors = [small(n, 10 * number + k) for k in range(5)]
        many, few, x, unused, more = map(array, vectors)
        first = Outer(many, number, Inner(array(50, cg.i32), 1.0), unused, 7)
        second = Inner(array(2, cg.i32), 0.5)
        third = Outer(more, 3, Inner(array(number + 1, cg.i32), 9.0), few, -number)
        kernel(first, 2.0, second, x, third)
        wanted = vectors[2]
        for _ in range(number + 1):
            wanted = wanted * 2 + vectors[0] * 3 - np.float32(0.5)
        for _ in range(2):
            wanted = wanted + vectors[1] + number - number
        np.testing.assert_array_equal(x.to_numpy(), wanted)
        assert (third.inner.flag[()], second.flag[()], first.inner.flag[()]) == (0, 0, 50)
        assert counters(kernel) == counted(lowering, replayed=number > 0)


@pytest.mark.filterwarnings("ignore:.*the conversion can lose:cuda_graphs.CompileWarning")
def test_every_kind_of_parameter_may_stand_beside_a_flag(lowering):
    field = cg.field(cg.f32, 4)

    def mixed(n, v, f, t, c, flag, x, k):
        while cg.graph_do_while(flag):
            for i in x:
                x[i] = x[i] + v[1] + f[i] + t + k * n
            if c:
                x[0] = x[0] + 1.0
            flag[()] -= 1

    mixed.__annotations__ = {
        "n": cg.i8,
        "v": cg.vec3,
        "f": cg.template,
        "t": cg.template,
        "c": cg.bool,
        "flag": i32_0d,
        "x": cg.types.Tensor,
        "k": cg.f64,
    }
    kernel = cg.kernel(mixed, graph=True, loop=lowering)
    field.from_numpy(np.arange(4, dtype="f4"))
    for number, rounds in enumerate((2, 1, 3)):
        x, flag = array(np.zeros(4)), array(rounds, cg.i32)
        kernel(number, (0.0, 0.5, 0.0), field, 7, number == 1, flag, x, 0.25)
        wanted = (0.5 + np.arange(4, dtype="f4") + 7 + 0.25 * number) * rounds
        wanted[0] += rounds * (number == 1)
        np.testing.assert_array_equal(x.to_numpy(), wanted)
        assert counters(kernel) == counted(lowering, replayed=number > 0)
