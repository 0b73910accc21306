# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The table of the classes of nodes. The modules of the classes fill it when they are imported.

Modules below those of the classes make and recognise nodes and definitions through this table, without importing them.
"""

from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF

cdef extern from "Python.h":
    ctypedef struct TypeSlots "PyTypeObject":
        object (*tp_new)(PyTypeObject* cls, PyObject* args, PyObject* kwargs)

cdef PyObject* classes[<int>NodeKind.kOther + 1]
cdef tuple no_arguments = ()


cdef int register_class(NodeKind kind, type cls) except -1:
    Py_INCREF(cls)
    classes[<int>kind] = <PyObject*>cls
    return 0


cdef type class_of(NodeKind kind):
    return <type>classes[<int>kind]


cdef object make_instance(NodeKind kind):
    cdef PyObject* cls = classes[<int>kind]
    return (<TypeSlots*>cls).tp_new(<PyTypeObject*>cls, <PyObject*>no_arguments, NULL)
