# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of executables: `graph[node]` changes one node of one Graph for its next launches."""

from libc.stdint cimport uintptr_t
from libcpp cimport bool as cpp_bool

from cuda_graphs.core.driver.cuda cimport CUDA_ERROR_NOT_SUPPORTED, CUcontext, CUgraphNode, CUresult
from cuda_graphs.core.driver.seam cimport ensure_driver, raise_explained, raise_noted
from cuda_graphs.core.graphs.graph_handles cimport (
    GraphBox,
    GraphExecHandle,
    KernelShape,
    NodeKind,
    NodeRecord,
    NodeSpec,
    ParameterProblem,
    ParameterRef,
    as_owner,
    child_box,
    find_unplanned,
    get_exec_enabled,
    hierarchy_number,
    is_node_of,
    names_nodes,
    parameters_of,
    set_exec_child,
    set_exec_enabled,
    set_exec_node,
    uses_parameters,
)
from .parameter_values cimport check_rules
from cuda_graphs.graph.nodes.places cimport is_read, settle_uses, use_places
from cuda_graphs.graph.nodes.node_call cimport NodeCall, call_of
from cuda_graphs.graph.nodes.callback cimport Callback, callback_of
from cuda_graphs.graph.nodes.node cimport GraphNode
from cuda_graphs.graph.nodes.insertion_point cimport accept_graph, wrap_node
from cuda_graphs.graph.nodes.sized_config cimport config_function_of, is_config_running
from cuda_graphs.graph.nodes.spec cimport (
    accept_arguments,
    change_kernel,
    config_of,
    describe,
    fill_code,
    read_child,
    read_event,
    read_host,
    read_kernel,
)
from .callbacks cimport ExecutableCallbacks
from cuda_graphs.graph.operands.parameter cimport is_hidden, wrap
from cuda_graphs.objects.code.kernel cimport Kernel
from cuda_graphs.graph.operands.transfer cimport read_memcpy, read_memset


cdef str FUSED = "fused"  # the key of `_changes` for the fused nodes


cdef int mark_fused(dict changes, list marks) except -1:
    cdef GraphNode node
    changes[FUSED] = {}
    for node, words in marks:
        changes[FUSED][key_of(node._record())] = words
    return 0


cdef int unmark_fused(dict changes) except -1:
    changes.pop(FUSED, None)
    return 0


cdef int check_not_fused(ExecutableGraphNode self, NodeRecord* record) except -1:
    words = self._changes[FUSED].get(key_of(record))
    if words is not None:
        raise ValueError(
            f"{self._node._identify()} {words}. Change the definition and call update(), or instantiate without "
            "optimize=True and early_edges=True"
        )
    return 0


