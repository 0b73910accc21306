# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: what each member of a builder does depends on its kind and state alone, as this table says; what it refuses
changes nothing."""

import contextlib
import re

import pytest

import cuda_graphs as cg

NOT_BUILDING = "^The GraphBuilder is not capturing"
UNFINISHED = "^The graph is unfinished"
CLOSED = "^The GraphBuilder has been closed"
NO_SPLIT = r"^split\(\) needs a GraphBuilder that is capturing"
NO_CALLBACK = r"^callback\(\) needs a GraphBuilder that is capturing"
NO_CONDITION = r"^create_condition\(\) needs a GraphBuilder that is capturing"
NO_NODE = "^conditional nodes need a GraphBuilder that is capturing"
NO_PARENT = "^The parent GraphBuilder is not capturing"

WHERE = [
    ("primary", "not_started"),
    ("primary", "capturing"),
    ("primary", "ended"),
    ("primary", "closed"),
    ("conditional_body", "not_started"),
    ("conditional_body", "capturing"),
    ("conditional_body", "ended"),
    ("conditional_body", "closed"),
    ("forked", "capturing"),
    ("forked", "closed"),
]


class Rig:
    """Builders of every kind in every state, and what keeps them there."""

    def __init__(self, device, path):
        self.device, self.path = device, path
        self.kept = []

    def builder(self, kind, state):
        parent = self.device.create_graph_builder()
        self.kept.append(parent)
        if kind == "primary":
            builder = parent
        else:
            parent.begin_building()
            if kind == "forked":
                builder = parent.split(2)[1]
            else:
                builder = parent.while_loop(parent.create_condition())
        self.kept.append(builder)
        if kind != "forked" and state != "not_started":
            builder.begin_building()
            if state == "ended":
                builder.end_building()
        if state == "closed":
            builder.close()
        assert (builder.kind, builder.state) == (kind, state)
        return builder

    def condition(self):
        parent = self.builder("primary", "capturing")
        return parent.create_condition()

    def child(self):
        return self.builder("primary", "ended")

    def own_condition(self, builder):
        """Returns a condition of the builder while it captures, and a condition of another graph otherwise."""
        return builder.create_condition() if builder.state == "capturing" else self.condition()


@pytest.fixture
def rig(device, tmp_path):
    return Rig(device, tmp_path / "graph.dot")


def split_and_join(rig, b):
    return cg.GraphBuilder.join(*b.split(2))


# member -> (call, {state or (kind, state): what it returns or (exception, text)}). `...`: whatever it returns.
TABLE = {
    "is_join_required": (
        lambda rig, b: b.is_join_required,
        {"not_started": False, "capturing": False, "ended": False, "closed": False, "forked": True},
    ),
    "is_closed": (
        lambda rig, b: b.is_closed,
        {"not_started": False, "capturing": False, "ended": False, "closed": True},
    ),
    "is_building": (
        lambda rig, b: b.is_building,
        {"not_started": False, "capturing": True, "ended": False, "closed": (RuntimeError, CLOSED)},
    ),
    "stream": (
        lambda rig, b: b.stream is None,
        {"not_started": False, "capturing": False, "ended": False, "closed": True},
    ),
    "begin_building": (
        lambda rig, b: b.begin_building() is b,
        {
            "not_started": True,
            "capturing": (RuntimeError, "^The GraphBuilder is capturing already"),
            "ended": (RuntimeError, "^The capture has ended and cannot be resumed"),
            "closed": (RuntimeError, CLOSED),
        },
    ),
    "begin_building with a bad mode": (
        lambda rig, b: b.begin_building("careful"),
        {
            "not_started": (
                ValueError,
                "^mode must be one of 'global', 'thread_local', 'relaxed', got 'careful'",
            ),
            "capturing": (RuntimeError, "^The GraphBuilder is capturing already"),
            "ended": (RuntimeError, "^The capture has ended and cannot be resumed"),
            "closed": (RuntimeError, CLOSED),
        },
    ),
    "end_building": (
        lambda rig, b: b.end_building() is b,
        {
            "not_started": (RuntimeError, NOT_BUILDING),
            "capturing": True,
            "ended": (RuntimeError, NOT_BUILDING),
            "closed": (RuntimeError, CLOSED),
            ("forked", "capturing"): (RuntimeError, "forked GraphBuilder does not end the capture"),
        },
    ),
    "complete": (
        lambda rig, b: type(b.complete()) is cg.Graph,
        {
            "not_started": (RuntimeError, UNFINISHED),
            "capturing": (RuntimeError, UNFINISHED),
            "ended": True,
            "closed": (RuntimeError, CLOSED),
            # The driver makes no executable of a body alone.
            ("conditional_body", "ended"): ...,
        },
    ),
    "debug_dot_print": (
        lambda rig, b: b.debug_dot_print(rig.path) or "digraph" in rig.path.read_text(),
        {
            "not_started": (RuntimeError, UNFINISHED),
            "capturing": (RuntimeError, UNFINISHED),
            "ended": True,
            "closed": (RuntimeError, CLOSED),
        },
    ),
    "draw": (
        lambda rig, b: "<svg" in b.draw().svg(),
        {
            "not_started": (RuntimeError, UNFINISHED),
            "capturing": (RuntimeError, UNFINISHED),
            "ended": True,
            "closed": (RuntimeError, CLOSED),
        },
    ),
    "split": (
        lambda rig, b: split_and_join(rig, b) is b,
        {
            "not_started": (RuntimeError, NO_SPLIT),
            "capturing": True,
            "ended": (RuntimeError, NO_SPLIT),
            "closed": (RuntimeError, CLOSED),
        },
    ),
    "split into one": (
        lambda rig, b: b.split(1),
        dict.fromkeys(
            ("not_started", "capturing", "ended", "closed"),
            (ValueError, "^count must be 2 or more, got 1"),
        ),
    ),
    "embed": (
        lambda rig, b: b.embed(rig.child()),
        {
            "not_started": (ValueError, NO_PARENT),
            "capturing": None,
            "ended": (ValueError, NO_PARENT),
            "closed": (RuntimeError, CLOSED),
        },
    ),
    "callback": (
        lambda rig, b: b.callback(print),
        {
            "not_started": (RuntimeError, NO_CALLBACK),
            "capturing": None,
            "ended": (RuntimeError, NO_CALLBACK),
            "closed": (RuntimeError, CLOSED),
            # CUDA has no such nodes in bodies.
            ("conditional_body", "capturing"): (
                ValueError,
                "^HostCallbackNode .* cannot be in a body of WhileNode",
            ),
        },
    ),
    "callback that cannot be called": (
        lambda rig, b: b.callback(42),
        {
            "not_started": (RuntimeError, NO_CALLBACK),
            "capturing": (TypeError, "^a callback takes a callable, got int"),
            "ended": (RuntimeError, NO_CALLBACK),
            "closed": (RuntimeError, CLOSED),
        },
    ),
    "create_condition": (
        lambda rig, b: type(b.create_condition(1)) is cg.Condition,
        {
            "not_started": (RuntimeError, NO_CONDITION),
            "capturing": True,
            "ended": (RuntimeError, NO_CONDITION),
            "closed": (RuntimeError, CLOSED),
        },
    ),
    "if_then": (
        lambda rig, b: b.if_then(rig.own_condition(b)).kind,
        {
            "not_started": (RuntimeError, NO_NODE),
            "capturing": "conditional_body",
            "ended": (RuntimeError, NO_NODE),
            "closed": (RuntimeError, CLOSED),
        },
    ),
    "if_else": (
        lambda rig, b: [body.state for body in b.if_else(rig.own_condition(b))],
        {
            "not_started": (RuntimeError, NO_NODE),
            "capturing": ["not_started"] * 2,
            "ended": (RuntimeError, NO_NODE),
            "closed": (RuntimeError, CLOSED),
        },
    ),
    "while_loop": (
        lambda rig, b: b.while_loop(rig.own_condition(b)).is_join_required,
        {
            "not_started": (RuntimeError, NO_NODE),
            "capturing": False,
            "ended": (RuntimeError, NO_NODE),
            "closed": (RuntimeError, CLOSED),
        },
    ),
    "switch": (
        lambda rig, b: len(b.switch(rig.own_condition(b), 3)),
        {
            "not_started": (RuntimeError, NO_NODE),
            "capturing": 3,
            "ended": (RuntimeError, NO_NODE),
            "closed": (RuntimeError, CLOSED),
        },
    ),
    "if_then on no condition": (
        lambda rig, b: b.if_then(1),
        {
            **dict.fromkeys(
                ("not_started", "capturing", "ended"), (TypeError, "^condition must be a Condition")
            ),
            "closed": (RuntimeError, CLOSED),
        },
    ),
    "graph_definition": (
        lambda rig, b: type(b.graph_definition) is cg.GraphDef,
        {
            ("primary", "not_started"): (RuntimeError, "primary GraphBuilder has no graph_definition before"),
            ("conditional_body", "not_started"): True,
            "capturing": (RuntimeError, "cannot be used during the capture"),
            "ended": True,
            "closed": (RuntimeError, CLOSED),
            ("forked", "capturing"): (RuntimeError, "forked GraphBuilder has no graph_definition"),
        },
    ),
    "__cuda_stream__": (
        lambda rig, b: b.__cuda_stream__() == (0, b.stream.handle),
        {"not_started": True, "capturing": True, "ended": True, "closed": (RuntimeError, CLOSED)},
    ),
    "_get_conditional_context": (
        lambda rig, b: b._get_conditional_context() == b.stream.context.handle,
        {"not_started": True, "capturing": True, "ended": True, "closed": (RuntimeError, CLOSED)},
    ),
    "as a stream": (
        lambda rig, b: rig.device.create_stream(b).handle == b.stream.handle,
        {"not_started": True, "capturing": True, "ended": True, "closed": (RuntimeError, CLOSED)},
    ),
    "close": (
        lambda rig, b: b.close() or b.close() or b.state,
        dict.fromkeys(("not_started", "capturing", "ended", "closed"), "closed"),
    ),
    "update from it": (
        lambda rig, b: b._definition_for_update().handle != 0,
        {
            "not_started": (ValueError, UNFINISHED),
            "capturing": (ValueError, UNFINISHED),
            "ended": True,
            "closed": (ValueError, "^The source GraphBuilder has been closed"),
        },
    ),
}


def expected(member, kind, state):
    row = TABLE[member][1]
    if (kind, state) in row:
        return row[kind, state]
    return row[kind] if kind in row else row[state]


@pytest.mark.parametrize("member", TABLE)
@pytest.mark.parametrize(("kind", "state"), WHERE, ids=lambda text: text)
def test_a_member_in_a_state(member, kind, state, rig):
    builder = rig.builder(kind, state)
    want = expected(member, kind, state)
    call = TABLE[member][0]
    if want is ...:
        with contextlib.suppress(cg.CUDAError):
            call(rig, builder)
    elif isinstance(want, tuple):
        exception, text = want
        with pytest.raises(exception) as caught:
            call(rig, builder)
        assert re.search(text, str(caught.value)), caught.value
        assert not isinstance(caught.value, cg.CUDAError)
        assert builder.state == state
    else:
        assert call(rig, builder) == want


def test_a_closed_builder_is_a_runtime_error_and_a_value_error(rig):
    closed = rig.builder("primary", "closed")
    with pytest.raises(cg.ClosedBuilderError) as caught:
        closed.end_building()
    assert isinstance(caught.value, RuntimeError) and isinstance(caught.value, ValueError)


def test_a_builder_is_made_by_a_device_or_a_stream_only():
    with pytest.raises(NotImplementedError, match="GraphBuilder has no public constructor") as caught:
        cg.GraphBuilder()
    assert "Device.create_graph_builder()" in str(caught.value)
    assert "Stream.create_graph_builder()" in str(caught.value)


def test_a_graph_is_made_by_complete_only():
    with pytest.raises(RuntimeError, match="Graph has no public constructor"):
        cg.Graph()


@pytest.mark.parametrize("mode", ["Global", "", None, 1, b"global", ["global"]])
def test_an_unknown_mode_is_refused_by_name(mode, builder):
    with pytest.raises(ValueError, match="^mode must be one of .*, got " + re.escape(repr(mode))):
        builder.begin_building(mode)
    assert builder.state == "not_started"


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_each_mode_captures(mode, builder):
    assert builder.begin_building(mode).is_building
    builder.end_building()
    assert builder.graph_definition.nodes() == set()


def test_capture_of_one_builder_is_not_that_of_another_on_the_same_stream(stream):
    one, two = stream.create_graph_builder(), stream.create_graph_builder()
    one.begin_building()
    assert two.is_building is False
    with pytest.raises(cg.CUDAError):
        two.begin_building()
    assert two.state == "not_started"
    assert one.is_building
    one.end_building()
    two.begin_building()
    two.end_building()
