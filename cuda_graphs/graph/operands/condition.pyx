# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Condition: the value on the device that a conditional node reads."""

from libc.stdint cimport uint64_t

from cuda_graphs.core.driver.cuda_graph cimport CUgraphConditionalHandle
from cuda_graphs.objects.code.arguments cimport register_handle_type


cdef class Condition:
    """A 32-bit value that kernels set and one conditional node reads. Made by `GraphDef.create_condition`.

    Pass it to a kernel of Python whose parameter has the annotation `cg.Condition`; the kernel calls
    `cg.set_condition(c, value)`. Or pass it to a kernel of CUDA C++ whose parameter is a `cudaGraphConditionalHandle`;
    that kernel calls `cudaGraphSetConditional(handle, value)`. A condition belongs to the definition that made it but does not keep it alive.
    """

    __cuda_graphs_condition__ = True  # the compiler recognises the annotation of a parameter by this name

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Condition has no public constructor: call GraphDef.create_condition()")

    @staticmethod
    cdef Condition _from_handle(CUgraphConditionalHandle handle, uint64_t hierarchy):
        cdef Condition self = Condition.__new__(Condition)
        self._handle, self._hierarchy = handle, hierarchy
        return self

    @property
    def handle(self):
        """The 64-bit CUgraphConditionalHandle, as an int."""
        return self._handle

    def __eq__(self, other):
        if not isinstance(other, Condition):
            return NotImplemented
        cdef Condition theirs = other
        return self._handle == theirs._handle and self._hierarchy == theirs._hierarchy

    def __hash__(self):
        return hash((Condition, self._handle, self._hierarchy))

    def __repr__(self):
        return f"<Condition handle={self._handle:#x}>"


register_handle_type(Condition)
