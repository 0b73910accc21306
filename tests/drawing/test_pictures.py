# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of pictures, read from their SVG: all nodes are there, nothing overlaps, and links join the boxes they name."""

import itertools
import re
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings, strategies

from cuda_graphs.drawing.folding import fold
from cuda_graphs.drawing.layout import lay_out
from cuda_graphs.drawing.picture import Picture
from cuda_graphs.drawing.ranking import order_of
from cuda_graphs.drawing.scene import Box, Frame, Link, Plane, Repeat, Scene
from tests.drawing.cases import CASES, chain, plane

SVG = "{http://www.w3.org/2000/svg}"


graphs = strategies.integers(1, 14).flatmap(
    lambda count: strategies.tuples(
        strategies.just(count),
        strategies.sets(
            strategies.tuples(strategies.integers(0, count - 1), strategies.integers(0, count - 1)).filter(
                lambda edge: edge[0] != edge[1]
            ),
            max_size=30,
        ),
    )
)


def layouts(layout):
    yield layout
    for place in layout.places:
        for frame in place.frames:
            yield from layouts(frame.layout)


def overlap(a, b):
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


def check_layout(layout):
    for each in layouts(layout):
        for number, place in enumerate(each.places):
            assert place.x >= -0.01 and place.x + place.width <= each.width + 0.01
            assert place.y >= -0.01 and place.y + place.height <= each.height + 0.01
            assert not any(overlap(place, other) for other in each.places[:number])
            for frame in place.frames:
                assert frame.x >= place.x and frame.x + frame.width <= place.x + place.width
                assert frame.y >= place.y and frame.y + frame.height <= place.y + place.height
                assert frame.origin[0] + frame.layout.width <= frame.x + frame.width
                assert frame.origin[1] + frame.layout.height <= frame.y + frame.height
        for route in each.routes:
            check_route(route, each)


def check_route(route, layout):
    source, target = layout.places[route.link.source], layout.places[route.link.target]
    points = route.points[::-1] if route.link.style == "back" else route.points
    if route.link.style == "back":
        source, target = target, source
    (x, y), (u, v) = points[0], points[-1]
    assert source.x <= x <= source.x + source.width and y == source.y + source.height
    assert target.x <= u <= target.x + target.width and v == target.y
    # Curves stay in the rectangle of their ends, and bend between layers only.
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        low, high = min(x0, x1), max(x0, x1)
        for place in layout.places:
            inside = place.x < high and low < place.x + place.width
            assert not (inside and place.y < y1 - 0.01 and y0 + 0.01 < place.y + place.height), place.box.key


@pytest.mark.parametrize("name", CASES)
def test_boxes_do_not_overlap_links_join_their_boxes_and_frames_hold_their_nodes(name):
    check_layout(lay_out(CASES[name], lambda box: True))


@settings(max_examples=150, deadline=None)
@given(graphs)
def test_the_same_holds_for_random_graphs_with_circles(graph):
    count, edges = graph
    check_layout(lay_out(plane(count, sorted(edges)), lambda box: True))


@pytest.mark.parametrize("name", CASES)
def test_the_svg_has_each_node_and_each_link_and_is_the_same_in_each_run(name):
    picture = Picture(Scene(name, CASES[name]), False)
    root = ElementTree.fromstring(picture.svg())
    keys = [box.get("data-key") for box in root.iter(f"{SVG}g") if box.get("data-key")]
    assert sorted(keys) == sorted(box.key for box in CASES[name].walk())
    drawn = {
        (link.get("data-from"), link.get("data-to"))
        for link in root.iter(f"{SVG}path")
        if link.get("data-to")
    }
    boxes = CASES[name].boxes
    assert drawn >= {(boxes[link.source].key, boxes[link.target].key) for link in CASES[name].links}
    assert Picture(Scene(name, CASES[name]), False).svg() == picture.svg()


@pytest.mark.parametrize("text", ["<b>&\"'", "a\x00\x1b\nb", "\ud800", "é漢字" * 40, "x" * 500, ""])
def test_any_text_gives_well_formed_files_and_stays_in_its_box(text):
    box = Box("0", "kernel", text, (text,), (text,), (text,), text, frames=(Frame(text, chain(2)),))
    picture = Picture(Scene(text, Plane((box,)), (text,), (text,)), False)
    root = ElementTree.fromstring(picture.svg())
    for group in root.iter(f"{SVG}g"):
        if group.get("data-size"):
            width = float(group.get("data-size").split()[0])
            for line in group.findall(f"{SVG}text"):
                assert float(line.get("x")) + 6.5 * len(line.text or "") <= width + 10
    picture.dot().encode()
    assert len(str(picture).splitlines()) >= 2


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_picture_of_one_theme_has_no_variables(theme):
    text = Picture(Scene("g", chain(2)), theme=theme).svg()
    assert "var(" not in text and "$" not in text
    assert "prefers-color-scheme" in Picture(Scene("g", chain(2))).svg()


