// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared parts of the graph tests: definitions and executables that destroy themselves, one-line nodes of every kind,
// and kernels that set conditions. `step` is the fingerprint: value = value * 31 + digit, so a different order of the
// steps gives a different number.
#ifndef HOSTDRIVER_TESTS_GRAPH_RIG_HPP
#define HOSTDRIVER_TESTS_GRAPH_RIG_HPP

#include <tuple>
#include <utility>
#include <vector>

#include "runtime_rig.hpp"

namespace rig {

using Nodes = std::vector<CUgraphNode>;

inline void set_condition(const cgh_launch*, const void* params, void*, std::uint64_t, std::uint64_t) {
    Args args(params);
    const auto handle = args.next<std::uint64_t>();
    cghGetServices()->set_conditional(handle, args.next<std::uint32_t>());
}

// *counter -= 1; sets the condition to 1 while *counter is positive, then to 0
inline void count_down(const cgh_launch*, const void* params, void*, std::uint64_t, std::uint64_t) {
    Args args(params);
    auto* counter = args.next<std::uint64_t*>();
    *counter -= 1;
    cghGetServices()->set_conditional(args.next<std::uint64_t>(), *counter > 0);
}

// Sets the condition to *value.
inline void condition_from(const cgh_launch*, const void* params, void*, std::uint64_t, std::uint64_t) {
    Args args(params);
    const auto* value = args.next<std::uint64_t*>();
    cghGetServices()->set_conditional(args.next<std::uint64_t>(), static_cast<std::uint32_t>(*value));
}

inline const native::Kernels graph_kernels{
    {"set_condition", set_condition, {8, 4}},
    {"count_down", count_down, {8, 8}},
    {"condition_from", condition_from, {8, 8}},
};

inline const native::Library& graph_library() {
    context();
    static auto* all = new native::Library("set_condition count_down condition_from affine slow spin nothing trap");
    return *all;
}

inline CUcontext current() {
    context();
    CUcontext found = nullptr;
    OK(cuCtxGetCurrent(&found));
    return found;
}

// The parameters of a kernel node. It owns the node's arguments.
template <class... Arguments>
class KernelCall {
  public:
    explicit KernelCall(const char* name, Arguments... arguments) : arguments_(arguments...) {
        std::apply([this](auto&... each) { addresses_ = {static_cast<void*>(&each)..., nullptr}; }, arguments_);
        params_.func = graph_library().function(name);
        params_.gridDimX = params_.gridDimY = params_.gridDimZ = 1;
        params_.blockDimX = params_.blockDimY = params_.blockDimZ = 1;
        params_.kernelParams = addresses_.data();
    }
    KernelCall(const KernelCall&) = delete;
    CUDA_KERNEL_NODE_PARAMS* operator->() { return &params_; }
    const CUDA_KERNEL_NODE_PARAMS* operator&() const { return &params_; }

