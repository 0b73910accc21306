# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.kernels.arrays.reading cimport Leaf, Reading
from cuda_graphs.objects.device.context cimport DeviceScope
from .specialisation cimport Specialisation


# The arguments of one call on the heap, for calls that need not be fast.
cdef class HeapReading:
    cdef vector[Leaf] leaves
    cdef vector[uint64_t] keys
    cdef tuple args
    cdef Reading r


# The specialisations of one function.
cdef class Specialiser:
    cdef readonly object function, options
    cdef object annotations    # annotations that are missing in the source, by parameter; or None
    cdef readonly object mode  # one of the compiler's MODES, with the number of a part; None: the kernel itself
    cdef bint is_primal        # True for a kernel itself, or a part of it
    cdef str name
    cdef bint is_graph, is_replayed  # True if a call launches one graph; True if that graph is kept for later calls
    cdef bint has_checkpoints
    cdef tuple returned        # types of the results, if one of them is a vector or a structure; else None
    cdef bint takes_condition  # True if a parameter is a condition, so that only nodes of graphs run the kernel
    cdef list readers          # Reader of each parameter
    cdef tuple names           # parameters
    cdef object index_of       # position of each parameter, by name
    cdef Py_ssize_t leaves, keys
    cdef Py_ssize_t start      # index of the leaf that holds the start checkpoint, after the leaves of the arguments
    cdef dict specialisations  # lists of specialisations, by key
    cdef Specialisation last   # specialisation of the last call
    cdef bytes last_key
    cdef object lock

    # Returns the arguments in the order of the parameters.
    cdef tuple order(self, tuple args, dict keywords)
    # Reads the arguments into the leaves and keys of `r`, which have space for them.
    cdef int read(self, Reading* r, tuple args) except -1
    cdef HeapReading read_to_heap(self, tuple args, bint in_graph)
    # Refuses arrays that no launch of their graph has allocated, in a call on a stream that is not captured.
    cdef int check_arrays(self, Reading* r, const StreamHandle& stream) except -1
    cdef Specialisation find(self, Reading* r)
    # Returns `code`, or other code: if the arrays do not fit `code`, or may later not fit it in a graph, if its
    # loops are large, or if a loop is too long for a resident launch with few threads.
    cdef Specialisation fitting(self, Specialisation code, Reading* r)
    cdef Specialisation _beside(self, Specialisation code, Reading* r, str fuse, int why_nodes=*)
    # Makes the device of a call current, and returns its code for this device. The stream may be empty. Raises ValueError if
    # the stream or a field is of another device than the arrays.
    cdef Specialisation find_on_device(self, DeviceScope& scope, Reading* r, const StreamHandle& stream)
    cdef int enter(self, DeviceScope& scope, Reading* r, const StreamHandle& stream) except -1
    cdef Specialisation find_for(self, tuple args)
    # Returns the code that replaces `code`, whose graph the driver cannot build.
    cdef Specialisation without_graph(self, Specialisation code, tuple args)
    # Returns code for the same calls whose control flow the host runs.
    cdef Specialisation on_host(self, Specialisation code, tuple args)
    # Returns code whose tasks may begin before the kernels that they follow have ended, and read the arrays of some paths
    # before they wait for these.
    cdef Specialisation early(self, Specialisation code, tuple paths)
    # Returns code for the same calls in which calls of host objects are nodes.
    cdef Specialisation without_exchanges(self, Specialisation code, tuple args)
    cdef int forget(self) except -1


# Returns the Specialiser of a function. `extra_leaf`, an ExtraLeaf, is the extra leaf of each array argument.
cdef Specialiser specialiser_of(object function, object options, object annotations, int extra_leaf, object mode)
