# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `embed` adds a copy of a finished graph as one node, or nothing at all."""

import gc

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph_rig import ONE

FAILURE = 46


@pytest.fixture
def child(device, kernels, pinned):
    """A finished builder that adds 3 to x[0], one by one; x."""
    x = pinned([0, 0])
    builder = device.create_graph_builder().begin_building()
    for _ in range(3):
        cg.launch(builder, ONE, kernels.add, x.ctypes.data, 1, 1)
    return builder.end_building(), x


def run(builder, stream):
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()


def test_embedded_graph_runs_between_the_work_before_and_after_it(child, capturing, kernels, stream):
    finished, x = child
    word = x.ctypes.data + 4
    cg.launch(capturing, ONE, kernels.add, word, 1, 1)
    capturing.embed(finished)
    cg.launch(capturing, ONE, kernels.add, word, 1, 1)
    stream.sync()
    assert list(x) == [0, 0]  # nothing runs while it is built
    run(capturing, stream)
    assert list(x) == [3, 2]
    (node,) = (n for n in capturing.graph_definition.nodes() if isinstance(n, cg.ChildGraphNode))
    assert (len(node.pred), len(node.succ)) == (1, 1)


def test_the_child_stays_as_it_is_and_may_be_used_again(child, capturing, kernels, stream):
    finished, x = child
    capturing.embed(finished)
    capturing.embed(finished)
    for node in finished.graph_definition.nodes():
        if not node.succ:
            node.launch(ONE, kernels.add, x.ctypes.data, 1, 100)  # later edits do not reach the copies
    run(capturing, stream)
    assert x[0] == 6
    finished.complete().launch(stream)
    stream.sync()
    assert x[0] == 6 + 103


def test_the_copy_needs_neither_the_child_nor_its_graph(child, capturing, stream):
    finished, x = child
    capturing.embed(finished)
    finished.close()
    del finished, child
    gc.collect()
    run(capturing, stream)
    assert x[0] == 3


def test_the_copies_nodes_know_where_they_are_from(child, capturing):
    capturing.embed(child[0])
    capturing.end_building()
    (node,) = capturing.graph_definition.nodes()
    assert all("test_embedding.py" in inner.source for inner in node.child_graph.nodes())
    assert "test_embedding.py" in node.source


@pytest.mark.parametrize("wrong", [None, 1, "text", "GraphDef"])
def test_embedding_anything_but_a_builder_is_a_type_error(wrong, capturing):
    if wrong == "GraphDef":
        wrong = cg.GraphDef()
    with pytest.raises(TypeError):
        capturing.embed(wrong)
    assert capturing.is_building
    assert capturing.end_building().graph_definition.nodes() == set()


@pytest.mark.parametrize("state", ["not_started", "capturing", "forked", "closed", "itself", "failed"])
def test_a_child_that_has_not_ended_well_is_refused(state, capturing, device):
    other = capturing if state == "itself" else device.create_graph_builder()
    if state in ("capturing", "forked", "failed"):
        other.begin_building()
    child = other.split(2)[1] if state == "forked" else other
    if state == "closed":
        other.close()
    if state == "failed":
        for use in (other.stream.sync, other.end_building):
            with pytest.raises(cg.CaptureError):
                use()
    text = {"closed": "has been closed", "failed": "The graph is unfinished"}.get(
        state, "^The child graph is unfinished"
    )
    with pytest.raises((ValueError, RuntimeError), match=text) as caught:
        capturing.embed(child)
    assert isinstance(caught.value, RuntimeError if state == "failed" else ValueError)
    assert capturing.is_building


def test_a_child_with_parameters_is_refused_and_its_definition_embedded_afterwards(
    child, capturing, kernels, stream
):
    finished, x = child
    definition = finished.graph_definition
    amount = definition.param("amount", cg.i32)
    (last,) = (node for node in definition.nodes() if not node.succ)
    last.launch(ONE, kernels.add, x.ctypes.data, 1, amount)
    with pytest.raises(ValueError, match="use named parameters"):
        capturing.embed(finished)
    assert capturing.end_building().graph_definition.nodes() == set()
    capturing.graph_definition.embed(definition)
    capturing.complete().launch(stream, amount=10)
    stream.sync()
    assert x[0] == 13


def test_the_childs_state_is_looked_at_before_ones_own(device):
    idle, unfinished = device.create_graph_builder(), device.create_graph_builder().begin_building()
    with pytest.raises(ValueError, match="The child graph is unfinished"):
        idle.embed(unfinished)
    with pytest.raises(ValueError, match="The parent GraphBuilder is not capturing"):
        idle.embed(unfinished.end_building())


@pytest.mark.parametrize("fails", ["cuGraphAddNode", "cuStreamUpdateCaptureDependencies"])
def test_embedding_that_fails_half_way_is_undone(fails, child, capturing, kernels, driver_table, stream):
    finished, x = child
    cg.launch(capturing, ONE, kernels.add, x.ctypes.data, 1, 10)
    before = boxes.live()
    driver_table.refuse_once(fails, FAILURE)
    with pytest.raises(cg.CUDAError) as caught:
        capturing.embed(finished)
    assert caught.value.code == FAILURE
    driver_table.restore()
    del caught
    boxes.drain()
    assert {kind for kind, count in boxes.live().items() if count > before[kind]} <= {"user_object"}
    cg.launch(capturing, ONE, kernels.add, x.ctypes.data, 1, 100)
    run(capturing, stream)
    assert x[0] == 110
    first, second = capturing.graph_definition.nodes()
    assert {first, second} == {n for edge in capturing.graph_definition.edges() for n in edge}


def test_in_a_fork_and_in_a_body(child, capturing, stream):
    finished, x = child
    _, fork = capturing.split(2)
    fork.embed(finished)
    with fork.if_then(fork.create_condition(1)) as body:
        body.embed(finished)
    cg.GraphBuilder.join(capturing, fork)
    run(capturing, stream)
    assert x[0] == 6
