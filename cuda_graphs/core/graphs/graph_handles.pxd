# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Cython declarations of the graph part of the handle layer. The headers next to this file document them."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libcpp cimport bool as cpp_bool
from libcpp.atomic cimport atomic
from libcpp.memory cimport shared_ptr, unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport (
    CUcontext,
    CUdeviceptr,
    CUgraph,
    CUgraphExec,
    CUgraphNode,
    CUresult,
)
from cuda_graphs.core.driver.cuda_graph cimport (
    CUDA_GRAPH_INSTANTIATE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS_v3,
    CUDA_MEMCPY3D,
    CUgraphConditionalHandle,
    CUgraphEdgeData,
    CUgraphExecUpdateResultInfo,
    CUgraphNodeParams,
    CUmemAccessDesc,
    CUmemorytype,
    CUmemPoolProps,
)
from cuda_graphs.core.resources.handles cimport ArgumentPack, KernelHandle, Opaque, Parameter, PlacedFunction, StreamHandle

cdef extern from "span.hpp" namespace "cg" nogil:
    const uint64_t kWhole
    cppclass Axis:
        int64_t count
        int64_t stride
    cppclass Span:
        Span()
        Span(uint64_t start, uint64_t run)
        uint64_t start
        uint64_t run
        vector[Axis] axes
        string parameter
        void repeat(uint64_t count, uint64_t stride) except +
        uint64_t end() noexcept
    cpp_bool overlap(const Span& one, const Span& other) noexcept

cdef extern from "access.hpp" namespace "cg" nogil:
    enum class Accessed(int):
        kMemory
        kEvent
        kCondition
    enum class AccessMode(int):
        kRead
        kWrite
        kUnknown
        kMayRead
    cppclass Access:
        Span span
        AccessMode mode
        Accessed what
    cppclass NodeAccesses:
        NodeAccesses()
        vector[Access] all
        cpp_bool is_unknown
        cpp_bool is_barrier
    cppclass DeclaredAccesses:
        vector[Span] reads
        vector[Span] writes
        vector[CUgraphConditionalHandle] conditions
        cpp_bool is_known
    ctypedef shared_ptr[const DeclaredAccesses] DeclaredHandle
    CUresult add_accesses(
        const NodeSpec& spec, const DeclaredAccesses* declared, const vector[Parameter]* parameters,
        NodeAccesses& accesses) except +

cdef extern from "task_order.hpp" namespace "cg" nogil:
    ctypedef uint32_t Task
    cppclass TaskOrder:
        TaskOrder()
        const vector[Task]& find(const NodeAccesses& accesses, const vector[Task]& given) except +
        Task add(const NodeAccesses& accesses) except +
        void hold(Task task) noexcept
        void release(Task task) except +
        size_t size() noexcept

cdef extern from "user_object.hpp" namespace "cg" nogil:
    Opaque as_owner(...) noexcept
    Opaque bundle(vector[Opaque] owners) except +
    Opaque copy_bytes(const void* data, size_t size) except +
    cppclass Owners:
        Owners()
        Opaque first
        Opaque second
        cpp_bool operator bool() noexcept
    cppclass OwnerPage:
        pass
    cppclass OwnerSlot:
        OwnerSlot()
        OwnerPage* page
    cppclass OwnerPages:
        OwnerSlot prepare(CUgraph graph, Owners owners) noexcept
        void rollback(OwnerSlot slot) noexcept
        void commit(CUgraph graph, OwnerSlot slot, NodeRecord& node) noexcept
    Owners owners_of(OwnerSlot slot) noexcept
    cpp_bool holds(OwnerSlot slot, const Owners& owners) noexcept

cdef extern from "node_labels.hpp" namespace "cg" nogil:
    cppclass SourceLocation:
        uint32_t code
        int32_t instruction
    cppclass SourceTable:
        uint32_t find(const void* code) noexcept
        uint32_t add(Opaque code) except +
        const Opaque& operator[](uint32_t index) noexcept
    cppclass NodeLabels:
        string name
        DeclaredHandle accesses
    cppclass GraphLabels:
        pass
    shared_ptr[const GraphLabels] copy_labels(GraphBox& graph) except +
    CUresult give_labels(GraphBox& clone, const shared_ptr[const GraphLabels]& labels) except +

