# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""TypedMemory: the part of this package's arrays that graphs use without knowing the class of the array."""


cdef class TypedMemory:
    """Elements of one type in C order, in memory of a device. Base class of NDArray."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError(f"{type(self).__name__} objects cannot be instantiated directly. Use cuda_graphs.ndarray().")

    cdef int _expose(self) except -1:
        raise NotImplementedError
