# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the nodes of arrays: the driver allocates nothing for them, and its rules for alloc nodes are not theirs.

A definition whose alloc nodes are all arrays has any number of executables, loses edges and other nodes, and is
launched again without a free node. Results are compared with NumPy.
"""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

N = 300
f32x1 = cg.types.ndarray(cg.f32, 1)


@cg.kernel
def add(to: f32x1, left: f32x1, right: f32x1):
    for i in to:
        to[i] = left[i] + right[i]


@pytest.fixture(autouse=True)
def kernels_keep_no_code(device):
    yield
    device.sync()
    add.forget()


def doubled(to, x, count=4):
    """Return a definition that writes x times 2**count to `to`, by way of arrays, and its arrays and calls."""
    g = cg.GraphDef()
    place, value, arrays, calls = g, x, [], []
    for i in range(count):
        last = i == count - 1
        if not last:
            arrays.append(place := place.alloc(shape=N, dtype=cg.f32, name=f"a{i}"))
        place = place.call(add, to if last else arrays[-1], value, value, name=f"add{i}")
        calls.append(place)
        value = arrays[-1]
    for each in arrays:
        place = place.free(each)
    return g, arrays, calls


def test_the_driver_allocates_nothing_for_them(stream, device):
    memory = cg.GraphMemoryResource(device)
    g, _, _ = doubled(to := cg.zeros(N, cg.f32), cg.full(N, 1, cg.f32))
    before = memory.attributes.used_mem_current, memory.attributes.reserved_mem_current
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    assert (memory.attributes.used_mem_current, memory.attributes.reserved_mem_current) == before
    assert (to.to_numpy() == 16).all()


def test_executables_of_one_definition_have_memory_of_their_own(kernels, pinned, device):
    """The first executable waits between its write and its read, while the second one runs as a whole."""
    flag = pinned([0])
    results = [pinned(N, "f4"), pinned(N, "f4")]
    g = cg.GraphDef()
    to, value, waits = g.param("to", cg.pointer), g.param("value", cg.u32), g.param("waits", cg.pointer)
    a = g.alloc(shape=N, dtype=cg.f32)
    filled = a.memset(a, np.float32(0)).memset(a, value, N)
    filled.launch(ONE, kernels.wait_for, waits).memcpy(to, a, 4 * N).free(a)
    first, second = g.instantiate(), g.instantiate()
    streams = device.create_stream(), device.create_stream()
    first.launch(streams[0], to=results[0], value=0x3F800000, waits=flag.ctypes.data)
    second.launch(streams[1], to=results[1], value=0x40000000, waits=pinned([1]).ctypes.data)
    streams[1].sync()
    flag[0] = 1
    streams[0].sync()
    np.testing.assert_array_equal(results[0], np.full(N, 1, "f4"))
    np.testing.assert_array_equal(results[1], np.full(N, 2, "f4"))


def test_all_executables_follow_when_an_address_is_read(stream):
    g, arrays, _ = doubled(to := cg.zeros(N, cg.f32), cg.full(N, 1, cg.f32))
    graphs = [g.instantiate() for _ in range(3)]
    graphs.pop().close()
    for graph in graphs:
        graph.launch(stream)
    assert arrays[1].dptr and [each._place() for each in arrays] == ["shared", "own", "shared"]
    for graph in graphs:
        to.fill(0)
        graph.launch(stream)
        stream.sync()
        assert (to.to_numpy() == 16).all()
        read_back = cg.GraphDef()
        read_back.memcpy(to, arrays[1])
        read_back.instantiate().launch(stream)
        stream.sync()
        assert (to.to_numpy() == 4).all()


def test_an_array_that_nothing_frees_keeps_its_memory_for_the_next_launch(stream):
    g, to = cg.GraphDef(), cg.zeros(N, cg.f32)
    kept = g.alloc(shape=N, dtype=cg.f32)
    kept.call(add, kept, kept, to)
    start = cg.GraphDef()
    start.memset(kept, np.float32(1))
    result = cg.GraphDef()
    result.memcpy(to, kept)
    start.instantiate().launch(stream)
    graph = g.instantiate()
    for _ in range(3):
        graph.launch(stream)
    result.instantiate().launch(stream)
    stream.sync()
    assert (to.to_numpy() == 1).all()


def test_other_nodes_and_edges_can_be_removed(stream):
    g, arrays, calls = doubled(to := cg.zeros(N, cg.f32), cg.full(N, 1, cg.f32))
    extra = calls[0].call(add, to, arrays[0], arrays[0])
    calls[1].pred = {*calls[1].pred, extra}
    calls[1].pred = {node for node in calls[1].pred if node is not extra}
    extra.destroy()
    assert not g.check()
    g.instantiate().launch(stream)
    stream.sync()
    assert (to.to_numpy() == 16).all()


def test_nodes_of_arrays_stay_and_the_error_says_why(stream):
    g, arrays, _ = doubled(to := cg.zeros(N, cg.f32), cg.full(N, 1, cg.f32))
    free = next(node for node in g.nodes() if isinstance(node, cg.FreeNode))
    before = len(g.nodes()), len(g.edges())
    for node in (arrays[1], free):
        with pytest.raises(cg.CUDANotSupportedError, match="destroy") as refused:
            node.destroy()
        assert "its AllocNode and its FreeNode" in str(refused.value)
        assert node.is_valid
    assert (len(g.nodes()), len(g.edges())) == before
    g.instantiate().launch(stream)
    stream.sync()
    assert (to.to_numpy() == 16).all()


def embed_in_definition(child):
    target = cg.GraphDef()
    try:
        target.embed(child)
    finally:
        assert not target.nodes()


def embed_by_update(child):
    target, old = cg.GraphDef(), cg.GraphDef()
    old.join()
    node = target.embed(old)
    try:
        node.update(child)
    finally:
        assert len(node.child_graph.nodes()) == 1


@pytest.mark.parametrize("embed", [embed_in_definition, embed_by_update])
def test_copies_are_refused_and_the_error_names_the_array(embed):
    g, _, _ = doubled(cg.zeros(N, cg.f32), cg.full(N, 1, cg.f32))
    with pytest.raises(cg.CUDANotSupportedError, match=r"AllocNode 'a0' .* cannot be embedded") as refused:
        embed(g)
    assert "Attempted: add a copy of" in str(refused.value)


def test_a_body_refuses_a_copy_as_it_refuses_the_nodes(device):
    g, _, _ = doubled(cg.zeros(N, cg.f32), cg.full(N, 1, cg.f32))
    target = cg.GraphDef()
    body = target.if_then(target.create_condition(1)).then
    with pytest.raises(ValueError, match=r"cannot be embedded in a body .*AllocNode 'a0'"):
        body.embed(g)
    with pytest.raises(ValueError, match=r"AllocNode .*cannot be in a body"):
        body.alloc(shape=N, dtype=cg.f32)
    assert not body.nodes()


def test_a_definition_frees_an_array_of_another_one_once(stream):
    g, other = cg.GraphDef(), cg.GraphDef()
    a = g.alloc(shape=N, dtype=cg.f32, name="a")
    a.memset(a, 0)
    other.free(a)
    for again in (a, a.dptr):
        with pytest.raises(cg.CUDAError, match=r"INVALID_VALUE: FreeNode .* frees the memory already"):
            other.free(again)
    assert len(other.nodes()) == 1
    graph, freeing = g.instantiate(), other.instantiate()
    for _ in range(2):
        graph.launch(stream)
        freeing.launch(stream)
    stream.sync()


def test_kernels_begin_early_beside_them(stream):
    g, _, _ = doubled(to := cg.zeros(N, cg.f32), x := cg.full(N, 1, cg.f32))
    end = g.join(*(node for node in g.nodes() if not node.succ))
    end.call(add, to, to, x).call(add, to, to, x)
    graph = g.instantiate(early_edges=True)
    assert any(each.is_early for each in graph.explain().early)
    for _ in range(2):
        graph.launch(stream)
        stream.sync()
        assert (to.to_numpy() == 18).all()
    sized = cg.GraphDef()
    sized.alloc(64).call(add, to, to, x).call(add, to, to, x)
    why = [each.why for each in sized.instantiate(early_edges=True).explain().early]
    assert why == ["its graph allocates or frees memory of a size, so a driver removes no edge"]
