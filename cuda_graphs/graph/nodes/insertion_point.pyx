# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""InsertionPoint: the base class of definitions and nodes, with the methods that add nodes.

Every method works in the same steps. It reads the arguments into a spec (graph/nodes/spec.pyx). Then `_add` attaches the owners
of the new node to the graph, calls the driver without the GIL, and records the node. If the driver refuses the node, the
owners are detached again and the graph has not changed.
"""

import math

cimport cython
from cpython.object cimport PyObject, PyTypeObject
from libc.stddef cimport size_t
from libc.stdint cimport uint64_t
from libcpp.memory cimport shared_ptr, unique_ptr
from libcpp.utility cimport move
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_SUPPORTED, CUgraph, CUgraphNode, CUresult
from cuda_graphs.core.driver.cuda_graph cimport CUgraphConditionalHandle, CUgraphEdgeData
from cuda_graphs.core.driver.seam cimport check_attempt, raise_explained, raise_noted
from cuda_graphs.core.graphs.graph_handles cimport (
    AllocKind,
    GraphBox,
    GraphLabels,
    GraphMemoryRef,
    NodeHandle,
    NodeKind,
    NodeParameters,
    Dependencies,
    NodeRecord,
    NodeSpec,
    Owners,
    OwnerSlot,
    add_inner_graph,
    add_node,
    alloc_kind,
    as_owner,
    create_graph_memory,
    find_kind,
    find_place,
    find_user,
    frees_place,
    hierarchy_number,
    is_handed_out,
    living_graph,
    make_node,
    note_allocation,
    note_free,
    note_handed_out,
    dependencies_on,
    order_all_tests,
    parameters_of,
    prepare_node,
    record_node,
    share_owners,
    stand_in_of,
)
from cuda_graphs.core.resources.device_scope cimport has_several_devices, kNoDevice
from cuda_graphs.core.resources.handles cimport hold_python
from cuda_graphs.objects.body_rules cimport check_copy_fits_body, check_fits_body
from cuda_graphs.objects.code.kernel cimport Kernel, as_launch
from cuda_graphs.objects.code.launch_config cimport LaunchConfig, is_config_function
from cuda_graphs.objects.device.context cimport DeviceScope, enter_device
from cuda_graphs.objects.keyword_method cimport Arguments, PyMethodDef, PySequence_Fast_ITEMS, as_tuple, give_method
from cuda_graphs.objects.keyword_method cimport keywords as as_dict
from cuda_graphs.objects.memory.buffer cimport Buffer
from cuda_graphs.objects.numbers cimport read_flag, read_unsigned
from cuda_graphs.objects.source cimport keep_source, pin_source, unpin_source
from .access_ranges cimport read_declaration
from .causes cimport cause_of_join, cause_of_other_graph
from .condition_tests cimport ConditionTest, check_count, device_of_test, first_test, placeholder, read_test
from .labels cimport check_name, labels_of, note_kind_of_value, set_name
from .node_classes cimport class_at, class_of
from .places cimport declare_place, enter_places, leave_places, settle, settle_all, use_places
from .sized_config cimport SizedConfig, join_call_of
from cuda_graphs.graph.operands.condition cimport Condition
from cuda_graphs.graph.operands.loop_counter cimport LoopCounter, make_counter
from cuda_graphs.graph.operands.graph_array cimport ElementType, GraphArray, accept_element_type
from cuda_graphs.graph.operands.operands cimport accept_edge
from cuda_graphs.graph.operands.parameter cimport check_clash, prepare_uses, adopt_uses
from .spec cimport (
    describe,
    check_devices_fit_body,
    device_to_note,
    facts_of,
    read_alloc,
    read_child,
    read_conditional,
    read_event,
    read_free,
    read_host,
    read_launch,
    read_plain_launch,
    check_depth,
    memory_type_of,
)
from cuda_graphs.graph.operands.transfer cimport read_memcpy, read_memset

from cuda_graphs.errors import CUDAError
from cuda_graphs.objects import constructors
from cuda_graphs.objects.memory.array_shape import accept_shape
from . import options as graph_options
from .launch_guards import copy_guards


cdef int read_dependency(InsertionPoint self, object node, vector[CUgraphNode]* after) except -1:
    if not isinstance(node, class_of(NodeKind.kOther)):
        raise TypeError(f"expected GraphNode, got {type(node).__name__}")
    cdef GraphBox* graph = (<InsertionPoint>node)._open()
    cdef NodeRecord* record = (<InsertionPoint>node)._record()
    if graph != self._record().graph:
        raise_explained(
            CUDA_ERROR_INVALID_VALUE,
            f"make a node of the graph of {self._identify(True)} depend on {node._identify(True)} of another graph",
            cause_of_other_graph(graph, self._record().graph),
        )
    if record.raw != NULL:  # the entry node is virtual: it comes before all nodes without an edge
        after.push_back(record.raw)
    return 0


# Type of a wrong child -> what to do.
HINTS = {
    "GraphBuilder": ": end the capture and pass its graph_definition",
    "Graph": ": an executable cannot be embedded; pass the definition that it was made from",
}


cdef InsertionPoint accept_graph(object child):
    if not isinstance(child, class_of(NodeKind.kEntry)):
        kind = type(child).__name__
        raise TypeError(f"child must be a GraphDef, got {kind}{HINTS.get(kind, '')}")
    return <InsertionPoint>child


cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* o)
    PyTypeObject* type_of "Py_TYPE"(PyObject* o)
    ctypedef struct ClassSlots "PyTypeObject":
        PyObject* (*tp_new)(PyTypeObject* cls, PyObject* args, PyObject* kwargs)

cdef extern from *:
    """
    static inline PyObject* as_result(PyObject* made) noexcept { return made; }
    """
    InsertionPoint as_result(PyObject* made)  # takes over the reference

cdef tuple no_arguments = ()


cdef inline PyObject* make_instance(NodeKind kind) except NULL:
    # Returns a pointer, since Cython counts the reference of a variable up and at once down again: 4 ns in Python 3.12 (a Xeon).
    cdef PyTypeObject* cls = class_at(kind)
    return (<ClassSlots*>cls).tp_new(cls, <PyObject*>no_arguments, NULL)


cdef inline InsertionPoint make_node_object(const NodeHandle& any, NodeRecord* record):
    cdef PyObject* made = make_instance(NodeKind.kOther if record.kind == NodeKind.kEntry else record.kind)
    (<InsertionPoint>made)._ref.refer(any, record[0])
    (<InsertionPoint>made)._ref.enter(made)
    return as_result(made)


cdef InsertionPoint wrap_node(const NodeHandle& any, NodeRecord* record):
    # Callbacks of weak references run while an object is destroyed, before it leaves its record. Its reference count is 0
    # then, and it must not be returned.
    if record.object != NULL and Py_REFCNT(<PyObject*>record.object) > 0:
        return <InsertionPoint>record.object
    return make_node_object(any, record)


cdef InsertionPoint wrap_raw(const NodeHandle& any, GraphBox* graph, CUgraphNode raw):
    cdef NodeRecord* record = graph.nodes.find(raw)
    cdef NodeKind kind = NodeKind.kOther
    cdef CUresult status
    if record == NULL:
        with nogil:
            status = find_kind(raw, &kind)
        if status:
            check_attempt(status, f"ask for the type of the node {<size_t>raw:#x}")
        record = graph.nodes.find(raw)  # another thread may have added the record since
    if record == NULL:
        record = &add_node(graph[0], raw, kind, OwnerSlot())
    return wrap_node(any, record)


cdef InsertionPoint wrap_graph(const NodeHandle& any, GraphBox* graph):
    cdef PyObject* made = make_instance(NodeKind.kEntry)
    (<InsertionPoint>made)._ref.refer(any, graph.entry)
    return as_result(made)


cdef CUgraph hand_out(GraphBox* graph) except? NULL:
    cdef CUresult status
    if graph.raw == NULL:
        return NULL
    settle_all(graph)  # other code knows no parameters
    note_handed_out(graph[0])
    status = order_all_tests(graph[0])
    if status:
        check_attempt(status, "add the edges to the tests of loops")
    status = share_owners(graph[0])
    if status:
        check_attempt(status, "attach the owners of a graph's nodes to the driver's graph")
    return graph.raw


cdef tuple find_cause(const NodeHandle& any, GraphBox* graph, NodeSpec& spec):
    cdef GraphBox* root = graph
    if <int>NodeKind.kIf <= <int>spec.kind <= <int>NodeKind.kSwitch:
        return cause_of_condition(any, graph, spec)
    if spec.kind == NodeKind.kChild:
        return cause_of_self(graph, accept_graph(<object>spec.child)._open()) or (<object>spec.child)._explain_embedding()
    facts = facts_of(spec)
    if facts is None:
        return None
    while root.holder != NULL:
        root = root.holder.graph
    return wrap_graph(any, root)._explain_memory(*facts)


cdef tuple cause_of_self(GraphBox* graph, GraphBox* child):
    """Return the cause of a refusal to embed a graph in itself or in a graph inside of it, or None."""
    while graph != child and graph.holder != NULL:
        graph = graph.holder.graph
    if graph != child:
        return None
    return "A graph cannot contain itself.", "Embed another definition, made by a function that adds the same nodes to any graph."


cdef bint is_in_child(const GraphBox* graph) noexcept:
    """Return True for a graph in a child graph node, or in a node inside such a graph."""
    while graph.holder != NULL:
        if graph.holder.kind == NodeKind.kChild:
            return True
        graph = graph.holder.graph
    return False


cdef tuple IN_CHILD = (
    "Embedded graphs hold no alloc, free and conditional nodes.",
    "Add the conditional node to the definition around the embedded graph.",
)


cdef tuple cause_of_condition(const NodeHandle& any, GraphBox* graph, NodeSpec& spec):
    cdef CUgraphConditionalHandle condition = spec.params.conditional.handle
    cdef NodeRecord* user = find_user(graph[0], condition)
    if is_in_child(graph):
        return IN_CHILD
    if spec.params.conditional.size == 0:
        return "A SwitchNode needs a body.", "Pass a count of 1 or more."
    if user != NULL:
        return (
            f"{wrap_node(any, user)._identify()} uses the condition {condition:#x} already, and a condition controls one "
            "conditional node.",
            "Create another condition with create_condition(). Kernels may set both.",
        )
    return None


cdef int check_not_freed(InsertionPoint self, tuple operands) except -1:
    cdef InsertionPoint node
    cdef NodeRecord* record
    cdef NodeRecord* freed
    for operand in operands:
        if isinstance(operand, GraphArray):
            operand = (<GraphArray>operand).node
        if not isinstance(operand, class_of(NodeKind.kAlloc)):
            continue
        node = operand
        record = node._record()
        freed = record.metadata.get().freed_by if record.metadata else NULL
        if freed != NULL and freed.is_alive() and is_reached(self, wrap_node(node._ref.any(), freed)):
            raise ValueError(
                f"{node._identify()} allocates the memory, and {wrap_node(node._ref.any(), freed)._identify()} frees it before "
                f"{self._identify()}: use the memory in a node that the free node does not reach"
            )
    return 0


cdef bint is_reached(InsertionPoint place, InsertionPoint before) except -1:
    """Return True if a node at `place`, or inside a node there, comes after the node `before`."""
    cdef GraphBox* graph = before._record().graph
    cdef GraphBox* inner = place._record().graph
    cdef set seen
    if graph.hierarchy != inner.hierarchy:
        return False
    while inner != graph:
        if inner.holder == NULL:
            return False
        place = wrap_node(place._ref.any(), inner.holder)
        inner = inner.holder.graph
    if place._record().raw == NULL:  # a definition, or its entry node
        return False
    waiting, seen = [place], {place}
    while waiting:
        node = waiting.pop()
        if node is before:
            return True
        new = [each for each in node.pred if each not in seen]
        seen.update(new)
        waiting += new
    return False


cdef bint takes_stand_ins(object kernel) except -1:
    """Return True for a kernel that passes the addresses of arrays on as they are, and keeps none."""
    return isinstance(kernel, Kernel) or getattr(kernel, "_takes_places", False)


cdef int attach(GraphBox* graph, Owners& owners, OwnerSlot* slot) except -1:
    slot[0] = graph.owners.prepare(graph.raw, move(owners))
    if slot.page == NULL:
        refuse_owners()
    return 0


cdef int refuse_owners() except -1:
    return raise_noted("attach the owners of the node to its graph")


cdef inline InsertionPoint make_labelled(const NodeHandle& any, NodeRecord* record, object name):
    """Return the Python object of a node that the driver has just made."""
    keep_source(record.graph, &record.source)
    if name is not None:
        set_name(record, name)
    return make_node_object(any, record)


cdef GraphBox* refuse_dead(InsertionPoint self) except NULL:
    cdef NodeRecord* record = self._record()
    if record.graph.raw == NULL:
        raise RuntimeError("GraphDef is no longer valid: the node around it has been destroyed")
    raise RuntimeError(f"this node has been destroyed: {self._identify()}")


cdef int refuse_node(InsertionPoint self, GraphBox* graph, NodeSpec& spec, object edge, CUresult status) except -1:
    along = "" if edge is None else f" along {edge!r}"
    return raise_explained(
        status, f"add {describe(spec)} to {self._identify(True)}{along}", find_cause(self._ref.any(), graph, spec)
    )


cdef tuple accept_array_form(object size, object shape, object dtype):
    """Return (ElementType, shape) of the array that `alloc` makes; None for memory of a size."""
    if shape is None and dtype is None:
        if size is None:
            raise TypeError("alloc needs size, in bytes, or shape and dtype")
        return None
    if size is not None:
        raise TypeError("size and shape or dtype exclude each other: give bytes as size, or shape and dtype")
    if shape is None or dtype is None:
        raise TypeError("an array needs both shape and dtype, as in alloc(shape=(16, 4), dtype=cg.f32)")
    return accept_element_type(dtype), accept_shape(shape)


cdef int note_memory(InsertionPoint node, NodeSpec& spec, const GraphMemoryRef& memory, int device) except -1:
    """Record the memory of a new alloc node: its place, or its address and type."""
    cdef AllocKind kind = alloc_kind(spec.params.alloc.poolProps)
    if spec.place:
        memory.get().set_node(node._ref.handle())
        declare_place(node._record().graph, memory)
    else:
        memory.get().record(spec.params.alloc.dptr, spec.params.alloc.bytesize, memory_type_of(kind))
    if kind == AllocKind.kHost:  # for host memory the driver always reports device 0
        node._record().make_metadata().device = device
    note_allocation(node._record()[0], spec.params.alloc.dptr)
    return 0


cdef int remove_again(list nodes, object error) except -1:
    """Destroy the nodes of a call that has failed with an error. In a graph with memory of a size the driver keeps them."""
    for node in reversed(nodes):
        try:
            node.destroy()
        except CUDAError:
            error.add_note(f"{node._identify()} stays in the definition, which cannot be instantiated: build it again")
            return 0
    return 0


cdef int add_loop_test(const NodeHandle& any, GraphBox* body, ConditionTest test, Condition condition) except -1:
    cdef InsertionPoint place = wrap_graph(any, body)
    cdef InsertionPoint last = place.launch(None, test.kernel, condition, *test.args)
    body.test = last._record()
    if test.counter is not None:
        body.holder.make_metadata().counter = hold_python(<PyObject*>test.counter)
    return 0


@cython.freelist(256)
cdef class InsertionPoint:
    """A position at which nodes are added: the beginning of a definition (GraphDef), or after a node (GraphNode).

    Each method adds one node and returns it, so that calls can be chained. The new node depends on this node; a node that
    is added to a GraphDef depends on no node. `join` and the sets `pred` and `succ` add more dependencies.

    Only one thread at a time may change a definition and the graphs inside it (a rule of CUDA).
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            f"{type(self).__name__} has no public constructor: methods of GraphDef and its nodes add nodes"
        )

    cdef NodeRecord* _record(self) except NULL:
        cdef NodeRecord* record = self._ref.node()
        if record == NULL:
            raise RuntimeError(f"this {type(self).__name__} was not made by cuda_graphs")
        return record

    cdef GraphBox* _open(self) except NULL:
        cdef GraphBox* graph = living_graph(self._ref)
        return refuse_dead(self) if graph == NULL else graph

    def _definition_number(self):
        """Return the number of the definition around this position, which no other definition of the process gets."""
        return hierarchy_number(self._open()[0])

    cdef InsertionPoint _add(self, NodeSpec& spec, object name, object edge):
        cdef GraphBox* graph = living_graph(self._ref)
        cdef Dependencies place
        cdef CUgraphEdgeData data
        if graph == NULL:
            refuse_dead(self)
        place = dependencies_on(self._ref.node()[0])
        if edge is not None:
            data = accept_edge(edge)
            place.data = &data
            if place.count == 0:
                raise ValueError(
                    "edge=... needs a predecessor: call node.launch(...) instead of definition.launch(...)"
                )
        return self._add_after(graph, spec, place, name, edge)

    cdef InsertionPoint _add_after(
        self, GraphBox* graph, NodeSpec& spec, const Dependencies& place, object name, object edge
    ):
        cdef OwnerSlot slot
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        cdef int device = kNoDevice
        cdef unique_ptr[NodeParameters] parameters
        cdef NodeRecord* record
        check_name(name)
        check_fits_body(graph, spec.kind, name)
        if has_several_devices():
            device = device_to_note(spec)
            check_devices_fit_body(graph, spec, name)
        use_places(graph, spec)
        if not spec.uses.empty():
            parameters = prepare_uses(graph, spec)
        if not prepare_node(graph[0], spec, slot):
            refuse_owners()
        with nogil:
            status = make_node(place, spec, &raw)
        record = record_node(graph[0], spec, slot, status, raw)
        if record == NULL:
            refuse_node(self, graph, spec, edge, status)
        if parameters:
            record.make_metadata().parameters.swap(parameters)
        if device != kNoDevice:
            record.make_metadata().device = device
        return make_labelled(self._ref.any(), record, name)

    def join(self, *nodes, name=None):
        """Add an EmptyNode that depends on this node and on all of `nodes`, which belong to the same graph.

        Raises TypeError for an argument that is not a GraphNode. Raises CUDAError for a node of another graph, and for a
        node that is given twice.
        """
        cdef GraphBox* graph = self._open()
        cdef NodeSpec spec
        cdef Dependencies place
        cdef vector[CUgraphNode] after
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        cdef OwnerSlot no_owners
        check_name(name)
        spec.begin(NodeKind.kEmpty)
        if self._record().raw != NULL:  # the entry node is virtual: it comes before all nodes without an edge
            after.push_back(self._record().raw)
        for node in nodes:
            read_dependency(self, node, &after)
        place.graph, place.after, place.count = graph.raw, after.data(), after.size()
        prepare_node(graph[0], spec, no_owners)
        with nogil:
            status = make_node(place, spec, &raw)
        cdef NodeRecord* record = record_node(graph[0], spec, no_owners, status, raw)
        if record == NULL:
            names = ", ".join([node._identify(True) for node in nodes])
            raise_explained(
                status, f"add a join of {names or 'no nodes'} to {self._identify(True)}", cause_of_join(self, nodes)
            )
        graph.edited |= after.size() > 1  # the order of the edges is arbitrary
        return make_labelled(self._ref.any(), record, name)

    def alloc(
        self, size=None, options=None, *, shape=None, dtype=None, device=None, memory_type="device", peer_access=None,
        name=None,
    ):
        """Add an AllocNode: memory that nodes use until a FreeNode frees it.

        size          bytes
        shape, dtype  instead of a size: the extents, an int or a tuple of ints, and the type of the elements: a type of
                      cuda_graphs (`cg.f32`, `cg.vec3`) or a scalar type of NumPy. The node is then an array in C order

        Memory of a size has an address (`dptr`) that is fixed now and is the same in every launch. An array in device memory
        without `peer_access` gets its address when that is read. Until then each executable chooses it. Arrays share memory if
        all nodes that use one come before all nodes that use the other; `GraphDef.memory` tells the plan.

        Options are fields or a GraphAllocOptions. Kernels, copies and fills take the node as an argument. Memory that no
        FreeNode frees outlives the launch. A definition with memory of a size has one executable at a time. Raises TypeError
        for a size with a shape or dtype, and for one of these without the other. Raises CUDAError for size 0, ValueError for
        an unknown memory type.
        """
        cdef NodeSpec spec
        cdef tuple form = accept_array_form(size, shape, dtype)
        if form is not None:
            size = math.prod(form[1]) * (<ElementType>form[0]).itemsize
        cdef GraphMemoryRef memory = create_graph_memory()
        keywords = {"device": device, "memory_type": memory_type, "peer_access": peer_access}
        options = graph_options.accept(graph_options.GraphAllocOptions, options, keywords)
        cdef int ordinal = read_alloc(spec, size, options)
        spec.owners.first = as_owner(memory)
        cdef bint is_on_device = alloc_kind(spec.params.alloc.poolProps) == AllocKind.kDevice
        cdef GraphBox* graph = self._open()
        cdef bint may_share = form is not None and is_on_device and spec.access.empty() and graph.holder == NULL
        if may_share and spec.params.alloc.bytesize and not is_handed_out(graph[0]):
            memory.get().become_place(spec.params.alloc.bytesize, ordinal)
            spec.place, spec.params.alloc.dptr = memory, memory.get().start()
        cdef InsertionPoint node = self._add(spec, name, None)
        note_memory(node, spec, memory, ordinal)
        if form is not None:
            node._record().make_metadata().array_form = hold_python(<PyObject*>form)
        return node

    def free(self, dptr, *, name=None):
        """Add a FreeNode for the memory of an alloc node: the AllocNode, or its address (int).

        Raises CUDAError for 0, for an address that is not the start of memory of an alloc node, and for an address that
        this graph frees already.
        """
        cdef NodeSpec spec
        read_free(spec, dptr._address if isinstance(dptr, class_of(NodeKind.kAlloc)) else dptr)
        self._find_freed(spec)
        cdef InsertionPoint node = self._add(spec, name, None)
        note_free(node._record()[0], spec.params.free.dptr)
        return node

    cdef int _find_freed(self, NodeSpec& spec) except -1:
        """Find the place that a free node frees. One of another definition holds its contents until then.

        Raises CUDAError for a place that this definition frees already.
        """
        cdef GraphBox* graph = self._open()
        cdef GraphMemoryRef place = find_place(spec.params.free.dptr)
        if not place or place.get().start() != stand_in_of(spec.params.free.dptr) or graph.holder != NULL:
            return 0
        spec.place, spec.params.free.dptr = place, place.get().start()
        if frees_place(graph[0], place.get()[0]):
            return refuse_node(self, graph, spec, None, CUDA_ERROR_INVALID_VALUE)
        if not parameters_of(graph[0]).find_place(place.get()[0]):
            settle(place)
        return 0

    def memset(self, dst, value, width=None, height=1, pitch=0, *, dst_owner=None, name=None):
        """Add a MemsetNode: fill `height` rows of `width` elements, `pitch` bytes apart (ignored for one row).

        dst        address (int), Buffer, or array (`__cuda_array_interface__`, `__array_interface__`, DLPack). The graph
                   keeps the memory of Buffers and arrays. It does not wait for a stream that the array names
        value      an int in 0..255 fills bytes. A buffer of 1, 2 or 4 bytes (bytes, NumPy scalar) is one element. If dst
                   is an array, any number is one element of the array's type, as in `array[...] = value`. A Parameter
                   of another type of this size fills with its bits
        width      elements in a row. None: all of dst, which may be an array with gaps between its rows
        dst_owner  owner of the memory at an address: any object. The graph keeps it

        Raises ValueError for an array that is in pageable host memory, is read-only, or needs more than one node. Raises
        ValueError also for a fill beyond the end of dst, for rows that overlap and for a closed Buffer.
        """
        cdef NodeSpec spec
        cdef int kind
        cdef uint64_t before = enter_places(hierarchy_number(self._open()[0]))
        try:
            kind = read_memset(spec, dst, value, width, height, pitch, dst_owner)
        finally:
            leave_places(before)
        check_not_freed(self, (dst,))
        cdef InsertionPoint node = self._add(spec, name, None)
        note_kind_of_value(node._record(), kind, spec.params.memset.elementSize == 1)
        return node

    def memcpy(
        self, dst, src, size=None, *, width=None, height=None, depth=None, dst_pitch=None, src_pitch=None,
        dst_height=None, src_height=None, dst_owner=None, src_owner=None, name=None,
    ):
        """Add a MemcpyNode: copy `size` bytes from `src` to `dst`, or rows and planes of rows.

        dst, src     address (int), Buffer, or array (`__cuda_array_interface__`, `__array_interface__`, DLPack). The
                     graph keeps the memory of Buffers and arrays. It does not wait for a stream that an array names.
                     Bytes are copied without conversion
        size         bytes of contiguous memory. None: all of dst and src, which must have the same size. One of them may
                     be an address. Arrays may then have gaps between rows and planes. A copy between an array and an
                     address or Buffer keeps the order of the array's memory
        width, height, depth
                     a shape instead of a size: bytes in a row, rows in a plane, planes (as in CUDA_MEMCPY3D). Default:
                     those of the arrays; 1 for height and depth if `width` is given
        dst_pitch, src_pitch
                     bytes from row to row. None: the pitch of the array, or `width`
        dst_height, src_height
                     rows from plane to plane. None: the value of the array, or `height`
        dst_owner, src_owner
                     owner of the memory at an address: any object. The graph keeps it

        Memory is device memory, pinned, managed, registered with CUDA, or of an alloc node. Source and destination may
        not overlap. Raises ValueError for pageable host memory, a copy beyond the end of an operand, a read-only dst, a
        closed Buffer, and a copy that needs more than one node. Raises TypeError if the size is unknown.
        """
        cdef NodeSpec spec
        cdef tuple extents = (width, height, depth, dst_pitch, src_pitch, dst_height, src_height)
        cdef uint64_t before = enter_places(hierarchy_number(self._open()[0]))
        try:
            read_memcpy(spec, dst, src, size, extents, dst_owner, src_owner)
        finally:
            leave_places(before)
        check_not_freed(self, (dst, src))
        return self._add(spec, name, None)

    def embed(self, child, *, name=None):
        """Add a ChildGraphNode with a copy of the current definition `child`. The graph does not keep `child` alive.

        The copied nodes keep their names and sources. They use the named parameters of this definition, which gets the
        parameters that it lacks. Raises ValueError if a parameter has another type in this definition, and in a body if
        `child` holds nodes that bodies may not hold (see `if_then`). Raises CUDAError
        if `child` holds alloc, free or conditional nodes (a rule of the driver), and RecursionError if a graph in `child`
        would have more than 1024 graphs around it.
        """
        cdef NodeSpec spec
        cdef GraphBox* source = accept_graph(child)._open()
        cdef shared_ptr[const GraphLabels] labels = labels_of(source, child)
        check_clash(source, self._open())
        check_copy_fits_body(self._open(), child)
        read_child(spec, child, source, self._open())
        cdef InsertionPoint node = self._add(spec, name, None)
        node._record().make_metadata().inner_labels = labels
        try:
            adopt_uses(source, node._record())
        except BaseException:
            node.destroy()
            raise
        copy_guards(hierarchy_number(source[0]), hierarchy_number(self._open()[0]))
        return node

    def capture_call(self, fn, *args, warm_up=True, name=None, **keywords):
        """Add a ChildGraphNode with the work that `fn(*args, **keywords)` gives to the current stream.

        The work is that of another library, such as cuBLAS, cuFFT or cuSOLVER through PyTorch, or of this package. In the
        call a stream of its own is the current one, for PyTorch and CuPy too, and is captured. Returns a CapturedCall (node,
        result). The result is what `fn` returned: each launch writes the arrays in it again. The graph, its copies and its
        executables keep `fn`, the arguments and the result, and with them handles, plans and workspaces.

        warm_up     True: `fn` is called once before the call that is captured, on the same stream, and a wait follows. First
                    calls load code, and create handles and workspaces, which a capture may not contain
        name        the name of the node
        args, keywords
                    of `fn`. Launches use the same memory: copy new data to the arrays

        Raises TypeError if `fn` is not callable. Raises CaptureError if the library makes a call that a capture forbids,
        and CUDAError if the work allocates memory in the graph (a rule of the driver for child graphs): then nothing is
        added. Issues a CaptureWarning if the work is on another stream, so that nothing was captured.
        """
        return constructors.library_call().capture_call(self, fn, args, keywords, warm_up, name)

    def record_event(self, event, *, name=None):
        """Add an EventRecordNode: each launch records `event` at this node. The graph keeps the event."""
        cdef NodeSpec spec
        read_event(spec, NodeKind.kEventRecord, event)
        return self._add(spec, name, None)

    def wait_event(self, event, *, name=None):
        """Add an EventWaitNode: wait for the work before the latest record of `event`. The graph keeps the event."""
        cdef NodeSpec spec
        read_event(spec, NodeKind.kEventWait, event)
        return self._add(spec, name, None)

    def callback(self, fn, *, user_data=None, name=None, reads=None, writes=None):
        """Add a HostCallbackNode: each launch calls `fn()` once, on a thread of the driver. `fn` must not use CUDA.

        fn         a callable, or a ctypes function pointer `void (void*)`. The graph continues after an exception of a
                   callable; the first wait that covers the launch raises it
        user_data  argument of a ctypes function pointer: an int is passed unchanged, bytes as the address of a copy
        reads, writes
                   the memory that `fn` accesses, as in `launch`. None for both: its accesses are unknown

        The graph keeps both. A callable that refers to the graph makes a cycle that is never freed.
        """
        cdef NodeSpec spec
        read_host(spec, fn, user_data, name)
        spec.declared = read_declaration(reads, writes, ())
        return self._add(spec, name, None)

    cdef InsertionPoint _add_tested(
        self, object condition, object args, NodeKind kind, unsigned int size, object name, object do=False,
        LoopCounter counter=None,
    ):
        cdef bint begins = read_flag(do, "do")
        cdef DeviceScope scope  # the node and its test are on the device of what decides
        enter_device(scope, device_of_test(condition, args))
        cdef ConditionTest test = read_test(condition, args, begins, counter)
        cdef InsertionPoint place = self, node
        cdef list added = []
        if test is None:
            return self._add_conditional(condition, kind, size, name)
        self._try_test(test, size, name)
        if not test.is_guard:
            condition = wrap_graph(self._ref.any(), self._open()).create_condition(1 if begins else None)
        first = first_test(test, begins, self._open().holder == NULL)
        if first is not None:
            place = self.launch(None, first.kernel, condition, *first.args)
            added.append(place)
        elif counter is not None:
            place = self.memset(counter.memory, 0)
            added.append(place)
        try:
            node = place._add_conditional(condition, kind, size, name)
            added.append(node)
            if kind == NodeKind.kWhile:
                add_loop_test(node._ref.any(), node._record().metadata.get().inner[0], test, condition)
        except BaseException as error:
            remove_again(added, error)
            raise
        return node

    cdef int _try_test(self, ConditionTest test, unsigned int size, object name) except -1:
        cdef NodeSpec spec
        cdef GraphBox* graph = self._open()
        check_name(name)
        check_count(size)
        check_depth(graph, 1)
        if is_in_child(graph):
            raise_explained(CUDA_ERROR_NOT_SUPPORTED, f"add a conditional node to {self._identify(True)}", IN_CHILD)
        cdef tuple args = (placeholder(), *test.args)
        read_call(self, spec, None, test.kernel, PySequence_Fast_ITEMS(args), <size_t>len(args), None, None)
        if not spec.uses.empty():
            prepare_uses(graph, spec)
        self._check_accepts(spec)
        return 0

    cdef int _check_accepts(self, NodeSpec& spec) except -1:
        return 0

    cdef InsertionPoint _add_conditional(self, object condition, NodeKind kind, unsigned int size, object name):
        cdef NodeSpec spec
        cdef unsigned int i
        read_conditional(spec, condition, kind, size, self._open())
        cdef InsertionPoint node = self._add(spec, name, None)
        node._record().make_metadata().condition = spec.params.conditional.handle
        for i in range(size):  # the driver owns the array, which lives as long as the node
            add_inner_graph(node._record()[0], spec.params.conditional.phGraph_out[i])
        return node

    def if_then(self, condition, *, args=(), name=None):
        """Add an IfNode: its body `then` runs if the condition is not 0.

        condition  a Condition of this graph or of a graph around it, which no other node uses and kernels set; or what
                   decides: a flag, which is an array of one i32, u32 or bool, or a predicate, which is a function of
                   `args` that the compiler of kernels takes (a lambda, or a function with or without `func`). Arrays that
                   a predicate captures are taken by reference, like its arguments. Other values that it captures are
                   constants
        args       the arguments of a predicate: arrays, numbers, Parameters, as for a function made by `kernel`. Ints
                   are passed as i64, floats as f64

        For a flag or a predicate, a kernel before the node sets the condition. Bodies may hold kernel,
        empty, memset, memcpy, child graph and conditional nodes (a rule of the driver). Methods that add other nodes to a
        body, or to a graph embedded in it, raise ValueError. Raises RecursionError for a body that would have more than
        1024 graphs around it. Raises TypeError and ValueError for any other condition and for arguments that do not fit,
        and CompileError for a predicate that cannot be compiled. Then nothing has been added.
        """
        return self._add_tested(condition, args, NodeKind.kIf, 1, name)

    def if_else(self, condition, *, args=(), name=None):
        """Add an IfElseNode: `then` runs if the condition is not 0, `else_` if it is 0. See `if_then`."""
        return self._add_tested(condition, args, NodeKind.kIfElse, 2, name)

    def while_loop(self, condition, *, args=(), do=False, max_iterations=None, name=None):
        """Add a WhileNode: `body` runs repeatedly, as long as the condition is not 0 before an iteration. See `if_then`.

        do              True for a flag or a predicate: the body runs once before the first test
        max_iterations  the number of iterations after which the loop ends in any case, 1 or more. None: no limit
        name            the name of the node, and of the loop in `Graph.iterations`

        For a flag or a predicate, the body holds a kernel that sets the condition at the end of each iteration. The kernel
        is there when this method returns. It comes after all other nodes of the body: the edges to it are added when the
        graph is instantiated, listed, drawn or checked. Nodes that are added after the kernel itself stay after it.

        The same kernel counts the iterations of a loop that has a name or a limit. On a Condition only a loop with a limit
        is counted: its body holds a kernel for the limit alone. Raises ValueError for a limit below 1.
        """
        cdef DeviceScope scope
        enter_device(scope, device_of_test(condition, args))
        cdef LoopCounter counter = make_counter(max_iterations, name, not isinstance(condition, Condition))
        return self._add_tested(condition, args, NodeKind.kWhile, 1, name, do, counter)

    def switch(self, condition, count, *, args=(), name=None):
        """Add a SwitchNode with `count` bodies: `branches[n]` runs if the condition is n, no body if it is >= count.

        See `if_then`. Raises CUDAError for count 0.
        """
        cdef unsigned int size = <unsigned int>read_unsigned(count, "count", 32)
        return self._add_tested(condition, args, NodeKind.kSwitch, size, name)

    def call(self, obj, *args, name=None):
        """Let `obj` add its nodes after this node. Returns the last of these nodes, which gets the name.

        `obj` has a method `__cuda_graph_emit__(node, args) -> GraphNode`, which adds nodes after `node` for the arguments
        `args`. Kernel compilers implement it to make kernels usable in graphs. The `source` of these nodes is this call.
        """
        check_name(name)
        emit = getattr(type(obj), "__cuda_graph_emit__", None)
        if emit is None:
            remedy = ". Make a kernel of it with cg.kernel, or pass it to callback" if callable(obj) else ""
            if type(obj) is Kernel:
                remedy = ". Pass it to launch, with a config"
            raise TypeError(f"a {type(obj).__name__} cannot be called in a graph: it has no __cuda_graph_emit__{remedy}")
        cdef GraphBox* graph = self._open()
        cdef bint pinned = pin_source()
        # Other emitters may keep addresses.
        cdef uint64_t before = enter_places(hierarchy_number(graph[0]) if takes_stand_ins(obj) else 0)
        try:
            last = emit(obj, wrap_node(self._ref.any(), self._record()), args)
        finally:
            leave_places(before)
            if pinned:
                unpin_source()
        if not isinstance(last, class_of(NodeKind.kOther)) or (<InsertionPoint>last)._record().graph != graph:
            raise TypeError(f"{type(obj).__name__}.__cuda_graph_emit__ must return a node of the graph, got {last!r}")
        if name is not None:
            last.name = name
        return last


