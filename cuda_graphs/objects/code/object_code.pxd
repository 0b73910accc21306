# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libcpp.vector cimport vector

from cuda_graphs.core.resources.handles cimport KernelType, LibraryHandle
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


# Returns the Types of a kernel's parameters from its mangled name, or from PTX; an empty list if neither tells them.
cpdef list read_signature(bytes code, str name)

# Returns Types as the handle layer has them.
cdef vector[KernelType] as_types(list signature) except *
