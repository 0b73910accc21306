# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libcpp.vector cimport vector

from cuda_graphs.core.resources.handles cimport KernelHandle, LibraryHandle, Parameter


cdef class Kernel:
    cdef KernelHandle _h
    cdef const vector[Parameter]* _known_parameters  # in the box of _h; NULL before the first query
    cdef object __weakref__

    # Two wrappers of one kernel are equal, but not identical.
    @staticmethod
    cdef Kernel _from_handle(KernelHandle h)

    # Returns offsets and sizes in bytes.
    cdef const vector[Parameter]* _parameters(self) except NULL

    # Returns the name for messages; "0x..." when the driver does not report it.
    cdef str _name(self)


# Returns the type of a parameter in words.
cdef str type_text(const Parameter& parameter)


# Lets a kernel that is not foreign keep the CodeImage that it came from, for `Kernel._image`.
cdef int keep_image(const KernelHandle& h, object image) except -1

# Base of ObjectCode, which is above this file.
cdef class LibraryHolder:
    # Returns the loaded library; the first call loads it.
    cdef LibraryHandle _load(self)


# Returns (config, Kernel, arguments, reads, writes) of a foreign kernel: an object with
# `__cuda_graph_kernel__(config, args)`. Reads and writes are lists of memory, or None if the object does not know them.
cdef tuple as_launch(object config, object kernel, tuple args)