cdef extern from "value_type.hpp" namespace "cg" nogil:
    enum class ValueKind:
        kInt
        kUint
        kFloat
        kBool
        kPointer
    cppclass ValueType:
        const char* name
        ValueKind kind
        size_t size
    const ValueType* find_value_type(const char* name) noexcept
    unsigned short to_bf16(double value) noexcept
    double from_bf16(unsigned short value) noexcept

cdef extern from "graph_memory.hpp" namespace "cg" nogil:
    int kUnknownMemory
    cppclass GraphMemory:
        void record(CUdeviceptr start, size_t size, CUmemorytype type) except +
        void become_place(size_t size, int device) except +
        cpp_bool is_place() noexcept
        void set_node(const shared_ptr[const CUgraphNode]& node) noexcept
        shared_ptr[const CUgraphNode] node() noexcept
        void settle(CUdeviceptr address, Opaque owner) except +
        cpp_bool is_settled() noexcept
        CUdeviceptr start() noexcept
        CUdeviceptr settled() noexcept
        size_t size() noexcept
        int device() noexcept
    ctypedef shared_ptr[GraphMemory] GraphMemoryRef
    CUdeviceptr kFirstStandIn "cg::GraphMemory::kFirstStandIn"
    GraphMemoryRef create_graph_memory() except +
    GraphMemoryRef find_place(CUdeviceptr address) except +
    CUdeviceptr stand_in_of(CUdeviceptr address) except +
    CUresult find_memory_type(CUdeviceptr address, int* type) except +
    CUresult find_memory_range(CUdeviceptr address, CUdeviceptr* start, CUdeviceptr* end) except +

cdef extern from "named_parameter.hpp" namespace "cg" nogil:
    const size_t kMostAxes
    const size_t kUnbounded
    cppclass Extents "std::array<std::int32_t, cg::kMostAxes>":
        int32_t& operator[](size_t axis) noexcept
        const int32_t* data() noexcept
        cpp_bool operator==(const Extents& other) noexcept
    cppclass ParameterValue:
        uint64_t bits
        cpp_bool known
        Extents extents
        Opaque owner
        cpp_bool has_words_of(const ParameterValue& other) noexcept
    cppclass ParameterType:
        ParameterType()
        const ValueType* scalar
        int ndim
        vector[int32_t] inner
        cpp_bool is_array() noexcept
        cpp_bool is_memory() noexcept
        size_t item_size() noexcept
        cpp_bool operator==(const ParameterType& other) noexcept
    const char* kTemporaryName
    cppclass NamedParameter:
        string name
        ParameterType type
        ParameterValue initial
        void* object
        GraphMemoryRef place
        cpp_bool is_hidden() noexcept
    ctypedef shared_ptr[NamedParameter] ParameterRef
    size_t bytes_of(const ParameterType& type, const ParameterValue& value) noexcept
    enum class Field:
        kArgument
        kDestination
        kSource
        kExtent
        kValue
        kBytes
        kSize
    cppclass ParameterUse:
        ParameterUse()
        ParameterRef parameter
        Field field
        unsigned char word
        cpp_bool is_fixed
        unsigned int argument
        unsigned int byte
        uint64_t offset
        cpp_bool is_place() noexcept
    struct LaunchSize:
        unsigned int grid[3]
        unsigned int block[3]
        unsigned int shared
    void write_size(CUDA_KERNEL_NODE_PARAMS_v3& kernel, const LaunchSize& size) noexcept
    cppclass SizeRule:
        SizeRule()
        cpp_bool (*resize)(void* self, const ParameterValue* const* operands, LaunchSize* size, Opaque* why) noexcept nogil
        void* self
        cpp_bool reads_addresses
        Opaque owner
    ctypedef shared_ptr[const SizeRule] SizeRuleRef
    atomic[int] size_functions_running
    cppclass NodeRules:
        NodeRules()
        size_t most
        cpp_bool takes_any_shape
        SizeRuleRef size
    cppclass NodeParameters:
        vector[ParameterUse] uses
        NodeRules rules
        CUgraphNodeParams wanted
    cppclass ParameterTable:
        ParameterRef find(const string& name) except +
        ParameterRef find_place "find"(const GraphMemory& place) except +
        cpp_bool has(const ParameterRef& parameter) except +
        void add(const ParameterRef& parameter) except +
        cpp_bool has_places() noexcept
        const vector[ParameterRef]& all()
    size_t as_extent(const ValueType& type, uint64_t bits) noexcept
    ParameterRef find_clash(GraphBox& source, GraphBox& target) except +
    cpp_bool uses_parameters(GraphBox& graph) noexcept
    vector[ParameterRef] unused_parameters(GraphBox& graph) except +
    CUresult copy_uses(GraphBox& source, NodeRecord& holder) except +
    CUresult use_placeholders(NodeSpec& spec, NodeParameters& parameters) except +

