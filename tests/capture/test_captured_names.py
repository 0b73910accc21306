# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: nodes that a builder adds itself take a name, have one of their own without it, and know their line."""

from pathlib import Path

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


def ended(device, kernels):
    child = device.create_graph_builder().begin_building()
    cg.launch(child, ONE, kernels.nothing)
    return child.end_building()


def finished():
    """Has the name that a callback gets: that of its function."""


ADD = {
    "embed": lambda gb, child, **kw: gb.embed(child, **kw),
    "callback": lambda gb, child, **kw: gb.callback(finished, **kw),
    "if_then": lambda gb, child, **kw: gb.if_then(gb.create_condition(), **kw),
    "if_else": lambda gb, child, **kw: gb.if_else(gb.create_condition(), **kw),
    "while_loop": lambda gb, child, **kw: gb.while_loop(gb.create_condition(), **kw),
    "switch": lambda gb, child, **kw: gb.switch(gb.create_condition(), 2, **kw),
}


@pytest.mark.parametrize("method", ADD)
def test_a_name_is_the_nodes(method, builder, device, kernels):
    with builder:
        ADD[method](builder, ended(device, kernels), name="höhe")
    (node,) = builder.graph_definition.nodes()
    assert node.name == "höhe"
    assert Path(node.source.rpartition(":")[0]).name == Path(__file__).name


def test_without_one_it_is_called_after_what_it_is(builder, device, kernels):
    with builder:
        builder.embed(ended(device, kernels))
        builder.callback(finished)
        cg.launch(builder, ONE, kernels.affine, 0, 1, 1)
    assert sorted(node.name for node in builder.graph_definition.nodes()) == [
        "affine",
        "child_graph",
        "finished",
    ]


@pytest.mark.parametrize("method", ADD)
def test_a_name_that_is_no_str_is_refused_and_adds_nothing(method, builder, device, kernels):
    with builder, pytest.raises(TypeError, match="name must be a str"):
        ADD[method](builder, ended(device, kernels), name=3)
    assert builder.graph_definition.nodes() == set()
