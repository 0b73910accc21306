# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the last reference to an object may be dropped inside a host function, where the driver may not be called. The
object is destroyed later, once, and without a message.

Host functions are of three sorts: Python callables, which we mark; ctypes functions, which the driver calls without us;
and those of other libraries on any stream. In the last two it is the driver's refusal that puts the end off.
"""

import ctypes
import gc
import threading

import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes
from tests.graph_rig import ONE

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
REFUSED = 800  # CUDA_ERROR_NOT_PERMITTED


class Resource(cg.MemoryResource):
    """Gives memory that it never had."""

    is_device_accessible, is_host_accessible, device_id = True, True, 0
    returned = 0

    def deallocate(self, ptr, size, *, stream):
        Resource.returned += 1


# The object of the last reference, and the driver function that destroys it.
RESOURCES = {
    "stream": ("cuStreamDestroy", lambda n: n.device.create_stream()),
    "event": ("cuEventDestroy", lambda n: n.device.create_event()),
    "pool": ("cuMemPoolDestroy", lambda n: cg.DeviceMemoryResource(n.device, {})),
    "memory_of_a_pool": ("cuMemFreeAsync", lambda n: n.device.allocate(64, stream=n.stream)),
    "memory_of_the_device": ("cuMemFree", lambda n: cg.SynchronousMemoryResource(n.device).allocate(64)),
    "pinned_memory": ("cuMemFreeHost", lambda n: cg.PinnedMemoryResource().allocate(64)),
    "view_of_pinned_memory": (
        "cuMemFreeHost",
        lambda n: cg.PinnedMemoryResource().allocate(64).__dlpack__(),
    ),
    "kernel": ("cuLibraryUnload", lambda n: n.fresh_kernels().nothing),
    "definition": ("cuGraphDestroy", lambda n: cg.GraphDef()),
    "node": ("cuGraphDestroy", lambda n: cg.GraphDef().launch(ONE, n.kernels.nothing)),
    "body": ("cuGraphDestroy", lambda n: (lambda g: g.if_then(g.create_condition(0)).then)(cg.GraphDef())),
    "executable": ("cuGraphExecDestroy", lambda n: cg.GraphDef().instantiate()),
    "executable_with_owners": ("cuGraphExecDestroy", lambda n: launched(n)),
    "capture": ("cuStreamEndCapture", lambda n: n.device.create_graph_builder().begin_building()),
    "captured_graph": (
        "cuGraphDestroy",
        lambda n: n.device.create_graph_builder().begin_building().end_building(),
    ),
}


def launched(needs):
    g = cg.GraphDef()
    g.launch(ONE, needs.fresh_kernels().nothing)
    graph = g.instantiate()
    graph.launch(needs.stream)
    return graph


class Needs:
    """The objects that resources are made with."""


@pytest.fixture
def needs(device, stream, kernels, fresh_kernels):
    made = Needs()
    made.device, made.stream, made.kernels, made.fresh_kernels = device, stream, kernels, fresh_kernels
    return made


@pytest.fixture
def inside(run, raw, stream):
    """inside(sort, function): calls it in a host function of that sort."""

    def call(sort, function):
        if sort == "others":
            pointer = FUNCTION(lambda _: function())
            raw("cuLaunchHostFunc", ctypes.c_void_p(stream.handle), pointer, None)
            stream.sync()
            return
        g = cg.GraphDef()
        g.callback(function if sort == "callable" else FUNCTION(lambda _: function()))
        run(g).close()

    return call


@pytest.mark.parametrize("sort", ["callable", "ctypes", "others"])
@pytest.mark.parametrize("kind", RESOURCES)
def test_the_last_reference_may_go_in_a_host_function(
    sort, kind, needs, inside, driver_table, eventually, capfd
):
    function, make = RESOURCES[kind]
    gc.collect()
    before = boxes.live()
    held = [make(needs)]
    calls, there = driver_table.watch(function), []

    def drop():
        start = len(calls)
        held.clear()
        gc.collect()
        boxes.drain()
        there.extend(call.status for call in calls[start:] if call.thread == threading.get_ident())

    inside(sort, drop)
    assert held == []
    eventually(lambda: boxes.live() == before)
    driver_table.restore()
    assert set(there) <= (set() if sort == "callable" else {0, REFUSED})
    assert {call.status for call in calls} - {REFUSED} == {0}
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("sort", ["callable", "ctypes", "others"])
def test_closing_in_a_host_function_is_dropping(sort, needs, inside, eventually):
    before = boxes.live()
    things = [needs.device.create_stream(), needs.device.create_event(), needs.device.allocate(64)]
    things += [launched(needs), needs.device.create_graph_builder().begin_building()]
    inside(sort, lambda: [thing.close() for thing in things])
    assert all(thing.is_closed for thing in things)
    eventually(lambda: boxes.live() == before)


def test_memory_goes_back_to_a_resource_of_python_after_the_host_function(needs, inside, eventually):
    before, seen = Resource.returned, []
    held = [cg.Buffer.from_handle(16, 64, mr=Resource())]

    def drop():
        held.clear()
        seen.append(Resource.returned)

    inside("callable", drop)
    assert seen == [before]
    eventually(lambda: Resource.returned == before + 1)


@pytest.mark.parametrize("sort", ["callable", "ctypes", "others"])
def test_many_at_once_lose_nothing(sort, needs, inside, eventually):
    before = boxes.live()
    held = [needs.device.create_event() for _ in range(1000)]
    inside(sort, held.clear)
    eventually(lambda: boxes.live() == before)


@pytest.mark.parametrize("sort", ["callable", "ctypes"])
def test_calling_the_driver_there_is_an_error_that_says_so(sort, needs, inside):
    caught = []

    def use():
        try:
            needs.device.create_event()
        except cg.CUDAError as error:
            # Not itself: its traceback would keep the graph, for ever.
            caught.append((error.code, str(error)))

    inside(sort, use)
    ((code, text),) = caught
    assert code == REFUSED
    assert "inside a host callback" in text


PROGRAM = """
import ctypes
import cuda_graphs as cg
device = cg.Device(); device.set_current(); stream = device.create_stream()
g = cg.GraphDef()
g.callback(int)
held = [device.create_stream(), device.create_event(), device.allocate(64), cg.PinnedMemoryResource().allocate(64),
        cg.DeviceMemoryResource(device, {{}}), cg.GraphDef().join(), g.instantiate()]
