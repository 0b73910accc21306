# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of what a profile writes: traces follow Chrome's format, and charts and pictures have each run at its place."""

import itertools
import json
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.drawing.gantt import MOST, Bar, Gantt, Lane, tick_step
from tests.graph.profile_rig import LAUNCHES, by_name, host_driver, profiled, take
from tests.graph_rig import ONE

__all__ = ["host_driver", "profiled"]

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def program(kernels, pinned):
    """A definition with a fork, a loop of 4 iterations, a branch and a child graph."""
    left = pinned([0], "i4")
    g = cg.GraphDef()
    inner = cg.GraphDef()
    inner.callback(take(0.5), name="in child")
    condition = g.create_condition(1)
    first = g.callback(take(1), name="first")
    fork = [first.callback(take(2), name="left"), first.callback(take(4), name="right")]
    join = g.join(*fork, name="join").memset(left.ctypes.data, np.uint32(4), 1, name="clear")
    loop = join.while_loop(condition, name="loop")
    loop.body.launch(ONE, kernels.count_down, condition, left.ctypes.data, name="step")
    choice = loop.if_else(g.create_condition(0), name="choice")
    choice.then.launch(ONE, kernels.nothing, name="in then")
    choice.else_.launch(ONE, kernels.nothing, name="in else")
    choice.embed(inner, name="child")
    return g


@pytest.fixture
def saved(host_driver, program, stream, tmp_path):
    """The Profile of the program, and the document that it saved."""
    p = program.instantiate().profile(stream, LAUNCHES)
    p.save(tmp_path / "launch.json")
    return p, json.loads((tmp_path / "launch.json").read_text())


# The fields of events in Chrome's trace event format, as far as profiles use it: the phase, and the type of each field.
# https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
SCHEMA = {
    "X": {
        "name": str,
        "cat": str,
        "ph": str,
        "ts": (int, float),
        "dur": (int, float),
        "pid": int,
        "tid": int,
        "args": dict,
    },
    "M": {"name": str, "ph": str, "pid": int, "tid": int, "args": dict},
}


def test_each_event_has_the_fields_of_the_trace_format(saved):
    _, document = saved
    assert document["displayTimeUnit"] in ("ms", "ns")
    assert set(document) == {"displayTimeUnit", "otherData", "traceEvents"}
    for event in document["traceEvents"]:
        fields = SCHEMA[event["ph"]]
        assert set(event) == set(fields)
        assert all(isinstance(event[name], kind) for name, kind in fields.items())
        assert event.get("dur", 0) >= 0 and event.get("ts", 0) >= 0
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
            assert isinstance(event["args"]["name"], str)


def test_events_of_a_thread_overlap_only_if_one_is_inside_the_other(saved):
    _, document = saved
    threads = defaultdict(list)
    for event in document["traceEvents"]:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append(
                (event["ts"], event["ts"] + event["dur"], event["args"]["node"])
            )
    named = {(e["pid"], e["tid"]) for e in document["traceEvents"] if e["name"] == "thread_name"}
    assert set(threads) == named
    for events in threads.values():
        for (_, end, key), (start, inner_end, inner) in itertools.combinations(
            sorted(events, key=lambda e: (e[0], -e[1])), 2
        ):
            assert start >= end or (inner_end <= end + 1e-6 and inner.startswith(f"{key}."))


def test_the_trace_has_each_run_of_the_rows(saved):
    p, document = saved
    events = [event for event in document["traceEvents"] if event["ph"] == "X"]
    counts = Counter(event["args"]["node"] for event in events)
    times = defaultdict(float)
    for event in events:
        times[event["args"]["node"]] += event["dur"]
    for row in p.graphs[0].rows:
        assert counts[row.key] == row.runs
        assert times[row.key] == pytest.approx(row.total / 1000)
    assert {event["args"]["launch"] for event in events} == set(range(LAUNCHES))
    by_key = {row.key: row for row in p.graphs[0].rows}
    for event in events:
        row = by_key[event["args"]["node"]]
        assert (event["name"], event["cat"]) == (row.name, row.kind)
        assert event["args"].get("source") == row.source
    iterations = [
        e["args"]["iteration"] for e in events if e["name"] == "body, repeated" and e["args"]["launch"] == 0
    ]
    assert iterations == [0, 1, 2, 3]


def groups(svg, word):
    return [g for g in ET.fromstring(svg).iter(f"{SVG}g") if word in g.get("class", "").split()]


