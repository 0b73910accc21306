// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/graphs/node_kinds.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "hostdriver/entry.hpp"
#include "hostdriver/objects/base/arena.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/objects/graphs/graph.hpp"
#include "hostdriver/objects/graphs/owning_kinds.hpp"
#include "hostdriver/objects/memory/memory.hpp"

namespace cgh {
namespace {

std::vector<Graph*> nothing_embedded(const Node&) {
    return {};
}

// Base of the kinds whose parameters are a value. One parser creates the value, sets it and sets it in an executable.
template <class Kind>
struct ValueKind {
    static CUresult create(Node& node, CUgraphNodeParams& params) { return Kind::parse(params, nullptr, &node.params); }
    static CUresult set(Node& node, CUgraphNodeParams& params) {
        NodeParams fresh;
        TRY(Kind::parse(params, std::get_if<KernelParams>(&node.params), &fresh));
        node.params = std::move(fresh);
        node.reported.reset();
        return CUDA_SUCCESS;
    }
    static CUresult copy(const Node& from, Node& to) {
        to.params.emplace<typename Kind::Params>(std::get<typename Kind::Params>(from.params));
        return CUDA_SUCCESS;
    }
};

struct EmptyKind {
    static CUresult create(Node&, CUgraphNodeParams&) { return CUDA_SUCCESS; }
    static CUresult set(Node&, CUgraphNodeParams&) { return CUDA_ERROR_INVALID_VALUE; }
    static void get(Node&, CUgraphNodeParams&) {}
    static CUresult copy(const Node&, Node&) { return CUDA_SUCCESS; }
};

struct KernelKind : ValueKind<KernelKind> {
    using Params = KernelParams;

    // "kern: Kernel to launch, will only be referenced if func is NULL. ctx: [...] The value NULL will indicate the
    // current context should be used by the api. This field is ignored if func is set" (cuda.h).
    static CUresult parse(CUgraphNodeParams& params, const KernelParams* old, NodeParams* out) {
        const CUDA_KERNEL_NODE_PARAMS_v3& in = params.kernel;
        const bool by_function = in.func != nullptr;
        // Unlike a launch, a node accepts no CUkernel in place of a CUfunction (measured on an H200).
        Kernel* const kernel = by_function ? find_function(in.func) : cast<Kernel>(in.kern);
        REQUIRE(kernel != nullptr, CUDA_ERROR_INVALID_HANDLE);
        Context* context = nullptr;
        TRY(find_context(by_function ? nullptr : in.ctx, &context));
        // "CUDA_ERROR_INVALID_VALUE will be returned if kernel parameters are specified with both kernelParams and
        // extra"
        REQUIRE(in.kernelParams == nullptr || in.extra == nullptr, CUDA_ERROR_INVALID_VALUE);

        LaunchShape shape = old != nullptr ? old->launch.shape() : LaunchShape{};
        shape.dims.grid[0] = in.gridDimX;
        shape.dims.grid[1] = in.gridDimY;
        shape.dims.grid[2] = in.gridDimZ;
        shape.dims.block[0] = in.blockDimX;
        shape.dims.block[1] = in.blockDimY;
        shape.dims.block[2] = in.blockDimZ;
        shape.dims.dynamic_shared_bytes = in.sharedMemBytes;
        auto attributes = old != nullptr ? old->attributes : nullptr;

        KernelLaunch launch;
        TRY(KernelLaunch::make(*kernel, shape, in.kernelParams, in.extra, &launch));
        auto& fresh = out->emplace<KernelParams>();
        fresh.launch = std::move(launch);
        fresh.context = context->handle();
        fresh.attributes = std::move(attributes);
        fresh.by_extra = in.extra != nullptr;
        return CUDA_SUCCESS;
    }

    static void get(Node& node, CUgraphNodeParams& params) {
        const auto& kernel = std::get<KernelParams>(node.params);
        const cgh_launch& dims = kernel.launch.shape().dims;
        CUDA_KERNEL_NODE_PARAMS_v3& out = params.kernel;
        // All three are set, whichever the user passed, as on an H200.
        out.func = kernel.launch.kernel()->function();
        out.kern = kernel.launch.kernel()->handle();
        out.ctx = kernel.context;
        out.gridDimX = dims.grid[0];
        out.gridDimY = dims.grid[1];
        out.gridDimZ = dims.grid[2];
        out.blockDimX = dims.block[0];
        out.blockDimY = dims.block[1];
        out.blockDimZ = dims.block[2];
        out.sharedMemBytes = dims.dynamic_shared_bytes;
        // "The params will contain either kernelParams or extra, according to which of these was most recently set on
        // the node" (cuda.h, cuGraphKernelNodeGetParams).
        if (node.reported == nullptr)
            node.reported = kernel.by_extra ? packed(kernel.launch) : addresses(kernel.launch);
        out.kernelParams = kernel.by_extra ? nullptr : node.reported.get();
        out.extra = kernel.by_extra ? node.reported.get() : nullptr;
    }

