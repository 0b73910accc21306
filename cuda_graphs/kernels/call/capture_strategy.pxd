# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.kernels.arrays.reading cimport Leaf
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation
from cuda_graphs.kernels.specialisation.specialiser cimport Specialiser
from .strategy cimport Strategy


cdef class CaptureStrategy(Strategy):
    cdef Specialiser specialiser

    cdef int add_captured(self, Stream captured, tuple args) except -1

    # Returns the list of Specialisation.launches, and the plan.
    cdef tuple launches(self, tuple args)

    # Returns new memory for the temporary arrays of a graph.
    cdef list temporaries(self, Specialisation code, const Leaf* leaves, dict owners)
