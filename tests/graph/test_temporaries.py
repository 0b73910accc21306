# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of temporaries: programs compute what they compute with an array for each; only those that are ordered share.

The independent truth for orders searches the edges anew for each pair of nodes; that for results is NumPy.
"""

import ctypes
import itertools
import mmap
import random
from pathlib import Path

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.graph.analysis.sharing import place, plan_sharing
from tests.graph.test_memory_use import heaviest, is_later

pytestmark = pytest.mark.usefixtures("device")
N = 300
USED_MEM_CURRENT = 7  # CU_MEMPOOL_ATTR_USED_MEM_CURRENT
f32x1 = cg.types.ndarray(cg.f32, 1)


@cg.kernel
def combine(to: f32x1, left: f32x1, right: f32x1, factor: cg.f32):
    for i in to:
        to[i] = factor * left[i] + right[i]


@cg.kernel
def count_down(left: cg.types.ndarray(cg.i32, 1)):
    left[0] -= 1


@pytest.fixture(scope="module", autouse=True)
def loaded(session_device):
    """The kernels of this module and that of its loop, which stay loaded."""
    session_device.set_current()
    combine(*(cg.zeros(1, cg.f32) for _ in range(3)), 1.0)
    left = cg.zeros(1, cg.i32)
    count_down(left)
    cg.GraphDef().while_loop(left).body.call(count_down, left)


@pytest.fixture
def stream(device):
    return device.create_stream()


def joined(nodes):
    return nodes[0].join(*nodes[1:]) if nodes[1:] else nodes[0]


class Program:
    """A random program: each step writes a new temporary from two earlier values, after the steps that made them.

    Some steps wait for further steps, so that more temporaries may share.
    """

    def __init__(self, seed, count, kept=3):
        source = random.Random(seed)
        self.g = cg.GraphDef()
        self.inputs = [cg.array(np.random.default_rng(seed + i).random(N, "f4")) for i in range(2)]
        self.results = [cg.zeros(N, cg.f32) for _ in range(kept)]
        values, expected = list(self.inputs), [each.to_numpy() for each in self.inputs]
        nodes = [None, None]
        self.users = {}
        for step in range(count):
            left, right = source.randrange(max(0, step - 4), step + 2), source.randrange(step + 2)
            keeps = step >= count - kept
            to = self.results[step - count] if keeps else self.g.temporary(N, cg.f32, name=f"t{step}")
            further = source.sample(range(2, step + 2), min(step, source.randrange(3)))
            before = {nodes[i] for i in (left, right, *further)} - {None}
            place = joined(list(before)) if before else self.g
            node = place.call(combine, to, values[left], values[right], 0.5)
            for value in (to, values[left], values[right]):
                if isinstance(value, cg.Temporary):
                    self.users.setdefault(value, set()).add(node)
            values.append(to)
            nodes.append(node)
            expected.append((np.float32(0.5) * expected[left] + expected[right]).astype("f4"))
        self.expected = expected[-kept:]


@pytest.mark.parametrize("seed", range(12))
def test_programs_with_shared_memory_compute_what_numpy_computes(seed, stream):
    program = Program(seed, 25)
    graph = program.g.instantiate()
    for _ in range(3):
        for each in program.results:
            each.fill(0)
        graph.launch(stream)
        stream.sync()
        for got, wanted in zip(program.results, program.expected, strict=True):
            np.testing.assert_array_equal(got.to_numpy(), wanted)


@pytest.mark.parametrize("seed", range(25))
def test_temporaries_share_only_if_all_users_of_one_come_before_those_of_the_other(seed):
    program = Program(seed, 20)
    edges = program.g.edges()
    shared = 0
    for plan in plan_sharing(program.g):
        assert set(plan.arrays) == set(program.users)
        for number, temporary in enumerate(plan.arrays):
            assert plan.offsets[number] % 256 == 0
            assert plan.offsets[number] + temporary.bytesize <= plan.size
            for other in plan.sharing(number):
                shared += 1
                first, second = program.users[temporary], program.users[other]
                assert is_later(edges, first, second) or is_later(edges, second, first)
    assert shared


@pytest.mark.parametrize("seed", range(60))
def test_places_of_arrays_that_meet_do_not_overlap(seed):
    source = random.Random(seed)
    count = source.randint(1, 30)
    sizes = [source.randint(1, 40) * 256 for _ in range(count)]
    meets = [0] * count
    for i, j in itertools.combinations(range(count), 2):
        if source.random() < source.choice((0.1, 0.5, 0.9)):
            meets[i] |= 1 << j
            meets[j] |= 1 << i
    offsets, total = place(sizes, meets)
    assert total == max(offset + size for offset, size in zip(offsets, sizes, strict=True))
    for i, j in itertools.combinations(range(count), 2):
        if meets[i] >> j & 1:
            assert offsets[i] + sizes[i] <= offsets[j] or offsets[j] + sizes[j] <= offsets[i]


def chain(steps, source):
    """Return the sizes and the meetings of arrays that live over random stretches of one order of steps."""
    lives = [sorted(source.sample(range(steps), 2)) for _ in range(40)]
    sizes = [source.randint(1, 64) * 65536 for _ in lives]
    meets = [
        sum(1 << j for j, (b, d) in enumerate(lives) if j != i and a <= d and b <= c)
        for i, (a, c) in enumerate(lives)
    ]
    live = max(
        sum(size for size, (a, c) in zip(sizes, lives, strict=True) if a <= t <= c) for t in range(steps)
    )
    return sizes, meets, live


@pytest.mark.parametrize("seed", range(40))
def test_a_plan_takes_at_most_a_tenth_more_than_the_most_that_is_live(seed):
    sizes, meets, live = chain(30, random.Random(seed))
    assert live <= place(sizes, meets)[1] <= 1.1 * live


@pytest.mark.parametrize("seed", range(12))
def test_memory_tells_the_peak_of_the_plan_and_the_largest_sum_that_may_be_live(seed):
    program = Program(seed, 9, kept=1)
    edges = program.g.edges()
    use = program.g.memory
    temporaries = [each.node for each in use.arrays]
    assert set(temporaries) == set(program.users)
    for each in use.arrays:
        assert each.size == 4 * N
        assert set(each.users) == program.users[each.node]
    users = [program.users[each] for each in temporaries]
    least = heaviest(
        [4 * N] * len(users),
        lambda a, b: not is_later(edges, users[a], users[b]) and not is_later(edges, users[b], users[a]),
    )
    assert use.least == least
    assert use.peak >= least
    assert use.peak == sum(plan.size for plan in plan_sharing(program.g))


def chain_of(g, x, to, count, size=N):
    """Add a chain: each node doubles the value of the one before it into a new temporary; the last one writes `to`."""
    place, value, made = g, x, []
    for number in range(count):
        target = to if number == count - 1 else g.temporary(size, cg.f32)
        place = place.call(combine, target, value, value, 1.0)
        value = target
        made.append(target)
    return place, made[:-1]


def test_a_chain_takes_the_memory_of_two_temporaries(stream):
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    _, made = chain_of(g, x, to, 10)
    use = g.memory
    assert use.least == 2 * 4 * N
    assert use.peak == 2 * 1280  # 1200 bytes, in multiples of 256
    assert all(len(each.shares) >= 3 for each in use.arrays)
    assert len(use.arrays) == len(made) == 9
    g.instantiate().launch(stream)
    stream.sync()
    assert (to.to_numpy() == 1024).all()


def memory_in_use():
    """Return the bytes that this process uses: its resident pages, or on a GPU what its device's pool has given out.

    Other processes of the test run use the same GPU, so its free memory says nothing.
    """
    if driver_info().kind == "host":
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    used, pool = ctypes.c_uint64(), ctypes.c_void_p(int(cg.Device().memory_resource.handle))
    get_attribute = ctypes.CDLL("libcuda.so.1").cuMemPoolGetAttribute
    assert get_attribute(pool, USED_MEM_CURRENT, ctypes.byref(used)) == 0
    return used.value


def test_an_executable_takes_the_memory_of_the_plan(stream):
    size = 16 << 20  # floats: 64 MiB
    g, x, to = cg.GraphDef(), cg.full(size, 1, cg.f32), cg.zeros(size, cg.f32)
    chain_of(g, x, to, 8, size)
    before = memory_in_use()
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    assert g.memory.least / 1.1 <= memory_in_use() - before <= 1.1 * g.memory.least
    assert g.memory.peak == g.memory.least == 2 * 4 * size
    assert to.to_numpy()[[0, size - 1]].tolist() == [256, 256]


def test_branches_that_may_overlap_never_share(stream):
    g, x = cg.GraphDef(), cg.full(N, 1, cg.f32)
    temporaries = [g.temporary(N, cg.f32, name=f"branch{i}") for i in range(4)]
    for each in temporaries:
        g.call(combine, each, x, x, 1.0).call(combine, each, each, x, 2.0)
    assert all(each.shares == () for each in g.memory.arrays)
    assert g.memory.least == 4 * 4 * N


def test_an_edge_at_the_beginning_of_a_kernel_is_no_order_for_sharing():
    g, x = cg.GraphDef(), cg.full(N, 1, cg.f32)
    first, second = g.temporary(N, cg.f32), g.temporary(N, cg.f32)
    a = g.call(combine, first, x, x, 1.0)
    b = g.call(combine, second, x, x, 1.0)
    a.connect(b) if hasattr(a, "connect") else a.succ.add(b)
    assert [len(each.shares) for each in g.memory.arrays] == [1, 1]


def test_copies_and_fills_take_temporaries(stream):
    g = cg.GraphDef()
    x, to = cg.arange(N, dtype=cg.f32), cg.zeros((2, N), cg.f32)
    copied, filled = g.temporary(N, cg.f32), g.temporary((2, N // 2), cg.f32)
    node = g.memcpy(copied, x).memcpy(to[0], copied)
    node.memset(filled, 2.5).memcpy(to[1], filled)
    g.instantiate().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(to.to_numpy(), [x.to_numpy(), np.full(N, 2.5, "f4")])


@pytest.mark.parametrize("array", [False, True])
def test_copies_between_them_and_pinned_memory_run(array, stream, pinned):
    given, result = pinned(np.arange(N), "f4"), pinned(N, "f4")
    g = cg.GraphDef()
    t = g.param("t", f32x1) if array else g.temporary(N, cg.f32)
    g.memcpy(t, given).call(combine, t, t, t, 2.0).memcpy(result, t)
    graph = g.instantiate()
    graph.launch(stream, **({"t": cg.zeros(N, cg.f32)} if array else {}))
    stream.sync()
    np.testing.assert_array_equal(result, 3 * given)


def test_the_body_of_a_loop_uses_temporaries_of_its_definition(stream):
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    left = cg.full(1, 3, cg.i32)
    before, inside, after = (g.temporary(N, cg.f32, name=name) for name in ("before", "inside", "after"))

    first = g.call(combine, before, x, x, 1.0)
    loop = first.while_loop(left)
    loop.body.call(combine, inside, before, before, 1.0).call(combine, before, inside, x, 0.5).call(
        count_down, left
    )
    loop.call(combine, after, before, x, 1.0).memcpy(to, after)
    use = {each.node.name: [other.name for other in each.shares] for each in g.memory.arrays}
    assert use == {"before": [], "inside": ["after"], "after": ["inside"]}
    g.instantiate().launch(stream)
    stream.sync()
    value = 2.0
    for _ in range(3):
        value = 0.5 * (2 * value) + 1
    assert (to.to_numpy() == value + 1).all()


def test_executables_of_one_definition_have_memory_of_their_own(device):
    g = cg.GraphDef()
    x = g.param("x", f32x1, default=cg.full(N, 1, cg.f32))
    to = g.param("to", f32x1, default=cg.zeros(N, cg.f32))
    chain_of(g, x, to, 6)
    graphs, streams = [g.instantiate() for _ in range(3)], [device.create_stream() for _ in range(3)]
    results = [cg.zeros(N, cg.f32) for _ in graphs]
    for _ in range(20):
        for number, (graph, stream, result) in enumerate(zip(graphs, streams, results, strict=True)):
            graph.launch(stream, x=cg.full(N, number, cg.f32), to=result)
    device.sync()
    assert [each.to_numpy()[[0, -1]].tolist() for each in results] == [[64 * i, 64 * i] for i in range(3)]
    assert set(graphs[0].params) == {"x", "to"}


def test_views_take_the_temporaries_of_their_node_and_refuse_others(stream):
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    t, other = g.temporary(N, cg.f32, name="t"), g.temporary(N, cg.f32, name="other")
    filled = g.memset(t, 2.0)
    called = filled.call(combine, t, t, x, 1.0)
    copied = called.memcpy(to, t)
    copied.memset(other, 0.0)
    graph = g.instantiate()
    graph[filled].update(dst=t, value=3.0)
    graph[called].update(args=(t, t, x, 2.0))
    graph[copied].update(dst=to, src=t)
    for view, change in (
        (graph[filled], {"dst": other, "value": 1.0}),
        (graph[called], {"args": (other, t, x, 1.0)}),
        (graph[copied], {"dst": to, "src": other}),
    ):
        with pytest.raises(
            ValueError, match=r"did not use .*'other'.* when the memory of the Graph was planned"
        ):
            view.update(**change)
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 2 * 3 + 1).all()
    called.update(args=(t, t, x, 5.0))
    graph.update(g)
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 5 * 2 + 1).all()


def test_an_update_plans_again(stream):
    x, to = cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    first, second = cg.GraphDef(), cg.GraphDef()
    chain_of(first, x, to, 5)
    graph = first.instantiate()
    t = [second.temporary(N, cg.f32) for _ in range(2)]
    second.call(combine, t[0], x, x, 1.0).call(combine, t[1], t[0], x, 1.0).call(
        combine, t[0], t[1], t[0], 1.0
    ).call(combine, t[1], t[0], t[0], 1.0).call(combine, to, t[1], x, 1.0)
    for definition, wanted in ((second, 11), (first, 32)):
        graph.update(definition)
        graph.launch(stream)
        stream.sync()
        assert (to.to_numpy() == wanted).all()


def test_optimize_leaves_nodes_with_temporaries_apart(stream):
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    chain_of(g, x, to, 6)
    g.instantiate(optimize=True).launch(stream)
    stream.sync()
    assert (to.to_numpy() == 64).all()


def test_nodes_have_the_sizes_of_temporaries_and_those_beyond_their_ends_are_refused():
    """A temporary keeps its shape, so all is known when a node is added."""
    g, y = cg.GraphDef(), cg.zeros(8, cg.u32)
    t, longer = g.temporary(6, cg.u32, name="t"), g.temporary(7, cg.u32)
    fill = g.memset(t, 0)
    copy = fill.memcpy(y[:6], t)
    assert (fill.width, copy.size, copy.width) == (6, 24, 24)
    assert str(g).count("24 B") == 2
    for add, words in (
        (lambda: g.memset(t, 0, 100), "dst has 24 bytes, and the node would touch 400"),
        (lambda: fill.update(width=7), "24 bytes"),
        (lambda: copy.update(size=28), "24 bytes"),
        (lambda: g.memcpy(y, t, 32), "src has 24 bytes, and the node would touch 32"),
        (lambda: g.memcpy(t, y, 28), "dst has 24 bytes, and the node would touch 28"),
        (lambda: g.memcpy(y, t), "dst has 32 bytes and src 24"),
        (lambda: g.memcpy(t, y), "dst has 24 bytes and src 32"),
        (lambda: g.memcpy(t, longer), "dst has 24 bytes and src 28"),
    ):
        with pytest.raises(ValueError, match=words):
            add()
    assert len(g.nodes()) == 2
    assert (fill.width, copy.size) == (6, 24)
    g.instantiate()


def test_they_have_no_parts_and_no_contents_for_the_host():
    g = cg.GraphDef()
    for value in (g.temporary(6, cg.u32, name="t"), g.param("t", cg.Array1[cg.u32])):
        with pytest.raises(TypeError, match=r"'t' .* has no parts"):
            value[1:]
        with pytest.raises(TypeError, match=r"'t' .* has memory in launches only"):
            np.asarray(value)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"shape": "many", "dtype": cg.f32}, TypeError, "shape"),
        ({"shape": (3, -1), "dtype": cg.f32}, ValueError, "shape"),
        ({"shape": (3, 0), "dtype": cg.f32}, ValueError, "1 element or more"),
        ({"shape": (1,) * 9, "dtype": cg.f32}, ValueError, "8 dimensions"),
        ({"shape": 3, "dtype": cg.pointer}, TypeError, "dtype"),
        ({"shape": 3, "dtype": "float"}, TypeError, "float"),
        ({"shape": 3, "dtype": cg.f32, "name": 3}, TypeError, "name"),
    ],
)
def test_bad_arguments_are_named_and_add_nothing(arguments, error, words):
    g = cg.GraphDef()
    with pytest.raises(error, match=words):
        g.temporary(**arguments)
    assert not g._has_temporaries()


def test_a_definition_refuses_temporaries_of_another_one():
    g, other = cg.GraphDef(), cg.GraphDef()
    foreign = other.temporary(N, cg.f32, name="foreign")
    with pytest.raises(ValueError, match="belongs to another definition"):
        g.memset(foreign, 0)
    assert not g.nodes() and not g._has_temporaries()


def test_definitions_with_temporaries_are_neither_embedded_nor_saved(tmp_path):
    g, target = cg.GraphDef(), cg.GraphDef()
    g.memset(g.temporary(N, cg.f32, name="scratch"), 0)
    with pytest.raises(ValueError, match="temporaries"):
        target.embed(g)
    assert not target.nodes()
    with pytest.raises(ValueError, match="scratch"):
        g.save(tmp_path / "graph.cgg")
    assert not list(tmp_path.iterdir())


def test_check_finds_nodes_that_use_a_temporary_without_an_order_and_temporaries_that_no_node_uses():
    g, x = cg.GraphDef(), cg.full(N, 1, cg.f32)
    contested, _ = g.temporary(N, cg.f32, name="contested"), g.temporary(N, cg.f32, name="forgotten")
    g.call(combine, contested, x, x, 1.0)
    g.call(combine, contested, x, x, 2.0)
    report = str(g.check())
    assert "temporary 'contested'" in report
    assert "forgotten" in report


def test_pictures_and_memory_name_the_temporaries():
    g, x = cg.GraphDef(), cg.full(N, 1, cg.f32)
    scratch = g.temporary((N,), cg.f32, name="scratch")
    g.call(combine, scratch, x, x, 1.0)
    assert repr(scratch) == "<Temporary 'scratch' ndarray(f32, ndim=1) of shape (300,)>"
    assert (scratch.name, scratch.shape, scratch.bytesize, scratch.default) == ("scratch", (N,), 4 * N, None)
    assert "temporaries: scratch" in g.draw().html()
    assert "scratch: 1200 bytes, used from combine_0_loop to combine_0_loop" in str(g.memory)


@pytest.mark.cuda
def test_kernels_of_cuda_take_temporaries_and_their_extents(stream):
    source = (
        'extern "C" __global__ void twice(float* to, const float* x, int n) {'
        " int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) to[i] = 2 * x[i]; }"
    )
    kernel = cg.Program(source, "c++").compile("ptx").get_kernel("twice")
    g, x, to = cg.GraphDef(), cg.full(N, 3, cg.f32), cg.zeros(N, cg.f32)
    scratch = g.temporary(N, cg.f32)
    config = cg.LaunchConfig(grid=2, block=256)
    g.launch(config, kernel, scratch, x, *scratch.shape).memcpy(to, scratch)
    g.instantiate().launch(stream)
    stream.sync()
    assert (to.to_numpy() == 6).all()
