# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions of host callbacks. A running graph cannot raise them, so the first wait that covers the launch does.

Each launch of a graph with Python callbacks has a ticket, which collects the exceptions of its callbacks. This module
knows which launches a wait covers. The rules are those of streams: a wait for a stream covers the launches on it, and
the launches before the events and streams that it has waited for. An event covers what its stream covered when it was
recorded. Launches of one executable follow each other. A wait for a device covers all launches on it. Programs without
Python callbacks only read `in_use`. All of this runs with the GIL held.

When Python exits, exceptions that no wait has raised go to sys.unraisablehook.
"""

import atexit
import threading
from collections import deque

from libc.stdint cimport uintptr_t

from cuda_graphs.core.resources.handles cimport Awaited, StreamBox, StreamHandle, box_of, raw_of

from .unraisable cimport report_unraisable

cdef enum:
    FEWEST = 16  # a collection of fewer entries is not cleared

cdef bint in_use = False
cdef dict of_streams = {}  # Tickets that a wait for the stream covers, by its address
cdef dict of_events = {}   # the same of events
cdef Py_ssize_t bound_of_events = FEWEST


cdef class LaunchTicket:
    pass


cdef bint is_open(LaunchTicket ticket) noexcept:
    """Returns True while a wait may find an error of the launch."""
    return ticket.calls_left > 0 or len(ticket.errors) > 0


cdef class Tickets:
    def __cinit__(self):
        self.known, self.bound = {}, FEWEST

    cdef int add(self, LaunchTicket ticket) except -1:
        self.known[ticket] = None
        if len(self.known) > self.bound:
            self.clear_done()
        return 0

    cdef int add_all(self, Tickets others) except -1:
        if others is not None:
            self.known.update(others.known)
            self.clear_done()
        return 0

    cdef int clear_done(self) except -1:
        cdef LaunchTicket ticket
        self.known = {ticket: None for ticket in self.known if is_open(ticket)}
        self.bound = max(2 * len(self.known), FEWEST)
        return 0


cdef Tickets tickets_of(uintptr_t stream):
    cdef Tickets found = of_streams.get(stream)
    if found is None:
        found = of_streams[stream] = Tickets()
    return found


cdef class LaunchQueue:
    def __cinit__(self):
        self.order, self.running, self.tickets, self.stream = threading.RLock(), deque(), Tickets(), 0

    cdef int add_launch(self, const StreamHandle& stream, Py_ssize_t calls) except -1:
        global in_use
        cdef LaunchTicket ticket = LaunchTicket.__new__(LaunchTicket)
        cdef uintptr_t raw = <uintptr_t>raw_of(stream)
        cdef Tickets of_stream = tickets_of(raw)
        if not in_use:
            in_use = True
            atexit.register(report_left)
        ticket.context = <uintptr_t>raw_of(box_of[StreamBox](stream).context)
        ticket.calls_left, ticket.errors = calls, []
        if raw != self.stream:  # otherwise the stream has them
            of_stream.add_all(self.tickets)
        self.stream = raw
        of_stream.add(ticket)
        self.tickets.add(ticket)
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
    cdef Tickets now, found
    if not in_use:
        return 0
    of_events.pop(event, None)
    now = of_streams.get(stream)
    if now is None:
        return 0
    found = Tickets()
    found.add_all(now)
    if not found.known:
        return 0
    of_events[event] = found
    if len(of_events) > bound_of_events:
        clear_events()
        bound_of_events = max(2 * len(of_events), FEWEST)
    return 0


cdef int clear_events() except -1:
    """Forget the events that cover no open launch."""
    cdef Tickets tickets
    for event, tickets in list(of_events.items()):
        tickets.clear_done()
        if not tickets.known:
            of_events.pop(event, None)
    return 0


cdef int note_wait_for_event(uintptr_t stream, uintptr_t event) except -1:
    if in_use and event in of_events:
        tickets_of(stream).add_all(of_events[event])
    return 0


cdef list covered_by(const Awaited& awaited):
    cdef LaunchTicket ticket
    cdef Tickets found
    cdef uintptr_t context
    if not in_use:
        return None
    if awaited.stream or awaited.event:
        if awaited.stream:
            found = of_streams.get(<uintptr_t>raw_of(awaited.stream))
        else:
            found = of_events.get(<uintptr_t>raw_of(awaited.event))
        return None if found is None else list(found.known)
    context = <uintptr_t>raw_of(awaited.context)
    all_tickets = {ticket: None for found in list(of_streams.values()) for ticket in found.known}
    return [ticket for ticket in all_tickets if ticket.context == 0 or ticket.context == context]


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
    cdef Tickets tickets
    for tickets in (*of_streams.values(), *of_events.values()):
        for ticket in tickets.known:
            errors, ticket.errors = ticket.errors, []
            for error, source in errors:
                report_unraisable(error, source)
