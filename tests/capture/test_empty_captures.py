# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: a capture that ends without a node warns at the line where it ends, and names where it began. The warning
names the work that other streams got meanwhile, with its lines."""

import threading
import warnings

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


@cg.kernel
def double(x: cg.types.ndarray(cg.f32, ndim=1)):
    for i in range(x.shape[0]):
        x[i] *= 2


@pytest.fixture
def x(device):
    x = cg.ndarray(cg.f32, 4)
    double(x)
    device.sync()
    yield x
    device.sync()
    double.forget()


def warnings_of(work):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", cg.CaptureWarning)
        work()
    return [str(each.message) for each in caught]


def end_explicitly(device):
    device.create_graph_builder().begin_building().end_building()


def end_a_block(device):
    with cg.capture():
        pass


def end_a_body(device):
    with cg.capture() as builder, builder.if_then(builder.create_condition(default_value=0)):
        pass


def end_with_an_event_only(device):
    with cg.capture() as builder:
        builder.stream.record()


@pytest.mark.parametrize("end", [end_explicitly, end_a_block, end_a_body, end_with_an_event_only])
def test_empty_capture_warns_where_it_ends_and_names_where_it_began(end, device):
    with pytest.warns(cg.CaptureWarning, match="is empty: its stream got no work") as caught:
        end(device)
    (warning,) = caught
    assert warning.filename == __file__
    assert f"{__file__}:" in str(warning.message)
    assert "begin_building at" in str(warning.message)


WORK = {
    "kernel": lambda x, stream, kernels: double(x, stream=stream),
    "launch": lambda x, stream, kernels: cg.launch(stream, ONE, kernels.nothing),
    "fill": lambda x, stream, kernels: x.buffer.fill(0, stream=stream),
    "copy": lambda x, stream, kernels: x.buffer.copy_from(cg.ndarray(cg.f32, 4).buffer, stream=stream),
}


@pytest.mark.parametrize("name", WORK)
def test_warning_names_the_work_that_other_streams_got(name, device, stream, kernels, x):
    def work():
        builder = device.create_graph_builder().begin_building()
        for _ in range(3):
            WORK[name](x, stream, kernels)
        builder.end_building()

    (text,) = warnings_of(work)
    stream.sync()
    assert "Meanwhile other streams got: " in text
    assert f'["{name}": lambda' in text
    assert "3 times " in text


def test_warning_names_work_of_another_thread_and_a_launched_graph(device, stream, kernels, x):
    with cg.capture() as builder:
        builder.callback(print)
    graph = builder.complete()

    def launch():
        cg.Device().set_current()
        graph.launch(stream)

    def work():
        with cg.capture():
            thread = threading.Thread(target=launch)
            thread.start()
            thread.join()

    (text,) = warnings_of(work)
    stream.sync()
    assert "launch of a graph at" in text
    assert "[graph.launch(stream)] in another thread" in text


def test_warning_names_only_work_during_the_capture(device, stream, kernels):
    def work():
        with cg.capture() as around:
            cg.launch(stream, ONE, kernels.nothing)
            with cg.capture():
                pass
            cg.launch(stream, ONE, kernels.nothing)
            around.callback(print)

    (text,) = warnings_of(work)
    stream.sync()
    assert "Meanwhile" not in text


def test_many_lines_are_counted(device, stream, kernels):
    calls = "\n".join(["cg.launch(stream, ONE, kernels.nothing)"] * 8)
    scope = {"cg": cg, "stream": stream, "ONE": ONE, "kernels": kernels}
    (text,) = warnings_of(lambda: exec(f"with cg.capture():\n{indented(calls)}", scope))
    stream.sync()
    assert text.count("launch at") == 5
    assert ", and 3 more lines" in text


def indented(text):
    return "\n".join(f"    {line}" for line in text.splitlines())


def test_capture_with_a_node_of_any_code_does_not_warn(device, stream, kernels, x):
    def explicit():
        with cg.capture() as builder:
            body = builder.if_then(builder.create_condition(default_value=0))
            body.graph_definition.launch(ONE, kernels.nothing)
            with body:
                cg.launch(stream, ONE, kernels.nothing)

    assert warnings_of(explicit) == []
    stream.sync()


def test_abandoned_capture_does_not_warn(device):
    def abandon():
        with pytest.raises(KeyError), cg.capture():
            raise KeyError
        device.create_graph_builder().begin_building().close()

    assert warnings_of(abandon) == []


def test_warning_as_an_error_leaves_the_capture_ended(device, stream):
    builder = stream.create_graph_builder().begin_building()
    with warnings.catch_warnings():
        warnings.simplefilter("error", cg.CaptureWarning)
        with pytest.raises(cg.CaptureWarning):
            builder.end_building()
    assert builder.state == "ended"
    builder.complete().launch(stream)
    stream.sync()
