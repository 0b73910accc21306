# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of `draw`: the picture of a definition shows what its nodes say. tests/drawing has the laws of the layout."""

import os
import sys
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.graph.display.reading import short_name, task_of
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


def drawable(form, kernels, address, device, stream):
    """A definition, executable, body or builder with two kernels, a programmatic edge between them, and a parameter."""
    if form == "builder":
        with device.create_graph_builder() as builder:
            cg.launch(builder, ONE, kernels.nothing)
        g, last = builder.graph_definition, next(iter(builder.graph_definition.nodes()))
        things = {"builder": builder}
    else:
        outer = cg.GraphDef()
        g = outer.while_loop(outer.create_condition(0)).body if form == "body" else outer
        last = g.launch(ONE, kernels.nothing)
        things = {"definition": g, "body": g}
    last.launch(
        ONE,
        kernels.add,
        address,
        1,
        g.param("amount", cg.i32, 3),
        edge=cg.EdgeData.programmatic(),
        name="sum",
    )
    return g.instantiate() if form == "executable" else things[form], g


@pytest.mark.parametrize("form", ["definition", "executable", "body", "builder"])
def test_all_forms_show_parameters_programmatic_edges_and_source_lines(form, kernels, pinned, device, stream):
    thing, definition = drawable(form, kernels, pinned(1).ctypes.data, device, stream)
    root = ElementTree.fromstring(thing.draw().svg())
    highlighted = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "parameter"]
    assert highlighted[0] == ("amount = 3" if form == "executable" else "amount")
    (link,) = [path for path in root.iter(f"{SVG}path") if path.get("data-to")]
    assert link.get("class") == "link programmatic"
    assert ".programmatic" in thing.draw().svg() and "stroke-dasharray" in thing.draw().svg()
    hovers = [title.text for title in root.iter(f"{SVG}title")]
    assert len(hovers) == 2 and all("test_draw.py:" in hover for hover in hovers)
    assert {node.source for node in definition.nodes()} == {hover.splitlines()[-1] for hover in hovers}


def test_devices_are_lanes(run_child):
    """With two devices, which the host driver has if asked."""
    done = run_child(
        """
import cuda_graphs as cg
g = cg.GraphDef()
last = None
for device in cg.Device.get_all_devices():
    device.set_current()
    last = (last or g).alloc(64, device=device.device_id, name=f"on {device.device_id}")
picture = g.draw()
print([box.lane for box in picture.scene.plane.boxes], [lane.device for lane in picture.layout.lanes])
print("device 0" in picture.svg(), "device 1" in picture.svg())
""",
        CUDA_GRAPHS_DRIVER="host",
        CUDA_GRAPHS_HOST_DEVICES="2",
    )
    assert (done.stdout, done.stderr) == ("[0, 1] [0, 1]\nTrue True\n", "")


def test_an_executable_marks_disabled_nodes_and_shows_present_values(kernels, pinned, stream):
    x = pinned(4)
    g = cg.GraphDef()
    amount = g.param("amount", cg.f32, 0.5)
    first = g.memset(x.ctypes.data, 0, 4, name="first")
    loop = first.launch(ONE, kernels.nothing, name="second").while_loop(g.create_condition(0), name="loop")
    inner = loop.body.memset(x.ctypes.data, amount, 1, name="inner")
    graph = g.instantiate()

    def disabled():
        return {
            text.splitlines()[0] for classes, text in boxes_of(graph.draw()).values() if "disabled" in classes
        }

    assert disabled() == set() and "amount = 0.5" in graph.draw().svg()
    graph[first].disable()
    graph.set(amount=0.25)
    assert disabled() == {"memset: first"}
    assert "amount = 0.25" in graph.draw().svg() and "amount = 0.25" in str(graph)
    assert "∅" in graph.draw().svg() and "a launch skips the node" in graph.draw().svg()
    assert "disabled" not in [name for classes, _ in boxes_of(g.draw()).values() for name in classes]
    graph[first].enable()
    later = g.memset(x.ctypes.data, 0, 4, name="later")  # which the executable does not have
    assert disabled() == set() and inner.is_valid and later.is_valid


FILLS = {
    "f4": (0.5, "value 0.5"),
    "f2": (-1.5, "value -1.5"),
    "i4": (-3, "value -3"),
    "i2": (-3, "value -3"),
    "u4": (4_000_000_000, "value 4000000000"),
    "u1": (200, "value 200"),
    "?": (True, "value 1"),
}


@pytest.mark.parametrize("dtype", FILLS)
def test_a_fill_shows_the_number_that_was_given(dtype, pinned):
    value, text = FILLS[dtype]
    x = pinned(8, dtype)
    g = cg.GraphDef()
    node = g.memset(x, value)
    assert f"{text} ·" in g.draw().svg()
    node.update(value=np.dtype(dtype).type(0))
    assert f"value {'0.0' if dtype[0] == 'f' else '0'} ·" in g.draw().svg()
    node.update(dst=x, value=value)
    assert f"{text} ·" in g.draw().svg()
    node.update(width=2)
    assert f"{text} ·" in g.draw().svg()


@pytest.mark.parametrize(("value", "text"), [(1.0, "1.0"), (-3.0, "-3.0"), (1e20, "1e+20"), (0.1, "0.1")])
def test_a_fill_with_a_float_is_told_from_a_fill_with_an_integer(value, text, pinned):
    g = cg.GraphDef()
    g.memset(pinned(8, "f4"), value)
    assert f"value {text} ·" in g.draw().svg()


def test_a_fill_with_bytes_shows_them_as_a_number(pinned):
    g = cg.GraphDef()
    g.memset(pinned(8, "f4"), b"\x01")
    assert "value 1 ·" in g.draw().svg()


def chain_of(count):
    g = cg.GraphDef()
    node = g.join(name="node")
    for number in range(count - 1):
        letters = "".join(chr(97 + number // 26**place % 26) for place in range(4))
        node = node.join(name=f"node {letters}")
    return g


@pytest.mark.parametrize(("count", "bar"), [(1_000, 0.3), (20_000, 5.0)])
def test_a_chain_of_different_nodes_is_drawn_within_the_bar(count, bar, device):
    """Ten times the bar, as other tests may share the machine; a quadratic step would take longer."""
    g = chain_of(count)
    start = time.process_time()
    picture = g.draw(fold=True)
    assert picture.svg().count('class="box ') == count
    assert time.process_time() - start < 10 * bar


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
    assert note.count(" 4 B of memory") == 2
    assert g.draw().scene.notes == ()


def test_the_tree_names_each_node_and_repr_stays_one_line(full):
    g, nodes = full
    lines = str(g).splitlines()
    assert lines[0].startswith("GraphDef: 13 nodes")
    assert all(any(node.name in line for line in lines) for node in nodes.values())
    assert "\n" not in repr(g) and repr(g).startswith("<GraphDef handle=")


STARTS = {".svg": "<svg", ".SVG": "<svg", ".dot": "digraph", ".html": "<!DOCTYPE html>"}


@pytest.mark.parametrize("suffix", STARTS)
def test_a_file_has_the_format_of_its_name(full, tmp_path, suffix):
    path = tmp_path / f"g{suffix}"
    full[0].draw(path)
    assert path.read_text().startswith(STARTS[suffix])
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


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("spread_0_loop", ("spread", 0)),
        ("spread_12_serial", ("spread", 12)),
        ("spread_0_mine", ("spread_0_mine", 0)),
        ("_Z5scalePfi", ("scale", 0)),
    ],
)
def test_tasks_of_the_kernel_compiler_have_the_name_of_their_kernel(name, task):
    assert task_of(name) == task
