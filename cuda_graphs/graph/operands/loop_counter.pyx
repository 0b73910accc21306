# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""LoopCounter: the memory in which a loop of a graph counts its iterations.

The kernel at the end of the body counts (kernels/call/predicates.py). The memory belongs to the definition: a definition
with conditional nodes has one executable at a time, and its launches run one after the other (rules of CUDA).
"""

from libc.stdint cimport INT64_MAX, int64_t

from cuda_graphs.core.driver.cuda cimport CUdeviceptr, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.resources.handles cimport read_memory
from cuda_graphs.objects import constructors
from cuda_graphs.objects.numbers cimport read_unsigned
from .stop_words cimport new_words

cdef enum:
    BYTES = 16
    WIDTH = 63  # bits of the largest count

cdef object UNLIMITED = INT64_MAX


cdef class LoopCounter:
    cdef tuple read(self):
        cdef CUdeviceptr address = self.memory._address
        cdef int64_t[2] numbers
        cdef CUresult status
        with nogil:
            status = read_memory(&numbers[0], address, BYTES)
        check_attempt(status, "read the iterations of a loop")
        return numbers[0], numbers[1]


cdef LoopCounter make_counter(object max_iterations, object name, bint has_test):
    cdef LoopCounter self
    limit = UNLIMITED if max_iterations is None else read_unsigned(max_iterations, "max_iterations", WIDTH)
    if limit == 0:
        raise ValueError("max_iterations must be 1 or more, got 0: None is no limit")
    if max_iterations is None and (name is None or not has_test):
        return None
    self = LoopCounter.__new__(LoopCounter)
    self.memory, self.limit = new_words(BYTES // 4), limit
    self.array = constructors.condition_tests().counter_array(self.memory)
    return self
