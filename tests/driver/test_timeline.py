# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a timeline has each node that ran, in an order that its edges allow. It is a profile under an old name."""

import itertools
import json

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs import timeline
from tests.graph_rig import ONE, code, compiled, kernels, pinned

__all__ = ["code", "compiled", "kernels", "pinned"]


@pytest.fixture
def host_driver(driver):
    if driver.kind != "host":
        pytest.skip("the host driver's alone")


@pytest.fixture
def traced(host_driver, stream, tmp_path):
    """traced(graph): the events of one launch."""

    def launch(graph, times):
        with timeline.trace(tmp_path / "trace.json"):
            for _ in range(times):
                graph.launch(stream)
            stream.sync()

    def trace(graph, times=1):
        with pytest.warns(DeprecationWarning, match="p.save"):
            launch(graph, times)
        events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        return [event for event in events if event["ph"] == "X"]

    return trace


def named(events, name):
    return [event for event in events if event["name"] == name]


def end(event):
    return event["ts"] + event["dur"]


def test_each_node_is_there_with_its_name_and_kind(traced, kernels, pinned):
    x = pinned([1], "u4")
    definition = cg.GraphDef()
    node = definition.launch(ONE, kernels.affine, x.ctypes.data, 2, 1)
    node = node.memset(x.ctypes.data, np.uint32(4), 1)
    node.callback(lambda: None)
    events = traced(definition.instantiate())
    assert len(events) == 3
    assert len(named(events, "affine")) == 1
    assert len({event["cat"] for event in events}) == 3
    assert len({event["args"]["stream"] for event in events}) == 1
    for before, after in itertools.pairwise(events):
        assert end(before) <= after["ts"]


def test_edges_are_kept(traced, kernels, pinned):
    x = pinned(np.zeros(9), "u4")
    definition = cg.GraphDef()
    first = definition.launch(ONE, kernels.affine, x.ctypes.data, 1, 1)
    middle = [first.memset(x.ctypes.data + 4 * i, np.uint32(i), 1) for i in range(1, 8)]
    definition.join(*middle).launch(ONE, kernels.affine, x.ctypes.data, 1, 1)
    events = traced(definition.instantiate(), times=2)
    starts = sorted(named(events, "affine"), key=lambda event: event["ts"])
    assert len(starts) == 4
    for opening, closing in (starts[:2], starts[2:]):
        between = [e for e in events if opening["ts"] < e["ts"] < closing["ts"]]
        assert len(between) == 8  # seven fills, and the join
        assert all(end(opening) <= e["ts"] and end(e) <= closing["ts"] for e in between)


def test_nodes_outside_of_the_block_are_not_in_it(traced, kernels, pinned, stream):
    x = pinned([1], "u4")
    definition = cg.GraphDef()
    definition.launch(ONE, kernels.affine, x.ctypes.data, 2, 1)
    graph = definition.instantiate()
    graph.launch(stream)
    stream.sync()
    assert len(traced(graph)) == 1
    assert len(traced(graph)) == 1


def test_copies_and_conditionals_have_their_names(traced, kernels, pinned):
    x = pinned([1, 2], "u4")
    definition = cg.GraphDef()
    node = definition.memcpy(x.ctypes.data, x.ctypes.data + 4, 4, name="move")
    node.if_then(definition.create_condition(1), name="choice").then.launch(ONE, kernels.nothing)
    events = traced(definition.instantiate())
    assert [event["name"] for event in events] == ["move", "choice", "then", "nothing"]
    assert x[0] == 2


def test_the_warning_names_the_line_of_the_user(host_driver, tmp_path):
    with (
        pytest.warns(DeprecationWarning, match="timeline.trace") as caught,
        timeline.trace(tmp_path / "trace.json"),
    ):
        pass
    assert caught[0].filename == __file__
