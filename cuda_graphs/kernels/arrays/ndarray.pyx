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
from cuda_graphs.core.driver.seam cimport check_attempt, ensure_driver
from cuda_graphs.core.graphs.graph_handles cimport find_value_type
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
from cuda_graphs.objects.memory.buffer cimport fill_elements
from cuda_graphs.objects.memory.graph_memory cimport allocate_for_array
from cuda_graphs.objects.numbers cimport as_int
from cuda_graphs.objects.device.current cimport current_or
from cuda_graphs.objects.device.stream cimport Stream
from .captures cimport is_captured_by_any_code
from .keep_alive cimport keep_arguments

from cuda_graphs.kernels.targets import may_release_during_work
from cuda_graphs.objects.device.device import Device
from cuda_graphs.objects.device.stream import default_stream
from cuda_graphs.objects.memory.memory_resource import ManagedMemoryResource
from . import keep_alive

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

# Largest extent: extents are i32 in kernels.
LARGEST_EXTENT = 2**31 - 1

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


cdef class NDArray(TypedMemory):
    """An array of elements in memory of a device: an argument of kernels. `ndarray` makes one.

    `a[i, j]` reads one element on the host, and `a[i, j] = value` writes one element. Each access waits for the
    device, so use `to_numpy` and `from_numpy` for many elements. Other libraries use the array without a copy, through
    ``__cuda_array_interface__``, DLPack, and, if the host can access the memory, ``__array_interface__``.

    An element that is a vector or a matrix is a small read-only NumPy array on the host: ``a[i] = [1, 2, 3]`` writes a
    whole element. For NumPy and other libraries, the components are further dimensions: ``shape + element_shape``.

    Attributes:
        dtype: The type of the elements, or of the components of vector elements.
        shape: A tuple of ints; ``()`` for an array of one element without an index.
        element_shape: ``()`` for numbers, ``(3,)`` for vectors, ``(2, 3)`` for matrices.
        size: The number of elements.
    """

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
    def handle(self):
        """The address of the first element, an int."""
        self._expose()
        return self._address

    @property
    def buffer(self):
        """The Buffer with the elements."""
        self._expose()
        return self._buffer

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
        cdef NDArray made
        if self._dual is None and (self._needs_grad or self._needs_dual):
            self._ready()
            made = make_unallocated(NDArray, self.dtype, self.element_shape, self.shape, False, False, self._device)
            with allocation_lock:
                if self._dual is None:
                    made._allocate()
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

    cdef int _allocate(self) except -1:
        """Allocate memory on the requested device, and fill it with zeros. During a capture it is memory of the graph."""
        device = Device(self._device)
        if device._context is None:
            device.set_current()
        keep_alive.release_finished()
        stream = device.default_stream
        cdef NDArray grad = None
        cdef Stream current = None if isinstance(self, Field) else current_or(None)
        cdef Buffer buffer = None
        if current is not None:
            buffer = allocate_for_array(device.device_id, self.size * self._itemsize, current)
        if buffer is not None:
            buffer.fill(0, stream=current)
        else:
            buffer = resource_of(device).allocate(self.size * self._itemsize, stream=stream)
            buffer.fill(0, stream=stream)
            stream.sync()  # kernels may use it on any stream
        if self._needs_grad:
            grad = make_unallocated(NDArray, self.dtype, self.element_shape, self.shape, False, False, device)
            grad._allocate()
        self._grad, self._device, self._address = grad, device, buffer._address
        self._buffer = buffer
        return 0

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

        cdef bytes element = to_element(value, self.dtype, f"an element of {self!r}", self.element_shape)
        if not self.size:
            return
        cdef Stream stream = current_or(None)
        self._begin_change(stream)
        fill_elements(self._buffer, self._address, element, self.size, usual_stream if stream is None else stream)
        self._end_change(stream, (self,))

    def to_numpy(self, *, timeout=None):
        """Return a copy as a NumPy array of shape ``shape + element_shape``; bf16 becomes float32, which is exact.

        Waits for the device first. `timeout` and Ctrl-C are those of `Stream.sync`.

        Raises:
            TimeoutError: The work of the device takes longer than `timeout` seconds.
        """
        import numpy as np

        from .dtypes import device_dtype, from_device

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
            raise ValueError(f"values have the shape {values.shape}, but {self!r} takes {shape}")
        if values.dtype.kind not in "biuf" and values.dtype.name != "bfloat16":
            raise TypeError(f"elements of {values.dtype} cannot be converted to {self.dtype}")
        with np.errstate(all="ignore"):  # NumPy decides the result of an overflow
            host = np.ascontiguousarray(values, host_dtype(self.dtype)).reshape(shape)
        self._wait()
        self._write(to_device(host, self.dtype), 0)

    def copy_from(self, NDArray other not None):
        """Copy the elements of another NDArray of the same type and shape, in the order of the current stream as `fill` is.

        Raises:
            ValueError: `other` has another type or shape.
        """
        if (other.dtype, other.shape, other.element_shape) != (self.dtype, self.shape, self.element_shape):
            raise ValueError(f"elements of {other!r} cannot be copied to {self!r}: type and shape must be the same")
        cdef Stream stream = current_or(None)
        other._begin_change(stream)
        self._begin_change(stream)
        self._buffer.copy_from(other._buffer, stream=usual_stream if stream is None else stream)
        self._end_change(stream, (self, other))

    cdef int _begin_change(self, Stream stream) except -1:
        """Prepare for a copy or fill on the current stream. Without one (None), wait for all work of the device."""
        return self._wait() if stream is None else self._ready()

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
        cdef Stream stream = current_or(None)
        if stream is not None and is_captured_by_any_code(stream._h):
            raise RuntimeError(
                f"the host cannot read or write {self!r} while the current stream is captured: the work before it does not "
                "run until a launch of the graph. Access it before the capture, or after a launch"
            )
        self._ready()
        self._device.sync(timeout)
        return 0

    cdef int _read(self, elements, size_t offset) except -1:
        cdef uintptr_t to = elements.ctypes.data
        cdef size_t size = elements.nbytes
        cdef CUdeviceptr source = self._address + offset
        cdef CUresult status = CUDA_SUCCESS
        if size:
            with nogil:
                status = driver().cuMemcpyDtoH(<void*>to, source, size)
        return check_attempt(status, f"read {self!r}")

    cdef int _write(self, elements, size_t offset) except -1:
        cdef uintptr_t source = elements.ctypes.data
        cdef size_t size = elements.nbytes
        cdef CUdeviceptr to = self._address + offset
        cdef CUresult status = CUDA_SUCCESS
        if size:
            with nogil:
                status = driver().cuMemcpyHtoD(to, <const void*>source, size)
                # The copy from pageable memory may return before the data is on the device (CUDA's "API synchronization
                # behavior"), and non-blocking streams do not wait for the legacy stream.
                if status == CUDA_SUCCESS:
                    status = driver().cuStreamSynchronize(CU_STREAM_LEGACY)
        note_change(&self._changes, 0)
        return check_attempt(status, f"write {self!r}")

    cdef size_t _offset(self, index) except? 0xBAD:
        """Return the bytes from the first element to the element at `index`."""
        if index is None:
            index = ()
        elif not isinstance(index, tuple):
            index = (index,)
        if len(index) != len(self.shape):
            raise IndexError(f"{self!r} takes {len(self.shape)} indices, got {len(index)}")
        cdef Py_ssize_t at = 0, extent
        for axis, given in enumerate(index):
            number = as_int(given)
            if number is None:
                raise TypeError(
                    f"an index of {self!r} must be an int, got {type(given).__name__}: use to_numpy() for slices"
                )
            extent = self.shape[axis]
            if not -extent <= number < extent:
                raise IndexError(f"index {number} is out of bounds for axis {axis} of {self!r}, which has {extent}")
            at = at * extent + (number + extent if number < 0 else number)
        return <size_t>(at * <Py_ssize_t>self._itemsize)

    def __getitem__(self, index):
        import numpy as np

        from .dtypes import device_dtype, from_device

        cdef size_t offset = self._offset(index)
        elements = np.empty(self.element_shape or (1,), device_dtype(self.dtype))
        self._wait()
        self._read(elements, offset)
        found = from_device(elements, self.dtype)
        if not self.element_shape:
            return found[0].item()
        found.flags.writeable = False  # a[i][0] = 1 would change a copy
        return found

    def __setitem__(self, index, value):
        import numpy as np

        from .dtypes import to_element

        cdef size_t offset = self._offset(index)
        element = to_element(value, self.dtype, f"an element of {self!r}", self.element_shape)
        self._wait()
        self._write(np.frombuffer(element, np.uint8), offset)

    def __len__(self):
        if not self.shape:
            raise TypeError(f"{self!r} has no length: it has no dimensions")
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError(f"{self!r} cannot become a NumPy array without a copy")
        values = self.to_numpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    cdef dict _interface(self):
        self._expose()
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
        self._ready()
        if not self._buffer.is_host_accessible:
            raise AttributeError(f"{self!r} is in memory that the host cannot access: use to_numpy()")
        self._wait()
        return self._interface()

    def __dlpack_device__(self):
        self._ready()
        return (kDLCPU, 0) if self._buffer.is_host_accessible else (kDLCUDA, self.device.device_id)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        device = self.__dlpack_device__()
        if device[0] == kDLCPU and stream is not None:
            raise BufferError(f"{self!r} is in host memory, so stream must be None, got {stream!r}")
        if device[0] == kDLCPU or stream != -1:  # -1: the consumer asks for no synchronisation
            self._wait()
        cdef ArrayForm form
        form.code = kDLBfloat if self.dtype.name == "bf16" else <DLDataTypeCode><int>DLPACK_CODES[self.dtype.kind]
        form.bits = 8 * self.dtype.size
        for extent in self.shape + self.element_shape:
            form.shape.push_back(<int64_t>extent)
        self._expose()
        return export_capsule(self._buffer._h, form, device, max_version, dl_device, copy)

    def __copy__(self):
        cdef NDArray copy = make_unallocated(
            type(self), self.dtype, self.element_shape, self.shape, self._needs_grad, self._needs_dual, self.device
        )
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
        return _rebuild, (type(self), self.dtype.name, self.element_shape, *kinds, self.to_numpy(), grad, dual)

    def __repr__(self):
        element = self.dtype
        if self.element_shape:
            from cuda_graphs.compiler.language.annotations import VectorType

            element = VectorType(self.dtype, self.element_shape)
        grad = " needs_grad=True" if self._needs_grad else " needs_dual=True" if self._needs_dual else ""
        return f"<{type(self).__name__} {element!r} shape={self.shape}{grad}>"


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
        return FieldSpec(self._name, self.dtype, self.shape, self.element_shape, self.needs_grad, self.needs_dual)


