# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of calls on streams of their own, kept until the work is done.

Memory of a pool is given back in the order of the default stream, which knows nothing of work on others: an array that
goes while such work runs would have its memory used for something else. So the arguments stay here until an event of
the stream says that the work is over; each later call, and each new array, looks.
"""

import threading
from collections import deque

from cuda_graphs._objects.event cimport Event

lock = threading.Lock()
cdef dict waiting = {}  # events and arguments of a stream in its order, by its handle


def keep(stream, arguments):
    """Keep the arguments until what the stream has to do now is done. Not of a stream that is being captured: its event
    would be one of the capture."""
    let_go()
    event = stream.record()
    with lock:
        waiting.setdefault(stream.handle, deque()).append((event, arguments))


def let_go():
    """Forget the arguments of work that is over."""
    cdef Event event
    if not waiting:
        return
    done = []  # goes after the lock is free: what ends with an argument may do anything
    with lock:
        for handle in list(waiting):
            entries = waiting[handle]
            while entries:
                event = entries[0][0]
                if not event._is_over():
                    break
                done.append(entries.popleft())
            if not entries:
                del waiting[handle]
