# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._handles.handles cimport StreamHandle

# Whether calls on the stream become nodes of a capture of ours.
cdef bint is_captured(const StreamHandle& h) except -1

# Whether anybody captures the stream: then nobody can wait for what it does, or mark it.
cdef bint captures_for_others(const StreamHandle& h) except -1
