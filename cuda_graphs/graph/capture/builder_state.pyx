# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The state of a GraphBuilder: its kind, its progress, its stream, and the release of its resources."""

from libcpp.utility cimport move

from cuda_graphs.core.driver.cuda cimport CU_STREAM_NON_BLOCKING, CUDA_SUCCESS, CUresult
from cuda_graphs.core.driver.seam cimport raise_noted
from cuda_graphs.core.capture.capture_handles cimport CaptureHandle, abandon_capture, untie_stream
from cuda_graphs.core.graphs.graph_handles cimport NodeHandle
from cuda_graphs.core.resources.handles cimport StreamHandle, create_stream
from cuda_graphs.objects.device.context cimport Context
from cuda_graphs.objects.device.stream cimport Stream, StreamHolder
from cuda_graphs.errors import ClosedBuilderError

KINDS = ("primary", "forked", "conditional_body")
STATES = ("not_started", "capturing", "ended", "closed")


cdef class BuilderState(StreamHolder):
    """Base class of GraphBuilder only."""

    def __dealloc__(self):
        self._tear_down()

    cdef int _check_open(self) except -1:
        if self._state == CLOSED or not self._h:
            raise ClosedBuilderError("The GraphBuilder has been closed")
        return 0

    cdef CaptureHandle _require_capture(self, str otherwise) except *:
        self._check_open()
        if self._state != CAPTURING:
            raise RuntimeError(otherwise)
        return self._capture

    cdef Stream _stream_or_error(self):
        self._check_open()
        if self._kind == FORKED and not self._capture.get().active:
            raise RuntimeError("the capture of this forked GraphBuilder has ended: close the builder")
        if self._stream is None:  # close() is running
            raise ClosedBuilderError("The GraphBuilder has been closed")
        return self._stream

    @property
    def stream(self):
        """The captured Stream; None once the builder is closed."""
        return self._stream

    @property
    def kind(self):
        """"primary", "forked" or "conditional_body". Forked builders are joined; the others end their capture."""
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
        """True after `close()`, and for the builders that `join` merged into another builder."""
        return self._state == CLOSED

    cdef Stream _new_stream(self):
        cdef Stream stream = self._stream
        cdef StreamHandle h
        if stream is None:
            raise ClosedBuilderError("The GraphBuilder has been closed")
        cdef Context context = stream._context()
        with nogil:
            h = create_stream(context._h, CU_STREAM_NON_BLOCKING, 0)
        if not h:
            raise_noted(f"create a further stream for {self!r}")
        return Stream._from_handle(h)

    cdef CUresult _tear_down(self) noexcept:
        cdef CUresult status = CUDA_SUCCESS
        cdef bint capturing = self._state == CAPTURING
        cdef CaptureHandle capture = move(self._capture)
        cdef NodeHandle _graph = move(self._graph)  # released on return: releasing may run Python code
        cdef StreamHandle h = move(self._h)
        self._state = CLOSED
        if capturing and capture:
            if self._kind == FORKED:
                untie_stream(h, capture.get()[0])
            else:
                status = abandon_capture(capture.get()[0])
        return status

    cdef CUresult _shut_down(self) noexcept:
        cdef CUresult status = self._tear_down()
        self._stream = None
        return status

    def __cuda_stream__(self):
        """Return (version, handle) of the captured stream, for other libraries."""
        return self._stream_or_error().__cuda_stream__()

    def _get_conditional_context(self):
        """The CUcontext of the stream, as an int."""
        cdef Stream stream = self._stream_or_error()
        return stream.context.handle

    def __repr__(self):
        cdef Stream own = self._stream
        stream = f" stream={own.handle:#x}" if own is not None else ""
        return f"<GraphBuilder {KINDS[self._kind]} {STATES[self._state]}{stream}>"
