# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.driver.cuda_graph cimport CUDA_HOST_NODE_PARAMS_v2
from cuda_graphs.core.graphs.graph_handles cimport Owners

# Fills function, data and owners of a host node: a Python callable through the trampoline, or a ctypes function pointer
# with an int or a copy of bytes. Raises TypeError or ValueError for anything else.
cdef int read_callback(object fn, object user_data, CUDA_HOST_NODE_PARAMS_v2* params, Owners* owners) except -1

# Returns the Python callable of a host node, None for a C function.
cdef object python_callback(const CUDA_HOST_NODE_PARAMS_v2& params)
