# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0


# Returns True if a hook is set.
cdef bint has_hook() noexcept

# Notifies the hook before a call. Returns the function to call instead of the kernel, or None.
cdef object replacement_of(object kernel, tuple args, object stream)

# Notifies the hook after a call.
cdef int after_call(object kernel, tuple args, object stream) except -1
