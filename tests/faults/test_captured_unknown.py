# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: while the driver cannot say whether a stream is being captured, work on the stream is refused, so that no
capture misses its owners. Memory is freed later, not by a node."""

import gc

import pytest

import cuda_graphs as cg
from cuda_graphs import testing
from cuda_graphs.core.resources import boxes
from tests.faults.rig import CODES
from tests.graph_rig import ONE

WORK = {
    "launch": lambda world, on: cg.launch(on, ONE, world.kernels.add, world.at(0), 1, 1),
    "fill": lambda world, on: world.pinned.allocate(4).fill(1, stream=on),
    "copy": lambda world, on: world.pinned.allocate(4).copy_to(world.pinned.allocate(4), stream=on),
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("status", [name for name in CODES if name != "CUDA_ERROR_NOT_PERMITTED"])
def test_work_on_a_stream_that_joined_a_capture_is_refused(world, work, status):
    builder, joined = world.device.create_graph_builder().begin_building(), world.device.create_stream()
    joined.wait(builder.stream)
    with (
        testing.fail("cuStreamGetCaptureInfo", 1, status) as failure,
        pytest.raises(cg.CUDAError, match=rf"{status}(.|\n)*find out whether a stream is being captured"),
    ):
        WORK[work](world, joined)
    assert failure.happened
    WORK[work](world, joined)
    builder.stream.wait(joined)
    builder.end_building()
    assert len(builder.graph_definition.nodes()) == 1


@pytest.mark.parametrize("status", CODES)
def test_memory_of_the_stream_is_not_freed_into_the_capture(world, status):
    stream = world.device.create_stream()
    buffer = world.device.allocate(64, stream=stream)
    stream.sync()
    boxes.drain()
    held = boxes.live()["pointer"]
    builder = stream.create_graph_builder().begin_building()
    with testing.fail("cuStreamGetCaptureInfo", 1, status) as failure:
        del buffer
        gc.collect()
        assert failure.happened
    builder.end_building()
    assert not builder.graph_definition.nodes()
    boxes.drain()
    assert boxes.live()["pointer"] == held - 1