cdef class ExecutableGraphNode:
    """A node of an executable Graph: `graph[node]` for a `node` of the definition that the Graph was made from.

    Changes apply to later launches of this Graph only. Launches in flight, the definition and other executables do not
    change. The Graph keeps the objects that its nodes were set to use until it is closed or updated as a whole. The view
    keeps executable and definition alive.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("nodes of an executable have no public constructor: use graph[node]")

    cdef NodeRecord* _record(self) except NULL:
        if self._node is None:
            raise RuntimeError(f"this {type(self).__name__} was not made by cuda_graphs")
        cdef NodeRecord* record = self._node._record()
        if record.raw == NULL or record.graph.raw == NULL:
            raise ValueError("the node has been destroyed in the definition, so it has no view in the Graph")
        if is_config_running():
            raise RuntimeError("a config function cannot use a Graph: it runs while a Graph is being changed")
        ensure_driver()  # raises in a forked child process, where the executable's lock may never be released
        if FUSED in self._changes:
            check_not_fused(self, record)
        if not names_nodes(self._h):
            raise ValueError(
                f"{self._node._identify()} cannot be assigned to a node of the Graph: the Graph was updated from its "
                "definition after nodes or edges of the definition were edited. Instantiate the definition again"
            )
        return record

    cdef int _set(self, NodeSpec& spec) except -1:
        cdef NodeRecord* record = self._record()
        cdef ParameterProblem problem
        cdef CUresult status
        if not spec.uses.empty():
            check_uses(self, spec)
        use_planned(self, record, spec)
        with nogil:
            status = set_exec_node(self._h, record[0], spec, &problem)
        if status:
            check_rules(problem, f"set {identify(self)} to {describe(spec)}")
            refuse(self, status, f"set {identify(self)} to {describe(spec)}{self._rule(spec)}")
        return 0

    cdef str _rule(self, NodeSpec& spec):
        return ""

    def __repr__(self):
        if self._node is None:
            return f"<{type(self).__name__} of nothing>"
        node = <uintptr_t>self._node._record().raw
        return f"<{type(self).__name__} graph={<uintptr_t>self._h.get()[0]:#x} node={node:#x}>"


cdef int use_planned(ExecutableGraphNode self, NodeRecord* record, NodeSpec& spec) except -1:
    """Do what `use_places` does. A place gets memory of its own if the executable planned its memory without this use.

    The definition's node may have changed since then. In an instantiation or an update the plan knows all uses. Raises
    ValueError for a temporary, which has no memory of its own.
    """
    cdef ParameterRef unplanned
    use_places(record.graph, spec)
    if spec.uses.empty() or is_read(hierarchy_number(record.graph[0])):
        return 0
    with nogil:
        unplanned = find_unplanned(self._h, record[0], spec)
    if unplanned and settle_uses(spec):
        use_places(record.graph, spec)
        with nogil:
            unplanned = find_unplanned(self._h, record[0], spec)  # a temporary
    if unplanned:
        raise ValueError(
            f"{identify(self)} did not use {wrap(unplanned)!r} when the memory of the Graph was planned: change the node of the "
            "definition, and update the Graph with the definition"
        )
    return 0


cdef int check_uses(ExecutableGraphNode self, NodeSpec& spec) except -1:
    """Raise ValueError unless the executable has all parameters of the spec."""
    for use in spec.uses:
        if not parameters_of(self._record().graph[0]).has(use.parameter):
            raise ValueError(f"parameter {use.parameter.get().name.decode()!r} belongs to another definition")
        if not is_hidden(use.parameter) and use.parameter.get().name.decode() not in self._slots:
            raise ValueError(
                f"the Graph has no parameter {use.parameter.get().name.decode()!r}: the parameter is newer than the Graph"
            )
    return 0


cdef int refuse(ExecutableGraphNode self, CUresult status, str attempt) except -1:
    """Raise the error of a refused call. It has a cause if the node belongs to another definition."""
    cause = None if is_node_of(self._h, self._node._record()[0]) else (
        "The node belongs to another definition than the one that the Graph was made from.",
        "Use a node of the definition that the Graph was made from, or instantiate the node's own definition.",
    )
    return raise_explained(status, attempt, cause)


cdef str identify(ExecutableGraphNode self):
    return f"{self._node._identify(True)} in <Graph handle={<uintptr_t>self._h.get()[0]:#x}>"


cdef class SwitchableNode(ExecutableGraphNode):
    """Base class of kernel, memset and memcpy nodes, which can be disabled."""

    @property
    def is_enabled(self):
        """True if the node does its work. A disabled node does nothing, but keeps its place in the order."""
        cdef CUgraphNode raw = self._record().raw
        cdef cpp_bool enabled = False
        cdef CUresult status
        with nogil:
            status = get_exec_enabled(self._h, raw, &enabled)
        if status:
            refuse(self, status, f"ask whether {identify(self)} is enabled")
        return enabled

    def enable(self):
        """Enable the node, with the parameters that were set last."""
        switch(self, True)

    def disable(self):
        """Disable the node in later launches. Its successors still wait for its predecessors."""
        switch(self, False)


cdef int switch(SwitchableNode self, bint enabled) except -1:
    cdef NodeRecord* record = self._record()
    cdef CUresult status
    with nogil:
        status = set_exec_enabled(self._h, record[0], enabled)
    if not status:
        return 0
    unknown = record.kind == NodeKind.kMemset and status == CUDA_ERROR_NOT_SUPPORTED
    why = (
        "; its parameters are unknown, because nodes or edges of the definition were edited before the Graph was "
        "updated: call update() of the node first"
    )
    return refuse(self, status, f"{'enable' if enabled else 'disable'} {identify(self)}{why if unknown else ''}")


cdef class ExecutableKernelNode(SwitchableNode):
    """A KernelNode of an executable."""

    cdef tuple _key  # of the node in `_changes`
    cdef KernelShape _shape    # cluster and cooperative settings when the view was made
    cdef CUcontext _context    # context when the view was made

    def update(self, *, config=None, kernel=None, args=None):
        """Set the LaunchConfig, the Kernel and the tuple of its arguments. A disabled node stays disabled.

        An argument of None keeps its value: the one that this method set last in this Graph, or else that of the definition's
        node. A new `kernel` needs `args`. A node of a kernel made by `cuda_graphs.kernel` takes the arguments of
        a call as `args`, and all nodes of that call get them.

        Cluster and cooperative settings cannot change in an executable (a rule of CUDA). Raises NotImplementedError for a
        config whose settings differ from those of the definition's node.
        """
        cdef NodeSpec spec
        cdef NodeRecord* record = self._record()
        if kernel is not None and args is None:
            raise ValueError("a new kernel needs args: pass a tuple, () for a kernel without arguments")
        cdef tuple before = self._changes.get(self._key, UNCHANGED)
        cdef NodeCall call = None if kernel is not None or has_other_code(before) else call_of(record)
        if call is not None:
            update_call(self, call, config, args)
            return
        cdef tuple changes = (
            before[0] if config is None else config,
            before[1] if kernel is None else kernel,
            before[2] if args is None else args,
        )
        if changes[0] is None and changes[2] is not None:
            changes = config_function_of(record), changes[1], changes[2]
        if changes[0] is None or changes[1] is None or changes[2] is None:
            self._node._load_with_owners(spec)
        else:
            spec.begin(NodeKind.kKernel)
            spec.params.kernel.ctx = self._context
        change_kernel(spec, changes[0], changes[1], changes[2])
        if not spec.shape == self._shape:
            refuse_shape(self, spec)
        self._set(spec)
        self._changes[self._key] = changes

    def _replace_code(self, Kernel kernel not None):
        """Give the node other code, which takes the same arguments."""
        cdef NodeSpec spec
        cdef NodeRecord* record = self._record()
        cdef ParameterProblem problem
        cdef CUresult status
        self._node._load_with_owners(spec)
        fill_code(spec, kernel)
        spec.owners.first = as_owner(kernel._h)
        use_planned(self, record, spec)
        with nogil:
            status = set_exec_node(self._h, record[0], spec, &problem)
        if status:
            check_rules(problem, f"give {identify(self)} other code")
            refuse(self, status, f"give {identify(self)} other code")


cdef tuple UNCHANGED = (None, None, None)  # the config, kernel and args that `update` has set in a node


cdef inline bint has_other_code(tuple changes):
    return changes[1] is not None


cdef tuple key_of(NodeRecord* record):
    return <uintptr_t>record, record.generation


cdef int update_call(ExecutableKernelNode self, NodeCall call, object config, object args) except -1:
    """Give all nodes of a call the arguments, and this node the config. After an error no node has changed."""
    cdef NodeCall present = self._changes.get(call, call)
    cdef NodeCall changed = present
    cdef size_t task = call.task_of(self._record()), number
    if args is not None:
        changed = changed.with_arguments(accept_arguments(args))
    if config is not None:
        changed = changed.with_config(task, config)
    cdef list numbers = [number for number in range(call.nodes.size()) if is_part(self, call, number)]
    for number in numbers:
        set_task(self, call, changed, number, True)
    cdef list done = []
    try:
        for number in numbers:
            set_task(self, call, changed, number, False)
            done.append(number)
    except BaseException:
        for number in done:
            set_task(self, call, present, number, False)
        raise
    self._changes[call] = changed
    return 0


cdef bint is_part(ExecutableKernelNode self, NodeCall call, size_t task) except -1:
    """Return True if the node of a task exists, and takes part in the call in the definition and in this executable."""
    cdef NodeRecord* record = call.nodes[task]
    return record != NULL and call_of(record) is call and not has_other_code(self._changes.get(key_of(record), UNCHANGED))


cdef int set_task(ExecutableKernelNode self, NodeCall call, NodeCall values, size_t task, bint only_checks) except -1:
    """Set the node of one task of `call` to the launch of that task in `values`, or only check that this is possible."""
    cdef NodeSpec spec
    cdef ExecutableKernelNode view = view_node(
        self._h, self._slots, self._changes, self._callbacks, wrap_node(self._node._ref.any(), call.nodes[task])
    )
    launch = values.launches[task]
    read_kernel(spec, launch.config, launch.kernel, values.arguments_of_task(task))
    spec.params.kernel.ctx = view._context  # whichever device is the current one
    if only_checks:
        check_uses(view, spec)
        return 0 if spec.shape == view._shape else refuse_shape(view, spec)
    return view._set(spec)


cdef int refuse_shape(ExecutableKernelNode self, NodeSpec& spec) except -1:
    raise NotImplementedError(
        f"cluster and cooperative settings of a node of an executable cannot change: {identify(self)} was made with "
        f"{self._node.config!r}, and config is {config_of(spec)!r}. Change the definition's node and make "
        "another Graph."
    )


cdef class ExecutableMemsetNode(SwitchableNode):
    """A MemsetNode of an executable."""

    def update(self, *, dst, value, width=None, height=1, pitch=0):
        """Set all parameters; see `memset`.

        Raises CUDAError for changes that CUDA does not allow in an executable: the height of any fill, and of a fill of
        more than one row everything except address and value.
        """
        cdef NodeSpec spec
        read_memset(spec, dst, value, width, height, pitch, None)
        self._set(spec)


cdef class ExecutableMemcpyNode(SwitchableNode):
    """A MemcpyNode of an executable."""

    def update(
        self, *, dst, src, size=None, width=None, height=None, depth=None, dst_pitch=None, src_pitch=None,
        dst_height=None, src_height=None,
    ):
        """Set all parameters; see `memcpy`.

        Raises CUDAError for changes that CUDA does not allow in an executable: the kind of memory of a side (pinned host
        or device), and every change of a copy of more than one row.
        """
        cdef NodeSpec spec
        cdef tuple extents = (width, height, depth, dst_pitch, src_pitch, dst_height, src_height)
        read_memcpy(spec, dst, src, size, extents, None, None)
        self._set(spec)

    cdef str _rule(self, NodeSpec& spec):
        shape = self._node._shape
        if shape.size == shape.width and spec.params.memcpy.copyParams.Height * spec.params.memcpy.copyParams.Depth == 1:
            return ""
        return (
            "; in an executable a copy of more than one row cannot change: change the definition's node and make another "
            "Graph"
        )


cdef class ExecutableChildGraphNode(ExecutableGraphNode):
    """A ChildGraphNode of an executable."""

    def update(self, child):
        """Take over all parameters of the definition `child`, which has the same structure as the embedded graph.

        Raises GraphUpdateError, a CUDAError, if the structure differs.
        """
        cdef NodeSpec spec
        cdef GraphBox* source = accept_graph(child)._open()
        cdef CUresult status
        cdef NodeRecord* record = self._record()
        cdef GraphBox* inside = child_box(record[0])
        if inside == NULL:
            raise_noted(f"look into {identify(self)}")
        if uses_parameters(source[0]) or uses_parameters(inside[0]):
            raise ValueError(
                f"nodes of {child._identify()} or inside {self._node._identify()} use named parameters: call "
                "Graph.update() instead"
            )
        counts = self._callbacks.take(accept_graph(child))
        read_child(spec, child, source, record.graph)
        with self._callbacks.launches.order:
            status = set_exec_child(self._h, record[0], spec, source[0])
            if status:
                refuse(self, status, f"set {identify(self)} to {describe(spec)}")
            self._callbacks.replace_child(self._node, counts)


cdef class ExecutableHostCallbackNode(ExecutableGraphNode):
    """A HostCallbackNode of an executable."""

    def update(self, fn, *, user_data=None):
        """Set the function to `fn`; see `callback`."""
        cdef NodeSpec spec
        cdef Callback callback
        read_host(spec, fn, user_data, self._node.name)
        callback = callback_of(spec.params.host)
        if callback is not None:
            callback.launches = self._callbacks.launches
        with self._callbacks.launches.order:
            self._set(spec)
            self._callbacks.replace(<uintptr_t>self._record(), 0 if callback is None else 1)


cdef class ExecutableEventRecordNode(ExecutableGraphNode):
    """An EventRecordNode of an executable."""

    def update(self, event):
        """Set the Event to record."""
        cdef NodeSpec spec
        read_event(spec, NodeKind.kEventRecord, event)
        self._set(spec)


cdef class ExecutableEventWaitNode(ExecutableGraphNode):
    """An EventWaitNode of an executable."""

    def update(self, event):
        """Set the Event to wait for."""
        cdef NodeSpec spec
        read_event(spec, NodeKind.kEventWait, event)
        self._set(spec)


cdef dict VIEWS = {
    <int>NodeKind.kKernel: ExecutableKernelNode,
    <int>NodeKind.kMemset: ExecutableMemsetNode,
    <int>NodeKind.kMemcpy: ExecutableMemcpyNode,
    <int>NodeKind.kChild: ExecutableChildGraphNode,
    <int>NodeKind.kHost: ExecutableHostCallbackNode,
    <int>NodeKind.kEventRecord: ExecutableEventRecordNode,
    <int>NodeKind.kEventWait: ExecutableEventWaitNode,
}


cdef ExecutableGraphNode view_node(
    const GraphExecHandle& graph, dict slots, dict changes, ExecutableCallbacks callbacks, object node
):
    if not isinstance(node, GraphNode):
        raise TypeError(f"expected GraphNode, got {type(node).__name__}")
    cdef NodeRecord* record = (<GraphNode>node)._record()
    cls = VIEWS.get(<int>record.kind)
    if cls is None:
        raise TypeError(f"a {type(node).__name__} cannot be changed in an executable Graph")
    cdef ExecutableGraphNode self = <ExecutableGraphNode>(<type>cls).__new__(<type>cls)
    self._h = graph
    self._node = <GraphNode>node
    self._slots, self._changes, self._callbacks = slots, changes, callbacks
    self._record()
    if record.kind == NodeKind.kKernel:
        load_settings(<ExecutableKernelNode>self)
    return self


cdef int load_settings(ExecutableKernelNode self) except -1:
    cdef NodeSpec spec
    self._key = key_of(self._node._load(spec))
    self._shape, self._context = spec.shape, spec.params.kernel.ctx
    return 0
