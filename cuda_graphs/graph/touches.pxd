# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._handles.graph_handles cimport NodeRecord

# What a kernel touches as far as its launch says: (reads, writes, handles of the conditions that it takes), or None for
# nothing. `reads` and `writes` are as given. Nothing has changed when it raises.
cdef tuple read_touches(object reads, object writes, tuple args)

cdef int set_touches(NodeRecord* record, tuple touches) except -1

# Of a node without any, three empty tuples.
cdef tuple touches_of(NodeRecord* record)