cdef str LAUNCH = """launch($self, config, kernel, *args, edge=None, name=None, reads=None, writes=None)
--

Add a KernelNode: `kernel` over the grid of `config` (LaunchConfig, a dict of its fields, or a function).

config         a function of the arguments returns the config. It is called again, in each executable, when a Parameter
               among the arguments changes. It gets numbers, and an ArrayValue (address, shape, size) for an array. It
               may not use a Graph. With another config, an array Parameter has a default, and takes arrays of its shape

kernel         a Kernel; a function made by `cuda_graphs.kernel` that is one task, with the arguments of the function,
               where `config` may be None; or any object with
               ``__cuda_graph_kernel__(config, args) -> (config, Kernel, args)``
args           ints, floats, bools, complex, NumPy and ctypes scalars, Buffers, device arrays, Conditions. Each is
               converted to the declared type of the parameter
edge           an EdgeData: the dependency of the new node on this node. Both nodes must be kernels unless the edge
               is a full edge
reads, writes  lists of the memory that the kernel accesses, for `GraphDef.check` and task flows: Buffers, arrays,
               AllocNodes, pointer Parameters, pairs (address or Parameter, bytes), or an address. A single
               address stands for the memory from there to the end of its allocation. None: what the compiler
               of the kernel knows; without such knowledge the accesses are unknown. One list alone declares
               that the other is empty

The graph keeps the kernel and the arguments that own resources. Cluster and cooperative settings become
attributes of the node. Raises CUDAError if the driver refuses `edge`, and ValueError for `edge` at a GraphDef,
which has no predecessor.
"""


