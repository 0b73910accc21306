# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The ledger of a capture: every operation that was issued through this package, with its source line.

An error names the operation that spoiled the capture. If code outside of the package spoiled it, the error names the two
lines around that code. There is no cost while no capture is active.
"""

from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_get_thread_ident
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport (
    CU_STREAM_CAPTURE_STATUS_ACTIVE,
    CU_STREAM_CAPTURE_STATUS_INVALIDATED,
    CU_STREAM_CAPTURE_STATUS_NONE,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
    CUDA_SUCCESS,
    CUresult,
    CUstream,
    CUstreamCaptureStatus,
    driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt, raise_explained
from cuda_graphs.core.capture.capture_handles cimport (
    CU_STREAM_CAPTURE_MODE_RELAXED,
    CaptureBox,
    CaptureHandle,
    Operation,
    active_captures,
    list_active_captures,
)
from cuda_graphs.core.graphs.graph_handles cimport SourceLocation
from cuda_graphs.core.resources.handles cimport raw_of
from .source cimport Source, find_source, keep_source, source_text, text_of
from cuda_graphs.core.driver import seam
from .ledger_text import IN_RELAXED_MODE, Entry, describe_empty, describe_spoiler
from cuda_graphs.errors import CUDAError


# Work outside of all captures while there is one: (name, code object, instruction, thread).
cdef list elsewhere = []

cdef enum:
    MOST_NOTES = 1000


cdef int add_operation(CaptureBox& capture, const char* what) except -1:
    cdef Operation done
    done.what = what
    keep_source(&capture.box(), &done.source)
    capture.ledger.push_back(done)
    return 0


cdef int record_spoiler(CaptureBox& capture, CUresult status, const char* what) except -1:
    if capture.spoiler.status != CUDA_SUCCESS:
        return 0
    keep_source(&capture.box(), &capture.spoiler.source)
    capture.spoiler.what = what
    capture.spoiler.foreign = status == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
    capture.spoiler.status = status
    return 0


cdef int record_foreign_spoiler(CaptureBox& capture, const char* what) except -1:
    if capture.spoiler.status == CUDA_SUCCESS and is_spoiled(capture):
        record_spoiler(capture, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, what)
    return 0


cdef int raise_capture_error(CaptureBox& capture, CUresult status, object attempt, tuple cause=None) except -1:
    try:
        raise_explained(status, attempt, cause)
    except CUDAError as error:
        error.capture = ledger_text(capture)
        raise
    return 0


cdef object make_entry(CaptureBox& capture, const char* what, SourceLocation source):
    return Entry(what.decode(), text_of(&capture.box(), source))


cdef str ledger_text(CaptureBox& capture):
    if capture.spoiler.status == CUDA_SUCCESS or capture.ledger.empty():
        return ""
    cdef Operation begun = capture.ledger.front(), last = capture.ledger.back()
    return describe_spoiler(
        make_entry(capture, begun.what, begun.source),
        make_entry(capture, last.what, last.source),
        capture.ledger.size() - 1,
        make_entry(capture, capture.spoiler.what.c_str(), capture.spoiler.source),
        <int>capture.spoiler.status,
        capture.spoiler.foreign,
    )


cdef int note_work_elsewhere(const char* what) except -1:
    cdef Source source
    if len(elsewhere) < MOST_NOTES:
        source = find_source()
        code = <object>source.code if source.code != NULL else None
        elsewhere.append((what.decode(), code, source.instruction, <unsigned long>PyThread_get_thread_ident()))
    return 0


cdef Py_ssize_t count_work_elsewhere() except -1:
    if active_captures.load() == 0:
        elsewhere.clear()
    return len(elsewhere)


cdef str empty_text(CaptureBox& capture, Py_ssize_t known):
    cdef Operation begun = capture.ledger.front()
    cdef unsigned long thread = <unsigned long>PyThread_get_thread_ident()
    cdef dict counts = {}
    for what, code, instruction, other in elsewhere[known:]:
        place = None if code is None else source_text(<PyObject*>code, instruction)
        key = Entry(what, place), <unsigned long>other != thread
        counts[key] = counts.get(key, 0) + 1
    return describe_empty(make_entry(capture, begun.what, begun.source), counts)


cdef int check_no_body_captured(object waited_for) except -1:
    cdef vector[CaptureHandle] captures
    if active_captures.load() == 0:
        return 0
    captures = list_active_captures()
    for capture in captures:
        if capture.get().into_body and is_sound(capture.get()[0]):
            check_attempt(
                CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                f"synchronize {waited_for!r} while the body of a conditional node is captured",
            )
    return 0


cdef bint is_spoiled(CaptureBox& capture) noexcept:
    """Returns True when the driver reports the capture as spoiled. A failed query only makes the ledger less
    precise."""
    cdef CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE
    return ask_status(capture, &now) == CUDA_SUCCESS and now == CU_STREAM_CAPTURE_STATUS_INVALIDATED


cdef bint is_sound(CaptureBox& capture) except -1:
    """Returns True when the capture has neither ended nor been spoiled."""
    cdef CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE
    check_attempt(ask_status(capture, &now), "find out whether the body of a conditional node is being captured")
    return now == CU_STREAM_CAPTURE_STATUS_ACTIVE


cdef CUresult ask_status(CaptureBox& capture, CUstreamCaptureStatus* now) noexcept:
    cdef CUstream stream = raw_of(capture.origin)
    cdef CUresult status
    with nogil:
        status = driver().cuStreamIsCapturing(stream, now)
    return status


cdef bint are_relaxed(vector[CaptureHandle]& captures) noexcept:
    """Returns True when there are captures and all of them are in relaxed mode."""
    for capture in captures:
        if capture.get().mode != CU_STREAM_CAPTURE_MODE_RELAXED:
            return False
    return not captures.empty()


def add_ledgers(error) -> None:
    """Add the ledger of the capture that an error from 900 to 908 may have spoiled, and the remedy for the modes of the
    captures. Called with each CUDAError before it is raised."""
    cdef vector[CaptureHandle] captures
    cdef CaptureHandle capture
    if not 900 <= error.code <= 908:
        return
    captures = list_active_captures()
    if error.code == <int>CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED and are_relaxed(captures):
        error.remedy = IN_RELAXED_MODE
    for capture in captures:
        if capture.get().spoiler.status == CUDA_SUCCESS and is_spoiled(capture.get()[0]):
            record_spoiler(capture.get()[0], <CUresult><int>error.code, (error.attempt or "a call").encode())
        elif error.code != <int>CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
            continue
        error.capture = error.capture or ledger_text(capture.get()[0])


seam.on_error(add_ledgers)
