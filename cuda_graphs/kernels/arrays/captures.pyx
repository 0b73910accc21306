# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Queries for the capture state of a stream, for calls of kernels."""

from cuda_graphs.core.driver.cuda cimport (
    CU_STREAM_CAPTURE_STATUS_NONE,
    CUresult,
    CUstreamCaptureStatus,
    cuuint64_t,
    driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.capture.capture_handles cimport CapturedCall
from cuda_graphs.core.resources.handles cimport StreamHandle, raw_of
from cuda_graphs.objects.captured_call cimport find_capture, is_captured_by_any_code
from cuda_graphs.objects.device.stream cimport Stream


cdef bint is_captured(const StreamHandle& h) except -1:
    cdef CapturedCall call
    return find_capture(call, h)


def capture_of(Stream stream not None):
    """Return the driver's number of the capture that includes a stream, 0 without one. Each body of a conditional node has
    a capture of its own."""
    cdef StreamHandle h = stream._h
    cdef CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE
    cdef cuuint64_t number = 0
    cdef CUresult status
    if not is_captured_by_any_code(h):
        return 0
    with nogil:
        status = driver().cuStreamGetCaptureInfo(raw_of(h), &now, &number, NULL, NULL, NULL, NULL)
    check_attempt(status, "find the capture of a stream")
    return number
