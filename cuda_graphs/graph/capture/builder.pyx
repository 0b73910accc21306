# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""GraphBuilder: builds a graph by stream capture.

A builder has a kind, which decides whether it may end the capture, and a state, which only moves forward. Methods check
their arguments before they call the driver or change the builder. `core/capture/capture_end.cpp` ends captures in every
state. `objects/capture_ledger.pyx` reports the call that invalidated a capture.
"""

import warnings
from weakref import ref

from cpython.object cimport PyObject
from libc.stddef cimport size_t
from libcpp.memory cimport shared_ptr
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport (
    CU_STREAM_CAPTURE_STATUS_INVALIDATED,
    CU_STREAM_CAPTURE_STATUS_NONE,
    CUDA_ERROR_NOT_PERMITTED,
    CUDA_ERROR_STREAM_CAPTURE_MERGE,
    CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
    CUgraph,
    CUresult,
    CUstreamCaptureStatus,
    driver,
)
from cuda_graphs.core.driver.cuda_graph cimport graph_driver
from cuda_graphs.core.driver.seam cimport check_attempt, raise_explained
from cuda_graphs.core.capture.capture_handles cimport (
    CU_STREAM_CAPTURE_MODE_GLOBAL,
    CU_STREAM_CAPTURE_MODE_RELAXED,
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    CaptureBox,
    CapturedCall,
    CaptureHandle,
    CUstreamCaptureMode,
    Fork,
    abandon_capture,
    begin_capture,
    create_capture,
    end_capture,
    order_within,
    tie_stream,
)
from cuda_graphs.core.graphs.graph_handles cimport (
    GraphBox,
    GraphLabels,
    NodeHandle,
    NodeKind,
    NodeRecord,
    NodeSpec,
    as_owner,
    node_handle,
    uses_parameters,
)
from cuda_graphs.core.resources.handles cimport (
    Opaque,
    StreamHandle,
    box_of,
    drain_deferred,
    hold_python,
    raw_of,
)
from cuda_graphs.objects.body_rules cimport check_copy_fits_body
from cuda_graphs.objects.capture_ledger cimport (
    add_operation,
    count_work_elsewhere,
    empty_text,
    ledger_text,
    raise_capture_error,
    record_foreign_spoiler,
)
from cuda_graphs.objects.captured_call cimport find_capture, keep_owners
from cuda_graphs.objects.captured_call import ENDED_MEANWHILE
from cuda_graphs.objects.numbers cimport as_int, read_flag, read_unsigned
from cuda_graphs.objects.source cimport keep_source, text_of
from cuda_graphs.objects.device.current cimport StreamBlock, enter_block, leave_block
from cuda_graphs.objects.device.stream cimport Stream, accept_stream
from cuda_graphs.objects.memory.buffer cimport Buffer
from .builder_state cimport (
    CAPTURING,
    CLOSED,
    CONDITIONAL_BODY,
    ENDED,
    FORKED,
    NOT_STARTED,
    PRIMARY,
    BuilderState,
    Kind,
)
from .builder_nodes cimport (
    add_captured,
    capture_callback,
    check_driver_has,
    context_of,
    create_captured_condition,
)
from cuda_graphs.graph.operands.condition cimport Condition
from cuda_graphs.graph.operands.parameter cimport declare
from cuda_graphs.graph.nodes.labels cimport check_name, labels_of, set_name
from cuda_graphs.graph.nodes.condition_tests cimport ConditionTest, first_test, read_test
from cuda_graphs.graph.operands.loop_counter cimport LoopCounter, make_counter
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint, add_loop_test, wrap_graph
from cuda_graphs.graph.nodes.spec cimport fill_conditional, read_child
from cuda_graphs.objects.ledger_text import JOIN_BY_EVENT, describe_unjoined
from cuda_graphs.objects import constructors
from cuda_graphs.objects.code.launch import launch
from cuda_graphs.objects.device.device import Device
from cuda_graphs.errors import CaptureWarning, ClosedBuilderError, CUDAError

NOT_CAPTURING = "conditional nodes need a GraphBuilder that is capturing: call begin_building() first"
NOT_JOINABLE = "join() needs builders that are capturing: call begin_building() first."
# Type of a wrong child -> what to do.
HINTS = {
    "GraphDef": ": to add a copy of a definition, end the capture and call embed() of its graph_definition",
    "Graph": ": an executable cannot be embedded; pass the builder that it was completed from",
}
MODES = {
    "global": <int>CU_STREAM_CAPTURE_MODE_GLOBAL,
    "thread_local": <int>CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    "relaxed": <int>CU_STREAM_CAPTURE_MODE_RELAXED,
}


cdef int show_if_long(GraphBuilder builder) except -1:
    from cuda_graphs.objects.progress import watch

    watch("capturing a graph (calls)", calls_of, ref(builder))
    return 0


def calls_of(builder):
    """Return the number of calls that the builder of a weak reference has captured; None once it does not capture."""
    known = builder()
    return None if known is None else known._captured_calls()

cdef tuple DEFAULT_STREAM = (
    "The legacy default stream cannot be captured (cuda.h, cuStreamBeginCapture).",
    "Pass a stream of Device.create_stream(), or no stream.",
)


cdef class GraphBuilder(BuilderState):
    """Makes a graph of the work that is given to a stream between `begin_building` and `end_building`.

    `Device.create_graph_builder` creates a builder with a stream of its own. `Stream.create_graph_builder` creates a
    builder that captures that stream. cuda_graphs and other libraries (``__cuda_stream__``) accept a builder in place of
    a stream. Used as a context manager, the builder begins the capture and ends it, and its stream is the current stream
    of the thread in the block (`current_stream`); an exception abandons the capture.
    The graph keeps alive the objects of work that is issued through cuda_graphs: kernels and their arguments, buffers of
    copies and fills, callbacks. The caller must keep the memory that other libraries use alive as long as the graph is
    launched.
    """

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(
            "GraphBuilder has no public constructor: call Device.create_graph_builder() or "
            "Stream.create_graph_builder()"
        )

    @staticmethod
    def _init(stream):
        """Return a primary builder of a Stream. The factory methods call it."""
        (<Stream?>stream)._check_open()
        return GraphBuilder._make(<Stream>stream, PRIMARY)

    @staticmethod
    cdef GraphBuilder _make(Stream stream, Kind kind):
        cdef GraphBuilder self = GraphBuilder.__new__(GraphBuilder)
        self._kind = kind
        self._state = NOT_STARTED
        self._stream = stream
        self._h = stream._h
        self._mode, self._blocks = "relaxed", []
        self._keeps_arrays = False
        return self

    @property
    def is_building(self):
        """True while the driver captures the stream for this builder.

        Raises:
            RuntimeError: The capture is invalid. The text names the call that invalidated it, if that call is known.
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
            record_foreign_spoiler(capture.get()[0], "is_building")
            why = ledger_text(capture.get()[0])
            raise RuntimeError(
                "The capture has been invalidated by an error: call end_building() or close()."
                + (f"\nCapture: {why}" if why else "")
            )
        return now != CU_STREAM_CAPTURE_STATUS_NONE

    def begin_building(self, mode="relaxed"):
        """Begin to capture the stream.

        Args:
            mode: The calls that the process may make during the capture. "relaxed": every call that does not touch the
                capture. "thread_local": this thread may not call driver functions that might wait for the device or
                that allocate, except through this package. "global": no thread may call these functions.

        Returns:
            The builder.

        Raises:
            RuntimeError: The builder is building already, or has ended.
            ValueError: The mode is unknown.
            CaptureError: The driver refuses, e.g. because another capture uses this stream.
        """
        self._check_open()
        if self._state == CAPTURING:
            raise RuntimeError("The GraphBuilder is capturing already.")
        if self._state == ENDED:
            raise RuntimeError("The capture has ended and cannot be resumed: create another GraphBuilder.")
        check_mode(mode)
        self._noted = count_work_elsewhere()
        cdef CaptureHandle capture = create_capture(self._h, self._graph)
        cdef CUresult status = begin_capture(capture.get()[0], <CUstreamCaptureMode><int>MODES[mode])
        if self._state != NOT_STARTED:  # another thread has closed the builder or begun its capture in the meantime
            abandon_capture(capture.get()[0])
            self._check_open()
            raise RuntimeError("The GraphBuilder is capturing already.")
        if capture.get().active:  # a capture whose later steps failed must still be ended
            self._state = CAPTURING
            self._capture = capture
            self._graph = capture.get().graph
            add_operation(capture.get()[0], "begin_building")
            show_if_long(self)
        if status:
            cause = DEFAULT_STREAM if self._stream.handle in (0, 1) else None
            raise_explained(status, f"begin to capture {self._stream!r} in mode {mode!r}", cause)
        return self

    def _captured_calls(self):
        """Return the number of calls of the capture so far; None unless it is running."""
        cdef CaptureHandle capture = self._capture
        return <size_t>capture.get().ledger.size() - 1 if self._state == CAPTURING and capture.get() != NULL else None

    def end_building(self):
        """End the capture. The captured work becomes a graph.

        Returns:
            The builder.

        Raises:
            RuntimeError: The builder is not building, or is forked. A forked builder is joined instead.
            CaptureError: The capture is invalid, or a builder that `split` made was not joined; then there is no graph.
                The capture continues if another thread than the one that began it calls (except in "relaxed" mode), and
                if the builder captures a body and a forked builder is not joined.
        """
        cdef CaptureHandle capture = self._require_capture("The GraphBuilder is not capturing: call begin_building() first.")
        if self._kind == FORKED:
            raise RuntimeError(
                "a forked GraphBuilder does not end the capture: join it, and end the builder that it was split from"
            )
        record_foreign_spoiler(capture.get()[0], "end_building")
        self._keep_arrays()
        cdef CUresult status = end_capture(capture.get()[0])
        if not capture.get().active and self._state == CAPTURING:
            self._state = ENDED
        if status:
            if not capture.get().active:
                self._close_arrays()
            self._raise_end_error(capture, status)
        cdef str warning = empty_text(capture.get()[0], self._noted) if is_empty(capture.get()[0]) else None
        capture.get().ledger.clear()
        count_work_elsewhere()
        if warning is not None:
            warnings.warn(warning, CaptureWarning, stacklevel=1)
        return self

    cdef int _keep_arrays(self) except -1:
        """Let the graph keep the arrays that were made in the `with` blocks of this builder and are still alive."""
        cdef CapturedCall call
        cdef StreamBlock block
        cdef Buffer made
        for block in self._blocks:
            block.held.clear()  # adds free nodes
            for each in block.made:
                made = each()
                if made is not None and made._h and find_capture(call, self._h):
                    keep_owners(call, as_owner(made._h), Opaque())
                    self._keeps_arrays = True
        return 0

    cdef int _close_arrays(self) except -1:
        """Close the Buffers of these arrays, because no launch will allocate their memory."""
        cdef StreamBlock block
        cdef Buffer made
        for block in self._blocks:
            block.held.clear()
            for each in block.made:
                made = each()
                if made is not None:
                    made._let_go()
        return 0

    cdef int _raise_end_error(self, CaptureHandle capture, CUresult status) except -1:
        cdef Fork fork
        try:
            raise_capture_error(capture.get()[0], status, f"end the capture of {self!r}")
        except CUDAError as error:
            if status == CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
                unjoined = [
                    text_of(&capture.get().box(), fork.source)
                    for fork in capture.get().forks if not fork.joined
                ]
                error.capture = describe_unjoined(unjoined)
                if not unjoined:
                    error.remedy = JOIN_BY_EVENT
            raise
        return 0

    cdef InsertionPoint _finished(self):
        self._check_open()
        if self._state != ENDED:
            raise RuntimeError("The graph is unfinished: call end_building() first.")
        cdef NodeHandle h = self._graph
        cdef GraphBox* graph = box_of[NodeRecord](h).graph
        if graph.raw == NULL:
            raise RuntimeError("The graph is unfinished: its capture failed.")
        return wrap_graph(h, graph)

    def complete(self, options=None, **keywords):
        """Return an executable Graph of the captured work, like `GraphDef.instantiate`. Each call makes another Graph.

        If the graph keeps arrays that were made in the capture, `auto_free_on_launch` is True unless options are given.

        Raises:
            RuntimeError: The capture, or the capture of a body in it, has not ended or has failed.
            GraphInstantiateError: The captured graph cannot run, e.g. because no node uses one of its conditions.
            CUDAError: The driver refuses for another reason, e.g. a graph with alloc nodes has an executable already.
        """
        cdef InsertionPoint definition = self._finished()
        if self._keeps_arrays and options is None:
            keywords.setdefault("auto_free_on_launch", True)
        return definition.instantiate(options, **keywords)

    def debug_dot_print(self, path, options=None):
        """Write the captured graph to a file in the DOT language, like `GraphDef.debug_dot_print`.

        Args:
            path: The file: str, bytes or ``os.PathLike``.
            options: GraphDebugPrintOptions: the details of each node. None: kinds and edges only.

        Raises:
            RuntimeError: The capture has not ended, or has failed.
            OSError: The file cannot be written, for example FileNotFoundError for a missing folder.
        """
        self._finished().debug_dot_print(path, options)

    def draw(self, path=None, *, fold=None, check=False, theme="auto"):
        """Return a Picture of the captured graph, and write it to a file, like `GraphDef.draw`.

        Args:
            path, fold, check, theme: See `GraphDef.draw`.

        Raises:
            RuntimeError: The capture has not ended, or has failed.
            TypeError, ValueError, OSError, ImportError: The errors of `GraphDef.draw`.
        """
        return self._finished().draw(path, fold=fold, check=check, theme=theme)

    def _repr_mimebundle_(self, **types):
        from cuda_graphs.graph.display import drawing

        return drawing.mime_bundle(self)

    def __str__(self):
        from cuda_graphs.graph.display import drawing

        return drawing.text_of_graph(self)

    @property
    def graph_definition(self):
        """The captured graph itself, as a GraphDef. `complete` uses the nodes that were added to it or removed.

        The builder of a body also gives it before its capture begins: explicit and captured nodes may be mixed.

        Raises:
            RuntimeError: There is no graph yet, the capture is running, or this builder is forked.
        """
        self._check_open()
        if self._kind == FORKED:
            raise RuntimeError(
                "A forked GraphBuilder has no graph_definition: use the graph_definition of the primary builder."
            )
        if self._state == CAPTURING:
            raise RuntimeError(
                "The graph_definition cannot be used during the capture: call end_building() first."
            )
        if self._kind == PRIMARY and self._state == NOT_STARTED:
            raise RuntimeError(
                "A primary GraphBuilder has no graph_definition before its capture: call begin_building() and "
                "end_building() first."
            )
        cdef NodeHandle h = self._graph
        return self._finished() if self._state == ENDED else wrap_graph(h, box_of[NodeRecord](h).graph)

    def _definition_for_update(self):
        """Return the GraphDef that `Graph.update` takes."""
        if self._state == CLOSED:
            raise ClosedBuilderError("The source GraphBuilder has been closed")
        if self._state != ENDED:
            raise ValueError("The graph is unfinished: call end_building() first.")
        return self._finished()

    def split(self, count):
        """Fork the capture: return `count` builders whose work may run in parallel. The first one is this builder.

        Each other builder has a stream of its own. `join` must merge it before the capture ends.

        Raises:
            TypeError: `count` is not an int.
            ValueError: `count` is less than 2.
            RuntimeError: The builder is not building.
        """
        number = as_int(count)
        if number is None:
            raise TypeError(f"count must be an int, got {type(count).__name__}")
        if number < 2:
            raise ValueError(f"count must be 2 or more, got {count}")
        cdef CaptureHandle capture = self._require_capture(
            "split() needs a GraphBuilder that is capturing: call begin_building() first."
        )
        cdef StreamHandle here = self._h
        forks = []
        try:
            for _ in range(number - 1):
                forks.append(self._split_off(capture, here))
        except BaseException:
            for fork in forks:  # a branch without work needs no join
                (<GraphBuilder>fork)._mark_joined()
            raise
        add_operation(capture.get()[0], "split")
        return (self, *forks)

    cdef GraphBuilder _split_off(self, CaptureHandle capture, StreamHandle here):
        cdef GraphBuilder fork = GraphBuilder._make(self._new_stream(), FORKED)
        cdef StreamHandle there = fork._h
        cdef Fork entry
        cdef CUresult status
        with nogil:
            status = order_within(capture.get()[0], there, here)
        if status:
            raise_capture_error(capture.get()[0], status, f"split {self!r}")
        keep_source(&capture.get().box(), &entry.source)
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

    cdef int _mark_joined(self) except -1:
        """Mark the branch as joined and close its builder."""
        cdef CaptureHandle capture = self._capture
        if capture:  # empty if another thread has closed the builder
            capture.get().forks[self._fork].joined = True
        self._shut_down()
        return 0

    @staticmethod
    def join(*builders):
        """Join builders of one capture: later work of the returned builder comes after the work of all arguments.

        Returns:
            The first argument that `split` did not make, else the first argument. The other builders are closed.

        Raises:
            TypeError: An argument is not a GraphBuilder.
            ValueError: There are fewer than two builders, or one builder is given twice.
            RuntimeError: A builder is closed or not building.
            CaptureError: The builders belong to different captures, or the driver refuses to join a builder. After a
                refusal that builder and the following ones are closed as well.
        """
        for builder in builders:
            if not isinstance(builder, GraphBuilder):
                raise TypeError(f"join() takes GraphBuilders, got {type(builder).__name__}")
        if len(builders) < 2:
            raise ValueError(f"join() takes two or more GraphBuilders, got {len(builders)}")
        if len(set(map(id, builders))) < len(builders):
            raise ValueError("join() takes each GraphBuilder once, got one of them twice")
        cdef GraphBuilder root = next((b for b in builders if (<GraphBuilder>b)._kind != FORKED), builders[0])
        cdef CaptureHandle capture = check_joinable(root, builders)
        others = [builder for builder in builders if builder is not root]
        try:
            for builder in others:
                join_one(root, <GraphBuilder>builder, capture)
        finally:
            for builder in others:
                if (<GraphBuilder>builder)._state != CLOSED:
                    (<GraphBuilder>builder)._shut_down()
        add_operation(capture.get()[0], "join")
        return root

    def embed(self, child, *, name=None):
        """Add a copy of the graph of another builder, which has ended building, as one node.

        Args:
            child: The other builder. It does not change.
            name: The name of the ChildGraphNode.

        Raises:
            TypeError: `child` is not a GraphBuilder, or `name` is not a str.
            ValueError: The child has not ended building, this builder is not building, or nodes of the child use named
                parameters: embed such a definition after the capture.
                This builder captures a body, and the child holds a node that bodies may not hold.
            RuntimeError: One of the builders is closed, or the child's capture failed.
            CUDAError: The child holds alloc, free or conditional nodes (a rule of the driver).
            RecursionError: A graph in the child would have more than 1024 graphs around it.
        """
        cdef NodeSpec spec
        cdef GraphBuilder other = accept_builder(child)
        self._check_open()
        other._check_open()
        if other._state != ENDED:
            raise ValueError("The child graph is unfinished: call end_building() of its builder first.")
        if self._state != CAPTURING:
            raise ValueError("The parent GraphBuilder is not capturing: call begin_building() first.")
        check_name(name)
        cdef CaptureHandle capture = self._capture
        cdef StreamHandle h = self._h
        cdef InsertionPoint copied = other._finished()
        cdef GraphBox* source = copied._open()
        if uses_parameters(source[0]):
            raise ValueError(
                f"cannot embed {child!r} in a capture: its nodes use named parameters. End the capture, then embed the "
                "graph_definition of the child in the graph_definition of the parent"
            )
        cdef shared_ptr[const GraphLabels] labels = labels_of(source, child)
        check_copy_fits_body(&capture.get().box(), copied)
        read_child(spec, copied, source, &capture.get().box())
        cdef NodeRecord* node = add_captured(h, spec, b"embed", f"embed {child!r} in {self!r}")
        node.make_metadata().inner_labels = labels
        label(node, name)

    def callback(self, fn, *, user_data=None, name=None):
        """Add a HostCallbackNode: each launch of the graph calls a function on a thread of the driver.

        The function must not call CUDA (the driver refuses the call). The graph continues after an exception of the
        function; the first wait that covers the launch raises it.

        Args:
            fn: A Python callable without arguments, or a ctypes function pointer ``void (void*)``. The graph keeps it.
            user_data: The argument of a ctypes function pointer: an address, or bytes, which the graph copies.
            name: The name of the HostCallbackNode. None: the name of the function.

        Raises:
            RuntimeError: The builder is not building.
            TypeError: `fn` is not callable, or is a ctypes function pointer of another type than ``void (void*)``.
                `user_data` is neither an int nor bytes. `name` is not a str.
            ValueError: `user_data` is given with a Python callable. This builder captures a body of a conditional node,
                which may not hold callbacks.
        """
        cdef CaptureHandle _held = self._require_capture(
            "callback() needs a GraphBuilder that is capturing: call begin_building() first"
        )
        cdef StreamHandle h = self._h
        check_name(name)
        label(capture_callback(h, fn, user_data, name), name)

    def create_condition(self, default_value=None):
        """Return a Condition for one conditional node of the captured graph: a 32-bit value on the device.

        Args:
            default_value: The value at the beginning of each launch of the graph (0 to 2**32 - 1). None: the condition
                keeps its value from launch to launch, and its first value is undefined.

        Raises:
            RuntimeError: The builder is not building, or the driver is older than CUDA 12.3.
            TypeError, OverflowError: `default_value` is not an int of 32 bits.
        """
        self._check_open()
        check_driver_has("create_condition")
        value = None if default_value is None else read_unsigned(default_value, "default_value", 32)
        cdef CaptureHandle capture = self._require_capture(
            "create_condition() needs a GraphBuilder that is capturing: call begin_building() first"
        )
        cdef StreamHandle h = self._h
        return create_captured_condition(capture.get()[0], context_of(h), value, f"of {self!r}")

    def param(self, name, type, default=None):
        """Return a Parameter of the captured graph, as `GraphDef.param` does: an argument of captured kernels.

        Raises:
            RuntimeError: The builder is not building.
            TypeError, ValueError: The errors of `GraphDef.param`.
        """
        cdef CaptureHandle capture = self._require_capture(
            "param() needs a GraphBuilder that is capturing: call begin_building() first"
        )
        return declare(&capture.get().box(), name, type, default)

    def if_then(self, condition, *, args=(), name=None):
        """Add an IfNode and return a builder of its body, which runs if the condition is not 0.

        Args:
            condition: A Condition; a flag, which is an array of one i32, u32 or bool; or a predicate, which is a function
                that the compiler of kernels takes. `InsertionPoint.if_then` says more. For a flag or a predicate, a
                kernel before the node sets the condition.
            args: The arguments of a predicate.
            name: The name of the node.

        The caller fills the body with `begin_building` and `end_building` of the returned builder, or with `with`. Its
        `graph_definition` gives access to the body. Later work of this builder comes after the node.

        Raises:
            RuntimeError: The builder is not building, or the driver is older than CUDA 12.3.
            TypeError, ValueError: `condition` is neither a Condition nor a flag nor a predicate, `args` do not fit it, or
                `name` is not a str.
            CompileError: The predicate cannot be compiled.
            CUDAError: The condition belongs to another graph, or another node uses it.
            RecursionError: The body would have more than 1024 graphs around it.
        """
        return self._add_tested(b"if_then", condition, args, NodeKind.kIf, 1, name)[0]

    def if_else(self, condition, *, args=(), name=None):
        """Add an IfElseNode and return the builders of its two bodies. See `if_then`.

        The first body runs if the condition is not 0, the second body if it is 0.

        Raises:
            RuntimeError: The builder is not building, or the driver is older than CUDA 12.8.
            TypeError, ValueError, CompileError, CUDAError: The errors of `if_then`.
        """
        return self._add_tested(b"if_else", condition, args, NodeKind.kIfElse, 2, name)

    def while_loop(self, condition, *, args=(), do=False, max_iterations=None, name=None):
        """Add a WhileNode and return a builder of its body. See `if_then`.

        Before each iteration the driver checks the condition. The body runs as long as the condition is not 0. For a flag
        or a predicate, a kernel at the end of the body sets the condition, after all work that the body captures.

        Args:
            condition, args: See `if_then`.
            do: True for a flag or a predicate: the body runs once before the first test.
            max_iterations: The number of iterations after which the loop ends in any case, 1 or more. None: no limit.
            name: The name of the node, and of the loop in `Graph.iterations`, which has loops on a Condition only if they
                have a limit.

        Raises:
            RuntimeError: The builder is not building, or the driver is older than CUDA 12.3.
            ValueError: `max_iterations` is below 1.
            TypeError, ValueError, CompileError, CUDAError: The errors of `if_then`.
        """
        self._check_open()
        cdef LoopCounter counter = make_counter(max_iterations, name, not isinstance(condition, Condition))
        return self._add_tested(b"while_loop", condition, args, NodeKind.kWhile, 1, name, do, counter)[0]

    def switch(self, condition, count, *, args=(), name=None):
        """Add a SwitchNode and return the builders of its `count` bodies. See `if_then`.

        Body n runs if the condition is n. No body runs if the condition is `count` or more.

        Raises:
            RuntimeError: The builder is not building, or the driver is older than CUDA 12.8.
            TypeError: `count` is not an int.
            OverflowError: `count` is negative or needs more than 32 bits.
            CUDAError: `count` is 0.
            TypeError, ValueError, CompileError, CUDAError: The errors of `if_then`.
        """
        return self._add_tested(b"switch", condition, args, NodeKind.kSwitch, count, name)

    cdef tuple _add_tested(
        self, const char* what, object condition, object args, NodeKind kind, object count, object name,
        object do=False, LoopCounter counter=None,
    ):
        self._check_open()
        check_driver_has(what.decode())
        cdef bint begins = read_flag(do, "do")
        cdef unsigned int size = <unsigned int>read_unsigned(count, "count", 32)
        cdef ConditionTest test = read_test(condition, args, begins, counter)
        if test is None:
            return self._add_conditional(what, condition, kind, size, name)
        cdef CaptureHandle capture = self._require_capture(NOT_CAPTURING)
        cdef InsertionPoint graph = wrap_graph(capture.get().graph, &capture.get().box())
        graph._try_test(test, size, name)
        if not test.is_guard:
            condition = self.create_condition(1 if begins else None)
        first = first_test(test, begins, capture.get().box().holder == NULL)
        if first is not None:
            launch(self._stream_or_error(), None, first.kernel, condition, *first.args)
        elif counter is not None:
            counter.memory.fill(0, stream=self._stream_or_error())
        bodies = self._add_conditional(what, condition, kind, size, name)
        if kind == NodeKind.kWhile:
            add_loop_test(capture.get().graph, (<GraphBuilder>bodies[0])._box(), test, condition)
        return bodies

    cdef GraphBox* _box(self) except NULL:
        """Return the graph that the builder fills."""
        cdef NodeHandle graph = self._graph
        self._check_open()
        return box_of[NodeRecord](graph).graph

    cdef tuple _add_conditional(
        self, const char* what, Condition condition, NodeKind kind, unsigned int size, object name
    ):
        cdef NodeSpec spec
        cdef vector[GraphBox*] inside
        cdef GraphBox* graph
        cdef GraphBuilder body
        # After the argument checks, which may run user code that ends the capture.
        cdef CaptureHandle capture = self._require_capture(NOT_CAPTURING)
        cdef StreamHandle h = self._h
        check_name(name)
        fill_conditional(spec, condition, kind, size, context_of(h), &capture.get().box())
        # Streams come first: a failure here leaves the graph unchanged.
        streams = [self._new_stream() for _ in range(size)]
        cdef NodeRecord* node = add_captured(h, spec, what, f"{what.decode()}({condition!r}) on {self!r}")
        inside = node.make_metadata().inner
        label(node, name)
        bodies = []
        for graph in inside:
            body = GraphBuilder._make(streams[len(bodies)], CONDITIONAL_BODY)
            body._graph = node_handle(capture.get().graph, graph.entry)
            bodies.append(body)
        return tuple(bodies)

    def close(self):
        """Close the builder. An unfinished capture is ended and its graph dropped. A second call does nothing.

        The builder releases a stream of its own. A stream that it was created for can be used again. The builder is
        closed even if this method raises.

        Raises:
            CaptureError: The capture was invalid, or builders that `split` made were not joined.
        """
        cdef CaptureHandle capture = self._capture
        cdef bint abandons = self._state == CAPTURING and self._kind != FORKED
        if abandons:
            record_foreign_spoiler(capture.get()[0], "close")
        cdef CUresult status = self._shut_down()
        if abandons:
            self._close_arrays()
        with nogil:
            drain_deferred()
        if status and status != CUDA_ERROR_NOT_PERMITTED:  # host functions may not end captures: a later call ends it
            try:
                raise_capture_error(capture.get()[0], status, "close a GraphBuilder whose capture has not ended")
            finally:
                capture.reset()  # its release asks the driver again to end the capture, with no exception in flight

    def __enter__(self):
        self._check_open()
        if self._kind == FORKED:
            raise RuntimeError("a forked GraphBuilder does not end its capture: use it without `with`, then join it")
        if self._state == ENDED:
            raise RuntimeError("The capture has ended and cannot be resumed: create another GraphBuilder.")
        cdef StreamBlock block = enter_block(self._stream_or_error(), True)
        try:
            if self._state == NOT_STARTED:
                self.begin_building(self._mode)
            keep_in_graph(self._h, block.kept)
        except BaseException:
            leave_block(block)
            self._abandon()
            raise
        self._blocks.append(block)
        return self

    def __exit__(self, kind, error, traceback):
        cdef StreamBlock block = self._blocks[-1] if self._blocks else None
        try:
            if self._state == CAPTURING:
                if kind is None:
                    self.end_building()
                else:
                    self._abandon()
        finally:
            if block is not None:
                self._blocks.remove(block)
                leave_block(block)

    def _keep(self, *objects):
        """Let the captured graph keep objects, and each copy and executable of it."""
        keep_in_graph(self._h, objects)

    cdef int _abandon(self) except -1:
        """Abandon the capture while an exception propagates. Marks an unfinished body, so that its graph cannot run."""
        if self._kind == CONDITIONAL_BODY and self._graph:
            box_of[NodeRecord](self._graph).graph.is_abandoned = True
        self._shut_down()
        return self._close_arrays()


