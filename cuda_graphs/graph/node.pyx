# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""GraphNode: what all nodes have in common."""

from cpython.object cimport PyObject
from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t

from cuda_graphs._driver.cuda cimport CUDA_ERROR_INVALID_VALUE, CUgraphNode, CUresult
from cuda_graphs._driver.cuda_graph cimport CUgraphNodeType, graph_driver
from cuda_graphs._driver.seam cimport check_attempt
from cuda_graphs._handles.graph_handles cimport (
    Direction, Edges, GraphBox, NodeKind, NodeRecord, add_edges, destroy_node, list_edges_of, remove_edges,
)
from cuda_graphs._handles.handles cimport hold_python
from cuda_graphs.graph.place cimport Place, register_class, wrap_graph, wrap_raw
from cuda_graphs.graph.adjacency import AdjacencySet
from cuda_graphs.graph.node_type import GraphNodeType

OWNERS = ("kernel", "event", "callback_fn", "child_graph", "branches")


cdef class GraphNode(Place):
    """A node of a definition. Each kind has a class of its own; this one stands for kinds without, and the entry.

    The same node is the same object as long as one lives, wherever it comes from. A node keeps its definition, and
    all definitions around that, alive. Properties are what the driver says now. A destroyed node still says what it
    was, but for the objects that it released: asking for those is a RuntimeError.
    """

    @property
    def type(self):
        """The GraphNodeType that the driver reports; None for the entry node and a destroyed node."""
        cdef CUgraphNode raw = self._record().raw
        cdef CUgraphNodeType type
        cdef CUresult status
        if raw == NULL:
            return None
        with nogil:
            status = graph_driver().cuGraphNodeGetType(raw, &type)
        check_attempt(status, "ask for the type of a node")
        return GraphNodeType(<int>type)

    @property
    def graph(self):
        """The GraphDef that this node is in; of a node in a body or an embedded graph, that inner one."""
        return wrap_graph(self._h, self._record().graph)

    @property
    def handle(self):
        """The CUgraphNode as an int; None for the entry node and a destroyed node."""
        return <uintptr_t>self._record().raw or None

    @property
    def is_valid(self):
        """False once the node was destroyed, or the graph around it with the node that held it."""
        cdef NodeRecord* record = self._record()
        return record.graph.raw != NULL and record.is_alive()

    @property
    def name(self):
        """The name that the node was given, or else a word for its kind. Assign a str to give it another."""
        cdef NodeRecord* record = self._record()
        if record.facts and not record.facts.get().name.empty():
            return record.facts.get().name.decode("utf-8", "surrogatepass")
        return self._default_name()

    @name.setter
    def name(self, str value not None):
        self._record().make_facts().name = value.encode("utf-8", "surrogatepass")

    @property
    def pred(self):
        """The nodes that this one depends on: a live set (AdjacencySet). Assign nodes to replace all edges."""
        return AdjacencySet(self, False)

    @pred.setter
    def pred(self, nodes):
        AdjacencySet(self, False).replace(nodes)

    @property
    def succ(self):
        """The nodes that depend on this one: a live set (AdjacencySet). Assign nodes to replace all edges."""
        return AdjacencySet(self, True)

    @succ.setter
    def succ(self, nodes):
        AdjacencySet(self, True).replace(nodes)

    def destroy(self):
        """Remove the node, its edges and all that is inside it from the definition. Executables are not affected.

        CUDAError in a graph that allocates or frees memory (a rule of the driver). Nothing happens the second time.
        """
        cdef NodeRecord* record = self._record()
        cdef CUresult status
        if record.raw == NULL:
            return
        values = self._read()
        status = destroy_node(record[0])
        if status:
            check_attempt(status, f"destroy {self!r}")
        # Not what owns something: that is released now.
        for name in OWNERS:
            values.pop(name, None)
        record.make_facts().values = hold_python(<PyObject*>values)

    def _read(self):
        """The values of all properties that are this kind's own, from the driver."""
        return {}

    def _default_name(self):
        return type(self).__name__.removesuffix("Node").lower()

    cdef object _value(self, str name):
        cdef NodeRecord* record = self._record()
        if record.raw != NULL:
            return self._read()[name]
        values = <object><PyObject*>record.facts.get().values.get() if record.facts and record.facts.get().values else {}
        if name not in values:
            self._open()  # says why there is nothing to say
        return values[name]

    # What AdjacencySet is made of.

    def _neighbours(self, bint forward):
        cdef NodeRecord* record = self._record()
        cdef Edges edges
        cdef CUresult status
        if record.raw == NULL:
            return set()
        with nogil:
            status = list_edges_of(record.raw, direction(forward), edges)
        if status:
            check_attempt(status, f"ask for the edges of {self!r}")
        return {wrap_raw(self._h, record.graph, raw) for raw in (edges.target if forward else edges.source)}

    def _check_ends(self, nodes):
        for node in nodes:
            if edge_end(self, self) == edge_end(self, node):
                check_attempt(CUDA_ERROR_INVALID_VALUE, f"have {self!r} depend on itself")

    def _link(self, nodes, bint forward):
        cdef GraphBox* graph = self._record().graph
        cdef Edges edges
        cdef CUresult status
        cdef CUgraphNode here, there
        self._check_ends(nodes)  # a driver may add the edges before the one that it refuses
        for node in nodes:
            here, there = edge_end(self, self), edge_end(self, node)
            if forward:
                edges.add(here, there)
            else:
                edges.add(there, here)
        if edges.size() == 0:
            return
        with nogil:
            status = add_edges(graph.raw, edges)
        if status:
            check_attempt(status, f"add edges between {self!r} and {nodes!r}")

    def _unlink(self, nodes, bint forward):
        cdef GraphBox* graph = self._record().graph
        cdef CUgraphNode raw = self._record().raw
        cdef Edges now, edges
        cdef size_t i
        cdef CUresult status
        if not nodes:
            return
        # An edge is only found together with its data.
        with nogil:
            status = list_edges_of(raw, direction(forward), now)
        if status:
            check_attempt(status, f"ask for the edges of {self!r}")
        for i in range(now.size()):
            if wrap_raw(self._h, graph, now.target[i] if forward else now.source[i]) in nodes:
                edges.copy(now, i)
        with nogil:
            status = remove_edges(graph.raw, edges)
        if status:
            check_attempt(status, f"remove edges between {self!r} and {nodes!r}")

    def __repr__(self):
        cdef NodeRecord* record = self._record()
        if record.kind == NodeKind.kEntry:
            return "<GraphNode entry>"
        if record.raw == NULL:
            return f"<{type(self).__name__} destroyed>"
        return f"<{type(self).__name__} handle={<uintptr_t>record.raw:#x}{self._describe()}>"

    def _describe(self):
        """What the repr says after the handle."""
        return ""


cdef Direction direction(bint forward) noexcept nogil:
    return Direction.kSuccessors if forward else Direction.kPredecessors


cdef CUgraphNode edge_end(GraphNode self, object node) except NULL:
    if not isinstance(node, GraphNode):
        raise TypeError(f"expected GraphNode, got {type(node).__name__}")
    cdef NodeRecord* record = (<GraphNode>node)._record()
    if record.raw == NULL:
        check_attempt(CUDA_ERROR_INVALID_VALUE, f"change edges of {node!r}, which has none")
    if record.graph != self._record().graph:
        check_attempt(CUDA_ERROR_INVALID_VALUE, f"make an edge between {self!r} and {node!r} of another graph")
    return record.raw


register_class(NodeKind.kOther, GraphNode)
