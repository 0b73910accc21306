# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cpython.exc cimport PyErr_Restore, PyErr_WriteUnraisable
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF


# Passes an exception that cannot be raised to sys.unraisablehook, with the object that raised it. Cython's own handling
# at `noexcept` also prints a traceback, and ends the process on SystemExit.
cdef inline int report_unraisable(object error, object source) except -1:
    cdef object kind = type(error), traceback = error.__traceback__
    Py_INCREF(kind)
    Py_INCREF(error)
    if traceback is None:
        PyErr_Restore(<PyObject*>kind, <PyObject*>error, NULL)
    else:
        Py_INCREF(traceback)
        PyErr_Restore(<PyObject*>kind, <PyObject*>error, <PyObject*>traceback)
    PyErr_WriteUnraisable(source)
    return 0