  private:
    static void* block(const KernelLaunch& launch) {
        return const_cast<std::byte*>(launch.params().data());  // the C interface lacks const
    }

    static std::unique_ptr<void*[]> addresses(const KernelLaunch& launch) {
        const cgh_kernel& code = launch.kernel()->code();
        auto array = std::make_unique<void*[]>(code.param_count);
        for (uint32_t i = 0; i < code.param_count; ++i) {
            array[i] = static_cast<std::byte*>(block(launch)) + code.params[i].offset;
        }
        return array;
    }

    // { BUFFER_POINTER, buffer, BUFFER_SIZE, &size, END, size }
    static std::unique_ptr<void*[]> packed(const KernelLaunch& launch) {
        auto array = std::make_unique<void*[]>(6);
        array[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
        array[1] = block(launch);
        array[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
        array[3] = &array[5];
        array[4] = CU_LAUNCH_PARAM_END;
        array[5] = reinterpret_cast<void*>(launch.params().size());
        return array;
    }
};

OperandLocation location_of(CUmemorytype type, CUdeviceptr address, const Context& context) {
    const std::optional<Allocation> found = AddressMap::get().find(address, Reserved::kToo);
    if (!found) return {type != CU_MEMORYTYPE_DEVICE, false, context.device()};
    // In an update of an executable libcuda accepts device, pinned and managed memory in place of each other. Pool
    // memory can replace only pool memory (measured on an H200).
    const bool on_host = type == CU_MEMORYTYPE_HOST;
    const bool pooled = found->kind == MemoryKind::kPool || found->kind == MemoryKind::kGraph;
    return {on_host, pooled, on_host ? context.device() : found->context->device()};
}

OperandLocation source_of(const CUDA_MEMCPY3D& copy, const Context& context) {
    const bool host = copy.srcMemoryType == CU_MEMORYTYPE_HOST;
    return location_of(copy.srcMemoryType, host ? reinterpret_cast<CUdeviceptr>(copy.srcHost) : copy.srcDevice,
                       context);
}

OperandLocation destination_of(const CUDA_MEMCPY3D& copy, const Context& context) {
    const bool host = copy.dstMemoryType == CU_MEMORYTYPE_HOST;
    return location_of(copy.dstMemoryType, host ? reinterpret_cast<CUdeviceptr>(copy.dstHost) : copy.dstDevice,
                       context);
}

bool is_null_array(const CUDA_MEMCPY3D& copy) {
    return (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY && copy.srcArray == nullptr) ||
           (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY && copy.dstArray == nullptr);
}

struct MemcpyKind : ValueKind<MemcpyKind> {
    using Params = MemcpyParams;
    static CUresult parse(CUgraphNodeParams& params, const KernelParams*, NodeParams* out) {
        REQUIRE(!is_null_array(params.memcpy.copyParams), CUDA_ERROR_INVALID_VALUE);
        // "flags: Must be zero. reserved: Must be zero" (cuda.h, CUDA_MEMCPY_NODE_PARAMS).
        REQUIRE(params.memcpy.flags == 0 && params.memcpy.reserved == 0, CUDA_ERROR_INVALID_VALUE);
        Context* context = nullptr;
        TRY(find_context(params.memcpy.copyCtx, &context));
        CUDA_MEMCPY3D copy = params.memcpy.copyParams;
        REQUIRE(copy.WidthInBytes != 0 && copy.Height != 0 && copy.Depth != 0, CUDA_ERROR_INVALID_VALUE);
        copy.srcLOD = copy.dstLOD = 0;  // an H200 ignores them in nodes
        MemcpyParams fresh;
        TRY(Copy::make(copy, kEveryDevice, &fresh.copy, Reserved::kToo));
        fresh.described = std::make_shared<const CUDA_MEMCPY3D>(params.memcpy.copyParams);
        fresh.source = source_of(params.memcpy.copyParams, *context);
        fresh.destination = destination_of(params.memcpy.copyParams, *context);
        fresh.context = context->handle();
        out->emplace<MemcpyParams>(std::move(fresh));
        return CUDA_SUCCESS;
    }
    static void get(Node& node, CUgraphNodeParams& params) {
        const auto& memcpy = std::get<MemcpyParams>(node.params);
        params.memcpy.copyCtx = memcpy.context;
        params.memcpy.copyParams = *memcpy.described;
    }
};

struct MemsetKind : ValueKind<MemsetKind> {
    using Params = MemsetParams;
    static CUresult parse(CUgraphNodeParams& params, const KernelParams*, NodeParams* out) {
        const CUDA_MEMSET_NODE_PARAMS_v2& in = params.memset;
        Context* context = nullptr;
        TRY(find_context(in.ctx, &context));
        REQUIRE(in.width != 0 && in.height != 0, CUDA_ERROR_INVALID_VALUE);
        MemsetParams fresh;
        TRY(Fill::make(in.dst, in.pitch, in.value, in.elementSize, in.width, in.height, kEveryDevice, &fresh.fill,
                       Reserved::kToo));
        fresh.destination = location_of(CU_MEMORYTYPE_DEVICE, in.dst, *context);
        fresh.destination.pooled = false;  // no restriction for memset nodes
        fresh.described = in;
        fresh.described.ctx = context->handle();
        out->emplace<MemsetParams>(fresh);
        return CUDA_SUCCESS;
    }
    static void get(Node& node, CUgraphNodeParams& params) {
        params.memset = std::get<MemsetParams>(node.params).described;
    }
};

struct HostKind : ValueKind<HostKind> {
    using Params = HostParams;
    static CUresult parse(CUgraphNodeParams& params, const KernelParams*, NodeParams* out) {
        REQUIRE(params.host.fn != nullptr, CUDA_ERROR_INVALID_VALUE);
        out->emplace<HostParams>(HostParams{params.host.fn, params.host.userData});
        return CUDA_SUCCESS;
    }
    static void get(Node& node, CUgraphNodeParams& params) {
        const auto& host = std::get<HostParams>(node.params);
        params.host.fn = host.function;
        params.host.userData = host.data;
    }
};

// Record and wait nodes: the first member of both parameter structs is the event.
template <CUevent (*kRead)(const CUgraphNodeParams&), void (*kWrite)(CUgraphNodeParams&, CUevent)>
struct EventKind : ValueKind<EventKind<kRead, kWrite>> {
    using Params = EventParams;
    static CUresult parse(CUgraphNodeParams& params, const KernelParams*, NodeParams* out) {
        const CUevent handle = kRead(params);
        REQUIRE(handle != nullptr, CUDA_ERROR_INVALID_VALUE);
        Event* const event = cast<Event>(handle);
        REQUIRE(event != nullptr, CUDA_ERROR_INVALID_HANDLE);
        out->emplace<EventParams>(EventParams{Ref<Event>(event)});
        return CUDA_SUCCESS;
    }
    static void get(Node& node, CUgraphNodeParams& params) {
        kWrite(params, std::get<EventParams>(node.params).event->handle());
    }
};

CUevent read_record(const CUgraphNodeParams& params) {
    return params.eventRecord.event;
}
void write_record(CUgraphNodeParams& params, CUevent event) {
    params.eventRecord.event = event;
}
CUevent read_wait(const CUgraphNodeParams& params) {
    return params.eventWait.event;
}
void write_wait(CUgraphNodeParams& params, CUevent event) {
    params.eventWait.event = event;
}
using RecordKind = EventKind<read_record, write_record>;
using WaitKind = EventKind<read_wait, write_wait>;

struct BatchKind : ValueKind<BatchKind> {
    using Params = BatchParams;
    static CUresult parse(CUgraphNodeParams& params, const KernelParams*, NodeParams* out) {
        const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2& in = params.memOp;
        REQUIRE(in.ctx != nullptr, CUDA_ERROR_INVALID_VALUE);  // null is an error here
        Context* context = nullptr;
        TRY(find_context(in.ctx, &context));
        BatchParams fresh;
        TRY(MemoryBatch::make(in.paramArray, in.count, in.flags, Checked::kWhenRun, &fresh.batch));
        fresh.context = context->handle();
        out->emplace<BatchParams>(std::move(fresh));
        return CUDA_SUCCESS;
    }
    // "The paramArray returned in nodeParams_out is owned by the node" (cuda.h, cuGraphBatchMemOpNodeGetParams).
    static void get(Node& node, CUgraphNodeParams& params) {
        const auto& batch = std::get<BatchParams>(node.params);
        const std::vector<CUstreamBatchMemOpParams>& described = batch.batch.described();
        params.memOp.ctx = batch.context;
        params.memOp.count = static_cast<unsigned>(described.size());
        params.memOp.paramArray = const_cast<CUstreamBatchMemOpParams*>(described.data());
        params.memOp.flags = 0;
    }
};

// The bytes of CUgraphNodeParams that a kind uses in CUDA 13.0. Fields that newer headers add must be zero here.
constexpr size_t kHostBytes = 2 * sizeof(void*);
constexpr size_t kEventBytes = sizeof(CUevent);

template <class Kind>
constexpr NodeKind value_row(CUgraphNodeType type, const char* name, size_t bytes, bool body, bool device,
                             bool disable) {
    return {type,         name,      bytes,     body,       device,           disable,     Kind::parse,
            Kind::create, Kind::set, Kind::get, Kind::copy, nothing_embedded, CUDA_SUCCESS};
}

// clang-format off
//                                                                                             in a   device  can be
//                                                                                             body   launch  disabled
constexpr NodeKind kKinds[] = {
    value_row<KernelKind>(CU_GRAPH_NODE_TYPE_KERNEL, "KERNEL", sizeof(CUDA_KERNEL_NODE_PARAMS_v3), true, true, true),
    value_row<MemcpyKind>(CU_GRAPH_NODE_TYPE_MEMCPY, "MEMCPY", sizeof(CUDA_MEMCPY_NODE_PARAMS), true, true, true),
    value_row<MemsetKind>(CU_GRAPH_NODE_TYPE_MEMSET, "MEMSET", sizeof(CUDA_MEMSET_NODE_PARAMS_v2), true, true, true),
    value_row<HostKind>(CU_GRAPH_NODE_TYPE_HOST, "HOST", kHostBytes, false, false, false),
    value_row<WaitKind>(CU_GRAPH_NODE_TYPE_WAIT_EVENT, "EVENT_WAIT", kEventBytes, false, false, false),
    value_row<RecordKind>(CU_GRAPH_NODE_TYPE_EVENT_RECORD, "EVENT_RECORD", kEventBytes, false, false, false),
    value_row<BatchKind>(CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, "BATCH_MEM_OP", sizeof(CUDA_BATCH_MEM_OP_NODE_PARAMS_v2), false, false, false),
    // Kinds whose parameters are not a plain value have no parser. The last column is the result of
    // cuGraphExecNodeSetParams.
    {CU_GRAPH_NODE_TYPE_EMPTY, "EMPTY", 0, true, false, false,
     nullptr, EmptyKind::create, EmptyKind::set, EmptyKind::get, EmptyKind::copy, nothing_embedded,
     CUDA_ERROR_INVALID_VALUE},
    {CU_GRAPH_NODE_TYPE_GRAPH, "GRAPH", sizeof(CUDA_CHILD_GRAPH_NODE_PARAMS), true, true, false,
     nullptr, ChildKind::create, ChildKind::set, ChildKind::get, ChildKind::copy, ChildKind::embedded,
     CUDA_SUCCESS},
    {CU_GRAPH_NODE_TYPE_MEM_ALLOC, "MEM_ALLOC", sizeof(CUDA_MEM_ALLOC_NODE_PARAMS_v2), false, false, false,
     nullptr, AllocKind::create, AllocKind::set, AllocKind::get, nullptr, nothing_embedded,
     CUDA_ERROR_NOT_SUPPORTED},
    {CU_GRAPH_NODE_TYPE_MEM_FREE, "MEM_FREE", sizeof(CUDA_MEM_FREE_NODE_PARAMS), false, false, false,
     nullptr, FreeKind::create, FreeKind::set, FreeKind::get, nullptr, nothing_embedded,
     CUDA_ERROR_NOT_SUPPORTED},
    {CU_GRAPH_NODE_TYPE_CONDITIONAL, "CONDITIONAL", sizeof(CUDA_CONDITIONAL_NODE_PARAMS), true, false, false,
     nullptr, ConditionalKind::create, ConditionalKind::set, ConditionalKind::get, nullptr, ConditionalKind::embedded,
     CUDA_ERROR_NOT_SUPPORTED},
};
// clang-format on

}  // namespace

const NodeKind* find_kind(const CUgraphNodeParams& params) {
    int type = 0;
    static_assert(sizeof type == sizeof params.type, "an int in cuda.h's C");
    std::memcpy(&type, &params.type, sizeof type);
    return find_kind(type);
}

const NodeKind* find_kind(int type) {
    for (const NodeKind& kind : kKinds) {
        if (kind.type == type) return &kind;
    }
    return nullptr;
}

// "All unused bytes - that is, reserved0 and all bytes past the utilized union member - must be set to zero" (cuda.h,
// cuGraphAddNode).
bool has_zero_padding(const CUgraphNodeParams& params) {
    const NodeKind* const kind = find_kind(params);
    if (kind == nullptr) return false;
    static const CUgraphNodeParams zero = {};
    const auto* const bytes = reinterpret_cast<const char*>(params.reserved1);
    return std::memcmp(params.reserved0, zero.reserved0, sizeof(zero.reserved0)) == 0 && params.reserved2 == 0 &&
           std::memcmp(bytes + kind->bytes, zero.reserved1, sizeof(zero.reserved1) - kind->bytes) == 0;
}

CUresult find_context(CUcontext handle, Context** out) {
    if (handle == nullptr) return current_context(out);
    *out = cast<Context>(handle);
    return *out == nullptr ? CUDA_ERROR_INVALID_CONTEXT : (*out)->status();
}

}  // namespace cgh
