# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a captured callback is checked before it is captured, and its function and data live as long as anything can
still call it."""

import ctypes
import gc
import weakref

import pytest

import cuda_graphs as cg
from tests.graph_rig import ONE

HOST_FN = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
FAILURE = 46


class Counter:
    def __init__(self):
        self.calls = 0

    def __call__(self):
        self.calls += 1


def nodes_of(builder):
    return builder.end_building().graph_definition.nodes()


@pytest.mark.parametrize("fn", [None, 1, "print", ["print"]], ids=str)
def test_callback_that_cannot_be_called_is_refused_by_type(fn, capturing):
    with pytest.raises(TypeError, match=f"^a callback takes a callable, got {type(fn).__name__}"):
        capturing.callback(fn)
    assert nodes_of(capturing) == set()


@pytest.mark.parametrize(
    "prototype",
    [
        ctypes.CFUNCTYPE(None),
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p),
        ctypes.CFUNCTYPE(None, ctypes.c_int),
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p),
    ],
    ids=["no argument", "returns", "int", "two"],
)
def test_a_c_function_of_another_prototype_is_refused(prototype, capturing):
    with pytest.raises(TypeError, match="CUhostFn"):
        capturing.callback(prototype(lambda *a: 0))
    assert nodes_of(capturing) == set()


@pytest.mark.parametrize("data", [0, 1, b"", b"data"])
def test_user_data_is_for_c_functions(data, capturing):
    with pytest.raises(ValueError, match="user_data is for ctypes function pointers only"):
        capturing.callback(print, user_data=data)
    assert nodes_of(capturing) == set()


@pytest.mark.parametrize("data", ["text", 1.5, [1, 2], ("a",)], ids=str)
def test_user_data_is_an_int_or_bytes(data, capturing):
    with pytest.raises(TypeError):
        capturing.callback(HOST_FN(lambda p: None), user_data=data)
    assert nodes_of(capturing) == set()


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview], ids=lambda t: t.__name__)
def test_bytes_are_copied(make, capturing, stream):
    source = bytearray(b"\x07\x00\x00\x00")
    seen = []
    note = HOST_FN(lambda p: seen.append(ctypes.c_int.from_address(p).value))
    capturing.callback(note, user_data=make(source))
    source[0] = 9
    del note
    gc.collect()
    capturing.end_building().complete().launch(stream)
    stream.sync()
    assert seen == [7]


def test_no_bytes_are_a_null(capturing, stream):
    seen = []
    capturing.callback(HOST_FN(seen.append), user_data=b"")
    capturing.end_building().complete().launch(stream)
    stream.sync()
    assert seen == [None]


def test_a_wait_raises_an_exception_and_the_graph_goes_on(capturing, kernels, pinned, stream):
    x = pinned([0])

    def fail():
        raise ZeroDivisionError

    capturing.callback(fail)
    cg.launch(capturing, ONE, kernels.add, x.ctypes.data, 1, 1)
    graph = capturing.end_building().complete()
    for _ in range(2):
        graph.launch(stream)
    with pytest.raises(ExceptionGroup) as raised:
        stream.sync()
    assert x[0] == 2
    assert [type(e) for e in raised.value.exceptions] == [ZeroDivisionError] * 2


@pytest.mark.parametrize("holder", ["builder", "definition", "executable", "launch"])
def test_callback_lives_as_long_as_its_last_holder(holder, device, stream, eventually, kernels, pinned):
    flag, counter = pinned([0]), Counter()
    there = weakref.ref(counter)
    builder = device.create_graph_builder().begin_building()
    if holder == "launch":
        cg.launch(builder, ONE, kernels.wait_for, flag.ctypes.data)
    builder.callback(counter)
    del counter
    builder.end_building()
    held = builder
    if holder == "definition":
        held = builder.graph_definition
    if holder in ("executable", "launch"):
        held = builder.complete()
    builder.close()  # gives up the graph
    del builder
    gc.collect()
    if holder != "builder":
        assert there() is not None
    if holder == "launch":
        held.launch(stream)
        held.close()
        del held
        gc.collect()
        assert there() is not None
        flag[0] = 1
        stream.sync()
    else:
        del held
    eventually(lambda: there() is None)


def test_the_graph_of_an_open_builder_keeps_it(capturing, eventually):
    counter = Counter()
    there = weakref.ref(counter)
    capturing.callback(counter)
    del counter
    gc.collect()
    assert there() is not None
    capturing.end_building()
    gc.collect()
    assert there() is not None
    capturing.close()
    eventually(lambda: there() is None)


def test_callback_that_the_driver_refuses_is_released(capturing, driver_table, eventually):
    counter = Counter()
    there = weakref.ref(counter)
    driver_table.refuse_once("cuLaunchHostFunc", FAILURE)
    with pytest.raises(cg.CUDAError) as caught:
        capturing.callback(counter)
    assert caught.value.code == FAILURE
    del counter, caught
    driver_table.restore()
    eventually(lambda: there() is None)
    assert nodes_of(capturing) == set()


@pytest.mark.parametrize("kind", ["callable", "ctypes"])
def test_callback_whose_node_is_not_found_runs_and_lives_as_long_as_its_graph(
    kind, capturing, driver_table, stream, eventually
):
    counter = Counter()
    there = weakref.ref(counter)
    if kind == "callable":
        fn, data = counter, None
    else:

        @HOST_FN
        def fn(pointer, counter=counter):
            counter.calls += ctypes.c_int.from_address(pointer).value

        data = b"\x01\x00\x00\x00"
    driver_table.refuse_once(
        "cuStreamGetCaptureInfo", 0
    )  # success without results: the stream is in no capture
    with pytest.raises(RuntimeError, match=r"^the node of a captured host callback was not found"):
        capturing.callback(fn, user_data=data)
    driver_table.restore()
    del counter, fn
    gc.collect()
    assert there() is not None
    assert capturing.is_building
    graph = capturing.end_building().complete()
    assert len(capturing.graph_definition.nodes()) == 1
    capturing.close()
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    assert there().calls == 2
    graph.close()
    del graph
    eventually(lambda: there() is None)


def test_error_for_a_node_that_other_code_has_hidden_gives_the_number_of_nodes(
    capturing, driver_table, stream
):
    """Other code changed the dependencies of the capture between the call and the query for its node."""
    counter = Counter()

    def hide():
        status = driver_table.original("cuStreamUpdateCaptureDependencies")(
            capturing.stream.handle, None, None, 0, 1, *[None] * 3
        )
        assert status == 0

    driver_table.interrupt("cuStreamGetCaptureInfo", hide)
    with pytest.raises(
        RuntimeError, match=r"host callback was not found: the stream has 0 last nodes instead of 1"
    ):
        capturing.callback(counter)
    driver_table.restore()
    capturing.end_building().complete().launch(stream)
    stream.sync()
    assert counter.calls == 1
