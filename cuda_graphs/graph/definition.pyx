# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""GraphDef: a graph definition."""

import os

from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUcontext, CUgraphNode, CUresult
from cuda_graphs.core.driver.cuda_graph cimport (
    CU_GRAPH_COND_ASSIGN_DEFAULT,
    CUgraphEdgeData,
    graph_driver,
)
from cuda_graphs.core.driver.seam cimport check_attempt, ensure_driver, raise_noted
from cuda_graphs.core.capture.capture_handles cimport CaptureBox, capture_condition
from cuda_graphs.core.graphs.graph_handles cimport (
    ConditionRecord,
    Edges,
    GraphBox,
    NodeHandle,
    NodeKind,
    NodeRecord,
    create_graph,
    hierarchy_number,
    list_edges,
    list_nodes,
    order_all_tests,
    order_test,
    parameters_of,
)
from cuda_graphs.core.resources.handles cimport box_of
from cuda_graphs.graph.operands.condition cimport Condition
from cuda_graphs.graph.executable.executable cimport instantiate_graph
from cuda_graphs.graph.flow.task_flow cimport make_task_flow
from cuda_graphs.objects.numbers cimport read_size, read_unsigned
from cuda_graphs.objects.source cimport keep_source, text_of
from cuda_graphs.graph.nodes.labels cimport property_of_holder
from cuda_graphs.graph.operands.operands cimport accept_context
from cuda_graphs.graph.operands.parameter cimport count_temporaries, declare, list_unused, make_temporary
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint, give_launch, hand_out, wrap_node, wrap_raw
from cuda_graphs.graph.nodes.node_classes cimport class_of, register_class
from cuda_graphs.graph.analysis import refusals
from cuda_graphs.graph.nodes.places import reading_places
from cuda_graphs.graph.nodes.options import GraphCompleteOptions, GraphDebugPrintOptions, accept
from cuda_graphs.graph.saving import save as save_definition


