# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Values of named parameters: converts Python objects to the bytes that a kernel reads, and back.

A type is any object whose attribute `__cuda_graph_type__` is a type name. The names are "i8" to "i64", "u8" to "u64",
"f16", "bf16", "f32", "f64", "bool" and "pointer". A NumPy type stands for the type of the same layout. The attribute
`__cuda_graph_array_type__` of a type of arrays is a tuple: the type name of the elements or of their components, the
number of dimensions, and the shape of one element.
"""

import sys

from cpython.float cimport PyFloat_AsDouble
from cpython.long cimport PyLong_CheckExact
from libc.math cimport isfinite, isinf
from libc.string cimport memcpy

from cuda_graphs.core.graphs.graph_handles cimport ValueKind, find_value_type, from_bf16, kMostAxes, to_bf16
from cuda_graphs.objects.numbers cimport as_int, is_address
from .array_values cimport array_text, array_value, read_array
from .operands cimport Memory, read_operand

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object value, int* overflow) except? -1
    int PyFloat_Pack2(double value, char* target, int little_endian) except -1
    double PyFloat_Unpack2(const char* source, int little_endian) except? -1

# NumPy's kind of a scalar -> prefix of the type name; the number of bits follows.
NUMPY_KINDS = {"i": "i", "u": "u", "f": "f"}


cdef ParameterType accept_type(object type) except *:
    cdef ParameterType found
    array = getattr(type, "__cuda_graph_array_type__", None)
    if array is None:
        found.scalar = accept_scalar_type(type)
        return found
    name, ndim, inner = array
    if ndim > <Py_ssize_t>kMostAxes:
        raise ValueError(f"a parameter takes arrays of at most {kMostAxes} dimensions, not {type!r}")
    cdef bytes encoded = name.encode()
    found.scalar, found.ndim = find_value_type(encoded), ndim
    for extent in inner:
        found.inner.push_back(extent)
    return found


cdef const ValueType* accept_scalar_type(object type) except NULL:
    name = getattr(type, "__cuda_graph_type__", None) or numpy_name(type)
    cdef const ValueType* found = NULL
    cdef bytes encoded
    if isinstance(name, str):
        encoded = name.encode()
        found = find_value_type(encoded)
    if found == NULL:
        raise TypeError(
            f"{type!r} is not a type of numbers or pointers: give a type of cuda_graphs (i8 to u64, f16, bf16, f32, f64, bool_, "
            "pointer) or a scalar type of NumPy. Arrays have a type such as cg.Array1[cg.f32]. Arrays of structures are made "
            "by cg.ndarray(Structure, shape), also in a capture"
        )
    return found


cdef str type_text(const ParameterType& type):
    return array_text(type) if type.is_array() else type.scalar.name.decode()


cdef int read_value(const ParameterType& type, str name, object value, ParameterValue* to) except -1:
    if type.is_array():
        return read_array(type, name, value, to)
    to.bits = to_bits(type.scalar, name, value, &to.owner)
    to.known = True
    return 0


cdef object present_value(const ParameterType& type, const ParameterValue& value):
    return array_value(type, value) if type.is_array() else from_bits(type.scalar, value.bits)


cdef object numpy_name(object given):
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if isinstance(given, type) and issubclass(given, numpy.generic):
        given = numpy.dtype(given)
    if not isinstance(given, numpy.dtype) or not given.isnative:
        return None
    if given.kind in NUMPY_KINDS:
        return f"{NUMPY_KINDS[given.kind]}{8 * given.itemsize}"
    return {"bool": "bool", "bfloat16": "bf16"}.get(given.name)


cdef uint64_t to_bits(const ValueType* type, str name, object value, Opaque* owner) except? 0xBAD:
    cdef Memory memory
    if type.kind == ValueKind.kFloat:
        return float_bits(type, name, value)
    if type.kind == ValueKind.kInt or type.kind == ValueKind.kUint:
        return int_bits(type, name, value)
    if type.kind == ValueKind.kPointer:
        read_operand(value, name, None, &memory, owner)
        return memory.address
    return bool_bits(name, value)


cdef int refuse(const ValueType* type, str name, object value, str wanted) except -1:
    raise TypeError(f"parameter {name!r} is {type.name.decode()} and takes {wanted}, got {value!r} ({value.__class__.__name__})")


cdef uint64_t int_bits(const ValueType* type, str name, object value) except? 0xBAD:
    cdef int bits = <int>type.size * 8
    cdef bint signed = type.kind == ValueKind.kInt
    cdef int overflow = 0
    cdef long long number
    if not PyLong_CheckExact(value):
        given, value = value, as_int(value)
        if value is None:
            refuse(type, name, given, "an int")
    number = PyLong_AsLongLongAndOverflow(value, &overflow)
    if bits == 64:
        if overflow == 0 and (signed or number >= 0):
            return <uint64_t>number
        if overflow > 0 and not signed and value >> 64 == 0:
            return value
    elif overflow == 0 and (-(1LL << (bits - 1)) <= number < 1LL << (bits - 1) if signed else 0 <= number < 1LL << bits):
        return <uint64_t>number & ((1ULL << bits) - 1)
    raise OverflowError(f"parameter {name!r} is {type.name.decode()}; {value} does not fit")


cdef uint64_t float_bits(const ValueType* type, str name, object value) except? 0xBAD:
    cdef double number = 0
    cdef float single
    cdef unsigned short half
    cdef uint64_t bits = 0
    if is_address(value):
        refuse(type, name, value, "a number")
    try:
        number = PyFloat_AsDouble(value)
    except TypeError:
        refuse(type, name, value, "a number")
    except OverflowError:
        too_large(type, name, value)
    if type.size == 8:
        memcpy(&bits, &number, 8)
        return bits
    if type.size == 4:
        single = <float>number
        memcpy(&bits, &single, 4)
        if isinf(single) and isfinite(number):
            too_large(type, name, value)
        return bits
    if type.name[0] == c"b":
        half = to_bf16(number)
        if isfinite(number) and isinf(from_bf16(half)):
            too_large(type, name, value)
        return half
    try:
        PyFloat_Pack2(number, <char*>&bits, 1)
    except OverflowError:
        too_large(type, name, value)
    return bits


cdef int too_large(const ValueType* type, str name, object value) except -1:
    raise OverflowError(f"parameter {name!r} is {type.name.decode()}; {value} is too large for it")


cdef uint64_t bool_bits(str name, object value) except? 0xBAD:
    # NumPy's booleans are not ints.
    if getattr(getattr(value, "dtype", None), "kind", None) == "b" and value.ndim == 0:
        return bool(value)
    number = as_int(value)
    if number is None:
        raise TypeError(f"parameter {name!r} is bool and takes True or False, got {value!r}")
    if number not in (0, 1):
        raise OverflowError(f"parameter {name!r} is bool; {value} is neither 0 nor 1")
    return number


cdef object from_bits(const ValueType* type, uint64_t bits):
    cdef double number
    cdef float single
    cdef int shift = 64 - <int>type.size * 8
    if type.kind == ValueKind.kInt:
        return <long long>(bits << shift) >> shift
    if type.kind == ValueKind.kBool:
        return bits != 0
    if type.kind != ValueKind.kFloat:
        return bits
    if type.size == 8:
        memcpy(&number, &bits, 8)
        return number
    if type.size == 4:
        memcpy(&single, &bits, 4)
        return <double>single
    if type.name[0] == c"b":
        return from_bf16(<unsigned short>bits)
    return PyFloat_Unpack2(<const char*>&bits, 1)
