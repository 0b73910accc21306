# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject

from cuda_graphs._handles.graph_handles cimport GraphBox, SourcePlace


# A line of Python, as the code object and the instruction in it: the line's number is worked out when it is asked for.
cdef struct Source:
    PyObject* code  # borrowed: lives as long as the call that found it; hold it to keep it. NULL: unknown
    int instruction


# Where this package was called from: the innermost frame on this thread that is not of the package itself, or what is
# pinned. Costs some 20 ns.
cdef Source find_source() noexcept

# "/path/file.py:12"
cdef str source_text(PyObject* code, int instruction)

# From here until unpin_source(), find_source() on this thread returns what it returns now. False, and nothing to undo,
# when something is pinned already: the outermost wins.
cdef bint pin_source() noexcept
cdef void unpin_source() noexcept

# A place of the program, kept by the hierarchy of a graph; and its text, None when it is unknown.
cdef SourcePlace keep_source(GraphBox* graph, Source source) except *
cdef object text_of(GraphBox* graph, SourcePlace source)
