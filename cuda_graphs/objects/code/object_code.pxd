# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.resources.handles cimport LibraryHandle
from .kernel cimport LibraryHolder


cdef class ObjectCode(LibraryHolder):
    cdef LibraryHandle _h  # empty until loaded
    cdef bytes _code
    cdef str _code_type
    cdef str _label  # the user's name for the code
    cdef dict _symbols
    cdef object _signatures  # types by the kernel's name in the code; None: the code itself tells them
    cdef object _ptx  # bytes, the PTX of which this machine code was made; None: unknown
    cdef object __weakref__
