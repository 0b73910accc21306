# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a DOT file is what the driver writes, with the name and the source line of every node in its label."""

import os
import re
from collections import Counter

import pytest

import cuda_graphs as cg
from cuda_graphs.graph.display.dot import add_labels, find_handles
from tests.graph.graph_specs import SPECS
from tests.graph_rig import ONE

OPTIONS = {
    "plain": {},
    "handles": {"handles": True},
    "verbose": {"verbose": True},
    "everything": dict.fromkeys(cg.GraphDebugPrintOptions.__dataclass_fields__, True),
}
STRANGE = 'a "quoted" {x|y} <b> ] \\back\nsecond höhe'

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|->|[\w.+-]+|[^\s\w]', re.DOTALL)


def read_dot(text):
    """(labels by node, edges) of a file in the DOT language, as far as drivers use it."""
    tokens = TOKEN.findall(text)
    assert tokens[0] == "digraph"
    labels, edges = {}, []
    for i, token in enumerate(tokens):
        if not token.startswith('"') or tokens[i - 1] in ("=", "->"):
            continue
        if tokens[i + 1] == "->":
            edges.append((token, tokens[i + 2]))
        elif tokens[i + 1] == "[":
            end = tokens.index("]", i)
            inside = tokens[i + 2 : end]
            values = {inside[k - 1]: inside[k + 1] for k, sign in enumerate(inside) if sign == "="}
            labels[token] = values.get("label", '""')[1:-1]
    assert Counter(tokens)["{"] == Counter(tokens)["}"]
    return labels, edges


def says(label, words):
    """Returns whether a label shows the words, after removal of its escapes."""
    plain = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], label)
    return words in plain


def write(graph, path, **options):
    graph.debug_dot_print(path, cg.GraphDebugPrintOptions(**options))
    return path.read_text(encoding="utf-8")


def all_nodes(graph):
    for node in graph.nodes():
        yield node
        inner = getattr(node, "branches", None) or [
            g for g in [getattr(node, "child_graph", None)] if g is not None
        ]
        for each in inner:
            yield from all_nodes(each)


@pytest.fixture
def everything(needs):
    """A definition with a node of each kind, all with names, in it, in its bodies and in embedded graphs."""
    g = needs.definition
    needs.child.launch(ONE, needs.kernels.nothing, name="inside a child")
    for number, spec in enumerate(SPECS):
        spec.make(g, needs).name = f"node {number} of {spec.name}"
    body = g.while_loop(needs.condition(), name="loop").body
    body.memset(needs.target.ctypes.data, 0, 4, name="inside a body").switch(
        needs.condition(), 2, name="switch inside"
    ).branches[1].join(name="deepest")
    return g


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_node_has_its_name_and_line_in_its_label(options, everything, tmp_path):
    nodes = list(all_nodes(everything))
    labels, _ = read_dot(write(everything, tmp_path / "graph.dot", **options))
    assert len(labels) == len(nodes)
    named = [node for node in nodes if node._given_name()]
    assert len(named) > len(SPECS)
    for node in named:
        (label,) = (label for label in labels.values() if says(label, f"{node.name}\n"))
        assert says(label, f"{node.name}\n{node.source}")
    lines = Counter(node.source for node in nodes)
    for line, count in lines.items():
        assert sum(says(label, line) for label in labels.values()) == count, line


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_all_else_is_what_the_driver_writes(options, everything, tmp_path):
    labels, edges = read_dot(write(everything, tmp_path / "ours.dot", **options))
    theirs = tmp_path / "theirs.dot"
    everything._write_dot(theirs, cg.GraphDebugPrintOptions(**options)._to_flags())
    plain, their_edges = read_dot(theirs.read_text(encoding="utf-8"))
    assert edges == their_edges
    assert labels.keys() == plain.keys()
    for node, label in plain.items():
        kept = label.rstrip().removesuffix("}").rstrip()
        assert labels[node].startswith(kept)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_signs_of_the_language_in_a_name_are_escaped(options, device, kernels, tmp_path):
    g = cg.GraphDef()
    first = g.launch(ONE, kernels.nothing, name=STRANGE)
    last = first.while_loop(g.create_condition(0), name=STRANGE)
    labels, edges = read_dot(write(g, tmp_path / "graph.dot", **options))
    assert len(labels) == 2
    assert len([edge for edge in edges if set(edge) <= set(labels)]) == 1
    for label in labels.values():
        assert says(label, STRANGE)
    assert {node.name for node in (first, last)} == {STRANGE}


