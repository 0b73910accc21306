# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Devices: a GPU, or the CPU with the host driver. Each thread has one object per device."""

import threading
from collections import namedtuple

from cuda_graphs.core.driver.cuda cimport (
    CUDA_ERROR_INVALID_CONTEXT,
    CUDA_ERROR_INVALID_VALUE,
    CUcontext,
    CUdevice_attribute,
    CUresult,
    CUuuid,
    driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt, ensure_driver, raise_noted
from cuda_graphs.core.resources.handles cimport (
    Awaited,
    ContextBox,
    ContextHandle,
    box_of,
    primary_context,
    raw_of,
)
from cuda_graphs.objects.capture_ledger cimport check_no_body_captured
from .context cimport Context, find_current
from cuda_graphs.objects.numbers cimport as_int
from cuda_graphs.objects.waiting cimport wait_for
from cuda_graphs.objects import constructors
from cuda_graphs.objects.memory.abstract_resource import MemoryResource
from .device_properties import DeviceProperties
from .event import make_event
from .stream import default_stream, from_protocol, make_stream
from cuda_graphs.errors import CUDAError

ComputeCapability = namedtuple("ComputeCapability", "major minor", module=__name__)

_tls = threading.local()


class Device:
    """A device: ``Device(n)`` is number n, and ``Device()`` the current device of this thread, or number 0 without one.

    The same thread gets the same object for the same device. Creating streams, events or memory needs `set_current()`
    first; queries do not. ``with Device(1):`` makes the device current for a block of the thread, and then restores the
    device that was current before, also after an exception.

    Raises:
        ValueError: No device has that number.
    """

    __slots__ = ("__weakref__", "_context", "_device_id", "_memory_resource", "_properties")

    def __new__(cls, device_id=None):
        if isinstance(device_id, Device):
            return device_id
        ensure_driver()
        device_id = current_device_id() if device_id is None else check_device_id(device_id)
        try:
            devices = _tls.devices
        except AttributeError:
            devices = _tls.devices = {}
        if device_id not in devices:
            devices[device_id] = new_device(cls, device_id)
        return devices[device_id]

    @classmethod
    def get_all_devices(cls):
        """Return all devices, a tuple in the order of their numbers."""
        ensure_driver()
        return tuple(cls(i) for i in range(device_count()))

    @property
    def device_id(self):
        """The number of the device."""
        return self._device_id

    @property
    def name(self):
        """The name of the device."""
        cdef char text[256]
        cdef int device = self._device_id
        cdef CUresult status
        with nogil:
            status = driver().cuDeviceGetName(text, 256, device)
        if status:
            check_attempt(status, f"ask for the name of device {device}")
        return (<bytes>text).decode(errors="replace")

    @property
    def uuid(self):
        """The UUID of the device, the same in every process, as 8-4-4-4-12 hex digits."""
        cdef CUuuid uuid
        cdef int device = self._device_id
        cdef CUresult status
        with nogil:
            status = driver().cuDeviceGetUuid(&uuid, device)
        if status:
            check_attempt(status, f"ask for the identity of device {device}")
        digits = (<bytes>uuid.bytes[:16]).hex()
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    @property
    def pci_bus_id(self):
        """The PCI address of the device, "domain:bus:device.function"."""
        cdef char text[64]
        cdef int device = self._device_id
        cdef CUresult status
        with nogil:
            status = driver().cuDeviceGetPCIBusId(text, 64, device)
        if status:
            check_attempt(status, f"ask for the PCI address of device {device}")
        return (<bytes>text).decode()

    @property
    def total_memory(self):
        """The memory of the device in bytes."""
        cdef size_t size = 0
        cdef int device = self._device_id
        cdef CUresult status
        with nogil:
            status = driver().cuDeviceTotalMem(&size, device)
        if status:
            check_attempt(status, f"ask for the memory of device {device}")
        return size

    @property
    def compute_capability(self):
        """The compute capability of the device, (major, minor)."""
        return ComputeCapability(self.properties.compute_capability_major, self.properties.compute_capability_minor)

    @property
    def arch(self):
        """The compute capability in compiler notation, "90" for 9.0."""
        return "{}{}".format(*self.compute_capability)

    @property
    def properties(self):
        """DeviceProperties: every device attribute of the driver as a property."""
        return self._properties

    def can_access_peer(self, peer):
        """Return True when kernels of this device can use the memory of another device (a Device or its number)."""
        cdef int can = 0
        cdef int device = self._device_id, other = Device(peer).device_id
        if other == device:
            return True
        cdef CUresult status
        with nogil:
            status = driver().cuDeviceCanAccessPeer(&can, device, other)
        if status:
            check_attempt(status, f"ask whether device {device} can use the memory of device {other}")
        return bool(can)

    def set_current(self, context=None):
        """Make this device current on this thread: later work of the thread runs on it.

        Args:
            context: A Context of this device, or None for its primary context, which other CUDA libraries share.

        Returns:
            If `context` is given: the previously current Context, or None. Otherwise None.

        Raises:
            RuntimeError: `context` belongs to another device.
        """
        if context is None:
            self._context = primary(self._device_id)
            make_current(self._context)
            return None
        if not isinstance(context, Context):
            raise TypeError(f"expected a Context, got {type(context).__name__}")
        if context.device is not self:
            raise RuntimeError(f"{context!r} is not of device {self._device_id}")
        previous = get_current()
        make_current(context)
        self._context = context
        return previous

    def __enter__(self):
        previous = get_current()
        Device(self._device_id).set_current()  # the object of this thread
        self.set_current()
        open_blocks().append((self._device_id, previous))
        return self

    def __exit__(self, kind, error, traceback):
        blocks = open_blocks()
        for at in reversed(range(len(blocks))):
            if blocks[at][0] == self._device_id:
                make_current(blocks.pop(at)[1])
                return
        raise RuntimeError(f"this thread is in no `with` block of device {self._device_id}")

    @property
    def context(self):
        """The Context that `set_current` chose for this device on this thread."""
        if self._context is None:
            raise CUDAError(
                <int>CUDA_ERROR_INVALID_CONTEXT,
                "CUDA_ERROR_INVALID_CONTEXT",
                explanation=f"device {self._device_id} has not been made current on this thread",
                remedy="Call device.set_current() on every thread that uses the device.",
            )
        return self._context

    def create_stream(self, obj=None, options=None):
        """Return a new stream, or the stream of another library's object.

        Args:
            obj: An object with ``__cuda_stream__``, which is kept alive and keeps its stream; None for a new stream.
            options: StreamOptions or a dict of its fields, for a new stream.
        """
        context = self.context
        if obj is None:
            return make_stream(context, options)
        if options is not None:
            raise ValueError("obj and options cannot be given together: options are for a new stream")
        return from_protocol(obj)

    def create_event(self, options=None):
        """Return a new event; `options` is EventOptions or a dict of its fields."""
        return make_event(self.context, options)

    def create_graph_builder(self):
        """Return a GraphBuilder with its own stream: it records the work given to it as a graph instead of running it.

        The stream is destroyed with the builder and the other objects that use it. Capture begins with `begin_building`
        or at the beginning of a `with` block.

        Raises:
            CUDAError: The device has not been made current yet, or a stream cannot be allocated.
        """
        return make_stream(self.context, None).create_graph_builder()

    @property
    def default_stream(self):
        """The default stream of the current device."""
        return default_stream()

    @property
    def memory_resource(self):
        """The resource that `allocate` uses; a DeviceMemoryResource unless another was assigned. Each thread has its
        own."""
        if self._memory_resource is None:
            self._memory_resource = constructors.memory_resource(self)
        return self._memory_resource

    @memory_resource.setter
    def memory_resource(self, resource):
        if not isinstance(resource, MemoryResource):
            raise TypeError(f"expected a MemoryResource, got {type(resource).__name__}")
        self._memory_resource = resource

    def allocate(self, size, *, stream=None):
        """Return a Buffer of `size` bytes of device memory, usable in the order of `stream` (None: the default
        stream)."""
        self.context  # noqa: B018 - raises an error if the device was not made current
        return self.memory_resource.allocate(size, stream=default_stream() if stream is None else stream)

    def sync(self, timeout=None):
        """Wait for all work of the device's context. `timeout` and Ctrl-C are those of `Stream.sync`.

        Raises:
            TimeoutError: The work takes longer than `timeout` seconds. The message says what still runs.
        """
        cdef Context context = self.context
        cdef Awaited awaited
        awaited.context = context._h
        check_no_body_captured(self)
        wait_for(awaited, self, timeout)

    def __int__(self):
        return self._device_id

    def __eq__(self, other):
        return self._device_id == other._device_id if isinstance(other, Device) else NotImplemented

    def __hash__(self):
        return hash((Device, self._device_id))

    def __reduce__(self):
        return Device, (self._device_id,)

    def __repr__(self):
        try:
            return f"<Device {self._device_id} ({self.name})>"
        except CUDAError:  # a repr must work after an error too
            return f"<Device {self._device_id}>"


def current_device():
    """Return the current Device. Make it current in a new thread."""
    device = Device()
    if device._context is None:
        device.set_current()
    return device


cdef list open_blocks():
    """Return (device, previous Context) of the open `with` blocks of devices of this thread, the innermost last."""
    try:
        return _tls.blocks
    except AttributeError:
        _tls.blocks = []
        return _tls.blocks


cdef object new_device(cls, int device_id):
    self = object.__new__(cls)
    self._device_id = device_id
    self._context = None
    self._memory_resource = None
    self._properties = DeviceProperties(lambda attribute: device_attribute(device_id, attribute))
    return self


cdef int device_attribute(int device_id, int attribute) except? -1:
    cdef int value = 0
    cdef CUresult status
    with nogil:
        status = driver().cuDeviceGetAttribute(&value, <CUdevice_attribute>attribute, device_id)
    # An older driver does not know a newer attribute, so the device lacks its feature.
    if status == CUDA_ERROR_INVALID_VALUE:
        return 0
    if status:
        check_attempt(status, f"ask for attribute {attribute} of device {device_id}")
    return value


cdef int device_count() except -1:
    cdef int count = 0
    cdef CUresult status
    with nogil:
        status = driver().cuDeviceGetCount(&count)
    if status:
        check_attempt(status, "count the devices")
    return count


cdef int check_device_id(device_id) except -1:
    given, device_id = device_id, as_int(device_id)
    if device_id is None:
        raise TypeError(f"device_id must be an int or a Device, got {type(given).__name__}")
    if device_id < 0:
        raise ValueError(f"device_id must not be negative, got {device_id}")
    count = device_count()
    if device_id >= count:
        raise ValueError(f"there is no device {device_id}: the number of devices is {count}")
    return device_id


cdef int current_device_id() except -1:
    cdef ContextHandle h = find_current()
    return (<ContextBox*>box_of[ContextBox](h)).device if h else 0


cdef Context primary(int device_id):
    cdef ContextHandle h
    with nogil:
        h = primary_context(device_id)
    if not h:
        raise_noted(f"Device({device_id}).set_current()")
    return Context._from_handle(h)


cdef Context get_current():
    cdef ContextHandle h = find_current()
    return Context._from_handle(h) if h else None


cdef int make_current(Context context) except -1:
    cdef CUcontext raw = raw_of(context._h) if context is not None else NULL
    cdef CUresult status
    with nogil:
        status = driver().cuCtxSetCurrent(raw)
    if status:
        check_attempt(status, "make no context current" if context is None else f"make {context!r} current")
    return 0


constructors.device = Device