def test_a_chart_has_a_bar_for_each_run_of_its_launch(profiled, program):
    found = profiled(program)
    bars = groups(found.gantt().svg(), "bar")
    counts = Counter(bar.get("data-key") for bar in bars)
    assert counts == {row.key: row.runs // LAUNCHES for row in found.rows if row.runs}
    place = sorted(range(LAUNCHES), key=lambda i: found.spans[i])[LAUNCHES // 2]
    assert max(int(bar.get("data-end")) for bar in bars) == found.spans[place]
    assert min(int(bar.get("data-start")) for bar in bars) == 0


def test_bars_have_places_in_the_order_of_their_times_and_do_not_overlap(profiled, program):
    bars = groups(profiled(program).gantt().svg(), "bar")
    rows = defaultdict(list)
    for bar in bars:
        rect = bar.find(f"{SVG}rect")
        x, y, width = (float(rect.get(name)) for name in ("x", "y", "width"))
        rows[y].append((int(bar.get("data-start")), int(bar.get("data-end")), x, width))
    for row in rows.values():
        for one, other in itertools.pairwise(sorted(row)):
            assert one[1] <= other[0]
            assert one[2] <= other[2]
    longest = max(bars, key=lambda bar: int(bar.get("data-end")) - int(bar.get("data-start")))
    widths = {id(bar): float(bar.find(f"{SVG}rect").get("width")) for bar in bars}
    assert widths[id(longest)] == max(widths.values())


def test_marked_bars_are_those_of_the_critical_path(profiled, program):
    found = profiled(program)
    marked = {bar.get("data-key") for bar in groups(found.gantt().svg(), "noted")}
    assert marked == {row.key for row in found.rows if row.is_critical}
    assert by_name(found)["right"].key in marked and by_name(found)["left"].key not in marked


def test_a_chart_of_too_many_runs_has_the_longest_and_says_so():
    bars = tuple(Bar(str(n), "kernel", "k", 10 * n, 10 * n + 1 + n % 9) for n in range(MOST + 500))
    chart = Gantt("many", [Lane("lane", bars)])
    assert f"the {MOST} longest of {MOST + 500}" in chart.title
    kept = chart.lanes[0].bars
    assert len(kept) == MOST
    assert min(bar.end - bar.start for bar in kept) >= sorted(bar.end - bar.start for bar in bars)[499]


@pytest.mark.parametrize("end", [1, 7, 999, 123_456, 5e9, 3.6e12])
def test_ticks_are_few_and_round(end):
    step = tick_step(end)
    assert 1 <= end / step <= 8
    digits = f"{step:e}".partition("e")[0]
    assert float(digits) in (1.0, 2.0, 5.0)


def test_the_picture_shows_times_and_colours_by_share(profiled, program):
    found = profiled(program)
    picture = found.draw()
    rows = by_name(found)
    boxes = {g.get("data-key"): g for g in groups(picture.svg(), "box")}
    assert set(boxes) == {row.key for row in found.rows if row.kind != "body"}
    # A busy machine may delay any of the nodes, so each colour is compared with the share of its node.
    for name in ("first", "left", "right", "join", "child"):
        share = rows[name].share
        number = sum(share >= least for least in (0.02, 0.1, 0.3))
        assert f"heat{number}" in boxes[rows[name].key].get("class").split(), (name, share)
    assert rows["right"].share > rows["join"].share
    texts = ["".join(box.itertext()) for box in boxes.values()]
    assert sum("did not run" in text for text in texts) >= 1
    assert "body, repeated: 12 runs" in picture.svg()
    assert "over 30 %" in picture.svg()


def test_files_have_the_format_of_their_names(profiled, program, tmp_path):
    found = profiled(program)
    for name in ("a.svg", "b.dot"):
        found.draw(tmp_path / name)
    found.gantt(tmp_path / "c.svg", launch=0, theme="dark")
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert (tmp_path / "b.dot").read_text().startswith("digraph")
    assert "launch 0 of 3" in (tmp_path / "c.svg").read_text()


BAD = [
    ("draw", {"path": "a.txt"}, ValueError, "path must end with"),
    ("draw", {"path": 3}, TypeError, "path"),
    ("draw", {"theme": "blue"}, ValueError, "theme"),
    ("gantt", {"path": "a.dot"}, ValueError, "path must end with"),
    ("gantt", {"path": 3}, TypeError, "path"),
    ("gantt", {"launch": LAUNCHES}, ValueError, "launch must be in 0..2"),
    ("gantt", {"launch": -1}, ValueError, "launch"),
    ("gantt", {"launch": "1"}, TypeError, "launch"),
    ("gantt", {"theme": "blue"}, ValueError, "theme"),
]


@pytest.mark.parametrize(("method", "keywords", "error", "words"), BAD)
def test_wrong_arguments_are_refused(profiled, method, keywords, error, words):
    g = cg.GraphDef()
    g.callback(int)
    found = profiled(g)
    with pytest.raises(error, match=words):
        getattr(found, method)(**keywords)


def test_a_profile_of_several_graphs_asks_for_one(host_driver, stream, tmp_path):
    graphs = [cg.GraphDef(), cg.GraphDef()]
    for g in graphs:
        g.callback(int)
    made = [g.instantiate() for g in graphs]
    with cg.profile() as p:
        for graph in made:
            graph.launch(stream)
        stream.sync()
    for draw in (p.draw, p.gantt):
        with pytest.raises(ValueError, match="2 graphs: choose one"):
            draw()
    with pytest.raises(TypeError, match="path"):
        p.save(3)
    assert len(groups(p.graphs[1].gantt().svg(), "bar")) == 1


def test_notebooks_show_tables_and_charts(saved):
    p, _ = saved
    shown = p._repr_mimebundle_()
    assert shown["text/plain"] == str(p)
    assert shown["text/html"].count("<tr>") == len(p.graphs[0].rows) + 1
    assert p.graphs[0]._repr_mimebundle_()["text/html"] in shown["text/html"]
    assert p.gantt()._repr_mimebundle_()["image/svg+xml"].startswith("<svg")
    assert "launch" in repr(p.gantt())


def test_a_profile_without_graphs_says_that_none_was_launched(device):
    with cg.profile() as profile:
        pass
    with pytest.raises(ValueError, match="no graph: none was launched"):
        profile.draw()
