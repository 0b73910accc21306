# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from .reader cimport Reader


# Reads a vector or matrix component by component.
cdef class Vector(Reader):
    cdef list parts  # Readers


# Returns the Reader of a number, without its path and its place.
cdef Reader number_reader(object type)
