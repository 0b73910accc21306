# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Converts Python values to the `void**` of a kernel launch or a kernel node.

The type of each parameter determines the conversion: numbers keep their value, or are refused. conversion.pyx has the
rules for values with a type of their own (NumPy and ctypes scalars and structures) and for arrays. An array is passed as its
address, if the device can access it; the stream that its interface names is not waited for. A parameter of unknown type
takes an address or a value with a type of its own and the width of the parameter.
"""

import sys

from cpython.buffer cimport PyBUF_FULL_RO, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cpython.complex cimport PyComplex_Check, PyComplex_ImagAsDouble, PyComplex_RealAsDouble
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_Check
from cpython.object cimport PyObject, PyTypeObject
from cython.operator cimport dereference
from libc.math cimport isfinite, isinf
from libc.stddef cimport size_t
from libc.stdint cimport uint64_t
from libc.string cimport memcmp
from libcpp.unordered_map cimport unordered_map
from libcpp.utility cimport move
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport bundle, find_memory_type, kUnknownMemory
from cuda_graphs.core.resources.handles cimport Opaque, Parameter, ValueForm, address_of, hold_python
from cuda_graphs.objects.memory.array_view cimport ArrayView, view_array
from cuda_graphs.objects.memory.buffer cimport Buffer, MemoryKind, is_of_capture, own_buffer, reach
from cuda_graphs.objects.memory.typed_memory cimport TypedMemory
from .conversion cimport (
    converts,
    fits,
    fits_later,
    form_of_elements,
    form_of_format,
    form_of_letter,
    is_exact,
    points_to,
    rounded,
)
from .kernel cimport Kernel, type_text
from cuda_graphs.objects.numbers cimport is_address, is_of_bindings
from cuda_graphs.errors import ClosedBufferError

cdef extern from "<cstdint>" nogil:
    uint64_t UINT64_MAX

cdef extern from "Python.h":
    PyTypeObject* Py_TYPE(object)
    PyTypeObject* type_of "Py_TYPE"(PyObject* o)
    long long PyLong_AsLongLongAndOverflow(PyObject* value, int* overflow)  # called with an int, so it raises no error
    unsigned long long PyLong_AsUnsignedLongLong(object value) except? 0xFFFFFFFFFFFFFFFF

# Types whose `handle` is passed in 8 bytes. Higher layers register them.
cdef tuple handle_types = ()

# A scalar type of NumPy, whose value is stored directly after the object header.
cdef struct ScalarType:
    size_t size
    ValueForm form

# NumPy's scalar types by address.
cdef unordered_map[void*, ScalarType] scalar_types
cdef bint numpy_is_known = False


cpdef void register_handle_type(type cls):
    global handle_types
    handle_types = (*handle_types, cls)


cdef class StandIn:
    """An argument whose value is set later. Not created directly."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError(f"{type(self).__name__} has no public constructor")


cdef class RawArgument:
    """The bytes of an argument that another node of the same kernel had: a loaded graph has no other value of it."""

    def __init__(self, bytes data not None, owner=None):
        self._bytes, self._owner = data, owner


cdef int pack_arguments(ArgumentPack& pack, Kernel kernel, Arguments args, size_t count) except -1:
    cdef const vector[Parameter]* parameters = kernel._known_parameters
    cdef PyTypeObject* kind
    cdef size_t i
    cdef int found = 0
    if parameters == NULL:
        parameters = kernel._parameters()
    if count != parameters.size():
        refuse_count(kernel, parameters.size(), count)
    for i in range(count):
        kind = type_of(args[i])
        if kind == <PyTypeObject*>int:
            append_int(pack, kernel, i, parameters[0][i], args[i])
        elif kind == <PyTypeObject*>Buffer:
            found |= HAS_OBJECTS | append_buffer(pack, kernel, i, parameters[0][i], <Buffer>args[i])
        else:
            found |= append(pack, kernel, i, parameters[0][i], <object>args[i])
    return found


cdef int refuse_count(Kernel kernel, size_t expected, size_t count) except -1:
    raise TypeError(f"kernel {kernel._name()!r} takes {expected} argument{'s' * (expected != 1)}, got {count}")


