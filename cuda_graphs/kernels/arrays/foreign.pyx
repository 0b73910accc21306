# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy, PyTorch, CuPy and others as arguments of kernels.

The kernel uses an array in place if the device can access it and it has no gaps. Other arrays are copied to the device
before the tasks, and back after them if the kernel writes them. The program reads a host array without synchronising a
stream, so a call with a host array returns when the kernel is done.

The copies use the memory that the array exposes. NumPy's conversion does not work, as NumPy treats an array that only
offers DLPack as one object. The array's own assignment does not work, as a tensor rejects NumPy arrays.
"""

import math

cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, uint64_t, uintptr_t

from cuda_graphs.core.driver.cuda cimport CUDA_SUCCESS, CUdeviceptr, CUresult, CUstream, driver
from cuda_graphs.core.driver.seam cimport check_attempt, ensure_driver
from cuda_graphs.core.resources.device_scope cimport find_device, has_several_devices, kNoDevice
from cuda_graphs.core.resources.handles cimport Awaited, StreamHandle, raw_of
from cuda_graphs.objects.code.arguments cimport is_known_memory
from cuda_graphs.objects.memory.array_view cimport (
    MOST_NUMPY_TYPES,
    ArrayView,
    NumpyArray,
    graph_memory_error,
    is_read_only,
    kCContiguous,
    numpy_fields,
    typestr_of,
    view_array,
)
from cuda_graphs.objects.memory.dlpack cimport kDLCPU, kDLCUDAHost
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.objects.waiting cimport wait_for
from .buffer_views cimport array_of_buffer
from .ndarray cimport key_of
from .reading cimport Reading

from cuda_graphs.core.driver.choice import wants_instrumented_code
from cuda_graphs.objects.memory.buffer import Buffer as BufferType
from cuda_graphs.compiler.language import annotations
from cuda_graphs.compiler.language.signature import BY_DTYPE, array_spec
from cuda_graphs.compiler.ir.types import SCALARS, bf16
from cuda_graphs.objects.device.device import Device, current_device
from .tensors import detached


@cython.freelist(8)
@cython.no_gc  # lives as long as a call, and no argument refers to it
cdef class ForeignArray:
    """One array, and the address that the kernel uses for it."""

    @property
    def shape(self):
        return tuple([self.extents[i] for i in range(self.ndim)])

    cdef ArrayView memory_view(self):
        if self.view is None:
            self.view = view_array(self.array, self.path)
        return self.view

    cdef int device(self) except -2:
        """Return the device of device memory; kNoDevice for other memory, and on machines with one device."""
        cdef int found = kNoDevice
        cdef CUdeviceptr address = self.address
        cdef CUresult status
        if not has_several_devices() or self.is_of_host or not address:
            return kNoDevice
        if self.is_of_graph:
            return kNoDevice if self.view.node.memory_type == "host" else self.view.node.device_id
        with nogil:
            status = find_device(address, &found)
        check_attempt(status, f"find the device of the memory of parameter {self.path!r}")
        return found


@cython.freelist(8)
@cython.no_gc
cdef class ForeignArrays:
    """The arrays of other libraries in one call."""

    cdef ForeignArray add(self, object array, str path, Py_ssize_t leaf, tuple inner):
        cdef ForeignArray made = foreign_array(array, path, inner)
        made.leaf = leaf
        if self.last is None:
            self.first = made
        else:
            self.last.next = made
        self.last = made
        return made

    cdef int unite(self, ForeignArray before, object array) except -1:
        cdef ForeignArray part = self.first if before is None else before.next
        while part is not None:
            part.memory_view()  # that of the part
            part.array = array
            part = part.next
        return 0

    cdef int stage(self, const StreamHandle& stream, object writes, Reading* r) except -1:
        cdef ForeignArray other, array = self.first
        cdef bint reaches_all = is_all_accessible()
        while array is not None:
            if array.is_of_graph:
                raise RuntimeError(graph_memory_error(f"parameter {array.path!r}, {array.array!r},"))
            array.is_written = array.path in writes
            if array.is_read_only and array.is_written:
                raise ValueError(f"parameter {array.path!r} is read-only, but the kernel writes it: pass a copy")
            if not array.is_packed and not array.is_of_host:
                raise ValueError(
                    f"parameter {array.path!r} has gaps or is not in C order: pass a contiguous array, and copy it "
                    "back if the kernel writes it"
                )
            array = array.next
        array = self.first
        while array is not None:
            other = self.first
            while other.array is not array.array:  # the same array twice is one array in the kernel too
                other = other.next
            if other is not array:
                array.address = other.address
                other.is_written |= array.is_written
            elif not array.is_packed or not (reaches_all or is_known_memory(array.address)):
                copy_to_device(array, stream)
            r.leaves[array.leaf].bits = array.address
            array = array.next
        return 0

    cdef int copy_back(self, Stream stream, const StreamHandle& handle) except -1:
        cdef ForeignArray array = self.first
        cdef Awaited awaited
        cdef bint waits = False
        while array is not None:
            waits = waits or array.is_of_host
            if array.staged is not None and array.is_written:
                copy(array.packed.ctypes.data, array.staged._address, array.packed.nbytes, handle, array)
            array = array.next
        if waits:
            awaited.stream = handle
            wait_for(awaited, stream, None)
        array = self.first
        while array is not None:
            if array.packed is not None and array.packed is not array.memory and array.is_written:
                array.memory[...] = array.packed
            array = array.next
        return 0

    cdef int check_in_place(self, object writes) except -1:
        cdef ForeignArray array = self.first
        while array is not None:
            if not array.is_packed and array.is_of_graph:
                raise ValueError(f"parameter {array.path!r}, {array.array!r}, has gaps: kernels take arrays in C order without gaps")
            if not array.is_packed or not is_known_memory(array.address):
                raise ValueError(
                    f"parameter {array.path!r} is a {type(array.array).__name__} that the device cannot access: a graph cannot copy "
                    "it in each launch; pass a cg.ndarray"
                )
            if array.is_read_only and array.path in writes:
                raise ValueError(f"parameter {array.path!r} is read-only: pass a copy")
            array = array.next
        return 0


cdef ForeignArray foreign_array(object array, str path, tuple inner):
    cdef ForeignArray self = ForeignArray.__new__(ForeignArray)
    cdef Py_ssize_t outer
    self.array, self.path = array, path
    cdef const NumpyArray* fields = numpy_fields(array)
    if fields == NULL:
        read_view(self)
    else:
        read_numpy(self, fields)
    outer = self.ndim - len(inner)
    if inner:
        self.key = key_of(self.dtype, max(outer, 0), False, self.shape[outer:] if outer >= 0 else ())
    else:
        self.key |= <uint64_t>outer << 8
    self.key |= <uint64_t>self.needs_grad << 16
    return self


# An element type, which `elements` keeps, and the key of arrays of this type without dimensions.
cdef struct Element:
    PyObject* dtype
    uint64_t key

cdef Element[MOST_NUMPY_TYPES] numpy_elements  # by the type number of NumPy


cdef int read_numpy(ForeignArray self, const NumpyArray* fields) except -1:
    """Read an array of NumPy without the objects of an ArrayView: calls of kernels get them often."""
    cdef int i
    self.is_of_host = True
    self.address, self.is_read_only = <uintptr_t>fields.data, is_read_only(fields)
    self.is_packed = fields.flags & kCContiguous
    cdef Element* element = &numpy_elements[fields.type.number]
    if element.dtype == NULL:
        dtype, element.key = element_of(self.array, typestr_of(fields), False, self.path)
        element.dtype = <PyObject*>dtype
    self.dtype, self.key = <object>element.dtype, element.key
    set_ndim(self, fields.ndim)
    for i in range(fields.ndim):
        self.extents[i] = extent_of(self, fields.shape[i])
    return 0


cdef int read_view(ForeignArray self) except -1:
    cdef Py_ssize_t step
    self.needs_grad = getattr(self.array, "requires_grad", False) is True
    cdef ArrayView view = view_other(self.array, self.path, self.needs_grad)
    self.view = view
    self.is_of_graph = view.node is not None
    # PyTorch refuses to expose the interface of a tensor with requires_grad.
    hides = self.needs_grad or not hasattr(self.array, "__cuda_array_interface__")
    self.is_of_host = not self.is_of_graph and hides and is_host(self.array)
    self.address, self.is_read_only = view.address, view.is_read_only
    self.dtype, self.key = element_of(self.array, view.dtype, view.is_bfloat16, self.path)
    self.is_packed = True
    step = view.itemsize
    for extent, stride in zip(reversed(view.shape), reversed(view.strides)):
        self.is_packed = self.is_packed and (extent <= 1 or stride == step)
        step *= extent
    self.is_packed = self.is_packed or step == 0
    set_ndim(self, len(view.shape))
    for axis, extent in enumerate(view.shape):
        self.extents[<Py_ssize_t>axis] = extent_of(self, min(extent, 1 << 31))
    return 0


cdef int set_ndim(ForeignArray self, Py_ssize_t ndim) except -1:
    if ndim > MOST_AXES:
        raise ValueError(f"parameter {self.path!r} has {ndim} dimensions: arrays in kernels have at most {MOST_AXES}")
    self.ndim = ndim
    return 0


cdef int32_t extent_of(ForeignArray self, Py_ssize_t extent) except -1:
    if extent > 0x7FFFFFFF:
        raise ValueError(
            f"parameter {self.path!r} has the shape {self.memory_view().shape}: extents of arrays in kernels must be below 2**31"
        )
    return <int32_t>extent


cdef ArrayView view_other(object array, str path, bint needs_grad):
    """Return the memory of an array that `numpy_fields` does not take."""
    if type(array).__name__ == "MaskedArray":  # its interface omits the mask
        raise ValueError(f"parameter {path!r} is a masked array: fill it, or pass its data and its mask as two arrays")
    cdef ArrayView view = None
    if not isinstance(array, (int, float, complex, str, bytes, list, tuple)):
        view = view_array(detached(array) if needs_grad else array, f"parameter {path!r}")
    if view is None:
        raise TypeError(f"parameter {path!r} takes an array, got {array!r} ({type(array).__name__})")
    return view


def from_dlpack(array, dtype=None):
    """Make an NDArray that shares the memory of another library's array, without a copy, and keeps that array alive.

    Args:
        array: An object with DLPack, ``__cuda_array_interface__`` or ``__array_interface__``, in device, managed or
            pinned memory, in C order without gaps. The function does not wait for pending work of the other library.
        dtype: A vector or matrix type, whose components are the last dimensions; None for elements that are numbers.

    Raises:
        TypeError: `array` is not an array, or its element type is unknown to kernels or differs from `dtype`.
        BufferError: `array` is memory of an alloc node.
        ValueError: `array` has gaps, is read-only, is in other memory, or its last dimensions do not fit `dtype`.
    """
    from .dtypes import accept_element

    if getattr(array, "needs_grad", False):
        raise TypeError(f"{array!r} has a gradient, and a view of its memory would lose it: use the array itself")
    inner = () if dtype is None else accept_element(dtype)[1]
    cdef ForeignArray found = foreign_array(array, "array", inner)
    if found.is_of_graph:
        raise BufferError(graph_memory_error(repr(array)))
    scalar = found.dtype if dtype is None else accept_element(dtype)[0]
    spec = array_spec(annotations.NDArray(scalar, None, inner), found, "array")
    size = found.memory_view().itemsize * math.prod(found.shape)
    is_known = size == 0 or is_known_memory(found.address)  # libraries place empty arrays at arbitrary addresses
    if found.is_read_only or not found.is_packed or not is_known:
        raise ValueError(
            f"array, a {type(array).__name__}, is read-only, has gaps, or is not in memory of the driver (device, managed "
            "or pinned memory): copy it with from_numpy of a cuda_graphs.ndarray"
        )
    buffer = BufferType.from_handle(found.address, size, owner=found.memory_view())
    place = found.device()
    device = current_device() if place < 0 else Device(place)
    return array_of_buffer(buffer, found.dtype, inner, found.shape[: spec.ndim], device)


cdef dict elements = {}  # (element type, its key) by the typestr of the array interface


cdef tuple element_of(object array, str typestr, bint is_bfloat16, str path):
    """Return the element type, and the key of arrays of this type without dimensions."""
    found = elements.get(typestr)
    if found is not None:
        return found
    dtype = BY_DTYPE.get(typestr)
    if dtype is not None:
        found = elements[typestr] = (dtype, key_of(dtype, 0, False))
    elif is_bfloat16 or str(getattr(array, "dtype", "")).endswith("bfloat16"):  # array interfaces have no name for bfloat16
        found = (bf16, key_of(bf16, 0, False))
    else:
        raise TypeError(
            f"parameter {path!r}: arrays of {getattr(array, 'dtype', typestr) or 'such elements'} are not supported; convert the array "
            f"to one of {', '.join(SCALARS)}"
        )
    return found


cdef bint is_host(object array) except -1:
    return not hasattr(array, "__dlpack_device__") or array.__dlpack_device__()[0] in (kDLCPU, kDLCUDAHost)


# True if the device can access all memory of the process; None before the first query. The host driver can, unless it
# checks memory accesses. Tests set it to False.
all_is_accessible = None


cdef bint is_all_accessible() except -1:
    global all_is_accessible
    if all_is_accessible is None:
        ensure_driver()
        reaches_all = bool(current_device().properties.direct_managed_mem_access_from_host)
        all_is_accessible = reaches_all and not wants_instrumented_code()
    return all_is_accessible


class Memory:
    """Exposes the memory of an array to NumPy, with elements of the same size as raw integers or bytes."""

    def __init__(self, ArrayView view):
        self.view = view  # keeps the memory alive
        self.__array_interface__ = {
            "version": 3,
            "data": (view.address, view.is_read_only),
            "typestr": f"|V{view.itemsize}" if view.itemsize not in (1, 2, 4, 8) else f"<u{view.itemsize}",
            "shape": view.shape,
            "strides": view.strides,
        }


cdef object host_values(ForeignArrays foreign, Py_ssize_t leaf):
    import numpy as np

    cdef ForeignArray array = foreign.first
    while array is not None:
        if array.leaf == leaf and array.is_of_host:
            return np.asarray(Memory(array.memory_view())).view(array.dtype.dtype)
        array = array.next
    return None


cdef int copy_to_device(ForeignArray array, const StreamHandle& stream) except -1:
    """Make a copy of the array without gaps, in memory that the device can access."""
    import numpy as np

    array.memory = np.asarray(Memory(array.memory_view()))
    array.packed = array.memory if array.is_packed else np.array(array.memory, order="C")
    cdef CUdeviceptr address = <uintptr_t>array.packed.ctypes.data
    if not is_all_accessible() and not is_known_memory(address):
        resource = current_device().memory_resource
        array.staged = resource.allocate(array.packed.nbytes, stream=Stream._from_handle(stream))
        copy(array.staged._address, address, array.packed.nbytes, stream, array)
        address = array.staged._address
    array.address = address
    return 0


cdef int copy(CUdeviceptr to, CUdeviceptr source, size_t size, const StreamHandle& stream, ForeignArray array) except -1:
    cdef CUresult status = CUDA_SUCCESS
    cdef CUstream raw = raw_of(stream)
    if size:
        with nogil:
            status = driver().cuMemcpyAsync(to, source, size, raw)
    return check_attempt(status, f"copy the argument for parameter {array.path!r}")
