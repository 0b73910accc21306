# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uintptr_t

from cuda_graphs.core.resources.handles cimport Awaited, StreamHandle


# One launch of a graph with Python callbacks.
cdef class LaunchTicket:
    cdef Py_ssize_t number      # counts the launches
    cdef uintptr_t context      # 0 for a default stream
    cdef Py_ssize_t calls_left  # callbacks that have not returned
    cdef list errors            # (exception, callable), in the order in which they were raised


# The launches before a point of a stream: one launch, and those before two earlier points. It never changes, so that an
# event is a reference to the point of its record.
cdef class Past:
    cdef LaunchTicket ticket  # may be None, like the next two
    cdef Past before          # of the same stream
    cdef Past also            # of a stream or executable that the stream has waited for
    cdef Py_ssize_t depth     # length of the longest way back
    cdef Py_ssize_t bound     # depth that is too much


# The launches of one executable. The driver runs them one after the other, so a callback that returns belongs to the
# first of them that still has calls left.
cdef class LaunchQueue:
    cdef object order           # lock, held around each launch: the tickets are in the order of the launches
    cdef object running         # deque: LaunchTickets with calls left
    cdef Past past              # the launches so far
    cdef uintptr_t stream       # stream of the last launch

    # Adds the ticket of a launch that is about to call `calls` callbacks. A wait for the stream covers this launch and
    # those before it.
    cdef int add_launch(self, const StreamHandle& stream, Py_ssize_t calls) except -1
    # Takes the last ticket back after its launch failed.
    cdef int drop_launch(self) except -1
    # Notes the end of a call of a callback. `error` is its exception or None.
    cdef int end_call(self, object error, object source) except -1


# Notes that `event` was recorded on `stream`, and that `stream` waits for `event`.
cdef int note_event(uintptr_t stream, uintptr_t event) except -1
cdef int note_wait_for_event(uintptr_t stream, uintptr_t event) except -1

# Returns the tickets of the launches that a wait covers; None without any. The caller waits afterwards.
cdef list covered_by(const Awaited& awaited)
# Raises the errors of covered launches after the wait. Each error is raised once.
cdef int raise_errors(list covered) except -1
