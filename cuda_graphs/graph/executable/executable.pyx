# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Graph: an executable graph."""

from time import monotonic
from weakref import ref

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t, uintptr_t
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport (
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
    CUDA_ERROR_INVALID_VALUE,
    CUDA_ERROR_UNKNOWN,
    CUDA_SUCCESS,
    CUresult,
)
from cuda_graphs.core.driver.cuda_graph cimport (
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH,
    CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
    CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
    CUDA_GRAPH_INSTANTIATE_PARAMS,
    CUgraphExecUpdateResultInfo,
)
from cuda_graphs.core.driver.seam cimport check_attempt, ensure_driver, raise_explained, status_words
from cuda_graphs.core.graphs.graph_handles cimport (
    EarlyEdges,
    GraphBox,
    GraphExecHandle,
    NodeHandle,
    NodeKind,
    NodeRecord,
    ParameterChanges,
    ParameterFault,
    ParameterProblem,
    PresentParameter,
    WeakNode,
    find_unfinished,
    hierarchy_number,
    instantiate,
    launch,
    list_parameters,
    names_nodes,
    parameters_of,
    set_parameters,
    update,
    upload,
)
from cuda_graphs.core.resources.handles cimport StreamHandle, box_of, raw_of
from cuda_graphs.core.capture.capture_handles cimport active_captures
from cuda_graphs.objects.capture_ledger cimport note_work_elsewhere
from cuda_graphs.objects.keyword_method cimport (
    Arguments,
    PyMethodDef,
    PySequence_Fast_ITEMS,
    give_method,
    keywords,
)
from cuda_graphs.objects.numbers cimport read_flag
from cuda_graphs.objects.device.stream cimport Stream, accept_stream
from .callbacks cimport ExecutableCallbacks
from .loop_control cimport LoopControl
from .temporary_memory cimport TemporaryMemory, give_place, plan_memory
from .executable_nodes cimport mark_fused, unmark_fused, view_node
from .parameter_values cimport Slots, check_problem, find_slots, present_values, read_changes
from cuda_graphs.graph.nodes.node cimport GraphNode
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint, wrap_graph, wrap_raw
from cuda_graphs.graph.nodes.node_classes cimport class_of
from cuda_graphs.graph.nodes.places cimport enter_places, leave_places, settle_all
from cuda_graphs.graph.nodes.place_memory import note_executable
from cuda_graphs.graph.nodes.places import reading_places
from cuda_graphs.graph.nodes.sized_config cimport is_config_running
from cuda_graphs.graph.nodes.launch_guards import guards_of
from cuda_graphs.errors import CUDAError, instantiate_error, update_error
from cuda_graphs.objects import constructors
from cuda_graphs.objects.progress import watch


