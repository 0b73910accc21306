# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The work of the other process in test_processes.py; multiprocessing finds it here by its name."""

import faulthandler

import numpy as np
from cuda import core

LIMIT = 40  # seconds that anybody waits for another process


def run(function, *arguments):
    """The function in this process, which says where it is and ends if that takes too long."""
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    function(*arguments)


def ready():
    """A device and a stream of this process."""
    device = core.Device()
    device.set_current()
    return device, device.create_stream()


def ints_of(stream, buffer):
    """Returns a copy of the content of the buffer."""
    host = core.LegacyPinnedMemoryResource().allocate(buffer.size, stream=stream)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    seen = np.from_dlpack(host).view("i4").copy()
    host.close(stream)
    return seen.tolist()


def put(stream, buffer, value):
    """The value in all of the buffer, by a copy: memory of pools of the host is not filled."""
    host = core.LegacyPinnedMemoryResource().allocate(buffer.size, stream=stream)
    np.from_dlpack(host).view("i4")[:] = value
    buffer.copy_from(host, stream=stream)
    stream.sync()
    host.close(stream)


def read_and_write(resource, buffers, value, answers):
    """Sends the content of the pickled buffers, and writes to them."""
    _, stream = ready()
    for buffer in buffers:
        seen = ints_of(stream, buffer)
        answers.put(
            (buffer.is_mapped, buffer.memory_resource.is_mapped, buffer.size, sorted(set(seen)), len(seen))
        )
        put(stream, buffer, value)
        buffer.close(stream)
    stream.sync()
    try:
        resource.allocate(64, stream=stream)
    except Exception as error:
        answers.put(type(error).__name__)
    answers.put(None)


def wait_for_event(events, answers):
    """Waits for an event of the other process. It takes a context to unpickle one, and cuda.core records it once."""
    _, stream = ready()
    event = events.get(timeout=LIMIT)
    stream.wait(event)
    stream.sync()
    answers.put((event.is_done, event.is_ipc_enabled, event.is_timing_enabled))
    answers.put(None)


def read_by_descriptors(handle, descriptor, answers):
    """Sends the content of the memory of a handle and a descriptor, without pickled resources."""
    device, stream = ready()
    resource = core.DeviceMemoryResource.from_allocation_handle(device, handle)
    buffer = core.Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)
    answers.put(sorted(set(ints_of(stream, buffer))))
    buffer.close(stream)
    stream.sync()
    resource.close()
    answers.put(None)
