# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of arrays of alloc nodes that share memory: a definition computes what it computes with memory for each array,
whenever an address is read, and only arrays share that are ordered.

The independent truth for orders searches the edges anew for each pair of nodes; that for results is NumPy.
"""

import random

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.graph.analysis.sharing import plan_sharing
from tests.graph.test_memory_use import heaviest, is_later
from tests.graph.test_temporaries import joined, memory_in_use
from tests.graph_rig import ONE

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


def test_a_long_chain_takes_the_memory_of_two_arrays_and_half_of_the_others_share_with_each():
    """Comparing all pairs in Python took 71 s for 4,000 arrays."""
    g, x, to = cg.GraphDef(), cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    chain(g, x, to, 3001)
    use = g.memory
    assert (use.peak, use.least) == (2 * 1280, 2 * 4 * N)
    assert {len(each.shares) for each in use.arrays} == {1499}


def test_an_executable_takes_the_memory_of_the_plan(stream):
    size = 16 << 20  # floats: 64 MiB
    g, x, to = cg.GraphDef(), cg.full(size, 1, cg.f32), cg.zeros(size, cg.f32)
    chain(g, x, to, 8, size)
    before = memory_in_use()
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    assert g.memory.least / 1.1 <= memory_in_use() - before <= 1.1 * g.memory.least
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
    reader = cg.GraphDef()
    reader.memcpy(out, kept)
    for _ in range(2):  # the memory stays the same, so nothing has to free it between launches
        out[:] = 0
        graph.launch(stream)
        reader.instantiate().launch(stream)
        stream.sync()
        np.testing.assert_array_equal(out, np.full(N, 3, "f4"))


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