cdef class GraphDef(InsertionPoint):
    """A graph definition: nodes and edges, from which executable Graphs are made.

    `GraphDef()` is empty and needs no context. Bodies of conditional nodes and embedded graphs are GraphDefs too. They
    keep the definition around them alive. Two GraphDefs are equal if they are the same CUDA graph.

    A Python callback or argument that refers to its own definition makes a cycle that is never freed.
    """

    def __init__(self):
        ensure_driver()
        cdef NodeHandle h = create_graph()
        if not h:
            raise_noted("create a graph")
        self._ref.refer(h, box_of[NodeRecord](h)[0])

    @property
    def handle(self):
        """The CUgraph as an int; 0 once the graph was destroyed with the node that held it.

        After the first read the driver's graph keeps the objects of its nodes alive, because other code may copy or
        instantiate it.
        """
        return <uintptr_t>hand_out(self._record().graph)

    @property
    def is_valid(self):
        """False once the graph was destroyed with the node that held it."""
        return self._record().graph.raw != NULL

    @property
    def _entry(self):
        """The virtual node before all other nodes. A node that is added after it has no dependencies."""
        return wrap_node(self._ref.any(), self._record())

    def nodes(self):
        """Return all nodes as a set."""
        return set(list_graph_nodes(self))

    def edges(self):
        """Return all edges as a set of (from, to)."""
        return set(list_graph_edges(self))

    def _early_edges(self):
        """Return the edges whose target may start once the source kernel has begun, and contains no wait for its end."""
        return set(list_graph_edges(self, True))

    def _listed(self):
        """Return nodes and edges as lists, in the driver's order."""
        return list_graph_nodes(self), list_graph_edges(self)

    def _listed_with_data(self):
        """Return (nodes, [(from, to, (from_port, to_port, type))]), in the driver's order."""
        return list_graph_nodes(self), list_edges_with_data(self)

    def edge_data(self, before, after):
        """Return the EdgeData of the edge from `before` to `after`; `EdgeData()` for a full edge.

        Raises TypeError for an argument that is not a node, ValueError if this graph has no such edge.
        """
        cdef GraphBox* graph = self._open()
        for node, name in ((before, "before"), (after, "after")):
            if not isinstance(node, class_of(NodeKind.kOther)):
                raise TypeError(f"{name} must be a GraphNode, got {type(node).__name__}")
        data = before._edge_data(after, True) if (<InsertionPoint>before)._record().graph == graph else None
        if data is None:
            raise ValueError(f"there is no edge from {before!r} to {after!r} in {self!r}")
        return data

    def create_condition(self, default_value=None):
        """Return a Condition for one conditional node of this graph or of a graph inside it.

        default_value  value at the beginning of each launch of the outermost graph, 0..2**32-1. None: the condition keeps
                       its value from launch to launch

        The conditional node and the kernels that set the condition must belong to the current context.
        """
        cdef CUresult status
        value = None if default_value is None else read_unsigned(default_value, "default_value", 32)
        condition = make_condition(self._open(), NULL, accept_context("condition"), value, &status)
        if status:
            check_attempt(status, f"create a condition of {self._identify(True)} with default {default_value}")
        return condition

    def param(self, name, type, default=None):
        """Return a Parameter: a value that nodes use by name. Executables may set it before each launch.

        name     an identifier, because `Graph.launch(stream, name=value)` sets the parameter
        type     a type of cuda_graphs (`cg.f32`, `cg.pointer`, ...) or a scalar type of NumPy
        default  initial value in executables. None: an executable cannot be launched before a value is set

        All graphs in the hierarchy of this definition share their parameters. The same name gives the same Parameter.
        Raises ValueError if the type or the default differs from that of the existing Parameter.

        In an executable each side of a copy is limited to one class of memory: memory of pools (DeviceMemoryResource,
        alloc nodes) or memory outside of pools (pinned, managed, SynchronousMemoryResource). The default of a parameter
        that is an address in a copy decides the class. Without a default the class of an array is that of `cg.ndarray`
        on the device. The class of an address is pool memory if the other side is host memory, and memory outside of
        pools otherwise.
        """
        return declare(self._open(), name, type, default)

    def temporary(self, shape, dtype, *, name=None):
        """Return a Temporary: an array that nodes use in launches, without an address of its own.

        shape  the extents, an int or a tuple of at most 8 ints of 1 or more
        dtype  the type of the elements: a type of cuda_graphs (`cg.f32`, `cg.vec3`) or a scalar type of NumPy
        name   a name for messages and pictures. None: "temporary" and a number

        Nodes of this definition, and of graphs inside its conditional nodes, take it as an argument of kernels, copies and
        fills. Its contents are undefined at the beginning of each launch. Each executable allocates memory for its
        temporaries once. Two temporaries share memory if all nodes that use one come before all nodes that use the other, by
        full edges; `memory` tells the plan. Kernels must not keep the address, and definitions with temporaries cannot be
        embedded or saved.

        Raises TypeError or ValueError for the arguments.
        """
        return make_temporary(self._open(), shape, dtype, name)

    def task_flow(self):
        """Return a TaskFlow for `with graph.task_flow() as tf:`. Its methods add nodes in program order and find their edges.

        A graph has one open task flow at a time. Bodies of conditional nodes may have their own.
        """
        return make_task_flow(self)

    def instantiate(
        self, options=None, *, auto_free_on_launch=False, upload_stream=None, device_launch=False,
        use_node_priority=False, optimize=False, early_edges=False
    ):
        """Return an executable Graph of the current definition. Options are fields or a GraphCompleteOptions.

        Every call makes another, independent Graph. A definition with alloc, free or conditional nodes may have only one
        living Graph (a rule of the driver). Raises GraphInstantiateError, a CUDAError and RuntimeError, which names the
        mistake in the definition.
        """
        if (  # no option, as nearly always
            options is None is upload_stream
            and False is auto_free_on_launch is device_launch is use_node_priority is optimize is early_edges
        ):
            return instantiate_graph(self, None)
        keywords = {
            "auto_free_on_launch": auto_free_on_launch,
            "upload_stream": upload_stream,
            "device_launch": device_launch,
            "use_node_priority": use_node_priority,
            "optimize": optimize,
            "early_edges": early_edges,
        }
        return instantiate_graph(self, accept(GraphCompleteOptions, options, keywords))

    def debug_dot_print(self, path, options=None):
        """Write the graph, and all graphs in it, to a file in the DOT language. `options` is a GraphDebugPrintOptions.

        The driver writes the file. Then this method adds the names and source lines of the nodes to the labels. Raises
        OSError, such as FileNotFoundError for a missing folder, if the file cannot be written.
        """
        if options is None:
            options = GraphDebugPrintOptions()
        elif not isinstance(options, GraphDebugPrintOptions):
            raise TypeError(f"options must be a GraphDebugPrintOptions or None, got {type(options).__name__}")
        if not isinstance(path, str | bytes | os.PathLike):
            raise TypeError(f"path must be str, bytes or os.PathLike, got {type(path).__name__}")
        if b"\0" in os.fsencode(path):
            raise ValueError(f"path must not contain a NUL, got {path!r}")
        self._open()
        from cuda_graphs.graph.display.dot import write_labelled

        write_labelled(self, path, options)

    def _write_dot(self, path, unsigned int flags):
        """Have the driver write the DOT file."""
        cdef GraphBox* graph = self._open()
        cdef bytes encoded = os.fsencode(path)
        cdef const char* file = encoded
        cdef CUresult status = order_all_tests(graph[0])
        if status:
            check_attempt(status, "add the edges to the tests of loops")
        with nogil:
            status = graph_driver().cuGraphDebugDotPrint(graph.raw, file, flags)
        if status:
            check_attempt(status, f"write {self._identify(True)} to {path!r}")

    def draw(self, path=None, *, fold=None, check=False, theme="auto"):
        """Return a Picture of the graph with all graphs in it, and write it to a file if `path` is given.

        path   a file whose name ends with .svg, .html, .png (needs the extra `png`) or .dot. None: only return the Picture
        fold   True: draw a pattern that repeats once, as "x 200". None: only in graphs of more than 40 nodes
        check  True: mark the nodes in findings of `GraphDef.check`, and list the findings
        theme  "light" or "dark". "auto" follows the page around the picture

        Raises TypeError or ValueError for the arguments, OSError if the file cannot be written, ImportError if a PNG is
        wanted without its library.
        """
        from cuda_graphs.graph.display import drawing

        with reading_places():
            return drawing.draw(self, "GraphDef", path, fold, check, theme)

    def diff(self, other):
        """Return a GraphDifference, which says what distinguishes the GraphDef `other` from this one. It is false if nothing does.

        The difference has the nodes and edges that were added, removed and changed, also in bodies and embedded graphs.
        `print` shows a line for each, and `draw` both graphs in one picture. Nodes are paired by their names, properties and
        neighbours, not by their handles. Memory is compared by its address, where paired alloc nodes have the same memory.
        Kernels are compared by their names, not by their code.

        Raises TypeError if `other` is not a GraphDef.
        """
        from cuda_graphs.graph.analysis.comparison import compare

        if not isinstance(other, GraphDef):
            raise TypeError(f"other must be a GraphDef, got {type(other).__name__}")
        self._open()
        (<GraphDef>other)._open()
        with reading_places():
            return compare(self, other)

    def _repr_mimebundle_(self, **types):
        from cuda_graphs.graph.display import drawing

        with reading_places():
            return drawing.mime_bundle(self)

    def __str__(self):
        from cuda_graphs.graph.display import drawing

        with reading_places():
            return drawing.text_of_graph(self)

    save = save_definition

    def check(self, limit=100):
        """Look for mistakes that the driver does not report. Returns a CheckReport, which is false if there are none.

        The check covers bodies and embedded graphs too. It finds:

        * memory, events and conditions that two nodes access without an order between them;
        * memory of alloc nodes that is used before its allocation or after its free node, never freed, or freed twice;
        * conditions that no kernel sets or no node reads, loops whose condition their body does not set, and empty bodies;
        * parameters that no node uses.

        The accesses of kernels of `cuda_graphs.kernel` are known. Those of other kernels and of host callbacks are given
        to `launch` and `callback` as `reads` and `writes`. The report lists nodes without such knowledge in `unknown`, and
        its `is_complete` is False then. Different parameters are assumed to point to different memory.

        A programmatic edge counts as an order: the kernel must wait before it touches memory. An edge whose target starts
        when a kernel begins, without such a wait (`from_port` is set, `type` is 0), is no order.

        limit  the largest number of findings of one kind
        """
        from cuda_graphs.graph.analysis.check import check

        with reading_places():
            return check(self, read_size(limit, "limit"))

    @property
    def memory(self):
        """The MemoryUse of alloc nodes and temporaries: their bytes, how many may be in use at once, and who shares.

        Temporaries and arrays of alloc nodes share memory by a plan. Memory that has an address, such as an array whose `dptr`
        was read, shares what the driver shares: it gives an address again only to an alloc node that comes after the
        free node. The accesses are those of `check`. Memory without a free node counts to the end.

        Raises RuntimeError for a definition that is no longer valid, and ValueError for nodes that depend on one another in
        a circle.
        """
        from cuda_graphs.graph.analysis.memory_use import memory_use

        with reading_places():
            return memory_use(self)

    def _explain_embedding(self):
        """Return the cause of a refusal to embed this graph, (explanation, remedy), or None."""
        return refusals.explain_embedding(self)

    def _explain_launch(self):
        """Return the cause of a refusal to launch an executable of this definition, or None."""
        return refusals.explain_launch(self)

    def _explain_memory(self, what, *numbers):
        """Return the cause of a refusal of an alloc, free, memset or memcpy node, or None."""
        return refusals.explain_memory(self, what, numbers)

    def _explain_removal(self):
        """Return the cause of a refusal to remove nodes or edges, or None."""
        return refusals.explain_removal(self)

    def _unfit_for_bodies(self):
        """Return the first node that bodies of conditional nodes may not hold, or None."""
        return refusals.unfit_for_bodies(self)

    def _first_on_other_device(self, device):
        """Return the first node that is known to be on another device, or None."""
        return refusals.first_on_other_device(self, device)

    def _has_temporaries(self):
        """Return whether nodes of the definition may use temporaries, or alloc nodes without an address."""
        return count_temporaries(self._open()) > 0 or parameters_of(self._open()[0]).has_places()

    def _unused_parameters(self):
        """Return the Parameters that no node uses; [] for a graph inside another graph."""
        cdef GraphBox* graph = self._open()
        return list_unused(graph) if graph.holder == NULL else []

    def _conditions(self):
        """Return (handle, whether it has a default value, source line) of each condition created for this graph."""
        cdef GraphBox* graph = self._open()
        return [(c.handle, c.has_default, text_of(graph, c.source)) for c in graph.conditions]

    def _condition_defaults(self):
        """Return {handle: default value or None} of the conditions created for this graph."""
        cdef GraphBox* graph = self._open()
        return {c.handle: c.default_value if c.has_default else None for c in graph.conditions}

    def _loop_test(self):
        """Return the kernel that sets the condition of the loop whose body this is, or None."""
        cdef GraphBox* graph = self._open()
        return wrap_node(self._ref.any(), graph.test) if graph.test != NULL and graph.test.is_alive() else None

    def _identify(self, bint with_handle=False):
        """Return the name of the graph in messages, with the nodes around it."""
        cdef GraphBox* graph = self._record().graph
        words = f"GraphDef (handle {<uintptr_t>graph.raw:#x})" if with_handle else "GraphDef"
        place = property_of_holder(graph)
        if place is None:
            return words
        return f"{place} of {wrap_node(self._ref.any(), graph.holder)._identify(with_handle)}"

    def __eq__(self, other):
        if not isinstance(other, GraphDef):
            return NotImplemented
        return self._record() == (<GraphDef>other)._record()

    def __hash__(self):
        # The record outlives the driver's graph, which is destroyed with the node that holds it.
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
        record.default_value = value
    with nogil:
        if capture != NULL:
            status[0] = capture_condition(capture[0], context, value, flags, &record.handle)
        else:
            status[0] = graph_driver().cuGraphConditionalHandleCreate(&record.handle, graph.raw, context, value, flags)
    if status[0]:
        return None
    keep_source(graph, &record.source)
    graph.conditions.push_back(record)
    condition = Condition._from_handle(record.handle, hierarchy_number(graph[0]))
    condition._context = context
    return condition


