# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an event marks work; the time between two marks can be measured; a raw event comes back as we made it."""

import pytest

import cuda_graphs as cg

TIMED = cg.EventOptions(timing_enabled=True)


def test_an_event_that_was_never_recorded_is_done(device):
    event = device.create_event()
    assert event.is_done is True
    event.sync()


@pytest.mark.parametrize("timing", [False, True])
@pytest.mark.parametrize("blocking", [False, True])
def test_an_event_remembers_how_it_was_made(device, timing, blocking):
    event = device.create_event({"timing_enabled": timing, "blocking_sync": blocking})
    again = cg.Event.from_handle(event.handle)
    for e in (event, again):
        assert (e.is_timing_enabled, e.is_blocking_sync, e.is_ipc_enabled) == (timing, blocking, False)
        assert e.device is device
        assert e.context == device.context
    assert again == event
    assert hash(again) == hash(event)


def test_metadata_outlives_the_object_that_was_made_first(device):
    event = device.create_event(TIMED)
    again = cg.Event.from_handle(event.handle)
    del event
    assert again.is_timing_enabled is True
    assert again.is_done is True


def test_time_between_events_is_in_milliseconds(device, stream, pinned, module):
    start = stream.record(options=TIMED)
    cg.launch(stream, cg.LaunchConfig(grid=1, block=1), module.get_kernel("nothing"))
    end = stream.record(options=TIMED)
    stream.sync()
    assert 0.0 <= end - start < 10_000.0
    assert end - end == 0.0


def test_subtracting_says_what_is_missing(device, stream):
    timed, plain = stream.record(options=TIMED), stream.record()
    stream.sync()
    with pytest.raises(RuntimeError, match=r"^only events with EventOptions"):
        _ = timed - plain
    with pytest.raises(RuntimeError, match=r"^one of the two events was never recorded"):
        _ = device.create_event(TIMED) - timed


def test_subtracting_too_early_says_so(device, stream, pinned, module):
    flag = pinned(1)
    start = stream.record(options=TIMED)
    cg.launch(stream, cg.LaunchConfig(grid=1, block=1), module.get_kernel("spin"), flag.ctypes.data)
    end = stream.record(options=TIMED)
    assert end.is_done is False
    with pytest.raises(RuntimeError, match=r"^the work before the events is not done"):
        _ = end - start
    flag[0] = 1
    end.sync()
    assert end.is_done is True
    assert end - start > 0


def test_subtracting_something_else_is_a_type_error(device):
    event = device.create_event()
    with pytest.raises(TypeError):
        _ = event - 1
    with pytest.raises(TypeError):
        _ = 1 - event
    with pytest.raises(TypeError):
        event -= 1


def test_options_of_another_kind_are_refused(device):
    with pytest.raises(TypeError, match="event options must be a EventOptions or a dict"):
        device.create_event(True)


def test_an_event_can_be_recorded_again(device, stream):
    event = device.create_event()
    for _ in range(3):
        assert stream.record(event) is event
        event.sync()
        assert event.is_done is True
