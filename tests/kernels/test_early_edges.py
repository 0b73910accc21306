# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of `instantiate(early_edges=True)`: kernels begin early, and the results and the definition stay as they are."""

import random

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.kernels import shapes
from cuda_graphs.kernels.call import early_edges
from cuda_graphs.kernels.graph import emission

N = 5000
VECTOR = cg.Array1[cg.f32]


@cg.kernel
def scale(b: VECTOR, a: cg.f32) -> None:
    for i in range(b.shape[0]):
        b[i] = b[i] * a


@cg.kernel
def add(b: VECTOR, c: VECTOR) -> None:
    for i in range(b.shape[0]):
        b[i] = b[i] * 1.01 + c[i]


@cg.kernel
def shift(b: VECTOR, c: VECTOR) -> None:
    for i in range(b.shape[0] - 1):
        b[i] = b[i] * 0.5 + c[i + 1]


@cg.kernel
def twice(b: VECTOR, c: VECTOR) -> None:
    for i in range(b.shape[0]):
        b[i] = b[i] + c[0]
    for i in range(b.shape[0]):
        b[i] = b[i] * 0.5 + c[i]


@cg.kernel(graph=True)
def until_small(b: VECTOR, n: cg.Array0[cg.i32]) -> None:
    n[()] = 0
    while n[()] < 3:
        for i in range(b.shape[0]):
            b[i] = b[i] * 0.5
        n[()] += 1


@cg.kernel
def count_down(n: cg.Array1[cg.i32]) -> None:
    for i in range(n.shape[0]):
        n[i] = n[i] - 1


def ramp(factor=1.0, n=N):
    made = cg.ndarray(cg.f32, n)
    made.from_numpy((np.arange(n) * factor / 7 % 100).astype(np.float32))
    return made


def numbers(arrays):
    return [each.to_numpy().tobytes() for each in arrays]


def run(graph, stream, **values):
    graph.launch(stream, **values)
    stream.sync()


def chain(*calls):
    """Return a definition with a chain of calls, and its nodes."""
    g = cg.GraphDef()
    nodes = []
    for kernel, *args in calls:
        nodes.append((nodes[-1] if nodes else g).call(kernel, *args))
    return g, nodes


def loads(graph):
    """Return the arrays that each early node reads first."""
    return [each.loads for each in graph.explain().early if each.is_early]


def reasons(graph):
    return [each.why for each in graph.explain().early if not each.is_early]


def random_graph(source, arrays):
    """Return a definition of random calls, with the edges that their accesses need and a few more."""
    g = cg.GraphDef()
    with g.task_flow() as flow:
        for _ in range(source.randint(3, 14)):
            kernel = source.choice([scale, add, shift, shift, twice])
            b, c = source.sample(arrays, 2)
            flow.call(kernel, b, source.choice([0.5, 1.25]) if kernel is scale else c)
    ends = [node for node in g.nodes() if not node.succ]
    if len(ends) > 1 and source.random() < 0.5:
        ends[0].join(*ends[1:]).call(shift, *arrays[:2]).call(add, *arrays[1:3])
    return g


@pytest.mark.parametrize("seed", range(16))
def test_early_graphs_give_the_bits_of_full_edges(seed, stream):
    found = []
    for early in (False, True):
        source = random.Random(seed)
        arrays = [ramp(1.0 + i) for i in range(source.randint(3, 6))]
        g = random_graph(source, arrays)
        edges = {(a.name, b.name) for a, b in g.edges()}
        graph = g.instantiate(early_edges=early)
        assert {(a.name, b.name) for a, b in g.edges()} == edges
        assert {g.edge_data(a, b) for a, b in g.edges()} <= {cg.EdgeData()}
        for _ in range(3):
            graph.launch(stream)
        stream.sync()
        found.append(numbers(arrays))
    assert found[0] == found[1]


