# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""GraphDef: a graph as it is being described."""

import os

from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t
from libcpp.vector cimport vector

from cuda_graphs._driver.cuda cimport CUcontext, CUgraphNode, CUresult
from cuda_graphs._driver.cuda_graph cimport (
    CU_GRAPH_COND_ASSIGN_DEFAULT, CUgraphEdgeData, graph_driver,
)
from cuda_graphs._driver.seam cimport check_attempt, ensure_driver, raise_noted
from cuda_graphs._handles.capture_handles cimport CaptureBox, capture_condition
from cuda_graphs._handles.graph_handles cimport (
    ConditionRecord, Edges, GraphBox, NodeKind, create_graph, list_edges, list_nodes,
)
from cuda_graphs.graph.condition cimport Condition
from cuda_graphs.graph.exec cimport instantiate_graph
from cuda_graphs._objects.numbers cimport read_size, read_unsigned
from cuda_graphs._objects.source cimport find_source, keep_source, text_of
from cuda_graphs.graph.labels cimport place_in_holder
from cuda_graphs.graph.operands cimport accept_context
from cuda_graphs.graph.parameter cimport declare
from cuda_graphs.graph.place cimport Place, class_of, hand_out, register_class, wrap_node, wrap_raw
from cuda_graphs.graph.check import check as check_definition
from cuda_graphs.graph.dot import write_labelled
from cuda_graphs.graph.options import GraphCompleteOptions, GraphDebugPrintOptions, accept


cdef class GraphDef(Place):
    """A graph definition: nodes and edges, of which executable Graphs are made.

    `GraphDef()` is empty and needs no context. Bodies of conditional nodes and embedded graphs are GraphDefs too; they
    keep the definition around them alive. Two GraphDefs are equal when they are the same CUDA graph.

    A Python callback or argument that refers to the definition it is part of makes a cycle that is never freed.
    """

    def __init__(self):
        ensure_driver()
        self._h = create_graph()
        if not self._h:
            raise_noted("create a graph")

    @property
    def handle(self):
        """The CUgraph as an int; 0 once the graph was destroyed with the node that held it.

        From now on the driver's graph itself keeps what its nodes need, for whoever copies or instantiates it.
        """
        return <uintptr_t>hand_out(self._record().graph)

    @property
    def is_valid(self):
        """False once the graph was destroyed with the node that held it."""
        return self._record().graph.raw != NULL

    @property
    def _entry(self):
        """The virtual node before all others: adding after it is adding to the graph."""
        return wrap_node(self._h, self._record())

    def nodes(self):
        """All nodes, as a set."""
        return set(list_graph_nodes(self))

    def edges(self):
        """All edges, as a set of (from, to)."""
        return set(list_graph_edges(self))

    def _early_edges(self):
        """The edges that let go when the kernel before them has begun, with nothing to wait for in the node after."""
        return set(list_graph_edges(self, True))

    def _listed(self):
        """Nodes and edges as lists, in the driver's order."""
        return list_graph_nodes(self), list_graph_edges(self)

    def edge_data(self, before, after):
        """The EdgeData of the edge from `before` to `after`; `EdgeData()` for a full edge.

        TypeError for what is no node, ValueError where there is no such edge in this graph.
        """
        cdef GraphBox* graph = self._open()
        for node, name in ((before, "before"), (after, "after")):
            if not isinstance(node, class_of(NodeKind.kOther)):
                raise TypeError(f"{name} must be a GraphNode, got {type(node).__name__}")
        data = before._edge_data(after, True) if (<Place>before)._record().graph == graph else None
        if data is None:
            raise ValueError(f"there is no edge from {before!r} to {after!r} in {self!r}")
        return data

    def create_condition(self, default_value=None):
        """A Condition for one conditional node of this graph or of a graph inside it.

        default_value  0..2**32-1: what it is at each launch of the outermost graph. None: what it was before.
        The context that is current must be that of the node and of the kernels that set it.
        """
        cdef CUresult status
        value = None if default_value is None else read_unsigned(default_value, "default_value", 32)
        condition = make_condition(self._open(), NULL, accept_context("condition"), value, &status)
        if status:
            check_attempt(status, f"create a condition of {self._identify(True)} with default {default_value}")
        return condition

    def param(self, name, type, default=None):
        """A Parameter: a value that nodes take by name, and that executables get later, again and again.

        name     an identifier, since `Graph.launch(stream, name=value)` sets it
        type     one of cuda_graphs (`cg.f32`, `cg.pointer`, ...) or a scalar type of NumPy
        default  what executables begin with; None: they are not launched before a value is set

        It is known in the whole hierarchy of this definition: a body makes and uses the parameters of the root. The
        same name gives the same Parameter; ValueError for another type or default than it has.

        The address of a copy needs a default of the memory that it is to take, unless that is as here without one: in
        an executable, a side of a copy keeps to memory of pools (DeviceMemoryResource, alloc nodes) or to memory of
        none (pinned, managed, SynchronousMemoryResource). Without a default it is of a pool where the other side is
        host memory, and else of none.
        """
        return declare(self._open(), name, type, default)

    def instantiate(
        self, options=None, *, auto_free_on_launch=False, upload_stream=None, device_launch=False,
        use_node_priority=False
    ):
        """An executable Graph of the definition as it is now. Options as fields or as a GraphCompleteOptions.

        Every call makes another, independent Graph; of a definition with alloc, free or conditional nodes only one
        may live at a time (a rule of the driver). GraphInstantiateError, a CUDAError and RuntimeError, says what is
        wrong with the definition.
        """
        keywords = {
            "auto_free_on_launch": auto_free_on_launch,
            "upload_stream": upload_stream,
            "device_launch": device_launch,
            "use_node_priority": use_node_priority,
        }
        return instantiate_graph(self, accept(GraphCompleteOptions, options, keywords))

    def debug_dot_print(self, path, options=None):
        """Write the graph, and all graphs in it, to a file in the DOT language. `options` is a GraphDebugPrintOptions.

        The driver writes the file; names that nodes were given and the lines that added them are put into its labels.
        """
        if options is None:
            options = GraphDebugPrintOptions()
        elif not isinstance(options, GraphDebugPrintOptions):
            raise TypeError(f"options must be a GraphDebugPrintOptions instance, got {type(options).__name__}")
        if not isinstance(path, str | bytes | os.PathLike):
            raise TypeError(f"path must be str, bytes or os.PathLike, got {type(path).__name__}")
        if b"\0" in os.fsencode(path):
            raise ValueError(f"path must not contain a NUL, got {path!r}")
        self._open()
        write_labelled(self, path, options)

    def _write_dot(self, path, unsigned int flags):
        """What the driver writes."""
        cdef GraphBox* graph = self._open()
        cdef bytes encoded = os.fsencode(path)
        cdef const char* file = encoded
        cdef CUresult status
        with nogil:
            status = graph_driver().cuGraphDebugDotPrint(graph.raw, file, flags)
        if status:
            check_attempt(status, f"write {self._identify(True)} to {path!r}")

    def check(self, limit=100):
        """Look for mistakes that the driver does not report: a CheckReport, which is false if there are none.

        It looks, in bodies and embedded graphs too, for memory (and events, and conditions) that two nodes touch without
        an order between them, memory of alloc nodes touched outside of its life, never freed or freed twice, and
        conditions that nothing sets or looks at. Of kernels it knows what `launch(..., reads=, writes=)` was told. What
        parameters point to is taken to be apart. A programmatic edge counts as an order: that the kernel waits before
        it touches memory is up to it. An edge that lets go when a kernel begins, with no such wait (`from_port` is set
        and `type` is not), is no order.

        limit  the most findings of one kind
        """
        return check_definition(self, read_size(limit, "limit"))

    def _conditions(self):
        """What conditions were created for this graph: (handle, whether it has a default value, source line)."""
        cdef GraphBox* graph = self._open()
        return [(c.handle, c.has_default, text_of(graph, c.source)) for c in graph.conditions]

    def _identify(self, bint with_handle=False):
        """How messages name the graph, and what it is inside of."""
        cdef GraphBox* graph = self._record().graph
        words = f"GraphDef (handle {<uintptr_t>graph.raw:#x})" if with_handle else "GraphDef"
        place = place_in_holder(graph)
        if place is None:
            return words
        return f"{place} of {wrap_node(self._h, graph.holder)._identify(with_handle)}"

    def __eq__(self, other):
        if not isinstance(other, GraphDef):
            return NotImplemented
        return self._record() == (<GraphDef>other)._record()

    def __hash__(self):
        # Of the record, which stays when the driver destroys the graph with the node that held it.
        return hash(<uintptr_t>self._record())

    def __repr__(self):
        return f"<GraphDef handle={<uintptr_t>self._record().graph.raw:#x}>"


