# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of waits: Ctrl-C and timeouts end them, the work goes on, and a later wait is as good as the first."""

import gc
import os
import re
import signal
import threading
import time

import numpy as np
import pytest

import cuda_graphs as cg

SOURCE = """
#include <cuda_graphs.h>
extern "C" __global__ void spin(volatile int* flag) { while (*flag == 0) {} }
extern "C" __global__ void go_on(cudaGraphConditionalHandle go, volatile int* flag) {
    cudaGraphSetConditional(go, *flag == 0);
}
extern "C" __global__ void add(int* x) { *x += 1; }
"""
ONE = cg.LaunchConfig(grid=1, block=1)
PATIENCE_S = 60  # a wait that must not end by itself has this limit, so that a broken law fails


@pytest.fixture(scope="module")
def module(session_device):
    """The kernels. Each has run once: a GPU may load a kernel only when its device is idle."""
    module = cg.Program(SOURCE).compile()
    session_device.set_current()
    stream = session_device.create_stream()
    total = session_device.allocate(4, stream=stream)
    total.fill(1, stream=stream)
    for name in ("spin", "add"):
        cg.launch(stream, ONE, module.get_kernel(name), total)
    stream.sync()
    total.close(stream=stream)
    stream.sync()
    return module


@pytest.fixture(autouse=True)
def python_handles_sigint():
    """A shell starts background processes with SIGINT ignored; Python then installs no handler."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def flag(device):
    """A word in pinned memory: device loops end once it is not 0."""
    word = np.from_dlpack(cg.PinnedMemoryResource().allocate(4)).view(np.int32)
    word[0] = 0
    yield word
    word[0] = 1
    device.sync()


def launch_kernel(module, stream, flag):
    cg.launch(stream, ONE, module.get_kernel("spin"), flag.ctypes.data)


def launch_loop(module, stream, flag):
    """Returns the graph: the driver may wait for a running loop when its graph ends."""
    g = cg.GraphDef()
    go = g.create_condition(default_value=1)
    g.while_loop(go).body.launch(ONE, module.get_kernel("go_on"), go, flag.ctypes.data)
    graph = g.instantiate()
    graph.launch(stream)
    return graph


WORK = {"a kernel": launch_kernel, "a device loop": launch_loop}


@pytest.fixture(params=WORK)
def endless(request, device, module, stream, flag):
    """A function that starts work on the stream that ends once the flag is set."""

    graphs = []

    def start():
        graphs.append(WORK[request.param](module, stream, flag))

    start()
    flag[0] = 1  # later starts find that the work was short before
    stream.sync()
    flag[0] = 0
    start()
    yield start
    flag[0] = 1
    stream.sync()


@pytest.fixture
def array(device):
    array = cg.ndarray(cg.f32, 4)
    array.to_numpy()  # allocates its memory, for which a GPU may wait
    return array


@pytest.fixture
def waits(device, stream, array, endless):
    """Every wait for the endless work, by name."""
    event = stream.record()
    return {
        "stream": stream.sync,
        "event": event.sync,
        "device": device.sync,
        "array": array.to_numpy,
        "element": lambda: array[0],
        "assignment": lambda: array.__setitem__(0, 1.0),
    }


KINDS = ("stream", "event", "device", "array", "element", "assignment")
WITH_TIMEOUT = KINDS[:4]


def interrupt_while(wait):
    """Sends SIGINT while the main thread waits. Returns the KeyboardInterrupt and the seconds from the signal to it."""
    sent = []

    def send():
        time.sleep(0.05)  # the signal may also come before the wait: the law is the same
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)

    def be_interrupted():
        sender.start()
        wait()
        sender.join()
        time.sleep(0.01)  # a wait that ended by itself still gets its signal here
        pytest.fail("the wait ended without KeyboardInterrupt")

    with pytest.raises(KeyboardInterrupt) as raised:
        be_interrupted()
    caught = time.monotonic()
    sender.join()
    return raised.value, caught - sent[0]


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupt_ends_the_wait_of_the_main_thread(kind, waits, stream, flag):
    _error, seconds = interrupt_while(waits[kind])
    assert seconds < 2  # 0.2 on a machine that does nothing else
    assert not stream.record().is_done
    flag[0] = 1
    waits[kind]()
    stream.sync()


@pytest.mark.parametrize("kind", WITH_TIMEOUT)
@pytest.mark.parametrize("timeout", [0, 0.001, 0.12, np.float32(0.01)])
def test_a_timeout_ends_the_wait(kind, timeout, waits, flag):
    with pytest.raises(TimeoutError, match="still runs"):
        waits[kind](timeout=timeout)
    flag[0] = 1
    assert waits[kind](timeout=PATIENCE_S) is None or kind == "array"
    waits[kind](timeout=0 if kind != "event" else None)


@pytest.mark.parametrize("kind", WITH_TIMEOUT)
def test_a_timeout_also_ends_the_wait_of_another_thread(kind, device, waits):
    errors = []

    def wait():
        device.set_current()
        try:
            waits[kind](timeout=0.01)
        except TimeoutError as error:
            errors.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    assert len(errors) == 1


def test_a_timeout_of_zero_is_a_query(device, stream, module):
    total = device.allocate(4, stream=stream)
    stream.sync()
    cg.launch(stream, ONE, module.get_kernel("add"), total)
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            stream.sync(timeout=0)
            break
        except TimeoutError:
            continue
    else:
        pytest.fail("the work does not end while it is only asked for")


@pytest.mark.parametrize("kind", WITH_TIMEOUT)
@pytest.mark.parametrize(
    ("timeout", "error", "text"),
    [
        ("1", TypeError, "timeout must be a number of seconds or None, got str"),
        ([], TypeError, "timeout must be a number of seconds or None, got list"),
        (-0.5, ValueError, "timeout must not be negative, got -0.5"),
        (float("nan"), ValueError, "timeout must not be negative, got nan"),
    ],
)
def test_a_wrong_timeout_is_refused(kind, timeout, error, text, waits):
    with pytest.raises(error, match=re.escape(text)):
        waits[kind](timeout=timeout)


def test_an_endless_timeout_is_no_limit(stream, device):
    for wait in (stream.sync, device.sync, stream.record().sync):
        wait(timeout=float("inf"))
        wait(timeout=1e300)


def test_the_message_names_the_stream_and_its_last_launch(device, module, stream, flag):
    launch_kernel(module, stream, flag)
    event = stream.record()
    running = rf"work of stream {stream.handle:#x}, up to kernel 'spin', still runs"
    for wait, name in ((stream.sync, stream), (event.sync, event), (device.sync, device)):
        with pytest.raises(
            TimeoutError, match=f"{re.escape(repr(name))} is not done after 0.01 s: {running}"
        ):
            wait(timeout=0.01)
    error, _ = interrupt_while(stream.sync)
    assert re.search(f"interrupted while waiting for {re.escape(repr(stream))}: {running}", str(error))


def test_the_message_names_a_graph(device, module, stream, flag):
    g = cg.GraphDef()
    g.launch(ONE, module.get_kernel("spin"), flag.ctypes.data)
    graph = g.instantiate()
    graph.launch(stream)
    with pytest.raises(TimeoutError, match=f"up to {re.escape(repr(graph))}, still runs"):
        stream.sync(timeout=0.01)


def test_a_wait_for_a_device_names_all_busy_streams(device, module, flag):
    streams = [device.create_stream() for _ in range(3)]
    for stream in streams[:2]:
        launch_kernel(module, stream, flag)
    with pytest.raises(TimeoutError) as raised:
        device.sync(timeout=0.01)
    assert [f"{stream.handle:#x}," in str(raised.value) for stream in streams] == [True, True, False]


def test_the_stream_takes_work_after_an_interrupt(device, stream, endless, module, flag):
    total = device.allocate(4, stream=stream)
    total.fill(0, stream=stream)
    interrupt_while(stream.sync)
    for _ in range(3):
        cg.launch(stream, ONE, module.get_kernel("add"), total)
    host = np.empty(1, np.int32)
    flag[0] = 1
    stream.sync()
    cg.Buffer.from_handle(host.ctypes.data, 4, owner=host).copy_from(total, stream=stream)
    stream.sync()
    assert host[0] == 3


def test_other_signals_run_their_handlers_and_the_wait_goes_on(device, stream, endless, flag):
    def handler(number, frame):
        flag[0] = 1  # without the handler the wait would not end

    before = signal.signal(signal.SIGUSR1, handler)
    sender = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        sender.start()
        stream.sync(timeout=PATIENCE_S)
    finally:
        sender.join()
        signal.signal(signal.SIGUSR1, before)
    assert flag[0] == 1


def test_an_exception_of_the_handler_of_the_program_ends_the_wait(device, stream, endless):
    class StopNow(Exception):
        pass

    def handler(number, frame):
        raise StopNow

    before = signal.signal(signal.SIGUSR1, handler)
    sender = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        sender.start()
        with pytest.raises(StopNow):
            stream.sync(timeout=PATIENCE_S)
    finally:
        sender.join()
        signal.signal(signal.SIGUSR1, before)


def test_a_text_of_the_handler_of_the_program_stays(stream, endless):
    def handler(number, frame):
        raise KeyboardInterrupt("mine")

    before = signal.signal(signal.SIGINT, handler)
    try:
        error, _ = interrupt_while(stream.sync)
    finally:
        signal.signal(signal.SIGINT, before)
    assert error.args == ("mine",)
    assert "still runs" in error.__notes__[0]


def test_an_interrupted_wait_for_brief_operations_ends_too(device, stream, module, flag):
    """A queue of brief operations may take long in total."""
    total = device.allocate(4, stream=stream)
    add = module.get_kernel("add")
    for _ in range(3):
        cg.launch(stream, ONE, add, total)
    stream.sync()
    launch_kernel(module, stream, flag)
    for _ in range(300):  # a GPU takes about 1,000 launches before it is done
        cg.launch(stream, ONE, add, total)
    interrupt_while(stream.sync)
    flag[0] = 1
    stream.sync(timeout=PATIENCE_S)


def test_closed_objects_are_not_waited_for(device):
    stream, event = device.create_stream(), device.create_event()
    stream.close()
    event.close()
    for wait in (stream.sync, event.sync):
        with pytest.raises(RuntimeError, match="has been closed"):
            wait(timeout=1)
    gc.collect()
