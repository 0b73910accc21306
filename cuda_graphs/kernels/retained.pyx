# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of calls on streams of their own, kept until the work is done.

Memory of a pool is given back in the order of the default stream, which knows nothing of work on others: an array that
goes while such work runs would have its memory used for something else. So the arguments stay here until their stream
has done all that it had to do, or an event in it says that it has done enough. Each new array looks, and each call now
and then; an event for each call would cost more than the call.

Nothing is recorded in a stream that is being captured, and nothing is asked of it: that would be a part of the capture,
or spoil it.
"""

import threading
from collections import deque

from libc.stdint cimport uintptr_t

from cuda_graphs._driver.cuda cimport (
    CUDA_ERROR_NOT_READY, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUresult, CUstream,
)
from cuda_graphs._handles.handles cimport StreamBox, ask_end, box_of, raw_of
from cuda_graphs._objects.event cimport Event
from cuda_graphs._objects.stream cimport Stream

cdef enum:
    MANY = 64  # calls that may wait for somebody to look

cdef dict waiting = {}  # Kept by the address of the stream
cdef object lock = threading.RLock()  # what is collected while it is taken may make arrays


cdef class Kept:
    """The arguments of calls on one stream, in its order."""

    cdef Stream stream
    cdef list late       # of calls behind the last event
    cdef object marked   # (Event, list of arguments) in order
    cdef bint is_lasting  # a stream of ours, or one that its owner lends: it can be asked as long as it is known here
    cdef bint is_looked_at  # by this thread already: what is collected meanwhile may make arrays

    cdef int look(self, list done) except -1:
        """Move what nobody needs any more to `done`, and have an event tell of the rest."""
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
                status = ask_end(raw)
        if status == CUDA_ERROR_NOT_READY:
            count = len(self.late)  # what comes meanwhile is behind the event, or not known to be before it
            self.marked.append((self.stream.record(), self.late[:count]))
            del self.late[:count]
        elif status != CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:  # done, or lost with its context
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
        # Held by its handle, which a later close() of the user's does not take away.
        kept.stream = Stream._from_handle(stream._h)
        kept.is_lasting = box.context and (box.owned or box.owner)
        kept.late, kept.marked = [], deque()
        kept = waiting.setdefault(address, kept)
    return kept


cdef int keep(Stream stream, tuple arguments) except -1:
    cdef Kept kept
    if <uintptr_t>raw_of(stream._h) not in waiting:
        let_go()  # so that streams go too, of a program that makes no arrays any more
    done = []  # goes after the lock is free: what ends with an argument may do anything
    with lock:
        kept = kept_of(stream)
        kept.late.append(arguments)
        if len(kept.late) >= MANY or not kept.is_lasting:
            kept.look(done)
    return 0


def let_go():
    """Forget the arguments of work that is done."""
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
