# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: misuse is an error that says what was wrong, before the driver is asked where we can see it; and nothing is left
behind by it.
"""

import ctypes
import threading

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


@pytest.fixture
def g(device):
    return cg.GraphDef()


def case(name, error, match, use):
    return pytest.param(error, match, use, id=name)


TYPE_CASES = [
    case("if_int", TypeError, "Condition", lambda g, n: g.if_then(42)),
    case("if_else_str", TypeError, "Condition", lambda g, n: g.if_else("yes")),
    case("while_none", TypeError, "Condition", lambda g, n: g.while_loop(None)),
    case("switch_list", TypeError, "Condition", lambda g, n: g.switch([1, 2], 4)),
    case("embed_str", TypeError, "child must be a GraphDef, got str", lambda g, n: g.embed("graph")),
    case("embed_node", TypeError, "child must be a GraphDef", lambda g, n: g.embed(g._entry)),
    case("embed_none", TypeError, "child must be a GraphDef", lambda g, n: g.embed(None)),
    case("launch_config", TypeError, "LaunchConfig", lambda g, n: g.launch(n.kernels.nothing, ONE)),
    case("launch_kernel", TypeError, "kernel must be a Kernel, got int", lambda g, n: g.launch(ONE, 7)),
    case("launch_none", TypeError, "kernel must be a Kernel", lambda g, n: g.launch(ONE, None)),
    case("launch_count", TypeError, None, lambda g, n: g.launch(ONE, n.kernels.add, 1)),
    case("launch_object", TypeError, None, lambda g, n: g.launch(ONE, n.kernels.affine, object(), 1, 1)),
    case("record_none", TypeError, "event must be an Event", lambda g, n: g.record_event(None)),
    case("wait_int", TypeError, "event must be an Event, got int", lambda g, n: g.wait_event(3)),
    case("callback_int", TypeError, "a callback takes a callable, got int", lambda g, n: g.callback(3)),
    case("join_none", TypeError, "expected GraphNode, got NoneType", lambda g, n: g.join(None)),
    case("join_str", TypeError, "expected GraphNode, got str", lambda g, n: g.join("node")),
    case("join_its_graph", TypeError, "expected GraphNode, got GraphDef", lambda g, n: g.join(g)),
    case(
        "launch_field",
        TypeError,
        "a field 'side' .*block",
        lambda g, n: g.launch({"side": 1}, n.kernels.nothing),
    ),
    case("join_graph", TypeError, "expected GraphNode, got GraphDef", lambda g, n: g.join(g.join().graph)),
    case("alloc_str", TypeError, "size must be an int, got str", lambda g, n: g.alloc("big")),
    case("alloc_float", TypeError, "size must be an int, got float", lambda g, n: g.alloc(1.5)),
    case("alloc_negative", OverflowError, r"size=-1 is not in", lambda g, n: g.alloc(-1)),
    case("alloc_huge", OverflowError, "size=", lambda g, n: g.alloc(1 << 64)),
    case("alloc_device", TypeError, None, lambda g, n: g.alloc(8, device="gpu")),
    case("memory_type", ValueError, "Invalid memory_type", lambda g, n: g.alloc(8, memory_type="invalid")),
    case(
        "memory_type_options",
        ValueError,
        "Invalid memory_type",
        lambda g, n: g.alloc(8, cg.GraphAllocOptions(memory_type="vram")),
    ),
    case("alloc_options", TypeError, "GraphAllocOptions", lambda g, n: g.alloc(8, 7)),
    case("free_str", TypeError, "dptr must be an int", lambda g, n: g.free("x")),
    case("free_negative", OverflowError, "dptr=-1", lambda g, n: g.free(-1)),
    case("alloc_device_77", ValueError, "no device 77", lambda g, n: g.alloc(64, device=77)),
    case(
        "array_device_77", ValueError, "no device 77", lambda g, n: g.alloc(shape=4, dtype=cg.f32, device=77)
    ),
    case("alloc_peer_77", ValueError, "no device 77", lambda g, n: g.alloc(64, peer_access=[77])),
    case("memset_pitch_0", ValueError, "pitch=0", lambda g, n: g.memset(n.target.ctypes.data, 0, 4, 2)),
    case("memset_3_bytes", ValueError, None, lambda g, n: g.memset(n.target.ctypes.data, b"abc", 1)),
    case("memset_0_bytes", ValueError, None, lambda g, n: g.memset(n.target.ctypes.data, b"", 1)),
    case("memset_256", OverflowError, None, lambda g, n: g.memset(n.target.ctypes.data, 256, 1)),
    case("memset_minus_1", OverflowError, None, lambda g, n: g.memset(n.target.ctypes.data, -1, 1)),
    case("memset_object", TypeError, None, lambda g, n: g.memset(n.target.ctypes.data, object(), 1)),
    case("memset_width", OverflowError, "width=-1", lambda g, n: g.memset(n.target.ctypes.data, 0, -1)),
    case("memset_dst", TypeError, "dst must be an address", lambda g, n: g.memset(1.5, 0, 1)),
    case(
        "memcpy_src", TypeError, "src must be an address", lambda g, n: g.memcpy(n.target.ctypes.data, "x", 1)
    ),
    case("memcpy_size", OverflowError, "size=-1", lambda g, n: g.memcpy(0, 0, -1)),
    case("switch_negative", OverflowError, "count=-1", lambda g, n: g.switch(n.condition(), -1)),
    case("condition_negative", OverflowError, "default_value=-1", lambda g, n: g.create_condition(-1)),
    case("condition_big", OverflowError, "default_value=", lambda g, n: g.create_condition(1 << 32)),
    case("condition_str", TypeError, "default_value must be an int", lambda g, n: g.create_condition("1")),
    case(
        "dot_options",
        TypeError,
        "options must be a GraphDebugPrintOptions",
        lambda g, n: g.debug_dot_print("x", 7),
    ),
    case("instantiate_options", TypeError, "GraphCompleteOptions", lambda g, n: g.instantiate(7)),
    case(
        "options_twice",
        TypeError,
        "not both",
        lambda g, n: g.instantiate(cg.GraphCompleteOptions(), use_node_priority=True),
    ),
    case("call_of_nothing", TypeError, "__cuda_graph_emit__", lambda g, n: g.call(len, 1)),
]


@pytest.mark.parametrize(("error", "match", "use"), TYPE_CASES)
def test_visible_misuse_is_refused_before_the_driver_is_asked(error, match, use, needs):
    g = needs.definition
    before = len(g.nodes())
    with pytest.raises(error, match=match):
        use(g, needs)
    assert len(g.nodes() - {n for n in g.nodes() if type(n) is cg.EmptyNode}) == before


def other_graph(n):
    return cg.GraphDef()


DRIVER_CASES = [
    case("alloc_0", cg.CUDAError, "INVALID_VALUE", lambda g, n: g.alloc(0)),
    case("free_0", cg.CUDAError, "INVALID_VALUE", lambda g, n: g.free(0)),
    case("free_of_no_allocation", cg.CUDAError, None, lambda g, n: g.free(n.target.ctypes.data)),
    case("join_foreign", cg.CUDAError, "another graph", lambda g, n: g.join(other_graph(n).join())),
    case("join_twice", cg.CUDAError, "INVALID_VALUE", lambda g, n: (lambda a: a.join(a))(g.join())),
    case("switch_0", cg.CUDAError, "INVALID_VALUE", lambda g, n: g.switch(n.condition(), 0)),
    case(
        "foreign_condition",
        cg.CUDAError,
        "INVALID_VALUE",
        lambda g, n: g.if_then(other_graph(n).create_condition(0)),
    ),
]


@pytest.mark.parametrize(("error", "match", "use"), DRIVER_CASES)
def test_refusal_of_the_driver_is_a_cuda_error_that_names_the_attempt(error, match, use, needs):
    with pytest.raises(error, match=match) as caught:
        use(needs.definition, needs)
    assert caught.value.attempt


def test_a_double_free_is_a_cuda_error(g):
    memory = g.alloc(64)
    freed = memory.free(memory.dptr)
    with pytest.raises(cg.CUDAError):
        freed.free(memory.dptr)


def test_embedding_what_allocates_or_decides_is_a_cuda_error(g):
    child = cg.GraphDef()
    child.join().alloc(64, name="scratch")
    with pytest.raises(
        cg.CUDAError, match=r"AllocNode 'scratch' \(.*test_graph_errors\.py:\d+\) cannot be embedded"
    ):
        g.embed(child)
    child = cg.GraphDef()
    child.if_then(child.create_condition(0), name="maybe")
    with pytest.raises(
        cg.CUDAError, match=r"IfNode 'maybe' \(.*test_graph_errors\.py:\d+\) cannot be embedded"
    ):
        g.embed(child)


def test_embedding_a_graph_in_itself_is_a_cuda_error_that_says_so(g, driver_table):
    body = g.while_loop(g.create_condition(default_value=1)).body
    for name in ("cuGraphAddNode", "cuGraphAddChildGraphNode"):  # whatever a driver would do
        driver_table.refuse(name, 1)  # CUDA_ERROR_INVALID_VALUE
    for place in (g, body):
        before = place.nodes()
        with pytest.raises(cg.CUDAError, match="cannot contain itself") as refused:
            place.embed(g)
        assert "Embed another definition" in str(refused.value)
        assert place.nodes() == before


def test_a_graph_inside_a_node_is_not_instantiated_by_itself(g):
    inner = cg.GraphDef()
    inner.join()
    body = g.while_loop(g.create_condition(default_value=0)).body
    for graph in (body, cg.GraphDef().embed(inner).child_graph):
        with pytest.raises(cg.CUDAError, match="inside a node of another graph") as refused:
            graph.instantiate()
        assert "Instantiate the outermost definition" in str(refused.value)


def test_destroying_a_node_of_a_graph_that_allocates_is_a_cuda_error_and_changes_nothing(g):
    memory = g.alloc(64)
    with pytest.raises(cg.CUDAError):
        memory.destroy()
    assert memory.is_valid
    assert g.nodes() == {memory}


def test_edges_of_a_graph_that_allocates_cannot_be_removed(g):
    memory = g.alloc(64)
    last = memory.join()
    other = g.join()
    for change in (
        last.pred.clear,
        lambda: setattr(last, "pred", [other]),
        lambda: last.pred.__ixor__([memory, other]),
    ):
        with pytest.raises(cg.CUDAError):
            change()
        assert last.pred == {memory}


def test_a_pageable_host_pointer_is_refused_by_memcpy(g, needs):
    pageable = np.zeros(64, np.int32)
    pinned = needs.target.ctypes.data
    with pytest.raises(ValueError, match=r"src at 0x[0-9a-f]+ .*pageable"):
        g.memcpy(pinned, pageable.ctypes.data, 16)
    with pytest.raises(ValueError, match=r"dst at 0x[0-9a-f]+ .*pageable"):
        g.memcpy(pageable.ctypes.data, pinned, 16)
    assert g.nodes() == set()


def test_a_cycle_is_refused_with_the_reason(g):
    a = g.join()
    b = a.join()
    b.succ.add(a)  # drivers look for cycles when they instantiate
    with pytest.raises(cg.GraphInstantiateError, match="has a cycle"):
        g.instantiate()


def test_a_condition_that_no_node_has_is_refused_at_instantiation(g):
    g.create_condition(0)
    with pytest.raises(cg.GraphInstantiateError, match="belongs to no conditional node"):
        g.instantiate()


def test_the_error_of_a_body_with_a_node_that_bodies_cannot_hold_says_which_they_can(device, driver_table):
    """Code outside of cuda_graphs adds the node. libcuda reports it as if the device were to launch the whole graph."""
    launch_host = driver_table.original("cuLaunchHostFunc")
    with device.create_graph_builder() as builder, builder.if_then(builder.create_condition(0)) as body:
        assert (
            launch_host(
                body.stream.handle, ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p), None
            )
            == 0
        )
    with pytest.raises(cg.GraphInstantiateError, match=r"^A body of a conditional node holds") as caught:
        builder.complete()
    assert "add other nodes before or after" in caught.value.remedy
    assert "device launch" not in str(caught.value)


def test_a_cuda_error_of_instantiation_is_a_runtime_error_too():
    assert issubclass(cg.GraphInstantiateError, cg.CUDAError)
    assert issubclass(cg.GraphInstantiateError, RuntimeError)


def test_without_a_current_context_the_error_says_what_to_call(device, kernels):
    cg.GraphDef().launch(ONE, kernels.nothing)  # so that its function in the context of this thread is known
    errors = []

    def build():
        g = cg.GraphDef()
        for use in (
            lambda: g.launch(ONE, kernels.nothing),
            lambda: g.alloc(8),
            lambda: g.create_condition(),
            lambda: g.memset(1 << 20, 0, 1),
            lambda: g.memcpy(1 << 20, 1 << 21, 1),
        ):
            try:
                use()
            except cg.CUDAError as error:
                errors.append(error)

    thread = threading.Thread(target=build)
    thread.start()
    thread.join()
    assert [e.name for e in errors] == ["CUDA_ERROR_INVALID_CONTEXT"] * 5
    assert all("set_current()" in str(e) for e in errors)


def test_a_condition_of_another_context_is_refused_with_what_to_do(run_child):
    """With devices as many as we like, which only the host driver has."""
    done = run_child(
        """
import cuda_graphs as cg
first, second = cg.Device.get_all_devices()
first.set_current()
g = cg.GraphDef()
condition = g.create_condition(0)
second.set_current()
for add in (g.if_then, g.if_else, g.while_loop, lambda c: g.switch(c, 2)):
    try:
        add(condition)
    except cg.CUDAError as error:
        assert error.name == "CUDA_ERROR_INVALID_VALUE" and "set_current()" in error.remedy, error
assert g.nodes() == set()
first.set_current()
assert g.while_loop(condition).condition == condition
""",
        CUDA_GRAPHS_DRIVER="host",
        CUDA_GRAPHS_HOST_DEVICES="2",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_definition_needs_no_context():

    sizes = []
    thread = threading.Thread(target=lambda: sizes.append(len(cg.GraphDef().nodes())))
    thread.start()
    thread.join()
    assert sizes == [0]


def test_a_failed_launch_node_keeps_nothing(g, needs, kernels, eventually):
    boxes = len(g.nodes())
    with pytest.raises(cg.CUDAError) as caught:
        g.launch(cg.LaunchConfig(grid=1, block=1, shmem_size=1 << 30), kernels.nothing)
    assert "nothing" in caught.value.attempt
    assert len(g.nodes()) == boxes
