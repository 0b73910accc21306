# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from cuda_graphs._driver.cuda cimport CUgraph, CUgraphNode
from cuda_graphs._driver.cuda_graph cimport CUgraphConditionalNodeType
from cuda_graphs._handles.graph_handles cimport GraphBox, NodeHandle, NodeKind, NodeRecord, NodeSpec, Owners, OwnerSlot


cdef class Place:
    cdef NodeHandle _h  # of the node to add after; of a definition, its entry node
    cdef object __weakref__

    cdef NodeRecord* _record(self) except NULL

    # The graph to add to. RuntimeError when the node, or the graph around it, was destroyed.
    cdef GraphBox* _open(self) except NULL

    # Adds the node of a spec; `name` is a str or None, `edge` an EdgeData or None: a full edge.
    cdef Place _add(self, NodeSpec& spec, object name, object edge=*)

    # The parts of it. Owners are attached to the graph before the driver call that needs them; a node that the driver
    # made is put on record.
    cdef OwnerSlot _attach(self, const Owners& owners) except *
    cdef Place _added(self, CUgraphNode raw, NodeKind kind, OwnerSlot owners, object name)

    cdef Place _add_conditional(
        self, object condition, NodeKind kind, CUgraphConditionalNodeType type, unsigned int size, object name)


# The object of a node on record, the one that lives or a new one. `any` is a handle of its hierarchy.
cdef Place wrap_node(const NodeHandle& any, NodeRecord* record)

# The same for what the driver lists: a node that is not on record is put there.
cdef Place wrap_raw(const NodeHandle& any, GraphBox* graph, CUgraphNode raw)

# The driver's graph, for others: it takes what its nodes need, since they may copy it. Null once destroyed.
cdef CUgraph hand_out(GraphBox* graph) except? NULL

# Its argument as a GraphDef, or a TypeError.
cdef Place accept_graph(object child)

# A GraphDef of an inner graph.
cdef Place wrap_graph(const NodeHandle& any, GraphBox* graph)

# Says which class stands for the nodes of a kind. GraphDef is that of NodeKind.kEntry.
cdef int register_class(NodeKind kind, type cls) except -1
cdef type class_of(NodeKind kind)
