# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from .arrays cimport Array
from .reader cimport Reader


# Reads nothing: the member of `self` is a constant of the code.
cdef class Fixed(Reader):
    pass


# Returns the Reader of a field or an array, which `array` reads, without its path and its place. `takes_values` is True for
# a template.
cdef Reader tensor_reader(Array array, bint takes_values)
