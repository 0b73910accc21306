# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Readers of numbers, and of small vectors and matrices of numbers."""

import numpy

from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_Check
from cpython.long cimport PyLong_Check
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from cuda_graphs.graph.operands.parameter cimport ArrayExtent
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.objects.code.arguments cimport StandIn
from cuda_graphs.objects.numbers cimport as_int, is_address
from .reader cimport Reader

from cuda_graphs.compiler.language import annotations


cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object value, int* overflow) except? -1
    unsigned long long PyLong_AsUnsignedLongLong(object value) except? 0xFFFFFFFFFFFFFFFF


cdef type numpy_number = numpy.number  # its types are frequent arguments, and all of them are numbers


cdef tuple OF_EXTENTS = ("i32", "u32")  # the types that take an extent of a parameter, which has 4 bytes


cdef class Number(Reader):
    """Base class of the readers of numbers. A number can be a parameter of a graph, whose value comes with each launch."""

    def __cinit__(self):
        self.leaves = 1

    cdef bint is_graph_parameter(self, Reading* r, object value) except -1:
        """Read `value` and return True if it is a parameter of a graph."""
        if not isinstance(value, StandIn):
            return False
        r.has_parameters = True
        fits = self.annotation.name in OF_EXTENTS if isinstance(value, ArrayExtent) else value.type == self.annotation.name
        if not fits:
            raise TypeError(f"parameter {self.path!r} takes {self.annotation}, but {value!r} has another type")
        r.leaves[self.leaf].bits = (<StandIn>value)._bits
        return True

    cdef int add_owners(self, dict owners, object value) except -1:
        if isinstance(value, StandIn):
            owners[self.leaf] = value
        return 0

    cdef object spec(self, object value):
        return annotations.ScalarSpec(self.annotation)


cdef class Integer(Number):
    """Reads an int of Python or NumPy that fits the integer type of the parameter."""

    cdef int64_t low
    cdef uint64_t high
    cdef bint wraps

    cdef int read(self, Reading* r, object value) except -1:
        cdef int overflow = 0
        cdef long long number
        if not PyLong_Check(value):
            if self.is_graph_parameter(r, value):
                return 0
            value = self._index(value)
        number = PyLong_AsLongLongAndOverflow(value, &overflow)
        if overflow == 0 and number >= self.low and (number < 0 or <uint64_t>number <= self.high):
            r.leaves[self.leaf].bits = <uint64_t>number  # little endian: the low bytes come first
            return 0
        if overflow > 0 and self.high == 0xFFFFFFFFFFFFFFFF and value < 1 << 64:
            r.leaves[self.leaf].bits = PyLong_AsUnsignedLongLong(value)
            return 0
        if self.wraps:
            return self.read(r, self._wrapped(value))
        raise OverflowError(
            f"parameter {self.path!r} takes {self.annotation}, from {self.low} to {self.high}, got {value}"
        )

    cdef object _wrapped(self, object value):
        """Return the number of the low bits of an integer of 64 bits, signed or not as the type is."""
        low, high = (-1 << 63, (1 << 63) - 1) if self.low < 0 else (0, (1 << 64) - 1)
        if not low <= value <= high:
            raise OverflowError(f"parameter {self.path!r} of type {self.annotation} takes a number from {low} to {high}, got {value}")
        return (value - self.low) % (int(self.high) - self.low + 1) + self.low

    cdef int let_integers_wrap(self) except -1:
        self.wraps = True
        return 0

    cdef bint is_steady(self, object value) except -1:
        return type(value) is int

    cdef object _index(self, object value):
        number = as_int(value)
        if number is not None:
            return number
        if type(value).__name__ == "bool" and hasattr(value, "item"):  # numpy.bool has no __index__
            return int(value)
        raise TypeError(
            f"parameter {self.path!r} takes {self.annotation}, an integer, got {value!r} ({type(value).__name__})"
        )


cdef class Bool(Number):
    """Reads True or False, or an integer, which is true if it is not 0."""

    cdef int read(self, Reading* r, object value) except -1:
        if value is not True and value is not False:
            if self.is_graph_parameter(r, value):
                return 0
            if is_address(value) or (
                not hasattr(value, "__index__") and type(value).__name__ not in ("bool", "bool_")
            ):
                raise TypeError(
                    f"parameter {self.path!r} takes {self.annotation}, got {value!r} ({type(value).__name__}): "
                    "compare it, as in x != 0"
                )
            value = bool(value)
        r.leaves[self.leaf].bits = value is True
        return 0

    cdef bint is_steady(self, object value) except -1:
        return value is True or value is False


cdef class Float(Number):
    """Reads any real number for a float type; a number that is too large becomes infinite."""

    cdef int size

    cdef int read(self, Reading* r, object value) except -1:
        cdef double number
        cdef float single
        if PyFloat_Check(value):
            number = PyFloat_AS_DOUBLE(value)
        elif self.is_graph_parameter(r, value):
            return 0
        else:
            number = self._number(value)
        if self.size == 8:
            memcpy(&r.leaves[self.leaf].bits, &number, 8)
        elif self.size == 4:
            single = <float>number
            memcpy(&r.leaves[self.leaf].bits, &single, 4)
        else:
            self._small(&r.leaves[self.leaf], number)
        return 0

    cdef bint is_steady(self, object value) except -1:
        return type(value) is float

    cdef double _number(self, object value) except? -1:
        if not isinstance(value, numpy_number) and (
            isinstance(value, (str, bytes)) or not (hasattr(value, "__float__") or hasattr(value, "__index__"))
            or getattr(value, "ndim", 0) != 0 or is_address(value)
        ):
            raise TypeError(f"parameter {self.path!r} takes {self.annotation}, a number, got {type(value).__name__}")
        try:
            return float(value)
        except OverflowError:
            raise OverflowError(f"parameter {self.path!r} takes {self.annotation}, but this int is too large for it") from None

    cdef int _small(self, Leaf* leaf, double number) except -1:
        from cuda_graphs.kernels.arrays.dtypes import to_element

        cdef bytes element = to_element(number, self.annotation, self.path)
        memcpy(&leaf.bits, <const char*>element, 2)
        return 0


cdef class Vector(Reader):
    """Reads a small vector or matrix from any nested sequence of numbers with its shape."""

    cdef int read(self, Reading* r, object value) except -1:
        cdef Reader part
        cdef Py_ssize_t i = 0
        try:
            found = list(value)
        except TypeError:
            found = None
        if found is None or isinstance(value, (str, bytes, dict, set)) or len(found) != len(self.parts):
            raise TypeError(f"parameter {self.path!r} takes {self.annotation!r}: {len(self.parts)} components, got {value!r}")
        for i in range(len(found)):
            part = self.parts[i]
            part.read(r, found[i])
        return 0

    cdef int add_owners(self, dict owners, object value) except -1:
        cdef Reader part
        for reader, component in zip(self.parts, value):
            part = reader
            part.add_owners(owners, component)
        return 0

    cdef int let_integers_wrap(self) except -1:
        for part in self.parts:
            (<Reader>part).let_integers_wrap()
        return 0

    cdef object spec(self, object value):
        return annotations.VectorSpec(self.annotation)

    cdef list leaf_paths(self):
        return [found for part in self.parts for found in (<Reader>part).leaf_paths()]


cdef Reader number_reader(object type):
    cdef Integer integer
    cdef Float number
    if type.kind == "bool":
        return Bool.__new__(Bool)
    if type.kind == "float":
        number = Float.__new__(Float)
        number.size = type.size
        return number
    integer = Integer.__new__(Integer)
    integer.low, integer.high = type.minimum, type.maximum
    return integer
