# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Events: marks in streams and graphs, for waiting and for timing."""

from dataclasses import dataclass

from libc.stdint cimport uintptr_t

from cuda_graphs.core.driver.cuda cimport (
    CUDA_ERROR_INVALID_HANDLE,
    CUDA_ERROR_NOT_READY,
    CUDA_SUCCESS,
    CUevent,
    CUresult,
    driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt, ensure_driver, raise_noted
from cuda_graphs.core.resources.handles cimport (
    Awaited,
    EventBox,
    EventHandle,
    box_of,
    create_event,
    create_event_ref,
    drain_deferred,
    is_complete,
    raw_of,
)
from .context cimport Context
from cuda_graphs.objects.numbers cimport read_address, read_flag
from cuda_graphs.objects.waiting cimport wait_for
from cuda_graphs.objects.options import accept_options


@dataclass
class EventOptions:
    """Options of a new event of `Device.create_event` or `Stream.record`."""

    timing_enabled: bool = False
    """Allow measuring the time between two such events."""
    blocking_sync: bool = False
    """Make `Event.sync` sleep instead of spin."""


cdef class Event:
    """A mark in the work of a device. `Device.create_event` and `Stream.record` return it.

    ``end - start`` is the time between two recorded events in milliseconds (float).
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            "Event has no public constructor: use Device.create_event() or Stream.record()."
        )

    @staticmethod
    cdef Event _from_handle(EventHandle h):
        cdef Event self = Event.__new__(Event)
        self._h = h
        self._address = <uintptr_t>raw_of(h)
        return self

    @staticmethod
    def from_handle(handle):
        """Return the event of a raw CUevent (an int).

        An event that this package created keeps its properties. Any other event is borrowed and must outlive the
        result.
        """
        cdef CUevent raw = <CUevent><uintptr_t>read_address(handle, "handle")
        if raw == NULL:
            raise ValueError("handle is 0, which is not an event")
        ensure_driver()
        return Event._from_handle(create_event_ref(raw))

    cdef int _check_open(self) except -1:
        if not self._h:
            raise RuntimeError("Event has been closed")
        return 0

    cdef const EventBox* _box(self) except NULL:
        self._check_open()
        return <const EventBox*>box_of[EventBox](self._h)

    @property
    def handle(self):
        """The CUevent as an int; 0 once closed."""
        return <uintptr_t>raw_of(self._h)

    @property
    def is_closed(self):
        """True after `close()`."""
        return not self._h

    def close(self):
        """Release the event; graphs that use it keep it alive. May be called twice."""
        self._h.reset()
        with nogil:
            drain_deferred()

    def sync(self, timeout=None):
        """Wait until the work before the event's latest record is done. Returns at once if it was never recorded.

        `timeout` and Ctrl-C are those of `Stream.sync`.

        Raises:
            TimeoutError: The work takes longer than `timeout` seconds. The message says what still runs.
        """
        self._check_open()
        cdef Awaited awaited
        awaited.event = self._h
        wait_for(awaited, self, timeout)

    @property
    def is_done(self):
        """True when the work before the event's latest record is done, or when it was never recorded."""
        self._check_open()
        cdef EventHandle h = self._h
        cdef CUresult status
        with nogil:
            status = driver().cuEventQuery(raw_of(h))
        if status == CUDA_ERROR_NOT_READY:
            return False
        if status != CUDA_SUCCESS:
            check_attempt(status, f"ask whether {self!r} is done")
        return True

    cdef bint _is_over(self) noexcept:
        cdef EventHandle h = self._h
        cdef bint over
        with nogil:
            over = is_complete(raw_of(h))
        return over

    @property
    def is_timing_enabled(self):
        """True when the event can measure time; False for a borrowed event."""
        return self._box().timing

    @property
    def is_blocking_sync(self):
        """True when `sync` sleeps instead of spinning; False for a borrowed event."""
        return self._box().blocking

    @property
    def is_ipc_enabled(self):
        """False: events cannot be shared with other processes."""
        self._check_open()
        return False

    @property
    def context(self):
        """The Context of the event; None for a borrowed event."""
        return Context._from_handle(self._box().context) if self._box().context else None

    @property
    def device(self):
        """The Device of the event; None for a borrowed event."""
        return self.context.device if self._box().context else None

    def __sub__(self, other):
        if not isinstance(self, Event) or not isinstance(other, Event):
            return NotImplemented
        return elapsed(<Event>other, <Event>self)

    def __eq__(self, other):
        if not isinstance(other, Event):
            return NotImplemented
        if not self._h or not (<Event>other)._h:
            return self is other
        return self._address == (<Event>other)._address

    def __hash__(self):
        return hash((Event, self._address))

    def __repr__(self):
        return f"<Event handle={self.handle:#x}>" if self._h else "<Event closed>"


cdef float elapsed(Event start, Event end) except? -1:
    start._check_open()
    end._check_open()
    cdef EventHandle first = start._h, last = end._h
    cdef float milliseconds = 0
    cdef CUresult status
    with nogil:
        status = driver().cuEventElapsedTime(&milliseconds, raw_of(first), raw_of(last))
    if status == CUDA_SUCCESS:
        return milliseconds
    if status == CUDA_ERROR_NOT_READY:
        raise RuntimeError("the work before the events is not done: call sync() on the later event first")
    if status == CUDA_ERROR_INVALID_HANDLE:
        if not (start.is_timing_enabled and end.is_timing_enabled):
            raise RuntimeError(
                "only events with EventOptions(timing_enabled=True) measure time, and one of the two lacks it"
            )
        raise RuntimeError("one of the two events was never recorded")
    if status:
        check_attempt(status, f"measure the time from {start!r} to {end!r}")
    return -1


def make_event(Context context not None, options) -> Event:
    """Return a new event of a context; `options` is EventOptions, a dict of its fields, or None."""
    options = accept_options(EventOptions, options, "event options")
    cdef bint timing = read_flag(options.timing_enabled, "timing_enabled")
    cdef bint blocking = read_flag(options.blocking_sync, "blocking_sync")
    cdef EventHandle h
    with nogil:
        h = create_event(context._h, timing, blocking)
    if not h:
        raise_noted("create_event()")
    return Event._from_handle(h)
