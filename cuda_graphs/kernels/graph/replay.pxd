# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, uint64_t
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_UNKNOWN, CUcontext, CUresult
from cuda_graphs.core.graphs.graph_handles cimport GraphExecHandle
from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.kernels.arrays.reading cimport Leaf
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation

# A recursive mutex: the end of a launch may release a stream, which can run Python code that calls the kernel again.
cdef extern from "<mutex>" namespace "std" nogil:
    cppclass Mutex "std::recursive_mutex":
        void lock()
        void unlock()


# The executable graph of a specialisation in one context.
cdef class Replay:
    cdef readonly object graph       # the Graph
    cdef readonly object definition  # GraphDef of the graph
    cdef readonly Specialisation code
    cdef readonly size_t count       # number of nodes, including nodes in bodies
    cdef CUcontext context
    cdef list memory                 # memory of the temporary arrays
    cdef GraphExecHandle executable  # its kernels are the tasks, by number
    cdef size_t values               # number of parameters of all tasks
    cdef vector[uint64_t] temps      # addresses of temporary arrays
    cdef tuple inputs                # of the calls of host objects, whose nodes have these arguments
    cdef list shared                 # what host objects keep for the graphs of one owner
    cdef vector[size_t] stops        # numbers of the temporary arrays that are words which end loops
    cdef Mutex mutex                 # guards a launch with checkpoints until its status is read

    # Sets the changed parameters, and launches. Returns False if the stream is captured: a capture cannot launch an
    # executable graph. A kernel with checkpoints waits for the end; `yielded` becomes the index of the checkpoint that
    # ended the launch, or -1.
    cdef bint run(self, const Leaf* leaves, const StreamHandle& stream, int32_t* yielded) except -1
    cdef CUresult submit(
        self, const Leaf* leaves, const StreamHandle& stream, uint64_t seed
    ) except? CUDA_ERROR_UNKNOWN nogil
    cdef CUresult submit_and_read(
        self, const Leaf* leaves, const StreamHandle& stream, uint64_t seed, int32_t* yielded
    ) except? CUDA_ERROR_UNKNOWN nogil
    cdef int add_task(self, size_t number, object emission) except -1
    cdef int note_stops(self) except -1


# Builds the graph with the arguments of the first call. `inputs` are those of the calls of host objects. The graphs of one
# `owner` never run at the same time.
cdef Replay build(Specialisation code, const Leaf* leaves, CUcontext context, tuple inputs, object owner)
