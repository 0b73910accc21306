# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uintptr_t

from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint
from cuda_graphs.objects.launch_errors cimport LaunchQueue


# The Python callbacks of one executable. A Graph and the views of its nodes share it.
cdef class ExecutableCallbacks:
    cdef LaunchQueue launches
    cdef dict counts        # record of a host node of the definition, also an embedded one -> 1, or 0 for a C function
    cdef Py_ssize_t calls   # Python callbacks that a launch calls

    # Gives the Callbacks of a definition to the executable. Returns the `counts` of its host nodes.
    cdef dict take(self, InsertionPoint definition)
    cdef int take_one(self, object node) except -1
    # Called after an update of the whole executable, of a child graph node and of a host node.
    cdef int replace_all(self, dict counts) except -1
    cdef int replace_child(self, object node, dict counts) except -1
    cdef int replace(self, uintptr_t node, Py_ssize_t count) except -1