def test_a_chain_reads_what_no_kernel_before_it_writes(stream):
    b, c, d = ramp(), ramp(2.0), ramp(3.0)
    g, _ = chain((add, b, c), (add, b, d), (add, d, b), (add, b, c), (add, b, d))
    graph = g.instantiate(early_edges=True)
    assert loads(graph) == [("c",), (), ("c",), ()]
    assert reasons(graph) == []
    assert "begins early, and reads c first" in str(graph.explain())


def test_a_full_edge_ends_what_may_still_run(stream):
    b, c, d = ramp(), ramp(2.0), ramp(3.0)
    g = cg.GraphDef()
    first = g.call(add, d, c)
    first.join().call(add, b, c).call(add, c, d)
    assert loads(g.instantiate(early_edges=True)) == [("c",)]
    first.call(add, b, c).call(add, c, d)
    assert sorted(loads(g.instantiate(early_edges=True))) == [(), ("c",), ("c",)]


def test_overlapping_slices_are_not_read_early():
    whole = ramp(1.0, 2 * N)
    g, _ = chain((scale, whole[:N], 2.0), (add, ramp(), whole[N - 1 : 2 * N - 1]), (add, ramp(), whole[N:]))
    assert loads(g.instantiate(early_edges=True)) == [(), ("c",)]


def test_arrays_that_change_later_are_not_read_early(stream):
    b, c = ramp(), ramp(2.0)
    results = []
    for early in (False, True):
        g = cg.GraphDef()
        p, q = g.param("p", VECTOR, b), g.param("q", VECTOR, c)
        g.call(scale, p, 2.0).call(add, ramp(), q).call(add, p, ramp())
        graph = g.instantiate(early_edges=early)
        b.from_numpy(np.ones(N, np.float32))
        run(graph, stream, p=c, q=c)
        results.append(numbers([b, c]))
        c.from_numpy(ramp(2.0).to_numpy())
    # The sizes of the arrays are those of the grids, and a GPU keeps full edges where grids depend on parameters.
    assert loads(graph) == ([(), ()] if shapes.early_limit() is None else [])
    assert results[0] == results[1]


def test_named_numbers_keep_their_names(stream):
    results = []
    for early in (False, True):
        b, c = ramp(), ramp(2.0)
        g = cg.GraphDef()
        a = g.param("a", cg.f32, 2.0)
        g.call(scale, b, a).call(add, b, c).call(scale, b, a)
        graph = g.instantiate(early_edges=early)
        run(graph, stream)
        run(graph, stream, a=0.75)
        graph.set(a=1.5)
        run(graph, stream)
        assert graph.params["a"].value == 1.5
        results.append(numbers([b, c]))
    assert results[0] == results[1]
    assert loads(graph) == [("c",), ()]


def test_kernels_of_other_code_may_come_before_but_write_anything(kernels, stream):
    x, b, c = cg.array([1], cg.i32), ramp(), ramp(2.0)
    g = cg.GraphDef()
    node = g.launch(cg.LaunchConfig(grid=1, block=1), kernels.add, x, 1, 1)
    node.call(add, b, c).launch(cg.LaunchConfig(grid=1, block=1), kernels.add, x, 1, 1)
    graph = g.instantiate(early_edges=True)
    assert loads(graph) == [()]
    assert "is not a call of a kernel of cuda_graphs" in reasons(graph)[0]
    run(graph, stream)
    assert x[0] == 3


def test_views_of_early_nodes_say_why_they_are_fixed():
    b, c, d = ramp(), ramp(2.0), ramp(3.0)
    g, nodes = chain((add, b, c), (add, b, d))
    other = g.call(scale, ramp(), 2.0)
    graph = g.instantiate(early_edges=True)
    for node in nodes:
        with pytest.raises(ValueError, match=r"has an early edge in this Graph.*early_edges=True"):
            graph[node]
    graph[other].disable()


def test_captured_nodes_begin_early(stream):
    results = []
    for early in (False, True):
        b, c, d = ramp(), ramp(2.0), ramp(3.0)
        with stream.create_graph_builder() as builder:
            add(b, c, stream=builder)
            shift(b, d, stream=builder)
        graph = builder.complete(early_edges=early)
        run(graph, stream)
        results.append(numbers([b, c, d]))
    assert loads(graph) == [("c",)]
    assert results[0] == results[1]


