# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda cimport CUcontext
from cuda_graphs.core.capture.capture_handles cimport CaptureTail
from cuda_graphs.core.graphs.graph_handles cimport NodeKind
from cuda_graphs.objects.device.stream cimport Stream


cdef class CapturedInsertionPoint:
    cdef Stream _stream
    cdef CaptureTail _tail
    cdef readonly tuple branches  # bodies of the preceding conditional node, as GraphDefs; empty after other nodes

    cdef int _read_tail(self) except -1
    cdef int _set_tail(self) except -1
    cdef CUcontext _context(self) except NULL
    cdef int _launch_elsewhere(self, object config, object kernel, tuple args) except -1
    cdef CapturedInsertionPoint _next(self, tuple branches=*)
    cdef CapturedInsertionPoint _conditional(self, const char* what, object condition, NodeKind kind, unsigned int count)
