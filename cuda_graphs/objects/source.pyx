# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Finds the source line of the user's program that made a call, fast enough to record it for every added node.

The frame gives the code object and the instruction. Strings and line numbers are created only on request. Frames of the
package's own Python code are skipped; a cache tells the package's code objects from the user's.
"""

import os

from cpython.object cimport PyObject
from cpython.ref cimport Py_XDECREF, Py_XINCREF
from libc.stddef cimport size_t

from cuda_graphs.core.graphs.graph_handles cimport GraphBox, SourceLocation
from cuda_graphs.core.resources.handles cimport hold_python

cdef extern from "Python.h":
    ctypedef struct Frame "PyFrameObject":
        pass
    ctypedef struct Code "PyCodeObject":
        pass
    Frame* PyEval_GetFrame()
    Code* PyFrame_GetCode(Frame* frame)
    Frame* PyFrame_GetBack(Frame* frame)
    int PyFrame_GetLasti(Frame* frame)
    int PyCode_Addr2Line(Code* code, int instruction)

cdef extern from *:
    """
    struct PinnedSource { PyObject* code; int instruction; };
    static thread_local PinnedSource pinned_source = {nullptr, 0};
    """
    cppclass PinnedSource:
        PyObject* code
        int instruction
    PinnedSource pinned_source

# The number of threads with a pinned source: faster to check than the thread's own.
cdef int pinned_threads = 0

cdef str package = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

# A cache of code objects, and whether they belong to the user. The cache keeps them alive, so that an address is not
# reused for another code object. A new entry replaces the old one of its slot.
cdef enum:
    CACHED_CODES = 64

cdef struct CachedCode:
    PyObject* code
    bint is_user_code

cdef CachedCode[CACHED_CODES] code_cache


cdef Source find_source() noexcept:
    cdef Source found
    found.code = NULL
    found.instruction = 0
    if pinned_threads and pinned_source.code != NULL:
        found.code = pinned_source.code
        found.instruction = pinned_source.instruction
        return found
    cdef Frame* frame = PyEval_GetFrame()  # borrowed
    if frame == NULL:  # no Python function is running on this thread
        return found
    found.code = code_of(frame)
    if is_user_code(found.code):
        found.instruction = PyFrame_GetLasti(frame)
        return found
    return find_caller(frame)


cdef inline PyObject* code_of(Frame* frame) noexcept:
    cdef PyObject* code = <PyObject*>PyFrame_GetCode(frame)
    Py_XDECREF(code)  # the frame holds it
    return code


cdef Source find_caller(Frame* frame) noexcept:
    """Returns the innermost frame outside the package."""
    cdef Source found
    cdef Frame* outer
    found.code = NULL
    found.instruction = 0
    Py_XINCREF(<PyObject*>frame)
    while frame != NULL:
        if is_user_code(code_of(frame)):
            found.code, found.instruction = code_of(frame), PyFrame_GetLasti(frame)
            Py_XDECREF(<PyObject*>frame)
            return found
        outer = PyFrame_GetBack(frame)
        Py_XDECREF(<PyObject*>frame)
        frame = outer
    return found


cdef bint is_user_code(PyObject* code) noexcept:
    cdef CachedCode* entry = &code_cache[(<size_t>code >> 6) % CACHED_CODES]
    cdef PyObject* replaced
    cdef bint users
    if entry.code != code:
        users = not is_in_package(<object>code)
        replaced = entry.code
        Py_XINCREF(code)
        entry.code, entry.is_user_code = code, users
        Py_XDECREF(replaced)
        return users
    return entry.is_user_code


cdef bint is_in_package(object code) noexcept:
    return code.co_filename.startswith(package)


cdef str source_text(PyObject* code, int instruction):
    return f"{(<object>code).co_filename}:{PyCode_Addr2Line(<Code*>code, instruction)}"


cdef bint pin_source() noexcept:
    global pinned_threads
    if pinned_source.code != NULL:
        return False
    cdef Source now = find_source()
    pinned_source.code = now.code
    pinned_source.instruction = now.instruction
    pinned_threads += now.code != NULL
    return now.code != NULL


cdef void unpin_source() noexcept:
    global pinned_threads
    pinned_source.code = NULL
    pinned_threads -= 1


cdef int keep_source(GraphBox* graph, SourceLocation* place) except -1:
    cdef Source source
    cdef Frame* frame = NULL
    cdef PyObject* code
    if not pinned_threads:
        frame = PyEval_GetFrame()
    if frame != NULL:
        code = <PyObject*>PyFrame_GetCode(frame)
        place.code = graph.sources.find(code)
        place.instruction = PyFrame_GetLasti(frame)
        Py_XDECREF(code)
        if place.code:  # the table has code of users only
            return 0
    source = find_source()
    if source.code == NULL:
        return 0
    place.code = graph.sources.find(source.code)
    if place.code == 0:
        place.code = graph.sources.add(hold_python(source.code))
    place.instruction = source.instruction
    return 0


cdef object text_of(GraphBox* graph, SourceLocation source):
    if source.code == 0:
        return None
    return source_text(<PyObject*>graph.sources[0][source.code].get(), source.instruction)
