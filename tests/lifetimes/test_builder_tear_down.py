# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a builder that ends by `close`, by its destructor or by an error ends its capture once and destroys its graph
and its own stream once. The captured stream can be used again."""

import ctypes
import gc
import threading

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

ENDING = ("cuStreamEndCapture", "cuGraphDestroy", "cuStreamDestroy")
FAILURE = 46  # CUDA_ERROR_DEVICES_UNAVAILABLE: nothing else says that


def close(held):
    held[0].close()


def close_twice(held):
    held[0].close()
    held[0].close()
    held.clear()


def drop(held):
    held.clear()
    gc.collect()


def drop_cycle(held):
    """The collector clears the Python members of a builder before its destructor runs."""
    ring = [held.pop()]
    ring.append(ring)
    del ring
    gc.collect()


WAYS = [close, close_twice, drop, drop_cycle]


def names(calls):
    return [call.function for call in calls]


@pytest.mark.parametrize("way", WAYS)
def test_a_capture_of_a_stream_of_its_own(way, device, driver_table):
    held = [device.create_graph_builder().begin_building()]
    calls = driver_table.watch(*ENDING)
    way(held)
    assert names(calls) == list(ENDING)  # the same calls in the same order, whichever way
    assert {call.status for call in calls} == {0}


@pytest.mark.parametrize("way", WAYS)
def test_a_capture_of_a_stream_of_the_user(way, stream, driver_table, works):
    held = [stream.create_graph_builder().begin_building()]
    calls = driver_table.watch(*ENDING)
    way(held)
    assert names(calls) == ["cuStreamEndCapture", "cuGraphDestroy"]
    held.clear()
    assert works(stream)
    assert names(calls) == ["cuStreamEndCapture", "cuGraphDestroy"]
    stream.close()
    assert names(calls)[-1] == "cuStreamDestroy"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("begun", [False, True])
def test_a_builder_that_captures_nothing(begun, way, device, driver_table):
    held = [device.create_graph_builder()]
    calls = driver_table.watch(*ENDING)
    if begun:
        held[0].begin_building().end_building()
        assert names(calls) == ["cuStreamEndCapture"]
        del calls[:]
    way(held)
    assert names(calls) == (["cuGraphDestroy"] if begun else []) + ["cuStreamDestroy"]


@pytest.mark.parametrize("way", WAYS)
def test_the_capture_of_a_body_is_ended_and_its_graph_left_to_the_node(way, capturing, driver_table):
    held = [capturing.if_then(capturing.create_condition(1)).begin_building()]
    calls = driver_table.watch(*ENDING)
    way(held)
    assert names(calls) == ["cuStreamEndCapture", "cuStreamDestroy"]
    assert capturing.is_building
    capturing.end_building()


@pytest.mark.parametrize("way", WAYS)
def test_a_forked_builder_ends_no_capture(way, capturing, driver_table):
    held = [capturing.split(2)[1]]
    calls = driver_table.watch("cuStreamEndCapture", "cuGraphDestroy")
    way(held)
    assert calls == []
    assert capturing.is_building
    capturing.close()
    assert names(calls) == ["cuStreamEndCapture", "cuGraphDestroy"]


@pytest.mark.parametrize(
    "way", [cg.GraphBuilder.end_building, cg.GraphBuilder.close, "with", "error", "drop"]
)
@pytest.mark.parametrize("kind", ["primary", "body", "spoiled"])
def test_the_driver_is_always_given_somewhere_to_put_the_graph(kind, way, device, driver_table, kernels):
    """cuStreamEndCapture(stream, NULL) is nothing that cuda.h allows."""
    primary = device.create_graph_builder().begin_building()
    builder = primary.while_loop(primary.create_condition()).begin_building() if kind == "body" else primary
    calls = driver_table.watch("cuStreamEndCapture")
    if kind == "spoiled":
        with pytest.raises(cg.CaptureError):
            builder.stream.sync()
    try:
        if way == "drop":
            del builder, primary
        elif way == "with":
            with builder:
                pass
        elif way == "error":
            with builder:
                raise ZeroDivisionError
        else:
            way(builder)
    except (cg.CaptureError, ZeroDivisionError):
        pass
    assert calls
    assert all(call.words[1] is not None for call in calls)


def test_the_status_of_a_capture_is_always_asked_for(device, driver_table, kernels, stream):
    calls = driver_table.watch("cuStreamGetCaptureInfo", "cuStreamIsCapturing")
    with device.create_graph_builder() as gb:
        cg.launch(gb, ONE, kernels.nothing)
        gb.callback(print)
        with gb.if_then(gb.create_condition(0)) as body:
            cg.launch(body, ONE, kernels.nothing)
        assert gb.is_building
        gb.embed(device.create_graph_builder().begin_building().end_building())
        cg.GraphBuilder.join(*gb.split(2))
    gb.complete().launch(stream)
    stream.sync()
    assert {"cuStreamGetCaptureInfo", "cuStreamIsCapturing"} == set(names(calls))
    assert all(call.words[1] is not None for call in calls)


# A beginning that fails in its middle.


@pytest.mark.parametrize("way", [*WAYS, "end"])
@pytest.mark.parametrize("borrowed", [False, True])
def test_capture_begun_by_a_failed_begin_building_is_ended(
    borrowed, way, device, stream, driver_table, works
):
    builder = (stream if borrowed else device).create_graph_builder()
    driver_table.refuse_once("cuStreamGetCaptureInfo", FAILURE)
    with pytest.raises(cg.CUDAError) as caught:
        builder.begin_building()
    assert caught.value.code == FAILURE
    assert builder.state == "capturing"
    assert builder.is_building
    driver_table.restore()
    own = builder.stream
    calls = driver_table.watch("cuStreamEndCapture", "cuGraphDestroy")
    if way == "end":
        builder.end_building()  # there is no graph that anybody could complete
        with pytest.raises(RuntimeError, match="The graph is unfinished"):
            builder.complete()
        builder.close()
    else:
        held = [builder]
        del builder, caught
        way(held)
    assert names(calls) == ["cuStreamEndCapture", "cuGraphDestroy"]
    assert works(stream if borrowed else own)


def test_capture_of_a_body_begun_by_a_failed_begin_building_is_ended(capturing, driver_table):
    body = capturing.if_then(capturing.create_condition(1))
    driver_table.refuse_once("cuStreamGetCaptureInfo", FAILURE)
    with pytest.raises(cg.CUDAError):
        body.begin_building()
    driver_table.restore()
    assert body.state == "capturing"
    body.close()
    capturing.end_building()


@pytest.mark.parametrize("which", ["primary", "body"])
def test_a_beginning_that_the_driver_refuses_has_not_begun(which, capturing, device, driver_table):
    body = capturing.if_then(capturing.create_condition(1))
    builder = body if which == "body" else device.create_graph_builder()
    driver_table.refuse_once(
        "cuStreamBeginCaptureToGraph" if which == "body" else "cuStreamBeginCapture", FAILURE
    )
    with pytest.raises(cg.CUDAError) as caught:
        builder.begin_building()
    assert caught.value.code == FAILURE
    assert builder.state == "not_started"
    builder.begin_building().end_building()
    capturing.end_building().complete()


def test_a_with_block_that_cannot_begin_closes_the_builder(device, driver_table, works):
    builder = device.create_graph_builder()
    own = builder.stream
    driver_table.refuse_once("cuStreamGetCaptureInfo", FAILURE)
    with pytest.raises(cg.CUDAError), builder:
        raise AssertionError("it has not begun")
    assert builder.is_closed
    driver_table.restore()
    assert works(own)


# An end that fails.


def test_a_spoiled_capture_destroys_its_graph_itself(spoiled, driver_table):
    """libcuda has destroyed it by then: again would be a use after free (REQ 1.16)."""
    calls = driver_table.watch("cuStreamEndCapture", "cuGraphDestroy")
    with pytest.raises(cg.CaptureError) as caught:
        spoiled.end_building()
    assert caught.value.code == 901
    assert spoiled.state == "ended"
    spoiled.close()
    del caught, spoiled
    gc.collect()
    assert names(calls) == ["cuStreamEndCapture"]


@pytest.mark.parametrize("way", ["end", "close"])
def test_closing_a_spoiled_builder_is_done_when_it_raises(way, stream, works, driver_table):
    builder = stream.create_graph_builder().begin_building()
    with pytest.raises(cg.CaptureError):
        stream.sync()
    if way == "end":
        with pytest.raises(cg.CaptureError, match="INVALIDATED"):
            builder.end_building()
        builder.close()
    else:
        with pytest.raises(cg.CaptureError, match="INVALIDATED"):
            builder.close()
    assert builder.is_closed and builder.stream is None
    builder.close()
    assert works(stream)


def test_is_building_says_that_it_must_be_ended_and_so_it_can_be(spoiled):
    with pytest.raises(
        RuntimeError,
        match=r"^The capture has been invalidated by an error: call end_building\(\) or close\(\)",
    ):
        spoiled.is_building  # noqa: B018
    with pytest.raises(cg.CaptureError, match="INVALIDATED"):
        spoiled.end_building()
    assert spoiled.is_building is False
    for use in (
        spoiled.complete,
        lambda: spoiled.graph_definition,
        lambda: spoiled.debug_dot_print("no.dot"),
    ):
        with pytest.raises(RuntimeError, match="The graph is unfinished"):
            use()


def test_a_close_that_the_driver_refuses_is_a_close_all_the_same(stream, works, driver_table):
    builder = stream.create_graph_builder().begin_building()
    driver_table.refuse_once("cuStreamEndCapture", FAILURE)
    with pytest.raises(cg.CUDAError) as caught:
        builder.close()
    assert caught.value.code == FAILURE
    assert builder.is_closed
    builder.close()
    del caught
    gc.collect()
    assert works(stream)  # the capture was ended when the last of it went


@pytest.fixture
def others(driver_table):
    """others(function, *words): what someone else in the process calls."""

    def call(function, *words):
        assert driver_table.original(function)(*words) == 0

    return call


def end_by_others(others, builder):
    """The address of the graph, which is theirs now."""
    graph = ctypes.c_void_p()
    others("cuStreamEndCapture", builder.stream.handle, ctypes.addressof(graph))
    return graph.value


def test_ending_what_others_have_ended_is_an_error_and_closes_cleanly(stream, others, works):
    builder = stream.create_graph_builder().begin_building()
    graph = end_by_others(others, builder)
    assert builder.is_building is False
    with pytest.raises(cg.CUDAError):
        builder.end_building()
    assert builder.state == "ended"
    with pytest.raises(RuntimeError, match="The graph is unfinished"):
        builder.complete()
    builder.close()
    others("cuGraphDestroy", graph)
    assert works(stream)


def test_capture_begun_by_foreign_code_is_not_taken_for_ours(stream, others, works):
    builder = stream.create_graph_builder().begin_building()
    graph = end_by_others(others, builder)
    others("cuStreamBeginCapture", stream.handle, 2)
    with pytest.raises(cg.CaptureError, match="UNMATCHED"):
        builder.end_building()
    with pytest.raises(RuntimeError, match="The graph is unfinished"):
        builder.complete()
    builder.close()
    others("cuGraphDestroy", graph)
    assert works(stream)


# Garbage collection, on whichever thread.


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
@pytest.mark.parametrize("what", ["primary", "body", "fork"])
def test_a_builder_may_be_collected_on_another_thread(what, mode, stream, works):
    builder = stream.create_graph_builder().begin_building(mode)
    ring = [builder]
    if what == "fork":
        ring.append(builder.split(2)[1])
    if what == "body":
        ring.append(builder.if_then(builder.create_condition(1)).begin_building("relaxed"))
    ring.append(ring)
    del builder, ring
    thread = threading.Thread(target=gc.collect)
    thread.start()
    thread.join()
    assert works(stream)


def test_everything_goes_at_once(device, stream, works):
    """Primary, forks of it, a body and forks of that, in one cycle: no order is promised."""
    builder = stream.create_graph_builder().begin_building()
    a, b = builder.split(2)
    body = b.while_loop(b.create_condition(1)).begin_building()
    c, d = body.split(2)
    ring = [d, a, body, c, b, builder]
    ring.append(ring)
    del builder, a, b, body, c, d, ring
    gc.collect()
    assert works(stream)