cdef extern from "node.hpp" namespace "cg" nogil:
    enum class NodeKind(int):
        kEntry
        kEmpty
        kKernel
        kAlloc
        kFree
        kMemset
        kMemcpy
        kChild
        kHost
        kEventRecord
        kEventWait
        kIf
        kIfElse
        kWhile
        kSwitch
        kConditional
        kOther

    cppclass NodeMetadata:
        NodeLabels labels
        shared_ptr[const GraphLabels] inner_labels
        vector[GraphBox*] inner
        CUgraphConditionalHandle condition
        Opaque counter
        int device
        Opaque array_form
        NodeRecord* freed_by
        GraphMemoryRef place
        unique_ptr[NodeParameters] parameters
        Opaque call
        shared_ptr[NodeSpec] loaded
        unsigned changes

    cppclass NodeRecord:
        CUgraphNode raw
        GraphBox* graph
        NodeKind kind
        void* object
        SourceLocation source
        OwnerSlot owners
        unique_ptr[NodeMetadata] metadata
        uint32_t generation
        cpp_bool is_alive() noexcept
        NodeMetadata& make_metadata() except +

    ctypedef shared_ptr[const CUgraphNode] NodeHandle
    cppclass WeakNode "std::weak_ptr<const CUgraphNode>":
        WeakNode()
        WeakNode(const NodeHandle& node)
        NodeHandle lock() noexcept

    cppclass NodeTable:
        NodeRecord* find(CUgraphNode raw) except +
        size_t alive() noexcept
        size_t size() noexcept
        NodeRecord& operator[](size_t index) noexcept
        void recycle(NodeRecord& record) noexcept
        void keep_journal(vector[NodeRecord*]* journal) noexcept
        cpp_bool has_journal() noexcept

    enum class Direction:
        kPredecessors
        kSuccessors

    CUgraphEdgeData edge_data(unsigned char from_port, unsigned char to_port, unsigned char type) noexcept

    cppclass Edges:
        vector[CUgraphNode] source "from"
        vector[CUgraphNode] target "to"
        vector[CUgraphEdgeData] data
        size_t size() noexcept
        void add(CUgraphNode source, CUgraphNode target, CUgraphEdgeData what) except +
        void copy(const Edges& edges, size_t index) except +

    CUresult list_nodes(CUgraph graph, vector[CUgraphNode]& nodes) except +
    CUresult list_edges(CUgraph graph, Edges& edges) except +
    CUresult list_edges_of(CUgraphNode node, Direction direction, Edges& edges) except +
    CUresult add_edges(CUgraph graph, const Edges& edges) noexcept
    CUresult remove_edges(CUgraph graph, const Edges& edges) noexcept
    CUresult find_kind(CUgraphNode node, NodeKind* kind) noexcept
    CUresult destroy_node(NodeRecord& record) except +

