# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUdeviceptr
from cuda_graphs.core.graphs.graph_handles cimport GraphExecHandle, ParameterRef
from cuda_graphs.core.resources.handles cimport Opaque
from cuda_graphs.objects.memory.buffer cimport Buffer


cdef class TemporaryMemory:
    cdef tuple key                        # of the plans: equal for equal plans
    cdef vector[ParameterRef] parameters  # the temporaries, and the place of each
    cdef vector[CUdeviceptr] addresses
    cdef vector[Opaque] owners            # the buffer of each temporary

    cdef int add(self, object plan, Buffer buffer) except -1

    # Gives the temporaries of an executable their places. Launches in flight keep the memory that they use.
    cdef int use(self, const GraphExecHandle& exec) except -1


# Returns the memory for the temporaries and alloc nodes of a definition, without changing an executable: `present` if its plan
# is the same. `groups` are the nodes that run as one launch, for each such launch.
cdef TemporaryMemory plan_memory(object definition, TemporaryMemory present, object groups)

# Gives the array of an alloc node a place of its own in an executable.
cdef int give_place(const GraphExecHandle& exec, object node, Buffer buffer) except -1
