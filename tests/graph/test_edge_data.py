# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an edge keeps its data until it is removed, and what a driver does not take as data leaves the graph alone."""

import copy
import dataclasses

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

FULL = cg.EdgeData()
PROGRAMMATIC = cg.EdgeData.programmatic()
LAUNCH_ORDER = cg.EdgeData.programmatic("launch_order")
DATA = [PROGRAMMATIC, LAUNCH_ORDER, cg.EdgeData(from_port=2), FULL]
BAD = [
    cg.EdgeData(from_port=1),  # a programmatic port of an edge that is not programmatic
    cg.EdgeData(type=1),
    cg.EdgeData(from_port=3),
    cg.EdgeData(to_port=1),
    cg.EdgeData(type=2),
    cg.EdgeData(255, 255, 255),
]


@pytest.fixture
def g(device):
    return cg.GraphDef()


@pytest.fixture
def kernel(kernels):
    """kernel(place, edge=None): a kernel node there."""
    return lambda place, edge=None: place.launch(ONE, kernels.nothing, edge=edge)


def test_the_data_of_the_two_programmatic_triggers():
    assert (PROGRAMMATIC.from_port, PROGRAMMATIC.to_port, PROGRAMMATIC.type) == (1, 0, 1)
    assert (LAUNCH_ORDER.from_port, LAUNCH_ORDER.to_port, LAUNCH_ORDER.type) == (2, 0, 1)
    assert cg.EdgeData() == cg.EdgeData(0, 0, 0) != PROGRAMMATIC
    with pytest.raises(ValueError, match="trigger must be one of 'programmatic', 'launch_order', got 'now'"):
        cg.EdgeData.programmatic("now")


def test_edge_data_is_a_frozen_value():
    with pytest.raises(dataclasses.FrozenInstanceError):
        FULL.type = 1
    assert {PROGRAMMATIC: 1}[cg.EdgeData(1, 0, 1)] == 1
    assert eval(repr(LAUNCH_ORDER), {"EdgeData": cg.EdgeData}) == LAUNCH_ORDER


@pytest.mark.parametrize(
    ("value", "error"), [(256, OverflowError), (-1, OverflowError), (1.5, TypeError), ("1", TypeError)]
)
@pytest.mark.parametrize("field", ["from_port", "to_port", "type"])
def test_a_field_is_a_byte(field, value, error):
    with pytest.raises(error):
        cg.EdgeData(**{field: value})


@pytest.mark.parametrize("data", DATA, ids=str)
def test_data_comes_with_the_node_or_with_the_edge_and_is_read_back(g, kernel, data):
    a = kernel(g)
    b = kernel(a, data)
    c, d = kernel(g), kernel(g)
    c.pred.add(b, data)
    c.succ.add(d, data)
    assert [g.edge_data(*pair) for pair in ((a, b), (b, c), (c, d))] == [data] * 3
    assert g.edges() == {(a, b), (b, c), (c, d)}
    assert (b.pred, b.succ) == ({a}, {c})


@pytest.mark.parametrize("data", BAD, ids=str)
def test_data_that_no_driver_knows_is_refused_and_nothing_changes(g, kernel, data):
    a, b = kernel(g), kernel(g)
    with pytest.raises(cg.CUDAError, match="EdgeData"):
        kernel(a, data)
    with pytest.raises(cg.CUDAError, match="EdgeData"):
        a.succ.add(b, data)
    assert (g.nodes(), g.edges()) == ({a, b}, set())


def test_only_kernels_have_programmatic_edges(g, kernel, pinned):
    x = pinned(1)
    a, fill, join = kernel(g), g.memset(x, 0), g.join()
    for before, after in ((a, fill), (fill, a), (a, join), (join, a)):
        for data in (PROGRAMMATIC, LAUNCH_ORDER):
            with pytest.raises(cg.CUDAError, match="INVALID_VALUE"):
                before.succ.add(after, data)
    for place in (fill, join):
        with pytest.raises(cg.CUDAError, match="INVALID_VALUE"):
            kernel(place, PROGRAMMATIC)
    assert (g.nodes(), g.edges()) == ({a, fill, join}, set())
    a.succ.add(fill, cg.EdgeData(from_port=2))  # a full edge from the start of a kernel goes to any node
    assert g.edge_data(a, fill) == cg.EdgeData(from_port=2)


def test_a_definition_has_no_edge_to_its_first_node(g, kernel):
    with pytest.raises(ValueError, match=r"edge=\.\.\. needs a predecessor: call node\.launch"):
        kernel(g, PROGRAMMATIC)
    with pytest.raises(ValueError, match=r"edge=\.\.\. needs a predecessor: call node\.launch"):
        kernel(g, FULL)
    assert g.nodes() == set()


