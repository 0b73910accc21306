# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a value reaches the nodes that use it, embedded ones included, and no others."""

import gc

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

# ---- embedded definitions


def child_that_adds(kernels, x, **param):
    child = cg.GraphDef()
    child.launch(ONE, kernels.add, x.ctypes.data, 1, child.param("amount", cg.i32, **param))
    return child


def test_embedded_nodes_use_the_parameters_of_the_definition_they_are_in(kernels, pinned, stream):
    x, g = pinned([0]), cg.GraphDef()
    child = child_that_adds(kernels, x, default=1)
    middle = cg.GraphDef()
    middle.embed(child).embed(child)
    last = g.embed(middle).launch(ONE, kernels.add, x.ctypes.data, 1, g.param("amount", cg.i32))
    last.if_then(g.create_condition(1)).then.embed(middle)
    graph = g.instantiate()
    assert dict(graph.params) == {"amount": ("i32", 1)}
    graph.launch(stream)
    graph.launch(stream, amount=10)
    stream.sync()
    assert x[0] == 5 + 50
    child.instantiate().launch(stream, amount=100)
    graph.launch(stream)
    stream.sync()
    assert x[0] == 55 + 100 + 50


def test_outer_definition_decides_the_default_of_a_parameter(kernels, pinned, stream):
    x = pinned([0])
    with_default, without = cg.GraphDef(), cg.GraphDef()
    with_default.param("amount", cg.i32, default=7)
    without.param("amount", cg.i32)
    without.embed(child_that_adds(kernels, x, default=1))
    with_default.embed(child_that_adds(kernels, x, default=1)).embed(child_that_adds(kernels, x))
    with_default.instantiate().launch(stream)
    stream.sync()
    assert x[0] == 14
    with pytest.raises(RuntimeError, match="parameter 'amount' has neither a default nor a value"):
        without.instantiate().launch(stream)


def test_an_embedded_memcpy_without_values_gets_them(pinned, stream):
    a, b = pinned([1, 2]), pinned([0, 0])
    child, g = cg.GraphDef(), cg.GraphDef()
    child.memcpy(
        child.param("to", cg.pointer), child.param("source", cg.pointer), child.param("size", cg.u32)
    )
    g.embed(child)
    del child
    gc.collect()
    g.instantiate().launch(stream, to=b.ctypes.data, source=a.ctypes.data, size=8)
    stream.sync()
    assert list(b) == [1, 2]


def test_a_definition_with_a_parameter_of_another_type_is_not_embedded(kernels, pinned):
    g = cg.GraphDef()
    g.param("amount", cg.f32)
    with pytest.raises(
        ValueError, match=r"uses <Parameter 'amount' i32>: the target definition has <Parameter 'amount' f32>"
    ):
        g.embed(child_that_adds(kernels, pinned([0])))
    assert g.nodes() == set()


def test_a_destroyed_child_takes_its_uses_along(kernels, pinned, stream):
    x, g = pinned([0]), cg.GraphDef()
    node = g.embed(child_that_adds(kernels, x))
    graph = g.instantiate()
    node.destroy()
    with pytest.raises(RuntimeError, match="was destroyed"):
        graph.set(amount=3)
    assert dict(g.instantiate().params) == {"amount": ("i32", None)}
    g.instantiate().launch(stream)


# ---- how much the driver is asked


COUNTING = """
import sys, numpy as np, cuda_graphs as cg
from tests.graph_rig import SOURCE, ONE
device = cg.Device()
device.set_current()
stream = device.create_stream()
add = cg.Program(SOURCE, code_type="c++").compile("cubin").get_kernel("add")
x = np.from_dlpack(cg.PinnedMemoryResource().allocate(16)).view(np.int32)
g = cg.GraphDef()
a, b = g.param("a", cg.i32, default=0), g.param("b", cg.i32, default=0)
node = g
for amount in (a, b, a, 5, b, 7):
    node = node.launch(ONE, add, x.ctypes.data, 1, amount)
body = node.if_then(g.create_condition(1)).then
body.launch(ONE, add, x.ctypes.data, 1, a).memset(x.ctypes.data, 0, g.param("n", cg.u64, default=1))
graph = g.instantiate()
graph.launch(stream)
def mark(text):
    sys.stderr.flush()
    print("MARK", text, file=sys.stderr, flush=True)
mark("a"); graph.set(a=1)
mark("unchanged"); graph.set(a=1, b=0)
mark("b"); graph.set(b=2)
mark("all"); graph.set(a=3, b=4, n=2)
mark("launch"); graph.launch(stream, a=5)
mark("plain"); graph.launch(stream)
mark("end")
stream.sync()
"""


def test_only_the_nodes_that_use_a_changed_value_are_set(run_child):
    result = run_child(COUNTING, CUDA_GRAPHS_DRIVER="host", CUDA_GRAPHS_HOST_TRACE="1")
    assert result.returncode == 0, result.stderr[-2000:]
    calls, current = {}, None
    for line in result.stderr.splitlines():
        if line.startswith("MARK"):
            current = calls.setdefault(line.split()[1], [])
        elif current is not None:
            current.append(line)
    sets = {mark: sum("SetParams" in line for line in lines) for mark, lines in calls.items()}
    assert sets == {"a": 3, "unchanged": 0, "b": 2, "all": 6, "launch": 3, "plain": 0, "end": 0}
    assert len(calls["a"]) == 3  # and nothing else
    assert calls["unchanged"] == []
