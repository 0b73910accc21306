# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of `GraphDef.diff`: it reports what differs and nothing else, and its picture marks that."""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings, strategies

import cuda_graphs as cg
from tests.graph_rig import ONE

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def program(kernels, pinned, device):
    """A function that makes the same definition in each call, with a node of each kind, but for one edit."""
    x, y = pinned(16), pinned(16)
    event = device.create_event()

    def make(edit=None):
        g = cg.GraphDef()
        amount, other = g.param("amount", cg.i32, 3), g.param("other", cg.i32, 4)
        alloc = g.alloc(64, name="temporary")
        fill = alloc.memset(alloc.dptr + 4, 9 if edit == "value" else 7, 4, name="fill")
        copy = fill.memcpy(y, x, 32 if edit == "size" else 64, name="copy")
        grid = cg.LaunchConfig(grid=2 if edit == "grid" else 1, block=1)
        added = copy.launch(
            grid,
            kernels.add,
            (y if edit == "memory" else x).ctypes.data,
            16 if edit != "argument" else 8,
            other if edit == "parameter" else amount,
            name="adding",
        )
        loop = added.while_loop(g.create_condition(0), name="loop")
        first = loop.body.launch(ONE, kernels.tally, x.ctypes.data, name="first")
        if edit == "node in a body":
            first.memset(x.ctypes.data, 0, 4, name="extra")
        child = cg.GraphDef()
        child.launch(ONE, kernels.nothing, name="inside")
        ended = loop.embed(child, name="child").record_event(event, name="record")
        if edit != "no callback":
            ended.callback(print if edit == "callback" else int, name="report")
        apart = g.memset(y.ctypes.data, 1, 8, name="renamed" if edit == "name" else "apart")
        if edit == "edge":
            apart.succ.add(copy)
        ended.free(alloc, name="free")
        return g

    return make


def test_the_same_program_makes_no_difference(program):
    difference = program().diff(program())
    assert not difference and str(difference) == "no difference"
    assert repr(difference) == "<GraphDifference: 0 differences>"