cdef extern from "node_spec.hpp" namespace "cg" nogil:
    cppclass Dependencies:
        Dependencies()
        CUgraph graph
        const CUgraphNode* after
        size_t count
        const CUgraphEdgeData* data

    cppclass KernelShape:
        unsigned int cluster[3]
        int cooperative
        cpp_bool is_plain() noexcept
        cpp_bool operator==(const KernelShape& other) noexcept

    cppclass NodeSpec:
        NodeSpec()
        NodeKind kind
        CUgraphNodeParams params
        KernelShape shape
        PlacedFunction likely
        Owners owners
        const KernelHandle* lent
        vector[ParameterUse] uses
        NodeRules rules
        ArgumentPack arguments
        vector[CUmemAccessDesc] access
        GraphMemoryRef place
        DeclaredHandle declared
        void* child
        void begin(NodeKind kind) noexcept

    CUresult make_node(const Dependencies& place, NodeSpec& spec, CUgraphNode* node) noexcept
    CUresult set_node(CUgraphNode node, NodeSpec& spec) noexcept
    CUresult load_node(CUgraphNode node, NodeSpec& spec) noexcept
    CUresult get_shape(CUgraphNode node, KernelShape* shape) noexcept
    CUresult current_context(CUcontext* context) noexcept

    enum class AllocKind(int):
        kDevice
        kHost
        kManaged
    void set_allocation(
        NodeSpec& spec, AllocKind kind, int device, size_t size, const vector[int]& peers) except +
    AllocKind alloc_kind(const CUmemPoolProps& props) noexcept

    void set_source(CUDA_MEMCPY3D& copy, CUdeviceptr address, CUmemorytype type) noexcept
    void set_destination(CUDA_MEMCPY3D& copy, CUdeviceptr address, CUmemorytype type) noexcept
    CUdeviceptr source_of(const CUDA_MEMCPY3D& copy) noexcept
    CUdeviceptr destination_of(const CUDA_MEMCPY3D& copy) noexcept

cdef extern from "definition.hpp" namespace "cg" nogil:
    cppclass ConditionRecord:
        CUgraphConditionalHandle handle
        cpp_bool has_default
        uint32_t default_value
        SourceLocation source
    cppclass Hierarchy:
        pass
    cppclass GraphBox:
        CUgraph raw
        Hierarchy* hierarchy
        SourceTable* sources
        NodeRecord* holder
        unsigned int depth
        cpp_bool edited
        NodeRecord entry
        NodeRecord* test
        NodeTable nodes
        OwnerPages owners
        vector[ConditionRecord] conditions
        cpp_bool is_abandoned
    const unsigned int kMaxDepth
    unsigned int levels_inside(GraphBox& graph) noexcept
    NodeHandle create_graph() except +
    void about_to_change(GraphBox& graph) noexcept
    NodeHandle node_handle(const NodeHandle& any, NodeRecord& node) noexcept
    GraphBox* find_unfinished(GraphBox& graph) noexcept
    NodeRecord* find_user(const GraphBox& graph, CUgraphConditionalHandle condition) noexcept
    vector[NodeRecord*] list_loops(const GraphBox& graph) except +
    uint64_t hierarchy_number(const GraphBox& graph) noexcept
    GraphBox& add_inner_graph(NodeRecord& holder, CUgraph raw) except +
    GraphBox* child_box(NodeRecord& holder) except +
    uint64_t memset_version(const GraphBox& graph) noexcept
    ParameterTable& parameters_of(GraphBox& graph) noexcept
    void note_allocation(NodeRecord& alloc, CUdeviceptr address) except +
    void note_free(NodeRecord& free, CUdeviceptr address) except +
    cpp_bool frees_place(const GraphBox& graph, const GraphMemory& place) noexcept
    cppclass NodeReference:
        void refer(const NodeHandle& any, NodeRecord& node) noexcept
        void enter(void* object) noexcept
        NodeRecord* node() noexcept
        const NodeHandle& any() noexcept
        NodeHandle handle() noexcept
    Dependencies dependencies_on(const NodeRecord& node) noexcept
    void mark_inner_destroyed(NodeRecord& node) noexcept
    NodeRecord& add_node(GraphBox& graph, CUgraphNode raw, NodeKind kind, OwnerSlot slot) except +
    cpp_bool prepare_node(GraphBox& graph, NodeSpec& spec, OwnerSlot& owners) noexcept
    NodeRecord* record_node(
        GraphBox& graph, NodeSpec& spec, OwnerSlot owners, CUresult status, CUgraphNode raw) except +
    GraphBox* living_graph(const NodeReference& reference) noexcept
    void seal_owners(GraphBox& graph) noexcept
    void advance_memset_version(GraphBox& graph) noexcept
    CUresult share_owners(GraphBox& graph) noexcept
    void note_handed_out(GraphBox& graph) noexcept
    cpp_bool is_handed_out(const GraphBox& graph) noexcept
    cpp_bool has_place_nodes(const GraphBox& graph) noexcept

