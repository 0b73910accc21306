# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of `with Device(n):`: the device is current in the block, and the one before it is current again afterwards."""

import threading

import pytest

import cuda_graphs as cg
from tests.two_devices import run_with_devices

NESTED = """
import cuda_graphs as cg
first, second = cg.Device.get_all_devices()[:2]
third = cg.Device.get_all_devices()[-1]  # the second one of two
first.set_current()
with second as found:
    assert found is second and cg.Device() is second
    assert cg.Device().create_stream().device is second
    assert cg.ndarray(cg.f32, 2).device is second
    with third:
        assert cg.Device() is third
        with second:
            assert cg.Device() is second
        assert cg.Device() is third
    assert cg.Device() is second
    third.set_current()  # until the end of the block
    assert cg.Device() is third
assert cg.Device() is first
"""

ERRORS = """
import cuda_graphs as cg
first, second = cg.Device.get_all_devices()[:2]
third = cg.Device.get_all_devices()[-1]  # the second one of two
first.set_current()
for cause in (ValueError, KeyboardInterrupt, cg.CUDAError(1, "CUDA_ERROR_INVALID_VALUE")):
    try:
        with second, third:
            raise cause
    except BaseException as error:
        assert error is cause or type(error) is cause
    assert cg.Device() is first
try:
    second.__exit__(None, None, None)
except RuntimeError as error:
    assert str(error) == "this thread is in no `with` block of device 1", error
else:
    raise AssertionError
assert cg.Device() is first
"""

THREADS = """
import threading
import cuda_graphs as cg
devices = cg.Device.get_all_devices()
count = len(devices)
devices[0].set_current()
together = threading.Barrier(count)
found = {}

def work(number):
    blocks = []
    assert cg.Device().device_id == 0  # nothing is current in a new thread
    with devices[number]:  # an object of another thread
        together.wait(60)
        blocks.append(cg.Device().device_id)
        stream = cg.Device().create_stream()
        blocks.append(stream.device.device_id)
        with cg.Device((number + 1) % count):
            together.wait(60)
            blocks.append(cg.Device().device_id)
        together.wait(60)
        blocks.append(cg.Device().device_id)
    try:
        cg.GraphDef().create_condition(0)
    except cg.CUDAError as error:
        blocks.append(error.name)
    found[number] = blocks

threads = [threading.Thread(target=work, args=(n,)) for n in range(count)]
with devices[1]:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cg.Device() is devices[1]
assert cg.Device() is devices[0]
assert found == {n: [n, n, (n + 1) % count, n, "CUDA_ERROR_INVALID_CONTEXT"] for n in range(count)}, found
"""


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("program", [NESTED, ERRORS, THREADS], ids=["nested", "errors", "threads"])
def test_a_block_of_a_device_ends_with_the_device_before_it(run_child, driver, tmp_path, program, count):
    run_with_devices(run_child, driver, tmp_path, program, count)


def test_a_block_of_the_only_device_changes_nothing(device):
    with device as found, cg.Device(0):
        assert found is device and cg.Device() is device
    assert cg.Device() is device


def test_a_block_in_a_new_thread_leaves_no_device_current(device):
    names = []

    def work():
        with device:
            cg.GraphDef().create_condition(0)
        try:
            cg.GraphDef().create_condition(0)
        except cg.CUDAError as error:
            names.append(error.name)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert names == ["CUDA_ERROR_INVALID_CONTEXT"]
