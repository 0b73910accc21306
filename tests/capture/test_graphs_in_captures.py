# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the executable of a captured graph is like any other; and none can be launched or uploaded into a capture, which
goes on."""

import ctypes
import gc

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

FAILURE = 46


@pytest.fixture
def adding(device, kernels, pinned):
    """adding(amount): a finished builder whose graph adds so much to x[0]; x."""
    x = pinned([0])

    def make(amount):
        with device.create_graph_builder() as gb:
            cg.launch(gb, ONE, kernels.add, x.ctypes.data, 1, amount)
        return gb

    return make, x


@pytest.fixture(params=["bare", "with owners"])
def any_graph(request, adding):
    """One of which nothing must be kept, and one of which something must."""
    if request.param == "bare":
        return cg.GraphDef().instantiate()
    return adding[0](1).complete()


USES = {
    "launch": lambda graph, gb: graph.launch(gb),
    "launch on its stream": lambda graph, gb: graph.launch(gb.stream),
    "upload": lambda graph, gb: graph.upload(gb),
    "instantiate": lambda graph, gb: cg.GraphDef().instantiate(upload_stream=gb.stream),
    "instantiate on the builder": lambda graph, gb: cg.GraphDef().instantiate(upload_stream=gb),
}


@pytest.mark.parametrize("use", USES)
def test_no_graph_goes_into_a_capture_and_the_capture_goes_on(use, any_graph, capturing, kernels, stream):
    _, fork = capturing.split(2)
    for gb in (capturing, fork):
        with pytest.raises(cg.CaptureError, match="UNSUPPORTED") as caught:
            USES[use](any_graph, gb)
        assert caught.value.capture == ""
        assert caught.value.attempt
        assert gb.is_building
    cg.GraphBuilder.join(capturing, fork)
    cg.launch(capturing, ONE, kernels.nothing)
    assert len(capturing.end_building().graph_definition.nodes()) == 1
    any_graph.launch(stream)
    stream.sync()


def test_graphs_are_launched_elsewhere_meanwhile(any_graph, capturing, stream):
    any_graph.upload(stream)
    any_graph.launch(stream)
    capturing.end_building()
    stream.sync()
    assert capturing.graph_definition.nodes() == set()


def test_an_executable_outlives_its_builder(adding, stream):
    make, x = adding
    builder = make(3)
    first, second = builder.complete(), builder.complete()
    builder.close()
    del builder
    gc.collect()
    first.upload(stream)
    first.launch(stream)
    second.launch(stream)
    first.close()  # in flight
    assert int(first.handle) == 0
    with pytest.raises(RuntimeError, match=r"^Graph has been closed"):
        first.launch(stream)
    stream.sync()
    assert x[0] == 6


def test_an_executable_is_destroyed_once(adding, driver_table):
    graph = adding[0](1).complete()
    calls = driver_table.watch("cuGraphExecDestroy")
    graph.close()
    graph.close()
    del graph
    gc.collect()
    assert [call.status for call in calls] == [0]


def test_launches_of_one_executable_in_two_streams_run_one_after_the_other(adding, device):
    make, x = adding
    graph, streams = make(1).complete(), [device.create_stream() for _ in range(2)]
    for i in range(40):
        graph.launch(streams[i % 2])
    for stream in streams:
        stream.sync()
    assert x[0] == 40  # none was lost


@pytest.mark.parametrize(
    "options",
    [
        None,
        {},
        {"auto_free_on_launch": True},
        {"use_node_priority": True},
        {"upload_stream": ...},
        cg.GraphCompleteOptions(auto_free_on_launch=True),
    ],
    ids=str,
)
def test_complete_takes_options_as_object_dict_or_keywords(options, adding, stream):
    make, x = adding
    if options == {"upload_stream": ...}:
        options = {"upload_stream": stream}
    builder = make(1)
    builder.complete(options).launch(stream)
    if isinstance(options, dict):
        builder.complete(**options).launch(stream)
    stream.sync()
    assert x[0] == (2 if isinstance(options, dict) else 1)


@pytest.mark.parametrize("options", [1, "auto_free_on_launch", [True], object])
def test_other_options_are_a_type_error(options, adding):
    with pytest.raises(TypeError):
        adding[0](1).complete(options)
    with pytest.raises(TypeError):
        adding[0](1).complete(upload_stream="stream")


# The result that the driver writes for an instantiation.


def instantiation(status, result, handle):
    """A cuGraphInstantiateWithParams that answers so."""
    result_out = 24  # its place in CUDA_GRAPH_INSTANTIATE_PARAMS, after flags, stream and node

    def answer(exec_out, graph, params, *noise):
        ctypes.c_void_p.from_address(exec_out).value = handle
        ctypes.c_int.from_address(params + result_out).value = result
        return status

    return answer


RESULTS = {
    1: "The driver made no executable graph, although cuGraphInstantiateWithParams returned CUDA_SUCCESS. "
    "It gives no reason.",
    2: "The structure of the definition is invalid, for example because it has a cycle.",
    3: "A definition for device launch holds a node that the device cannot launch.",
    4: "The nodes of a definition for device launch belong to more than one context.",
    5: "A condition of the definition belongs to no conditional node.",
    77: "The instantiation failed with the unknown result 77",
}


@pytest.mark.parametrize("handle", [None, 0xDEAD], ids=["null", "garbage"])
@pytest.mark.parametrize("status", [0, FAILURE])
@pytest.mark.parametrize("result", RESULTS)
def test_no_graph_is_made_before_the_result_was_looked_at(result, status, handle, adding, driver_table):
    builder = adding[0](1)
    destroyed = driver_table.watch("cuGraphExecDestroy")
    driver_table.replace("cuGraphInstantiateWithParams", instantiation(status, result, handle))
    with pytest.raises(cg.CUDAError) as caught:
        builder.complete(device_launch=result in (3, 4))
    if status and result in (1, 77):
        assert caught.value.code == FAILURE
    else:
        assert isinstance(caught.value, RuntimeError)
        assert str(caught.value).startswith(RESULTS[result])
    del caught
    gc.collect()
    assert destroyed == []
    driver_table.restore()
    assert builder.complete().handle


# update


def test_another_capture_of_the_same_work_updates_it(adding, stream):
    make, x = adding
    graph = make(1).complete()
    graph.launch(stream)
    other = make(10)
    graph.update(other)
    other.close()  # right after
    graph.launch(stream)
    stream.sync()
    assert x[0] == 11


def test_a_definition_updates_a_captured_graph_and_the_other_way_round(adding, kernels, stream):
    make, x = adding
    explicit = cg.GraphDef()
    explicit.launch(ONE, kernels.add, x.ctypes.data, 1, 100)
    captured = make(1)
    first, second = captured.complete(), explicit.instantiate()
    first.update(explicit)
    second.update(captured)
    first.launch(stream)
    second.launch(stream)
    stream.sync()
    assert x[0] == 101


def test_a_switch_takes_another_default_and_other_bodies(device, kernels, pinned, stream):
    x = pinned([0, 0, 0])

    def make(default):
        with device.create_graph_builder() as gb:
            for i, body in enumerate(gb.switch(gb.create_condition(default), 3)):
                with body:
                    cg.launch(body, ONE, kernels.add, x.ctypes.data + 4 * i, 1, default + 1)
        return gb

    graph = make(0).complete()
    for default in (None, 1, 2):
        if default is not None:
            graph.update(make(default))
        graph.launch(stream)
        stream.sync()
    assert list(x) == [1, 2, 3]


def test_launches_in_flight_keep_the_old_parameters(adding, device, kernels, pinned):
    _, x = adding
    flag, stream = pinned([0]), device.create_stream()

    def waiting(amount):
        with device.create_graph_builder() as gb:
            cg.launch(gb, ONE, kernels.wait_for, flag.ctypes.data)
            cg.launch(gb, ONE, kernels.add, x.ctypes.data, 1, amount)
        return gb

    graph, other = waiting(1).complete(), waiting(10)
    graph.upload(stream)
    stream.sync()
    graph.launch(stream)
    graph.update(other)
    flag[0] = 1
    stream.sync()
    assert x[0] == 1
    graph.launch(stream)
    stream.sync()
    assert x[0] == 11


@pytest.mark.parametrize("state", ["not_started", "capturing", "forked", "failed", "closed"])
def test_builder_that_has_not_ended_well_updates_nothing(state, adding, device, stream):
    graph, source, x = adding[0](1).complete(), device.create_graph_builder(), adding[1]
    if state not in ("not_started", "closed"):
        source.begin_building()
    if state == "forked":
        primary, source = source, source.split(2)[1]
    if state == "failed":
        for use in (source.stream.sync, source.end_building):
            with pytest.raises(cg.CaptureError):
                use()
    if state == "closed":
        source.close()
    text = "The source GraphBuilder has been closed" if state == "closed" else "The graph is unfinished"
    with pytest.raises(ValueError if state != "failed" else RuntimeError, match=f"^{text}") as caught:
        graph.update(source)
    if state == "closed":
        assert isinstance(caught.value, RuntimeError)
        assert "GraphBuilder has been closed" in str(caught.value)
    graph.launch(stream)
    stream.sync()
    assert x[0] == 1
    if state == "forked":
        source.close()
        primary.close()


def test_a_closed_fork_never_reaches_the_driver(adding, capturing, driver_table):
    graph, (_, fork) = adding[0](1).complete(), capturing.split(2)
    cg.GraphBuilder.join(capturing, fork)
    calls = driver_table.watch("cuGraphExecUpdate")
    with pytest.raises(ValueError, match=r"^The source GraphBuilder has been closed"):
        graph.update(fork)
    assert calls == []


def test_another_structure_is_refused_by_name_and_nothing_changes(adding, device, kernels, stream):
    make, x = adding
    graph = make(1).complete()
    with device.create_graph_builder() as more:
        for _ in range(2):
            cg.launch(more, ONE, kernels.add, x.ctypes.data, 1, 50)
    with pytest.raises(
        cg.GraphUpdateError, match=r"Graph update failed: .+ \(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED\)"
    ):
        graph.update(more)
    graph.launch(stream)
    stream.sync()
    assert x[0] == 1


@pytest.mark.parametrize("source", [None, 1, object, "builder"])
def test_update_from_a_wrong_type_is_a_type_error(source, adding):
    with pytest.raises(TypeError, match=r"^expected GraphBuilder or GraphDef, got "):
        adding[0](1).complete().update(source)


# the file


def test_a_dot_file_of_everything(adding, device, kernels, tmp_path):
    with device.create_graph_builder() as gb:
        with gb.if_then(gb.create_condition(1)) as body:
            cg.launch(body, ONE, kernels.nothing)
        cg.launch(gb, ONE, kernels.nothing)
    every = cg.GraphDebugPrintOptions(**dict.fromkeys(cg.GraphDebugPrintOptions.__dataclass_fields__, True))
    for path in (tmp_path / "a.dot", str(tmp_path / "b.dot"), bytes(tmp_path / "c.dot")):
        gb.debug_dot_print(path, every)
        with open(path) as file:
            assert "digraph" in file.read()
    with pytest.raises(TypeError, match="options must be a GraphDebugPrintOptions or None"):
        gb.debug_dot_print(tmp_path / "d.dot", 7)
    with pytest.raises(FileNotFoundError):
        gb.debug_dot_print(tmp_path / "no" / "folder.dot")
