# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Names of nodes and kinds of values, stored in the records of the handle layer (node_labels.hpp, node.hpp)."""

from cpython.object cimport PyObject
from libc.stddef cimport size_t

from cuda_graphs.core.driver.seam cimport raise_noted
from cuda_graphs.core.graphs.graph_handles cimport DeclaredHandle, NodeKind, copy_labels
from cuda_graphs.core.resources.handles cimport hold_python
from .access_ranges cimport declaration_of_call, set_declaration


cdef int refuse_other_than_str(object name) except -1:
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, got {type(name).__name__}")
    return 0


cdef int set_name(NodeRecord* record, str name) except -1:
    record.make_metadata().labels.name = name.encode("utf-8", "surrogatepass")
    return 0


cdef object given_name(NodeRecord* record):
    if not record.metadata or record.metadata.get().labels.name.empty():
        return None
    return record.metadata.get().labels.name.decode("utf-8", "surrogatepass")


cdef int note_kind_of_value(NodeRecord* record, int kind, bint is_byte) except -1:
    cdef str sign = chr(kind)
    if record.metadata or sign != "u" or not is_byte:  # most nodes need no metadata
        record.make_metadata().array_form = hold_python(<PyObject*>sign)
    return 0


cdef object noted_kind(NodeRecord* record):
    if not record.metadata or not record.metadata.get().array_form:
        return None
    return <str><PyObject*>record.metadata.get().array_form.get()


cdef str kind_of_value(NodeRecord* record):
    found = noted_kind(record)
    return "u" if found is None else found


cdef shared_ptr[const GraphLabels] labels_of(GraphBox* graph, object who) except *:
    declare_calls(graph)
    cdef shared_ptr[const GraphLabels] labels = copy_labels(graph[0])
    if labels.get() == NULL:
        raise_noted(f"list the nodes of {who!r}")
    return labels


cdef int declare_calls(GraphBox* graph) except -1:
    """Declare the accesses of captured calls, also in embedded graphs: a copy of their nodes has no call to ask."""
    cdef NodeRecord* record
    cdef GraphBox* inner
    cdef DeclaredHandle declared
    cdef size_t i
    for i in range(graph.nodes.size()):
        record = &graph.nodes[i]
        if not record.is_alive() or not record.metadata:
            continue
        declared = declaration_of_call(record)
        if declared:
            set_declaration(record, declared)
        for inner in record.metadata.get().inner:
            declare_calls(inner)
    return 0


# Kind -> names of the properties that give the graphs inside a node.
cdef dict INNER = {
    <int>NodeKind.kIf: ("then",),
    <int>NodeKind.kIfElse: ("then", "else_"),
    <int>NodeKind.kWhile: ("body",),
    <int>NodeKind.kChild: ("child_graph",),
}


cdef object property_of_holder(GraphBox* graph):
    cdef NodeRecord* holder = graph.holder
    cdef size_t i = 0
    if holder == NULL:
        return None
    while holder.metadata.get().inner[i] != graph:
        i += 1
    names = INNER.get(<int>holder.kind)
    return f"`{names[i]}`" if names else f"`branches[{i}]`"