del g
function = {function}
h = cg.GraphDef()
h.callback(function)
graph = h.instantiate()
graph.launch(stream)
{end}
print("last line")
"""
FUNCTIONS = {
    "callable": "held.clear",
    "ctypes": "ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: held.clear())",
}


@pytest.mark.parametrize("end", ["stream.sync()", ""], ids=["after", "in_flight"])
@pytest.mark.parametrize("sort", FUNCTIONS)
def test_a_process_may_end_before_they_are_given_back(sort, end, run_child):
    done = run_child(PROGRAM.format(function=FUNCTIONS[sort], end=end))
    assert (done.returncode, done.stdout, done.stderr) == (0, "last line\n", "")


# Python that runs while a handle goes: each line names `last`, a temporary that is dropped while an exception unwinds.
AT_THE_END = {
    "callable": "g.callback(run)",
    "ctypes": "g.callback(FUNCTION(lambda _: run()))",
    "others": "pointer = FUNCTION(lambda _: run()); raw('cuLaunchHostFunc', c_void_p(stream.handle), pointer, None)",
    "user_object_of_others": "keep(owned); last = owned",
    "resource_in_python": "last = cg.Buffer.from_handle(16, 64, mr=Resource())",
    "reference": "h = cg.GraphDef(); h.callback(Last()); last = h; del h",
}
UNWINDING = """
import ctypes
from ctypes import c_void_p
import cuda_graphs as cg
from cuda_graphs.core.driver import choice
device = cg.Device(); device.set_current(); stream = device.create_stream()
library = ctypes.CDLL(cg.driver_info().path)
FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

