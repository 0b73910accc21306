# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.resources.handles cimport StreamHandle


# Keeps the arguments alive until the current work of the stream is done. The stream must not be captured: the event
# that marks its work would become a node of the capture.
cdef int keep_arguments(const StreamHandle& stream, tuple arguments) except -1
