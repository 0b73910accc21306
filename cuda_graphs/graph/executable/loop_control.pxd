# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUdeviceptr
from cuda_graphs.core.driver.cuda_graph cimport CUgraphConditionalHandle
from cuda_graphs.core.graphs.graph_handles cimport GraphBox, GraphExecHandle, NodeRecord, ParameterRef, PresentParameter
from cuda_graphs.objects.memory.buffer cimport Buffer


cdef class LoopControl:
    cdef Buffer words  # stop words; one at a time is in use. None for a graph without loops of known kernels
    cdef size_t place  # of the stop word in use
    cdef vector[ParameterRef] parameters  # stop words of loops
    cdef vector[CUgraphConditionalHandle] unknown  # conditions of loops that other kernels set
    cdef list counters  # (name, LoopCounter) of each loop that has both

    # Gives the loops of an executable a stop word, after it was made from the graph or updated from it.
    cdef int begin(
        self, const GraphExecHandle& exec, const vector[PresentParameter]& present, GraphBox* graph) except -1

    cdef int add_counter(self, NodeRecord* loop) except -1

    # Returns the LoopCount of each loop by its name.
    cdef dict read_counters(self)

    # Returns (name, iterations so far, limit or None) of each of these loops.
    cdef list list_counts(self)

    # Makes the loops of later launches read the word at a place. After an error they read the same word as before.
    cdef int use_word(self, const GraphExecHandle& exec, size_t place) except -1
    cdef CUdeviceptr address(self, size_t place)

    # Ends the loops of the launches so far.
    cdef int cancel(self, const GraphExecHandle& exec) except -1
