# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

from cuda_graphs.graph.nodes.node_call cimport NodeCall
from cuda_graphs.kernels.arrays.reading cimport Leaf
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation
from cuda_graphs.kernels.specialisation.specialiser cimport Specialiser
from .strategy cimport Strategy


cdef class CaptureStrategy(Strategy):
    cdef Specialiser specialiser

    cdef int add_captured(self, Stream captured, tuple args) except -1

    # Returns new memory for the temporary arrays of a graph.
    cdef list temporaries(self, Specialisation code, const Leaf* leaves, dict owners)


cdef class KernelCall(NodeCall):
    cdef CaptureStrategy strategy
    cdef Specialisation code
    cdef list temps      # memory of the temporary arrays
    cdef tuple inputs    # of the calls of host objects, whose nodes have these arguments
    cdef list calls      # the BoundCalls of host objects, until the nodes exist; then None
    cdef list tasks      # the launches with the objects that were given, until the nodes exist; then None
    cdef dict configs    # configs that the user has chosen, by task
    cdef tuple kept      # the arguments, as Reader.keep returns them, without the object of a method
    cdef object owner    # weak reference to the object of a method; None for a function

    cdef object emit(self, object start)
    cdef str why_alone(self, Specialiser of)
    cdef object emit_task(self, object start)
    cdef list bound_tasks(self)
    cdef int configure(self, size_t task, object config) except -1
