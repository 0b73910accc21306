# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._handles.graph_handles cimport GraphExecHandle, ParameterChanges, ParameterProblem

# The parameters of an executable by name.
cdef dict find_slots(const GraphExecHandle& graph)

# Converts values, by name, for the parameters of `slots`. TypeError for an unknown name, and as to_bits has it.
cdef int read_changes(dict slots, dict values, ParameterChanges& changes) except -1

# Raises what a problem means, if there is one; `values` are those that were to be set.
cdef int check_problem(const ParameterProblem& problem, dict slots, dict values) except -1

# Name -> ParameterState.
cdef object present_values(const GraphExecHandle& graph)