cdef object launch_method(InsertionPoint self, Arguments args, Py_ssize_t count, PyObject* names):
    if names == NULL and is_plain_launch(args, <size_t>count):
        return add_plain_launch(self, args, <size_t>count, None, None)
    if names != NULL or count < 2:
        return launch_with_keywords(self, args, count, names)
    return add_launch(self, <object>args[0], <object>args[1], args + 2, <size_t>count - 2, None, None, None, None)


cdef object launch_with_keywords(InsertionPoint self, Arguments args, Py_ssize_t count, PyObject* names):
    cdef tuple given
    named = {} if names == NULL else as_dict(<tuple>names, args + count)
    config, kernel, given, edge, name, reads, writes = _Accepted.launch(*as_tuple(args, <size_t>count), **named)
    # The names come last, so that the positional arguments are those of a launch without names.
    if reads is None and writes is None and is_plain_launch(args, <size_t>count):
        return add_plain_launch(self, args, <size_t>count, name, edge)
    return add_launch(
        self, config, kernel, PySequence_Fast_ITEMS(given), <size_t>len(given), edge, name, reads, writes
    )


class _Accepted:
    """The arguments that a method accepts. Python raises its own TypeError for others."""

    @staticmethod
    def launch(config, kernel, *args, edge=None, name=None, reads=None, writes=None):
        return config, kernel, args, edge, name, reads, writes


