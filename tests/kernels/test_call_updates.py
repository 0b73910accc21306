# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of updates of nodes that calls of kernels made: they take Python arguments, for all nodes of the call."""

import dataclasses
import gc
import weakref

import numpy as np
import pytest

import cuda_graphs as cg

VECTOR = cg.types.ndarray(cg.f32, ndim=1)
ONE = cg.LaunchConfig(grid=1, block=32)


@cg.kernel
def add(x: cg.types.ndarray(ndim=1), a: cg.f32):
    for i in x:
        x[i] += a


@cg.kernel
def normalise(x: VECTOR, y: VECTOR, scale: cg.f32):
    """y = scale * x / sum(x): several tasks."""
    s = cg.f32(0.0)
    for i in x:
        s += x[i]
    for i in y:
        y[i] = scale * x[i] / s


@cg.kernel(graph=True)
def halve(x: VECTOR, tol: cg.f32):
    while x[0] > tol:
        for i in x:
            x[i] *= 0.5


def ramp(n, dtype=cg.f32):
    made = cg.ndarray(dtype, n)
    made.from_numpy(np.arange(1, n + 1))
    return made


def run(graph, stream):
    graph.launch(stream)
    stream.sync()


def normal(n, scale):
    x = np.arange(1, n + 1)
    return scale * x / x.sum()


def test_an_update_of_any_node_of_a_call_updates_all_of_them(stream):
    for which in range(3):
        g = cg.GraphDef()
        x, y, z, w = ramp(10), ramp(10), ramp(2000), ramp(2000)
        g.call(normalise, x, y, 1.0)
        before = g.instantiate()
        nodes = list(g.nodes())
        nodes[which % len(nodes)].update(args=(z, w, 3.0))
        assert all(node.args == (z, w, 3.0) for node in nodes)
        run(g.instantiate(), stream)
        np.testing.assert_allclose(w.to_numpy(), normal(2000, 3), rtol=1e-4)
        assert (y.to_numpy() == np.arange(1, 11)).all()
        run(before, stream)
        np.testing.assert_allclose(y.to_numpy(), normal(10, 1), rtol=1e-4)


def test_an_update_in_an_executable_changes_that_executable_only(stream):
    g, x, y = cg.GraphDef(), ramp(10), ramp(10)
    last = g.call(normalise, x, y, 1.0)
    graph, other = g.instantiate(), g.instantiate()
    z, w = ramp(3000), ramp(3000)
    graph[last].update(args=(z, w, 5.0))
    assert last.args == (x, y, 1.0)
    run(graph, stream)
    np.testing.assert_allclose(w.to_numpy(), normal(3000, 5), rtol=1e-4)
    assert (y.to_numpy() == np.arange(1, 11)).all()
    run(other, stream)
    np.testing.assert_allclose(y.to_numpy(), normal(10, 1), rtol=1e-4)


def test_random_updates_agree_with_numpy(stream):
    rng = np.random.default_rng(5)
    g = cg.GraphDef()
    x = ramp(4)
    node = g.call(add, x, 1.0)
    graph, wanted, present = g.instantiate(), {}, (x, 1.0)
    arrays = [x, *(ramp(int(rng.integers(1, 3000))) for _ in range(3))]
    values = [a.to_numpy() for a in arrays]
    defined = (0, 1.0)
    executed = defined
    for _ in range(40):
        which, amount = int(rng.integers(4)), float(rng.integers(9))
        kind = rng.integers(4)
        if kind == 0:
            node.update(args=(arrays[which], amount))
            defined = (which, amount)
        elif kind == 1:
            graph[node].update(args=(arrays[which], amount))
            executed = (which, amount)
        elif kind == 2:
            graph.update(g)
            executed = defined
        run(graph, stream)
        values[executed[0]] = values[executed[0]] + np.float32(executed[1])
        assert node.args == (arrays[defined[0]], defined[1])
    for array, value in zip(arrays, values, strict=True):
        assert (array.to_numpy() == value).all()
    assert wanted == {} and present[0] is x


