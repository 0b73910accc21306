# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: when an operation of ours spoils a capture, that one and its line are named, with the rule that it broke and the
remedy; and whatever fails afterwards still names the first."""

import ctypes
import re
import threading
from pathlib import Path

import pytest

import cuda_graphs as cg
from tests.capture.ledger import line_of
from tests.graph_rig import ONE

SPOILED = re.compile(r"spoiled by (.*?) at (\S+):(\d+) \[(.*?)\]: (CUDA_ERROR_\w+): (.+)")


def spoiler(error):
    """(what, line, its text, the rule) that an error of a capture tells."""
    found = SPOILED.search(error.capture)
    assert found, error.capture
    what, file, line, text, rule, _ = found.groups()
    assert Path(file).name == Path(__file__).name
    return what, int(line), text, rule


def wait_for_the_stream(gb, rig):
    gb.stream.sync()


def launch_with_too_much_memory(gb, rig):
    cg.launch(gb, cg.LaunchConfig(grid=1, block=1, shmem_size=1 << 30), rig.kernels.nothing)


def wait_for_the_device(gb, rig):
    rig.device.sync()


SPOILERS = {
    wait_for_the_stream: ("gb.stream.sync()", "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"),
    launch_with_too_much_memory: ("rig.kernels.nothing", "CUDA_ERROR_INVALID_VALUE"),
    wait_for_the_device: ("rig.device.sync()", "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"),
}


class Rig:
    def __init__(self, device, kernels):
        self.device, self.kernels = device, kernels


@pytest.fixture
def rig(device, kernels):
    return Rig(device, kernels)


@pytest.mark.parametrize("spoil", SPOILERS, ids=lambda f: f.__name__)
def test_spoiling_operation_is_named_at_once_and_at_the_end(spoil, capturing, rig):
    text, rule = SPOILERS[spoil]
    cg.launch(capturing, ONE, rig.kernels.nothing)
    with pytest.raises(cg.CUDAError) as first:
        spoil(capturing, rig)
    with pytest.raises(RuntimeError, match="Capture: spoiled by"):
        capturing.is_building  # noqa: B018
    assert first.value.name == rule
    assert first.value.remedy
    what, line, source, broken = spoiler(first.value)
    assert text in source
    assert broken == rule
    with pytest.raises(cg.CaptureError) as later:
        cg.launch(capturing, ONE, rig.kernels.nothing)
    with pytest.raises(cg.CaptureError, match="INVALIDATED") as end:
        capturing.end_building()
    for error in (later.value, end.value):
        assert spoiler(error) == (what, line, source, broken)
        assert error.remedy
        assert f"Capture: spoiled by {what}" in str(error)


def test_error_counts_the_operations_captured_before_and_names_their_lines(capturing, kernels):
    for _ in range(3):
        cg.launch(capturing, ONE, kernels.nothing)  # the last of three
    with pytest.raises(cg.CaptureError):
        capturing.stream.sync()  # what spoils it
    with pytest.raises(cg.CaptureError) as caught:
        capturing.end_building()
    text = caught.value.capture
    assert spoiler(caught.value)[1] == line_of("# what spoils it", __file__)
    assert "3 operations of cuda_graphs had been captured since begin_building at " in text
    last = line_of("# the last of three", __file__)
    assert re.search(rf"the last by launch at \S+test_own_ledger\.py:{last} \[cg\.launch", text)


def test_the_rule_is_told_in_words(spoiled):
    with pytest.raises(cg.CaptureError) as caught:
        spoiled.end_building()
    assert "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED: " in caught.value.capture
    assert caught.value.remedy in str(caught.value)


@pytest.mark.parametrize("mode", ["global", "thread_local"])
def test_a_call_on_something_else_that_the_mode_forbids_is_named(mode, builder, stream):
    builder.begin_building(mode)
    with pytest.raises(cg.CaptureError):
        stream.sync()  # another stream
    with pytest.raises(cg.CaptureError) as caught:
        builder.end_building()
    assert spoiler(caught.value)[1] == line_of("# another stream", __file__)


def test_relaxed_allows_it(builder, stream):
    builder.begin_building("relaxed")
    stream.sync()
    builder.end_building()


def test_a_thread_that_spoils_a_capture_of_another_is_named(builder, stream):
    builder.begin_building("global")
    failed = []

    def elsewhere():
        try:
            stream.sync()  # on another thread
        except cg.CaptureError as error:
            failed.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    with pytest.raises(cg.CaptureError) as caught:
        builder.end_building()
    assert len(failed) == 1
    assert spoiler(caught.value)[1] == line_of("# on another thread", __file__)


def test_a_fork_knows_what_spoiled_the_capture_that_it_is_of(capturing, kernels):
    _, fork = capturing.split(2)
    with pytest.raises(cg.CaptureError):
        fork.stream.sync()  # in the fork
    for use in (lambda: cg.launch(fork, ONE, kernels.nothing), capturing.end_building):
        with pytest.raises(cg.CaptureError) as caught:
            use()
        assert spoiler(caught.value)[1] == line_of("# in the fork", __file__)


def test_a_call_that_fails_and_spoils_nothing_is_not_named(capturing, kernels):
    with pytest.raises(cg.CUDAError) as caught:
        capturing.switch(capturing.create_condition(), 0)
    assert caught.value.capture == ""
    cg.launch(capturing, ONE, kernels.nothing)
    assert len(capturing.end_building().graph_definition.nodes()) == 1


def test_operations_of_every_kind_are_noted_with_their_lines(capturing, device, stream, kernels):
    """One by one: what is named as the last one before is what was done last."""
    resource = cg.GraphMemoryResource(device)
    memory, other = device.allocate(64, stream=stream), device.allocate(64, stream=stream)
    host = cg.PinnedMemoryResource().allocate(64, stream=stream)
    event, child = device.create_event(), device.create_graph_builder().begin_building().end_building()
    kept = []
    operations = {
        "launch": lambda gb: cg.launch(gb, ONE, kernels.nothing),
        "copy": lambda gb: memory.copy_to(other, stream=gb),
        "copy to the host": lambda gb: memory.copy_to(host, stream=gb),
        "fill": lambda gb: memory.fill(1, stream=gb),
        "alloc": lambda gb: kept.append(resource.allocate(64, stream=gb)),
        "free": lambda gb: kept.pop().close(),
        "record": lambda gb: gb.stream.record(event),
        "wait": lambda gb: gb.stream.wait(event),
        "callback": lambda gb: gb.callback(int),
        "c callback": lambda gb: gb.callback(ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda p: None)),
        "embed": lambda gb: gb.embed(child),
        "split": lambda gb: kept.append(gb.split(2)),
        "join": lambda gb: cg.GraphBuilder.join(*kept.pop()),
        "if_then": lambda gb: gb.if_then(gb.create_condition(0)),
        "if_else": lambda gb: gb.if_else(gb.create_condition(0)),
        "while_loop": lambda gb: gb.while_loop(gb.create_condition(0)),
        "switch": lambda gb: gb.switch(gb.create_condition(0), 2),
    }
    lines = Path(__file__).read_text().splitlines()
    del capturing
    stream.sync()
    for number in range(1, len(operations) + 1):
        gb = device.create_graph_builder().begin_building()
        for operation in list(operations.values())[:number]:
            operation(gb)
        with pytest.raises(cg.CaptureError) as caught:
            gb.stream.sync()
        name = list(operations)[number - 1]
        found = re.search(r"the last by ([\w ]+) at \S+test_own_ledger\.py:(\d+)", caught.value.capture)
        assert found, (name, caught.value.capture)
        assert f'"{name}": lambda' in lines[int(found[2]) - 1], name
        assert found[1].split()[-1] == name.removesuffix(" to the host").split()[-1], (found[1], name)
        kept.clear()
        with pytest.raises(cg.CaptureError):
            gb.end_building()
