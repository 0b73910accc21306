# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: `Graph.update` takes over all parameters of a definition of the same structure, or says what differs and changes
nothing."""

import gc
import re

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.errors import UPDATE_RESULTS
from tests.graph_rig import ONE


@pytest.fixture
def launch(stream):
    def launch(graph):
        graph.launch(stream)
        stream.sync()

    return launch


@pytest.fixture
def adding(kernels, pinned):
    """Makes definitions that add an amount to the first of two numbers, and the numbers."""
    x = pinned(2)

    def make(amount, config=ONE, kernel=kernels.add):
        g = cg.GraphDef()
        g.launch(config, kernel, x.ctypes.data, 2, amount, name="adding")
        return g

    return make, x


def failure(graph, source):
    with pytest.raises(cg.GraphUpdateError) as caught:
        graph.update(source)
    return str(caught.value).partition("\n")[0]


# ---- what it takes over


def test_parameters_of_all_nodes_are_taken_over(adding, kernels, pinned, launch):
    make, x = adding
    graph = make(1).instantiate()
    source = make(10, cg.LaunchConfig(grid=1, block=2))
    graph.update(source)
    launch(graph)
    assert list(x) == [10, 10]
    launch(source.instantiate())
    assert list(x) == [20, 20]


def test_another_kernel_may_take_the_place_of_the_first(kernels, pinned, launch):
    x = pinned([5], "u4")
    one, other = cg.GraphDef(), cg.GraphDef()
    one.launch(ONE, kernels.nothing)
    other.launch(ONE, kernels.affine, x.ctypes.data, 3, 1)
    graph = one.instantiate()
    graph.update(other)
    launch(graph)
    assert x[0] == 16


def test_the_source_may_go_right_after(adding, launch):
    make, x = adding
    graph = make(1).instantiate()
    source = make(10)
    graph.update(source)
    del source
    gc.collect()
    launch(graph)
    assert x[0] == 10


def test_update_with_the_own_definition_takes_back_changes_of_single_nodes(adding, kernels, launch):
    make, x = adding
    g = make(1)
    (node,) = g.nodes()
    graph = g.instantiate()
    graph[node].update(config=ONE, kernel=kernels.add, args=(x.ctypes.data, 2, 100))
    graph.update(g)
    launch(graph)
    assert x[0] == 1


def test_a_disabled_node_stays_disabled(adding, launch):
    make, x = adding
    g = make(1)
    (node,) = g.nodes()
    graph = g.instantiate()
    graph[node].disable()
    graph.update(make(10))
    launch(graph)
    assert x[0] == 0
    graph[node].enable()
    launch(graph)
    assert x[0] == 10


def test_views_are_of_the_first_definition_still(adding, kernels, launch):
    make, x = adding
    first, second = make(1), make(10)
    (ours,), (theirs,) = first.nodes(), second.nodes()
    graph = first.instantiate()
    graph.update(second)
    graph[ours].update(config=ONE, kernel=kernels.add, args=(x.ctypes.data, 2, 100))
    with pytest.raises(cg.CUDAError):
        graph[theirs].disable()
    launch(graph)
    assert x[0] == 100


def test_launches_in_flight_keep_their_parameters(kernels, pinned, stream):
    flag, x = pinned([0]), pinned([0])

    def make(amount):
        g = cg.GraphDef()
        wait = g.launch(ONE, kernels.wait_for, flag.ctypes.data)
        wait.launch(ONE, kernels.add, x.ctypes.data, 1, amount)
        return g

    graph = make(1).instantiate()
    graph.upload(stream)
    stream.sync()
    graph.launch(stream)
    graph.update(make(10))
    flag[0] = 1
    stream.sync()
    assert x[0] == 1
    graph.launch(stream)
    stream.sync()
    assert x[0] == 11


def test_every_kind_of_node_is_taken_over(device, kernels, pinned, launch):
    x, y, calls = pinned(4), pinned(4), []

    def make(target, number, event, call):
        child = cg.GraphDef()
        child.launch(ONE, kernels.add, target.ctypes.data, 1, number)
        g = cg.GraphDef()
        filled = g.memset(target.ctypes.data, np.int32(number), 4)
        embedded = filled.embed(child)
        branch = embedded.if_then(g.create_condition(1))
        branch.then.launch(ONE, kernels.add, target.ctypes.data, 1, 100 * number)
        branch.record_event(event).wait_event(event).callback(call)
        return g

    one, two = (device.create_event({"timing_enabled": True}) for _ in range(2))
    graph = make(x, 1, one, lambda: calls.append(1)).instantiate()
    graph.update(make(y, 2, two, lambda: calls.append(2)))
    launch(graph)
    assert list(x) == [0] * 4
    assert list(y) == [2 + 2 + 200, 2, 2, 2]
    assert calls == [2]
    assert two - two == 0


def test_graphs_with_memory_of_their_own_are_updated(kernels, pinned, launch):
    start, out = pinned([10]), pinned([0])

    def make(number):
        g = cg.GraphDef()
        memory = g.alloc(4)
        loaded = memory.memcpy(memory.dptr, start.ctypes.data, 4)
        added = loaded.launch(ONE, kernels.add, memory.dptr, 1, number)
        added.memcpy(out.ctypes.data, memory.dptr, 4).free(memory.dptr)
        return g

    graph = make(1).instantiate()
    graph.update(make(7))
    launch(graph)
    assert out[0] == 17


def test_memset_keeps_to_the_memory_of_its_executable(pinned, launch):
    """An executable does not fill the memory of another graph's alloc node once that graph frees it."""
    out = pinned([0])

    def make(number):
        g = cg.GraphDef()
        memory = g.alloc(4)
        fill = memory.memset(memory.dptr, np.int32(number), 1)
        fill.memcpy(out.ctypes.data, memory.dptr, 4).free(memory.dptr)
        return g

    first, second = make(1), make(7)
    graph = first.instantiate()
    with pytest.raises(cg.GraphUpdateError, match=r"MemsetNode .*\(CU_GRAPH_EXEC_UPDATE_ERROR\)"):
        graph.update(second)
    launch(graph)
    assert out[0] == 1
    graph.update(first)
    launch(graph)
    assert out[0] == 1


