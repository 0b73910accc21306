# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of `instantiate(optimize=True)`: neighbouring nodes run as one launch, and give the bits of the nodes apart."""

import gc
import random

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph.profile_rig import host_driver

__all__ = ["host_driver"]

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
def divide(b: VECTOR, c: VECTOR) -> None:
    for i in range(b.shape[0]):
        if c[i] > 1.5:
            b[i] = b[i] / c[i]


@cg.kernel
def shift(b: VECTOR, c: VECTOR) -> None:
    for i in range(b.shape[0] - 1):
        b[i] = b[i] + c[i + 1]


@cg.kernel
def total(b: VECTOR, s: cg.Array0[cg.i32]) -> None:
    for i in range(b.shape[0]):
        cg.atomic_add(s[()], cg.i32(b[i]))


@cg.kernel(fuse=False)
def alone(b: VECTOR) -> None:
    for i in range(b.shape[0]):
        b[i] = b[i] + 1.0


@cg.kernel(graph=True)
def as_graph(b: VECTOR) -> None:
    for i in range(b.shape[0]):
        b[i] = b[i] + 1.0


@cg.kernel
def twice(b: VECTOR) -> None:
    for i in range(b.shape[0]):
        b[i] = b[i] + b[0]
    for i in range(b.shape[0]):
        b[i] = b[i] + b[0]


@cg.kernel
def count_down(n: cg.Array1[cg.i32]) -> None:
    for i in range(n.shape[0]):
        n[i] = n[i] - 1


def ramp(factor=1.0, n=N):
    made = cg.ndarray(cg.f32, n)
    made.from_numpy((np.arange(n) * factor / 7).astype(np.float32))
    return made


def numbers(arrays):
    return [each.to_numpy().tobytes() for each in arrays]


def fused(graph):
    return [each.nodes for each in graph.explain().fusion if each.is_fused]


def reasons(graph):
    return [each.why for each in graph.explain().fusion if not each.is_fused]


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


def is_apart(b, c):
    return abs(b.handle - c.handle) >= b.nbytes


def random_calls(source, arrays):
    """Return calls of random kernels. Some arrays are slices of one array; those of one call do not overlap."""
    calls = []
    for _ in range(source.randint(2, 9)):
        kernel = source.choice([scale, add, add, divide, shift])
        b = source.choice(arrays)
        c = source.choice([each for each in arrays if is_apart(each, b)])
        calls.append((kernel, b, source.choice([0.5, 1.25])) if kernel is scale else (kernel, b, c))
    return calls