# Folds.


def steps(count, width):
    """`count` steps of a fork into `width` boxes and a join, each after the step before."""
    boxes, links = [Box("0", "memset", "start")], []
    last = 0
    for _ in range(count):
        first = len(boxes)
        boxes += [Box(str(first + n), "kernel", f"k{n}") for n in range(width)]
        boxes.append(Box(str(len(boxes)), "empty", "join"))
        links += [Link(last, first + n) for n in range(width)] + [
            Link(first + n, first + width) for n in range(width)
        ]
        last = first + width
    return Plane(tuple(boxes), tuple(links))


def test_a_chain_folds_into_one_box():
    folded = fold(chain(200, title="step"))
    assert [box.repeat for box in folded.boxes] == [Repeat(200, True)] and not folded.links


def test_equal_branches_fold_side_by_side():
    edges = [(0, n) for n in range(1, 6)] + [(n, 6) for n in range(1, 6)]
    boxes = [
        Box("0", "memset", "a"),
        *(Box(str(n), "kernel", "k") for n in range(1, 6)),
        Box("6", "empty", "j"),
    ]
    folded = fold(Plane(tuple(boxes), tuple(Link(*edge) for edge in edges)))
    assert [box.repeat for box in folded.boxes] == [None, Repeat(5, False), None]
    assert [(link.source, link.target) for link in folded.links] == [(0, 1), (1, 2)]


def test_repeated_forks_and_joins_fold_into_one_pattern():
    folded = fold(steps(100, 3))
    assert [box.kind for box in folded.boxes] == ["memset", "fold"]
    assert folded.boxes[1].repeat == Repeat(100, True)
    assert folded.boxes[1].frames[0].plane == Plane(
        steps(1, 3).boxes[1:], (Link(0, 3), Link(1, 3), Link(2, 3))
    )
    assert folded.count() == 401


@settings(max_examples=100, deadline=None)
@given(graphs)
def test_a_fold_keeps_the_number_of_nodes_and_makes_no_circle(graph):
    count, edges = graph
    ordered = sorted({(min(edge), max(edge)) for edge in edges})
    folded = fold(plane(count, ordered, title="k"))
    assert folded.count() == count
    assert order_of(len(folded.boxes), [(link.source, link.target) for link in folded.links])[1] == set()


def test_boxes_with_notes_and_boxes_of_other_shapes_are_not_folded_away():
    boxes = [Box(str(n), "kernel", "k", notes=(1,) if n == 3 else ()) for n in range(8)]
    folded = fold(Plane(tuple(boxes), chain(8).links))
    assert [box.notes for box in folded.boxes] == [(), (1,), ()]
    different = [Box(str(n), "kernel", "k", (f"grid {n}",)) for n in range(8)]
    assert len(fold(Plane(tuple(different), chain(8).links)).boxes) == 8


@pytest.mark.parametrize("notes", [(1,), (12, 13), (1, 2, 3, 4, 5, 6), (10, 20, 30, 40, 50)])
def test_the_numbers_of_findings_leave_the_next_box_free(notes):
    svg = Picture(
        Scene("notes", Plane((Box("0", "kernel", "k", notes=notes), Box("1", "kernel", "k"))))
    ).svg()
    first, second = ElementTree.fromstring(svg).findall(f".//{SVG}g[@data-key]")
    left, right = (
        float(re.search(r"translate\(([\d.]+)", box.get("transform"))[1]) for box in (first, second)
    )
    sign = first.find(f"{SVG}rect[@class='sign note']")
    assert left + float(sign.get("x")) + float(sign.get("width")) < right


def test_large_planes_of_one_kind_need_linear_work():
    # 20,000 boxes that do not fold, and 20,000 that do: a quadratic step would take minutes.
    different = tuple(Box(str(n), "kernel", f"k{n}") for n in range(20_000))
    assert len(fold(Plane(different, chain(20_000).links)).boxes) == 20_000
    assert len(fold(chain(20_000, title="k")).boxes) == 1


def test_a_deep_nest_is_drawn_with_its_inner_graphs_closed():
    result = Plane((Box(f"0{'.0.0' * 1000}", "kernel", "k"),))
    for depth in range(999, -1, -1):
        result = Plane((Box(f"0{'.0.0' * depth}", "while", "loop", frames=(Frame("body", result),)),))
    assert ElementTree.fromstring(Picture(Scene("deep", result)).svg()) is not None
    assert len(str(Picture(Scene("deep", result))).splitlines()) > 100


def test_dot_names_each_box_and_balances_its_braces():
    text = Picture(Scene("g", CASES["nested"]), False).dot()
    names = re.findall(r'^"([\w.]+)" \[', text, re.MULTILINE)
    assert sorted(names) == sorted(box.key for box in CASES["nested"].walk())
    plain = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    assert plain.count("{") == plain.count("}")
