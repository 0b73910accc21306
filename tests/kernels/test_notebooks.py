# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: notebooks show kernels, devices and reports as pictures, and as tables that are well-formed."""

import xml.etree.ElementTree as ElementTree

import pytest

import cuda_graphs as cg


@cg.kernel(graph=True, fuse=False, chain="nodes")
def shown(x: cg.types.ndarray(cg.f32, ndim=1), n: cg.i32):
    for i in x:
        x[i] += n
    for i in x:
        x[i] *= 2.0


@pytest.fixture(autouse=True)
def forgotten_kernels():
    yield
    cg.reset()


def cells(thing):
    """The texts of the cells of all tables of an object."""
    root = ElementTree.fromstring(f"<div>{thing._repr_html_()}</div>")
    return ["".join(cell.itertext()) for cell in root.iter("td")]


def test_a_graph_kernel_shows_the_graph_of_its_last_call(device):
    assert set(shown._repr_mimebundle_(include=None, exclude=None)) == {"text/plain"}
    shown(cg.zeros(100, cg.f32), 1)
    bundle = shown._repr_mimebundle_(include=None, exclude=None)
    assert bundle["image/svg+xml"].count('class="box kernel') == shown.graph_stats.nodes
    assert bundle["text/plain"] == repr(shown)


def test_an_explanation_is_tables_with_its_constants_and_tasks(device):
    found = cells(shown.explain(cg.zeros(100, cg.f32), 1))
    assert {task.name for task in shown.explain(cg.zeros(100, cg.f32), 1).tasks} <= set(found)


def test_graph_stats_are_a_table(device):
    shown(cg.zeros(100, cg.f32), 1)
    assert cells(shown.graph_stats)[:2] == ["graphs", "1"]


def test_device_properties_are_a_table_and_lines(device):
    properties = device.properties
    found = cells(properties)
    assert found[found.index("warp_size") + 1] == str(properties.warp_size)
    assert f"warp_size = {properties.warp_size}" in str(properties).splitlines()
    assert "\n" not in repr(properties)


def test_a_report_is_a_table_of_its_findings(device):
    g, x = cg.GraphDef(), cg.zeros(4, cg.f32)
    assert cells(g.check()) == []
    g.memset(x, 0, name="<a>")
    g.memset(x, 0, name="b")
    assert cells(g.check()) == ["1", "unordered", g.check()[0].text]


def test_tasks_of_a_kernel_are_shown_by_its_name(device):
    shown(cg.zeros(100, cg.f32), 1)
    text = shown._repr_mimebundle_()["image/svg+xml"]
    assert ">shown</text>" in text and ">task 1 · grid" in text and ">shown_" not in text
    assert "kernel shown_0_loop" in text


def test_an_array_is_a_table_of_its_properties_and_values(device):
    x = cg.array([[1.0, 2.0], [3.0, 4.0]], cg.f32)
    assert cells(x) == [
        "type",
        "f32",
        "shape",
        "2 × 2",
        "memory",
        "16 B",
        "device",
        "0",
        "values",
        "[[1. 2.] [3. 4.]]",
    ]
    assert cells(cg.zeros((), cg.i32))[3] == "a number"
    large = cells(cg.zeros((1000, 1000), cg.f64, needs_grad=True))
    assert large[large.index("derivatives") + 1] == "needs_grad" and "..." in large[-1]
