# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._driver.cuda_graph cimport CUDA_HOST_NODE_PARAMS_v2
from cuda_graphs._handles.graph_handles cimport Owners

# The function and data of a host node, and what they need: a Python callable through our trampoline, or a ctypes
# function pointer with an int or a copy of bytes. TypeError and ValueError for anything else.
cdef int read_callback(object fn, object user_data, CUDA_HOST_NODE_PARAMS_v2* params, Owners* owners) except -1

# The Python callable of a host node, None for a C function.
cdef object python_callback(const CUDA_HOST_NODE_PARAMS_v2& params)