def capture(stream=None, mode="relaxed"):
    """Capture the work of a `with` block as a graph: ``with capture() as builder: ...; graph = builder.complete()``.

    In the block the captured stream is the current stream of this thread. Calls of `kernel` functions, copies and fills
    of an NDArray, and ``launch(None, ...)`` become nodes of the graph instead of running. A `stream=` argument has
    priority. If PyTorch or CuPy is imported and the driver is libcuda, their current stream is the captured one too, and
    their arrays get memory from a pool that the graph keeps.

    Args:
        stream: A Stream, or an object with ``__cuda_stream__``; None for a new stream of the current device of this
            thread (device 0 if no device is current).
        mode: "relaxed", "thread_local" or "global", see `GraphBuilder.begin_building`.

    Returns:
        A GraphBuilder that has not begun. Its `with` block captures in this mode. At the end of the block the
        capture has ended; an exception abandons it.

    Raises:
        TypeError: `stream` is not a stream.
        ValueError: The mode is unknown.
        RuntimeError: The stream is closed.
    """
    cdef GraphBuilder builder
    check_mode(mode)
    if stream is None:
        device = Device()
        if device._context is None:
            device.set_current()
        builder = device.create_graph_builder()
    else:
        builder = GraphBuilder._make(accept_stream(stream), PRIMARY)
    builder._mode = mode
    return builder