cdef class Graph:
    """An executable graph. It may be launched any number of times. Made by `GraphDef.instantiate`.

    A Graph does not need its definition. The Graph and its launches in flight keep alive the objects that its nodes use.
    Launches of one Graph run one after the other.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Graph has no public constructor: call GraphDef.instantiate()")

    @staticmethod
    cdef Graph _from_handle(GraphExecHandle h, ExecutableCallbacks callbacks):
        cdef Graph self = Graph.__new__(Graph)
        self._h = h
        self._changes, self._guards = {}, ()
        self._callbacks, self._loops = callbacks, LoopControl()
        self._temporaries = TemporaryMemory()
        return self

    cdef int _check_open(self) except -1:
        if not self._h:
            raise RuntimeError("Graph has been closed")
        if is_config_running():
            raise RuntimeError("a config function cannot use a Graph: it runs while a Graph is being changed")
        return ensure_driver()  # raises in a forked child process, where the lock of the Graph may never be released

    @property
    def handle(self):
        """The CUgraphExec as an int; 0 once closed."""
        return <uintptr_t>self._h.get()[0] if self._h else 0

    @property
    def is_closed(self):
        """True after `close()`."""
        return not self._h

    @property
    def params(self):
        """The named parameters: a mapping of names to (type, value), with None for a missing value."""
        self._check_open()
        cdef GraphExecHandle h = self._h
        return present_values(h)

    def cancel(self):
        """End the device loops of the launches that have begun or are queued, each before its next iteration.

        The work after a loop runs as usual, and a launch in flight ends in the order of its stream. Later launches are not
        affected. The call does not wait for the launches. On a GPU it waits while another thread loads a kernel, and such a
        load waits for the loop: load all kernels before an endless loop starts.

        Raises RuntimeError for a closed Graph, and for a graph with a loop whose condition is set by a kernel that is not
        of `cuda_graphs.kernel`, such as one of CUDA C++. Then no loop ends.
        """
        self._check_open()
        cdef GraphExecHandle graph = self._h
        self._loops.cancel(graph)

    @property
    def iterations(self):
        """The iterations of each named loop in the latest launch: a dict of names to LoopCounts.

        The loops are those of `while_loop` that have a `name` and a flag or a predicate, or a `name` and `max_iterations`.
        Wait for the launch first: in a launch that has not ended, the numbers are those so far, or those of the launch
        before it. A loop in the body of another loop has the number of its latest run. A loop that a launch did not reach
        keeps its numbers. The call waits for a copy of 16 bytes for each loop.

        Raises RuntimeError for a closed Graph, ValueError for two loops of one name, and CUDAError if the driver fails.
        """
        self._check_open()
        return self._loops.read_counters()

    def _loop_counts(self):
        """Return (name, iterations so far, limit or None) of each named loop."""
        self._check_open()
        return self._loops.list_counts()

    def upload(self, stream):
        """Upload the graph to the device, in the order of `stream`. Without this call the first launch uploads it."""
        self._check_open()
        cdef GraphExecHandle graph = self._h
        cdef StreamHandle on = accept_stream(stream)._h
        cdef CUresult status
        with nogil:
            status = upload(graph, on)
        if status:
            check_attempt(status, f"upload {self!r} on {stream!r}")

    def update(self, source):
        """Take over all parameters of a definition with the same structure: a GraphDef, or a GraphBuilder that has ended.

        * Launches in flight keep the old parameters. Their objects are released after the last launch that uses them.
        * The Graph does not keep `source` alive.
        * The update replaces parameters that were set with `graph[node]`. A disabled node stays disabled.
        * Named parameters of the new definition keep the values that were set. Other named parameters are dropped.
        * `graph[node]` still takes nodes of the definition that this Graph was made from.
        * Temporaries, and arrays of alloc nodes without an address, get the places that the new order allows. No other
          thread may launch a Graph that has any during its update.

        A Graph of `optimize=True` fuses nodes again, and one of `early_edges=True` keeps its early edges. These take only
        the definition that they were made from, and no other thread may launch them or use the definition during the update.

        Raises GraphUpdateError, a CUDAError, which names the node that cannot change and the difference; then nothing has
        changed. Raises ValueError if the value of a parameter does not fit the new nodes; then nothing has changed either: set
        a value that fits both definitions first. If only the driver refuses the value, the Graph is updated and needs another
        one. Raises RuntimeError for a closed Graph, and for a definition that is no longer valid. With `optimize=True`
        or `early_edges=True` it also raises RuntimeError for another definition than the own one, and for a node that
        cannot begin early any more.

        If the nodes or edges of the original definition were edited, its nodes can no longer be assigned to nodes of the
        Graph. A Graph with named parameters then refuses the update (GraphUpdateError). A Graph that is updated from the
        edited definition has no views of its nodes (`graph[node]`).
        """
        self._check_open()
        cdef InsertionPoint definition = accept_source(source)
        cdef GraphBox* graph = definition._open()
        cdef uint64_t before = enter_places(hierarchy_number(graph[0]))
        try:
            self._update(definition, graph)
        finally:
            leave_places(before)

    cdef int _update(self, InsertionPoint definition, GraphBox* graph) except -1:
        cdef GraphExecHandle h = self._h
        check_finished(definition, graph)
        cdef CUgraphExecUpdateResultInfo info
        cdef ParameterProblem problem
        info.errorNode = info.errorFromNode = NULL
        cdef dict counts = self._callbacks.take(definition)
        settle_all(graph, True)
        cdef TemporaryMemory temporaries
        cdef CUresult status = CUDA_SUCCESS
        cdef EarlyEdges edges
        early = self._early
        if self._fused is not None:
            check_own(self, definition, "optimize")
        if early is not None:
            check_own(self, definition, "early_edges")
            early = early.again(definition)
            add_edges_of(early, edges)
        try:
            if self._fused is not None:
                unmark_fused(self._changes)
                self._fused.switch(self, True)
            temporaries = plan_memory(definition, self._temporaries, self._groups(definition, graph))
        except BaseException:
            if self._fused is not None:
                self._fused.switch(self, False)
                self._mark_nodes()
            raise
        with self._callbacks.launches.order:
            status = update(h, graph[0], &info, &problem, &edges)
            if not problem.is_updated and self._fused is not None:
                self._fused.switch(self, False)
                self._mark_nodes()
            if status and problem.fault == ParameterFault.kNone:
                raise make_update_error(self, definition, status, &info)
            if problem.fault == ParameterFault.kEdited:
                raise make_update_error(self, definition, status, &info, EDITED)
            if problem.fault == ParameterFault.kDestroyed:
                raise RuntimeError(
                    f"{self!r} cannot take over the parameters of {definition._identify()}: the driver needs the "
                    "definition that the Graph was made from, which is gone. Instantiate the new definition"
                )
            if not problem.is_updated:
                return check_problem(
                    problem, self._slots, {name: each.value for name, each in present_values(h).items()}
                )
            self._callbacks.replace_all(counts)
            self._temporaries = temporaries
            temporaries.use(h)
            self._note_places(graph)
        self._source = WeakNode(definition._ref.handle())
        self._read_parameters(h, graph)
        self._changes.clear()
        self._guards = guards_of(hierarchy_number(graph[0]))
        unmark_fused(self._changes)
        self._early = early
        if self._fused is not None:
            if problem.fault == ParameterFault.kNone:
                self._fuse(definition)
            else:
                self._fused.refuse_all("a parameter has a value that its nodes refuse since the last update")
        self._begin_early()
        return check_problem(problem, self._slots, {})

    cdef int _read_parameters(self, const GraphExecHandle& h, GraphBox* graph) except -1:
        """Find the named parameters and the stop words, after the executable was made or updated from the definition."""
        cdef vector[PresentParameter] present
        with nogil:
            list_parameters(h, present)
        self._slots = find_slots(present)
        return self._loops.begin(h, present, graph)

    cdef object _groups(self, InsertionPoint definition, GraphBox* graph):
        """Return the sets of nodes that will share a launch after an update; all nodes as one if this is not known."""
        if self._fused is None or not parameters_of(graph[0]).has_places():
            return ()
        if not names_nodes(self._h):
            return [definition.nodes()]
        from .fused_nodes import FusedNodes

        found = FusedNodes()
        try:
            found.find(
                definition, lambda node: bool(self[node].is_enabled), () if self._early is None else self._early.ends()
            )
        except CUDAError:  # of a node that is newer than the Graph: the driver refuses the update
            return [definition.nodes()]
        return found.sets()

    cdef int _note_places(self, GraphBox* graph) except -1:
        if parameters_of(graph[0]).has_places():
            note_executable(hierarchy_number(graph[0]), self)
        return 0

    def _give_place(self, node, buffer):
        """Give the array of an alloc node a place of its own, for later launches."""
        cdef GraphExecHandle h = self._h
        give_place(h, node, buffer)

    cdef int _fuse(self, InsertionPoint definition) except -1:
        if names_nodes(self._h):
            self._fused.fuse(self, definition, () if self._early is None else self._early.ends())
        else:
            self._fused.refuse_all("nodes or edges of the definition were edited after the Graph was made from it")
        return 0

    cdef int _begin_early(self) except -1:
        try:
            if self._early is not None:
                self._early.apply(self)
        except BaseException:
            self.close()  # its edges are programmatic, and a kernel does not wait
            raise
        return self._mark_nodes()

    cdef int _mark_nodes(self) except -1:
        if self._fused is None and self._early is None:
            return 0
        fixed = [each for each in (self._fused, self._early) if each is not None]
        return mark_fused(self._changes, [mark for each in fixed for mark in each.marks()])

    def explain(self):
        """Return a GraphExplanation: which nodes run as one launch or begin early, which do not, and why.

        Raises RuntimeError for a closed Graph, and for a Graph that was made without optimize=True and early_edges=True.
        """
        from .explanation import GraphExplanation

        self._check_open()
        if self._early is None and self._fused is None:
            raise RuntimeError(
                f"{self!r} runs each node by itself, after its predecessors: make it with instantiate(optimize=True) to fuse "
                "nodes, or with early_edges=True to let kernels begin early"
            )
        return GraphExplanation(
            () if self._fused is None else self._fused.explain(), None if self._early is None else self._early.explain()
        )

    def _early_edges(self):
        """Return the edges of the definition that are programmatic in the Graph."""
        return frozenset() if self._early is None else frozenset(self._early.edges())

    def __getitem__(self, node):
        """Return the view of `node` in this Graph, an ExecutableGraphNode.

        node  an existing node of the definition that the Graph was made from, or of a body or an embedded graph in it.
              This holds after an update of the whole Graph too. Using the view of a node of another graph raises
              CUDAError

        Raises ValueError if the Graph is closed, if the node is destroyed, or if the Graph was updated from the edited
        definition (see `update`). Raises TypeError for kinds of nodes that cannot be changed.
        """
        if not self._h:
            raise ValueError("graph[node] needs an open Graph: this Graph has been closed")
        cdef GraphExecHandle h = self._h
        ensure_driver()
        return view_node(h, self._slots.by_name, self._changes, self._callbacks, node)

    def profile(self, stream, launches=20):
        """Launch the graph several times, wait for the launches, and return a Profile with the times of the nodes.

        stream    Stream, or any object with __cuda_stream__
        launches  the number of launches, 1 or more

        `print(graph.profile(stream))` shows a table. The launches do what all launches do: a graph that changes its data
        changes it `launches` times. Graphs that other threads launch in the meantime are in the Profile too. On a GPU this
        needs the package cupti-python (the extra `profile`). See `cuda_graphs.profile` for work of any kind.

        Raises RuntimeError if the Graph is closed, a parameter has no value or another profile is being recorded,
        ImportError without cupti-python on a GPU, TypeError or ValueError for the arguments, and CUDAError if a launch fails.
        """
        from cuda_graphs.graph.profiling import profile

        self._check_open()
        return profile.profile_launches(self, accept_stream(stream), launches)

    def draw(self, path=None, *, fold=None, check=False, theme="auto"):
        """Return a Picture of the definition that the Graph was made from, in its present state, and write it to a file if `path` is given.

        The picture shows the present values of the Graph's parameters, and marks its disabled nodes, as far as the driver
        reports them.

        path   a file whose name ends with .svg, .html, .png (needs the extra `png`) or .dot. None: only return the Picture
        fold   True: draw a pattern that repeats once, as "x 200". None: only in graphs of more than 40 nodes
        check  True: mark the nodes in findings of `GraphDef.check`, and list the findings
        theme  "light" or "dark". "auto" follows the page around the picture

        Raises TypeError or ValueError for the arguments, OSError if the file cannot be written, ImportError if a PNG is
        wanted without its library, and
        RuntimeError if the Graph is closed or that definition is gone.
        """
        from cuda_graphs.graph.display import drawing

        self._check_open()
        definition = source_of(self)
        if definition is None:
            raise RuntimeError(
                f"{self!r} cannot be drawn: the driver does not list the nodes of an executable, and the definition that it "
                "was made from is gone. Keep the definition, or draw it before it goes"
            )
        with reading_places():
            return drawing.draw(definition, "Graph", path, fold, check, theme, self)

    def _repr_mimebundle_(self, **types):
        from cuda_graphs.graph.display import drawing

        with reading_places():
            return drawing.mime_bundle(self)

    def __str__(self):
        from cuda_graphs.graph.display import drawing

        with reading_places():
            return drawing.text_of_graph(self)

    def close(self):
        """Release the executable after its launches in flight. A second call does nothing."""
        self._h.reset()
        self._slots, self._changes, self._guards = Slots(), {}, ()  # which hold objects

    def __repr__(self):
        return f"<Graph handle={self.handle:#x}>"


cdef str LAUNCH = """launch($self, stream, **values)
--

