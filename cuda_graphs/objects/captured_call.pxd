# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_UNKNOWN, CUresult
from cuda_graphs.core.capture.capture_handles cimport CapturedCall, active_captures, may_be_captured
from cuda_graphs.core.graphs.graph_handles cimport NodeKind, NodeRecord
from cuda_graphs.core.resources.handles cimport Opaque, StreamHandle
from .capture_ledger cimport note_work_elsewhere

# A driver call on a stream that may be captured:
#
#     cdef CapturedCall call
#     if find_capture(call, h):
#         keep_owners(call, owner, owner)
#     with nogil:
#         call.run(driver().cuXxx, ...)
#     if finish_call(call, NodeKind.kXxx, "what") != CUDA_SUCCESS:
#         raise_call_error(call, f"what was being attempted")

# Returns True when a capture of this package includes the stream: the call makes a node. Raises CUDAError when the query
# fails: without a known capture, the node would lose its owners.
cdef inline bint find_capture(CapturedCall& call, const StreamHandle& h) except -1:
    return may_be_captured(h) and query_capture(call, h)

cdef bint query_capture(CapturedCall& call, const StreamHandle& h) except -1

# Returns True if any code captures the stream. The host can then neither wait for the stream nor record events on it.
cdef bint is_captured_by_any_code(const StreamHandle& h) except -1

# Sets the owners that must live as long as the node of the call.
cdef int keep_owners(CapturedCall& call, Opaque first, Opaque second) except -1

# Returns the status of the call. In a capture, also enters the call into the ledger and its node into the tables of the
# graph. Raises CaptureError when the capture is spoiled although the call succeeded, and RuntimeError when the node was
# not found.
cdef inline CUresult finish_call(CapturedCall& call, NodeKind kind, const char* what) except? CUDA_ERROR_UNKNOWN:
    finish_node(call, kind, what)
    return call.status()

# Does the same, and returns the node; NULL outside of captures and when the call failed.
cdef inline NodeRecord* finish_node(CapturedCall& call, NodeKind kind, const char* what) except? NULL:
    if call.is_captured():
        return record_node(call, kind, what)
    if active_captures.load() != 0:
        note_work_elsewhere(what)
    return NULL

# Does the same for a call that makes no node.
cdef inline CUresult finish_call_without_node(CapturedCall& call, const char* what) except? CUDA_ERROR_UNKNOWN:
    if call.is_captured():
        record_operation(call, what, NULL)
    return call.status()

# The two parts of finish_call in a capture. `record_node` returns NULL when the call failed.
cdef NodeRecord* record_node(CapturedCall& call, NodeKind kind, const char* what) except? NULL
cdef int record_operation(CapturedCall& call, const char* what, NodeRecord* node) except -1

# Raises the CUDAError of a failed call, with the text of the ledger, or RuntimeError for a call that was not made, since
# another thread had ended the capture. `cause` is that of raise_explained.
cdef int raise_call_error(CapturedCall& call, object attempt, tuple cause=*) except -1