cdef int own_arguments(Arguments args, size_t count, Opaque& all) except -1:
    cdef Opaque owner
    cdef vector[Opaque] owners  # nearly always empty, as for one Buffer and numbers
    cdef PyTypeObject* kind
    cdef Buffer memory
    cdef size_t i
    for i in range(count):
        arg = <object>args[i]
        kind = Py_TYPE(arg)
        if kind == <PyTypeObject*>int or kind == <PyTypeObject*>float:
            continue
        if kind == <PyTypeObject*>Buffer or isinstance(arg, Buffer):
            if not own_buffer(<Buffer>arg, owner):
                continue
        elif isinstance(arg, (int, float, complex)) or scalar_types.count(<void*>kind) != 0:
            continue
        elif kind == <PyTypeObject*>RawArgument:
            if (<RawArgument>arg)._owner is None:
                continue
            owner = hold_python(<PyObject*>(<RawArgument>arg)._owner)
        elif hasattr(type(arg), "__cuda_graph_array__"):
            owner = view_array(arg, "argument").owner  # the node itself would keep its graph alive forever
        else:
            memory = memory_of(arg)
            if memory is not None and is_of_capture(memory):
                continue  # the end of the array adds the free node
            owner = hold_python(<PyObject*>arg)
        if not all:
            all.swap(owner)
        else:
            owners.push_back(move(owner))
    if not owners.empty():
        owners.push_back(all)
        (&all)[0] = bundle(move(owners))
    return 0


cdef int reach_arguments(Arguments args, size_t count, int device) except -1:
    cdef PyTypeObject* kind
    cdef Buffer memory
    cdef size_t i
    for i in range(count):
        kind = type_of(args[i])
        if kind == <PyTypeObject*>int or kind == <PyTypeObject*>float:
            continue
        memory = memory_of(<object>args[i])
        if memory is not None:
            reach(memory, device)
    return 0


cdef Buffer memory_of(object arg):
    if isinstance(arg, Buffer):
        return <Buffer>arg
    return (<TypedMemory>arg)._buffer if isinstance(arg, TypedMemory) else None


cdef int append(ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, object arg) except -1:
    """Appends an argument, and returns what `pack_arguments` finds in it. An int or a Buffer comes here as the value of another
    type only."""
    cdef PyTypeObject* kind = Py_TYPE(arg)
    if kind == <PyTypeObject*>float:
        return append_float(pack, kernel, index, to, PyFloat_AS_DOUBLE(arg))
    if kind == <PyTypeObject*>RawArgument:
        return HAS_OBJECTS | append_bytes(pack, kernel, index, to, (<RawArgument>arg)._bytes)
    return HAS_OBJECTS | append_other(pack, kernel, index, to, arg)


cdef int append_bytes(ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, bytes data) except -1:
    if <size_t>len(data) != to.size:
        raise ValueError(f"{describe(kernel, index, to)}, of {to.size} bytes, got {len(data)}")
    pack.append_copy(<const char*>data, to.size)
    return 0


cdef int append_other(ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, object arg) except -1:
    """Appends an argument of any type but the three usual ones."""
    cdef const char* value
    if not numpy_is_known and "numpy" in sys.modules:
        import_numpy_types()
    known = scalar_types.find(<void*>Py_TYPE(arg))
    if known != scalar_types.end():
        value = <const char*><PyObject*>arg + sizeof(PyObject)
        return append_value(pack, kernel, index, to, arg, value, dereference(known).second)
    if isinstance(arg, StandIn):
        return append_stand_in(pack, kernel, index, to, <StandIn>arg)
    if handle_types and isinstance(arg, handle_types):
        return append_word(pack, kernel, index, to, arg, arg.handle, ValueForm.kInteger)
    if isinstance(arg, Buffer):
        return append_buffer(pack, kernel, index, to, <Buffer>arg)
    if isinstance(arg, bool) and (to.type.form == ValueForm.kPointer or to.type.form == ValueForm.kUnknown):
        refuse_number(kernel, index, to, arg)
    if PyLong_Check(arg):  # also bool and enums
        return append_int(pack, kernel, index, to, <PyObject*>arg)
    if PyFloat_Check(arg):
        return append_float(pack, kernel, index, to, PyFloat_AS_DOUBLE(arg))
    if PyComplex_Check(arg):
        return append_complex(pack, kernel, index, to, arg)
    # Arrays of CuPy have the buffer protocol too, but raise an error when it is used.
    cdef bint of_device = hasattr(arg, "__cuda_array_interface__")
    if not of_device and PyObject_CheckBuffer(arg) and append_exported(pack, kernel, index, to, arg):
        return 0
    if is_of_bindings(arg):
        form = ValueForm.kPointer if is_address(arg) else ValueForm.kInteger
        return append_word(pack, kernel, index, to, arg, int(arg), form)
    cdef ArrayView array = view_array(arg, f"argument {index}")
    if array is not None:
        return append_array(pack, kernel, index, to, arg, array)
    raise TypeError(
        f"{describe(kernel, index, to)}: the argument is of unsupported type: {type(arg)}. Pass a number, a Buffer, an "
        "array of the device, a NumPy or ctypes scalar, or an address as an int."
    )


