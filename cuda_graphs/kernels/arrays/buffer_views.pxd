# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.objects.memory.buffer cimport Buffer
from .ndarray cimport NDArray

# Returns an array that uses the memory of `buffer`.
cdef NDArray array_of_buffer(Buffer buffer, object dtype, tuple inner, tuple shape, object device)
