# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Reads arrays of other libraries: the address of the memory, its layout, and its owner.

Four protocols are tried in this order: `__cuda_graph_array__`, `__cuda_array_interface__` (version 2 or later),
`__array_interface__` (NumPy), and DLPack. `__cuda_graph_array__()` is the protocol of arrays of this package: it returns
an ArrayView, which may name the alloc node of the memory; other libraries cannot get at such memory. NumPy arrays of
plain numbers are read by their fields in C, which have the same information. Nothing is copied or synchronised: the `stream` of an interface is ignored, and DLPack exporters get stream -1, which requests
no synchronisation. A DLPack tensor is not consumed; holding its capsule keeps its memory alive.
"""

import sys

from cpython.object cimport PyObject, PyTypeObject, Py_TYPE
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from cuda_graphs.core.resources.handles cimport hold_python
from .dlpack cimport kDLBfloat, kDLCPU, kDLCUDA, kDLCUDAHost, kDLCUDAManaged
from cuda_graphs.objects.numbers cimport need_int, read_address

cdef extern from "core/resources/dlpack.hpp" namespace "cg" nogil:
    struct DLDevice:
        int32_t device_type
    struct DLDataType:
        uint8_t code
        uint8_t bits
        uint16_t lanes
    struct DLTensor:
        void* data
        DLDevice device
        int32_t ndim
        DLDataType dtype
        int64_t* shape
        int64_t* strides
        uint64_t byte_offset
    struct DLManagedTensor:
        DLTensor dl_tensor
    struct DLPackVersion:
        uint32_t major
    struct DLManagedTensorVersioned:
        DLPackVersion version
        uint64_t flags
        DLTensor dl_tensor
    enum:
        kDLReadOnly

# __array_interface__ letters of DLPack's type codes (dlpack.h, DLDataTypeCode). NumPy lacks the other types.
cdef dict LETTERS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}


cdef class ArrayView:
    """The memory of an array."""


cpdef ArrayView view_array(object array, str name):
    """Return the memory of `array`; None when it is not an array.

    Raises:
        TypeError: The array's interface is incomplete or malformed.
        ValueError: The memory is on a device that is not CUDA's, the array is masked, or its elements have a fraction
        of a byte.
    """
    cdef const NumpyArray* found = numpy_fields(array)
    if found != NULL:
        return view_numpy(array, found)
    describe = getattr(type(array), "__cuda_graph_array__", None)
    if describe is not None:
        return describe(array)
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None and not is_scalar(array):
        interface = getattr(array, "__array_interface__", None)
    if interface is not None:
        return from_interface(array, interface, name)
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return from_dlpack(array, name)
    return None


cpdef str graph_memory_error(str what):
    return (
        f"{what} is memory that exists only while its graph runs: add a node that copies it to other memory, and read that "
        "memory after the launch"
    )


cdef enum:
    kInt = 5  # type number of i4

# Typestr of each type number of NumPy (NPY_TYPES in ndarraytypes.h); None for other types than plain numbers.
cdef tuple TYPESTRS = (
    "|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<i8", "<u8", "<f4", "<f8", *[None] * 10, "<f2",
)
cdef unsigned int plain_numbers = sum([1 << i for i, typestr in enumerate(TYPESTRS) if typestr is not None])

cdef PyTypeObject* numpy_array = NULL  # numpy.ndarray; NULL before NumPy is imported
cdef bint fields_are_known = False  # True if the arrays of this NumPy have the fields of a NumpyArray


cdef const NumpyArray* numpy_fields(object array) except? NULL:
    if numpy_array == NULL:
        find_numpy()
    if numpy_array == NULL or Py_TYPE(array) != numpy_array or not fields_are_known:
        return NULL
    cdef const NumpyArray* found = <const NumpyArray*><PyObject*>array
    if found.type.number >= MOST_NUMPY_TYPES or not plain_numbers >> found.type.number & 1 or found.type.byteorder == c">":
        return NULL
    return found


cdef str typestr_of(const NumpyArray* array):
    return <str>TYPESTRS[<Py_ssize_t>array.type.number]


cdef bint is_read_only(const NumpyArray* array) noexcept:
    return not array.flags & kWriteable or array.flags < 0  # NPY_ARRAY_WARN_ON_WRITE is the sign


cdef int find_numpy() except -1:
    """Check the fields of NumPy's arrays against the array interface, if NumPy is imported."""
    global numpy_array, fields_are_known
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return 0
    sample = numpy.arange(24, dtype="i4").reshape(4, 6)[1:, ::2]
    interface = sample.__array_interface__
    cdef const NumpyArray* found = <const NumpyArray*><PyObject*>sample
    fields_are_known = (
        <uintptr_t>found.data == interface["data"][0]
        and found.ndim == 2
        and <PyObject*>found.type == <PyObject*>sample.dtype
        and (found.shape[0], found.shape[1], found.strides[0], found.strides[1]) == (3, 3, 24, 8)
        and found.flags & (kCContiguous | kWriteable) == kWriteable
        and found.type.number == kInt
    )
    numpy_array = <PyTypeObject*>numpy.ndarray
    return 0


