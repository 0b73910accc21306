# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a change of an executable makes no more driver calls than it needs. A whole update is one call for any number of
nodes, and a value of a parameter one call for each node that uses it."""

import ctypes
import gc
import weakref
from collections import Counter

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs import testing
from cuda_graphs.core.resources import boxes
from tests.graph_rig import ONE
from tests.two_devices import run_with_devices


@pytest.fixture(autouse=True)
def host(driver, device):
    if driver.kind != "host":
        pytest.skip("calls are counted by the host driver")


def calls_of(function, *args, **kwargs):
    with testing.calls() as calls:
        function(*args, **kwargs)
    return dict(calls)


UPDATE = {"cuGraphExecUpdate": 1}
# A node takes the kernel's function in the current context.
ADD = {"cuCtxGetCurrent": 1, "cuGraphAddKernelNode": 1}
SOURCE = 'extern "C" __global__ void add(int* x, int amount) { x[0] += amount; }'


class Operations:
    """The operations of an inner loop of a program that builds, captures, changes and launches graphs."""

    def __init__(self):
        self.device = cg.Device()
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.kernel = cg.Program(SOURCE, code_type="c++").compile("cubin").get_kernel("add")
        self.x = cg.DeviceMemoryResource(self.device).allocate(4, stream=self.stream)
        self.node = cg.GraphDef().launch(ONE, self.kernel, self.x, 1)
        self.graph = self.node.graph.instantiate()
        self.view = self.graph[self.node]
        looping = cg.GraphDef()
        self.body = looping.while_loop(looping.create_condition(default_value=1)).body
        self.builder = self.device.create_graph_builder()

    def add_a_node_of_numbers(self):
        self.node.launch(ONE, self.kernel, self.x.handle, 1)

    def add_a_node_of_memory(self):
        self.node.launch(ONE, self.kernel, self.x, 1)

    def add_a_node_to_a_body(self):
        self.body.launch(ONE, self.kernel, self.x.handle, 1)

    def launch(self):
        cg.launch(self.stream, ONE, self.kernel, self.x, 1)

    def launch_the_graph(self):
        self.graph.launch(self.stream)

    def set_all_of_a_node(self):
        self.view.update(config=ONE, kernel=self.kernel, args=(self.x.handle, 2))

    def set_arguments_again(self):
        self.view.update(args=(self.x.handle, 3))

    def capture(self):
        cg.launch(self.builder, ONE, self.kernel, self.x, 1)


# Operation -> the calls with one device, and what is added with several devices.
OPERATIONS = {
    Operations.add_a_node_of_numbers: (ADD, {}),
    Operations.add_a_node_of_memory: (ADD, {"cuCtxGetCurrent": 1}),
    Operations.add_a_node_to_a_body: (ADD, {"cuCtxGetCurrent": 1}),
    Operations.launch: ({"cuLaunchKernel": 1}, {}),
    Operations.launch_the_graph: ({"cuStreamIsCapturing": 1, "cuGraphLaunch": 1}, {}),
    Operations.set_all_of_a_node: ({"cuGraphExecNodeSetParams": 1}, {}),
    Operations.set_arguments_again: ({"cuGraphExecNodeSetParams": 1}, {}),
}
CAPTURE = {"cuLaunchKernel": 1, "cuStreamGetCaptureInfo": 1}


def check_operations(has_several_devices):
    operations = Operations()

    def check(operation, expected):
        operation(operations)  # the first one may learn facts, and give the graph an owner
        assert Counter(calls_of(operation, operations)) == expected, operation.__name__

    for operation, (calls, more) in OPERATIONS.items():
        check(operation, Counter(calls) + Counter(more if has_several_devices else {}))
    with operations.builder:  # begun last: beside a capture, launches ask whether their stream belongs to it
        check(Operations.capture, CAPTURE)


def test_no_operation_asks_the_driver_for_more_than_it_needs():
    check_operations(False)


def test_several_devices_cost_one_question_for_the_current_one_at_most(run_child, driver, tmp_path):
    program = "from tests.graph.test_driver_calls import check_operations\ncheck_operations(True)\n"
    run_with_devices(run_child, driver, tmp_path, program)


def test_nodes_in_a_context_of_other_code_look_for_their_function_once(fresh_kernels, device):
    """Nothing of this package keeps such a context, so its functions are not known at the next node."""
    driver, context = ctypes.CDLL(cg.driver_info().path), ctypes.c_void_p()
    assert driver.cuCtxCreate_v2(ctypes.byref(context), 0, device.device_id) == 0
    try:
        g, kernel = cg.GraphDef(), fresh_kernels().nothing
        g.launch(ONE, kernel)
        assert calls_of(g.launch, ONE, kernel) == {"cuGraphAddKernelNode": 1}
    finally:
        assert driver.cuCtxDestroy_v2(context) == 0
        device.set_current()


@pytest.fixture
def varied(device, kernels, pinned):
    """varied(): a definition of most kinds of nodes, bodies and an embedded graph too; by name."""
    words = pinned(64)

    def varied():
        at = words.ctypes.data
        g, inner = cg.GraphDef(), cg.GraphDef()
        inner.launch(ONE, kernels.add, at, 1, 1).memset(at + 4, 1, 4)
        kernel = g.launch(ONE, kernels.add, at + 8, 1, 1)
        fill = kernel.memset(at + 12, 2, 4)
        copy = fill.memcpy(at + 16, at + 20, 4)
        host = copy.callback(lambda: None)
        record = host.record_event(device.create_event())
        body = record.embed(inner).if_then(g.create_condition(default_value=1)).then
        deep = body.launch(ONE, kernels.add, at + 24, 1, 1)
        body.memset(at + 28, 1, 4)
        return {"g": g, "kernel": kernel, "fill": fill, "copy": copy, "deep": deep, "words": words}

    return varied


@pytest.mark.parametrize("n", [1, 10, 1000])
def test_a_whole_update_from_its_own_definition_is_one_call(n, kernels, pinned):
    words = pinned(1)
    g = cg.GraphDef()
    last = g.launch(ONE, kernels.add, words.ctypes.data, 1, 1)
    for _ in range(n - 1):
        last = last.launch(ONE, kernels.add, words.ctypes.data, 1, 1)
    graph = g.instantiate()
    assert calls_of(graph.update, g) == UPDATE
    last.update(args=(words.ctypes.data, 1, 2))
    assert calls_of(graph.update, g) == UPDATE
    assert calls_of(graph.update, g) == UPDATE


def test_whole_update_of_all_kinds_of_nodes_and_bodies_is_one_call(varied):
    made = varied()
    graph = made["g"].instantiate()
    assert calls_of(graph.update, made["g"]) == UPDATE
    at = made["words"].ctypes.data
    made["kernel"].update(args=(at + 8, 1, 5))
    made["deep"].update(args=(at + 24, 1, 5))
    made["copy"].update(size=4)
    assert calls_of(graph.update, made["g"]) == UPDATE


def test_whole_update_of_captured_work_is_one_call(device, kernels, pinned):
    words = pinned(1)
    with device.create_graph_builder() as builder:
        for _ in range(20):
            cg.launch(builder, ONE, kernels.add, words.ctypes.data, 1, 1)
    graph = builder.complete()
    assert calls_of(graph.update, builder) == UPDATE
    assert calls_of(graph.update, builder) == UPDATE


def test_parameters_of_memsets_are_read_again_when_they_may_have_changed(varied, stream):
    made = varied()
    graph, fill = made["g"].instantiate(), made["fill"]
    result = made["words"][3:4].view("u1")

    def run():
        result[:] = 0
        graph.launch(stream)
        stream.sync()
        return result.tolist()

    fill.update(value=7)
    assert calls_of(graph.update, made["g"]) != UPDATE
    graph[fill].disable()
    assert run() == [0] * 4
    assert calls_of(graph.update, made["g"]) != UPDATE  # it is off: it is redirected again
    assert run() == [0] * 4
    graph[fill].enable()
    assert run() == [7] * 4
    graph[fill].update(dst=made["words"].ctypes.data + 12, value=8, width=4)
    assert run() == [8] * 4
    graph.update(made["g"])
    graph[fill].disable()
    graph[fill].enable()
    assert run() == [7] * 4


def test_an_update_that_finds_other_owners_takes_them(kernels, fresh_kernels, pinned):
    words = pinned(1)
    g = cg.GraphDef()
    node = g.launch(ONE, kernels.add, words.ctypes.data, 1, 1)
    graph = g.instantiate()
    node.update(kernel=fresh_kernels().add, args=(words.ctypes.data, 1, 2))
    assert "cuUserObjectRetain" in calls_of(graph.update, g)
    assert calls_of(graph.update, g) == UPDATE


def test_whole_update_releases_the_values_of_single_nodes(kernels, pinned, stream):
    words = pinned(1)
    buffer = cg.PinnedMemoryResource().allocate(4, stream=stream)
    alive = weakref.ref(buffer)
    g = cg.GraphDef()
    node = g.launch(ONE, kernels.add, words.ctypes.data, 1, 1)
    graph = g.instantiate()
    graph[node].update(config=ONE, kernel=kernels.add, args=(buffer, 1, 1))
    del buffer
    gc.collect()
    assert alive() is not None
    graph.update(g)
    boxes.drain()
    assert alive() is None
    assert calls_of(graph.update, g) == UPDATE


# ---- who takes what nodes need


def test_a_definition_gives_the_driver_its_owners_when_its_handle_is_known(kernels, pinned):
    words = pinned(1)

    def build():
        g = cg.GraphDef()
        return g, g.launch(ONE, kernels.add, words.ctypes.data, 1, 1)

    assert "cuGraphRetainUserObject" not in calls_of(build)
    for hand_out in (
        lambda g, node: g.handle,
        lambda g, node: node.handle,
        lambda g, node: cg.GraphDef().embed(g),
    ):
        g, node = build()
        assert calls_of(hand_out, g, node)["cuGraphRetainUserObject"] == 1
        assert "cuGraphRetainUserObject" not in calls_of(hand_out, g, node)


# ---- named parameters


@pytest.fixture
def named(kernels, pinned):
    """A definition whose kernels, here, in a body and in an embedded graph, use `amount` (3 nodes) or `other` (2)."""
    words = pinned(8)
    at = words.ctypes.data
    g, inner = cg.GraphDef(), cg.GraphDef()
    inner.launch(ONE, kernels.add, at + 12, 1, inner.param("amount", cg.i32, default=1))
    amount, other = g.param("amount", cg.i32, default=1), g.param("other", cg.i32, default=2)
    last = g.launch(ONE, kernels.add, at, 1, amount)
    last = last.launch(ONE, kernels.add, at + 4, 1, other).launch(ONE, kernels.add, at + 8, 1, 5)
    last = last.embed(inner)
    body = last.if_then(g.create_condition(default_value=1)).then
    body.launch(ONE, kernels.add, at + 16, 1, amount).launch(ONE, kernels.add, at + 20, 1, other)
    return g, words


def test_a_value_is_one_call_for_each_node_that_uses_it(named, stream):
    g, words = named
    graph = g.instantiate()
    graph.upload(stream)
    stream.sync()
    assert calls_of(graph.set, amount=7) == {"cuGraphExecNodeSetParams": 3}
    assert calls_of(graph.set, other=8) == {"cuGraphExecNodeSetParams": 2}
    assert calls_of(graph.set, amount=9, other=9) == {"cuGraphExecNodeSetParams": 5}
    assert calls_of(graph.set, amount=9) == {}  # as it was
    plain = calls_of(graph.launch, stream)
    assert plain["cuGraphLaunch"] == 1
    assert calls_of(graph.launch, stream, amount=10) == plain | {"cuGraphExecNodeSetParams": 3}
    stream.sync()
    assert words[:6].tolist() == [19, 18, 10, 19, 19, 18]


def test_a_node_that_uses_two_values_is_set_once_for_both(kernels, pinned):
    words = pinned(1)
    g = cg.GraphDef()
    g.launch(ONE, kernels.add, g.param("x", cg.pointer), 1, g.param("amount", cg.i32))
    graph = g.instantiate()
    assert calls_of(graph.set, x=words.ctypes.data, amount=3) == {"cuGraphExecNodeSetParams": 1}


def test_value_of_an_operand_of_a_memset_or_memcpy_is_one_call(pinned):
    words = pinned(4)
    at = words.ctypes.data
    g = cg.GraphDef()
    value, size = g.param("value", cg.i32, default=1), g.param("size", cg.u64, default=4)
    g.memset(at, value, 1).memset(at + 4, np.int32(3), 1).memcpy(at + 8, at, size)
    graph = g.instantiate()
    assert calls_of(graph.set, value=2) == {"cuGraphExecNodeSetParams": 1}
    assert calls_of(graph.set, size=8) == {"cuGraphExecNodeSetParams": 1}
