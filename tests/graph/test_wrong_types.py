# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an argument of a wrong type is a TypeError that names it, whichever method and parameter; nothing has changed.

One row a parameter: the values that are wrong for it, and the word by which the message names it. Every parameter of
every public method has a row, or is in the list of those that take anything.
"""

import inspect

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from cuda_graphs.drawing.picture import Picture
from tests.conftest import levels
from tests.graph.calls import BUILDERS, GOOD, call, needs

__all__ = ["needs"]


class Stranger:
    """A type that no parameter accepts."""


NONE, TEXT, FLOAT, LIST, BYTES, STRANGER = None, "text", 1.5, [1], b"abcdefg", Stranger()
NO_INT = (NONE, TEXT, FLOAT, LIST, BYTES, STRANGER)
NOT_OURS = (NONE, TEXT, FLOAT, LIST, BYTES, STRANGER, 42, cg.Condition, len)
NO_FLAG = (NONE, TEXT, FLOAT, LIST, BYTES, STRANGER, 2)
NO_TOUCHES = (TEXT, FLOAT, BYTES, STRANGER, 42, [None], ["text"], [1.5], [(1, 2, 3)], [(1, "2")], [len])
NO_NAME = (FLOAT, LIST, BYTES, STRANGER, 42)


def optional(values):
    """Returns the wrong values of a parameter for which None means the default."""
    return tuple(value for value in values if value is not None)


# By method and parameter: what is wrong for it, and the word that names it. "*0" is the first positional argument.
ROWS = {
    ("join", "*0"): ((*NOT_OURS, cg.GraphDef), "GraphNode"),
    ("launch", "*0"): (NOT_OURS, "config"),
    ("launch", "*1"): (NOT_OURS, "kernel"),
    ("launch", "*2"): ((NONE, TEXT, LIST, BYTES, STRANGER, len), "parameter 0 of kernel 'affine'"),
    ("launch", "*3"): ((NONE, TEXT, LIST, BYTES, STRANGER, 1j), "parameter 1 of kernel 'affine'"),
    ("launch", "edge"): (optional(NOT_OURS), "edge"),
    ("launch", "reads"): (NO_TOUCHES, "reads"),
    ("launch", "writes"): (NO_TOUCHES, "writes"),
    ("alloc", "size"): (NO_INT, "size"),
    ("alloc", "shape"): (optional(NO_INT), "shape"),  # of a call with a size
    ("alloc", "dtype"): (optional(NOT_OURS), "dtype"),
    ("alloc", "options"): (optional(NOT_OURS), "options"),
    ("alloc", "device"): (optional(NO_INT), "device"),
    ("alloc", "peer_access"): ((TEXT, FLOAT, BYTES, STRANGER, 1, [None], ["text"], [1.5]), "peer_access"),
    ("free", "dptr"): (NO_INT, "dptr"),
    ("memset", "dst"): (NO_INT, "dst"),
    ("memset", "value"): ((NONE, TEXT, FLOAT, LIST, STRANGER), "value"),
    ("memset", "width"): (NO_INT, "width"),
    ("memset", "height"): (NO_INT, "height"),
    ("memset", "pitch"): (NO_INT, "pitch"),
    ("memcpy", "dst"): (NO_INT, "dst"),
    ("memcpy", "src"): (NO_INT, "src"),
    ("memcpy", "size"): (NO_INT, "size"),
    **{("memcpy", word): (optional(NO_INT), word) for word in ("width", "height", "depth")},
    **{
        ("memcpy", word): (optional(NO_INT), word)
        for word in ("dst_pitch", "src_pitch", "dst_height", "src_height")
    },
    ("embed", "child"): (NOT_OURS, "child"),
    ("record_event", "event"): (NOT_OURS, "event"),
    ("wait_event", "event"): (NOT_OURS, "event"),
    ("callback", "fn"): (NO_INT, "callback"),
    ("callback", "user_data"): ((TEXT, FLOAT, LIST, STRANGER), "user_data"),
    ("callback", "reads"): (NO_TOUCHES, "reads"),
    ("callback", "writes"): (NO_TOUCHES, "writes"),
    ("if_then", "condition"): (NOT_OURS, "condition"),
    ("if_else", "condition"): (NOT_OURS, "condition"),
    ("while_loop", "condition"): (NOT_OURS, "condition"),
    ("switch", "condition"): (NOT_OURS, "condition"),
    ("switch", "count"): (NO_INT, "count"),
    **{(method, "args"): (NOT_OURS, "args") for method in ("if_then", "if_else", "while_loop", "switch")},
    ("while_loop", "do"): (NO_FLAG, "do"),
    ("while_loop", "max_iterations"): (optional(NO_INT), "max_iterations"),
    ("call", "*0"): (NOT_OURS, "__cuda_graph_emit__"),
    ("capture_call", "*0"): ((NONE, TEXT, FLOAT, LIST, BYTES, STRANGER, 42), "function"),
    ("capture_call", "warm_up"): (NO_FLAG, "warm_up"),
    ("edge_data", "before"): (NOT_OURS, "before"),
    ("edge_data", "after"): (NOT_OURS, "after"),
    ("create_condition", "default_value"): (optional(NO_INT), "default_value"),
    ("param", "name"): ((NONE, *NO_NAME), "name"),
    ("param", "type"): ((*NOT_OURS, int), "type"),
    ("param", "default"): (optional(NO_INT), "parameter 'p'"),
    ("temporary", "shape"): ((NONE, TEXT, FLOAT, BYTES, STRANGER), "shape"),
    ("temporary", "dtype"): ((*NOT_OURS, int), "type"),
    ("temporary", "name"): (NO_NAME, "name"),
    ("instantiate", "options"): (optional(NOT_OURS), "options"),
    ("instantiate", "auto_free_on_launch"): (NO_FLAG, "auto_free_on_launch"),
    ("instantiate", "upload_stream"): (optional(NOT_OURS), "Stream"),
    ("instantiate", "device_launch"): (NO_FLAG, "device_launch"),
    ("instantiate", "use_node_priority"): (NO_FLAG, "use_node_priority"),
    ("instantiate", "optimize"): (NO_FLAG, "optimize"),
    ("instantiate", "early_edges"): (NO_FLAG, "early_edges"),
    ("check", "limit"): (NO_INT, "limit"),
    ("debug_dot_print", "path"): ((NONE, FLOAT, LIST, STRANGER, 42), "path"),
    ("debug_dot_print", "options"): (optional((*NOT_OURS, {})), "options"),
    ("diff", "other"): (NOT_OURS, "other"),
    ("draw", "path"): ((FLOAT, LIST, STRANGER, 42), "path"),
    ("draw", "fold"): (optional(NO_FLAG), "fold"),
    ("draw", "check"): (NO_FLAG, "check"),
    ("draw", "theme"): ((NONE, FLOAT, LIST, STRANGER, 42), "theme"),
    ("save", "path"): ((NONE, FLOAT, LIST, STRANGER, 42), "path"),
    ("save", "inputs"): ((FLOAT, STRANGER, 42), "inputs"),
    ("save", "outputs"): ((FLOAT, STRANGER, 42), "outputs"),
    ("save", "include"): ((NONE, FLOAT, STRANGER, 42), "include"),
    ("save", "architecture"): ((FLOAT, LIST, STRANGER, 42), "architecture"),
    ("save", "architectures"): ((NONE, FLOAT, STRANGER, 42), "architectures"),
}
ROWS |= {(name, "name"): (NO_NAME, "name") for name in BUILDERS}
# Emitters and captured functions interpret their own arguments, and any object may own memory.
ANYTHING = {
    *(("call", "*1"), ("capture_call", "*1"), ("capture_call", "*4")),
    *(("memset", "dst_owner"), ("memcpy", "dst_owner"), ("memcpy", "src_owner")),
}
# A wrong word is a ValueError, of whatever type it is.
WORDS = {("alloc", "memory_type")}
# The other methods: the type of the result of a right call.
RESULTS = {
    "edge_data": cg.EdgeData,
    "create_condition": cg.Condition,
    "param": cg.Parameter,
    "temporary": cg.Temporary,
    "instantiate": cg.Graph,
    "debug_dot_print": type(None),
    "draw": Picture,
    "diff": cg.GraphDifference,
    "save": type(None),
    "check": cg.CheckReport,
}


def state(needs):
    boxes.drain()
    return needs.definition.nodes(), needs.definition.edges(), levels()


@pytest.mark.parametrize(("method", "parameter"), ROWS, ids=lambda part: part.strip("*"))
def test_a_wrong_type_is_a_type_error_that_names_the_argument(method, parameter, needs):
    values, word = ROWS[method, parameter]
    places = [needs.definition, needs.node] if method in BUILDERS else [needs.definition]
    for place in places:
        before = state(needs)
        for value in values:
            with pytest.raises(TypeError, match=f"(?i){word}") as caught:
                call(place, method, needs, parameter, value)
            del caught
        after = state(needs)
        # An empty page of owners may wait for the next node.
        after[2]["user_object"] = before[2]["user_object"]
        assert after == before


@pytest.mark.parametrize("method", BUILDERS)
def test_a_builder_with_right_arguments_adds_one_node_of_that_name(method, needs):
    place = needs.memory if method == "free" else needs.definition
    before = needs.definition.nodes()
    made = call(place, method, needs, "name", "mine")
    added = needs.definition.nodes() - before
    assert len(added) == 1
    (node,) = added
    assert node.name == "mine"
    assert getattr(made, "node", made) == node


@pytest.mark.parametrize("method", RESULTS)
def test_another_method_with_right_arguments_gives_its_result_and_adds_no_node(method, needs):
    needs.definition.if_then(needs.condition)  # a condition without a node is refused by instantiate
    before = needs.definition.nodes()
    assert type(call(needs.definition, method, needs)) is RESULTS[method]
    assert needs.definition.nodes() == before


def test_every_method_with_a_right_call_is_a_builder_or_has_a_result():
    assert set(BUILDERS) | set(RESULTS) == set(GOOD)


@pytest.mark.parametrize("value", [TEXT, FLOAT, LIST, BYTES, STRANGER, 42])
def test_a_wrong_word_is_a_value_error_that_names_the_argument(value, needs):
    with pytest.raises(ValueError, match="memory_type"):
        needs.definition.alloc(64, memory_type=value)


def test_every_parameter_of_every_method_has_a_row():
    missing = [
        f"{method}({parameter})"
        for method, function in inspect.getmembers(cg.GraphDef, callable)
        if not method.startswith("_")
        for parameter in names(function)
        if (method, parameter) not in ROWS.keys() | WORDS | ANYTHING
    ]
    assert missing == []


def names(function):
    """The parameters of a method, in the words of ROWS."""
    found = list(inspect.signature(function).parameters.values())[1:]
    positional = [p.name for p in found if p.kind is inspect.Parameter.VAR_POSITIONAL]
    for i, parameter in enumerate(found):
        if positional and parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            yield f"*{i}"
        else:
            yield parameter.name


# The sets of neighbours.

NO_NODE = (NONE, TEXT, FLOAT, LIST, BYTES, STRANGER, 42, cg.GraphDef)
NO_NODES = (NONE, FLOAT, STRANGER, 42)
WRONG_NODES = ([None], ["text"], [1.5], [[1]], "text", b"ab")
CHANGES = {
    "add": (lambda s, v: s.add(v), NO_NODE),
    "update": (lambda s, v: s.update(v), (*NO_NODES, *WRONG_NODES)),
    "|=": (lambda s, v: s.__ior__(v), (*NO_NODES, *WRONG_NODES)),
    "^=": (lambda s, v: s.__ixor__(v), (*NO_NODES, *WRONG_NODES)),
    "&=": (lambda s, v: s.__iand__(v), NO_NODES),
    "-=": (lambda s, v: s.__isub__(v), NO_NODES),
}


@pytest.mark.parametrize("direction", ["pred", "succ"])
@pytest.mark.parametrize("change", CHANGES)
def test_value_that_is_no_node_changes_no_edge(change, direction, needs):
    use, values = CHANGES[change]
    last = needs.node.join()
    before = state(needs)
    for value in values:
        with pytest.raises(TypeError, match=r"expected GraphNode, got|nodes"):
            use(getattr(last, direction), value)
    assert state(needs) == before


@pytest.mark.parametrize("direction", ["pred", "succ"])
def test_nodes_are_assigned_from_nodes_only(direction, needs):
    last = needs.node.join()
    before = state(needs)
    for value in (*NO_NODES, *WRONG_NODES):
        with pytest.raises(TypeError, match=r"expected GraphNode, got|nodes"):
            setattr(last, direction, value)
    assert state(needs) == before


@pytest.mark.parametrize("direction", ["pred", "succ"])
def test_value_that_is_no_node_is_no_neighbour(direction, needs):
    neighbours = getattr(needs.node.join(), direction)
    for value in (*NO_NODE, {}, set()):
        assert value not in neighbours
        neighbours.discard(value)
        with pytest.raises(KeyError):
            neighbours.remove(value)


# Executables.


@pytest.mark.parametrize("value", NOT_OURS)
@pytest.mark.parametrize("method", ["launch", "upload"])
def test_an_executable_runs_on_streams_only(method, value, device):
    graph = cg.GraphDef().instantiate()
    with pytest.raises(TypeError, match=r"(?i)stream"):
        getattr(graph, method)(value)
