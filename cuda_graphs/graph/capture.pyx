# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""GraphBuilder: a graph from the work that is given to a stream.

A builder has a kind (who may end the capture) and a state, which only moves forward. Everything that can be refused is
checked before the driver is asked or anything is changed. How a capture ends, whatever happened to it, is in
`_handles/capture_end.cpp`; which call spoiled it, in `_objects/captured.pyx`.
"""

from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from cuda_graphs._driver.cuda cimport (
    CU_STREAM_CAPTURE_STATUS_INVALIDATED, CU_STREAM_CAPTURE_STATUS_NONE, CUDA_ERROR_NOT_PERMITTED,
    CUDA_ERROR_STREAM_CAPTURE_MERGE, CUDA_ERROR_STREAM_CAPTURE_UNJOINED, CUresult, CUstreamCaptureStatus, driver,
)
from cuda_graphs._driver.cuda_graph cimport (
    CU_GRAPH_COND_TYPE_IF, CU_GRAPH_COND_TYPE_SWITCH, CU_GRAPH_COND_TYPE_WHILE, CUgraphConditionalNodeType,
)
from cuda_graphs._driver.seam cimport check_attempt
from cuda_graphs._handles.capture_handles cimport (
    CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    CaptureHandle, CUstreamCaptureMode, Fork, abandon_capture, begin_capture, create_capture, end_capture, order_within,
    tie_stream,
)
from cuda_graphs._handles.graph_handles cimport (
    GraphBox, GraphLabels, NodeHandle, NodeKind, NodeRecord, NodeSpec, node_handle, uses_parameters,
)
from cuda_graphs._handles.handles cimport StreamHandle, box_of, drain_deferred, raw_of
from cuda_graphs._objects.captured cimport fail_capture, ledger_text, note_found, note_operation
from cuda_graphs._objects.numbers cimport as_int, read_unsigned
from cuda_graphs._objects.source cimport find_source, keep_source, text_of
from cuda_graphs._objects.stream cimport Stream
from cuda_graphs.graph.builder_state cimport (
    CAPTURING, CLOSED, CONDITIONAL_BODY, ENDED, FORKED, NOT_STARTED, PRIMARY, BuilderState, Kind,
)
from cuda_graphs.graph.capture_nodes cimport (
    add_captured, capture_callback, check_driver_has, context_of, create_captured_condition,
)
from cuda_graphs.graph.condition cimport Condition
from cuda_graphs.graph.labels cimport check_name, labels_of, set_name
from cuda_graphs.graph.place cimport Place, wrap_graph
from cuda_graphs.graph.spec cimport fill_conditional, read_child
from cuda_graphs.graph.capture_nodes import ENDED_MEANWHILE
from cuda_graphs._objects.capture_ledger import unjoined
from cuda_graphs._objects.stream import register_builder
from cuda_graphs.errors import ClosedBuilderError, CUDAError

NOT_JOINABLE = "Graph builder must be building before it can be joined."
MODES = {
    "global": <int>CU_STREAM_CAPTURE_MODE_GLOBAL,
    "thread_local": <int>CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    "relaxed": <int>CU_STREAM_CAPTURE_MODE_RELAXED,
}


cdef class GraphBuilder(BuilderState):
    """Makes a graph of the work that is given to a stream between `begin_building` and `end_building`.

    `Device.create_graph_builder` makes one with a stream of its own, `Stream.create_graph_builder` one that captures
    that stream. It is accepted wherever a stream is, also by other libraries (``__cuda_stream__``). As a context
    manager it begins the capture and ends it; an exception abandons it. What was issued through cuda_graphs the graph
    keeps alive: kernels and their arguments, buffers of copies and fills, callbacks. Of work of other libraries it
    knows nothing: their memory must live as long as the graph is launched.
    """

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(
            "directly creating a GraphBuilder object can be ambiguous. Please either call "
            "Device.create_graph_builder() or stream.create_graph_builder()"
        )

    @staticmethod
    def _init(stream):
        """The builder of a Stream: what the factories call."""
        (<Stream?>stream)._check_open()
        return GraphBuilder._make(<Stream>stream, PRIMARY)

    @staticmethod
    cdef GraphBuilder _make(Stream stream, Kind kind):
        cdef GraphBuilder self = GraphBuilder.__new__(GraphBuilder)
        self._kind = kind
        self._state = NOT_STARTED
        self._stream = stream
        self._h = stream._h
        return self

    @property
    def is_building(self):
        """Whether the driver says that the stream is being captured for this builder.

        Raises:
            RuntimeError: It says that the capture has been spoiled; the text says by what, as far as that is known.
        """
        self._check_open()
        cdef CUstreamCaptureStatus now = CU_STREAM_CAPTURE_STATUS_NONE
        cdef StreamHandle h = self._h
        cdef CaptureHandle capture = self._capture
        cdef CUresult status
        if self._state != CAPTURING:
            return False
        with nogil:
            status = driver().cuStreamIsCapturing(raw_of(h), &now)
        check_attempt(status, f"ask whether {self!r} is building")
        if now == CU_STREAM_CAPTURE_STATUS_INVALIDATED:
            note_found(capture.get()[0], "is_building")
            why = ledger_text(capture.get()[0])
            raise RuntimeError(
                "Build process encountered an error and has been invalidated. Build process must now be ended."
                + (f"\nCapture: {why}" if why else "")
            )
        return now != CU_STREAM_CAPTURE_STATUS_NONE

    def begin_building(self, mode="relaxed"):
        """Begin to capture the stream.

        Args:
            mode: What else may go on in the process meanwhile. "relaxed": everything that does not touch the capture.
                "thread_local": no call of this thread that might wait for the device or that allocates (outside of
                this package's own). "global": nor of any other thread.

        Returns:
            The builder.

        Raises:
            RuntimeError: It is building already, or has ended.
            ValueError: An unknown mode.
            CaptureError: The driver refuses, e.g. because something else captures this stream.
        """
        self._check_open()
        if self._state == CAPTURING:
            raise RuntimeError("Graph builder is already building.")
        if self._state == ENDED:
            raise RuntimeError("Cannot resume building after building has ended.")
        if not isinstance(mode, str) or mode not in MODES:
            raise ValueError(f"Unsupported build mode: {mode}")
        cdef CaptureHandle capture = create_capture(self._h, self._graph)
        cdef CUresult status = begin_capture(capture.get()[0], <CUstreamCaptureMode><int>MODES[mode])
        if self._state != NOT_STARTED:  # another thread has closed the builder meanwhile, or begun the capture itself
            abandon_capture(capture.get()[0])
            self._check_open()
            raise RuntimeError("Graph builder is already building.")
        if capture.get().active:  # also when a later step failed: then it is there to be ended
            self._state = CAPTURING
            self._capture = capture
            self._graph = capture.get().graph
            note_operation(capture.get()[0], "begin_building")
        check_attempt(status, f"begin to capture {self._stream!r} in mode {mode!r}")
        return self

    def end_building(self):
        """End the capture: what was captured is a graph now.

        Returns:
            The builder.

        Raises:
            RuntimeError: It is not building, or was split off: those are joined.
            CaptureError: The capture was spoiled, or not all builders that `split` made were joined; there is no graph
                then. In another thread than the one that began it (not "relaxed"), or in a body with builders that are
                not joined, it goes on.
        """
        cdef CaptureHandle capture = self._capturing("Graph builder is not building.")
        if self._kind == FORKED:
            raise RuntimeError(
                "a builder that was split off does not end the capture: join it, and end the one that it came from"
            )
        note_found(capture.get()[0], "end_building")
        cdef CUresult status = end_capture(capture.get()[0])
        if not capture.get().active and self._state == CAPTURING:
            self._state = ENDED
        if status:
            self._fail_to_end(capture, status)
        capture.get().ledger.clear()
        return self

    cdef int _fail_to_end(self, CaptureHandle capture, CUresult status) except -1:
        cdef Fork fork
        try:
            fail_capture(capture.get()[0], status, f"end the capture of {self!r}")
        except CUDAError as error:
            if status == CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
                error.capture = unjoined([
                    text_of(&capture.get().box(), fork.source)
                    for fork in capture.get().forks if not fork.joined
                ])
            raise
        return 0

    cdef Place _finished(self):
        self._check_open()
        if self._state != ENDED:
            raise RuntimeError("Graph has not finished building.")
        cdef NodeHandle h = self._graph
        cdef GraphBox* graph = box_of[NodeRecord](h).graph
        if graph.raw == NULL:
            raise RuntimeError("Graph has not finished building. Its capture failed, so there is no graph.")
        return wrap_graph(h, graph)

    def complete(self, options=None, **keywords):
        """An executable Graph of what was captured; each call makes another. As `GraphDef.instantiate`.

        Raises:
            RuntimeError: The capture has not ended, or that of a body in it has not; or it failed.
            GraphInstantiateError: What was captured cannot run, e.g. a condition that no node uses.
            CUDAError: The driver refuses for another reason, e.g. there is an executable of a graph with memory already.
        """
        return self._finished().instantiate(options, **keywords)

    def debug_dot_print(self, path, options=None):
        """Write the captured graph to a file in the DOT language, as `GraphDef.debug_dot_print`.

        Args:
            path: Of the file: str, bytes or ``os.PathLike``.
            options: GraphDebugPrintOptions: what to say of each node. None: kinds and edges.

        Raises:
            RuntimeError: The capture has not ended, or has failed.
            CUDAError: The file cannot be written.
        """
        self._finished().debug_dot_print(path, options)

    @property
    def graph_definition(self):
        """The captured graph itself, as a GraphDef: nodes added to it or removed are in what `complete` makes.

        Of a body also before it begins: explicit nodes and captured ones may be mixed.

        Raises:
            RuntimeError: There is no graph yet, it is being captured, or this builder was split off.
        """
        self._check_open()
        if self._kind == FORKED:
            raise RuntimeError(
                "graph_definition is unavailable on forked graph builders; access it through the primary builder instead."
            )
        if self._state == CAPTURING:
            raise RuntimeError(
                "graph_definition is unavailable while capture is in progress; call end_building() first."
            )
        if self._kind == PRIMARY and self._state == NOT_STARTED:
            raise RuntimeError(
                "graph_definition is unavailable before begin_building() on a primary builder; no graph has been "
                "created yet."
            )
        cdef NodeHandle h = self._graph
        return self._finished() if self._state == ENDED else wrap_graph(h, box_of[NodeRecord](h).graph)

    def _definition_for_update(self):
        """What `Graph.update` takes."""
        if self._state == CLOSED:
            raise ClosedBuilderError("Source graph builder has been closed. (GraphBuilder has been closed)")
        if self._state != ENDED:
            raise ValueError("Graph has not finished building.")
        return self._finished()

    def split(self, count):
        """Fork the capture: `count` builders whose work may run side by side, the first of them this one.

        Each of the others has a stream of its own and must come back with `join` before the capture ends.

        Raises:
            TypeError: `count` is not an int.
            ValueError: `count` is less than 2.
            RuntimeError: The builder is not building.
        """
        number = as_int(count)
        if number is None:
            raise TypeError(f"count must be an int, got {type(count).__name__}")
        if number < 2:
            raise ValueError(f"Invalid split count: expecting >= 2, got {count}")
        cdef CaptureHandle capture = self._capturing("Graph builder must be building before it can be split.")
        cdef StreamHandle here = self._h
        forks = []
        try:
            for _ in range(number - 1):
                forks.append(self._split_off(capture, here))
        except BaseException:
            for fork in forks:  # a branch without work needs no join
                (<GraphBuilder>fork)._leave()
            raise
        note_operation(capture.get()[0], "split")
        return (self, *forks)

    cdef GraphBuilder _split_off(self, CaptureHandle capture, StreamHandle here):
        cdef GraphBuilder fork = GraphBuilder._make(self._new_stream(), FORKED)
        cdef StreamHandle there = fork._h
        cdef Fork entry
        cdef CUresult status
        with nogil:
            status = order_within(capture.get()[0], there, here)
        if status:
            fail_capture(capture.get()[0], status, f"split {self!r}")
        entry.source = keep_source(&capture.get().box(), find_source())
        entry.stream = there
        if not capture.get().active:
            raise RuntimeError(ENDED_MEANWHILE)
        fork._fork = capture.get().forks.size()
        capture.get().forks.push_back(entry)
        fork._state = CAPTURING
        fork._capture = capture
        fork._graph = capture.get().graph
        tie_stream(there, capture.get()[0])
        return fork

    cdef int _leave(self) except -1:
        """This branch has come back."""
        cdef CaptureHandle capture = self._capture
        if capture:  # else another thread has closed it
            capture.get().forks[self._fork].joined = True
        self._tear_down()
        self._stream = None
        return 0

    @staticmethod
    def join(*builders):
        """Join builders of one capture: what is captured on the result from now on comes after the work of all.

        Returns:
            The first that `split` did not make, else the first; the others are closed.

        Raises:
            TypeError: An argument is not a GraphBuilder.
            ValueError: Less than two builders, or one of them twice.
            RuntimeError: One is closed or not building.
            CaptureError: They are not of one capture. When the driver refuses to join one of them, it and those after it
                are closed as well.
        """
        for builder in builders:
            if not isinstance(builder, GraphBuilder):
                raise TypeError("All arguments must be GraphBuilder instances")
        if len(builders) < 2:
            raise ValueError("Must join with at least two graph builders")
        if len(set(map(id, builders))) < len(builders):
            raise ValueError("Each graph builder can be joined only once")
        cdef GraphBuilder root = next((b for b in builders if (<GraphBuilder>b)._kind != FORKED), builders[0])
        cdef CaptureHandle capture = check_joinable(root, builders)
        others = [builder for builder in builders if builder is not root]
        try:
            for builder in others:
                join_one(root, <GraphBuilder>builder, capture)
        finally:
            for builder in others:
                if (<GraphBuilder>builder)._state != CLOSED:
                    (<GraphBuilder>builder)._tear_down()
                    (<GraphBuilder>builder)._stream = None
        note_operation(capture.get()[0], "join")
        return root

    def embed(self, GraphBuilder child not None, *, name=None):
        """Add a copy of the graph of another builder, which has ended building, as one node.

        Args:
            child: The other builder; it stays as it is.
            name: Of the ChildGraphNode.

        Raises:
            TypeError: `child` is not a GraphBuilder, or `name` not a str.
            ValueError: The child has not ended building, or this one is not building; or nodes of the child use
                parameters, which graphs being captured do not have: embed its definition when the capture has ended.
            RuntimeError: One of them is closed, or the child's capture failed.
            CUDAError: The child holds alloc, free or conditional nodes (a rule of the driver).
            RecursionError: A graph in the child would have more than 1024 graphs around it.
        """
        cdef NodeSpec spec
        self._check_open()
        child._check_open()
        if child._state != ENDED:
            raise ValueError("Child graph has not finished building.")
        if self._state != CAPTURING:
            raise ValueError("Parent graph is not being built.")
        check_name(name)
        cdef CaptureHandle capture = self._capture
        cdef StreamHandle h = self._h
        cdef Place copied = child._finished()
        cdef GraphBox* source = copied._open()
        if uses_parameters(source[0]):
            raise ValueError(
                f"cannot embed {child!r} in a capture: nodes of it use parameters. End the capture and embed the "
                "graph_definition of the one in that of the other"
            )
        cdef shared_ptr[const GraphLabels] labels = labels_of(source, child)
        read_child(spec, child, source, &capture.get().box())
        cdef NodeRecord* node = add_captured(h, spec, b"embed", f"embed {child!r} in {self!r}")
        node.make_facts().inner_labels = labels
        label(node, name)

    def callback(self, fn, *, user_data=None, name=None):
        """Have each launch of the graph call a function on the host here, on a thread of the driver.

        It must not call CUDA (the driver refuses that). An exception goes to ``sys.unraisablehook``, and the graph goes on.

        Args:
            fn: A Python callable without arguments, or a ctypes function pointer ``void (void*)``. The graph keeps it.
            user_data: What a ctypes function pointer is given: an address, or bytes, of which the graph keeps a copy.
            name: Of the HostCallbackNode; else it is called after the function.

        Raises:
            RuntimeError: The builder is not building.
            TypeError: `fn` cannot be called, or is a ctypes function pointer of another type than ``void (void*)``;
                `user_data` is neither an int nor bytes; `name` is not a str.
            ValueError: `user_data` with a Python callable.
        """
        cdef CaptureHandle _held = self._capturing("Cannot add callback when graph is not being built")
        cdef StreamHandle h = self._h
        check_name(name)
        label(capture_callback(h, fn, user_data, False), name)

    def create_condition(self, default_value=None):
        """A Condition for one conditional node of the graph being captured: 32 bits on the device that kernels set.

        Args:
            default_value: What it is set to at the beginning of each launch of the graph (0 to 2**32 - 1). None: it keeps
                what it had, and begins without anything to rely on.

        Raises:
            RuntimeError: The builder is not building, or the driver is older than CUDA 12.3.
            TypeError, OverflowError: `default_value` is not an int of 32 bits.
        """
        self._check_open()
        check_driver_has("create_condition")
        value = None if default_value is None else read_unsigned(default_value, "default_value", 32)
        cdef CaptureHandle capture = self._capturing("Cannot create a condition when graph is not being built")
        cdef StreamHandle h = self._h
        return create_captured_condition(capture.get()[0], context_of(h), value, f"of {self!r}")

    def if_then(self, condition, *, name=None):
        """Add an IfNode; what the returned builder captures runs if the condition is not 0.

        The builder is one of its own: `begin_building` and `end_building`, or `with`, fill its body, and
        `graph_definition` gives access to it. Work captured here from now on comes after the node.

        Raises:
            RuntimeError: The builder is not building, or the driver is older than CUDA 12.3.
            TypeError: Not a Condition, or `name` is not a str.
            CUDAError: The condition is of another graph, or of a node already.
            RecursionError: The body would have more than 1024 graphs around it.
        """
        return self._add_conditional(b"if_then", condition, NodeKind.kIf, CU_GRAPH_COND_TYPE_IF, 1, name)[0]

    def if_else(self, condition, *, name=None):
        """Add an IfElseNode; of the two returned builders the first captures what runs if the condition is not 0, the
        second what runs if it is. See `if_then`.

        Raises:
            RuntimeError: The builder is not building, or the driver is older than CUDA 12.8.
            TypeError: Not a Condition, or `name` is not a str.
            CUDAError: The condition is of another graph, or of a node already.
        """
        return self._add_conditional(b"if_else", condition, NodeKind.kIfElse, CU_GRAPH_COND_TYPE_IF, 2, name)

    def while_loop(self, condition, *, name=None):
        """Add a WhileNode; what the returned builder captures runs again and again, as long as the condition is not 0
        before it. See `if_then`.

        Raises:
            RuntimeError: The builder is not building, or the driver is older than CUDA 12.3.
            TypeError: Not a Condition, or `name` is not a str.
            CUDAError: The condition is of another graph, or of a node already.
        """
        return self._add_conditional(b"while_loop", condition, NodeKind.kWhile, CU_GRAPH_COND_TYPE_WHILE, 1, name)[0]

    def switch(self, condition, count, *, name=None):
        """Add a SwitchNode; of the `count` returned builders number n captures what runs if the condition is n. If it is
        `count` or more, none does. See `if_then`.

        Raises:
            RuntimeError: The builder is not building, or the driver is older than CUDA 12.8.
            TypeError: Not a Condition, `count` is not an int, or `name` is not a str.
            OverflowError: `count` is negative or of more than 32 bits.
            CUDAError: The condition is of another graph, or of a node already; `count` is 0.
        """
        return self._add_conditional(b"switch", condition, NodeKind.kSwitch, CU_GRAPH_COND_TYPE_SWITCH, count, name)

    cdef tuple _add_conditional(
        self, const char* what, object condition, NodeKind kind, CUgraphConditionalNodeType cond_type, object count,
        object name
    ):
        self._check_open()
        check_driver_has(what.decode())
        if not isinstance(condition, Condition):
            raise TypeError(
                "condition must be a Condition object (from GraphBuilder.create_condition()), "
                f"got {type(condition).__name__}"
            )
        cdef NodeSpec spec
        cdef vector[GraphBox*] inside
        cdef GraphBox* graph
        cdef GraphBuilder body
        cdef unsigned int size = <unsigned int>read_unsigned(count, "count", 32)
        # Behind what may run code of the user's, which may end the capture.
        cdef CaptureHandle capture = self._capturing("Cannot add conditional node when not actively capturing")
        cdef StreamHandle h = self._h
        check_name(name)
        fill_conditional(spec, condition, kind, cond_type, size, context_of(h), &capture.get().box())
        # First what may fail without a trace.
        streams = [self._new_stream() for _ in range(size)]
        cdef NodeRecord* node = add_captured(h, spec, what, f"{what.decode()}({condition!r}) on {self!r}")
        inside = node.make_facts().inner
        label(node, name)
        bodies = []
        for graph in inside:
            body = GraphBuilder._make(streams[len(bodies)], CONDITIONAL_BODY)
            body._graph = node_handle(capture.get().graph, graph.entry)
            bodies.append(body)
        return tuple(bodies)

    def close(self):
        """Give up the builder: a capture that it has not ended is ended and its graph dropped. May be called twice.

        A stream of its own goes with it; one that it was made for can be used again. Closed in any case, also when it
        raises.

        Raises:
            CaptureError: The capture could not be ended well: it was spoiled, or builders that `split` made are left.
        """
        cdef CaptureHandle capture = self._capture
        if self._state == CAPTURING and self._kind != FORKED:
            note_found(capture.get()[0], "close")
        cdef CUresult status = self._tear_down()
        self._stream = None
        with nogil:
            drain_deferred()
        if status and status != CUDA_ERROR_NOT_PERMITTED:  # inside a host function: then it is ended later
            try:
                fail_capture(capture.get()[0], status, "close a GraphBuilder whose capture has not ended")
            finally:
                capture.reset()  # where the driver refused to end it, it is asked again: not with an exception on its way

    def __enter__(self):
        self._check_open()
        if self._kind == FORKED:
            raise RuntimeError("a builder that was split off is joined, not ended: use it without `with`")
        if self._state == NOT_STARTED:
            try:
                self.begin_building()
            except BaseException:
                self._give_up()
                raise
        elif self._state == ENDED:
            raise RuntimeError("Cannot resume building after building has ended.")
        return self

    def __exit__(self, kind, error, traceback):
        if self._state != CAPTURING:
            return
        if kind is None:
            self.end_building()
        else:
            self._give_up()

    cdef int _give_up(self) except -1:
        """An exception is on its way: nothing else is raised, and the graph around a body is not to be used."""
        if self._kind == CONDITIONAL_BODY and self._graph:
            box_of[NodeRecord](self._graph).graph.half_done = True
        self._tear_down()
        self._stream = None
        return 0


def _capture_callback_with_tail_failure_for_testing(GraphBuilder gb not None, fn, *, user_data=None):
    """`gb.callback(fn)`, but the node cannot be told after the driver has made it: the graph must keep `fn` all the same."""
    cdef CaptureHandle _held = gb._capturing("Cannot add callback when graph is not being built")
    cdef StreamHandle h = gb._h
    capture_callback(h, fn, user_data, True)


cdef int label(NodeRecord* node, object name) except -1:
    return 0 if name is None else set_name(node, name)


cdef CaptureHandle check_joinable(GraphBuilder root, tuple builders) except *:
    cdef GraphBuilder builder
    cdef CaptureHandle capture
    for builder in builders:
        builder._check_open()
    capture = root._capturing(NOT_JOINABLE)
    for builder in builders:
        builder._capturing(NOT_JOINABLE)
    for builder in builders:
        if builder._capture != capture:
            check_attempt(CUDA_ERROR_STREAM_CAPTURE_MERGE, f"join {builder!r} with {root!r}, which is of another capture")
    return capture


cdef int join_one(GraphBuilder root, GraphBuilder builder, CaptureHandle capture) except -1:
    cdef StreamHandle here, there
    cdef CUresult status
    root._capturing(NOT_JOINABLE)  # again: another thread may have closed them since
    builder._capturing(NOT_JOINABLE)
    here, there = root._h, builder._h
    with nogil:
        status = order_within(capture.get()[0], here, there)
    if status:
        fail_capture(capture.get()[0], status, f"join {builder!r} with {root!r}")
    return builder._leave()


register_builder(GraphBuilder._init)