def raw(name, *args):
    assert getattr(library, name)(*args) == 0, name

ran = []

def run():
    try:
        {{}}["nothing"]
    except KeyError:
        ran.append(1)

class Last:
    def __call__(self):
        pass
    def __del__(self):
        run()

class Resource(cg.MemoryResource):
    is_device_accessible, is_host_accessible, device_id = True, True, 0
    def deallocate(self, ptr, size, *, stream):
        run()

destructor = FUNCTION(lambda _: run())

def keep(graph):
    made = ctypes.c_void_p()
    raw("cuUserObjectCreate", ctypes.byref(made), None, destructor, 1, 1)
    raw("cuGraphRetainUserObject", ctypes.c_void_p(graph.handle), made, 1, 1)

g, owned = cg.GraphDef(), cg.GraphDef()
last = cg.SynchronousMemoryResource(device).allocate(64)  # to free it is to wait for the device
{case}
del owned
graph = g.instantiate()
graph.launch(stream)
held = [last]
del last

def fail():
    raise ZeroDivisionError("on its way")

for _ in range(1):
    try:
        print(held.pop(), fail())
    except ZeroDivisionError as error:
        assert error.args == ("on its way",)
        print("caught")
stream.sync()
print(len(ran))
"""


@pytest.mark.parametrize("case", AT_THE_END)
def test_exception_on_its_way_survives_python_that_runs_while_handles_go(case, run_child):
    done = run_child(UNWINDING.format(case=AT_THE_END[case]), CUDA_GRAPHS_HOST_THREADS="0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "caught\n1\n", "")


SIGNALLED = """
import ctypes, os, signal, threading
import cuda_graphs as cg
device = cg.Device(); device.set_current(); stream = device.create_stream()
seen = []

class Told(Exception):
    pass

def handler(number, frame):
    device.create_event().close()  # the driver may be called in a handler
    seen.append(threading.current_thread() is threading.main_thread())
    raise Told

signal.signal(signal.SIGINT, {handler})
FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
ended = []

def host():
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):
        len(ended)
    ended.append(1)

g = cg.GraphDef()
g.callback({function})
graph = g.instantiate()
buffer = cg.SynchronousMemoryResource(device).allocate(64)
for turn in range(3):
    try:
        graph.launch(stream)
        event = stream.record()
        {wait}
        for _ in range(1000):
            len(ended)
        print("lost")
    except {error}:
        stream.sync()
        print(len(ended))
print(set(seen))
"""
HANDLERS = {
    "default": ("signal.default_int_handler", "KeyboardInterrupt", "set()"),
    "own": ("handler", "Told", "{True}"),
}
SIGNALLED_WAITS = {
    "stream": "stream.sync()",
    "event": "event.sync()",
    "device": "device.sync()",
    "dealloc": "buffer = cg.SynchronousMemoryResource(device).allocate(64)",
    # Not `while not event.is_done: pass`: CPython 3.13.0 does not catch what a handler raises in the test of that loop.
    "query": "any(event.is_done for _ in iter(int, 1))",
}


@pytest.mark.parametrize("threads", ["0", "2"])
@pytest.mark.parametrize("function", ["host", "FUNCTION(lambda _: host())"], ids=["callable", "ctypes"])
@pytest.mark.parametrize("handler", HANDLERS)
@pytest.mark.parametrize("wait", SIGNALLED_WAITS)
def test_signal_during_a_host_function_is_handled_after_it(wait, handler, function, threads, run_child):
    """The handler runs in the main thread, may call the driver, and its exception leaves the wait."""
    name, error, seen = HANDLERS[handler]
    code = SIGNALLED.format(handler=name, error=error, wait=SIGNALLED_WAITS[wait], function=function)
    done = run_child(code, CUDA_GRAPHS_HOST_THREADS=threads)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"1\n2\n3\n{seen}\n"
