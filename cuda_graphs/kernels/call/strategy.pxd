# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.kernels.arrays.reading cimport Reading
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation


# A way to run the tasks of a call: as launches, as a replay of a graph, or as nodes of a capture.
#
# `handle` was read from the caller's `stream` once, and keeps the stream valid during the call: another thread may
# close `stream` at any time. `stream` itself only identifies memory that belongs to one stream.
cdef class Strategy:
    # Runs one call, and returns the results of the kernel, or None.
    cdef object call(self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle)

    # Runs the tasks. The device can access all arrays.
    cdef object run(self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle)
