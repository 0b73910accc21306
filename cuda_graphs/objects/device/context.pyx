# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Contexts, as far as graphs need them: identity and device."""

from libc.stdint cimport uintptr_t

from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_INVALID_CONTEXT, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.resources.handles cimport (
    ContextBox,
    ContextHandle,
    box_of,
    current_context,
    raw_of,
    why_no_context,
)
from cuda_graphs.objects import constructors


cdef ContextHandle find_current() except *:
    cdef ContextHandle h
    cdef CUresult status
    with nogil:
        h = current_context()
    if not h:
        status = why_no_context()
        if status != CUDA_ERROR_INVALID_CONTEXT:
            check_attempt(status, "find the context that is current")
    return h


cdef class Context:
    """A CUDA context. `Device.context` and `Stream.context` return it. It cannot be created or closed here."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Context has no public constructor: use Device.context.")

    @staticmethod
    cdef Context _from_handle(ContextHandle h):
        cdef Context self = Context.__new__(Context)
        self._h = h
        return self

    cdef const ContextBox* _box(self) except NULL:
        if not self._h:
            raise RuntimeError("this Context was not made by cuda_graphs")
        return <const ContextBox*>box_of[ContextBox](self._h)

    @property
    def handle(self):
        """The CUcontext as an int."""
        return <uintptr_t>raw_of(self._h)

    @property
    def device(self):
        """The Device of the context."""
        return constructors.device(self._box().device)

    def __eq__(self, other):
        if not isinstance(other, Context):
            return NotImplemented
        return raw_of(self._h) == raw_of((<Context>other)._h)

    def __hash__(self):
        return hash((Context, <uintptr_t>raw_of(self._h)))

    def __repr__(self):
        return f"<Context handle={self.handle:#x} device={self._box().device}>"
