# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Readers of Conditions, and of objects whose methods add nodes between the tasks."""

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t, uintptr_t

from cuda_graphs.graph.operands.condition cimport Condition
from cuda_graphs.kernels.arrays.reading cimport Reading
from .reader cimport Reader

from cuda_graphs.compiler.language import annotations
from cuda_graphs.compiler.language.host_objects import number_names


cdef class ConditionHandle(Reader):
    """Reads a Condition, which only nodes of its graph set."""

    def __cinit__(self):
        self.leaves = 1

    cdef int read(self, Reading* r, object value) except -1:
        if not isinstance(value, Condition):
            raise TypeError(
                f"parameter {self.path!r} takes a Condition, got {value!r} ({type(value).__name__}): make one with "
                "create_condition() of the GraphDef or GraphBuilder"
            )
        r.leaves[self.leaf].bits = (<Condition>value)._handle
        return 0

    cdef int add_owners(self, dict owners, object value) except -1:
        owners[self.leaf] = value
        return 0

    cdef object spec(self, object value):
        return annotations.ConditionSpec()

    cdef bint takes_condition(self) except -1:
        return True


cdef class HostObject(Reader):
    """Reads an object of the host. Its leaf holds its address, which is valid during the call. A leaf for each number that
    is an attribute follows."""

    cdef tuple numbers

    cdef int read(self, Reading* r, object value) except -1:
        if not isinstance(value, self.annotation):
            raise TypeError(
                f"parameter {self.path!r} takes a {self.annotation.__name__}, got {value!r} ({type(value).__name__})"
            )
        r.leaves[self.leaf].bits = <uint64_t><uintptr_t><PyObject*>value
        for i, name in enumerate(self.numbers):
            r.leaves[self.leaf + 1 + <Py_ssize_t>i].bits = <uint64_t><int64_t>getattr(value, name)
        return 0

    cdef object spec(self, object value):
        return annotations.HostObjectSpec(self.annotation)

    cdef list leaf_paths(self):
        numbers = enumerate(self.numbers, self.leaf + 1)
        return [(self.path, self.leaf), *[(f"{self.path}.{name}", leaf) for leaf, name in numbers]]


cdef Reader condition_reader():
    return ConditionHandle.__new__(ConditionHandle)


cdef Reader host_object_reader(object annotation):
    cdef HostObject made = HostObject.__new__(HostObject)
    made.numbers = number_names(annotation)
    made.leaves = 1 + len(made.numbers)
    return made
