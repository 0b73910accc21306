# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Queries for the capture state of a stream, for calls of kernels."""

from cuda_graphs.core.driver.cuda cimport (
    CU_STREAM_CAPTURE_STATUS_NONE,
    CUresult,
    CUstreamCaptureStatus,
    driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.capture.capture_handles cimport CapturedCall
from cuda_graphs.core.resources.handles cimport StreamHandle, raw_of
from cuda_graphs.objects.captured_call cimport find_capture


cdef bint is_captured(const StreamHandle& h) except -1:
    cdef CapturedCall call
    return find_capture(call, h)


cdef bint is_captured_by_any_code(const StreamHandle& h) except -1:
    cdef CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE
    cdef CUresult status
    with nogil:
        status = driver().cuStreamIsCapturing(raw_of(h), &now)
    check_attempt(status, "find out whether a stream is being captured")
    return now != CU_STREAM_CAPTURE_STATUS_NONE
