# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Readers of constants of the code: fields, values of templates, and fixed members of `self`."""

from libc.stdint cimport int64_t, uint64_t

from cuda_graphs.graph.operands.parameter cimport ArrayParameter
from cuda_graphs.kernels.arrays.ndarray cimport Field, NDArray
from cuda_graphs.kernels.arrays.reading cimport Reading
from cuda_graphs.kernels.specialisation.snapshots cimport Memo
from .arrays cimport Array
from .reader cimport Reader

from cuda_graphs.compiler.language import annotations
from cuda_graphs.kernels.specialisation.constants import Interned, is_fixed


cdef uint64_t OF_FIELD = <uint64_t>1 << 63  # bit that marks a field in the key of a Tensor: keys of arrays are smaller


cdef class ValueNumbers:
    """Numbers of the values of one template parameter. An object that is unchanged is not compared again."""

    cdef object interned
    cdef Memo memo

    def __cinit__(self):
        self.interned = Interned()
        self.memo = Memo(self.interned.number)

    cdef int64_t number_of(self, object value) except? -1:
        return <int64_t>self.memo.of(value)

    cdef int forget(self) except -1:
        self.memo.forget()
        self.interned.forget()
        return 0


cdef class Tensor(Reader):
    """Reads a field, which is a constant of the code, or an array.

    A template (`takes_values`) takes our arrays, and all other values as constants: each has its own code.
    """

    cdef Array array
    cdef ValueNumbers numbers
    cdef bint takes_values

    def __cinit__(self):
        self.leaves, self.keys = 1, 1

    cdef bint is_constant(self, object value):
        return isinstance(value, Field) or (self.takes_values and not isinstance(value, (NDArray, ArrayParameter)))

    cdef int read(self, Reading* r, object value) except -1:
        if not self.is_constant(value):
            return self.array.read(r, value)
        r.keys[self.key] = OF_FIELD | <uint64_t>self.numbers.number_of(value)
        return 0

    cdef bint is_steady(self, object value) except -1:
        return bool(is_fixed(value)) if self.is_constant(value) else self.array.is_steady(value)

    cdef int add_owners(self, dict owners, object value) except -1:
        return 0 if self.is_constant(value) else self.array.add_owners(owners, value)

    cdef object keep(self, object value):
        return value if self.is_constant(value) else self.array.keep(value)

    cdef int forget(self) except -1:
        self.numbers.forget()
        return 0

    cdef object spec(self, object value):
        if not self.is_constant(value):
            return self.array.spec(value)
        return constant_spec(value)

    cdef list leaf_paths(self):
        return self.array.leaf_paths()


cdef class Fixed(Reader):
    """Reads nothing: the member of `self` is a constant of the code."""

    cdef int read(self, Reading* r, object value) except -1:
        return 0

    cdef bint is_steady(self, object value) except -1:
        return True

    cdef object spec(self, object value):
        return constant_spec(self.annotation.value)


cdef object constant_spec(object value):
    """Return the compiler's description of a field, or of another constant of the code."""
    found = getattr(value, "__cuda_graphs_field__", None)
    return annotations.StaticSpec(value) if found is None else found


cdef Reader tensor_reader(Array array, bint takes_values):
    cdef Tensor tensor = Tensor.__new__(Tensor)
    tensor.array, tensor.takes_values, tensor.leaves = array, takes_values, array.leaves
    tensor.numbers = ValueNumbers()
    return tensor
