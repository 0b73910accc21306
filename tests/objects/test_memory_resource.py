# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a memory resource makes Buffers, says where their memory can be used, and outlives nothing that it need not."""

import gc

import numpy as np
import pytest

import cuda_graphs as cg

RESOURCES = {
    "device pool": (lambda d: cg.DeviceMemoryResource(d), True, False),
    "own pool": (lambda d: cg.DeviceMemoryResource(d, {"max_size": 1 << 26}), True, False),
    "synchronous": (lambda d: cg.SynchronousMemoryResource(d), True, False),
    "pinned": (lambda d: cg.PinnedMemoryResource(), True, True),
    "managed": (lambda d: cg.ManagedMemoryResource(d), True, True),
}


@pytest.mark.parametrize("name", RESOURCES)
def test_buffers_are_usable_where_their_resource_says(device, stream, name):
    make, on_device, on_host = RESOURCES[name]
    resource = make(device)
    buffer = resource.allocate(256, stream=stream)
    assert buffer.size == 256
    assert buffer.handle % 256 == 0 or on_host
    assert buffer.memory_resource is resource
    for thing in (resource, buffer):
        assert thing.is_device_accessible is on_device
        assert thing.is_host_accessible is on_host
    borrowed = cg.Buffer.from_handle(buffer.handle, 256)  # what the driver itself says
    assert borrowed.is_device_accessible is on_device
    assert borrowed.is_host_accessible is on_host
    assert borrowed.is_managed is (name == "managed")


@pytest.mark.parametrize("name", RESOURCES)
def test_buffers_outlive_their_resource(device, stream, name):
    buffer = RESOURCES[name][0](device).allocate(64, stream=stream)
    back = cg.PinnedMemoryResource().allocate(64, stream=stream)
    gc.collect()
    buffer.fill(1, stream=stream)
    buffer.copy_to(back, stream=stream)
    stream.sync()
    assert bytes(np.from_dlpack(back)) == b"\1" * 64


@pytest.mark.parametrize("name", RESOURCES)
def test_buffers_give_themselves_back(device, name):
    with pytest.raises(TypeError, match="free themselves"):
        RESOURCES[name][0](device).deallocate(0, 0, stream=device.default_stream)


@pytest.mark.parametrize("name", RESOURCES)
def test_a_wrong_stream_is_refused(device, name):
    with pytest.raises(TypeError, match="Stream or GraphBuilder expected, got int"):
        RESOURCES[name][0](device).allocate(16, stream=7)


def test_without_a_stream_the_default_stream_is_meant(device, driver_table):
    calls = driver_table.watch("cuMemAllocFromPoolAsync")
    device.allocate(16)
    device.allocate(16, stream=device.default_stream)
    streams = [call.words[3] for call in calls]
    assert len(streams) == 2
    assert streams[0] == streams[1]


def test_the_resource_of_a_device_is_its_pool(device):
    resource = device.memory_resource
    assert isinstance(resource, cg.DeviceMemoryResource)
    assert resource.device_id == device.device_id
    assert resource.handle == cg.DeviceMemoryResource(device.device_id).handle
    assert cg.DeviceMemoryResource(device, {}).handle != resource.handle
    assert repr(resource) == f"<DeviceMemoryResource device={device.device_id} handle={resource.handle:#x}>"


MAKERS = {
    "pool": lambda device: device.memory_resource,
    "own pool": lambda device: cg.DeviceMemoryResource(device, {}),
    "synchronous": lambda device: cg.SynchronousMemoryResource(device),
    "managed": lambda device: cg.ManagedMemoryResource(device),
    "pinned": lambda device: cg.PinnedMemoryResource(),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_buffer_without_bytes_is_of_the_same_memory_as_one_with_bytes(device, kind):
    resource = MAKERS[kind](device)
    nothing, something = resource.allocate(0), resource.allocate(8)
    for name in ("device_id", "is_managed", "is_host_accessible", "is_device_accessible"):
        assert getattr(nothing, name) == getattr(something, name), name
    assert nothing.__dlpack_device__() == something.__dlpack_device__()
    assert nothing.device_id == device.device_id
    assert (nothing.size, nothing.handle) == (0, 0)


def test_a_pool_of_its_own_has_a_limit(device, stream):
    resource = cg.DeviceMemoryResource(device, cg.DeviceMemoryResourceOptions(max_size=1 << 26))
    with pytest.raises(cg.CUDAOutOfMemoryError):
        resource.allocate(1 << 28, stream=stream)


def test_pinned_memory_is_of_no_device():
    with pytest.raises(RuntimeError, match="does not belong to one device"):
        _ = cg.PinnedMemoryResource().device_id


def test_pinned_memory_needs_a_current_device(run_child):
    child = run_child("import cuda_graphs as cg; cg.PinnedMemoryResource().allocate(4)")
    assert "has not been made current on this thread" in child.stderr


@pytest.mark.parametrize(
    "name", ["allocate", "deallocate", "is_device_accessible", "is_host_accessible", "device_id"]
)
def test_the_base_class_is_abstract(name):
    resource = cg.MemoryResource()
    use = {
        "allocate": lambda: resource.allocate(16),
        "deallocate": lambda: resource.deallocate(0, 0, stream=None),
    }
    with pytest.raises(TypeError, match=rf"MemoryResource\.{name} is abstract"):
        use.get(name, lambda: getattr(resource, name))()
