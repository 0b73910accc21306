# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Streams: queues of work that runs in order."""

import os
import warnings
from dataclasses import dataclass

from cpython.object cimport PyObject
from libc.stdint cimport uintptr_t

from cuda_graphs.core.driver.cuda cimport (
    CU_STREAM_CAPTURE_STATUS_NONE,
    CU_STREAM_DEFAULT,
    CU_STREAM_NON_BLOCKING,
    CUDA_SUCCESS,
    CUresult,
    CUstream,
    CUstreamCaptureStatus,
    driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt, ensure_driver, raise_noted
from cuda_graphs.core.capture.capture_handles cimport CapturedCall
from cuda_graphs.core.resources.handles cimport (
    Awaited,
    ContextHandle,
    EventHandle,
    Opaque,
    StreamBox,
    StreamHandle,
    box_of,
    create_event,
    create_stream,
    create_stream_ref,
    create_stream_with_owner,
    drain_deferred,
    hold_python,
    note_record,
    raw_of,
)
from cuda_graphs.objects.capture_ledger cimport check_no_body_captured
from cuda_graphs.objects.captured_call cimport find_capture, finish_call_without_node, raise_call_error
from .context cimport Context, find_current
from .event cimport Event
from .event import make_event
from cuda_graphs.objects import constructors
from cuda_graphs.objects.numbers cimport as_address, read_address, read_flag, read_int
from cuda_graphs.objects.launch_errors cimport note_event, note_wait_for_event
from cuda_graphs.objects.waiting cimport wait_for
from cuda_graphs.objects.options import accept_options
from cuda_graphs.objects.waiting import read_timeout


@dataclass
class StreamOptions:
    """Options of a new stream of `Device.create_stream`."""

    nonblocking: bool = True
    """Do not synchronise with the legacy default stream."""
    priority: int | None = None
    """The priority, from the greatest (a negative number) to the least (0); None for the least. Smaller runs first."""


cdef class Stream:
    """A queue of work for a device, run in order.

    `Device.create_stream` creates a stream, `Stream.from_handle` borrows one. It is destroyed with its last reference
    or by `close()`; queued work still runs. Other libraries can use it as any ``__cuda_stream__`` object.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Stream has no public constructor: use Device.create_stream().")

    @staticmethod
    cdef Stream _from_handle(StreamHandle h):
        cdef Stream self = Stream.__new__(Stream)
        self._h = h
        self._address = <uintptr_t>raw_of(h)
        return self

    @staticmethod
    def from_handle(handle):
        """Return the stream of a raw CUstream (an int). 0 and 1 are the legacy default stream, 2 the per-thread default
        stream.

        A stream that this package created is shared with its owner. Any other stream is borrowed and must outlive the
        result.
        """
        cdef CUstream raw = <CUstream><uintptr_t>read_address(handle, "handle")
        cdef StreamHandle h
        ensure_driver()
        with nogil:
            h = create_stream_ref(raw)
        if not h:
            raise_noted(f"Stream.from_handle({<uintptr_t>raw:#x})")
        return Stream._from_handle(h)

    cdef int _check_open(self) except -1:
        if not self._h:
            raise RuntimeError("Stream has been closed")
        return 0

    @property
    def handle(self):
        """The CUstream as an int; 0 once closed."""
        return <uintptr_t>raw_of(self._h)

    @property
    def is_closed(self):
        """True after `close()`."""
        return not self._h

    def close(self):
        """Release the stream without waiting: queued work still runs. May be called twice."""
        self._h.reset()
        with nogil:
            drain_deferred()

    def sync(self, timeout=None, *, progress=False):
        """Wait until all work that was queued so far is done. Spoils a capture of the stream, since captured work does
        not run.

        Ctrl-C ends the wait on the main thread. After KeyboardInterrupt and TimeoutError the work goes on, and the
        stream can be used as before.

        Args:
            timeout: The longest time to wait in seconds, or None for no limit. 0 only asks whether the work is done.
            progress: True shows on stderr how often the loops of the graph that was launched last on the stream have run:
                the loops of `while_loop` with a `name`, which count. The loops do not wait for that.

        Raises:
            TypeError: An argument has the wrong type.
            TimeoutError: The work takes longer. The message says what still runs.
            CUDAError: That work, or earlier work of the device, failed.
        """
        self._check_open()
        cdef Awaited awaited
        awaited.stream = self._h
        cdef CapturedCall call
        if find_capture(call, awaited.stream) and call.capture().into_body:
            check_no_body_captured(self)
        if read_flag(progress, "progress"):
            from .sync_progress import sync_with_progress

            read_timeout(0 if timeout is None else timeout)
            sync_with_progress(self, timeout)
        else:
            wait_for(awaited, self, timeout)

    def record(self, event=None, options=None):
        """Record an event after the work that was queued so far.

        Args:
            event: The Event to record again, or None for a new one.
            options: EventOptions (or a dict of its fields) for a new event.

        Returns:
            The event.
        """
        self._check_open()
        cdef StreamHandle h = self._h
        if event is None:
            event = make_event(self._context(), options)
        elif not isinstance(event, Event):
            raise TypeError(f"event must be an Event or None, got {type(event).__name__}")
        elif options is not None:
            raise ValueError("options are for a new event: give either event or options")
        (<Event>event)._check_open()
        record_on(h, (<Event>event)._h)
        return event

    def wait(self, event_or_stream):
        """Make later work of this stream wait for an Event, or for the work that another stream holds so far.

        Raises:
            ValueError: `event_or_stream` is neither an Event, a Stream, nor an object with ``__cuda_stream__``.
        """
        self._check_open()
        cdef StreamHandle h = self._h  # a copy: code of another stream's class may close this stream
        cdef EventHandle e
        if isinstance(event_or_stream, Event):
            (<Event>event_or_stream)._check_open()
            e = (<Event>event_or_stream)._h
        elif isinstance(event_or_stream, Stream) or hasattr(event_or_stream, "__cuda_stream__"):
            e = self._mark(accept_stream(event_or_stream))
        else:
            raise ValueError(
                "wait() takes an Event, a Stream or an object with __cuda_stream__, got "
                f"{type(event_or_stream).__name__}"
            )
        cdef CapturedCall call
        find_capture(call, h)
        with nogil:
            call.run(driver().cuStreamWaitEvent, raw_of(h), raw_of(e), <unsigned int>0)
        if finish_call_without_node(call, "wait") != CUDA_SUCCESS:
            raise_call_error(call, f"have {self!r} wait for {event_or_stream!r}")
        note_wait_for_event(<uintptr_t>raw_of(h), <uintptr_t>raw_of(e))

    cdef EventHandle _mark(self, Stream other):
        """Returns an event recorded at the present end of another stream."""
        cdef Context context = other._context()
        cdef StreamHandle h = other._h
        cdef EventHandle e
        with nogil:
            e = create_event(context._h, False, False)
        if not e:
            raise_noted("an event to wait for a stream")
        record_on(h, e)
        return e

    cdef Context _context(self):
        """Returns the stream's context; for a default stream the current context."""
        self._check_open()
        cdef ContextHandle h = (<StreamBox*>box_of[StreamBox](self._h)).context
        if not h:
            ensure_driver()
            h = find_current()
        if not h:
            raise RuntimeError("No current CUDA context. Call Device().set_current() before using a default stream.")
        return Context._from_handle(h)

    @property
    def context(self):
        """The Context of the stream; for a default stream the current context."""
        return self._context()

    @property
    def device(self):
        """The Device that runs the stream's work."""
        return self._context().device

    @property
    def is_nonblocking(self):
        """True when the stream does not synchronise with the legacy default stream."""
        self._check_open()
        cdef StreamHandle h = self._h
        cdef unsigned int flags = 0
        cdef CUresult status
        ensure_driver()
        check_not_captured(h, "is_nonblocking")
        with nogil:
            status = driver().cuStreamGetFlags(raw_of(h), &flags)
        if status:
            check_attempt(status, f"ask for the flags of {self!r}")
        return bool(flags & <unsigned int>CU_STREAM_NON_BLOCKING)

    @property
    def priority(self):
        """The stream's priority: smaller runs first."""
        self._check_open()
        cdef StreamHandle h = self._h
        cdef int priority = 0
        cdef CUresult status
        ensure_driver()
        with nogil:
            status = driver().cuStreamGetPriority(raw_of(h), &priority)
        if status:
            check_attempt(status, f"ask for the priority of {self!r}")
        return priority

    def create_graph_builder(self):
        """Return a GraphBuilder that captures the work given to this stream; see `Device.create_graph_builder`."""
        return constructors.graph_builder(self)

    def __cuda_stream__(self):
        """Return (version, handle), by which other libraries use this stream."""
        self._check_open()
        return (0, self.handle)

    def __eq__(self, other):
        if not isinstance(other, Stream):
            return NotImplemented
        if not self._h or not (<Stream>other)._h:
            return self is other
        return self._address == (<Stream>other)._address

    def __hash__(self):
        return hash((Stream, self._address))

    def __repr__(self):
        if not self._h:
            return "<Stream closed>"
        context = <uintptr_t>raw_of((<StreamBox*>box_of[StreamBox](self._h)).context)
        return f"<Stream handle={self.handle:#x} context={context:#x}>"


cdef int record_on(StreamHandle h, EventHandle e) except -1:
    cdef CapturedCall call
    find_capture(call, h)
    with nogil:
        call.run(driver().cuEventRecord, raw_of(e), raw_of(h))
    if finish_call_without_node(call, "record") != CUDA_SUCCESS:
        raise_call_error(call, "record of an event")
    note_record(e, raw_of(h))
    note_event(<uintptr_t>raw_of(h), <uintptr_t>raw_of(e))
    return 0


cdef int check_not_captured(const StreamHandle& h, str what) except -1:
    # cuStreamGetFlags spoils the capture of the stream (libcuda 580, on an H200).
    cdef CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE
    cdef CUresult status
    with nogil:
        status = driver().cuStreamIsCapturing(raw_of(h), &now)
    if status == CUDA_SUCCESS and now != CU_STREAM_CAPTURE_STATUS_NONE:
        raise RuntimeError(f"{what} cannot be read while the stream is being captured: the query would spoil the capture")
    return 0


cdef class StreamHolder:
    """Base of classes that are accepted as streams."""

    cdef Stream _stream_or_error(self):
        raise TypeError(f"{type(self).__name__} objects cannot be made from Python")


cdef Stream find_open_stream(object arg):
    cdef Stream stream
    if isinstance(arg, Stream):
        stream = <Stream>arg
    elif isinstance(arg, StreamHolder):
        stream = (<StreamHolder>arg)._stream_or_error()
    elif arg is None:
        raise TypeError("stream is required and must not be None; pass device.default_stream or device.create_stream()")
    elif hasattr(arg, "__cuda_stream__"):
        stream = from_protocol(arg)
    else:
        raise TypeError(f"Stream or GraphBuilder expected, got {type(arg).__name__}")
    stream._check_open()
    return stream


def from_protocol(obj) -> Stream:
    """Return the stream of any object with ``__cuda_stream__``; the stream keeps the object alive.

    Raises:
        TypeError: It has no ``__cuda_stream__``.
        RuntimeError: ``__cuda_stream__`` does not return ``(0, handle)``.
    """
    method = getattr(obj, "__cuda_stream__", None)
    if method is None:
        raise TypeError(f"{type(obj).__name__} is no stream: it has no __cuda_stream__ method")
    if not callable(method):
        warnings.warn(
            f"{type(obj).__name__}.__cuda_stream__ is not a method, as the protocol requires", DeprecationWarning, stacklevel=3
        )
    answer = method() if callable(method) else method
    try:
        version, handle = answer
    except (TypeError, ValueError):
        raise RuntimeError(f"__cuda_stream__ must return (0, handle), got {answer!r}") from None
    if version != 0:
        raise RuntimeError(f"__cuda_stream__ returned version {version!r} of the protocol, and only version 0 is known")
    if as_address(handle) is None:
        raise RuntimeError(f"__cuda_stream__ must return (0, handle), got {answer!r}")
    cdef CUstream raw = <CUstream><uintptr_t>read_address(handle, "the handle of __cuda_stream__")
    ensure_driver()
    cdef Opaque owner = hold_python(<PyObject*>obj)
    cdef StreamHandle h
    with nogil:
        h = create_stream_with_owner(raw, owner)
    if not h:
        raise_noted(f"using {obj!r} as a stream")
    return Stream._from_handle(h)


def make_stream(Context context not None, options) -> Stream:
    """Return a new stream of a context; `options` is StreamOptions, a dict of its fields, or None."""
    options = accept_options(StreamOptions, options, "stream options")
    cdef int priority = check_priority(options.priority)
    cdef unsigned int flags = CU_STREAM_NON_BLOCKING if read_flag(options.nonblocking, "nonblocking") else CU_STREAM_DEFAULT
    cdef StreamHandle h
    with nogil:
        h = create_stream(context._h, flags, priority)
    if not h:
        raise_noted("create_stream()")
    return Stream._from_handle(h)


cdef int check_priority(priority) except? -1:
    cdef int least = 0, greatest = 0
    cdef CUresult status
    with nogil:
        status = driver().cuCtxGetStreamPriorityRange(&least, &greatest)
    if status:
        check_attempt(status, "ask which priorities streams can have")
    if priority is None:
        return least
    cdef int wanted = read_int(priority, "priority")
    if not greatest <= wanted <= least:
        raise ValueError(f"priority={priority} is out of range [{greatest}, {least}]")
    return wanted


# The driver's names of its two default streams. Using one before a device is current is an error of the driver.
LEGACY_DEFAULT_STREAM = Stream._from_handle(create_stream_ref(<CUstream><uintptr_t>1))
PER_THREAD_DEFAULT_STREAM = Stream._from_handle(create_stream_ref(<CUstream><uintptr_t>2))


def default_stream() -> Stream:
    """Return the default stream: the legacy stream, or the per-thread stream when
    CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM=1."""
    wanted = os.environ.get("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "0").strip()
    return PER_THREAD_DEFAULT_STREAM if wanted not in ("", "0") else LEGACY_DEFAULT_STREAM
