# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The watcher of kernel calls, which passes them to the open Tape or FwdMode (recorders.py)."""

cdef object watcher = None


def watch_by(found):
    """Set the watcher of all later calls of kernels; None removes it.

    Each call runs `found.before`, which returns the function to call instead or None, and then `found.after`. A
    captured call runs `found.captured`.
    """
    global watcher
    watcher = found


cdef bint is_watched() noexcept:
    return watcher is not None


cdef object instead_of(object kernel, tuple args, object stream):
    return None if watcher is None else watcher.before(kernel, args, stream)


cdef int note_call(object kernel, tuple args, object stream) except -1:
    if watcher is not None:
        watcher.after(kernel, args, stream)
    return 0


cdef int note_capture(object kernel) except -1:
    if watcher is not None:
        watcher.captured(kernel)
    return 0
