# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._handles.graph_handles cimport NodeRecord

# What a kernel touches as far as its launch says: (reads, writes, handles of the conditions that it takes). `reads` and
# `writes` are as given. Nothing has changed when it raises.
cdef tuple read_touches(object reads, object writes, tuple args)

# The same of a kernel node that is updated, where None stays.
cdef tuple change_touches(NodeRecord* record, object reads, object writes, object args)

cdef int set_touches(NodeRecord* record, tuple touches) except -1

# Of a node without any, three empty tuples.
cdef tuple touches_of(NodeRecord* record)

# Of a memset or memcpy node: the names of the parameters that its operands are, by "dst" and "src".
cdef dict operand_parameters(NodeRecord* record)
