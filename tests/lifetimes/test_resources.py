# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: who holds a handle keeps the resource and all that it depends on; the last one gives it back, and only that one.

In each test the parents are deleted and collected before the child is used.
"""

import contextlib
import gc
import threading

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.resources import boxes

FILL = """
extern "C" __global__ void fill(int* x, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value;
}
extern "C" __global__ void spin(volatile int* flag) { while (*flag == 0) {} }
"""


def live(kind):
    gc.collect()
    return boxes.live()[kind]


def pinned(n, dtype=np.int32):
    array = np.from_dlpack(cg.PinnedMemoryResource().allocate(n * np.dtype(dtype).itemsize)).view(dtype)
    array[:] = 0
    return array


def test_an_event_outlives_the_stream_that_it_was_recorded_on(device):
    before = live("stream")
    stream = device.create_stream()
    event = stream.record(options={"timing_enabled": True})
    del stream
    assert live("stream") == before
    event.sync()
    assert event.is_done
    assert event.device is device


def test_a_buffer_keeps_the_stream_that_frees_it(device):
    before = live("stream")
    buffer = device.allocate(256, stream=device.create_stream())
    assert live("stream") == before + 1
    buffer.fill(3, stream=device.default_stream)
    device.sync()
    buffer.close()
    assert live("stream") == before


def test_a_buffer_that_is_closed_on_another_stream_lets_the_first_one_go(device):
    before = live("stream")
    other = device.create_stream()
    buffer = device.allocate(256, stream=device.create_stream())
    buffer.close(other)
    assert live("stream") == before + 1
    other.sync()


def test_a_buffer_keeps_its_pool(device, stream):
    before = live("pool")
    resource = cg.DeviceMemoryResource(device, {})
    buffer = resource.allocate(256, stream=stream)
    del resource
    buffer.fill(1, stream=stream)
    stream.sync()
    assert buffer.memory_resource.handle != device.memory_resource.handle
    buffer.close()
    assert live("pool") == before


def test_a_kernel_keeps_its_library(device, stream):
    before = live("library")
    fill = cg.Program(FILL).compile().get_kernel("fill")
    assert live("library") == before + 1
    x = pinned(64)
    cg.launch(stream, cg.LaunchConfig(grid=1, block=64), fill, x.ctypes.data, 64, 5)
    stream.sync()
    assert (x == 5).all()
    del fill
    assert live("library") == before


def test_code_may_be_dropped_while_its_kernel_runs(device, stream):
    flag = pinned(1)
    spin = cg.Program(FILL).compile().get_kernel("spin")
    cg.launch(stream, cg.LaunchConfig(grid=1, block=1), spin, flag.ctypes.data)

    def release():
        flag[0] = 1

    timer = threading.Timer(0.05, release)
    timer.start()  # unloading may wait for the kernel, so another thread ends it
    del spin
    gc.collect()
    stream.sync()
    timer.join()


def test_a_stream_may_be_closed_while_its_work_runs(device):
    flag, x = pinned(1), pinned(64)
    code = cg.Program(FILL).compile()
    spin, fill = code.get_kernel("spin"), code.get_kernel("fill")
    stream = device.create_stream()
    cg.launch(stream, cg.LaunchConfig(grid=1, block=1), spin, flag.ctypes.data)
    cg.launch(stream, cg.LaunchConfig(grid=1, block=64), fill, x.ctypes.data, 64, 5)
    event = stream.record()
    stream.close()
    flag[0] = 1
    event.sync()
    assert (x == 5).all()


def test_memory_that_is_freed_in_stream_order_serves_the_work_before(device, stream):
    flag, host = pinned(1), pinned(64)
    code = cg.Program(FILL).compile()
    memory = device.allocate(256, stream=stream)
    cg.launch(stream, cg.LaunchConfig(grid=1, block=1), code.get_kernel("spin"), flag.ctypes.data)
    cg.launch(stream, cg.LaunchConfig(grid=1, block=64), code.get_kernel("fill"), memory, 64, 5)
    cg.Buffer.from_handle(host.ctypes.data, 256).copy_from(memory, stream=stream)
    memory.close()
    flag[0] = 1
    stream.sync()
    assert (host == 5).all()


def test_the_context_lives_as_long_as_the_process(device, run_child):
    child = run_child(
        """
import gc, threading, cuda_graphs as cg
from cuda_graphs.core.resources import boxes
streams = []
def work():
    device = cg.Device(); device.set_current(); streams.append(device.create_stream())
thread = threading.Thread(target=work); thread.start(); thread.join()
gc.collect()
assert boxes.live()["context"] == 1
streams[0].sync()
streams.clear()
gc.collect()
assert boxes.live()["context"] == 1 and boxes.live()["stream"] == 2
"""
    )
    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")


MAKERS = {
    "stream": lambda d: d.create_stream(),
    "event": lambda d: d.create_event(),
    "pointer": lambda d: d.allocate(64),
    "pool": lambda d: cg.DeviceMemoryResource(d, {}),
    "kernel": lambda d: cg.Program(FILL).compile().get_kernel("fill"),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_box_is_counted_from_its_making_to_its_end(device, kind):
    before = live(kind)
    one = MAKERS[kind](device)
    assert live(kind) == before + 1
    two = MAKERS[kind](device)
    assert live(kind) == before + 2
    del one
    assert live(kind) == before + 1
    del two
    assert live(kind) == before


@pytest.mark.parametrize("kind", MAKERS)
def test_the_last_reference_may_go_on_a_thread_that_never_saw_cuda(device, kind):
    before = live(kind)
    box = [MAKERS[kind](device)]
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    assert live(kind) == before


def test_memory_of_a_default_stream_is_really_freed_on_a_thread_without_a_context(device):
    size = 1 << 25
    resource = cg.DeviceMemoryResource(device, {"max_size": size})
    for stream in (cg.LEGACY_DEFAULT_STREAM, cg.PER_THREAD_DEFAULT_STREAM):
        for _ in range(3):  # a pool of this size cannot hold two
            box = [resource.allocate(size, stream=stream)]
            thread = threading.Thread(target=box.clear)
            thread.start()
            thread.join()
            device.sync()


@pytest.mark.parametrize("kind", MAKERS)
def test_a_reference_cycle_is_collected(device, kind):
    class Holder:
        pass

    before = live(kind)
    holder = Holder()
    holder.self, holder.resource = holder, MAKERS[kind](device)
    del holder
    assert live(kind) == before


def test_failures_leave_no_box(device, stream):
    before = boxes.live()
    for _ in range(5):
        with pytest.raises(cg.CUDAError):
            device.allocate(1 << 60, stream=stream)
        with pytest.raises(cg.CUDAError):
            cg.PinnedMemoryResource().allocate(1 << 60)
        with pytest.raises(cg.CUDAError):
            cg.ObjectCode.from_ptx(b"no ptx").get_kernel("f")
    gc.collect()
    assert boxes.live() == before


def test_errors_of_a_thread_are_its_own(device):
    """A noted error of one thread is never raised on another."""
    failures = []

    def work(size, kind):
        try:
            cg.Device(0).set_current()
            for _ in range(100):
                with pytest.raises(kind) if kind else contextlib.nullcontext():
                    cg.Device(0).allocate(size).close()
        except BaseException as error:
            failures.append(error)

    threads = [
        threading.Thread(target=work, args=((1 << 60, cg.CUDAOutOfMemoryError) if i % 2 else (64, None)))
        for i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failures == []