Run the graph in the order of `stream` (Stream, or any object with __cuda_stream__). Returns immediately.

values  values of named parameters, as for `set`. Setting them and the launch are one atomic step

Raises RuntimeError if a parameter that nodes use has no value, or if the launch would overlap another launch with
collectives of the same definition.
"""

cdef str SET = """set($self, **values)
--

Set named parameters for later launches. All values are checked before any parameter changes.

Numbers are converted to the parameter's type. A pointer is a Buffer or an address (int). The graph keeps a Buffer
while it is the value of a parameter or a launch with it is in flight.

Raises TypeError for an unknown name or a value of the wrong type, and OverflowError for a value that does not
fit. Raises ValueError for a closed Buffer, an array of another device than that of the present one, memory that a
memcpy node cannot copy, or a size below 1. Raises CUDAError if the driver refuses the value. After an error no
parameter has changed.
"""


cdef object launch_method(Graph self, Arguments args, Py_ssize_t count, PyObject* names):
    cdef tuple given
    if count == 1:
        return launch_graph(self, <object>args[0], () if names == NULL else <tuple>names, args + 1)
    named = {} if names == NULL else keywords(<tuple>names, args + count)
    stream, named = _Accepted.launch(*[<object>args[i] for i in range(count)], **named)
    given = tuple(named.values())
    return launch_graph(self, stream, tuple(named), PySequence_Fast_ITEMS(given))


class _Accepted:
    """The arguments that a method accepts. Python raises its own TypeError for others."""

    @staticmethod
    def launch(stream, **values):
        return stream, values

    @staticmethod
    def set(**values):
        return values


cdef object launch_graph(Graph self, object stream, tuple names, Arguments values):
    self._check_open()
    # Copied handles: another thread may close the Graph or the stream during the call.
    cdef GraphExecHandle graph = self._h
    cdef Slots slots = self._slots
    cdef tuple guards = self._guards
    cdef Stream accepted = accept_stream(stream)
    cdef StreamHandle on = accepted._h
    cdef ParameterChanges changes
    cdef ParameterProblem problem
    cdef CUresult status
    if names:
        changes.swap(self._room)
        read_changes(slots, names, values, changes)
    if guards:
        call_guards(guards, "before_launch", self, accepted)
    if self._callbacks.calls:
        status = launch_with_callbacks(self._callbacks, graph, on, changes, &problem)
    else:
        with nogil:
            status = launch(graph, on, changes, &problem)
    if status:
        refuse_launch(self, stream, problem, slots, keywords(names, values), status)
    if names:
        changes.clear()
        changes.swap(self._room)
    if guards:
        call_guards(guards, "after_launch", self, accepted)
    if self._loops.counters:
        launched[<uintptr_t>raw_of(on)] = ref(self)
    if active_captures.load() != 0:
        note_work_elsewhere("launch of a graph")


cdef int call_guards(tuple guards, str method, Graph graph, Stream stream) except -1:
    for guard in guards:
        getattr(guard, method)(graph, stream)
    return 0


cdef int refuse_launch(
    Graph self, object stream, ParameterProblem& problem, Slots slots, dict values, CUresult status
) except -1:
    check_problem(problem, slots, values)
    definition = source_of(self) if status == CUDA_ERROR_INVALID_VALUE else None
    cause = None if definition is None else definition._explain_launch()
    return raise_explained(status, f"launch {self!r} on {stream!r}", cause)


cdef object set_method(Graph self, Arguments values, Py_ssize_t count, PyObject* names):
    if count:
        _Accepted.set(*[<object>values[i] for i in range(count)])
    self._check_open()
    cdef GraphExecHandle graph = self._h
    cdef Slots slots = self._slots
    cdef ParameterChanges changes
    cdef ParameterProblem problem
    cdef bint done
    if names == NULL:
        return
    read_changes(slots, <tuple>names, values, changes)
    with nogil:
        done = set_parameters(graph, changes, &problem)
    if not done:
        check_problem(problem, slots, keywords(<tuple>names, values))


cdef PyMethodDef launch_definition, set_definition
cdef bytes launch_doc = LAUNCH.encode(), set_doc = SET.encode()
give_method(Graph, &launch_definition, b"launch", <void*>launch_method, launch_doc)
give_method(Graph, &set_definition, b"set", <void*>set_method, set_doc)


cdef CUresult launch_with_callbacks(
    ExecutableCallbacks callbacks, const GraphExecHandle& graph, const StreamHandle& on, ParameterChanges& changes,
    ParameterProblem* problem,
) except? CUDA_ERROR_UNKNOWN:
    cdef CUresult status = CUDA_SUCCESS
    with callbacks.launches.order:
        callbacks.launches.add_launch(on, callbacks.calls)
        with nogil:
            status = launch(graph, on, changes, problem)
        if status:
            callbacks.launches.drop_launch()
    return status


# The callback of observe_instantiations(), or None.
cdef object observer = None


def observe_instantiations(callback):
    """Call `callback(definition, graph)` after each instantiation of this process; None ends that.

    The command line finds the graphs of a script so.
    """
    global observer
    observer = callback


cdef Graph instantiate_graph(InsertionPoint definition, object options):
    cdef GraphBox* graph = definition._open()
    cdef uint64_t before = enter_places(hierarchy_number(graph[0]))
    try:
        return make_graph(definition, graph, options)
    finally:
        leave_places(before)


cdef Graph make_graph(InsertionPoint definition, GraphBox* graph, object options):
    cdef CUDA_GRAPH_INSTANTIATE_PARAMS params
    cdef CUresult status
    cdef StreamHandle upload_to = fill_params(&params, options)
    cdef bint optimizes = options is not None and read_flag(options.optimize, "optimize")
    if optimizes and options.device_launch:
        raise ValueError("optimize=True and device_launch=True exclude each other: a graph that kernels launch has fixed nodes")
    cdef bint is_early = options is not None and read_flag(options.early_edges, "early_edges")
    if is_early and options.device_launch:
        raise ValueError("early_edges=True and device_launch=True exclude each other: a graph that kernels launch has fixed nodes")
    check_finished(definition, graph)
    settle_all(graph, True)
    cdef ExecutableCallbacks callbacks = ExecutableCallbacks()
    callbacks.replace_all(callbacks.take(definition))
    cdef GraphExecHandle h
    cdef EarlyEdges edges
    cdef list running = [0]
    fused, early = None, None
    watch("instantiating a graph (seconds)", seconds_of, running, monotonic())
    try:
        if optimizes:
            from .fused_nodes import FusedNodes

            fused = FusedNodes()
            fused.find(definition)
        if is_early:
            from .early_nodes import EarlyNodes

            early = EarlyNodes(definition, None, fused.nodes() if optimizes else ())
            add_edges_of(early, edges)
        h = instantiate(definition._ref.handle(), &params, upload_to, &status, &edges)
    finally:
        running.clear()
    if not h:
        raise_instantiate_error(definition, graph, status, &params)
    cdef Graph made = Graph._from_handle(h, callbacks)
    made._source = WeakNode(definition._ref.handle())
    made._read_parameters(h, graph)
    made._temporaries = plan_memory(definition, made._temporaries, fused.sets() if optimizes else ())
    made._temporaries.use(h)
    made._note_places(graph)
    made._guards = guards_of(hierarchy_number(graph[0]))
    made._fused, made._early = fused, early
    if optimizes:
        fused.apply(made)
    made._begin_early()
    if observer is not None:
        observer(definition, made)
    return made


cdef int add_edges_of(object early, EarlyEdges& edges) except -1:
    cdef GraphNode source, target
    for source, target in early.edges():
        edges.add(source._record()[0], target._record()[0])
    return 0


# The Graph with counters that was launched last on each stream: weak references, by the handle of the stream.
cdef dict launched = {}


def list_loops(stream):
    """Return (name, iterations so far, limit or None) of each loop of the Graph that a stream launched last."""
    known = launched.get(stream)
    graph = None if known is None else known()
    return [] if graph is None or graph.is_closed else graph._loop_counts()


constructors.list_loops = list_loops


def seconds_of(running, begin):
    """Return the seconds since `begin`, or None once `running` is empty."""
    return int(monotonic() - begin) if running else None


cdef InsertionPoint accept_source(object source):
    if isinstance(source, class_of(NodeKind.kEntry)):
        return <InsertionPoint>source
    definition = getattr(type(source), "_definition_for_update", None)  # of a GraphBuilder
    if definition is None:
        raise TypeError(f"expected GraphBuilder or GraphDef, got {type(source).__name__}")
    return <InsertionPoint?>definition(source)


# tests/graph/test_pairing.py
cdef str EDITED = (
    "nodes or edges of the definition that the Graph was made from were edited, so its named parameters cannot be "
    "assigned to nodes of the Graph: undo the edits, or instantiate the definition again"
)


cdef int check_own(Graph self, InsertionPoint definition, str option) except -1:
    cdef NodeHandle source = self._source.lock()
    if source and box_of[NodeRecord](source).graph == definition._open():
        return 0
    raise RuntimeError(
        f"{self!r} was made with {option}=True, so it can be updated only from the definition that it was made from: "
        f"instantiate {definition._identify(True)}"
    )


cdef object make_update_error(Graph self, InsertionPoint after, CUresult status, CUgraphExecUpdateResultInfo* info, str why=None):
    name, text = status_words(status)
    difference = why or ""
    if why is None and status == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE:
        from .difference import describe_difference

        difference = describe_difference(source_of(self), after, <int>info.result, <uintptr_t>info.errorNode)
    return update_error(
        <int>info.result, <int>status, name, text, f"update {self!r} from {after._identify(True)}", difference,
    )


cdef object source_of(Graph self):
    cdef NodeHandle source = self._source.lock()
    if not source or box_of[NodeRecord](source).graph.raw == NULL:
        return None
    return wrap_graph(source, box_of[NodeRecord](source).graph)


cdef int check_finished(InsertionPoint definition, GraphBox* graph) except -1:
    cdef GraphBox* unfinished = find_unfinished(graph[0])
    if unfinished == NULL:
        return 0
    where = "its graph" if unfinished == graph else f"the body {wrap_graph(definition._ref.any(), unfinished)!r} in it"
    if unfinished.is_abandoned:
        raise RuntimeError(f"The graph is unfinished: a capture into {where} was abandoned or invalidated")
    raise RuntimeError(f"The graph is unfinished: {where} is still being captured; call end_building() of its builder")


cdef StreamHandle fill_params(CUDA_GRAPH_INSTANTIATE_PARAMS* params, object options) except *:
    """Fill the parameters of the driver. Returns the stream to upload on, empty without an upload."""
    cdef StreamHandle upload_to
    params.flags = 0
    params.hUploadStream = NULL
    params.hErrNode_out = NULL
    if options is None:
        return upload_to
    if read_flag(options.auto_free_on_launch, "auto_free_on_launch"):
        params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
    if read_flag(options.device_launch, "device_launch"):
        params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
    if read_flag(options.use_node_priority, "use_node_priority"):
        params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
    if options.upload_stream is not None:
        upload_to = accept_stream(options.upload_stream)._h
        params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD
        params.hUploadStream = raw_of(upload_to)
    return upload_to


cdef int raise_instantiate_error(
    InsertionPoint definition, GraphBox* graph, CUresult status, CUDA_GRAPH_INSTANTIATE_PARAMS* params
) except -1:
    name, text = status_words(status) if status else ("", "")
    attempt = f"instantiate {definition._identify(True)}"
    if graph.nodes.find(params.hErrNode_out) != NULL:
        attempt += f"; the driver points at {wrap_raw(definition._ref.any(), graph, params.hErrNode_out)._identify(True)}"
    if graph.holder != NULL and status:
        raise_explained(
            status, attempt, ("The graph is inside a node of another graph, which runs it.", "Instantiate the outermost definition.")
        )
    raise instantiate_error(
        <int>params.result_out, <int>status, name, text, attempt,
        device_launch=params.flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH != 0,
    )