def test_edits_of_other_edges_keep_it(g, kernel):
    a = kernel(g)
    b = kernel(a, PROGRAMMATIC)
    c, d = kernel(g), kernel(g)
    b.pred |= {c, d}
    b.pred.discard(c)
    b.pred = {a, d}
    b.pred.add(a)
    a.succ.update({b, c})
    assert g.edge_data(a, b) == PROGRAMMATIC
    assert g.edge_data(d, b) == g.edge_data(a, c) == FULL


def test_the_data_of_an_edge_that_is_there_changes_when_it_is_given(g, kernel):
    a = kernel(g)
    b = kernel(a)
    for data in (PROGRAMMATIC, LAUNCH_ORDER, FULL):
        b.pred.add(a, data)
        assert g.edge_data(a, b) == data
        assert g.edges() == {(a, b)}
    with pytest.raises(cg.CUDAError):
        b.pred.add(a, BAD[0])
    assert g.edge_data(a, b) == FULL


def test_an_edge_that_is_removed_forgets_it(g, kernel):
    a = kernel(g)
    b = kernel(a, PROGRAMMATIC)
    b.pred.clear()
    b.pred.add(a)
    assert g.edge_data(a, b) == FULL


def test_edges_that_are_not_there_have_no_data(g, kernel):
    a = kernel(g)
    b, c = kernel(a), kernel(a)
    other = kernel(cg.GraphDef())
    c.destroy()
    for before, after in ((b, a), (a, a), (a, other), (other, a), (a, c), (c, a), (g._entry, a)):
        with pytest.raises(ValueError, match="there is no edge from"):
            g.edge_data(before, after)
    with pytest.raises(ValueError, match="there is no edge from"):
        cg.GraphDef().edge_data(a, b)


def test_an_embedded_copy_keeps_it(g, kernel, run):
    kernel(kernel(g), PROGRAMMATIC)
    outer = cg.GraphDef()
    inner = outer.embed(g).child_graph
    ((a, b),) = inner.edges()
    assert inner.edge_data(a, b) == PROGRAMMATIC
    run(outer)


def test_edge_data_is_kept_in_graphs_that_allocate_and_in_bodies(g, kernel, run):
    memory = g.alloc(64)
    a = kernel(memory)
    b = kernel(a, PROGRAMMATIC)
    b.free(memory.dptr)
    assert g.edge_data(a, b) == PROGRAMMATIC
    h = cg.GraphDef()
    body = h.if_then(h.create_condition(1)).then
    c = kernel(body)
    d = kernel(c, LAUNCH_ORDER)
    assert body.edge_data(c, d) == LAUNCH_ORDER
    run(g)
    run(h)


def test_wrong_data_is_a_type_error(g, kernel):
    a, b = kernel(g), kernel(g)
    for wrong in ("programmatic", 1, (1, 0, 1), {}):
        with pytest.raises(TypeError, match="must be an EdgeData or None"):
            a.succ.add(b, wrong)
        with pytest.raises(TypeError, match="must be an EdgeData or None"):
            kernel(a, wrong)
    with pytest.raises(TypeError, match="expected GraphNode"):
        a.succ.add("b", PROGRAMMATIC)
    assert g.edges() == set()


# The second kernel starts while the first runs, and reads what it wrote. On the host driver the edge is a full one.

OVERLAP = r"""
extern "C" __global__ void first(unsigned* x, unsigned n, unsigned rounds) {
    asm volatile("griddepcontrol.launch_dependents;");
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = i;
    for (unsigned k = 0; k < rounds; ++k) v = v * 1664525u + 1013904223u;
    if (i < n) x[i] = v;
}
extern "C" __global__ void second(const unsigned* x, unsigned* y, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned other = n - 1 - i;
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (i < n) y[i] = x[other] + 1;
}
"""


@pytest.fixture(scope="module")
def overlap_code(session_device):
    return cg.Program(OVERLAP, code_type="c++").compile("cubin")


@pytest.mark.parametrize("data", [PROGRAMMATIC, LAUNCH_ORDER, FULL], ids=str)
def test_a_dependent_kernel_that_waits_sees_what_the_first_wrote(overlap_code, data, pinned, run):
    count, rounds, links = 2048, 200, 4
    module = copy.copy(overlap_code)
    first, second = module.get_kernel("first"), module.get_kernel("second")
    config = cg.LaunchConfig(grid=count // 128, block=128)
    x, y = pinned(count, "u4"), pinned(count, "u4")
    g = cg.GraphDef()
    node = g.launch(config, first, x, count, rounds).launch(config, second, x, y, count, edge=data)
    for _ in range(links):
        node = node.launch(config, second, y, x, count, edge=data).launch(
            config, second, x, y, count, edge=data
        )
    run(g, times=3)
    expected = np.arange(count, dtype=np.uint32)
    for _ in range(rounds):
        expected = expected * np.uint32(1664525) + np.uint32(1013904223)
    for _ in range(2 * links + 1):
        expected = expected[::-1] + np.uint32(1)
    assert (y == expected).all()