def test_nodes_in_bodies_begin_early(stream):
    results = []
    for early in (False, True):
        b, c, n = ramp(), ramp(2.0), cg.array([3], cg.i32)
        g = cg.GraphDef()
        g.while_loop(lambda n: n[0] > 0, args=(n,)).body.call(scale, b, 1.25).call(shift, b, c).call(
            count_down, n
        )
        graph = g.instantiate(early_edges=early)
        run(graph, stream)
        results.append(numbers([b, c, n]))
    assert results[0] == results[1]
    assert n[0] == 0
    assert ("c",) in loads(graph)


def test_tasks_of_graph_kernels_begin_early(stream):
    results = []
    for early in (False, True):
        b, n = ramp(), cg.array(0, cg.i32)
        g, _ = chain((scale, b, 3.0), (until_small, b, n), (scale, b, 3.0))
        graph = g.instantiate(early_edges=early)
        run(graph, stream)
        results.append(numbers([b, n]))
    assert results[0] == results[1]
    assert loads(graph)


def test_an_update_keeps_the_edges_and_finds_the_loads_anew(stream):
    results, found = [], []
    for early in (False, True):
        b, c, d = ramp(), ramp(2.0), ramp(3.0)
        g, nodes = chain((scale, b, 2.0), (add, b, c), (shift, d, c))
        graph = g.instantiate(early_edges=early)
        for changed in ({}, {1: (b, d)}, {0: (c, 2.0), 1: (b, c)}):
            for number, args in changed.items():
                nodes[number].update(args=args)
            graph.update(g)
            run(graph, stream)
            results.append(numbers([b, c, d]))
            if early:
                found.append(loads(graph))
    assert results[:3] == results[3:]
    assert found == [[("c",), ("c",)], [("c",), ("c",)], [(), ()]]


def test_an_update_that_would_need_a_full_edge_is_refused(kernels, stream):
    x, b, c = cg.array([1], cg.i32), ramp(), ramp(2.0)
    g, nodes = chain((scale, b, 2.0), (add, b, c))
    graph = g.instantiate(early_edges=True)
    before = loads(graph)
    other = chain((scale, b, 2.0), (add, b, c))[0]
    with pytest.raises(RuntimeError, match="early_edges=True, so it can be updated only from the definition"):
        graph.update(other)
    nodes[1].update(kernel=kernels.add, args=(x, 1, 1))
    with pytest.raises(RuntimeError, match="has to become a full one"):
        graph.update(g)
    assert loads(graph) == before
    run(graph, stream)
    assert np.array_equal(b.to_numpy(), ramp().to_numpy() * np.float32(2) * np.float32(1.01) + c.to_numpy())
    assert x[0] == 1


def test_a_refused_update_leaves_the_early_nodes(stream):
    b, c = ramp(), ramp(2.0)
    g, nodes = chain((scale, b, 2.0), (add, b, c))
    graph = g.instantiate(early_edges=True)
    nodes[1].memset(c, 0)
    with pytest.raises(cg.GraphUpdateError):
        graph.update(g)
    assert {g.edge_data(*edge) for edge in g.edges()} == {cg.EdgeData()}
    with pytest.raises(ValueError, match="has an early edge"):
        graph[nodes[0]]
    run(graph, stream)
    assert numbers([c]) == numbers([ramp(2.0)])


def test_graphs_with_memory_keep_full_edges(stream):
    b = ramp()
    g = cg.GraphDef()
    memory = g.alloc(4 * N)
    memory.memset(memory.dptr, 0, 4 * N).call(scale, b, 2.0).call(scale, b, 0.5).free(memory.dptr)
    graph = g.instantiate(early_edges=True)
    assert loads(graph) == []
    assert "allocates or frees memory of a size" in reasons(graph)[0]
    run(graph, stream)
    assert numbers([b]) == numbers([ramp()])


