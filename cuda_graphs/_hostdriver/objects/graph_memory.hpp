// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of allocation nodes. The address is fixed when the node is made ("The allocation's address remains fixed
// across instantiations and launches", cuda.h, cuGraphAddMemAllocNode), so the range is reserved then and the pages
// appear on first use. A launch does not allocate: it changes states.
//
//     allocated   from the launch of the graph to the free, in the order of the API calls. This is what decides whether
//                 a launch or a free is legal, and it keeps the memory alive. In between the address is unknown to all
//                 but graph nodes.
//     reserved    from the first launch to a trim that finds it free. This is what the attributes count, "used" and
//                 "reserved" alike: on an H200 the two differ only in that their high watermarks are reset one by one.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPH_MEMORY_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_GRAPH_MEMORY_HPP

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "memory.hpp"

namespace cgh {

class Context;
struct Node;

class GraphAllocation : public Allocation::Owner, public std::enable_shared_from_this<GraphAllocation> {
  public:
    // Reserves the address. Null: no room.
    static std::shared_ptr<GraphAllocation> create(Context& context, std::size_t bytes);
    ~GraphAllocation() override;

    // The allocation that begins at `address`, or null.
    static std::shared_ptr<GraphAllocation> find(CUdeviceptr address);

    CUdeviceptr address() const { return address_; }
    std::size_t bytes() const { return bytes_; }
    CUdevice device() const;

    // The allocation node; null when its graph is gone. Only to be used like the graph itself (graph.hpp).
    Node* node = nullptr;

    // A free node is added to the hierarchy of the root `graph_uid`. "An allocation twice in the same graph" is
    // refused, and so is "to free an allocation in both the owning graph and another graph" (cuda.h). `inside`: it is
    // the owning graph.
    CUresult claim_free(uint64_t graph_uid, bool inside);
    void drop_claim(uint64_t graph_uid);

    // Launches, at the time of the call. What was allocated before and not freed is allocated anew.
    void allocate();
    void begin_use();
    void end_use();
    void reserve();

    // Of cuMemFree, cuMemFreeAsync and launches that free it for another graph: at the time of the call, and when the
    // free takes effect.
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
    std::atomic<uint32_t> launches_{0};  // enqueued and not finished

    std::mutex mutex_;  // guards the five below; of freed_inside_ the changes
    std::atomic<bool> freed_inside_{false};
    bool reserved_ = false;
    std::vector<uint64_t> claims_;           // graphs with a free node for it
    uint32_t holds_ = 0;                     // allocations whose free has not taken effect
    std::shared_ptr<GraphAllocation> keep_;  // itself, as long as there are any
};

}  // namespace cgh

#endif
