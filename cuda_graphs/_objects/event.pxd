# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uintptr_t

from cuda_graphs._handles.handles cimport EventBox, EventHandle


cdef class Event:
    cdef EventHandle _h  # empty once closed
    cdef uintptr_t _address  # the raw value, also once closed: hashes must stay
    cdef object __weakref__

    # Two wrappers of one event are equal, not identical.
    @staticmethod
    cdef Event _from_handle(EventHandle h)

    # RuntimeError once closed.
    cdef int _check_open(self) except -1

    cdef const EventBox* _box(self) except NULL

    # Whether what came before it is over (_handles/aside.hpp); captures of this thread do not matter. Of one that is open.
    cdef bint _is_over(self) noexcept