def test_a_node_without_a_name_has_its_line_only(device, tmp_path):
    g = cg.GraphDef()
    node = g.join()
    (label,) = read_dot(write(g, tmp_path / "graph.dot"))[0].values()
    assert says(label, f"EMPTY\n{node.source}") or says(label, f"EMPTY\n\n{node.source}")
    node.name = "now"
    (label,) = read_dot(write(g, tmp_path / "graph.dot"))[0].values()
    assert says(label, f"now\n{node.source}")


def test_an_empty_definition_is_written_as_it_is(device, tmp_path):
    assert read_dot(write(cg.GraphDef(), tmp_path / "graph.dot")) == ({}, [])


def test_a_body_alone_has_labels_too(device, tmp_path):
    g = cg.GraphDef()
    body = g.while_loop(g.create_condition(0)).body
    body.join(name="inside")
    (label,) = read_dot(write(body, tmp_path / "graph.dot"))[0].values()
    assert says(label, "inside\n")


def test_captured_nodes_have_their_lines(device, kernels, tmp_path):
    builder = device.create_graph_builder().begin_building()
    cg.launch(builder, ONE, kernels.nothing)
    builder.end_building()
    path = tmp_path / "graph.dot"
    builder.debug_dot_print(path)
    (label,) = read_dot(path.read_text())[0].values()
    assert says(label, f"{__file__}:")
    builder.close()


def test_a_file_that_cannot_be_read_back_is_written_by_the_driver_alone(device):
    g = cg.GraphDef()
    g.join(name="first")
    g.debug_dot_print("/dev/null")
    reader, writer = os.pipe()
    try:
        g.debug_dot_print(f"/dev/fd/{writer}")
        assert os.read(reader, 100_000).startswith(b"digraph")
    finally:
        os.close(reader)
        os.close(writer)


# The text that libcuda 580 (CUDA 13.0) wrote on an H200, with handles: plain labels with lines, and records.
OF_LIBCUDA = r"""digraph dot {
subgraph cluster_1 {
label="graph_1" graph[style="dashed"];
"graph_1_node_0"[style="solid" shape="invtrapezium"label="1
MEMSET
node handle: 0x0000000004F654D8
(0,1024)
"];

"graph_1_node_1"[style="bold" shape="octagon" label="2
k
node handle: 0x0000000004F65C40
func handle: 0x0000000004FE0720
"];

"graph_1_node_2"[style="bold" shape="record" label="{KERNEL
| {ID | 2 (topoId: 6) | k\<\<\<1,1,0\>\>\>}
| {{node handle | func handle} | {0x0000000004F65C44 | 0x0000000004FE0720}}
| {priority | 0}
}"];

"graph_1_node_3"[style="bold" shape="record" label="{
CONDITIONAL
| {ID | 6}
| {node handle| 0x0000000004F69780}
| {True|graph_4}
}
"];

"graph_1_node_0" -> "graph_1_node_1" [headlabel=0];
}
}
"""


def test_the_files_of_libcuda_are_understood():
    labels = {0x4F654D8: "clear\nx.py:1", 0x4F65C40: "k.py:2", 0x4F65C44: "a {b}\nx.py:3", 0x4F69780: "loop"}
    handles = find_handles(OF_LIBCUDA, labels)
    assert handles == {
        '"graph_1_node_0"': 0x4F654D8,
        '"graph_1_node_1"': 0x4F65C40,
        '"graph_1_node_2"': 0x4F65C44,
        '"graph_1_node_3"': 0x4F69780,
    }
    found, edges = read_dot(add_labels(OF_LIBCUDA, handles, labels))
    assert edges == [('"graph_1_node_0"', '"graph_1_node_1"')]
    assert found['"graph_1_node_0"'].endswith("(0,1024)\\nclear\\nx.py:1")
    assert found['"graph_1_node_1"'].endswith("0x0000000004FE0720\\nk.py:2")
    assert found['"graph_1_node_2"'].endswith("| {priority | 0}\n| a \\{b\\}\\nx.py:3}")
    assert re.search(r"\{True\|graph_4\}\s*\| loop\}\s*$", found['"graph_1_node_3"'])


def test_the_words_of_one_node_may_hold_those_of_another(device, tmp_path):
    g = cg.GraphDef()
    for _ in range(3):
        g.join(name='x" y="label="z')
    labels, _ = read_dot(write(g, tmp_path / "graph.dot"))
    assert [says(label, 'x" y="label="z') for label in labels.values()] == [True] * 3


def test_names_and_lines_that_utf_8_does_not_have_are_written_as_escapes(device, tmp_path):
    g = cg.GraphDef()
    exec(compile("node = g.join(name='half of \\ud83d')", "/\ud800.py", "exec"), scope := {"g": g})
    assert scope["node"].source == "/\ud800.py:1"
    labels, _ = read_dot(write(g, tmp_path / "graph.dot"))
    (label,) = labels.values()
    assert says(label, "half of \\ud83d\n/\\ud800.py:1")
