# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a captured launch that may overlap with the kernel before it has a programmatic edge from that one."""

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

EARLY = cg.LaunchConfig(grid=1, block=1, programmatic_stream_serialization=True)


def test_programmatic_launch_has_a_programmatic_edge_and_does_its_work(builder, kernels, pinned, stream):
    x = pinned([0, 0])
    with builder as gb:
        cg.launch(gb, ONE, kernels.add, x.ctypes.data, 1, 1)
        cg.launch(gb, EARLY, kernels.add, x.ctypes.data + 4, 1, 2)
    g = gb.graph_definition
    ((first, second),) = g.edges()
    assert g.edge_data(first, second) == cg.EdgeData.programmatic()
    assert g.edge_data(first, second).from_port == 1
    gb.complete().launch(stream)
    stream.sync()
    assert list(x) == [1, 2]


def test_work_behind_a_programmatic_edge_is_captured_like_any_other(capturing, kernels, pinned, stream):
    x = pinned([1], "u4")
    cg.launch(capturing, ONE, kernels.nothing)
    cg.launch(capturing, EARLY, kernels.nothing)
    with capturing.if_then(capturing.create_condition(1)) as body:
        cg.launch(body, ONE, kernels.affine, x.ctypes.data, 3, 1)
    capturing.callback(int)
    assert len(capturing.end_building().graph_definition.nodes()) == 4
    capturing.complete().launch(stream)
    stream.sync()
    assert x[0] == 4


def test_a_stream_takes_it_too(kernels, pinned, stream):
    x = pinned([0])
    for _ in range(3):
        cg.launch(stream, EARLY, kernels.add, x.ctypes.data, 1, 1)
    stream.sync()
    assert x[0] >= 1


def test_programmatic_serialization_is_a_field_like_the_others():
    assert EARLY != ONE
    assert hash(EARLY) != hash(ONE)
    assert "programmatic_stream_serialization=True" in repr(EARLY)
    assert "programmatic" not in repr(ONE)
    assert type(EARLY)(*EARLY.__reduce__()[1]) == EARLY
    with pytest.raises(TypeError, match="programmatic_stream_serialization"):
        cg.LaunchConfig(grid=1, block=1, programmatic_stream_serialization="yes")


def test_an_explicit_node_has_an_edge_instead(kernels):
    g = cg.GraphDef()
    with pytest.raises(ValueError, match=r"edge=EdgeData\.programmatic\(\)"):
        g.launch(EARLY, kernels.nothing)
    assert g.nodes() == set()


def test_the_priority_of_a_stream_can_be_asked_for_while_it_is_captured(capturing):
    assert capturing.stream.priority == 0
    with pytest.raises(
        RuntimeError, match="is_nonblocking cannot be read while the stream is being captured"
    ):
        capturing.stream.is_nonblocking  # noqa: B018
    assert capturing.is_building
