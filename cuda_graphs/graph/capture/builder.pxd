# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUresult
from cuda_graphs.core.capture.capture_handles cimport CaptureHandle
from cuda_graphs.core.graphs.graph_handles cimport GraphBox, NodeKind
from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.objects.device.stream cimport Stream
from .builder_state cimport BuilderState, Kind
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint
from cuda_graphs.graph.operands.condition cimport Condition
from cuda_graphs.graph.operands.loop_counter cimport LoopCounter


cdef class GraphBuilder(BuilderState):
    cdef size_t _fork  # index among the capture's forks
    cdef str _mode      # mode of a capture that a `with` block begins
    cdef list _blocks   # StreamBlocks of the open `with` blocks
    cdef bint _keeps_arrays  # True if the graph keeps arrays that were made in the capture
    cdef Py_ssize_t _noted   # work that was noted elsewhere before the capture (capture_ledger.pxd)
    cdef object __weakref__

    @staticmethod
    cdef GraphBuilder _make(Stream stream, Kind kind)

    # Returns the graph of an ended capture. Raises RuntimeError if the capture has not ended or has failed.
    cdef InsertionPoint _finished(self)

    cdef int _keep_arrays(self) except -1
    cdef int _close_arrays(self) except -1
    cdef int _raise_end_error(self, CaptureHandle capture, CUresult status) except -1
    cdef GraphBuilder _split_off(self, CaptureHandle capture, StreamHandle here)
    cdef int _mark_joined(self) except -1
    cdef int _abandon(self) except -1

    # Adds a conditional node with `count` bodies on a Condition, a flag or a predicate. Returns the builders of the bodies.
    # `do` and `counter` are for loops.
    cdef tuple _add_tested(
        self, const char* what, object condition, object args, NodeKind kind, object count, object name, object do=*,
        LoopCounter counter=*)
    cdef GraphBox* _box(self) except NULL
    cdef tuple _add_conditional(
        self, const char* what, Condition condition, NodeKind kind, unsigned int size, object name)