@pytest.mark.parametrize("seed", range(12))
def test_optimised_graphs_give_the_bits_of_the_calls(seed, stream):
    found = []
    for optimize in (None, False, True):
        source = random.Random(seed)
        whole = ramp(3.0, 2 * N)
        arrays = [ramp(), ramp(2.0), whole[:N], whole[N:], whole[N // 2 : N // 2 + N]]
        calls = random_calls(source, arrays)
        if optimize is None:
            for kernel, *args in 2 * calls:
                kernel(*args, stream=stream)
            stream.sync()
        else:
            graph = chain(*calls)[0].instantiate(optimize=optimize)
            run(graph, stream)
            run(graph, stream)
        found.append(numbers([*arrays[:2], whole]))
    assert found[0] == found[1] == found[2]


def test_a_chain_over_one_array_is_one_launch(stream):
    b, c = ramp(), ramp(2.0)
    g, nodes = chain(*[(add, b, c)] * 10)
    graph = g.instantiate(optimize=True)
    ((names),) = fused(graph)
    assert len(names) == 10 == len(nodes)
    assert reasons(graph) == []
    assert all("test_node_fusion.py:" in name for name in names)


def test_a_profile_keeps_the_names_of_nodes_and_the_first_one_runs(host_driver, stream):
    b, c = ramp(), ramp(2.0)
    g = cg.GraphDef()
    g.call(scale, b, 2.0, name="first").call(add, b, c, name="second").call(scale, b, 0.5, name="third")
    (found,) = g.instantiate(optimize=True).profile(stream, 2).graphs
    assert {row.name: row.runs for row in found.rows} == {"first": 2, "second": 0, "third": 0}


def test_views_of_fused_nodes_name_the_launch():
    b, c = ramp(), ramp(2.0)
    g, nodes = chain((scale, b, 2.0), (add, b, c), (shift, c, b))
    graph = g.instantiate(optimize=True)
    for node in nodes[:2]:
        with pytest.raises(ValueError, match=r"it runs in the launch of scale_add.*optimize=True"):
            graph[node]
    graph[nodes[2]].update(args=(b, c))


def test_named_numbers_of_fused_nodes_keep_their_names(stream):
    results = []
    for optimize in (False, True):
        b, c = ramp(), ramp(2.0)
        g = cg.GraphDef()
        a = g.param("a", cg.f32, 2.0)
        g.call(scale, b, a).call(add, b, c).call(scale, b, a)
        graph = g.instantiate(optimize=optimize)
        run(graph, stream)
        run(graph, stream, a=0.75)
        graph.set(a=1.5)
        run(graph, stream)
        assert graph.params["a"].value == 1.5
        results.append(numbers([b, c]))
    assert len(fused(graph)) == 1
    assert results[0] == results[1]


def test_nodes_with_named_arrays_stay_alone():
    b = ramp()
    g = cg.GraphDef()
    p = g.param("p", VECTOR)
    g.call(add, b, p).call(add, b, b)
    assert "named parameter 'p'" in reasons(g.instantiate(optimize=True))[0]


REASONS = {
    "different_elements": (lambda b, c: [(add, b, c), (shift, c, b)], "may have different index spaces"),
    "other_elements": (lambda b, c: [(shift, b, c), (shift, c, b)], "at other elements"),
    "no_shared_array": (lambda b, c: [(alone_pair, b), (alone_pair, c)], "they share no array"),
    "fuse_false": (lambda b, c: [(add, b, c), (alone, b)], "fuse=False"),
    "graph_kernel": (lambda b, c: [(add, b, c), (as_graph, b)], "is a graph kernel"),
    "several_tasks": (lambda b, c: [(add, b, c), (twice, b)], "has 2 tasks"),
}


@cg.kernel
def alone_pair(b: VECTOR) -> None:
    for i in range(b.shape[0]):
        b[i] = b[i] * 3.0


@pytest.mark.parametrize("name", REASONS)
def test_explain_gives_the_reason_for_neighbours_apart(name, stream):
    calls, reason = REASONS[name]
    graph = chain(*calls(ramp(), ramp(2.0)))[0].instantiate(optimize=True)
    assert fused(graph) == []
    assert any(reason in why for why in reasons(graph)), reasons(graph)
    assert reason in str(graph.explain())


def test_nodes_with_other_neighbours_stay_alone(stream):
    b, c, d = ramp(), ramp(2.0), ramp(3.0)
    g = cg.GraphDef()
    first = g.call(scale, b, 2.0)
    left, right = first.call(add, c, b), first.call(add, d, b)
    left.join(right).call(add, b, c)
    graph = g.instantiate(optimize=True)
    assert fused(graph) == []
    assert set(reasons(graph)) == {"other nodes follow the first one too"}


def test_overlapping_slices_are_not_fused_and_give_the_same_bits(stream):
    results = []
    for optimize in (False, True):
        whole = ramp(1.0, 2 * N)
        g, _ = chain((add, whole[:N], ramp(2.0)), (scale, whole[100 : 100 + N], 0.5))
        graph = g.instantiate(optimize=optimize)
        run(graph, stream)
        results.append(numbers([whole]))
    assert results[0] == results[1]
    assert fused(graph) == []


def test_captured_nodes_are_fused(stream):
    results = []
    for optimize in (False, True):
        b, c = ramp(), ramp(2.0)
        with stream.create_graph_builder() as builder:
            scale(b, 2.0, stream=builder)
            add(b, c, stream=builder)
        graph = builder.complete(optimize=optimize)
        run(graph, stream)
        results.append(numbers([b, c]))
    assert len(fused(graph)) == 1
    assert results[0] == results[1]


class Eager:
    """Runs calls at once."""

    def temporary(self):
        return cg.zeros(N)

    def call(self, kernel, *args):
        kernel(*args)

    free = id


class Captured(Eager):
    """Captures calls. A temporary array is freed where it dies."""

    def graph(self, fill, optimize):
        with cg.capture() as builder:
            fill(self)
        return builder.complete(optimize=optimize)


class Explicit:
    """Adds calls to a definition. With `addresses`, the address of each temporary array is read."""

    def __init__(self, addresses):
        self.addresses = addresses

    def temporary(self):
        array = self.at.alloc(shape=N, dtype=cg.f32)
        if self.addresses:
            assert array.dptr
        self.at = array.memset(array, 0)
        return array

    def call(self, kernel, *args):
        self.at = self.at.call(kernel, *args)

    def free(self, array):
        self.at = self.at.free(array)

    def graph(self, fill, optimize):
        definition = self.at = cg.GraphDef()
        fill(self)
        del self.at
        gc.collect()
        return definition.instantiate(optimize=optimize)


def use_temporaries(source, arrays, build):
    """Make calls with three temporary arrays, one after the other, which nothing refers to afterwards."""
    for _ in range(3):
        temporary = build.temporary()
        build.call(add, temporary, source.choice(arrays))
        for _ in range(source.randint(1, 4)):
            b, c = source.sample([temporary, temporary, *arrays], 2)
            if b is not c:
                build.call(source.choice([add, divide, shift]), b, c)
        build.call(add, source.choice(arrays), temporary)
        build.free(temporary)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("how", ["captured", "explicit", "explicit, with addresses"])
def test_nodes_with_temporary_arrays_that_nothing_refers_to_are_fused(how, seed, stream):
    found, made = [], []
    for optimize in (None, False, True):
        source, arrays = random.Random(seed), [ramp(), ramp(2.0)]
        if optimize is None:
            build = Eager()
            for _ in range(2):
                use_temporaries(random.Random(seed), arrays, build)
        else:
            build = Captured() if how == "captured" else Explicit("addresses" in how)
            graph = build.graph(lambda b, s=source, a=arrays: use_temporaries(s, a, b), optimize)
            run(graph, stream)
            run(graph, stream)
            made.append(graph)
        cg.Device().sync()
        found.append(numbers(arrays))
    assert found[0] == found[1] == found[2]
    assert fused(made[1])
    assert not any("no longer alive" in why for why in reasons(made[1]))


def test_nodes_in_bodies_are_fused(stream):
    results = []
    for optimize in (False, True):
        b, c, n = ramp(), ramp(2.0), cg.array([3], cg.i32)
        g = cg.GraphDef()
        g.while_loop(lambda n: n[0] > 0, args=(n,)).body.call(scale, b, 1.25).call(add, b, c).call(
            count_down, n
        )
        graph = g.instantiate(optimize=optimize)
        run(graph, stream)
        results.append(numbers([b, c, n]))
    assert results[0] == results[1]
    assert n[0] == 0
    assert len(fused(graph)) == 1


def test_sums_of_integers_join_their_producer(stream):
    b, s = ramp(), cg.array(0, cg.i32)
    g, _ = chain((scale, b, 2.0), (total, b, s))
    graph = g.instantiate(optimize=True)
    expected = (b.to_numpy() * np.float32(2)).astype(np.int32).sum()
    run(graph, stream)
    assert len(fused(graph)) == 1
    assert s.to_numpy() == expected


def test_an_update_fuses_again(stream):
    """The second arguments allow one pair, the last ones none: the arrays overlap."""
    results, counts = [], []
    for optimize in (False, True):
        b, c, whole = ramp(), ramp(2.0), ramp(1.0, 2 * N)
        left, right = whole[:N], whole[1 : 1 + N]
        g, nodes = chain((scale, b, 2.0), (add, b, c), (scale, b, 0.5))
        graph = g.instantiate(optimize=optimize)
        for changed in (
            {},
            {1: (left, c), 2: (left, 0.75)},
            {0: (left, 2.0), 1: (right, c), 2: (left, 0.75)},
        ):
            for number, args in changed.items():
                nodes[number].update(args=args)
            graph.update(g)
            run(graph, stream)
            results.append(numbers([b, c, whole]))
            if optimize:
                counts.append([len(names) for names in fused(graph)])
    assert results[:3] == results[3:]
    assert counts == [[3], [2], []]


def test_an_update_from_another_definition_is_refused_and_changes_nothing(stream):
    b, c = ramp(), ramp(2.0)
    calls = [(scale, b, 2.0), (add, b, c)]
    g, other = chain(*calls)[0], chain(*calls)[0]
    graph = g.instantiate(optimize=True)
    before = str(graph.explain())
    with pytest.raises(RuntimeError, match="only from the definition that it was made from"):
        graph.update(other)
    assert str(graph.explain()) == before
    run(graph, stream)
    assert np.array_equal(b.to_numpy(), ramp().to_numpy() * np.float32(2) * np.float32(1.01) + c.to_numpy())


def test_a_refused_update_leaves_the_fused_nodes(stream):
    b, c = ramp(), ramp(2.0)
    g, nodes = chain((scale, b, 2.0), (add, b, c))
    graph = g.instantiate(optimize=True)
    nodes[1].memset(c, 0)
    with pytest.raises(cg.GraphUpdateError):
        graph.update(g)
    with pytest.raises(ValueError, match="it runs in the launch of"):
        graph[nodes[0]]
    run(graph, stream)
    expected = ramp().to_numpy() * np.float32(2)
    assert np.allclose(b.to_numpy(), expected * np.float32(1.01) + ramp(2.0).to_numpy())
    assert numbers([c]) == numbers([ramp(2.0)])


def test_an_update_to_further_nodes_is_refused_as_such_if_arrays_share_memory(stream):
    b, c = ramp(), ramp(2.0)
    g = cg.GraphDef()
    array = g.alloc(shape=N, dtype=cg.f32)
    nodes = [array.memcpy(array, c).call(scale, array, 2.0)]
    nodes += [nodes[0].call(add, b, array)]
    nodes[1].free(array)
    graph = g.instantiate(optimize=True)
    assert len(fused(graph)) == 1
    nodes[1].call(add, b, c).call(add, b, c)
    with pytest.raises(cg.GraphUpdateError, match="were edited"):
        graph.update(g)
    assert len(fused(graph)) == 1
    run(graph, stream)
    wanted = ramp().to_numpy() * np.float32(1.01) + np.float32(2) * ramp(2.0).to_numpy()
    assert np.array_equal(b.to_numpy(), wanted)


def test_fused_nodes_do_their_work_after_an_update_that_a_value_does_not_fit(stream):
    b, c, small = ramp(), ramp(2.0), cg.zeros(10, cg.f32)
    g, nodes = chain((scale, b, 2.0), (add, b, c))
    size = g.param("size", cg.u64, default=40)
    large = ramp(3.0)
    copy = nodes[1].memcpy(large, c, size)
    graph = g.instantiate(optimize=True)
    graph.set(size=400)
    copy.update(dst=small, size=size)
    nodes[0].update(args=(b, 4.0))
    with pytest.raises(ValueError, match="beyond the end"):
        graph.update(g)
    expected = ramp().to_numpy()
    for factor, copied in ((2, large), (4, small)):
        assert len(fused(graph)) == 1
        run(graph, stream)
        expected = expected * np.float32(factor) * np.float32(1.01) + ramp(2.0).to_numpy()
        assert np.array_equal(b.to_numpy(), expected)
        assert copied.to_numpy()[:10].tolist() == ramp(2.0).to_numpy()[:10].tolist()
        graph.set(size=40)
        graph.update(g)


def test_disabled_nodes_stay_disabled_in_an_update(stream):
    b, c = ramp(), ramp(2.0)
    g, nodes = chain((scale, b, 2.0), (shift, c, b), (scale, b, 0.5), (add, b, c))
    graph = g.instantiate(optimize=True)
    assert len(fused(graph)) == 1
    graph[nodes[0]].disable()
    nodes[1].update(args=(c, c))
    graph.update(g)
    assert any("is disabled" in why for why in reasons(graph))
    assert not graph[nodes[0]].is_enabled


def test_graphs_without_the_option_explain_nothing():
    g, nodes = chain((scale, ramp(), 2.0))
    graph = g.instantiate()
    graph[nodes[0]].update(args=(ramp(), 3.0))
    with pytest.raises(RuntimeError, match="optimize=True"):
        graph.explain()
    graph.close()
    with pytest.raises(RuntimeError, match="closed"):
        graph.explain()


def test_graphs_for_kernels_are_not_optimised():
    g, _ = chain((scale, ramp(), 2.0))
    with pytest.raises(ValueError, match="exclude each other"):
        g.instantiate(optimize=True, device_launch=True)
    with pytest.raises(TypeError, match="optimize"):
        g.instantiate(optimize="yes")


def test_a_graph_without_neighbours_says_so():
    g = cg.GraphDef()
    g.call(scale, ramp(), 2.0)
    graph = g.instantiate(cg.GraphCompleteOptions(optimize=True))
    assert graph.explain() == cg.GraphExplanation(())
    assert "no kernel node" in str(graph.explain())


K = 2.0


@cg.func
def times_k(value):
    return value * K


@cg.kernel
def scale_by_k(b: VECTOR) -> None:
    for i in b:
        b[i] = times_k(b[i])


def test_nodes_keep_the_globals_of_their_calls(stream, monkeypatch):
    """Fused code is made by a later translation, which would read the present values."""
    results = []
    for optimize in (False, True):
        monkeypatch.setitem(globals(), "K", 2.0)
        b = ramp()
        definition, _ = chain((scale_by_k, b), (add, b, ramp(0.5)))
        graph = definition.instantiate(optimize=optimize)
        assert not optimize or len(fused(graph)) == 1
        run(graph, stream)
        monkeypatch.setitem(globals(), "K", 5.0)
        graph.update(definition)
        run(graph, stream)
        later = definition.instantiate(optimize=optimize)
        run(later, stream)
        results.append(numbers([b]))
    assert results[0] == results[1]
    assert fused(later) == []
    assert "uses values that have changed since it was added" in reasons(later)[0]


@cg.kernel
def write_integers(m: cg.Array1[cg.i32], y: cg.Array1[cg.i32]) -> None:
    for i in m:
        m[i] = i + 1
        y[i] = 100


@cg.kernel
def add_mirrored(u: cg.Array1[cg.u32], y: cg.Array1[cg.i32]) -> None:
    for i in y:
        y[i] += cg.cast(u[u.shape[0] - 1 - i], cg.i32)


@pytest.mark.parametrize("optimize", [False, True])
def test_nodes_whose_arrays_of_other_types_overlap_stay_apart(optimize, stream):
    m, y = cg.zeros(8, cg.i32), cg.zeros(8, cg.i32)
    definition = cg.GraphDef()
    definition.call(write_integers, m, y).call(add_mirrored, m.view(cg.u32), y)
    run(definition.instantiate(optimize=optimize), stream)
    assert y.to_numpy().tolist() == list(range(108, 100, -1))


def test_nodes_of_a_loaded_graph_stay_apart_and_explain_says_why(tmp_path):
    x = cg.zeros(4, cg.f32)
    g = cg.GraphDef()
    g.call(scale, x, 2.0).call(scale, x, 3.0)
    assert "not fused" not in str(g.instantiate(optimize=True).explain())
    g.save(tmp_path / "chain.cgg", inputs={"x": x})
    loaded = cg.load(tmp_path / "chain.cgg").instantiate(optimize=True)
    assert "comes from a file, which has no source" in str(loaded.explain())
