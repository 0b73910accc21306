# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs.core.graphs.graph_handles cimport NodeRecord

# Returns the declared accesses of a kernel: (reads, writes, handles of the conditions among its arguments). `reads` and
# `writes` are the arguments of `launch`. If it raises, nothing has changed.
cdef tuple read_accesses(object reads, object writes, tuple args)

# Returns the accesses of an updated kernel node. An argument that is None keeps its value.
cdef tuple change_accesses(NodeRecord* record, object reads, object writes, object args)

cdef int set_accesses(NodeRecord* record, tuple accesses) except -1

# Returns the declared accesses of a node; three empty tuples without a declaration.
cdef tuple accesses_of(NodeRecord* record)

# Returns "dst" or "src" -> name of the parameter, for the operands of a memset or memcpy node that are parameters.
cdef dict operand_parameters(NodeRecord* record)