cdef inline int append_int(ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, PyObject* arg) except -1:
    cdef int overflow = 0
    cdef long long value = PyLong_AsLongLongAndOverflow(arg, &overflow)
    if overflow == 0 and value >= to.ints.low and (value < 0 or <uint64_t>value <= to.ints.high):
        pack.append_copy(&value, 8)  # little endian: the low bytes come first, and no slot is smaller
        return 0
    return append_other_int(pack, kernel, index, to, <object>arg)


cdef int append_other_int(
    ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, object arg
) except -1:
    """Appends an int of 64 bits without a sign, or for a float. Refuses an int that is no value of the parameter's type."""
    cdef unsigned long long large
    if to.ints.high == UINT64_MAX and arg > 0 and not arg >> 64:
        large = PyLong_AsUnsignedLongLong(arg)
        pack.append_copy(&large, 8)
        return 0
    if to.ints.high:
        raise OverflowError(f"{describe(kernel, index, to)}; {arg} does not fit")
    if to.type.form != ValueForm.kFloat and to.type.form != ValueForm.kBfloat:
        refuse_number(kernel, index, to, arg)
    if not is_exact(arg, to):
        raise ValueError(
            f"{describe(kernel, index, to)}, which cannot hold {arg} exactly; pass float({arg}) to round it"
        )
    try:
        return append_float(pack, kernel, index, to, float(arg))
    except OverflowError as error:
        raise OverflowError(f"{describe(kernel, index, to)}; {arg} does not fit") from error


cdef int append_float(ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, double value) except -1:
    cdef float single
    if to.type.form == ValueForm.kFloat:
        if to.size == 8:
            pack.append_copy(&value, 8)
            return 0
        single = <float>value
        if to.size == 4 and not isinf(single):
            pack.append_copy(&single, 4)
            return 0
    return append_other_float(pack, kernel, index, to, value)


cdef int append_other_float(
    ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, double value
) except -1:
    """Appends a float for a parameter of half precision, or an infinite one."""
    cdef unsigned int bits
    cdef bint too_large = False
    if to.type.form != ValueForm.kFloat and to.type.form != ValueForm.kBfloat:
        refuse_number(kernel, index, to, value)
    bits = rounded(value, to, &too_large)
    if too_large:
        raise OverflowError(f"{describe(kernel, index, to)}; {value} does not fit")
    pack.append_copy(&bits, to.size)
    return 0


cdef int append_complex(ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, object arg) except -1:
    cdef double parts[2]
    cdef float singles[2]
    parts[0], parts[1] = PyComplex_RealAsDouble(arg), PyComplex_ImagAsDouble(arg)
    if to.type.form != ValueForm.kComplex:
        refuse_number(kernel, index, to, arg)
    if to.size == 16:
        pack.append_copy(parts, 16)
        return 0
    singles[0], singles[1] = <float>parts[0], <float>parts[1]
    if isinf(singles[0]) and isfinite(parts[0]) or isinf(singles[1]) and isfinite(parts[1]):
        raise OverflowError(f"{describe(kernel, index, to)}; {arg} does not fit")
    pack.append_copy(singles, 8)
    return 0


cdef int append_buffer(ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, Buffer arg) except -1:
    if not arg._h:
        raise ClosedBufferError(
            f"{describe(kernel, index, to)}; the argument is a closed Buffer, which has no active allocation"
        )
    if not to.takes_addresses():
        raise TypeError(f"{describe(kernel, index, to)}; a Buffer is passed as an address of 8 bytes")
    cdef CUdeviceptr address = address_of(arg._h)
    pack.append_copy(&address, 8)
    return HAS_GRAPH_MEMORY if arg._kind == MemoryKind.UNLAUNCHED else 0


cdef int append_stand_in(ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, StandIn arg) except -1:
    if not fits_later(arg._form, arg._width, to):
        raise TypeError(f"{describe(kernel, index, to)}; {arg!r} does not convert to it")
    if arg._form == ValueForm.kPointer and not points_to(to.type, arg._element, arg._element_size):
        raise TypeError(f"{describe(kernel, index, to)}; {arg!r} has other elements")
    pack.append_copy(&arg._bits, to.size)
    return HAS_STAND_INS