def test_edges_with_data_of_the_user_stay_as_they_are():
    b, c, d = ramp(), ramp(2.0), ramp(3.0)
    g = cg.GraphDef()
    first, second = g.call(add, b, c), g.call(scale, b, 2.0)
    second.pred.add(first, cg.EdgeData.programmatic())
    second.call(add, d, c)
    graph = g.instantiate(early_edges=True)
    assert "programmatic" in g.edge_data(first, second).__repr__() or g.edge_data(first, second).type == 1
    assert loads(graph) == [()]
    assert "the edge has the data" in reasons(graph)[0]


def test_a_profile_keeps_the_names_of_nodes_and_pictures_show_the_edges(driver, stream):
    b, c = ramp(), ramp(2.0)
    g = cg.GraphDef()
    g.call(scale, b, 2.0, name="first").call(add, b, c, name="second").join().call(
        scale, b, 0.5, name="third"
    )
    graph = g.instantiate(early_edges=True)
    assert graph.draw().svg().count('class="link programmatic" data-from') == 1
    assert 'class="link programmatic"' not in g.draw().svg()
    if driver.kind == "host":  # on a GPU a profile needs CUPTI
        (found,) = graph.profile(stream, 2).graphs
        runs = {row.name: row.runs for row in found.rows}
        assert {name: runs[name] for name in ("first", "second", "third")} == {
            "first": 2,
            "second": 2,
            "third": 2,
        }


def test_memory_of_temporaries_is_kept_apart_as_with_full_edges(stream):
    """The second temporary takes the place of the first one, which the node before still reads."""
    results = []
    for early in (False, True):
        b, c = ramp(), ramp(2.0)
        g = cg.GraphDef()
        one, two = g.temporary(N, cg.f32), g.temporary(N, cg.f32)
        node = g.memset(one, 0).memset(two, 0).call(add, one, b)
        node = node.call(add, c, one).memset(two, 0).call(add, two, c).call(add, b, two)
        graph = g.instantiate(early_edges=early)
        run(graph, stream)
        results.append(numbers([b, c]))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("blocks", "threads", "expected"),
    [
        (1 << 30, 1 << 30, {"chain": 2, "fork": 3}),
        (0, 1 << 30, {"chain": 0, "fork": 0}),
        (1 << 30, 0, {"chain": 0, "fork": 0}),
        ("two kernels", 1 << 30, {"chain": 2, "fork": 3}),
        (1 << 30, "two kernels", {"chain": 2, "fork": 0}),
        (1 << 30, "three kernels", {"chain": 2, "fork": 0}),
        (1 << 30, "four kernels", {"chain": 2, "fork": 3}),
    ],
)
def test_only_small_grids_begin_early(blocks, threads, expected, monkeypatch, stream):
    """A fork is a kernel with three successors."""
    arrays = [ramp(1.0 + i) for i in range(5)]
    g, nodes = chain(*((scale, arrays[0], 2.0) for _ in range(3)))
    fork = cg.GraphDef()
    first = fork.call(scale, arrays[1], 2.0)
    for each in arrays[2:]:
        first.call(scale, each, 0.5)
    config = nodes[0].config
    unit = {"blocks": np.prod(config.grid), "threads": np.prod(config.grid) * np.prod(config.block)}
    count = {"two kernels": 2, "three kernels": 3, "four kernels": 4}
    limit = shapes.EarlyLimit(
        *(
            value if isinstance(value, int) else count[value] * int(unit[name])
            for name, value in (("blocks", blocks), ("threads", threads))
        )
    )
    monkeypatch.setattr(early_edges, "early_limit", lambda: limit)
    for name, definition in (("chain", g), ("fork", fork)):
        graph = definition.instantiate(early_edges=True)
        assert len(loads(graph)) == expected[name], name
        assert all("their grids are large" in why for why in reasons(graph))
        run(graph, stream)
    assert numbers(arrays[:1]) == [(ramp().to_numpy() * np.float32(8)).tobytes()]


