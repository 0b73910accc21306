# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from .readers.reader cimport Reader

# Returns the Reader of a parameter. `leaf` and `key` are the next free indices; `extra_leaf` is an ExtraLeaf.
cdef Reader reader_of(object annotation, str path, Py_ssize_t leaf, Py_ssize_t key, int extra_leaf=*)
