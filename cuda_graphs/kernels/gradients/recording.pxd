# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0


# Returns True if a watcher is set.
cdef bint is_watched() noexcept

# Notifies the watcher before a call. Returns the function to call instead of the kernel, or None.
cdef object instead_of(object kernel, tuple args, object stream)

# Notifies the watcher after a call.
cdef int note_call(object kernel, tuple args, object stream) except -1

# Notifies the watcher before a capture turns a call into nodes.
cdef int note_capture(object kernel) except -1
