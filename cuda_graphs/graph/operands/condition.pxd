# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint64_t

from cuda_graphs.core.driver.cuda cimport CUcontext
from cuda_graphs.core.driver.cuda_graph cimport CUgraphConditionalHandle


cdef class Condition:
    cdef CUgraphConditionalHandle _handle
    cdef uint64_t _hierarchy  # number of the hierarchy of graphs in which it was created
    cdef CUcontext _context  # context in which the condition was created; NULL if unknown
    cdef object __weakref__

    @staticmethod
    cdef Condition _from_handle(CUgraphConditionalHandle handle, uint64_t hierarchy)