cdef inline bint is_plain_launch(Arguments args, size_t count) noexcept:
    """Return True for a LaunchConfig, a Kernel, and arguments that are in no place and whose conversion runs no other code:
    numbers and Buffers."""
    cdef size_t i
    cdef PyTypeObject* kind
    if count < 2 or type_of(args[0]) != <PyTypeObject*>LaunchConfig or type_of(args[1]) != <PyTypeObject*>Kernel:
        return False
    for i in range(2, count):
        kind = type_of(args[i])
        if kind != <PyTypeObject*>int and kind != <PyTypeObject*>float and kind != <PyTypeObject*>Buffer:
            return False
    return True


cdef InsertionPoint add_plain_launch(InsertionPoint self, Arguments args, size_t count, object name, object edge):
    """Do what `add_launch` does, for the usual arguments: the first two are the config and the kernel."""
    cdef NodeSpec spec
    cdef GraphBox* graph
    cdef Kernel kernel = <Kernel>args[1]
    read_plain_launch(spec, <LaunchConfig>args[0], kernel, args + 2, count - 2)
    if spec.owners.second.get() == NULL:  # plain numbers have no owners, memory does
        spec.lent = &kernel._h
    else:
        spec.owners.first = as_owner(kernel._h)
        declare_accesses(self, spec, as_tuple(args + 2, count - 2), None, None)
    if edge is not None:
        return self._add(spec, name, edge)
    graph = living_graph(self._ref)
    if graph == NULL:
        refuse_dead(self)
    return self._add_after(graph, spec, dependencies_on(self._ref.node()[0]), name, None)


