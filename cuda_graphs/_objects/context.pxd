# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._handles.handles cimport ContextBox, ContextHandle

# The context that is current on this thread; empty when there is none.
cdef ContextHandle find_current() except *


cdef class Context:
    cdef ContextHandle _h
    cdef object __weakref__

    @staticmethod
    cdef Context _from_handle(ContextHandle h)

    # RuntimeError for an object that nothing was put into.
    cdef const ContextBox* _box(self) except NULL
