# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a node of each of the 14 kinds does its work in a launch, on every driver."""

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


def affine(place, kernels, x, a, b):
    return place.launch(ONE, kernels.affine, x.ctypes.data, a, b)


def test_a_kernel_node_runs_its_kernel(kernels, pinned, run):
    x = pinned(range(1000))
    g = cg.GraphDef()
    g.launch(cg.LaunchConfig(grid=8, block=128), kernels.add, x.ctypes.data, 1000, 7)
    run(g, times=2)
    assert (x == np.arange(1000) + 14).all()


def test_alloc_and_free_nodes_give_memory_for_the_time_between(kernels, pinned, run):
    x = pinned([5], "u4")
    g = cg.GraphDef()
    memory = g.alloc(4)
    there = memory.memcpy(memory.dptr, x.ctypes.data, 4)
    done = there.launch(ONE, kernels.affine, memory.dptr, 3, 1)
    done.memcpy(x.ctypes.data, memory.dptr, 4).free(memory.dptr)
    run(g, times=3)
    assert x[0] == ((5 * 3 + 1) * 3 + 1) * 3 + 1


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (0xAB, "u1", 0xAB),
        (True, "u1", 1),
        (b"\x34\x12", "u2", 0x1234),
        (np.uint16(0xBEEF), "u2", 0xBEEF),
        (np.int32(-5), "i4", -5),
        (np.float32(1.5), "f4", 1.5),
    ],
)
def test_a_memset_node_fills_with_its_element(value, dtype, expected, pinned, run):
    x = pinned(np.zeros(100), dtype)
    g = cg.GraphDef()
    g.memset(x[10:].ctypes.data, value, 50)
    run(g)
    assert (x[10:60] == expected).all()
    assert not x[:10].any()
    assert not x[60:].any()


def test_a_memcpy_node_copies_in_every_direction(device, stream, pinned, run):
    source, target = pinned(range(64)), pinned(64)
    a = cg.DeviceMemoryResource(device).allocate(256, stream=stream)
    b = cg.DeviceMemoryResource(device).allocate(256, stream=stream)
    g = cg.GraphDef()
    g.memcpy(a, source.ctypes.data, 256).memcpy(b, a, 256).memcpy(target.ctypes.data, b, 256)
    run(g)
    assert (target == source).all()


def test_an_empty_node_orders(kernels, pinned, run):
    x, seen = pinned([1, 2, 3, 4], "u4"), []
    g = cg.GraphDef()
    steps = [affine(g, kernels, x[i:], 10, i) for i in range(4)]
    g.join(*steps).callback(lambda: seen.append(list(x)))
    run(g)
    assert seen == [[10, 21, 32, 43]]


def test_a_child_graph_node_runs_as_one_node(kernels, pinned, run):
    x = pinned([1], "u4")
    child = cg.GraphDef()
    affine(affine(child, kernels, x, 2, 1), kernels, x, 3, 0)
    g = cg.GraphDef()
    affine(affine(g, kernels, x, 1, 4).embed(child), kernels, x, 1, 100)
    run(g)
    assert x[0] == ((1 + 4) * 2 + 1) * 3 + 100


def test_a_host_callback_node_calls_the_host_in_its_turn(kernels, pinned, run):
    x, seen = pinned([1], "u4"), []
    g = cg.GraphDef()
    affine(affine(g, kernels, x, 2, 0).callback(lambda: seen.append(int(x[0]))), kernels, x, 2, 0)
    run(g, times=3)
    assert seen == [2, 8, 32]


def test_event_nodes_order_graphs_of_two_streams(device, kernels, pinned):
    x, flag = pinned([1], "u4"), pinned([0])
    event, a, b = device.create_event(), device.create_stream(), device.create_stream()
    first, second = cg.GraphDef(), cg.GraphDef()
    step = first.launch(ONE, kernels.wait_for, flag.ctypes.data)
    affine(step, kernels, x, 10, 5).record_event(event)
    affine(second.wait_event(event), kernels, x, 2, 1)
    # Made before anything runs: a GPU may have to wait for its kernels to make room for a graph.
    graphs = first.instantiate(upload_stream=a), second.instantiate(upload_stream=b)
    graphs[0].launch(a)
    graphs[1].launch(b)
    assert x[0] == 1
    flag[0] = 1
    b.sync()
    a.sync()
    assert x[0] == (1 * 10 + 5) * 2 + 1


def test_a_wait_after_a_record_in_one_graph_is_legal(device, run):
    g, event = cg.GraphDef(), device.create_event()
    g.record_event(event).wait_event(event)
    run(g, times=2)
    assert event.is_done


