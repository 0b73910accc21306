# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions of host callbacks. A running graph cannot raise them, so the first wait that covers the launch does.

Each launch of a graph with Python callbacks has a ticket, which collects the exceptions of its callbacks. This module
knows which launches a wait covers. The rules are those of streams: a wait for a stream covers the launches on it, and
the launches before the events and streams that it has waited for. An event covers what its stream covered when it was
recorded. Launches of one executable follow each other. A wait for a device covers all launches on it. Programs without
Python callbacks only read `in_use`. All of this runs with the GIL held.

A stream refers to its Past, the launches before its present end. A launch, or a wait for an event, makes a new Past that
refers to the old one, in constant time. Launches that can have no error any more are left out from time to time.

When Python exits, exceptions that no wait has raised go to sys.unraisablehook.
"""

import atexit
import threading
from collections import deque

cimport cython
from libc.stdint cimport uintptr_t

from cuda_graphs.core.resources.handles cimport Awaited, StreamBox, StreamHandle, box_of, raw_of

from .unraisable cimport report_unraisable

cdef enum:
    FEWEST = 16  # a Past of this depth, or so many events, are never cleared

# threading.RLock is a function of Python, and takes three times as long.
cdef type RLock = type(threading.RLock())

cdef bint in_use = False
cdef Py_ssize_t launches = 0
cdef dict of_streams = {}  # Past of each stream, by its address
cdef dict of_events = {}   # Past of each recorded event, by its address
cdef Py_ssize_t bound_of_events = FEWEST


cdef class LaunchTicket:
    pass


@cython.trashcan(True)  # a chain of any length is destroyed without recursion
cdef class Past:
    pass


cdef Past link(Past before, LaunchTicket ticket, Past also):
    cdef Past past = Past.__new__(Past)
    cdef Past earlier
    past.before, past.ticket, past.also = before, ticket, also
    past.depth, past.bound = 1, FEWEST
    for earlier in (before, also):
        if earlier is not None:
            past.depth, past.bound = max(past.depth, earlier.depth + 1), max(past.bound, earlier.bound)
    return past


cdef Past extend(Past before, LaunchTicket ticket, Past also):
    """Return the Past after a launch, or after a wait for what `also` covers. Any of the three may be None."""
    cdef Past past = link(before, ticket, also)
    return past if past.depth <= past.bound else shorten(past)


cdef Past shorten(Past past):
    """Return a Past of the launches that a wait may find an error of; None without any."""
    cdef LaunchTicket ticket
    cdef Past short = None
    for ticket in open_tickets([past]):
        short = link(short, ticket, None)
    if short is not None:
        short.bound = max(2 * short.depth, FEWEST)
    return short


cdef list open_tickets(list pasts):
    """Return the launches that a wait may find an error of, in their order."""
    cdef Past past
    cdef LaunchTicket ticket
    cdef Past earlier
    cdef list left = [past for past in pasts if past is not None]
    cdef set seen = set(left)
    cdef set found = set()
    while left:
        past = left.pop()
        ticket = past.ticket
        if ticket is not None and (ticket.calls_left > 0 or ticket.errors):
            found.add(ticket)
        for earlier in (past.before, past.also):
            if earlier is not None and earlier not in seen:
                seen.add(earlier)
                left.append(earlier)
    return sorted(found, key=number_of)


def number_of(LaunchTicket ticket not None):
    """Return the number of a launch."""
    return ticket.number


cdef Past look_up(dict pasts, uintptr_t address):
    """Return the Past of a stream or event, and shorten it; None without launches."""
    cdef Past past = pasts.pop(address, None)
    if past is not None:
        past = shorten(past)
    if past is not None:
        pasts[address] = past
    return past


cdef class LaunchQueue:
    def __cinit__(self):
        self.order, self.running, self.stream = RLock(), deque(), 0

    cdef int add_launch(self, const StreamHandle& stream, Py_ssize_t calls) except -1:
        global in_use, launches
        cdef LaunchTicket ticket = LaunchTicket.__new__(LaunchTicket)
        cdef uintptr_t raw = <uintptr_t>raw_of(stream)
        if not in_use:
            in_use = True
            atexit.register(report_left)
        launches += 1
        ticket.number, ticket.calls_left, ticket.errors = launches, calls, []
        ticket.context = <uintptr_t>raw_of(box_of[StreamBox](stream).context)
        # The stream of the last launch covers the launches so far.
        self.past = extend(of_streams.get(raw), ticket, self.past if raw != self.stream else None)
        self.stream = raw
        of_streams[raw] = self.past
        self.running.append(ticket)
        return 0

    cdef int drop_launch(self) except -1:
        cdef LaunchTicket ticket = self.running.pop()
        ticket.calls_left = 0
        return 0

    cdef int end_call(self, object error, object source) except -1:
        cdef LaunchTicket ticket
        if not self.running:  # other code launched the graph
            return 0 if error is None else report_unraisable(error, source)
        ticket = self.running[0]
        if error is not None:
            ticket.errors.append((error, source))
        ticket.calls_left -= 1
        if ticket.calls_left == 0:
            self.running.popleft()
        return 0


cdef int note_event(uintptr_t stream, uintptr_t event) except -1:
    global bound_of_events
    if not in_use:
        return 0
    past = of_streams.get(stream)
    if past is None:
        of_events.pop(event, None)
        return 0
    of_events[event] = past
    if len(of_events) > bound_of_events:
        for each in list(of_events):
            look_up(of_events, each)
        bound_of_events = max(2 * len(of_events), FEWEST)
    return 0


cdef int note_wait_for_event(uintptr_t stream, uintptr_t event) except -1:
    cdef Past past
    if not in_use or event not in of_events:
        return 0
    past = extend(of_streams.get(stream), None, of_events[event])
    if past is not None:
        of_streams[stream] = past
    return 0


cdef list covered_by(const Awaited& awaited):
    cdef LaunchTicket ticket
    cdef Past past
    cdef uintptr_t context
    if not in_use:
        return None
    if awaited.stream or awaited.event:
        if awaited.stream:
            past = look_up(of_streams, <uintptr_t>raw_of(awaited.stream))
        else:
            past = look_up(of_events, <uintptr_t>raw_of(awaited.event))
        return None if past is None else open_tickets([past])
    context = <uintptr_t>raw_of(awaited.context)
    found = open_tickets([look_up(of_streams, stream) for stream in list(of_streams)])
    return [ticket for ticket in found if ticket.context == 0 or ticket.context == context]


cdef int raise_errors(list covered) except -1:
    cdef LaunchTicket ticket
    cdef list errors = []
    for ticket in covered:
        errors += [error for error, _ in ticket.errors]
        ticket.errors = []
    if not errors:
        return 0
    if len(errors) == 1:
        raise errors[0]
    raise BaseExceptionGroup(f"{len(errors)} host callbacks of graphs failed", errors)


def report_left():
    """Pass the exceptions that no wait has raised to sys.unraisablehook."""
    cdef LaunchTicket ticket
    for ticket in open_tickets([*of_streams.values(), *of_events.values()]):
        errors, ticket.errors = ticket.errors, []
        for error, source in errors:
            report_unraisable(error, source)
