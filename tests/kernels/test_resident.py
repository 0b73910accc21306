# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: resident tasks are one node with the results of a node for each task: in calls with any arrays, in graphs of the
user and in captures, beside other work. `explain` reports the node."""

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.kernels.shapes import Shape
from tests.kernels.graph_kernels import array, body, f32_1d, i32_0d, i32_1d, seed
from tests.nested_flow import nested_flow, nested_flow_in_python

CHAINS = ("auto", "nodes", "resident")


def straight(a, x, y, total):
    total[0] = 0.0
    for i in x:
        y[i] += a * x[i]
    for i in x:
        x[i] = y[x.shape[0] - 1 - i] + 1
    for i in y:
        total[0] += y[i]


straight.__annotations__ = {"a": cg.f32, "x": f32_1d, "y": f32_1d, "total": f32_1d}


def straight_in_numpy(a, x, y):
    y = y + np.float32(a) * x
    return y[::-1] + 1, y, y.sum()


@pytest.mark.parametrize("chain", CHAINS)
def test_straight_tasks_may_be_one_node_for_arrays_of_any_size(chain, stream):
    kernel = cg.kernel(straight, graph=True, chain=chain, fuse=False)
    for number, size in enumerate([3, 1024, 1025, 5000, 1, 300_000, 7]):
        x, y = np.arange(size, dtype="f4") % 7, np.full(size, 2, "f4")
        mine = array(x), array(y), array([9])
        kernel(number % 3, *mine, stream=stream)
        stream.sync()
        for found, wanted in zip(mine, straight_in_numpy(number % 3, x, y), strict=True):
            np.testing.assert_array_equal(found.to_numpy().ravel(), wanted)
    found = kernel.graph_stats
    assert (found.graphs, found.builds, found.tasks) == (1, 1, 4)
    if chain != "auto":
        lowering = {"nodes": ("conditional", 4), "resident": ("resident", 1)}[chain]
        assert (found.lowering, found.nodes) == lowering


def test_chains_in_bodies_of_loops_that_are_nodes():
    def twice(x, c):
        while cg.graph_do_while(c):
            for i in x:
                x[i] += 1
            for i in x:
                x[i] *= 2
            c[()] -= 1

    twice.__annotations__ = {"x": i32_1d, "c": i32_0d}
    for chain, nodes in (("nodes", 4), ("auto", 4), ("resident", 2)):
        kernel, x = (
            cg.kernel(twice, graph=True, loop="conditional", chain=chain, fuse=False),
            array([0] * 2000, cg.i32),
        )
        kernel(x, array(3, cg.i32))
        assert x.to_numpy().tolist() == [14] * 2000
        assert (kernel.graph_stats.nodes, kernel.graph_stats.lowering) == (nodes, "conditional")


def test_a_body_of_two_parallel_tasks_is_two_nodes():
    def flagged(x, y, c):
        while cg.graph_do_while(c):
            for i in x:
                y[i] = x[x.shape[0] - 1 - i] + 1
            for i in x:
                x[i] = y[i]
                if i == 0:
                    c[()] -= 1

    flagged.__annotations__ = {"x": i32_1d, "y": i32_1d, "c": i32_0d}
    for loop, nodes in (("conditional", 3), ("resident", 1), ("host", 0)):
        kernel = cg.kernel(flagged, graph=True, loop=loop)
        for size in (1, 500, 100_000):
            x, y, c = array(np.arange(size), cg.i32), array(np.zeros(size), cg.i32), array(3, cg.i32)
            kernel(x, y, c)
            np.testing.assert_array_equal(x.to_numpy(), np.arange(size)[::-1] + 3)
        assert kernel.graph_stats.nodes == nodes


def test_a_resident_loop_stands_in_graphs_of_the_users_and_may_be_run_again(stream):
    kernel = cg.kernel(body, graph=True, loop="resident")
    x, c = array(np.zeros(3000), cg.i32), array(0, cg.i32)
    g = cg.GraphDef()
    node = g.call(seed, c, 4).call(kernel, x, c)
    assert isinstance(node, cg.KernelNode)
    assert node.config.is_cooperative
    node.call(seed, c, 2).call(kernel, x, c)
    graph = g.instantiate()
    for launches in (1, 2, 3):
        graph.launch(stream)
        stream.sync()
        assert x.to_numpy().tolist() == [6 * launches] * 3000


def test_a_resident_loop_stands_in_the_body_of_a_loop(stream):
    kernel = cg.kernel(body, graph=True, loop="resident")
    x, c = array(np.zeros(2000), cg.i32), array(0, cg.i32)

    @cg.kernel(graph=True, loop="conditional")
    def outer(left: i32_0d):
        while cg.graph_do_while(left):
            left[()] -= 1

    g = cg.GraphDef()
    g.call(outer, array(3, cg.i32))
    (loop,) = (node for node in g.nodes() if isinstance(node, cg.WhileNode))
    loop.body.call(seed, c, 5).call(kernel, x, c)
    g.instantiate().launch(stream)
    stream.sync()
    assert x.to_numpy().tolist() == [15] * 2000


def test_a_resident_loop_is_captured(stream):
    kernel = cg.kernel(nested_flow, graph=True, loop="resident", chain="resident")
    x, c, d = array([0, 0, 0], cg.i32), array(4, cg.i32), array(0, cg.i32)
    with cg.Device(0).create_graph_builder() as builder:
        kernel(x, c, d, stream=builder)
    assert [type(node) for node in builder.graph_definition.nodes()] == [cg.KernelNode]
    builder.complete().launch(stream)
    stream.sync()
    assert x.to_numpy().tolist() == nested_flow_in_python(4)


def test_the_grid_of_a_resident_launch_is_its_own(stream):
    """It is as many blocks as may wait for each other."""
    kernel = cg.kernel(body, graph=True, loop="resident", chain="resident")
    x, c = array([0], cg.i32), array(2, cg.i32)
    g = cg.GraphDef()
    with pytest.raises(ValueError, match=r"is one cooperative launch, which sets its own grid"):
        g.launch(cg.LaunchConfig(grid=1000, block=32), kernel, x, c)
    g.launch(None, kernel, x, c)
    g.instantiate().launch(stream)
    stream.sync()
    assert x.to_numpy().tolist() == [2]


@pytest.mark.parametrize("size", [100, 300_000])
def test_asserts_of_a_resident_loop_in_a_graph_are_told(stream, size):
    @cg.kernel(graph=True, debug=True, loop="resident")
    def outside(x: i32_1d, at: cg.i32, c: i32_0d):
        while cg.graph_do_while(c):
            for i in x:
                x[i + at] += 1
            c[()] -= 1

    x, c = array(np.zeros(size), cg.i32), array(3, cg.i32)
    g = cg.GraphDef()
    g.call(outside, x, 1, c)
    g.instantiate().launch(stream)
    with pytest.raises(cg.KernelIndexError, match=f"index {size} is outside of axis 0 of 'x'"):
        stream.sync()
    assert c.to_numpy() == 0  # the others went on
    assert x.to_numpy().tolist() == [0] + [3] * (size - 1)
    c.fill(1)
    with pytest.raises(cg.KernelIndexError):
        outside(x, 1, c)
    assert "debug=True" in outside.explain(x, 1, c).why


def mixed(x, y, bins, total, c):
    while cg.graph_do_while(c):
        for i in x:
            y[i] = x[x.shape[0] - 1 - i] * 3 + 1
        for i in y:
            bins[y[i] % 16] += 1
            total[()] += y[i] % 1000
        for b, t in cg.blocks(x.shape[0] // 64, 64):
            s = cg.block.shared_array(cg.i32, 64)
            s[t] = y[64 * b + t]
            cg.block.sync()
            x[64 * b + t] = s[63 - t] % 10_000
        cg.loop_config(parallelize=2)
        for i in x:
            x[i] += bins[i % 16] % 7
        c[()] -= 1


mixed.__annotations__ = {"x": i32_1d, "y": i32_1d, "bins": i32_1d, "total": i32_0d, "c": i32_0d}


@pytest.mark.parametrize("size", [64, 6400, 64 * 5000])
def test_large_loops_have_the_results_of_nodes(size):
    """Threads of the host driver share the iterations of large loops."""
    found = []
    for loop in ("conditional", "resident", "auto"):
        x, others = array(np.arange(size), cg.i32), [array(np.zeros(n), cg.i32) for n in (size, 16)]
        total, c = array(0, cg.i32), array(20, cg.i32)
        cg.kernel(mixed, graph=True, loop=loop)(x, *others, total, c)
        found.append([each.to_numpy() for each in (x, *others, total)])
    for other in found[1:]:
        for value, wanted in zip(other, found[0], strict=True):
            np.testing.assert_array_equal(value, wanted)


def test_loop_is_resident_by_itself_if_blocks_can_wait_for_each_other():
    kernel, x, c = cg.kernel(body, graph=True), array(np.zeros(1000), cg.i32), array(4, cg.i32)
    kernel(x, c)
    assert x.to_numpy().tolist() == [4] * 1000
    is_resident = cg.Device().properties.cooperative_launch
    assert (kernel.graph_stats.lowering == "resident") == is_resident


def two_sizes(x, c):
    while cg.graph_do_while(c):
        for b, t in cg.blocks(2, 32):
            x[32 * b + t] += 1
        for b, t in cg.blocks(1, 64):
            x[64 * b + t] += 1
        c[()] -= 1


two_sizes.__annotations__ = {"x": i32_1d, "c": i32_0d}


def test_loop_that_cannot_be_resident_is_refused_only_where_it_must_be():
    forced, free = cg.kernel(two_sizes, graph=True, loop="resident"), cg.kernel(two_sizes, graph=True)
    x, c = array(np.zeros(64), cg.i32), array(3, cg.i32)
    with pytest.raises(
        cg.CompileResidentError, match=r"blocks of 64 threads, and the loop in line \d+ has blocks of 32"
    ):
        forced(x, c)
    assert (forced.graph_stats.graphs, c.to_numpy()) == (0, 3)
    free(x, c)
    assert x.to_numpy().tolist() == [6] * 64
    found = free.explain(x, c)
    assert found.lowering == free.graph_stats.lowering != "resident"
    assert found.why


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"chain": "fast"}, "chain must be one of auto, nodes, resident, got 'fast'"),
        ({"chain": "resident", "loop": "host"}, 'with loop="host" each task is a launch'),
    ],
)
def test_options_that_mean_nothing_are_refused_when_it_is_decorated(options, words):
    with pytest.raises(ValueError, match=words):
        cg.kernel(body, graph=True, **options)


def test_random_numbers_do_not_depend_on_the_lowering():
    def draw(x, c):
        while cg.graph_do_while(c):
            c[()] -= 1
            for i in range(x.shape[1]):
                x[c[()], i] = cg.random(cg.u32)

    draw.__annotations__ = {"x": cg.types.ndarray(cg.u32, ndim=2), "c": i32_0d}
    found = []
    for loop in ("conditional", "resident"):
        cg.random_seed(7)
        x = cg.ndarray(cg.u32, (4, 2000))
        cg.kernel(draw, graph=True, loop=loop)(x, array(4, cg.i32))
        found.append(x.to_numpy())
    np.testing.assert_array_equal(*found)
    assert len(np.unique(found[0])) > 7900


def test_launches_of_one_kernel_on_several_streams_do_not_meet():
    """Each graph has a barrier of its own, and runs after itself."""
    kernel = cg.kernel(nested_flow, graph=True, loop="resident")
    device, mine = cg.Device(0), []
    for rounds in (1, 2, 3, 4, 5, 6):
        x, stream = array([0] * 2000, cg.i32), device.create_stream()
        c, d = array(rounds, cg.i32), array(0, cg.i32)
        kernel(x, c, d, stream=stream)
        mine.append((x, rounds, stream, c, d))
    for x, rounds, stream, *_ in mine:
        stream.sync()
        assert x.to_numpy()[:3].tolist() == nested_flow_in_python(rounds)


def test_tasks_of_a_graph_for_gpus_begin_early_and_wait_for_the_one_before():
    """Programmatic edges: the one thing that a task does first is to wait."""
    x, y, total = array([1, 2]), array([3, 4]), array([0])
    for kernel, waits in ((cg.kernel(straight, graph=True, chain="nodes"), 4), (cg.kernel(straight), 0)):
        code = kernel.inspect(1.0, x, y, total, target="ptx").code
        assert code.count("griddepcontrol.wait") == code.count("griddepcontrol.launch_dependents") == waits
        for entry in code.split(".entry")[1 : waits + 1]:
            before, _, after = entry.partition("griddepcontrol.wait")
            assert ".global" not in before.partition("{")[2]
            assert ".global." in after


def count_down(x, left):
    while cg.graph_while(left[()] > 0):
        for i in x:
            x[i] += 1.0
        left[()] -= 1


count_down.__annotations__ = {"x": f32_1d, "left": i32_0d}


@pytest.fixture
def few_threads(monkeypatch):
    """Resident launches count as launches with few threads."""
    real = Shape.resident
    monkeypatch.setattr(Shape, "resident", lambda *given: real(*given)._replace(is_sparse=True))


def test_nodes_run_a_long_loop_where_a_resident_launch_has_few_threads(few_threads):
    kernel = cg.kernel(count_down, graph=True)
    for size, lowering in ((1000, "resident"), (1 << 21, "conditional"), (1000, "resident")):
        x, left = cg.zeros(size, cg.f32), cg.array(3, cg.i32)
        found = kernel.explain(x, left)
        kernel(x, left)
        np.testing.assert_array_equal(x.to_numpy(), np.full(size, 3, "f4"))
        assert found.lowering == kernel.graph_stats.lowering == lowering
        assert ("many iterations" in found.why) == (size > 1000)


@pytest.mark.parametrize("chosen", [{"loop": "resident"}, {"chain": "resident"}], ids=str)
def test_a_chosen_lowering_stays_for_long_loops(few_threads, chosen):
    kernel = cg.kernel(count_down, graph=True, **chosen)
    assert kernel.explain(cg.zeros(1 << 21, cg.f32), cg.array(3, cg.i32)).lowering == "resident"


def three_tasks(x, left):
    while cg.graph_while(left[()] > 0):
        for _ in cg.static(range(3)):
            for i in x:
                x[i] += 1.0
        left[()] -= 1


three_tasks.__annotations__ = {"x": f32_1d, "left": i32_0d}


def test_nodes_run_a_loop_of_many_tasks_where_blocks_would_wait_for_each_other(monkeypatch):
    real = Shape.resident
    limits = {"lone_bytes": 8 * 5000, "many_tasks": 3}
    monkeypatch.setattr(Shape, "resident", lambda *given: real(*given)._replace(**limits))
    kernel = cg.kernel(three_tasks, graph=True, fuse=False)
    for size, lowering in ((5000, "resident"), (5001, "conditional"), (1 << 16, "resident")):
        x, left = cg.zeros(size, cg.f32), cg.array(2, cg.i32)
        found = kernel.explain(x, left)
        kernel(x, left)
        np.testing.assert_array_equal(x.to_numpy(), np.full(size, 6, "f4"))
        assert found.lowering == kernel.graph_stats.lowering == lowering
        assert ("many tasks" in found.why) == (lowering == "conditional")
    fewer = cg.kernel(count_down, graph=True)
    assert fewer.explain(cg.zeros(5001, cg.f32), cg.array(2, cg.i32)).lowering == "resident"
