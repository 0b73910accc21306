# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: green contexts of cuda.core are parts of a device, with streams of their own that compute as others do."""

import numpy as np
import pytest
from cuda import core


@pytest.fixture
def green(device):
    groups, _ = device.resources.sm.split(core.SMResourceOptions(count=1))
    context = device.create_context(core.ContextOptions(resources=groups[:1]))
    yield context
    context.close()


def test_the_multiprocessors_of_a_device_are_divided(device):
    whole = device.resources.sm
    assert whole.sm_count == device.properties.multiprocessor_count
    assert 1 <= whole.min_partition_size <= whole.sm_count
    groups, rest = whole.split(core.SMResourceOptions(count=1))
    assert all(group.sm_count >= whole.min_partition_size for group in groups)
    assert sum(group.sm_count for group in groups) + rest.sm_count <= whole.sm_count
    with pytest.raises(Exception, match="CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"):
        whole.split(core.SMResourceOptions(count=whole.sm_count + 100))


def test_a_green_context_is_a_part_of_its_device(device, green):
    assert green.is_green
    assert not green.is_closed
    assert 1 <= green.resources.sm.sm_count <= device.resources.sm.sm_count
    stream = green.create_stream()
    assert stream.context == green
    assert stream.resources.sm.sm_count == green.resources.sm.sm_count
    assert not device.default_stream.context.is_green
    with pytest.raises(ValueError, match="must be non-blocking"):
        green.create_stream(core.StreamOptions(nonblocking=False))
    stream.close()


def test_streams_of_a_green_context_compute(device, green, kernel, pinned, row):
    x, stream = pinned(range(32)), green.create_stream()
    core.launch(stream, row, kernel("affine"), x.ctypes.data, np.int32(2), np.int32(1), np.int32(32))
    done = stream.record()
    later = device.create_stream()
    later.wait(done)
    core.launch(later, row, kernel("affine"), x.ctypes.data, np.int32(3), np.int32(0), np.int32(32))
    later.sync()
    assert done.is_done
    assert (x == 3 * (2 * np.arange(32) + 1)).all()
    stream.close()


def test_green_context_can_be_current(device, green):
    before = device.context
    device.set_current(green)
    try:
        stream = device.create_stream()
        assert stream.context == green
        stream.close()
    finally:
        device.set_current()
    assert device.context == before


def test_closed_green_context_is_refused(device, green):
    green.close()
    assert green.is_closed
    for use in (green.create_stream, lambda: device.set_current(green), lambda: green.resources.sm):
        with pytest.raises(RuntimeError, match="closed"):
            use()


def test_a_context_needs_resources(device):
    with pytest.raises(ValueError, match="resources"):
        device.create_context()
    with pytest.raises(ValueError, match="empty"):
        device.create_context(core.ContextOptions(resources=[]))
