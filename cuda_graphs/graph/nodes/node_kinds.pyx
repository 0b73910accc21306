# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The classes of nodes, one per kind. A class reads the properties of its kind from the driver; GraphNode does the rest.

`_read` returns all properties of a kind. `_describe` returns the details of the repr. The table at the end assigns the
classes to the kinds of the handle layer.
"""

from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t
from libc.string cimport memcmp
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_INVALID_VALUE
from cuda_graphs.core.driver.cuda_graph cimport (
    CU_MEMORYTYPE_HOST,
    CUDA_HOST_NODE_PARAMS_v2,
    CUDA_MEM_ALLOC_NODE_PARAMS_v2,
    CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS_v2,
    CUgraphConditionalHandle,
    CUmemorytype,
)
from cuda_graphs.core.driver.seam cimport check_attempt, raise_noted
from cuda_graphs.core.graphs.graph_handles cimport (
    AllocKind,
    GraphBox,
    GraphLabels,
    NodeKind,
    NodeRecord,
    NodeSpec,
    alloc_kind,
    child_box,
    forget_inner,
)
from cuda_graphs.core.resources.handles cimport Parameter, create_event_ref
from cuda_graphs.objects.device.event cimport Event
from .access_ranges cimport change_touches, operand_parameters, set_touches, touches_of
from .callback cimport python_callback
from cuda_graphs.graph.operands.condition cimport Condition
from .labels cimport labels_of
from .node cimport GraphNode
from cuda_graphs.graph.operands.parameter cimport check_clash, take_uses
from .insertion_point cimport accept_graph, wrap_graph
from .node_classes cimport register_class
from .spec cimport change_kernel, config_of, kernel_of, read_child, read_event, read_host
from cuda_graphs.graph.operands.transfer cimport (
    change_memcpy,
    change_memset,
    first_destination_byte,
    first_source_byte,
    shape_of_copy,
)
from .options import MEMORY_TYPES, GraphAllocOptions
from cuda_graphs.errors import CUDAError


cdef class EmptyNode(GraphNode):
    """Does nothing; orders the nodes before it and after it. Made by `join`."""


cdef class KernelNode(GraphNode):
    """Launches a kernel. Made by `launch`."""

    def _read(self):
        cdef NodeSpec spec
        self._load(spec)
        config = config_of(spec)
        return {
            "grid": config.grid, "block": config.block, "shmem_size": config.shmem_size, "config": config,
            "kernel": kernel_of(spec),
        }

    def update(self, *, config=None, kernel=None, args=None, reads=None, writes=None):
        """Change the definition. Executables that are made or updated later have the new values; others do not change.

        An argument that is None keeps its value. A new `kernel` needs `args`, a tuple, `()` for a kernel without
        arguments. `config` includes cluster and cooperative settings. `reads` and `writes` are those of `launch`.

        Raises RuntimeError for a destroyed node, TypeError and ValueError for the arguments, and CUDAError from the
        driver. After an error nothing has changed.
        """
        cdef NodeSpec spec
        cdef bint changes = config is not None or kernel is not None or args is not None
        self._open()
        if changes:
            self._load_all(spec)
            change_kernel(spec, config, kernel, args)
        touches = change_touches(self._record(), reads, writes, args)
        if changes:
            self._set(spec)
        set_touches(self._record(), touches)

    @property
    def grid(self):
        """Blocks in x, y, z. In a launch with clusters: clusters in x, y, z."""
        return self._value("grid")

    @property
    def block(self):
        """Threads of a block in x, y, z."""
        return self._value("block")

    @property
    def shmem_size(self):
        """Bytes of dynamic shared memory per block."""
        return self._value("shmem_size")

    @property
    def config(self):
        """The LaunchConfig, equal to the one given."""
        return self._value("config")

    @property
    def kernel(self):
        """The Kernel, equal to the one given."""
        return self._value("kernel")

    @property
    def reads(self):
        """The memory that the kernel reads, as given to `launch`: a tuple of Spans."""
        return touches_of(self._record())[0]

    @property
    def writes(self):
        """The memory that the kernel writes, as given to `launch`: a tuple of Spans."""
        return touches_of(self._record())[1]

    @property
    def _conditions(self):
        """Handles of the Conditions among the arguments."""
        return touches_of(self._record())[2]

    def _takes(self, CUgraphConditionalHandle handle):
        """Return True if the arguments contain the 8 bytes of a handle, in any type."""
        cdef NodeSpec spec
        self._load(spec)
        cdef const vector[Parameter]* parameters = kernel_of(spec)._parameters()
        cdef size_t i, word
        for i in range(parameters.size()):
            for word in range(parameters[0][i].size // 8):
                if memcmp(<char*>spec.params.kernel.kernelParams[i] + 8 * word, &handle, 8) == 0:
                    return True
        return False

    def _function_name(self):
        return self._value("kernel").name

    def _describe(self):
        return f" kernel={self._value('kernel').handle:#x}"


cdef class AllocNode(GraphNode):
    """Allocates memory. Made by `alloc`."""

    def _read(self):
        cdef NodeSpec spec
        cdef NodeRecord* record = self._load(spec)
        cdef CUDA_MEM_ALLOC_NODE_PARAMS_v2* p = &spec.params.alloc
        cdef AllocKind kind = alloc_kind(p.poolProps)
        cdef size_t i
        # For host memory the driver does not report the device.
        cdef bint known = kind == AllocKind.kHost and record.facts and record.facts.get().device >= 0
        return {
            "dptr": p.dptr,
            "bytesize": p.bytesize,
            "device_id": record.facts.get().device if known else p.poolProps.location.id,
            "memory_type": MEMORY_TYPES[<int>kind],
            "peer_access": tuple([p.accessDescs[i].location.id for i in range(p.accessDescCount)]),
        }

    @property
    def dptr(self):
        """The address. It is fixed when the node is added, and is the same in every launch."""
        return self._value("dptr")

    @property
    def bytesize(self):
        """Size of the memory in bytes."""
        return self._value("bytesize")

    @property
    def device_id(self):
        """Ordinal of the device."""
        return self._value("device_id")

    @property
    def memory_type(self):
        """"device", "host" or "managed"."""
        return self._value("memory_type")

    @property
    def peer_access(self):
        """Ordinals of the other devices with access."""
        return self._value("peer_access")

    @property
    def options(self):
        """The GraphAllocOptions of the node."""
        return GraphAllocOptions(self.device_id, self.memory_type, list(self.peer_access) or None)

    def _describe(self):
        return f" dptr={self.dptr:#x} size={self.bytesize}"


cdef class FreeNode(GraphNode):
    """Frees memory of an alloc node. Made by `free`."""

    def _read(self):
        cdef NodeSpec spec
        self._load(spec)
        return {"dptr": spec.params.free.dptr}

    @property
    def dptr(self):
        """The address."""
        return self._value("dptr")

    def _describe(self):
        return f" dptr={self.dptr:#x}"


cdef class MemsetNode(GraphNode):
    """Fills memory. Made by `memset`."""

    def _read(self):
        cdef NodeSpec spec
        self._load(spec)
        cdef CUDA_MEMSET_NODE_PARAMS_v2* p = &spec.params.memset
        return {
            "dptr": p.dst, "value": p.value, "element_size": p.elementSize, "width": p.width, "height": p.height,
            "pitch": p.pitch,
        }

    def update(self, *, dst=None, value=None, width=None, height=None, pitch=None, dst_owner=None):
        """Change the definition; arguments that are None keep their values. See `memset` and KernelNode.update."""
        cdef NodeSpec spec
        self._open()
        if all([given is None for given in (dst, value, width, height, pitch, dst_owner)]):
            return
        self._load_all(spec)
        if dst is not None:
            spec.owners.first.reset()
        change_memset(spec, dst, value, width, height, pitch, dst_owner)
        self._set(spec)

    def _operand_parameters(self):
        return operand_parameters(self._record())

    @property
    def dptr(self):
        """Address of the first row."""
        return self._value("dptr")

    @property
    def value(self):
        """The element as an unsigned int."""
        return self._value("value")

    @property
    def element_size(self):
        """Bytes of an element: 1, 2 or 4."""
        return self._value("element_size")

    @property
    def width(self):
        """Number of elements in a row."""
        return self._value("width")

    @property
    def height(self):
        """Number of rows."""
        return self._value("height")

    @property
    def pitch(self):
        """Bytes from row to row."""
        return self._value("pitch")

    def _describe(self):
        return f" dptr={self.dptr:#x} value={self.value}"


cdef class MemcpyNode(GraphNode):
    """Copies memory: `depth` planes of `height` rows of `width` bytes. Made by `memcpy`."""

    def _read(self):
        cdef NodeSpec spec
        self._load(spec)
        cdef CUDA_MEMCPY3D* copy = &spec.params.memcpy.copyParams
        return {
            "dst": first_destination_byte(copy[0]), "src": first_source_byte(copy[0]), "shape": shape_of_copy(copy[0]),
            "dst_side": side(copy.dstMemoryType), "src_side": side(copy.srcMemoryType),
        }

    def update(
        self, *, dst=None, src=None, size=None, width=None, height=None, depth=None, dst_pitch=None, src_pitch=None,
        dst_height=None, src_height=None, dst_owner=None, src_owner=None,
    ):
        """Change the definition; arguments that are None keep their values. See `memcpy` and KernelNode.update."""
        cdef NodeSpec spec
        cdef tuple extents = (width, height, depth, dst_pitch, src_pitch, dst_height, src_height)
        self._open()
        if all([given is None for given in (dst, src, size, dst_owner, src_owner, *extents)]):
            return
        self._load_all(spec)
        if dst is not None:
            spec.owners.first.reset()
        if src is not None:
            spec.owners.second.reset()
        change_memcpy(spec, dst, src, size, extents, dst_owner, src_owner)
        self._set(spec)

    def _operand_parameters(self):
        return operand_parameters(self._record())

    @property
    def dst(self):
        """Address of the destination."""
        return self._value("dst")

    @property
    def src(self):
        """Address of the source."""
        return self._value("src")

    @property
    def size(self):
        """Bytes in all rows and planes."""
        return self._value("shape").size

    @property
    def width(self):
        """Bytes in a row."""
        return self._value("shape").width

    @property
    def height(self):
        """Number of rows in a plane."""
        return self._value("shape").height

    @property
    def depth(self):
        """Number of planes."""
        return self._value("shape").depth

    @property
    def dst_pitch(self):
        """Bytes from row to row of the destination; may be 0 for a single row."""
        return self._value("shape").dst.pitch

    @property
    def src_pitch(self):
        """Bytes from row to row of the source; may be 0 for a single row."""
        return self._value("shape").src.pitch

    @property
    def dst_height(self):
        """Rows from plane to plane of the destination; may be 0 for a single plane."""
        return self._value("shape").dst.rows

    @property
    def src_height(self):
        """Rows from plane to plane of the source; may be 0 for a single plane."""
        return self._value("shape").src.rows

    def _describe(self):
        value = self._value
        return f" dst={value('dst'):#x}({value('dst_side')}) src={value('src'):#x}({value('src_side')}) size={self.size}"


cdef str side(CUmemorytype type):
    return "H" if type == CU_MEMORYTYPE_HOST else "D"


cdef class ChildGraphNode(GraphNode):
    """Runs a copy of another definition. Made by `embed`."""

    def _inner_graphs(self):
        return (self.child_graph,)

    def _read(self):
        return {"child_graph": wrap_graph(self._h, child_of(self))}

    def update(self, child):
        """Change the definition to run a copy of the current `child`. See KernelNode.update.

        The update replaces `child_graph`. The old graph and all its nodes are no longer valid. Raises CUDAError for a
        graph around or inside this node, and for graphs that `embed` refuses.
        """
        cdef NodeSpec spec
        self._open()
        cdef GraphBox* source = accept_graph(child)._open()
        if source.hierarchy == self._record().graph.hierarchy:  # libcuda would accept some of these graphs
            check_attempt(CUDA_ERROR_INVALID_VALUE, f"embed {child._identify(True)} in {self._identify(True)} inside it")
        cdef shared_ptr[const GraphLabels] labels = labels_of(source, child)
        check_clash(source, self._record().graph)
        read_child(spec, child, source, self._record().graph)
        self._set(spec)
        forget_inner(self._record()[0])
        self._record().make_facts().inner_labels = labels
        try:
            take_uses(source, self._record())
        except CUDAError:  # tried again, because the change of the node cannot be undone
            take_uses(source, self._record())

    @property
    def child_graph(self):
        """The embedded copy, a GraphDef. Instantiation uses its current state."""
        return self._value("child_graph")

    def _describe(self):
        return f" child={<uintptr_t>child_of(self).raw:#x}"


cdef GraphBox* child_of(ChildGraphNode self) except NULL:
    cdef GraphBox* child = child_box(self._record()[0])
    if child == NULL:
        raise_noted(f"look into {self._identify(True)}")
    return child


cdef class HostCallbackNode(GraphNode):
    """Calls a function on the host. Made by `callback`."""

    def _read(self):
        cdef NodeSpec spec
        self._load(spec)
        cdef CUDA_HOST_NODE_PARAMS_v2* p = &spec.params.host
        return {"callback_fn": python_callback(p[0]), "function": <uintptr_t><void*>p.fn}

    def update(self, fn, *, user_data=None):
        """Change the definition to call `fn`. See `callback` for the arguments, and KernelNode.update."""
        cdef NodeSpec spec
        self._open()
        read_host(spec, fn, user_data)
        self._set(spec)

    @property
    def callback_fn(self):
        """The Python callable; None for a C function."""
        return self._value("callback_fn")

    def _function_name(self):
        return getattr(self.callback_fn, "__name__", None)

    def _describe(self):
        fn = self.callback_fn
        if fn is None:
            return f" cfunc={self._value('function'):#x}"
        return f" callback={getattr(fn, '__name__', '?')}"


cdef class EventRecordNode(GraphNode):
    """Records an event. Made by `record_event`."""

    def _read(self):
        cdef NodeSpec spec
        self._load(spec)
        return {"event": Event._from_handle(create_event_ref(spec.params.eventRecord.event))}

    def update(self, event):
        """Change the definition to use another Event. See KernelNode.update."""
        cdef NodeSpec spec
        self._open()
        read_event(spec, NodeKind.kEventRecord, event)
        self._set(spec)

    @property
    def event(self):
        """The Event, equal to the one given."""
        return self._value("event")

    def _describe(self):
        return f" event={self.event.handle:#x}"


cdef class EventWaitNode(GraphNode):
    """Waits for an event. Made by `wait_event`."""

    def _read(self):
        cdef NodeSpec spec
        self._load(spec)
        return {"event": Event._from_handle(create_event_ref(spec.params.eventWait.event))}

    def update(self, event):
        """Change the definition to use another Event. See KernelNode.update."""
        cdef NodeSpec spec
        self._open()
        read_event(spec, NodeKind.kEventWait, event)
        self._set(spec)

    @property
    def event(self):
        """The Event, equal to the one given."""
        return self._value("event")

    def _describe(self):
        return f" event={self.event.handle:#x}"


cdef class ConditionalNode(GraphNode):
    """Runs graphs inside it, depending on a condition.

    Drivers before CUDA 13.2 do not report the parameters of a conditional node. For a node that cuda_graphs did not make,
    `condition` and `cond_type` are None and `branches` is empty.
    """

    def _inner_graphs(self):
        return self.branches

    def _read(self):
        cdef NodeRecord* record = self._record()
        cdef GraphBox* body
        if record.kind == NodeKind.kConditional:
            return {"condition": None, "cond_type": None, "branches": ()}
        return {
            "condition": Condition._from_handle(record.facts.get().condition),
            "cond_type": COND_TYPES.get(<int>record.kind),
            "branches": tuple([wrap_graph(self._h, body) for body in record.facts.get().inner]),
        }

    @property
    def condition(self):
        """The Condition that decides."""
        return self._value("condition")

    @property
    def cond_type(self):
        """"if", "while" or "switch"."""
        return self._value("cond_type")

    @property
    def branches(self):
        """The bodies, as a tuple of GraphDefs."""
        return self._value("branches")

    def _describe(self):
        condition = self.condition
        return "" if condition is None else f" condition={condition.handle:#x}"


cdef class IfNode(ConditionalNode):
    """Runs `then` if the condition is not 0. Made by `if_then`."""

    @property
    def then(self):
        """The body."""
        return self.branches[0]


cdef class IfElseNode(ConditionalNode):
    """Runs `then` if the condition is not 0, `else_` if it is 0. Made by `if_else`."""

    @property
    def then(self):
        """The body for a condition other than 0."""
        return self.branches[0]

    @property
    def else_(self):
        """The body for 0."""
        return self.branches[1]


cdef class WhileNode(ConditionalNode):
    """Runs `body` repeatedly, as long as the condition is not 0 before an iteration. Made by `while_loop`."""

    @property
    def body(self):
        """The body."""
        return self.branches[0]


cdef class SwitchNode(ConditionalNode):
    """Runs `branches[n]` if the condition is n. Made by `switch`."""


COND_TYPES = {
    <int>NodeKind.kIf: "if",
    <int>NodeKind.kIfElse: "if",
    <int>NodeKind.kWhile: "while",
    <int>NodeKind.kSwitch: "switch",
}

register_class(NodeKind.kEmpty, EmptyNode)
register_class(NodeKind.kKernel, KernelNode)
register_class(NodeKind.kAlloc, AllocNode)
register_class(NodeKind.kFree, FreeNode)
register_class(NodeKind.kMemset, MemsetNode)
register_class(NodeKind.kMemcpy, MemcpyNode)
register_class(NodeKind.kChild, ChildGraphNode)
register_class(NodeKind.kHost, HostCallbackNode)
register_class(NodeKind.kEventRecord, EventRecordNode)
register_class(NodeKind.kEventWait, EventWaitNode)
register_class(NodeKind.kIf, IfNode)
register_class(NodeKind.kIfElse, IfElseNode)
register_class(NodeKind.kWhile, WhileNode)
register_class(NodeKind.kSwitch, SwitchNode)
register_class(NodeKind.kConditional, ConditionalNode)
