# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries as memory: where it is, its layout, and who keeps it.

Three protocols, asked in this order: `__cuda_array_interface__` (version 2 or later), `__array_interface__` (NumPy), and
DLPack; arrays of NumPy of plain numbers by Python's buffers, which say the same. Nothing is copied and nothing is
synchronised: a `stream` that an interface names is not waited for, and DLPack exporters are told so (stream -1). A
DLPack tensor is not consumed; its capsule is held, which is what keeps its memory.
"""

import sys

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from cuda_graphs._handles.handles cimport hold_python
from cuda_graphs._objects.dlpack cimport kDLBfloat, kDLCPU, kDLCUDA, kDLCUDAHost, kDLCUDAManaged
from cuda_graphs._objects.numbers cimport need_int, read_address

cdef extern from "_handles/dlpack.hpp" namespace "cg" nogil:
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

# The letters of __array_interface__ for DLPack's type codes (dlpack.h, DLDataTypeCode); others NumPy does not have.
cdef dict LETTERS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}


cdef class ArrayView:
    """Memory of an array."""


cpdef ArrayView view_array(object array, str name):
    """The memory behind `array`; None when it is no array.

    Raises:
        TypeError: An interface that does not say what it must.
        ValueError: Memory of a kind of device that CUDA does not know, masked arrays, elements of part of a byte.
    """
    cdef ArrayView view = from_buffer(array)
    if view is not None:
        return view
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None and not is_scalar(array):
        interface = getattr(array, "__array_interface__", None)
    if interface is not None:
        return from_interface(array, interface, name)
    if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        return from_dlpack(array, name)
    return None


# What NumPy calls elements in buffers -> in its array interface, of those in the order of bytes of this machine.
cdef dict TYPESTRS = {
    b"?": "|b1", b"b": "|i1", b"B": "|u1", b"h": "<i2", b"H": "<u2", b"i": "<i4", b"I": "<u4", b"l": "<i8", b"L": "<u8",
    b"q": "<i8", b"Q": "<u8", b"e": "<f2", b"f": "<f4", b"d": "<f8",
}


cdef ArrayView from_buffer(object array):
    """What __array_interface__ says of an array of NumPy of plain numbers, without the dict: it is asked in calls."""
    cdef Py_buffer buffer
    cdef ArrayView view
    numpy = sys.modules.get("numpy")
    if numpy is None or type(array) is not numpy.ndarray:
        return None
    try:
        PyObject_GetBuffer(array, &buffer, PyBUF_STRIDES | PyBUF_FORMAT)
    except (ValueError, BufferError):  # elements that buffers have no name for
        return None
    try:
        typestr = TYPESTRS.get(<bytes>buffer.format)
        if typestr is None:
            return None
        view = ArrayView.__new__(ArrayView)
        view.address, view.is_read_only = <uintptr_t>buffer.buf, buffer.readonly
        view.dtype, view.itemsize = typestr, buffer.itemsize
        view.shape = tuple([buffer.shape[i] for i in range(buffer.ndim)])
        view.strides = tuple([buffer.strides[i] for i in range(buffer.ndim)])
    finally:
        PyBuffer_Release(&buffer)
    view.owner = hold_python(<PyObject*>array)
    return view


cdef bint is_scalar(object array):
    """NumPy's scalars have its interface too, of a copy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(array, numpy.generic)


cdef ArrayView from_interface(object array, object interface, str name):
    if not isinstance(interface, dict):
        raise TypeError(
            f"{name} is a {type(array).__name__} whose array interface is no dict, but a {type(interface).__name__}"
        )
    cdef ArrayView view = ArrayView.__new__(ArrayView)
    if interface.get("mask") is not None:
        raise ValueError(f"{name} is a masked array, a {type(array).__name__}: copy its data and its mask one by one")
    if not isinstance(interface.get("data"), tuple):
        raise TypeError(f"{name} is a {type(array).__name__} that does not say at which address its data is")
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
    import numpy  # here: most programs that have arrays have it loaded, others need not

    return numpy.dtype(dtype).itemsize


cdef tuple packed_strides(tuple shape, size_t itemsize):
    """Those of an array in C order without gaps."""
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
            raise TypeError(f"{name} is a {type(array).__name__} that answers with DLPack {versioned.version.major}, not 1")
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