cdef int order_test_of(GraphBox* graph) except -1:
    cdef CUresult status = order_test(graph[0])
    return check_attempt(status, "add the edges to the test of a loop") if status else 0


cdef list list_graph_nodes(GraphDef self):
    cdef GraphBox* graph = self._open()
    cdef vector[CUgraphNode] nodes
    cdef CUgraphNode raw
    cdef CUresult status
    order_test_of(graph)
    with nogil:
        status = list_nodes(graph.raw, nodes)
    if status:
        check_attempt(status, f"list the nodes of {self._identify(True)}")
    return [wrap_raw(self._ref.any(), graph, raw) for raw in nodes]


cdef bint is_early(const CUgraphEdgeData& data) noexcept:
    return data.from_port != 0 and data.type == 0


cdef list list_edges_with_data(GraphDef self, bint early_only=False):
    cdef GraphBox* graph = self._open()
    cdef Edges edges
    cdef size_t i
    cdef CUresult status
    order_test_of(graph)
    with nogil:
        status = list_edges(graph.raw, edges)
    if status:
        check_attempt(status, f"list the edges of {self._identify(True)}")
    found = []
    for i in range(edges.size()):
        if early_only and not is_early(edges.data[i]):
            continue
        data = edges.data[i].from_port, edges.data[i].to_port, edges.data[i].type
        found.append((wrap_raw(self._ref.any(), graph, edges.source[i]), wrap_raw(self._ref.any(), graph, edges.target[i]), data))
    return found


cdef list list_graph_edges(GraphDef self, bint early_only=False):
    return [(before, after) for before, after, _ in list_edges_with_data(self, early_only)]


register_class(NodeKind.kEntry, GraphDef)
give_launch(GraphDef)