def test_conditions_of_a_call_stay(stream):
    g, x, y = cg.GraphDef(), ramp(5), ramp(4)
    g.call(halve, x, 0.1)
    kernels = [node for node in g.nodes() if isinstance(node, cg.KernelNode)]
    inner = [n for node in g.nodes() for body in getattr(node, "branches", ()) for n in body.nodes()]
    (kernels + [n for n in inner if isinstance(n, cg.KernelNode)])[-1].update(args=(y, 0.3))
    run(g.instantiate(), stream)
    assert (x.to_numpy() == np.arange(1, 6)).all()
    assert (y.to_numpy() == np.arange(1, 5) / 4).all()


def test_only_the_config_of_a_node_changes(stream):
    g, x = cg.GraphDef(), ramp(100)
    node = g.call(add, x, 1.0)
    node.update(config=ONE)
    assert node.config == ONE and node.args == (x, 1.0)
    node.update(args=(x, 2.0))
    assert node.config == ONE
    graph = g.instantiate()
    graph[node].update(config=cg.LaunchConfig(grid=2, block=16))
    run(graph, stream)
    graph[node].update(args=(x, 3.0))
    run(graph, stream)
    assert (x.to_numpy() == np.arange(1, 101) + 5).all()
    assert g.launch(ONE, add, x, 1.0).args == (x, 1.0)


def test_arguments_of_another_type_change_the_code(stream):
    g, x, y = cg.GraphDef(), ramp(5), ramp(6, cg.f64)
    node = g.call(add, x, 1.0)
    kernel, graph = node.kernel, g.instantiate()
    graph[node].update(args=(y, 2.0))
    run(graph, stream)
    assert (y.to_numpy() == np.arange(1, 7) + 2).all()
    node.update(args=(y, 3.0))
    assert node.kernel != kernel
    run(g.instantiate(), stream)
    assert (y.to_numpy() == np.arange(1, 7) + 5).all() and (x.to_numpy() == np.arange(1, 6)).all()


def test_arguments_that_need_other_nodes_are_refused(stream):
    @cg.kernel
    def twice(x: VECTOR, y: cg.template):
        for i in x:
            x[i] += 1.0
        if cg.static(y):
            x[0] += x[2]

    g, x = cg.GraphDef(), ramp(3)
    node = g.call(twice, x, False)
    graph = g.instantiate()
    for change in (node, graph[node]):
        with pytest.raises(ValueError, match="need other nodes"):
            change.update(args=(x, True))
    assert node.args == (x, False)
    run(graph, stream)
    assert (x.to_numpy() == np.arange(1, 4) + 1).all()


def test_wrong_arguments_change_nothing(stream):
    g, x = cg.GraphDef(), ramp(4)
    node = g.call(add, x, 1.0)
    graph = g.instantiate()
    for bad, error in (
        ((x,), TypeError),
        ((x, 1.0, 2.0), TypeError),
        ((x, "a"), TypeError),
        ((3, 1.0), TypeError),
        ((cg.ndarray(cg.f32, (2, 2)), 1.0), ValueError),
        ((np.zeros(3, "f"), 1.0), ValueError),
        (x, TypeError),
        ((cg.GraphDef().param("x", VECTOR), 1.0), ValueError),
    ):
        for change in (node, graph[node]):
            with pytest.raises(error):
                change.update(args=bad)
        assert node.args == (x, 1.0)
    with pytest.raises(ValueError, match="a new kernel needs args"):
        graph[node].update(kernel=node.kernel)
    run(graph, stream)
    assert (x.to_numpy() == np.arange(1, 5) + 1).all()
    node.destroy()
    with pytest.raises(RuntimeError, match="destroyed"):
        node.update(args=(x, 1.0))
    with pytest.raises(RuntimeError, match="destroyed"):
        print(node.args)


