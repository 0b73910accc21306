# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.resources.handles cimport ContextBox, ContextHandle

# Returns the context that is current on this thread; empty without a current context.
cdef ContextHandle find_current() except *


cdef class Context:
    cdef ContextHandle _h
    cdef object __weakref__

    @staticmethod
    cdef Context _from_handle(ContextHandle h)

    # Raises RuntimeError for an object without a handle.
    cdef const ContextBox* _box(self) except NULL
