# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Place: where nodes are added. The methods that make nodes, once for definitions and nodes.

Every method has the same shape: read the arguments into a spec (graph/spec.pyx), then `_add`: attach to the graph what
the new node needs, ask the driver without the GIL, and put the node on record. Until the driver has made the node
nothing of the graph has changed, and what was attached for it goes again when the driver refuses.
"""

cimport cython
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from libc.stddef cimport size_t
from libcpp.memory cimport shared_ptr, unique_ptr
from libcpp.vector cimport vector

from cuda_graphs._driver.cuda cimport CUDA_ERROR_INVALID_VALUE, CUgraph, CUgraphNode, CUresult
from cuda_graphs._driver.cuda_graph cimport (
    CU_GRAPH_COND_TYPE_IF, CU_GRAPH_COND_TYPE_SWITCH, CU_GRAPH_COND_TYPE_WHILE, CUgraphConditionalNodeType,
    CUgraphEdgeData,
)
from cuda_graphs._driver.seam cimport check_attempt, raise_noted
from cuda_graphs._handles.graph_handles cimport (
    AllocKind, GraphBox, GraphLabels, GraphMemory, NodeHandle, NodeKind, NodeParameters, NodePlace, NodeRecord, NodeSpec,
    Owners, OwnerSlot, about_to_change, add_inner_graph, add_node, alloc_kind, as_owner, create_graph_memory, find_kind,
    make_node, place_after, point_to, share_owners,
)
from cuda_graphs._handles.handles cimport box_of
from cuda_graphs._objects.kernel cimport Kernel, as_launch
from cuda_graphs._objects.numbers cimport read_unsigned
from cuda_graphs._objects.source cimport find_source, keep_source, pin_source, unpin_source
from cuda_graphs.graph.labels cimport check_name, labels_of, set_name
from cuda_graphs.graph.operands cimport accept_edge
from cuda_graphs.graph.parameter cimport check_clash, prepare_uses, take_uses
from cuda_graphs.graph.spec cimport (
    addresses_of, describe, read_alloc, read_child, read_conditional, read_event, read_free, read_host, read_kernel,
    type_of,
)
from cuda_graphs.graph.touches cimport read_touches, set_touches
from cuda_graphs.graph.transfer cimport read_memcpy, read_memset
from cuda_graphs.graph import options as graph_options
from cuda_graphs.graph.freed import explain_freed


# Which class stands for which kind of node. Filled by the modules that define them, so that this one imports none.

cdef PyObject* classes[<int>NodeKind.kOther + 1]


cdef int register_class(NodeKind kind, type cls) except -1:
    Py_INCREF(cls)
    classes[<int>kind] = <PyObject*>cls
    return 0


cdef type class_of(NodeKind kind):
    return <type>classes[<int>kind]


cdef int read_dependency(Place self, object node, vector[CUgraphNode]* after) except -1:
    if not isinstance(node, class_of(NodeKind.kOther)):
        raise TypeError(f"expected GraphNode, got {type(node).__name__}")
    cdef GraphBox* graph = (<Place>node)._open()
    cdef NodeRecord* record = (<Place>node)._record()
    if graph != self._record().graph:
        check_attempt(
            CUDA_ERROR_INVALID_VALUE,
            f"depend on {node._identify(True)}, which is of another graph than {self._identify(True)}",
        )
    if record.raw != NULL:  # the entry node is before all others as it is
        after.push_back(record.raw)
    return 0


cdef Place accept_graph(object child):
    if not isinstance(child, class_of(NodeKind.kEntry)):
        raise TypeError(f"child must be a GraphDef, got {type(child).__name__}")
    return <Place>child


cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* o)
    ctypedef struct TypeSlots "PyTypeObject":
        object (*tp_new)(PyTypeObject* cls, PyObject* args, PyObject* kwargs)

cdef tuple no_arguments = ()


cdef Place new_place(PyObject* cls, const NodeHandle& any, NodeRecord* record):
    # Past __init__, which refuses.
    cdef Place self = <Place>(<TypeSlots*>cls).tp_new(<PyTypeObject*>cls, <PyObject*>no_arguments, NULL)
    point_to(self._h, any, record[0])
    return self


cdef Place wrap_node(const NodeHandle& any, NodeRecord* record):
    # Callbacks of weak references run when an object is dying and before it leaves its record: not to be had any more.
    if record.object != NULL and Py_REFCNT(<PyObject*>record.object) > 0:
        return <Place>record.object
    cdef NodeKind kind = NodeKind.kOther if record.kind == NodeKind.kEntry else record.kind
    cdef Place self = new_place(classes[<int>kind], any, record)
    record.object = <PyObject*>self
    return self


cdef Place wrap_raw(const NodeHandle& any, GraphBox* graph, CUgraphNode raw):
    cdef NodeRecord* record = graph.nodes.find(raw)
    cdef NodeKind kind = NodeKind.kOther
    cdef CUresult status
    if record == NULL:
        with nogil:
            status = find_kind(raw, &kind)
        if status:
            check_attempt(status, f"ask for the type of the node {<size_t>raw:#x}")
        record = graph.nodes.find(raw)  # another thread may have been faster
    if record == NULL:
        record = &add_node(graph[0], raw, kind, OwnerSlot())
    return wrap_node(any, record)


cdef Place wrap_graph(const NodeHandle& any, GraphBox* graph):
    return new_place(classes[<int>NodeKind.kEntry], any, &graph.entry)


cdef CUgraph hand_out(GraphBox* graph) except? NULL:
    cdef CUresult status
    if graph.raw == NULL:
        return NULL
    status = share_owners(graph[0])
    if status:
        check_attempt(status, "give a graph what its nodes need, before its handle is known")
    return graph.raw


cdef str freed_by(Place self, NodeSpec& spec):
    # What a free node has to do with it that a driver refuses the spec.
    cdef GraphBox* root = self._open()
    while root.holder != NULL:
        root = root.holder.graph
    addresses = addresses_of(spec)
    return explain_freed(wrap_graph(self._h, root), addresses) if addresses else ""


@cython.freelist(256)
cdef class Place:
    """Where nodes are added to a definition: at its beginning (GraphDef), or after a node (GraphNode).

    Each method adds one node, which depends on this node (of a GraphDef: on nothing), and returns it, so that calls
    can be chained. More dependencies come from `join`, or from the sets `pred` and `succ`.

    A definition and all that is inside it may be changed by one thread at a time (a rule of CUDA).
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            f"{type(self).__name__} objects cannot be instantiated directly; nodes are made by GraphDef's methods"
        )

    def __dealloc__(self):
        cdef NodeRecord* record
        if not self._h:
            return
        record = box_of[NodeRecord](self._h)
        if record.object != <void*><PyObject*>self:  # a GraphDef: its record's object is the entry node, if any
            return
        record.object = NULL
        if not record.is_alive() and record.graph.raw != NULL:
            record.graph.nodes.recycle(record[0])

    cdef NodeRecord* _record(self) except NULL:
        if not self._h:
            raise RuntimeError(f"this {type(self).__name__} was not made by cuda_graphs")
        return box_of[NodeRecord](self._h)

    cdef GraphBox* _open(self) except NULL:
        cdef NodeRecord* record = self._record()
        if record.graph.raw == NULL:
            raise RuntimeError("GraphDef is no longer valid: the node that it was inside of has been destroyed")
        if not record.is_alive():
            raise RuntimeError(f"GraphNode has been destroyed (it was {self._identify()})")
        return record.graph

    cdef OwnerSlot _attach(self, const Owners& owners) except *:
        cdef GraphBox* graph = self._open()
        cdef OwnerSlot slot = graph.owners.prepare(graph.raw, owners.first, owners.second)
        if slot.page == NULL:
            raise_noted("attach what the node needs to its graph")
        return slot

    cdef Place _added(self, CUgraphNode raw, NodeKind kind, OwnerSlot owners, object name):
        cdef NodeRecord* record = &add_node(box_of[NodeRecord](self._h).graph[0], raw, kind, owners)
        record.source = keep_source(record.graph, find_source())
        if name is not None:
            set_name(record, name)
        return wrap_node(self._h, record)

    cdef Place _add(self, NodeSpec& spec, object name, object edge=None):
        cdef GraphBox* graph = self._open()
        cdef NodePlace place = place_after(self._h)
        cdef CUgraphEdgeData data
        cdef OwnerSlot slot
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        check_name(name)
        if edge is not None:
            data = accept_edge(edge)
            place.data = &data
            if place.count == 0:
                raise ValueError("edge is of the way from a node to the new one, and there is none before this")
        cdef unique_ptr[NodeParameters] parameters
        if not spec.uses.empty():
            parameters = prepare_uses(graph, spec)
        if spec.owners:
            slot = self._attach(spec.owners)
        about_to_change(graph[0])
        with nogil:
            status = make_node(place, spec, &raw)
        if status:
            graph.owners.rollback(slot)
            along = "" if edge is None else f" along {edge!r}"
            check_attempt(status, f"add {describe(spec)} to {self._identify(True)}{along}{freed_by(self, spec)}")
        cdef Place node = self._added(raw, spec.kind, slot, name)
        if parameters:
            node._record().make_facts().parameters.swap(parameters)
        return node

    def join(self, *nodes, name=None):
        """Add an EmptyNode that depends on this node and on all of `nodes`, which are of the same graph.

        TypeError for what is not a GraphNode; CUDAError for a node of another graph or one given twice.
        """
        cdef GraphBox* graph = self._open()
        cdef NodeSpec spec
        cdef NodePlace place
        cdef vector[CUgraphNode] after
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        check_name(name)
        spec.begin(NodeKind.kEmpty)
        if self._record().raw != NULL:  # the entry node is before all others as it is
            after.push_back(self._record().raw)
        for node in nodes:
            read_dependency(self, node, &after)
        place.graph, place.after, place.count = graph.raw, after.data(), after.size()
        about_to_change(graph[0])
        with nogil:
            status = make_node(place, spec, &raw)
        if status:
            names = ", ".join([node._identify(True) for node in nodes])
            check_attempt(status, f"add a join of {names or 'no nodes'} to {self._identify(True)}")
        graph.edited |= after.size() > 1  # given in any order
        return self._added(raw, NodeKind.kEmpty, OwnerSlot(), name)

    def launch(self, config, kernel, *args, edge=None, name=None, reads=(), writes=()):
        """Add a KernelNode: `kernel` over the grid of `config` (LaunchConfig, or a dict of its fields).

        kernel: a Kernel; or a function made by `cuda_graphs.kernel` that is one task, which takes its own arguments and, for
        None, chooses the config (anything with ``__cuda_graph_kernel__(config, args) -> (config, Kernel, args)``).

        args: ints, floats, bools, complex, NumPy and ctypes scalars, Buffers, arrays of the device, Conditions, each
        converted to the declared type of the parameter. The graph keeps the kernel and, of the arguments, the objects
        that own something. Cluster and cooperative settings become attributes of the node.

        edge  an EdgeData: how the new node depends on this one, which is a kernel too if the edge is not a full one.
              CUDAError where the driver does not take it; ValueError at a GraphDef, where there is no edge

        reads, writes: lists of the memory that the kernel touches, for `GraphDef.check`: Buffers, arrays, AllocNodes,
        Parameters that are pointers, (address or parameter, bytes), or an address alone, which means from there to the
        end of its allocation.
        """
        cdef NodeSpec spec
        cdef Place node
        if not isinstance(kernel, Kernel):
            config, kernel, args = as_launch(config, kernel, args)
        read_kernel(spec, config, kernel, args)
        # Plain numbers and nothing said: there is one empty tuple.
        if spec.owners.second.get() == NULL and reads is no_arguments and writes is no_arguments:
            return self._add(spec, name, edge)
        touches = read_touches(reads, writes, args)
        node = self._add(spec, name, edge)
        set_touches(node._record(), touches)
        return node

    def alloc(self, size, options=None, *, device=None, memory_type="device", peer_access=None, name=None):
        """Add an AllocNode: `size` bytes, at an address that is fixed now (`dptr`) and the same in every launch.

        Options as fields or as a GraphAllocOptions. Memory that no FreeNode gives back outlives the launch. CUDAError
        for size 0; ValueError for an unknown memory type.
        """
        cdef NodeSpec spec
        cdef shared_ptr[GraphMemory] memory = create_graph_memory()
        keywords = {"device": device, "memory_type": memory_type, "peer_access": peer_access}
        options = graph_options.accept(graph_options.GraphAllocOptions, options, keywords)
        cdef int ordinal = read_alloc(spec, size, options)
        spec.owners.first = as_owner(memory)
        cdef Place node = self._add(spec, name)
        cdef AllocKind kind = alloc_kind(spec.params.alloc.poolProps)
        memory.get().record(spec.params.alloc.dptr, spec.params.alloc.bytesize, type_of(kind))
        if kind == AllocKind.kHost:  # of it the driver gives back device 0
            node._record().make_facts().device = ordinal
        return node

    def free(self, dptr, *, name=None):
        """Add a FreeNode for an address that an alloc node reserved (int).

        CUDAError for 0, for an address that is not the start of such memory, and for one freed already in this graph.
        """
        cdef NodeSpec spec
        read_free(spec, dptr)
        return self._add(spec, name)

    def memset(self, dst, value, width=None, height=1, pitch=0, *, dst_owner=None, name=None):
        """Add a MemsetNode: fill `height` rows of `width` elements, `pitch` bytes apart (of one row: ignored).

        dst        address (int), Buffer, or array (`__cuda_array_interface__`, `__array_interface__`, DLPack); the graph
                   keeps the memory of the last two. Nobody waits for a stream that the array names
        value      an int in 0..255 fills bytes; a buffer of 1, 2 or 4 bytes (bytes, NumPy scalar) is one element. Where
                   dst is an array, any number is one element of the array's type, as in `array[...] = value`
        width      left out: all of dst. An array may have gaps between its rows
        dst_owner  who owns the memory at an address: any object, which the graph then keeps

        ValueError for an array in pageable host memory, read-only, or of a shape or element that takes more than one
        node; for more than dst has; and for a closed Buffer.
        """
        cdef NodeSpec spec
        read_memset(spec, dst, value, width, height, pitch, dst_owner)
        return self._add(spec, name)

    def memcpy(
        self, dst, src, size=None, *, width=None, height=None, depth=None, dst_pitch=None, src_pitch=None,
        dst_height=None, src_height=None, dst_owner=None, src_owner=None, name=None,
    ):
        """Add a MemcpyNode: copy `size` bytes from `src` to `dst`, or rows and planes of rows.

        dst, src     address (int), Buffer, or array (`__cuda_array_interface__`, `__array_interface__`, DLPack); the
                     graph keeps the memory of the last two. Nobody waits for a stream that an array names, and nothing
                     is converted: bytes are copied
        size         bytes, of what has no gaps. Left out: all of dst and src, of which one at least is no address, and
                     both have one size; arrays may then have gaps between rows and planes. What is no array has no
                     order of its own: it takes the bytes of an array in the order of its memory
        width, height, depth
                     a shape instead: bytes of a row, rows of a plane, planes (as in CUDA_MEMCPY3D). What is left out is
                     1, or that of the arrays where `width` is left out too
        dst_pitch, src_pitch
                     bytes from row to row. Left out: that of the array, or `width`
        dst_height, src_height
                     rows from plane to plane. Left out: that of the array, or `height`
        dst_owner, src_owner
                     who owns the memory at an address: any object, which the graph then keeps

        Memory is device, pinned, managed, registered with CUDA or of an alloc node; it may not overlap. ValueError for
        pageable host memory, for more than an operand has, for a read-only dst, for a closed Buffer, and for a copy
        that takes more than one node; TypeError when nobody says the size.
        """
        cdef NodeSpec spec
        cdef tuple extents = (width, height, depth, dst_pitch, src_pitch, dst_height, src_height)
        read_memcpy(spec, dst, src, size, extents, dst_owner, src_owner)
        return self._add(spec, name)

    def embed(self, child, *, name=None):
        """Add a ChildGraphNode with a copy of the definition `child` as it is now; `child` itself may go.

        Its nodes keep their names and sources, and use the parameters of the same names of this definition, which gets
        those that it lacks; ValueError when one has another type here. CUDAError when `child` holds alloc, free or
        conditional nodes (a rule of the driver), RecursionError when a graph in `child` would have more than 1024 graphs
        around it.
        """
        cdef NodeSpec spec
        cdef GraphBox* source = accept_graph(child)._open()
        cdef shared_ptr[const GraphLabels] labels = labels_of(source, child)
        check_clash(source, self._open())
        read_child(spec, child, source, self._open())
        cdef Place node = self._add(spec, name)
        node._record().make_facts().inner_labels = labels
        try:
            take_uses(source, node._record())
        except BaseException:
            node.destroy()
            raise
        return node

    def record_event(self, event, *, name=None):
        """Add an EventRecordNode: each launch records `event` here. The graph keeps the event."""
        cdef NodeSpec spec
        read_event(spec, NodeKind.kEventRecord, event)
        return self._add(spec, name)

    def wait_event(self, event, *, name=None):
        """Add an EventWaitNode: wait for the work that the latest record of `event` marks. The graph keeps it."""
        cdef NodeSpec spec
        read_event(spec, NodeKind.kEventWait, event)
        return self._add(spec, name)

    def callback(self, fn, *, user_data=None, name=None):
        """Add a HostCallbackNode: each launch calls `fn()` once, on a thread of the driver. It must not use CUDA.

        fn         a callable, whose exceptions go to sys.unraisablehook; or a ctypes function pointer `void (void*)`
        user_data  for a ctypes pointer only: an int is passed as it is, bytes as the address of a copy

        The graph keeps them; a callable that itself refers to the graph is never freed, nor is the graph.
        """
        cdef NodeSpec spec
        read_host(spec, fn, user_data)
        return self._add(spec, name)

    cdef Place _add_conditional(
        self, object condition, NodeKind kind, CUgraphConditionalNodeType type, unsigned int size, object name
    ):
        cdef NodeSpec spec
        cdef unsigned int i
        read_conditional(spec, condition, kind, type, size, self._open())
        cdef Place node = self._add(spec, name)
        node._record().make_facts().condition = spec.params.conditional.handle
        for i in range(size):  # the array is the driver's and lives as long as the node
            add_inner_graph(node._record()[0], spec.params.conditional.phGraph_out[i])
        return node

    def if_then(self, condition, *, name=None):
        """Add an IfNode: its body `then` runs if the condition is not 0.

        The condition is of this graph or one around it, and of no other node. Bodies hold kernel, empty, memset,
        memcpy, child graph and conditional nodes (a rule of the driver). RecursionError for a body that would have more
        than 1024 graphs around it.
        """
        return self._add_conditional(condition, NodeKind.kIf, CU_GRAPH_COND_TYPE_IF, 1, name)

    def if_else(self, condition, *, name=None):
        """Add an IfElseNode: `then` runs if the condition is not 0, `else_` if it is. See `if_then`."""
        return self._add_conditional(condition, NodeKind.kIfElse, CU_GRAPH_COND_TYPE_IF, 2, name)

    def while_loop(self, condition, *, name=None):
        """Add a WhileNode: `body` runs again and again as long as the condition is not 0 before it. See `if_then`."""
        return self._add_conditional(condition, NodeKind.kWhile, CU_GRAPH_COND_TYPE_WHILE, 1, name)

    def switch(self, condition, count, *, name=None):
        """Add a SwitchNode of `count` bodies: `branches[n]` runs if the condition is n, none if it is >= count.

        See `if_then`. CUDAError for count 0.
        """
        cdef unsigned int size = <unsigned int>read_unsigned(count, "count", 32)
        return self._add_conditional(condition, NodeKind.kSwitch, CU_GRAPH_COND_TYPE_SWITCH, size, name)

    def call(self, obj, *args, name=None):
        """Have `obj` add its nodes here, and return the last of them, which gets the name.

        obj has a method `__cuda_graph_emit__(node, args) -> GraphNode`: it adds nodes after `node` with the arguments
        `args`. Kernel compilers make their kernels usable in graphs with it. The `source` of these nodes is this call.
        """
        check_name(name)
        emit = getattr(type(obj), "__cuda_graph_emit__", None)
        if emit is None:
            raise TypeError(f"{type(obj).__name__} object cannot be called in a graph: it has no __cuda_graph_emit__")
        cdef GraphBox* graph = self._open()
        cdef bint pinned = pin_source()
        try:
            last = emit(obj, wrap_node(self._h, self._record()), args)
        finally:
            if pinned:
                unpin_source()
        if not isinstance(last, class_of(NodeKind.kOther)) or (<Place>last)._record().graph != graph:
            raise TypeError(f"{type(obj).__name__}.__cuda_graph_emit__ must return a node of the graph, got {last!r}")
        if name is not None:
            last.name = name
        return last
