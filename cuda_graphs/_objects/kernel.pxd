# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._handles.handles cimport KernelHandle


cdef class Kernel:
    cdef KernelHandle _h  # never empty
    cdef object __weakref__

    # Two wrappers of one kernel are equal, not identical.
    @staticmethod
    cdef Kernel _from_handle(KernelHandle h)

    # For messages; "0x..." when the driver does not tell.
    cdef str _name(self)
