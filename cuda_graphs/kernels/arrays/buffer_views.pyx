# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays in the memory of a Buffer."""

import math

from libc.stddef cimport size_t

from cuda_graphs.core.driver.cuda cimport CUdeviceptr
from cuda_graphs.core.resources.device_scope cimport has_several_devices, kNoDevice
from cuda_graphs.objects.memory.buffer cimport Buffer, MemoryKind, is_of_graph
from .ndarray cimport NDArray, make_unallocated

from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.memory.array_shape import accept_shape


def view_buffer(Buffer buffer, dtype, shape):
    """Return the array of `Buffer.view`."""
    from .dtypes import accept_element

    cdef NDArray self
    element, inner = accept_element(dtype)
    cdef size_t itemsize = element.size * math.prod(inner)
    if shape is None and buffer._size % itemsize:
        raise ValueError(f"the {buffer._size} bytes of {buffer!r} are not a multiple of the {itemsize} bytes of an element: give a shape")
    extents = (buffer._size // itemsize,) if shape is None else accept_shape(shape)
    size = math.prod(extents) * itemsize
    if size > buffer._size:
        raise ValueError(f"an array of shape {extents} has {size} bytes, but {buffer!r} has only {buffer._size}")
    if buffer._address % <CUdeviceptr>element.size:
        raise ValueError(f"the address of {buffer!r} is not a multiple of {element.size}, the size of {element}")
    # Memory that a graph allocates is known to the driver from the first launch on.
    device = Device() if is_of_graph(buffer) else Device(buffer.device_id) if buffer.device_id >= 0 else None
    if device is None:
        raise ValueError(
            f"{buffer!r} is not memory of the driver, which kernels can use: device, managed or pinned memory"
        )
    self = array_of_buffer(buffer, element, inner, extents, device)
    self._base = buffer
    return self


cdef NDArray array_of_buffer(Buffer buffer, dtype, tuple inner, tuple shape, device):
    cdef NDArray self = make_unallocated(NDArray, dtype, inner, shape, False, False, device)
    self._address = buffer._address
    self._buffer = buffer
    self._place = kNoDevice if is_pinned(buffer) else device.device_id
    self._changes.version = 0
    return self


def array_of_memory(address, size_t size, dtype, inner, shape, int device):
    """Return an array in memory of a device that other code owns. The memory need not exist yet."""
    cdef Buffer buffer = Buffer.from_handle(address, size)
    buffer._kind, buffer._device_id = MemoryKind.DEVICE, device
    return array_of_buffer(buffer, dtype, tuple(inner), tuple(shape), Device(device))


cdef bint is_pinned(Buffer buffer) except -1:
    """Return True for host memory, which all devices can use. Memory of no bytes is that of its device."""
    return buffer._size != 0 and has_several_devices() and buffer._ask() == MemoryKind.PINNED
