# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._driver.cuda cimport CUcontext, CUresult
from cuda_graphs._driver.cuda_graph cimport CUgraphConditionalNodeType
from cuda_graphs._handles.capture_handles cimport CaptureHandle
from cuda_graphs._handles.graph_handles cimport GraphBox, NodeHandle, NodeKind, NodeRecord, NodeSpec
from cuda_graphs._handles.handles cimport StreamHandle
from cuda_graphs._objects.stream cimport Stream, StreamHolder
from cuda_graphs.graph.place cimport Place


cdef enum Kind:
    PRIMARY           # ends the capture that it began
    FORKED            # was split off, and is joined
    CONDITIONAL_BODY  # captures into a body of a conditional node

cdef enum State:
    NOT_STARTED
    CAPTURING
    ENDED
    CLOSED


cdef class GraphBuilder(StreamHolder):
    cdef Kind _kind
    cdef State _state
    cdef Stream _stream          # None once closed
    cdef StreamHandle _h         # the same stream, also when a garbage collection has cleared the one above
    cdef CaptureHandle _capture  # shared with what was split off; empty before it begins and once closed
    cdef NodeHandle _graph       # entry node of what is captured into; empty before a primary builder begins
    cdef size_t _fork            # which of the capture's forks this is
    cdef object __weakref__

    @staticmethod
    cdef GraphBuilder _make(Stream stream, Kind kind)

    cdef int _check_open(self) except -1
    cdef int _check_capturing(self, str otherwise) except -1

    # The graph of an ended capture; RuntimeError when there is none.
    cdef Place _finished(self)

    # Ends the capture if this builder may, and lets go of everything: what close() and the destructor share.
    cdef CUresult _tear_down(self) noexcept

    cdef int _fail_to_end(self, CUresult status) except -1
    cdef GraphBuilder _split_off(self)
    cdef Stream _new_stream(self)
    cdef int _leave(self) except -1
    cdef int _give_up(self) except -1

    cdef CUcontext _context(self) except NULL
    cdef tuple _add_conditional(
        self, const char* what, object condition, NodeKind kind, CUgraphConditionalNodeType cond_type, object count,
        object name)
    cdef GraphBuilder _body(self, Stream stream, GraphBox* graph)
