# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
# Returns (address, bytes) of memory that a graph allocates; None for any other object.
cdef tuple graph_memory(object value)