def find_field(str name):
    """Return the Field for the name of a FieldSpec, or its gradient or dual for a name with ".grad" or ".dual"."""
    of, _, partner = name.partition(".")
    return getattr(fields[of], partner) if partner else fields[of]


def clear_duals():
    """Fill all duals with zeros."""
    for each in list(with_duals):
        each.dual.fill(0)


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


def ndarray(dtype, shape, needs_grad=False, *, needs_dual=False, device=None):
    """Make an array for kernels, filled with zeros.

    While the current stream is captured (`capture`), the array is memory of the graph, and each launch fills it with zeros.
    If the array dies in the block, the graph frees it. Otherwise the graph keeps it: after a launch the values are valid
    until the next launch.

    Args:
        dtype: The type of the elements: an element type such as `f32`, or a NumPy type. For vector and matrix
            elements, a type such as `vec3` or `types.mat(2, 3, f64)`.
        shape: An int or a tuple of ints from 0 to 2**31 - 1; ``()`` for one element without an index.
        needs_grad: Whether the array has a `grad`; its `dual` is made at the first access.
        needs_dual: Whether the array has a `dual` without a `grad`.
        device: A Device or its number; None for the current device of this thread, or device 0 if no device is current.

    Raises:
        TypeError: `dtype` is not an element type; an extent is not an int; or `needs_grad` or `needs_dual` is set for
            elements that are not floats.
        ValueError: An extent is out of range.
        CUDAError: The device has not enough memory.
    """
    cdef NDArray made = make_array(NDArray, dtype, shape, needs_grad, needs_dual, device)
    made._ready()
    return made


