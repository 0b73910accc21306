# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: every part of a hierarchy of graphs can be used as long as it is held, whatever else was dropped."""

import gc
import threading

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph_rig import ONE

CONDITIONALS = {
    "if": lambda g, c: g.if_then(c),
    "if_else": lambda g, c: g.if_else(c),
    "while": lambda g, c: g.while_loop(c),
    "switch": lambda g, c: g.switch(c, 4),
}


@pytest.fixture(params=CONDITIONALS)
def branches(request, device):
    """The bodies of a conditional node of which everything else is gone."""
    g = cg.GraphDef()
    node = CONDITIONALS[request.param](g, g.create_condition(0))
    bodies = node.branches
    del g, node
    gc.collect()
    return bodies


def test_bodies_outlive_their_parents(branches):
    for body in branches:
        assert body.is_valid
        assert body.nodes() == set()


def test_bodies_of_a_dropped_node_can_still_be_filled(branches, kernels):
    for body in branches:
        body.launch(ONE, kernels.nothing)
        assert len(body.nodes()) == 1


def test_a_body_of_a_node_found_again_outlives_everything_else(kernels):
    g = cg.GraphDef()
    g.while_loop(g.create_condition(0)).body.launch(ONE, kernels.nothing)
    gc.collect()
    (node,) = g.nodes()
    assert type(node) is cg.WhileNode
    body = node.body
    del node, g
    gc.collect()
    assert len(body.nodes()) == 1


def test_an_embedded_graph_outlives_its_parent_its_node_and_its_source(kernels):
    child, g = cg.GraphDef(), cg.GraphDef()
    child.launch(ONE, kernels.nothing).launch(ONE, kernels.nothing)
    inside = g.embed(child).child_graph
    del child, g
    gc.collect()
    assert len(inside.nodes()) == 2
    assert len(inside.edges()) == 1


def test_a_graph_two_levels_down_outlives_all_above(kernels):
    inner, middle, outer = cg.GraphDef(), cg.GraphDef(), cg.GraphDef()
    inner.launch(ONE, kernels.nothing)
    middle.embed(inner)
    outer.embed(middle)
    (node,) = outer.nodes()
    (node,) = node.child_graph.nodes()
    grandchild = node.child_graph
    del inner, middle, outer, node
    gc.collect()
    assert len(grandchild.nodes()) == 1


def test_a_node_keeps_its_definition(kernels):
    node = cg.GraphDef().launch(ONE, kernels.nothing)
    gc.collect()
    assert node.graph.nodes() == {node}
    assert node.launch(ONE, kernels.nothing).pred == {node}


def test_the_whole_hierarchy_goes_with_its_last_holder(kernels, eventually):
    before = boxes.live()
    g = cg.GraphDef()
    leaf = (
        g.while_loop(g.create_condition(0))
        .body.if_then(g.create_condition(0))
        .then.launch(ONE, kernels.nothing)
    )
    del g
    gc.collect()
    assert boxes.live()["graph"] == before["graph"] + 3
    del leaf
    eventually(lambda: boxes.live() == before)


def test_no_record_survives_its_graph(kernels, eventually):
    before = boxes.live()["graph_node"]
    g = cg.GraphDef()
    node = g._entry
    for _ in range(100):
        node = node.launch(ONE, kernels.nothing)
    assert boxes.live()["graph_node"] == before + 101
    del g, node
    eventually(lambda: boxes.live()["graph_node"] == before)


def test_a_condition_does_not_keep_its_definition(device, eventually):
    before = boxes.live()["graph"]
    condition = cg.GraphDef().create_condition(0)
    eventually(lambda: boxes.live()["graph"] == before)
    assert condition.handle is not None


def test_an_event_node_keeps_the_event_and_what_is_known_of_it(device, stream):
    for make in (cg.GraphDef.record_event, cg.GraphDef.wait_event):
        node = make(
            cg.GraphDef(), device.create_event(cg.EventOptions(timing_enabled=True, blocking_sync=True))
        )
        gc.collect()
        assert node.event.is_done
        assert node.event.is_timing_enabled
        assert node.event.is_blocking_sync
        assert node.event.device == device


