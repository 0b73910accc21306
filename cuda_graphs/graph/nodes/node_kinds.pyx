# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The classes of nodes, one per kind. A class has the properties of its kind; GraphNode does the rest.

`_parameters` returns the driver's parameters of a node. `_describe` returns the details of the repr. The table at the end
assigns the classes to the kinds of the handle layer. KernelNode and the nodes of memory are in files of their own.
"""

from libc.stdint cimport uintptr_t
from libcpp.memory cimport shared_ptr

from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_INVALID_VALUE
from cuda_graphs.core.driver.seam cimport raise_explained, raise_noted
from cuda_graphs.core.graphs.graph_handles cimport (
    DeclaredHandle,
    GraphBox,
    GraphLabels,
    NodeKind,
    NodeRecord,
    NodeSpec,
    child_box,
    hierarchy_number,
    is_handed_out,
    mark_inner_destroyed,
)
from cuda_graphs.core.resources.device_scope cimport kNoDevice
from cuda_graphs.core.resources.handles cimport create_event_ref
from cuda_graphs.objects.body_rules cimport check_copy_fits_body
from cuda_graphs.objects.device.event cimport Event
from cuda_graphs.objects.launch_errors cimport LaunchQueue
from cuda_graphs.graph.operands.condition cimport Condition
from cuda_graphs.graph.operands.parameter cimport adopt_uses, check_clash
from .access_ranges cimport change_declaration, declared_spans, public_spans, set_declaration
from .callback cimport Callback, callback_of
from .insertion_point cimport accept_graph, wrap_graph
from .kernel_node import KernelNode
from .labels cimport labels_of
from .memory_nodes import AllocNode, FreeNode, MemcpyNode, MemsetNode
from .node cimport GraphNode
from .node_classes cimport register_class
from .spec cimport read_child, read_event, read_host
from cuda_graphs.errors import CUDAError


cdef class EmptyNode(GraphNode):
    """Does nothing; orders the nodes before it and after it. Made by `join`."""


cdef class ChildGraphNode(GraphNode):
    """Runs a copy of another definition. Made by `embed`."""

    def _inner_graphs(self):
        return (self.child_graph,)

    def update(self, child):
        """Change the definition to run a copy of the current `child`. See KernelNode.update.

        The update replaces `child_graph`. The old graph and all its nodes are no longer valid. Raises CUDAError for a
        graph around or inside this node, and for graphs that `embed` refuses.
        """
        cdef NodeSpec spec
        self._open()
        cdef GraphBox* source = accept_graph(child)._open()
        if source.hierarchy == self._record().graph.hierarchy:  # libcuda would accept some of these graphs
            raise_explained(
                CUDA_ERROR_INVALID_VALUE, f"embed {child._identify(True)} in {self._identify(True)} inside it",
                ("A graph cannot hold a copy of itself or of a graph of its own definition.", "Pass another definition."),
            )
        cdef shared_ptr[const GraphLabels] labels = labels_of(source, child)
        check_clash(source, self._record().graph)
        check_copy_fits_body(self._record().graph, child)
        read_child(spec, child, source, self._record().graph)
        self._set(spec)
        mark_inner_destroyed(self._record()[0])
        self._record().make_metadata().inner_labels = labels
        try:
            adopt_uses(source, self._record())
        except CUDAError:  # tried again, because the change of the node cannot be undone
            adopt_uses(source, self._record())

    @property
    def child_graph(self):
        """The embedded copy, a GraphDef. Instantiation uses its current state."""
        self._open()
        return wrap_graph(self._ref.any(), child_of(self))

    def _describe(self):
        return f" child={<uintptr_t>child_of(self).raw:#x}"


cdef GraphBox* child_of(ChildGraphNode self) except NULL:
    cdef NodeRecord* record = self._record()
    if is_handed_out(record.graph[0]):
        forget_replaced(self)
    cdef GraphBox* child = child_box(record[0])
    if child == NULL:
        raise_noted(f"look into {self._identify(True)}")
    return child


cdef int forget_replaced(ChildGraphNode self) except -1:
    """Forget the embedded graph if other code has replaced it."""
    cdef NodeSpec spec
    cdef NodeRecord* record = self._load(spec)
    if record.metadata and not record.metadata.get().inner.empty():
        if record.metadata.get().inner.front().raw != spec.params.graph.graph:
            mark_inner_destroyed(record[0])
    return 0


cdef class HostCallbackNode(GraphNode):
    """Calls a function on the host. Made by `callback`."""

    def update(self, fn, *, user_data=None, reads=None, writes=None):
        """Change the definition to call `fn`. See `callback` for the arguments, and KernelNode.update."""
        cdef NodeSpec spec
        self._open()
        read_host(spec, fn, user_data, self.name)
        cdef DeclaredHandle declared = change_declaration(self._record(), reads, writes, None)
        self._set(spec)
        set_declaration(self._record(), declared)

    @property
    def reads(self):
        """The memory that the callback reads, as given to `callback`: a tuple of Spans. None if it is not known."""
        return public_spans(self._declared()[0])

    @property
    def writes(self):
        """The memory that the callback writes, as `reads`."""
        return public_spans(self._declared()[1])

    def _declared(self):
        """Return what the callback reads and writes, with the addresses of stand-ins."""
        return declared_spans(self._record())

    @property
    def callback_fn(self):
        """The Python callable; None for a C function."""
        cdef Callback callback = host_callback(self)
        return None if callback is None else callback.fn

    @property
    def _function(self):
        """The address of the C function, or of the function that calls Python callables."""
        return <uintptr_t><void*>self._parameters().get().params.host.fn

    def _function_name(self):
        return getattr(self.callback_fn, "__name__", None)

    def _describe(self):
        fn = self.callback_fn
        if fn is None:
            return f" cfunc={self._function:#x}"
        return f" callback={getattr(fn, '__name__', '?')}"


cdef Callback host_callback(HostCallbackNode self):
    self._open()
    return callback_of(self._parameters().get().params.host)


def give_callback(HostCallbackNode node not None, LaunchQueue launches not None):
    """Give the Callback of a node to an executable. Return 1, or 0 for a C function.

    If another executable has the Callback, the node gets a new one of the same callable.
    """
    cdef Callback callback = host_callback(node)
    cdef NodeSpec spec
    if callback is None:
        return 0
    if callback.launches is not None and callback.launches is not launches:
        read_host(spec, callback.fn, None, node.name)
        node._set(spec)
        callback = host_callback(node)
    callback.launches = launches
    return 1


cdef class EventRecordNode(GraphNode):
    """Records an event. Made by `record_event`."""

    def update(self, event):
        """Change the definition to use another Event. See KernelNode.update."""
        cdef NodeSpec spec
        self._open()
        read_event(spec, NodeKind.kEventRecord, event)
        self._set(spec)

    @property
    def event(self):
        """The Event, equal to the one given."""
        self._open()
        return Event._from_handle(create_event_ref(self._parameters().get().params.eventRecord.event))

    def _describe(self):
        return f" event={self.event.handle:#x}"


cdef class EventWaitNode(GraphNode):
    """Waits for an event. Made by `wait_event`."""

    def update(self, event):
        """Change the definition to use another Event. See KernelNode.update."""
        cdef NodeSpec spec
        self._open()
        read_event(spec, NodeKind.kEventWait, event)
        self._set(spec)

    @property
    def event(self):
        """The Event, equal to the one given."""
        self._open()
        return Event._from_handle(create_event_ref(self._parameters().get().params.eventWait.event))

    def _describe(self):
        return f" event={self.event.handle:#x}"


cdef class ConditionalNode(GraphNode):
    """Runs graphs inside it, depending on a condition.

    Drivers before CUDA 13.2 do not report the parameters of a conditional node. For a node that cuda_graphs did not make,
    `condition` and `cond_type` are None and `branches` is empty.
    """

    def _inner_graphs(self):
        return self.branches

    def _device(self):
        cdef NodeRecord* record = self._record()
        if not record.metadata or record.metadata.get().device == kNoDevice:
            return None
        return record.metadata.get().device

    @property
    def condition(self):
        """The Condition that decides."""
        cdef NodeRecord* record = self._record()
        self._check_known()
        if record.kind == NodeKind.kConditional:
            return None
        return Condition._from_handle(record.metadata.get().condition, hierarchy_number(record.graph[0]))

    @property
    def cond_type(self):
        """"if", "while" or "switch"."""
        self._check_known()
        return COND_TYPES.get(<int>self._record().kind)

    @property
    def branches(self):
        """The bodies, as a tuple of GraphDefs."""
        cdef NodeRecord* record = self._record()
        cdef GraphBox* body
        self._open()
        if record.kind == NodeKind.kConditional:
            return ()
        return tuple([wrap_graph(self._ref.any(), body) for body in record.metadata.get().inner])

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
