# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject

from cuda_graphs.core.graphs.graph_handles cimport GraphBox, SourceLocation


# A line of Python, as a code object and an instruction in it. The line number is computed on request.
cdef struct Source:
    PyObject* code  # borrowed: valid during the call that found it; NULL when unknown
    int instruction


# Returns the source of the innermost frame of this thread outside the package, or the pinned source. Takes about 20 ns.
cdef Source find_source() noexcept

# Returns "/path/file.py:12".
cdef str source_text(PyObject* code, int instruction)

# Pins the current source: until unpin_source(), find_source() on this thread returns it. Returns False, and must not be
# undone, when a source is pinned already: the outermost pin wins.
cdef bint pin_source() noexcept
cdef void unpin_source() noexcept

# keep_source() stores the present source in the hierarchy of a graph; text_of() returns its text, or None when it is unknown.
cdef int keep_source(GraphBox* graph, SourceLocation* place) except -1
cdef object text_of(GraphBox* graph, SourceLocation source)
