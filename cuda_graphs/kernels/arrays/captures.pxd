# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.resources.handles cimport StreamHandle

# Returns True if a capture of this package turns calls on the stream into nodes.
cdef bint is_captured(const StreamHandle& h) except -1
