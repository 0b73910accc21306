# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Calls that launch their tasks one by one, in stream order."""

from cuda_graphs.core.resources.handles cimport StreamHandle
from cuda_graphs.kernels.arrays.reading cimport Reading
from cuda_graphs.objects.device.stream cimport Stream
from cuda_graphs.kernels.specialisation.specialisation cimport Specialisation
from .strategy cimport Strategy


cdef class LaunchStrategy(Strategy):
    """Launches the tasks of a call one by one."""

    cdef object run(self, Specialisation code, Reading* r, Stream stream, const StreamHandle& handle):
        if code.waits_for_results:
            return code.launch_for_results(r.leaves, handle, NULL)
        code.launch(r.leaves, handle, NULL)
        return None