cdef extern from "loop_test.hpp" namespace "cg" nogil:
    CUresult order_test(GraphBox& body) except +
    CUresult order_all_tests(GraphBox& graph) except +

cdef extern from "executable_parameters.hpp" namespace "cg" nogil:
    cppclass ParameterChange:
        ParameterChange()
        size_t index
        const ParameterRef* parameter
        ParameterValue value
    ctypedef vector[ParameterChange] ParameterChanges
    enum class ParameterFault:
        kNone
        kDropped
        kMissing
        kDestroyed
        kPageable
        kExtent
        kLength
        kShape
        kRefused
        kEdited
        kDriver
    cppclass ParameterProblem:
        ParameterProblem()
        ParameterFault fault
        CUresult status
        ParameterRef parameter
        NodeHandle node
        Opaque why
        cpp_bool is_updated
    cppclass PresentParameter:
        ParameterRef parameter
        ParameterValue value

cdef extern from "executable_node.hpp" namespace "cg" nogil:
    cppclass KernelArguments:
        unsigned int grid
        const void** values

cdef extern from "early_edges.hpp" namespace "cg" nogil:
    cppclass EarlyEdges:
        void add(const NodeRecord& source, const NodeRecord& target) except +

cdef extern from "executable.hpp" namespace "cg" nogil:
    ctypedef shared_ptr[const CUgraphExec] GraphExecHandle
    GraphExecHandle instantiate(
        const NodeHandle& definition, CUDA_GRAPH_INSTANTIATE_PARAMS* params, const StreamHandle& upload_stream,
        CUresult* status, EarlyEdges* early) except +
    CUresult launch(
        const GraphExecHandle& graph, const StreamHandle& stream, ParameterChanges& changes,
        ParameterProblem* problem) except +
    CUresult add_kernel(const GraphExecHandle& graph, NodeRecord& node, const CUgraphNodeParams& params) except +
    CUresult launch_kernels(
        const GraphExecHandle& graph, const StreamHandle& stream, const KernelArguments* arguments) except +
    cpp_bool set_parameters(
        const GraphExecHandle& graph, ParameterChanges& changes, ParameterProblem* problem) except +
    void list_parameters(const GraphExecHandle& graph, vector[PresentParameter]& values) except +
    CUresult upload(const GraphExecHandle& graph, const StreamHandle& stream) except +
    cpp_bool names_nodes(const GraphExecHandle& graph) noexcept
    cpp_bool is_node_of(const GraphExecHandle& graph, const NodeRecord& node) noexcept
    CUresult set_exec_node(
        const GraphExecHandle& graph, NodeRecord& node, NodeSpec& spec, ParameterProblem* problem) except +
    ParameterRef find_unplanned(const GraphExecHandle& graph, const NodeRecord& node, const NodeSpec& spec) except +
    CUresult set_exec_child(const GraphExecHandle& graph, NodeRecord& node, NodeSpec& spec, GraphBox& child) except +
    CUresult set_exec_enabled(const GraphExecHandle& graph, const NodeRecord& node, cpp_bool enabled) except +
    CUresult get_exec_enabled(const GraphExecHandle& graph, CUgraphNode node, cpp_bool* enabled) except +
    CUresult update(
        const GraphExecHandle& graph, GraphBox& source, CUgraphExecUpdateResultInfo* info,
        ParameterProblem* problem, EarlyEdges* early) except +

cdef extern from "node_order.hpp" namespace "cg" nogil:
    CUresult restore_order(GraphBox& graph) except +

cdef extern from "place_uses.hpp" namespace "cg" nogil:
    cppclass PlaceWord:
        GraphMemoryRef place
        ParameterUse use
    vector[PlaceWord] list_place_words(const NodeSpec& spec, const vector[Parameter]* parameters) except +
    void drop_place_uses(vector[ParameterUse]& uses) except +
    cpp_bool has_fixed_addresses(const NodeSpec& spec) noexcept
    void own_arguments(NodeSpec& spec, const vector[Parameter]& parameters) except +
    void write_settled(NodeSpec& spec, const PlaceWord& word, const vector[Parameter]* parameters) except +
    void show_wanted(NodeSpec& loaded, const NodeParameters& parameters) noexcept
    vector[NodeRecord*] list_users(GraphBox& graph, const NamedParameter& parameter) except +
