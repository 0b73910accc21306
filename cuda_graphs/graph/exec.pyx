# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Graph: an executable graph."""

from libc.stdint cimport uintptr_t

from cuda_graphs._driver.cuda cimport CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, CUresult
from cuda_graphs._driver.cuda_graph cimport (
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH,
    CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY, CUDA_GRAPH_INSTANTIATE_PARAMS,
    CUgraphExecUpdateResultInfo,
)
from cuda_graphs._driver.seam cimport check_attempt, ensure_driver, status_words
from cuda_graphs._handles.graph_handles cimport (
    GraphBox, GraphExecHandle, NodeHandle, NodeKind, NodeRecord, ParameterChanges, ParameterFault, ParameterProblem,
    WeakNode, find_unfinished, instantiate, launch, set_parameters, update, upload,
)
from cuda_graphs._handles.handles cimport StreamHandle, box_of, raw_of
from cuda_graphs._objects.numbers cimport read_flag
from cuda_graphs._objects.stream cimport Stream_accept
from cuda_graphs.graph.exec_nodes cimport view_node
from cuda_graphs.graph.exec_values cimport check_problem, find_slots, present_values, read_changes
from cuda_graphs.graph.place cimport Place, class_of, wrap_graph, wrap_raw
from cuda_graphs.graph.difference import describe_difference
from cuda_graphs.errors import instantiate_error, update_error


