# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.objects.memory.typed_memory cimport TypedMemory


# Its operators raise TypeError.
cdef class WithoutOperators(TypedMemory):
    pass
