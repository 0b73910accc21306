# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a node asks the driver for its parameters once, and again after `update`. Once the raw handle of the node or of
its graph was read, other code may change the node, so each property asks the driver."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import cuda_graphs as cg
from tests.graph.graph_specs import properties
from tests.graph_rig import ONE

READERS = [
    "cuGraphKernelNodeGetParams",
    "cuGraphKernelNodeGetAttribute",
    "cuGraphMemcpyNodeGetParams",
    "cuGraphMemsetNodeGetParams",
    "cuGraphHostNodeGetParams",
    "cuGraphChildGraphNodeGetGraph",
    "cuGraphEventRecordNodeGetEvent",
    "cuGraphEventWaitNodeGetEvent",
    "cuGraphMemAllocNodeGetParams",
    "cuGraphMemFreeNodeGetParams",
]
WIDE = cg.LaunchConfig(grid=3, block=2)


def first_callback():
    pass


def second_callback():
    pass


def copy_params(getter, setter):
    """Return a function that gives a node the parameters of another node, by calls of the driver itself."""

    def change(driver, node, other):
        params = ctypes.create_string_buffer(512)
        assert getattr(driver, getter)(ctypes.c_void_p(other.handle), params) == 0
        assert getattr(driver, setter)(ctypes.c_void_p(node.handle), params) == 0

    return change


def copy_event(getter, setter):
    def change(driver, node, other):
        event = ctypes.c_void_p()
        assert getattr(driver, getter)(ctypes.c_void_p(other.handle), ctypes.byref(event)) == 0
        assert getattr(driver, setter)(ctypes.c_void_p(node.handle), event) == 0

    return change


def embed_two_nodes(driver, node, other):
    graph = definition_of(2)
    words = (ctypes.c_uint64 * 32)(int(node.type), 0, graph.handle)  # CUgraphNodeParams
    assert driver.cuGraphNodeSetParams(ctypes.c_void_p(node.handle), words) == 0


@dataclass
class Case:
    """A kind of node with parameters that can change.

    make    adds a node with the first or the second parameters (False, True)
    update  gives a node the second parameters
    change  has the driver give a node the second parameters, which another node has
    value   the property that differs
    calls   number of driver calls that read all parameters
    """

    name: str
    make: Callable[[Any, bool], Any]
    update: Callable[[Any, Any], None]
    change: Callable[[ctypes.CDLL, Any, Any], None]
    value: Callable[[Any], Any]
    calls: int = 1


def definition_of(count):
    g = cg.GraphDef()
    for _ in range(count):
        g.join()
    return g


CASES = [
    Case(
        "kernel",
        lambda n, second: n.definition.launch(WIDE if second else ONE, n.kernels.nothing),
        lambda node, n: node.update(config=WIDE),
        copy_params("cuGraphKernelNodeGetParams_v2", "cuGraphKernelNodeSetParams_v2"),
        lambda node: (node.grid, node.block, node.config),
        calls=3,
    ),
    Case(
        "memcpy",
        lambda n, second: n.definition.memcpy(n.target.ctypes.data, n.source.ctypes.data, 8 if second else 4),
        lambda node, n: node.update(size=8),
        copy_params("cuGraphMemcpyNodeGetParams", "cuGraphMemcpyNodeSetParams"),
        lambda node: (node.size, node.width),
    ),
    Case(
        "memset",
        lambda n, second: n.definition.memset(n.target.ctypes.data, 7 if second else 5, 4),
        lambda node, n: node.update(value=7),
        copy_params("cuGraphMemsetNodeGetParams", "cuGraphMemsetNodeSetParams"),
        lambda node: node.value,
    ),
    Case(
        "callback",
        lambda n, second: n.definition.callback(second_callback if second else first_callback),
        lambda node, n: node.update(second_callback),
        copy_params("cuGraphHostNodeGetParams", "cuGraphHostNodeSetParams"),
        lambda node: (node.callback_fn, node.name),
    ),
    Case(
        "record",
        lambda n, second: n.definition.record_event(n.second_event if second else n.event),
        lambda node, n: node.update(n.second_event),
        copy_event("cuGraphEventRecordNodeGetEvent", "cuGraphEventRecordNodeSetEvent"),
        lambda node: node.event,
    ),
    Case(
        "wait",
        lambda n, second: n.definition.wait_event(n.second_event if second else n.event),
        lambda node, n: node.update(n.second_event),
        copy_event("cuGraphEventWaitNodeGetEvent", "cuGraphEventWaitNodeSetEvent"),
        lambda node: node.event,
    ),
    Case(
        "child",
        lambda n, second: n.definition.embed(definition_of(2 if second else 1)),
        lambda node, n: node.update(definition_of(2)),
        embed_two_nodes,
        lambda node: len(node.child_graph.nodes()),
    ),
]
# Kinds whose parameters never change, with the number of driver calls that read them.
CONSTANT = {
    "alloc": (lambda n: n.definition.alloc(64), 1),
    "free": (lambda n: n.definition.free(n.definition.alloc(64).dptr), 1),
    "if": (lambda n: n.definition.if_then(n.condition()), 0),
    "if_else": (lambda n: n.definition.if_else(n.condition()), 0),
    "while": (lambda n: n.definition.while_loop(n.condition()), 0),
    "switch": (lambda n: n.definition.switch(n.condition(), 3), 0),
}
MAKERS = {case.name: (lambda n, case=case: case.make(n, False), case.calls) for case in CASES} | CONSTANT
HANDLES = {"node": lambda node: node.handle, "graph": lambda node: node.graph.handle}


