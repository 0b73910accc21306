# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an update says which fields are parameters, and values stay what was set."""

import gc
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs import testing
from tests.graph_rig import ONE


@pytest.fixture
def result(stream):
    """Returns a function that gives the number that one launch makes of 0."""

    def result(graph, x, **values):
        x[:] = 0
        graph.launch(stream, **values)
        stream.sync()
        return int(x[0])

    return result


@pytest.fixture
def adding(kernels, pinned):
    """A definition that adds a parameter, its node, and the number."""
    x, g = pinned([0]), cg.GraphDef()
    node = g.launch(ONE, kernels.add, x.ctypes.data, 1, g.param("amount", cg.i32, default=2), name="adding")
    return g, node, x


# ---- of definitions


def test_an_argument_of_a_definition_becomes_a_number_and_a_parameter_again(adding, result):
    g, node, x = adding
    amount = g.param("amount", cg.i32, default=2)
    first = g.instantiate()
    node.update(args=(x.ctypes.data, 1, 30))
    second = g.instantiate()
    node.update(args=(x.ctypes.data, 1, amount))
    third = g.instantiate()
    assert [result(graph, x, amount=5) for graph in (first, second, third)] == [5, 30, 5]


def test_operands_of_a_definition_become_parameters(pinned, stream):
    x, y, g = pinned([1, 2]), pinned([7, 8]), cg.GraphDef()
    copy = g.memcpy(x.ctypes.data, y.ctypes.data, 8)
    fill = copy.memset(x.ctypes.data, np.int32(3), 1)
    plain = g.instantiate()
    copy.update(size=g.param("size", cg.u64, default=4))
    fill.update(value=g.param("value", cg.i32, default=9), width=1)
    graph = g.instantiate()
    plain.launch(stream)
    stream.sync()
    assert list(x) == [3, 8]
    x[:] = 1, 2
    graph.launch(stream, value=5)
    stream.sync()
    assert list(x) == [5, 2]
    graph.launch(stream, size=8)
    stream.sync()
    assert list(x) == [5, 8]


def test_a_refused_update_of_a_definition_leaves_its_parameters(adding, kernels, result):
    g, node, x = adding
    with pytest.raises((cg.CUDAError, ValueError)):
        node.update(
            config=cg.LaunchConfig(grid=1, block=1, shmem_size=1 << 30),
            kernel=kernels.add,
            args=(x.ctypes.data, 1, 30),
        )
    with pytest.raises(TypeError, match="takes 3 arguments"):
        node.update(args=(1,))
    assert result(g.instantiate(), x, amount=4) == 4


# ---- of single nodes


def test_a_node_of_an_executable_takes_the_value_that_a_parameter_has(adding, kernels, result):
    g, node, x = adding
    graph, other = g.instantiate(), g.instantiate()
    graph.set(amount=6)
    graph[node].update(config=ONE, kernel=kernels.add, args=(x.ctypes.data, 1, 50))
    assert result(graph, x) == 50
    assert result(graph, x, amount=7) == 50
    assert graph.params["amount"].value == 7
    graph[node].update(
        config=ONE, kernel=kernels.add, args=(x.ctypes.data, 1, g.param("amount", cg.i32, default=2))
    )
    assert result(graph, x) == 7
    assert result(graph, x, amount=8) == 8
    assert result(other, x) == 2


def test_a_node_in_a_body_is_updated_and_set(kernels, pinned, result):
    x, g = pinned([0]), cg.GraphDef()
    amount = g.param("amount", cg.i32, default=1)
    inner = g.if_then(g.create_condition(1)).then.if_then(g.create_condition(1)).then
    node = inner.launch(ONE, kernels.add, x.ctypes.data, 1, amount)
    graph = g.instantiate()
    assert result(graph, x, amount=4) == 4
    graph[node].update(config=ONE, kernel=kernels.add, args=(x.ctypes.data, 1, 20))
    assert result(graph, x, amount=5) == 20
    graph[node].update(config=ONE, kernel=kernels.add, args=(x.ctypes.data, 1, amount))
    assert result(graph, x) == 5


def test_a_refused_update_of_a_node_leaves_value_and_use(adding, kernels, result):
    g, node, x = adding
    graph = g.instantiate()
    graph.set(amount=6)
    with pytest.raises((cg.CUDAError, ValueError)):
        graph[node].update(
            config=cg.LaunchConfig(grid=1, block=1, shmem_size=1 << 30),
            kernel=kernels.add,
            args=(x.ctypes.data, 1, 30),
        )
    assert result(graph, x) == 6
    assert result(graph, x, amount=7) == 7


def test_a_node_that_is_off_gets_values_all_the_same(adding, result, pinned, stream):
    g, node, x = adding
    y = pinned([0])
    fill = node.memset(y.ctypes.data, g.param("value", cg.i32, default=1), 1)
    graph = g.instantiate()
    graph[node].disable()
    graph[fill].disable()
    assert result(graph, x, amount=9, value=4) == 0
    assert y[0] == 0
    graph[node].enable()
    graph[fill].enable()
    assert result(graph, x) == 9
    assert y[0] == 4