EDITS = {
    "value": ("fill", "value was 7, and is 9"),
    "size": ("copy", "width was 64, and is 32"),
    "grid": ("adding", "grid was (1, 1, 1), and is (2, 1, 1)"),
    "argument": ("adding", "argument 1 was 16, and is 8"),
    "parameter": (
        "adding",
        "argument 2 was parameter 'amount' of type i32 with the default 3, and is parameter 'other' of type i32 with "
        "the default 4",
    ),
    "callback": ("report", "it calls another function"),
    "name": ("renamed", "the name was 'apart', and is 'renamed'"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_changed_node_is_reported_with_its_change(program, edit):
    name, text = EDITS[edit]
    difference = program().diff(program(edit))
    (change,) = difference.changed
    assert change.after.name == name and text in change.texts
    assert difference.added == difference.removed == difference.added_edges == difference.removed_edges == ()
    (line,) = str(difference).splitlines()
    assert line.startswith("changed ") and text in line


def test_other_memory_is_a_change(program):
    (change,) = program().diff(program("memory")).changed
    assert change.after.name == "adding" and change.texts[0].startswith("argument 0 was ")


def test_added_and_removed_nodes_and_edges_are_reported(program):
    difference = program().diff(program("node in a body"))
    assert [node.name for node in difference.added] == ["extra"] and not difference.removed
    difference = program().diff(program("no callback"))
    assert [node.name for node in difference.removed] == ["report"] and not difference.added
    difference = program().diff(program("edge"))
    ((source, target),) = difference.added_edges
    assert (source.name, target.name) == ("apart", "copy")
    assert not difference.added and not difference.removed and not difference.changed
    back = program("edge").diff(program())
    ((source, target),) = back.removed_edges
    assert (source.name, target.name) == ("apart", "copy")


def marks(picture):
    """{name of the node: mark} of the boxes, and {(from, to): mark} of the links, by keys, from an SVG."""
    root = ElementTree.fromstring(picture.svg())
    known = {"added", "removed", "changed"}
    boxes, links = {}, {}
    for group in root.iter(f"{SVG}g"):
        if group.get("data-key"):
            title = next(text.text for text in group.findall(f"{SVG}text") if text.get("class") == "title")
            boxes[title] = known & set(group.get("class").split())
    for path in root.iter(f"{SVG}path"):
        if path.get("data-to"):
            links[path.get("data-from"), path.get("data-to")] = known & set(path.get("class").split())
    return boxes, links


@pytest.mark.parametrize(
    ("edit", "name", "mark", "sign"),
    [
        ("value", "fill", "changed", "≠"),
        ("node in a body", "extra", "added", "+"),
        ("no callback", "report", "removed", "−"),
    ],
)
def test_the_picture_marks_what_differs_by_a_class_and_a_sign(program, edit, name, mark, sign):
    picture = program().diff(program(edit)).draw()
    boxes, _ = marks(picture)
    assert {title: found for title, found in boxes.items() if found} == {name: {mark}}
    root = ElementTree.fromstring(picture.svg())
    (box,) = [group for group in root.iter(f"{SVG}g") if mark in group.get("class", "").split()]
    assert [text.text for text in box.findall(f"{SVG}text") if text.get("class") == "sign-text"] == [sign]
    legend = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "legend"]
    assert mark in legend


def test_the_picture_marks_edges(program):
    _, links = marks(program().diff(program("edge")).draw())
    assert sorted(map(sorted, links.values())).count(["added"]) == 1
    _, links = marks(program("edge").diff(program()).draw())
    assert sorted(map(sorted, links.values())).count(["removed"]) == 1


def test_a_difference_is_drawn_into_files_and_notebooks(program, tmp_path):
    difference = program().diff(program("value"))
    for suffix, start in ((".svg", "<svg"), (".html", "<!DOCTYPE html>"), (".dot", "digraph")):
        difference.draw(tmp_path / f"d{suffix}")
        assert (tmp_path / f"d{suffix}").read_text().startswith(start)
    bundle = difference._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg") and bundle["text/plain"] == repr(difference)
    with pytest.raises(ValueError, match=r"\.html"):
        difference.draw("d.jpg")


@cg.kernel
def count(x: cg.Array1[cg.i32]) -> None:
    x[0] += 1


def add_condition_loop(g, x, **options):
    loop = g.while_loop(g.create_condition(1), **options)
    loop.body.call(count, x)


def add_flag_loop(g, x, **options):
    g.while_loop(x, **options).body.call(count, x)


def add_predicate_loop(g, x, **options):
    g.while_loop(lambda: x[0] < 12, do=True, **options).body.call(count, x)


def add_nested_loop(g, x, **options):
    body = g.while_loop(lambda: x[0] < 12, max_iterations=3).body
    add_predicate_loop(body, x, **options)


def add_captured_loop(g, x, **options):
    with cg.capture() as builder, builder.while_loop(lambda: x[0] < 12, **options):
        count(x)
    return builder.graph_definition


LOOPS = [add_condition_loop, add_flag_loop, add_predicate_loop, add_nested_loop, add_captured_loop]


@pytest.fixture(scope="module")
def loaded():
    """The code of the loops, which stays until the process ends."""
    cg.Device().set_current()
    for add in LOOPS:
        for limit in (1, None):
            add(cg.GraphDef(), cg.zeros(1, cg.i32), max_iterations=limit, name="counted")


@pytest.mark.parametrize("add", LOOPS)
def test_counted_loops_differ_in_their_limits_alone(device, loaded, add):
    x = cg.zeros(1, cg.i32)
    kept = []  # the memory of a counter that is gone may be that of the next one

    def make(limit):
        g = cg.GraphDef()
        kept.append(add(g, x, max_iterations=limit, name="counted") or g)
        return kept[-1]

    assert str(make(50).diff(make(50))) == "no difference"
    (change,) = make(50).diff(make(60)).changed
    assert re.fullmatch(r"argument \d was 50, and is 60", *change.texts)
    assert make(50).diff(make(None)) and make(None).diff(make(50))
    kept.clear()


def use_parameters(g, x, n):
    q, count = g.param("q", cg.Array1[cg.u32]), g.param("count", cg.u32)
    t, p = g.temporary(n, cg.u32, name="t"), g.param("p", cg.pointer)
    g.memset(q, 1).memcpy(x, q).memset(t, count).memcpy(x[:n], t).memset(p, 1, 8).memset(x, 1, count)


def test_parameters_and_temporaries_are_compared_by_their_names_and_shapes(device):
    """The driver's nodes have placeholders for them, at addresses of their own."""
    x = cg.zeros(8, cg.u32)
    graphs = [cg.GraphDef() for _ in range(3)]
    for g, n in zip(graphs, (8, 8, 5), strict=True):
        use_parameters(g, x, n)
    assert str(graphs[0].diff(graphs[1])) == "no difference"
    embedding = [cg.GraphDef(), cg.GraphDef()]
    for g in embedding:
        inner = cg.GraphDef()
        inner.memset(inner.param("q", cg.Array1[cg.u32]), 1)
        g.embed(inner)
    assert str(embedding[0].diff(embedding[1])) == "no difference"
    texts = [text for change in graphs[0].diff(graphs[2]).changed for text in change.texts]
    assert "dptr was temporary 't' of shape (8,), and is temporary 't' of shape (5,)" in texts


def test_a_switch_may_get_other_cases(device):
    graphs = []
    for count in (2, 3):
        g = cg.GraphDef()
        node = g.switch(g.create_condition(0), count, name="choice")
        for number, branch in enumerate(node.branches):
            branch.join(name=f"case {number}")
        graphs.append(g)
    more = graphs[0].diff(graphs[1])
    assert [change.texts for change in more.changed] == [("branches was 2, and is 3",)]
    for difference in (more, graphs[1].diff(graphs[0])):
        assert {"case 0", "case 1", "case 2"} <= set(marks(difference.draw())[0])


def definition(names, edges):
    g = cg.GraphDef()
    nodes = [g.callback(int, name=name) for name in names]
    for source, target in edges:
        nodes[target].pred.add(nodes[source])
    return g


random_graphs = strategies.integers(1, 9).flatmap(
    lambda count: strategies.tuples(
        strategies.lists(strategies.sampled_from("abc"), min_size=count, max_size=count),
        strategies.sets(
            strategies.tuples(strategies.integers(0, count - 1), strategies.integers(0, count - 1)).filter(
                lambda edge: edge[0] < edge[1]
            )
        ),
    )
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(random_graphs, random_graphs)
def test_the_difference_turns_one_graph_into_the_other(device, one, two):
    before, after = definition(*one), definition(*two)
    difference = before.diff(after)
    partners = difference.partners
    assert len(after.nodes()) == len(partners) + len(difference.added)
    assert len(before.nodes()) == len(partners) + len(difference.removed)
    gone, new = set(difference.removed), set(difference.added)
    later = {was: now for now, was in partners.items()}
    kept = {
        (later[source], later[target]) for source, target in before.edges() if not {source, target} & gone
    }
    turned = (kept - {(later[s], later[t]) for s, t in difference.removed_edges}) | set(
        difference.added_edges
    )
    assert turned == {edge for edge in after.edges() if not set(edge) & new}
    renamed = {change.after for change in difference.changed}
    assert all((now.name == was.name) == (now not in renamed) for now, was in partners.items())
    assert bool(difference) == bool(
        gone or new or renamed or difference.added_edges or difference.removed_edges
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(random_graphs)
def test_a_graph_with_any_names_does_not_differ_from_its_copy(device, graph):
    assert not definition(*graph).diff(definition(*graph))


def test_a_long_chain_with_one_more_node_differs_in_one_node(device):
    def chain(count):
        g = cg.GraphDef()
        node = g.callback(int, name="start")
        for _ in range(count):
            node = node.callback(int, name="step")
        node.callback(int, name="end")
        return g

    difference = chain(300).diff(chain(301))
    assert Counter(node.name for node in difference.added) == {"step": 1}
    assert not difference.removed and not difference.changed
    assert len(difference.added_edges) + len(difference.removed_edges) <= 2


# Difference -> the two programs, and a part of the message.
LAUNCHES = {
    "the default value of a condition": (
        lambda g, x: g.if_then(g.create_condition(default_value=1)).then.memset(x, 0),
        lambda g, x: g.if_then(g.create_condition(default_value=0)).then.memset(x, 0),
        "the default value of its condition was 1, and is 0",
    ),
    "a condition without a default value": (
        lambda g, x: g.if_then(g.create_condition()).then.memset(x, 0),
        lambda g, x: g.if_then(g.create_condition(default_value=0)).then.memset(x, 0),
        "the default value of its condition was None, and is 0",
    ),
    "the default of a parameter": (
        lambda g, x: g.memset(x, g.param("v", cg.i32, default=1)),
        lambda g, x: g.memset(x, g.param("v", cg.i32, default=2)),
        "with the default 1, and is parameter 'v' of type i32 with the default 2",
    ),
    "the type of a parameter": (
        lambda g, x: g.memset(x, g.param("v", cg.i32)),
        lambda g, x: g.memset(x, g.param("v", cg.f32)),
        "was parameter 'v' of type i32, and is parameter 'v' of type f32",
    ),
    "an array as the default of a parameter": (
        lambda g, x: g.memset(g.param("a", cg.types.ndarray(cg.i32, 1), default=x), 0),
        lambda g, x: g.memset(g.param("a", cg.types.ndarray(cg.i32, 1), default=cg.zeros(8, cg.i32)), 0),
        "with an array of shape (4,) at",
    ),
}


@pytest.mark.parametrize("what", LAUNCHES)
def test_what_a_first_launch_does_is_compared(what, device):
    first, second, words = LAUNCHES[what]
    x = cg.zeros(4, cg.i32)
    graphs = [cg.GraphDef() for _ in range(3)]
    for g, add in zip(graphs, (first, first, second), strict=True):
        add(g, x)
    same, other = graphs[0].diff(graphs[1]), graphs[0].diff(graphs[2])
    assert not same, str(same)
    assert words in str(other)
