# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the graph tests: kernels, and each specification of a node with what it needs."""

import ctypes

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph.graph_specs import SPECS, Needs
from tests.graph_rig import ONE, code, compiled, eventually, fresh_kernels, kernels, pinned, run

__all__ = ["code", "compiled", "eventually", "fresh_kernels", "kernels", "pinned", "run"]


@pytest.fixture
def needs(spec_needs):
    """The objects that the specifications are made with; a module may have other `needs` of its own."""
    return spec_needs


@pytest.fixture
def spec_needs(device, kernels, pinned):
    child = cg.GraphDef()
    child.launch(ONE, kernels.nothing).launch(ONE, kernels.nothing)
    return Needs(
        cg.GraphDef(), kernels, device.create_event(), child, pinned(256), pinned(np.arange(256)), device
    )


class Location(ctypes.Structure):
    """CUmemLocation."""

    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


DEVICE, HOST = 1, 2  # CUmemLocationType
ALLOCATES = cg.GraphNodeType.CU_GRAPH_NODE_TYPE_MEM_ALLOC
# Where the location is in a CUgraphNodeParams and in a CUDA_MEM_ALLOC_NODE_PARAMS, in bytes.
IN_NODE, IN_ALLOC = 24, 8


@pytest.fixture
def host_memory(driver_table):
    """Lets graphs allocate memory of the host. If the driver does not support that (580 on an H200, and the host
    driver), memory of the device stands in, and the driver's answers call it host memory."""
    try:
        cg.GraphDef().alloc(8, memory_type="host")
    except cg.CUDANotSupportedError:
        stand_in(driver_table)


def stand_in(driver_table):
    add, ask = (driver_table.original(f"cuGraph{name}") for name in ("AddNode", "MemAllocNodeGetParams"))
    made = set()

    def add_node(node, graph, after, data, count, params, *_):
        location = Location.from_address(params + IN_NODE)
        if ctypes.c_int.from_address(params).value != ALLOCATES or location.type != HOST:
            return add(node, graph, after, data, count, params, None, None)
        location.type = DEVICE
        status = add(node, graph, after, data, count, params, None, None)
        location.type = HOST
        made.add(ctypes.c_void_p.from_address(node).value)
        return status

    def ask_alloc(node, params, *_):
        status = ask(node, params, *[None] * 6)
        if node in made:
            Location.from_address(params + IN_ALLOC).type = HOST
        return status

    driver_table.replace("cuGraphAddNode", add_node)
    driver_table.replace("cuGraphMemAllocNodeGetParams", ask_alloc)


@pytest.fixture(params=SPECS, ids=lambda spec: spec.name)
def spec(request):
    return request.param