# ---- of whole executables


@pytest.fixture
def sums(kernels, pinned):
    """Makes definitions that add the parameters of these names, in a row; the number."""
    x = pinned([0])

    def make(**defaults):
        g = cg.GraphDef()
        node = g._entry
        for name, default in defaults.items():
            node = node.launch(ONE, kernels.add, x.ctypes.data, 1, g.param(name, cg.i32, default=default))
        return g

    return make, x


def test_values_stay_and_new_parameters_begin_with_their_defaults(sums, result):
    make, x = sums
    first = make(a=1, b=10)
    graph = first.instantiate()
    graph.set(a=2, b=20)
    graph.update(make(a=5, c=300))
    assert graph.params["a"].value == 2
    assert graph.params["c"].value == 300
    assert result(graph, x) == 302
    assert result(graph, x, c=400) == 402


def test_a_parameter_that_the_new_definition_does_not_have_is_unknown(sums, result, stream):
    make, x = sums
    first = make(a=1, b=10)
    graph = first.instantiate()
    graph.update(make(a=5, c=300))
    with pytest.raises(TypeError, match="no parameter 'b'"):
        graph.set(b=3)
    with pytest.raises(TypeError, match="no parameter 'b'"):
        graph.launch(stream, b=3)
    assert result(graph, x) == 305  # `a` was never set, so its value is the new default


def test_a_new_parameter_without_a_value_is_missed(sums, kernels, stream):
    make, x = sums
    first, second = make(a=1), cg.GraphDef()
    second.launch(ONE, kernels.add, x.ctypes.data, 1, second.param("b", cg.i32))
    graph = first.instantiate()
    graph.update(second)
    with pytest.raises(RuntimeError, match="parameter 'b' has neither a default nor a value"):
        graph.launch(stream)
    graph.launch(stream, b=4)
    stream.sync()
    assert x[0] == 4


def test_a_refused_update_leaves_all_values(sums, result):
    make, x = sums
    first = make(a=1, b=10)
    graph = first.instantiate()
    graph.set(a=2, b=20)
    with pytest.raises(cg.GraphUpdateError):
        graph.update(make(a=5, b=6, c=300))
    assert {name: state.value for name, state in graph.params.items()} == {"a": 2, "b": 20}
    assert result(graph, x) == 22
    assert result(graph, x, b=30) == 32


def test_bodies_keep_their_values_in_an_update(kernels, pinned, result):
    x = pinned([0])

    def make(fixed):
        g = cg.GraphDef()
        body = g.if_then(g.create_condition(1)).then
        body.launch(ONE, kernels.add, x.ctypes.data, 1, g.param("a", cg.i32, default=1)).launch(
            ONE, kernels.add, x.ctypes.data, 1, fixed
        )
        return g

    first = make(100)
    graph = first.instantiate()
    graph.set(a=3)
    graph.update(make(200))
    assert result(graph, x) == 203
    assert result(graph, x, a=4) == 204


def test_a_node_that_is_off_stays_off_with_its_value(sums, result):
    make, x = sums
    first = make(a=1, b=10)
    graph = first.instantiate()
    node = next(node for node in first.nodes() if not node.pred)
    graph[node].disable()
    graph.set(a=5)
    graph.update(make(a=7, b=70))
    assert result(graph, x) == 70
    graph[node].enable()
    assert result(graph, x) == 75


def test_memory_that_is_a_value_outlasts_an_update_and_goes_with_the_next_value(
    kernels, pinned, stream, eventually
):
    class Memory(np.ndarray):
        pass

    def number():
        return pinned([0]).view(Memory)

    def make(amount):
        g = cg.GraphDef()
        g.launch(ONE, kernels.add, g.param("x", cg.pointer), 1, amount)
        return g

    first = make(1)
    graph, x = first.instantiate(), number()
    address, gone = x.ctypes.data, weakref.ref(x)
    graph.set(x=PinnedView(x))
    graph.update(make(10))
    del x
    gc.collect()
    assert gone() is not None
    graph.launch(stream)
    stream.sync()
    assert gone()[0] == 10
    assert graph.params["x"].value == address
    graph.set(x=PinnedView(number()))
    eventually(lambda: gone() is None)


def test_an_update_drops_the_parameters_that_the_new_definition_does_not_have(kernels, pinned, eventually):
    """The executable keeps neither earlier names nor the memory that they were set to."""

    class Memory(np.ndarray):
        pass

    def make(name, amount):
        g = cg.GraphDef()
        g.launch(ONE, kernels.add, g.param(name, cg.pointer), 1, amount)
        return g

    first = make("p0", 1)
    graph, memory = first.instantiate(), []
    for i in range(1, 40):
        x = pinned([0]).view(Memory)
        view = PinnedView(x)
        memory.append(weakref.ref(x))
        graph.set(**{f"p{i - 1}": view})
        del x, view
        graph.update(make(f"p{i}", i))
        assert list(graph.params) == [f"p{i}"]
        assert graph.params[f"p{i}"].value is None
    gc.collect()
    eventually(lambda: sum(each() is not None for each in memory) <= 1)


