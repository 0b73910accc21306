# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUresult
from cuda_graphs.core.capture.capture_handles cimport CaptureBox

# Adds an operation to the ledger, with the current line of the user's program.
cdef int add_operation(CaptureBox& capture, const char* what) except -1

# Records the operation that spoiled the capture, unless one is recorded already: the first call for which the driver
# reported a spoiled capture.
cdef int record_spoiler(CaptureBox& capture, CUresult status, const char* what) except -1

# Called before a call that ends a capture or reports its state. If the capture is spoiled and no recorded call spoiled
# it, records that foreign code did so before the current line of the user's program.
cdef int record_foreign_spoiler(CaptureBox& capture, const char* what) except -1

# Raises the CUDAError of a failed call on the capture, with the text of the ledger. `cause` is that of raise_explained.
cdef int raise_capture_error(CaptureBox& capture, CUresult status, object attempt, tuple cause=*) except -1

# Raises CaptureError for a wait for a stream or device that would spoil the capture of a conditional body, before the
# call reaches the driver, since libcuda crashes (core/capture/capture_end.cpp).
cdef int check_no_body_captured(object waited_for) except -1

# Notes work that was given to a stream outside of all captures of this package, while there is one. An empty capture
# names it. `what` is a literal such as "launch".
cdef int note_work_elsewhere(const char* what) except -1

# Returns the number of notes. Forgets all notes first if no capture is active.
cdef Py_ssize_t count_work_elsewhere() except -1

# Returns the warning about an empty capture. It names the work that was noted since there were `known` notes.
cdef str empty_text(CaptureBox& capture, Py_ssize_t known)

# Returns the text of how a capture was spoiled; "" when it was not.
cdef str ledger_text(CaptureBox& capture)
