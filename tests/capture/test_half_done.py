# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: after a split or a join that fails half way every builder can be joined, and the capture can be closed; a
capture that belongs to a thread is ended there."""

import threading

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

FAILURE = 46


def refuse_nth(driver_table, name, nth):
    """The nth call from now on does nothing but fail."""
    original, count = driver_table.original(name), iter(range(1, 1000))
    driver_table.replace(name, lambda *words: FAILURE if next(count) == nth else original(*words))


@pytest.mark.parametrize("function", ["cuStreamCreateWithPriority", "cuEventRecord", "cuStreamWaitEvent"])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_split_that_fails_leaves_nothing(nth, function, capturing, driver_table, kernels, stream):
    refuse_nth(driver_table, function, nth)
    with pytest.raises(cg.CUDAError) as caught:
        capturing.split(4)
    assert caught.value.code == FAILURE
    driver_table.restore()
    assert capturing.is_building
    cg.launch(capturing, ONE, kernels.nothing)
    capturing.end_building().complete().launch(stream)
    stream.sync()


@pytest.mark.parametrize("function", ["cuEventRecord", "cuStreamWaitEvent"])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_a_join_that_fails_closes_those_that_it_did_not_reach(
    nth, function, capturing, driver_table, kernels
):
    builders = capturing.split(4)
    for builder in builders:
        cg.launch(builder, ONE, kernels.nothing)
    refuse_nth(driver_table, function, nth)
    with pytest.raises(cg.CUDAError) as caught:
        cg.GraphBuilder.join(*builders)
    assert caught.value.code == FAILURE
    driver_table.restore()
    assert [fork.is_closed for fork in builders[1:]] == [True] * 3
    with pytest.raises(cg.CaptureError, match="UNJOINED"):
        capturing.end_building()
    capturing.close()


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_a_capture_that_is_not_relaxed_is_ended_by_its_thread(mode, builder):
    builder.begin_building(mode)
    seen = []

    def end():
        try:
            builder.end_building()
        except cg.CaptureError as error:
            seen.append(error.code)

    thread = threading.Thread(target=end)
    thread.start()
    thread.join()
    if mode == "relaxed":
        assert (seen, builder.state) == ([], "ended")
    else:
        assert (seen, builder.state) == ([908], "capturing")
        builder.end_building()
    builder.complete()


@pytest.mark.parametrize(
    "first",
    [
        "objects.device.stream",
        "objects.device.device",
        "graph.capture.builder",
        "graph.executable.executable",
        "graph.definition",
        "objects.code.launch",
    ],
)
def test_modules_are_imported_in_any_order(first, run_child):
    done = run_child(
        f"import cuda_graphs.{first}\nimport cuda_graphs as cg\n"
        "cg.Device().set_current()\n"
        "assert type(cg.Device().create_stream().create_graph_builder()) is cg.GraphBuilder"
    )
    assert (done.returncode, done.stderr) == (0, "")
