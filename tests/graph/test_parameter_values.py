# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the values of named parameters: a node works as with the value in the place of the name; every executable has
values of its own; a refused value changes nothing."""

import gc
import inspect
import threading

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


@pytest.fixture
def adder(kernels, pinned):
    """A definition that adds the parameter `amount` to x[0], and x."""
    x, g = pinned([0, 0, 0, 0]), cg.GraphDef()
    g.launch(ONE, kernels.add, x.ctypes.data, 1, g.param("amount", cg.i32, default=1))
    return g, x


def test_values_are_set_at_a_launch_or_between_launches_and_stay(adder, stream):
    g, x = adder
    graph = g.instantiate()
    graph.launch(stream)
    graph.launch(stream, amount=10)
    graph.launch(stream)
    graph.set(amount=100)
    graph.launch(stream)
    stream.sync()
    assert x[0] == 1 + 10 + 10 + 100


def test_launch_and_set_take_arguments_as_functions_of_python_do(adder, stream):
    g, x = adder
    graph = g.instantiate()
    assert str(inspect.signature(cg.Graph.launch)) == "(self, /, stream, **values)"
    assert str(inspect.signature(graph.set)) == "(**values)"
    assert inspect.getdoc(cg.Graph.launch).startswith("Run the graph in the order of `stream`")
    graph.launch(amount=10, stream=stream)
    graph.launch(stream=stream)
    graph.launch(stream, **{"".join(["amo", "unt"]): 100})  # a name that is not interned
    graph.set(**{"".join(["amo", "unt"]): 1000})
    cg.Graph.launch(graph, stream)
    stream.sync()
    assert x[0] == 10 + 10 + 100 + 1000
    for wrong, message in (
        (lambda: graph.launch(), r"launch\(\) .*stream|launch\(\) takes exactly 1"),
        (lambda: graph.launch(stream, 1), r"launch\(\) takes"),
        (lambda: graph.launch(amount=1), r"launch\(\) .*stream|launch\(\) takes exactly 1"),
        (lambda: graph.set(1), r"set\(\) takes"),
        (lambda: graph.set(1, amount=1), r"set\(\) takes"),
        (lambda: cg.Graph.launch(stream, stream), "Graph"),
    ):
        with pytest.raises(TypeError, match=message):
            wrong()
    assert graph.params["amount"].value == 1000


def test_parameters_beyond_the_first_few_are_found_by_their_names(kernels, pinned, stream):
    x, g = pinned([0]), cg.GraphDef()
    node = g
    for i in range(20):
        node = node.launch(ONE, kernels.add, x.ctypes.data, 1, g.param(f"p{i}", cg.i32, default=0))
    graph = g.instantiate()
    graph.launch(stream, **{f"p{i}": 3**i for i in reversed(range(20))})
    stream.sync()
    assert x[0] == sum(3**i for i in range(20))
    with pytest.raises(TypeError, match="the graph has no parameter 'p20'"):
        graph.launch(stream, p20=1)


def test_a_value_that_is_missing_is_refused_by_its_name_and_nothing_runs(kernels, pinned, stream):
    g, x = cg.GraphDef(), pinned([0])
    g.launch(ONE, kernels.add, g.param("where", cg.pointer), 1, g.param("amount", cg.i32))
    graph = g.instantiate()
    for values, missing in (({}, "where"), ({"amount": 4}, "where"), ({"where": x.ctypes.data}, "amount")):
        with pytest.raises(RuntimeError, match=f"parameter '{missing}' has neither a default nor a value"):
            graph.launch(stream, **values)
        assert all(state.value is None for state in graph.params.values())
    graph.set(where=x.ctypes.data)
    with pytest.raises(RuntimeError, match="parameter 'amount' has neither a default nor a value"):
        graph.launch(stream)
    graph.launch(stream, amount=4)
    stream.sync()
    assert x[0] == 4


def test_a_parameter_that_no_node_uses_is_not_missed(adder, stream):
    g, x = adder
    g.param("unused", cg.f64)
    graph = g.instantiate()
    graph.launch(stream)
    graph.launch(stream, unused=2.5)
    stream.sync()
    assert x[0] == 2
    assert graph.params["unused"].value == 2.5


def test_params_shows_names_types_and_present_values(adder):
    g, _ = adder
    g.param("scale", cg.f32)
    graph = g.instantiate()
    assert dict(graph.params) == {"amount": ("i32", 1), "scale": ("f32", None)}
    graph.set(scale=1 / 3)
    assert graph.params["scale"] == ("f32", float(np.float32(1 / 3)))
    assert graph.params["scale"].type == "f32"
    with pytest.raises(TypeError):
        graph.params["amount"] = 2
    assert cg.GraphDef().instantiate().params == {}


def test_an_unknown_name_is_refused_with_the_list_of_known_ones(adder, stream):
    g, x = adder
    g.param("other", cg.f32)
    graph = g.instantiate()
    for use in (graph.set, lambda **values: graph.launch(stream, **values)):
        with pytest.raises(TypeError, match="no parameter 'amuont'; it has: amount, other"):
            use(amount=5, amuont=2)
    with pytest.raises(TypeError, match="it has: none"):
        cg.GraphDef().instantiate().set(a=1)
    graph.launch(stream)
    stream.sync()
    assert x[0] == 1


def test_single_bad_value_changes_no_parameter(kernels, pinned, stream):
    g, x = cg.GraphDef(), pinned([0, 0, 0, 0])
    first, second, where = (
        g.param("first", cg.i32, 1),
        g.param("second", cg.u8, 2),
        g.param("where", cg.pointer, x.ctypes.data),
    )
    g.launch(ONE, kernels.add, where, 1, first).memset(x.ctypes.data + 4, second, 4).memcpy(
        x.ctypes.data + 8, where, 4
    )
    graph = g.instantiate()
    graph.set(first=3, second=4)
    before = dict(graph.params)
    for bad, error in (
        ({"second": 256}, OverflowError),
        ({"second": -1}, OverflowError),
        ({"second": 1.5}, TypeError),
        ({"second": None}, TypeError),
        ({"where": 1.5}, TypeError),
        ({"where": np.zeros(4).ctypes.data}, ValueError),
        ({"other": 1}, TypeError),
    ):
        with pytest.raises(error):
            graph.set(first=99, **bad)
        with pytest.raises(error):
            graph.launch(stream, first=99, **bad)
        assert dict(graph.params) == before
    graph.launch(stream)
    stream.sync()
    assert list(x) == [3, 0x04040404, 3, 0]


def test_size_beyond_the_end_of_an_operand_changes_no_parameter(kernels, pinned, stream):
    g, x = cg.GraphDef(), pinned([0, 0, 0, 0])
    size, amount = g.param("size", cg.u64, default=8), g.param("amount", cg.i32, default=1)
    g.launch(ONE, kernels.add, x.ctypes.data, 1, amount).memcpy(x.ctypes.data + 8, x.ctypes.data, size)
    graph = g.instantiate()
    with pytest.raises(ValueError, match="'size' is the size or count"):
        graph.set(amount=5, size=0)
    for bad in (1 << 40, 1 << 62):
        with pytest.raises(ValueError, match=r"set parameter 'size' to .* in MemcpyNode \(.*beyond the end"):
            graph.set(amount=5, size=bad)
        assert dict(graph.params) == {"size": ("u64", 8), "amount": ("i32", 1)}
    graph.launch(stream)
    graph.launch(stream, amount=10, size=4)
    stream.sync()
    assert list(x) == [11, 0, 11, 0]


def test_a_count_below_one_is_refused(pinned, device):
    g, x = cg.GraphDef(), pinned([0, 0])
    g.memset(x.ctypes.data, 1, g.param("count", cg.i32, default=2))
    graph = g.instantiate()
    for bad in (-1, 0):
        with pytest.raises(
            ValueError, match=f"'count' is the size or count of a node and must be 1 or more, got {bad}"
        ):
            graph.set(count=bad)
        with pytest.raises(ValueError, match="has a smaller default"):
            g.memset(x.ctypes.data, 1, g.param(f"bad{bad + 1}", cg.i32, default=bad))
    assert graph.params["count"].value == 2
    assert len(g.nodes()) == 1


def test_every_field_of_a_memset_and_a_memcpy_can_be_a_parameter(pinned, stream):
    a, b = pinned(64, "u1"), pinned(range(64), "u1")
    g = cg.GraphDef()
    filled = g.memset(
        g.param("to", cg.pointer), g.param("value", cg.u16, default=0xABCD), g.param("count", cg.i32)
    )
    filled.memcpy(g.param("copy_to", cg.pointer), g.param("copy_from", cg.pointer), g.param("size", cg.u64))
    graph = g.instantiate()
    expected_a, expected_b = a.copy(), b.copy()
    for to, value, count, copy_to, copy_from, size in (
        (0, 0x0102, 3, 0, 0, 7),
        (10, 0xFFEE, 20, 3, 40, 24),
        (2, 0, 1, 60, 1, 1),
    ):
        graph.launch(
            stream,
            to=a.ctypes.data + to,
            value=value,
            count=count,
            copy_to=b.ctypes.data + copy_to,
            copy_from=a.ctypes.data + copy_from,
            size=size,
        )
        expected_a[to : to + 2 * count].view("<u2")[:] = value
        expected_b[copy_to : copy_to + size] = expected_a[copy_from : copy_from + size]
    stream.sync()
    assert (a == expected_a).all()
    assert (b == expected_b).all()


def test_a_memset_of_rows_takes_another_address_and_value(pinned, stream):
    a = pinned(64, "u1")
    g = cg.GraphDef()
    g.memset(g.param("to", cg.pointer), g.param("value", cg.u8), 3, height=4, pitch=8)
    graph = g.instantiate()
    graph.launch(stream, to=a.ctypes.data + 1, value=7)
    stream.sync()
    expected = np.zeros((8, 8), "u1")
    expected[:4, 1:4] = 7
    assert (a.reshape(8, 8) == expected).all()


def test_a_side_of_a_copy_keeps_to_memory_of_pools_or_to_memory_of_none(device, pinned, stream):
    target, on_host, other = pinned([0]), pinned([6]), cg.SynchronousMemoryResource(device).allocate(4)
    pooled = cg.DeviceMemoryResource(device).allocate(4, stream=stream)
    pooled.fill(np.int32(5), stream=stream)
    other.fill(np.int32(4), stream=stream)
    stream.sync()
    for default, fits, refused in (
        (pooled, [(pooled, 5), (pooled.handle, 5)], [on_host.ctypes.data, other]),
        (other, [(other, 4), (on_host.ctypes.data, 6), (other.handle, 4)], [pooled]),
    ):
        g = cg.GraphDef()
        node = g.memcpy(target.ctypes.data, g.param("source", cg.pointer, default=default), 4, name="load")
        graph = g.instantiate()
        for source, expected in fits:
            graph.launch(stream, source=source)
            stream.sync()
            assert target[0] == expected
        before = dict(graph.params)
        for source in refused:
            with pytest.raises(
                cg.CUDAError, match=r"parameter 'source' .*MemcpyNode 'load'.*memory of pools.*default"
            ):
                graph.set(source=source)
        assert dict(graph.params) == before
        assert node.is_valid


def test_an_address_of_a_copy_must_be_memory_that_can_be_copied(pinned, stream):
    x, pageable = pinned([7]), np.array([9], np.int32)
    g = cg.GraphDef()
    with pytest.raises(ValueError, match="pageable"):
        g.memcpy(x.ctypes.data, g.param("lost", cg.pointer, default=pageable.ctypes.data), 4)
    g.memcpy(x.ctypes.data, g.param("source", cg.pointer), 4)
    graph = g.instantiate()
    with pytest.raises(ValueError, match=r"source=.* is neither memory that the driver knows"):
        graph.launch(stream, source=pageable.ctypes.data)
    assert graph.params["source"].value is None


def test_a_parameter_may_be_used_by_many_nodes_and_twice_by_one(kernels, pinned, stream):
    x, g = pinned([1], "u4"), cg.GraphDef()
    a = g.param("a", cg.u32)
    node = g
    for _ in range(5):
        node = node.launch(ONE, kernels.affine, x.ctypes.data, a, a)
    graph = g.instantiate()
    graph.launch(stream, a=3)
    graph.launch(stream, a=2)
    stream.sync()
    value = 1
    for a in [3] * 5 + [2] * 5:
        value = value * a + a
    assert x[0] == value


def test_bodies_at_any_depth_use_the_parameters_of_the_root(kernels, pinned, stream):
    x, g = pinned([0]), cg.GraphDef()
    amount = g.param("amount", cg.i32)
    outer = g.if_then(g.create_condition(1)).then
    inner_condition = outer.create_condition(1)
    first = outer.launch(ONE, kernels.add, x.ctypes.data, 1, amount)
    inner = first.if_then(inner_condition).then
    inner.launch(ONE, kernels.add, x.ctypes.data, 1, inner.param("amount", cg.i32)).memset(
        x.ctypes.data, g.param("fill", cg.u8, default=0), g.param("count", cg.u32, default=1)
    )
    graph = g.instantiate()
    graph.launch(stream, amount=3, fill=1, count=2)
    stream.sync()
    assert x[0] == 0x0101
    graph.launch(stream, amount=0x10000, fill=2, count=1)
    stream.sync()
    assert x[0] == 0x20102


def test_a_loop_stops_at_the_tolerance_of_its_launch(kernels, pinned, stream):
    left, x, g = pinned([0]), pinned([0]), cg.GraphDef()
    start = g.memset(left.ctypes.data, g.param("turns", cg.u32), 1)
    more = g.create_condition(default_value=1)
    start.while_loop(more).body.launch(ONE, kernels.add, x.ctypes.data, 1, 1).launch(
        ONE, kernels.count_down, more, left.ctypes.data
    )
    graph = g.instantiate()
    for turns in (1, 5, 2):
        graph.launch(stream, turns=turns)
    stream.sync()
    assert x[0] == 8


def test_two_executables_have_values_of_their_own(adder, stream):
    g, x = adder
    one, two = g.instantiate(), g.instantiate()
    one.set(amount=10)
    two.set(amount=100)
    one.launch(stream)
    two.launch(stream)
    three = g.instantiate()
    three.launch(stream)
    stream.sync()
    assert x[0] == 111
    assert [graph.params["amount"].value for graph in (one, two, three)] == [10, 100, 1]


def test_an_executable_does_not_need_its_definition(adder, stream):
    g, x = adder
    graph = g.instantiate()
    del g, adder
    gc.collect()
    graph.launch(stream, amount=5)
    stream.sync()
    assert x[0] == 5


def test_later_changes_of_the_definition_have_no_effect(adder, kernels, stream):
    g, x = adder
    graph = g.instantiate()
    (node,) = g.nodes()
    node.launch(ONE, kernels.add, x.ctypes.data, 1, g.param("late", cg.i32))
    with pytest.raises(TypeError, match="no parameter 'late'; it has: amount"):
        graph.set(late=3)
    graph.launch(stream, amount=2)
    stream.sync()
    assert x[0] == 2


def test_a_node_that_was_destroyed_in_the_definition_cannot_get_a_value_any_more(kernels, pinned, stream):
    x, g = pinned([0, 0]), cg.GraphDef()
    first, second = g.param("first", cg.i32, default=1), g.param("second", cg.i32, default=1)
    gone = g.launch(ONE, kernels.add, x.ctypes.data, 1, first)
    gone.launch(ONE, kernels.add, x.ctypes.data + 4, 1, second)
    graph = g.instantiate()
    gone.destroy()
    del gone
    gc.collect()
    g.launch(ONE, kernels.add, x.ctypes.data, 1, second)  # may get its record, and its place in the driver
    with pytest.raises(RuntimeError, match=r"parameter 'first' cannot be set to 5: a node .* was destroyed"):
        graph.set(second=7, first=5)
    graph.set(first=1)  # nothing new
    graph.launch(stream, second=3)
    stream.sync()
    assert list(x) == [1, 3]
    again = g.instantiate()
    again.launch(stream, first=100, second=10)
    stream.sync()
    assert list(x) == [11, 13]


def test_a_running_launch_keeps_the_values_that_it_was_launched_with(kernels, pinned, stream):
    flag, x, g = pinned([0]), pinned([0]), cg.GraphDef()
    g.launch(ONE, kernels.wait_for, flag.ctypes.data).launch(
        ONE, kernels.add, x.ctypes.data, 1, g.param("amount", cg.i32)
    )
    graph = g.instantiate()
    graph.upload(stream)
    graph.launch(stream, amount=1)
    graph.set(amount=1000)
    flag[0] = 1
    stream.sync()
    assert x[0] == 1


def test_a_closed_graph_has_no_parameters(adder, stream):
    graph = adder[0].instantiate()
    graph.close()
    for use in (lambda: graph.set(amount=2), lambda: graph.launch(stream, amount=2), lambda: graph.params):
        with pytest.raises(RuntimeError, match="Graph has been closed"):
            use()


def test_values_can_be_set_on_a_thread_without_a_current_device(kernels, pinned, stream, device):
    x, g = pinned([0, 0, 0, 0]), cg.GraphDef()
    g.launch(ONE, kernels.add, x.ctypes.data, 1, g.param("amount", cg.i32, default=1)).memset(
        x.ctypes.data + 4, g.param("fill", cg.u8, default=1), 4
    ).memcpy(x.ctypes.data + 8, g.param("source", cg.pointer, default=x.ctypes.data), 4)
    graph = g.instantiate()
    failures = []

    def work():
        try:
            graph.set(amount=5, fill=2, source=x.ctypes.data + 4)
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failures == []
    graph.launch(stream)
    stream.sync()
    assert list(x) == [5, 0x02020202, 0x02020202, 0]


def test_setting_and_launching_is_one_step_for_other_threads(kernels, pinned, stream, device):
    """Each thread launches with two equal values; a launch with values of two threads would leave a difference."""
    rounds, threads = 50, 4
    x, g = pinned([0, 0]), cg.GraphDef()
    left, right = g.param("left", cg.i32), g.param("right", cg.i32)
    g.launch(ONE, kernels.add, x.ctypes.data, 1, left).launch(ONE, kernels.add, x.ctypes.data + 4, 1, right)
    check = pinned(rounds * threads * 2)
    where = g.param("where", cg.pointer, default=check.ctypes.data)
    (last,) = (node for node in g.nodes() if not node.succ)
    last.memcpy(where, x.ctypes.data, 8)
    graph = g.instantiate()

    def work(number):
        device.set_current()
        for turn in range(rounds):
            value, place = number * rounds + turn + 1, check.ctypes.data + 8 * (number * rounds + turn)
            graph.launch(stream, left=value, right=value, where=place)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    stream.sync()
    pairs = check.reshape(-1, 2)
    assert (pairs[:, 0] == pairs[:, 1]).all()
    assert x[0] == sum(range(1, rounds * threads + 1))
