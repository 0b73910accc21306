// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of allocation nodes. The address is fixed when the node is created ("The allocation's address remains fixed
// across instantiations and launches", cuda.h, cuGraphAddMemAllocNode). The address range is reserved at that time, and
// the pages appear on first use. A launch allocates nothing; it changes the state of the allocation.
//
//     allocated   from the launch of the graph to the free, in the order of the API calls. This state decides whether a
//                 launch or a free is legal, and it keeps the memory alive. Only graph nodes accept the address of
//                 memory that is not allocated.
//     reserved    from the first launch to a trim after the free. Both the "used" and the "reserved" attributes count
//                 this state. On an H200 they differ only in their high watermarks, which are reset separately.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_GRAPH_MEMORY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_MEMORY_GRAPH_MEMORY_HPP

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "hostdriver/objects/memory/memory.hpp"

namespace cgh {

class Context;
struct Node;

class GraphAllocation : public Allocation::Owner, public std::enable_shared_from_this<GraphAllocation> {
  public:
    // Reserves an address range. Returns null if no range is left.
    static std::shared_ptr<GraphAllocation> create(Context& context, std::size_t bytes);
    ~GraphAllocation() override;

    // Returns the allocation that begins at `address`, or null.
    static std::shared_ptr<GraphAllocation> find(CUdeviceptr address);

    CUdeviceptr address() const { return address_; }
    std::size_t bytes() const { return bytes_; }
    CUdevice device() const;

    // The allocation node, or null after its graph was destroyed. The thread rules of graphs apply to it (graph.hpp).
    Node* node = nullptr;

    // Registers a free node in the hierarchy of the root `graph_uid`. `inside` marks the owning graph. A hierarchy may
    // not free an allocation twice, nor may both the owning graph and another graph free it (cuda.h).
    CUresult claim_free(uint64_t graph_uid, bool inside);
    void drop_claim(uint64_t graph_uid);

    // Called by launches at the time of the call. allocate() keeps an allocation that was not freed.
    void allocate();
    void begin_use();
    void end_use();
    void reserve();

    // Called by cuMemFree, cuMemFreeAsync and launches of other graphs that free the memory: check_free() at the time
    // of the call, free() when the free takes effect.
    bool is_allocated() const override { return allocated_.load(std::memory_order_acquire); }
    bool is_freed_inside() const override { return freed_inside_.load(std::memory_order_acquire); }
    CUresult check_free(CUdeviceptr address) override;
    void free(CUdeviceptr address) override;

    static CUresult get_attribute(CUdevice device, CUgraphMem_attribute attribute, cuuint64_t* value);
    static CUresult reset_attribute(CUdevice device, CUgraphMem_attribute attribute);
    static void trim(CUdevice device);

  private:
    GraphAllocation(Context& context, void* memory, std::size_t bytes);
    void unreserve();

    Context& context_;
    const CUdeviceptr address_;
    const std::size_t bytes_;

    std::atomic<bool> allocated_{false};
    std::atomic<uint32_t> launches_{0};  // number of launches enqueued and not finished

    std::mutex mutex_;  // guards the fields below (reads of freed_inside_ need no lock)
    std::atomic<bool> freed_inside_{false};
    bool reserved_ = false;
    std::vector<uint64_t> claims_;           // uids of roots with a free node for this allocation
    uint32_t holds_ = 0;                     // number of allocations of this memory whose free has not taken effect
    std::shared_ptr<GraphAllocation> keep_;  // reference to this object while holds_ is not 0
};

}  // namespace cgh

#endif
