# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of profiles: each launched node has a record for each launch, under the name of the node; times add up.

The independent truth are callbacks that take a known time, and counts of the program.
"""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph.profile_rig import LAUNCHES, by_name, host_driver, profiled, take
from tests.graph_rig import ONE

__all__ = ["host_driver", "profiled"]


def test_each_graph_of_a_profile_knows_its_definition_and_does_not_keep_it(host_driver, stream, pinned):
    x = pinned([1, 0], "u4")
    definitions = [cg.GraphDef(), cg.GraphDef()]
    for each in definitions:
        each.memset(x.ctypes.data, np.uint32(4), 1)
    graphs = [each.instantiate() for each in definitions]
    with cg.profile() as found:
        for each in reversed(graphs):
            each.launch(stream)
        stream.sync()
    assert [each.definition for each in found.graphs] == definitions[::-1]
    del definitions[0]
    assert [each.definition for each in found.graphs] == [definitions[0], None]
    assert found.missing == ()


@pytest.mark.parametrize("launches", [1, 2, 20])
def test_each_node_has_a_run_in_each_launch(profiled, kernels, pinned, launches):
    x = pinned([1, 0], "u4")
    g = cg.GraphDef()
    g.launch(ONE, kernels.affine, x.ctypes.data, 1, 1).memset(x.ctypes.data + 4, np.uint32(4), 1).callback(
        int
    )
    found = profiled(g, launches)
    assert [row.runs for row in found.rows] == [launches] * 3
    assert x[0] == 1 + launches


def test_rows_have_the_names_kinds_and_source_lines_of_the_nodes(profiled, kernels, pinned):
    x = pinned([1, 0], "u4")
    g = cg.GraphDef()
    node = g.launch(ONE, kernels.affine, x.ctypes.data, 1, 1)
    node = node.memset(x.ctypes.data, np.uint32(4), 1, name="clear")
    node = node.memcpy(x.ctypes.data + 4, x.ctypes.data, 4, name="move")
    node.if_then(g.create_condition(1), name="choice").then.launch(ONE, kernels.nothing, name="inside")
    found = profiled(g)
    names = [(row.depth, row.name, row.kind) for row in found.rows]
    assert names == [
        (0, "affine", "kernel"),
        (0, "clear", "memset"),
        (0, "move", "memcpy"),
        (0, "choice", "if"),
        (1, "then", "body"),
        (2, "inside", "kernel"),
    ]
    for row in found.rows:
        assert row.kind == "body" or "test_profile.py:" in row.source


def test_times_of_a_chain_and_its_gaps_are_the_time_of_the_launches(profiled, kernels, pinned):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    node = g.callback(take(2))
    for _ in range(20):
        node = node.launch(ONE, kernels.affine, x.ctypes.data, 1, 1)
    found = profiled(g)
    nodes = sum(row.total for row in found.rows)
    gaps = sum(gap.total for gap in found.gaps)
    assert nodes + gaps == sum(found.spans)
    assert all(gap.number <= LAUNCHES for gap in found.gaps)


def test_a_node_takes_at_least_the_time_that_its_callback_takes(profiled):
    g = cg.GraphDef()
    g.callback(take(3), name="a").callback(take(9), name="b")
    rows = by_name(profiled(g))
    assert rows["a"].least >= 3e6
    assert rows["b"].least >= 9e6
    assert rows["b"].total >= rows["b"].runs * 9e6
    assert rows["a"].least <= rows["a"].mean <= rows["a"].most <= rows["a"].total


def test_the_critical_path_of_a_diamond_is_its_longer_branch(profiled):
    g = cg.GraphDef()
    first = g.callback(take(1), name="first")
    short, long = first.callback(take(2), name="short"), first.callback(take(12), name="long")
    g.join(short, long, name="join").callback(take(1), name="last")
    found = profiled(g)
    assert [row.name for row in found.critical_path] == ["first", "long", "join", "last"]
    assert {row.name for row in found.rows if row.is_critical} == {"first", "long", "join", "last"}
    path = sum(row.total for row in found.critical_path)
    assert found.critical_share == pytest.approx(path / sum(found.spans))
    assert 0 < found.critical_share <= 1


def test_iterations_of_a_loop_are_counted(profiled, kernels, pinned):
    left = pinned([0], "i4")
    g = cg.GraphDef()
    condition = g.create_condition(1)
    start = g.memset(left.ctypes.data, np.uint32(7), 1)
    loop = start.while_loop(condition, name="loop")
    loop.body.launch(ONE, kernels.count_down, condition, left.ctypes.data, name="step")
    rows = by_name(profiled(g))
    assert rows["loop"].runs == LAUNCHES
    assert rows["body, repeated"].runs == rows["step"].runs == 7 * LAUNCHES
    assert rows["step"].total <= rows["body, repeated"].total <= rows["loop"].total


@pytest.mark.parametrize("chosen", [0, 1, 2])
def test_only_the_chosen_branch_ran(profiled, kernels, chosen):
    g = cg.GraphDef()
    switch = g.switch(g.create_condition(chosen), 3)
    for number, branch in enumerate(switch.branches):
        branch.launch(ONE, kernels.nothing, name=f"in {number}")
    rows = by_name(profiled(g))
    for number in range(3):
        expected = LAUNCHES if number == chosen else 0
        assert rows[f"case {number}"].runs == rows[f"in {number}"].runs == expected
        assert rows[f"in {number}"].is_critical == (number == chosen)


def test_nested_loops_count_all_iterations(profiled, kernels, pinned):
    outer_left, inner_left = pinned([0], "i4"), pinned([0], "i4")
    g = cg.GraphDef()
    outer = g.create_condition(1)
    loop = g.memset(outer_left.ctypes.data, np.uint32(3), 1).while_loop(outer, name="outer")
    inner = loop.body.create_condition(1)
    begin = loop.body.memset(inner_left.ctypes.data, np.uint32(4), 1)
    begin = begin.launch(ONE, kernels.set, inner, 1)
    within = begin.while_loop(inner, name="inner")
    within.body.launch(ONE, kernels.count_down, inner, inner_left.ctypes.data, name="deep")
    within.launch(ONE, kernels.count_down, outer, outer_left.ctypes.data, name="step")
    rows = by_name(profiled(g))
    assert (rows["inner"].runs, rows["step"].runs, rows["deep"].runs) == tuple(
        LAUNCHES * count for count in (3, 3, 12)
    )


def test_a_child_graph_takes_the_time_from_its_first_node_to_its_last(profiled):
    inner = cg.GraphDef()
    inner.callback(take(3), name="a").callback(take(4), name="b")
    g = cg.GraphDef()
    g.embed(inner, name="child").callback(take(1))
    found = profiled(g)
    rows = by_name(found)
    assert rows["child"].least >= 7e6
    assert rows["child"].runs == rows["a"].runs == LAUNCHES
    assert [row.name for row in found.rows] == ["child", "a", "b", *[found.rows[-1].name]]
    assert rows["b"].is_critical


def test_a_block_has_all_graphs_that_ran_in_it(host_driver, stream):
    graphs = []
    for name in "one", "two":
        g = cg.GraphDef()
        g.callback(int, name=name)
        graphs.append(g.instantiate())  # the definition of the Graph goes
        del g
    kept = cg.GraphDef()
    kept.callback(int, name="kept")
    graphs.append(kept.instantiate())
    graphs[2].launch(stream)
    stream.sync()
    with cg.profile() as p:
        for each in graphs[1:]:
            each.launch(stream)
            each.launch(stream)
        stream.sync()
    named, gone = p.graphs
    assert [(row.name, row.runs) for row in named.rows] == [("kept", 2)]
    assert [(row.kind, row.runs) for row in gone.rows] == [("host", 2)]
    assert gone.critical_path == ()


def test_a_definition_that_goes_inside_of_the_block_keeps_its_names(host_driver, stream):
    with cg.profile() as p:
        g = cg.GraphDef()
        g.callback(int, name="mine")
        graph = g.instantiate()
        graph.launch(stream)
        del g
        stream.sync()
    assert [row.name for row in p.graphs[0].rows] == ["mine"]


def test_a_graph_that_was_updated_keeps_its_names(host_driver, stream, kernels, pinned):
    x = pinned([0], "u4")

    def make(amount):
        g = cg.GraphDef()
        g.launch(ONE, kernels.affine, x.ctypes.data, 1, amount, name="bump")
        return g

    first = make(1)
    graph = first.instantiate()
    graph.update(make(5))
    (found,) = graph.profile(stream, 2).graphs
    assert [(row.name, row.runs) for row in found.rows] == [("bump", 2)]
    assert x[0] == 10


def test_disabled_nodes_have_no_runs(host_driver, stream, kernels, pinned):
    x = pinned([0], "u4")
    g = cg.GraphDef()
    node = g.launch(ONE, kernels.affine, x.ctypes.data, 1, 1)
    node.callback(int, name="after")
    graph = g.instantiate()
    graph[node].disable()
    rows = by_name(graph.profile(stream, 2).graphs[0])
    assert (rows["affine"].runs, rows["after"].runs) == (0, 2)


def test_profiles_do_not_nest_and_record_once(host_driver, stream):
    g = cg.GraphDef()
    g.callback(int)
    graph = g.instantiate()
    with cg.profile() as p:
        with pytest.raises(RuntimeError, match="profiles do not nest"):
            graph.profile(stream)
        with pytest.raises(RuntimeError, match="after the end of its with block"):
            p.graphs  # noqa: B018
    with pytest.raises(RuntimeError, match="records one block"), p:
        pass
    assert graph.profile(stream, 2).graphs[0].launches == 2


def test_a_block_that_raises_ends_its_profile(host_driver, stream):
    with pytest.raises(ZeroDivisionError), cg.profile():
        1 / 0  # noqa: B018
    with cg.profile() as p:
        pass
    assert p.graphs == ()
    assert str(p) == "no graph ran"


@pytest.mark.parametrize(
    ("launches", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), ("2", TypeError)]
)
def test_wrong_numbers_of_launches_are_refused(host_driver, stream, launches, error):
    g = cg.GraphDef()
    g.callback(int)
    with pytest.raises(error, match="launches"):
        g.instantiate().profile(stream, launches)


def test_traffic_is_known_for_copies_fills_and_declared_kernels(profiled, kernels, pinned):
    x = pinned(np.zeros(64), "u4")
    at = x.ctypes.data
    g = cg.GraphDef()
    node = g.memset(at, np.uint32(0), 64, name="fill").memcpy(at + 128, at, 64, name="copy")
    node = node.launch(ONE, kernels.affine, at, 1, 1, reads=(x[:1],), writes=(x[:1],), name="declared")
    node.launch(ONE, kernels.affine, at, 1, 1, name="unknown")
    rows = by_name(profiled(g))
    assert {name: row.bytes for name, row in rows.items()} == {
        "fill": 256,
        "copy": 128,
        "declared": 8,
        "unknown": None,
    }
    fill = rows["fill"]
    assert fill.bandwidth == pytest.approx(256 * fill.runs * 1e9 / fill.total)
    assert rows["unknown"].bandwidth is None


def test_graph_kernels_are_profiled(host_driver, stream):
    @cg.kernel(graph=True)
    def count(x: cg.types.ndarray(cg.i32, ndim=1)):
        while cg.graph_while(x[0] < 5):
            for i in x:
                x[i] += 1

    x = cg.zeros(1, cg.i32)
    count(x)
    x[0] = 0
    with cg.profile() as p:
        count(x)
        cg.Device().sync()
    cg.reset()
    (found,) = p.graphs
    assert found.launches == 1
    assert any(row.kind == "kernel" and row.runs for row in found.rows)


def test_the_table_has_a_line_for_each_node_and_marks_the_critical_path(profiled):
    g = cg.GraphDef()
    first = g.callback(take(1), name="first")
    first.callback(take(1), name="short")
    first.callback(take(8), name="long")
    text = str(profiled(g)).splitlines()
    assert text[0].startswith("Graph: 3 nodes: 3 launches, ")
    assert text[1].startswith("critical path ") and text[1].endswith("first, long")
    marked = {line.split()[1] for line in text[4:] if line.startswith("*")}
    assert marked == {"first", "long"}
    assert len(text) == 4 + 3
