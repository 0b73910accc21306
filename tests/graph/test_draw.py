# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of `draw`: the picture of a definition shows what its nodes say. tests/drawing has the laws of the layout."""

import os
import sys
import xml.etree.ElementTree as ElementTree

import pytest

import cuda_graphs as cg
from cuda_graphs.graph.display.reading import short_name
from tests.graph_rig import ONE

SVG = "{http://www.w3.org/2000/svg}"


def boxes_of(picture):
    """{key: (classes, hover text)} of the boxes in a picture."""
    root = ElementTree.fromstring(picture.svg())
    groups = [group for group in root.iter(f"{SVG}g") if group.get("data-key")]
    return {g.get("data-key"): (g.get("class").split(), g.find(f"{SVG}title").text) for g in groups}


@pytest.fixture
def full(kernels, pinned, device, stream):
    """A definition with a node of each kind, and its nodes by the kinds of their boxes."""
    x, y = pinned(16), pinned(16)
    event = device.create_event()
    g = cg.GraphDef()
    amount = g.param("amount", cg.i32, 3)
    child = cg.GraphDef()
    child.launch(ONE, kernels.nothing)
    alloc = g.alloc(shape=(4, 4), dtype=cg.f32, name="temporary")
    nodes = {
        "alloc": alloc,
        "memset": alloc.memset(x.ctypes.data, 7, 64),
        "memcpy": g.memcpy(y, x, name="copy <back>"),
        "kernel": g.launch(ONE, kernels.add, x.ctypes.data, 16, amount),
        "host": g.callback(int),
        "child": g.embed(child),
        "empty": g.join(),
        "record": g.record_event(event),
        "wait": g.wait_event(event),
        "while": g.while_loop(g.create_condition(0)),
        "switch": g.switch(g.create_condition(0), 2),
        "if": g.if_else(g.create_condition(0)),
    }
    nodes["free"] = alloc.free(alloc)
    nodes["while"].body.launch(ONE, kernels.tally, x.ctypes.data)
    return g, nodes


def test_each_node_is_a_box_of_its_kind_with_its_name_and_source_line(full):
    g, nodes = full
    shown = boxes_of(g.draw(fold=False))
    for kind, node in nodes.items():
        found = [text for classes, text in shown.values() if kind in classes]
        assert any(node.source in text and f": {node.name}" in text for text in found), kind
    assert len(shown) == len(g.nodes()) + 2


def test_boxes_show_grids_bytes_directions_and_parameters(full):
    g, _ = full
    text = " ".join(ElementTree.fromstring(g.draw().svg()).itertext())
    for word in ("grid 1", "block 1", "64 B", "f32 4×4", "host → host", "value 7", "amount", "copy <back>"):
        assert word in text, word


def test_a_programmatic_edge_has_a_style_of_its_own(kernels):
    g = cg.GraphDef()
    node = g.launch(ONE, kernels.nothing)
    node.launch(ONE, kernels.nothing, edge=cg.EdgeData.programmatic())
    assert 'class="link programmatic" data-from="0" data-to="1"' in g.draw().svg()


def test_findings_are_marked_at_their_nodes_and_listed(kernels, pinned):
    x = pinned(1)
    g = cg.GraphDef()
    for _ in range(2):
        g.launch(ONE, kernels.tally, x.ctypes.data, writes=[x])
    g.launch(ONE, kernels.nothing, reads=[], writes=[])
    picture = g.draw(check=True)
    assert [("noted" in classes) for classes, _ in boxes_of(picture).values()] == [True, True, False]
    (note,) = picture.scene.notes
    assert note.startswith("unordered: ") and note.count("test_draw.py:") == 2
    assert "0x" not in note and "/" not in note
    assert g.draw().scene.notes == ()


def test_the_tree_names_each_node_and_repr_stays_one_line(full):
    g, nodes = full
    lines = str(g).splitlines()
    assert lines[0].startswith("GraphDef: 13 nodes")
    assert all(any(node.name in line for line in lines) for node in nodes.values())
    assert "\n" not in repr(g) and repr(g).startswith("<GraphDef handle=")


@pytest.mark.parametrize("suffix", [".svg", ".dot", ".SVG"])
def test_a_file_has_the_format_of_its_name(full, tmp_path, suffix):
    path = tmp_path / f"g{suffix}"
    full[0].draw(path)
    assert path.read_text().startswith("<svg" if suffix.lower() == ".svg" else "digraph")
    assert full[0].draw(os.fspath(path)).svg() == full[0].draw().svg()


def test_a_png_needs_its_library_and_says_how_to_get_it(full, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(ImportError, match=r"pip install 'cuda-graphs\[png\]'"):
        full[0].draw(tmp_path / "g.png")
    assert not (tmp_path / "g.png").exists()


@pytest.mark.parametrize("path", ["g", "g.jpg", ""])
def test_a_name_without_a_format_is_refused(path):
    with pytest.raises(ValueError, match=r"\.svg"):
        cg.GraphDef().draw(path)


def test_a_file_that_cannot_be_written_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        cg.GraphDef().draw(tmp_path / "no" / "g.svg")


def test_an_executable_draws_its_definition_and_says_when_it_is_gone(kernels):
    g = cg.GraphDef()
    g.launch(ONE, kernels.nothing)
    graph = g.instantiate()
    assert len(boxes_of(graph.draw())) == 1
    assert "image/svg+xml" in graph._repr_mimebundle_()
    del g
    with pytest.raises(RuntimeError, match="Keep the definition"):
        graph.draw()
    assert graph._repr_mimebundle_() == {"text/plain": repr(graph)}
    assert str(graph) == repr(graph)


def test_notebooks_show_definitions_bodies_and_builders(full, stream):
    g, nodes = full
    with cg.capture(stream) as builder:
        builder.callback(int)
    for thing in (g, nodes["while"].body, builder):
        bundle = thing._repr_mimebundle_(include=None, exclude=None)
        assert bundle["image/svg+xml"].startswith("<svg")
        assert bundle["text/plain"] == repr(thing)


@pytest.mark.parametrize(
    ("name", "short"),
    [("scale", "scale"), ("_Z5scalePfi", "scale"), ("_ZN2ns5scaleIfEEvPT_", "scale"), ("_Zzz", "_Zzz")],
)
def test_names_of_cpp_kernels_are_shown_as_in_their_source(name, short):
    assert short_name(name) == short
