# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Names of nodes: given when a node is made or later, kept with the node."""

import pytest

import cuda_graphs as cg

ONE = cg.LaunchConfig(grid=1, block=1)
ADD = {
    "join": lambda g, n, **k: g.join(**k),
    "launch": lambda g, n, **k: g.launch(ONE, n.kernels.nothing, **k),
    "alloc": lambda g, n, **k: g.alloc(64, **k),
    "free": lambda g, n, **k: (lambda memory: memory.free(memory.dptr, **k))(g.alloc(64)),
    "memset": lambda g, n, **k: g.memset(n.target.ctypes.data, 0, 4, **k),
    "memcpy": lambda g, n, **k: g.memcpy(n.target.ctypes.data, n.source.ctypes.data, 4, **k),
    "embed": lambda g, n, **k: g.embed(n.child, **k),
    "record_event": lambda g, n, **k: g.record_event(n.event, **k),
    "wait_event": lambda g, n, **k: g.wait_event(n.event, **k),
    "callback": lambda g, n, **k: g.callback(print, **k),
    "if_then": lambda g, n, **k: g.if_then(n.condition(), **k),
    "if_else": lambda g, n, **k: g.if_else(n.condition(), **k),
    "while_loop": lambda g, n, **k: g.while_loop(n.condition(), **k),
    "switch": lambda g, n, **k: g.switch(n.condition(), 2, **k),
}


@pytest.mark.parametrize("method", ADD)
def test_a_node_has_the_name_that_it_was_given(method, needs):
    add = ADD[method]
    node = add(needs.definition, needs, name="first höhe")
    handle = node.handle
    assert node.name == "first höhe"
    del node
    (again,) = [node for node in needs.definition.nodes() if node.handle == handle]
    assert again.name == "first höhe"
    again.name = "second"
    assert again.name == "second"


@pytest.mark.parametrize("method", ADD)
def test_a_name_that_is_no_str_adds_nothing(method, needs):
    add = ADD[method]
    add(needs.definition, needs)
    nodes = needs.definition.nodes()
    with pytest.raises(TypeError, match="name must be a str, got int"):
        add(needs.definition, needs, name=3)
    assert {node for node in needs.definition.nodes() if not isinstance(node, cg.AllocNode)} == {
        node for node in nodes if not isinstance(node, cg.AllocNode)
    }


def test_a_node_without_a_name_has_that_of_its_kind(needs):
    assert needs.definition.join().name == "empty"