def test_recorded_events_measure_time(device, kernels, run):
    options = cg.EventOptions(timing_enabled=True)
    start, end = device.create_event(options), device.create_event(options)
    g = cg.GraphDef()
    g.record_event(start).launch(ONE, kernels.nothing).record_event(end)
    run(g)
    assert 0 <= end - start < 1000


@pytest.mark.parametrize("value", [0, 1, 7, 0xFFFFFFFF])
def test_an_if_node_runs_its_body_if_the_condition_is_not_0(value, kernels, pinned, run):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    condition = g.create_condition(0)
    node = g.launch(ONE, kernels.set, condition, value).if_then(condition)
    affine(node.then, kernels, x, 2, 5)
    affine(node, kernels, x, 10, 0)
    run(g)
    assert x[0] == (70 if value else 10)


@pytest.mark.parametrize("value", [0, 1])
def test_an_if_else_node_runs_one_of_its_bodies(value, kernels, pinned, run):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    condition = g.create_condition(1 - value)
    node = g.launch(ONE, kernels.set, condition, value).if_else(condition)
    affine(node.then, kernels, x, 1, 1)
    affine(affine(node.else_, kernels, x, 1, 10), kernels, x, 2, 0)
    run(g, times=2)
    assert x[0] == ([64, 3][value])


@pytest.mark.parametrize("value", [0, 1, 2, 3, 4, 99])
def test_a_switch_node_runs_the_body_of_its_number_or_none(value, kernels, pinned, run):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    node = g.switch(g.create_condition(value), 4)
    for i in (0, 1, 3):  # 2 stays empty
        affine(node.branches[i], kernels, x, 10, i)
    run(g)
    assert x[0] == {0: 10, 1: 11, 3: 13}.get(value, 1)


@pytest.mark.parametrize("times", [1, 2, 17])
def test_a_while_node_repeats_until_a_kernel_says_stop(times, kernels, pinned, run):
    x, left = pinned([1], "u4"), pinned([times])
    g = cg.GraphDef()
    more = g.create_condition(1)
    loop = g.while_loop(more)
    affine(loop.body, kernels, x, 3, 1).launch(ONE, kernels.count_down, more, left.ctypes.data)
    run(g)
    expected = 1
    for _ in range(times):
        expected = (expected * 3 + 1) % 2**32
    assert x[0] == expected
    assert left[0] == 0


def test_a_while_node_that_starts_at_0_does_nothing(kernels, pinned, run):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    affine(g.while_loop(g.create_condition(0)).body, kernels, x, 3, 1)
    run(g)
    assert x[0] == 1


def test_a_default_is_assigned_at_every_launch(kernels, pinned, run):
    x, left = pinned([0]), pinned([3])
    g = cg.GraphDef()
    more = g.create_condition(1)
    loop = g.memset(left.ctypes.data, np.int32(3), 1).while_loop(more)
    step = loop.body.launch(ONE, kernels.add, x.ctypes.data, 1, 1)
    step.launch(ONE, kernels.count_down, more, left.ctypes.data)
    run(g, times=4)
    assert x[0] == 12


def test_a_condition_without_default_is_what_a_kernel_set(kernels, pinned, run):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    condition = g.create_condition()
    node = g.launch(ONE, kernels.set, condition, 2).switch(condition, 3)
    affine(node.branches[2], kernels, x, 1, 41)
    run(g)
    assert x[0] == 42


def test_a_body_may_hold_every_kind_that_cuda_allows_there(kernels, pinned, run):
    x, y = pinned([1], "u4"), pinned([0], "u4")
    child, g = cg.GraphDef(), cg.GraphDef()
    affine(child, kernels, x, 2, 0)
    inner = g.create_condition(1)
    body = g.if_then(g.create_condition(1)).then
    node = affine(body, kernels, x, 3, 1).embed(child).join().memcpy(y.ctypes.data, x.ctypes.data, 4)
    decided = node.memset(x.ctypes.data, 0, 4).if_then(inner)
    affine(decided.then, kernels, y, 1, 100)
    run(g)
    assert x[0] == 0
    assert y[0] == 108


def test_memory_of_every_type_works(kernels, pinned, run):
    for memory_type in ("device", "host", "managed"):
        x = pinned([7], "u4")
        g = cg.GraphDef()
        try:
            memory = g.alloc(4, memory_type=memory_type)
        except cg.CUDANotSupportedError:
            continue  # this device has no such memory for graphs
        there = memory.memcpy(memory.dptr, x.ctypes.data, 4)
        done = there.launch(ONE, kernels.affine, memory.dptr, 3, 1)
        done.memcpy(x.ctypes.data, memory.dptr, 4).free(memory.dptr)
        run(g)
        assert x[0] == 22, memory_type
