// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory of allocation nodes. The address is fixed when the node is made ("The allocation's address remains fixed
// across instantiations and launches", cuda.h, cuGraphAddMemAllocNode), so the range is reserved then and the pages
// appear on first use. A launch does not allocate: it changes states.
//
//     allocated   from the launch of the graph to the free, in the order of the API calls. This is what decides whether
//                 a launch or a free is legal, and it keeps the memory alive.
//     used        from the allocation node to the free, in the order of execution. This is what the used attributes
//     count. reserved    from the first launch or upload to a trim. This is what the reserved attributes count.
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

    // Launches, at the time of the call.
    bool allocated() const { return allocated_.load(std::memory_order_acquire); }
    void set_allocated();
    bool set_free();  // false: it was not allocated
    void begin_use();
    void end_use();

    // Nodes, when they run.
    void mark_used();
    void mark_unused();

    // Takes physical memory from the device's account, once until it is trimmed.
    void reserve();

    // cuMemFree and cuMemFreeAsync.
    CUresult check_free(CUdeviceptr address) override;
    void free(CUdeviceptr address) override;

    static CUresult get_attribute(CUdevice device, CUgraphMem_attribute attribute, cuuint64_t* value);
    static CUresult reset_attribute(CUdevice device, CUgraphMem_attribute attribute);
    static void trim(CUdevice device);

  private:
    GraphAllocation(Context& context, void* memory, std::size_t bytes);
    void unreserve();
    void drop_self();

    Context& context_;
    const CUdeviceptr address_;
    const std::size_t bytes_;

    std::atomic<bool> allocated_{false};
    std::atomic<bool> used_{false};
    std::atomic<uint32_t> launches_{0};  // enqueued and not finished

    mutable std::mutex mutex_;  // guards the four below
    bool reserved_ = false;
    bool freed_inside_ = false;
    std::vector<uint64_t> claims_;           // graphs with a free node for it
    std::shared_ptr<GraphAllocation> keep_;  // itself, as long as it is allocated
};

}  // namespace cgh

#endif
