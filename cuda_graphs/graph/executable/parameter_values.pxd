# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.graphs.graph_handles cimport GraphExecHandle, ParameterChanges, ParameterProblem

# Returns name -> Slot of the parameters of an executable.
cdef dict find_slots(const GraphExecHandle& graph)

# Converts `values` (name -> value) for the parameters of `slots`. Raises TypeError for an unknown name, and the errors of
# read_value.
cdef int read_changes(dict slots, dict values, ParameterChanges& changes) except -1

# Raises the exception of a problem, if there is one. `values` are the values that the caller wanted to set.
cdef int check_problem(const ParameterProblem& problem, dict slots, dict values) except -1

# Raises ValueError if the problem is that the rules of a node refuse values. `attempt` says what failed.
cdef int check_rules(const ParameterProblem& problem, str attempt) except -1

# Returns name -> ParameterState.
cdef object present_values(const GraphExecHandle& graph)
