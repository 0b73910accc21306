# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t

from cuda_graphs.kernels.arrays.reading cimport Leaf
from .specialisation cimport Specialisation

# Returns the config of a task in a graph, a LaunchConfig that follows the parameters among the `owners` of the leaves.
# Returns `config` itself without parameters.
cdef object follow_parameters(Specialisation code, size_t task, object config, const Leaf* leaves, dict owners)
