# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Errors that are raised at the end of a wait for the device, since running work cannot raise them."""

cdef object wait_callback = None


def on_wait(callback):
    """Call `callback` at the end of each wait from now on; the wait raises its exceptions."""
    global wait_callback
    wait_callback = callback


cdef int end_wait() except -1:
    if wait_callback is not None:
        wait_callback()
    return 0
