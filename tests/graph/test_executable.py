# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of Graph: made of a definition, independent of it, launched as often as one likes."""

import gc

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


@pytest.fixture
def counter(kernels, pinned):
    """A definition that adds one, and what it adds to."""
    x = pinned([0])
    g = cg.GraphDef()
    g.launch(ONE, kernels.add, x.ctypes.data, 1, 1)
    return g, x


def test_every_instantiation_makes_another_graph(counter, stream):
    g, x = counter
    a, b = g.instantiate(), g.instantiate()
    assert a != b
    assert a.handle != b.handle
    for graph in (a, b, a):
        graph.launch(stream)
    stream.sync()
    assert x[0] == 3


def test_an_empty_definition_can_be_launched(stream, run):
    run(cg.GraphDef())


def test_a_graph_does_not_need_its_definition(counter, stream):
    g, x = counter
    graph = g.instantiate()
    del g, counter
    gc.collect()
    graph.launch(stream)
    stream.sync()
    assert x[0] == 1


def test_later_changes_of_the_definition_have_no_effect(counter, kernels, stream):
    g, x = counter
    graph = g.instantiate()
    (node,) = g.nodes()
    node.launch(ONE, kernels.add, x.ctypes.data, 1, 100)
    graph.launch(stream)
    stream.sync()
    assert x[0] == 1


def test_upload_runs_nothing(counter, stream):
    g, x = counter
    graph = g.instantiate()
    graph.upload(stream)
    stream.sync()
    assert x[0] == 0
    graph.launch(stream)
    stream.sync()
    assert x[0] == 1


def test_a_closed_graph_cannot_be_used_and_closing_twice_does_nothing(counter, stream):
    graph = counter[0].instantiate()
    assert not graph.is_closed
    graph.close()
    graph.close()
    assert graph.is_closed
    assert graph.handle == 0
    for use in (graph.launch, graph.upload):
        with pytest.raises(RuntimeError, match="Graph has been closed"):
            use(stream)
    assert repr(graph) == "<Graph handle=0x0>"


def test_a_graph_can_be_closed_while_it_runs(counter, kernels, pinned, stream):
    flag, x = pinned([0]), pinned([0])
    g = cg.GraphDef()
    g.launch(ONE, kernels.wait_for, flag.ctypes.data).launch(ONE, kernels.add, x.ctypes.data, 1, 1)
    graph = g.instantiate()
    graph.launch(stream)
    graph.close()
    del graph, g
    gc.collect()
    flag[0] = 1
    stream.sync()
    assert x[0] == 1


def test_launch_on_anything_but_a_stream_is_a_type_error(counter):
    graph = counter[0].instantiate()
    for wrong in (None, 7, "stream", graph):
        with pytest.raises(TypeError):
            graph.launch(wrong)


def test_any_object_with_the_stream_protocol_will_do(counter, stream):
    g, x = counter

    class Foreign:
        def __cuda_stream__(self):
            return (0, stream.handle)

    g.instantiate().launch(Foreign())
    stream.sync()
    assert x[0] == 1


def test_a_launch_of_a_closed_stream_is_a_runtime_error(counter, device):
    graph, stream = counter[0].instantiate(), device.create_stream()
    stream.close()
    with pytest.raises(RuntimeError, match="closed"):
        graph.launch(stream)


@pytest.mark.parametrize(
    "options",
    [
        {"upload": True},
        {"auto_free_on_launch": True},
        {"use_node_priority": True},
    ],
    ids=lambda o: next(iter(o)),
)
def test_options_are_keywords_or_the_dataclass(options, counter, stream):
    g, x = counter
    if "upload" in options:
        options = {"upload_stream": stream}
    g.instantiate(**options).launch(stream)
    g.instantiate(cg.GraphCompleteOptions(**options)).launch(stream)
    g.instantiate(options).launch(stream)
    stream.sync()
    assert x[0] == 3


def test_memory_that_is_not_freed_forbids_another_launch_unless_it_is_freed_at_launch(stream, device):
    g = cg.GraphDef()
    freed = g.alloc(64)
    freed.free(freed.dptr)
    g.alloc(64, name="work")
    graph = g.instantiate()
    graph.launch(stream)
    stream.sync()
    with pytest.raises(
        cg.CUDAError, match=r"INVALID_VALUE: .*'work'.* has allocated memory in an earlier launch"
    ):
        graph.launch(stream)
    graph.close()
    graph = g.instantiate(auto_free_on_launch=True)
    for _ in range(3):
        graph.launch(stream)
    stream.sync()


def test_launches_of_two_graphs_on_two_streams_do_not_wait_for_each_other(kernels, pinned, device):
    flag, x = pinned([0]), pinned([0])
    a, b = device.create_stream(), device.create_stream()
    waiting, working = cg.GraphDef(), cg.GraphDef()
    waiting.launch(ONE, kernels.wait_for, flag.ctypes.data)
    working.launch(ONE, kernels.add, x.ctypes.data, 1, 1)
    # Made before anything runs: a GPU may have to wait for its kernels to make room for a graph.
    first, second = waiting.instantiate(upload_stream=a), working.instantiate(upload_stream=b)
    first.launch(a)
    second.launch(b)
    b.sync()
    assert x[0] == 1
    flag[0] = 1
    a.sync()
