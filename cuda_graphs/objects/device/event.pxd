# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uintptr_t

from cuda_graphs.core.resources.handles cimport EventBox, EventHandle


cdef class Event:
    cdef EventHandle _h  # empty once closed
    cdef uintptr_t _address  # the raw value, kept after close() for the hash
    cdef object __weakref__

    # Two wrappers of one event are equal, but not identical.
    @staticmethod
    cdef Event _from_handle(EventHandle h)

    # Raises RuntimeError once closed.
    cdef int _check_open(self) except -1

    cdef const EventBox* _box(self) except NULL

    # Returns true when the work before an open event is complete (core/resources/capture_safe.hpp). Does not spoil captures of this
    # thread.
    cdef bint _is_over(self) noexcept
