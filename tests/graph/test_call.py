# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: an object with __cuda_graph_emit__ adds its nodes where it is called and gives back the last of them."""

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE


class Twice:
    """Emits a kernel twice."""

    def __init__(self, kernel):
        self.kernel = kernel
        self.seen = []

    def __cuda_graph_emit__(self, node, args):
        self.seen.append((node, args))
        return node.launch(ONE, self.kernel, *args).launch(ONE, self.kernel, *args)


def test_a_definition_and_a_node_can_call(kernels, pinned, run):
    x = pinned([0])
    twice = Twice(kernels.add)
    g = cg.GraphDef()
    first = g.call(twice, x.ctypes.data, 1, 10)
    last = first.call(twice, x.ctypes.data, 1, 1)
    assert isinstance(first, cg.KernelNode)
    assert len(g.nodes()) == 4
    assert first in g.nodes()
    assert last.graph == g
    run(g)
    assert x[0] == 22


def test_emitter_gets_the_node_to_add_after_and_the_arguments(kernels, pinned):
    x = pinned([0])
    twice = Twice(kernels.add)
    g = cg.GraphDef()
    first = g.call(twice, x.ctypes.data, 1, 10)
    first.call(twice, x.ctypes.data, 1, 1)
    assert twice.seen[0] == (g._entry, (x.ctypes.data, 1, 10))
    assert twice.seen[1] == (first, (x.ctypes.data, 1, 1))


def test_emitter_can_be_called_in_a_body(kernels, pinned, run):
    x, left = pinned([0]), pinned([3])
    g = cg.GraphDef()
    more = g.create_condition(1)
    loop = g.while_loop(more)
    step = loop.body.call(Twice(kernels.add), x.ctypes.data, 1, 1)
    step.launch(ONE, kernels.count_down, more, left.ctypes.data)
    run(g)
    assert x[0] == 6


@pytest.mark.parametrize("result", [None, 7, "elsewhere", "definition"])
def test_emitter_must_return_a_node_of_the_graph(result, device):
    class Bad:
        def __cuda_graph_emit__(self, node, args):
            return {"elsewhere": cg.GraphDef().join(), "definition": node.graph}.get(result, result)

    with pytest.raises(TypeError, match=r"Bad\.__cuda_graph_emit__ must return a node of the graph"):
        cg.GraphDef().call(Bad())


def test_exception_of_an_emitter_reaches_the_caller(device):
    class Bad:
        def __cuda_graph_emit__(self, node, args):
            raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        cg.GraphDef().call(Bad())


def test_an_attribute_of_the_object_is_not_enough(device):
    class Bare:
        pass

    bare = Bare()
    bare.__cuda_graph_emit__ = lambda node, args: node
    with pytest.raises(TypeError, match="a Bare cannot be called in a graph"):
        cg.GraphDef().call(bare)


def test_a_function_is_refused_with_what_to_do(device):
    with pytest.raises(TypeError, match=r"Make a kernel of it with cg\.kernel, or pass it to callback"):
        cg.GraphDef().call(lambda: None)


def test_a_kernel_of_cuda_is_launched_and_not_called(device, kernels):
    g = cg.GraphDef()
    with pytest.raises(TypeError, match=r"Kernel cannot be called.*Pass it to launch, with a config"):
        g.call(kernels.nothing)
    assert not g.nodes()