cdef int append_word(
    ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, object arg, object word, ValueForm form
) except -1:
    """Appends a handle or an address of 8 bytes."""
    cdef uint64_t value = word
    return append_value(pack, kernel, index, to, arg, <const char*>&value, ScalarType(8, form))


cdef bint append_exported(ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, object arg) except -1:
    """Appends a scalar or structure of ctypes or NumPy by the buffer protocol; returns False when it has dimensions."""
    cdef Py_buffer view
    PyObject_GetBuffer(arg, &view, PyBUF_FULL_RO)
    try:
        if view.ndim != 0:
            return False
        append_value(
            pack, kernel, index, to, arg, <const char*>view.buf, ScalarType(<size_t>view.len, form_of_format(view.format))
        )
        return True
    finally:
        PyBuffer_Release(&view)


cpdef bint is_known_memory(CUdeviceptr address) except -1:
    """Return True for memory that the driver knows, and for address 0. The memory may be a range that an alloc node
    of a graph has only reserved."""
    cdef int memory = kUnknownMemory
    cdef CUresult status
    if not address:
        return True
    with nogil:
        status = find_memory_type(address, &memory)
    check_attempt(status, f"ask what memory {address:#x} is")
    return memory != kUnknownMemory


cdef int append_array(
    ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, object arg, ArrayView array
) except -1:
    """Appends the address of an array."""
    if not to.takes_addresses():
        raise TypeError(f"{describe(kernel, index, to)}; an array is passed as an address of 8 bytes")
    if not points_to(to.type, form_of_elements(array), array.itemsize):
        raise TypeError(f"{describe(kernel, index, to)}; the argument is an array of {element_name(array)}")
    if not is_known_memory(array.address):
        raise TypeError(
            f"{describe(kernel, index, to)}: the argument is of unsupported type: {type(arg)} in pageable host memory, "
            "which the device cannot reach. Use an array in pinned memory (numpy.from_dlpack of a Buffer of a "
            "PinnedMemoryResource) or on the device."
        )
    pack.append_copy(&array.address, 8)
    cdef Buffer memory = memory_of(arg)
    cdef bint is_of_graph = array.node is not None or (memory is not None and memory._kind == MemoryKind.UNLAUNCHED)
    return HAS_GRAPH_MEMORY if is_of_graph else 0


cdef int append_value(
    ArgumentPack& pack, Kernel kernel, size_t index, const Parameter& to, object arg, const char* value, ScalarType type
) except -1:
    """Appends a value that has a type of its own."""
    if type.size == to.size and fits(type.form, to):
        pack.append_copy(value, type.size)
        return 0
    if converts(type.form, type.size, to):
        return append(pack, kernel, index, to, arg.item() if hasattr(arg, "item") else arg.value)
    raise TypeError(
        f"{describe(kernel, index, to)}; {class_name(arg)}, of {type.size} byte{'s' * (type.size != 1)}, does not convert to it"
    )


cdef int refuse_number(Kernel kernel, size_t index, const Parameter& to, object arg) except -1:
    """Refuses a Python number for a parameter whose type has no such values, or is unknown."""
    remedy = "does not convert to it"
    if to.type.form == ValueForm.kUnknown or to.type.form == ValueForm.kClass:
        remedy = "has no width of its own: pass a typed value, such as numpy.float32(1) or cuda_graphs.i32(1)"
    raise TypeError(f"{describe(kernel, index, to)}; {class_name(arg)} {arg!r} {remedy}")


cdef str class_name(object arg):
    module = type(arg).__module__
    return type(arg).__name__ if module == "builtins" else f"{module}.{type(arg).__name__}"


cdef str element_name(ArrayView array):
    import numpy

    return "bfloat16" if array.is_bfloat16 else numpy.dtype(array.dtype).name


cdef str describe(Kernel kernel, size_t index, const Parameter& to):
    return f"parameter {index} of kernel {kernel._name()!r} takes {type_text(to)}"


cdef int import_numpy_types() except -1:
    """Registers those of NumPy's scalar types whose value is stored directly after the object header."""
    global numpy_is_known
    numpy = sys.modules["numpy"]
    cdef bytes expected
    for name in (
        "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "longlong", "ulonglong",
        "float16", "float32", "float64", "complex64", "complex128",
    ):
        kind = getattr(numpy, name)
        sample = kind(1)
        expected = sample.tobytes()
        if memcmp(<const char*><PyObject*>sample + sizeof(PyObject), <const char*>expected, len(expected)) == 0:
            scalar_types[<void*>kind] = ScalarType(len(expected), form_of_letter(sample.dtype.kind))
    numpy_is_known = True
    return 0
