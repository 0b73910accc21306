# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Place: where nodes are added. The methods that make nodes, once for definitions and nodes.

Every method has the same shape: check the arguments, attach to the graph what the new node needs, ask the driver
without the GIL, and put the node on record. Until the driver has made the node nothing of the graph has changed, and
what was attached for it goes again when the driver refuses.
"""

cimport cython
from cpython.object cimport PyObject, PyTypeObject
from libc.stddef cimport size_t
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from cuda_graphs._driver.cuda cimport CUDA_ERROR_INVALID_VALUE, CUcontext, CUdeviceptr, CUgraph, CUgraphNode, CUresult
from cuda_graphs._driver.cuda_graph cimport (
    CU_GRAPH_COND_TYPE_IF, CU_GRAPH_COND_TYPE_SWITCH, CU_GRAPH_COND_TYPE_WHILE, CUDA_HOST_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUgraphConditionalNodeType, graph_driver,
)
from cuda_graphs._driver.seam cimport check_attempt, raise_noted
from cuda_graphs._handles.graph_handles cimport (
    Allocation, AllocKind, GraphBox, GraphMemory, KernelShape, LinearCopy, NodeHandle, NodeKind, NodePlace, NodeRecord,
    Owners, OwnerSlot, add_alloc, add_conditional, add_copy, add_inner_graph, add_kernel, add_node, as_owner,
    create_graph_memory, find_kind, place_after, point_to, seal_owners,
)
from cuda_graphs._handles.handles cimport EventHandle, Opaque, box_of
from cuda_graphs._objects.arguments cimport ArgumentPack, needs_keeping, pack_arguments
from cuda_graphs._objects.buffer cimport parse_fill_value
from cuda_graphs._objects.kernel cimport Kernel
from cuda_graphs._objects.launch_config cimport LaunchConfig, LaunchConfig_accept
from cuda_graphs.graph.condition cimport Condition
from cuda_graphs.graph.operands cimport (
    accept_condition, accept_context, accept_event, accept_kernel, fill_allocation, fill_kernel, find_type,
    name_of, own_arguments, read_address, read_callback, read_size, read_uint, type_of,
)
from cuda_graphs.graph import options as graph_options


# Which class stands for which kind of node. Filled by the modules that define them, so that this one imports none.

cdef list classes = [None] * (<int>NodeKind.kOther + 1)


cdef int register_class(NodeKind kind, type cls) except -1:
    classes[<int>kind] = cls
    return 0


cdef type class_of(NodeKind kind):
    return <type>classes[<int>kind]


cdef int read_dependency(Place self, object node, vector[CUgraphNode]* after) except -1:
    if node is not self and not isinstance(node, class_of(NodeKind.kOther)):
        raise TypeError(f"expected GraphNode, got {type(node).__name__}")
    cdef GraphBox* graph = (<Place>node)._open()
    cdef NodeRecord* record = (<Place>node)._record()
    if graph != self._record().graph:
        check_attempt(CUDA_ERROR_INVALID_VALUE, f"depend on {node!r}, which is of another graph than {self!r}")
    if record.raw != NULL:  # the entry node is before all others as it is
        after.push_back(record.raw)
    return 0


cdef Place accept_graph(object child):
    if not isinstance(child, class_of(NodeKind.kEntry)):
        raise TypeError(f"child must be a GraphDef, got {type(child).__name__}")
    return <Place>child


cdef Place remember_device(Place node, int device):
    # Of host memory the driver gives back device 0.
    node._record().make_facts().device = device
    return node


cdef extern from "Python.h":
    ctypedef struct TypeSlots "PyTypeObject":
        object (*tp_new)(PyTypeObject* cls, PyObject* args, PyObject* kwargs)

cdef tuple no_arguments = ()


cdef Place new_place(type cls, const NodeHandle& any, NodeRecord* record):
    # Past __init__, which refuses.
    cdef Place self = <Place>(<TypeSlots*>cls).tp_new(<PyTypeObject*>cls, <PyObject*>no_arguments, NULL)
    point_to(self._h, any, record[0])
    return self


cdef Place wrap_node(const NodeHandle& any, NodeRecord* record):
    if record.object != NULL:
        return <Place>record.object
    cdef NodeKind kind = NodeKind.kOther if record.kind == NodeKind.kEntry else record.kind
    cdef Place self = new_place(class_of(kind), any, record)
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
        record = &add_node(graph[0], raw, kind, OwnerSlot())
    return wrap_node(any, record)


cdef Place wrap_graph(const NodeHandle& any, GraphBox* graph):
    return new_place(class_of(NodeKind.kEntry), any, &graph.entry)


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
            raise RuntimeError(f"GraphNode has been destroyed (it was a {type(self).__name__})")
        return record.graph

    cdef OwnerSlot _attach(self, const Opaque& first, const Opaque& second) except *:
        cdef GraphBox* graph = self._open()
        cdef OwnerSlot slot = graph.owners.prepare(graph.raw, first, second)
        if slot.page == NULL:
            raise_noted("attach what the node needs to its graph")
        return slot

    cdef Place _added(self, CUgraphNode raw, NodeKind kind, OwnerSlot owners):
        return wrap_node(self._h, &add_node(box_of[NodeRecord](self._h).graph[0], raw, kind, owners))

    cdef int _refused(self, CUresult status, OwnerSlot owners, str attempt) except -1:
        cdef GraphBox* graph = box_of[NodeRecord](self._h).graph
        graph.owners.rollback(owners)
        return check_attempt(status, f"{attempt} to {self!r}")

    def join(self, *nodes):
        """Add an EmptyNode that depends on this node and on all of `nodes`, which are of the same graph.

        TypeError for what is not a GraphNode; CUDAError for a node of another graph or one given twice.
        """
        cdef GraphBox* graph = self._open()
        cdef vector[CUgraphNode] after
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        for node in (self, *nodes):
            read_dependency(self, node, &after)
        with nogil:
            status = graph_driver().cuGraphAddEmptyNode(&raw, graph.raw, after.data(), after.size())
        if status:
            self._refused(status, OwnerSlot(), f"add a join of {nodes!r}")
        return self._added(raw, NodeKind.kEmpty, OwnerSlot())

    def launch(self, config, kernel, *args):
        """Add a KernelNode: `kernel` over the grid of `config` (LaunchConfig, or a dict of its fields).

        args: ints, floats, bools, complex, NumPy and ctypes scalars, Buffers, Conditions, each converted to the
        declared type of the parameter. The graph keeps the kernel and, of the arguments, the objects that own
        something. Cluster and cooperative settings become attributes of the node.
        """
        cdef LaunchConfig c = LaunchConfig_accept(config)
        cdef Kernel k = accept_kernel(kernel)
        cdef ArgumentPack pack
        cdef CUDA_KERNEL_NODE_PARAMS params
        cdef KernelShape shape
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        pack_arguments(pack, k, args)
        fill_kernel(&params, &shape, c, k, &pack)
        cdef Opaque owned
        if needs_keeping(args):
            owned = own_arguments(args)
        cdef OwnerSlot slot = self._attach(as_owner(k._h), owned)
        with nogil:
            status = add_kernel(place_after(self._h), params, shape, &raw)
        if status:
            self._refused(status, slot, f"add a launch of {k._name()} with {c!r} and {len(args)} arguments")
        return self._added(raw, NodeKind.kKernel, slot)

    def alloc(self, size, options=None, *, device=None, memory_type="device", peer_access=None):
        """Add an AllocNode: `size` bytes, at an address that is fixed now (`dptr`) and the same in every launch.

        Options as fields or as a GraphAllocOptions. Memory that no FreeNode gives back outlives the launch. CUDAError
        for size 0; ValueError for an unknown memory type.
        """
        self._open()
        cdef Allocation what
        cdef shared_ptr[GraphMemory] memory = create_graph_memory()
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        keywords = {"device": device, "memory_type": memory_type, "peer_access": peer_access}
        fill_allocation(&what, read_size(size, "size"), graph_options.accept(graph_options.GraphAllocOptions, options, keywords))
        cdef OwnerSlot slot = self._attach(as_owner(memory), Opaque())
        with nogil:
            status = add_alloc(place_after(self._h), what, &raw)
        if status:
            self._refused(status, slot, f"add an allocation of {size} bytes of {name_of(what.kind)} memory")
        memory.get().record(what.address, what.size, type_of(what.kind))
        cdef Place node = self._added(raw, NodeKind.kAlloc, slot)
        return remember_device(node, what.device) if what.kind == AllocKind.kHost else node

    def free(self, dptr):
        """Add a FreeNode for an address that an alloc node reserved (int).

        CUDAError for 0, for an address that is not the start of such memory, and for one freed already in this graph.
        """
        cdef GraphBox* graph = self._open()
        cdef Opaque owner
        cdef CUdeviceptr address = read_address(dptr, "dptr", &owner)
        cdef NodePlace place = place_after(self._h)
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        with nogil:
            status = graph_driver().cuGraphAddMemFreeNode(
                &raw, graph.raw, place.dependencies(), place.count(), address)
        if status:
            self._refused(status, OwnerSlot(), f"add a free of {address:#x}")
        return self._added(raw, NodeKind.kFree, OwnerSlot())

    def memset(self, dst, value, width, height=1, pitch=0):
        """Add a MemsetNode: fill `height` rows of `width` elements, `pitch` bytes apart (of one row: ignored).

        dst    address (int) or Buffer, which the graph then keeps
        value  an int in 0..255 fills bytes; a buffer of 1, 2 or 4 bytes (bytes, NumPy scalar) is one element
        """
        cdef GraphBox* graph = self._open()
        cdef Opaque owner
        cdef CUDA_MEMSET_NODE_PARAMS params
        cdef NodePlace place = place_after(self._h)
        cdef CUcontext context = accept_context("memset node")
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        params.dst = read_address(dst, "dst", &owner)
        params.elementSize = <unsigned int>parse_fill_value(value, &params.value)
        params.width, params.height = read_size(width, "width"), read_size(height, "height")
        params.pitch = read_size(pitch, "pitch")
        cdef OwnerSlot slot = self._attach(owner, Opaque()) if owner else OwnerSlot()
        with nogil:
            status = graph_driver().cuGraphAddMemsetNode(
                &raw, graph.raw, place.dependencies(), place.count(), &params, context)
        if status:
            self._refused(status, slot, f"add a memset of {width} x {height} elements at {params.dst:#x}")
        return self._added(raw, NodeKind.kMemset, slot)

    def memcpy(self, dst, src, size):
        """Add a MemcpyNode: copy `size` bytes from `src` to `dst`, each an address (int) or a Buffer, which the graph
        then keeps. Device, pinned, managed and graph-allocated memory; ValueError for pageable host memory."""
        self._open()
        cdef Opaque to_owner, from_owner
        cdef LinearCopy copy
        cdef CUcontext context = accept_context("memcpy node")
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        copy.to = read_address(dst, "dst", &to_owner)
        copy.source = read_address(src, "src", &from_owner)
        copy.size = read_size(size, "size")
        copy.to_type, copy.source_type = find_type(copy.to, "dst"), find_type(copy.source, "src")
        cdef OwnerSlot slot = self._attach(to_owner, from_owner) if to_owner or from_owner else OwnerSlot()
        with nogil:
            status = add_copy(place_after(self._h), copy, context, &raw)
        if status:
            self._refused(status, slot, f"add a memcpy of {size} bytes from {copy.source:#x} to {copy.to:#x}")
        return self._added(raw, NodeKind.kMemcpy, slot)

    def embed(self, child):
        """Add a ChildGraphNode with a copy of the definition `child` as it is now; `child` itself may go.

        CUDAError when `child` holds alloc, free or conditional nodes (a rule of the driver).
        """
        cdef GraphBox* graph = self._open()
        cdef GraphBox* source = accept_graph(child)._open()
        cdef NodePlace place = place_after(self._h)
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        seal_owners(source[0])
        with nogil:
            status = graph_driver().cuGraphAddChildGraphNode(
                &raw, graph.raw, place.dependencies(), place.count(), source.raw)
        if status:
            self._refused(status, OwnerSlot(), f"embed {child!r}")
        return self._added(raw, NodeKind.kChild, OwnerSlot())

    def record_event(self, event):
        """Add an EventRecordNode: each launch records `event` here. The graph keeps the event."""
        cdef GraphBox* graph = self._open()
        cdef EventHandle h = accept_event(event)
        cdef NodePlace place = place_after(self._h)
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        cdef OwnerSlot slot = self._attach(as_owner(h), Opaque())
        with nogil:
            status = graph_driver().cuGraphAddEventRecordNode(
                &raw, graph.raw, place.dependencies(), place.count(), h.get()[0])
        if status:
            self._refused(status, slot, f"add a record of {event!r}")
        return self._added(raw, NodeKind.kEventRecord, slot)

    def wait_event(self, event):
        """Add an EventWaitNode: wait for the work that the latest record of `event` marks. The graph keeps it."""
        cdef GraphBox* graph = self._open()
        cdef EventHandle h = accept_event(event)
        cdef NodePlace place = place_after(self._h)
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        cdef OwnerSlot slot = self._attach(as_owner(h), Opaque())
        with nogil:
            status = graph_driver().cuGraphAddEventWaitNode(
                &raw, graph.raw, place.dependencies(), place.count(), h.get()[0])
        if status:
            self._refused(status, slot, f"add a wait for {event!r}")
        return self._added(raw, NodeKind.kEventWait, slot)

    def callback(self, fn, *, user_data=None):
        """Add a HostCallbackNode: each launch calls `fn()` once, on a thread of the driver. It must not use CUDA.

        fn         a callable, whose exceptions go to sys.unraisablehook; or a ctypes function pointer `void (void*)`
        user_data  for a ctypes pointer only: an int is passed as it is, bytes as the address of a copy

        The graph keeps them; a callable that itself refers to the graph is never freed, nor is the graph.
        """
        cdef GraphBox* graph = self._open()
        cdef CUDA_HOST_NODE_PARAMS params
        cdef Owners owners
        cdef NodePlace place = place_after(self._h)
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        read_callback(fn, user_data, &params, &owners)
        cdef OwnerSlot slot = self._attach(owners.first, owners.second)
        with nogil:
            status = graph_driver().cuGraphAddHostNode(&raw, graph.raw, place.dependencies(), place.count(), &params)
        if status:
            self._refused(status, slot, f"add a callback of {fn!r}")
        return self._added(raw, NodeKind.kHost, slot)

    cdef Place _add_conditional(
        self, object condition, NodeKind kind, CUgraphConditionalNodeType type, unsigned int size
    ):
        self._open()
        cdef Condition c = accept_condition(condition)
        cdef vector[CUgraph] bodies
        cdef CUgraphNode raw = NULL
        cdef CUresult status
        cdef CUcontext context = accept_context("conditional node")
        with nogil:
            status = add_conditional(place_after(self._h), c._handle, context, type, size, &raw, bodies)
        if status:
            self._refused(status, OwnerSlot(), f"add a conditional node with {size} bodies on {c!r}")
        cdef Place node = self._added(raw, kind, OwnerSlot())
        node._record().make_facts().condition = c._handle
        for body in bodies:
            add_inner_graph(node._record()[0], body)
        return node

    def if_then(self, condition):
        """Add an IfNode: its body `then` runs if the condition is not 0.

        The condition is of this graph or one around it, and of no other node. Bodies hold kernel, empty, memset,
        memcpy, child graph and conditional nodes (a rule of the driver).
        """
        return self._add_conditional(condition, NodeKind.kIf, CU_GRAPH_COND_TYPE_IF, 1)

    def if_else(self, condition):
        """Add an IfElseNode: `then` runs if the condition is not 0, `else_` if it is. See `if_then`."""
        return self._add_conditional(condition, NodeKind.kIfElse, CU_GRAPH_COND_TYPE_IF, 2)

    def while_loop(self, condition):
        """Add a WhileNode: `body` runs again and again as long as the condition is not 0 before it. See `if_then`."""
        return self._add_conditional(condition, NodeKind.kWhile, CU_GRAPH_COND_TYPE_WHILE, 1)

    def switch(self, condition, count):
        """Add a SwitchNode of `count` bodies: `branches[n]` runs if the condition is n, none if it is >= count.

        See `if_then`. CUDAError for count 0.
        """
        return self._add_conditional(condition, NodeKind.kSwitch, CU_GRAPH_COND_TYPE_SWITCH, read_uint(count, "count"))

    def call(self, obj, *args):
        """Have `obj` add its nodes here, and return the last of them.

        obj has a method `__cuda_graph_emit__(node, args) -> GraphNode`: it adds nodes after `node` with the arguments
        `args`. Kernel compilers make their kernels usable in graphs with it.
        """
        emit = getattr(type(obj), "__cuda_graph_emit__", None)
        if emit is None:
            raise TypeError(f"{type(obj).__name__} object cannot be called in a graph: it has no __cuda_graph_emit__")
        cdef GraphBox* graph = self._open()
        last = emit(obj, wrap_node(self._h, self._record()), args)
        if not isinstance(last, class_of(NodeKind.kOther)) or (<Place>last)._record().graph != graph:
            raise TypeError(f"{type(obj).__name__}.__cuda_graph_emit__ must return a node of the graph, got {last!r}")
        return last
