# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Cython declarations of captures and of calls in them. `capture.hpp` and `captured_call.hpp` document them."""

from libc.stddef cimport size_t
from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport (
    CUcontext,
    CUgraph,
    CUgraphNode,
    CUresult,
    CUstream,
    CUstreamCaptureStatus,
    cuuint64_t,
)
from cuda_graphs.core.driver.cuda_graph cimport CUgraphConditionalHandle
from cuda_graphs.core.graphs.graph_handles cimport (
    GraphBox,
    NodeHandle,
    NodeKind,
    NodeRecord,
    NodeSpec,
    SourceLocation,
)
from cuda_graphs.core.resources.handles cimport Opaque, PointerHandle, StreamHandle

cdef extern from "<cuda.h>" nogil:
    cppclass CUgraphEdgeData:
        pass
    ctypedef enum CUstreamCaptureMode:
        CU_STREAM_CAPTURE_MODE_GLOBAL
        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        CU_STREAM_CAPTURE_MODE_RELAXED

cdef extern from "capture.hpp" namespace "cg" nogil:
    cppclass Operation:
        Operation()
        const char* what
        SourceLocation source

    cppclass Spoiler:
        CUresult status
        cpp_bool foreign
        SourceLocation source
        string what

    cppclass Fork:
        Fork()
        SourceLocation source
        StreamHandle stream
        cpp_bool joined

    cppclass CaptureBox:
        StreamHandle origin
        NodeHandle graph
        cpp_bool into_body
        cpp_bool active
        CUstreamCaptureMode mode
        vector[Operation] ledger
        vector[Fork] forks
        Spoiler spoiler
        GraphBox& box() noexcept
        cpp_bool has_unjoined() noexcept

    ctypedef shared_ptr[CaptureBox] CaptureHandle
    CaptureHandle create_capture(const StreamHandle& origin, const NodeHandle& body) except +
    CUresult begin_capture(CaptureBox& capture, CUstreamCaptureMode mode) except +
    CUresult end_capture(CaptureBox& capture) noexcept
    CUresult abandon_capture(CaptureBox& capture) noexcept
    CaptureHandle borrow_capture(const StreamHandle& stream, CUresult* status) except +
    CUresult return_capture(CaptureBox& capture) noexcept
    CUresult order_within(CaptureBox& capture, const StreamHandle& stream, const StreamHandle& other) except +
    void tie_stream(const StreamHandle& stream, CaptureBox& capture) noexcept
    void untie_stream(const StreamHandle& stream, const CaptureBox& capture) noexcept
    cpp_bool may_be_captured(const StreamHandle& stream) noexcept
    atomic[int] active_captures
    vector[CaptureHandle] list_active_captures() except +

    cppclass CaptureState:
        CUstreamCaptureStatus status
        cuuint64_t id
        CUgraph graph
        const CUgraphNode* tail
        const CUgraphEdgeData* edges
        size_t count
    CUresult ask_capture(CUstream stream, CaptureState* state) noexcept

    cppclass CaptureTail:
        CaptureTail()
        vector[CUgraphNode] nodes
        void add(const CaptureTail& other) except +
    CUresult get_tail(CUstream stream, CaptureTail& tail) except +
    CUresult set_tail(CUstream stream, const CaptureTail& tail) except +

    CUresult capture_condition(
        CaptureBox& capture, CUcontext context, unsigned int value, unsigned int flags,
        CUgraphConditionalHandle* condition
    ) except +

cdef extern from "body_memory.hpp" namespace "cg" nogil:
    CaptureHandle find_outermost_capture(const CaptureBox& body, CUgraphNode* conditional) except +
    CUresult allocate_before(
        CaptureBox& outer, CUgraphNode conditional, size_t size, PointerHandle* memory, CUgraphNode* node
    ) except +

cdef extern from "captured_call.hpp" namespace "cg" nogil:
    cppclass CapturedCall:
        CapturedCall()
        cpp_bool find_capture(const StreamHandle& stream) except +
        cpp_bool is_captured() noexcept
        CaptureBox& capture() noexcept
        cpp_bool keep_owners(Opaque first, Opaque second) noexcept
        CUresult run(...) except +  # run(function, its arguments); write <T*>NULL for NULL
        CUresult status() noexcept
        cpp_bool has_ended() noexcept
        CUresult run_add(NodeSpec& spec) except +
        NodeRecord* record_node(NodeKind kind) except +
        CUresult query_status() noexcept
        size_t tail_count() noexcept
        cpp_bool is_spoiled() noexcept
