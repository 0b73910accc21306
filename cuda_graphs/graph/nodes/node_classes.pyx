# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The table of the classes of nodes. The modules of the classes fill it when they are imported.

Modules below those of the classes make and recognise nodes and definitions through this table, without importing them.
"""

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

cdef PyObject* classes[<int>NodeKind.kOther + 1]


cdef int register_class(NodeKind kind, type cls) except -1:
    Py_INCREF(cls)
    classes[<int>kind] = <PyObject*>cls
    return 0


cdef PyTypeObject* class_at(NodeKind kind) noexcept:
    return <PyTypeObject*>classes[<int>kind]


cdef type class_of(NodeKind kind):
    return <type>classes[<int>kind]
