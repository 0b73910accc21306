# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Driver calls on a stream that may be captured: the owners that the graph keeps, the node that a call made, and its
entry in the ledger."""

from libcpp.utility cimport move

from cuda_graphs.core.driver.cuda cimport (
    CU_STREAM_CAPTURE_STATUS_NONE,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
    CUDA_SUCCESS,
    CUresult,
    CUstreamCaptureStatus,
    driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt, raise_explained, raise_noted
from cuda_graphs.core.capture.capture_handles cimport CapturedCall
from cuda_graphs.core.graphs.graph_handles cimport NodeKind, NodeRecord
from cuda_graphs.core.resources.handles cimport Opaque, StreamHandle, raw_of
from .capture_ledger cimport add_operation, raise_capture_error, record_spoiler


cdef bint query_capture(CapturedCall& call, const StreamHandle& h) except -1:
    cdef bint found = call.find_capture(h)
    check_attempt(call.query_status(), "find out whether a stream is being captured")
    return found


cdef bint is_captured_by_any_code(const StreamHandle& h) except -1:
    cdef CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE
    cdef CUresult status
    with nogil:
        status = driver().cuStreamIsCapturing(raw_of(h), &now)
    check_attempt(status, "find out whether a stream is being captured")
    return now != CU_STREAM_CAPTURE_STATUS_NONE


cdef int keep_owners(CapturedCall& call, Opaque first, Opaque second) except -1:
    if not call.keep_owners(move(first), move(second)):
        raise_noted("attach the owners of the captured work to the graph")
    return 0


cdef NodeRecord* record_node(CapturedCall& call, NodeKind kind, const char* what) except? NULL:
    cdef NodeRecord* node = call.record_node(kind)
    record_operation(call, what, node)
    if node != NULL or call.status() != CUDA_SUCCESS:
        return node
    check_attempt(call.query_status(), f"find the node of a captured {what.decode()}")
    raise RuntimeError(
        f"the node of a captured {what.decode()} was not found: the stream has {call.tail_count()} last nodes instead of 1. "
        "The node is in the graph, which keeps its owners alive"
    )


cdef int record_operation(CapturedCall& call, const char* what, NodeRecord* node) except -1:
    if call.is_spoiled():
        record_spoiler(call.capture(), call.status() or CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, what)
        if call.status() == CUDA_SUCCESS:
            raise_capture_error(call.capture(), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, what.decode())
    elif call.status() == CUDA_SUCCESS:
        add_operation(call.capture(), what)
        if node != NULL:
            node.source = call.capture().ledger.back().source
    return 0


ENDED_MEANWHILE = "the capture has ended during the call: another thread ended it, or the driver was called directly"


cdef int raise_call_error(CapturedCall& call, object attempt, tuple cause=None) except -1:
    if call.has_ended():
        raise RuntimeError(ENDED_MEANWHILE)
    if call.is_captured():
        return raise_capture_error(call.capture(), call.status(), attempt, cause)
    return raise_explained(call.status(), attempt, cause)