  private:
    std::tuple<Arguments...> arguments_;
    std::vector<void*> addresses_;
    CUDA_KERNEL_NODE_PARAMS params_{};
};

template <class... Arguments>
CUgraphNode kernel_node(CUgraph graph, const Nodes& after, const char* name, Arguments... arguments) {
    KernelCall<Arguments...> call(name, arguments...);
    CUgraphNode node = nullptr;
    OK(cuGraphAddKernelNode(&node, graph, after.data(), after.size(), &call));
    return node;
}

// *value = *value * 31 + digit
inline CUgraphNode step(CUgraph graph, const Nodes& after, CUdeviceptr value, std::uint64_t digit) {
    return kernel_node(graph, after, "affine", value, std::uint64_t{31}, digit);
}

inline std::uint64_t fingerprint(std::initializer_list<std::uint64_t> digits) {
    std::uint64_t value = 0;
    for (const std::uint64_t digit : digits) value = value * 31 + digit;
    return value;
}

inline CUgraphNode empty_node(CUgraph graph, const Nodes& after = {}) {
    CUgraphNode node = nullptr;
    OK(cuGraphAddEmptyNode(&node, graph, after.data(), after.size()));
    return node;
}

inline CUDA_MEMSET_NODE_PARAMS memset_params(CUdeviceptr dst, unsigned value, unsigned element, std::size_t width,
                                             std::size_t height = 1, std::size_t pitch = 0) {
    return {dst, pitch, value, element, width, height};
}

inline CUgraphNode memset_node(CUgraph graph, const Nodes& after, CUdeviceptr dst, unsigned value, unsigned element,
                               std::size_t width) {
    const CUDA_MEMSET_NODE_PARAMS params = memset_params(dst, value, element, width);
    CUgraphNode node = nullptr;
    OK(cuGraphAddMemsetNode(&node, graph, after.data(), after.size(), &params, current()));
    return node;
}

inline CUDA_MEMCPY3D copy_params(CUdeviceptr dst, CUdeviceptr src, std::size_t bytes) {
    CUDA_MEMCPY3D params{};
    params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    params.srcDevice = src;
    params.dstDevice = dst;
    params.WidthInBytes = bytes;
    params.Height = params.Depth = 1;
    return params;
}

inline CUgraphNode memcpy_node(CUgraph graph, const Nodes& after, CUdeviceptr dst, CUdeviceptr src, std::size_t bytes) {
    const CUDA_MEMCPY3D params = copy_params(dst, src, bytes);
    CUgraphNode node = nullptr;
    OK(cuGraphAddMemcpyNode(&node, graph, after.data(), after.size(), &params, current()));
    return node;
}

inline CUgraphNode host_node(CUgraph graph, const Nodes& after, CUhostFn function, void* data) {
    const CUDA_HOST_NODE_PARAMS params{function, data};
    CUgraphNode node = nullptr;
    OK(cuGraphAddHostNode(&node, graph, after.data(), after.size(), &params));
    return node;
}

inline CUgraphNode child_node(CUgraph graph, const Nodes& after, CUgraph child) {
    CUgraphNode node = nullptr;
    OK(cuGraphAddChildGraphNode(&node, graph, after.data(), after.size(), child));
    return node;
}

inline CUgraphNode record_node(CUgraph graph, const Nodes& after, CUevent event) {
    CUgraphNode node = nullptr;
    OK(cuGraphAddEventRecordNode(&node, graph, after.data(), after.size(), event));
    return node;
}

inline CUgraphNode wait_node(CUgraph graph, const Nodes& after, CUevent event) {
    CUgraphNode node = nullptr;
    OK(cuGraphAddEventWaitNode(&node, graph, after.data(), after.size(), event));
    return node;
}

inline CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(std::size_t bytes) {
    CUDA_MEM_ALLOC_NODE_PARAMS params{};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    params.bytesize = bytes;
    return params;
}

inline CUgraphNode alloc_node(CUgraph graph, const Nodes& after, std::size_t bytes, CUdeviceptr* address) {
    CUDA_MEM_ALLOC_NODE_PARAMS params = alloc_params(bytes);
    CUgraphNode node = nullptr;
    OK(cuGraphAddMemAllocNode(&node, graph, after.data(), after.size(), &params));
    *address = params.dptr;
    return node;
}

inline CUgraphNode free_node(CUgraph graph, const Nodes& after, CUdeviceptr address) {
    CUgraphNode node = nullptr;
    OK(cuGraphAddMemFreeNode(&node, graph, after.data(), after.size(), address));
    return node;
}

inline CUgraphConditionalHandle condition(CUgraph graph) {
    CUgraphConditionalHandle handle = 0;
    OK(cuGraphConditionalHandleCreate(&handle, graph, current(), 0, 0));
    return handle;
}

inline CUgraphConditionalHandle condition(CUgraph graph, unsigned default_value) {
    CUgraphConditionalHandle handle = 0;
    OK(cuGraphConditionalHandleCreate(&handle, graph, current(), default_value, CU_GRAPH_COND_ASSIGN_DEFAULT));
    return handle;
}

struct Conditional {
    CUgraphNode node = nullptr;
    std::vector<CUgraph> bodies;
};

inline CUresult add_conditional(CUgraph graph, const Nodes& after, CUgraphConditionalHandle handle,
                                CUgraphConditionalNodeType type, unsigned size, Conditional* out) {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = current();
    const CUresult result = cuGraphAddNode(&out->node, graph, after.data(), nullptr, after.size(), &params);
    if (result == CUDA_SUCCESS)
        out->bodies.assign(params.conditional.phGraph_out, params.conditional.phGraph_out + size);
    return result;
}

inline Conditional conditional(CUgraph graph, const Nodes& after, CUgraphConditionalHandle handle,
                               CUgraphConditionalNodeType type, unsigned size = 1) {
    Conditional added;
    OK(add_conditional(graph, after, handle, type, size, &added));
    return added;
}

class Graph {
  public:
    Graph() {
        context();
        OK(cuGraphCreate(&handle_, 0));
    }
    explicit Graph(CUgraph handle) : handle_(handle) {}
    Graph(Graph&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;
    ~Graph() { destroy(); }
    operator CUgraph() const { return handle_; }
    CUgraph leak() { return std::exchange(handle_, nullptr); }
    void destroy() {
        if (handle_ != nullptr) cuGraphDestroy(std::exchange(handle_, nullptr));
    }

  private:
    CUgraph handle_ = nullptr;
};

class Exec {
  public:
    explicit Exec(CUgraph graph, unsigned long long flags = 0) { OK(cuGraphInstantiate(&handle_, graph, flags)); }
    Exec(const Exec&) = delete;
    Exec& operator=(const Exec&) = delete;
    ~Exec() { destroy(); }
    operator CUgraphExec() const { return handle_; }
    void destroy() {
        if (handle_ != nullptr) cuGraphExecDestroy(std::exchange(handle_, nullptr));
    }
    void run(CUstream stream = nullptr) const {
        OK(cuGraphLaunch(handle_, stream));
        OK(cuStreamSynchronize(stream));
    }

  private:
    CUgraphExec handle_ = nullptr;
};

inline Nodes nodes_of(CUgraph graph) {
    std::size_t count = 0;
    OK(cuGraphGetNodes(graph, nullptr, &count));
    Nodes nodes(count);
    if (count != 0) OK(cuGraphGetNodes(graph, nodes.data(), &count));
    return nodes;
}

inline std::size_t edge_count(CUgraph graph) {
    std::size_t count = 0;
    OK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    return count;
}

// A value in managed memory, which the host reads and writes between launches.
class Value {
  public:
    explicit Value(std::uint64_t initial = 0) {
        context();
        OK(cuMemAllocManaged(&address_, sizeof(std::uint64_t), CU_MEM_ATTACH_GLOBAL));
        set(initial);
    }
    Value(const Value&) = delete;
    Value& operator=(const Value&) = delete;
    ~Value() { cuMemFree(address_); }
    operator CUdeviceptr() const { return address_; }
    std::uint64_t get() const { return *reinterpret_cast<std::uint64_t*>(address_); }
    void set(std::uint64_t value) { *reinterpret_cast<std::uint64_t*>(address_) = value; }

  private:
    CUdeviceptr address_ = 0;
};

}  // namespace rig

#endif
