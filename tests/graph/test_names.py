# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Names of nodes, given when a node is made or later, and the lines that added them: kept with the node, and used."""

import gc
import sys
import threading
import weakref

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


def test_a_node_without_a_name_has_that_of_its_function_or_kind(needs):
    g = needs.definition

    def step():
        pass

    assert g.launch(ONE, needs.kernels.nothing).name == "nothing"
    assert g.callback(step).name == "step"
    kinds = {
        g.join(): "empty",
        g.memset(needs.target.ctypes.data, 0, 4): "memset",
        g.embed(needs.child): "child_graph",
        g.record_event(needs.event): "event_record",
        g.if_else(needs.condition()): "if_else",
        g.while_loop(needs.condition()): "while",
    }
    assert {node: node.name for node in kinds} == kinds


@pytest.mark.parametrize("name", [None, 3, b"bytes"], ids=repr)
def test_only_a_str_can_be_assigned(name, needs):
    node = needs.definition.join(name="first")
    with pytest.raises(TypeError):
        node.name = name
    assert node.name == "first"


def test_a_name_goes_with_its_node(needs):
    g = needs.definition
    node = g.launch(ONE, needs.kernels.nothing)
    named = g.join(name="first")
    node.destroy()
    named.destroy()
    assert (node.name, named.name) == ("nothing", "first")  # it still says what it was
    with pytest.raises(RuntimeError, match="destroyed"):
        named.name = "second"
    del node, named
    gc.collect()
    assert [g.join().name for _ in range(3)] == ["empty"] * 3  # the records of the two are used again


def test_the_repr_has_the_name_only_when_one_was_given(needs):
    g = needs.definition
    assert "name" not in repr(g.launch(ONE, needs.kernels.nothing))
    assert repr(g.join(name="it's here")).endswith(""" name="it's here">""")


def test_errors_name_a_node_by_class_name_handle_and_line_and_what_it_is_inside_of(needs):
    loop = needs.definition.while_loop(needs.condition(), name="until done")
    node = loop.body.memset(needs.target.ctypes.data, 0, 4, name="clear")
    unused = needs.definition.create_condition(0)
    with pytest.raises(cg.CUDAError) as caught:
        node.switch(unused, 0)
    assert caught.value.attempt == (
        f"add a conditional node with 0 bodies on the condition {unused.handle:#x} "
        f"to MemsetNode 'clear' (handle {node.handle:#x}, {node.source}) "
        f"in `body` of WhileNode 'until done' (handle {loop.handle:#x}, {loop.source})"
    )
    with pytest.raises(cg.CUDAError, match="`body` of WhileNode 'until done'"):
        loop.body.switch(unused, 0)


def test_the_node_that_an_instantiation_fails_at_is_named(needs):
    g = needs.definition
    first = g.launch(ONE, needs.kernels.nothing, name="first")
    last = first.join(name="last")
    first.pred.add(last)
    with pytest.raises(cg.GraphInstantiateError, match=r"the driver points at \w+ '(first|nothing|last)'"):
        g.instantiate()


def here():
    return f"{__file__}:{sys._getframe(1).f_lineno}"


@pytest.mark.parametrize("method", ADD)
def test_a_node_knows_the_line_that_added_it(method, needs):
    node = ADD[method](needs.definition, needs)
    line = ADD[method].__code__.co_firstlineno
    assert node.source == f"{__file__}:{line}"
    handle = node.handle
    del node
    (again,) = [node for node in needs.definition.nodes() if node.handle == handle]
    assert again.source == f"{__file__}:{line}"


def test_lines_of_one_function_are_told_apart(device):
    g = cg.GraphDef()
    a, line_of_a = g.join(), here()
    b, line_of_b = a.join().join(), here()
    assert (a.source, b.source) == (line_of_a, line_of_b)
    assert line_of_a != line_of_b


def test_code_without_a_file_has_the_line_in_what_it_says_it_is(device):
    g = cg.GraphDef()
    exec(compile("\n\nnode = g.join()", "<cell 7>", "exec"), scope := {"g": g})
    assert scope["node"].source == "<cell 7>:3"


def test_threads_have_their_own_lines(device):
    graphs = [cg.GraphDef() for _ in range(4)]

    def build(graph, number):
        exec(
            compile("\n" * number + "for _ in range(200): node = node.join()", f"t{number}", "exec"),
            {"node": graph},
        )

    threads = [threading.Thread(target=build, args=(g, i)) for i, g in enumerate(graphs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [{node.source for node in g.nodes()} for g in graphs] == [{f"t{i}:{i + 1}"} for i in range(4)]


class Emitter:
    def __init__(self, depth=0):
        self.depth = depth

    def __cuda_graph_emit__(self, node, args):
        if self.depth:
            node = node.call(Emitter(self.depth - 1))
        child = cg.GraphDef()
        child.join()
        return node.join(name="emitted").embed(child)


def test_nodes_added_by_a_compiler_have_the_line_of_the_call(device):
    g = cg.GraphDef()
    last, line = g.call(Emitter(depth=2)), here()
    assert {node.source for node in g.nodes()} == {line}
    assert {node.source for node in last.child_graph.nodes()} == {line}
    assert g.join().source == here()


def test_after_a_compiler_that_fails_lines_are_right_again(device):
    class Broken:
        def __cuda_graph_emit__(self, node, args):
            raise KeyError("no such thing")

    g = cg.GraphDef()
    with pytest.raises(KeyError):
        g.call(Broken())
    assert g.join().source == here()


def test_the_entry_node_and_foreign_nodes_have_no_line(needs):
    assert needs.definition._entry.source is None
    assert needs.definition._entry.name == "entry"


def test_an_embedded_copy_has_the_names_and_lines_of_its_source(needs):
    inner = cg.GraphDef()
    inner.memset(needs.target.ctypes.data, 7, 4, name="innermost")
    child = cg.GraphDef()
    first = child.join(name="first")
    first.embed(inner, name="inner").launch(ONE, needs.kernels.nothing)
    child.join(name="gone").destroy()
    child.join().name = "named later"

    def described(graph):
        return {
            (node._identify().partition(" in ")[0], node.source): described(node.child_graph)
            if isinstance(node, cg.ChildGraphNode)
            else None
            for node in graph.nodes()
        }

    expected = described(child)
    node = needs.definition.embed(child)
    child_of_child = cg.GraphDef()
    child_of_child.embed(needs.definition)
    first.name = "changed"  # the embedded copy keeps the old name
    del child, inner, first
    gc.collect()
    assert described(node.child_graph) == expected
    (middle,) = child_of_child.nodes()
    (again,) = middle.child_graph.nodes()
    assert described(again.child_graph) == expected


def test_lines_keep_neither_frames_nor_what_is_in_them(device):
    class Local:
        pass

    def build():
        local = Local()
        return cg.GraphDef().join(), weakref.ref(local)

    node, local = build()
    gc.collect()
    assert local() is None
    assert node.source.startswith(__file__)
