# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: processes share memory of cuda.core as with NVIDIA's driver: what one writes the other reads, and memory lives
until its last user is gone. The other process is one of multiprocessing, of a program on the host driver.
"""

import gc
import multiprocessing
import os

import numpy as np
import pytest
from cuda import core

from tests.standin.core import processes

INTS = 256


@pytest.fixture(autouse=True, scope="module")
def spawn():
    """cuda.core asks for the default, and warns of "fork"."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method("spawn", force=True)
    yield
    multiprocessing.set_start_method(before, force=True)


def other_process(function, *arguments):
    """Runs a function of processes.py in a process of its own; what that put into its answers, up to None."""
    answers = multiprocessing.Queue()
    child = multiprocessing.Process(target=processes.run, args=(function, *arguments, answers), daemon=True)
    child.start()
    seen = list(iter(lambda: answers.get(timeout=processes.LIMIT), None))
    child.join(processes.LIMIT)
    assert child.exitcode == 0
    return seen


def open_files():
    return len(os.listdir("/proc/self/fd"))


def shared_resource(kind, device):
    if kind == "device":
        options = core.DeviceMemoryResourceOptions(ipc_enabled=True, max_size=1 << 21)
        return core.DeviceMemoryResource(device, options)
    return core.PinnedMemoryResource(core.PinnedMemoryResourceOptions(ipc_enabled=True))


@pytest.mark.parametrize("kind", ["device", "pinned"])
def test_pickled_memory_is_the_same_memory(device, stream, kind):
    resource = shared_resource(kind, device)
    buffers = [resource.allocate(4 * INTS, stream=stream) for _ in range(2)]
    for value, buffer in enumerate(buffers):
        processes.put(stream, buffer, value + 5)
    seen = other_process(processes.read_and_write, resource, buffers, 9)
    assert seen[:2] == [(True, True, 4 * INTS, [value], INTS) for value in (5, 6)]
    assert len(seen) == 3  # nothing is allocated from a pool of another process
    assert [processes.ints_of(stream, buffer) for buffer in buffers] == [[9] * INTS] * 2
    assert not any(buffer.is_mapped for buffer in buffers)
    for buffer in buffers:
        buffer.close(stream)


def test_descriptors_tell_of_memory(device, stream):
    resource = shared_resource("device", device)
    buffer = resource.allocate(4 * INTS, stream=stream)
    buffer.fill(np.int32(-3), stream=stream)
    stream.sync()
    seen = other_process(processes.read_by_descriptors, resource.allocation_handle, buffer.ipc_descriptor)
    assert seen == [[-3]]


def test_an_event_is_the_same_event(device, stream):
    event = stream.record(options=core.EventOptions(ipc_enabled=True))
    events = multiprocessing.Queue()
    events.put(event)
    assert other_process(processes.wait_for_event, events) == [(True, True, False)]
    event.sync()
    assert event.is_done


def test_pools_that_were_shared_leave_nothing_behind(device, stream):
    shared_resource("device", device).close()
    gc.collect()
    before = open_files()
    for _ in range(20):
        resource = shared_resource("device", device)
        buffer = resource.allocate(4 * INTS, stream=stream)
        assert resource.allocation_handle is not None
        buffer.close(stream)
        stream.sync()
        resource.close()
    assert open_files() <= before  # queues of earlier tests may have gone meanwhile
