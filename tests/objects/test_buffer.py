# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a Buffer owns its memory until it is closed or gone; views keep the memory; copies and fills run on streams."""

import gc
import weakref

import numpy as np
import pytest

import cuda_graphs as cg

SIZE = 64


@pytest.fixture
def host(device, stream):
    def make(values):
        values = np.asarray(values)
        buffer = cg.PinnedMemoryResource().allocate(values.nbytes, stream=stream)
        np.from_dlpack(buffer)[:] = values.view(np.int8)
        return buffer

    return make


def read(buffer, dtype=np.int8):
    return np.from_dlpack(buffer).view(dtype)


def test_a_copy_through_the_device_comes_back(device, stream, host):
    source = host(np.arange(SIZE, dtype=np.uint8))
    on_device = device.allocate(SIZE, stream=stream)
    back = host(np.zeros(SIZE, np.uint8))
    assert source.copy_to(on_device, stream=stream) is on_device
    back.copy_from(on_device, stream=stream)
    stream.sync()
    assert (read(back) == read(source)).all()


def test_a_copy_without_a_destination_makes_one_of_the_same_resource(device, stream, host):
    source = host(np.arange(SIZE, dtype=np.uint8))
    copy = source.copy_to(stream=stream)
    stream.sync()
    assert copy.memory_resource is source.memory_resource
    assert (read(copy) == read(source)).all()


def test_a_destination_is_needed_where_there_is_no_resource(stream, host):
    source = host(np.arange(SIZE, dtype=np.uint8))
    borrowed = cg.Buffer.from_handle(source.handle, SIZE)
    with pytest.raises(ValueError, match="a destination is needed"):
        borrowed.copy_to(stream=stream)


def test_sizes_that_differ_are_refused(device, stream):
    a, b = device.allocate(16, stream=stream), device.allocate(32, stream=stream)
    with pytest.raises(ValueError, match="16 bytes cannot be copied to 32 bytes"):
        a.copy_to(b, stream=stream)
    with pytest.raises(ValueError, match="32 bytes cannot be copied to 16 bytes"):
        a.copy_from(b, stream=stream)


