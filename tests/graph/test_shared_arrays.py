# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of arrays of alloc nodes that share memory: a definition computes what it computes with memory for each array,
whenever an address is read, and only arrays share that are ordered.

The independent truth for orders searches the edges anew for each pair of nodes; that for results is NumPy.
"""

import ctypes
import gc
import random
import threading
import weakref

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.graph.analysis.sharing import plan_sharing
from tests.graph.test_memory_use import heaviest, is_later
from tests.graph.test_temporaries import joined, memory_in_use
from tests.graph_rig import ONE
from tests.two_devices import run_with_devices

N = 300
f32x1 = cg.types.ndarray(cg.f32, 1)


@cg.kernel
def combine(to: f32x1, left: f32x1, right: f32x1, factor: cg.f32):
    for i in to:
        to[i] = factor * left[i] + right[i]


@cg.kernel
def smooth(to: f32x1, left: f32x1):
    for i in to:
        to[i] = left[i] + left[max(i - 1, 0)]


@pytest.fixture(autouse=True)
def kernels_keep_no_code(device):
    yield
    device.sync()
    for each in (combine, smooth):
        each.forget()


@pytest.fixture
def stream(device):
    return device.create_stream()


class Program:
    """A random program: each step writes a new array from two earlier values, after the steps that made them.

    Most arrays are those of alloc nodes, which are added at random places before their use, and some are temporaries.
    A step is a call, a fill, or a copy, of all or of halves. Free nodes come at random places after the last uses.
    """

    def __init__(self, seed, count, kept=3, opaque=None):
        self.source, self.opaque = random.Random(seed), opaque
        self.g = cg.GraphDef()
        self.inputs = [cg.array(np.random.default_rng(seed + i).random(N, "f4")) for i in range(2)]
        self.results = [cg.zeros(N, cg.f32) for _ in range(kept)]
        self.values, self.expected = list(self.inputs), [each.to_numpy() for each in self.inputs]
        self.nodes, self.users, self.arrays = [None, None], {}, []
        for step in range(count):
            self.add_step(step, self.results[step - count] if step >= count - kept else None)
        self.expected = self.expected[-kept:]
        self.free()

    def add_step(self, step, to):
        source = self.source
        left, right = source.randrange(max(0, step - 4), step + 2), source.randrange(step + 2)
        further = source.sample(range(2, step + 2), min(step, source.randrange(3)))
        before = list({self.nodes[i] for i in (left, right, *further)} - {None})
        place = joined(before) if before else self.g
        if to is None:
            to, place = self.make(step, place)
        values = self.values[left], self.values[right]
        what = source.randrange(5)
        if what == 0:
            node = place.memset(to, np.float32(step))
            wanted, used = np.full(N, step, "f4"), (to,)
        elif what == 1:
            node = place.memcpy(to, values[0])
            wanted, used = self.expected[left], (to, values[0])
        elif what == 2 and isinstance(to, cg.AllocNode) and isinstance(values[0], cg.AllocNode):
            half = N // 2
            first = place.call(combine, to[:half], values[0][half:], values[0][:half], 2.0)
            node = first.memset(to[half:], np.float32(1))
            wanted = np.concatenate(
                [
                    np.float32(2) * self.expected[left][half:] + self.expected[left][:half],
                    np.full(half, 1, "f4"),
                ]
            ).astype("f4")
            used = (to,)
            self.note(first, (to, values[0]))
        else:
            node = place.call(combine, to, *values, 0.5)
            wanted = (np.float32(0.5) * self.expected[left] + self.expected[right]).astype("f4")
            used = (to, *values)
        self.note(node, used)
        self.values.append(to)
        self.nodes.append(node)
        self.expected.append(wanted)

    def make(self, step, place):
        """Return a new array, and the place after its node."""
        if self.source.random() < 0.15:
            return self.g.temporary(N, cg.f32, name=f"t{step}"), place
        if self.source.random() < 0.4:  # all along
            to = self.g.alloc(shape=N, dtype=cg.f32, name=f"a{step}")
            after = to if place is self.g else to.join(place)
        else:
            to = after = place.alloc(shape=N, dtype=cg.f32, name=f"a{step}")
        self.arrays.append(to)
        return to, after

    def note(self, node, used):
        for value in used:
            if isinstance(value, (cg.Temporary, cg.AllocNode)):
                self.users.setdefault(value, set()).add(node)

    def free(self):
        for each in self.source.sample(self.arrays, len(self.arrays)):
            late = self.source.random() < 0.5
            ends = [*self.users[each], *(self.nodes[2:] if late else ())]
            joined(list(dict.fromkeys(ends))).free(each)

    def check(self, graph, stream):
        for each in self.results:
            each.fill(0)
        graph.launch(stream)
        stream.sync()
        for got, wanted in zip(self.results, self.expected, strict=True):
            np.testing.assert_array_equal(got.to_numpy(), wanted)


@pytest.mark.parametrize("seed", range(30))
def test_programs_with_shared_memory_compute_what_numpy_computes(seed, stream):
    program = Program(seed, 25)
    assert not program.g.check()
    graph = program.g.instantiate()
    for _ in range(3):
        program.check(graph, stream)
    assert all(each._place() == "shared" for each in program.arrays)


@pytest.mark.parametrize("seed", range(20))
def test_results_stay_the_same_whenever_addresses_are_read(seed, stream):
    program = Program(seed, 18)
    source = random.Random(seed)
    order = source.sample(program.arrays, len(program.arrays))
    own = set()

    def read_some():
        for _ in range(source.randrange(3)):
            if order:
                own.add(order[-1])
                assert order[-1].dptr == order.pop().dptr

    read_some()
    graph = program.g.instantiate()
    program.check(graph, stream)
    for _ in range(4):
        read_some()
        if source.random() < 0.4:
            graph.update(program.g)
        program.check(graph, stream)
        assert not program.g.check()
        for each in program.g.memory.arrays:
            assert not own.intersection(each.shares)
            assert each.node not in own or not each.shares
    del graph
    program.check(program.g.instantiate(), stream)


@pytest.mark.parametrize("seed", range(30))
def test_arrays_share_only_if_all_users_of_one_come_before_those_of_the_other(seed):
    program = Program(seed, 20)
    edges = program.g.edges()
    shared = 0
    found = [array for plan in plan_sharing(program.g) for array in plan.arrays]
    assert sorted(map(id, found)) == sorted(map(id, program.users))
    for plan in plan_sharing(program.g):
        for number, array in enumerate(plan.arrays):
            assert plan.offsets[number] % 256 == 0
            assert plan.offsets[number] + array.bytesize <= plan.size
            for other in plan.sharing(number):
                shared += 1
                first, second = program.users[array], program.users[other]
                assert is_later(edges, first, second) or is_later(edges, second, first)
    assert shared


@pytest.mark.parametrize("seed", range(15))
def test_memory_tells_the_peak_of_the_plan_and_the_largest_sum_that_may_be_live(seed):
    program = Program(seed, 9, kept=1)
    edges = program.g.edges()
    use = program.g.memory
    users = program.users
    for each in use.arrays:
        assert each.size == 4 * N
        assert set(each.users) == users[each.node]
    arrays = [each.node for each in use.arrays]
    least = heaviest(
        [4 * N] * len(arrays),
        lambda a, b: (
            not is_later(edges, users[arrays[a]], users[arrays[b]])
            and not is_later(edges, users[arrays[b]], users[arrays[a]])
        ),
    )
    assert use.least == least <= use.peak == sum(plan.size for plan in plan_sharing(program.g))


def random_sizes(seed):
    """Return a definition with arrays of many sizes: each node fills a new array from parts of earlier ones."""
    source = random.Random(seed)
    g = cg.GraphDef()
    arrays, nodes, last_use = [], [], {}
    for _ in range(source.randint(5, 40)):
        before = source.sample(nodes, min(len(nodes), source.choice((1, 1, 1, 2, 3))))
        if before and source.random() < 0.6:
            before = [source.choice(nodes[-3:])]
        place = joined(list(dict.fromkeys(before))) if before else g
        array = place.alloc(shape=source.randint(1, 64) * 16384, dtype=cg.f32)
        end = array.memset(array, 0)
        for other in source.sample(arrays, min(len(arrays), source.randint(0, 2))):
            size = min(other.size, array.size)
            end = end.join(last_use[other]).memcpy(array[:size], other[:size])
            last_use[other] = end
        last_use[array] = end
        arrays.append(array)
        nodes.append(end)
    last = joined(nodes)
    for each in arrays:
        last = last.free(each)
    return g


@pytest.mark.parametrize("seed", range(25))
def test_the_peak_of_a_plan_is_at_most_a_tenth_above_the_largest_sum_that_may_be_live(seed):
    use = random_sizes(seed).memory
    assert use.least <= use.peak <= 1.1 * use.least


def chain(g, x, to, count, size=N, early=False):
    """Add a chain: each node doubles the value before it into a new array. Free nodes come at the end, or early."""
    place, value, made = g, x, []
    for number in range(count):
        target = to
        if number < count - 1:
            target = place = place.alloc(shape=size, dtype=cg.f32, name=f"a{number}")
            made.append(target)
        place = place.call(combine, target, value, value, 1.0)
        if early and number and value is not x:
            place = place.free(value)
        value = target
    if not early:
        for each in made:
            place = place.free(each)
    return made


@pytest.mark.parametrize("early", [False, True])
def test_a_chain_takes_the_memory_of_two_arrays(early, stream):
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    made = chain(g, x, to, 10, early=early)
    use = g.memory
    assert (use.peak, use.least) == (2 * 1280, 2 * 4 * N)  # 1200 bytes, in multiples of 256
    assert len(use.arrays) == len(made) == 9
    assert all(len(each.shares) >= 3 for each in use.arrays)
    assert "shares with" in str(use)
    g.instantiate().launch(stream)
    stream.sync()
    assert (to.to_numpy() == 1024).all()


def test_an_executable_takes_the_memory_of_the_plan(stream):
    size = 16 << 20  # floats: 64 MiB
    g, x, to = cg.GraphDef(), cg.full(size, 1, cg.f32), cg.zeros(size, cg.f32)
    chain(g, x, to, 8, size)
    before = memory_in_use()
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    assert memory_in_use() - before <= 1.1 * g.memory.least
    assert g.memory.peak == g.memory.least == 2 * 4 * size
    assert to.to_numpy()[[0, size - 1]].tolist() == [256, 256]


def test_branches_that_may_overlap_never_share():
    g, x = cg.GraphDef(), cg.full(N, 1, cg.f32)
    arrays = [g.alloc(shape=N, dtype=cg.f32, name=f"branch{i}") for i in range(4)]
    for each in arrays:
        each.call(combine, each, x, x, 1.0).call(combine, each, each, x, 2.0).free(each)
    assert all(each.shares == () for each in g.memory.arrays)
    assert g.memory.least == 4 * 4 * N


def test_alloc_nodes_and_temporaries_share_where_they_have_one_kind_of_memory(device):
    g, x = cg.GraphDef(), cg.full(N, 1, cg.f32)
    a, t = g.alloc(shape=N, dtype=cg.f32), g.temporary(N, cg.f32)
    a.call(combine, a, x, x, 1.0).call(combine, t, x, x, 1.0).free(a)
    one_kind = not device.properties.direct_managed_mem_access_from_host
    shares = {each.node: each.shares for each in g.memory.arrays}
    assert shares == ({a: (t,), t: (a,)} if one_kind else {a: (), t: ()})


def test_memory_without_a_free_node_can_be_read_after_the_launch(run, stream, pinned):
    out = pinned(N, "f4")
    g, x = cg.GraphDef(), cg.full(N, 1, cg.f32)
    kept = g.alloc(shape=N, dtype=cg.f32)
    place = kept.call(combine, kept, x, x, 2.0)
    for _ in range(3):
        other = place.alloc(shape=N, dtype=cg.f32)
        place = other.call(combine, other, x, x, 7.0).free(other)
    graph = g.instantiate()
    assert kept._place() == "own"
    graph.launch(stream)
    with pytest.raises(cg.CUDAError):
        graph.launch(stream)  # a rule of the driver: nothing has freed the memory
    reader = cg.GraphDef()
    reader.memcpy(out, kept).free(kept)
    reader.instantiate().launch(stream)
    stream.sync()
    np.testing.assert_array_equal(out, np.full(N, 3, "f4"))
    graph.launch(stream)
    stream.sync()


def test_an_array_that_another_definition_frees_outlives_the_launch(stream, pinned):
    out = pinned(N, "f4")
    g = cg.GraphDef()
    m = g.alloc(shape=N, dtype=cg.f32)
    m.memset(m, np.float32(5))
    reader = cg.GraphDef()
    reader.memcpy(out, m.dptr, 4 * N).free(m.dptr)
    first, second = g.instantiate(), reader.instantiate()
    for _ in range(3):
        first.launch(stream)
        second.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(out, np.full(N, 5, "f4"))


KEEPING = r"""
extern "C" __global__ void keep(int** to, int* from) { *to = from; }
extern "C" __global__ void follow(int** from, int amount) { **from += amount; }
extern "C" __global__ void copy_out(int* to, int** from) { *to = **from; }
extern "C" __global__ void fill(int* to, int value) { *to = value; }
"""


@pytest.fixture
def keeping(device):
    code = cg.Program(KEEPING, code_type="c++").compile("cubin")
    return [code.get_kernel(name) for name in ("keep", "follow", "copy_out", "fill")]


@pytest.mark.parametrize("place", ["end", "early"])
def test_a_kernel_may_keep_an_address_for_a_later_kernel_until_the_free_node(place, keeping, run, pinned):
    keep, follow, copy_out, fill = keeping
    out, word = pinned(np.zeros(1, "i4")), pinned(1, "u8")
    g = cg.GraphDef()
    a = g.alloc(shape=4, dtype=cg.i32, name="a")
    end = a.memset(a, 0).launch(ONE, keep, word.ctypes.data, a)
    b = end.alloc(shape=4, dtype=cg.i32, name="b")
    end = b.launch(ONE, fill, b, 99).launch(ONE, follow, word.ctypes.data, 7)
    end = end.launch(ONE, copy_out, out, word.ctypes.data)
    if place == "end":
        end.free(a).free(b)
        assert all(each.shares == () for each in g.memory.arrays)
    else:
        end = end.free(a)
        c = end.alloc(shape=4, dtype=cg.i32, name="c")
        c.launch(ONE, fill, c, 98).free(c).free(b)
        shares = {each.node.name: [other.name for other in each.shares] for each in g.memory.arrays}
        assert shares["a"] == ["c"]
    run(g)
    assert out.tolist() == [7]


def test_declared_kernels_keep_no_addresses(keeping, run, pinned):
    *_, fill = keeping
    g = cg.GraphDef()
    a, b = (g.alloc(shape=4, dtype=cg.i32) for _ in range(2))
    end = a.join(b).launch(ONE, fill, a, 1, writes=[a]).launch(ONE, fill, b, 2, writes=[b])
    end.free(a).free(b)
    assert {each.node: each.shares for each in g.memory.arrays} == {a: (b,), b: (a,)}
    run(g)


def test_an_array_that_a_kernel_is_given_and_does_not_declare_lives_to_its_free_node(keeping):
    keep, *_ = keeping
    g = cg.GraphDef()
    word = cg.zeros(1, cg.u64)
    a, b = (g.alloc(shape=4, dtype=cg.i32) for _ in range(2))
    end = a.join(b).launch(ONE, keep, word, a, writes=[word]).memset(b, 0)
    end.free(a).free(b)
    assert all(each.shares == () for each in g.memory.arrays)


def test_views_take_arrays_and_the_executable_follows(stream, kernels, pinned):
    out = pinned(np.zeros(2, "i4"))
    g = cg.GraphDef()
    a, b = (g.alloc(shape=2, dtype=cg.i32, name=name) for name in "ab")
    first = a.join(b).memset(a, 1)
    user = first.launch(ONE, kernels.tally, a)
    end = user.memcpy(out, a).memset(b, 5).memcpy(out[1:], b[1:])
    end.free(a).free(b)
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    assert out.tolist() == [2, 5]
    graph[user].update(args=(a[1:],))
    graph.launch(stream)
    stream.sync()
    assert out.tolist() == [1, 5]
    assert a._place() == "own"
    graph[user].update(args=(a.dptr,))
    graph.launch(stream)
    stream.sync()
    assert out.tolist() == [2, 5]


def test_updates_of_nodes_take_other_arrays_and_plan_again(stream):
    x, to = cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    g = cg.GraphDef()
    a, b, c = (g.alloc(shape=N, dtype=cg.f32, name=name) for name in "abc")
    one = g.join(a, b, c).call(combine, a, x, x, 1.0)
    two = one.call(combine, b, a, x, 1.0)
    three = two.call(combine, c, b, x, 1.0)
    four = three.memcpy(to, c)
    four.free(a).free(b).free(c)
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 4).all()
    shares = {each.node.name: each.shares for each in g.memory.arrays}
    assert shares["a"] == (c,)
    three.update(args=(c, b, a, 1.0))  # a is needed longer
    assert all(each.shares == () for each in g.memory.arrays)
    graph.update(g)
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 5).all()
    three.update(args=(b, b, x, 1.0))
    four.update(dst=to, src=b)
    graph.update(g)
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 4).all()


def test_a_definition_that_runs_out_of_memory_is_as_before(stream):
    huge = 1 << 30
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    small = g.alloc(shape=N, dtype=cg.f32)
    large = small.alloc(shape=(huge, 1 << 14), dtype=cg.f64, name="large")
    used = large.memset(large, 0)
    end = used.call(combine, small, x, x, 2.0).memcpy(to, small)
    end.free(small).free(large)
    for attempt in (g.instantiate, lambda: large.dptr):
        with pytest.raises(cg.CUDAError, match="OUT_OF_MEMORY"):
            attempt()
        assert [each._place() for each in (small, large)] == ["shared", "shared"]
    used.update(dst=small, width=N)
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 3).all()


@pytest.mark.parametrize(
    "options", [{"optimize": True}, {"early_edges": True}, {"optimize": True, "early_edges": True}]
)
@pytest.mark.parametrize("reads", [False, True])
def test_fused_nodes_and_early_edges_compute_the_same(options, reads, stream):
    g, x, to = cg.GraphDef(), cg.array(np.arange(N, dtype="f4")), cg.zeros(N, cg.f32)
    made = [g.alloc(shape=N, dtype=cg.f32) for _ in range(5)]
    place, value = made[0].join(*made[1:]), x
    for each in made:
        place = place.call(combine, each, value, x, 0.5)
        value = each
    place = place.call(combine, to, value, value, 1.0)
    for each in made:
        place = place.free(each)
    wanted = x.to_numpy()
    for _ in made:
        wanted = np.float32(0.5) * wanted + x.to_numpy()
    graph = g.instantiate(**options)
    for turn in range(3):
        to.fill(0)
        graph.launch(stream)
        stream.sync()
        np.testing.assert_array_equal(to.to_numpy(), wanted + wanted)
        if turn == 0:
            graph.update(g)
        elif reads:
            assert made[2].dptr


@pytest.mark.parametrize("updates", [False, True])
def test_fused_nodes_do_not_overwrite_what_they_read(updates, stream):
    """A fused launch reads `a` at other indices than that at which it writes `c`, so the two may not share."""
    x, to = cg.array(np.arange(N, dtype="f4")), cg.zeros(N, cg.f32)
    g = cg.GraphDef()
    a, b, c = (g.alloc(shape=N, dtype=cg.f32) for _ in range(3))
    filled = g.join(a, b, c).memcpy(a, x)
    first = filled.call(smooth, b, a)
    second = first.call(combine, c, b, b, 1.0)
    second.memcpy(to, c).free(a).free(b).free(c)
    assert {each.node: each.shares for each in g.memory.arrays}[a] == (c,)  # as separate launches
    graph = g.instantiate(optimize=True)
    assert "fused as " in str(graph.explain())
    if updates:
        second.update(args=(c, b, b, 1.0))
        graph.update(g)
    graph.launch(stream)
    stream.sync()
    values = x.to_numpy()
    np.testing.assert_array_equal(to.to_numpy(), 2 * (values + values[[0, *range(N - 1)]]))


def test_a_task_flow_orders_accesses_before_and_after_the_address_is_read(stream, kernels, pinned):
    out = pinned(np.zeros(2, "i4"))
    g = cg.GraphDef()
    with g.task_flow() as tf:
        m = tf.alloc(shape=2, dtype=cg.i32)
        first = tf.memset(m, 3)
        second = tf.launch(ONE, kernels.tally, m.dptr)
        third = tf.memcpy(out, m)
    assert second in first.succ and third in second.succ
    g.instantiate().launch(stream)
    stream.sync()
    assert out.tolist() == [4, 3]


def test_bodies_use_the_memory_of_the_plan(stream):
    total = cg.zeros(N, cg.f32)
    x = cg.full(N, 1, cg.f32)
    g = cg.GraphDef()
    a, b = (g.alloc(shape=N, dtype=cg.f32) for _ in range(2))
    branch = g.join(a, b).call(combine, a, x, x, 1.0).if_then(g.create_condition(1))
    branch.then.call(combine, b, a, a, 1.0).memcpy(total, b)
    c = branch.alloc(shape=N, dtype=cg.f32)
    c.call(combine, c, x, x, 1.0).free(a).free(b).free(c)
    shares = {each.node: each.shares for each in g.memory.arrays}
    assert shares[c] in ((a,), (b,)) and b not in shares[a]
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(total.to_numpy(), np.full(N, 4, "f4"))
    assert b.dptr
    total.fill(0)
    graph.launch(stream)
    stream.sync()
    np.testing.assert_array_equal(total.to_numpy(), np.full(N, 4, "f4"))


def test_an_array_that_was_freed_is_freed_once(device):
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.f32, name="memory")
    m.free(m)
    for again in (m, m.dptr):
        with pytest.raises(cg.CUDAError, match="INVALID_VALUE") as caught:
            g.free(again)
        assert "'memory'" in caught.value.explanation
    with pytest.raises(cg.CUDAError, match="INVALID_VALUE"):
        g.free(m.dptr + 4)


def test_whoever_has_the_handle_of_the_graph_finds_addresses_in_its_nodes(device):
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.f32)
    fill = m.memset(m, 0)
    fill.free(m)
    assert m._place() == "shared"
    assert g.handle and m._place() == "own"
    assert fill.dptr == m.dptr


def test_properties_of_nodes_tell_the_address_that_they_use(kernels):
    g = cg.GraphDef()
    m, n = g.alloc(shape=8, dtype=cg.i32), g.alloc(shape=8, dtype=cg.i32)
    fill = m.join(n).memset(m[2:], 0)
    copy = fill.memcpy(n[4:], m[:4])
    kernel = copy.launch(ONE, kernels.tally, n[1:], writes=[n[1:]])
    end = kernel.free(n).free(m)
    assert "dptr" not in repr(fill) + repr(m) and "dptr" not in repr(end)
    assert (fill.dptr, copy.dst, copy.src) == (m.dptr + 8, n.dptr + 16, m.dptr)
    assert end.dptr == m.dptr and m[3:].dptr == m.dptr + 12
    assert kernel.args == (n.dptr + 4,)
    assert kernel.writes[0].start == n.dptr + 4
    assert f"{m.dptr:#x}" in repr(m) and f"{m.dptr:#x}" in repr(end)
    assert max(m.dptr, n.dptr) < 1 << 63


def test_other_memory_has_an_address_at_once(device):
    g = cg.GraphDef()
    assert g.alloc(16)._place() is None
    managed = {"memory_type": "managed"}
    try:
        node = g.alloc(shape=4, dtype=cg.f32, **managed)
    except cg.CUDANotSupportedError:
        return
    assert node._place() is None


def test_pictures_checks_and_differences_read_no_address(tmp_path, kernels):
    def make():
        g = cg.GraphDef()
        m = g.alloc(shape=8, dtype=cg.i32, name="m")
        m.memset(m, 0).launch(ONE, kernels.tally, m).free(m)
        return g, m

    (g, m), (h, n) = make(), make()
    assert not g.check() and not g.diff(h)
    g.draw(tmp_path / "picture.svg", check=True)
    assert str(g) and g.memory and repr(m)
    assert m._place() == n._place() == "shared"
    assert m.dptr and not g.diff(h)


def test_a_saved_definition_has_the_arrays(tmp_path, stream):
    def make(reads):
        g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
        made = chain(g, x, to, 4)
        if reads:
            assert made[1].dptr
        g.save(tmp_path / "graph", inputs={"x": x}, outputs={"to": to})
        return made

    for reads in (False, True):
        made = make(reads)
        assert [each._place() for each in made] == ["shared", "own" if reads else "shared", "shared"]
        loaded = cg.load(tmp_path / "graph")
        to = cg.zeros(N, cg.f32)
        loaded.instantiate().launch(stream, x=cg.full(N, 1, cg.f32), to=to)
        stream.sync()
        assert (to.to_numpy() == 16).all()


def test_memory_lives_as_long_as_its_executable_and_its_launches(stream):
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    made = chain(g, x, to, 6)
    assert made[2].dptr
    graph = g.instantiate()
    gone = weakref.ref(made[0])
    del g, made
    gc.collect()
    graph.launch(stream)
    del graph
    gc.collect()
    stream.sync()
    assert (to.to_numpy() == 64).all()
    gc.collect()
    assert gone() is None


def test_an_address_that_was_read_stays_valid_with_the_definition_alone(stream, pinned):
    out = pinned(np.zeros(4, "i4"))
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.i32)
    m.memset(m, 1).free(m)
    address = m.dptr
    h = cg.GraphDef()
    h.memset(address, np.int32(6), 4).memcpy(out, address, 16)
    h.instantiate().launch(stream)
    stream.sync()
    assert out.tolist() == [6] * 4


def test_structures_of_addresses_are_given_the_address(stream, kernels, pinned):
    """`bump_through` takes the address of an address, so the host must know it."""
    word, out = pinned(1, "u8"), pinned(np.zeros(4, "i4"))
    g = cg.GraphDef()
    m, n = (g.alloc(shape=4, dtype=cg.i32) for _ in range(2))
    word[0] = m.dptr + 4
    end = m.join(n).memset(m, 1).memset(n, 9).launch(ONE, kernels.bump_through, word.ctypes.data, np.int32(5))
    end.memcpy(out, m).free(m).free(n)
    g.instantiate().launch(stream)
    stream.sync()
    assert out.tolist() == [1, 6, 1, 1]


def test_parameters_and_conditions_take_arrays(stream, pinned):
    x, to = cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    g = cg.GraphDef()
    p = g.param("p", f32x1, x)
    a, b = (g.alloc(shape=N, dtype=cg.f32) for _ in range(2))
    g.join(a, b).call(combine, a, p, x, 1.0).call(combine, b, a, p, 1.0).memcpy(to, b).free(a).free(b)
    graph = g.instantiate()
    for factor in (1, 2, 3):
        graph.launch(stream, p=cg.full(N, factor, cg.f32))
        stream.sync()
        assert (to.to_numpy() == 2 * factor + 1).all()
    assert a._place() == b._place() == "shared"


def test_config_functions_see_the_address(stream, kernels):
    seen = []
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.i32)

    def config(array):
        seen.append(array.address)
        return ONE

    m.launch(config, kernels.tally, m).free(m)
    assert seen == [m.dptr]


def test_pointers_in_numbers_are_ctypes_values_too(stream, kernels, pinned):
    out = pinned(np.zeros(4, "i4"))
    g = cg.GraphDef()
    m = g.alloc(shape=4, dtype=cg.i32)
    end = m.memset(m, 1).launch(ONE, kernels.tally, ctypes.c_void_p(m.dptr + 8))
    end.memcpy(out, m).free(m)
    g.instantiate().launch(stream)
    stream.sync()
    assert out.tolist() == [1, 1, 2, 1]


def test_a_view_with_another_config_keeps_the_arrays_of_the_plan(stream):
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    a, b, c = (g.alloc(shape=N, dtype=cg.f32) for _ in range(3))
    first = g.join(a, b, c).call(combine, a, x, x, 1.0)
    end = first.call(combine, b, a, a, 1.0).call(combine, c, b, b, 1.0).memcpy(to, c)
    end.free(a).free(b).free(c)
    graph = g.instantiate()
    graph[first].update(config=cg.LaunchConfig(grid=3, block=64))
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 8).all()
    graph[first].update(args=(a, x, x, 2.0))  # a view takes an array with an address
    assert [each._place() for each in (a, b, c)] == ["own", "shared", "shared"]
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 12).all()


@pytest.mark.parametrize("reads", [False, True])
def test_disabled_nodes_find_their_array_when_they_are_enabled(reads, stream, pinned):
    out = pinned(np.zeros(4, "i4"))
    g = cg.GraphDef()
    m, n = (g.alloc(shape=4, dtype=cg.i32) for _ in range(2))
    fill = m.join(n).memset(m, 1)
    again = fill.memset(m[2:], 2)
    again.memcpy(out, m).memset(n, 3).free(m).free(n)
    graph = g.instantiate()
    graph[again].disable()
    graph.launch(stream)
    stream.sync()
    assert out.tolist() == [1, 1, 1, 1]
    if reads:
        assert m.dptr
        graph.launch(stream)
        stream.sync()
        assert out.tolist() == [1, 1, 1, 1]
    graph[again].enable()
    graph.launch(stream)
    stream.sync()
    assert out.tolist() == [1, 1, 2, 2]


def test_an_update_that_runs_out_of_memory_changes_nothing(stream):
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    small = g.alloc(shape=N, dtype=cg.f32)
    large = small.alloc(shape=(1 << 30, 1 << 14), dtype=cg.f64)
    used = large.memset(small, 0)
    used.call(combine, small, x, x, 2.0).memcpy(to, small).free(small).free(large)
    graph = g.instantiate()  # no node uses the large array
    used.update(dst=large)
    with pytest.raises(cg.CUDAError, match="OUT_OF_MEMORY"):
        graph.update(g)
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 3).all()


def test_threads_build_definitions_at_the_same_time(device):
    def build(number, results):
        device.set_current()
        stream = device.create_stream()
        for turn in range(10):
            program = Program(100 * number + turn, 12)
            graph = program.g.instantiate()
            program.check(graph, stream)
            results.append({each._place() for each in program.arrays} <= {"shared"})

    parallelize(build, 4)


def parallelize(function, count):
    results = [[] for _ in range(count)]
    threads = [threading.Thread(target=function, args=(i, results[i])) for i in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all(len(each) == 10 and all(each) for each in results)


def test_checks_and_pictures_name_the_arrays(device):
    g = cg.GraphDef()
    a, b, c = (g.alloc(shape=4, dtype=cg.i32, name=name) for name in "abc")
    a.memset(a[1:3], 0)
    second = a.join(b, c).memset(a, 1)
    end = second.memset(b, 2).memset(c, 3)
    end.free(a).free(b).free(c)
    unordered, _ = map(str, g.check())  # the fills, and the first fill and the free node
    assert "bytes 4..11 of AllocNode 'a'" in unordered and "bytes 0..15 of AllocNode 'a'" in unordered
    assert "shares memory with c" in g.draw().html()
    address = a.dptr
    unordered, _ = map(str, g.check())
    assert f"{address + 4:#x}..{address + 11:#x}" in unordered


def test_arrays_of_two_devices_have_memory_on_their_device(run_child, driver, tmp_path):
    run_with_devices(run_child, driver, tmp_path, ON_TWO_DEVICES)


ON_TWO_DEVICES = """
import numpy as np
import cuda_graphs as cg

devices = cg.Device.get_all_devices()[:2]
N = 300

@cg.kernel
def double(y: cg.Array1[cg.f32], x: cg.Array1[cg.f32]):
    for i in y:
        y[i] = 2 * x[i]

for number, device in enumerate(devices):
    device.set_current()
    x, to = cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    devices[1 - number].set_current()
    g = cg.GraphDef()
    place, value, made = g, x, []
    for _ in range(5):
        array = place = place.alloc(shape=N, dtype=cg.f32, device=number)
        made.append(array)
        place = place.call(double, array, value)
        value = array
    place = place.memcpy(to, value)
    for each in made:
        place = place.free(each)
    device.set_current()
    use = g.memory
    assert use.peak == 2 * 1280, use
    graph = g.instantiate()
    stream = device.create_stream()
    graph.launch(stream)
    stream.sync()
    assert (to.to_numpy() == 32).all()
    del graph
"""
