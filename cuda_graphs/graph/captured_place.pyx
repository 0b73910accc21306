# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The end of what a stream has captured, as a Place: nodes of a definition can be added there.

Only for what is not a user's: kernels with control flow (kernels/emission.py) call the same methods here and on a
GraphDef. Bodies of conditional nodes are GraphDefs.
"""

import sys

from libcpp.vector cimport vector

from cuda_graphs._driver.cuda cimport CUresult
from cuda_graphs._driver.cuda_graph cimport (
    CU_GRAPH_COND_TYPE_IF, CU_GRAPH_COND_TYPE_SWITCH, CU_GRAPH_COND_TYPE_WHILE, CUgraphConditionalNodeType,
)
from cuda_graphs._driver.seam cimport check_attempt
from cuda_graphs._handles.capture_handles cimport (
    CapturedCall, CaptureHandle, borrow_capture, get_tail, may_be_captured, return_capture, set_tail,
)
from cuda_graphs._handles.graph_handles cimport (
    GraphBox, NodeKind, NodeRecord, NodeSpec, node_handle,
)
from cuda_graphs._handles.handles cimport StreamHandle, raw_of
from cuda_graphs._objects.captured cimport find, note_operation
from cuda_graphs._objects.stream cimport Stream
from cuda_graphs.graph.capture_nodes cimport (
    add_captured, check_driver_has, context_of, create_captured_condition, find_call,
)
from cuda_graphs.graph.place cimport wrap_graph
from cuda_graphs.graph.spec cimport fill_conditional

from cuda_graphs._objects.launch import launch


cdef class CapturedPlace:
    """After what `stream`, which is being captured, has captured so far. Each method adds a node there, wherever work of
    the stream would go now, and gives the place after it; what is captured next comes after the last one."""

    def __init__(self, Stream stream not None):
        stream._check_open()
        self._stream, self.branches = stream, ()
        self._look()

    cdef int _look(self) except -1:
        """Be where the stream is now."""
        cdef StreamHandle h = self._stream._h
        cdef CUresult status
        with nogil:
            status = get_tail(raw_of(h), self._tail)
        if status:
            check_attempt(status, f"ask what {self._stream!r} has captured")
        return 0

    cdef int _go(self) except -1:
        """Have the stream be here."""
        cdef StreamHandle h = self._stream._h
        cdef CUresult status
        with nogil:
            status = set_tail(raw_of(h), self._tail)
        if status:
            check_attempt(status, f"go on at {self!r}")
        return 0

    cdef CapturedPlace _after(self, tuple branches=()):
        found = CapturedPlace(self._stream)
        found.branches = branches
        return found

    def create_condition(self, default_value=None):
        """As `GraphBuilder.create_condition`."""
        cdef CapturedCall call
        cdef StreamHandle h = self._stream._h
        check_driver_has("create_condition")
        find_call(call, h)
        return create_captured_condition(call.capture(), context_of(h), default_value, f"of {self!r}")

    def launch(self, config, kernel, *args, reads=(), writes=()):
        """Capture a launch. `reads` and `writes` are for definitions."""
        self._go()
        launch(self._stream, config, kernel, *args)
        return self._after()

    def join(self, *places):
        """Add an EmptyNode after this place and others."""
        cdef NodeSpec spec
        cdef CapturedPlace other
        for place in places:
            other = place
            self._tail.add(other._tail)
        self._go()
        spec.begin(NodeKind.kEmpty)
        add_captured(self._stream._h, spec, b"join", f"join branches on {self!r}")
        return self._after()

    def if_then(self, condition):
        """Add an IfNode; `branches` of the place after it is its body."""
        return self._conditional(b"if_then", condition, NodeKind.kIf, CU_GRAPH_COND_TYPE_IF, 1)

    def if_else(self, condition):
        """Add an IfElseNode."""
        return self._conditional(b"if_else", condition, NodeKind.kIfElse, CU_GRAPH_COND_TYPE_IF, 2)

    def while_loop(self, condition):
        """Add a WhileNode."""
        return self._conditional(b"while_loop", condition, NodeKind.kWhile, CU_GRAPH_COND_TYPE_WHILE, 1)

    def switch(self, condition, count):
        """Add a SwitchNode."""
        return self._conditional(b"switch", condition, NodeKind.kSwitch, CU_GRAPH_COND_TYPE_SWITCH, count)

    cdef CapturedPlace _conditional(
        self, const char* what, object condition, NodeKind kind, CUgraphConditionalNodeType cond_type, unsigned int count
    ):
        cdef NodeSpec spec
        cdef CapturedCall call
        cdef StreamHandle h = self._stream._h
        cdef vector[GraphBox*] inside
        cdef GraphBox* body
        check_driver_has(what.decode())
        find_call(call, h)
        fill_conditional(spec, condition, kind, cond_type, count, context_of(h), &call.capture().box())
        self._go()
        cdef NodeRecord* node = add_captured(h, spec, what, f"{what.decode()}({condition!r}) on {self!r}")
        inside = node.make_facts().inner
        bodies = []
        for body in inside:
            bodies.append(wrap_graph(node_handle(call.capture().graph, body.entry), body))
        return self._after(tuple(bodies))

    def __repr__(self):
        return f"<end of what {self._stream!r} has captured>"


cdef class BorrowedCapture:
    """The capture of a stream that code outside of this package began, for a `with` block: work that is given to the stream
    through this package meanwhile becomes nodes that its graph keeps what they need for. `is_there` is False where nobody
    captures the stream."""

    cdef Stream _stream
    cdef CaptureHandle _capture
    cdef readonly bint is_there

    def __init__(self, Stream stream not None):
        stream._check_open()
        self._stream = stream

    def __enter__(self):
        cdef StreamHandle h = self._stream._h
        cdef CapturedCall call
        cdef CUresult status
        if may_be_captured(h) and find(call, h):  # somebody else has borrowed it
            self.is_there = True
            return self
        self._capture = borrow_capture(h, &status)
        check_attempt(status, f"add nodes to what {self._stream!r} captures")
        self.is_there = self._capture.get() != NULL
        if self.is_there:
            try:
                note_operation(self._capture.get()[0], "capture by others")
            except BaseException:
                self.__exit__(*sys.exc_info())
                raise
        return self

    def __exit__(self, kind, error, traceback):
        cdef CUresult status
        if self._capture.get() == NULL:
            return
        status = return_capture(self._capture.get()[0])
        self._capture.reset()
        if status and kind is None:
            check_attempt(status, f"give the graph that {self._stream!r} captures what its nodes need")
