# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject
from libc.stddef cimport size_t
from libcpp.vector cimport vector

from cuda_graphs.core.graphs.graph_handles cimport (
    GraphExecHandle,
    ParameterChanges,
    ParameterProblem,
    ParameterRef,
    PresentParameter,
)
from cuda_graphs.objects.keyword_method cimport Arguments


cdef class Slot:
    cdef size_t index
    cdef ParameterRef parameter
    cdef int device  # of the array that the parameter had when the executable was made; kNoDevice if there was none


cdef class Slots:
    cdef dict by_name  # name -> Slot
    cdef vector[PyObject*] names, slots  # keys and values of `by_name`, which holds them

    # Returns the Slot of a name. Raises TypeError for an unknown name.
    cdef Slot find(self, name)
    cdef int add(self, str name, Slot slot) except -1


# Returns the Slots of an executable.
cdef Slots find_slots(const vector[PresentParameter]& present)

# Converts the values of the parameters `names`. Raises TypeError for an unknown name, and the errors of
# read_value.
cdef int read_changes(Slots slots, tuple names, Arguments values, ParameterChanges& changes) except -1

# Raises the exception of a problem, if there is one. `values` are the values that the caller wanted to set.
cdef int check_problem(const ParameterProblem& problem, Slots slots, dict values) except -1

# Raises ValueError if the problem is that the rules of a node refuse values. `attempt` says what failed.
cdef int check_rules(const ParameterProblem& problem, str attempt) except -1

# Returns name -> ParameterState.
cdef object present_values(const GraphExecHandle& graph)
