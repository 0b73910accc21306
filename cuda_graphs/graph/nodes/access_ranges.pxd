# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libcpp.vector cimport vector

from cuda_graphs.core.graphs.graph_handles cimport (
    DeclaredAccesses,
    DeclaredHandle,
    NodeAccesses,
    NodeRecord,
    NodeSpec,
    Span,
)

# Returns the accesses that a caller declares, and the conditions among the arguments of a kernel; null if there are
# none. `reads` and `writes` are the arguments of `launch` and `callback`: None, or a list. If it raises, nothing has
# changed.
cdef DeclaredHandle read_declaration(object reads, object writes, tuple args) except *

# Returns the declaration of an updated node. An argument that is None keeps its value.
cdef DeclaredHandle change_declaration(NodeRecord* record, object reads, object writes, object args) except *

cdef int set_declaration(NodeRecord* record, const DeclaredHandle& declared) except -1

# Returns the declaration of a node, or NULL.
cdef const DeclaredAccesses* declaration_of(NodeRecord* record) noexcept

# Return what a task of compiled code reads and writes, if its node does not declare it: in a capture. As (reads, writes),
# each a tuple of Python Spans, or None; and as a declaration, or null.
cdef tuple memory_of_call(NodeRecord* record)
cdef DeclaredHandle declaration_of_call(NodeRecord* record) except *

# Returns (reads, writes) as the caller declared them, each a tuple of Python Spans; (None, None) if they are unknown.
cdef tuple declared_spans(NodeRecord* record)

# Returns Python Spans, or None, with addresses that other code may use.
cdef object public_spans(object spans)

# Returns the spans as Python Spans.
cdef tuple as_spans(const vector[Span]& spans)

# Appends the accesses of a node with these parameters and this declaration, without those of the graphs inside it.
cdef int describe_accesses(NodeSpec& spec, const DeclaredAccesses* declared, NodeAccesses& accesses) except -1

# Returns accesses as a list of (Span, mode, what): "reads", "writes" or "may access"; "memory", "event" or "condition".
cdef list list_accesses(const NodeAccesses& accesses)
