# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Buffers: pieces of memory that can be copied and filled, and exported to other libraries as arrays of bytes."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.object cimport PyObject
from libc.stddef cimport size_t
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from libcpp cimport bool as cpp_bool

from cuda_graphs.core.driver.cuda cimport (
    CU_MEMORYTYPE_DEVICE,
    CU_MEMORYTYPE_HOST,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    CU_POINTER_ATTRIBUTE_IS_MANAGED,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
    CUDA_ERROR_INVALID_VALUE,
    CUDA_SUCCESS,
    CUdeviceptr,
    CUpointer_attribute,
    CUresult,
    CUstream,
    driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt, ensure_driver, raise_explained
from cuda_graphs.core.capture.capture_handles cimport CapturedCall
from cuda_graphs.core.graphs.graph_handles cimport NodeKind, as_owner
from cuda_graphs.core.resources.handles cimport (
    Free,
    GilAcquire,
    Opaque,
    PointerBox,
    PointerHandle,
    StreamHandle,
    WeakOpaque,
    address_of,
    box_of,
    create_pointer_ref,
    create_pointer_with_resource,
    drain_deferred,
    find_running_capture,
    hold_python,
    raw_of,
)
from cuda_graphs.core.resources.device_scope cimport (
    copy_between_devices,
    current_device,
    device_of_stream,
    enable_peer_access,
    has_several_devices,
    kNoDevice,
)
from cuda_graphs.objects.body_rules cimport check_call_fits_body, check_device_fits_body
from cuda_graphs.objects.captured_call cimport (
    find_capture,
    finish_call,
    is_captured_by_any_code,
    keep_owners,
    raise_call_error,
)
from .dlpack cimport ArrayForm, export_capsule, kDLCPU, kDLCUDA, kDLCUDAHost, kDLCUDAManaged
from cuda_graphs.objects.numbers cimport read_address, read_size
from cuda_graphs.objects.device.stream cimport Stream, accept_stream
from cuda_graphs.objects.unraisable cimport report_unraisable
from cuda_graphs.objects import constructors
from cuda_graphs.objects.device.stream import default_stream
from cuda_graphs.errors import ClosedBufferError

cdef unsigned long long closed = 0  # calls of close()


cdef unsigned long long closed_buffers() noexcept:
    return closed


cdef class Buffer:
    """A piece of device or host memory. `Device.allocate` and the `allocate` of a memory resource return it.

    Freed with its last reference or by `close()`, in the order of a stream if the memory resource does so. If the host
    can access it, ``numpy.from_dlpack(buffer)`` is a view of its bytes (int8, shape ``(size,)``), which keeps the
    memory alive. A Buffer is a context manager.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            "Buffer has no public constructor: use MemoryResource.allocate() or Buffer.from_handle()."
        )

    @staticmethod
    cdef Buffer _from_handle(PointerHandle h, object memory_resource):
        cdef Buffer self = Buffer.__new__(Buffer)
        self._h = h
        self._address = address_of(h)
        cdef PointerBox* box = <PointerBox*>box_of[PointerBox](h)
        self._size = box.size
        self._memory_resource = memory_resource
        self._kind = UNLAUNCHED if box.how == Free.kGraph else NOT_ASKED
        return self

    @staticmethod
    cdef Buffer _empty(object memory_resource, MemoryKind kind, int device_id):
        cdef Buffer self = Buffer._from_handle(create_pointer_ref(0, 0, Opaque()), memory_resource)
        self._kind, self._device_id = kind, device_id
        return self

    @staticmethod
    def from_handle(ptr, size, mr=None, owner=None):
        """Return a Buffer of existing memory.

        Args:
            ptr: The address, an int.
            size: Bytes.
            mr: The MemoryResource that frees it: ``mr.deallocate(ptr, size, stream=...)`` is called once.
            owner: Another owner of the memory, kept alive. With neither `mr` nor `owner`, the memory must outlive the
            Buffer.

        Raises:
            TypeError: `ptr` or `size` is not an int, or `mr` has no `deallocate`.
            ValueError: Both `mr` and `owner` were given.
        """
        if mr is not None and owner is not None:
            raise ValueError("give mr or owner, not both: one of them owns the memory")
        if mr is not None and not callable(getattr(mr, "deallocate", None)):
            raise TypeError(f"mr must be a MemoryResource, got {type(mr).__name__}")
        cdef CUdeviceptr address = read_address(ptr, "ptr")
        cdef size_t bytes = read_size(size, "size")
        cdef Opaque keeper
        cdef PointerHandle h
        if mr is not None:
            keeper = hold_python(<PyObject*>mr)
            h = create_pointer_with_resource(address, bytes, keeper, <PyObject*>mr, deallocate_with_resource)
        else:
            if owner is not None:
                keeper = hold_python(<PyObject*>owner)
            h = create_pointer_ref(address, bytes, keeper)
        cdef Buffer self = Buffer._from_handle(h, mr)
        self._owner = owner
        return self

    cdef int _check_open(self) except -1:
        if not self._h:
            raise ClosedBufferError("Buffer has been closed: it has no active allocation")
        return 0

    @property
    def handle(self):
        """The address as an int; 0 once closed."""
        return address_of(self._h)

    @property
    def size(self):
        """Bytes."""
        return self._size

    @property
    def memory_resource(self):
        """The MemoryResource that allocated it, or None."""
        return self._memory_resource

    @property
    def owner(self):
        """The object that owns the memory, or None."""
        return self._owner

    @property
    def is_closed(self):
        """True after `close()`."""
        return not self._h

    def close(self, stream=None):
        """Free the memory, in the order of `stream` (None: the stream it was allocated with). May be called twice.

        Views of the memory (`__dlpack__`) and graphs that use it keep it alive.
        """
        cdef Stream on = accept_stream(stream) if stream is not None and self._h else None
        if self._h:  # checked again: the code of a foreign stream may have closed it
            if on is not None:
                self._free_on(on)
            self._free_captured()
        self._let_go()

    cdef int _let_go(self) except -1:
        """Close the Buffer without a free node. Its memory is freed with the last handle, when the driver allows it."""
        global closed
        closed += 1
        self._h.reset()
        self._memory_resource = None
        self._owner = None
        with nogil:
            drain_deferred()
        return 0

    def set_deallocation_stream(self, stream):
        """Set the stream in whose order the memory is freed with its last reference."""
        cdef Stream on = accept_stream(stream)
        self._check_open()
        self._free_on(on)

    cdef int _free_on(self, Stream stream) except -1:
        """Makes the memory be freed in the order of another stream."""
        cdef PointerHandle memory = self._h
        cdef PointerBox* box = <PointerBox*>box_of[PointerBox](memory)
        cdef StreamHandle h = stream._h
        cdef CapturedCall call
        if box.how == Free.kAsync and find_capture(call, h):
            raise RuntimeError(
                f"{self!r} cannot be freed in the order of a stream that is being captured: the free would become a "
                "node of a graph that did not allocate the memory"
            )
        box.context = stream._context()._h
        box.stream = h
        return 0

    cdef int _free_captured(self) except -1:
        """Frees memory of a graph that is being captured, by a node at this point of the capture. Other holders of the
        handle may remain."""
        cdef PointerHandle memory = self._h
        cdef PointerBox* box = <PointerBox*>box_of[PointerBox](memory)
        cdef CUdeviceptr address = address_of(memory)
        cdef StreamHandle h = box.stream
        cdef CapturedCall call
        if box.how != Free.kGraph or not find_capture(call, h):
            return 0
        check_call_fits_body(call, NodeKind.kFree)
        with nogil:
            call.run(driver().cuMemFreeAsync, address, raw_of(h))
        if call.status() == CUDA_SUCCESS:
            box.how = Free.kNever  # also when the node was not found
        if finish_call(call, NodeKind.kFree, "free") != CUDA_SUCCESS:
            raise_call_error(call, f"free of {self!r}")
        return 0

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def copy_to(self, Buffer dst=None, *, stream):
        """Copy to another Buffer of the same size, in the order of `stream`.

        Args:
            dst: The destination; None for a new Buffer of the same memory resource.
            stream: A Stream, or an object with ``__cuda_stream__``.

        Returns:
            The destination Buffer.

        Raises:
            TypeError: The memory resource did not return a Buffer.
            ValueError: The sizes differ.
        """
        self._check_open()
        cdef Stream on = accept_stream(stream)
        if dst is None:
            if self._memory_resource is None:
                raise ValueError("a destination is needed: this Buffer has no memory resource to allocate one from")
            allocated = self._memory_resource.allocate(self._size, stream=on)
            if not isinstance(allocated, Buffer):
                raise TypeError(
                    f"{type(self._memory_resource).__name__}.allocate must return a Buffer, got {type(allocated).__name__}"
                )
            dst = <Buffer>allocated
        copy(dst, self, on)
        return dst

    def copy_from(self, Buffer src not None, *, stream):
        """Copy from another Buffer of the same size, in the order of `stream`.

        Raises:
            ValueError: The sizes differ.
        """
        copy(self, src, accept_stream(stream))

    def fill(self, value, *, stream):
        """Fill with a value, in the order of `stream`.

        Args:
            value: An int in 0..255 for each byte, or an object with 1, 2 or 4 bytes (``numpy.float32(1)``, ``b"ab"``).
            stream: A Stream, or an object with ``__cuda_stream__``.

        Raises:
            OverflowError: An int out of range.
            ValueError: The value has another number of bytes, or one that does not divide the size.
        """
        cdef Stream on = accept_stream(stream)
        cdef unsigned int pattern = 0
        cdef int width = parse_fill_value(value, &pattern)
        self._check_open()
        on._check_open()
        if self._size % <size_t>width:
            raise ValueError(f"a value of {width} bytes does not fill {self._size} bytes evenly")
        fill_column(self, address_of(self._h), pattern, width, width, self._size // <size_t>width, on)

    def view(self, dtype, shape=None):
        """Return an array with the memory of the Buffer, an NDArray.

        The array keeps the Buffer and its memory alive. After `close()` of the Buffer, the array raises
        ClosedBufferError. The Buffer must be memory of the driver: device, managed or pinned memory.

        Args:
            dtype: The type of the elements, as in `ndarray`.
            shape: An int or a tuple of ints. None: one dimension, with all bytes.

        Raises:
            TypeError: `dtype` is not an element type, or `shape` is not a tuple of ints.
            ValueError: The Buffer has fewer bytes, its address is not a multiple of the size of a number, its memory is
                pageable, or, without a `shape`, its size is not a multiple of the size of an element.
            ClosedBufferError: The Buffer is closed.
        """
        self._check_open()
        return constructors.array(self, dtype, shape)

    @property
    def is_device_accessible(self):
        """True when kernels can use the memory."""
        answer = getattr(self._memory_resource, "is_device_accessible", None)
        return answer if answer is not None else self._ask() in (DEVICE, PINNED, MANAGED)

    @property
    def is_host_accessible(self):
        """True when the host can use the memory."""
        answer = getattr(self._memory_resource, "is_host_accessible", None)
        return answer if answer is not None else self._ask() in (PAGEABLE, PINNED, MANAGED)

    @property
    def is_managed(self):
        """True for managed memory, which the driver moves to the side that accesses it."""
        return self._ask() == MANAGED

    @property
    def device_id(self):
        """The number of the device that has the memory; -1 for memory that the driver does not know."""
        self._ask()
        return self._device_id

    cdef int _ask(self) except -3:
        """Returns the kind of memory that the driver reports. It is queried once; UNLAUNCHED memory until the driver knows it."""
        cdef PointerHandle memory
        cdef int found
        if self._kind == NOT_ASKED or self._kind == UNLAUNCHED:
            self._check_open()
            memory = self._h
            found = query_kind(address_of(memory), &self._device_id)
            if found != PAGEABLE or self._kind == NOT_ASKED:
                self._kind = found
        return self._kind

    def __dlpack_device__(self):
        device, host = self.is_device_accessible, self.is_host_accessible
        if device and host:
            return (kDLCUDAManaged if self._ask() == MANAGED else kDLCUDAHost, 0)
        if device:
            return (kDLCUDA, self.device_id)
        if host:
            return (kDLCPU, 0)
        raise BufferError(f"{self!r} cannot be exported: neither kernels nor the host can use its memory")

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self._check_open()
        cdef PointerHandle memory = self._h
        cdef ArrayForm bytes_of_it
        bytes_of_it.shape.push_back(<int64_t>self._size)
        return export_capsule(memory, bytes_of_it, self.__dlpack_device__(), max_version, dl_device, copy)

    def __eq__(self, other):
        if not isinstance(other, Buffer):
            return NotImplemented
        if not self._h or not (<Buffer>other)._h:
            return self is other
        return self._address == (<Buffer>other)._address and self._size == (<Buffer>other)._size

    def __hash__(self):
        return hash((Buffer, self._address, self._size))

    def __repr__(self):
        return f"<Buffer ptr={self.handle:#x} size={self._size}>"


cdef int query_kind(CUdeviceptr address, int* device_id) except -2:
    """Returns the kind of memory at an address, and its device (-1 for memory that the driver does not know)."""
    ensure_driver()
    cdef unsigned int memory_type = 0, managed = 0
    cdef int ordinal = -1
    cdef CUpointer_attribute attributes[3]
    attributes[0] = CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    attributes[1] = CU_POINTER_ATTRIBUTE_IS_MANAGED
    attributes[2] = CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    cdef void* values[3]
    values[0], values[1], values[2] = &memory_type, &managed, &ordinal
    cdef CUresult status
    with nogil:
        status = driver().cuPointerGetAttributes(3, attributes, values, address)
    if status:
        check_attempt(status, f"ask what the memory at {address:#x} is")
    device_id[0] = ordinal if memory_type else -1
    if managed:
        return MANAGED
    if memory_type == <unsigned int>CU_MEMORYTYPE_DEVICE:
        return DEVICE
    return PINNED if memory_type == <unsigned int>CU_MEMORYTYPE_HOST else PAGEABLE


cdef int copy(Buffer dst, Buffer src, Stream on) except -1:
    dst._check_open()
    src._check_open()
    on._check_open()
    if dst._size != src._size:
        raise ValueError(f"buffer sizes differ: {src._size} bytes cannot be copied to {dst._size} bytes")
    cdef PointerHandle written = dst._h, read = src._h
    cdef CUdeviceptr to = address_of(written), source = address_of(read)
    cdef StreamHandle h = on._h
    cdef CUstream raw_stream = raw_of(h)
    cdef size_t size = src._size
    cdef CapturedCall call
    if size == 0:
        return 0
    cdef int to_device = device_of_memory(dst), source_device = device_of_memory(src)
    cdef bint between = to_device != source_device and to_device != kNoDevice and source_device != kNoDevice
    if find_capture(call, h):
        check_devices_of(call, NodeKind.kMemcpy, to_device, source_device)
        keep_owners(call, own_memory(written), own_memory(read))
    elif dst._kind == UNLAUNCHED or src._kind == UNLAUNCHED:
        check_launched(dst, h, f"copy to {dst!r}")
        check_launched(src, h, f"copy from {src!r}")
    if between and not call.is_captured():
        with nogil:
            call.run(copy_between_devices, to, to_device, source, source_device, size, raw_stream)
    else:
        if has_several_devices():
            reach(dst, device_at_work(h))
            reach(src, device_at_work(h))
        with nogil:
            call.run(driver().cuMemcpyAsync, to, source, size, raw_stream)
    if finish_call(call, NodeKind.kMemcpy, "copy") != CUDA_SUCCESS:
        raise_call_error(call, f"copy of {src!r} to {dst!r}")
    return 0


cdef int device_of_memory(Buffer buffer) except -2:
    """Return the device of device memory; kNoDevice for other memory, and on machines with one device."""
    if not has_several_devices() or is_of_graph(buffer) or buffer._ask() != DEVICE:
        return kNoDevice
    return buffer._device_id


cdef int reach(Buffer buffer, int device) except -1:
    cdef int owner = device_of_memory(buffer)
    cdef CUdeviceptr address = buffer._address
    cdef CUresult status
    if owner == kNoDevice or device == kNoDevice or owner == device:
        return 0
    with nogil:
        status = enable_peer_access(device, owner, address)
    if status:
        raise_explained(
            status, f"let device {device} use {buffer!r}, which is memory of device {owner}",
            (
                f"Device {device} has no access to the memory of device {owner} on this machine: `nvidia-smi topo -p2p r` "
                "shows which GPUs have access to each other.",
                f"Copy the data to device {device} first (copy_from), or run the work on device {owner}.",
            ),
        )
    return 0


cdef int device_at_work(const StreamHandle& stream) except -2:
    cdef int device = device_of_stream(stream)
    return current_device() if device == kNoDevice else device


cdef int check_devices_of(CapturedCall& call, NodeKind kind, int device, int other) except -1:
    """Raise ValueError for a captured node of memory of another device than that of the conditional node around it."""
    check_device_fits_body(&call.capture().box(), device, kind, None)
    return check_device_fits_body(&call.capture().box(), other, kind, None)


cdef int fill_elements(Buffer buffer, CUdeviceptr address, bytes element, size_t count, Stream on) except -1:
    cdef size_t size = len(element), offset
    cdef unsigned int pattern = 0
    cdef int width
    buffer._check_open()
    for width in (1, 2, 4):
        if element == element[:width] * (size // <size_t>width):
            parse_fill_value(element[:width], &pattern)
            return fill_column(buffer, address, pattern, width, width, count * size // <size_t>width, on)
    width = next(each for each in (4, 2, 1) if size % each == 0)
    for offset in range(0, size, <size_t>width):
        parse_fill_value(element[offset:offset + <size_t>width], &pattern)
        fill_column(buffer, address + offset, pattern, width, size, count, on)
    return 0


cdef int fill_column(
    Buffer buffer, CUdeviceptr address, unsigned int pattern, int width, size_t pitch, size_t count, Stream on
) except -1:
    """Sets `count` values of 1, 2 or 4 bytes, whose addresses differ by `pitch`."""
    cdef PointerHandle memory = buffer._h
    cdef StreamHandle h = on._h
    cdef CUstream raw_stream = raw_of(h)
    cdef CapturedCall call
    if count == 0:
        return 0
    cdef int device = device_of_memory(buffer)
    if find_capture(call, h):
        check_devices_of(call, NodeKind.kMemset, device, kNoDevice)
        keep_owners(call, own_memory(memory), Opaque())
    elif buffer._kind == UNLAUNCHED:
        check_launched(buffer, h, f"fill of {buffer!r}")
    if device != kNoDevice:
        reach(buffer, device_at_work(h))
    with nogil:
        if pitch == <size_t>width:
            run_fill(call, address, pattern, width, count, raw_stream)
        else:
            run_spaced_fill(call, address, pattern, width, pitch, count, raw_stream)
    if finish_call(call, NodeKind.kMemset, "fill") != CUDA_SUCCESS:
        raise_call_error(call, f"fill of {buffer!r}")
    return 0


cdef int run_fill(
    CapturedCall& call, CUdeviceptr address, unsigned int pattern, int width, size_t count, CUstream stream
) except -1 nogil:
    if width == 1:
        call.run(driver().cuMemsetD8Async, address, <unsigned char>pattern, count, stream)
    elif width == 2:
        call.run(driver().cuMemsetD16Async, address, <unsigned short>pattern, count, stream)
    else:
        call.run(driver().cuMemsetD32Async, address, pattern, count, stream)
    return 0


cdef int run_spaced_fill(
    CapturedCall& call, CUdeviceptr address, unsigned int pattern, int width, size_t pitch, size_t count, CUstream stream
) except -1 nogil:
    cdef size_t one = 1
    if width == 1:
        call.run(driver().cuMemsetD2D8Async, address, pitch, <unsigned char>pattern, one, count, stream)
    elif width == 2:
        call.run(driver().cuMemsetD2D16Async, address, pitch, <unsigned short>pattern, one, count, stream)
    else:
        call.run(driver().cuMemsetD2D32Async, address, pitch, pattern, one, count, stream)
    return 0


cdef bint is_being_captured(const PointerHandle& memory) except -1:
    cdef PointerHandle kept = memory  # another thread may close the Buffer meanwhile
    cdef cpp_bool runs = False
    cdef CUresult status
    if (<PointerBox*>box_of[PointerBox](kept)).how != Free.kGraph:
        return False
    with nogil:
        status = find_running_capture(kept, &runs)
    check_attempt(status, "find out whether the capture of memory goes on")
    return runs


cdef Opaque own_memory(PointerHandle memory) except *:
    # During its capture, no node may keep the memory: its end adds the free node.
    return Opaque() if is_being_captured(memory) else as_owner(memory)


cdef Buffer part_of(Buffer whole, CUdeviceptr address, size_t size):
    whole._check_open()
    cdef Buffer part = Buffer._from_handle(create_pointer_ref(address, size, own_memory(whole._h)), whole._memory_resource)
    part._owner, part._kind, part._device_id = whole, whole._kind, whole._device_id
    return part


cdef bint is_of_graph(Buffer buffer) noexcept:
    cdef PointerHandle memory = buffer._h
    if memory.get() == NULL:
        return False
    if (<PointerBox*>box_of[PointerBox](memory)).how == Free.kGraph:
        return True
    return isinstance(buffer._owner, Buffer) and is_of_graph(<Buffer>buffer._owner)


cdef int check_launched(Buffer buffer, const StreamHandle& stream, object attempt) except -1:
    if buffer._kind != UNLAUNCHED:
        return 0
    cdef Buffer whole
    if isinstance(buffer._owner, Buffer):
        whole = buffer._owner
        check_launched(whole, stream, attempt)
        buffer._kind, buffer._device_id = whole._kind, whole._device_id
        return 0
    if is_captured_by_any_code(stream) or buffer._ask() != UNLAUNCHED:
        return 0
    return raise_memory_error(CUDA_ERROR_INVALID_VALUE, buffer, attempt)


cdef int raise_memory_error(CUresult status, Buffer buffer, object attempt) except -1:
    cause = None
    if status == CUDA_ERROR_INVALID_VALUE and is_of_graph(buffer):
        cause = (
            "The memory belongs to a captured graph, which has not been launched, or has freed the memory.",
            "Launch the graph first, and keep a reference to the array to the end of the block that captures it.",
        )
    return raise_explained(status, attempt, cause)


cdef bint is_of_capture(Buffer buffer) except -1:
    cdef PointerHandle memory = buffer._h
    if memory.get() == NULL:
        return False
    if is_being_captured(memory):
        return True
    return isinstance(buffer._owner, Buffer) and is_of_capture(<Buffer>buffer._owner)


cdef bint own_buffer(Buffer buffer, Opaque& owner) except -1:
    (&owner)[0] = buffer._owned.lock()
    if not owner:
        if is_of_capture(buffer):
            return False
        (&owner)[0] = hold_python(<PyObject*>buffer, own_memory(buffer._h))  # survives close()
        buffer._owned = WeakOpaque(owner)
    return True


cdef int parse_fill_value(object value, unsigned int* pattern) except -1:
    if isinstance(value, int):
        if not 0 <= value < 256:
            raise OverflowError(f"a fill value must be in 0..255 when it is an int, got {value}")
        pattern[0] = value
        return 1
    if not PyObject_CheckBuffer(value):
        raise TypeError(
            f"a fill value must be an int or an object with 1, 2 or 4 bytes, got {type(value).__name__}"
        )
    cdef Py_buffer view
    try:
        PyObject_GetBuffer(value, &view, PyBUF_SIMPLE)
    except ValueError as problem:  # NumPy's error for an array with gaps
        raise BufferError(f"a fill value must be contiguous: {problem}") from None
    try:
        if view.len not in (1, 2, 4):
            raise ValueError(f"a fill value must have 1, 2 or 4 bytes, got {view.len}")
        pattern[0] = 0
        memcpy(pattern, view.buf, <size_t>view.len)  # little endian
        return <int>view.len
    finally:
        PyBuffer_Release(&view)


cdef void deallocate_with_resource(void* resource, CUdeviceptr address, size_t size, const StreamHandle& stream) noexcept nogil:
    """Makes a Python resource free memory. Runs in a box's destructor: on any thread, at any time."""
    cdef GilAcquire python
    if python:
        with gil:
            call_deallocate(<object><PyObject*>resource, address, size, stream)


cdef void call_deallocate(resource, CUdeviceptr address, size_t size, const StreamHandle& stream) noexcept:
    try:
        resource.deallocate(address, size, stream=Stream._from_handle(stream) if stream else default_stream())
    except BaseException as error:  # the code that dropped the last reference cannot handle it
        report_unraisable(error, resource)
