# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The memory resources of this package: they allocate the memory of Buffers."""

from dataclasses import dataclass

from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t

from cuda_graphs.core.driver.cuda cimport (
    CU_STREAM_CAPTURE_STATUS_NONE,
    CUresult,
    CUstreamCaptureStatus,
    driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt, raise_noted
from cuda_graphs.core.resources.handles cimport (
    ContextHandle,
    PointerHandle,
    PoolHandle,
    StreamHandle,
    allocate_device,
    allocate_from_pool,
    allocate_managed,
    allocate_pinned,
    create_device_pool,
    current_device_pool,
    raw_of,
)
from .buffer cimport Buffer, MemoryKind
from cuda_graphs.objects.device.context cimport Context
from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.numbers cimport read_size
from cuda_graphs.objects.options import accept_options
from cuda_graphs.objects.device.stream cimport Stream, accept_stream
from cuda_graphs.objects import constructors
from cuda_graphs.objects.device.stream import default_stream
from .abstract_resource import MemoryResource, SelfFreeingResource


@dataclass
class DeviceMemoryResourceOptions:
    """Options of the pool that a DeviceMemoryResource creates."""

    max_size: int = 0
    """The maximum size of the pool in bytes; 0 for no limit."""


class DeviceMemoryResource(SelfFreeingResource):
    """Memory of a device, from a pool, in the order of streams.

    Args:
        device: A Device or its number.
        options: None for the device's current pool, which keeps freed memory for later. DeviceMemoryResourceOptions (or
            a dict of its fields) creates a separate pool, which is destroyed with this object and its Buffers.
    """

    def __init__(self, device, options=None):
        self._device = Device(device)
        own = None
        if options is not None:
            own = accept_options(DeviceMemoryResourceOptions, options, "memory resource options")
        self._pool = make_pool(self._device.device_id, own)

    def allocate(self, size, *, stream=None):
        """Return a Buffer of `size` bytes of device memory, usable in the order of `stream` (None: the default stream).

        Raises:
            OverflowError: `size` is negative.
            RuntimeError: The stream is being captured.
            CUDAError: There is not enough memory.
        """
        cdef size_t bytes = read_size(size, "size")
        return (<_Pool>self._pool).allocate(bytes, accept_stream(default_stream() if stream is None else stream), self)

    @property
    def handle(self):
        """The CUmemoryPool as an int."""
        return (<_Pool>self._pool).handle()

    @property
    def is_device_accessible(self):
        """True: kernels can use the memory."""
        return True

    @property
    def is_host_accessible(self):
        """False: the host cannot use the memory, even if the device is the host itself."""
        return False

    @property
    def device_id(self):
        """The number of the device."""
        return self._device.device_id

    def __repr__(self):
        return f"<DeviceMemoryResource device={self.device_id} handle={self.handle:#x}>"


cdef class _Pool:
    """Holds the handle of a pool for a Python class."""

    cdef PoolHandle _h

    cdef Buffer allocate(self, size_t size, Stream stream, resource):
        stream._check_open()
        cdef StreamHandle on = stream._h  # a copy: another thread may close the stream meanwhile
        check_not_capturing(on, stream)
        cdef PointerHandle h
        if size == 0:
            return Buffer._empty(resource, MemoryKind.DEVICE, resource.device_id)
        with nogil:
            h = allocate_from_pool(self._h, size, on)
        if not h:
            raise_noted(f"allocation of {size} bytes of device memory on {stream!r}")
        return Buffer._from_handle(h, resource)

    cdef object handle(self):
        return <uintptr_t>raw_of(self._h)


cdef _Pool make_pool(int device, options):
    cdef _Pool pool = _Pool.__new__(_Pool)
    cdef size_t max_size = read_size(options.max_size, "max_size") if options is not None else 0
    cdef bint own = options is not None
    with nogil:
        if own:
            pool._h = create_device_pool(device, max_size, <unsigned long long>-1)
        else:
            pool._h = current_device_pool(device)
    if not pool._h:
        raise_noted(f"the memory pool of device {device}")
    return pool


cdef int check_not_capturing(StreamHandle h, Stream stream) except -1:
    cdef CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE
    cdef CUresult status
    with nogil:
        status = driver().cuStreamIsCapturing(raw_of(h), &capture)
    if status:
        check_attempt(status, f"ask whether {stream!r} is captured")
    if capture != CU_STREAM_CAPTURE_STATUS_NONE:
        raise RuntimeError(
            f"DeviceMemoryResource cannot allocate during a capture of {stream!r}: allocate before, or use "
            "GraphMemoryResource"
        )
    return 0


cdef dict KINDS = {MemoryKind.PINNED: "pinned", MemoryKind.DEVICE: "device", MemoryKind.MANAGED: "managed"}

ctypedef PointerHandle (*Allocate)(const ContextHandle&, size_t) except + nogil


cdef Buffer allocate_in(Context context, Allocate allocate, MemoryKind kind, object size, object stream, object resource):
    """Allocates for all resources whose memory is usable at once, without stream order."""
    if stream is not None:
        accept_stream(stream)
    cdef size_t bytes = read_size(size, "size")
    cdef PointerHandle h
    if bytes == 0:
        return Buffer._empty(resource, kind, context.device.device_id)
    with nogil:
        h = allocate(context._h, bytes)
    if not h:
        raise_noted(f"allocation of {bytes} bytes of {KINDS[kind]} memory")
    return Buffer._from_handle(h, resource)


class SynchronousMemoryResource(SelfFreeingResource):
    """Memory of a device by cuMemAlloc, for devices without pools. Freeing it waits for the device.

    Args:
        device: A Device or its number; it must have been made current once.
    """

    def __init__(self, device):
        self._device = Device(device)
        self._context = self._device.context

    def allocate(self, size, *, stream=None):
        """Return a Buffer of `size` bytes of device memory; `stream` is only checked.

        Raises:
            OverflowError: `size` is negative.
            CUDAError: There is not enough memory.
        """
        return allocate_in(self._context, allocate_device, MemoryKind.DEVICE, size, stream, self)

    @property
    def is_device_accessible(self):
        """True: kernels can use the memory."""
        return True

    @property
    def is_host_accessible(self):
        """False: the host cannot use the memory."""
        return False

    @property
    def device_id(self):
        """The number of the device."""
        return self._device.device_id


class PinnedMemoryResource(SelfFreeingResource):
    """Host memory that kernels and copies can use too. Freeing it waits for the device."""

    def allocate(self, size, *, stream=None):
        """Return a Buffer of `size` bytes of pinned host memory; `stream` is only checked.

        Raises:
            OverflowError: `size` is negative.
            CUDAError: No device is current, or there is not enough memory.
        """
        return allocate_in(Device().context, allocate_pinned, MemoryKind.PINNED, size, stream, self)

    @property
    def is_device_accessible(self):
        """True: kernels can use the memory."""
        return True

    @property
    def is_host_accessible(self):
        """True: the host can use the memory."""
        return True

    @property
    def device_id(self):
        """Raise RuntimeError: pinned memory does not belong to one device."""
        raise RuntimeError("pinned memory does not belong to one device")


class ManagedMemoryResource(SelfFreeingResource):
    """Memory that both the host and the device use; the driver moves it to the side that accesses it.

    Freeing it waits for the device.

    Args:
        device: A Device or its number; it must have been made current once.
    """

    def __init__(self, device):
        self._device = Device(device)
        self._context = self._device.context

    def allocate(self, size, *, stream=None):
        """Return a Buffer of `size` bytes of managed memory; `stream` is only checked.

        Raises:
            OverflowError: `size` is negative.
            CUDAError: There is not enough memory.
        """
        return allocate_in(self._context, allocate_managed, MemoryKind.MANAGED, size, stream, self)

    @property
    def is_device_accessible(self):
        """True: kernels can use the memory."""
        return True

    @property
    def is_host_accessible(self):
        """True: the host can use the memory; on most devices only while no kernel runs."""
        return True

    @property
    def device_id(self):
        """The number of the device."""
        return self._device.device_id


def device_memory_resource(device) -> MemoryResource:
    """Return the initial memory resource of a device."""
    kind = DeviceMemoryResource if device.properties.memory_pools_supported else SynchronousMemoryResource
    return kind(device)


constructors.memory_resource = device_memory_resource
