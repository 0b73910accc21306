# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Waits of the program for the device. Every wait of this package is a call of `wait_for`.

Python runs handlers of signals on the main thread only, between two instructions. So a wait of the main thread ends
every 50 ms, runs the handlers of signals that have come, and continues. An exception of a handler, such as
KeyboardInterrupt, ends the wait; the work goes on. Waits with a timeout end in the same way, on any thread. Other waits
block in the driver.

At the end of each wait, callbacks raise errors that higher layers have collected, since running work cannot raise
them. Then the wait raises the exceptions of host callbacks (launch_errors.pyx).
"""

import threading
import time

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport isnan
from libc.stdint cimport uint64_t

from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_NOT_READY, CUDA_SUCCESS, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.resources.handles cimport (
    Awaited,
    StreamHandle,
    describe_last_launch,
    find_busy_streams,
    kNoLimit,
    raw_of,
)

from .launch_errors cimport covered_by, raise_errors

cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() nogil

cdef enum:
    TICK = 50_000_000  # nanoseconds between two checks for signals

cdef unsigned long main_thread = threading.main_thread().ident
cdef tuple wait_callbacks = ()


def on_wait(callback):
    """Call `callback` at the end of each wait from now on; the wait raises its exceptions. Repeated calls add it once."""
    global wait_callbacks
    if callback not in wait_callbacks:
        wait_callbacks += (callback,)


cdef int wait_for(Awaited& awaited, object name, object timeout) except -1:
    cdef uint64_t limit = TICK if PyThread_get_thread_ident() == main_thread else kNoLimit
    cdef list covered = covered_by(awaited)
    cdef CUresult status
    if timeout is not None:
        status = wait_until(awaited, name, read_timeout(timeout))
    else:
        with nogil:
            status = awaited.wait(limit)
        while status == CUDA_ERROR_NOT_READY:
            run_signal_handlers(awaited, name)
            with nogil:
                status = awaited.wait(limit)
    if status != CUDA_SUCCESS:
        check_attempt(status, f"wait for {name!r}")
    for callback in wait_callbacks:
        callback()
    if covered:
        raise_errors(covered)
    return 0


cdef CUresult wait_until(Awaited& awaited, object name, double seconds) except? CUresult.CUDA_ERROR_UNKNOWN:
    cdef double end = time.monotonic() + seconds, left = seconds
    cdef uint64_t limit
    cdef CUresult status
    while True:
        limit = <uint64_t>min(left * 1e9, <double>TICK)
        with nogil:
            status = awaited.wait(limit)
        if status != CUDA_ERROR_NOT_READY:
            return status
        run_signal_handlers(awaited, name)
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"{name!r} is not done after {seconds:g} s: {what_runs(awaited)}")


cpdef double read_timeout(object timeout) except? -1:
    """Return the seconds of a timeout. A TypeError or ValueError names the argument."""
    try:
        seconds = float(timeout) if not isinstance(timeout, (str, bytes, bytearray)) else None
    except TypeError:
        seconds = None
    if seconds is None:
        raise TypeError(f"timeout must be a number of seconds or None, got {type(timeout).__name__}")
    if isnan(seconds) or seconds < 0:
        raise ValueError(f"timeout must not be negative, got {timeout!r}")
    return seconds


cdef int run_signal_handlers(Awaited& awaited, object name) except -1:
    """Run the Python handlers of signals that have come. An exception of a handler gets a text about the work."""
    try:
        PyErr_CheckSignals()
    except KeyboardInterrupt as interrupt:
        text = f"interrupted while waiting for {'the end of a call' if name is None else repr(name)}: {what_runs(awaited)}"
        if interrupt.args:  # a handler of the program made it
            interrupt.add_note(text)
        else:
            interrupt.args = (text,)
        raise
    return 0


cdef str what_runs(Awaited& awaited):
    cdef StreamHandle stream
    cdef list busy = []
    for stream in find_busy_streams(awaited):
        launch = describe_last_launch(stream).decode(errors="replace")
        behind = f", up to {launch}," if launch else ""
        busy.append(f"stream {<size_t>raw_of(stream):#x}{behind}")
    running = f"work of {'; '.join(busy)} still runs" if busy else "its work still runs"
    return f"{running}. The work goes on; a later wait can wait for it again"


cdef CUresult wait_in_call(const StreamHandle& stream) except? CUresult.CUDA_ERROR_UNKNOWN nogil:
    cdef uint64_t limit = TICK if PyThread_get_thread_ident() == main_thread else kNoLimit
    cdef Awaited awaited
    cdef CUresult status
    awaited.stream = stream
    status = awaited.wait(limit)
    while status == CUDA_ERROR_NOT_READY:
        check_signals(stream)
        status = awaited.wait(limit)
    return status


cdef int check_signals(const StreamHandle& stream) except -1 nogil:
    cdef Awaited awaited
    if PyThread_get_thread_ident() == main_thread:
        awaited.stream = stream
        with gil:
            run_signal_handlers(awaited, None)
    return 0