cdef class Graph:
    """An executable graph: launched as a whole, as often as wanted. Made by `GraphDef.instantiate`.

    It does not need its definition any more: what its nodes use, it keeps alive itself, and launches in flight keep
    it too. Launches of one Graph run one after the other.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("directly constructing a Graph instance is not supported; use GraphDef.instantiate()")

    @staticmethod
    cdef Graph _from_handle(GraphExecHandle h):
        cdef Graph self = Graph.__new__(Graph)
        self._h = h
        self._slots = find_slots(h)
        return self

    cdef int _check_open(self) except -1:
        if not self._h:
            raise RuntimeError("Graph has been closed")
        return ensure_driver()  # in a forked child its lock may be taken for ever

    @property
    def handle(self):
        """The CUgraphExec as an int; 0 once closed."""
        return <uintptr_t>self._h.get()[0] if self._h else 0

    @property
    def is_closed(self):
        """Whether close() was called."""
        return not self._h

    def launch(self, stream, **values):
        """Run the graph in the order of `stream` (Stream, or any object with __cuda_stream__). Returns at once.

        values  of named parameters, as `set` takes them; nothing comes between setting them and the launch

        RuntimeError when a parameter that nodes use has no value.
        """
        self._check_open()
        # Copies: another thread may close either one meanwhile.
        cdef GraphExecHandle graph = self._h
        cdef dict slots = self._slots
        cdef StreamHandle on = Stream_accept(stream)._h
        cdef ParameterChanges changes
        cdef ParameterProblem problem
        cdef CUresult status
        if values:
            read_changes(slots, values, changes)
        with nogil:
            status = launch(graph, on, changes, &problem)
        if status:
            check_problem(problem, slots, values)
            check_attempt(status, f"launch {self!r} on {stream!r}")

    def set(self, **values):
        """Set named parameters for the launches to come. All values are checked before any is changed.

        Numbers are converted to the parameter's type. A pointer is a Buffer, which the graph keeps as long as it is the
        value or a launch with it is in flight, or an address as an int.

        TypeError for an unknown name or a value of the wrong type, OverflowError for one that does not fit, ValueError
        for a closed Buffer, memory that a memcpy node cannot copy, or a size below 1, CUDAError when the driver refuses
        it; then no parameter is changed.
        """
        self._check_open()
        cdef GraphExecHandle graph = self._h
        cdef dict slots = self._slots
        cdef ParameterChanges changes
        cdef ParameterProblem problem
        cdef bint done
        read_changes(slots, values, changes)
        if changes.empty():
            return
        with nogil:
            done = set_parameters(graph, changes, &problem)
        if not done:
            check_problem(problem, slots, values)

    @property
    def params(self):
        """The named parameters: a mapping of names to (type, value). A value is None when there is none."""
        self._check_open()
        cdef GraphExecHandle h = self._h
        return present_values(h)

    def upload(self, stream):
        """Move what the graph needs to the device, in the order of `stream`; otherwise its first launch does."""
        self._check_open()
        cdef GraphExecHandle graph = self._h
        cdef StreamHandle on = Stream_accept(stream)._h
        cdef CUresult status
        with nogil:
            status = upload(graph, on)
        if status:
            check_attempt(status, f"upload {self!r} on {stream!r}")

    def update(self, source):
        """Take over all parameters of a definition with the same structure: a GraphDef, or a GraphBuilder that has ended.

        Launches in flight keep the old parameters. `source` may go right after. What the nodes used so far is let go
        after the last launch that used it, and what single nodes were set to (`graph[node]`) is replaced too; but
        parameters of the new definition keep the values that were set (others go), a disabled node stays disabled, and the
        nodes that `graph[node]` takes are still those of the definition that this Graph was made of.

        GraphUpdateError, a CUDAError, says which node cannot be changed, and how; then nothing has changed. RuntimeError
        for a closed Graph and a definition that is no longer valid.

        If the definition that the Graph was made of has other edges or nodes by now, nothing tells which node is which: a
        Graph with named parameters is not updated then (GraphUpdateError), and one that is updated from that definition
        gives no views of its nodes (`graph[node]`).
        """
        self._check_open()
        cdef GraphExecHandle h = self._h
        cdef Place definition = accept_source(source)
        cdef GraphBox* graph = definition._open()
        check_finished(definition, graph)
        cdef CUgraphExecUpdateResultInfo info
        cdef ParameterProblem problem
        info.errorNode = info.errorFromNode = NULL
        cdef CUresult status = update(h, graph[0], &info, &problem)
        if status and problem.fault == ParameterFault.kNone:
            raise refused(self, definition, status, &info)
        if problem.fault == ParameterFault.kEdited:
            raise refused(self, definition, status, &info, EDITED)
        if problem.fault == ParameterFault.kLost:
            raise RuntimeError(
                f"{self!r} cannot take over the parameters of {definition._identify()}: the definition that it was made "
                "of is gone, by whose nodes the driver would find them; instantiate the new one"
            )
        self._source = WeakNode(definition._h)
        self._slots = find_slots(h)
        check_problem(problem, self._slots, {})

    def __getitem__(self, node):
        """The view of what `node` became in this Graph, an ExecutableGraphNode.

        node  of the definition that the Graph was made of, or of a body or an embedded graph in it, and still there.
              Whole updates do not change which nodes these are. Of a node of any other graph the driver says so when
              the view is used (CUDAError).

        ValueError when the Graph is closed, the node destroyed, or the Graph updated from this definition after that was
        edited into another shape; TypeError for kinds that cannot be changed.
        """
        if not self._h:
            raise ValueError("executable graph has been closed")
        cdef GraphExecHandle h = self._h
        ensure_driver()
        return view_node(h, self._slots, node)

    def close(self):
        """Let go of the executable; launches in flight finish first. Nothing happens the second time."""
        self._h.reset()
        self._slots = {}  # which hold the parameters' defaults

    def __repr__(self):
        return f"<Graph handle={self.handle:#x}>"


cdef Graph instantiate_graph(Place definition, object options):
    cdef CUDA_GRAPH_INSTANTIATE_PARAMS params
    cdef CUresult status
    cdef StreamHandle upload_to = fill_params(&params, options)
    cdef GraphBox* graph = definition._open()
    check_finished(definition, graph)
    cdef GraphExecHandle h = instantiate(definition._h, &params, upload_to, &status)
    if not h:
        raise explain(definition, graph, status, &params)
    cdef Graph made = Graph._from_handle(h)
    made._source = WeakNode(definition._h)
    return made


cdef Place accept_source(object source):
    if isinstance(source, class_of(NodeKind.kEntry)):
        return <Place>source
    definition = getattr(type(source), "_definition_for_update", None)  # of a GraphBuilder
    if definition is None:
        raise TypeError(f"expected GraphBuilder or GraphDef, got {type(source).__name__}")
    return <Place?>definition(source)


# tests/graph/test_pairing.py
cdef str EDITED = (
    "the definition that the Graph was made of has other edges or nodes by now, so nothing tells which node of the "
    "Graph takes which named parameter: undo the edits, or instantiate the definition again"
)


cdef object refused(Graph self, Place after, CUresult status, CUgraphExecUpdateResultInfo* info, str why=None):
    name, text = status_words(status)
    difference = why or ""
    if why is None and status == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE:
        difference = describe_difference(source_of(self), after, <int>info.result, <uintptr_t>info.errorNode)
    return update_error(
        <int>info.result, <int>status, name, text, f"update {self!r} from {after._identify(True)}", difference,
    )


cdef object source_of(Graph self):
    cdef NodeHandle source = self._source.lock()
    if not source or box_of[NodeRecord](source).graph.raw == NULL:
        return None
    return wrap_graph(source, box_of[NodeRecord](source).graph)


cdef int check_finished(Place definition, GraphBox* graph) except -1:
    cdef GraphBox* unfinished = find_unfinished(graph[0])
    if unfinished == NULL:
        return 0
    where = "its graph" if unfinished == graph else f"the body {wrap_graph(definition._h, unfinished)!r} in it"
    if unfinished.half_done:
        raise RuntimeError(f"Graph has not finished building: a capture into {where} was given up or spoiled")
    raise RuntimeError(f"Graph has not finished building: {where} is still being captured; call end_building() there")


cdef StreamHandle fill_params(CUDA_GRAPH_INSTANTIATE_PARAMS* params, object options) except *:
    """Returns the stream to upload to, if any."""
    cdef StreamHandle upload_to
    params.flags = 0
    params.hUploadStream = NULL
    params.hErrNode_out = NULL
    if read_flag(options.auto_free_on_launch, "auto_free_on_launch"):
        params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
    if read_flag(options.device_launch, "device_launch"):
        params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
    if read_flag(options.use_node_priority, "use_node_priority"):
        params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
    if options.upload_stream is not None:
        upload_to = Stream_accept(options.upload_stream)._h
        params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD
        params.hUploadStream = raw_of(upload_to)
    return upload_to


cdef object explain(Place definition, GraphBox* graph, CUresult status, CUDA_GRAPH_INSTANTIATE_PARAMS* params):
    name, text = status_words(status) if status else ("", "")
    attempt = f"instantiate {definition._identify(True)}"
    if graph.nodes.find(params.hErrNode_out) != NULL:
        attempt += f"; the driver points at {wrap_raw(definition._h, graph, params.hErrNode_out)._identify(True)}"
    return instantiate_error(
        <int>params.result_out, <int>status, name, text, attempt,
        device_launch=params.flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH != 0,
    )
