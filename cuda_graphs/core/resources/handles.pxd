# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Cython declarations of the handle layer. The headers next to this file document them.

A creator that fails returns an empty handle: `if not h: raise_noted(...)` (seam.pxd).
"""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport (
    CUcontext,
    CUdevice,
    CUdeviceptr,
    CUevent,
    CUfunction,
    CUipcMemHandle,
    CUkernel,
    CUlibrary,
    CUmemoryPool,
    CUresult,
    CUstream,
    cuuint64_t,
)

cdef extern from "core/handles/argument_pack.hpp" namespace "cg" nogil:
    cppclass ArgumentPack:
        ArgumentPack()
        # For kernelParams; valid while the pack lives.
        void** pointers() noexcept
        size_t size() noexcept
        void append_copy(const void* value, size_t size)

cdef extern from "core/handles/box.hpp" namespace "cg" nogil:
    ctypedef shared_ptr[const void] Opaque
    cppclass WeakOpaque "std::weak_ptr<const void>":
        WeakOpaque()
        WeakOpaque(const Opaque& owner)
        Opaque lock() noexcept
    Raw raw_of[Raw](const shared_ptr[const Raw]& handle) noexcept
    Box* box_of[Box](...) noexcept
    enum class Kind:
        kCount
    long live_boxes(Kind kind) noexcept
    const char* kind_name(Kind kind) noexcept

cdef extern from "core/handles/error.hpp" namespace "cg" nogil:
    cppclass NotedError:
        CUresult status
        string call
    void note_error(CUresult status, const char* call) noexcept
    NotedError take_noted_error()

cdef extern from "core/handles/gil.hpp" namespace "cg" nogil:
    cppclass GilAcquire:
        GilAcquire()
        cpp_bool operator bool()
    cpp_bool python_is_open() noexcept
    Opaque hold_python(void* object) except +  # with the GIL
    Opaque hold_python(void* object, Opaque other) except +

cdef extern from "core/handles/deferred.hpp" namespace "cg" nogil:
    cppclass HostFunction:
        HostFunction()
        cpp_bool operator bool()
    void drain_deferred() noexcept

cdef extern from "context.hpp" namespace "cg" nogil:
    cppclass ContextBox:
        CUcontext raw
        CUdevice device
    ctypedef shared_ptr[const CUcontext] ContextHandle
    ContextHandle primary_context(CUdevice device) except +
    ContextHandle create_context_ref(CUcontext raw) except +
    ContextHandle current_context() except +
    CUresult why_no_context() noexcept

cdef extern from "stream.hpp" namespace "cg" nogil:
    cppclass StreamBox:
        CUstream raw
        cpp_bool owned
        ContextHandle context
        Opaque owner
    ctypedef shared_ptr[const CUstream] StreamHandle
    StreamHandle create_stream(const ContextHandle& context, unsigned flags, int priority) except +
    StreamHandle create_stream_ref(CUstream raw) except +
    StreamHandle create_stream_with_owner(CUstream raw, Opaque owner) except +

cdef extern from "event.hpp" namespace "cg" nogil:
    cppclass EventBox:
        CUevent raw
        cpp_bool owned
        cpp_bool timing
        cpp_bool blocking
        ContextHandle context
    ctypedef shared_ptr[const CUevent] EventHandle
    EventHandle create_event(const ContextHandle& context, cpp_bool timing, cpp_bool blocking) except +
    EventHandle create_event_ref(CUevent raw) except +
    void note_record(const EventHandle& event, CUstream stream) noexcept

cdef extern from "wait.hpp" namespace "cg" nogil:
    const uint64_t kNoLimit
    cppclass Awaited:
        StreamHandle stream
        EventHandle event
        ContextHandle context
        CUresult wait(uint64_t nanoseconds) except +
    vector[StreamHandle] find_busy_streams(const Awaited& awaited) except +
    string describe_last_launch(const StreamHandle& stream) except +

cdef extern from "capture_safe.hpp" namespace "cg" nogil:
    cpp_bool is_complete(CUevent event) noexcept
    CUresult query_stream(CUstream stream) noexcept
    CUresult write_zeros(CUdeviceptr memory, size_t size) noexcept
    CUresult reserve_stack(size_t size) noexcept
    CUresult write_word(CUdeviceptr memory, uint32_t value) noexcept
    CUresult read_memory(void* to, CUdeviceptr memory, size_t size) noexcept

cdef extern from "memory.hpp" namespace "cg" nogil:
    cppclass PoolBox:
        CUmemoryPool raw
        cpp_bool owned
        CUdevice device
    ctypedef shared_ptr[const CUmemoryPool] PoolHandle
    PoolHandle create_device_pool(CUdevice device, size_t max_size, cuuint64_t release_threshold) except +
    PoolHandle current_device_pool(CUdevice device) except +

    enum class Free:
        kNever
        kAsync
        kDevice
        kHost
        kCallback
        kGraph
    cppclass PointerBox:
        CUdeviceptr raw
        size_t size
        Free how
        StreamHandle stream
        ContextHandle context
        Opaque owner
    ctypedef shared_ptr[const CUdeviceptr] PointerHandle
    ctypedef void (*FreeCallback)(
        void* resource, CUdeviceptr address, size_t size, const StreamHandle& stream
    ) noexcept nogil
    CUdeviceptr address_of "cg::raw_of"(const PointerHandle& memory) noexcept  # 0 for an empty handle
    PointerHandle allocate_from_pool(const PoolHandle& pool, size_t size, const StreamHandle& stream) except +
    CUresult allocate_in_graph(size_t size, const StreamHandle& stream, PointerHandle* memory) except +
    CUresult find_running_capture(const PointerHandle& memory, cpp_bool* runs) noexcept
    PointerHandle allocate_device(const ContextHandle& context, size_t size) except +
    PointerHandle allocate_pinned(const ContextHandle& context, size_t size) except +
    PointerHandle allocate_managed(const ContextHandle& context, size_t size) except +
    CUresult share_device(const PointerHandle& memory, CUipcMemHandle* out) except +
    PointerHandle open_shared(const ContextHandle& context, const CUipcMemHandle& shared, size_t size) except +
    PointerHandle create_pointer_ref(CUdeviceptr raw, size_t size, Opaque owner) except +
    PointerHandle create_pointer_with_resource(
        CUdeviceptr raw, size_t size, Opaque owner, void* resource, FreeCallback callback
    ) except +

cdef extern from "kernel_type.hpp" namespace "cg" nogil:
    enum class ValueForm(unsigned char):
        kUnknown
        kInt
        kUint
        kInteger
        kWord
        kFloat
        kBfloat
        kBool
        kPointer
        kComplex
        kClass
        kByte
    cppclass KernelType:
        ValueForm form
        size_t size
        ValueForm element
        size_t element_size
        cpp_bool is_read_only
        string text
    cppclass IntRange:
        int64_t low
        uint64_t high
    cppclass Parameter:
        size_t offset
        size_t size
        IntRange ints
        KernelType type
        cpp_bool takes_addresses() noexcept

cdef extern from "module.hpp" namespace "cg" nogil:
    cppclass LibraryBox:
        CUlibrary raw
    ctypedef shared_ptr[const CUlibrary] LibraryHandle
    LibraryHandle load_library(const void* image, cpp_bool prints) except +
    string load_log(const void* image) except +

    cpp_bool kernel_names(const LibraryHandle& library, vector[string]& names) except +

    cppclass KernelBox:
        CUkernel raw
        CUfunction function
        LibraryHandle library
        Opaque owner
    ctypedef shared_ptr[const CUkernel] KernelHandle
    cppclass PlacedFunction:
        pass
    cpp_bool find_likely_function(const KernelHandle& kernel, PlacedFunction* place) except +
    void note_launch(const StreamHandle& stream, const KernelHandle& kernel) noexcept
    KernelHandle get_kernel(const LibraryHandle& library, const char* name) except +
    void set_signature(const KernelHandle& kernel, vector[KernelType] signature) except +
    vector[string] signature_texts(const KernelHandle& kernel) except +
    KernelHandle create_kernel_ref(CUkernel raw, const LibraryHandle& library) except +
    KernelHandle create_kernel_ref(CUkernel raw, const LibraryHandle& library, const Opaque& owner) except +
    KernelHandle create_function_ref(CUfunction raw, const Opaque& owner) except +
    KernelHandle kernel_of_node(CUfunction func, CUkernel kern) except +
    CUfunction function_on(const KernelHandle& kernel, const StreamHandle& stream) except +
    string kernel_name(const KernelHandle& kernel) except +
    const vector[Parameter]* kernel_parameters(const KernelHandle& kernel) except +
