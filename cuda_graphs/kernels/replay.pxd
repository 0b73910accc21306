# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from cuda_graphs._driver.cuda cimport CUDA_ERROR_UNKNOWN, CUcontext, CUgraphNode, CUresult
from cuda_graphs._driver.cuda_graph cimport CUgraphNodeParams
from cuda_graphs._handles.graph_handles cimport GraphExecHandle
from cuda_graphs._handles.handles cimport StreamHandle
from cuda_graphs._objects.stream cimport Stream
from cuda_graphs.kernels.reading cimport Leaf
from cuda_graphs.kernels.specialisation cimport Specialisation

# Of a launch a stream may be let go at its end, and Python run that calls the kernel again: so it may be taken twice.
cdef extern from "<mutex>" namespace "std" nogil:
    cppclass Mutex "std::recursive_mutex":
        void lock()
        void unlock()


# The node of a task, and what it was set to last.
cdef struct TaskNode:
    CUgraphNode raw
    CUgraphNodeParams params
    vector[uint64_t] values    # of its parameters, 8 bytes each
    vector[void*] pointers     # to these
    vector[size_t] sizes       # in bytes; 0 of what never changes


# The executable graph of a specialisation in one context.
cdef class Replay:
    cdef readonly object graph       # the Graph
    cdef readonly object definition  # whose nodes name those of the graph
    cdef readonly Specialisation code
    cdef readonly size_t count       # nodes, those of bodies included
    cdef CUcontext context
    cdef list memory                 # of temporary arrays
    cdef GraphExecHandle executable
    cdef vector[TaskNode] nodes      # by the number of the task
    cdef vector[uint64_t] temps      # addresses of temporary arrays
    cdef Mutex mutex                 # of nodes, and of setting and launching

    # Sets what has changed, and launches. False: the stream is captured, where no executable graph is launched.
    # Of a kernel with checkpoints it waits; `yielded`: the one that did, or -1.
    cdef bint run(self, const Leaf* leaves, Stream stream, int32_t* yielded) except -1
    cdef CUresult look(self, const StreamHandle& stream, int32_t* yielded) noexcept nogil
    cdef CUresult submit(
        self, const Leaf* leaves, const StreamHandle& stream, uint64_t seed
    ) except? CUDA_ERROR_UNKNOWN nogil
    cdef CUresult set_task(self, size_t number, const Leaf* leaves, const uint64_t* seed) noexcept nogil
    cdef int note_node(self, size_t number, emission) except -1
    cdef int bind(self) except -1


# Builds the graph, with the arguments of the call that needs it first.
cdef Replay build(Specialisation code, const Leaf* leaves, CUcontext context)
