# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a kernel that is called in a capture has the accesses of the same call in a definition. `check` knows them."""

import dataclasses

import pytest

import cuda_graphs as cg

Floats = cg.types.ndarray(cg.f32, ndim=1)
N = 8


@dataclasses.dataclass
class Point:
    place: cg.vec3
    mass: cg.f32


@cg.kernel
def increase(x: Floats, by: cg.f32):
    for i in x:
        x[i] += by


@cg.kernel
def copy(x: Floats, y: Floats):
    for i in x:
        y[i] = x[i]


@cg.kernel
def in_two_tasks(x: Floats, y: Floats):
    total = 0.0
    for i in x:
        total += x[i]
    for i in y:
        y[i] = total


@cg.kernel
def weigh(points: cg.types.ndarray(Point, ndim=1), y: Floats):
    for i in points:
        y[i] = points[i].mass


@cg.kernel(graph=True)
def until_small(x: Floats):
    while cg.graph_while(x[0] > 1.0):
        for i in x:
            x[i] *= 0.5


@pytest.fixture(autouse=True)
def forget(device):
    yield
    device.sync()
    for each in (increase, copy, in_two_tasks, weigh, until_small):
        each.forget()


@pytest.fixture
def x(device):
    return cg.ones(N, cg.f32)


@pytest.fixture
def y(device):
    return cg.zeros(N, cg.f32)


def launches(definition):
    """The kernel nodes of a definition by name, also those inside of other nodes, with the user's memory alone."""
    found, graphs = {}, [definition]
    for graph in graphs:
        for node in graph.nodes():
            graphs += node._inner_graphs()
            if isinstance(node, cg.KernelNode):
                found[node.name] = node
    return found


def spans_in(spans, *arrays):
    """The spans in the memory of arrays: temporaries have other addresses in each definition."""
    return {(span.start, span.run) for span in spans if any(span.start == each.handle for each in arrays)}


CALLS = {
    "one task": (increase, lambda x, y: (x, 2.0)),
    "two arrays": (copy, lambda x, y: (x, y)),
    "part of an array": (copy, lambda x, y: (x[2:5], y[1:4])),
    "two tasks and a temporary": (in_two_tasks, lambda x, y: (x, y)),
    "control flow": (until_small, lambda x, y: (x,)),
}


@pytest.mark.parametrize("case", CALLS)
def test_captured_kernels_have_the_accesses_of_definitions(case, x, y):
    kernel, arguments = CALLS[case]
    args = arguments(x, y)
    definition = cg.GraphDef()
    definition.call(kernel, *args)
    with cg.capture() as builder:
        kernel(*args)
    wanted, found = launches(definition), launches(builder.graph_definition)
    assert sorted(found) == sorted(wanted)
    assert found
    arrays = [each for each in (x, y, *args) if isinstance(each, cg.NDArray)]
    accesses = 0
    for name, node in found.items():
        for ours, theirs in ((node.reads, wanted[name].reads), (node.writes, wanted[name].writes)):
            assert spans_in(ours, *arrays) == spans_in(theirs, *arrays)
            assert len(ours) == len(theirs)
            accesses += len(spans_in(ours, *arrays))
    assert accesses >= 2
    assert builder.graph_definition.check().is_complete


def test_races_between_captured_kernels_are_found(x, y):
    z = cg.zeros(N, cg.f32)
    for first, second, race in (
        (lambda s: increase(x, 1.0, stream=s), lambda s: increase(x, 2.0, stream=s), True),
        (lambda s: copy(x, y, stream=s), lambda s: increase(y, 1.0, stream=s), True),
        (lambda s: copy(x, y, stream=s), lambda s: in_two_tasks(x, z, stream=s), False),
        (lambda s: increase(x, 1.0, stream=s), lambda s: increase(y, 2.0, stream=s), False),
        (lambda s: increase(x[:4], 1.0, stream=s), lambda s: increase(x[4:], 2.0, stream=s), False),
        (lambda s: increase(x[:5], 1.0, stream=s), lambda s: increase(x[4:], 2.0, stream=s), True),
    ):
        with cg.capture() as builder:
            left, right = builder.split(2)
            first(left)
            second(right)
            cg.GraphBuilder.join(left, right)
        assert any(each.kind == "unordered" for each in builder.graph_definition.check()) == race


def test_structures_of_a_capture_are_known(y):
    with cg.capture() as builder:
        points = cg.zeros(N, Point)
        weigh(points, y)
    (node,) = launches(builder.graph_definition).values()
    assert points.mass.handle in [span.start for span in node.reads]
    assert [span.start for span in node.writes] == [y.handle]
    assert {each.kind for each in builder.graph_definition.check()} <= {"never_freed"}
