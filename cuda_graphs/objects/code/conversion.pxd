# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The rules by which typed values and memory fit the parameters of kernels."""

from libc.stddef cimport size_t

from cuda_graphs.core.resources.handles cimport Parameter, KernelType, ValueForm
from cuda_graphs.objects.memory.array_view cimport ArrayView


# Returns true if the bytes of a value of this form, as wide as the parameter, are a value of the parameter.
cdef bint fits(ValueForm form, const Parameter& parameter) noexcept

# Returns true if values of this form and width convert to the parameter by their number. Integers may still not fit.
cdef bint converts(ValueForm form, size_t size, const Parameter& parameter) noexcept

# Returns true if a parameter of a graph of this form and width may give the values of the parameter of a kernel.
cdef bint fits_later(ValueForm form, size_t size, const Parameter& parameter) noexcept

# Returns true if a pointer may point to elements of this form and width.
cdef bint points_to(const KernelType& pointer, ValueForm element, size_t size) noexcept

# Returns the form of the elements of an array.
cdef ValueForm form_of_elements(ArrayView array) noexcept

# Returns the form of a value by its format in the buffer protocol, which may be NULL.
cdef ValueForm form_of_format(const char* format) noexcept

# Returns the form of one of NumPy's kinds of types.
cdef ValueForm form_of_letter(Py_UCS4 letter) noexcept

# Returns the number that the bytes of an argument stand for; for other types and unknown ones the bytes as an int.
cdef object value_of(const char* bits, const Parameter& parameter)

# Returns true if a float of the parameter's type has exactly the value of an int, unless the int is too large.
cdef bint is_exact(object number, const Parameter& parameter) except -1

# Rounds to a float of 2 or 4 bytes, and returns its bits in the low bytes. Sets `too_large` for an infinite result of a
# finite number.
cdef unsigned int rounded(double number, const Parameter& parameter, bint* too_large) except? 0xBAD
