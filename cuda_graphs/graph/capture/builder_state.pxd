# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUresult
from cuda_graphs.core.capture.capture_handles cimport CaptureHandle
from cuda_graphs.core.graphs.graph_handles cimport NodeHandle
from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.objects.device.stream cimport Stream, StreamHolder


cdef enum Kind:
    PRIMARY           # begins and ends its capture
    FORKED            # returned by split(), ends with join()
    CONDITIONAL_BODY  # captures into a body of a conditional node

cdef enum State:
    NOT_STARTED
    CAPTURING
    ENDED
    CLOSED


cdef class BuilderState(StreamHolder):
    cdef Kind _kind
    cdef State _state
    cdef Stream _stream          # None once closed
    cdef StreamHandle _h         # handle of `_stream`, valid after the garbage collector has cleared `_stream`
    cdef CaptureHandle _capture  # shared with forked builders; empty before the capture begins and once closed
    cdef NodeHandle _graph       # entry node of the captured graph; empty before a primary builder begins

    cdef int _check_open(self) except -1

    # Returns the capture of a building builder, or raises RuntimeError with the text `otherwise`. Another thread may close
    # the builder wherever Python code runs or the GIL is released. close() clears `_capture`, `_graph`, `_h` and `_stream`,
    # so each method copies the handles that it uses.
    cdef CaptureHandle _require_capture(self, str otherwise) except *

    # Creates a stream in the context of the builder's stream.
    cdef Stream _new_stream(self)

    # Ends the capture if this builder may end it, and releases all handles. The destructor calls it.
    cdef CUresult _tear_down(self) noexcept

    # Does the same, and forgets the stream.
    cdef CUresult _shut_down(self) noexcept
