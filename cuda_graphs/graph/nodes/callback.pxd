# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda_graph cimport CUDA_HOST_NODE_PARAMS_v2
from cuda_graphs.core.graphs.graph_handles cimport Owners
from cuda_graphs.objects.launch_errors cimport LaunchQueue


# A Python callable of a host node. Two executables never share one, so that its launch is known
# (graph/executable/callbacks.pyx).
cdef class Callback:
    cdef object fn
    cdef object name           # name of the node, or None
    cdef LaunchQueue launches  # launches of the executable that calls it; None without an executable


# Fills function, data and owners of a host node: a Python callable through the trampoline, or a ctypes function pointer
# with an int or a copy of bytes. Messages name the node by `name`. Raises TypeError or ValueError for anything else.
cdef int read_callback(object fn, object user_data, object name, CUDA_HOST_NODE_PARAMS_v2* params, Owners* owners) except -1

# Returns the Callback of a host node, None for a C function.
cdef Callback callback_of(const CUDA_HOST_NODE_PARAMS_v2& params)
# Returns True if the process has made a Callback.
cdef bint has_callbacks() noexcept