cdef bint is_empty(CaptureBox& capture) except -1:
    """Returns True if the graph of a capture that has ended has no nodes, also none that other code has captured."""
    cdef CUgraph graph = capture.box().raw
    cdef size_t count = 0
    cdef CUresult status
    if graph == NULL or capture.box().nodes.alive() != 0:
        return False
    with nogil:
        status = graph_driver().cuGraphGetNodes(graph, NULL, &count)
    check_attempt(status, "count the nodes of a captured graph")
    return count == 0


cdef int check_mode(object mode) except -1:
    if not isinstance(mode, str) or mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}, got {mode!r}")
    return 0


cdef int keep_in_graph(StreamHandle h, tuple objects) except -1:
    """Let the graph that the stream captures keep objects that belong to no node. `h` is empty if another thread has closed
    the builder."""
    cdef CapturedCall call
    if objects and h and find_capture(call, h):
        for each in objects:
            keep_owners(call, hold_python(<PyObject*>each), Opaque())
    return 0


cdef GraphBuilder accept_builder(object child):
    if not isinstance(child, GraphBuilder):
        hint = HINTS.get(type(child).__name__, "")
        raise TypeError(f"child must be a GraphBuilder that has ended building, got {type(child).__name__}{hint}")
    return <GraphBuilder>child


cdef int label(NodeRecord* node, object name) except -1:
    return 0 if name is None else set_name(node, name)


cdef CaptureHandle check_joinable(GraphBuilder root, tuple builders) except *:
    cdef GraphBuilder builder
    cdef CaptureHandle capture
    for builder in builders:
        builder._check_open()
    capture = root._require_capture(NOT_JOINABLE)
    for builder in builders:
        builder._require_capture(NOT_JOINABLE)
    for builder in builders:
        if builder._capture != capture:
            check_attempt(CUDA_ERROR_STREAM_CAPTURE_MERGE, f"join {builder!r} with {root!r} of another capture")
    return capture


cdef int join_one(GraphBuilder root, GraphBuilder builder, CaptureHandle capture) except -1:
    cdef StreamHandle here, there
    cdef CUresult status
    root._require_capture(NOT_JOINABLE)  # checked again: another thread may have closed the builders since
    builder._require_capture(NOT_JOINABLE)
    here, there = root._h, builder._h
    with nogil:
        status = order_within(capture.get()[0], here, there)
    if status:
        raise_capture_error(capture.get()[0], status, f"join {builder!r} with {root!r}")
    return builder._mark_joined()


constructors.graph_builder = GraphBuilder._init