cdef InsertionPoint add_launch(
    InsertionPoint self, object config, object kernel, Arguments args, size_t count, object edge, object name,
    object reads, object writes,
):
    cdef NodeSpec spec
    cdef InsertionPoint node
    config = read_at_places(self, spec, config, kernel, args, count, reads, writes)
    node = self._add(spec, name, edge)
    if type(config) is not LaunchConfig and isinstance(config, SizedConfig):
        join_call_of(node._record(), <SizedConfig>config)
    return node


cdef object read_at_places(
    InsertionPoint self, NodeSpec& spec, object config, object kernel, Arguments args, size_t count, object reads,
    object writes,
):
    """Do what `read_call` does, and read arrays of alloc nodes by their places if the kernel keeps no address."""
    # A config function gets addresses, and may keep them. The adapter of another compiler may do so too.
    cdef bint takes_places = not is_config_function(config) and takes_stand_ins(kernel)
    cdef uint64_t before = enter_places(hierarchy_number(self._open()[0]) if takes_places else 0)
    try:
        return read_call(self, spec, config, kernel, args, count, reads, writes)
    finally:
        leave_places(before)


cdef object read_call(
    InsertionPoint self, NodeSpec& spec, object config, object kernel, Arguments args, size_t count, object reads,
    object writes,
):
    """Read the arguments of `launch` into a spec. Returns the config."""
    if not isinstance(kernel, Kernel):
        return read_foreign_call(self, spec, config, kernel, as_tuple(args, count), reads, writes)
    read_kernel_call(self, spec, config, <Kernel>kernel, args, count, reads, writes)
    return config


