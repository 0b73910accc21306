# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Who watches calls of kernels: the Tape or FwdMode that is open, if there is one (watching.py)."""

cdef object watcher = None


def watch_by(found):
    """Have `found` asked before each call of a kernel from now on (`before`: what to call instead, or None), told after
    it (`after`), and of calls that are captured instead (`captured`). None: nobody."""
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
