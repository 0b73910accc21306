# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: cuda.core.system and the driver describe the same devices."""

import os
from pathlib import Path

import pytest
from cuda.bindings import nvml
from cuda.core import Device, system

from tests.standin.bindings.answers import d, ok


@pytest.fixture(scope="module")
def devices():
    ok(d.cuInit(0))
    return list(system.Device.get_all_devices())


def test_system_counts_the_devices_of_the_driver(devices):
    """NVML counts those that CUDA_VISIBLE_DEVICES hides from the driver, too."""
    seen = ok(d.cuDeviceGetCount())
    assert system.get_num_devices() == len(devices)
    assert len(devices) >= seen if "CUDA_VISIBLE_DEVICES" in os.environ else len(devices) == seen


def test_versions_are_those_of_the_driver(devices):
    version = ok(d.cuDriverGetVersion())
    assert system.get_user_mode_driver_version() == (version // 1000, version % 1000 // 10)
    assert system.get_kernel_mode_driver_version()[0] >= 580
    assert system.get_nvml_version()[0] >= 13


def test_a_process_has_the_name_that_linux_gives_it(devices):
    name = Path("/proc/self/comm").read_text().strip()
    assert Path(system.get_process_name(os.getpid())).name.startswith(name[:15].split()[0])
    with pytest.raises(nvml.NvmlError):
        system.get_process_name(2**22 + 1)  # more than any Linux has


def test_devices_are_described_as_the_driver_describes_them(devices):
    by_uuid = {device.uuid.removeprefix("GPU-"): device for device in devices}
    assert [device.index for device in devices] == list(range(len(devices)))
    for index in range(ok(d.cuDeviceGetCount())):
        of_core = Device(index)
        device = by_uuid[of_core.uuid]
        assert device.name == of_core.name
        assert tuple(device.cuda_compute_capability) == tuple(of_core.compute_capability)
        memory = device.memory_info
        assert memory.total >= ok(d.cuDeviceTotalMem(index)) > 0
        assert memory.used + memory.free <= memory.total
        assert system.Device(uuid=device.uuid).index == device.index


def test_devices_that_are_not_there_are_refused(devices):
    with pytest.raises(nvml.InvalidArgumentError):
        system.Device(index=len(devices))
    with pytest.raises(nvml.NvmlError):
        system.Device(uuid="GPU-00000000-0000-0000-0000-000000000000")
