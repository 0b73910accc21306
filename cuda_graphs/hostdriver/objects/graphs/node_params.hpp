// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The parameters of each node kind. All user input is checked and copied when it is set, so the kernel launches, copies
// and fills of a definition are ready to run.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_NODE_PARAMS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPHS_NODE_PARAMS_HPP

#include <cuda.h>

#include <array>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "hostdriver/execution/copy.hpp"
#include "hostdriver/execution/memory_operation.hpp"
#include "hostdriver/loader/image.hpp"
#include "hostdriver/objects/base/ref.hpp"
#include "hostdriver/objects/code/kernel.hpp"
#include "hostdriver/objects/graphs/condition.hpp"
#include "hostdriver/objects/streams/event.hpp"

namespace cgh {

class Graph;
class GraphAllocation;
struct Node;

struct GraphDeleter {
    void operator()(Graph* graph) const;
};
using GraphPtr = std::unique_ptr<Graph, GraphDeleter>;

struct EmptyParams {};

// Attributes of a kernel node, by CUlaunchAttributeID. Most nodes have none.
struct KernelAttributes {
    static constexpr unsigned kCount = 17;
    std::array<CUlaunchAttributeValue, kCount> values{};
};

struct KernelParams {
    KernelLaunch launch;
    CUcontext context = nullptr;
    std::shared_ptr<const KernelAttributes> attributes;  // null if none was ever set
    bool by_extra = false;                               // true if the arguments were packed, not an array of addresses
};

// The location of an operand's memory. An update of an executable may not change it.
struct OperandLocation {
    bool on_host = false;
    bool pooled = false;  // from a pool or an alloc node
    CUdevice device = 0;
    bool operator==(const OperandLocation& other) const {
        return on_host == other.on_host && pooled == other.pooled && device == other.device;
    }
};

struct MemcpyParams {
    Copy copy;
    OperandLocation source, destination;
    std::shared_ptr<const CUDA_MEMCPY3D> described;
    CUcontext context = nullptr;
};

struct MemsetParams {
    Fill fill;
    OperandLocation destination;
    CUDA_MEMSET_NODE_PARAMS_v2 described{};
};

struct HostParams {
    CUhostFn function = nullptr;
    void* data = nullptr;
};

struct EventParams {
    Ref<Event> event;
};

struct BatchParams {
    MemoryBatch batch;
    CUcontext context = nullptr;
};

struct ChildParams {
    GraphPtr graph;
};

// The allocation of an allocation node. The allocation points to the node until the node is destroyed.
class OwnedAllocation {
  public:
    OwnedAllocation() = default;
    OwnedAllocation(std::shared_ptr<GraphAllocation> allocation, Node& node);
    OwnedAllocation(OwnedAllocation&&) noexcept = default;
    OwnedAllocation& operator=(OwnedAllocation&&) noexcept = default;
    ~OwnedAllocation();

    const std::shared_ptr<GraphAllocation>& get() const { return allocation_; }

  private:
    std::shared_ptr<GraphAllocation> allocation_;
};

struct AllocParams {
    CUmemPoolProps properties{};
    std::vector<CUmemAccessDesc> access;
    OwnedAllocation allocation;
};

// The right of one graph to free an allocation. It is released with the node.
class FreeClaim {
  public:
    FreeClaim() = default;
    FreeClaim(std::shared_ptr<GraphAllocation> allocation, uint64_t graph_uid)
        : allocation_(std::move(allocation)), graph_uid_(graph_uid) {}
    FreeClaim(FreeClaim&&) noexcept = default;
    FreeClaim& operator=(FreeClaim&&) noexcept = default;
    ~FreeClaim();

    const std::shared_ptr<GraphAllocation>& allocation() const { return allocation_; }

  private:
    std::shared_ptr<GraphAllocation> allocation_;
    uint64_t graph_uid_ = 0;  // uid of the root graph
};

struct FreeParams {
    FreeClaim claim;
};

struct ConditionalParams {
    ConditionalParams() = default;
    ConditionalParams(ConditionalParams&&) noexcept = default;
    ConditionalParams& operator=(ConditionalParams&&) noexcept = default;
    ~ConditionalParams() {
        if (condition != nullptr) condition->attached = false;
    }

    ConditionPtr condition;
    CUgraphConditionalNodeType type = CU_GRAPH_COND_TYPE_IF;
    CUcontext context = nullptr;
    std::vector<GraphPtr> bodies;
    std::vector<CUgraph> handles;  // the array that phGraph_out points to
};

using NodeParams = std::variant<EmptyParams, KernelParams, MemcpyParams, MemsetParams, HostParams, EventParams,
                                BatchParams, ChildParams, AllocParams, FreeParams, ConditionalParams>;

}  // namespace cgh

#endif
