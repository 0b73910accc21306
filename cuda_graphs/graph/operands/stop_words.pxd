# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libc.stdint cimport uint64_t

from cuda_graphs.core.graphs.graph_handles cimport ParameterRef
from cuda_graphs.objects.memory.buffer cimport Buffer
from .parameter cimport Parameter


cdef class StopWord(Parameter):
    cdef Buffer _word  # the memory of the default


# Returns True for the parameter of a stop word, and writes the handle of its condition, or 0 for that of loops inside of
# tasks.
cdef bint is_stop_word(const ParameterRef& parameter, uint64_t* handle) noexcept

# Returns memory for words that are 0: of the current device, or host memory that all devices use.
cdef Buffer new_words(size_t count, bint shared=*)