def test_values_of_parameters_outlast_an_update(kernels, pinned, launch):
    x = pinned([1], "u4")

    def make(term):
        g = cg.GraphDef()
        g.launch(ONE, kernels.affine, x.ctypes.data, g.param("factor", cg.u32, default=2), term)
        return g

    first = make(1)
    graph = first.instantiate()
    graph.set(factor=5)
    graph.update(make(3))
    launch(graph)
    assert x[0] == 8
    graph.set(factor=10)
    launch(graph)
    assert x[0] == 83


# ---- what is no source


@pytest.mark.parametrize("source", [None, 3, "graph", cg.GraphDef], ids=str)
def test_update_from_anything_but_a_definition_is_refused(source, adding):
    graph = adding[0](1).instantiate()
    with pytest.raises(TypeError, match="expected GraphBuilder or GraphDef, got "):
        graph.update(source)


def test_an_executable_is_no_source(adding):
    graph = adding[0](1).instantiate()
    with pytest.raises(TypeError, match="expected GraphBuilder or GraphDef, got Graph"):
        graph.update(graph)


def test_a_closed_graph_is_not_updated(adding):
    g = adding[0](1)
    graph = g.instantiate()
    graph.close()
    with pytest.raises(RuntimeError, match="Graph has been closed"):
        graph.update(g)


def test_a_definition_that_is_gone_is_no_source(adding):
    make, _ = adding
    g = cg.GraphDef()
    node = g.embed(make(1))
    inner = node.child_graph
    graph = make(1).instantiate()
    node.destroy()
    with pytest.raises(RuntimeError, match="GraphDef is no longer valid"):
        graph.update(inner)


# ---- reasons


def names_of(results):
    return {name for name, _ in results.values()}


def test_every_result_of_the_driver_has_words():
    # CUgraphExecUpdateResult in cuda.h, but for success.
    assert set(UPDATE_RESULTS) == set(range(1, 9))
    assert all(re.fullmatch(r"CU_GRAPH_EXEC_UPDATE_ERROR[A-Z_]*", name) for name in names_of(UPDATE_RESULTS))