cdef ArrayView view_numpy(object array, const NumpyArray* found):
    cdef ArrayView view = ArrayView.__new__(ArrayView)
    view.address, view.is_read_only = <uintptr_t>found.data, is_read_only(found)
    view.dtype = typestr_of(found)
    view.itemsize = int(view.dtype[2:])
    view.shape = tuple([found.shape[i] for i in range(found.ndim)])
    if found.flags & kCContiguous:  # NumPy has other strides for axes of at most one element
        view.strides = packed_strides(view.shape, view.itemsize)
    else:
        view.strides = tuple([found.strides[i] for i in range(found.ndim)])
    view.owner = hold_python(<PyObject*>array)
    return view


cdef bint is_scalar(object array):
    """Return True for a NumPy scalar, whose interface describes a temporary copy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(array, numpy.generic)


cdef ArrayView from_interface(object array, object interface, str name):
    if not isinstance(interface, dict):
        raise TypeError(
            f"{name} is a {type(array).__name__} whose array interface is not a dict, but a {type(interface).__name__}"
        )
    cdef ArrayView view = ArrayView.__new__(ArrayView)
    if interface.get("mask") is not None:
        raise ValueError(f"{name} is a masked array, a {type(array).__name__}: copy its data and its mask separately")
    if not isinstance(interface.get("data"), tuple):
        raise TypeError(f"{name} is a {type(array).__name__} whose array interface has no data address")
    try:
        read_interface(view, interface)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} is a {type(array).__name__} whose array interface is malformed: {error!r}") from error
    view.owner = hold_python(<PyObject*>array)
    return view


cdef int read_interface(ArrayView view, object interface) except -1:
    address, view.is_read_only = interface["data"]
    view.address = read_address(address, "data")
    view.dtype = interface["typestr"]
    view.itemsize = item_size(view.dtype)
    view.shape = tuple([need_int(count, "shape") for count in interface["shape"]])
    strides = interface.get("strides")
    if strides is None:
        view.strides = packed_strides(view.shape, view.itemsize)
    else:
        view.strides = tuple([need_int(stride, "strides") for stride in strides])
    if len(view.strides) != len(view.shape):
        raise ValueError(f"strides {view.strides} of the shape {view.shape}")
    return 0


cdef size_t item_size(str dtype) except? 0:
    import numpy  # imported here, since programs without arrays need not load NumPy

    return numpy.dtype(dtype).itemsize


cpdef tuple packed_strides(tuple shape, size_t itemsize):
    """Return the strides, in bytes, of an array in C order without gaps."""
    strides = []
    stride = itemsize
    for count in reversed(shape):
        strides.append(stride)
        stride *= count
    return tuple(reversed(strides))


cdef ArrayView from_dlpack(object array, str name):
    kind, _ = array.__dlpack_device__()
    if kind not in (kDLCPU, kDLCUDA, kDLCUDAHost, kDLCUDAManaged):
        raise ValueError(f"{name} is a {type(array).__name__} on a device that is not CUDA's (DLPack device type {kind})")
    keywords = {"stream": -1} if kind in (kDLCUDA, kDLCUDAManaged) else {}
    try:
        capsule = array.__dlpack__(max_version=(1, 0), **keywords)
    except TypeError:  # an exporter from before DLPack 1.0
        capsule = array.__dlpack__(**keywords)
    cdef DLManagedTensorVersioned* versioned
    cdef ArrayView view
    if PyCapsule_IsValid(capsule, b"dltensor_versioned"):
        versioned = <DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, b"dltensor_versioned")
        if versioned.version.major != 1:
            raise TypeError(f"{name} is a {type(array).__name__} that exports DLPack {versioned.version.major}, not 1")
        view = from_tensor(&versioned.dl_tensor, name)
        view.is_read_only = versioned.flags & kDLReadOnly != 0
    else:
        view = from_tensor(&(<DLManagedTensor*>PyCapsule_GetPointer(capsule, b"dltensor")).dl_tensor, name)
    view.owner = hold_python(<PyObject*>capsule)
    return view


cdef ArrayView from_tensor(DLTensor* tensor, str name):
    cdef ArrayView view = ArrayView.__new__(ArrayView)
    cdef unsigned int bits = <unsigned int>tensor.dtype.bits * tensor.dtype.lanes
    if bits % 8:
        raise ValueError(f"{name} is an array with elements of {bits} bits; memory is copied and filled in bytes")
    letter = LETTERS.get(tensor.dtype.code) if tensor.dtype.lanes == 1 else None
    view.is_bfloat16 = tensor.dtype.code == kDLBfloat and bits == 16 and tensor.dtype.lanes == 1
    view.address = <uintptr_t>tensor.data + tensor.byte_offset
    view.itemsize = bits // 8
    view.dtype = f"{'<' if view.itemsize > 1 else '|'}{letter}{view.itemsize}" if letter else ""
    view.shape = tuple([tensor.shape[i] for i in range(tensor.ndim)])
    if tensor.strides == NULL:
        view.strides = packed_strides(view.shape, view.itemsize)
    else:
        view.strides = tuple([tensor.strides[i] * <int64_t>view.itemsize for i in range(tensor.ndim)])
    return view
