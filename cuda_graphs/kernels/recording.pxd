# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0


# A kernel was called with these arguments on a stream.
cdef int note_call(object kernel, tuple args, object stream) except -1
