# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Reader: the base class of what converts the argument of one parameter, or of one member of a parameter."""

from cpython.object cimport PyObject

from cuda_graphs.core.resources.device_scope cimport kNoDevice
from cuda_graphs.kernels.arrays.reading cimport Reading


cdef class Reader:
    """Converts one parameter, or one member of a parameter."""

    cdef int read(self, Reading* r, object value) except -1:
        raise NotImplementedError

    cdef int add_owners(self, dict owners, object value) except -1:
        return 0

    cdef object keep(self, object value):
        return value

    cdef bint is_steady(self, object value) except -1:
        return False

    cdef int forget(self) except -1:
        return 0

    cdef object spec(self, object value):
        raise NotImplementedError

    cdef list leaf_paths(self):
        return [(self.path, self.leaf)] if self.leaves else []

    cdef int let_integers_wrap(self) except -1:
        return 0

    cdef bint takes_condition(self) except -1:
        return False


cdef int set_device(Reading* r, Reader reader, int device) except -1:
    if r.device != kNoDevice:
        raise ValueError(
            f"parameter {(<Reader>r.placed).path!r} is on device {r.device}, and parameter {reader.path!r} is on device "
            f"{device}: the arrays of a call must be on one device, on which the kernel runs. Copy one of them, as in "
            f"cuda_graphs.array({reader.path}, device={r.device})"
        )
    r.device, r.placed = device, <PyObject*>reader
    return 0
