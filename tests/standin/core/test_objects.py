# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: devices, streams, events, buffers and launches of cuda.core do what their documentation says."""

import numpy as np
import pytest
from cuda import core


def test_a_device_knows_itself(device):
    assert device.compute_capability >= (9, 0)
    assert device.name
    assert len(device.uuid) == 36
    assert len(device.pci_bus_id.split(":")) == 3
    assert core.Device(device.device_id) is device
    assert device in core.Device.get_all_devices()
    assert device.context.handle


def test_every_property_of_a_device_can_be_read(device):
    properties = device.properties
    names = [name for name in dir(properties) if not name.startswith("_")]
    assert len(names) > 80
    read = {name: getattr(properties, name) for name in names}
    assert read["max_threads_per_block"] == 1024
    assert read["warp_size"] == 32
    assert read["multiprocessor_count"] > 0


def test_streams_order_and_wait(device, kernel, pinned, row):
    one, other = device.create_stream(), device.create_stream(options=core.StreamOptions(priority=-1))
    assert (one.priority, other.priority) == (0, -1)
    assert one.is_nonblocking
    assert one.device == device
    x = pinned(np.arange(32))
    core.launch(one, row, kernel("affine"), x.ctypes.data, np.int32(3), np.int32(1), np.int32(32))
    other.wait(one)
    core.launch(other, row, kernel("affine"), x.ctypes.data, np.int32(5), np.int32(2), np.int32(32))
    other.sync()
    assert (x == 5 * (3 * np.arange(32) + 1) + 2).all()


def test_events_measure_and_order(device, kernel, pinned, row):
    stream, other = device.create_stream(), device.create_stream()
    timed = core.EventOptions(timing_enabled=True)
    start = stream.record(options=timed)
    x = pinned(np.ones(32))
    core.launch(stream, row, kernel("affine"), x.ctypes.data, np.int32(2), np.int32(0), np.int32(32))
    end = stream.record(options=timed)
    other.wait(end)
    core.launch(other, row, kernel("affine"), x.ctypes.data, np.int32(1), np.int32(1), np.int32(32))
    other.sync()
    end.sync()
    assert start.is_done
    assert end.is_done
    assert end - start >= 0
    assert (x == 3).all()


def test_an_event_without_timing_cannot_be_subtracted(stream):
    start, end = stream.record(), stream.record()
    stream.sync()
    with pytest.raises(RuntimeError, match="timing"):
        end - start


def test_default_streams_work(device, kernel, pinned, row):
    x = pinned(np.zeros(32))
    for stream in (device.default_stream, core.LEGACY_DEFAULT_STREAM, core.PER_THREAD_DEFAULT_STREAM):
        core.launch(stream, row, kernel("affine"), x.ctypes.data, np.int32(1), np.int32(1), np.int32(32))
        stream.sync()
    device.sync()
    assert (x == 3).all()


def test_buffers_copy_and_fill(device, stream, pinned):
    there = device.allocate(256, stream=stream)
    again = device.allocate(256, stream=stream)
    assert (there.size, there.device_id) == (256, device.device_id)
    assert (there.is_device_accessible, there.is_host_accessible) == (True, False)
    host = core.LegacyPinnedMemoryResource().allocate(256, stream=stream)
    seen = np.from_dlpack(host).view("u4")
    seen[:] = np.arange(64)
    there.copy_from(host, stream=stream)
    again.copy_from(there, stream=stream)
    stream.sync()
    seen[:] = 0
    again.copy_to(host, stream=stream)
    stream.sync()
    assert (seen == np.arange(64)).all()
    for value, expected in (
        (7, 0x07070707),
        (np.uint16(0x1234), 0x12341234),
        (np.uint32(0xDEADBEEF), 0xDEADBEEF),
    ):
        there.fill(value, stream=stream)
        there.copy_to(host, stream=stream)
        stream.sync()
        assert (seen == expected).all()
    del seen
    for buffer in (there, again, host):
        buffer.close(stream)


def test_a_larger_launch_with_scalars_of_every_width(stream, kernel, pinned):
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 10_000)).astype("f4")
    mine, theirs = pinned(x, "f4"), pinned(y, "f4")
    core.launch(
        stream,
        core.LaunchConfig(grid=8, block=128),
        kernel("saxpy"),
        np.float32(2.5),
        mine.ctypes.data,
        theirs.ctypes.data,
        np.uint64(x.size),
    )
    stream.sync()
    assert np.allclose(theirs, np.float32(2.5) * x + y, rtol=1e-6)


