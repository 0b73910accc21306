# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a graph kernel gives the results of the same kernel without a graph, for any arguments of each call. The first
call builds one graph; later calls set the changed arguments and launch it."""

import dataclasses

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs import testing
from tests.kernels.graph_kernels import (
    LOWERINGS,
    array,
    checked,
    count_down,
    count_down_as,
    f32_1d,
    f32_2d,
    i32_0d,
    i32_1d,
    on_the_host,
    seed,
    two,
)
from tests.nested_flow import nested_flow, nested_flow_in_python


def model(a, x, y):
    y = np.float32(a) * x + y
    return y + 1, y


def stats(kernel):
    found = kernel.graph_stats
    return found.graphs, found.builds, found.replayed


# Building, replaying.


def test_the_first_call_builds_one_graph_and_later_ones_replay_it():
    x, y, before = array(np.arange(5)), array(np.ones(5)), two.graph_stats.builds
    wanted = np.arange(5, dtype="f4"), np.ones(5, "f4")
    for call in range(4):
        two(2.0, x, y)
        wanted = model(2.0, *wanted)
        assert stats(two) == (1, before + 1, call > 0)
        np.testing.assert_array_equal(x.to_numpy(), wanted[0])
        np.testing.assert_array_equal(y.to_numpy(), wanted[1])
    found = two.graph_stats
    assert (found.nodes, found.tasks, found.lowering) == (2, 2, "conditional")


def test_positional_and_keyword_arguments_are_one_call():
    x, y = array([1, 2]), array([0, 0])
    two(y=y, a=3.0, x=x)
    assert y.to_numpy().tolist() == [3, 6]


SIZES = [3, 1000, 1, 100_000, 7]


def test_other_arrays_sizes_and_numbers_need_no_new_graph():
    two(0.0, array([1]), array([1]))
    builds = two.graph_stats.builds
    kept = []
    for number, size in enumerate(SIZES * 2):
        x, y = np.arange(size, dtype="f4"), np.full(size, number, "f4")
        mine = array(x), array(y)
        two(number / 2, *mine)
        kept.append((mine, model(number / 2, x, y)))
    for (x, y), wanted in kept:  # arrays of other calls were left alone
        np.testing.assert_array_equal(x.to_numpy(), wanted[0])
        np.testing.assert_array_equal(y.to_numpy(), wanted[1])
    assert (two.graph_stats.graphs, two.graph_stats.builds) == (1, builds)


def test_arrays_of_no_elements_are_nothing_to_do():
    x, y = array([1, 2]), array([0, 0])
    two(1.0, x, y)
    two(1.0, np.zeros(0, "f4"), np.zeros(0, "f4"))
    two(1.0, x, y)
    assert y.to_numpy().tolist() == [3, 5]


def test_array_may_be_two_arguments():
    x = array([1, 2, 3])
    two(2.0, x, x)
    assert x.to_numpy().tolist() == [4, 7, 10]


def test_numbers_of_a_call_do_not_depend_on_what_the_last_one_was_given(stream):
    """Calls in a row, none of which waits for the one before it."""
    out = array(np.zeros(1000, "i4"), cg.i32)

    @cg.kernel(graph=True)
    def put(out: i32_1d, at: cg.i32, value: cg.i32):
        for i in range(at, at + 1):
            out[i] = value
        out[at] += 1

    for i in range(1000):
        put(out, i, 3 * i, stream=stream)
    stream.sync()
    np.testing.assert_array_equal(out.to_numpy(), 3 * np.arange(1000) + 1)


def test_a_call_sets_the_nodes_whose_arguments_changed_and_no_others(driver):
    if driver.kind != "host":
        pytest.skip("only the host driver counts calls")
    x, y, z = array([1, 2]), array([0, 0]), array([0, 0])
    two(1.0, x, y)
    two(1.0, x, y)

    def calls(*arguments):
        with testing.calls() as made:
            two(*arguments)
        return {name: made[name] for name in ("cuGraphExecNodeSetParams", "cuGraphLaunch") if made.get(name)}

    assert calls(1.0, x, y) == {"cuGraphLaunch": 1}
    assert calls(2.0, x, y) == {"cuGraphExecNodeSetParams": 1, "cuGraphLaunch": 1}  # the second takes no `a`
    assert calls(2.0, x, z) == {"cuGraphExecNodeSetParams": 2, "cuGraphLaunch": 1}
    assert calls(2.0, x, z) == {"cuGraphLaunch": 1}


@dataclasses.dataclass
class Settings:
    scale: cg.f32
    data: f32_1d
    steps: i32_0d


def test_members_of_structs_are_arguments_as_others_are():
    @cg.kernel(graph=True)
    def scaled(n: cg.i32, s: Settings, extra: f32_1d):
        while cg.graph_do_while(s.steps):
            for i in s.data:
                s.data[i] = s.data[i] * s.scale + extra[i] + n
            s.steps[()] -= 1

    for rounds in (1, 3, 2):
        data, steps = array([1, 2, 3]), array(rounds, cg.i32)
        scaled(1, Settings(2.0, data, steps), array([0, 1, 0]))
        wanted = np.array([1, 2, 3], "f4")
        for _ in range(rounds):
            wanted = wanted * 2 + np.array([0, 1, 0], "f4") + 1
        np.testing.assert_array_equal(data.to_numpy(), wanted)
    assert scaled.graph_stats.builds == 1
    scaled.forget()


def test_a_field_as_template_argument_has_a_graph_of_its_own():
    @cg.kernel(graph=True)
    def fill(f: cg.template, value: cg.i32):
        for i in f:
            f[i] = value

    first, second = cg.field(cg.i32, 3), cg.field(cg.i32, 5)
    for value in range(3):
        fill(first, value)
        fill(second, -value)
        assert first.to_numpy().tolist() == [value] * 3
        assert second.to_numpy().tolist() == [-value] * 5
    assert (fill.graph_stats.graphs, fill.graph_stats.builds) == (2, 2)
    fill.forget()


def test_arrays_of_numpy_are_copied_in_and_out_or_used_where_they_are():
    x, y = np.arange(4, dtype="f4"), np.ones(4, "f4")
    wanted = model(3.0, x.copy(), y.copy())
    two(3.0, x, y)
    np.testing.assert_array_equal(x, wanted[0])
    np.testing.assert_array_equal(y, wanted[1])


def test_a_kernel_works_on_after_it_was_told_to_forget():
    x, y = array([1]), array([1])
    two(1.0, x, y)
    builds = two.graph_stats.builds
    two.forget()
    assert two.graph_stats.graphs == 0
    two(1.0, x, y)
    assert (two.graph_stats.graphs, two.graph_stats.builds, two.graph_stats.replayed) == (
        1,
        builds + 1,
        False,
    )
    assert y.to_numpy().tolist() == [5]


def test_random_numbers_are_others_in_each_call_and_each_round():
    @cg.kernel(graph=True)
    def draw(x: cg.types.ndarray(cg.u32, ndim=2), c: i32_0d):
        while cg.graph_do_while(c):
            c[()] -= 1
            for i in range(x.shape[1]):
                x[c[()], i] = cg.random(cg.u32)

    found = []
    for _ in range(3):
        x = cg.ndarray(cg.u32, (4, 25))
        draw(x, array(4, cg.i32))
        found.append(x.to_numpy())
    assert len(np.unique(found)) == 300
    draw.forget()


# Loops.


@pytest.mark.parametrize(
    "kernel",
    [count_down, *count_down_as.values(), checked],
    ids=["auto", *count_down_as, "debug"],
)
def test_a_loop_runs_as_often_as_its_flag_says_whichever_array_it_is(kernel):
    x, flags = array(np.zeros(300), cg.i32), [array(1, cg.i32) for _ in range(3)]
    total, before = 0, kernel.graph_stats.builds
    for i, rounds in enumerate([1, 5, 100, 2, 7, 3]):
        flag = flags[i % 3]
        flag.fill(rounds)
        kernel(x, flag)
        total += rounds
        assert flag.to_numpy() == 0
        np.testing.assert_array_equal(x.to_numpy(), np.full(300, total))
    assert kernel.graph_stats.builds == before + (kernel not in (on_the_host, checked))
    kernel.forget()


def test_lowerings_are_told_apart():
    x, c = array([0], cg.i32), array(1, cg.i32)
    for lowering, kernel in count_down_as.items():
        assert kernel.graph_stats.lowering is None
        c.fill(1)
        kernel(x, c)
        found = kernel.graph_stats
        assert (found.lowering, found.tasks, found.nodes) == (lowering, 2, NODES[lowering])
        kernel.forget()
    assert on_the_host.graph_stats.graphs == 0


NODES = {"conditional": 3, "resident": 1, "host": 0}


@pytest.mark.parametrize("loop", LOWERINGS)
def test_conditionals_nest_and_locals_live_across_them(loop):
    kernel = cg.kernel(nested_flow, graph=True, loop=loop)
    for rounds in (1, 4, 6):
        x = array([0, 0, 0], cg.i32)
        kernel(x, array(rounds, cg.i32), array(0, cg.i32))
        assert x.to_numpy().tolist() == nested_flow_in_python(rounds)


def test_a_variable_may_be_called_as_conditions_are():
    @cg.kernel(graph=True, loop="host")
    def count(x: i32_1d, start: i32_0d):
        condition = start[()]
        while cg.graph_while(condition > 0):
            x[0] += condition
            condition -= 1

    x = array([0], cg.i32)
    count(x, array(4, cg.i32))
    assert x.to_numpy()[0] == 10


def test_convergence_is_decided_on_the_device():
    """Jacobi until the change is small, against the same in NumPy."""

    @cg.kernel(graph=True)
    def solve(u: f32_2d, v: f32_2d, change: cg.types.ndarray(cg.f32, ndim=0), go: i32_0d, tolerance: cg.f32):
        while cg.graph_do_while(go):
            change[()] = 0.0
            for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
                cg.atomic_max(change[()], abs(v[i, j] - u[i, j]))
            for i, j in cg.ndrange((1, u.shape[0] - 1), (1, u.shape[1] - 1)):
                u[i, j] = v[i, j]
            go[()] = 1 if change[()] > tolerance else 0

    start = np.zeros((12, 17), "f4")
    start[0] = 1
    for tolerance in (1e-2, 1e-4):
        wanted, rounds = start.copy(), 0
        while True:
            new = np.float32(0.25) * (
                ((wanted[:-2, 1:-1] + wanted[2:, 1:-1]) + wanted[1:-1, :-2]) + wanted[1:-1, 2:]
            )
            change = np.abs(new - wanted[1:-1, 1:-1]).max()
            wanted[1:-1, 1:-1] = new
            rounds += 1
            if change <= np.float32(tolerance):
                break
        u = array(start)
        solve(u, array(start), cg.ndarray(cg.f32, ()), array(1, cg.i32), tolerance)
        np.testing.assert_array_equal(u.to_numpy(), wanted)
        assert rounds > 5
    assert solve.graph_stats.builds == 1
    solve.forget()


# In graphs of the user's.


def test_a_call_in_a_definition_adds_its_nodes_at_any_depth(stream):
    """In a body that repeats, the loop begins anew each time."""
    x, c, outer = array([0, 0], cg.i32), array(3, cg.i32), array(4, cg.i32)

    @cg.kernel
    def again(more: cg.u64, left: i32_0d):
        left[()] -= 1

    g = cg.GraphDef()
    node = g.call(count_down, x, c)
    assert isinstance(node, cg.WhileNode)

    for _ in range(2):
        node = node.call(seed, c, 2).call(count_down, x, c)
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    assert x.to_numpy().tolist() == [7, 7]

    inner = cg.GraphDef()
    condition = inner.create_condition(default_value=1)
    loop = inner.while_loop(condition).body
    loop.call(seed, c, 2).call(count_down, x, c).call(again, 0, outer).launch(
        cg.LaunchConfig(grid=1, block=1), setter(), condition, outer.handle
    )
    x.fill(0)
    inner.instantiate().launch(stream)
    stream.sync()
    assert x.to_numpy().tolist() == [8, 8]
    assert outer.to_numpy() == 0


SET = r"""
#include <cuda_graphs.h>
extern "C" __global__ void set(cudaGraphConditionalHandle handle, const int* left) {
    cudaGraphSetConditional(handle, *left);
}
"""


def setter():
    """Sets a condition to what is in memory."""
    return cg.Program(SET, code_type="c++").compile("cubin").get_kernel("set")


def test_named_parameters_reach_the_nodes_of_bodies(stream):
    @cg.kernel(graph=True)
    def add(x: f32_1d, c: i32_0d, amount: cg.f32):
        while cg.graph_do_while(c):
            for i in x:
                x[i] += amount
            c[()] -= 1

    x, c = array([0, 0]), array(2, cg.i32)
    g = cg.GraphDef()
    g.call(add, x, c, g.param("amount", cg.f32))
    graph = g.instantiate()
    for amount in (1.5, 2.0):
        c.fill(2)
        graph.launch(stream, amount=amount)
        stream.sync()
    assert x.to_numpy().tolist() == [7, 7]
    add.forget()


def test_a_graph_kernel_is_inspected_as_others_are():
    found = count_down_as["conditional"].inspect(array([0], cg.i32), array(1, cg.i32))
    assert "while graph.condition.0" not in found.ir  # that is the plan; tasks have what arms it
    assert "set_condition graph.condition.0" in found.ir