cdef inline int read_kernel_call(
    InsertionPoint self, NodeSpec& spec, object config, Kernel kernel, Arguments args, size_t count, object reads,
    object writes,
) except -1:
    read_launch(spec, config, kernel, args, count)
    # Plain numbers have no owners: Conditions and memory do.
    if reads is None and writes is None and spec.owners.second.get() == NULL:
        return 0
    return declare_accesses(self, spec, as_tuple(args, count), reads, writes)


cdef int declare_accesses(InsertionPoint self, NodeSpec& spec, tuple args, object reads, object writes) except -1:
    spec.declared = read_declaration(reads, writes, args)
    return check_not_freed(self, args)


cdef object read_foreign_call(
    InsertionPoint self, NodeSpec& spec, object config, object kernel, tuple args, object reads, object writes
):
    """Do what `read_call` does, for an object that makes the Kernel."""
    config, kernel, args, known_reads, known_writes = as_launch(config, kernel, args)
    if reads is None and writes is None:
        reads, writes = known_reads, known_writes
    return read_call(self, spec, config, kernel, PySequence_Fast_ITEMS(args), <size_t>len(args), reads, writes)


cdef PyMethodDef launch_definition
cdef bytes launch_doc = LAUNCH.encode()


cdef int give_launch(type cls) except -1:
    return give_method(cls, &launch_definition, b"launch", <void*>launch_method, launch_doc)


give_launch(InsertionPoint)
