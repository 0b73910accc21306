# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libcpp.vector cimport vector

from cuda_graphs._handles.handles cimport KernelHandle, Parameter


cdef class Kernel:
    cdef KernelHandle _h
    cdef const vector[Parameter]* _known_parameters  # of the box that _h keeps; NULL before it was asked
    cdef object __weakref__

    # Two wrappers of one kernel are equal, not identical.
    @staticmethod
    cdef Kernel _from_handle(KernelHandle h)

    # Offsets and sizes in bytes.
    cdef const vector[Parameter]* _parameters(self) except NULL

    # For messages; "0x..." when the driver does not tell.
    cdef str _name(self)


# (config, Kernel, arguments) of a kernel of another compiler: what has `__cuda_graph_kernel__(config, args)`.
cdef tuple as_launch(object config, object kernel, tuple args)
