# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUresult
from cuda_graphs.core.capture.capture_handles cimport CaptureBox, CapturedCall
from cuda_graphs.core.graphs.graph_handles cimport NodeKind, NodeRecord
from cuda_graphs.core.resources.handles cimport Opaque, StreamHandle

# The steps of a call on a stream that may be captured:
#
#     cdef CapturedCall call
#     if may_be_captured(h) and find(call, h):
#         keep(call, owner, owner)
#     with nogil:
#         call.start()
#         status = driver().cuXxx(...)
#         call.look(status)
#     if call.is_captured():
#         settle(call, status, NodeKind.kXxx, "what")
#     if status != CUDA_SUCCESS:
#         fail(call, status, f"what was being attempted")

# Returns True when a capture of this package includes the stream. Raises CUDAError when the query fails: without a
# known capture, the captured work would lose its owners.
cdef bint find(CapturedCall& call, const StreamHandle& h) except -1

# Sets the owners that must live as long as the node of the call.
cdef int keep(CapturedCall& call, Opaque first, Opaque second) except -1

# Puts the call into the ledger and its node on record. Returns NULL when the call failed. Raises CaptureError when the
# capture is spoiled although the call succeeded, and RuntimeError when the node was not found.
cdef NodeRecord* settle(CapturedCall& call, CUresult status, NodeKind kind, const char* what) except? NULL

# Does the same for a call that makes no node.
cdef int note(CapturedCall& call, CUresult status, const char* what) except -1

# Raises the CUDAError of a failed call, with the text of the ledger.
cdef int fail(CapturedCall& call, CUresult status, object attempt) except -1
cdef int fail_capture(CaptureBox& capture, CUresult status, object attempt) except -1

# Adds an operation to the ledger, with the current line of the user's program.
cdef int note_operation(CaptureBox& capture, const char* what) except -1

# Called before a call that ends a capture or reports its state. If the capture is spoiled and no recorded call spoiled
# it, records that foreign code did so before the current line of the user's program.
cdef int note_found(CaptureBox& capture, const char* what) except -1

# Raises CaptureError for a call that would spoil the capture of a conditional body, before it reaches the driver, since
# libcuda crashes (core/capture/capture_end.cpp).
cdef int protect_bodies(str attempt) except -1

# Returns the text of how a capture was spoiled; "" when it was not.
cdef str ledger_text(CaptureBox& capture)
