# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Who is told of calls of kernels: the tape of ad.py that is open, if there is one."""

cdef object recorder = None


def record_by(callback):
    """Have `callback` told of each call of a kernel from now on: the kernel, its arguments, its stream. None: nobody."""
    global recorder
    recorder = callback


cdef int note_call(object kernel, tuple args, object stream) except -1:
    if recorder is not None:
        recorder(kernel, args, stream)
    return 0
