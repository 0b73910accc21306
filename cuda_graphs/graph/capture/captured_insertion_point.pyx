# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""CapturedInsertionPoint: the end of a stream's captured work, with the node methods of a definition.

The class is internal. Kernels with control flow (kernels/graph/emission.py) call the same methods on it and on a GraphDef.
Bodies of conditional nodes are GraphDefs.
"""

import sys

from cpython.object cimport PyObject
from libcpp.memory cimport unique_ptr
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUcontext, CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.capture.capture_handles cimport (
    CapturedCall,
    CaptureHandle,
    borrow_capture,
    get_tail,
    return_capture,
    set_tail,
)
from cuda_graphs.core.graphs.graph_handles cimport (
    GraphBox,
    NodeKind,
    NodeParameters,
    NodeRecord,
    NodeSpec,
    hierarchy_number,
    node_handle,
)
from cuda_graphs.core.resources.device_scope cimport has_several_devices, kNoDevice
from cuda_graphs.core.resources.handles cimport Opaque, StreamHandle, hold_python, raw_of
from cuda_graphs.objects.capture_ledger cimport add_operation
from cuda_graphs.objects.captured_call cimport find_capture, keep_owners
from cuda_graphs.objects.device.stream cimport Stream
from .builder_nodes cimport (
    add_captured,
    check_driver_has,
    context_of,
    create_captured_condition,
    require_capture,
)
from cuda_graphs.graph.nodes.insertion_point cimport wrap_graph
from cuda_graphs.graph.nodes.sized_config cimport device_of_config, join_call_of
from cuda_graphs.graph.nodes.spec cimport fill_conditional, read_kernel
from cuda_graphs.graph.operands.operands cimport accept_context
from cuda_graphs.graph.operands.parameter cimport prepare_uses
from cuda_graphs.objects.code.launch_config cimport LaunchConfig
from cuda_graphs.objects.memory.buffer cimport device_at_work

from cuda_graphs.objects.code.launch import launch


cdef class CapturedInsertionPoint:
    """The position after the work that `stream` has captured. Each method adds a node at this position and returns the
    position after the node. Later work of the stream comes after the last added node."""

    def __init__(self, Stream stream not None):
        stream._check_open()
        self._stream, self.branches = stream, ()
        self._read_tail()

    @property
    def stream(self):
        """The stream."""
        return self._stream

    cdef int _read_tail(self) except -1:
        """Read the current position of the stream."""
        cdef StreamHandle h = self._stream._h
        cdef CUresult status
        with nogil:
            status = get_tail(raw_of(h), self._tail)
        if status:
            check_attempt(status, f"read the capture of {self._stream!r}")
        return 0

    cdef int _set_tail(self) except -1:
        """Set the position of the stream to this one."""
        cdef StreamHandle h = self._stream._h
        cdef CUresult status
        with nogil:
            status = set_tail(raw_of(h), self._tail)
        if status:
            check_attempt(status, f"continue the capture at {self!r}")
        return 0

    cdef CUcontext _context(self) except NULL:
        """Return the context of conditional nodes: the caller has made the device of its kernels current."""
        return accept_context("conditional node") if has_several_devices() else context_of(self._stream._h)

    cdef CapturedInsertionPoint _next(self, tuple branches=()):
        found = CapturedInsertionPoint(self._stream)
        found.branches = branches
        return found

    def _definition_number(self):
        """Return the number of the captured definition, which no other definition of the process gets."""
        cdef CapturedCall call
        cdef StreamHandle h = self._stream._h
        require_capture(call, h)
        return hierarchy_number(call.capture().box())

    def keep(self, owner):
        """Let the captured graph, and its executables, keep an object alive."""
        cdef CapturedCall call
        cdef StreamHandle h = self._stream._h
        require_capture(call, h)
        keep_owners(call, hold_python(<PyObject*>owner), Opaque())

    def follow(self, CapturedInsertionPoint place not None):
        """Let the next node of the stream also follow another position of the same capture."""
        self._tail.add(place._tail)
        self._set_tail()

    def create_condition(self, default_value=None):
        """Return a Condition, like `GraphBuilder.create_condition`."""
        cdef CapturedCall call
        cdef StreamHandle h = self._stream._h
        check_driver_has("create_condition")
        require_capture(call, h)
        return create_captured_condition(call.capture(), self._context(), default_value, f"of {self!r}")

    def launch(self, config, kernel, *args, reads=(), writes=()):
        """Capture a launch. `reads` and `writes` are ignored: only definitions use them."""
        cdef int device = device_of_config(config) if isinstance(config, LaunchConfig) else kNoDevice
        self._set_tail()
        if device == kNoDevice or device == device_at_work(self._stream._h):
            launch(self._stream, config, kernel, *args)
        else:
            self._launch_elsewhere(config, kernel, args)
        return self._next()

    cdef int _launch_elsewhere(self, object config, object kernel, tuple args) except -1:
        """Capture a launch on another device than that of the stream, which the stream itself cannot run."""
        cdef NodeSpec spec
        cdef CapturedCall call
        cdef StreamHandle h = self._stream._h
        cdef unique_ptr[NodeParameters] uses
        require_capture(call, h)
        read_kernel(spec, config, kernel, args)
        if not spec.uses.empty():
            prepare_uses(&call.capture().box(), spec).swap(uses)
        cdef NodeRecord* node = add_captured(h, spec, b"launch", f"launch kernel {kernel.name!r} on {self._stream!r}")
        if uses:
            node.make_metadata().parameters.swap(uses)
        return join_call_of(node, config)

    def join(self, *places):
        """Add an EmptyNode after this position and the positions `places`."""
        cdef NodeSpec spec
        cdef CapturedInsertionPoint other
        for place in places:
            other = place
            self._tail.add(other._tail)
        self._set_tail()
        spec.begin(NodeKind.kEmpty)
        add_captured(self._stream._h, spec, b"join", f"join branches on {self!r}")
        return self._next()

    def if_then(self, condition):
        """Add an IfNode. The `branches` of the returned position hold its body."""
        return self._conditional(b"if_then", condition, NodeKind.kIf, 1)

    def if_else(self, condition):
        """Add an IfElseNode."""
        return self._conditional(b"if_else", condition, NodeKind.kIfElse, 2)

    def while_loop(self, condition):
        """Add a WhileNode."""
        return self._conditional(b"while_loop", condition, NodeKind.kWhile, 1)

    def switch(self, condition, count):
        """Add a SwitchNode."""
        return self._conditional(b"switch", condition, NodeKind.kSwitch, count)

    cdef CapturedInsertionPoint _conditional(self, const char* what, object condition, NodeKind kind, unsigned int count):
        cdef NodeSpec spec
        cdef CapturedCall call
        cdef StreamHandle h = self._stream._h
        cdef vector[GraphBox*] inside
        cdef GraphBox* body
        check_driver_has(what.decode())
        require_capture(call, h)
        fill_conditional(spec, condition, kind, count, self._context(), &call.capture().box())
        self._set_tail()
        cdef NodeRecord* node = add_captured(h, spec, what, f"{what.decode()}({condition!r}) on {self!r}")
        inside = node.make_metadata().inner
        bodies = []
        for body in inside:
            bodies.append(wrap_graph(node_handle(call.capture().graph, body.entry), body))
        return self._next(tuple(bodies))

    def __repr__(self):
        return f"<end of the capture of {self._stream!r}>"


cdef class BorrowedCapture:
    """A context manager for the capture of a stream that code outside of this package began.

    Inside the `with` block this package may add work to the stream. The captured graph keeps the objects of that work
    alive. `is_there` is False if the stream is not captured.
    """

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
        if find_capture(call, h):  # this package began the capture or has borrowed it already
            self.is_there = True
            return self
        self._capture = borrow_capture(h, &status)
        check_attempt(status, f"add nodes to the capture of {self._stream!r}")
        self.is_there = self._capture.get() != NULL
        if self.is_there:
            try:
                add_operation(self._capture.get()[0], "capture by others")
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
            check_attempt(status, f"attach the owners of the added nodes to the graph that {self._stream!r} captures")
