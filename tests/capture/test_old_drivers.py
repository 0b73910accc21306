# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a driver without a function of CUDA 12.3 refuses captures by name, and everything else works."""

import ctypes
import gc

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from cuda_graphs.graph.capture.capture_end import BorrowedCapture
from tests.graph_rig import ONE

NOT_SUPPORTED = 801  # returned for a function that the driver lacks (core/driver/table.hpp)


def test_capture_is_refused_without_capture_information(stream, driver_table, works):
    driver_table.refuse("cuStreamGetCaptureInfo", NOT_SUPPORTED)
    builder = stream.create_graph_builder()
    with pytest.raises(cg.CUDANotSupportedError, match="begin to capture"):
        builder.begin_building()
    builder.close()
    driver_table.restore()
    assert works(stream)


def test_capture_of_a_body_is_refused_without_captures_into_graphs(capturing, driver_table, kernels):
    condition = capturing.create_condition(default_value=0)
    body = capturing.if_then(condition)
    driver_table.refuse("cuStreamBeginCaptureToGraph", NOT_SUPPORTED)
    with pytest.raises(cg.CUDANotSupportedError, match="begin to capture"):
        body.begin_building()
    driver_table.restore()
    with body:
        cg.launch(body, ONE, kernels.add, 0, 0, 0)
    assert len(capturing.end_building().graph_definition.nodes()) == 1


def test_capture_of_other_code_is_refused_without_capture_information(stream, driver_table):
    begin, end = driver_table.original("cuStreamBeginCapture"), driver_table.original("cuStreamEndCapture")
    assert begin(stream.handle, 2) == 0
    driver_table.refuse("cuStreamGetCaptureInfo", NOT_SUPPORTED)
    with pytest.raises(cg.CUDANotSupportedError, match="add nodes to the capture"):
        BorrowedCapture(stream).__enter__()
    driver_table.restore()
    graph = ctypes.c_void_p()
    assert end(stream.handle, ctypes.addressof(graph)) == 0
    assert driver_table.original("cuGraphDestroy")(graph.value) == 0


def test_memory_is_freed_without_capture_information(device, stream, driver_table):
    resource = cg.DeviceMemoryResource(device)
    boxes.drain()
    before = boxes.live()["pointer"]
    buffer = resource.allocate(64, stream=stream)
    driver_table.refuse("cuStreamGetCaptureInfo", NOT_SUPPORTED)
    freed = driver_table.watch("cuMemFreeAsync")
    del buffer
    gc.collect()
    assert len(freed) == 1
    assert boxes.live()["pointer"] == before
