# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The rules by which typed values and memory fit the parameters of kernels. docs/guide/kernel-signatures.md has them as a
table.

A value with a type of its own fits a parameter of the same kind and width. Otherwise it converts if the parameter's type
has all values of its type, or if both are integers and the value fits. Elements fit a pointer as C++ lets code access
objects: by their own type, by the integer type of the other sign, and by char. An array of 8-bit integers is memory for any
type, as a Buffer exports its memory.
"""

import struct

from libc.math cimport isfinite, isinf
from libc.string cimport memcpy

from cuda_graphs.core.graphs.graph_handles cimport from_bf16, to_bf16

cdef extern from "Python.h":
    int PyFloat_Pack2(double value, char* target, int little_endian) except -1


# Bytes of a float -> its format in `struct`.
cdef dict FLOATS = {2: "e", 4: "f", 8: "d"}


cdef inline bint is_integer(ValueForm form) noexcept:
    return (
        form == ValueForm.kInt or form == ValueForm.kUint or form == ValueForm.kInteger or form == ValueForm.kWord
    )


cdef bint fits(ValueForm form, const Parameter& parameter) noexcept:
    cdef ValueForm wanted = parameter.type.form
    if wanted == form or wanted == ValueForm.kUnknown or wanted == ValueForm.kClass:
        return True
    if form == ValueForm.kInt or form == ValueForm.kUint:
        return wanted == ValueForm.kInteger or wanted == ValueForm.kWord or wanted == ValueForm.kPointer
    if form == ValueForm.kInteger:  # a handle
        return is_integer(wanted)
    if form == ValueForm.kPointer:
        return parameter.takes_addresses() or wanted == ValueForm.kInteger
    return form == ValueForm.kClass and wanted == ValueForm.kComplex


cdef bint converts(ValueForm form, size_t size, const Parameter& parameter) noexcept:
    cdef ValueForm wanted = parameter.type.form
    cdef bint whole = form == ValueForm.kBool or form == ValueForm.kInt or form == ValueForm.kUint
    if is_integer(wanted):
        return whole and size <= parameter.size
    if wanted == ValueForm.kFloat or wanted == ValueForm.kBfloat:
        return (whole or form == ValueForm.kFloat or form == ValueForm.kBfloat) and size < parameter.size
    return form == ValueForm.kComplex and wanted == ValueForm.kComplex and size < parameter.size


cdef bint fits_later(ValueForm form, size_t size, const Parameter& parameter) noexcept:
    cdef ValueForm wanted = parameter.type.form
    if size != parameter.size:
        return False
    if form == ValueForm.kInt or form == ValueForm.kUint:
        return is_integer(wanted) or fits(form, parameter)
    return fits(form, parameter) or form == ValueForm.kBool and is_integer(wanted)


cdef bint points_to(const KernelType& pointer, ValueForm element, size_t size) noexcept:
    cdef ValueForm wanted = pointer.element
    if (
        wanted == ValueForm.kUnknown or wanted == ValueForm.kClass or wanted == ValueForm.kByte
        or element == ValueForm.kUnknown or is_integer(element) and size == 1
    ):
        return True
    return size == pointer.element_size and (wanted == element or is_integer(wanted) and is_integer(element))


cdef ValueForm form_of_elements(ArrayView array) noexcept:
    if array.is_bfloat16:
        return ValueForm.kBfloat
    if not array.dtype:  # no type of NumPy
        return ValueForm.kUnknown
    return ValueForm.kClass if array.dtype[0] == u">" else form_of_letter(array.dtype[1])


cdef ValueForm form_of_letter(Py_UCS4 letter) noexcept:
    if letter == u"i":
        return ValueForm.kInt
    if letter == u"u":
        return ValueForm.kUint
    if letter == u"f":
        return ValueForm.kFloat
    if letter == u"b":
        return ValueForm.kBool
    return ValueForm.kComplex if letter == u"c" else ValueForm.kClass


cdef ValueForm form_of_format(const char* format) noexcept:
    if format == NULL:
        return ValueForm.kClass
    if format[0] == c"<" or format[0] == c"@" or format[0] == c"=":
        format += 1
    if format[0] == c"Z":
        return ValueForm.kComplex
    if format[0] == c"&":
        return ValueForm.kPointer
    if format[0] != 0 and format[1] != 0:
        return ValueForm.kClass
    if format[0] in b"bhilqnc":
        return ValueForm.kInt
    if format[0] in b"BHILQN":
        return ValueForm.kUint
    if format[0] in b"efd":
        return ValueForm.kFloat
    if format[0] == c"?":
        return ValueForm.kBool
    return ValueForm.kPointer if format[0] == c"P" else ValueForm.kClass


cdef object value_of(const char* bits, const Parameter& parameter):
    cdef bytes all = bits[: parameter.size]
    cdef ValueForm form = parameter.type.form
    if form == ValueForm.kFloat:
        return struct.unpack(FLOATS[parameter.size], all)[0]
    if form == ValueForm.kBfloat:
        return from_bf16(<unsigned short>int.from_bytes(all, "little"))
    if form == ValueForm.kComplex:
        return complex(*struct.unpack(2 * FLOATS[parameter.size // 2], all))
    if form == ValueForm.kBool:
        return any(all)
    return int.from_bytes(all, "little", signed=form == ValueForm.kInt)


cdef bint is_exact(object number, const Parameter& parameter) except -1:
    cdef int digits = 8 if parameter.type.form == ValueForm.kBfloat else 11 if parameter.size == 2 else 24
    if parameter.size == 8:
        digits = 53
    odd = abs(number) // (number & -number or 1)
    return odd.bit_length() <= digits


cdef unsigned int rounded(double number, const Parameter& parameter, bint* too_large) except? 0xBAD:
    cdef unsigned int bits = 0
    cdef float single
    too_large[0] = False
    if parameter.type.form == ValueForm.kBfloat:
        bits = to_bf16(number)
        too_large[0] = isfinite(number) and isinf(from_bf16(<unsigned short>bits))
    elif parameter.size == 4:
        single = <float>number
        memcpy(&bits, &single, 4)
        too_large[0] = isfinite(number) and isinf(single)
    else:
        try:
            PyFloat_Pack2(number, <char*>&bits, 1)
        except OverflowError:
            too_large[0] = True
    return bits
