# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Keep-alive references to the arguments of calls on non-default streams, until the work of the calls is done.

A pool releases the memory of an array in the order of the default stream, which does not wait for other streams. If an
array ended during work on another stream, its memory would be reused too early. This module therefore holds the
arguments until their stream is empty, or until an event on the stream shows that the work is done. It checks all
streams at each new array and at the first call on a stream, and one stream when 64 calls on it are pending. An event
for each call would cost more than the call; only streams that the module cannot query get one.

The module neither records events on a captured stream nor queries it: this would add a node to the capture or
invalidate it.
"""

import threading
from collections import deque

from libc.stdint cimport uintptr_t

from cuda_graphs.core.driver.cuda cimport (
    CUDA_ERROR_NOT_READY,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
    CUresult,
    CUstream,
)
from cuda_graphs.core.resources.handles cimport StreamBox, query_stream, box_of, raw_of
from cuda_graphs.objects.device.event cimport Event
from cuda_graphs.objects.device.stream cimport Stream

cdef enum:
    MANY = 64  # calls on a stream between two checks

cdef dict waiting = {}  # Kept, by the address of the stream
cdef object lock = threading.RLock()  # recursive: the garbage collector may run code that makes arrays


cdef class Kept:
    """The arguments of calls on one stream, in its order."""

    cdef Stream stream
    cdef list late       # arguments of calls after the last event
    cdef object marked   # (Event, list of arguments), in the order of the stream
    cdef bint is_lasting  # True if the Kept keeps the stream valid, so that it can query the stream
    cdef bint is_looked_at  # True while `look` runs: the garbage collector may call it again

    cdef int look(self, list done) except -1:
        """Move the arguments of finished work to `done`, and record an event for the remaining work."""
        if self.is_looked_at:
            return 0
        self.is_looked_at = True
        try:
            self._look(done)
        finally:
            self.is_looked_at = False
        return 0

    cdef int _look(self, list done) except -1:
        cdef Py_ssize_t count
        cdef CUstream raw = raw_of(self.stream._h)
        cdef CUresult status = CUDA_ERROR_NOT_READY
        while self.marked and (<Event>self.marked[0][0])._is_over():
            done.append(self.marked.popleft())
        if not self.late:
            return 0
        if self.is_lasting:
            with nogil:
                status = query_stream(raw)
        if status == CUDA_ERROR_NOT_READY:
            count = len(self.late)  # calls of other threads during `record` may come after the event
            self.marked.append((self.stream.record(), self.late[:count]))
            del self.late[:count]
        elif status != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:  # the work is done, or its context was lost
            done.append((list(self.marked), self.late))
            self.late = []
            self.marked.clear()
        return 0


cdef Kept kept_of(Stream stream):
    cdef uintptr_t address = <uintptr_t>raw_of(stream._h)
    cdef Kept kept = waiting.get(address)
    cdef StreamBox* box
    if kept is None:
        kept = Kept.__new__(Kept)
        box = box_of[StreamBox](stream._h)
        # The handle keeps the stream valid after a later close() by the user.
        kept.stream = Stream._from_handle(stream._h)
        kept.is_lasting = box.context and (box.owned or box.owner)
        kept.late, kept.marked = [], deque()
        kept = waiting.setdefault(address, kept)
    return kept


cdef int keep(Stream stream, tuple arguments) except -1:
    cdef Kept kept
    if <uintptr_t>raw_of(stream._h) not in waiting:
        let_go()  # releases other streams in programs that make no more arrays
    done = []  # released after the lock is free, as destructors may run arbitrary code
    with lock:
        kept = kept_of(stream)
        kept.late.append(arguments)
        if len(kept.late) >= MANY or not kept.is_lasting:
            kept.look(done)
    return 0


def let_go():
    """Release the arguments of finished work."""
    cdef Kept kept
    if not waiting:
        return
    done = []
    with lock:
        for address in list(waiting):
            kept = waiting.get(address)
            if kept is not None:
                kept.look(done)
                if not kept.late and not kept.marked:
                    done.append(waiting.pop(address, None))
