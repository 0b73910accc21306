# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""What a GraphBuilder is at any time: its kind, its state, its stream, and how it lets go of all of it."""

from libcpp.utility cimport move

from cuda_graphs._driver.cuda cimport CU_STREAM_NON_BLOCKING, CUDA_SUCCESS, CUresult
from cuda_graphs._driver.seam cimport raise_noted
from cuda_graphs._handles.capture_handles cimport CaptureHandle, abandon_capture, untie_stream
from cuda_graphs._handles.graph_handles cimport NodeHandle
from cuda_graphs._handles.handles cimport StreamHandle, create_stream
from cuda_graphs._objects.context cimport Context
from cuda_graphs._objects.stream cimport Stream, StreamHolder
from cuda_graphs.errors import ClosedBuilderError

KINDS = ("primary", "forked", "conditional_body")
STATES = ("not_started", "capturing", "ended", "closed")


cdef class BuilderState(StreamHolder):
    """Base of GraphBuilder, and of nothing else."""

    def __dealloc__(self):
        self._tear_down()

    cdef int _check_open(self) except -1:
        if self._state == CLOSED or not self._h:
            raise ClosedBuilderError("Graph builder has been closed. (GraphBuilder has been closed)")
        return 0

    cdef CaptureHandle _capturing(self, str otherwise) except *:
        self._check_open()
        if self._state != CAPTURING:
            raise RuntimeError(otherwise)
        return self._capture

    cdef Stream _stream_or_error(self):
        self._check_open()
        if self._kind == FORKED and not self._capture.get().active:
            raise RuntimeError("the capture that this GraphBuilder was split off from has ended: close it")
        if self._stream is None:  # it is being closed
            raise ClosedBuilderError("Graph builder has been closed. (GraphBuilder has been closed)")
        return self._stream

    @property
    def stream(self):
        """The Stream that is captured; None once closed."""
        return self._stream

    @property
    def kind(self):
        """"primary", "forked" or "conditional_body": only a forked one is joined, only the others end their capture."""
        return KINDS[self._kind]

    @property
    def state(self):
        """"not_started", "capturing", "ended" or "closed"."""
        return STATES[self._state]

    @property
    def is_join_required(self):
        """True for a builder that `split` made."""
        return self._kind == FORKED

    @property
    def is_closed(self):
        """True after `close()`, and after `join` for the builders that went into another."""
        return self._state == CLOSED

    cdef Stream _new_stream(self):
        cdef Stream stream = self._stream
        cdef StreamHandle h
        if stream is None:
            raise ClosedBuilderError("Graph builder has been closed. (GraphBuilder has been closed)")
        cdef Context context = stream._context()
        with nogil:
            h = create_stream(context._h, CU_STREAM_NON_BLOCKING, 0)
        if not h:
            raise_noted(f"make a stream beside that of {self!r}")
        return Stream._from_handle(h)

    cdef CUresult _tear_down(self) noexcept:
        cdef CUresult status = CUDA_SUCCESS
        cdef bint capturing = self._state == CAPTURING
        cdef CaptureHandle capture = move(self._capture)
        cdef NodeHandle _graph = move(self._graph)  # they go at the end: what they keep runs code of others
        cdef StreamHandle h = move(self._h)
        self._state = CLOSED
        if capturing and capture:
            if self._kind == FORKED:
                untie_stream(h, capture.get()[0])
            else:
                status = abandon_capture(capture.get()[0])
        return status

    def __cuda_stream__(self):
        """The protocol by which other libraries use the stream that is captured: (version, handle)."""
        return self._stream_or_error().__cuda_stream__()

    def _get_conditional_context(self):
        """The CUcontext of the stream, as an int."""
        cdef Stream stream = self._stream_or_error()
        return stream.context.handle

    def __repr__(self):
        cdef Stream own = self._stream
        stream = f" stream={own.handle:#x}" if own is not None else ""
        return f"<GraphBuilder {KINDS[self._kind]} {STATES[self._state]}{stream}>"
