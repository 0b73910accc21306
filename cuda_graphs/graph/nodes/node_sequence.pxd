# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.graphs.graph_handles cimport NodeRecord


cdef class NodeSequence:
    cdef NodeRecord* _last  # valid while the definition lives
