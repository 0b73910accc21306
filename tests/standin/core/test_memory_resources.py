# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: memory of every memory resource is what the resource says, and kernels and copies see the same bytes."""

import numpy as np
import pytest
from cuda import core

from tests.standin.bindings.answers import d as driver
from tests.standin.bindings.answers import ok

INTS = 256


def launch(stream, kernel, address, n=INTS):
    config = core.LaunchConfig(grid=-(-n // 64), block=64)
    core.launch(stream, config, kernel("affine"), address, np.int32(3), np.int32(1), np.int32(n))


def of_the_host(resource):
    """Returns whether a resource is a pool of the host. On an H200 copies reach its memory; fills fail and kernels
    fault: "their default accessibility will be from the host CPU" (cuMemPoolCreate).
    """
    return isinstance(resource, core.PinnedMemoryResource)


def put(stream, buffer, value):
    """Fills the buffer; by a copy where it is the host's."""
    if not of_the_host(buffer.memory_resource):
        buffer.fill(np.int32(value), stream=stream)
        return
    with pytest.raises(Exception, match="CUDA_ERROR_INVALID_VALUE"):
        buffer.fill(np.int32(value), stream=stream)
    host = core.LegacyPinnedMemoryResource().allocate(buffer.size, stream=stream)
    np.from_dlpack(host).view("i4")[:] = value
    buffer.copy_from(host, stream=stream)
    stream.sync()
    host.close(stream)


def written(stream, buffer):
    """Returns a copy of the content of the buffer."""
    host = core.LegacyPinnedMemoryResource().allocate(buffer.size, stream=stream)
    buffer.copy_to(host, stream=stream)
    stream.sync()
    seen = np.from_dlpack(host).view("i4").copy()
    host.close(stream)
    return seen


RESOURCES = {
    "the device's own": lambda device: device.memory_resource,
    "a pool": lambda device: core.DeviceMemoryResource(
        device, core.DeviceMemoryResourceOptions(max_size=1 << 24)
    ),
    "pinned, a pool": lambda device: core.PinnedMemoryResource(),
    "pinned, of a node": lambda device: core.PinnedMemoryResource(
        core.PinnedMemoryResourceOptions(numa_id=0)
    ),
    "pinned": lambda device: core.LegacyPinnedMemoryResource(),
    "managed": lambda device: core.ManagedMemoryResource(),
    "managed, of a device": lambda device: core.ManagedMemoryResource(
        core.ManagedMemoryResourceOptions(
            preferred_location=device.device_id, preferred_location_type="device"
        )
    ),
}


@pytest.fixture(params=RESOURCES)
def resource(request, device):
    return RESOURCES[request.param](device)


def affine(stream, kernel, buffer):
    """3 x + 1 of all in the buffer: by a kernel, or by the host where that is nothing for kernels."""
    if not of_the_host(buffer.memory_resource):
        launch(stream, kernel, buffer)
        return
    stream.sync()
    seen = np.from_dlpack(buffer).view("i4")
    seen[:] = 3 * seen + 1


def test_memory_holds_what_kernels_and_copies_put_there(resource, stream, kernel):
    buffer = resource.allocate(4 * INTS, stream=stream)
    assert buffer.size == 4 * INTS
    assert buffer.is_device_accessible
    assert (buffer.is_device_accessible, buffer.is_host_accessible, buffer.is_managed) == (
        resource.is_device_accessible,
        resource.is_host_accessible,
        resource.is_managed,
    )
    put(stream, buffer, 5)
    affine(stream, kernel, buffer)
    assert (written(stream, buffer) == 16).all()
    if buffer.is_host_accessible:
        seen = np.from_dlpack(buffer).view("i4")
        assert (seen == 16).all()
        seen[:] = 2
        affine(stream, kernel, buffer)
        stream.sync()
        assert (seen == 7).all()
        del seen
    buffer.close(stream)
    assert buffer.is_closed


def test_memory_is_used_again_in_the_order_of_the_stream(resource, stream, kernel):
    for step in range(20):
        buffer = resource.allocate(4 * INTS, stream=stream)
        put(stream, buffer, step)
        affine(stream, kernel, buffer)
        assert (written(stream, buffer) == 3 * step + 1).all()
        buffer.close(stream)


def test_a_pool_counts_its_memory(device, stream):
    resource = core.DeviceMemoryResource(device, core.DeviceMemoryResourceOptions(max_size=1 << 20))
    attributes = resource.attributes
    assert attributes.used_mem_current == 0
    buffer = resource.allocate(1000, stream=stream)
    assert attributes.used_mem_current >= 1000
    buffer.close(stream)
    stream.sync()
    assert attributes.used_mem_current == 0
    assert attributes.used_mem_high >= 1000
    names = [name for name in dir(attributes) if not name.startswith("_")]
    assert len(names) >= 8
    assert all(isinstance(getattr(attributes, name), (bool, int)) for name in names)
    with pytest.raises(Exception, match="CUDA_ERROR_OUT_OF_MEMORY"):  # a limit is one of whole 32 MiB
        resource.allocate(1 << 26, stream=stream)


def test_pointers_know_their_device(device, stream):
    buffer = device.memory_resource.allocate(64, stream=stream)
    again = core.Buffer.from_handle(int(buffer.handle), buffer.size)
    assert again.device_id == device.device_id
    assert again.is_device_accessible
    assert not again.is_host_accessible


def test_advice_on_managed_memory_is_kept(device, stream):
    """The memory is from cuMemAllocManaged, because an H200 takes no advice on memory of managed pools."""
    memory = ok(driver.cuMemAllocManaged(1 << 16, 1))
    buffer = core.ManagedBuffer.from_handle(int(memory), 1 << 16)
    assert isinstance(buffer, core.ManagedBuffer)
    assert not buffer.read_mostly
    buffer.read_mostly = True
    assert buffer.read_mostly
    buffer.read_mostly = False
    assert not buffer.read_mostly
    buffer.preferred_location = device
    assert buffer.preferred_location == device
    buffer.preferred_location = core.Host()
    assert buffer.preferred_location == core.Host()
    buffer.preferred_location = None
    assert buffer.preferred_location is None
    buffer.accessed_by.add(device)
    assert device in buffer.accessed_by
    buffer.accessed_by.discard(device)
    assert device not in buffer.accessed_by
    buffer.close(stream)
    ok(driver.cuMemFree(memory))


def test_managed_memory_is_prefetched_and_discarded(device, stream, kernel):
    buffer = core.ManagedMemoryResource().allocate(4 * INTS, stream=stream)
    seen = np.from_dlpack(buffer).view("i4")
    seen[:] = 4
    buffer.prefetch(device, stream=stream)
    launch(stream, kernel, buffer)
    buffer.prefetch(core.Host(), stream=stream)
    stream.sync()
    assert (seen == 13).all()
    buffer.discard(stream=stream)
    buffer.discard_prefetch(device, stream=stream)
    stream.sync()
    seen[:] = 1
    assert (seen == 1).all()


def test_memory_of_graphs(device, stream, kernel, pinned):
    resource, x = core.GraphMemoryResource(device), pinned(np.arange(INTS))
    builder = device.create_graph_builder().begin_building()
    scratch = resource.allocate(4 * INTS, stream=builder)
    there = core.Buffer.from_handle(x.ctypes.data, x.nbytes)
    scratch.copy_from(there, stream=builder)
    launch(builder, kernel, scratch)
    scratch.copy_to(there, stream=builder)
    scratch.close(builder)
    graph = builder.end_building().complete()
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    expected = np.arange(INTS)
    for _ in range(3):
        expected = 3 * expected + 1
    assert (x == expected).all()
    attributes = resource.attributes
    assert 4 * INTS <= attributes.used_mem_current <= attributes.reserved_mem_high
    graph.close()
    resource.trim()
    assert attributes.used_mem_current == 0


def test_virtual_memory_grows_in_place_or_moves_with_its_bytes(device, stream, kernel):
    resource = core.VirtualMemoryResource(device)
    buffer = resource.allocate(1 << 21, stream=stream)
    buffer.fill(np.int32(3), stream=stream)
    launch(stream, kernel, buffer)
    stream.sync()
    larger = resource.modify_allocation(buffer, 2 << 21)
    assert larger.size >= 2 << 21
    launch(stream, kernel, larger)
    assert (written(stream, larger)[:INTS] == 31).all()
    larger.close(stream)
