# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libcpp.vector cimport vector

from cuda_graphs.core.graphs.graph_handles cimport NodeRecord


# A call of a compiled kernel that has made nodes, one for each task.
cdef class NodeCall:
    cdef readonly list launches      # TaskLaunch of each task
    cdef dict conditions             # Conditions of the nodes, by the name that stands in the arguments of a TaskLaunch
    cdef int device                  # device of the nodes; kNoDevice on machines with one device
    cdef vector[NodeRecord*] nodes   # by task; NULL before the node exists. Only the metadata of `nodes` own this object

    # Returns the same call with other arguments. It has no nodes. Raises ValueError if it would need other nodes.
    cdef NodeCall with_arguments(self, tuple args)

    # Returns the same call with another config of one task. It has no nodes.
    cdef NodeCall with_config(self, size_t task, object config)

    # Takes over the arguments and configs of a call that the two methods above have returned.
    cdef int take(self, NodeCall other) except -1

    # Returns the arguments of the call.
    cdef tuple arguments(self)

    # Returns the arguments of the node of a task.
    cdef tuple arguments_of_task(self, size_t task)

    # Returns the task of a node. Raises RuntimeError for a node that is no longer part of the call.
    cdef size_t task_of(self, NodeRecord* node) except? 0xBAD


# Returns the call that made a node, or None.
cdef NodeCall call_of(NodeRecord* node)

# Makes a node part of a call, and ends its part in it.
cdef int join_call(NodeRecord* node, NodeCall call, size_t task) except -1
cdef int leave_call(NodeRecord* node) noexcept
