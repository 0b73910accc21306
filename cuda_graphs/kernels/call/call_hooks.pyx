# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The hook of kernel calls, which passes them to the open Tape or FwdMode (gradients/thread_hooks.py)."""

cdef object hook = None


def set_hook(new):
    """Set the hook of all later calls of kernels; None removes it.

    Each call runs `new.before`, which returns the function to call instead or None, and then `new.after`.
    """
    global hook
    hook = new


cdef bint has_hook() noexcept:
    return hook is not None


cdef object replacement_of(object kernel, tuple args, object stream):
    return None if hook is None else hook.before(kernel, args, stream)


cdef int after_call(object kernel, tuple args, object stream) except -1:
    if hook is not None:
        hook.after(kernel, args, stream)
    return 0
