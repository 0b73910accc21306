# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: work of one stream runs in order; streams wait for events and for each other; raw streams come back as ours."""

import pytest

import cuda_graphs as cg


def test_the_usual_stream_is_nonblocking_and_of_least_priority(stream):
    assert stream.is_nonblocking is True
    assert stream.priority == 0


@pytest.mark.parametrize(
    "options", [cg.StreamOptions(nonblocking=False, priority=-1), {"nonblocking": False, "priority": -1}]
)
def test_options_are_taken_as_dataclass_or_dict(device, options):
    stream = device.create_stream(options=options)
    assert stream.is_nonblocking is False
    assert stream.priority == -1


def test_a_priority_out_of_range_is_refused(device):
    with pytest.raises(ValueError, match=r"priority=1 is out of range \[-\d+, 0\]"):
        device.create_stream(options={"priority": 1})
    with pytest.raises(TypeError, match="StreamOptions"):
        device.create_stream(options=3)
    with pytest.raises(TypeError):
        device.create_stream(options={"colour": 1})


def test_a_stream_knows_its_device_and_context(device, stream):
    assert stream.device is device
    assert stream.context == device.context


def test_a_raw_handle_comes_back_as_the_stream_we_made(stream):
    again = cg.Stream.from_handle(stream.handle)
    assert again == stream
    assert hash(again) == hash(stream)
    handle = stream.handle
    del stream
    assert again.priority == 0  # still alive: the copy owns it
    again.sync()
    assert again.handle == handle


def test_default_streams_have_their_raw_values(device):
    assert cg.LEGACY_DEFAULT_STREAM.handle == 1
    assert cg.PER_THREAD_DEFAULT_STREAM.handle == 2
    assert device.default_stream is cg.LEGACY_DEFAULT_STREAM
    assert device.default_stream.context == device.context
    assert cg.Stream.from_handle(0).handle == 0
    for stream in (cg.LEGACY_DEFAULT_STREAM, cg.PER_THREAD_DEFAULT_STREAM, cg.Stream.from_handle(0)):
        stream.sync()
        assert stream.record().is_timing_enabled is False


@pytest.mark.parametrize(("value", "handle"), [("1", 2), ("0", 1), ("", 1)])
def test_a_variable_makes_the_default_stream_a_threads_own(run_child, value, handle):
    child = run_child(
        "import cuda_graphs as cg; d = cg.Device(); d.set_current(); print(d.default_stream.handle)",
        CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM=value,
    )
    assert (child.stdout, child.stderr) == (f"{handle}\n", "")


def test_a_foreign_stream_keeps_its_object_alive(device, stream):
    class Foreign:
        alive = 0

        def __init__(self):
            Foreign.alive += 1

        def __del__(self):
            Foreign.alive -= 1

        def __cuda_stream__(self):
            return (0, stream.handle)

    wrapped = device.create_stream(Foreign())
    assert Foreign.alive == 1
    wrapped.sync()
    wrapped.close()
    assert Foreign.alive == 0


WRONG = {
    "three numbers": ((0, 1, 2), RuntimeError, r"must return \(0, handle\), got "),
    "no tuple": (7, RuntimeError, r"must return \(0, handle\), got "),
    "no handle": ((0, "x"), RuntimeError, r"must return \(0, handle\), got "),
    "half a handle": ((0, 1.5), RuntimeError, r"must return \(0, handle\), got "),
    "a negative handle": ((0, -1), OverflowError, "handle of __cuda_stream__"),
    "another version": ((1, 2), RuntimeError, "returned version 1 of the protocol"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_protocol_answer_is_named(device, name):
    answer, kind, message = WRONG[name]

    class Foreign:
        def __cuda_stream__(self):
            return answer

    with pytest.raises(kind, match=message):
        device.create_stream(Foreign())


def test_an_attribute_for_a_method_is_taken_with_a_warning(device, stream):
    class Foreign:
        __cuda_stream__ = (0, stream.handle)

    with pytest.warns(DeprecationWarning, match="is not a method"):
        assert device.create_stream(Foreign()) == stream


def test_an_object_without_the_protocol_is_refused(device):
    with pytest.raises(TypeError, match="is no stream: it has no __cuda_stream__ method"):
        device.create_stream(object())


def test_our_stream_follows_the_protocol(stream):
    assert stream.__cuda_stream__() == (0, stream.handle)


def test_waiting_for_an_event_or_a_stream_orders_work(device, pinned, module):
    fill = module.get_kernel("fill")
    first, second = device.create_stream(), device.create_stream()
    x = pinned(1 << 16)
    config = cg.LaunchConfig(grid=(1 << 16) // 256, block=256)
    for wait in (lambda: second.wait(first.record()), lambda: second.wait(first)):
        for value in range(10):
            cg.launch(first, config, fill, x.ctypes.data, x.size, 2 * value)
            wait()
            cg.launch(second, config, fill, x.ctypes.data, x.size, 2 * value + 1)
            second.sync()
            assert (x == 2 * value + 1).all()


def test_waiting_for_anything_else_is_refused(stream):
    with pytest.raises(
        ValueError, match=r"wait\(\) takes an Event, a Stream or an object with __cuda_stream__, got int"
    ):
        stream.wait(3)


def test_recording_anything_but_an_event_is_refused(stream):
    with pytest.raises(TypeError, match="event must be an Event or None, got Stream"):
        stream.record(stream)
    with pytest.raises(ValueError, match="either event or options"):
        stream.record(stream.record(), {"timing_enabled": True})


NOT_STREAMS = {
    "None": (None, "stream is required and must not be None"),
    "int": (1, "Stream or GraphBuilder expected, got int"),
}


@pytest.mark.parametrize("name", NOT_STREAMS)
def test_launch_on_anything_but_a_stream_is_a_type_error(device, module, name):
    value, message = NOT_STREAMS[name]
    with pytest.raises(TypeError, match=message):
        cg.launch(value, cg.LaunchConfig(grid=1, block=1), module.get_kernel("nothing"))


def test_the_default_streams_exist_before_any_driver_is_loaded(run_child):
    child = run_child(
        "import cuda_graphs as cg; from cuda_graphs.core.driver import choice; "
        "assert cg.LEGACY_DEFAULT_STREAM.handle == 1 and choice._chosen is None"
    )
    assert (child.returncode, child.stderr) == (0, "")
