# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a host callback is called once a launch, in its order, with its data, and cannot break the graph."""

import ctypes

import numpy as np
import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def test_a_callable_is_called_once_a_launch(run):
    calls = []
    g = cg.GraphDef()
    g.callback(lambda: calls.append(42))
    run(g, times=3)
    assert calls == [42, 42, 42]


def test_callback_sees_the_work_before_it_and_later_nodes_see_its_own(kernels, pinned, run):
    x, seen = pinned([5], "u4"), []

    def host():
        seen.append(int(x[0]))
        x[0] = 1000

    g = cg.GraphDef()
    before = g.launch(ONE, kernels.affine, x.ctypes.data, 2, 1)
    before.callback(host).launch(ONE, kernels.affine, x.ctypes.data, 3, 0)
    run(g)
    assert seen == [11]
    assert x[0] == 3000


@pytest.mark.parametrize("data", [None, 0xABCD, 0])
def test_a_c_function_gets_an_int_as_it_is(data, run):
    got = []
    function = FUNCTION(got.append)
    g = cg.GraphDef()
    node = g.callback(function, user_data=data)
    run(g)
    assert got == [data or None]
    assert node.callback_fn is None


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, "u1")])
def test_a_c_function_gets_the_address_of_a_copy_of_bytes(make, run):
    got = []
    function = FUNCTION(lambda p: got.append(ctypes.string_at(p, 3)))
    data = make(b"\xab\xcd\xef")
    g = cg.GraphDef()
    g.callback(function, user_data=data)
    if isinstance(data, bytearray):
        data[:] = b"new"
    run(g)
    assert got == [b"\xab\xcd\xef"]


def test_user_data_is_for_c_functions_only(device):
    with pytest.raises(ValueError, match="user_data is for ctypes function pointers only"):
        cg.GraphDef().callback(lambda: None, user_data=b"x")


@pytest.mark.parametrize(
    "prototype",
    [
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p),
        ctypes.CFUNCTYPE(None),
        ctypes.CFUNCTYPE(None, ctypes.c_int),
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p),
    ],
)
def test_a_c_function_of_another_prototype_is_a_type_error(prototype, device):
    with pytest.raises(TypeError, match="c_void_p"):
        cg.GraphDef().callback(prototype(lambda *a: 0))


def test_later_nodes_run_after_an_exception(kernels, pinned, run):
    x = pinned([1], "u4")

    def bad():
        raise ZeroDivisionError("mine")

    g = cg.GraphDef()
    g.callback(bad).launch(ONE, kernels.affine, x.ctypes.data, 1, 1)
    with pytest.raises(ZeroDivisionError, match="mine"):
        run(g)
    assert x[0] == 2


def test_bound_methods_and_callable_objects_are_callables(run):
    class Counter:
        count = 0

        def step(self):
            self.count += 1

        __call__ = step

    c = Counter()
    g = cg.GraphDef()
    node = g.callback(c)
    assert node.callback_fn is c
    assert "callback=?" in repr(node)
    node.callback(c.step)
    run(g)
    assert c.count == 2


def test_the_callable_of_a_node_in_an_embedded_copy_is_the_same_object(device):
    def mine():
        pass

    child, g = cg.GraphDef(), cg.GraphDef()
    child.callback(mine)
    (inside,) = g.embed(child).child_graph.nodes()
    assert inside.callback_fn is mine


@pytest.mark.parametrize("error", ["ValueError", "SystemExit", "KeyboardInterrupt"])
def test_a_program_that_catches_an_exception_goes_on(run_child, error):
    code = f"""
import cuda_graphs as cg
device = cg.Device(); device.set_current(); stream = device.create_stream()
def fail():
    raise {error}("of a callback")
done = []
g = cg.GraphDef()
g.callback(fail).callback(lambda: done.append(1))
g.instantiate().launch(stream)
try:
    stream.sync()
except {error} as caught:
    print(caught)
assert done == [1]
stream.sync()
"""
    child = run_child(code)
    assert (child.returncode, child.stdout, child.stderr) == (0, "of a callback\n", "")


@pytest.fixture
def come_between(driver_table):
    """Calls a function after the driver was asked for the parameters of a callback, as if by another thread, once."""

    def prepare(action):
        original, left = driver_table.original("cuGraphHostNodeGetParams"), [action]

        def read(*words):
            status = original(*words)
            if left:
                left.pop()()
            return status

        driver_table.replace("cuGraphHostNodeGetParams", read)

    return prepare


def test_a_callback_that_is_replaced_while_it_is_read_is_read_again(come_between):
    calls = []
    g = cg.GraphDef()
    node = g.callback(lambda: calls.append(1))
    second = calls.clear
    come_between(lambda: node.update(second))
    assert node.callback_fn == second
    assert node.callback_fn == second


def test_reading_a_callback_while_the_definition_is_instantiated_again_is_safe(come_between):
    """The second executable gives the node a callback of its own, and the callback of the first one goes with it."""
    calls = []
    g = cg.GraphDef()
    node = g.callback(lambda: calls.append(1))
    kept = []

    def instantiate():
        first = g.instantiate()
        kept.append(g.instantiate())
        first.close()

    come_between(instantiate)
    function = node.callback_fn
    function()
    assert node.callback_fn is function
    kept[0].launch(cg.Device().default_stream)
    cg.Device().sync()
    assert calls == [1, 1]
