# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls on a stream that may be captured: the owners that the graph keeps, the node that a call made, and the ledger.

The ledger of a capture records every operation that was issued through this package, with its source line. The ledger
names the call that spoiled the capture. For a call of foreign code it names the two lines around it. There is no cost
while no capture is active.
"""

from libcpp.utility cimport move
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
from cuda_graphs.core.driver.seam cimport check_attempt, raise_noted
from cuda_graphs.core.capture.capture_handles cimport (
    CaptureBox,
    CapturedCall,
    CaptureHandle,
    Operation,
    active_captures,
    list_active_captures,
)
from cuda_graphs.core.graphs.graph_handles cimport NodeKind, NodeRecord, SourceLocation
from cuda_graphs.core.resources.handles cimport Opaque, StreamHandle, raw_of
from .source cimport find_source, keep_source, text_of
from cuda_graphs.core.driver import seam
from .capture_ledger import Entry, describe
from cuda_graphs.errors import CUDAError


cdef bint find(CapturedCall& call, const StreamHandle& h) except -1:
    cdef bint found = call.find(h)
    check_attempt(call.asked(), "find out whether a stream is being captured")
    return found


cdef int keep(CapturedCall& call, Opaque first, Opaque second) except -1:
    if not call.keep(move(first), move(second)):
        raise_noted("attach the owners of the captured work to the graph")
    return 0


cdef NodeRecord* settle(CapturedCall& call, CUresult status, NodeKind kind, const char* what) except? NULL:
    cdef NodeRecord* node = call.settle(kind)
    note_node(call, status, what, node)
    if node != NULL or status != CUDA_SUCCESS:
        return node
    check_attempt(call.asked(), f"find the node of a captured {what.decode()}")
    raise RuntimeError(
        f"expected exactly one capture dependency after a {what.decode()}, got {call.tail_count()}: the node is in the "
        "graph, which keeps its owners alive"
    )


cdef int note(CapturedCall& call, CUresult status, const char* what) except -1:
    return note_node(call, status, what, NULL)


cdef int note_node(CapturedCall& call, CUresult status, const char* what, NodeRecord* node) except -1:
    if call.has_spoiled():
        note_spoiler(call.capture(), status or CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, what)
        if status == CUDA_SUCCESS:
            fail_capture(call.capture(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, what.decode())
    elif status == CUDA_SUCCESS:
        note_operation(call.capture(), what)
        if node != NULL:
            node.source = call.capture().ledger.back().source
    return 0


cdef int note_spoiler(CaptureBox& capture, CUresult status, const char* what) except -1:
    """Records the first call for which the driver reported a spoiled capture."""
    if capture.spoiler.status != CUDA_SUCCESS:
        return 0
    capture.spoiler.source = keep_source(&capture.box(), find_source())
    capture.spoiler.what = what
    capture.spoiler.foreign = status == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
    capture.spoiler.status = status
    return 0


cdef int fail(CapturedCall& call, CUresult status, object attempt) except -1:
    return fail_capture(call.capture(), status, attempt) if call.is_captured() else check_attempt(status, attempt)


cdef int fail_capture(CaptureBox& capture, CUresult status, object attempt) except -1:
    try:
        check_attempt(status, attempt)
    except CUDAError as error:
        error.capture = ledger_text(capture)
        raise
    return 0


cdef int note_operation(CaptureBox& capture, const char* what) except -1:
    cdef Operation done
    done.what, done.source = what, keep_source(&capture.box(), find_source())
    capture.ledger.push_back(done)
    return 0


cdef object entry(CaptureBox& capture, const char* what, SourceLocation source):
    return Entry(what.decode(), text_of(&capture.box(), source))


cdef str ledger_text(CaptureBox& capture):
    if capture.spoiler.status == CUDA_SUCCESS or capture.ledger.empty():
        return ""
    cdef Operation begun = capture.ledger.front(), last = capture.ledger.back()
    return describe(
        entry(capture, begun.what, begun.source),
        entry(capture, last.what, last.source),
        capture.ledger.size() - 1,
        entry(capture, capture.spoiler.what.c_str(), capture.spoiler.source),
        <int>capture.spoiler.status,
        capture.spoiler.foreign,
    )


cdef int protect_bodies(str attempt) except -1:
    cdef vector[CaptureHandle] captures
    if active_captures.load() == 0:
        return 0
    captures = list_active_captures()
    for capture in captures:
        if capture.get().into_body and is_sound(capture.get()[0]):
            check_attempt(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, f"{attempt} while the body of a conditional node is captured")
    return 0


cdef bint is_spoiled(CaptureBox& capture) noexcept:
    """Returns True when the driver reports the capture as spoiled. A failed query only makes the ledger less
    precise."""
    cdef CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE
    return ask_status(capture, &now) == CUDA_SUCCESS and now == CU_STREAM_CAPTURE_STATUS_INVALIDATED


cdef bint is_sound(CaptureBox& capture) except -1:
    cdef CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE
    check_attempt(ask_status(capture, &now), "find out whether the body of a conditional node is being captured")
    return now == CU_STREAM_CAPTURE_STATUS_ACTIVE


cdef CUresult ask_status(CaptureBox& capture, CUstreamCaptureStatus* now) noexcept:
    cdef CUstream stream = raw_of(capture.origin)
    cdef CUresult status
    with nogil:
        status = driver().cuStreamIsCapturing(stream, now)
    return status


cdef int note_found(CaptureBox& capture, const char* what) except -1:
    if capture.spoiler.status == CUDA_SUCCESS and is_spoiled(capture):
        note_spoiler(capture, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, what)
    return 0


def tell_captures(error) -> None:
    """Called with each CUDAError before it is raised: an error from 900 to 908 may have spoiled a capture of this
    package."""
    cdef vector[CaptureHandle] captures
    cdef CaptureHandle capture
    if not 900 <= error.code <= 908:
        return
    captures = list_active_captures()
    for capture in captures:
        if capture.get().spoiler.status == CUDA_SUCCESS and is_spoiled(capture.get()[0]):
            note_spoiler(capture.get()[0], <CUresult><int>error.code, (error.attempt or "a call").encode())
        elif error.code != <int>CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
            continue
        error.capture = error.capture or ledger_text(capture.get()[0])


seam.on_error(tell_captures)
