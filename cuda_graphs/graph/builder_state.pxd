# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._driver.cuda cimport CUresult
from cuda_graphs._handles.capture_handles cimport CaptureHandle
from cuda_graphs._handles.graph_handles cimport NodeHandle
from cuda_graphs._handles.handles cimport StreamHandle
from cuda_graphs._objects.stream cimport Stream, StreamHolder


cdef enum Kind:
    PRIMARY           # ends the capture that it began
    FORKED            # was split off, and is joined
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
    cdef StreamHandle _h         # the same stream, also when a garbage collection has cleared the one above
    cdef CaptureHandle _capture  # shared with what was split off; empty before it begins and once closed
    cdef NodeHandle _graph       # entry node of what is captured into; empty before a primary builder begins

    cdef int _check_open(self) except -1

    # What a method works with while it builds, or RuntimeError: `_capture`, `_graph`, `_h` and `_stream` above are gone as
    # soon as another thread closes the builder, which it may wherever Python code runs or the GIL is released. So each
    # method takes handles of its own.
    cdef CaptureHandle _capturing(self, str otherwise) except *

    # A stream beside this one.
    cdef Stream _new_stream(self)

    # Ends the capture if this builder may, and lets go of everything: what close() and the destructor share.
    cdef CUresult _tear_down(self) noexcept
