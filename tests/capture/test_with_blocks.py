# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a `with` block begins and ends the capture; left by an exception it gives the capture up, raises nothing of its
own, and the stream can be used."""

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


def test_with_block_begins_and_ends_the_capture(builder, kernels):
    with builder as gb:
        assert gb is builder
        assert gb.state == "capturing"
        cg.launch(gb, ONE, kernels.nothing)
    assert builder.state == "ended"
    assert len(builder.graph_definition.nodes()) == 1


def test_with_block_ends_a_capture_that_had_begun(builder):
    builder.begin_building("global")
    with builder:
        assert builder.is_building
    assert builder.state == "ended"


def test_builder_ended_or_closed_inside_the_block_stays_so(device):
    for end, state in ((cg.GraphBuilder.end_building, "ended"), (cg.GraphBuilder.close, "closed")):
        with device.create_graph_builder() as gb:
            end(gb)
        assert gb.state == state


def test_builder_that_has_ended_or_was_split_off_cannot_be_entered(builder):
    builder.begin_building()
    _, fork = builder.split(2)
    with pytest.raises(RuntimeError, match="a forked GraphBuilder does not end its capture"), fork:
        raise AssertionError
    cg.GraphBuilder.join(builder, fork).end_building()
    with pytest.raises(RuntimeError, match="The capture has ended and cannot be resumed"), builder:
        raise AssertionError
    builder.close()
    with pytest.raises(RuntimeError, match="The GraphBuilder has been closed"), builder:
        raise AssertionError


INSIDE = {
    "an exception": lambda gb, kernels: 1 / 0,
    "after work": lambda gb, kernels: (cg.launch(gb, ONE, kernels.nothing), 1 / 0),
    "in a fork": lambda gb, kernels: (cg.launch(gb.split(2)[1], ONE, kernels.nothing), 1 / 0),
    "in a body": lambda gb, kernels: nested(gb, kernels),
    "while a body is captured": lambda gb, kernels: (
        gb.while_loop(gb.create_condition(1)).begin_building(),
        1 / 0,
    ),
    "after the capture was spoiled": lambda gb, kernels: (spoil(gb), 1 / 0),
    "after it was closed": lambda gb, kernels: (gb.close(), 1 / 0),
    "after it was ended": lambda gb, kernels: (gb.end_building(), 1 / 0),
}


def nested(gb, kernels):
    with gb.while_loop(gb.create_condition(1)) as body:
        cg.launch(body, ONE, kernels.nothing)
        with body.if_then(body.create_condition(1)) as inner:
            cg.launch(inner, ONE, kernels.nothing)
            raise ZeroDivisionError


def spoil(gb):
    with pytest.raises(cg.CaptureError):
        gb.stream.sync()


@pytest.mark.parametrize("borrowed", [False, True])
@pytest.mark.parametrize("case", INSIDE)
def test_an_exception_goes_on_as_it_is_and_the_stream_works(case, borrowed, device, stream, kernels, works):
    builder = (stream if borrowed else device).create_graph_builder()
    captured = builder.stream
    with pytest.raises(ZeroDivisionError) as caught, builder:
        INSIDE[case](builder, kernels)
    assert caught.value.__context__ is None
    assert builder.state == ("ended" if "ended" in case else "closed")
    assert works(captured)
    with captured.create_graph_builder() as again:
        cg.launch(again, ONE, kernels.nothing)
    again.complete().launch(stream)
    stream.sync()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_exceptions_that_are_no_errors_go_on_as_they_are(error, builder, works):
    captured = builder.stream
    with pytest.raises(error), builder:
        raise error
    assert builder.is_closed
    assert works(captured)


def test_an_error_of_the_capture_itself_is_raised_at_its_end(builder, works):
    captured = builder.stream
    with pytest.raises(cg.CaptureError, match="INVALIDATED"), builder:
        spoil(builder)
    assert builder.state == "ended"
    assert works(captured)


def test_bodies_end_where_their_blocks_end(builder, kernels, pinned, stream):
    x = pinned([3, 0])
    with builder as gb:
        again = gb.create_condition(default_value=1)
        with gb.while_loop(again) as body:
            cg.launch(body, ONE, kernels.add, x.ctypes.data + 4, 1, 5)
            cg.launch(body, ONE, kernels.count_down, again, x.ctypes.data)
        assert body.state == "ended"
        then, other = gb.if_else(gb.create_condition(default_value=0))
        with then, other:  # at once: each has a stream of its own
            cg.launch(then, ONE, kernels.add, x.ctypes.data + 4, 1, 100)
            cg.launch(other, ONE, kernels.add, x.ctypes.data + 4, 1, 1000)
    builder.complete().launch(stream)
    stream.sync()
    assert x[1] == 1015
