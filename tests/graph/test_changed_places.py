# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of arrays of alloc nodes that share memory (test_shared_arrays.py), when nodes change after `instantiate`: no
other array overwrites one that is still read, and a failing call leaves everything as it was."""

import random

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph.test_shared_arrays import N, Program, combine, f32x1
from tests.graph.test_temporaries import joined
from tests.graph_rig import ONE

COPY = r"""
extern "C" __global__ void copy_all(float* to, const float* from) { for (int i = 0; i < 300; ++i) to[i] = from[i]; }
"""


@cg.kernel
def add_up(to: f32x1, from_: f32x1):
    for i in to:
        to[i] = to[i] + from_[i]


@pytest.fixture(autouse=True)
def kernels_keep_no_code(device):
    yield
    device.sync()
    for each in (combine, add_up):
        each.forget()


class Shared:
    """A definition whose arrays `first` (fives) and `second` (sevens) share memory, and a last node that uses neither.

    `add_last(node, x)` adds the last node: it writes `out` from `x`.
    """

    def __init__(self, add_last):
        self.x, self.out = cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
        g = self.g = cg.GraphDef()
        self.first = g.alloc(shape=N, dtype=cg.f32, name="first")
        place = self.first.memset(self.first, np.float32(5)).memcpy(self.out, self.first)
        self.second = place.alloc(shape=N, dtype=cg.f32, name="second")
        place = self.second.memset(self.second, np.float32(7)).memcpy(self.out, self.second)
        self.last = add_last(place, self.out, self.x)
        self.last.free(self.first).free(self.second)
        self.graph = g.instantiate()
        assert [each.shares for each in g.memory.arrays] == [(self.second,), (self.first,)]

    def run(self, stream):
        self.graph.launch(stream)
        stream.sync()
        return sorted(set(self.out.to_numpy().tolist()))


def by_call(place, out, x):
    return place.call(combine, out, x, x, 0.0)


def by_launch(place, out, x):
    code = cg.Program(COPY, code_type="c++").compile("cubin").get_kernel("copy_all")
    return place.launch(ONE, code, out, x)


@pytest.fixture
def stream(device):
    return device.create_stream()


@pytest.mark.parametrize("add_last", [by_call, by_launch])
def test_an_array_that_a_changed_node_passes_to_a_view_is_not_overwritten(add_last, stream):
    rig = Shared(add_last)
    given = (rig.first, rig.first, 0.0) if add_last is by_call else (rig.first,)
    rig.last.update(args=(rig.out, *given))
    rig.graph[rig.last].update(config=rig.last.config)
    assert rig.run(stream) == [5]
    assert (rig.first._place(), rig.second._place()) == ("own", "shared")
    assert rig.run(stream) == [5]
    rig.graph.update(rig.g)
    assert rig.run(stream) == [5]


def test_a_view_that_passes_the_same_arrays_lets_them_share(stream):
    rig = Shared(lambda place, out, x: place.call(combine, out, x, x, 0.0))
    g, node = cg.GraphDef(), None
    node = g.alloc(shape=N, dtype=cg.f32)
    last = node.memset(node, np.float32(5)).call(combine, rig.out, node, node, 0.0)
    last.free(node)
    graph = g.instantiate()
    graph[last].update(config=last.config)
    graph.launch(stream)
    stream.sync()
    assert node._place() == "shared"
    assert (rig.out.to_numpy() == 5).all()


def test_other_code_in_a_view_gives_its_arrays_memory_of_their_own(stream):
    """It may keep an address for a later kernel."""
    out = cg.zeros(N, cg.f32)
    g = cg.GraphDef()
    node = g.alloc(shape=N, dtype=cg.f32)
    last = node.memset(node, np.float32(5)).call(combine, out, node, node, 0.0)
    last.free(node)
    graph = g.instantiate()
    code = cg.Program(COPY, code_type="c++").compile("cubin").get_kernel("copy_all")
    last.update(kernel=code, args=(out, node))
    assert node._place() == "shared"
    graph[last].update(config=ONE)
    assert node._place() == "own"
    graph.launch(stream)
    stream.sync()
    assert (out.to_numpy() == 5).all()


def test_an_array_that_is_newer_than_the_executable_gets_memory_of_its_own(stream):
    rig = Shared(by_call)
    late = rig.g.alloc(shape=N, dtype=cg.f32, name="late")
    rig.last.update(args=(late, rig.x, rig.x, 0.0))
    rig.graph[rig.last].update(config=rig.last.config)
    assert late._place() == "own"
    assert rig.run(stream) == [7]


class Extended(Program):
    """A random program with three further nodes at its end, which copy the first input to `outs`."""

    def add_step(self, step, to):
        super().add_step(step, to)
        self.every = [each.astype("f4") for each in self.expected]

    def free(self):
        self.outs, self.last = [cg.zeros(N, cg.f32) for _ in range(3)], []
        end = joined([each for each in self.nodes if each is not None])
        for out in self.outs:
            end = end.call(combine, out, self.inputs[0], self.inputs[0], 0.0)
            self.last.append(end)
        super().free()


@pytest.mark.parametrize("seed", range(20))
def test_views_with_random_arrays_compute_what_numpy_computes(seed, stream):
    program, source = Extended(seed, 18), random.Random(seed)
    arrays = [i for i, value in enumerate(program.values) if isinstance(value, cg.AllocNode)]
    graph, copied = program.g.instantiate(), {}
    for _ in range(5):
        at, chosen = source.randrange(3), source.choice(arrays)
        node, array = program.last[at], program.values[chosen]
        args = program.outs[at], source.choice([array, program.inputs[0]]), array, 0.0
        what = source.choice(["definition", "view", "update"])
        if what == "definition":
            node.update(args=args)
            graph[node].update(config=node.config)
            copied.setdefault(at, chosen)  # a view keeps the arguments that it has set
        elif what == "view":
            graph[node].update(args=args)
            copied[at] = chosen
        else:
            graph.update(program.g)
            copied.clear()
        program.check(graph, stream)
        for at, chosen in copied.items():
            np.testing.assert_array_equal(program.outs[at].to_numpy(), program.every[chosen])


def test_a_refused_update_gives_no_array_an_address_and_names_the_array(stream):
    def define(fills_rows):
        g = cg.GraphDef()
        array = g.alloc(shape=N, dtype=cg.f32, name="array")
        node = array.memset(x, 0, 8, 2, 64) if fills_rows else array.memset(array, np.float32(5))
        node.call(combine, out, array, array, 0.0).free(array)
        return g, array

    x, out = cg.full(N, 1, cg.f32), cg.zeros(N, cg.f32)
    (g, array), (other, others) = define(False), define(True)
    graph = g.instantiate()
    with pytest.raises(cg.GraphUpdateError, match=r"dptr was AllocNode 'array' \(.*\), and is 0x"):
        graph.update(other)
    assert (array._place(), others._place()) == ("shared", "shared")
    graph.launch(stream)
    stream.sync()
    assert (out.to_numpy() == 5).all()


def test_a_config_function_cannot_be_the_first_to_read_an_address(stream):
    """The lock of the executable, which gets the address, is held while the function runs."""
    out = cg.zeros(N, cg.f32)
    code = cg.Program(COPY, code_type="c++").compile("cubin").get_kernel("copy_all")
    g = cg.GraphDef()
    source = g.param("source", cg.pointer)
    array = g.alloc(shape=N, dtype=cg.f32)
    seen, known = [], [array]  # a graph that kept its own nodes would never be destroyed

    def config(to, from_):
        seen.append(known[0].dptr)
        return ONE

    array.memset(array, np.float32(3)).launch(config, code, out, source).free(array)
    graph = g.instantiate()
    x = cg.full(N, 2, cg.f32)
    message = (
        "config function reads the address of an array of an alloc node for the first time: read its dptr"
    )
    with pytest.raises(RuntimeError, match=message):
        graph.launch(stream, source=x)
    assert seen == []
    assert array._place() == "shared"
    address = array.dptr
    graph.launch(stream, source=x)
    stream.sync()
    assert seen == [address]
    assert (out.to_numpy() == 2).all()
    known.clear()