def field(dtype, shape, needs_grad=False, *, needs_dual=False, device=None):
    """Make a Field: an array like `ndarray`, whose address and shape are constants of kernels.

    The first use, by a kernel or by the host, allocates the memory and fills it with zeros. Without a
    `device`, the field is on the device that is current at the first use.
    """
    return make_array(Field, dtype, shape, needs_grad, needs_dual, device)


cdef NDArray make_array(cls, dtype, shape, needs_grad, needs_dual, device):
    from .dtypes import accept_element

    element, inner = accept_element(dtype)
    extents = read_shape(shape)
    if (needs_grad or needs_dual) and element.kind != "float":
        raise TypeError(f"an array of {element} has no gradient: needs_grad and needs_dual are for floats")
    where = None if device is None else Device(device)
    return make_unallocated(cls, element, inner, extents, bool(needs_grad), bool(needs_dual), where)


cdef NDArray make_unallocated(cls, dtype, tuple inner, tuple shape, bint needs_grad, bint needs_dual, device):
    cdef NDArray self = cls.__new__(cls)
    self.dtype, self.element_shape, self.shape, self.size = dtype, inner, shape, 1
    self._device, self._needs_grad, self._needs_dual, self._itemsize = device, needs_grad, needs_dual, dtype.size
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


cdef NDArray array_of_buffer(Buffer buffer, dtype, tuple inner, tuple shape, device):
    cdef NDArray self = make_unallocated(NDArray, dtype, inner, shape, False, False, device)
    self._address = buffer._address
    self._buffer = buffer
    self._changes.version = 0
    return self


cdef object resource_of(device):
    if device.properties.direct_managed_mem_access_from_host:
        return ManagedMemoryResource(device)
    return device.memory_resource


cdef tuple read_shape(shape):
    given = shape if isinstance(shape, (tuple, list)) else (shape,)
    extents = []
    for extent in given:
        number = as_int(extent)
        if number is None or isinstance(extent, bool):
            raise TypeError(f"shape must be an int or a tuple of ints, got {shape!r}")
        if not 0 <= number <= LARGEST_EXTENT:
            raise ValueError(f"{shape!r} is not a valid shape: extents must be from 0 to {LARGEST_EXTENT}")
        extents.append(int(number))
    return tuple(extents)


def _rebuild(cls, name, inner, needs_grad, needs_dual, values, grad, dual):
    """Return the array from its pickled parts."""
    from cuda_graphs.compiler.ir.types import SCALARS

    shape = values.shape[: values.ndim - len(inner)]
    cdef NDArray self = make_unallocated(cls, SCALARS[name], inner, shape, needs_grad, needs_dual, None)
    self.from_numpy(values)
    if grad is not None:
        self.grad.from_numpy(grad)
    if dual is not None:
        self.dual.from_numpy(dual)
    return self