def test_shared_memory_and_barriers(stream, kernel, pinned):
    x, sums = pinned(np.arange(1024)), pinned(np.zeros(4))
    config = core.LaunchConfig(grid=4, block=256, shmem_size=1024)
    core.launch(stream, config, kernel("block_sums"), x.ctypes.data, sums.ctypes.data)
    stream.sync()
    assert (sums == np.arange(1024).reshape(4, 256).sum(1)).all()


def test_templates_have_the_names_that_they_were_asked_by(stream, kernel, pinned, row):
    x, y = pinned(np.arange(32)), pinned(np.arange(32) / 4, "f8")
    core.launch(stream, row, kernel("twice<int>"), x.ctypes.data)
    core.launch(stream, row, kernel("twice<double>"), y.ctypes.data)
    stream.sync()
    assert (x == 2 * np.arange(32)).all()
    assert (y == np.arange(32) / 2).all()


def test_variables_of_a_module(stream, kernel, pinned):
    out = pinned(np.zeros(4))
    core.launch(stream, core.LaunchConfig(grid=1, block=4), kernel("read_table"), out.ctypes.data)
    stream.sync()
    assert out.tolist() == [2, 3, 5, 7]


def test_a_kernel_knows_itself(kernel, device):
    affine = kernel("affine")
    assert affine.num_arguments == 4
    assert [info.size for info in affine.arguments_info] == [8, 4, 4, 4]
    assert [info.offset for info in affine.arguments_info] == [0, 8, 12, 16]
    names = [name for name in dir(affine.attributes) if not name.startswith("_")]
    assert len(names) > 8
    assert all(isinstance(getattr(affine.attributes, name), int) for name in names)
    assert affine.occupancy.max_active_blocks_per_multiprocessor(128, 0) > 0
    assert affine.occupancy.max_potential_block_size(0, 0).max_block_size > 0
    assert affine.occupancy.available_dynamic_shared_memory_per_block(1, 128) > 0


def test_code_from_ptx_text_and_from_a_file(device, stream, code, pinned, row, tmp_path):
    text = code.code if isinstance(code.code, bytes) else code.code.encode()
    path = tmp_path / "kernels.ptx"
    path.write_bytes(text)
    for made in (core.ObjectCode.from_ptx(text), core.ObjectCode.from_ptx(str(path))):
        x = pinned(np.ones(32))
        args = x.ctypes.data, np.int32(4), np.int32(2), np.int32(32)
        core.launch(stream, row, made.get_kernel("affine"), *args)
        stream.sync()
        assert (x == 6).all()


def test_a_kernel_that_is_not_there(code):
    with pytest.raises(Exception, match="CUDA_ERROR_NOT_FOUND"):
        code.get_kernel("missing")


def test_a_launch_that_is_too_large(stream, kernel):
    with pytest.raises(Exception, match="CUDA_ERROR_INVALID_VALUE"):
        core.launch(stream, core.LaunchConfig(grid=1, block=2048), kernel("nothing"))


def test_a_cooperative_launch(stream, kernel, pinned):
    x = pinned(np.ones(64))
    config = core.LaunchConfig(grid=2, block=32, is_cooperative=True)
    core.launch(stream, config, kernel("affine"), x.ctypes.data, np.int32(3), np.int32(0), np.int32(64))
    stream.sync()
    assert (x == 3).all()


def test_a_launch_of_clusters(stream, kernel, pinned):
    x = pinned(np.ones(128))
    config = core.LaunchConfig(grid=2, cluster=2, block=32)  # the grid is counted in clusters
    core.launch(stream, config, kernel("affine"), x.ctypes.data, np.int32(3), np.int32(0), np.int32(128))
    stream.sync()
    assert (x == 3).all()


def test_a_map_of_a_tensor(device, stream):
    buffer = device.allocate(4096, stream=stream)
    view = core.utils.StridedMemoryView.from_buffer(buffer, shape=(32, 32), dtype=np.dtype("f4"))
    made = view.as_tensor_map(box_dim=(16, 16))
    assert isinstance(made, core.TensorMapDescriptor)
    with pytest.raises(ValueError, match="box"):
        view.as_tensor_map(box_dim=(16, 257))
    buffer.close(stream)