def test_a_parameter_may_replace_an_argument_and_back(stream):
    g, x, y = cg.GraphDef(), ramp(4), ramp(5000)
    p = g.param("x", VECTOR, default=x)
    node = g.call(add, x, 1.0)
    node.update(args=(p, g.param("a", cg.f32, default=2)))
    assert node.args[0] is p
    graph = g.instantiate()
    graph.launch(stream, x=y, a=7)
    graph[node].update(args=(x, 3.0))
    graph.launch(stream, x=y)
    graph[node].update(args=(p, 1.0))
    graph.launch(stream)
    stream.sync()
    assert (x.to_numpy() == np.arange(1, 5) + 3).all()
    assert (y.to_numpy() == np.arange(1, 5001) + 8).all()


def test_copies_in_an_embedded_graph_have_raw_arguments(stream):
    g, x = cg.GraphDef(), ramp(4)
    g.call(add, x, 1.0)
    outer = cg.GraphDef()
    copy = next(iter(outer.embed(g).child_graph.nodes()))
    assert x.handle in copy.args and all(type(value) is int for value in copy.args)
    assert next(iter(g.nodes())).args == (x, 1.0)


def test_a_captured_call_is_updated_too(stream):
    x, y = ramp(4), ramp(3000)
    with stream.create_graph_builder() as builder:
        add(x, 1.0, stream=builder)
    (node,) = builder.graph_definition.nodes()
    assert node.args == (x, 1.0)
    graph = builder.complete()
    node.update(args=(y, 2.0))
    graph[node].update(args=(y, 4.0))
    run(graph, stream)
    run(builder.graph_definition.instantiate(), stream)
    assert (y.to_numpy() == np.arange(1, 3001) + 6).all()


def test_a_kernel_node_of_cuda_keeps_what_is_not_given(kernels, stream):
    buffer = cg.PinnedMemoryResource().allocate(32, stream=stream)
    x = np.from_dlpack(buffer).view(np.int64)
    x[:] = 0
    g = cg.GraphDef()
    node = g.launch(ONE, kernels.add, buffer, 1, 5)
    assert node.args[1:] == (1, 5)
    graph = g.instantiate()
    graph[node].update(args=(buffer, 1, 7))
    graph[node].update(config=cg.LaunchConfig(grid=1, block=1))
    run(graph, stream)
    graph[node].update(args=(buffer, 2, 100))
    run(graph, stream)
    graph.update(g)
    graph[node].update(config=cg.LaunchConfig(grid=1, block=1))
    run(graph, stream)
    values = np.from_dlpack(buffer).view(np.int32)
    assert 112 in values or 112 in x or values[0] != 0


def test_a_call_does_not_keep_its_graph_alive(stream):
    @dataclasses.dataclass
    class Pair:
        x: VECTOR
        a: cg.f32

    @cg.kernel
    def shift(p: Pair):
        for i in p.x:
            p.x[i] += p.a

    @cg.data_oriented
    class Model:
        def __init__(self, x):
            self.x = x

        @cg.kernel
        def step(self, a: cg.f32):
            for i in self.x:
                self.x[i] += a

    model, x = Model(ramp(3)), ramp(4)
    model.graph = cg.GraphDef()
    node = model.graph.call(model.step, 1.0)
    assert node.args == (1.0,)
    node.update(args=(2.0,))
    run(model.graph.instantiate(), stream)
    assert (model.x.to_numpy() == np.arange(1, 4) + 2).all()
    pair = model.graph.call(shift, Pair(x, 1.0))
    assert pair.args[0] == Pair(x, 1.0)
    memory = model.graph.alloc(shape=(4,), dtype=cg.f32)
    used = memory.call(add, memory, 1.0)
    assert used.args[0] is memory
    seen = weakref.ref(model)
    del model, node, pair, memory, used
    assert seen() is None
    gc.collect()


def test_several_executables_follow_their_own_updates(stream):
    g, arrays = cg.GraphDef(), [ramp(n) for n in (3, 40, 5000)]
    node = g.call(add, arrays[0], 1.0)
    graphs = [g.instantiate() for _ in arrays]
    for graph, x in zip(graphs, arrays, strict=True):
        graph[node].update(args=(x, 10.0))
    for graph in graphs:
        run(graph, stream)
    for x in arrays:
        assert (x.to_numpy() == np.arange(1, x.size + 1) + 10).all()
