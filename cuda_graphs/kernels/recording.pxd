# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0


# Whether somebody watches.
cdef bint is_watched() noexcept

# A kernel is about to be called with these arguments on a stream: what to call instead, or None.
cdef object instead_of(object kernel, tuple args, object stream)

# It was called.
cdef int note_call(object kernel, tuple args, object stream) except -1

# Its call is about to become nodes of what the stream captures.
cdef int note_capture(object kernel) except -1
