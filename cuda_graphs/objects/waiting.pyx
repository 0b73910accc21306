# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Errors that are raised at the end of a wait for the device, since running work cannot raise them."""

cdef object told = None


def tell_by(callback):
    """Call `callback` at the end of each wait from now on; the wait raises its exceptions."""
    global told
    told = callback


cdef int waited() except -1:
    if told is not None:
        told()
    return 0