def test_events_may_be_dropped_before_instantiation(device, run):
    g = cg.GraphDef()
    event = device.create_event()
    g.record_event(event).wait_event(event)
    del event
    gc.collect()
    run(g)


def test_a_kernel_node_keeps_the_kernel(fresh_kernels, pinned, run):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    node = g.launch(ONE, fresh_kernels().affine, x.ctypes.data, 2, 3)
    gc.collect()
    assert node.kernel.attributes.max_threads_per_block > 0
    run(g)
    assert x[0] == 5


def test_a_kernel_node_found_again_has_its_kernel(fresh_kernels, pinned, run):
    x = pinned([1], "u4")
    g = cg.GraphDef()
    last = g.launch(ONE, fresh_kernels().affine, x.ctypes.data, 2, 3).join()
    gc.collect()
    (node,) = last.pred
    assert type(node) is cg.KernelNode
    assert node.kernel.attributes.max_threads_per_block > 0
    run(g)
    assert x[0] == 5


def test_a_graph_survives_a_cycle_through_its_definition_only_as_documented(device, eventually):
    """A callback that refers to its definition keeps it for ever, unless its node is destroyed."""
    before = boxes.live()["graph"]
    g = cg.GraphDef()
    node = g.callback(lambda keep=g: keep)
    node.destroy()
    del node, g
    eventually(lambda: boxes.live()["graph"] == before)


def test_a_process_may_end_with_all_of_it_alive(run_child):
    code = """
import cuda_graphs as cg
device = cg.Device(); device.set_current(); stream = device.create_stream()
g = cg.GraphDef()
seen = []
node = g.callback(lambda: seen.append(g))
loop = node.while_loop(g.create_condition(0))
body = loop.body.join()
event = device.create_event()
loop.record_event(event)
graph = g.instantiate()
graph.launch(stream); stream.sync()
keep = [g, node, graph, loop, body, event, stream]
print("last line")
"""
    done = run_child(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "last line\n", "")


def test_a_process_may_end_with_launches_in_flight(run_child):
    code = """
import time
import cuda_graphs as cg
device = cg.Device(); device.set_current(); stream = device.create_stream()
g = cg.GraphDef()
node = g._entry
for _ in range(200):
    node = node.callback(lambda: time.sleep(0.01))
graph = g.instantiate()
graph.launch(stream)
print("last line")
"""
    done = run_child(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "last line\n", "")


def test_threads_may_build_and_run_graphs_of_their_own(kernels, device):
    """Eight threads make, change, run and drop graphs that share kernels."""
    failures = []

    def work(number):
        try:
            own = cg.Device()  # a Device is one thread's
            own.set_current()
            stream = own.create_stream()
            buffer = cg.PinnedMemoryResource().allocate(4, stream=stream)
            x = np.from_dlpack(buffer).view("u4")
            for turn in range(30):
                x[0], calls = number, []
                g = cg.GraphDef()
                last = g.launch(ONE, kernels.affine, buffer, 3, turn).callback(
                    lambda calls=calls: calls.append(1)
                )
                extra = last.launch(ONE, kernels.affine, buffer, 5, 1)
                last.launch(ONE, kernels.affine, buffer, 7, number)
                extra.destroy()
                graph = g.instantiate()
                del g, last, extra
                graph.launch(stream)
                stream.sync()
                assert x[0] == (number * 3 + turn) * 7 + number
                assert calls == [1]
        except BaseException as error:  # a thread's exception would go unseen
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_definition_that_is_initialised_again_drops_its_first_graph(kernels, eventually):
    """As by two base classes that both call GraphDef.__init__."""
    before = boxes.live()["graph"]
    g = cg.GraphDef()
    for _ in range(3):
        g.launch(ONE, kernels.nothing)
        g.__init__()
        assert g.nodes() == set()
    eventually(lambda: boxes.live()["graph"] == before + 1)
    body = g.if_then(g.create_condition(0)).then
    body.__init__()
    del g, body
    eventually(lambda: boxes.live()["graph"] == before)