FILLS = [
    (0, np.zeros(SIZE, np.uint8)),
    (255, np.full(SIZE, 255, np.uint8)),
    (True, np.ones(SIZE, np.uint8)),
    (b"\xab", np.full(SIZE, 0xAB, np.uint8)),
    (b"\xab\xcd", np.full(SIZE // 2, 0xCDAB, np.uint16)),
    (np.int8(-1), np.full(SIZE, -1, np.int8)),
    (np.uint16(1000), np.full(SIZE // 2, 1000, np.uint16)),
    (np.float32(1.5), np.full(SIZE // 4, 1.5, np.float32)),
    (np.int32(-7), np.full(SIZE // 4, -7, np.int32)),
    (bytearray(b"abcd"), np.frombuffer(b"abcd" * (SIZE // 4), np.uint8)),
]


@pytest.mark.parametrize(("value", "expected"), FILLS, ids=lambda v: repr(v)[:24])
def test_a_fill_repeats_the_value(device, stream, host, value, expected):
    on_device, back = device.allocate(SIZE, stream=stream), host(np.zeros(SIZE, np.uint8))
    on_device.fill(value, stream=stream)
    back.copy_from(on_device, stream=stream)
    stream.sync()
    assert (read(back, expected.dtype) == expected).all()


BAD_FILLS = [
    (256, OverflowError, "must be in 0..255"),
    (-1, OverflowError, "must be in 0..255"),
    (b"abc", ValueError, "must have 1, 2 or 4 bytes, got 3"),
    (b"", ValueError, "must have 1, 2 or 4 bytes, got 0"),
    (np.float64(1), ValueError, "must have 1, 2 or 4 bytes, got 8"),
    (1.5, TypeError, "must be an int or an object with 1, 2 or 4 bytes, got float"),
    (None, TypeError, "got NoneType"),
    (np.arange(8, dtype=np.uint8)[::2], BufferError, "contiguous"),
]


@pytest.mark.parametrize(("value", "kind", "message"), BAD_FILLS, ids=lambda v: repr(v)[:24])
def test_a_value_that_is_no_fill_is_refused(device, stream, value, kind, message):
    with pytest.raises(kind, match=message):
        device.allocate(SIZE, stream=stream).fill(value, stream=stream)


def test_a_fill_that_does_not_divide_the_size_is_refused(device, stream):
    with pytest.raises(ValueError, match="4 bytes does not fill 6 bytes evenly"):
        device.allocate(6, stream=stream).fill(np.float32(1), stream=stream)


def test_a_stream_is_required(device, stream):
    a, b = device.allocate(16, stream=stream), device.allocate(16, stream=stream)
    for call in (
        lambda: a.copy_to(b, stream=None),
        lambda: a.copy_from(b, stream=None),
        lambda: a.fill(0, stream=None),
    ):
        with pytest.raises(TypeError, match="stream is required and must not be None"):
            call()


def test_pinned_memory_is_a_view_of_bytes_for_numpy(device, host):
    buffer = host(np.zeros(SIZE, np.uint8))
    view = np.from_dlpack(buffer)
    assert (view.dtype, view.shape, view.ctypes.data) == (np.int8, (SIZE,), buffer.handle)
    view[3] = 7
    assert read(buffer)[3] == 7
    assert view.flags.writeable


def test_a_view_keeps_the_memory_of_a_closed_buffer(device, host):
    buffer = host(np.arange(SIZE, dtype=np.uint8))
    view = np.from_dlpack(buffer)
    buffer.close()
    gc.collect()
    assert (view == np.arange(SIZE)).all()
    view[:] = 1
    assert view.sum() == SIZE


def test_device_memory_is_a_device_tensor(device, stream):
    buffer = device.allocate(SIZE, stream=stream)
    assert buffer.__dlpack_device__() == (2, device.device_id)
    capsule = buffer.__dlpack__()
    assert 'capsule object "dltensor"' in repr(capsule)


def test_a_versioned_tensor_is_made_for_who_asks_for_it(device, host):
    buffer = host(np.zeros(SIZE, np.uint8))
    assert '"dltensor_versioned"' in repr(buffer.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(buffer.__dlpack__(max_version=(0, 8)))
    assert buffer.__dlpack_device__() == (3, 0)


BAD_DLPACK = [
    ({"dl_device": (1, 5)}, r"is on DLPack device .*, and cannot be exported to \(1, 5\)"),
    ({"copy": True}, "copy=True is not supported"),
    ({"max_version": 1}, "max_version must be a tuple of two ints, got 1"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_DLPACK, ids=lambda v: str(v)[:16])
def test_dlpack_request_that_cannot_be_met_is_a_buffer_error(device, host, arguments, message):
    with pytest.raises(BufferError, match=message):
        host(np.zeros(4, np.uint8)).__dlpack__(**arguments)


def test_memory_of_the_host_is_known_as_such(device):
    array = np.zeros(SIZE, np.uint8)
    buffer = cg.Buffer.from_handle(array.ctypes.data, SIZE, owner=array)
    assert (buffer.is_host_accessible, buffer.is_device_accessible, buffer.is_managed) == (True, False, False)
    assert buffer.device_id == -1
    assert buffer.__dlpack_device__() == (1, 0)
    assert np.from_dlpack(buffer).ctypes.data == array.ctypes.data


def test_an_owner_lives_as_long_as_the_buffer_or_its_views(device):
    class Owner:
        pass

    array, owner = np.zeros(SIZE, np.uint8), Owner()
    gone = weakref.ref(owner)
    buffer = cg.Buffer.from_handle(array.ctypes.data, SIZE, owner=owner)
    assert buffer.owner is owner
    del owner
    view = np.from_dlpack(buffer)
    buffer.close()
    assert buffer.owner is None
    assert gone() is not None
    del view
    assert gone() is None


class Tracking(cg.MemoryResource):
    """Memory of NumPy arrays, with a list of what was given back."""

    is_host_accessible = True
    is_device_accessible = False
    device_id = -1

    def __init__(self):
        self.arrays, self.returned = {}, []

    def allocate(self, size, *, stream=None):
        array = np.zeros(size, np.uint8)
        self.arrays[array.ctypes.data] = array
        return cg.Buffer.from_handle(array.ctypes.data, size, mr=self)

    def deallocate(self, ptr, size, *, stream):
        del self.arrays[ptr]
        self.returned.append((ptr, size, stream))


def test_a_resource_gets_its_memory_back_once(device, stream):
    resource = Tracking()
    buffer = resource.allocate(SIZE)
    address = buffer.handle
    assert buffer.memory_resource is resource
    buffer.close(stream)
    buffer.close(stream)
    assert resource.returned == [(address, SIZE, stream)]
    assert buffer.memory_resource is None
    assert buffer.handle == 0
    other = resource.allocate(16)
    del other
    assert [size for _, size, _ in resource.returned] == [SIZE, 16]
    assert resource.returned[1][2] == cg.LEGACY_DEFAULT_STREAM
    resource.returned.clear()


def test_memory_goes_back_in_the_order_of_the_stream_that_was_set(device, stream):
    resource = Tracking()
    buffer = resource.allocate(SIZE)
    buffer.set_deallocation_stream(stream)
    buffer.set_deallocation_stream(stream)
    del buffer
    assert [freed for _, _, freed in resource.returned] == [stream]
    closed = resource.allocate(SIZE)
    closed.close()
    with pytest.raises(RuntimeError, match="Buffer has been closed"):
        closed.set_deallocation_stream(stream)
    for wrong in (None, "stream", 5):
        with pytest.raises(TypeError, match=r"(?i)stream"):
            resource.allocate(SIZE).set_deallocation_stream(wrong)
    resource.returned.clear()


def test_a_resource_lives_until_its_last_buffer_is_gone(device):
    resource = Tracking()
    gone = weakref.ref(resource)
    buffer = resource.allocate(SIZE)
    del resource
    assert gone() is not None
    del buffer
    gc.collect()
    assert gone() is None


def test_an_error_of_a_resource_is_reported_and_not_raised(device, monkeypatch):
    reports = []
    monkeypatch.setattr("sys.unraisablehook", lambda report: reports.append(type(report.exc_value)))

    class Broken(Tracking):
        def deallocate(self, ptr, size, *, stream):
            raise KeyError("no such memory")

    Broken().allocate(4).close()
    assert reports == [KeyError]


def test_an_exception_on_its_way_is_not_disturbed_by_a_resource(device):
    resource = Tracking()

    def fail():
        buffer = resource.allocate(4)  # noqa: F841 - goes while the exception passes
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine") as caught:
        fail()
    del caught
    gc.collect()
    assert len(resource.returned) == 1
    resource.returned.clear()


def test_a_resource_and_an_owner_together_are_refused(device):
    with pytest.raises(ValueError, match=r"^give mr or owner, not both"):
        cg.Buffer.from_handle(16, 4, mr=Tracking(), owner=object())


def test_a_buffer_is_a_context_manager(device, stream):
    with device.allocate(16, stream=stream) as buffer:
        assert not buffer.is_closed
    assert buffer.is_closed


def test_an_empty_buffer_has_no_address(device, stream):
    for buffer in (device.allocate(0, stream=stream), cg.PinnedMemoryResource().allocate(0, stream=stream)):
        assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, False)


def test_a_negative_size_is_an_overflow_error(device, stream):
    for resource in (device.memory_resource, cg.PinnedMemoryResource()):
        with pytest.raises(OverflowError):
            resource.allocate(-1, stream=stream)
        with pytest.raises(TypeError):
            resource.allocate("16", stream=stream)