def test_a_parameter_that_comes_back_begins_with_its_default(sums, result):
    make, x = sums
    first = make(a=1, b=10)
    graph = first.instantiate()
    graph.set(a=2, b=20)
    graph.update(make(c=100, d=200))
    assert result(graph, x) == 300
    graph.update(make(a=3, b=30))
    assert result(graph, x) == 33
    graph.set(b=40)
    assert result(graph, x) == 43


def test_names_of_another_order_keep_their_values(sums, result):
    make, x = sums
    first = make(a=1, b=10, c=100)
    graph = first.instantiate()
    graph.set(a=2, c=300)
    graph.update(make(d=1000, c=5, a=7))
    assert {name: state.value for name, state in graph.params.items()} == {"a": 2, "c": 300, "d": 1000}
    assert result(graph, x, c=400) == 1402
    with pytest.raises(TypeError, match="no parameter 'b'; it has: "):
        graph.set(b=1)


class PinnedView:
    """An array as a kernel's pointer, that holds what it is of."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.ctypes.data, False),
            "version": 3,
        }


# ---- refused updates


def fill_of(dst):
    g = cg.GraphDef()
    g.memset(dst, g.param("value", cg.u32, default=5), g.param("count", cg.u32, default=3))
    return g


def copy_of(dst):
    g = cg.GraphDef()
    g.memcpy(dst, g.param("x", cg.Array1[cg.u32], default=cg.zeros(4, cg.u32)))
    return g


def refuse_seven(count):
    if count == 7:
        raise LookupError("no config for 7")
    return ONE


def launch_with(config, kernels):
    def define(dst):
        g = cg.GraphDef()
        g.launch(config, kernels.add, dst, g.param("count", cg.i32, default=3), 2)
        return g

    return define


def test_an_update_that_a_value_does_not_fit_changes_nothing(stream, kernels):
    """The copies have a wrong size for the value, and the config of the launch raises an error for it."""
    large, small = cg.zeros(8, cg.u32), cg.zeros(4, cg.u32)
    eight = cg.full(8, 9, cg.u32)
    plain = launch_with(lambda *args: ONE, kernels)
    picky = launch_with(lambda *args: refuse_seven(args[1]), kernels)
    cases = [
        (fill_of(large), fill_of(small), {"count": 7, "value": 9}, ValueError, [9] * 7 + [0]),
        (copy_of(large), copy_of(small), {"x": eight}, ValueError, [9] * 8),
        (plain(large), picky(large), {"count": 7}, LookupError, [2] + [0] * 7),
    ]
    for first, second, values, error, wanted in cases:
        large.fill(0)
        graph = first.instantiate()
        graph.set(**values)
        before = dict(graph.params)
        for _ in range(2):
            with pytest.raises(error) as refused:
                graph.update(second)
        assert "None" not in str(refused.value)
        assert dict(graph.params) == before
        graph.launch(stream)
        stream.sync()
        assert large.to_numpy().tolist() == wanted
        assert not small.to_numpy().any()


def test_a_value_that_fits_both_lets_the_update_through(stream):
    large, small = cg.zeros(8, cg.u32), cg.zeros(4, cg.u32)
    graph = fill_of(large).instantiate()
    graph.set(count=7)
    with pytest.raises(ValueError, match=r"cannot set parameter 'count' to 7 in MemsetNode"):
        graph.update(fill_of(small))
    graph.set(count=2)
    graph.update(fill_of(small))
    graph.launch(stream)
    stream.sync()
    assert (large.to_numpy().tolist(), small.to_numpy().tolist()) == ([0] * 8, [5, 5, 0, 0])


@pytest.mark.skipif(
    cg.driver_info().kind != "host", reason="only the host driver's calls can be made to fail"
)
def test_a_value_that_only_the_driver_refuses_is_lost_alone(stream):
    x, y = cg.zeros(4, cg.u32), cg.zeros(4, cg.u32)

    def define():
        g = cg.GraphDef()
        g.memset(x, g.param("first", cg.u32)).memset(y, g.param("second", cg.u32))
        return g

    graph = define().instantiate()
    graph.set(first=1, second=2)
    with testing.fail("cuGraphExecNodeSetParams"), pytest.raises(cg.CUDAError, match="set parameter"):
        graph.update(define())
    assert sorted(each.value is None for each in graph.params.values()) == [False, True]
    graph.set(first=3, second=4)
    graph.launch(stream)
    stream.sync()
    assert (x.to_numpy()[0], y.to_numpy()[0]) == (3, 4)