@pytest.fixture
def needs(spec_needs, device):
    spec_needs.second_event = device.create_event()
    return spec_needs


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request):
    return request.param


@pytest.mark.parametrize("kind", MAKERS)
def test_all_properties_read_twice_ask_the_driver_once(kind, needs, driver_table):
    make, count = MAKERS[kind]
    node = make(needs)
    calls = driver_table.watch(*READERS)
    values = properties(node, leave_out=["handle"])
    assert len(calls) == count
    assert properties(node, leave_out=["handle"]) == values
    assert repr(node)
    assert len(calls) == count


def test_update_gives_the_new_value_with_one_more_read(case, needs, driver_table):
    node = case.make(needs, False)
    before = case.value(node)
    case.update(node, needs)
    calls = driver_table.watch(*READERS)
    value = case.value(node)
    assert value == case.value(case.make(needs, True)) != before
    count = len(calls)
    assert case.value(node) == value
    assert len(calls) == count


@pytest.mark.parametrize("handle", HANDLES)
def test_change_by_other_code_is_seen_after_a_handle_was_read(case, handle, needs, driver):
    node, other = case.make(needs, False), case.make(needs, True)
    before = case.value(node)
    HANDLES[handle](node)
    assert case.value(node) == before
    case.change(ctypes.CDLL(driver.path), node, other)
    assert case.value(node) == case.value(other) != before


def test_node_whose_object_was_forgotten_remembers_that_its_handle_was_read(needs, driver_table):
    node = needs.definition.memset(needs.target.ctypes.data, 5, 4)
    handle = node.handle
    del node
    (node,) = needs.definition.nodes()
    calls = driver_table.watch(*READERS)
    assert (node.value, node.value, node.handle) == (5, 5, handle)
    assert len(calls) == 2


def test_node_of_a_capture_asks_the_driver_each_time(device, kernels, driver_table):
    """Other code can ask a capturing stream for the graph."""
    builder = device.create_graph_builder().begin_building()
    cg.launch(builder, WIDE, kernels.nothing)
    (node,) = builder.end_building().graph_definition.nodes()
    calls = driver_table.watch("cuGraphKernelNodeGetParams")
    assert [node.config for _ in range(3)] == [WIDE] * 3
    assert len(calls) == 3


def test_refused_update_leaves_the_value_that_the_driver_has(needs, driver_table):
    node = needs.definition.memset(needs.target.ctypes.data, 5, 4)
    assert node.value == 5
    driver_table.refuse_once("cuGraphNodeSetParams", 46)
    with pytest.raises(cg.CUDAError):
        node.update(value=7)
    calls = driver_table.watch(*READERS)
    assert node.value == 5
    assert len(calls) == 1
