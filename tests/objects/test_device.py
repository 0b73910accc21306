# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: one Device object for each device and thread; what only asks works without a context, what makes does not."""

import copy
import pickle
import re
import threading

import pytest

import cuda_graphs as cg
from cuda_graphs import testing
from cuda_graphs.objects.device.device_properties import ATTRIBUTES


def on_a_new_thread(function):
    """The result of `function()` on a thread of its own."""
    results = []

    def run():
        try:
            results.append(function())
        except BaseException as error:  # handed to the caller
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    assert results, "the thread hangs"
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]


def test_the_same_number_is_the_same_object(device):
    assert cg.Device(0) is device
    assert cg.Device(device) is device
    assert cg.Device() is device


def test_another_thread_has_an_object_of_its_own_which_is_equal(device):
    other = on_a_new_thread(lambda: cg.Device(0))
    assert other is not device
    assert other == device
    assert hash(other) == hash(device)


def test_numbers_out_of_range_are_refused(driver):
    count = len(cg.Device.get_all_devices())
    with pytest.raises(ValueError, match="device_id must not be negative, got -1"):
        cg.Device(-1)
    with pytest.raises(ValueError, match=f"there is no device {count}: the number of devices is {count}"):
        cg.Device(count)
    with pytest.raises(TypeError, match="device_id must be an int or a Device, got str"):
        cg.Device("0")


def test_asking_needs_no_context(device):
    def ask():
        device = cg.Device(0)
        return (
            device.name,
            device.uuid,
            device.pci_bus_id,
            device.compute_capability,
            device.arch,
            device.total_memory,
        )

    name, uuid, bus, capability, arch, memory = on_a_new_thread(ask)
    assert name
    assert re.fullmatch(r"[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", uuid)
    assert re.fullmatch(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-9a-fA-F]", bus)
    assert capability == (capability.major, capability.minor) >= (5, 0)
    assert arch == f"{capability.major}{capability.minor}"
    assert memory > 1 << 20


MAKING = {
    "create_stream": lambda d: d.create_stream(),
    "create_event": lambda d: d.create_event(),
    "allocate": lambda d: d.allocate(16),
    "sync": lambda d: d.sync(),
    "context": lambda d: d.context,
}


@pytest.mark.parametrize("name", MAKING)
def test_making_without_set_current_says_what_is_missing(driver, name):
    with pytest.raises(cg.CUDAError, match="device 0 has not been made current on this thread"):
        on_a_new_thread(lambda: MAKING[name](cg.Device(0)))


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_every_property_has_the_type_that_the_table_says(device, name):
    value = getattr(device.properties, name)
    assert type(value) is ATTRIBUTES[name][1]
    assert getattr(device.properties, name) == value


def test_properties_are_plausible(device):
    properties = device.properties
    assert properties.multiprocessor_count >= 1
    assert properties.warp_size == 32
    assert properties.max_threads_per_block >= 256
    assert properties.max_grid_dim_x >= 1 << 16
    assert properties.compute_capability_major == device.compute_capability.major
    assert properties.memory_pools_supported is True


def test_an_unknown_property_is_an_attribute_error_and_dir_lists_the_known(device):
    with pytest.raises(AttributeError, match="no property 'colour'"):
        _ = device.properties.colour
    assert set(ATTRIBUTES) <= set(dir(device.properties))
    with pytest.raises(AttributeError):
        device.properties.warp_size_ = 3


def test_set_current_with_a_context_gives_the_previous_one(device):
    context = device.context
    assert device.set_current() is None
    assert device.set_current(context) == context
    assert on_a_new_thread(lambda: cg.Device(0).set_current(context)) is None
    with pytest.raises(TypeError, match="expected a Context, got int"):
        device.set_current(context.handle)


def test_the_context_knows_its_device(device):
    assert device.context.device is device
    assert device.context == cg.Device(0).context
    assert device.context.handle != 0


def test_streams_of_other_libraries_are_wrapped(device, stream):
    class Foreign:
        def __cuda_stream__(self):
            return (0, stream.handle)

    wrapped = device.create_stream(Foreign())
    assert wrapped == stream
    with pytest.raises(ValueError, match="obj and options cannot be given together"):
        device.create_stream(Foreign(), options={"priority": 0})


def test_the_memory_resource_can_be_exchanged(device):
    usual = device.memory_resource
    assert usual is device.memory_resource
    try:
        device.memory_resource = pinned = cg.PinnedMemoryResource()
        assert device.memory_resource is pinned
        assert device.allocate(16).is_host_accessible is True
        with pytest.raises(TypeError, match="expected a MemoryResource, got str"):
            device.memory_resource = "pinned"
    finally:
        device.memory_resource = usual


def test_sync_waits_for_all_streams(device):
    a, b = device.create_stream(), device.create_stream()
    marks = [s.record() for s in (a, b)]
    device.sync()
    assert all(mark.is_done for mark in marks)


def test_int_pickle_and_copy_mean_the_number(device):
    assert int(device) == device.device_id == 0
    assert pickle.loads(pickle.dumps(device)) is device
    assert copy.copy(device) is device


def test_a_device_reaches_itself(device):
    assert device.can_access_peer(device) is True
    assert device.can_access_peer(0) is True


def test_more_devices_than_one_are_told_apart(run_child, driver):
    if driver.kind != "host":
        pytest.skip("the host driver can have as many as we like")
    child = run_child(
        """
import cuda_graphs as cg
from cuda_graphs import testing
a, b, c = cg.Device.get_all_devices()
assert [d.device_id for d in (a, b, c)] == [0, 1, 2]
assert a != b and len({a, b, c}) == 3 and a.uuid != b.uuid
b.set_current()
assert cg.Device() is b and b.context.device is b
s = b.create_stream()
assert s.device is b and s.record().device is b
a.set_current()
assert cg.Device() is a
s.sync()
try:
    a.set_current(b.context)
except RuntimeError as error:
    assert "is not of device 0" in str(error)
else:
    raise AssertionError
""",
        CUDA_GRAPHS_HOST_DEVICES="3",
    )
    assert (child.returncode, child.stdout, child.stderr) == (0, "", "")


def test_sync_makes_no_driver_call_but_those_of_the_wait(device, driver):
    if driver.kind != "host":
        pytest.skip("calls are counted by the host driver")
    with testing.calls() as calls:
        device.sync()
    assert dict(calls) == {"cuCtxGetCurrent": 1, "cuCtxSynchronize": 1}