cdef Condition make_condition(
    GraphBox* graph, CaptureBox* capture, CUcontext context, object default_value, CUresult* status
):
    cdef ConditionRecord record
    cdef Condition condition
    cdef unsigned int value = 0, flags = 0
    record.handle, record.has_default = 0, default_value is not None
    if record.has_default:
        value, flags = default_value, CU_GRAPH_COND_ASSIGN_DEFAULT
    with nogil:
        if capture != NULL:
            status[0] = capture_condition(capture[0], context, value, flags, &record.handle)
        else:
            status[0] = graph_driver().cuGraphConditionalHandleCreate(&record.handle, graph.raw, context, value, flags)
    if status[0]:
        return None
    record.source = keep_source(graph, find_source())
    graph.conditions.push_back(record)
    condition = Condition._from_handle(record.handle)
    condition._context = context
    return condition


cdef list list_graph_nodes(GraphDef self):
    cdef GraphBox* graph = self._open()
    cdef vector[CUgraphNode] nodes
    cdef CUgraphNode raw
    cdef CUresult status
    with nogil:
        status = list_nodes(graph.raw, nodes)
    if status:
        check_attempt(status, f"list the nodes of {self._identify(True)}")
    return [wrap_raw(self._h, graph, raw) for raw in nodes]


cdef bint is_early(const CUgraphEdgeData& data) noexcept:
    return data.from_port != 0 and data.type == 0


cdef list list_graph_edges(GraphDef self, bint early_only=False):
    cdef GraphBox* graph = self._open()
    cdef Edges edges
    cdef size_t i
    cdef CUresult status
    with nogil:
        status = list_edges(graph.raw, edges)
    if status:
        check_attempt(status, f"list the edges of {self._identify(True)}")
    return [
        (wrap_raw(self._h, graph, edges.source[i]), wrap_raw(self._h, graph, edges.target[i]))
        for i in range(edges.size())
        if not early_only or is_early(edges.data[i])
    ]


register_class(NodeKind.kEntry, GraphDef)