def test_grids_that_depend_on_parameters_keep_full_edges_on_gpus(monkeypatch):
    b = ramp()
    g = cg.GraphDef()
    p = g.param("p", VECTOR, b)
    g.call(scale, p, 2.0).call(scale, p, 0.5)
    assert loads(g.instantiate(early_edges=True)) in ([()], [])
    monkeypatch.setattr(early_edges, "early_limit", lambda: shapes.EarlyLimit(1 << 30, 1 << 30))
    assert reasons(g.instantiate(early_edges=True)) == ["the sizes of their grids depend on parameters"]


def test_tasks_of_graph_kernels_have_early_edges_if_their_grids_are_small(monkeypatch):
    a, b = (emission.TaskLaunch(cg.LaunchConfig(grid=8, block=128), None, (), (), ()) for _ in range(2))
    made = emission.Emission(cg.GraphDef(), [a, b], (), True)
    for blocks, is_early in ((16, True), (15, False)):
        monkeypatch.setattr(emission, "early_limit", lambda blocks=blocks: shapes.EarlyLimit(blocks, 1 << 20))
        assert bool(made.edge_keyword(0, 1)) == is_early
    monkeypatch.setattr(emission, "early_limit", lambda: None)
    assert made.edge_keyword(0, 1)


def test_nodes_are_fused_first_and_edges_between_the_others_are_early(stream):
    """An update in which two nodes could be fused leaves them apart if their edge is early."""
    results = []
    for options in ({}, {"optimize": True, "early_edges": True}):
        b, c, d = ramp(), ramp(2.0), ramp(3.0)
        g, nodes = chain((scale, b, 2.0), (add, b, c), (shift, d, c), (shift, c, d), (add, b, c))
        graph = g.instantiate(**options)
        run(graph, stream)
        nodes[3].update(args=(b, d))
        nodes[4].update(args=(b, d))
        graph.update(g)
        run(graph, stream)
        results.append(numbers([b, c, d]))
    assert results[0] == results[1]
    assert [len(each.nodes) for each in graph.explain().fusion if each.is_fused] == [2]
    assert loads(graph) == [(), ()]
    assert "has an early edge" in str(graph.explain())
    assert "shares its launch with other nodes" in reasons(graph)[0]
    for node, words in zip(nodes, ["the launch of", "the launch of", *3 * ["an early edge"]], strict=True):
        with pytest.raises(ValueError, match=words):
            graph[node]


def test_an_update_whose_early_edges_are_refused_leaves_the_fused_nodes(kernels, stream):
    x, b, c, d = cg.zeros(1, cg.i32), ramp(), ramp(2.0), ramp(3.0)
    g, nodes = chain((scale, b, 2.0), (add, b, c), (shift, d, c), (shift, c, d), (add, b, c))
    graph = g.instantiate(optimize=True, early_edges=True)
    nodes[3].update(kernel=kernels.add, args=(x, 1, 1))
    with pytest.raises(RuntimeError, match="has to become a full one"):
        graph.update(g)
    assert [len(each.nodes) for each in graph.explain().fusion if each.is_fused] == [2]
    with pytest.raises(ValueError, match="it runs in the launch of"):
        graph[nodes[0]]
    run(graph, stream)
    wanted = [ramp(), ramp(2.0), ramp(3.0)]
    for kernel, to, argument in ((scale, 0, 2.0), (add, 0, 1), (shift, 2, 1), (shift, 1, 2), (add, 0, 1)):
        kernel(wanted[to], argument if kernel is scale else wanted[argument], stream=stream)
    stream.sync()
    assert numbers([b, c, d]) == numbers(wanted)
    assert x[0] == 0


def test_options_that_exclude_each_other_are_refused():
    g, _ = chain((scale, ramp(), 2.0))
    with pytest.raises(ValueError, match="exclude each other"):
        g.instantiate(early_edges=True, device_launch=True)
    with pytest.raises(TypeError, match="early_edges"):
        g.instantiate(early_edges="yes")
    graph = g.instantiate(cg.GraphCompleteOptions(early_edges=True))
    assert graph.explain().early == ()
    assert "no kernel node has an edge" in str(graph.explain())