@pytest.fixture
def two_nodes(kernels, pinned):
    """Makes definitions of a fill and a copy, as told."""
    x, y = pinned(16), pinned(16)

    def make(height=1, size=4, dst=y.ctypes.data, extra=False, apart=False):
        g = cg.GraphDef()
        fill = g.memset(x.ctypes.data, 1, 4, height, 16, name="fill")
        last = (g if apart else fill).memcpy(dst, x.ctypes.data, size, name="copy")
        if extra:
            last.launch(ONE, kernels.nothing, name="more")
        return g

    return make, x, y


def test_a_field_that_may_not_change_is_named_with_both_values(two_nodes):
    make, _, _ = two_nodes
    before, after = make(), make(height=2)
    message = failure(before.instantiate(), after)
    assert re.search(
        r"Graph update failed: .*: MemsetNode 'fill' \(.*test_graph_update\.py:\d+\): height was 1, and is 2 "
        r"\(CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED\)",
        message,
    )


def test_all_fields_of_the_node_that_are_others_are_named(two_nodes, device, stream):
    make, _, _ = two_nodes
    on_device = cg.DeviceMemoryResource(device).allocate(64, stream=stream)
    before, after = make(), make(size=8, dst=on_device)
    message = failure(before.instantiate(), after)
    assert "MemcpyNode 'copy'" in message
    assert "dst_side was 'H', and is 'D'" in message
    assert "width was 4, and is 8" in message
    assert "src was" not in message


def test_attributes_are_named(kernels):
    one, other = cg.GraphDef(), cg.GraphDef()
    one.launch(ONE, kernels.nothing)
    other.launch(cg.LaunchConfig(grid=1, block=1, is_cooperative=True), kernels.nothing)
    message = failure(one.instantiate(), other)
    assert "KernelNode 'nothing'" in message
    assert "is_cooperative was False, and is True" in message
    assert "(CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED)" in message


def test_a_node_of_another_kind_is_named_with_what_it_was(kernels, pinned):
    x = pinned(4)
    one, other = cg.GraphDef(), cg.GraphDef()
    one.launch(ONE, kernels.nothing)
    other.memset(x.ctypes.data, 0, 4, name="fill")
    message = failure(one.instantiate(), other)
    assert re.search(r"MemsetNode 'fill' \(.*\) was KernelNode 'nothing' \(", message)
    assert "(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED)" in message


def test_more_nodes_are_counted_and_named(two_nodes):
    make, _, _ = two_nodes
    small, large = make(), make(extra=True)
    message = failure(small.instantiate(), large)
    assert "the definition has 3 nodes, and the executable was made of 2 (new: KernelNode 'more')" in message
    assert "(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED)" in message
    message = failure(large.instantiate(), small)
    assert (
        "the definition has 2 nodes, and the executable was made of 3 (missing: KernelNode 'more')" in message
    )


def test_other_edges_are_named(two_nodes):
    make, _, _ = two_nodes
    chained, apart = make(), make(apart=True)
    message = failure(chained.instantiate(), apart)
    assert re.search(
        r"MemcpyNode 'copy' \(.*\) depends on nothing, and depended on MemsetNode 'fill'", message
    )


def test_differing_node_in_a_body_is_named_with_its_branch(kernels, pinned):
    x = pinned(16)

    def make(height):
        g = cg.GraphDef()
        branch = g.if_then(g.create_condition(1), name="branch")
        branch.then.memset(x.ctypes.data, 1, 4, height, 16, name="fill")
        return g

    before, after = make(1), make(2)
    message = failure(before.instantiate(), after)
    assert "MemsetNode 'fill'" in message
    assert "IfNode 'branch'" in message
    assert "height was 1, and is 2" in message


def test_differing_node_in_an_embedded_graph_is_named_with_its_node(kernels, pinned):
    x = pinned(16)

    def make(height):
        g, child = cg.GraphDef(), cg.GraphDef()
        child.memset(x.ctypes.data, 1, 4, height, 16, name="fill")
        g.embed(child, name="part")
        return g

    before, after = make(1), make(2)
    message = failure(before.instantiate(), after)
    assert "MemsetNode 'fill'" in message
    assert "ChildGraphNode 'part'" in message
    assert "height was 1, and is 2" in message


