# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from .reader cimport Reader

# Return the Reader of a Condition and that of an object of the host, without its path and its place.
cdef Reader condition_reader()
cdef Reader host_object_reader(object annotation)
