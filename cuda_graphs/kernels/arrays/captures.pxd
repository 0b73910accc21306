# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.resources.handles cimport StreamHandle

# Returns True if a capture of this package turns calls on the stream into nodes.
cdef bint is_captured(const StreamHandle& h) except -1

# Returns True if any code captures the stream. The host can then neither wait for the stream nor record events on it.
cdef bint is_captured_by_any_code(const StreamHandle& h) except -1
