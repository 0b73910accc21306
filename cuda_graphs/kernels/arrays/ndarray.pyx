# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays for kernels: elements of one type in C order, in memory of a device.

A read or write by the host waits for the device first. It therefore sees all work launched before, on any stream, and
work launched later sees its writes.

The elements are in managed memory if the host can access the managed memory of the device in place. This is true for
the host driver and for GPUs that share their memory with the CPU. NumPy then uses the elements without a copy. On
other devices, the elements are in device memory.
"""

import itertools
import math
import threading
import weakref

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint64_t, uintptr_t

from cuda_graphs.core.driver.cuda cimport (
    CU_STREAM_LEGACY,
    CUDA_SUCCESS,
    CUdeviceptr,
    CUresult,
    CUstream,
    driver,
)
from cuda_graphs.core.driver.seam cimport ensure_driver
from cuda_graphs.core.capture.capture_handles cimport may_be_captured
from cuda_graphs.core.graphs.graph_handles cimport find_value_type
from cuda_graphs.core.resources.device_scope cimport kNoDevice
from cuda_graphs.core.resources.handles cimport raw_of
from cuda_graphs.objects.memory.dlpack cimport (
    ArrayForm,
    DLDataTypeCode,
    export_capsule,
    kDLBfloat,
    kDLBool,
    kDLCPU,
    kDLCUDA,
    kDLFloat,
    kDLInt,
    kDLUInt,
)
from cuda_graphs.objects.captured_call cimport is_captured_by_any_code
from cuda_graphs.objects.device.context cimport DeviceScope, enter_device
from cuda_graphs.objects.memory.buffer cimport (
    MemoryKind,
    check_launched,
    fill_elements,
    is_of_capture,
    is_of_graph,
    part_of,
    raise_memory_error,
)
from cuda_graphs.objects.memory.graph_memory cimport allocate_for_array
from cuda_graphs.objects.device.current cimport current_or
from cuda_graphs.objects.device.stream cimport Stream
from .keep_alive cimport keep_arguments
from .without_operators cimport WithoutOperators

from cuda_graphs.kernels.shapes import may_release_during_work
from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.device.stream import default_stream
from cuda_graphs.objects.memory.array_shape import accept_shape, has_gaps, reshaped, select
from cuda_graphs.objects.memory.memory_resource import ManagedMemoryResource
from cuda_graphs.errors import ClosedBufferError, CUDAError
from . import keep_alive
from .offsets import accept_offset, from_zero

cdef Stream usual_stream = default_stream()

# Start of the name of a Field in code, which differs from all names of variables.
FIELD = "<field "
cdef object field_numbers = itertools.count()
# Live fields by their name in code.
cdef object fields = weakref.WeakValueDictionary()
# Live fields with a gradient.
cdef object with_gradients = weakref.WeakSet()
# Live arrays and fields whose dual has memory.
cdef object with_duals = weakref.WeakSet()

# Lock for the allocation of fields and duals.
cdef object allocation_lock = threading.RLock()

cdef dict DLPACK_CODES = {
    "int": <int>kDLInt, "uint": <int>kDLUInt, "float": <int>kDLFloat, "bool": <int>kDLBool,
}


cdef uint64_t versions = 1  # last version that was assigned


cdef void note_change(Changes* changes, uintptr_t writer) noexcept:
    global versions
    if changes != NULL and changes.version != 0:
        versions += 1
        changes.version, changes.writer = versions, writer


cdef uintptr_t writer_of(CUstream stream) noexcept:
    return <uintptr_t>stream + 1  # the default stream may be NULL


cdef str closed_text(NDArray self):
    return (
        f"the Buffer of {self._identify()} is closed: close() freed its memory, or the capture in which the array was made "
        "was abandoned. Make another array"
    )


cdef int check_copy(NDArray self, CUresult status, str what) except -1:
    """Raise the error of a copy between the host and an array."""
    return raise_memory_error(status, self._buffer, f"{what} {self._identify()}") if status else 0


cdef bint is_current_stream_captured() except -1:
    cdef Stream stream = current_or(None)
    return stream is not None and is_captured_by_any_code(stream._h)


def check_host_may_write():
    """Raise RuntimeError if the host cannot write the elements of a new array, before the array is a node of a graph."""
    if is_current_stream_captured():
        raise RuntimeError(
            "the host cannot write the elements of a new array while the current stream is captured: make the array before the "
            "capture, or let a kernel write it"
        )


cdef class NDArray(WithoutOperators):
    """An array of elements in memory of a device: an argument of kernels. `ndarray` makes one.

    `a[i, j]` reads one element on the host, and `a[i, j] = value` writes one element. Each access waits for the
    device, so use `to_numpy` and `from_numpy` for many elements. A slice (`a[2:5]`, `a[i]` with fewer indices than
    dimensions) is an array that shares the memory, and so are `reshape` and `view`; their elements must follow one
    another in memory. Arithmetic and comparisons of order raise TypeError, and ``==`` compares identities: NumPy, CuPy
    and PyTorch do more. Other libraries use the array without a copy, through ``__cuda_array_interface__``, DLPack, and,
    if the host can access the memory, ``__array_interface__``.

    An element that is a vector or a matrix is a value on the host, as `vec3` makes them: ``a[i] = [1, 2, 3]`` writes a
    whole element. For NumPy and other libraries, the components are further dimensions: ``shape + element_shape``.

    Attributes:
        dtype: The type of the elements, or of the components of vector elements.
        shape: A tuple of ints; ``()`` for an array of one element without an index.
        element_shape: ``()`` for numbers, ``(3,)`` for vectors, ``(2, 3)`` for matrices.
        size: The number of elements.
    """

    # The class of the gradient. Classes derived from this one may have another.
    _partner_class = NDArray

    def __init__(self, *args, **kwargs):
        raise RuntimeError("NDArray objects cannot be instantiated directly. Use cuda_graphs.ndarray() or field().")

    @property
    def ndim(self):
        """The number of indices of an element."""
        return len(self.shape)

    @property
    def itemsize(self):
        """The bytes of an element, with all its components."""
        return self._itemsize

    @property
    def nbytes(self):
        """The bytes of all elements."""
        return self.size * self._itemsize

    @property
    def strides(self):
        """The bytes from an element to the next along each dimension of `shape`."""
        strides = []
        step = self._itemsize
        for extent in reversed(self.shape):
            strides.append(step)
            step *= extent
        return tuple(reversed(strides))

    @property
    def base(self):
        """The array, or the Buffer of `Buffer.view`, whose memory this array shares; None for an array of its own."""
        return self._base

    @property
    def handle(self):
        """The address of the first element, an int."""
        self._open()
        self._expose()
        return self._address

    @property
    def buffer(self):
        """The Buffer with the elements. A slice of an array has a Buffer that is a part of the array's Buffer."""
        self._expose()
        return self._memory()

    @property
    def device(self):
        """The Device of the memory."""
        self._ready()
        return self._device

    @property
    def needs_grad(self):
        """True if the array has a `grad`."""
        return bool(self._needs_grad)

    @property
    def grad(self):
        """An NDArray of the same type and shape, for gradients; None without `needs_grad`."""
        self._ready()
        return self._grad

    @property
    def needs_dual(self):
        """True if the array has a `dual`; every array with a gradient has a dual."""
        return bool(self._needs_grad or self._needs_dual)

    @property
    def dual(self):
        """An NDArray of the same type and shape, for forward derivatives; None without `needs_dual` and `needs_grad`.

        The first access makes it, filled with zeros.
        """
        return self._dual_or_none()

    cdef NDArray _dual_or_none(self):
        if self._needs_grad or self._needs_dual:
            return self._forced_dual()
        if self._dual is None and isinstance(self._base, NDArray) and (<NDArray>self._base)._dual_or_none() is not None:
            return self._forced_dual()  # a part of a gradient, for second derivatives
        return self._dual

    cdef NDArray _forced_dual(self):
        """Return the dual, also of an array that needs none: of a gradient, for second derivatives."""
        cdef NDArray made
        cdef NDArray whole
        if self._dual is None and isinstance(self._base, NDArray):
            whole = self._base
            self._ready()
            self._dual = whole._forced_dual()._part(self._address - whole._address, self.shape, self.dtype)
        if self._dual is None:
            self._ready()
            made = make_unallocated(NDArray, self.dtype, self.element_shape, self.shape, False, False, self._device)
            with allocation_lock:
                if self._dual is None:
                    made._offset = self._offset
                    made._allocate(True, is_of_capture(self._buffer))
                    self._dual = made
                    with_duals.add(self)
        return self._dual

    cdef int _expose(self) except -1:
        """Prepare to give the memory to other code, which may then change the elements without a new version."""
        self._ready()
        self._changes.version = 0
        return 0

    cdef int _ready(self) except -1:
        """Ensure that the array has memory: a Field gets its memory at its first use."""
        if self._buffer is None:
            ensure_driver()  # raises in a forked child, where the lock may stay locked forever
            with allocation_lock:
                if self._buffer is None:
                    self._allocate()
        return 0

    cdef int _open(self) except -1:
        """Ensure that the array has memory, and that its Buffer is not closed."""
        self._ready()
        if not self._buffer._h:
            raise ClosedBufferError(closed_text(self))
        return 0

    cdef Buffer _memory(self):
        """Return a Buffer of exactly the bytes of the elements. It keeps the memory, for graphs and other libraries."""
        cdef size_t size = self.size * self._itemsize
        if self._address == self._buffer._address and size == self._buffer._size:
            return self._buffer
        return part_of(self._buffer, self._address, size)

    cdef NDArray _part(self, Py_ssize_t offset, tuple shape, object dtype):
        """Return an array that shares memory of this one: elements of `dtype` in C order, `offset` bytes from its start."""
        cdef NDArray part
        self._open()
        self._expose()
        part = make_unallocated(NDArray, dtype, self.element_shape, shape, self._needs_grad, self._needs_dual, self._device)
        if self._needs_grad:
            part._grad = self._grad._part(offset, shape, dtype)
        part._address, part._base, part._place = self._address + <size_t>offset, self, self._place
        part._changes.version = 0
        part._buffer = self._buffer
        return part

    cdef int _allocate(self, bint filled=True, bint in_capture=True) except -1:
        """Allocate memory on the requested device, also for the gradient. Fill it with zeros unless `filled` is False.

        During a capture it is memory of the graph, unless `in_capture` is False."""
        cdef DeviceScope scope
        cdef NDArray grad = None
        device = Device(self._device)
        enter_device(scope, device.device_id)
        if device._context is None:
            device.set_current()
        keep_alive.release_finished()
        cdef Buffer buffer = self._new_buffer(device, filled, in_capture)
        if self._needs_grad:
            grad = make_unallocated(self._partner_class, self.dtype, self.element_shape, self.shape, False, False, device)
            grad._offset = self._offset
            grad._allocate()
        self._grad, self._device, self._address, self._place = grad, device, buffer._address, device.device_id
        self._buffer = buffer
        return 0

    cdef Buffer _new_buffer(self, object device, bint filled, bint in_capture):
        """Return memory for the elements. That of a Field is never memory of a graph, since other graphs may use it too."""
        cdef size_t size = self.size * self._itemsize
        cdef Stream current = None if isinstance(self, Field) or not in_capture else current_or(None)
        cdef Buffer buffer = None if current is None else allocate_for_array(device.device_id, size, current)
        if buffer is not None:
            if filled:
                buffer.fill(0, stream=current)
            return buffer
        stream = device.default_stream
        buffer = resource_of(device).allocate(size, stream=stream)
        if filled:
            buffer.fill(0, stream=stream)
        stream.sync()  # kernels may use it on any stream
        return buffer

    def fill(self, value):
        """Set every element to a value. Vector elements take all components, or one number for all of them.

        In a block with a current stream (`stream`, `capture`), the work is done in the order of this stream. Elsewhere the
        method waits for all work before it and for its own work.

        Raises:
            TypeError: `value` is a float for integer elements, or is not a number.
            OverflowError: `value` is an integer outside the range of the element type.
            ValueError: `value` has a shape other than that of an element.
        """
        from .dtypes import to_element

        cdef bytes element = to_element(value, self.dtype, f"an element of {self._identify()}", self.element_shape)
        if not self.size:
            return
        cdef DeviceScope scope
        cdef Stream stream = current_or(None)
        self._begin_change(stream)
        if stream is None:
            enter_device(scope, self._place)
        fill_elements(self._buffer, self._address, element, self.size, usual_stream if stream is None else stream)
        self._end_change(stream, (self,))

    def to_numpy(self, *, copy=True, timeout=None):
        """Return a copy as a NumPy array of shape ``shape + element_shape``; bf16 becomes float32, which is exact.

        Waits for the device first. `timeout` and Ctrl-C are those of `Stream.sync`.

        Args:
            copy: False returns a view of the memory, which later kernels change; None returns a view if the host can
                access the memory, and a copy otherwise.

        Raises:
            TimeoutError: The work of the device takes longer than `timeout` seconds.
            ValueError: `copy` is False, and the host cannot access the memory, or NumPy has no such elements.
        """
        import numpy as np

        from .dtypes import device_dtype, from_device

        if not copy:
            self._open()
            if self._buffer.is_host_accessible and self.dtype.dtype:
                self._wait(timeout)
                return np.from_dlpack(self)
            if copy is not None:
                why = "is in memory that the host cannot access" if self.dtype.dtype else f"has elements of {self.dtype}, which NumPy lacks"
                raise ValueError(f"{self._identify()} {why}: to_numpy() returns a copy")
        elements = np.empty(self.shape + self.element_shape, device_dtype(self.dtype))
        self._wait(timeout)
        self._read(elements, 0)
        return from_device(elements, self.dtype)

    def from_numpy(self, values):
        """Copy the elements of a NumPy array of shape ``shape + element_shape``, converted by the rules of `astype`.

        Raises:
            TypeError: `values` is not a NumPy array, or its elements cannot be converted to this type.
            ValueError: `values` has another shape.
        """
        import numpy as np

        from .dtypes import host_dtype, to_device

        if not isinstance(values, np.ndarray):
            raise TypeError(f"values must be a NumPy array, got {type(values).__name__}: make one with numpy.asarray")
        shape = self.shape + self.element_shape
        if values.shape != shape:
            raise ValueError(f"values have the shape {values.shape}, but {self._identify()} takes {shape}")
        if values.dtype.kind not in "biuf" and values.dtype.name != "bfloat16":
            raise TypeError(f"elements of {values.dtype} cannot be converted to {self.dtype}")
        with np.errstate(all="ignore"):  # NumPy decides the result of an overflow
            host = np.ascontiguousarray(values, host_dtype(self.dtype)).reshape(shape)
        self._wait()
        self._write(to_device(host, self.dtype), 0)

    def copy_from(self, other):
        """Copy the elements of another NDArray of the same type and shape, in the order of the current stream as `fill` is.

        Raises:
            TypeError: `other` is not an NDArray.
            ValueError: `other` has another type or shape.
        """
        if not isinstance(other, NDArray):
            raise TypeError(f"other must be an NDArray, got {type(other).__name__}: from_numpy copies arrays of NumPy")
        self._copy_from(<NDArray>other)

    cdef int _copy_from(self, NDArray other) except -1:
        if (other.dtype, other.shape, other.element_shape) != (self.dtype, self.shape, self.element_shape):
            raise ValueError(f"elements of {other._identify()} cannot be copied to {self._identify()}: type and shape must be the same")
        cdef DeviceScope scope
        cdef Stream stream = current_or(None)
        other._begin_change(stream)
        self._begin_change(stream)
        if stream is None:
            enter_device(scope, self._place)
        self._memory().copy_from(other._memory(), stream=usual_stream if stream is None else stream)
        self._end_change(stream, (self, other))
        return 0

    cdef int _begin_change(self, Stream stream) except -1:
        """Prepare for a copy or fill on the current stream. Without one (None), wait for all work of the device."""
        if stream is None:
            self._wait()
        else:
            self._open()
        if self._buffer._kind == MemoryKind.UNLAUNCHED:
            check_launched(self._buffer, (usual_stream if stream is None else stream)._h, f"copy or fill of {self._identify()}")
        return 0

    cdef int _end_change(self, Stream stream, tuple operands) except -1:
        """End a copy or fill on the current stream. Without one (None), wait for the default stream."""
        if stream is None:
            note_change(&self._changes, 0)
            usual_stream.sync()
        elif is_captured_by_any_code(stream._h):
            self._changes.version = 0  # each launch of the graph changes the elements
        else:
            note_change(&self._changes, writer_of(raw_of(stream._h)))
            if may_release_during_work():
                keep_arguments(stream._h, operands)
        return 0

    cdef int _wait(self, object timeout=None) except -1:
        """Ensure that the array has memory, and wait for all work of its device."""
        if is_current_stream_captured():
            raise RuntimeError(
                f"the host cannot read or write {self._identify()} while the current stream is captured: the work before it does not "
                "run until a launch of the graph. Access it before the capture, or after a launch"
            )
        self._open()
        self._device.sync(timeout)
        return 0

    cdef int _read(self, elements, size_t offset) except -1:
        cdef uintptr_t to = elements.ctypes.data
        cdef size_t size = elements.nbytes
        cdef CUdeviceptr source = self._address + offset
        cdef CUresult status = CUDA_SUCCESS
        cdef DeviceScope scope
        enter_device(scope, self._place)
        if size:
            with nogil:
                status = driver().cuMemcpyDtoH(<void*>to, source, size)
        return check_copy(self, status, "read")

    cdef int _write(self, elements, size_t offset) except -1:
        cdef uintptr_t source = elements.ctypes.data
        cdef size_t size = elements.nbytes
        cdef CUdeviceptr to = self._address + offset
        cdef CUresult status = CUDA_SUCCESS
        cdef DeviceScope scope
        enter_device(scope, self._place)
        if size:
            with nogil:
                status = driver().cuMemcpyHtoD(to, <const void*>source, size)
                # The copy from pageable memory may return before the data is on the device (CUDA's "API synchronization
                # behavior"), and non-blocking streams do not wait for the legacy stream.
                if status == CUDA_SUCCESS:
                    status = driver().cuStreamSynchronize(CU_STREAM_LEGACY)
        note_change(&self._changes, 0)
        return check_copy(self, status, "write")

    cdef object _select(self, index):
        """Return the bytes from the first element to the element at `index`, or the part of the array at `index`."""
        if index is None and not self.shape:
            index = ()
        if self._offset is not None:
            index = from_zero(self._identify, index, self._offset, self.shape)
        indices = index if isinstance(index, tuple) else (index,)
        offset, shape, strides = select(self._identify, index, self.shape, self.strides)
        if len(indices) == len(self.shape) and not any([each is ... or isinstance(each, slice) for each in indices]):
            return offset
        if has_gaps(shape, strides, self._itemsize):
            raise ValueError(
                f"the elements of {self._identify()} at this index are not next to each other in C order, as those of an NDArray "
                "are: index a copy (to_numpy), or write the loop in a kernel"
            )
        return self._part(offset, shape, self.dtype)

    def __getitem__(self, index):
        import numpy as np

        from cuda_graphs.compiler.language.host_vectors import HostVector

        from .dtypes import device_dtype, from_device

        found = self._select(index)
        if isinstance(found, NDArray):
            return found
        elements = np.empty(self.element_shape or (1,), device_dtype(self.dtype))
        self._wait()
        self._read(elements, found)
        element = from_device(elements, self.dtype)
        if not self.element_shape:
            return element[0].item()
        return element.view(HostVector)  # a[i][0] = 1 raises, as it would change a copy

    def __setitem__(self, index, value):
        import numpy as np

        from .dtypes import to_element

        found = self._select(index)
        if isinstance(found, NDArray):
            assign(found, value)
            return
        element = to_element(value, self.dtype, f"an element of {self._identify()}", self.element_shape)
        self._wait()
        self._write(np.frombuffer(element, np.uint8), found)

    def reshape(self, *shape):
        """Return an array of another shape that shares the memory: extents, or one tuple. One extent may be -1.

        Raises:
            TypeError: An extent is not an int.
            ValueError: The new shape has another number of elements.
        """
        wanted = shape[0] if len(shape) == 1 else shape
        return self._part(0, reshaped(self._identify, self.shape, wanted), self.dtype)

    def view(self, dtype):
        """Return an array that shares the memory, whose elements have another type of numbers.

        The last extent changes with the size of an element, as in NumPy: an f32 array of shape (2, 4) has the shape (2, 16)
        as u8.

        Raises:
            TypeError: `dtype` is not a type of numbers; the elements of the array are vectors; or the array has a gradient.
            ValueError: The bytes of the last axis, or the address, are not a multiple of the size of an element.
        """
        from .dtypes import accept_dtype

        element = accept_dtype(dtype)
        if self.element_shape:
            raise TypeError(f"{self._identify()} has vector elements: view() is for elements that are numbers")
        if self._needs_grad or self._needs_dual:
            raise TypeError(f"{self._identify()} has a gradient or a dual, which would not have the type {element}: copy the array")
        if element.size == self._itemsize:
            return self._part(0, self.shape, element)
        if not self.shape:
            raise ValueError(f"{self._identify()} has no last axis, whose extent could change with the size of an element")
        bytes_ = self.shape[-1] * self._itemsize
        self._open()
        if bytes_ % element.size or self._address % <CUdeviceptr>element.size:
            raise ValueError(
                f"the last axis of {self._identify()}, {bytes_} bytes from {self._address:#x} on, is not made of whole, aligned "
                f"elements of {element}"
            )
        return self._part(0, (*self.shape[:-1], bytes_ // element.size), element)

    def to_torch(self, *, copy=True):
        """Return a copy as a tensor of PyTorch, on the device of the array; CPU memory on the host driver.

        Vector elements become further dimensions, as in `to_numpy`.

        Args:
            copy: False returns a tensor that shares the memory, which later kernels change.

        Raises:
            ModuleNotFoundError: PyTorch is not installed.
        """
        import torch

        self._wait()
        if copy and self._buffer._kind == MemoryKind.UNLAUNCHED:
            check_launched(self._buffer, usual_stream._h, f"copy {self._identify()} to a tensor")
        shared = torch.from_dlpack(self)
        return shared.clone() if copy else shared

    def from_torch(self, tensor):
        """Copy the elements of a tensor of PyTorch with the shape ``shape + element_shape``, converted as in `from_numpy`.

        The method waits for the work of PyTorch's current stream that writes the tensor.

        Raises:
            TypeError: `tensor` is not a tensor.
            ValueError: `tensor` has another shape.
        """
        from .tensors import is_tensor, plain_values

        if not is_tensor(tensor):
            raise TypeError(f"tensor must be a tensor of PyTorch, got {type(tensor).__name__}")
        self.from_numpy(plain_values(tensor))

    def __len__(self):
        if not self.shape:
            raise TypeError(f"{self._identify()} has no length: it has no dimensions")
        return self.shape[0]

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError(f"{self._identify()} cannot become a NumPy array without a copy")
        values = self.to_numpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    cdef dict _interface(self):
        self._open()
        self._expose()
        note_view()
        return {
            "shape": self.shape + self.element_shape,
            "typestr": self.dtype.dtype or "<u2",
            "data": (self._address, False),
            "strides": None,
            "version": 3,
        }

    @property
    def __cuda_array_interface__(self):
        """The CUDA array interface. It describes bf16 elements as u16, as the interface has no type for bf16."""
        return self._interface()

    @property
    def __array_interface__(self):
        self._open()
        if not self._buffer.is_host_accessible:
            raise AttributeError(f"{self._identify()} is in memory that the host cannot access: use to_numpy()")
        self._wait()
        return self._interface()

    def __dlpack_device__(self):
        self._open()
        return (kDLCPU, 0) if self._buffer.is_host_accessible else (kDLCUDA, self.device.device_id)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        device = self.__dlpack_device__()
        if device[0] == kDLCPU and stream is not None:
            raise BufferError(f"{self._identify()} is in host memory, so stream must be None, got {stream!r}")
        if device[0] == kDLCPU or stream != -1:  # -1: the consumer asks for no synchronisation
            self._wait()
        cdef ArrayForm form
        form.code = kDLBfloat if self.dtype.name == "bf16" else <DLDataTypeCode><int>DLPACK_CODES[self.dtype.kind]
        form.bits = 8 * self.dtype.size
        for extent in self.shape + self.element_shape:
            form.shape.push_back(<int64_t>extent)
        self._expose()
        note_view()
        return export_capsule(self._memory()._h, form, device, max_version, dl_device, copy)

    def __copy__(self):
        cls = NDArray if self._base is not None else type(self)
        cdef NDArray copy = make_unallocated(
            cls, self.dtype, self.element_shape, self.shape, self._needs_grad, self._needs_dual, self.device
        )
        if self._base is None:
            copy._offset = self._offset
        copy.copy_from(self)
        if self._needs_grad:
            copy.grad.copy_from(self.grad)
        if self._dual is not None:
            copy.dual.copy_from(self._dual)
        return copy

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce__(self):
        grad = self.grad.to_numpy() if self._needs_grad else None
        dual = None if self._dual is None else self._dual.to_numpy()
        kinds = bool(self._needs_grad), bool(self._needs_dual)
        return _rebuild, (type(self), self.dtype.name, self.element_shape, *kinds, self.to_numpy(), grad, dual, self._offset)

    def _identify(self):
        """Return the repr without the values, for messages."""
        element = self.dtype
        if self.element_shape:
            from cuda_graphs.compiler.language.annotations import VectorType

            element = VectorType(self.dtype, self.element_shape)
        grad = " needs_grad=True" if self._needs_grad else " needs_dual=True" if self._needs_dual else ""
        return f"<{type(self).__name__} {element!r} shape={self.shape}{grad}>"

    def __repr__(self):
        values = self._few_values()
        return f"{self._identify()[:-1]} {values}>" if values else self._identify()

    def _repr_html_(self):
        """Return what a notebook shows: a table of the properties and a few values."""
        from cuda_graphs.drawing.table import html_table
        from cuda_graphs.drawing.text import size_in_words

        shape = " \N{MULTIPLICATION SIGN} ".join(map(str, self.shape + self.element_shape)) or "a number"
        rows = [("type", self.dtype), ("shape", shape), ("memory", size_in_words(self.nbytes)), ("device", self.device.device_id)]
        if self._needs_grad or self._needs_dual:
            rows.append(("derivatives", "needs_grad" if self._needs_grad else "needs_dual"))
        rows.append(("values", self._few_values() or "cannot be read now"))
        return html_table(type(self).__name__, ("", ""), rows)

    cdef str _few_values(self):
        """Return the values as NumPy writes them, the first and the last ones of a large array; "" if they cannot be read."""
        from .values_text import EDGE, FEW, few_values

        from .dtypes import device_dtype, from_device

        import numpy as np

        if self._buffer is None or not self._buffer._h or is_of_graph(self._buffer) or may_be_captured(usual_stream._h):
            return ""
        cdef Stream stream = current_or(None)
        if stream is not None and is_captured_by_any_code(stream._h):
            return ""
        inner, count = self.element_shape, self.size
        try:
            self._wait()
            if count * math.prod(inner) <= FEW:
                parts = [np.empty(self.shape + inner, device_dtype(self.dtype))]
                self._read(parts[0], 0)
            else:
                parts = [np.empty((EDGE, *inner), device_dtype(self.dtype)) for _ in range(2)]
                self._read(parts[0], 0)
                self._read(parts[1], (count - EDGE) * self._itemsize)
        except CUDAError:  # a repr must not raise while a program is debugged
            return ""
        return few_values([from_device(part, self.dtype) for part in parts])


cdef class Field(NDArray):
    """An NDArray whose address and shape are constants of the kernels that use it: global data of a program.

    A kernel uses a field by its name, like any global, or as a template argument. The first use allocates its memory.
    """

    @property
    def __cuda_graphs_field__(self):
        """The compiler's description of the field, a FieldSpec."""
        from cuda_graphs.compiler.language.annotations import FieldSpec

        if self._name is None:
            self._name = f"{FIELD}{next(field_numbers)}>"
            fields[self._name] = self
        kinds = self.needs_grad, self.needs_dual
        return FieldSpec(self._name, self.dtype, self.shape, self.element_shape, *kinds, self._offset)

    @property
    def offset(self):
        """The first index of each dimension, in kernels and on the host."""
        return (0,) * len(self.shape) if self._offset is None else self._offset


def find_field(str name):
    """Return the Field for the name of a FieldSpec, or its partner for a name with ".grad", ".dual" or ".grad.dual"."""
    of, *partners = name.split(".")
    cdef NDArray found = fields[of]
    for each in partners:
        found = found._forced_dual() if each == "dual" else found.grad
    return found


def clear_duals():
    """Fill all duals with zeros, except for closed ones and memory of a graph that has not been launched."""
    cdef NDArray dual
    cdef Buffer memory
    for each in list(with_duals):
        dual = each.dual
        memory = dual._buffer
        if memory._h and memory._ask() != MemoryKind.UNLAUNCHED:
            dual.fill(0)


def address_of(NDArray field):
    """Return the address of the elements. Unlike `handle`, this keeps the version: the caller must not write there."""
    field._ready()
    return field._address


def clear_fields():
    """Fill the gradients of all fields with zeros."""
    cdef Field field
    for each in list(with_gradients):
        field = each
        if field._buffer is not None:
            field._grad.fill(0)


cdef dict codes = {}  # code of each element type, from 1 on


cdef uint64_t key_of(object dtype, Py_ssize_t ndim, bint needs_grad, tuple inner=(), bint needs_dual=False) except? 0:
    if not codes:
        from cuda_graphs.compiler.ir.types import SCALARS

        codes.update({type: number for number, type in enumerate(SCALARS.values(), 1)})
    cdef uint64_t key = codes[dtype]
    key |= <uint64_t>ndim << 8 | <uint64_t>needs_grad << 16 | <uint64_t>needs_dual << 17
    for place, extent in enumerate(inner[:2]):
        key |= <uint64_t>min(extent, 0xFFFF) << (24 + 16 * place)
    return key


def number_array(dtype, shape, needs_grad, needs_dual, device, cls=NDArray):
    """Return an array of numbers or vectors, of the class `cls`. The other arguments are those of `ndarray` (creation.py)."""
    cdef NDArray made = make_array(cls, dtype, shape, needs_grad, needs_dual, device)
    made._ready()
    return made


cdef bint views_exist = False


cdef void note_view() noexcept:
    """Record that other code has got the memory of an array."""
    global views_exist
    views_exist = True


def has_views():
    """Return True if other code has got the memory of an array, by DLPack or by an array interface."""
    return views_exist


def number_field(dtype, shape, needs_grad, needs_dual, device, offset=None, cls=Field):
    """Return a Field of numbers or vectors, of the class `cls`. The other arguments are those of `field` (creation.py)."""
    cdef NDArray made = make_array(cls, dtype, shape, needs_grad, needs_dual, device)
    if offset is not None:
        made._offset = accept_offset(offset, made.shape)
    return made


cdef NDArray make_array(cls, dtype, shape, needs_grad, needs_dual, device):
    from .dtypes import accept_element

    element, inner = accept_element(dtype)
    extents = accept_shape(shape)
    if (needs_grad or needs_dual) and element.kind != "float":
        raise TypeError(f"an array of {element} has no gradient: needs_grad and needs_dual are for floats")
    where = None if device is None else Device(device)
    return make_unallocated(cls, element, inner, extents, bool(needs_grad), bool(needs_dual), where)


cdef NDArray make_unallocated(cls, dtype, tuple inner, tuple shape, bint needs_grad, bint needs_dual, device):
    cdef NDArray self = cls.__new__(cls)
    self.dtype, self.element_shape, self.shape, self.size = dtype, inner, shape, 1
    self._device, self._needs_grad, self._needs_dual, self._itemsize = device, needs_grad, needs_dual, dtype.size
    self._place = kNoDevice
    for extent in shape:
        self.size *= extent
        self._extents.push_back(<int32_t>extent)
    for extent in inner:
        self._itemsize *= extent
        self._type.inner.push_back(<int32_t>extent)
    cdef bytes name = dtype.name.encode()
    self._type.scalar, self._type.ndim = find_value_type(name), <int>len(shape)
    self._key = key_of(dtype, len(shape), needs_grad, inner, needs_dual)
    self._changes.version = 1
    note_change(&self._changes, 0)
    if needs_grad and isinstance(self, Field):
        with_gradients.add(self)
    return self


cdef int assign(NDArray part, value) except -1:
    """Set the elements of a part of an array: to those of another array, or to one value."""
    import numpy as np

    from .dtypes import exact_integers, numbers_in

    cdef NDArray other
    if isinstance(value, NDArray):
        other = value
        part.copy_from(other)
    elif isinstance(value, (np.ndarray, list, tuple)):
        values = numbers_in(value)
        if not isinstance(value, np.ndarray):
            values = exact_integers(value, values, part.dtype)
        part.from_numpy(np.broadcast_to(values, part.shape + part.element_shape))
    else:
        part.fill(value)
    return 0


def empty_array(dtype, shape, device=None):
    """Return an NDArray whose elements are whatever the memory holds."""
    cdef NDArray made = make_array(NDArray, dtype, shape, False, False, device)
    ensure_driver()
    made._allocate(False)
    return made


def memory_of(NDArray array not None):
    """Return a Buffer of exactly the elements, for code that tells each change of the array."""
    array._ready()
    return array._memory()


def version_of(NDArray array not None):
    """Return the number of the last change of the elements; 0 if other code has access to the memory."""
    return array._changes.version


def note_restored(NDArray array not None, Stream stream not None):
    """Give an array a new version: the caller changes its `memory_of` on a stream."""
    note_change(&array._changes, writer_of(raw_of(stream._h)))


cdef object resource_of(device):
    if device.properties.direct_managed_mem_access_from_host:
        return ManagedMemoryResource(device)
    return device.memory_resource


def _rebuild(cls, name, inner, needs_grad, needs_dual, values, grad, dual, offset=None):
    """Return the array from its pickled parts."""
    from cuda_graphs.compiler.ir.types import SCALARS

    shape = values.shape[: values.ndim - len(inner)]
    cdef NDArray self = make_unallocated(cls, SCALARS[name], inner, shape, needs_grad, needs_dual, None)
    self._offset = offset
    self.from_numpy(values)
    if grad is not None:
        self.grad.from_numpy(grad)
    if dual is not None:
        self.dual.from_numpy(dual)
    return self
