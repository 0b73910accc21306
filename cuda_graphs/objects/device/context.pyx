# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Contexts, as far as graphs need them: identity and device, and scopes in which a device is current."""

from libc.stdint cimport uintptr_t

from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_INVALID_CONTEXT, CUcontext, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt, raise_noted
from cuda_graphs.core.resources.device_scope cimport context_on
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


cdef int enter_other(DeviceScope& scope, int device) except -1:
    cdef CUresult status
    if current_device() == kNoDevice:
        constructors.device(0).set_current()
    with nogil:
        status = scope.enter(device)
    return check_attempt(status, f"make device {device} current")


cdef CUcontext context_of_device(int device) except NULL:
    cdef CUcontext context = context_on(device)
    if context == NULL:
        raise_noted(f"find the context of device {device}")
    return context


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