def test_more_nodes_inside_are_named_too(kernels):
    def make(count):
        g, child = cg.GraphDef(), cg.GraphDef()
        for i in range(count):
            child.launch(ONE, kernels.nothing, name=f"step {i}")
        g.embed(child, name="part")
        return g

    before, after = make(1), make(2)
    message = failure(before.instantiate(), after)
    assert "inside ChildGraphNode 'part'" in message
    assert (
        "the definition has 2 nodes, and the executable was made of 1 (new: KernelNode 'step 1')" in message
    )


def test_another_kind_of_conditional_node_is_named(kernels):
    def make(method):
        g = cg.GraphDef()
        getattr(g, method)(g.create_condition(0), name="branch")
        return g

    one, other = make("if_then"), make("while_loop")
    message = failure(one.instantiate(), other)
    assert re.search(r"WhileNode 'branch' \(.*\) was IfNode 'branch'", message)
    assert "(CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED)" in message


def test_other_edge_data_is_named(kernels):
    def make(**edge):
        g = cg.GraphDef()
        g.launch(ONE, kernels.nothing, name="first").launch(ONE, kernels.nothing, name="second", **edge)
        return g

    plain, early = make(), make(edge=cg.EdgeData.programmatic())
    message = failure(plain.instantiate(), early)
    assert "KernelNode 'second'" in message
    assert "KernelNode 'first'" in message
    assert "EdgeData" in message


def test_without_the_definition_the_node_is_named_and_why_no_more_is_said(two_nodes):
    make, _, _ = two_nodes
    graph = make().instantiate()
    gc.collect()
    message = failure(graph, make(height=2))
    assert "MemsetNode 'fill'" in message
    assert "the definition that the executable was made from is gone" in message
    assert "the definition that the executable was made from is gone" in failure(graph, make(extra=True))


def test_after_an_update_it_is_compared_with_the_new_definition(two_nodes):
    make, _, _ = two_nodes
    first, second, third = make(), make(size=8), make(size=8, height=2)
    graph = first.instantiate()
    graph.update(second)
    del first
    gc.collect()
    assert "height was 1, and is 2" in failure(graph, third)


def test_a_failed_update_changes_nothing(two_nodes, launch):
    make, x, y = two_nodes
    graph = make().instantiate()
    for source in (make(height=2), make(extra=True), make(apart=True)):
        failure(graph, source)
    x[:] = 0
    launch(graph)
    assert list(x.view("u1")[:8]) == [1, 1, 1, 1, 0, 0, 0, 0]
    assert y[0] == 0x01010101
    graph.update(make(size=8))
    launch(graph)


def test_other_failures_are_what_the_driver_says(adding, driver_table):
    make, _ = adding
    graph, source = make(1).instantiate(), make(2)
    driver_table.refuse("cuGraphExecUpdate", 46)
    with pytest.raises(cg.CUDAError) as caught:
        graph.update(source)
    assert caught.value.code == 46
    assert type(caught.value) is cg.CUDAError
    assert "update <Graph" in caught.value.attempt


def test_a_kernel_of_another_context_is_no_other_kernel_of_the_same(run_child):
    """With devices as many as we like, which only the host driver has. (That the kernel is another one, result 4, was
    refused by drivers before CUDA 11.2 only: cuda.h, CUgraphExecUpdateResult.)"""
    done = run_child(
        """
import cuda_graphs as cg
first, second = cg.Device.get_all_devices()
first.set_current()
module = cg.Program('extern "C" __global__ void work() {} extern "C" __global__ void other() {}').compile("cubin")
work, other = module.get_kernel("work"), module.get_kernel("other")

def chain(device, kernel):
    device.set_current()
    g = cg.GraphDef()
    g.launch(cg.LaunchConfig(grid=1, block=1), kernel, name="step")
    return g

graph = chain(first, work).instantiate()
graph.update(chain(first, other))
try:
    graph.update(chain(second, work))
except cg.GraphUpdateError as error:
    assert "CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE" in str(error), error
    assert "KernelNode 'step'" in str(error), error
else:
    raise AssertionError("the update went well")
""",
        CUDA_GRAPHS_DRIVER="host",
        CUDA_GRAPHS_HOST_DEVICES="2",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
