# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._driver.cuda cimport CUresult
from cuda_graphs._handles.capture_handles cimport CaptureBox, CapturedCall
from cuda_graphs._handles.graph_handles cimport NodeKind, NodeRecord
from cuda_graphs._handles.handles cimport Opaque, StreamHandle

# A call on a stream that may be captured goes so:
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

# Whether the stream is in a capture of ours. CUDAError when the driver does not say: work that is captured unnoticed
# would lose what it needs.
cdef bint find(CapturedCall& call, const StreamHandle& h) except -1

# Who must live as long as the node that the call makes.
cdef int keep(CapturedCall& call, Opaque first, Opaque second) except -1

# Puts the call into the ledger and its node on record; NULL when the call failed. CaptureError when the capture is found spoiled though the call
# went well; RuntimeError when its node cannot be told.
cdef NodeRecord* settle(CapturedCall& call, CUresult status, NodeKind kind, const char* what) except? NULL

# The same for a call that makes no node.
cdef int note(CapturedCall& call, CUresult status, const char* what) except -1

# Raises the CUDAError of a call that failed, with what the ledger knows.
cdef int fail(CapturedCall& call, CUresult status, object attempt) except -1
cdef int fail_capture(CaptureBox& capture, CUresult status, object attempt) except -1

# Puts something into the ledger, with the line where the user's program is now.
cdef int note_operation(CaptureBox& capture, const char* what) except -1

# Before a call that ends a capture or tells of it: if the capture is spoiled and no call of ours saw that happen, it was
# code outside, before the line where the user's program is now.
cdef int note_found(CaptureBox& capture, const char* what) except -1

# CaptureError for what would spoil the capture of a conditional body, before the driver is asked: libcuda does not
# survive it (_handles/capture_end.cpp).
cdef int protect_bodies(str attempt) except -1

# What is known of how a capture was spoiled; "" when it was not.
cdef str ledger_text(CaptureBox& capture)
